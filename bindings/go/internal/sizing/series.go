package sizing

import "math"

// approximation is the logarithm of a rate, with a bound on its distance to the logarithm of the computed exact rate.
type approximation struct{ ln, error float64 }

// rounding bounds the rounding errors of both sides.
const rounding = 4e-12

// safety is the error bound as a multiple of the next order of the series.
const safety = 60

// lnRate approximates the logarithm of the exact rate of the classic filter, by a series in the relative cumulants of
// the number of set bits. good is true between a fifth and three probes a bit, and for a single hash, for which the
// series is exact.
func lnRate(bits, hashes, keys uint64) (near approximation, good bool) {
	if hashes == 1 && bits > 1 {
		return approximation{math.Log(hitAtLeastOnce(1/float64(bits), float64(keys))), rounding}, true
	}
	m, k, n := float64(bits), float64(hashes), float64(hashes)*float64(keys)
	rho := n / m
	if hashes < 2 || !(rho >= 0.2 && rho <= 3) || m < 16 {
		return near, false
	}
	// The expected share of set bits, and of zeros.
	a := -n * math.Log1p(-1/m)
	fill := -math.Expm1(-a)
	zeros := 1 - fill
	mean := m * fill
	c2 := zerosDeviation(bits, hashes, keys) / mean
	c2 *= c2
	if k*c2 > 0.1 {
		return near, false
	}
	// The derivatives at 0 of the cumulant function of the number of zeros.
	w1 := rho * zeros
	w2 := w1 * (1 - 2*w1)
	w3 := w1 * ((1-2*w1)*(1-4*w1) + w1*w1)
	one, inverse := 1+1/rho, 1/(rho*rho)
	l1 := 1 - w1*one
	l2 := -w2*one + w1*w1*inverse
	l3 := -w3*one + 3*w1*w2*inverse - 2*w1*w1*w1*inverse/rho
	// The cumulants of the zeros. The odd cumulants of the set bits have the other sign.
	c3 := -m * zeros * (l1*l1 + l2) / (mean * mean * mean)
	c4 := m * zeros * (l1*l1*l1 + 3*l1*l2 + l3) / (mean * mean * mean * mean)
	b2 := k * (k - 1) / 2
	b3 := b2 * (k - 2) / 3
	b4 := b3 * (k - 3) / 4
	b5 := b4 * (k - 4) / 5
	b6 := b5 * (k - 5) / 6
	second := b3*c3 - k*(k-1)*(2*k-3)/4*c2*c2
	third := b4*c4 + (10*b5-b2*b3)*c2*c3 + (15*b6-3*b2*b4+b2*b2*b2/3)*c2*c2*c2
	ln := k*math.Log(fill) + b2*c2 + second + third
	next := k*k*c2*c2*(k*k*k*c2*c2/2) + k*k*k/6*math.Abs(c3)/m + k*k/2*c2/(m*m)
	return approximation{ln, safety*next + rounding*(1-ln*1e-3)}, true
}

// zerosDeviation is the exact standard deviation of the number of zero bits. With q = (1-1/m)^N and N = k n, Var = m q
// (1-q) + m (m-1) ((1-2/m)^N - q^2).
func zerosDeviation(bits, hashes, keys uint64) float64 {
	m, n := float64(bits), throws(hashes, keys)
	if bits <= 1 || n <= 1 {
		return 0
	}
	// q = e^-a. As (1-2/m) / (1-1/m)^2 = 1 - 1/(m-1)^2, Var = m q^2 (e^a - 1 - c), c = (m-1) (1 - (1 - 1/(m-1)^2)^N).
	a := -n * math.Log1p(-1/m)
	others := m - 1
	c := others * hitAtLeastOnce(1/(others*others), n)
	bracket := math.Expm1(a) - c
	if a < 1e-3 && m > 1e3 {
		// a and c are both nearly kn/m, so their difference comes from powers: (e^a - 1 - a) + (a - c).
		b := n / (others * others)
		above := a * a * (0.5 + a*(1.0/6.0+a*(1.0/24.0+a/120.0)))
		i, j := 1/m, 1/others
		linear := n * (i*i*(0.5+i*(1.0/3.0+i/4.0)) - i*j - 0.5*j*j*j)
		bracket = above + linear + others*b*b*(0.5-b/6)
	}
	variance := m * math.Exp(-2*a) * bracket
	if a > 300 {
		// The bracket may overflow if q^2 is tiny.
		variance = m * math.Exp(-a)
	}
	return math.Sqrt(math.Max(variance, 0))
}
