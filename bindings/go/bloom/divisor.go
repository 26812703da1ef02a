package bloom

import "math/bits"

// divisor computes remainders by a constant number without a division (Lemire, Kaser and Kurz 2019).
type divisor struct {
	m uint64
	// 2^128/m, rounded up. For m = 1 this overflows to 0, which gives the right remainder too.
	high, low uint64
}

// newDivisor makes the divisor of m. A filter with memory has m below 2^62. No bits count as one bit, so that every
// location is the first bit.
func newDivisor(m uint) divisor {
	by := uint64(max(1, m))
	high, rest := bits.Div64(0, ^uint64(0), by)
	low, _ := bits.Div64(rest, ^uint64(0), by)
	low, carry := bits.Add64(low, 1, 0)
	return divisor{by, high + carry, low}
}

// remainder returns x modulo m. The computed fraction x/m has 64 bits and exceeds the true one by at most 2^-63, so m
// times the fraction exceeds the remainder by less than 1.
func (d divisor) remainder(x uint64) uint64 {
	carry, _ := bits.Mul64(d.low, x)
	rest, _ := bits.Mul64(d.high*x+carry+1, d.m)
	return rest
}
