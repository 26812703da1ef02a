package petal

/*
#include "keys.h"

#cgo noescape petal_go_compact_contains
#cgo nocallback petal_go_compact_contains
#cgo noescape petal_go_compact_contains_hash
#cgo nocallback petal_go_compact_contains_hash
*/
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"
)

// CompactOptions are the parameters that a compact form does not contain. A nil *CompactOptions is the zero value:
// [XXH3] with seed 0. The library cannot notice if the options differ from those of the written filter.
type CompactOptions struct {
	Hash Hash
	Seed uint64
	// Secret is the secret key of [SipHash13]; all zeros is none.
	Secret Secret
}

func (o *CompactOptions) raw() C.petal_compact_options {
	raw := C.petal_compact_options{struct_size: C.size_t(unsafe.Sizeof(C.petal_compact_options{}))}
	if o != nil {
		raw.hash = C.petal_hash_function(o.Hash)
		raw.seed = C.uint64_t(o.Seed)
		for i, b := range o.Secret {
			raw.secret[i] = C.uint8_t(b)
		}
	}
	return raw
}

// AppendCompact appends the filter's compact form to a slice: its payload and a trailer of 8 to 24 bytes, for filters
// that live inside another system's file. The form contains neither hash function nor seed nor secret. Only reads the
// filter.
func (f *Filter) AppendCompact(b []byte) ([]byte, error) {
	const op = "petal.Filter.AppendCompact"
	size, err := answered(op, func(size *C.uint64_t, failure *C.petal_error) {
		C.petal_filter_compact_size(f.toRead(), size, failure)
	})
	if err != nil {
		return b, err
	}
	return appended(op, b, uint64(size), func(form []byte, failure *C.petal_error) {
		C.petal_go_filter_serialize_compact(f.toRead(), bytesOf(form), C.size_t(size), nil, failure)
	})
}

// AppendCompact makes the filter, appends its compact form to a slice, and empties the builder, which you may use
// again. On a failure the keys stay.
func (b *Builder) AppendCompact(to []byte) ([]byte, error) {
	const op = "petal.Builder.AppendCompact"
	var size C.uint64_t
	failure := newFailure()
	C.petal_builder_compact_size(b.toChange(), &size, &failure.raw)
	if err := failure.err(op); err != nil {
		return to, err
	}
	// A kind that is built from its keys may need a little more than expected.
	for {
		var place []byte
		var written C.size_t
		to, place = grow(to, int(size))
		C.petal_go_builder_finish_compact(b.toChange(), bytesOf(place), C.size_t(len(place)), &written, &failure.raw)
		runtime.KeepAlive(b)
		b.rethrow()
		err := failure.err(op)
		if err == nil {
			return to[:len(to)+int(written)], nil
		}
		if failure.raw.status != C.PETAL_ERR_BUFFER_TOO_SMALL {
			return to, err
		}
		size += size/8 + 64
		failure = newFailure()
	}
}

// grow returns a slice with size more bytes, and these bytes.
func grow(b []byte, size int) (grown, room []byte) {
	if cap(b)-len(b) < size {
		b = append(make([]byte, 0, len(b)+size), b...)
	}
	return b, b[len(b) : len(b)+size]
}

// LoadCompact copies a filter out of its compact form into new memory, and verifies all of it.
func LoadCompact(form []byte, options *CompactOptions) (*Filter, error) {
	raw := options.raw()
	return filterOf(made("petal.LoadCompact", freeFilter, func(handle **C.petal_filter, failure *C.petal_error) {
		C.petal_go_filter_load_compact(nonNil(form), C.size_t(len(form)), &raw, handle, failure)
	}))
}

// VerifyCompact compares all of a compact form with its checksum.
func VerifyCompact(form []byte) error {
	return called("petal.VerifyCompact", func(failure *C.petal_error) {
		C.petal_go_compact_verify(nonNil(form), C.size_t(len(form)), failure)
	})
}

// CompactContains says whether a key may be in the filter of a compact form, without loading it; true also if the form
// is damaged.
func CompactContains(form []byte, options *CompactOptions, key []byte) bool {
	raw := options.raw()
	return bool(C.petal_go_compact_contains(bytesOf(form), C.size_t(len(form)), &raw, bytesOf(key), C.size_t(len(key))))
}

// CompactContainsHash is [CompactContains] for the hash of a key.
func CompactContainsHash(form []byte, hash uint64) bool {
	return bool(C.petal_go_compact_contains_hash(bytesOf(form), C.size_t(len(form)), C.uint64_t(hash)))
}

// Filters is a list of filters: one call looks a key up in all of them. While one filter answers, the processor fetches
// the cache lines of the next ones. You may close a filter, or let it read another image, between two lookups, and not
// during one. While a filter is closed, lookups fail with [ErrClosed].
type Filters struct {
	never
	filters []*Filter
	handles []*C.petal_filter
}

// NewFilters makes a list of filters.
func NewFilters(filters ...*Filter) *Filters {
	list := &Filters{filters: slices.Clone(filters)}
	list.handles = list.now()
	return list
}

// now returns the library's present filters.
func (l *Filters) now() []*C.petal_filter {
	handles := make([]*C.petal_filter, len(l.filters))
	for i, filter := range l.filters {
		handles[i] = filter.toRead()
	}
	return handles
}

// Contain looks a key up in all filters: answers.Bools[i] is what [Filter.Contains] of filter i says. On a failure
// every answer is true. Only reads the filters.
func (l *Filters) Contain(key []byte, answers *Answers) error {
	const op = "petal.Filters.Contain"
	return l.ask(op, answers, func(filters **C.petal_filter, found *C.uint8_t, taken *C.petal_go_taken,
		err *C.petal_error) {
		C.petal_go_contains_across(filters, C.size_t(len(l.filters)), bytesOf(key), C.size_t(len(key)), found, taken, err)
	})
}

// ContainHash is [Filters.Contain] for the hash of a key.
func (l *Filters) ContainHash(hash uint64, answers *Answers) error {
	const op = "petal.Filters.ContainHash"
	return l.ask(op, answers, func(filters **C.petal_filter, found *C.uint8_t, taken *C.petal_go_taken,
		err *C.petal_error) {
		C.petal_go_contains_across_hash(filters, C.size_t(len(l.filters)), C.uint64_t(hash), found, taken, err)
	})
}

func (l *Filters) ask(op string, answers *Answers,
	call func(filters **C.petal_filter, found *C.uint8_t, taken *C.petal_go_taken, err *C.petal_error),
) error {
	if answers == nil {
		return &Error{Op: op, Status: ErrBufferTooSmall, Message: "answers = nil leaves no room for any answer"}
	}
	if l == nil {
		l = &Filters{}
	}
	if answers.Bools != nil && len(answers.Bools) < len(l.filters) {
		for i := range answers.Bools {
			answers.Bools[i] = true
		}
		return &Error{Op: op, Status: ErrBufferTooSmall, Message: "there are fewer answers than filters"}
	}
	handles := l.handles
	for i, filter := range l.filters {
		if now := filter.toRead(); now == nil {
			for i := range answers.Bools[:min(len(l.filters), len(answers.Bools))] {
				answers.Bools[i] = true
			}
			answers.TrueCount, answers.Done = len(l.filters), 0
			return &Error{Op: op, Status: statusClosed, Message: fmt.Sprintf("filter %d of the list is closed", i)}
		} else if now != handles[i] {
			// The filter has read another image meanwhile.
			handles = l.now()
		}
	}
	var taken C.petal_go_taken
	err := called(op, func(failure *C.petal_error) {
		call(unsafe.SliceData(handles), (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(answers.Bools))), &taken, failure)
	})
	runtime.KeepAlive(l.filters)
	answers.TrueCount, answers.Done = int(taken.true_count), int(taken.done)
	return err
}
