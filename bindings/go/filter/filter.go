// Package filter makes and changes Petal filters without cgo: the same bytes that the C library makes of the same spec
// and keys, in Go, with a little assembly where the processor has AVX2.
//
// The package has the kinds bloom, split_block and blocked, with all their parameters. [New] makes a filter from a
// capacity and a false-positive rate; [Open], [Load] and [Read] read one from an image. You can insert keys, merge,
// intersect, fold and measure filters, and write images that all programs with Petal read. Package view looks keys up
// in place, in filters of these kinds and of others.
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

// Secret is a secret key of 16 bytes; all zeros is none. A Secret does not print itself: package fmt and the
// encoders of JSON and XML write "secret", or "none". Arrays of 16 bytes can be assigned to it. UnmarshalText takes a
// key in 32 hexadecimal digits. (Package fmt does not ask values in unexported fields how they print, so give a type
// that has such a field a String method.)
type Secret = secret.Key

// OpenOptions say how to read a filter. A nil *OpenOptions is the zero value.
type OpenOptions struct {
	// Secret is the secret key of a filter whose hash function is SipHash-1-3; all zeros is none. Without the key the
	// filter opens, takes hashes and merges, but takes no keys, and says true of every key.
	Secret Secret
}

// Filter is a filter in memory. Get one from [New], [Open], [Load] or [Read]; the zero value is a closed filter, into
// which [Filter.UnmarshalBinary] and [Filter.ReadFrom] can read one; nil is a closed filter too.
type Filter image.Filter

func (f *Filter) image() *image.Filter { return (*image.Filter)(f).OrClosed(image.AFilter) }

// New makes an empty filter. Returns [ErrFalsePositiveRate], [ErrOutOfRange], [ErrContradiction] and [ErrUnknownValue]
// for an invalid spec, and [ErrTooLarge] or [ErrOutOfMemory] if there is no memory of that size. Sizing takes
// microseconds, and up to some milliseconds with the derivations double, enhanced_double and triple.
func New(spec Spec) (*Filter, error) {
	header, err := spec.header()
	if err != nil {
		return nil, err
	}
	f, err := image.Create(header, &image.Options{Secret: spec.Secret})
	return (*Filter)(f), err
}

// Open reads a file that is an image into memory, and compares the checksums. An unclean image has no checksums, and
// its filter is unclean. Changes do not go to the file; [Filter.Save] writes the file anew. Returns [ErrUnsupported]
// for the kinds that only package view reads.
func Open(path string, options *OpenOptions) (*Filter, error) {
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

// Load copies the image at the start of a slice and compares the checksums. An unclean image has no checksums, and its
// filter is unclean. Other bytes may follow the image. Returns [ErrUnsupported] for the kinds that only package view
// reads.
func Load(slice []byte, options *OpenOptions) (*Filter, error) {
	return changeable(image.Load(slice, (*image.Options)(options), image.AFilter))
}

// Read reads one image, and not a byte more, and compares the checksums. An unclean image has no checksums, and its
// filter is unclean. Memory grows with the bytes that arrive, whatever the header says. Returns [ErrUnsupported] for
// the kinds that only package view reads.
func Read(r io.Reader, options *OpenOptions) (*Filter, error) {
	return changeable(image.Read(r, (*image.Options)(options), image.AFilter))
}

// changeable refuses the kinds that this package does not change.
func changeable(f *image.Filter, err error) (*Filter, error) {
	if err != nil {
		return nil, err
	}
	if kind := f.Header().Kind; !image.IsMade(kind) {
		return nil, fmt.Errorf("%w: filters of the kind %v are for package view", ErrUnsupported, kind)
	}
	return (*Filter)(f), nil
}

// Close frees the memory; afterwards lookups say true, and all else fails with [ErrClosed]. Closing twice is allowed,
// and you need not close a filter. The error is always nil. Changes the filter.
func (f *Filter) Close() error { return f.image().Close() }

// Insert inserts a key. isNew is true if the key certainly was not there before, false if it may have been. Returns
// [ErrExternalHash] or [ErrSecretMissing] if keys cannot be hashed. Changes the filter.
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

// Hash returns the hash of a key for all filters with the same hash function and seed or secret. Returns
// [ErrExternalHash] or [ErrSecretMissing] if keys cannot be hashed. Only reads the filter.
func (f *Filter) Hash(key []byte) (uint64, error) { return f.image().Hash(key) }

// HashUint64 is [Filter.Hash] for the eight little-endian bytes of a number.
func (f *Filter) HashUint64(key uint64) (uint64, error) { return f.image().HashUint64(key) }

// String returns one line about the filter, or "closed". Only reads the filter.
func (f *Filter) String() string { return f.image().String() }

// State is the state of a filter.
type State = image.State

// The states.
const (
	// StateUnclean says that nobody marked the payload clean: the filter comes from an image that was being changed.
	StateUnclean = image.StateUnclean
	// StateWritable says that this handle can change the filter. Every filter of this package has it.
	StateWritable = image.StateWritable
	// StateCanHash says that the filter can hash keys: it takes keys, and has its secret key if it needs one.
	StateCanHash = image.StateCanHash
	// StateStaysUnclean says that the filter is unclean and that only [Filter.MarkClean] makes it clean again.
	StateStaysUnclean = image.StateStaysUnclean
)

// Description describes a filter by the header of its image.
type Description = image.Description

// Describe describes the filter by its header, in constant time. Only reads the filter.
func (f *Filter) Describe() (Description, error) { return f.image().Describe(image.AFilter) }

// Spec returns the spec of an empty filter that merges with this one: its exact bits and hashes, without the secret key
// of a keyed filter. Only reads the filter.
func (f *Filter) Spec() (Spec, error) {
	h := f.image().Header()
	if h.Kind == 0 {
		return Spec{}, closed
	}
	s := Spec{
		Kind: h.Kind.String(), Hash: h.Hash, Capacity: h.Capacity, Bits: h.Bits, Hashes: h.Hashes, Seed: h.Identifier,
	}
	if h.Hash == SipHash13 {
		s.Seed = 0
	}
	switch h.Kind {
	case blocked:
		s.Parameters = map[string]string{"blocks": fmt.Sprint(shares(&h))}
	case bloom:
		s.Parameters = map[string]string{
			"partitioned": fmt.Sprint(h.Words[0]), "derivation": derivation(h.Words[1]).String(),
			"slice_width": fmt.Sprint(h.Words[2]),
		}
	}
	return s, nil
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
	copied.SetInsertions(h.Insertions)
	copied.SetUnclean(h.Unclean)
	return (*Filter)(copied), nil
}
