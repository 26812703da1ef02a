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
