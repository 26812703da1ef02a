package petal

/*
#include <stdint.h>
#include "keys.h"

extern _Bool petalGoWrite(uintptr_t context, void *bytes, size_t length);

static bool petal_go_write_form(void *context, const void *bytes, size_t length) {
	return petalGoWrite((uintptr_t)context, (void *)bytes, length);
}

static petal_status petal_go_pack_to(const petal_filter *filter, uintptr_t context, petal_error *error) {
	return petal_filter_pack_to(filter, petal_go_write_form, (void *)context, error);
}

static petal_status petal_go_delta_to(const petal_filter *from, const petal_filter *to, uintptr_t context,
                                      petal_error *error) {
	return petal_filter_delta_to(from, to, petal_go_write_form, (void *)context, error);
}
*/
import "C"

import "io"

// Filters on the wire: packed forms, and deltas between two states of one filter. These methods are experimental, and
// may still change. Read the bytes of an [io.Reader] with [io.ReadAll] and a limit.

// Pack writes the filter in few bytes, piece by piece. The payload is arithmetic-coded, and takes at most 1 % and some
// 30 bytes more than the entropy of its fill. A filter with few bits set becomes small, and a filter with half of its
// bits set does not. The writer must not end its goroutine ([runtime.Goexit]). Only reads the filter.
func (f *Filter) Pack(w io.Writer) (int64, error) {
	return streamed("petal.Filter.Pack", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_pack_to(f.toRead(), context, failure)
	})
}

// Unpack returns the filter that was packed. mostBytes is the most bytes that the image of the filter may have: a form
// that claims more gives [ErrTooLarge] before memory is asked for. Unpack ignores the mode in the options.
func Unpack(packed []byte, mostBytes uint64, options *OpenOptions) (*Filter, error) {
	raw := options.raw()
	return filterOf(made("petal.Unpack", freeFilter, func(handle **C.petal_filter, failure *C.petal_error) {
		C.petal_go_unpack(nonNil(packed), C.size_t(len(packed)), C.uint64_t(mostBytes), &raw, handle, failure)
	}))
}

// Delta writes what changed from an older state of the filter to this state, piece by piece. The delta takes as many
// bytes as the changed bits need. The writer must not end its goroutine ([runtime.Goexit]). Only reads both filters.
func (f *Filter) Delta(older *Filter, w io.Writer) (int64, error) {
	return streamed("petal.Filter.Delta", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_delta_to(older.toRead(), f.toRead(), context, failure)
	})
}

// Patch changes the filter from the older state of a delta to the newer one. mostBytes is the most bytes that the image
// of the newer state may have. Returns [ErrIncompatible] if the filter is not in the older state. A failure changes
// nothing. Changes the filter.
func (f *Filter) Patch(delta []byte, mostBytes uint64) error {
	return called("petal.Filter.Patch", func(failure *C.petal_error) {
		C.petal_go_patch(f.toChange(), nonNil(delta), C.size_t(len(delta)), C.uint64_t(mostBytes), failure)
	})
}
