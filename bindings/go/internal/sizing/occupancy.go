package sizing

import "math"

// small is the radius below which the whole circle is summed.
const small = 64

// stirlingFrom is the least number of balls for which Stirling's series has all digits of N!.
const stirlingFrom = 32

// allOccupied is E[(X/m)^k] for N balls in m cells, X of which are occupied: the probability that k random cells are
// all occupied. cells and balls are at least 1, hashes from 1 to [MaxHashes].
//
// If the number of balls were Poisson(z), cells would be independent and the probability a polynomial G in 1 -
// e^(-z/m). For exactly N balls the probability is a coefficient of the generating function e^z G(z). Cauchy's formula
// takes the coefficient from the values on a circle. With the radius at the saddle point the integrand is a bell
// without cancellation, and the trapezoid rule has a relative error of some 10^-13. O(k^2).
func allOccupied(cells float64, hashes uint64, balls float64) float64 {
	if hashes == 1 {
		return hitAtLeastOnce(1/cells, balls)
	}
	// The probability that some probed cell is empty is below half a last digit.
	if cells <= 1 || balls/cells > 50 {
		return 1
	}
	p := newPolynomial(cells, hashes, balls)
	s := p.findSaddle()
	p.recentre(&s)
	integral := p.integrate(&s)
	// N! e^r / r^N = (N! e^N / N^N) e^(-N (ln(1+d) - d)), with r = N (1 + d).
	front := factorialRatio(balls) * math.Exp(-balls*log1pLess(s.shift/balls))
	return clamp(scale(front*integral, p.exponent), 0, 1)
}

// saddle is the point where the circle crosses the real axis.
type saddle struct {
	radius float64
	// shift is the radius minus the number of balls, which may be far less than the last digit of the radius.
	shift float64
	// sigma is the standard deviation of the distribution proportional to c_i r^i.
	sigma float64
}

// polynomial is G in v = (1 - e^(-z/m)) / (1 - e^(-r/m)). v is 1 near the saddle point.
type polynomial struct {
	cells, balls float64
	// occupied is 1 - e^(-r/m) for the radius r at which the coefficients are centred.
	occupied float64
	// coefficients are the polynomial's coefficients times 2^-exponent.
	coefficients [MaxHashes + 1]float64
	degree       int
	exponent     int
}

// newPolynomial makes a polynomial centred at the radius N, an upper bound of the saddle point.
func newPolynomial(cells float64, hashes uint64, balls float64) *polynomial {
	p := &polynomial{cells: cells, balls: balls, occupied: -math.Expm1(-balls / cells)}
	// The k probes come one after the other. A probe falls into one of the j cells that were probed already, or into a new
	// cell, which must then be occupied. (More than m different cells have probability 0.)
	c := &p.coefficients
	c[0] = 1
	inverse := 1 / cells
	for range hashes {
		if float64(p.degree) < cells {
			p.degree++
		}
		for j := p.degree; j >= 1; j-- {
			again := c[j] * (float64(j) * inverse)
			fresh := c[j-1] * (p.occupied * (1 - float64(j-1)*inverse))
			c[j] = again + fresh
		}
		c[0] = 0
		// The coefficients may become too small for a float64, so each row carries its own exponent.
		largest := 0.0
		for _, coefficient := range c[1 : p.degree+1] {
			largest = math.Max(largest, coefficient)
		}
		if largest > 0 && largest < 1e-100 {
			shift := -math.Ilogb(largest)
			for j := range c[1 : p.degree+1] {
				c[j+1] = scale(c[j+1], shift)
			}
			p.exponent -= shift
		}
	}
	return p
}

// findSaddle finds the radius at which the mean is N, by Newton's method. Given j, the distribution is the sum of j
// zero-truncated Poisson(x) counts, x = r/m, and one Poisson(r - j x). The mean is r + j y with y = x / (e^x - 1). The
// derivative of such a mean by ln r is the variance.
func (p *polynomial) findSaddle() saddle {
	shift := 0.0
	for round := 1; ; round++ {
		radius := p.balls + shift
		x := radius / p.cells
		y := x / math.Expm1(x)
		mean, variance := p.moments(-math.Expm1(-x) / p.occupied)
		excess := shift + mean*y
		sigma2 := radius + y*y*variance + mean*y*(1-x-y)
		// Any radius near the saddle will do; this distance is a small part of the bell's width.
		if excess*excess <= 1e-6*sigma2 || round == 100 {
			return saddle{radius, shift, math.Sqrt(sigma2)}
		}
		// A step at most halves the radius, which has to stay positive.
		shift = clamp(shift-excess*radius/sigma2, 0.5*(shift-p.balls), 0)
	}
}

// moments returns the mean and the variance of j under the weights coefficient_j v^j.
func (p *polynomial) moments(v float64) (mean, variance float64) {
	total, first, second, power := 0.0, 0.0, 0.0, 1.0
	for j := 1; j <= p.degree; j++ {
		power *= v
		weight, j := p.coefficients[j]*power, float64(j)
		total += weight
		first += weight * j
		second += weight * j * j
	}
	mean = first / total
	return mean, math.Max(second/total-mean*mean, 0)
}

// recentre rewrites the coefficients for the radius that was found.
func (p *polynomial) recentre(s *saddle) {
	occupied := -math.Expm1(-s.radius / p.cells)
	v, power := occupied/p.occupied, 1.0
	for j := 1; j <= p.degree; j++ {
		power *= v
		p.coefficients[j] *= power
	}
	p.occupied = occupied
}

// integrate is the integral over the circle, divided by 2 pi.
func (p *polynomial) integrate(s *saddle) float64 {
	// The points are one on the positive axis and pairs of conjugates, so their number is odd.
	half := math.Ceil(0.5 * (9*s.sigma + 25))
	points := 2*half + 1
	limit := 14 / s.sigma
	if s.radius < small {
		limit = math.Pi
	}
	sum := 0.0
	for _, coefficient := range p.coefficients[1 : p.degree+1] {
		sum += coefficient
	}
	for l := 1.0; l <= half; l++ {
		t := 2 * math.Pi * l / points
		if t > limit {
			break
		}
		sinHalf := math.Sin(0.5 * t)
		// exp(r (e^(it) - 1) - i N t), by the real and imaginary parts of its logarithm.
		decay := -2 * s.radius * sinHalf * sinHalf
		phase := s.radius*sinLess(t) + s.shift*t
		re, im := p.value(s.radius/p.cells, t)
		sum += 2 * math.Exp(decay) * (re*math.Cos(phase) - im*math.Sin(phase))
	}
	return sum / points
}

// value is G(r e^(it)), x = r/m, by Horner's rule over the complex numbers.
func (p *polynomial) value(x, t float64) (re, im float64) {
	// 1 - e^(-a-ib), by parts without cancellation for small x.
	a, b := x*math.Cos(t), x*math.Sin(t)
	shrink := math.Exp(-a)
	sinHalf := math.Sin(0.5 * b)
	vRe := (-math.Expm1(-a) + 2*shrink*sinHalf*sinHalf) / p.occupied
	vIm := shrink * math.Sin(b) / p.occupied
	for j := p.degree; j >= 1; j-- {
		sum := re + p.coefficients[j]
		re, im = sum*vRe-im*vIm, sum*vIm+im*vRe
	}
	return re, im
}

// sinLess is sin t - t.
func sinLess(t float64) float64 {
	if t > 0.7 {
		return math.Sin(t) - t
	}
	s := t * t
	return -t * s / 6 * (1 - s/20*(1-s/42*(1-s/72*(1-s/110*(1-s/156*(1-s/210))))))
}

// log1pLess is ln(1+d) - d for -1 < d <= 0.
func log1pLess(d float64) float64 {
	if d < -0.1 {
		return math.Log1p(d) - d
	}
	// -d^2/2 + d^3/3 - ...: all terms have the same sign.
	sum := 0.0
	for i := 19; i >= 2; i-- {
		sum = -d*sum + 1/float64(i)
	}
	return -d * d * sum
}

// factorialRatio is N! e^N / N^N for integers N >= 1, about sqrt(2 pi N).
func factorialRatio(n float64) float64 {
	if n < stirlingFrom {
		product := math.Exp(n)
		for i := 1.0; i <= n; i++ {
			product *= i / n
		}
		return product
	}
	s := 1 / (n * n)
	series := (1.0/12.0 - s*(1.0/360.0-s*(1.0/1260.0-s/1680.0))) / n
	return math.Sqrt(2*math.Pi*n) * math.Exp(series)
}

// scale is x 2^exponent, rounded once; 0 for exponents below the range of numbers.
func scale(x float64, exponent int) float64 {
	if exponent < -4000 {
		return 0
	}
	return math.Ldexp(x, exponent)
}
