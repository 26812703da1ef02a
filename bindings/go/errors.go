package petal

// #include "keys.h"
import "C"

import (
	"errors"
	"strings"
	"syscall"
	"unsafe"
)

// Status is the status of a call of the library. A Status is an error that [errors.Is] finds in every [*Error].
type Status int32

// The statuses of failures.
const (
	ErrInternal          Status = C.PETAL_ERR_INTERNAL
	ErrStructSize        Status = C.PETAL_ERR_STRUCT_SIZE
	ErrUnknownValue      Status = C.PETAL_ERR_UNKNOWN_VALUE
	ErrOutOfRange        Status = C.PETAL_ERR_OUT_OF_RANGE
	ErrFalsePositiveRate Status = C.PETAL_ERR_FALSE_POSITIVE_RATE
	ErrContradiction     Status = C.PETAL_ERR_CONTRADICTION
	ErrTooLarge          Status = C.PETAL_ERR_TOO_LARGE
	ErrOutOfMemory       Status = C.PETAL_ERR_OUT_OF_MEMORY
	ErrOffsets           Status = C.PETAL_ERR_OFFSETS
	ErrBufferTooSmall    Status = C.PETAL_ERR_BUFFER_TOO_SMALL
	ErrMisaligned        Status = C.PETAL_ERR_MISALIGNED
	// ErrUnsupported says that the kind, or the format, does not support the call.
	ErrUnsupported    Status = C.PETAL_ERR_UNSUPPORTED
	ErrIncompatible   Status = C.PETAL_ERR_INCOMPATIBLE
	ErrExternalHash   Status = C.PETAL_ERR_EXTERNAL_HASH
	ErrSecretMissing  Status = C.PETAL_ERR_SECRET_MISSING
	ErrSecretMismatch Status = C.PETAL_ERR_SECRET_MISMATCH
	ErrForeign        Status = C.PETAL_ERR_FOREIGN
	ErrTruncated      Status = C.PETAL_ERR_TRUNCATED
	ErrCorrupt        Status = C.PETAL_ERR_CORRUPT
	ErrNewerVersion   Status = C.PETAL_ERR_NEWER_VERSION
	ErrUnclean        Status = C.PETAL_ERR_UNCLEAN
	ErrIO             Status = C.PETAL_ERR_IO
	ErrNotFound       Status = C.PETAL_ERR_NOT_FOUND
	ErrAccessDenied   Status = C.PETAL_ERR_ACCESS_DENIED
	ErrNoSpace        Status = C.PETAL_ERR_NO_SPACE
	ErrLocked         Status = C.PETAL_ERR_LOCKED
	ErrMappedPath     Status = C.PETAL_ERR_MAPPED_PATH
	ErrCancelled      Status = C.PETAL_ERR_CANCELLED
	ErrCallback       Status = C.PETAL_ERR_CALLBACK
	ErrFull           Status = C.PETAL_ERR_FULL

	// ErrUnsupportedByHandle says that the kind supports the call, but this handle does not: it is open for reading,
	// shared, or in place.
	ErrUnsupportedByHandle Status = C.PETAL_ERR_UNSUPPORTED_BY_HANDLE
	// ErrUnsupportedByBuild says that this build of the library leaves the function out.
	ErrUnsupportedByBuild Status = C.PETAL_ERR_UNSUPPORTED_BY_BUILD
)

// statusClosed is the library's status for a missing handle, which here is a closed one.
const statusClosed Status = C.PETAL_ERR_NULL

// ErrClosed is the error for a handle, such as a filter or a builder, that was closed, or was never opened.
var ErrClosed = errors.New("petal: the handle is closed")

// Error returns the library's sentence for a status.
func (s Status) Error() string { return C.GoString(C.petal_status_message(C.petal_status(s))) }

// Error is a failed call.
type Error struct {
	// Op is the function that failed.
	Op string
	// Status says why the call failed.
	Status Status
	// Errno is the operating system's error, or 0.
	Errno syscall.Errno
	// Message names the parameter, its value and what is allowed. The message may be empty.
	Message string
}

func (e *Error) Error() string {
	if e.Status == statusClosed {
		if strings.HasSuffix(e.Message, " is closed") {
			return e.Op + ": " + e.Message
		}
		other := ""
		if strings.HasPrefix(e.Message, "other ") {
			other = "other "
		}
		return e.Op + ": the " + other + handleIn(e.Op) + " is closed"
	}
	if e.Message != "" {
		return e.Op + ": " + e.Message
	}
	return e.Op + ": " + e.Status.Error()
}

// handleIn names the handle of a function: the type of a method, such as "map builder" for petal.MapBuilder.Finish.
func handleIn(op string) string {
	words := strings.Split(op, ".")
	switch {
	case len(words) == 3:
		name, _ := strings.CutSuffix(words[1], "Builder")
		if name != words[1] {
			name += " builder"
		}
		return strings.ToLower(strings.TrimSpace(name))
	case strings.HasPrefix(op, "petal.NewS"):
		// Sessions and streams are of sketches.
		return "sketch"
	}
	return "filter"
}

// Unwrap returns the status, and the operating system's error if there is one. For a closed handle Unwrap returns
// [ErrClosed].
func (e *Error) Unwrap() []error {
	if e.Status == statusClosed {
		return []error{ErrClosed}
	}
	if e.Errno != 0 {
		return []error{e.Status, e.Errno}
	}
	return []error{e.Status}
}

// failure is the place where the library writes an error; a call gets &f.raw. A call that succeeds writes nothing.
type failure struct {
	raw C.petal_error
}

func newFailure() failure {
	return failure{C.petal_error{struct_size: C.size_t(unsafe.Sizeof(C.petal_error{}))}}
}

// err returns the error that was written, or nil.
func (f *failure) err(op string) error {
	if f.raw.status == C.PETAL_OK {
		return nil
	}
	// Passes raw by value, so that a call that succeeds keeps it on the stack.
	return errorOf(op, f.raw)
}

func errorOf(op string, raw C.petal_error) error {
	return &Error{
		Op:      op,
		Status:  Status(raw.status),
		Errno:   syscall.Errno(raw.os_error),
		Message: C.GoString(&raw.message[0]),
	}
}

// statusError returns the error of a call that returns only a status.
func statusError(op string, status C.petal_status) error {
	if status == C.PETAL_OK {
		return nil
	}
	return &Error{Op: op, Status: Status(status)}
}

// explained returns the error of a call that returns only a status. ask is the batch call, which without keys changes
// nothing and has an error with a message. If ask succeeds, the kind supports the call, and only the handle does not.
func explained[H any](op string, status C.petal_status, handle H, ask func(H, Keys) error, none Keys) error {
	if status == C.PETAL_OK {
		return nil
	}
	return explain(op, Status(status), ask(handle, none))
}

func explain(op string, status Status, err error) error {
	var told *Error
	if errors.As(err, &told) && told.Status == status && status != statusClosed {
		return &Error{Op: op, Status: status, Errno: told.Errno, Message: told.Message}
	}
	if err == nil && status == ErrUnsupportedByHandle {
		const message = "the image is open for reading or to be shared: to change it, open it for writing (OpenWrite), or " +
			"load a copy (OpenLoad)"
		return &Error{Op: op, Status: status, Message: message}
	}
	return &Error{Op: op, Status: status}
}

// withoutNUL refuses a text with a NUL byte, which the library would take for a shorter text.
func withoutNUL(op, what, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return &Error{Op: op, Status: ErrOutOfRange, Message: what + " contains a NUL byte"}
	}
	return nil
}

// cString returns a string with a NUL at its end, in Go's memory. The caller keeps it for the length of a call.
func cString(text string) *C.char {
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(append([]byte(text), 0))))
}
