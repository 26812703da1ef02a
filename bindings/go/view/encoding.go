package view

import (
	"io"
	"log/slog"

	"github.com/petal-filter/petal/bindings/go/internal/encoded"
	"github.com/petal-filter/petal/bindings/go/internal/image"
	"github.com/petal-filter/petal/bindings/go/internal/secret"
)

// Secret is a secret key of 16 bytes; all zeros is none. A Secret does not print itself: package fmt and the
// encoders of JSON and XML write "secret", or "none". Arrays of 16 bytes can be assigned to it. UnmarshalText takes a
// key in 32 hexadecimal digits. (Package fmt does not ask values in unexported fields how they print, so give a type
// that has such a field a String method.)
type Secret = secret.Key

type (
	// byPointer makes encoders refuse a handle that is not given by its pointer.
	byPointer = encoded.ByPointer
	// never makes encoders refuse a handle that has no image.
	never = encoded.Never
)

// Images as text, for encoders of JSON, XML and the like. Logs get one line about a handle instead of its image.

// UnmarshalBinary closes the filter and loads an image into it, as [Load] does. A keyed filter has no key then: use
// Load.
func (f *Filter) UnmarshalBinary(slice []byte) error {
	if f == nil {
		return image.Closed(image.AFilter)
	}
	loaded, err := Load(slice, nil)
	if err != nil {
		return err
	}
	err = f.Close()
	*f = *loaded
	return err
}

// MarshalText returns the image in base64, so that a filter has a form in JSON and XML. A keyed filter lacks its key
// there.
func (f *Filter) MarshalText() ([]byte, error) { return encoded.Text(f.MarshalBinary()) }

// UnmarshalText closes the filter and loads an image in base64 into it, as [Filter.UnmarshalBinary] does.
func (f *Filter) UnmarshalText(text []byte) error { return encoded.Load(text, f.UnmarshalBinary) }

// LogValue returns what [Filter.String] does, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// WriteTo writes the image, with checksums of the bytes that it writes. An unclean map stays unclean. Returns
// [ErrCorrupt] if an image in place does not match its checksums.
func (m *Map) WriteTo(w io.Writer) (int64, error) { return m.image().WriteTo(w) }

// MarshalBinary returns the image as [Map.WriteTo] writes it.
func (m *Map) MarshalBinary() ([]byte, error) { return m.image().MarshalBinary() }

// UnmarshalBinary closes the map and loads an image into it, as [LoadMap] does. A keyed map has no key then: use
// LoadMap.
func (m *Map) UnmarshalBinary(slice []byte) error {
	if m == nil {
		return image.Closed(image.AMap)
	}
	loaded, err := LoadMap(slice, nil)
	if err != nil {
		return err
	}
	err = m.Close()
	m.opened = loaded.opened
	return err
}

// MarshalText returns the image in base64, so that a map has a form in JSON and XML. A keyed map lacks its
// key there.
func (m *Map) MarshalText() ([]byte, error) { return encoded.Text(m.MarshalBinary()) }

// UnmarshalText closes the map and loads an image in base64 into it, as [Map.UnmarshalBinary] does.
func (m *Map) UnmarshalText(text []byte) error { return encoded.Load(text, m.UnmarshalBinary) }

// LogValue returns what [Map.String] does, for package log/slog.
func (m *Map) LogValue() slog.Value { return slog.StringValue(m.String()) }
