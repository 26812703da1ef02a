package petal

// #include "keys.h"
import "C"

import (
	"io"
	"math"
	"os"
	"runtime"
	"runtime/cgo"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/race"
)

// held is a handle of the library, of any type, that is freed at most once. A nil *held is closed.
type held[H comparable] struct {
	handle  H
	free    func(H)
	cleanup runtime.Cleanup
}

func hold[H comparable](handle H, free func(H)) *held[H] {
	h := &held[H]{handle: handle, free: free}
	h.cleanup = runtime.AddCleanup(h, free, handle)
	return h
}

// toRead returns the library's handle, for a method that only reads. If the handle is closed, toRead returns NULL,
// which the library refuses. The caller keeps h alive until its call has ended.
func (h *held[H]) toRead() (handle H) {
	if h != nil {
		handle = h.handle
	}
	return handle
}

// toChange returns the library's handle, for a method that needs the handle to itself: the race detector reports
// concurrent uses. A caller must not synchronise goroutines before toChange, for example with a pool.
func (h *held[H]) toChange() H {
	handle := h.toRead()
	if *new(H) != handle {
		race.Write(unsafe.Pointer(&h.handle))
	}
	return handle
}

func (h *held[H]) close() {
	handle := h.toChange()
	if *new(H) == handle {
		return
	}
	h.cleanup.Stop()
	h.handle = *new(H)
	h.free(handle)
	runtime.KeepAlive(h)
}

// called returns the error of a call of the library. The values that the call refers to stay alive until the call has
// ended.
func called(op string, call func(failure *C.petal_error)) error {
	failure := newFailure()
	call(&failure.raw)
	runtime.KeepAlive(call)
	return failure.err(op)
}

// answered returns the value that a call of the library writes, and its error.
func answered[T any](op string, call func(answer *T, failure *C.petal_error)) (answer T, err error) {
	err = called(op, func(failure *C.petal_error) { call(&answer, failure) })
	return answer, err
}

// converted returns the Go form of the value that a call of the library writes into raw.
func converted[R, T any](op string, raw R, toGo func(*R) T, call func(*R, *C.petal_error)) (answer T, err error) {
	if err := called(op, func(failure *C.petal_error) { call(&raw, failure) }); err != nil {
		return answer, err
	}
	return toGo(&raw), nil
}

// made returns a handle that a call of the library makes.
func made[H comparable](op string, free func(H), call func(*H, *C.petal_error)) (*held[H], error) {
	var handle H
	if err := called(op, func(failure *C.petal_error) { call(&handle, failure) }); err != nil {
		return nil, err
	}
	return hold(handle, free), nil
}

// openedBy returns a handle that a call opens by its path.
func openedBy[H comparable](op, path string, options *OpenOptions, free func(H),
	call func(path *C.char, options *C.petal_open_options, handle *H, failure *C.petal_error),
) (*held[H], error) {
	if err := withoutNUL(op, "the path", path); err != nil {
		return nil, err
	}
	raw := options.raw()
	return made(op, free, func(handle *H, failure *C.petal_error) { call(cString(path), &raw, handle, failure) })
}

// openedAt returns a handle that a call opens in an open file.
func openedAt[H comparable](op string, file *os.File, offset int64, free func(H),
	call func(descriptor uintptr, handle *H, failure *C.petal_error),
) (*held[H], error) {
	if offset < 0 {
		return nil, &Error{Op: op, Status: ErrOutOfRange, Message: "the offset is negative"}
	}
	connection, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var opened *held[H]
	var failed error
	err = connection.Control(func(descriptor uintptr) {
		opened, failed = made(op, free, func(handle *H, failure *C.petal_error) { call(descriptor, handle, failure) })
	})
	if err != nil {
		return nil, err
	}
	return opened, failed
}

// withPath calls a function with a path in the library's form.
func withPath(op, path string, call func(*C.char, *C.petal_error)) error {
	if err := withoutNUL(op, "the path", path); err != nil {
		return err
	}
	return called(op, func(failure *C.petal_error) { call(cString(path), failure) })
}

// appended appends an image of size bytes; write fills the place of the image.
func appended(op string, b []byte, size uint64, write func(image []byte, failure *C.petal_error)) ([]byte, error) {
	if size > math.MaxInt-uint64(len(b)) {
		return b, &Error{Op: op, Status: ErrTooLarge}
	}
	b, image := grow(b, int(size))
	if err := called(op, func(failure *C.petal_error) { write(image, failure) }); err != nil {
		return b, err
	}
	return b[:len(b)+len(image)], nil
}

// marshalled returns an image; size gives its length, and write fills it. The result is nil if either fails.
func marshalled(op string, size func() (uint64, error), write func(image []byte, failure *C.petal_error),
) ([]byte, error) {
	bytes, err := size()
	if err != nil {
		return nil, err
	}
	image, err := appended(op, nil, bytes, write)
	if err != nil {
		return nil, err
	}
	return image, nil
}

// streamOut is a writer that receives an image piece by piece.
type streamOut struct {
	writer   io.Writer
	written  int64
	err      error
	panicked any
}

// streamed runs a call that writes an image. The library passes each piece to petalGoWrite, with the context.
func streamed(op string, w io.Writer, call func(context C.uintptr_t, failure *C.petal_error)) (int64, error) {
	out := &streamOut{writer: w}
	handle := cgo.NewHandle(out)
	defer handle.Delete()
	err := called(op, func(failure *C.petal_error) { call(C.uintptr_t(handle), failure) })
	if out.panicked != nil {
		panic(out.panicked)
	}
	if out.err != nil {
		return out.written, out.err
	}
	return out.written, err
}

// progress is the state of the progress callback. progress must not refer to the builder, or a forgotten builder would
// never be freed.
type progress struct {
	report   func(done, total uint64) bool
	panicked any
}

// making is a builder of the library, of filters or of maps, with the state of its callback.
type making[B comparable] struct {
	*held[B]
	progress *progress
}

// rethrow continues a callback's panic, after the library has returned.
func (b *making[B]) rethrow() {
	if b.progress == nil || b.progress.panicked == nil {
		return
	}
	panicked := b.progress.panicked
	b.progress.panicked = nil
	panic(panicked)
}

// newMaking makes a builder. The call gets a spec, a memory limit, a folder, a number of threads, and the context of
// petalGoProgress, which is 0 without a callback.
func newMaking[B comparable](op string, spec Spec, options *BuilderOptions, free func(B),
	call func(*C.petal_spec, C.uint64_t, *C.char, C.size_t, C.uintptr_t, *B, *C.petal_error),
) (*making[B], error) {
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
	b := &making[B]{}
	var context cgo.Handle
	if options.Progress != nil {
		b.progress = &progress{report: options.Progress}
		context = cgo.NewHandle(b.progress)
	}
	release := func() {
		if context != 0 {
			context.Delete()
		}
	}
	freeAll := func(handle B) {
		free(handle)
		release()
	}
	b.held, err = made(op, freeAll, func(handle *B, failure *C.petal_error) {
		call(&raw, C.uint64_t(options.MemoryLimit), directory, C.size_t(options.Threads), C.uintptr_t(context), handle,
			failure)
	})
	if err != nil {
		release()
		return nil, err
	}
	return b, nil
}
