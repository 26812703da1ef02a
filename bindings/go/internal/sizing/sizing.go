// Package sizing has the false-positive rates, sizes and estimates of the kinds that are bit arrays, as pure functions.
// The package is the library's src/sizing and the sizing.rs of its kinds in Go, formula by formula, so that both give a
// spec the same geometry. The derivations of the formulas are in the library.
//
// Rates are fractions. A filter without bits or hashes has rate 1; any other filter without keys has rate 0. Sums that
// cancel are the same to the last bit as in the library. Other rates may differ by rounding, some 10^-15 of them. Such
// a difference changes the size by one bit, in one of millions of filters that fit into memory.
package sizing

import "math"

// MaxHashes is the greatest number of bits a key that a size is chosen with.
const MaxHashes = 64

// HashFloor is the lower bound of the rate of any filter over 64-bit hashes: the probability that a new key has the
// same hash as one of keys keys.
func HashFloor(keys uint64) float64 {
	if keys == 0 {
		return 0
	}
	return hitAtLeastOnce(0x1p-64, float64(keys))
}

// hitAtLeastOnce is 1 - (1-p)^trials, with full relative precision for tiny results; trials > 0.
func hitAtLeastOnce(p, trials float64) float64 {
	return -math.Expm1(trials * math.Log1p(-p))
}

func isRate(rate float64) bool { return rate > 0 && rate < 1 }

// whole is the integer part of a number; the nearest integer in range for a number out of range, and 0 for NaN.
func whole(x float64) uint64 {
	switch {
	case x >= 0x1p64:
		return math.MaxUint64
	case x >= 1:
		return uint64(x)
	}
	return 0
}

// saturatingMul is the product of two numbers, or the greatest number if the product is too large.
func saturatingMul(a, b uint64) uint64 {
	if a != 0 && b > math.MaxUint64/a {
		return math.MaxUint64
	}
	return a * b
}

// saturatingAdd is the sum of two numbers, or the greatest number if the sum is too large.
func saturatingAdd(a, b uint64) uint64 {
	if b > math.MaxUint64-a {
		return math.MaxUint64
	}
	return a + b
}

// power is x^n by repeated squaring.
func power(x float64, n uint64) float64 {
	product := 1.0
	for ; n != 0; n >>= 1 {
		if n&1 == 1 {
			product *= x
		}
		x *= x
	}
	return product
}

// choose is the binomial coefficient of small numbers.
func choose(n, k int) float64 {
	if k > n {
		return 0
	}
	product := 1.0
	for i := range k {
		product = product * float64(n-i) / float64(i+1)
	}
	return product
}

func clamp(x, least, most float64) float64 { return math.Max(least, math.Min(x, most)) }
