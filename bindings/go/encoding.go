//go:build cgo

package petal

import (
	"encoding"
	"log/slog"

	"github.com/petal-filter/petal/bindings/go/internal/encoded"
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

// reload puts a handle that a call of the library loaded in the place of another one, which is closed.
func reload[H comparable](place **held[H], loaded *held[H]) {
	(*place).close()
	*place = loaded
}

// lineOf returns what a description says in one line, or "closed".
func lineOf(description Description, err error) string {
	if err != nil {
		return "closed"
	}
	return description.String()
}

// nilHandle is the error for reading into nil.
func nilHandle(op string) error { return &Error{Op: op, Status: statusClosed} }

// MarshalText returns the image in base64, so that a filter has a form in JSON and XML. A keyed filter lacks its key
// there. Only reads the filter.
func (f *Filter) MarshalText() ([]byte, error) { return encoded.Text(f.MarshalBinary()) }

// UnmarshalText closes the filter and loads an image in base64 into it, as [Filter.UnmarshalBinary] does.
func (f *Filter) UnmarshalText(text []byte) error { return encoded.Load(text, f.UnmarshalBinary) }

// LogValue returns what [Filter.String] does, for package log/slog. Only reads the filter.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// What every handle with an image can do.
type encodable interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	encoding.TextMarshaler
	encoding.TextUnmarshaler
	slog.LogValuer
}

var _ encodable = (*Filter)(nil)
