package petal

/*
#include <stdint.h>
#include "keys.h"

#cgo noescape petal_go_builder_add
#cgo nocallback petal_go_builder_add
#cgo noescape petal_go_builder_add_times
#cgo nocallback petal_go_builder_add_times
#cgo noescape petal_go_builder_exclude
#cgo nocallback petal_go_builder_exclude

extern _Bool petalGoProgress(uintptr_t context, uint64_t done, uint64_t total);

static bool petal_go_progress(void *context, uint64_t done, uint64_t total) {
	return petalGoProgress((uintptr_t)context, done, total);
}

// A context of 0 stands for no callback. The context is a number in Go, because Go may not hold it as a pointer.
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
	"fmt"
	"runtime"
	"unsafe"
)

// Builder collects keys, 8 bytes each, and then makes a filter for exactly the distinct keys that came. A builder can
// make every kind, and only a builder makes kinds that cannot insert. All methods need the builder to themselves,
// except [Builder.KeyCount].
type Builder struct {
	never
	owner *making[*C.petal_builder]
}

// BuilderOptions say how a builder works. A nil *BuilderOptions is the zero value.
type BuilderOptions struct {
	// MemoryLimit is the most memory in bytes that keys take before they go to a temporary file; 0 is no limit, otherwise
	// at least 1 MiB. Solving a kind that is built from all keys exceeds a lower limit: solving takes 28 MB for two
	// million keys and 118 MB at most. For maps solving takes 45 MB and 202 MB.
	MemoryLimit uint64
	// TemporaryDirectory is the folder of the temporary file. The file has no name and ends with the builder.
	TemporaryDirectory string
	// Threads is how many threads make the filter or map, the calling thread included; 0 and 1 mean the calling thread
	// only. The number of threads does not change the result.
	Threads uint
	// Progress, if not nil, reports the progress of making the filter or map. The builder calls it with the units of work
	// done and the total; a unit is a key in one phase. A call comes at least once for every 2^21 units. The total is the
	// same at all calls; the work done never falls, and is the total at the last call. Returning false cancels, and the
	// keys stay. Progress must not use the builder, nor end its goroutine.
	Progress func(done, total uint64) bool
}

// NewBuilder makes a builder of the filter that a spec describes. If the spec has neither capacity nor bits, the
// capacity becomes the number of distinct keys that are added.
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
	return &Builder{owner: owner}, nil
}

// toRead returns the library's builder from [held.toRead].
func (b *Builder) toRead() *C.petal_builder {
	if b == nil || b.owner == nil {
		return nil
	}
	return b.owner.toRead()
}

// toChange returns the library's builder from [held.toChange].
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

func addNone(b *Builder, none Keys) error { return b.AddBatch(none, nil) }

// AddBatch adds many keys in order. answers may be nil; it only tells how many were added, the first answers.Done, and
// has no Bools: a builder learns nothing about a key.
func (b *Builder) AddBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Builder.AddBatch", C.PETAL_GO_BUILDER_ADD, unsafe.Pointer(b.toChange()), keys, answers)
	runtime.KeepAlive(b)
	return err
}

// AddTimes adds a key times times; 0 times add nothing. Returns [ErrUnsupported] if the kind cannot count.
func (b *Builder) AddTimes(key []byte, times uint64) error {
	status := C.petal_go_builder_add_times(b.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(times))
	runtime.KeepAlive(b)
	return explained("petal.Builder.AddTimes", status, b, addTimesNone, StringKeys(nil))
}

func addTimesNone(b *Builder, none Keys) error { return b.AddTimesBatch(none, nil, nil) }

// AddTimesBatch adds each key as often as the number in its place of times says, in order. answers may be nil; it only
// tells how many keys were added, the first answers.Done, and has no Bools.
func (b *Builder) AddTimesBatch(keys Keys, times []uint64, answers *Answers) error {
	err := runGiving("petal.Builder.AddTimesBatch", C.PETAL_GO_BUILDER_ADD_TIMES, unsafe.Pointer(b.toChange()), keys,
		"counts", times, answers)
	runtime.KeepAlive(b)
	return err
}

// Exclude excludes a key, where the kind takes excluded keys (exact_set): the filter does not contain it. Returns
// [ErrUnsupported] for other kinds. A key that is added too makes [Builder.Finish] return [ErrContradiction].
func (b *Builder) Exclude(key []byte) error {
	status := C.petal_go_builder_exclude(b.toChange(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(b)
	return explained("petal.Builder.Exclude", status, b, excludeNone, StringKeys(nil))
}

func excludeNone(b *Builder, none Keys) error { return b.ExcludeBatch(none, nil) }

// ExcludeBatch excludes many keys in order. answers may be nil; it only tells how many were excluded, the first
// answers.Done, and has no Bools.
func (b *Builder) ExcludeBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Builder.ExcludeBatch", C.PETAL_GO_BUILDER_EXCLUDE, unsafe.Pointer(b.toChange()), keys,
		answers)
	runtime.KeepAlive(b)
	return err
}

// AddFrequent gives a frequent non-member with its weight, where the kind takes such (stacked): a key that is no member
// but is asked for often. The weight says how often, compared with the other frequent non-members. Returns
// [ErrUnsupported] for other kinds, and [ErrOutOfRange] for a weight that is not from 2^-60 to 2^60. A key that is
// added too makes [Builder.Finish] return [ErrContradiction].
func (b *Builder) AddFrequent(key []byte, weight float64) error {
	status := C.petal_go_builder_add_frequent(b.toChange(), bytesOf(key), C.size_t(len(key)), C.double(weight))
	runtime.KeepAlive(b)
	return b.whyFrequent("petal.Builder.AddFrequent", status, StringKeys(nil), weight)
}

// whyFrequent says why a frequent non-member was refused.
func (b *Builder) whyFrequent(op string, status C.petal_status, none Keys, weight float64) error {
	if Status(status) == ErrOutOfRange {
		message := fmt.Sprintf("weight = %g is not a number from 2^-60 to 2^60", weight)
		return &Error{Op: op, Status: ErrOutOfRange, Message: message}
	}
	return explained(op, status, b, frequentNone, none)
}

func frequentNone(b *Builder, none Keys) error { return b.AddFrequentBatch(none, nil, nil) }

// AddFrequentBatch gives many frequent non-members in order, each with its element of weights. With nil weights each
// weight is 1. answers may be nil; it only tells how many keys were taken, the first answers.Done, and has no Bools.
func (b *Builder) AddFrequentBatch(keys Keys, weights []float64, answers *Answers) error {
	const op = "petal.Builder.AddFrequentBatch"
	given := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(weights))), len(weights))
	if weights != nil {
		if err := oneEach(op, "weights", given, keys); err != nil {
			return err
		}
	}
	err := runBatchWith(op, C.PETAL_GO_BUILDER_ADD_FREQUENT, unsafe.Pointer(b.toChange()), keys, given, nil, answers)
	runtime.KeepAlive(weights)
	runtime.KeepAlive(b)
	return err
}

// Finish makes the filter and empties the builder, which you may use again. On a failure, and when Progress cancels
// ([ErrCancelled]), the keys stay.
func (b *Builder) Finish() (*Filter, error) {
	return filterOf(made("petal.Builder.Finish", freeFilter, func(handle **C.petal_filter, failure *C.petal_error) {
		C.petal_builder_finish(b.toChange(), handle, failure)
		b.rethrow()
	}))
}

// Save makes the filter straight into a file, which replaces an old file in one step, and empties the builder. On a
// failure the old file and the keys stay.
func (b *Builder) Save(path string) error {
	return withPath("petal.Builder.Save", path, func(path *C.char, failure *C.petal_error) {
		C.petal_builder_save(b.toChange(), path, failure)
		b.rethrow()
	})
}
