package sizing

import (
	"cmp"
	"math"
)

// bitsLimit is the least size that is too large.
const bitsLimit = 1 << 63

// throws returns k n, how many times keys set a bit.
func throws(hashes, keys uint64) float64 { return float64(hashes) * float64(keys) }

// trivial returns the rate of a filter without bits, hashes or keys; is is false for other filters.
func trivial(bits, hashes, keys uint64) (rate float64, is bool) {
	switch {
	case bits == 0 || hashes == 0:
		return 1, true
	case keys == 0:
		return 0, true
	}
	return 0, false
}

// Bloom returns the exact false-positive rate of the classic filter, E[(X/m)^k] over the number X of set bits (Bose et
// al. 2008; Christensen, Roginsky and Jimeno 2010), for up to [MaxHashes] hashes.
func Bloom(bits, hashes, keys uint64) float64 {
	if rate, is := trivial(bits, hashes, keys); is {
		return rate
	}
	return allOccupied(float64(bits), min(hashes, MaxHashes), throws(hashes, keys))
}

// Partitioned returns the exact rate of the partitioned filter, (1 - (1-1/s)^n)^k.
func Partitioned(sliceBits, hashes, keys uint64) float64 {
	if rate, is := trivial(sliceBits, hashes, keys); is {
		return rate
	}
	return math.Pow(hitAtLeastOnce(1/float64(sliceBits), float64(keys)), float64(hashes))
}

// BloomHashes returns the number of hashes with the least exact rate; of equal ones the smallest.
func BloomHashes(bits, keys uint64) uint64 {
	if bits == 0 || keys == 0 {
		return 1
	}
	guess := float64(bits) / float64(keys) * math.Ln2
	cost := func(hashes uint64) lazyRate { return rateOf(bits, hashes, keys) }
	return valley(whole(guess), MaxHashes, cost, lazyRate.compare)
}

// lazyRate is an exact rate that is computed only as far as a comparison needs it.
type lazyRate struct {
	bits, hashes, keys uint64
	near               approximation
	isNear             bool
}

func rateOf(bits, hashes, keys uint64) lazyRate {
	near, good := lnRate(bits, hashes, keys)
	return lazyRate{bits, hashes, keys, near, good}
}

func (r lazyRate) exact() float64 { return Bloom(r.bits, r.hashes, r.keys) }

func (r lazyRate) ln() float64 {
	if r.isNear {
		return r.near.ln
	}
	return math.Log(r.exact())
}

func (r lazyRate) isAtMost(rate float64) bool {
	if above := r.near.ln - math.Log(rate); r.isNear && math.Abs(above) > r.near.error {
		return above < 0
	}
	return r.exact() <= rate
}

func (r lazyRate) compare(other lazyRate) int {
	if r.isNear && other.isNear && math.Abs(r.near.ln-other.near.ln) > r.near.error+other.near.error {
		return cmp.Compare(r.near.ln, other.near.ln)
	}
	return cmp.Compare(r.exact(), other.exact())
}

// BloomSize returns the least size whose exact rate is at most rate, with the number of hashes that needs the fewest
// bits; of equal ones the smallest. possible is false if there is no such size.
func BloomSize(keys uint64, rate float64) (bits, hashes uint64, possible bool) {
	if !isRate(rate) {
		return 0, 0, false
	}
	if keys == 0 {
		return 1, 1, true
	}
	// The best number of hashes is k* = lg(1/rate), at which half the bits are set, or a neighbour.
	hashes = min(max(whole(-math.Log2(rate)), 1), MaxHashes)
	bits, found := bitsFor(keys, rate, hashes)
	if !found {
		bits = math.MaxUint64
	}
	// One bit less may be enough, with its own best number of hashes. The loop runs once or twice.
	for bits > 1 {
		best := BloomHashes(bits-1, keys)
		if !rateOf(bits-1, best, keys).isAtMost(rate) {
			break
		}
		hashes = best
		fewer, found := bitsFor(keys, rate, hashes)
		if !found {
			fewer = bits
		}
		bits = min(fewer, bits-1)
	}
	for hashes > 1 && rateOf(bits, hashes-1, keys).isAtMost(rate) {
		hashes--
	}
	return bits, hashes, bits < bitsLimit
}

// bitsFor returns the least number of bits for a given number of hashes.
func bitsFor(keys uint64, rate float64, hashes uint64) (bits uint64, found bool) {
	k, n := float64(hashes), throws(hashes, keys)
	// Starts where the asymptotic rate is right. fill is the share of set bits, rate^(1/k).
	fill := math.Pow(rate, 1/k)
	guess := -n / math.Log1p(-fill)
	// Newton steps on ln f over ln m, with the asymptotic slope -k rho / (e^rho - 1), come within about a bit of the root.
	for range 2 {
		bits := max(whole(guess), 1)
		rho := n / float64(bits)
		slope := -k * rho / math.Expm1(rho)
		step := (math.Log(rate) - rateOf(bits, hashes, keys).ln()) / slope
		if isFinite(step) {
			guess = float64(bits) * math.Exp(clamp(step, -1, 1))
		}
	}
	return least(whole(math.Ceil(guess)), math.MaxUint64, func(bits uint64) bool {
		return rateOf(bits, hashes, keys).isAtMost(rate)
	})
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// PartitionedSize returns the slices of the least total size whose exact rate is at most rate; of equal totals the one
// with fewer hashes. possible is false if there are none.
func PartitionedSize(keys uint64, rate float64) (sliceBits, hashes uint64, possible bool) {
	if !isRate(rate) {
		return 0, 0, false
	}
	if keys == 0 {
		return 1, 1, true
	}
	// The search goes up and down from k* = lg(1/rate), at which half the bits are set. Few keys make short slices, where
	// rounding to whole bits matters more than k*. Any number of hashes needs at least its real size, which grows on
	// either side of k*. Each side therefore ends when the real size reaches the least total so far.
	middle := min(max(whole(-math.Log2(rate)), 1), MaxHashes)
	fewest := uint64(bitsLimit)
	attempt := func(k uint64) (more bool) {
		// The real size follows from 1/s = 1 - (1 - rate^(1/k))^(1/n).
		fill := math.Pow(rate, 1/float64(k))
		real := -1 / math.Expm1(math.Log1p(-fill)/float64(keys))
		if (real*(1-1e-9)-1)*float64(k) > float64(fewest) {
			return false
		}
		if math.Ceil(real*(1-1e-9))*float64(k) > float64(fewest) {
			return true
		}
		holds := func(bits uint64) bool { return Partitioned(bits, k, keys) <= rate }
		slice, found := least(whole(math.Ceil(real)), math.MaxUint64, holds)
		if !found {
			return true
		}
		if bits := saturatingMul(slice, k); bits < fewest || bits == fewest && possible && k < hashes {
			fewest, sliceBits, hashes, possible = bits, slice, k, true
		}
		return true
	}
	for k := middle; k >= 1 && attempt(k); k-- {
	}
	for k := middle + 1; k <= MaxHashes && attempt(k); k++ {
	}
	return sliceBits, hashes, possible
}

// BloomCardinality returns the number of distinct keys in a filter with this many set bits; possible is false if all
// bits are set.
func BloomCardinality(bits, hashes, ones uint64) (keys float64, possible bool) {
	if hashes == 0 || ones >= bits {
		return 0, false
	}
	fill := math.Log1p(-float64(ones) / float64(bits))
	return math.Abs(fill / (float64(hashes) * math.Log1p(-1/float64(bits)))), true
}

// PartitionedCardinality returns the number of keys in slices with this many set bits in all. Every key sets one bit of
// each slice, so that (1 - 1/s)^n of the bits stay zero. possible is false if all bits are set.
func PartitionedCardinality(sliceBits, hashes, ones uint64) (keys float64, possible bool) {
	bits := sliceBits * hashes
	if ones >= bits {
		return 0, false
	}
	return math.Abs(math.Log1p(-float64(ones)/float64(bits)) / math.Log1p(-1/float64(sliceBits))), true
}

// BloomCardinalityError returns the standard error of the cardinality with this many keys, for both layouts: sqrt(m
// (e^rho - rho - 1)) / k.
func BloomCardinalityError(bits, hashes, keys uint64) float64 {
	rho := throws(hashes, keys) / float64(bits)
	excess := math.Expm1(rho) - rho
	if rho < 1e-3 {
		excess = rho * rho * (0.5 + rho*(1.0/6.0+rho/24.0))
	}
	return math.Sqrt(float64(bits)*excess) / float64(hashes)
}
