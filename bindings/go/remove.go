package petal

/*
#include "keys.h"

#cgo noescape petal_go_filter_remove
#cgo nocallback petal_go_filter_remove
#cgo noescape petal_go_filter_rejuvenate
#cgo nocallback petal_go_filter_rejuvenate
#cgo noescape petal_go_filter_count
#cgo nocallback petal_go_filter_count
*/
import "C"

import (
	"math"
	"runtime"
	"unsafe"
)

// Remove removes one occurrence of a key. removed is false if the key certainly was not there; nothing has changed
// then. Remove only keys that were inserted: removing an absent key that matches removes parts of other keys. Returns
// [ErrUnsupported] if the kind cannot remove keys. Changes the filter.
func (f *Filter) Remove(key []byte) (removed bool, err error) {
	var was C.bool
	status := C.petal_go_filter_remove(f.toChange(), bytesOf(key), C.size_t(len(key)), &was)
	runtime.KeepAlive(f)
	return bool(was), explained("petal.Filter.Remove", status, f, removeNone, StringKeys(nil))
}

func removeNone(f *Filter, none Keys) error { return f.RemoveBatch(none, nil) }

// RemoveBatch removes one occurrence of each key, in order: answer i is what [Filter.Remove] says of key i. answers may
// be nil. On a failure the first answers.Done keys were taken. Changes the filter.
func (f *Filter) RemoveBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Filter.RemoveBatch", C.PETAL_GO_REMOVE, unsafe.Pointer(f.toChange()), keys, answers)
	runtime.KeepAlive(f)
	return err
}

// Rejuvenate restores a stored key's entry to full length, in a kind whose entries become shorter with each growth.
// rejuvenated is false if the entry is already full, or if the key certainly is not there; nothing has changed then.
// Rejuvenate only keys that are there: rejuvenating an absent key that matches may lose another key. Returns
// [ErrUnsupported] without [CanRejuvenate]. Returns [ErrFull] if there is no room for the longer entry; the entry stays
// as it was then. Changes the filter.
func (f *Filter) Rejuvenate(key []byte) (rejuvenated bool, err error) {
	var done C.bool
	status := C.petal_go_filter_rejuvenate(f.toChange(), bytesOf(key), C.size_t(len(key)), &done)
	runtime.KeepAlive(f)
	return bool(done), explained("petal.Filter.Rejuvenate", status, f, rejuvenateNone, StringKeys(nil))
}

func rejuvenateNone(f *Filter, none Keys) error { return f.RejuvenateBatch(none, nil) }

// RejuvenateBatch restores the entries of stored keys to full length, in order: answer i is what [Filter.Rejuvenate]
// says of key i. answers may be nil. On a failure the first answers.Done keys were taken. Changes the filter.
func (f *Filter) RejuvenateBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Filter.RejuvenateBatch", C.PETAL_GO_REJUVENATE, unsafe.Pointer(f.toChange()), keys, answers)
	runtime.KeepAlive(f)
	return err
}

// Count says how often a key was inserted, minus how often it was removed; 0 is certain. Many kinds have a greatest
// count, which stands for that number or more: 15 in counting, unless counter_bits says otherwise. Returns
// [ErrUnsupported] if the kind cannot count. Only reads the filter.
func (f *Filter) Count(key []byte) (uint64, error) {
	var count C.uint64_t
	status := C.petal_go_filter_count(f.toRead(), bytesOf(key), C.size_t(len(key)), &count)
	runtime.KeepAlive(f)
	return uint64(count), explained("petal.Filter.Count", status, f, countNone, StringKeys(nil))
}

func countNone(f *Filter, none Keys) error { return f.CountBatch(none, nil) }

// CountBatch counts many keys: counts[i] becomes what [Filter.Count] says of key i. counts has room for all. On a
// failure every count is math.MaxUint64. Only reads the filter.
func (f *Filter) CountBatch(keys Keys, counts []uint64) error {
	const op = "petal.Filter.CountBatch"
	if err := roomForEach(op, "counts", len(counts), keys); err != nil {
		return err
	}
	err := runBatchWith(op, C.PETAL_GO_COUNT, unsafe.Pointer(f.toRead()), keys, nil, counts, &Answers{})
	runtime.KeepAlive(f)
	if err != nil {
		for i := range counts[:keys.Len()] {
			counts[i] = math.MaxUint64
		}
	}
	return err
}
