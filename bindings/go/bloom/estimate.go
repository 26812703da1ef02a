package bloom

import (
	"encoding/binary"
	"math"
)

// EstimateParameters returns how many bits m and hash functions k a filter needs so that it says true of a share p of
// other keys once it holds n keys: m = -n ln p / (ln 2)^2 and k = m/n ln 2, both rounded up. p must be above 0 and
// below 1. For n = 0 both are 0; what does not fit in a uint is the largest uint.
func EstimateParameters(n uint, p float64) (m uint, k uint) {
	ln2 := math.Log(2)
	m = ceil(-float64(n) * math.Log(p) / math.Pow(ln2, 2))
	return m, ceil(ln2 * float64(m) / float64(n))
}

// ceil rounds up to the next uint, where a conversion by itself would depend on the processor if there is none.
func ceil(x float64) uint {
	x = math.Ceil(x)
	switch {
	case x >= math.MaxUint:
		return math.MaxUint
	case x > 0:
		return uint(x)
	}
	return 0
}

// EstimateFalsePositiveRate measures the share of other keys of which a filter of m bits and k hash functions says
// true once it holds n keys. It fills such a filter with numbers of four bytes and looks 100,000 others up, always
// the same, so that the result is within about 0.002 of the truth. It takes the memory of such a filter, and O(n*k)
// time.
func EstimateFalsePositiveRate(m, k, n uint) (fpRate float64) {
	const rounds = 100_000
	f := New(m, k)
	var key [4]byte
	for i := range uint32(n) {
		binary.BigEndian.PutUint32(key[:], i)
		f.Add(key[:])
	}
	found := 0
	for i := range uint32(rounds) {
		binary.BigEndian.PutUint32(key[:], uint32(n)+1+i)
		if f.Test(key[:]) {
			found++
		}
	}
	return float64(found) / rounds
}

// ApproximatedSize estimates how many different keys were added, from how many bits are set: -m/k ln(1 - set/m), after
// https://en.wikipedia.org/wiki/Bloom_filter#Approximating_the_number_of_items_in_a_Bloom_filter. Of a filter that is
// full it says the largest uint32. O(m).
func (f *BloomFilter) ApproximatedSize() uint32 {
	set := float64(f.b.Count())
	m := float64(f.m)
	switch {
	case set == 0:
		return 0
	case set >= m:
		return math.MaxUint32
	}
	// Rounded before the half is added, also where the processor could do both at once.
	size := math.Floor(float64(-m/float64(f.k)*math.Log(1-set/m)) + 0.5)
	if size >= math.MaxUint32 {
		return math.MaxUint32
	}
	return uint32(size)
}
