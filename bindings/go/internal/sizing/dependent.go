package sizing

import "math"

// Scheme is how the dependent probes of a key come from two or three words of its hash. A new key that meets a stored
// key in some probes meets it in all or many probes, more often than with independent probes.
type Scheme int

// The schemes.
const (
	Double         Scheme = iota // a + i b
	EnhancedDouble               // a + i b + (i^3 - i) / 6
	Triple                       // a + i b + i (i - 1) / 2 c
)

// words returns the number of words that determine the probes.
func (s Scheme) words() uint64 {
	if s == Triple {
		return 3
	}
	return 2
}

const (
	// tolerance is the greatest rounding error of an alternating sum that is used, as a share of the sum.
	tolerance = 1e-6
	epsilon   = 0x1p-52
)

// alternating is the sum over t of (-1)^t C(j, t) exp(keys * lnMiss(t)). The sum is the probability that j given bits
// are set, if a key misses t of them with probability exp(lnMiss(t)). The second result is false if the sum lost too
// many digits.
func alternating(j uint64, keys float64, lnMiss func(float64) float64) (float64, bool) {
	sum, errors, choose := 1.0, epsilon, 1.0
	for t := uint64(1); t <= j; t++ {
		choose *= -float64(j+1-t) / float64(t)
		exponent := keys * lnMiss(float64(t))
		term := float64(choose * exp(exponent))
		sum += term
		if term != 0 {
			errors += math.Abs(term) * epsilon * (float64(j) + math.Abs(exponent))
		}
	}
	return math.Min(sum, 1), errors <= tolerance*sum
}

// covered is [alternating]. If that sum lost too many digits, covered is the product of the probabilities of single
// bits, a close upper bound.
func covered(j uint64, keys float64, lnMiss func(float64) float64) float64 {
	if sum, good := alternating(j, keys, lnMiss); good {
		return sum
	}
	return power(-math.Expm1(keys*lnMiss(1)), j)
}

// lines counts the lines of the k x k grid, except rows and columns, with exactly t points, for each t; 0 for t < 3.
func lines(hashes uint64) (lines [MaxHashes + 1]float64) {
	k := int(hashes)
	// starts is the number of points with t - 1 others after them in direction (p, q).
	starts := func(t, p, q int) float64 { return float64(max(k-(t-1)*p, 0) * max(k-(t-1)*q, 0)) }
	for p := 1; p <= k/2; p++ {
		for q := 1; q <= k/2; q++ {
			if !coprime(p, q) {
				continue
			}
			for t := 3; t <= k && starts(t, p, q) > 0; t++ {
				// The factor 2 counts rising and falling lines.
				lines[t] += 2 * (starts(t, p, q) - 2*starts(t+1, p, q) + starts(t+2, p, q))
			}
		}
	}
	return lines
}

func coprime(a, b int) bool {
	for b != 0 {
		a, b = b, a%b
	}
	return a == 1
}

// totient is the number of integers in 1..e that have no factor in common with e.
func totient(e uint64) float64 {
	count := 0
	for i := 1; i <= int(e); i++ {
		if coprime(i, int(e)) {
			count++
		}
	}
	return float64(count)
}

// gain is the additional rate from a stored key that has t >= 2 of a lookup's k positions, if c(j) is the probability
// that j given bits are set. With independent probes, t(t-1)/2 keys would have two of these positions each, and t(t-2)
// fewer keys would have one.
func gain(k, t uint64, c func(uint64) float64) float64 {
	all, f := c(k), float64(t)
	pairs, singles := f*(f-1)/2, f*(f-2)
	return c(k-t) - all - float64(pairs*(c(k-2)-all)) + float64(singles*(c(k-1)-all))
}

// plain is the part that does not depend on the size, for a scheme and a number of hashes.
type plain struct {
	scheme Scheme
	hashes uint64
	lines  [MaxHashes + 1]float64
}

func newPlain(scheme Scheme, hashes uint64) *plain {
	p := &plain{scheme: scheme, hashes: hashes}
	if scheme != EnhancedDouble {
		p.lines = lines(hashes)
	}
	return p
}

// rate is the rate of a filter with this many bits and keys, if c(j) is the probability that j given bits are set. base
// is the rate of k independent probes.
func (p *plain) rate(reach uint64, keys, base float64, c func(uint64) float64) float64 {
	k, m := p.hashes, float64(reach)
	all := c(k)
	onLines := func() (sum float64) {
		for t := uint64(3); t <= k; t++ {
			if p.lines[t] > 0 {
				sum += p.lines[t] * gain(k, t, c)
			}
		}
		return sum
	}
	rate := base
	switch {
	case p.scheme == EnhancedDouble && k >= 3:
		rate = base + hitAtLeastOnce(1/(m*m), keys)*gain(k, k, c)
	case p.scheme == Double:
		// The steps that run in a cycle of e positions.
		short, share := 0.0, 0.0
		for e := uint64(1); e < k; e++ {
			if reach%e == 0 {
				short += totient(e) / m * c(e)
				share += totient(e) / m
			}
		}
		rate = short + math.Max(1-share, 0)*(all+keys/(m*m)*onLines())
	case p.scheme == Triple:
		folded, sums := 0.0, 0.0
		for sum := uint64(1); sum+2 < 2*k; sum++ {
			least := sum - min(sum, k-1)
			folded += c(k - ((sum+1)/2 - least))
			sums++
		}
		single := c(1) / (m * m)
		rate = single + folded/m + math.Max(1-sums/m, 0)*all + keys/(m*m*m)*onLines()
	}
	return clamp(rate, 0, 1)
}

// expected is the expected rate with this many keys.
func (p *plain) expected(reach, keys uint64) float64 {
	m, n, k := float64(reach), float64(keys), float64(p.hashes)
	if p.scheme == Double {
		// The positions of a key are distinct: C(m-t, k) / C(m, k), by the middle factor of its product.
		middle := math.Max(m-0.5*(k-1), 0.5)
		lnMiss := func(t float64) float64 { return k * log1pMinus(math.Min(t/middle, 1)) }
		return p.rate(reach, n, 0, func(j uint64) float64 { return covered(j, n, lnMiss) })
	}
	lnMiss := func(t float64) float64 { return k * log1pMinus(math.Min(t/m, 1)) }
	base := Bloom(reach, p.hashes, keys)
	return p.rate(reach, n, base, func(j uint64) float64 { return covered(j, n, lnMiss) })
}

// dependentSlices is the rate of the partitioned layout: the probability that the stored keys set all probes of a new
// key.
func dependentSlices(scheme Scheme, sliceBits, hashes, keys uint64) float64 {
	s, n := float64(sliceBits), float64(keys)
	independent := Partitioned(sliceBits, hashes, keys)
	if hashes <= scheme.words() {
		return independent
	}
	lnMiss := func(t float64) float64 {
		hit := t/s - (t-1)/(s*s)
		if scheme == Triple {
			hit = t/s - t*(t-1)/2/(s*s) + (t-1)*(t-2)/2/(s*s*s)
		}
		return log1pMinus(clamp(hit, 0, 1))
	}
	rate, good := alternating(hashes, n, lnMiss)
	if !good {
		// Keys that meet in all probes, and keys that meet in one: at most the rate with separate keys for each slice.
		rate = math.Min(independent+hitAtLeastOnce(1/power(s, scheme.words()), n), 1)
	}
	if scheme == Triple {
		return rate
	}
	// In a range with small factors, two keys may also meet in every e-th probe.
	fill := hitAtLeastOnce(1/s, n)
	more := 0.0
	for e := uint64(2); e < hashes; e++ {
		if sliceBits%e != 0 {
			continue
		}
		classes := 0.0
		for first := range e {
			if size := (hashes - first + e - 1) / e; size > 2 {
				classes += gain(hashes, size, func(j uint64) float64 { return power(fill, j) })
			}
		}
		more += n / (s * s) * totient(e) * classes
	}
	return math.Min(rate+more, 1)
}

// Dependent returns the false-positive rate of a filter whose probes come from a scheme. reach is the number of bits,
// in all or for each probe.
func Dependent(scheme Scheme, partitioned bool, reach, hashes, keys uint64) float64 {
	if rate, is := trivial(reach, hashes, keys); is {
		return rate
	}
	if partitioned {
		return dependentSlices(scheme, reach, hashes, keys)
	}
	return newPlain(scheme, hashes).expected(reach, keys)
}

// DependentNow returns the present rate, if about keys keys set the share fill of all bits. In the partitioned layout
// fill is the product of the slices' shares.
func DependentNow(scheme Scheme, partitioned bool, reach, hashes uint64, keys, fill float64) float64 {
	m := float64(reach)
	if partitioned {
		whole := 0.0
		if hashes > scheme.words() {
			whole = keys / power(m, scheme.words())
		}
		return clamp(fill+whole*(1-fill), 0, 1)
	}
	// all is the probability that j different bits are all set.
	all := func(j uint64) float64 {
		product := 1.0
		for i := range j {
			product *= math.Max((fill*m-float64(i))/(m-float64(i)), 0)
		}
		return product
	}
	return newPlain(scheme, hashes).rate(reach, keys, power(fill, hashes), all)
}

// rough returns the least range of at least reach bits that has no prime factor below hashes.
func rough(reach, hashes uint64) (uint64, bool) {
next:
	for m := reach; m <= saturatingAdd(reach, 1<<20); m++ {
		if m <= hashes {
			continue
		}
		for factor := uint64(2); factor < hashes; factor++ {
			if m%factor == 0 {
				continue next
			}
		}
		return m, true
	}
	return 0, false
}

// DependentSize returns a range without small factors and a number of hashes that keep the rate in about the fewest
// bits; possible is false if there are none.
func DependentSize(scheme Scheme, partitioned bool, keys uint64, rate float64) (reach, hashes uint64, possible bool) {
	if !isRate(rate) {
		return 0, 0, false
	}
	if keys == 0 {
		return 1, 1, true
	}
	fewest, worse := uint64(bitsLimit), 0
	for k := uint64(1); k <= MaxHashes && worse < 6; k++ {
		slices := uint64(1)
		expected := newPlain(scheme, k).expected
		if partitioned {
			slices = k
			expected = func(reach, keys uint64) float64 { return dependentSlices(scheme, reach, k, keys) }
		}
		// The start assumes independent probes; a small filter needs more bits.
		fill := math.Pow(rate, 1/float64(k))
		guess := float64(k) / float64(slices) * float64(keys) / -math.Log1p(-fill)
		about, found := leastReal(math.Max(guess, 1), float64(fewest/slices), func(reach float64) bool {
			// The search goes over rough ranges only: other sizes have small factors.
			m, found := rough(whole(reach), k)
			return found && expected(m, keys) <= rate
		})
		var m uint64
		if found {
			m, found = rough(whole(about), k)
		}
		if bits := saturatingMul(m, slices); found && bits < fewest {
			reach, hashes, possible, fewest, worse = m, k, true, bits, 0
		} else if possible {
			// The size falls up to the best number of hashes and then rises. Six worse sizes end the loop.
			worse++
		}
	}
	return reach, hashes, possible
}
