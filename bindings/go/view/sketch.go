package view

import (
	"io"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// Sketch is an opened sketch: a set of 64-bit numbers in little memory. Subtract one sketch from another, and list the
// numbers that only one of them has. A uint64 key is the number itself; the number of a byte key is its hash. Insert a
// number only once: a sketch cannot tell that it has the number already, and does not list numbers that are there
// twice. Package petal and the command petal make sketches. The zero value is a closed sketch, and so is nil.
//
// Methods that only read the sketch may run in many goroutines at once. [Sketch.Close] and methods that change the
// sketch need it to themselves. A sketch that was opened in place refuses changes: [ErrReadOnly].
type Sketch struct {
	byPointer
	opened *image.Filter
}

// Listed is a number that a sketch lists, and its count: 1 for a number that was inserted, -1 for a number that was
// removed, or that only the subtracted sketch had.
type Listed = image.Listed

// OpenSketch maps a file that is a sketch, and nothing else, for reading, in constant time. OpenSketch does not check
// the payload; [Sketch.Verify] does. [Open] says what happens if the file is truncated meanwhile.
func OpenSketch(path string, options *Options) (*Sketch, error) {
	return asSketch(image.Open(path, (*image.Options)(options), image.ASketch))
}

// WrapSketch opens the sketch at the start of a slice, in place and for reading, in constant time. WrapSketch does not
// check the payload. The slice must not change while the sketch is in use. Other bytes may follow the image.
func WrapSketch(slice []byte, options *Options) (*Sketch, error) {
	return asSketch(image.Wrap(slice, (*image.Options)(options), image.ASketch))
}

// LoadSketch copies the sketch at the start of a slice and compares the checksums. A dirty image has no checksums, and
// its copy is dirty.
func LoadSketch(slice []byte, options *Options) (*Sketch, error) {
	return asSketch(image.Load(slice, (*image.Options)(options), image.ASketch))
}

// ReadSketch reads one sketch, and not a byte more, and compares the checksums, unless the sketch is dirty. Memory
// grows with the bytes that arrive, whatever the header says.
func ReadSketch(r io.Reader, options *Options) (*Sketch, error) {
	return asSketch(image.Read(r, (*image.Options)(options), image.ASketch))
}

// image returns the opened image; a closed one if the sketch is closed or nil.
func (s *Sketch) image() *image.Filter {
	if s == nil {
		return (*image.Filter)(nil).OrClosed(image.ASketch)
	}
	return s.opened.OrClosed(image.ASketch)
}

func asSketch(opened *image.Filter, err error) (*Sketch, error) {
	if err != nil {
		return nil, err
	}
	return &Sketch{opened: opened}, nil
}

// Copy copies the sketch into new memory. The copy takes changes. A dirty sketch has a dirty copy. Returns [ErrCorrupt]
// if an image in place does not match its checksums.
func (s *Sketch) Copy() (*Sketch, error) { return asSketch(s.image().Copy()) }

// Close unmaps the file and frees the memory. Closing twice is allowed.
func (s *Sketch) Close() error { return s.image().Close() }

// Header returns what the image says about itself. Hashes is the number of cells of a number, and 0 for other kinds
// than iblt. Bits is the number of bits of all cells or symbols, 192 each, or of all sums of pinsketch, Words[0] each.
// Offered is the insertions minus the removals, up to now.
func (s *Sketch) Header() Header { return Header(s.image().Header()) }

// String returns one line about the sketch, or "closed".
func (s *Sketch) String() string { return s.image().String() }

// Verify reads and checks all bytes as they are now. Returns [ErrCorrupt] if a part does not match its checksum.
// Returns [ErrDirty] if all parts match but nobody vouches for them, or not yet. A sketch in its own memory was checked
// when it was loaded.
func (s *Sketch) Verify() error { return s.image().Verify() }

// Insert inserts the hash of a byte key, as a number. Returns [ErrKeyMissing] if the secret key was not given. Changes
// the sketch.
func (s *Sketch) Insert(key []byte) error { return s.image().Add(key, 1) }

// InsertString is [Sketch.Insert] for the bytes of a string.
func (s *Sketch) InsertString(key string) error { return s.image().AddString(key, 1) }

// InsertUint64 inserts a number. Returns [ErrOutOfRange] if the sketch cannot hold the number: numbers of pinsketch are
// from 1 to 2^field_bits - 1. Changes the sketch.
func (s *Sketch) InsertUint64(number uint64) error { return s.image().AddUint64(number, 1) }

// InsertHash inserts the hash of a key, which is a number like any other. Changes the sketch.
func (s *Sketch) InsertHash(hash uint64) error { return s.image().AddHash(hash, 1) }

// Remove removes a byte key. If you remove a number that you did not insert, the sketch lists the number with -1.
// Changes the sketch.
func (s *Sketch) Remove(key []byte) error { return s.image().Add(key, -1) }

// RemoveString is [Sketch.Remove] for the bytes of a string.
func (s *Sketch) RemoveString(key string) error { return s.image().AddString(key, -1) }

// RemoveUint64 is [Sketch.Remove] for a number.
func (s *Sketch) RemoveUint64(number uint64) error { return s.image().AddUint64(number, -1) }

// RemoveHash is [Sketch.Remove] for the hash of a key.
func (s *Sketch) RemoveHash(hash uint64) error { return s.image().AddHash(hash, -1) }

// Subtract subtracts another sketch. Numbers that both have are gone, and the sketch lists numbers that only other has
// with -1. Returns [ErrIncompatible] unless both sketches come from one spec. Returns [ErrCorrupt] if the image of
// other does not match its checksums. If other is dirty, s becomes dirty too. Changes s and only reads other.
func (s *Sketch) Subtract(other *Sketch) error { return s.image().Combine(other.image(), true) }

// Merge adds all numbers of another sketch. If the two sets have nothing in common, the result is the sketch of both.
// Merge refuses the same sketches as [Sketch.Subtract].
func (s *Sketch) Merge(other *Sketch) error { return s.image().Combine(other.image(), false) }

// List returns the numbers of the sketch in ascending order, first those with -1, then those with 1. complete says
// whether these are all numbers. If there are more differences than the sketch can tell apart, the list is right, but
// some numbers are missing; a pinsketch then lists none. Returns [ErrKeyMissing] if the secret key was not given. The
// time of List is bounded, whatever an image holds.
func (s *Sketch) List() (listed []Listed, complete bool, err error) { return s.image().List() }

// ExportMinisketch returns the bytes that minisketch serializes for a sketch of the same numbers. Returns
// [ErrUnsupported] for other kinds than pinsketch.
func (s *Sketch) ExportMinisketch() ([]byte, error) { return s.image().ExportMinisketch() }

// ImportMinisketch takes the numbers of a serialized sketch of minisketch instead of those that are there. Both
// sketches have the same capacity and bits of an element; [ErrForeign] says that they do not. Bytes of minisketch have
// no checksum, so a list of more differences than the capacity may be called complete. Changes the sketch.
func (s *Sketch) ImportMinisketch(bytes []byte) error { return s.image().ImportMinisketch(bytes) }

// ListedKey is a whole key that a sketch lists, and its count, as in [Listed].
type ListedKey = image.ListedKey

// KeyBytes returns how many bytes a key has, if the sketch holds whole keys; 0 if it holds numbers. Such a sketch
// refuses byte keys of another length with [ErrOutOfRange], and hashes with [ErrUnsupported].
func (s *Sketch) KeyBytes() int { return s.image().KeyBytes() }

// ListKeys is [Sketch.List] for a sketch of whole keys, which are in the order of their bytes. Returns [ErrUnsupported]
// for a sketch of numbers.
func (s *Sketch) ListKeys() (listed []ListedKey, complete bool, err error) {
	return s.image().ListKeys()
}

// Clear forgets all numbers. Changes the sketch.
func (s *Sketch) Clear() error { return s.image().Clear() }

// WriteTo writes the image, with checksums of the bytes that it writes. A dirty sketch stays dirty. Returns
// [ErrCorrupt] if an image in place does not match its checksums. Returns [ErrDirty] if another process begins to
// change the image meanwhile.
func (s *Sketch) WriteTo(w io.Writer) (int64, error) { return s.image().WriteTo(w) }

// MarshalBinary returns the image as [Sketch.WriteTo] writes it.
func (s *Sketch) MarshalBinary() ([]byte, error) { return s.image().MarshalBinary() }
