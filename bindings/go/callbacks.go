package petal

// #include <stdbool.h>
// #include <stddef.h>
// #include <stdint.h>
import "C"

import (
	"io"
	"runtime/cgo"
	"unsafe"
)

// The functions that the library calls back. They have a separate file, because cgo allows no C code in a file that
// exports.

//export petalGoWrite
func petalGoWrite(context C.uintptr_t, bytes unsafe.Pointer, length C.size_t) (goOn C.bool) {
	out := cgo.Handle(context).Value().(*streamOut)
	// A panic must not pass through the library.
	defer func() {
		if out.panicked = recover(); out.panicked != nil {
			goOn = false
		}
	}()
	for piece := unsafe.Slice((*byte)(bytes), uint64(length)); len(piece) > 0; {
		n, err := out.writer.Write(piece)
		if n < 0 || n > len(piece) || n < len(piece) && err == nil {
			err = io.ErrShortWrite
		}
		n = max(0, min(n, len(piece)))
		out.written += int64(n)
		if err != nil {
			out.err = err
			return false
		}
		piece = piece[n:]
	}
	return true
}

//export petalGoProgress
func petalGoProgress(context C.uintptr_t, done, total C.uint64_t) (goOn C.bool) {
	progress := cgo.Handle(context).Value().(*progress)
	// A panic must not pass through the library.
	defer func() {
		if progress.panicked = recover(); progress.panicked != nil {
			goOn = false
		}
	}()
	return C.bool(progress.report(uint64(done), uint64(total)))
}
