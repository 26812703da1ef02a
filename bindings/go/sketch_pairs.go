package petal

/*
#include "keys.h"

#cgo noescape petal_go_sketch_get
#cgo nocallback petal_go_sketch_get
#cgo noescape petal_go_sketch_insert_value
#cgo nocallback petal_go_sketch_insert_value
#cgo noescape petal_go_sketch_remove_value
#cgo nocallback petal_go_sketch_remove_value
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// SketchPresence is what a sketch says of a number.
type SketchPresence uint32

// The answers of [Sketch.Get].
const (
	// Absent says that the number is not there.
	Absent SketchPresence = C.PETAL_SKETCH_PRESENCE_ABSENT
	// Present says that the number is there.
	Present SketchPresence = C.PETAL_SKETCH_PRESENCE_PRESENT
	// Unknown says that each cell of the number has other numbers too. [Sketch.List] may know.
	Unknown SketchPresence = C.PETAL_SKETCH_PRESENCE_UNKNOWN
)

func (p SketchPresence) String() string {
	if p > Unknown {
		return fmt.Sprintf("SketchPresence(%d)", uint32(p))
	}
	return [...]string{"absent", "present", "unknown"}[p]
}

// SketchPair is a number with its value, which is 0 in a sketch without values, and its sign: 1 for a pair that was
// inserted, -1 for a pair that was removed, or that only the subtracted sketch had.
type SketchPair struct {
	Number uint64
	Value  uint64
	Sign   int64
}

// got returns what a call of the library says of a number.
func (s *Sketch) got(op string, get func(*C.petal_sketch_presence, *C.petal_sketch_pair,
	*C.petal_error)) (SketchPresence, SketchPair, error) {
	presence, pair := C.petal_sketch_presence(Unknown), C.petal_sketch_pair{}
	err := called(op, func(failure *C.petal_error) { get(&presence, &pair, failure) })
	if err != nil || SketchPresence(presence) != Present {
		return SketchPresence(presence), SketchPair{}, err
	}
	return Present, SketchPair{uint64(pair.number), uint64(pair.value), int64(pair.sign)}, nil
}

// Get says whether the sketch has a byte key: its hash. The pair has the sign and the value of a number that is there.
// The answer is right if each number was inserted only once. The more numbers a sketch has, the less it knows of each.
// Returns [ErrUnsupported] for kinds but iblt. Constant time.
func (s *Sketch) Get(key []byte) (SketchPresence, SketchPair, error) {
	return s.got("petal.Sketch.Get",
		func(p *C.petal_sketch_presence, pair *C.petal_sketch_pair, failure *C.petal_error) {
			C.petal_go_sketch_get(s.raw(), bytesOf(key), C.size_t(len(key)), p, pair, failure)
		})
}

// ValueBits returns the bits of a value: 64, or 0 if the numbers have no values.
func (s *Sketch) ValueBits() (int, error) {
	bits, err := answered("petal.Sketch.ValueBits", func(bits *uint32, failure *C.petal_error) {
		C.petal_sketch_value_bits(s.raw(), (*C.uint32_t)(bits), failure)
	})
	return int(bits), err
}

// InsertValue inserts a byte key with its value. Insert a key only once, with one value. Returns [ErrUnsupported] if
// the sketch has no values: set the parameter value_bits of its spec to 64. Changes the sketch.
func (s *Sketch) InsertValue(key []byte, value uint64) error {
	return called("petal.Sketch.InsertValue", func(failure *C.petal_error) {
		C.petal_go_sketch_insert_value(s.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(value), failure)
	})
}

// InsertValueBatch inserts many keys in order, key i with values[i]. answers may be nil; it only tells how many keys
// were inserted, the first answers.Done, and has no Bools. Changes the sketch.
func (s *Sketch) InsertValueBatch(keys Keys, values []uint64, answers *Answers) error {
	err := runGiving("petal.Sketch.InsertValueBatch", C.PETAL_GO_SKETCH_INSERT_VALUE, unsafe.Pointer(s.toChange()), keys,
		"values", values, answers)
	runtime.KeepAlive(s)
	return err
}

// RemoveValue removes a byte key with the value that it was inserted with. Changes the sketch.
func (s *Sketch) RemoveValue(key []byte, value uint64) error {
	return called("petal.Sketch.RemoveValue", func(failure *C.petal_error) {
		C.petal_go_sketch_remove_value(s.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(value), failure)
	})
}

// RemoveValueBatch removes many keys with their values in order, as [Sketch.InsertValueBatch] inserts them. Changes the
// sketch.
func (s *Sketch) RemoveValueBatch(keys Keys, values []uint64, answers *Answers) error {
	err := runGiving("petal.Sketch.RemoveValueBatch", C.PETAL_GO_SKETCH_REMOVE_VALUE, unsafe.Pointer(s.toChange()), keys,
		"values", values, answers)
	runtime.KeepAlive(s)
	return err
}

// ListValues returns the numbers with their values, ordered by sign, number and value. A number whose value differs in
// two subtracted sketches is there twice, with both signs. complete says whether these are all pairs. Returns
// [ErrUnsupported] if the sketch has no values.
func (s *Sketch) ListValues() (listed []SketchPair, complete bool, err error) {
	description, err := s.Describe()
	if err != nil {
		return nil, false, err
	}
	listed = make([]SketchPair, description.Bits/256)
	var count C.size_t
	var isComplete C.bool
	failure := newFailure()
	C.petal_sketch_list_values(s.raw(), (*C.petal_sketch_pair)(unsafe.Pointer(unsafe.SliceData(listed))),
		C.size_t(len(listed)), &count, &isComplete, &failure.raw)
	runtime.KeepAlive(s)
	if err := failure.err("petal.Sketch.ListValues"); err != nil {
		return nil, false, err
	}
	return listed[:count], bool(isComplete), nil
}
