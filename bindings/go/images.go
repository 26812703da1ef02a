package petal

/*
#include <stdint.h>
#include "keys.h"

extern _Bool petalGoWrite(uintptr_t context, void *bytes, size_t length);

static bool petal_go_write(void *context, const void *bytes, size_t length) {
	return petalGoWrite((uintptr_t)context, (void *)bytes, length);
}

static petal_status petal_go_serialize_to(const petal_filter *filter, uintptr_t context, petal_error *error) {
	return petal_filter_serialize_to(filter, petal_go_write, (void *)context, error);
}
*/
import "C"

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"unsafe"
)

// OpenMode says how to open an image.
type OpenMode uint32

// The modes.
const (
	// OpenRead maps the file for reading, in constant time. Opening does not check the payload; [Filter.Verify] does.
	OpenRead OpenMode = C.PETAL_OPEN_READ
	// OpenWrite maps the file for reading and writing, as the only writer.
	OpenWrite OpenMode = C.PETAL_OPEN_WRITE
	// OpenLoad copies the image into new memory and compares the checksums.
	OpenLoad OpenMode = C.PETAL_OPEN_LOAD
	// OpenShare maps the file for reading and for [Filter.InsertShared], together with any number of handles and
	// processes that open it with this mode.
	OpenShare OpenMode = C.PETAL_OPEN_SHARE
)

// OpenOptions say how to open a filter. A nil *OpenOptions is the zero value.
type OpenOptions struct {
	Mode OpenMode
	// Secret is the secret key of a keyed filter; all zeros is none. Without the key the filter cannot hash keys, but
	// everything else works.
	Secret Secret
	// Prefault has the system read a mapped file to its end at opening, so that the first lookups do not wait for the
	// disk. Opening then takes as long as reading the file. This is a hint: a system that cannot do it, or has no
	// memory to spare, opens the file all the same. OpenLoad reads the whole file in any case.
	Prefault bool
}

func (o *OpenOptions) raw() C.petal_open_options {
	raw := C.petal_open_options{struct_size: C.size_t(unsafe.Sizeof(C.petal_open_options{}))}
	if o != nil {
		raw.mode = C.petal_open_mode(o.Mode)
		if o.Prefault {
			raw.prefault = 1
		}
		for i, b := range o.Secret {
			raw.secret[i] = C.uint8_t(b)
		}
	}
	return raw
}

// Open opens a file that is an image. If another process truncates a file while it is mapped, touching the lost part
// ends the program; use OpenLoad where that may happen.
func Open(path string, options *OpenOptions) (*Filter, error) {
	return filterOf(openedBy("petal.Open", path, options, freeFilter,
		func(path *C.char, raw *C.petal_open_options, handle **C.petal_filter, failure *C.petal_error) {
			C.petal_filter_open(path, raw, handle, failure)
		}))
}

// OpenAt opens the image at an offset of an open file. The offset is a multiple of 8, and other data may follow the
// image. You may close the file right away.
func OpenAt(file *os.File, offset int64, options *OpenOptions) (*Filter, error) {
	raw := options.raw()
	return filterOf(openedAt("petal.OpenAt", file, offset, freeFilter,
		func(descriptor uintptr, handle **C.petal_filter, failure *C.petal_error) {
			C.petal_filter_open_descriptor(C.intptr_t(descriptor), C.uint64_t(offset), &raw, handle, failure)
		}))
}

// Load copies the image at the start of a slice into new memory and compares the checksums. Load ignores the mode in
// the options.
func Load(image []byte, options *OpenOptions) (*Filter, error) {
	raw := options.raw()
	return filterOf(made("petal.Load", freeFilter, func(handle **C.petal_filter, failure *C.petal_error) {
		C.petal_go_filter_load(nonNil(image), C.size_t(len(image)), &raw, handle, failure)
	}))
}

// nonNil returns the start of a slice, or a valid address if the slice is nil.
func nonNil(slice []byte) *C.uint8_t {
	if slice == nil {
		slice = []byte{}
	}
	return bytesOf(slice)
}

// Save writes the image to a file: first to a temporary file next to it, which then replaces the old file in one step.
// Readers see the old image or the new one. Returns [ErrMappedPath] if the filter lies in that same file. Only reads
// the filter.
func (f *Filter) Save(path string) error {
	return withPath("petal.Filter.Save", path, func(path *C.char, failure *C.petal_error) {
		C.petal_filter_save(f.toRead(), path, failure)
	})
}

// AppendBinary appends the image to a slice. Only reads the filter.
func (f *Filter) AppendBinary(b []byte) ([]byte, error) {
	size, err := f.SerializedSize()
	if err != nil {
		return b, err
	}
	return appended("petal.Filter.AppendBinary", b, size, func(image []byte, failure *C.petal_error) {
		C.petal_go_filter_serialize(f.toRead(), bytesOf(image), C.size_t(len(image)), nil, failure)
	})
}

// MarshalBinary returns the image. Only reads the filter.
func (f *Filter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// UnmarshalBinary closes the filter and loads an image into it, as [Load] does. A keyed filter has no key then: use
// Load.
func (f *Filter) UnmarshalBinary(image []byte) error {
	if f == nil {
		return &Error{Op: "petal.Filter.UnmarshalBinary", Status: statusClosed}
	}
	loaded, err := Load(image, nil)
	if err != nil {
		return err
	}
	f.become(loaded)
	return nil
}

// become takes over the library's filter from another Filter.
func (f *Filter) become(other *Filter) {
	_ = f.Close()
	f.owner = other.owner
}

// WriteTo writes the image, piece by piece and without a copy of the whole. The writer must not end its goroutine
// ([runtime.Goexit]). Only reads the filter.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	return streamed("petal.Filter.WriteTo", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_serialize_to(f.toRead(), context, failure)
	})
}

// ReadFrom closes the filter and reads one image into it, and not a byte more. Memory grows with the bytes that arrive,
// whatever the header says. A keyed filter has no key then: use [Load].
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	if f == nil {
		return 0, &Error{Op: "petal.Filter.ReadFrom", Status: statusClosed}
	}
	// The layout of docs/format.md. A header of 256 bytes has the length of the payload at byte 136. The table behind the
	// payload has eight bytes for each region of the payload and eight more, in whole lines.
	const headerLength, payloadBytes, regionBytes, lineBytes = 256, 136, 64 << 10, 64
	var image bytes.Buffer
	n, err := io.CopyN(&image, r, headerLength)
	if err != nil && err != io.EOF {
		return n, err
	}
	// The library checks the header. If only the rest is missing, the header can be trusted.
	loaded, err := Load(image.Bytes(), nil)
	if n == headerLength && errors.Is(err, ErrTruncated) {
		payload := binary.LittleEndian.Uint64(image.Bytes()[payloadBytes:])
		if payload > math.MaxInt64/2 {
			return n, err
		}
		regions := (payload + regionBytes - 1) / regionBytes
		lines := (8*regions + 8 + lineBytes - 1) / lineBytes
		more, failed := io.CopyN(&image, r, int64(payload+lines*lineBytes))
		n += more
		if failed != nil && failed != io.EOF {
			return n, failed
		}
		loaded, err = Load(image.Bytes(), nil)
	}
	if err != nil {
		return n, err
	}
	f.become(loaded)
	return n, nil
}
