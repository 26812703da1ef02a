package sizing

import "math"

const (
	// SplitBlockBits is the number of bits of a block of the kind split_block.
	SplitBlockBits = 256
	// MaxSplitBlocks is above every number of blocks: 32 bits of the hash choose the block.
	MaxSplitBlocks = 1 << 32
	// splitPlain is the least rate for which the closed form has all digits that matter.
	splitPlain = 1.0 / 256
	// splitRough is the least rate for which the closed form is good enough for Newton's method.
	splitRough = 1e-10
)

// splitRates are (1 - (31/32)^keys)^8, for few keys.
var splitRates = func() (rates [128]float64) {
	lane := 0.0
	for i := range rates {
		square := lane * lane
		rates[i] = (square * square) * (square * square)
		// The recurrence has no cancellation: 1 - q^(i+1) = q (1 - q^i) + 1/32.
		lane = lane*(31.0/32.0) + 1.0/32.0
	}
	return rates
}()

// term is a term of a sum: its weight, and the probability that a key has one of the term's bits.
type term struct{ weight, hit float64 }

// splitTerms are (-1)^j C(8, j) and 1 - (31/32)^j, for j = 1, 2, .. 8.
var splitTerms = func() (terms [8]term) {
	choose, hit := 1.0, 0.0
	for j := range terms {
		choose *= -float64(8-j) / float64(j+1)
		hit = float64(hit*(31.0/32.0)) + 1.0/32.0
		terms[j] = term{choose, hit}
	}
	return terms
}()

// splitBlockRate is the rate of one block with this many distinct keys: (1 - (31/32)^keys)^8.
func splitBlockRate(keys uint64) float64 {
	if keys < uint64(len(splitRates)) {
		return splitRates[keys]
	}
	return power(-math.Expm1(float64(keys)*math.Log1p(-1.0/32)), 8)
}

// splitClosed is the sum over j of (-1)^j C(8, j) (1 - (1 - q^j)/blocks)^n with q = 31/32, and its derivative by the
// logarithm of the number of blocks.
func splitClosed(blocks, keys float64) (rate, slope float64) {
	rate = 1
	for _, t := range &splitTerms {
		hit := t.hit / blocks
		part := float64(t.weight * exp(keys*log1pMinus(hit)))
		rate += part
		slope += part * hit / (1 - hit)
	}
	return rate, keys * slope
}

// SplitBlock returns the exact false-positive rate of a filter with this many blocks and distinct keys.
func SplitBlock(blocks, keys uint64) float64 {
	if blocks == 0 {
		return 1
	}
	if rate, _ := splitClosed(float64(blocks), float64(keys)); rate > splitPlain {
		return math.Min(rate, 1)
	}
	return binomial(keys, 1/float64(blocks), splitBlockRate)
}

// SplitBlockSize returns the least number of blocks that hold this many keys at no more than rate; possible is false if
// there is none below [MaxSplitBlocks].
func SplitBlockSize(keys uint64, rate float64) (blocks uint64, possible bool) {
	if !isRate(rate) {
		return 0, false
	}
	if keys == 0 {
		return 1, true
	}
	guess := splitBlocksAbout(float64(keys), rate)
	holds := func(blocks uint64) bool { return SplitBlock(blocks, keys) <= rate }
	return least(whole(math.Ceil(guess)), MaxSplitBlocks-1, holds)
}

// splitBlocksAbout approximates the number of blocks with this rate.
func splitBlocksAbout(keys, rate float64) float64 {
	// The start is the size if every block were average. The start is too small, and Newton's method rises from there.
	blocks := math.Max(keys/(32*-math.Log1p(-math.Pow(rate, 0.125))), 1)
	for range 16 {
		value, slope := splitClosed(blocks, keys)
		if value <= splitRough {
			// The closed form loses too many digits at this rate, so the mixture and its difference take its place.
			near := func(blocks float64) float64 { return binomial(whole(keys), 1/blocks, splitBlockRate) }
			value = near(blocks)
			slope = (near(blocks*1.001) - value) / 1e-3
		}
		step := (math.Log(rate) - math.Log(value)) * value / slope
		if !isFinite(step) || step < 0 && blocks == 1 {
			break
		}
		blocks = clamp(blocks*math.Exp(clamp(step, -1, 1)), 1, MaxSplitBlocks-1)
		// The error after the last step is about the square of that step: far less than a block.
		if math.Abs(step) < 1e-6 || math.Abs(step)*blocks < 0.5 {
			break
		}
	}
	return blocks
}

// SplitBlockCardinality returns the number of distinct keys that set this many bits in this many blocks; possible is
// false if all bits are set.
func SplitBlockCardinality(blocks, ones uint64) (keys float64, possible bool) {
	return PartitionedCardinality(32*blocks, 8, ones)
}

// SplitBlockCardinalityError returns the standard error of the cardinality with this many keys. The eight lanes of a
// block have the same number of keys, so their numbers of zeros vary together.
func SplitBlockCardinalityError(blocks, keys uint64) float64 {
	b := float64(blocks)
	a := float64(keys) / (32 * b)
	excess := func(x float64) float64 {
		if x < 1e-3 {
			return x * x * (0.5 + x/6)
		}
		return math.Expm1(x) - x
	}
	return math.Sqrt(b * (4*excess(a) + 896*excess(a/32)))
}
