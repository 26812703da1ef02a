package bloom

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Remainders equal those of a division, for divisors of every length, and where the error is greatest.
func TestRemainders(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	check := func(m, x uint64) {
		if uint64(uint(m)) != m || m == 0 || m >= 1<<62 {
			return
		}
		if got := newDivisor(uint(m)).remainder(x); got != x%m {
			t.Fatalf("%d modulo %d is %d, not %d", x, m, x%m, got)
		}
	}
	for length := range 64 {
		for range 2000 {
			m := random.Uint64()>>length | 1<<(63-length)
			x := random.Uint64() >> random.IntN(64)
			multiple := x / m * m
			last := math.MaxUint64 / m * m
			for _, x := range []uint64{
				x, 0, 1, m - 1, m, m + 1, multiple - 1, multiple, multiple + 1, last - 1, last, math.MaxUint64,
			} {
				check(m, x)
			}
		}
		for _, m := range []uint64{1 << length, 1<<length - 1, 1<<length + 1, 1<<62 - 1 - uint64(length)} {
			for _, x := range []uint64{0, 1, m, m - 1, math.MaxUint64, math.MaxUint64 - 1, math.MaxUint64 / 2} {
				check(m, x)
			}
		}
	}
}

// The loops over four locations at a time reach the locations of the formula.
func TestLocationsByFours(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		h := pairs{random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64()}
		m, k := uint(1+random.IntN(5000)), uint(random.IntN(20))
		f, one := New(m, 1), New(m, 1)
		f.k = k
		for i := range uint64(k) {
			at := uint(h.location(i) % uint64(m))
			one.b.Set(at)
		}
		words, ok := f.words()
		if !ok || f.allSet(words, h) != (k == 0) {
			t.Fatalf("m %d, k %d: an empty filter", m, k)
		}
		swapped := f.Copy()
		f.setAll(words, h)
		if swapped.swapAll(swapped.b.Words(), h) != (k == 0) || !swapped.swapAll(swapped.b.Words(), h) {
			t.Fatalf("m %d, k %d: swapped", m, k)
		}
		if !f.b.Equal(one.b) || !f.b.Equal(swapped.b) || !f.allSet(words, h) {
			t.Fatalf("m %d, k %d: other bits", m, k)
		}
		// Both functions must notice each of the bits that is cleared.
		for i := range uint64(k) {
			at := uint(h.location(i) % uint64(m))
			f.b.Clear(at)
			if f.allSet(words, h) {
				t.Fatalf("m %d, k %d: bit %d does not count", m, k, i)
			}
			if f.swapAll(words, h) {
				t.Fatalf("m %d, k %d: bit %d does not count where it is swapped", m, k, i)
			}
		}
	}
}
