// Package view reads Petal filters without cgo: the same bytes that the C library writes, in Go, with a little assembly
// where the processor has AVX2.
//
// The kinds of filter are bloom, split_block, blocked, fuse, counting, scalable, ribbon, golomb, exact_bits, cuckoo,
// exact_set and stacked. The kinds of map are bloomier, retrieval, approximator and mutable_bloomier ([Map]). These are
// what programs ship as files and ask. For an image of another kind, such as quotient, a sketch or an index, [Open]
// returns [ErrNewerVersion], and the error says what the image is: package petal opens it.
//
// [Open] opens a filter in place over a mapped file, and [Wrap] over a slice. [Load] and [Read] copy a filter into
// memory of its own; a copy of bloom, split_block, blocked or counting takes insertions too. To make, merge and measure
// filters of the bit arrays use package filter. For all other kinds use package petal or the command petal.
//
//	seen, err := view.Open("seen.petal", nil)
//	if err != nil {
//		return err
//	}
//	defer seen.Close()
//	if !seen.ContainsString("apple") {
//		// certainly never inserted
//	}
//
// A lookup never says false of a key that was inserted. A lookup that fails returns true: the filter is closed, or was
// opened without the secret key that it needs.
//
// Lookups, [Filter.Describe], [Filter.Hash], [Filter.HashUint64], [Filter.Verify] and the methods that write the image
// may run in many goroutines at once. [Filter.Insert] and its forms, and [Filter.Close], need the filter to themselves.
// In a program built with -race, the race detector reports other uses.
//
// docs/format.md of Petal's repository specifies the format; this package is written from that page.
//
// # A file that is replaced
//
// A service that goes on with a new file while its goroutines look keys up must not close the old filter: a lookup that
// has begun would touch memory that is unmapped, and the program would end. Let go of the old filter, and the garbage
// collector unmaps the file after the last lookup. [Live] does that for filters. For other handles, and in package
// petal:
//
//	var current atomic.Pointer[view.Map]   // lookups: current.Load().GetString(key)
//	opened, err := view.OpenMap(path, nil) // when the file is another one
//	if err == nil {
//		err = opened.Verify()
//	}
//	if err != nil {
//		return err // the old file stays in use
//	}
//	current.Store(opened) // and no Close of the old one
package view

import (
	"io"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// OpenOptions say how to open a filter. A nil *OpenOptions is the zero value.
type OpenOptions struct {
	// Secret is the secret key of a filter whose hash function is SipHash-1-3; all zeros is none. Without the key the
	// filter opens and answers lookups of hashes, but says true of every key.
	Secret Secret
}

// Filter is an opened filter. The zero value is a closed filter, and so is nil.
type Filter image.Filter

func (f *Filter) image() *image.Filter { return (*image.Filter)(f).OrClosed(image.AFilter) }

// Open maps a file for reading, in constant time. Open does not check the payload; [Filter.Verify] does. The file is
// the image and nothing else. On systems without mmap, Open reads the file instead.
//
// If another process truncates a file while it is mapped, touching the lost part ends the program; where that may
// happen, use [Read].
func Open(path string, options *OpenOptions) (*Filter, error) {
	return asFilter(image.Open(path, (*image.Options)(options), image.AFilter))
}

// Wrap opens the image at the start of a slice, in place and for reading, in constant time. Wrap does not check the
// payload. The slice must not change while the filter is in use. Other bytes may follow the image.
func Wrap(slice []byte, options *OpenOptions) (*Filter, error) {
	return asFilter(image.Wrap(slice, (*image.Options)(options), image.AFilter))
}

// Load copies the image at the start of a slice and compares the checksums. An unclean image has no checksums, and its
// copy is unclean. The copy takes insertions.
func Load(slice []byte, options *OpenOptions) (*Filter, error) {
	return asFilter(image.Load(slice, (*image.Options)(options), image.AFilter))
}

// Read reads one image, and not a byte more, and compares the checksums, unless the image is unclean. The filter takes
// insertions. Memory grows with the bytes that arrive, whatever the header says.
func Read(r io.Reader, options *OpenOptions) (*Filter, error) {
	return asFilter(image.Read(r, (*image.Options)(options), image.AFilter))
}

func asFilter(f *image.Filter, err error) (*Filter, error) { return (*Filter)(f), err }

// Close unmaps the file and frees the memory; afterwards lookups say true. Closing twice is allowed. Close needs the
// filter to itself: where other goroutines may look keys up, use [Live], or do not close.
func (f *Filter) Close() error { return f.image().Close() }

// Describe describes the filter by its header, in constant time. Insertions includes keys that were inserted since the
// filter was opened.
func (f *Filter) Describe() (Description, error) { return f.image().Describe(image.AFilter) }

// String returns one line about the filter, or "closed".
func (f *Filter) String() string { return f.image().String() }

// Verify reads and checks all bytes as they are now. Returns [ErrCorrupt] if a part does not match its checksum.
// Returns [ErrUnclean] if all parts match but nobody marked them clean, or not yet. A filter in its own memory was
// checked when it was loaded.
func (f *Filter) Verify() error { return f.image().Verify() }

// Contains says whether a key may have been inserted; false is certain.
func (f *Filter) Contains(key []byte) bool { return f.image().Contains(key) }

// ContainsString is [Filter.Contains] for the bytes of a string.
func (f *Filter) ContainsString(key string) bool { return f.image().ContainsString(key) }

// ContainsUint64 is [Filter.Contains] for the eight little-endian bytes of a number.
func (f *Filter) ContainsUint64(key uint64) bool { return f.image().ContainsUint64(key) }

// ContainsHash looks up a hash: one that [Filter.Hash] made of the key, or one that you made if the hash function is
// [External].
func (f *Filter) ContainsHash(hash uint64) bool { return f.image().ContainsHash(hash) }

// Insert inserts a key. isNew is true if the key certainly was not there before. Returns [ErrUnsupported] for kinds
// that this package only reads. Returns [ErrUnsupportedByHandle] if the filter does not own its memory. Returns
// [ErrExternalHash] or [ErrSecretMissing] if keys cannot be hashed.
func (f *Filter) Insert(key []byte) (isNew bool, err error) { return f.image().Insert(key) }

// InsertString is [Filter.Insert] for the bytes of a string.
func (f *Filter) InsertString(key string) (isNew bool, err error) {
	return f.image().InsertString(key)
}

// InsertUint64 is [Filter.Insert] for the eight little-endian bytes of a number.
func (f *Filter) InsertUint64(key uint64) (isNew bool, err error) {
	return f.image().InsertUint64(key)
}

// InsertHash inserts a hash; see [Filter.ContainsHash].
func (f *Filter) InsertHash(hash uint64) (isNew bool, err error) {
	return f.image().InsertHash(hash)
}

// Hash returns the hash of a key for [Filter.ContainsHash] of all filters with the same hash function and seed or
// secret.
func (f *Filter) Hash(key []byte) (uint64, error) { return f.image().Hash(key) }

// HashUint64 is [Filter.Hash] for the eight little-endian bytes of a number.
func (f *Filter) HashUint64(key uint64) (uint64, error) { return f.image().HashUint64(key) }

// WriteTo writes the image, with checksums of the bytes that it writes. An unclean filter stays unclean. Returns
// [ErrCorrupt] if an image in place does not match its checksums. Returns [ErrUnclean] if another process begins to
// change the image meanwhile.
func (f *Filter) WriteTo(w io.Writer) (int64, error) { return f.image().WriteTo(w) }

// MarshalBinary returns the image as [Filter.WriteTo] writes it.
func (f *Filter) MarshalBinary() ([]byte, error) { return f.image().MarshalBinary() }
