//go:build cgo

package petal

import (
	"encoding"
	"log/slog"

	"github.com/petal-filter/petal/bindings/go/internal/encoded"
	"github.com/petal-filter/petal/bindings/go/internal/secret"
)

// SecretKey is a secret key of 16 bytes; all zeros is none. A SecretKey does not print itself: package fmt and the
// encoders of JSON and XML write "secret", or "none". Arrays of 16 bytes can be assigned to it. UnmarshalText takes a
// key in 32 hexadecimal digits. (Package fmt does not ask values in unexported fields how they print, so give a type
// that has such a field a String method.)
type SecretKey = secret.Key

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

// UnmarshalBinary closes the map and loads an image into it, as [LoadMap] does. A keyed map has no key then: use
// LoadMap.
func (m *Map) UnmarshalBinary(image []byte) error {
	if m == nil {
		return nilHandle("petal.Map.UnmarshalBinary")
	}
	loaded, err := LoadMap(image, nil)
	if err == nil {
		reload(&m.owner, loaded.owner)
	}
	return err
}

// MarshalText returns the image in base64, so that a map has a form in JSON and XML. A keyed map lacks its
// key there.
func (m *Map) MarshalText() ([]byte, error) { return encoded.Text(m.MarshalBinary()) }

// UnmarshalText closes the map and loads an image in base64 into it, as [Map.UnmarshalBinary] does.
func (m *Map) UnmarshalText(text []byte) error { return encoded.Load(text, m.UnmarshalBinary) }

// String returns one line about the map, or "closed".
func (m *Map) String() string { return lineOf(m.Describe()) }

// LogValue returns what [Map.String] does, for package log/slog.
func (m *Map) LogValue() slog.Value { return slog.StringValue(m.String()) }

// UnmarshalBinary closes the sketch and loads an image into it, as [LoadSketch] does. A keyed sketch has no key
// then: use LoadSketch.
func (s *Sketch) UnmarshalBinary(image []byte) error {
	if s == nil {
		return nilHandle("petal.Sketch.UnmarshalBinary")
	}
	loaded, err := LoadSketch(image, nil)
	if err == nil {
		reload(&s.owner, loaded.owner)
	}
	return err
}

// MarshalText returns the image in base64, so that a sketch has a form in JSON and XML. A keyed sketch lacks its
// key there.
func (s *Sketch) MarshalText() ([]byte, error) { return encoded.Text(s.MarshalBinary()) }

// UnmarshalText closes the sketch and loads an image in base64 into it, as [Sketch.UnmarshalBinary] does.
func (s *Sketch) UnmarshalText(text []byte) error { return encoded.Load(text, s.UnmarshalBinary) }

// String returns one line about the sketch, or "closed".
func (s *Sketch) String() string { return lineOf(s.Describe()) }

// LogValue returns what [Sketch.String] does, for package log/slog.
func (s *Sketch) LogValue() slog.Value { return slog.StringValue(s.String()) }

// UnmarshalBinary closes the router and loads an image into it, as [LoadRouter] does. A keyed router has no key
// then: use LoadRouter.
func (r *Router) UnmarshalBinary(image []byte) error {
	if r == nil {
		return nilHandle("petal.Router.UnmarshalBinary")
	}
	loaded, err := LoadRouter(image, nil)
	if err == nil {
		reload(&r.owner, loaded.owner)
	}
	return err
}

// MarshalText returns the image in base64, so that a router has a form in JSON and XML. A keyed router lacks its
// key there.
func (r *Router) MarshalText() ([]byte, error) { return encoded.Text(r.MarshalBinary()) }

// UnmarshalText closes the router and loads an image in base64 into it, as [Router.UnmarshalBinary] does.
func (r *Router) UnmarshalText(text []byte) error { return encoded.Load(text, r.UnmarshalBinary) }

// String returns one line about the router, or "closed".
func (r *Router) String() string { return lineOf(r.Describe()) }

// LogValue returns what [Router.String] does, for package log/slog.
func (r *Router) LogValue() slog.Value { return slog.StringValue(r.String()) }

// UnmarshalBinary closes the aggregate and loads an image into it, as [LoadAggregate] does. A keyed aggregate has no
// key then: use LoadAggregate.
func (a *Aggregate) UnmarshalBinary(image []byte) error {
	if a == nil {
		return nilHandle("petal.Aggregate.UnmarshalBinary")
	}
	loaded, err := LoadAggregate(image, nil)
	if err == nil {
		reload(&a.owner, loaded.owner)
	}
	return err
}

// MarshalText returns the image in base64, so that an aggregate has a form in JSON and XML. A keyed aggregate lacks its
// key there.
func (a *Aggregate) MarshalText() ([]byte, error) { return encoded.Text(a.MarshalBinary()) }

// UnmarshalText closes the aggregate and loads an image in base64 into it, as [Aggregate.UnmarshalBinary] does.
func (a *Aggregate) UnmarshalText(text []byte) error { return encoded.Load(text, a.UnmarshalBinary) }

// String returns one line about the aggregate, or "closed".
func (a *Aggregate) String() string { return lineOf(a.Describe()) }

// LogValue returns what [Aggregate.String] does, for package log/slog.
func (a *Aggregate) LogValue() slog.Value { return slog.StringValue(a.String()) }

// UnmarshalBinary closes the digest and loads an image into it, as [LoadDigest] does. A keyed digest has no key
// then: use LoadDigest.
func (d *Digest) UnmarshalBinary(image []byte) error {
	if d == nil {
		return nilHandle("petal.Digest.UnmarshalBinary")
	}
	loaded, err := LoadDigest(image, nil)
	if err == nil {
		reload(&d.owner, loaded.owner)
	}
	return err
}

// MarshalText returns the image in base64, so that a digest has a form in JSON and XML. A keyed digest lacks its
// key there.
func (d *Digest) MarshalText() ([]byte, error) { return encoded.Text(d.MarshalBinary()) }

// UnmarshalText closes the digest and loads an image in base64 into it, as [Digest.UnmarshalBinary] does.
func (d *Digest) UnmarshalText(text []byte) error { return encoded.Load(text, d.UnmarshalBinary) }

// String returns one line about the digest, or "closed".
func (d *Digest) String() string { return lineOf(d.Describe()) }

// LogValue returns what [Digest.String] does, for package log/slog.
func (d *Digest) LogValue() slog.Value { return slog.StringValue(d.String()) }

// UnmarshalBinary closes the index and loads an image into it, as [LoadIndex] does. A keyed index has no key then: use
// LoadIndex.
func (x *Index) UnmarshalBinary(image []byte) error {
	if x == nil {
		return nilHandle("petal.Index.UnmarshalBinary")
	}
	loaded, err := LoadIndex(image, nil)
	if err == nil {
		reload(&x.owner, loaded.owner)
	}
	return err
}

// MarshalText returns the image in base64, so that an index has a form in JSON and XML. A keyed index lacks its
// key there.
func (x *Index) MarshalText() ([]byte, error) { return encoded.Text(x.MarshalBinary()) }

// UnmarshalText closes the index and loads an image in base64 into it, as [Index.UnmarshalBinary] does.
func (x *Index) UnmarshalText(text []byte) error { return encoded.Load(text, x.UnmarshalBinary) }

// String returns one line about the index, or "closed".
func (x *Index) String() string { return lineOf(x.Describe()) }

// LogValue returns what [Index.String] does, for package log/slog.
func (x *Index) LogValue() slog.Value { return slog.StringValue(x.String()) }

// What every handle with an image can do.
type encodable interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	encoding.TextMarshaler
	encoding.TextUnmarshaler
	slog.LogValuer
}

var _ = []encodable{
	(*Filter)(nil), (*Map)(nil), (*Sketch)(nil), (*Router)(nil), (*Aggregate)(nil), (*Digest)(nil), (*Index)(nil),
}
