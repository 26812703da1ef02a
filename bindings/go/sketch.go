package petal

/*
#include "keys.h"

#cgo noescape petal_go_sketch_insert
#cgo nocallback petal_go_sketch_insert
#cgo noescape petal_go_sketch_remove
#cgo nocallback petal_go_sketch_remove
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Sketch is a set of 64-bit numbers in little memory. Subtract one sketch from another, and list the numbers that only
// one of them has. A uint64 key is the number itself; the number of a byte key is its hash. Insert a number only once:
// a sketch cannot tell that it has the number already, and does not list numbers that are there twice.
//
// Methods that only read the sketch may run in many goroutines at once. [Sketch.Close] and methods that change the
// sketch need it to themselves.
type Sketch struct {
	byPointer
	owner *held[*C.petal_sketch]
}

// SketchListed is a number that a sketch lists, and its sign: 1 for a number that was inserted, -1 for a number that
// was removed, or that only the subtracted sketch had.
type SketchListed struct {
	Number uint64
	Sign   int64
}

// NewSketch makes an empty sketch. The Capacity of the spec is the greatest number of differences, and
// FalsePositiveRate is the probability that the sketch cannot list that many. Sketches of one spec can be subtracted.
func NewSketch(spec Spec) (*Sketch, error) {
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	return sketchOf(made("petal.NewSketch", freeSketch, func(handle **C.petal_sketch, failure *C.petal_error) {
		C.petal_sketch_new(&raw, handle, failure)
	}))
}

// The batch calls of a sketch, each without keys.
func insertInSketchNone(s *Sketch, none Keys) error   { return s.InsertBatch(none, nil) }
func removeFromSketchNone(s *Sketch, none Keys) error { return s.RemoveBatch(none, nil) }

// Insert inserts the hash of a byte key, as a number. Changes the sketch.
func (s *Sketch) Insert(key []byte) error {
	status := C.petal_go_sketch_insert(s.toChange(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.Insert", status, s, insertInSketchNone, StringKeys(nil))
}

// InsertBatch inserts many keys in order. answers may be nil; it only tells how many keys were inserted, the first
// answers.Done, and has no Bools. Changes the sketch.
func (s *Sketch) InsertBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Sketch.InsertBatch", C.PETAL_GO_SKETCH_INSERT, unsafe.Pointer(s.toChange()), keys, answers)
	runtime.KeepAlive(s)
	return err
}

// Remove removes a byte key. If you remove a number that you did not insert, the sketch lists the number with -1.
// Changes the sketch.
func (s *Sketch) Remove(key []byte) error {
	status := C.petal_go_sketch_remove(s.toChange(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.Remove", status, s, removeFromSketchNone, StringKeys(nil))
}

// RemoveBatch removes many keys in order, as [Sketch.InsertBatch] inserts them. Changes the sketch.
func (s *Sketch) RemoveBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Sketch.RemoveBatch", C.PETAL_GO_SKETCH_REMOVE, unsafe.Pointer(s.toChange()), keys, answers)
	runtime.KeepAlive(s)
	return err
}

// List returns the numbers of the sketch in ascending order, first those with -1, then those with 1. complete says
// whether these are all numbers. If there are more differences than the sketch can tell apart, the list is right, but
// some numbers are missing; a pinsketch then lists none. Returns [ErrSecretMissing] if the secret key was not given.
func (s *Sketch) List() (listed []SketchListed, complete bool, err error) {
	description, err := s.Describe()
	if err != nil {
		return nil, false, err
	}
	return listedBy("petal.Sketch.List", description.Bits/192,
		func(listed *C.petal_sketch_listed, room C.size_t, count *C.size_t, complete *C.bool, failure *C.petal_error) {
			C.petal_sketch_list(s.raw(), listed, room, count, complete, failure)
		})
}

// ListKeys returns the whole keys of a sketch that was made with the parameter key_bytes, in ascending order of their
// bytes: first those with -1, then those with 1. complete says whether these are all. Returns [ErrUnsupported] for a
// sketch of numbers.
func (s *Sketch) ListKeys() (listed []SketchListedKey, complete bool, err error) {
	return listedKeysBy("petal.Sketch.ListKeys", s.KeyBytes(), s.SymbolCount(),
		func(keys *C.uint8_t, signs *C.int64_t, room C.size_t, count *C.size_t, complete *C.bool,
			failure *C.petal_error,
		) {
			C.petal_go_sketch_list_keys(s.raw(), keys, signs, room, count, complete, failure)
		})
}

// KeyBytes returns how many bytes a key has, if the sketch holds whole keys; 0 if it holds numbers.
func (s *Sketch) KeyBytes() int {
	bytes := C.petal_sketch_key_bytes(s.raw())
	runtime.KeepAlive(s)
	return int(bytes)
}

// KeepsKeys tells whether the sketch keeps its keys.
func (s *Sketch) KeepsKeys() bool {
	keeps := C.petal_sketch_keeps_keys(s.raw())
	runtime.KeepAlive(s)
	return bool(keeps)
}

// SymbolCount returns how many coded symbols the sketch has, 0 if its kind has none.
func (s *Sketch) SymbolCount() uint64 {
	symbols := C.petal_sketch_symbol_count(s.raw())
	runtime.KeepAlive(s)
	return uint64(symbols)
}

// ExportMinisketch returns the bytes that minisketch serializes for a sketch of the same numbers. Returns
// [ErrUnsupported] for other kinds than pinsketch.
func (s *Sketch) ExportMinisketch() ([]byte, error) {
	const op = "petal.Sketch.ExportMinisketch"
	size := func() (uint64, error) {
		return answered(op, func(size *uint64, failure *C.petal_error) {
			var length C.size_t
			C.petal_go_sketch_export_minisketch(s.raw(), nil, 0, &length, failure)
			*size = uint64(length)
		})
	}
	return marshalled(op, size, func(bytes []byte, failure *C.petal_error) {
		var length C.size_t
		C.petal_go_sketch_export_minisketch(s.raw(), bytesOf(bytes), C.size_t(len(bytes)), &length, failure)
	})
}

// Capabilities returns what this sketch can do now: a sketch that is open for reading can do less than its kind.
func (s *Sketch) Capabilities() Capabilities {
	capabilities := C.petal_sketch_capabilities(s.raw())
	runtime.KeepAlive(s)
	return Capabilities(capabilities)
}

// CompatibilityID returns an identifier that is equal for two sketches if one can be subtracted from the other.
func (s *Sketch) CompatibilityID() ([16]byte, error) {
	return answered("petal.Sketch.CompatibilityID", func(id *[16]byte, failure *C.petal_error) {
		C.petal_sketch_get_compatibility_id(s.raw(), (*C.uint8_t)(&id[0]), failure)
	})
}
