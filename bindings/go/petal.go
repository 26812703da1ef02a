// Package petal is the Go binding of Petal's C library: Bloom filters and other approximate-membership structures.
//
// A filter answers "have I seen this key?" without storing the keys. A filter never says no to a key that was inserted.
// To other keys a filter says yes at a false-positive rate that you choose.
//
//	seen, err := petal.New(petal.Spec{Capacity: 1_000_000, FalsePositiveRate: 0.01})
//	if err != nil {
//		return err
//	}
//	defer seen.Close()
//	seen.InsertString("apple")
//	if seen.ContainsString("apple") {
//		fmt.Println("maybe")
//	}
//
// The package needs cgo and an installed libpetal; docs/go.md says how to link. A call into C costs some tens
// of nanoseconds, so give many keys in one call, as a batch. Package [github.com/petal-filter/petal/bindings/go/view]
// looks single keys up in the same files without cgo, and package [github.com/petal-filter/petal/bindings/go/filter]
// makes such files.
//
// # Lookups
//
// A lookup that fails returns true, so a failed call never says that a key is absent. The Checked methods and the
// batches also return the error.
//
// # Errors
//
// An error is an [*Error]. [errors.Is] compares it with the [Status] that the library returned, such as [ErrCorrupt],
// and with the error of the operating system, such as [io/fs.ErrNotExist].
//
// # Lifetime
//
// A filter's memory belongs to C, so the garbage collector does not see how large the filter is. Close large filters,
// and filters of which you make many; a cleanup frees forgotten filters. Methods of a closed filter, and of the zero
// value, fail with [ErrClosed].
//
// A service that goes on with a new file while its goroutines look keys up must not close the old filter: a lookup that
// has begun would touch memory that is gone. Let go of the old filter, and the cleanup frees it after the last lookup:
//
//	var current atomic.Pointer[petal.Filter] // lookups: current.Load().ContainsString(key)
//	opened, err := petal.Open(path, nil)     // when the file is another one
//	if err == nil {
//		err = opened.Verify()
//	}
//	if err != nil {
//		return err // the old file stays in use
//	}
//	current.Store(opened) // and no Close of the old one
//
// # Concurrency
//
// Methods that only read a filter may run in many goroutines at once; methods that change a filter need it to
// themselves. The comment of each method says which group it belongs to. Different filters share nothing. In a program
// that was built with -race, the race detector reports a method that changes a filter while another goroutine uses it,
// although the memory belongs to C.
package petal

/*
#include "keys.h"

#cgo noescape petal_go_filter_insert
#cgo nocallback petal_go_filter_insert
#cgo noescape petal_go_filter_contains
#cgo nocallback petal_go_filter_contains
#cgo noescape petal_go_filter_contains_checked
#cgo nocallback petal_go_filter_contains_checked
#cgo noescape petal_go_filter_hash
#cgo nocallback petal_go_filter_hash
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Version returns the version of the C library that the program runs with.
func Version() string { return C.GoString(C.petal_version_string()) }

// Filter is a filter of any kind. Get one from [New], [Open], [OpenAt], [Load] or [Builder.Finish]; the zero value is a
// closed filter, into which [Filter.ReadFrom] and [Filter.UnmarshalBinary] can read one.
type Filter struct {
	byPointer
	owner *held[*C.petal_filter]
}

func freeFilter(handle *C.petal_filter) { C.petal_filter_free(handle) }

// filterOf returns the filter of a handle, or the error of the call that should make it.
func filterOf(owner *held[*C.petal_filter], err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	return &Filter{owner: owner}, nil
}

// toRead returns the library's filter from [held.toRead].
func (f *Filter) toRead() *C.petal_filter {
	if f == nil {
		return nil
	}
	return f.owner.toRead()
}

// toChange returns the library's filter from [held.toChange].
func (f *Filter) toChange() *C.petal_filter {
	if f == nil {
		return nil
	}
	return f.owner.toChange()
}

// New makes an empty filter.
func New(spec Spec) (*Filter, error) {
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	return filterOf(made("petal.New", freeFilter, func(handle **C.petal_filter, failure *C.petal_error) {
		C.petal_filter_new(&raw, handle, failure)
	}))
}

// Copy copies the filter into new memory. Only reads the filter.
func (f *Filter) Copy() (*Filter, error) {
	return filterOf(made("petal.Filter.Copy", freeFilter, func(handle **C.petal_filter, failure *C.petal_error) {
		C.petal_filter_copy(f.toRead(), handle, failure)
	}))
}

// Close frees the filter. If you changed an image in place, Close writes the changes first; call [Filter.Sync] before
// if you want to know whether that works. The error is always nil. Closing twice is allowed. Close needs the filter to
// itself: do not close a filter that other goroutines may be using.
func (f *Filter) Close() error {
	if f != nil {
		f.owner.close()
	}
	return nil
}

// bytesOf passes a slice of bytes to the library.
func bytesOf(slice []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(slice)) }

// textOf passes the bytes of a string to the library.
func textOf(text string) *C.uint8_t { return (*C.uint8_t)(unsafe.StringData(text)) }

// numberOf passes the eight bytes of a number to the library.
func numberOf(number *uint64) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(number)) }

// Insert inserts a key. isNew is true if the key certainly was not there before, false if it may have been. Changes the
// filter.
func (f *Filter) Insert(key []byte) (isNew bool, err error) {
	var fresh C.bool
	status := C.petal_go_filter_insert(f.toChange(), bytesOf(key), C.size_t(len(key)), &fresh)
	runtime.KeepAlive(f)
	return bool(fresh), explained("petal.Filter.Insert", status, f, insertNone, StringKeys(nil))
}

func insertNone(f *Filter, none Keys) error { return f.InsertBatch(none, nil) }

// Contains says whether a key may have been inserted; false is certain. Only reads the filter.
func (f *Filter) Contains(key []byte) bool {
	found := C.petal_go_filter_contains(f.toRead(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(f)
	return bool(found)
}

// ContainsChecked is [Filter.Contains] with an error. If the lookup fails, found is true.
func (f *Filter) ContainsChecked(key []byte) (found bool, err error) {
	answer := C.bool(true)
	status := C.petal_go_filter_contains_checked(f.toRead(), bytesOf(key), C.size_t(len(key)), &answer)
	runtime.KeepAlive(f)
	return bool(answer), explained("petal.Filter.ContainsChecked", status, f, containsNone, StringKeys(nil))
}

func containsNone(f *Filter, none Keys) error { return f.ContainsBatch(none, &Answers{}) }

// Hash returns the hash of a key for the Hash methods of all filters with the same hash function and seed or secret.
// Only reads the filter.
func (f *Filter) Hash(key []byte) (uint64, error) {
	var hash C.uint64_t
	status := C.petal_go_filter_hash(f.toRead(), bytesOf(key), C.size_t(len(key)), &hash)
	runtime.KeepAlive(f)
	return uint64(hash), statusError("petal.Filter.Hash", status)
}

// HashUint64 is [Filter.Hash] for a number.
func (f *Filter) HashUint64(key uint64) (uint64, error) {
	var hash C.uint64_t
	status := C.petal_go_filter_hash(f.toRead(), numberOf(&key), 8, &hash)
	runtime.KeepAlive(f)
	return uint64(hash), statusError("petal.Filter.HashUint64", status)
}

// CompatibilityID returns an identifier that is equal for two filters if they can be merged. Only reads the filter.
func (f *Filter) CompatibilityID() ([16]byte, error) {
	return answered("petal.Filter.CompatibilityID", func(id *[16]byte, failure *C.petal_error) {
		C.petal_filter_get_compatibility_id(f.toRead(), (*C.uint8_t)(&id[0]), failure)
	})
}
