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

// AddShared inserts a key while other goroutines insert with the Shared methods and look up in the same filter, and
// other processes through theirs ([OpenShare]); no lock is taken. Of goroutines that insert the same new key at the
// same time at least one is told that it was new. Keys are not counted: see [Filter.AddCount]. [ErrUnsupported] unless
// the filter has [CanInsertShared]. May run beside the other Shared methods and all that only read.
func (f *Filter) AddShared(key []byte) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_go_insert_shared(f.raw(), bytesOf(key), C.size_t(len(key)), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), statusError("petal.Filter.AddShared", status)
}

// AddSharedString is [Filter.AddShared] of a string's bytes.
func (f *Filter) AddSharedString(key string) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_go_insert_shared(f.raw(), textOf(key), C.size_t(len(key)), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), statusError("petal.Filter.AddSharedString", status)
}

// AddSharedUint64 is [Filter.AddShared] of a number.
func (f *Filter) AddSharedUint64(key uint64) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_filter_insert_shared_u64(f.raw(), C.uint64_t(key), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), statusError("petal.Filter.AddSharedUint64", status)
}

// AddSharedHash is [Filter.AddShared] of a key by its hash.
func (f *Filter) AddSharedHash(hash uint64) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_filter_insert_shared_hash(f.raw(), C.uint64_t(hash), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), statusError("petal.Filter.AddSharedHash", status)
}

// AddSharedBatch is [Filter.AddShared] of many keys: isNew[i], if isNew is not nil, becomes what it says of keys[i].
// May run beside the other Shared methods and all that only read.
func (f *Filter) AddSharedBatch(keys [][]byte, isNew []bool) error {
	return addSharedFlat("petal.Filter.AddSharedBatch", f, keys, isNew)
}

// AddSharedBatchString is [Filter.AddSharedBatch] of strings.
func (f *Filter) AddSharedBatchString(keys []string, isNew []bool) error {
	return addSharedFlat("petal.Filter.AddSharedBatchString", f, keys, isNew)
}

func addSharedFlat[K []byte | string](op string, f *Filter, keys []K, isNew []bool) error {
	if err := roomFor(op, isNew, len(keys)); err != nil {
		return err
	}
	flat := flatPool.Get().(*flatKeys)
	defer flat.release()
	for done := 0; ; {
		taken := flatten(flat, keys[done:])
		failure := newFailure()
		C.petal_go_insert_shared_batch(f.raw(), bytesOf(flat.bytes), C.size_t(len(flat.bytes)), numbers(flat.offsets),
			C.size_t(taken), answers(part(isNew, done)), &failure.raw)
		runtime.KeepAlive(f)
		done += taken
		if err := failure.err(op); err != nil || done == len(keys) {
			return err
		}
	}
}

// AddSharedBatchUint64 is [Filter.AddSharedBatch] of numbers. It copies nothing.
func (f *Filter) AddSharedBatchUint64(keys []uint64, isNew []bool) error {
	const op = "petal.Filter.AddSharedBatchUint64"
	if err := roomFor(op, isNew, len(keys)); err != nil {
		return err
	}
	failure := newFailure()
	C.petal_filter_insert_shared_batch_u64(f.raw(), numbers(keys), C.size_t(len(keys)), answers(isNew), nil, nil,
		&failure.raw)
	runtime.KeepAlive(f)
	return failure.err(op)
}

// AddSharedBatchHash is [Filter.AddSharedBatch] of keys by their hashes. It copies nothing.
func (f *Filter) AddSharedBatchHash(hashes []uint64, isNew []bool) error {
	const op = "petal.Filter.AddSharedBatchHash"
	if err := roomFor(op, isNew, len(hashes)); err != nil {
		return err
	}
	failure := newFailure()
	C.petal_filter_insert_shared_batch_hash(f.raw(), numbers(hashes), C.size_t(len(hashes)), answers(isNew), nil, nil,
		&failure.raw)
	runtime.KeepAlive(f)
	return failure.err(op)
}

// AddCount adds to the count of keys that were offered, for those that the Shared methods inserted. Changes the filter.
func (f *Filter) AddCount(keys uint64) error {
	status := C.petal_filter_add_count(f.raw(), C.uint64_t(keys))
	runtime.KeepAlive(f)
	return statusError("petal.Filter.AddCount", status)
}
