// Package bloom is github.com/bits-and-blooms/bloom/v3 under another import path, in pure Go. Functions, types and
// methods are the same, and so are the bits for the same keys and the bytes in every encoding. Package bloom takes less
// time.
//
//	import "github.com/petal-filter/petal/bindings/go/bloom" // was "github.com/bits-and-blooms/bloom/v3"
//
// A filter of m bits sets k of them for every key that is added, and says of a key whether all of its k bits are set. A
// filter never says false of a key that was added. Of other keys it says true at a rate that follows from m, k and the
// number of keys:
//
//	seen := bloom.NewWithEstimates(1_000_000, 0.01)
//	seen.AddString("apple")
//	fmt.Println(seen.TestString("apple")) // true: maybe. false would be certain.
//
// The bits are a set of package github.com/bits-and-blooms/bitset, the one dependency. [BloomFilter.BitSet] returns the
// set and programs call its methods, so the type must be the same.
//
// # Where it differs
//
// Nothing differs in what a filter says of keys, or in what it writes. The functions that read are stricter, because
// files and messages cannot be trusted:
//
//   - A filter that claims more bits than follow is an error before memory is taken for them. The filter stays as it
//     was.
//   - More than 65,536 hash functions are an error. So is an m for which the first key that is added would take much
//     more memory than was read. The set of bits may still be shorter than m, as after BitSet().Compact().
//   - bitset.LittleEndian or bitset.BigEndian chooses the byte order of words for the whole process. Words in the other
//     order are recognised by the length in front of them. JSON may have either alphabet of base64.
//   - JSON without "b" is an error unless "m" and "k" are 0 as well, which is the zero value of a filter.
//   - A stream that ends in the middle of a filter gives [io.ErrUnexpectedEOF], never [io.EOF]. The number of bytes is
//     the number that was read or written, after an error too.
//
// A filter of no bits, From(nil, k), takes its first key where the original divides by zero. A result that does not
// fit its type is the nearest number that does, on every processor: ApproximatedSize of a full filter is the largest
// uint32. EstimateParameters of no keys gives no bits and no hash functions.
//
// Method calls on one filter are not synchronised. Methods that only read a filter ([BloomFilter.Test],
// [BloomFilter.Equal], [BloomFilter.WriteTo] and similar ones) may run in many goroutines at once. Methods that change
// a filter need it to themselves.
package bloom

import (
	"errors"
	"fmt"

	"github.com/bits-and-blooms/bitset"
)

// BloomFilter is a Bloom filter.
//
// The zero value has no bits and no hash functions: it keeps no keys and says true of each.
type BloomFilter struct {
	m, k uint
	b    *bitset.BitSet // nil in the zero value
	by   divisor
}

// over makes a filter over an existing set of bits.
func over(b *bitset.BitSet, m, k uint) *BloomFilter { return &BloomFilter{m, k, b, newDivisor(m)} }

// New makes an empty filter of m bits and k hash functions; 0 of either becomes 1. The filter takes m/8 bytes.
//
// An m that Go cannot make a slice for gives a filter without memory, as in the original: lookups say false, and adding
// a key panics.
func New(m uint, k uint) *BloomFilter { return over(bitset.New(m), max(1, m), max(1, k)) }

// From makes a filter of 64*len(data) bits and k hash functions over existing bits: bit i is bit i%64 of data[i/64].
// From clears and copies nothing: the filter changes data.
func From(data []uint64, k uint) *BloomFilter { return FromWithM(data, uint(len(data))*64, k) }

// FromWithM makes a filter of m bits and k hash functions over existing bits, as [From] does. If data has fewer than m
// bits, the missing ones are not set, and adding keys moves all bits to new memory.
func FromWithM(data []uint64, m, k uint) *BloomFilter { return over(bitset.From(data), m, k) }

// NewWithEstimates makes an empty filter for n keys, which then says true of a share fp of all other keys. fp must be
// above 0 and below 1. The filter has the bits and hash functions of [EstimateParameters].
func NewWithEstimates(n uint, fp float64) *BloomFilter {
	m, k := EstimateParameters(n, fp)
	return New(m, k)
}

// Cap returns m, the number of bits.
func (f *BloomFilter) Cap() uint { return f.m }

// K returns k, the number of hash functions.
func (f *BloomFilter) K() uint { return f.k }

// BitSet returns the filter's own bits: a change to the set changes the filter.
func (f *BloomFilter) BitSet() *bitset.BitSet { return f.b }

// Merge adds all keys of g to f, in O(m). Both filters need the same m and k; otherwise f stays as it was.
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

// Copy returns a filter with the same keys and its own memory, in O(m).
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

// ClearAll removes all keys, in O(m), and returns f, for chaining.
func (f *BloomFilter) ClearAll() *BloomFilter {
	f.b.ClearAll()
	return f
}
