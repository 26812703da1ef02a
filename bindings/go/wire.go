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

static petal_status petal_go_delta_to(const petal_filter *older, const petal_filter *newer, uintptr_t context,
                                      petal_error *error) {
	return petal_filter_delta_to(older, newer, petal_go_write_form, (void *)context, error);
}

static petal_status petal_go_map_pack_to(const petal_map *map, uintptr_t context, petal_error *error) {
	return petal_map_pack_to(map, petal_go_write_form, (void *)context, error);
}

static petal_status petal_go_map_delta_to(const petal_map *older, const petal_map *newer, uintptr_t context,
                                          petal_error *error) {
	return petal_map_delta_to(older, newer, petal_go_write_form, (void *)context, error);
}
*/
import "C"

import (
	"fmt"
	"io"
	"math"
)

// Filters and maps on the wire: packed forms, and deltas between two states of one filter. These functions are
// experimental, and may still change. A delta goes from the older state to the newer one: the method is that of the
// older filter, and the newer filter is its argument.

// Pack writes the filter in few bytes, piece by piece. The payload is arithmetic-coded, and takes at most 1 % and 32
// bytes more than the entropy of its fill. A filter with few bits set becomes small, and a filter with half of its bits
// set does not. The writer must not end its goroutine ([runtime.Goexit]). Only reads the filter.
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
		C.petal_go_filter_unpack(nonNil(packed), C.size_t(len(packed)), C.uint64_t(mostBytes), &raw, handle, failure)
	}))
}

// UnpackFrom reads a packed form to the end of the reader, and returns the filter as [Unpack] does. A form that is more
// than twice as long as an image of mostBytes gives [ErrTooLarge], and is not read further. A form does not tell its
// length: on a connection that goes on, send the length before it and take an [io.LimitReader].
func UnpackFrom(r io.Reader, mostBytes uint64, options *OpenOptions) (*Filter, error) {
	packed, err := readForm("petal.UnpackFrom", r, mostBytes)
	if err != nil {
		return nil, err
	}
	return Unpack(packed, mostBytes, options)
}

// readForm reads a form to the end of the reader. Memory grows with the bytes that arrive.
func readForm(op string, r io.Reader, mostBytes uint64) ([]byte, error) {
	const beside = 4096
	most := int64(math.MaxInt64 - 1)
	if mostBytes < (math.MaxInt64-beside)/2 {
		most = 2*int64(mostBytes) + beside
	}
	form, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(form)) > most {
		message := fmt.Sprintf("the form has more than %d bytes, so no image of %d bytes needs it", most, mostBytes)
		return nil, &Error{Op: op, Status: ErrTooLarge, Message: message}
	}
	return form, err
}

// Delta writes what changed from this state of the filter, the older one, to the newer one, piece by piece. The delta
// takes as many bytes as the changed bits need. The writer must not end its goroutine ([runtime.Goexit]). Only reads
// both filters.
func (f *Filter) Delta(newer *Filter, w io.Writer) (int64, error) {
	return streamed("petal.Filter.Delta", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_delta_to(f.toRead(), newer.toRead(), context, failure)
	})
}

// PatchFrom reads a delta to the end of the reader, as [UnpackFrom] reads a packed form, and changes the filter as
// [Filter.Patch] does.
func (f *Filter) PatchFrom(r io.Reader, mostBytes uint64) error {
	delta, err := readForm("petal.Filter.PatchFrom", r, mostBytes)
	if err != nil {
		return err
	}
	return f.Patch(delta, mostBytes)
}

// Pack writes the map in few bytes, as [Filter.Pack] does a filter. Only reads the map.
func (m *Map) Pack(w io.Writer) (int64, error) {
	return streamed("petal.Map.Pack", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_map_pack_to(m.raw(), context, failure)
	})
}

// UnpackMap returns the map that was packed, as [Unpack] does a filter.
func UnpackMap(packed []byte, mostBytes uint64, options *OpenOptions) (*Map, error) {
	raw := options.raw()
	return mapOf(made("petal.UnpackMap", freeMap, func(handle **C.petal_map, failure *C.petal_error) {
		C.petal_go_map_unpack(nonNil(packed), C.size_t(len(packed)), C.uint64_t(mostBytes), &raw, handle, failure)
	}))
}

// UnpackMapFrom reads the packed form of a map to the end of the reader, as [UnpackFrom] does that of a filter.
func UnpackMapFrom(r io.Reader, mostBytes uint64, options *OpenOptions) (*Map, error) {
	packed, err := readForm("petal.UnpackMapFrom", r, mostBytes)
	if err != nil {
		return nil, err
	}
	return UnpackMap(packed, mostBytes, options)
}

// Delta writes what changed from this state of the map, the older one, to the newer one, as [Filter.Delta] does. Only
// reads both maps.
func (m *Map) Delta(newer *Map, w io.Writer) (int64, error) {
	return streamed("petal.Map.Delta", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_map_delta_to(m.raw(), newer.raw(), context, failure)
	})
}

// PatchFrom reads a delta to the end of the reader, and changes the map as [Map.Patch] does.
func (m *Map) PatchFrom(r io.Reader, mostBytes uint64) error {
	delta, err := readForm("petal.Map.PatchFrom", r, mostBytes)
	if err != nil {
		return err
	}
	return m.Patch(delta, mostBytes)
}

// WireSpec returns the spec of the filter of the kind bloom that has the lowest false-positive rate, for [New]. With
// keys distinct keys in it the packed form of the filter has at most packedBytes, if its fill is the expected one. The
// image of the filter has at most memory bytes; 0 is no limit. Returns [ErrTooLarge] if no filter is so small.
func WireSpec(keys, packedBytes, memory uint64) (Spec, error) {
	return writtenSpec("petal.WireSpec", func(raw *C.petal_spec, failure *C.petal_error) {
		C.petal_wire_get_spec(C.uint64_t(keys), C.uint64_t(packedBytes), C.uint64_t(memory), raw, failure)
	})
}
