// Package encoded writes images as text, for encoders of JSON, XML and the like, and keeps these encoders from writing
// an empty object without an error. It needs Go's standard library alone, so that package petal does too.
package encoded

import (
	"encoding/base64"
	"errors"
	"fmt"
)

// Text returns an image in base64, or the error of the call that made the image.
func Text(image []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, image), nil
}

// Load gives load the image of a text in base64.
func Load(text []byte, load func(image []byte) error) error {
	image, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("petal: the text is not an image in base64: %w", err)
	}
	return load(image)
}

// ByPointer, embedded in a handle whose pointer has MarshalText, makes encoders refuse the handle itself. Encoders do
// not find the methods of the pointer there. They would find no field either, and write an empty object.
type ByPointer struct{ Encoding byPointer }

type byPointer struct{}

var errByPointer = errors.New("petal: a copy of a handle has no encoded form: " +
	"give the encoder a pointer to the handle, or to the struct that has it")

func (byPointer) MarshalText() ([]byte, error) { return nil, errByPointer }

// Never, embedded in a handle that has no image, makes encoders refuse it.
type Never struct{ Encoding never }

type never struct{}

var errNever = errors.New("petal: only handles with an image have an encoded form: " +
	"encode the filter, and not its builder, list or session")

func (never) MarshalText() ([]byte, error) { return nil, errNever }
