package bloom

import "math/bits"

// divisor takes remainders by a number that stays the same, without dividing (Lemire, Kaser and Kurz 2019).
type divisor struct {
	m uint64
	// 2^128/m, rounded up; of m = 1 nothing is left, which is right as well.
	high, low uint64
}

// newDivisor makes the divisor of m, which is below 2^62: more bits have no memory. No bits count as one, so that
// every location is the first.
func newDivisor(m uint) divisor {
	by := uint64(max(1, m))
	high, rest := bits.Div64(0, ^uint64(0), by)
	low, _ := bits.Div64(rest, ^uint64(0), by)
	low, carry := bits.Add64(low, 1, 0)
	return divisor{by, high + carry, low}
}

// remainder returns x modulo m. The fraction x/m, to 64 bits and one more in the last place, is above the true one by
// 2^-63 at most, so m times it is above the remainder by less than 1.
func (d divisor) remainder(x uint64) uint64 {
	carry, _ := bits.Mul64(d.low, x)
	rest, _ := bits.Mul64(d.high*x+carry+1, d.m)
	return rest
}
