package image

import (
	"fmt"
	"runtime"
)

// Get returns the value of a key and whether it is there; 0 and false if it is not. Returns [ErrExternalHash] or
// [ErrSecretMissing] if keys cannot be hashed. Returns [ErrCorrupt] if the image leads the lookup past its end.
func (f *Filter) Get(key []byte) (value uint64, found bool, err error) {
	id, ok := f.hasher.identify(key)
	if !ok {
		return 0, false, f.unhashable()
	}
	return f.value(id)
}

// GetString is [Filter.Get] for the bytes of a string.
func (f *Filter) GetString(key string) (value uint64, found bool, err error) {
	return f.Get(bytesOf(key))
}

// GetUint64 is [Filter.Get] for the eight little-endian bytes of a number.
func (f *Filter) GetUint64(key uint64) (value uint64, found bool, err error) {
	id, ok := f.hasher.identifyUint64(key)
	if !ok {
		return 0, false, f.unhashable()
	}
	return f.value(id)
}

// GetHash is [Filter.Get] for a key with a 64-bit hash that you made. Returns [ErrUnsupported] unless the map was made
// with [External].
func (f *Filter) GetHash(hash uint64) (value uint64, found bool, err error) {
	switch {
	case f.kind == 0:
		return 0, false, f.closed()
	case f.header.Hash != External:
		return 0, false, fmt.Errorf("%w: a map with hash %v knows keys by 128 bits", ErrUnsupported, f.header.Hash)
	}
	return f.value(identity{low: hash, high: mix(hash)})
}

// value looks up a key of a map.
func (f *Filter) value(id identity) (value uint64, found bool, err error) {
	if f.kind == 0 {
		return 0, false, f.closed()
	}
	value, found, possible := f.kind.row().value(&f.shape, f.payload, id)
	// The payload of a mapped file must not be unmapped before the lookup ends.
	runtime.KeepAlive(f)
	if !possible {
		return 0, false, fmt.Errorf("%w: a key's cells are not in the payload", ErrCorrupt)
	}
	return value, found, nil
}
