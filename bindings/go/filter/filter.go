// Package filter makes and changes Petal filters without cgo: the same bytes that the C library makes of the same spec
// and keys, in Go, with a little assembly where the processor has AVX2.
//
// The package has the kinds blocked, split_block and bloom, with every parameter and hash function. [New] makes a
// filter from a capacity and a false-positive rate; [Open], [Load] and [Read] read one from an image. You can insert
// keys, merge, intersect, fold and measure filters, and write images that all programs with Petal read. Package view
// looks keys up in filters of most kinds, in place.
//
//	seen, err := filter.New(filter.Spec{Capacity: 1_000_000, FalsePositiveRate: 0.01})
//	if err != nil {
//		return err
//	}
//	seen.InsertString("apple")
//	fmt.Println(seen.ContainsString("apple")) // true: maybe. false would be certain.
//	err = seen.Save("seen.petal")
//
// A lookup never says false of a key that was inserted. A lookup that fails returns true: the filter is closed, or was
// opened without the secret key that it needs.
//
// # Memory
//
// A filter lies in Go's memory, and the garbage collector frees it. You need not close filters. The zero value is a
// closed filter.
//
// # Concurrency
//
// A filter has no locks. Methods that only read a filter may run in many goroutines at once; methods that change a
// filter need it to themselves. The comment of each method says which group it belongs to. In a program that was built
// with -race, the race detector reports a method that changes a filter while another goroutine uses it. To insert from
// many goroutines, let each fill its own filter, and merge these in the end.
package filter

import (
	"fmt"
	"io"
	"os"

	"github.com/petal-filter/petal/bindings/go/internal/image"
	"github.com/petal-filter/petal/bindings/go/internal/secret"
)

// SecretKey is a secret key of 16 bytes; all zeros is none. A SecretKey does not print itself: package fmt and the
// encoders of JSON and XML write "secret", or "none". Arrays of 16 bytes can be assigned to it. UnmarshalText takes a
// key in 32 hexadecimal digits. (Package fmt does not ask values in unexported fields how they print, so give a type
// that has such a field a String method.)
type SecretKey = secret.Key

// Options say how to read a filter. A nil *Options is the zero value.
type Options struct {
	// Key is the secret key of a filter whose hash function is SipHash-1-3; all zeros is none. Without the key the filter
	// opens, takes hashes and merges, but takes no keys, and says true of every key.
	Key SecretKey
}

// Filter is a filter in memory. Get one from [New], [Open], [Load] or [Read]; the zero value is a closed filter, into
// which [Filter.UnmarshalBinary] and [Filter.ReadFrom] can read one; nil is a closed filter too.
type Filter image.Filter

func (f *Filter) image() *image.Filter { return (*image.Filter)(f).OrClosed(image.AFilter) }

// New makes an empty filter. Returns [ErrFalsePositiveRate], [ErrOutOfRange], [ErrContradiction] and [ErrUnknownValue]
// for an invalid spec, and [ErrTooLarge] or [ErrOutOfMemory] if there is no memory of that size. Sizing takes
// microseconds, and up to some milliseconds with the derivations [Double], [EnhancedDouble] and [Triple].
func New(spec Spec) (*Filter, error) {
	header, err := spec.header()
	if err != nil {
		return nil, err
	}
	f, err := image.Create(header, &image.Options{Key: spec.Key})
	return (*Filter)(f), err
}

// Open reads a file that is an image into memory, and compares the checksums. A dirty image has no checksums, and its
// filter is dirty. Changes do not go to the file; [Filter.Save] writes the file anew. Returns [ErrUnsupported] for the
// kinds that only package view reads.
func Open(path string, options *Options) (*Filter, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := Read(file, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var next [1]byte
	switch n, err := file.Read(next[:]); {
	case n != 0:
		return nil, fmt.Errorf("%s: %w: bytes follow the image", path, ErrCorrupt)
	case err != io.EOF:
		return nil, err
	}
	return f, nil
}

// Load copies the image at the start of a slice and compares the checksums. A dirty image has no checksums, and its
// filter is dirty. Other bytes may follow the image. Returns [ErrUnsupported] for the kinds that only package view
// reads.
func Load(slice []byte, options *Options) (*Filter, error) {
	return changeable(image.Load(slice, (*image.Options)(options), image.AFilter))
}

// Read reads one image, and not a byte more, and compares the checksums. A dirty image has no checksums, and its filter
// is dirty. Memory grows with the bytes that arrive, whatever the header says. Returns [ErrUnsupported] for the kinds
// that only package view reads.
func Read(r io.Reader, options *Options) (*Filter, error) {
	return changeable(image.Read(r, (*image.Options)(options), image.AFilter))
}

// changeable refuses the kinds that this package does not change.
func changeable(f *image.Filter, err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	switch kind := f.Header().Kind; kind {
	case Bloom, SplitBlock, Blocked:
		return (*Filter)(f), nil
	default:
		return nil, fmt.Errorf("%w: filters of the kind %v are for package view", ErrUnsupported, kind)
	}
}

// Close frees the memory; afterwards lookups say true, and all else fails with [ErrClosed]. Closing twice is allowed,
// and you need not close a filter. The error is always nil. Changes the filter.
func (f *Filter) Close() error { return f.image().Close() }

// Insert inserts a key. isNew is true if the key certainly was not there before, false if it may have been. Returns
// [ErrExternalHash] or [ErrKeyMissing] if keys cannot be hashed. Changes the filter.
func (f *Filter) Insert(key []byte) (isNew bool, err error) { return f.image().Insert(key) }

// InsertString is [Filter.Insert] for the bytes of a string.
func (f *Filter) InsertString(key string) (isNew bool, err error) { return f.image().InsertString(key) }

// InsertUint64 is [Filter.Insert] for a number, which is the same key as its eight little-endian bytes.
func (f *Filter) InsertUint64(key uint64) (isNew bool, err error) { return f.image().InsertUint64(key) }

// InsertHash is [Filter.Insert] for the hash of a key: see [Filter.Hash], or hash the key yourself if the filter's hash
// function is [External].
func (f *Filter) InsertHash(hash uint64) (isNew bool, err error) { return f.image().InsertHash(hash) }

// Contains says whether a key may have been inserted; false is certain. Only reads the filter.
func (f *Filter) Contains(key []byte) bool { return f.image().Contains(key) }

// ContainsString is [Filter.Contains] for the bytes of a string.
func (f *Filter) ContainsString(key string) bool { return f.image().ContainsString(key) }

// ContainsUint64 is [Filter.Contains] for a number, which is the same key as its eight little-endian bytes.
func (f *Filter) ContainsUint64(key uint64) bool { return f.image().ContainsUint64(key) }

// ContainsHash is [Filter.Contains] for the hash of a key: see [Filter.InsertHash].
func (f *Filter) ContainsHash(hash uint64) bool { return f.image().ContainsHash(hash) }

// Hash returns the hash of a key for all filters with the same hash function and seed or key. Returns [ErrExternalHash]
// or [ErrKeyMissing] if keys cannot be hashed. Only reads the filter.
func (f *Filter) Hash(key []byte) (uint64, error) { return f.image().Hash(key) }

// HashUint64 is [Filter.Hash] for the eight little-endian bytes of a number.
func (f *Filter) HashUint64(key uint64) (uint64, error) { return f.image().HashUint64(key) }

// String returns one line about the filter, or "closed". Only reads the filter.
func (f *Filter) String() string { return f.image().String() }

// Description describes a filter by its header.
type Description struct {
	Kind Kind
	Hash Hash
	// Seed is the seed, the identifier of the secret key, or the tag of external hashes.
	Seed uint64
	// Hashes is how many bits a key sets.
	Hashes uint32
	// Capacity is the number of distinct keys that the filter was sized for; 0 is unknown.
	Capacity uint64
	// FalsePositiveRate is the rate expected at capacity; 0 if the spec had exact bits.
	FalsePositiveRate float64
	// Offered is how many keys were offered so far, duplicates included.
	Offered uint64
	// Bits is how many bits keys are spread over.
	Bits uint64
	// Bytes is the size of the whole image.
	Bytes uint64
	// Partitioned, Derivation and SliceWidth are parameters of the kind [Bloom].
	Partitioned bool
	Derivation  Derivation
	SliceWidth  uint32
	// Dirty says that nobody vouches for the payload: the filter comes from an image that was being changed.
	Dirty bool
}

// Describe describes the filter in constant time. The description of a closed filter is empty. Only reads the filter.
func (f *Filter) Describe() Description {
	h := f.image().Header()
	d := Description{
		Kind:              h.Kind,
		Hash:              h.Hash,
		Seed:              h.Identifier,
		Hashes:            h.Hashes,
		Capacity:          h.Capacity,
		FalsePositiveRate: h.FalsePositiveRate,
		Offered:           h.Offered,
		Bits:              h.Bits,
		Dirty:             h.Dirty,
	}
	if h.Kind != 0 {
		d.Bytes, _ = image.ImageBytes(h.Bits)
	}
	if h.Kind == Bloom {
		d.Partitioned, d.Derivation, d.SliceWidth = h.Words[0] == 1, Derivation(h.Words[1]), uint32(h.Words[2])
	}
	return d
}

// Spec returns the spec of an empty filter like this one, with exact bits and hashes. The spec lacks the secret key of
// a keyed filter. Only reads the filter.
func (f *Filter) Spec() Spec {
	d := f.Describe()
	s := Spec{
		Kind:        d.Kind,
		Capacity:    d.Capacity,
		Bits:        d.Bits,
		Hashes:      d.Hashes,
		Hash:        d.Hash,
		Seed:        d.Seed,
		Partitioned: d.Partitioned,
		Derivation:  d.Derivation,
		SliceWidth:  d.SliceWidth,
	}
	if d.Hash == SipHash13 {
		s.Seed = 0
	}
	if h := f.image().Header(); d.Kind == Blocked && shares(&h) > 1 {
		s.Blocks = uint32(shares(&h))
	}
	return s
}

// Copy copies the filter. Only reads the filter.
func (f *Filter) Copy() (*Filter, error) {
	h := f.image().Header()
	if h.Kind == 0 {
		return nil, closed
	}
	copied, err := f.image().Like(h)
	if err != nil {
		return nil, err
	}
	payload, err := copied.Change()
	if err != nil {
		return nil, err
	}
	copy(payload, f.image().Payload())
	copied.SetOffered(h.Offered)
	copied.SetDirty(h.Dirty)
	return (*Filter)(copied), nil
}
