package petal

/*
#include "keys.h"

#cgo noescape petal_go_contains_batch
#cgo nocallback petal_go_contains_batch
#cgo noescape petal_filter_contains_batch_u64
#cgo nocallback petal_filter_contains_batch_u64
#cgo noescape petal_filter_contains_batch_hash
#cgo nocallback petal_filter_contains_batch_hash
#cgo noescape petal_go_insert_batch
#cgo nocallback petal_go_insert_batch
#cgo noescape petal_filter_insert_batch_u64
#cgo nocallback petal_filter_insert_batch_u64
#cgo noescape petal_filter_insert_batch_hash
#cgo nocallback petal_filter_insert_batch_hash
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// Byte keys go to the library as one buffer with offsets, since it may not be given pointers to pointers into Go's
// memory. They are copied piece by piece, so that the buffer stays in the cache.
const (
	pieceKeys  = 4096
	pieceBytes = 128 << 10
	// A buffer that one huge key has grown beyond this is not kept.
	keptBytes = 1 << 20
)

// flatKeys are keys one after the other: key i is bytes[offsets[i]:offsets[i+1]].
type flatKeys struct {
	bytes   []byte
	offsets []uint64
}

var flatPool = sync.Pool{New: func() any {
	return &flatKeys{make([]byte, 0, pieceBytes), make([]uint64, 0, pieceKeys+1)}
}}

func (k *flatKeys) release() {
	if cap(k.bytes) <= keptBytes {
		flatPool.Put(k)
	}
}

// flatten takes keys until a piece is full, at least one if there is any, and returns how many.
func flatten[K []byte | string](k *flatKeys, keys []K) int {
	k.bytes, k.offsets = k.bytes[:0], append(k.offsets[:0], 0)
	taken := 0
	for taken < len(keys) && taken < pieceKeys && (taken == 0 || len(k.bytes)+len(keys[taken]) <= pieceBytes) {
		k.bytes = append(k.bytes, keys[taken]...)
		k.offsets = append(k.offsets, uint64(len(k.bytes)))
		taken++
	}
	return taken
}

// answers is where the library writes a byte, 0 or 1, for each key: into a slice of bool, which is just that.
func answers(slice []bool) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(slice))) }

// part is the answers from one key on, or none.
func part(slice []bool, from int) []bool {
	if slice == nil {
		return nil
	}
	return slice[from:]
}

// numbers gives the library a slice of numbers.
func numbers(slice []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(slice)) }

// roomFor checks that there is an answer for each key, or that none is wanted.
func roomFor(op string, slice []bool, count int) error {
	if slice == nil || len(slice) >= count {
		return nil
	}
	message := fmt.Sprintf("room for %d answers is less than the %d keys", len(slice), count)
	return &Error{Op: op, Status: ErrBufferTooSmall, Message: message}
}

// maybe answers a lookup that failed.
func maybe(found []bool, count int) int {
	for i := range found[:min(count, len(found))] {
		found[i] = true
	}
	return count
}

// ContainsBatch looks many keys up: found[i] becomes what [Filter.Contains] says of keys[i], and count is how many are
// true. found may be nil, if only the count is wanted; otherwise it has room for all. On a failure every answer is
// true. Only reads the filter.
func (f *Filter) ContainsBatch(keys [][]byte, found []bool) (count int, err error) {
	return containsFlat("petal.Filter.ContainsBatch", f, keys, found)
}

// ContainsBatchString is [Filter.ContainsBatch] of strings.
func (f *Filter) ContainsBatchString(keys []string, found []bool) (count int, err error) {
	return containsFlat("petal.Filter.ContainsBatchString", f, keys, found)
}

func containsFlat[K []byte | string](op string, f *Filter, keys []K, found []bool) (int, error) {
	if err := roomFor(op, found, len(keys)); err != nil {
		return maybe(found, len(keys)), err
	}
	handle := f.toRead()
	flat := flatPool.Get().(*flatKeys)
	defer flat.release()
	count := 0
	// Once even without keys: the library says what is wrong with the filter.
	for done := 0; ; {
		taken := flatten(flat, keys[done:])
		var some C.uint64_t
		failure := newFailure()
		C.petal_go_contains_batch(handle, bytesOf(flat.bytes), C.size_t(len(flat.bytes)),
			numbers(flat.offsets), C.size_t(taken), answers(part(found, done)), &some, &failure.raw)
		runtime.KeepAlive(f)
		if err := failure.err(op); err != nil {
			return maybe(found, len(keys)), err
		}
		count += int(some)
		done += taken
		if done == len(keys) {
			return count, nil
		}
	}
}

// ContainsBatchUint64 is [Filter.ContainsBatch] of numbers. It copies nothing.
func (f *Filter) ContainsBatchUint64(keys []uint64, found []bool) (count int, err error) {
	const op = "petal.Filter.ContainsBatchUint64"
	if err := roomFor(op, found, len(keys)); err != nil {
		return maybe(found, len(keys)), err
	}
	var some C.uint64_t
	failure := newFailure()
	C.petal_filter_contains_batch_u64(f.toRead(), numbers(keys), C.size_t(len(keys)), answers(found), nil, &some,
		&failure.raw)
	runtime.KeepAlive(f)
	if err := failure.err(op); err != nil {
		return maybe(found, len(keys)), err
	}
	return int(some), nil
}

// ContainsBatchHash is [Filter.ContainsBatch] of keys by their hashes. It copies nothing.
func (f *Filter) ContainsBatchHash(hashes []uint64, found []bool) (count int, err error) {
	const op = "petal.Filter.ContainsBatchHash"
	if err := roomFor(op, found, len(hashes)); err != nil {
		return maybe(found, len(hashes)), err
	}
	var some C.uint64_t
	failure := newFailure()
	C.petal_filter_contains_batch_hash(f.toRead(), numbers(hashes), C.size_t(len(hashes)), answers(found), nil, &some,
		&failure.raw)
	runtime.KeepAlive(f)
	if err := failure.err(op); err != nil {
		return maybe(found, len(hashes)), err
	}
	return int(some), nil
}

// InsertBatch inserts many keys in order: isNew[i] becomes what [Filter.Insert] says of keys[i]. isNew may be nil;
// otherwise it has room for all. inserted is how many keys, the first so many, are in the filter, also on a failure;
// only these have answers. Changes the filter.
func (f *Filter) InsertBatch(keys [][]byte, isNew []bool) (inserted int, err error) {
	return insertFlat("petal.Filter.InsertBatch", f, keys, isNew)
}

// InsertBatchString is [Filter.InsertBatch] of strings.
func (f *Filter) InsertBatchString(keys []string, isNew []bool) (inserted int, err error) {
	return insertFlat("petal.Filter.InsertBatchString", f, keys, isNew)
}

func insertFlat[K []byte | string](op string, f *Filter, keys []K, isNew []bool) (int, error) {
	if err := roomFor(op, isNew, len(keys)); err != nil {
		return 0, err
	}
	handle := f.toChange()
	flat := flatPool.Get().(*flatKeys)
	defer flat.release()
	for done := 0; ; {
		taken := flatten(flat, keys[done:])
		var inserted C.size_t
		failure := newFailure()
		C.petal_go_insert_batch(handle, bytesOf(flat.bytes), C.size_t(len(flat.bytes)),
			numbers(flat.offsets), C.size_t(taken), answers(part(isNew, done)), &inserted, &failure.raw)
		runtime.KeepAlive(f)
		done += int(inserted)
		if err := failure.err(op); err != nil || done == len(keys) {
			return done, err
		}
	}
}

// InsertBatchUint64 is [Filter.InsertBatch] of numbers. It copies nothing.
func (f *Filter) InsertBatchUint64(keys []uint64, isNew []bool) (inserted int, err error) {
	const op = "petal.Filter.InsertBatchUint64"
	if err := roomFor(op, isNew, len(keys)); err != nil {
		return 0, err
	}
	var done C.size_t
	failure := newFailure()
	C.petal_filter_insert_batch_u64(f.toChange(), numbers(keys), C.size_t(len(keys)), answers(isNew), nil, nil, &done,
		&failure.raw)
	runtime.KeepAlive(f)
	return int(done), failure.err(op)
}

// InsertBatchHash is [Filter.InsertBatch] of keys by their hashes. It copies nothing.
func (f *Filter) InsertBatchHash(hashes []uint64, isNew []bool) (inserted int, err error) {
	const op = "petal.Filter.InsertBatchHash"
	if err := roomFor(op, isNew, len(hashes)); err != nil {
		return 0, err
	}
	var done C.size_t
	failure := newFailure()
	C.petal_filter_insert_batch_hash(f.toChange(), numbers(hashes), C.size_t(len(hashes)), answers(isNew), nil, nil,
		&done, &failure.raw)
	runtime.KeepAlive(f)
	return int(done), failure.err(op)
}
