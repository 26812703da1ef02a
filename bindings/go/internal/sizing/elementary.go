package sizing

import "math"

// Exponential and logarithm by the operations of the library's src/sizing/elementary.rs, in the same order. In sums
// whose terms cancel, a last digit is a large part of a low rate, and must not decide on the size of a filter. The
// conversions of products keep compilers from fusing products and sums, which would round differently.

// ln 2 in two parts. The first part has 32 bits, so that its products with exponents are exact.
const (
	ln2High = 6.931471803691238e-1
	ln2Low  = 1.9082149292705877e-10
)

// factorials are 1 / i! for i = 13, 12, .. 2.
var factorials = func() (all [12]float64) {
	factorial := 1.0
	for i := 2; i <= 13; i++ {
		factorial *= float64(i)
		all[13-i] = 1 / factorial
	}
	return all
}()

// exp is e^x, accurate to about the last digit; 0 below the least normal number.
func exp(x float64) float64 {
	if x < -708 {
		return 0
	}
	if x > 709 || math.IsNaN(x) {
		return x * math.Inf(1)
	}
	exponent := math.RoundToEven(x * math.Log2E)
	r := (x - float64(exponent*ln2High)) - float64(exponent*ln2Low)
	series := 0.0
	for _, factor := range &factorials {
		series = float64(series*r) + factor
	}
	value := 1 + (r + float64(r*r*series))
	return value * math.Float64frombits(uint64(int64(exponent)+1023)<<52)
}

// log1pMinus is ln(1 - x) for x in 0..1, accurate to about the last digit.
func log1pMinus(x float64) float64 {
	if x <= 4e-3 {
		// Accurate to the last digit: the next term is below x^8 / 8.
		tail := 1.0/4.0 + float64(x*(1.0/5.0+float64(x*(1.0/6.0+float64(x*(1.0/7.0))))))
		return -x * (1.0 + float64(x*(1.0/2.0+float64(x*(1.0/3.0+float64(x*tail))))))
	}
	y := 1 - x
	// The second argument restores the digits that the subtraction lost.
	return logOf(y, ((1-y)-x)/y)
}

// log is ln x of a normal number, accurate to about the last digit.
func log(x float64) float64 { return logOf(x, 0) }

// pow is a^b for a > 0, accurate to some last digits.
func pow(a, b float64) float64 { return exp(b * log(a)) }

// logOf is ln y plus a small correction.
func logOf(y, more float64) float64 {
	if !(y > 0) || math.IsInf(y, 0) {
		if y == 0 {
			return math.Inf(-1)
		}
		return math.NaN()
	}
	// y is a mantissa in 0.75..1.5 times a power of two.
	bits := math.Float64bits(y)
	exponent := float64(bits>>52) - 1023
	mantissa := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	if mantissa >= 1.5 {
		mantissa *= 0.5
		exponent++
	}
	s := (mantissa - 1) / (mantissa + 1)
	square := float64(s * s)
	series := 0.0
	for i := 23.0; i >= 3; i -= 2 {
		series = float64(series*square) + 1/i
	}
	ln := 2*s + float64(2*s*square*series)
	return float64(exponent*ln2High) + (ln + (float64(exponent*ln2Low) + more))
}
