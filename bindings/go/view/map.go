package view

import (
	"io"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// Map is an opened map: the exact value of each key that it was built from. A map says that other keys are absent,
// except for a small share of them. Package petal and the command petal build maps. The zero value is a closed map, and
// so is nil.
//
// All methods but [Map.Close] may run in many goroutines at once.
type Map struct {
	byPointer
	opened *image.Filter
}

// OpenMap maps a file that is a map, and nothing else, for reading, in constant time. OpenMap does not check the
// payload; [Map.Verify] does. [Open] says what happens if the file is truncated meanwhile.
func OpenMap(path string, options *OpenOptions) (*Map, error) {
	return asMap(image.Open(path, (*image.Options)(options), image.AMap))
}

// WrapMap opens the map at the start of a slice, in place, in constant time. WrapMap does not check the payload. The
// slice must not change while the map is in use. Other bytes may follow the image.
func WrapMap(slice []byte, options *OpenOptions) (*Map, error) {
	return asMap(image.Wrap(slice, (*image.Options)(options), image.AMap))
}

// LoadMap copies the map at the start of a slice and compares the checksums, unless the map is unclean.
func LoadMap(slice []byte, options *OpenOptions) (*Map, error) {
	return asMap(image.Load(slice, (*image.Options)(options), image.AMap))
}

// ReadMap reads one map, and not a byte more, and compares the checksums, unless the map is unclean. Memory grows with
// the bytes that arrive, whatever the header says.
func ReadMap(r io.Reader, options *OpenOptions) (*Map, error) {
	return asMap(image.Read(r, (*image.Options)(options), image.AMap))
}

// image returns the opened image; a closed one if the map is closed or nil.
func (m *Map) image() *image.Filter {
	if m == nil {
		return (*image.Filter)(nil).OrClosed(image.AMap)
	}
	return m.opened.OrClosed(image.AMap)
}

func asMap(opened *image.Filter, err error) (*Map, error) {
	if err != nil {
		return nil, err
	}
	return &Map{opened: opened}, nil
}

// Close unmaps the file and frees the memory. Closing twice is allowed.
func (m *Map) Close() error { return m.image().Close() }

// Describe describes the map by its header, in constant time.
func (m *Map) Describe() (Description, error) { return m.image().Describe(image.AMap) }

// String returns one line about the map, or "closed".
func (m *Map) String() string { return m.image().String() }

// Verify reads and checks all bytes as they are now. Returns [ErrCorrupt] if a part does not match its checksum.
// Returns [ErrUnclean] if all parts match but nobody marked them clean.
func (m *Map) Verify() error { return m.image().Verify() }

// Get returns the value of a key and whether it is there; 0 and false if it is not. Returns [ErrExternalHash] or
// [ErrSecretMissing] if keys cannot be hashed. Returns [ErrCorrupt] if the image leads the lookup past its end.
func (m *Map) Get(key []byte) (value uint64, found bool, err error) { return m.image().Get(key) }

// GetString is [Map.Get] for the bytes of a string.
func (m *Map) GetString(key string) (value uint64, found bool, err error) {
	return m.image().GetString(key)
}

// GetUint64 is [Map.Get] for the eight little-endian bytes of a number.
func (m *Map) GetUint64(key uint64) (value uint64, found bool, err error) {
	return m.image().GetUint64(key)
}

// GetHash is [Map.Get] for a key with a 64-bit hash that you made. Returns [ErrUnsupported] unless the map was made
// with [External].
func (m *Map) GetHash(hash uint64) (value uint64, found bool, err error) {
	return m.image().GetHash(hash)
}
