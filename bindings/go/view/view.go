// Package view reads Petal filters without cgo: the same bytes that the C library writes, in Go, with a little assembly
// where the processor has AVX2.
//
// It knows the kinds of filter bloom, split_block, blocked, fuse, ribbon, golomb, counting, scalable, hash_compaction,
// signatures, exact_bits, cuckoo, quotient, vector_quotient and d_left, the kinds of map bloomier, retrieval,
// approximator and mutable_bloomier ([Map]), and the kind of sketch iblt ([Sketch]); the error for any other names it.
// A filter is opened in place, over a mapped file ([Open]) or over a slice ([Wrap]), or is copied into memory of its
// own ([Load], [Read]), where keys can be inserted too, into bloom, split_block, blocked and counting. A copy of a
// sketch takes changes too. Filters of the kinds that are bit arrays are made, merged and measured with package filter,
// all others, maps and sketches with package petal or the command petal.
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
// A lookup never says false of a key that was inserted. If it cannot be answered, because the filter is closed or was
// opened without the secret key that it needs, it says true: a broken call costs a lookup and never invents an absence.
//
// Lookups, [Filter.Header], [Filter.Hash], [Filter.HashUint64], [Filter.Verify] and the methods that write the image
// may run in many goroutines at once. [Filter.Insert] and its like, and [Filter.Close], need the filter to themselves:
// -race reports them otherwise.
//
// The format is specified in docs/format.md of Petal's repository; this package is written from that page.
package view

import (
	"io"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// Options say how to open a filter. A nil *Options is the zero value.
type Options struct {
	// Key is the secret key of a filter whose hash function is SipHash-1-3; all zeros is none. Without it the filter
	// opens, and answers hashes, but says true of every key.
	Key [16]byte
}

// Filter is an opened filter. Its zero value is a closed one, and so is nil.
type Filter image.Filter

func (f *Filter) image() *image.Filter { return (*image.Filter)(f).OrClosed() }

// Open maps a file for reading. It takes constant time: the payload is not looked at, which [Filter.Verify] does. The
// file is the image and nothing else. On systems without mmap it is read instead.
//
// If another process truncates a file while it is mapped, touching the lost part ends the program; where that may
// happen, use [Read].
func Open(path string, options *Options) (*Filter, error) {
	return asFilter(image.Open(path, (*image.Options)(options), image.AFilter))
}

// Wrap opens the image at the start of a slice, in place and for reading: constant time, and the payload is not looked
// at. The slice must not change while the filter is in use. What follows the image is ignored.
func Wrap(slice []byte, options *Options) (*Filter, error) {
	return asFilter(image.Wrap(slice, (*image.Options)(options), image.AFilter))
}

// Load copies the image at the start of a slice and checks its checksums, unless it is dirty: its copy is dirty too.
// Keys can be inserted into the copy.
func Load(slice []byte, options *Options) (*Filter, error) {
	return asFilter(image.Load(slice, (*image.Options)(options), image.AFilter))
}

// Read reads one image, and not a byte more, and checks its checksums, unless it is dirty. Keys can be inserted into
// it. Memory grows with what really comes, whatever the header says.
func Read(r io.Reader, options *Options) (*Filter, error) {
	return asFilter(image.Read(r, (*image.Options)(options), image.AFilter))
}

func asFilter(f *image.Filter, err error) (*Filter, error) { return (*Filter)(f), err }

// Close lets go of the file and of the memory; afterwards lookups say true. Closing twice is allowed.
func (f *Filter) Close() error { return f.image().Close() }

// Header returns what the image says about itself. The count includes the keys inserted since.
func (f *Filter) Header() Header { return Header(f.image().Header()) }

// String returns one line about the filter, or "closed".
func (f *Filter) String() string { return f.image().String() }

// Verify checks the bytes that are there now, by reading them: [ErrCorrupt] if a part does not match its checksum,
// [ErrDirty] if none differs but nobody vouches for them, or not yet. A filter in memory of its own was checked when it
// was loaded.
func (f *Filter) Verify() error { return f.image().Verify() }

// Contains says whether a key may have been inserted; false is certain.
func (f *Filter) Contains(key []byte) bool { return f.image().Contains(key) }

// ContainsString is [Filter.Contains] of a string's bytes.
func (f *Filter) ContainsString(key string) bool { return f.image().ContainsString(key) }

// ContainsUint64 is [Filter.Contains] of a number's eight little-endian bytes.
func (f *Filter) ContainsUint64(key uint64) bool { return f.image().ContainsUint64(key) }

// ContainsHash looks up a hash that [Filter.Hash] made of the key, or that you made where the hash function is
// [External].
func (f *Filter) ContainsHash(hash uint64) bool { return f.image().ContainsHash(hash) }

// Insert inserts a key. isNew is true if the key certainly was not there before. [ErrUnsupported] of kinds that
// this package only reads; [ErrReadOnly] where the memory is not the filter's own; [ErrExternalHash] or [ErrKeyMissing]
// where keys cannot be hashed.
func (f *Filter) Insert(key []byte) (isNew bool, err error) { return f.image().Insert(key) }

// InsertString is [Filter.Insert] of a string's bytes.
func (f *Filter) InsertString(key string) (isNew bool, err error) {
	return f.image().InsertString(key)
}

// InsertUint64 is [Filter.Insert] of a number's eight little-endian bytes.
func (f *Filter) InsertUint64(key uint64) (isNew bool, err error) {
	return f.image().InsertUint64(key)
}

// InsertHash inserts a hash; see [Filter.ContainsHash].
func (f *Filter) InsertHash(hash uint64) (isNew bool, err error) {
	return f.image().InsertHash(hash)
}

// Hash returns the hash of a key as the filter makes it: for [Filter.ContainsHash] of all filters that share its hash
// function and seed or key.
func (f *Filter) Hash(key []byte) (uint64, error) { return f.image().Hash(key) }

// HashUint64 is [Filter.Hash] of a number's eight little-endian bytes.
func (f *Filter) HashUint64(key uint64) (uint64, error) { return f.image().HashUint64(key) }

// WriteTo writes the image, with checksums of the bytes that it writes. A dirty filter stays dirty. [ErrCorrupt] if the
// image that the filter lies in does not match its checksums; [ErrDirty] if another process begins to change it
// meanwhile.
func (f *Filter) WriteTo(w io.Writer) (int64, error) { return f.image().WriteTo(w) }

// MarshalBinary returns the image as [Filter.WriteTo] writes it.
func (f *Filter) MarshalBinary() ([]byte, error) { return f.image().MarshalBinary() }
