package petal

/*
#include "keys.h"

#cgo noescape petal_go_map_put
#cgo nocallback petal_go_map_put
#cgo noescape petal_go_map_replace
#cgo nocallback petal_go_map_replace
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// NewMap makes an empty map. The spec must name a kind that starts empty: "approximator".
func NewMap(spec Spec) (*Map, error) {
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	return mapOf(made("petal.NewMap", freeMap, func(handle **C.petal_map, failure *C.petal_error) {
		C.petal_map_new(&raw, handle, failure)
	}))
}

// Capabilities returns what this map can do now: a map that is open for reading can do less than its kind.
func (m *Map) Capabilities() Capabilities {
	capabilities := Capabilities(C.petal_map_capabilities(m.raw()))
	runtime.KeepAlive(m)
	return capabilities
}

// Put gives a key one more value: the map joins all values of the key as its parameter lattice says. changed says
// whether the call changed the value that Get returns for the key. Returns [ErrUnsupported] if the kind cannot put
// values. Changes the map.
func (m *Map) Put(key []byte, value uint64) (changed bool, err error) {
	var less C.bool
	status := C.petal_go_map_put(m.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(value), &less)
	runtime.KeepAlive(m)
	return bool(less), explained("petal.Map.Put", status, m, putNone, StringKeys(nil))
}

func putNone(m *Map, none Keys) error { return m.PutBatch(none, nil, nil) }

// PutBatch gives many keys values, in order; there is a value for each key. Answer i is what [Map.Put] says of key i.
// answers may be nil. On a failure the first answers.Done keys were taken. Changes the map.
func (m *Map) PutBatch(keys Keys, values []uint64, answers *Answers) error {
	err := runGiving("petal.Map.PutBatch", C.PETAL_GO_MAP_PUT, unsafe.Pointer(m.toChange()), keys, "values", values,
		answers)
	runtime.KeepAlive(m)
	return err
}

// Replace replaces the value of a key that is there. found is false if the key certainly is not there; nothing has
// changed then. True does not prove that the key is there: with the probability of a false positive the call replaced
// another key's value. Returns [ErrUnsupported] if the kind cannot replace values. Changes the map.
func (m *Map) Replace(key []byte, value uint64) (found bool, err error) {
	var there C.bool
	status := C.petal_go_map_replace(m.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(value), &there)
	runtime.KeepAlive(m)
	return bool(there), explained("petal.Map.Replace", status, m, replaceNone, StringKeys(nil))
}

func replaceNone(m *Map, none Keys) error { return m.ReplaceBatch(none, nil, nil) }

// ReplaceBatch gives many keys other values, in order; there is a value for each key. Answer i is what [Map.Replace]
// says of key i. answers may be nil. On a failure the first answers.Done keys were taken. Changes the map.
func (m *Map) ReplaceBatch(keys Keys, values []uint64, answers *Answers) error {
	err := runGiving("petal.Map.ReplaceBatch", C.PETAL_GO_MAP_REPLACE, unsafe.Pointer(m.toChange()), keys, "values",
		values, answers)
	runtime.KeepAlive(m)
	return err
}
