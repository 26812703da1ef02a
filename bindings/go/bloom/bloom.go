// Package bloom is github.com/bits-and-blooms/bloom/v3 under another import path: the same functions, types and
// methods, the same bits for the same keys, and the same bytes in every encoding, in less time. It is pure Go.
//
//	import "github.com/petal-filter/petal/bindings/go/bloom" // was "github.com/bits-and-blooms/bloom/v3"
//
// A filter of m bits sets k of them for every key that is added, and says of a key whether all of its k bits are set.
// It never says false of a key that was added; of others it says true at a rate that follows from m, k and how many
// keys it holds:
//
//	seen := bloom.NewWithEstimates(1_000_000, 0.01)
//	seen.AddString("apple")
//	fmt.Println(seen.TestString("apple")) // true: maybe. false would be certain.
//
// The bits are a set of package github.com/bits-and-blooms/bitset, the one dependency: [BloomFilter.BitSet] gives it
// out and programs call its methods, so that it has to be that type.
//
// # Where it differs
//
// Nothing differs in what a filter says of keys, or in what it writes. What reads is stricter, since files and messages
// are not to be trusted:
//
//   - What claims more bits than follow is an error before memory is taken for them, and the filter stays as it was.
//   - More than 65,536 hash functions are an error; so is an m that would let the first key that is added take much
//     more memory than was read. The set of bits may still be shorter than m, as after BitSet().Compact().
//   - Words in the other order than the one that bitset.LittleEndian or bitset.BigEndian chose for the whole process
//     are recognised by the length in front of them. JSON may have either alphabet of base64.
//   - JSON without "b" is an error unless "m" and "k" are 0 as well, which is the zero value of a filter.
//   - What ends in the middle of a filter ends with [io.ErrUnexpectedEOF], never with [io.EOF], and the number of bytes
//     is what was read or written, after an error too.
//
// A filter of no bits, From(nil, k), takes its first key where the original divides by zero. Figures without a number
// that fits are the nearest that does, on every processor: ApproximatedSize of a full filter is the largest uint32, and
// no keys ask for no bits and no hash functions.
//
// Method calls on one filter are not synchronised: those that only read it ([BloomFilter.Test], [BloomFilter.Equal],
// [BloomFilter.WriteTo] and their like) may run in many goroutines at once, those that change it need it to themselves.
package bloom

import (
	"errors"
	"fmt"

	"github.com/bits-and-blooms/bitset"
)

// BloomFilter is a Bloom filter.
//
// Its zero value has no bits and no hash functions: it keeps no keys and says true of each.
type BloomFilter struct {
	m, k uint
	b    *bitset.BitSet // nil in the zero value
	by   divisor
}

// over makes a filter of bits that are there.
func over(b *bitset.BitSet, m, k uint) *BloomFilter { return &BloomFilter{m, k, b, newDivisor(m)} }

// New makes an empty filter of m bits and k hash functions; 0 of either becomes 1. It takes m/8 bytes.
//
// An m that Go cannot make a slice for gives a filter without memory, as in the original: lookups in it say false, and
// adding a key panics.
func New(m uint, k uint) *BloomFilter { return over(bitset.New(m), max(1, m), max(1, k)) }

// From makes a filter of 64*len(data) bits and k hash functions over bits that are there: bit i is bit i%64 of
// data[i/64]. Nothing is cleared or copied: the filter changes data.
func From(data []uint64, k uint) *BloomFilter { return FromWithM(data, uint(len(data))*64, k) }

// FromWithM makes a filter of m bits and k hash functions over bits that are there, as [From] does. If data has fewer
// than m, the missing ones are not set, and adding keys moves all of them to memory of their own.
func FromWithM(data []uint64, m, k uint) *BloomFilter { return over(bitset.From(data), m, k) }

// NewWithEstimates makes an empty filter for n keys, which will then say true of a share fp of all other keys. fp
// must be above 0 and below 1. The filter has the bits and hash functions of [EstimateParameters].
func NewWithEstimates(n uint, fp float64) *BloomFilter {
	m, k := EstimateParameters(n, fp)
	return New(m, k)
}

// Cap returns m, the number of bits.
func (f *BloomFilter) Cap() uint { return f.m }

// K returns k, the number of hash functions.
func (f *BloomFilter) K() uint { return f.k }

// BitSet returns the filter's own bits: what is changed in them is changed in the filter.
func (f *BloomFilter) BitSet() *bitset.BitSet { return f.b }

// Merge adds all keys of g to f, in O(m). Both need the same m and k; otherwise f stays as it was.
func (f *BloomFilter) Merge(g *BloomFilter) error {
	switch {
	case g == nil:
		return errors.New("bloom: cannot merge nil, a filter is needed")
	case f.m != g.m:
		return fmt.Errorf("bloom: cannot merge filters of different m: %d and %d", f.m, g.m)
	case f.k != g.k:
		return fmt.Errorf("bloom: cannot merge filters of different k: %d and %d", f.k, g.k)
	case g.b == nil:
		return nil
	case f.b == nil:
		f.b = g.b.Clone()
		return nil
	}
	f.b.InPlaceUnion(g.b)
	return nil
}

// Copy returns a filter with the same keys and memory of its own, in O(m).
func (f *BloomFilter) Copy() *BloomFilter {
	switch {
	case f.b == nil:
		return &BloomFilter{}
	case f.b.Len() >= f.m:
		return over(f.b.Clone(), f.m, f.k)
	}
	b := bitset.New(f.m)
	b.InPlaceUnion(f.b)
	return over(b, f.m, f.k)
}

// Equal says whether f and g have the same m, k and bits, in O(m).
func (f *BloomFilter) Equal(g *BloomFilter) bool {
	return g != nil && f.m == g.m && f.k == g.k && f.b.Equal(g.b)
}

// ClearAll removes all keys, in O(m). It returns f, for chaining.
func (f *BloomFilter) ClearAll() *BloomFilter {
	f.b.ClearAll()
	return f
}
