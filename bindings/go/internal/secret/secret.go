// Package secret has the secret keys of filters, which do not print themselves. It needs Go's standard library alone,
// so that package petal does too.
package secret

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Key is a secret key of 16 bytes; all zeros is none. An array of 16 bytes can be assigned to a Key and the other way.
// Package fmt, with every verb, and the encoders of JSON, XML and text write "secret" instead of the bytes, or "none".
// (Package fmt does not ask values in unexported fields how they print, so give a type that has such a field a String
// method. Packages encoding/gob and encoding/binary write the bytes.)
type Key [16]byte

// String returns "secret", or "none" for no key.
func (k Key) String() string {
	if k == (Key{}) {
		return "none"
	}
	return "secret"
}

// GoString returns what String does.
func (k Key) GoString() string { return k.String() }

// Format writes what String returns, whatever the verb.
func (k Key) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, k.String()) }

// MarshalText returns what String does. UnmarshalText refuses "secret".
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes a key in 32 hexadecimal digits, as a configuration may have it, or "none". The error does not
// have the text.
func (k *Key) UnmarshalText(text []byte) error {
	var read Key
	if string(text) == "none" {
		*k = read
		return nil
	}
	if n := len(text); n != hex.EncodedLen(len(read)) {
		return fmt.Errorf("petal: a secret key of %d characters is not one of 32 hexadecimal digits, and not none", n)
	}
	if _, err := hex.Decode(read[:], text); err != nil {
		return errors.New("petal: a secret key has a character that is not a hexadecimal digit")
	}
	*k = read
	return nil
}
