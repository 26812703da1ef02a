package bloom

import "github.com/bits-and-blooms/bitset"

// The internals that the tests of bits-and-blooms use, made from those of Petal's package.

type digest128 struct{}

func (digest128) sum256(data []byte) (h1, h2, h3, h4 uint64) {
	h := hash(data)
	return h.low, h.high, h.low1, h.high1
}

func baseHashes(data []byte) [4]uint64 {
	h := hash(data)
	return [4]uint64{h.low, h.high, h.low1, h.high1}
}

func (f *BloomFilter) location(h [4]uint64, i uint) uint {
	return uint(f.by.remainder(pairs{h[0], h[1], h[2], h[3]}.location(uint64(i))))
}

func inside(m, k uint, b *bitset.BitSet) *BloomFilter { return over(b, m, k) }
