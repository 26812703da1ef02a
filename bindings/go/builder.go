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
#cgo noescape petal_go_builder_add_times_batch
#cgo nocallback petal_go_builder_add_times_batch

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
	"runtime/cgo"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/race"
)

// Builder collects keys, 8 bytes each, and then makes a filter sized for exactly the distinct keys that came. All kinds
// can be built; those that cannot insert are made in no other way. Its methods need the builder to themselves, but for
// [Builder.Offered].
type Builder struct {
	owner *builderOwner
}

// builderOwner frees the library's builder at most once.
type builderOwner struct {
	handle   *C.petal_builder
	progress *progress
	context  cgo.Handle
	cleanup  runtime.Cleanup
}

// progress is what the library calls back. It does not refer to the builder, which could not be forgotten otherwise.
type progress struct {
	report   func(done, total uint64) bool
	panicked any
}

// BuilderOptions say how a builder works. A nil *BuilderOptions is the zero value.
type BuilderOptions struct {
	// MemoryLimit is the most memory in bytes that keys take before they go to a temporary file; 0 is no limit,
	// otherwise at least 1 MiB. Kinds that are built from all of their keys are solved in memory even if the limit is
	// lower: filters take 28 MB of two million keys and 118 MB at most, maps 45 MB and 202 MB.
	MemoryLimit uint64
	// TemporaryDirectory is the folder of that file, which has no name and goes with the builder.
	TemporaryDirectory string
	// Threads is how many threads make the filter or map, the calling one included; 0 and 1 are none but that. What is
	// made is the same.
	Threads uint
	// Progress, if not nil, is called while the filter or map is made, at least once for every 2^21 keys that are worked
	// on, with the units of work done and the units in all, which are no count of keys. The latter is the same number at
	// all calls, the former never falls and comes to it at the last call. False cancels, at any call: the keys stay. It
	// must not use the builder, nor end its goroutine.
	Progress func(done, total uint64) bool
}

// NewBuilder makes a builder of the filter that a spec describes. A spec with neither capacity nor bits gets the
// capacity of the distinct keys that come.
func NewBuilder(spec Spec, options *BuilderOptions) (*Builder, error) {
	const op = "petal.NewBuilder"
	if options == nil {
		options = &BuilderOptions{}
	}
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	if err := withoutNUL(op, "the temporary directory", options.TemporaryDirectory); err != nil {
		return nil, err
	}
	var directory *C.char
	if options.TemporaryDirectory != "" {
		directory = cString(options.TemporaryDirectory)
	}
	owner := &builderOwner{}
	if options.Progress != nil {
		owner.progress = &progress{report: options.Progress}
		owner.context = cgo.NewHandle(owner.progress)
	}
	failure := newFailure()
	C.petal_go_builder_new(&raw, C.uint64_t(options.MemoryLimit), directory, C.size_t(options.Threads),
		C.uintptr_t(owner.context), &owner.handle, &failure.raw)
	if err := failure.err(op); err != nil {
		if owner.context != 0 {
			owner.context.Delete()
		}
		return nil, err
	}
	owner.cleanup = runtime.AddCleanup(owner, freeBuilder, builderParts{owner.handle, owner.context})
	return &Builder{owner}, nil
}

type builderParts struct {
	handle  *C.petal_builder
	context cgo.Handle
}

func freeBuilder(parts builderParts) {
	C.petal_builder_free(parts.handle)
	if parts.context != 0 {
		parts.context.Delete()
	}
}

// toRead is the library's builder, for a method that only reads; NULL, which the library refuses, if the builder is
// closed. The caller keeps b alive until its call is over.
func (b *Builder) toRead() *C.petal_builder {
	if b == nil || b.owner == nil {
		return nil
	}
	return b.owner.handle
}

// toChange is [Builder.toRead] for a method that needs the builder to itself: the race detector reports it beside any
// other. Nothing that synchronizes goroutines by itself, such as a pool, comes before it.
func (b *Builder) toChange() *C.petal_builder {
	handle := b.toRead()
	if handle != nil {
		race.Write(unsafe.Pointer(&b.owner.handle))
	}
	return handle
}

// Close frees the builder and its keys. The error is always nil. Closing twice is allowed.
func (b *Builder) Close() error {
	handle := b.toChange()
	if handle == nil {
		return nil
	}
	b.owner.cleanup.Stop()
	b.owner.handle = nil
	freeBuilder(builderParts{handle, b.owner.context})
	runtime.KeepAlive(b)
	return nil
}

// Add adds a key.
func (b *Builder) Add(key []byte) error {
	status := C.petal_go_builder_add(b.toChange(), bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(b)
	return statusError("petal.Builder.Add", status)
}

// AddString is [Builder.Add] of a string's bytes.
func (b *Builder) AddString(key string) error {
	status := C.petal_go_builder_add(b.toChange(), textOf(key), C.size_t(len(key)))
	runtime.KeepAlive(b)
	return statusError("petal.Builder.AddString", status)
}

// AddUint64 is [Builder.Add] of a number, which is the same key as its eight little-endian bytes.
func (b *Builder) AddUint64(key uint64) error {
	status := C.petal_builder_add_u64(b.toChange(), C.uint64_t(key))
	runtime.KeepAlive(b)
	return statusError("petal.Builder.AddUint64", status)
}

// AddHash is [Builder.Add] of a key by its hash.
func (b *Builder) AddHash(hash uint64) error {
	status := C.petal_builder_add_hash(b.toChange(), C.uint64_t(hash))
	runtime.KeepAlive(b)
	return statusError("petal.Builder.AddHash", status)
}

// AddBatch adds many keys in order. answers may be nil; it only says how many were added, the first answers.Done, and
// has no Bools: a builder finds nothing out about a key.
func (b *Builder) AddBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Builder.AddBatch", C.PETAL_GO_ADD, nil, b.toChange(), keys, answers)
	runtime.KeepAlive(b)
	return err
}

// AddTimes adds a key that came so many times; 0 times add nothing. [ErrUnsupported] if the kind cannot count.
func (b *Builder) AddTimes(key []byte, times uint64) error {
	status := C.petal_go_builder_add_times(b.toChange(), bytesOf(key), C.size_t(len(key)), C.uint64_t(times))
	runtime.KeepAlive(b)
	return statusError("petal.Builder.AddTimes", status)
}

// AddTimesString is [Builder.AddTimes] of a string's bytes.
func (b *Builder) AddTimesString(key string, times uint64) error {
	status := C.petal_go_builder_add_times(b.toChange(), textOf(key), C.size_t(len(key)), C.uint64_t(times))
	runtime.KeepAlive(b)
	return statusError("petal.Builder.AddTimesString", status)
}

// AddTimesUint64 is [Builder.AddTimes] of a number, which is the same key as its eight little-endian bytes.
func (b *Builder) AddTimesUint64(key, times uint64) error {
	status := C.petal_builder_add_times_u64(b.toChange(), C.uint64_t(key), C.uint64_t(times))
	runtime.KeepAlive(b)
	return statusError("petal.Builder.AddTimesUint64", status)
}

// AddTimesHash is [Builder.AddTimes] of a key by its hash.
func (b *Builder) AddTimesHash(hash, times uint64) error {
	status := C.petal_builder_add_times_hash(b.toChange(), C.uint64_t(hash), C.uint64_t(times))
	runtime.KeepAlive(b)
	return statusError("petal.Builder.AddTimesHash", status)
}

// AddTimesBatch adds each key as often as the number in its place of times says, in order. answers may be nil; it only
// says how many keys were added, the first answers.Done, and has no Bools.
func (b *Builder) AddTimesBatch(keys Keys, times []uint64, answers *Answers) error {
	const op = "petal.Builder.AddTimesBatch"
	if err := oneEach(op, keys, times); err != nil {
		return err
	}
	if answers == nil {
		answers = &Answers{}
	}
	err := inPieces(op, keys, answers, func(piece piece, came *C.petal_go_taken, failure *failure) {
		C.petal_go_builder_add_times_batch(b.toChange(), piece.form, bytesOf(piece.bytes), C.size_t(len(piece.bytes)),
			numbers(piece.numbers), C.size_t(piece.count), numbers(times[piece.start:]), boolsOf(piece.found), came,
			&failure.raw)
	})
	runtime.KeepAlive(b)
	return err
}

// Offered returns how many keys were added, duplicates included. Only reads the builder.
func (b *Builder) Offered() (uint64, error) {
	var count C.uint64_t
	status := C.petal_builder_offered(b.toRead(), &count)
	runtime.KeepAlive(b)
	return uint64(count), statusError("petal.Builder.Offered", status)
}

// Finish makes the filter and empties the builder, which may be used again. On a failure, and when Progress cancels
// ([ErrCancelled]), the keys stay.
func (b *Builder) Finish() (*Filter, error) {
	var handle *C.petal_filter
	failure := newFailure()
	C.petal_builder_finish(b.toChange(), &handle, &failure.raw)
	runtime.KeepAlive(b)
	b.rethrow()
	if err := failure.err("petal.Builder.Finish"); err != nil {
		return nil, err
	}
	return own(handle), nil
}

// Save makes the filter straight into a file, which replaces the one that is there atomically, and empties the builder.
// On a failure the old file and the keys stay.
func (b *Builder) Save(path string) error {
	const op = "petal.Builder.Save"
	if err := withoutNUL(op, "the path", path); err != nil {
		return err
	}
	failure := newFailure()
	C.petal_builder_save(b.toChange(), cString(path), &failure.raw)
	runtime.KeepAlive(b)
	b.rethrow()
	return failure.err(op)
}

// rethrow lets a panic of Progress go on, now that the library is out of the way.
func (b *Builder) rethrow() {
	if b.toRead() == nil || b.owner.progress == nil {
		return
	}
	if panicked := b.owner.progress.panicked; panicked != nil {
		b.owner.progress.panicked = nil
		panic(panicked)
	}
}
