package petal

/*
#include "keys.h"

#cgo noescape petal_go_insert_shared
#cgo nocallback petal_go_insert_shared
#cgo noescape petal_filter_insert_shared_u64
#cgo nocallback petal_filter_insert_shared_u64
#cgo noescape petal_filter_insert_shared_hash
#cgo nocallback petal_filter_insert_shared_hash
#cgo noescape petal_go_insert_shared_batch
#cgo nocallback petal_go_insert_shared_batch
#cgo noescape petal_filter_insert_shared_batch_u64
#cgo nocallback petal_filter_insert_shared_batch_u64
#cgo noescape petal_filter_insert_shared_batch_hash
#cgo nocallback petal_filter_insert_shared_batch_hash
*/
import "C"

import "runtime"

// InsertShared inserts a key while other goroutines insert with the Shared methods and look up in the same filter, and
// other processes through theirs ([OpenShare]); no lock is taken. Of goroutines that insert the same new key at the
// same time at least one is told that it was new. Keys are not counted: see [Filter.AddCount]. [ErrUnsupported] unless
// the filter has [CanInsertShared]. May run beside the other Shared methods and all that only read.
func (f *Filter) InsertShared(key []byte) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_go_insert_shared(f.toRead(), bytesOf(key), C.size_t(len(key)), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), statusError("petal.Filter.InsertShared", status)
}

// InsertSharedString is [Filter.InsertShared] of a string's bytes.
func (f *Filter) InsertSharedString(key string) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_go_insert_shared(f.toRead(), textOf(key), C.size_t(len(key)), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), statusError("petal.Filter.InsertSharedString", status)
}

// InsertSharedUint64 is [Filter.InsertShared] of a number.
func (f *Filter) InsertSharedUint64(key uint64) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_filter_insert_shared_u64(f.toRead(), C.uint64_t(key), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), statusError("petal.Filter.InsertSharedUint64", status)
}

// InsertSharedHash is [Filter.InsertShared] of a key by its hash.
func (f *Filter) InsertSharedHash(hash uint64) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_filter_insert_shared_hash(f.toRead(), C.uint64_t(hash), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), statusError("petal.Filter.InsertSharedHash", status)
}

// InsertSharedBatch is [Filter.InsertShared] of many keys: isNew[i], if isNew is not nil, becomes what it says of
// keys[i]. May run beside the other Shared methods and all that only read.
func (f *Filter) InsertSharedBatch(keys [][]byte, isNew []bool) error {
	return insertSharedFlat("petal.Filter.InsertSharedBatch", f, keys, isNew)
}

// InsertSharedBatchString is [Filter.InsertSharedBatch] of strings.
func (f *Filter) InsertSharedBatchString(keys []string, isNew []bool) error {
	return insertSharedFlat("petal.Filter.InsertSharedBatchString", f, keys, isNew)
}

func insertSharedFlat[K []byte | string](op string, f *Filter, keys []K, isNew []bool) error {
	if err := roomFor(op, isNew, len(keys)); err != nil {
		return err
	}
	handle := f.toRead()
	flat := flatPool.Get().(*flatKeys)
	defer flat.release()
	for done := 0; ; {
		taken := flatten(flat, keys[done:])
		failure := newFailure()
		C.petal_go_insert_shared_batch(handle, bytesOf(flat.bytes), C.size_t(len(flat.bytes)), numbers(flat.offsets),
			C.size_t(taken), answers(part(isNew, done)), &failure.raw)
		runtime.KeepAlive(f)
		done += taken
		if err := failure.err(op); err != nil || done == len(keys) {
			return err
		}
	}
}

// InsertSharedBatchUint64 is [Filter.InsertSharedBatch] of numbers. It copies nothing.
func (f *Filter) InsertSharedBatchUint64(keys []uint64, isNew []bool) error {
	const op = "petal.Filter.InsertSharedBatchUint64"
	if err := roomFor(op, isNew, len(keys)); err != nil {
		return err
	}
	failure := newFailure()
	C.petal_filter_insert_shared_batch_u64(f.toRead(), numbers(keys), C.size_t(len(keys)), answers(isNew), nil, nil,
		&failure.raw)
	runtime.KeepAlive(f)
	return failure.err(op)
}

// InsertSharedBatchHash is [Filter.InsertSharedBatch] of keys by their hashes. It copies nothing.
func (f *Filter) InsertSharedBatchHash(hashes []uint64, isNew []bool) error {
	const op = "petal.Filter.InsertSharedBatchHash"
	if err := roomFor(op, isNew, len(hashes)); err != nil {
		return err
	}
	failure := newFailure()
	C.petal_filter_insert_shared_batch_hash(f.toRead(), numbers(hashes), C.size_t(len(hashes)), answers(isNew), nil, nil,
		&failure.raw)
	runtime.KeepAlive(f)
	return failure.err(op)
}

// AddCount adds to the count of keys that were offered, for those that the Shared methods inserted. May run beside the
// Shared methods and all that only read.
func (f *Filter) AddCount(keys uint64) error {
	status := C.petal_filter_add_count(f.toRead(), C.uint64_t(keys))
	runtime.KeepAlive(f)
	return statusError("petal.Filter.AddCount", status)
}
