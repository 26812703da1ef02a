package sizing

import "math"

// negligible is the greatest part of a sum that may be left out.
const negligible = 1e-17

// full is the rate from which on a block counts as full.
const full = 1 - 1e-14

// binomial returns the mean of g over a Binomial(n, p) count, for a non-decreasing g between 0 and 1. The weights
// follow from the weight at the mode by ratios, outwards. All terms are positive, so a rate of 10^-200 has the same
// relative precision as one of 0.1. The sum ends when the rest is negligible, after some 18 standard deviations.
func binomial(n uint64, p float64, g func(uint64) float64) float64 {
	if p <= 0 || n == 0 {
		return g(0)
	}
	if p >= 1 || math.IsNaN(p) {
		return g(n)
	}
	odds := p / (1 - p)
	mean := float64(n) * p
	// up is weight(i+1) / weight(i).
	up := func(i uint64) float64 { return float64(n-i) / (float64(i) + 1) * odds }
	mode := min(whole(mean), n)

	// If g is full at 10 standard deviations below the mean, the result is full.
	if spread := 10 * math.Sqrt(mean); mean > spread {
		if low := g(whole(mean - spread)); low >= full {
			return math.Min(low, 1)
		}
	}
	weights, sum := 1.0, g(mode)
	for i, weight := mode, 1.0; i < n; {
		ratio := up(i)
		weight *= ratio
		if ratio < 1 && weight/(1-ratio) <= negligible*math.Min(weights, sum) {
			break
		}
		i++
		weights += weight
		sum += weight * g(i)
		// The weight is 0 only if g is 0 for all counts so far.
		if weight == 0 {
			break
		}
	}
	for i, weight := mode, 1.0; i > 0; {
		ratio := 1 / up(i-1)
		weight *= ratio
		if ratio < 1 && weight/(1-ratio) <= negligible*weights {
			break
		}
		i--
		weights += weight
		sum += weight * g(i)
	}
	return math.Min(sum/weights, 1)
}
