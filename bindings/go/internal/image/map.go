package image

import (
	"fmt"
	"io"
	"runtime"
)

// Map is an opened map: the exact value of each key that it was built from. Of other keys it says that they are not
// there, but for a small share of them. Maps are built with package petal or the command petal. The zero value is a
// closed map.
//
// All methods but [Map.Close] may run in many goroutines at once.
type Map struct {
	image *Filter
}

// OpenMap maps a file that is a map, and nothing else, for reading. It takes constant time: the payload is not looked
// at, which [Map.Verify] does. [Open] says what happens if the file is truncated meanwhile.
func OpenMap(path string, options *Options) (*Map, error) { return asMap(open(path, options, aMap)) }

// WrapMap opens the map at the start of a slice, in place: constant time, and the payload is not looked at. The slice
// must not change while the map is in use. What follows the image is ignored.
func WrapMap(image []byte, options *Options) (*Map, error) { return asMap(wrap(image, options, aMap)) }

// LoadMap copies the map at the start of a slice and compares the checksums, unless it is dirty.
func LoadMap(image []byte, options *Options) (*Map, error) { return asMap(load(image, options, aMap)) }

// ReadMap reads one map, and not a byte more, and compares the checksums, unless it is dirty. Memory grows with the
// bytes that arrive, whatever the header says.
func ReadMap(r io.Reader, options *Options) (*Map, error) { return asMap(read(r, options, aMap)) }

func asMap(image *Filter, err error) (*Map, error) {
	if err != nil {
		return nil, err
	}
	return &Map{image}, nil
}

// opened returns the image, a closed one if the map is closed or nil.
func (m *Map) opened() *Filter {
	if m == nil || m.image == nil {
		return &Filter{}
	}
	return m.image
}

// Close lets go of the file and of the memory. Closing twice is allowed.
func (m *Map) Close() error { return m.opened().Close() }

// Header returns what the image says about itself.
func (m *Map) Header() Header { return m.opened().header }

// String returns one line about the map, or "closed".
func (m *Map) String() string {
	if m == nil {
		return "closed"
	}
	return m.opened().String()
}

// Verify checks the bytes that are there now, by reading them: [ErrCorrupt] if a part does not match its checksum,
// [ErrDirty] if nobody vouches for them.
func (m *Map) Verify() error { return m.opened().Verify() }

// Get returns the value of a key and whether it is there; 0 and false if it is not. Returns [ErrExternalHash] or
// [ErrKeyMissing] where keys cannot be hashed; [ErrCorrupt] where the image sends the lookup past its end.
func (m *Map) Get(key []byte) (value uint64, found bool, err error) {
	f := m.opened()
	id, ok := f.hasher.identify(key)
	if !ok {
		return 0, false, f.unhashable()
	}
	return f.value(id)
}

// GetString is [Map.Get] for the bytes of a string.
func (m *Map) GetString(key string) (value uint64, found bool, err error) { return m.Get(bytesOf(key)) }

// GetUint64 is [Map.Get] for the eight little-endian bytes of a number.
func (m *Map) GetUint64(key uint64) (value uint64, found bool, err error) {
	f := m.opened()
	id, ok := f.hasher.identifyUint64(key)
	if !ok {
		return 0, false, f.unhashable()
	}
	return f.value(id)
}

// GetHash is [Map.Get] of a key with a 64-bit hash that you made: [ErrUnsupported] unless the map was made with
// [External].
func (m *Map) GetHash(hash uint64) (value uint64, found bool, err error) {
	f := m.opened()
	switch {
	case f.kind == 0:
		return 0, false, ErrClosed
	case f.header.Hash != External:
		return 0, false, fmt.Errorf("%w: a map with hash %v knows keys by 128 bits", ErrUnsupported, f.header.Hash)
	}
	return f.value(identity{low: hash, high: mix(hash)})
}

// value looks up a key of a map.
func (f *Filter) value(id identity) (value uint64, found bool, err error) {
	if f.kind == 0 {
		return 0, false, ErrClosed
	}
	value, found, possible := f.kind.row().value(&f.shape, f.payload, id)
	// The payload of a mapped file goes with the filter.
	runtime.KeepAlive(f)
	if !possible {
		return 0, false, fmt.Errorf("%w: a key's cells are not in the payload", ErrCorrupt)
	}
	return value, found, nil
}
