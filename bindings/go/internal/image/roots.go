package image

// elementsOf returns the elements, at most as many as the sums, whose odd powers 1, 3, 5, ... have these sums. ok is
// false if there are no such elements. The work is bounded, whatever the sums are.
func (f *field) elementsOf(sums []uint64) (elements []uint64, ok bool) {
	polynomial, ok := f.locator(sums)
	if !ok {
		return nil, false
	}
	roots, ok := f.roots(polynomial)
	for i, root := range roots {
		roots[i] = f.lowered(root)
	}
	return roots, ok
}

// Polynomials are monic, unless a comment says otherwise: the constant first, and without the leading 1.

// locator returns the polynomial whose roots are the elements with these sums of powers, by the algorithm of Berlekamp
// and Massey. The sum of the powers 2n is the square of the sum of the powers n, so every second step changes nothing.
func (f *field) locator(sums []uint64) (polynomial []uint64, ok bool) {
	capacity := len(sums)
	// Power n stands at 2 c - n, so that a discrepancy is a dot product of two runs.
	powers := make([]uint64, 2*capacity)
	for n := 1; n <= 2*capacity; n++ {
		if n%2 == 1 {
			powers[2*capacity-n] = f.raised(sums[n/2])
		} else {
			powers[2*capacity-n] = f.square(powers[2*capacity-n/2])
		}
	}
	one := f.raised(1)
	connection, before := []uint64{one}, []uint64{one}
	length, gap, inverse := 0, 1, one
	for n := 0; n < 2*capacity; n += 2 {
		run := powers[2*capacity-n-1:]
		discrepancy := f.dot(connection[:min(len(connection), len(run))], run)
		if discrepancy != 0 {
			grows := 2*length <= n
			var kept []uint64
			if grows {
				kept = cloned(connection)
			}
			if missing := len(before) + gap - len(connection); missing > 0 {
				connection = append(connection, make([]uint64, missing)...)
			}
			f.addMultiple(connection[gap:], f.times(discrepancy, inverse), before)
			if grows {
				length, before, inverse, gap = n+1-length, kept, f.inverse(discrepancy), 0
			}
		}
		gap += 2
	}
	connection = withoutZeros(connection)
	if length > capacity || len(connection) != length+1 {
		return nil, false
	}
	polynomial = make([]uint64, length)
	for i := range polynomial {
		polynomial[i] = connection[length-i]
	}
	return polynomial, true
}

func cloned(terms []uint64) []uint64 { return append([]uint64(nil), terms...) }

// withoutZeros returns a slice without the zeros at its end.
func withoutZeros(terms []uint64) []uint64 {
	for len(terms) > 0 && terms[len(terms)-1] == 0 {
		terms = terms[:len(terms)-1]
	}
	return terms
}

// roots returns the roots of a polynomial, by Berlekamp's trace algorithm. ok is false unless the roots are distinct,
// in the field, and as many as the degree. The traces of b multiples of x tell any two elements apart.
func (f *field) roots(polynomial []uint64) (roots []uint64, ok bool) {
	degree := len(polynomial)
	if degree <= 1 {
		return polynomial, true
	}
	powers, ok := f.frobenius(polynomial)
	if !ok {
		return nil, false
	}
	factors := [][]uint64{polynomial}
	for bit := 0; bit < f.bits && len(factors) > 0; bit++ {
		trace := f.trace(bit, powers, degree)
		var parts [][]uint64
		for _, factor := range factors {
			divisor := f.commonDivisor(factor, f.remainder(cloned(trace), factor))
			if len(divisor) == 0 || len(divisor) == len(factor) {
				parts = append(parts, factor)
				continue
			}
			for _, part := range [][]uint64{divisor, f.quotient(factor, divisor)} {
				if len(part) == 1 {
					roots = append(roots, part[0])
				} else {
					parts = append(parts, part)
				}
			}
		}
		factors = parts
	}
	return roots, len(factors) == 0
}

// frobenius returns the powers x^(2^i), i from 0 to b-1, modulo a polynomial, one after the other. ok is false unless
// x^(2^b) is x again: then the roots of the polynomial are distinct elements of the field.
func (f *field) frobenius(polynomial []uint64) (powers []uint64, ok bool) {
	degree := len(polynomial)
	// The even powers of x from the degree on, modulo the polynomial: a square is a sum of these.
	firstHigh := (degree + 1) / 2
	var high []uint64
	power := cloned(polynomial)
	for exponent := degree; exponent <= 2*(degree-1); exponent++ {
		if exponent%2 == 0 {
			high = append(high, power...)
		}
		leading := power[degree-1]
		copy(power[1:], power)
		power[0] = 0
		f.addMultiple(power, leading, polynomial)
	}
	powers = make([]uint64, f.bits*degree)
	powers[1] = f.raised(1)
	squares, next := make([]uint64, degree), make([]uint64, degree)
	for i := range f.bits {
		for at, term := range powers[i*degree : (i+1)*degree] {
			squares[at] = f.square(term)
		}
		clear(next)
		for at, square := range squares[:firstHigh] {
			next[2*at] = square
		}
		f.combine(squares[firstHigh:], high, next)
		if i+1 < f.bits {
			copy(powers[(i+1)*degree:], next)
		}
	}
	for i, term := range next {
		if term != powers[i] {
			return nil, false
		}
	}
	return powers, true
}

// trace returns the trace of x times the element that has only this bit, modulo the polynomial of the powers. The trace
// is not monic.
func (f *field) trace(bit int, powers []uint64, degree int) []uint64 {
	factors := make([]uint64, f.bits)
	factor := f.raised(1 << bit)
	for i := range factors {
		factors[i] = factor
		factor = f.square(factor)
	}
	trace := make([]uint64, degree)
	f.combine(factors, powers, trace)
	return trace
}

// remainder returns what remains of a polynomial that is not monic after the division by a monic one; the remainder is
// not monic.
func (f *field) remainder(terms, divisor []uint64) []uint64 {
	terms = withoutZeros(terms)
	for len(terms) > len(divisor) {
		last := len(terms) - 1
		leading := terms[last]
		terms = terms[:last]
		f.addMultiple(terms[last-len(divisor):], leading, divisor)
		terms = withoutZeros(terms)
	}
	return terms
}

// commonDivisor returns the greatest common divisor of a monic polynomial and one of a lower degree that is not monic.
func (f *field) commonDivisor(monic, rest []uint64) []uint64 {
	for len(rest) > 0 {
		last := len(rest) - 1
		inverse := f.inverse(rest[last])
		smaller := make([]uint64, last)
		f.addMultiple(smaller, inverse, rest[:last])
		rest = f.remainder(append(cloned(monic), f.raised(1)), smaller)
		monic = smaller
	}
	return monic
}

// quotient returns a polynomial divided by one that divides it.
func (f *field) quotient(polynomial, divisor []uint64) []uint64 {
	// The leading 1 first, then each lower term of the quotient in the place that it leaves.
	terms, degree := cloned(polynomial), len(divisor)
	leading := f.raised(1)
	for at := len(terms) - degree; at >= 0; at-- {
		f.addMultiple(terms[at:], leading, divisor)
		if at > 0 {
			leading = terms[at+degree-1]
		}
	}
	return terms[degree:]
}
