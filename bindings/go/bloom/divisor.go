package bloom

import "math/bits"

// divisor takes remainders by a number that stays the same, without dividing.
type divisor struct{ m, reciprocal uint64 }

// newDivisor makes the divisor of m. No bits count as one, so that every location is the first.
func newDivisor(m uint) divisor {
	by := uint64(max(1, m))
	return divisor{by, ^uint64(0) / by}
}

// remainder returns x modulo m. The reciprocal is more than 2^64/m - 1, so that x*reciprocal/2^64 is more than x/m - 1:
// the quotient is the right one or one less, and what it leaves is below 2m.
func (d divisor) remainder(x uint64) uint64 {
	quotient, _ := bits.Mul64(x, d.reciprocal)
	rest, borrow := bits.Sub64(x-quotient*d.m, d.m, 0)
	return rest + d.m&-borrow
}
