package petal

/*
#include <stdint.h>
#include "keys.h"

extern _Bool petalGoWrite(uintptr_t context, void *bytes, size_t length);

static bool petal_go_write_export(void *context, const void *bytes, size_t length) {
	return petalGoWrite((uintptr_t)context, (void *)bytes, length);
}

static petal_status petal_go_export_to(const petal_filter *filter, const char *format, const char *variant,
                                       uintptr_t context, petal_error *error) {
	return petal_filter_export_to(filter, format, variant, petal_go_write_export, (void *)context, error);
}
*/
import "C"

import (
	"io"
	"unsafe"
)

// FormatCapabilities are what the library can do with a format.
type FormatCapabilities uint32

// The capabilities of formats.
const (
	// FormatRead is needed for [ImportFilter].
	FormatRead FormatCapabilities = C.PETAL_FORMAT_READ
	// FormatWrite is needed for [Filter.Export].
	FormatWrite FormatCapabilities = C.PETAL_FORMAT_WRITE
	// FormatCreate is needed for [FormatSpec] and [New].
	FormatCreate FormatCapabilities = C.PETAL_FORMAT_CREATE
	// FormatRecognise is needed for [RecogniseFormat].
	FormatRecognise FormatCapabilities = C.PETAL_FORMAT_RECOGNISE
	// FormatBuild is needed for [FormatSpec] and a builder.
	FormatBuild FormatCapabilities = C.PETAL_FORMAT_BUILD
)

// Has says whether the capabilities include all of other.
func (c FormatCapabilities) Has(other FormatCapabilities) bool { return c&other == other }

// FormatInfo is what the library knows of another system's format.
type FormatInfo struct {
	// Name is the format's name, as [ImportFilter] and [Filter.Export] take it.
	Name         string             `json:"name"`
	Summary      string             `json:"summary"`
	Capabilities FormatCapabilities `json:"capabilities"`
	// Variants are the variants that the format's owners write, the default first; empty if there is only one.
	Variants []string `json:"-"`
}

// ImportOptions are values that a format's bytes do not contain. Only formats that need these values take them. A nil
// *ImportOptions is the zero value.
type ImportOptions struct {
	// Bits is the number of bits: the modulus of bit positions.
	Bits uint64
	// Hashes is how many bits a key sets.
	Hashes uint32
	// Seed is the seed of the hash function.
	Seed uint64
	// Secret is the secret key of the hash function; all zeros is none.
	Secret Secret
	// RiceBits is P of a Golomb-coded set: the bits of a gap's remainder.
	RiceBits uint32
	// Multiplier is M of a Golomb-coded set: how many numbers there are for each key.
	Multiplier uint64
}

// Formats returns the formats of other systems that the library knows.
func Formats() []FormatInfo {
	formats := make([]FormatInfo, 0, int(C.petal_format_count()))
	for index := range cap(formats) {
		raw := newFormatInfo()
		if C.petal_format_get_at(C.size_t(index), &raw, nil) == C.PETAL_OK {
			formats = append(formats, formatInfo(&raw))
		}
	}
	return formats
}

// FindFormat returns the format with this name. Returns [ErrUnknownValue] if there is none.
func FindFormat(name string) (FormatInfo, error) {
	const op = "petal.FindFormat"
	if err := withoutNUL(op, "the name", name); err != nil {
		return FormatInfo{}, err
	}
	return converted(op, newFormatInfo(), formatInfo, func(raw *C.petal_format_info, failure *C.petal_error) {
		C.petal_format_find(cString(name), raw, failure)
	})
}

// RecogniseFormat recognises a format by the first bytes of a filter. Returns [ErrForeign] if the bytes show no format.
func RecogniseFormat(foreign []byte) (FormatInfo, error) {
	const op = "petal.RecogniseFormat"
	return converted(op, newFormatInfo(), formatInfo, func(raw *C.petal_format_info, failure *C.petal_error) {
		C.petal_go_format_recognise(nonNil(foreign), C.size_t(len(foreign)), raw, failure)
	})
}

// FormatSpec returns the spec of a format's filter, for [New] or for a builder. The filter has the size that the
// format's owner would give it for capacity distinct keys at a rate inside (0, 1). variant names one of the format's
// variants; empty is the first. seed is the seed of the format's hash function, if it has one. Returns [ErrUnsupported]
// for a format that has neither [FormatCreate] nor [FormatBuild].
func FormatSpec(format, variant string, capacity uint64, falsePositiveRate float64, seed uint64) (Spec, error) {
	const op = "petal.FormatSpec"
	name, asked, err := formatNames(op, format, variant)
	if err != nil {
		return Spec{}, err
	}
	return writtenSpec(op, func(raw *C.petal_spec, failure *C.petal_error) {
		C.petal_format_get_spec(name, asked, C.uint64_t(capacity), C.double(falsePositiveRate), C.uint64_t(seed), raw,
			failure)
	})
}

// ImportFilter makes a filter in its own memory from all of another system's bytes. Returns [ErrForeign],
// [ErrTruncated] and [ErrCorrupt] for bytes that the format cannot have.
func ImportFilter(format string, foreign []byte, options *ImportOptions) (*Filter, error) {
	const op = "petal.ImportFilter"
	name, _, err := formatNames(op, format, "")
	if err != nil {
		return nil, err
	}
	raw := C.petal_import_options{struct_size: C.size_t(unsafe.Sizeof(C.petal_import_options{}))}
	if options != nil {
		raw.bits, raw.hashes = C.uint64_t(options.Bits), C.uint32_t(options.Hashes)
		raw.seed, raw.multiplier = C.uint64_t(options.Seed), C.uint64_t(options.Multiplier)
		raw.rice_bits = C.uint32_t(options.RiceBits)
		for i, one := range options.Secret {
			raw.secret[i] = C.uint8_t(one)
		}
	}
	return filterOf(made(op, freeFilter, func(handle **C.petal_filter, failure *C.petal_error) {
		C.petal_go_filter_import(name, nonNil(foreign), C.size_t(len(foreign)), &raw, handle, failure)
	}))
}

// Export returns the filter's bytes in a format. variant names one of the format's variants; empty is the variant that
// the filter was imported from, or the first. Returns [ErrUnsupported], naming the reason, if the filter has no form in
// the format. Only reads the filter.
func (f *Filter) Export(format, variant string) ([]byte, error) {
	const op = "petal.Filter.Export"
	name, asked, err := formatNames(op, format, variant)
	if err != nil {
		return nil, err
	}
	size := func() (uint64, error) {
		return answered(op, func(size *uint64, failure *C.petal_error) {
			C.petal_filter_export_size(f.toRead(), name, asked, (*C.uint64_t)(size), failure)
		})
	}
	return marshalled(op, size, func(foreign []byte, failure *C.petal_error) {
		C.petal_go_filter_export(f.toRead(), name, asked, nonNil(foreign), C.size_t(len(foreign)), nil, failure)
	})
}

// ExportTo is [Filter.Export] piece by piece, without a copy of the whole. The writer must not end its goroutine
// ([runtime.Goexit]). Only reads the filter.
func (f *Filter) ExportTo(w io.Writer, format, variant string) (int64, error) {
	const op = "petal.Filter.ExportTo"
	name, asked, err := formatNames(op, format, variant)
	if err != nil {
		return 0, err
	}
	return streamed(op, w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_export_to(f.toRead(), name, asked, context, failure)
	})
}

// formatNames returns the names of a format and of a variant for the library: nil for no name.
func formatNames(op, format, variant string) (name, asked *C.char, err error) {
	if err := withoutNUL(op, "the format", format); err != nil {
		return nil, nil, err
	}
	if err := withoutNUL(op, "the variant", variant); err != nil {
		return nil, nil, err
	}
	if variant != "" {
		asked = cString(variant)
	}
	return cString(format), asked, nil
}

func newFormatInfo() C.petal_format_info {
	return C.petal_format_info{struct_size: C.size_t(unsafe.Sizeof(C.petal_format_info{}))}
}

func formatInfo(raw *C.petal_format_info) FormatInfo {
	info := FormatInfo{
		Name:         C.GoString(&raw.name[0]),
		Summary:      C.GoString(&raw.summary[0]),
		Capabilities: FormatCapabilities(raw.capabilities),
	}
	for index := range int(raw.variant_count) {
		var name [C.PETAL_NAME_SIZE]C.char
		if C.petal_format_get_variant(&raw.name[0], C.size_t(index), &name[0], nil) == C.PETAL_OK {
			info.Variants = append(info.Variants, C.GoString(&name[0]))
		}
	}
	return info
}
