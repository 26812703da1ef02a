package petal

/*
#include <stdint.h>
#include "keys.h"

#cgo noescape petal_go_builder_add
#cgo nocallback petal_go_builder_add
#cgo noescape petal_builder_add_u64
#cgo nocallback petal_builder_add_u64
#cgo noescape petal_builder_add_hash
#cgo nocallback petal_builder_add_hash
#cgo noescape petal_go_builder_add_times
#cgo nocallback petal_go_builder_add_times
#cgo noescape petal_builder_add_times_u64
#cgo nocallback petal_builder_add_times_u64
#cgo noescape petal_builder_add_times_hash
#cgo nocallback petal_builder_add_times_hash

extern _Bool petalGoProgress(uintptr_t context, uint64_t done, uint64_t total);

static bool petal_go_progress(void *context, uint64_t done, uint64_t total) {
	return petalGoProgress((uintptr_t)context, done, total);
}

// A context of 0 stands for no callback. It is a number to Go, which may not have it as a pointer.
static petal_status petal_go_builder_new(const petal_spec *spec, uint64_t memory_limit, const char *temporary_directory,
                                         size_t threads, uintptr_t context, petal_builder **builder,
                                         petal_error *error) {
	petal_builder_options options = {.struct_size = sizeof options};
	options.memory_limit = memory_limit;
	options.temporary_directory = temporary_directory;
	options.threads = threads;
	if (context) {
		options.progress = petal_go_progress;
		options.progress_context = (void *)context;
	}
	return petal_builder_new(spec, &options, builder, error);
}
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Builder collects keys, 8 bytes each, and then makes a filter sized for exactly the distinct keys that came. All kinds
// can be built; those that cannot insert are made in no other way. Its methods need the builder to themselves, but for
// [Builder.Offered].
type Builder struct {
	owner *making[*C.petal_builder]
}

// BuilderOptions say how a builder works. A nil *BuilderOptions is the zero value.
type BuilderOptions struct {
	// MemoryLimit is the most memory in bytes that keys take before they go to a temporary file; 0 is no limit,
	// otherwise at least 1 MiB. Kinds that are built from all of their keys are solved in memory even if the limit is
	// lower. Filters take 28 MB for two million keys and 118 MB at most; maps take 45 MB and 202 MB.
	MemoryLimit uint64
	// TemporaryDirectory is the folder of that file, which has no name and goes with the builder.
	TemporaryDirectory string
	// Threads is how many threads make the filter or map, the calling one included; 0 and 1 are none but that. What is
	// made is the same.
	Threads uint
	// Progress, if not nil, is called while the filter or map is made, at least once for every 2^21 keys that are worked
	// on. It gets the units of work done and the units in all; a unit is a key in one phase. The latter is the same
	// number at all calls, the former never falls and comes to it at the last call. False cancels, at any call: the keys
	// stay. It must not use the builder, nor end its goroutine.
	Progress func(done, total uint64) bool
}

// NewBuilder makes a builder of the filter that a spec describes. A spec with neither capacity nor bits gets the
// capacity of the distinct keys that come.
func NewBuilder(spec Spec, options *BuilderOptions) (*Builder, error) {
	owner, err := newMaking("petal.NewBuilder", spec, options,
		func(handle *C.petal_builder) { C.petal_builder_free(handle) },
		func(spec *C.petal_spec, limit C.uint64_t, folder *C.char, threads C.size_t, context C.uintptr_t,
			handle **C.petal_builder, failure *C.petal_error,
		) {
			C.petal_go_builder_new(spec, limit, folder, threads, context, handle, failure)
		})
	if err != nil {
		return nil, err
	}
	return &Builder{owner}, nil
}

// toRead is the library's builder, as [held.toRead] gives it out.
func (b *Builder) toRead() *C.petal_builder {
	if b == nil || b.owner == nil {
		return nil
	}
	return b.owner.toRead()
}

// toChange is the library's builder, as [held.toChange] gives it out.
func (b *Builder) toChange() *C.petal_builder {
	if b == nil || b.owner == nil {
		return nil
	}
	return b.owner.toChange()
}

func (b *Builder) rethrow() {
	if b != nil && b.owner != nil {
		b.owner.rethrow()
	}
}

// Close frees the builder and its keys. The error is always nil. Closing twice is allowed.
func (b *Builder) Close() error {
	if b != nil && b.owner != nil {
		b.owner.close()
	}
	return nil
}

// Add adds a key.
func (b *Builder) Add(key []byte) error {
	status := C.petal_go_builder_add(b.toChange(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(b)
	return explained("petal.Builder.Add", status, b, addNone, StringKeys(nil))
}

// AddString is [Builder.Add] of a string's bytes.
func (b *Builder) AddString(key string) error {
	status := C.petal_go_builder_add(b.toChange(), textOf(key), C.size_t(len(key)))
	runtime.KeepAlive(b)
	return explained("petal.Builder.AddString", status, b, addNone, StringKeys(nil))
}

// AddUint64 is [Builder.Add] of a number, which is the same key as its eight little-endian bytes.
func (b *Builder) AddUint64(key uint64) error {
	status := C.petal_builder_add_u64(b.toChange(), C.uint64_t(key))
	runtime.KeepAlive(b)
	return explained("petal.Builder.AddUint64", status, b, addNone, Uint64Keys(nil))
}

// AddHash is [Builder.Add] of a key by its hash.
func (b *Builder) AddHash(hash uint64) error {
	status := C.petal_builder_add_hash(b.toChange(), C.uint64_t(hash))
	runtime.KeepAlive(b)
	return explained("petal.Builder.AddHash", status, b, addNone, HashKeys(nil))
}

// AddBatch adds many keys in order. answers may be nil; it only says how many were added, the first answers.Done, and
// has no Bools: a builder finds nothing out about a key.
func (b *Builder) AddBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Builder.AddBatch", C.PETAL_GO_BUILDER_ADD, unsafe.Pointer(b.toChange()), keys, answers)
	runtime.KeepAlive(b)
	return err
}

// AddTimes adds a key that came so many times; 0 times add nothing. [ErrUnsupported] if the kind cannot count.
func (b *Builder) AddTimes(key []byte, times uint64) error {
	status := C.petal_go_builder_add_times(b.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(times))
	runtime.KeepAlive(b)
	return explained("petal.Builder.AddTimes", status, b, addTimesNone, StringKeys(nil))
}

// AddTimesString is [Builder.AddTimes] of a string's bytes.
func (b *Builder) AddTimesString(key string, times uint64) error {
	status := C.petal_go_builder_add_times(b.toChange(), textOf(key), C.size_t(len(key)), C.uint64_t(times))
	runtime.KeepAlive(b)
	return explained("petal.Builder.AddTimesString", status, b, addTimesNone, StringKeys(nil))
}

// AddTimesUint64 is [Builder.AddTimes] of a number, which is the same key as its eight little-endian bytes.
func (b *Builder) AddTimesUint64(key, times uint64) error {
	status := C.petal_builder_add_times_u64(b.toChange(), C.uint64_t(key), C.uint64_t(times))
	runtime.KeepAlive(b)
	return explained("petal.Builder.AddTimesUint64", status, b, addTimesNone, Uint64Keys(nil))
}

// AddTimesHash is [Builder.AddTimes] of a key by its hash.
func (b *Builder) AddTimesHash(hash, times uint64) error {
	status := C.petal_builder_add_times_hash(b.toChange(), C.uint64_t(hash), C.uint64_t(times))
	runtime.KeepAlive(b)
	return explained("petal.Builder.AddTimesHash", status, b, addTimesNone, HashKeys(nil))
}

// AddTimesBatch adds each key as often as the number in its place of times says, in order. answers may be nil; it only
// says how many keys were added, the first answers.Done, and has no Bools.
func (b *Builder) AddTimesBatch(keys Keys, times []uint64, answers *Answers) error {
	err := runGiving("petal.Builder.AddTimesBatch", C.PETAL_GO_BUILDER_ADD_TIMES, unsafe.Pointer(b.toChange()), keys,
		"counts", times, answers)
	runtime.KeepAlive(b)
	return err
}

// Offered returns how many keys were added, duplicates included. Only reads the builder.
func (b *Builder) Offered() (uint64, error) {
	return answered("petal.Builder.Offered", func(count *uint64, failure *C.petal_error) {
		C.petal_builder_offered(b.toRead(), (*C.uint64_t)(count), failure)
	})
}

// Finish makes the filter and empties the builder, which may be used again. On a failure, and when Progress cancels
// ([ErrCancelled]), the keys stay.
func (b *Builder) Finish() (*Filter, error) {
	return filterOf(made("petal.Builder.Finish", freeFilter, func(handle **C.petal_filter, failure *C.petal_error) {
		C.petal_builder_finish(b.toChange(), handle, failure)
		b.rethrow()
	}))
}

// Save makes the filter straight into a file, which replaces the one that is there atomically, and empties the builder.
// On a failure the old file and the keys stay.
func (b *Builder) Save(path string) error {
	return withPath("petal.Builder.Save", path, func(path *C.char, failure *C.petal_error) {
		C.petal_builder_save(b.toChange(), path, failure)
		b.rethrow()
	})
}
