package petal

/*
#include <stdint.h>
#include "keys.h"

#cgo noescape petal_go_map_get
#cgo nocallback petal_go_map_get
#cgo noescape petal_go_map_builder_put
#cgo nocallback petal_go_map_builder_put

extern _Bool petalGoProgress(uintptr_t context, uint64_t done, uint64_t total);
static bool petal_go_map_progress(void *context, uint64_t done, uint64_t total) {
	return petalGoProgress((uintptr_t)context, done, total);
}

// A context of 0 stands for no callback. The context is a number in Go, because Go may not hold it as a pointer.
static petal_status petal_go_map_builder_new(const petal_spec *spec, uint64_t memory_limit,
                                             const char *temporary_directory, size_t threads, uintptr_t context,
                                             petal_map_builder **builder, petal_error *error) {
	petal_builder_options options = {.struct_size = sizeof options};
	options.memory_limit = memory_limit;
	options.temporary_directory = temporary_directory;
	options.threads = threads;
	if (context) {
		options.progress = petal_go_map_progress;
		options.progress_context = (void *)context;
	}
	return petal_map_builder_new(spec, &options, builder, error);
}
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Map is a map of any kind. A map gives the value of each of its keys, or a bound on the value if the kind is
// approximator. A map says that other keys are absent, except for a share of them.
//
// A [MapBuilder] makes a map, and [NewMap] makes an empty one. Methods that only read the map may run in many
// goroutines at once. [Map.Close] and methods that change the map need it to themselves.
type Map struct {
	byPointer
	owner *held[*C.petal_map]
}

// Get returns the value of a key and whether it is there; 0 and false if it is not.
func (m *Map) Get(key []byte) (uint64, bool, error) {
	var value C.uint64_t
	var found C.bool
	status := C.petal_go_map_get(m.raw(), bytesOf(key), C.size_t(len(key)), &value, &found)
	runtime.KeepAlive(m)
	return uint64(value), bool(found), explained("petal.Map.Get", status, m, getNone, StringKeys(nil))
}

func getNone(m *Map, none Keys) error { return m.GetBatch(none, nil, &Answers{}) }

// GetBatch looks many keys up: values[i] becomes the value of key i, or 0 if the key is absent, and answers.Bools[i]
// says whether the key is there. values and answers may be nil. On a failure every answer is false.
func (m *Map) GetBatch(keys Keys, values []uint64, answers *Answers) error {
	const op = "petal.Map.GetBatch"
	if answers == nil {
		answers = &Answers{}
	}
	if values != nil {
		if err := roomForEach(op, "values", len(values), keys); err != nil {
			return err
		}
	}
	err := runBatchWith(op, C.PETAL_GO_MAP_GET, unsafe.Pointer(m.raw()), keys, nil, values, answers)
	runtime.KeepAlive(m)
	if err != nil {
		clear(answers.Bools[:min(keys.Len(), len(answers.Bools))])
		clear(values)
		answers.TrueCount, answers.Done = 0, 0
	}
	return err
}

// MapBuilder collects keys with their values, 24 bytes each, and then makes a map for exactly the distinct keys that
// came. All methods need the builder to themselves, except [MapBuilder.KeyCount].
type MapBuilder struct {
	never
	owner *making[*C.petal_map_builder]
}

// NewMapBuilder makes a builder of the map that a spec describes: its kind (empty is bloomier), rate, hash function,
// seed, secret and parameters.
func NewMapBuilder(spec Spec, options *BuilderOptions) (*MapBuilder, error) {
	owner, err := newMaking("petal.NewMapBuilder", spec, options,
		func(handle *C.petal_map_builder) { C.petal_map_builder_free(handle) },
		func(spec *C.petal_spec, limit C.uint64_t, folder *C.char, threads C.size_t, context C.uintptr_t,
			handle **C.petal_map_builder, failure *C.petal_error,
		) {
			C.petal_go_map_builder_new(spec, limit, folder, threads, context, handle, failure)
		})
	if err != nil {
		return nil, err
	}
	return &MapBuilder{owner: owner}, nil
}

// toRead returns the library's builder from [held.toRead].
func (b *MapBuilder) toRead() *C.petal_map_builder {
	if b == nil || b.owner == nil {
		return nil
	}
	return b.owner.toRead()
}

// toChange returns the library's builder from [held.toChange].
func (b *MapBuilder) toChange() *C.petal_map_builder {
	if b == nil || b.owner == nil {
		return nil
	}
	return b.owner.toChange()
}

func (b *MapBuilder) rethrow() {
	if b != nil && b.owner != nil {
		b.owner.rethrow()
	}
}

// Close frees the builder and its keys. The error is always nil. Closing twice is allowed.
func (b *MapBuilder) Close() error {
	if b != nil && b.owner != nil {
		b.owner.close()
	}
	return nil
}

// Put gives a key a value. The same value again changes nothing. If a key has two different values, making the map
// fails, unless the kind joins values.
func (b *MapBuilder) Put(key []byte, value uint64) error {
	status := C.petal_go_map_builder_put(b.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(value))
	runtime.KeepAlive(b)
	return explained("petal.MapBuilder.Put", status, b, putInBuilderNone, StringKeys(nil))
}

func putInBuilderNone(b *MapBuilder, none Keys) error { return b.PutBatch(none, nil, nil) }

// PutBatch gives many keys their values, in order; there is a value for each key. answers may be nil; it only tells how
// many keys were put, the first answers.Done, and has no Bools.
func (b *MapBuilder) PutBatch(keys Keys, values []uint64, answers *Answers) error {
	err := runGiving("petal.MapBuilder.PutBatch", C.PETAL_GO_MAP_BUILDER_PUT, unsafe.Pointer(b.toChange()), keys,
		"values", values, answers)
	runtime.KeepAlive(b)
	return err
}

// Finish makes the map and empties the builder, which you may use again. Returns [ErrContradiction] if a key has two
// values. On a failure, and when Progress cancels ([ErrCancelled]), the keys stay.
func (b *MapBuilder) Finish() (*Map, error) {
	return mapOf(made("petal.MapBuilder.Finish", freeMap, func(handle **C.petal_map, failure *C.petal_error) {
		C.petal_map_builder_finish(b.toChange(), handle, failure)
		b.rethrow()
	}))
}

// Save makes the map straight into a file, which replaces an old file in one step, and empties the builder. On a
// failure the old file and the keys stay.
func (b *MapBuilder) Save(path string) error {
	return withPath("petal.MapBuilder.Save", path, func(path *C.char, failure *C.petal_error) {
		C.petal_map_builder_save(b.toChange(), path, failure)
		b.rethrow()
	})
}
