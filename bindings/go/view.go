package petal

// #include "keys.h"
// #include <petal_inline.h>
import "C"

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// View looks single keys up in the memory of a [Filter] without a call into C. Such a call takes many times as long as
// the lookup itself. A view is for lookups only. The view also finds keys that are inserted into the filter later.
//
// A view ends with [Filter.Fold] and [Filter.Close] of its filter: look nothing up in the view afterwards. The garbage
// collector does not free a filter that has a view. A lookup in a view is like one in the filter: many goroutines may
// look up at once, also while others insert with [Filter.InsertShared].
type View struct {
	filter *Filter
	image  *image.Filter
}

// errEnough ends the writing of an image after its header.
var errEnough = errors.New("petal: the header is enough")

// head takes the first bytes of an image.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), image.HeaderBytes-len(*h))]...)
	if len(*h) == image.HeaderBytes {
		return 0, errEnough
	}
	return len(p), nil
}

// View returns a view of the filter. Returns [ErrUnsupported] if the layout of the filter's kind has no name
// (docs/abi.md), or if the filter's hash function is SipHash-1-3. Takes as long as writing the beginning of an image.
// Only reads the filter.
func (f *Filter) View() (*View, error) {
	raw := C.petal_view{struct_size: C.size_t(unsafe.Sizeof(C.petal_view{}))}
	err := called("petal.Filter.View", func(failure *C.petal_error) { C.petal_filter_view(f.toRead(), &raw, failure) })
	if err != nil {
		return nil, err
	}
	var header head
	if _, err := f.WriteTo(&header); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if raw.hash == C.PETAL_HASH_SIPHASH13 {
		return nil, &Error{Op: "petal.Filter.View", Status: ErrUnsupported}
	}
	over, err := image.Over(header, (*byte)(unsafe.Pointer(raw.payload)), nil, image.AFilter)
	if err != nil {
		return nil, err
	}
	return &View{f, over}, nil
}

// Contains says whether a key may have been inserted; false is certain.
func (v *View) Contains(key []byte) bool {
	found := v.image.Contains(key)
	runtime.KeepAlive(v)
	return found
}

// ContainsString is [View.Contains] for the bytes of a string.
func (v *View) ContainsString(key string) bool {
	found := v.image.ContainsString(key)
	runtime.KeepAlive(v)
	return found
}

// ContainsUint64 is [View.Contains] for a number, which is the same key as its eight little-endian bytes.
func (v *View) ContainsUint64(key uint64) bool {
	found := v.image.ContainsUint64(key)
	runtime.KeepAlive(v)
	return found
}

// ContainsHash is [View.Contains] for the hash of a key.
func (v *View) ContainsHash(hash uint64) bool {
	found := v.image.ContainsHash(hash)
	runtime.KeepAlive(v)
	return found
}
