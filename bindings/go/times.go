package petal

/*
#include "keys.h"

#cgo noescape petal_go_filter_insert_times
#cgo nocallback petal_go_filter_insert_times
#cgo noescape petal_go_filter_remove_times
#cgo nocallback petal_go_filter_remove_times
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// InsertTimes inserts a key times times. isNew is true if the key certainly was not there before. A count stops at the
// greatest count of the kind. Returns [ErrFull] if there is no room for all copies; the filter has taken none then.
// Returns [ErrUnsupported] if the kind cannot count. Changes the filter.
func (f *Filter) InsertTimes(key []byte, times uint64) (isNew bool, err error) {
	var was C.bool
	status := C.petal_go_filter_insert_times(f.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(times), &was)
	runtime.KeepAlive(f)
	return bool(was), explained("petal.Filter.InsertTimes", status, f, insertTimesNone, StringKeys(nil))
}

func insertTimesNone(f *Filter, none Keys) error { return f.InsertTimesBatch(none, nil, nil) }

// InsertTimesBatch inserts each key as often as the number in its place of times says, in order: answer i is what
// [Filter.InsertTimes] says of key i. answers may be nil. On a failure the first answers.Done keys were taken. Changes
// the filter.
func (f *Filter) InsertTimesBatch(keys Keys, times []uint64, answers *Answers) error {
	err := runGiving("petal.Filter.InsertTimesBatch", C.PETAL_GO_INSERT_TIMES, unsafe.Pointer(f.toChange()), keys,
		"counts", times, answers)
	runtime.KeepAlive(f)
	return err
}

// RemoveTimes removes a key as often as it is there, but at most times times; removed is the number of removed copies.
// In counting, a count that has reached the greatest one stays. Returns [ErrUnsupported] if the kind cannot remove or
// count. Changes the filter.
func (f *Filter) RemoveTimes(key []byte, times uint64) (removed uint64, err error) {
	var often C.uint64_t
	status := C.petal_go_filter_remove_times(f.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(times), &often)
	runtime.KeepAlive(f)
	return uint64(often), explained("petal.Filter.RemoveTimes", status, f, removeTimesNone, StringKeys(nil))
}

func removeTimesNone(f *Filter, none Keys) error { return f.RemoveTimesBatch(none, nil, nil) }

// RemoveTimesBatch removes each key as often as it is there, but no more than the number in its place of times says, in
// order: answer i is false if key i certainly was not there. answers may be nil. On a failure the first answers.Done
// keys were taken. Changes the filter.
func (f *Filter) RemoveTimesBatch(keys Keys, times []uint64, answers *Answers) error {
	err := runGiving("petal.Filter.RemoveTimesBatch", C.PETAL_GO_REMOVE_TIMES, unsafe.Pointer(f.toChange()), keys,
		"counts", times, answers)
	runtime.KeepAlive(f)
	return err
}
