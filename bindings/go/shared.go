package petal

/*
#include "keys.h"

#cgo noescape petal_go_filter_insert_shared
#cgo nocallback petal_go_filter_insert_shared
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// InsertShared inserts a key while other goroutines look up in the same filter and insert with the Shared methods.
// Other processes may do the same through their filters ([OpenShare]). InsertShared takes no lock. If several
// goroutines insert the same new key at the same time, at least one of them learns that the key was new. InsertShared
// does not count keys: see [Filter.AddInsertions]. Returns [ErrUnsupported] unless the filter has [CanInsertShared].
// May run together with the other Shared methods and all methods that only read.
func (f *Filter) InsertShared(key []byte) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_go_filter_insert_shared(f.toRead(), bytesOf(key), C.size_t(len(key)), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), explained("petal.Filter.InsertShared", status, f, insertSharedNone, StringKeys(nil))
}

func insertSharedNone(f *Filter, none Keys) error { return f.InsertSharedBatch(none, nil) }

// InsertSharedBatch is [Filter.InsertShared] for many keys in order: answer i says whether key i was new. With nil
// answers the call is faster. On a failure the first answers.Done keys are in the filter. May run together with the
// other Shared methods and all methods that only read.
func (f *Filter) InsertSharedBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Filter.InsertSharedBatch", C.PETAL_GO_INSERT_SHARED, unsafe.Pointer(f.toRead()), keys, answers)
	runtime.KeepAlive(f)
	return err
}

// AdvanceShared advances the time as [Filter.Advance] does, while other goroutines insert with the Shared methods, and
// other processes through their filters ([OpenShare]). Calls for one filter wait for each other; no insertion waits.
// Lookups find a key whose insertion has returned for as many steps as the kind promises. Returns [ErrUnsupported]
// without [CanAgeShared]. May run together with the Shared methods and all methods that only read.
func (f *Filter) AdvanceShared(steps uint64) error {
	return called("petal.Filter.AdvanceShared", func(failure *C.petal_error) {
		C.petal_filter_advance_shared(f.toRead(), C.uint64_t(steps), failure)
	})
}

// AddInsertions adds to the count of insertions, for keys that the Shared methods inserted. May run together with the
// Shared methods and all methods that only read.
func (f *Filter) AddInsertions(keys uint64) error {
	return called("petal.Filter.AddInsertions", func(failure *C.petal_error) {
		C.petal_filter_add_insertions(f.toRead(), C.uint64_t(keys), failure)
	})
}
