package sizing

import "math"

// MaxTwoBlocksHashes is the greatest number of bits of a key with two blocks: all lanes of both blocks.
const MaxTwoBlocksHashes = 2 * MaxLanes

// twoBlocksLow is the rate below which a sum over pairs of terms loses more digits than the mixture.
const twoBlocksLow = 1e-5

// twoBlocksChanges has, for k = 2, 4, .. 30, the false-positive rate and the bits a key at which k + 2 bits in two
// blocks become better than k. The numbers are for the limit of many blocks.
var twoBlocksChanges = [MaxLanes - 1]struct{ rate, bitsPerKey float64 }{
	{1.4510079520886202e-1, 4.170816963145262},
	{3.3876710240723584e-2, 7.156427179936135},
	{7.719968203894023e-3, 10.261149275299186},
	{1.805874366136332e-3, 13.37960527638318},
	{3.817596935019825e-4, 16.803381330251316},
	{8.238076929215107e-5, 20.293862177951446},
	{1.5431097063730394e-5, 24.256827825408013},
	{2.9356672408755554e-6, 28.367610609655},
	{4.7167998384314786e-7, 33.14168898267271},
	{7.606372773599993e-8, 38.201952285518935},
	{1.0226945131268167e-8, 44.15377130737418},
	{1.349463031857134e-9, 50.63082091376583},
	{1.493839056593253e-10, 58.27537113989297},
	{1.562405227531003e-11, 66.86460164686008},
	{1.4146020257696175e-12, 76.94873796572163},
}

// ofHalf has a number for t lanes of a half with one given bit, and d lanes with two given bits.
type ofHalf [halfLanes + 1][halfLanes + 1]float64

// addProduct adds the coefficients of (1 - x)^singles (1 - 63/32 x + 31/32 y)^doubles, times a factor.
func (h *ofHalf) addProduct(factor float64, singles, doubles int) {
	var product ofHalf
	product[0][0] = factor
	for i := range singles + doubles {
		x, y := 1.0, 0.0
		if i >= singles {
			x, y = 63.0/32.0, 31.0/32.0
		}
		// The loop goes from the highest powers down, so that each factor is used once.
		for t := halfLanes; t >= 0; t-- {
			for d := halfLanes - t; d >= 0; d-- {
				fromX, fromY := 0.0, 0.0
				if t > 0 {
					fromX = float64(x * product[t-1][d])
				}
				if d > 0 {
					fromY = float64(y * product[t][d-1])
				}
				product[t][d] = product[t][d] - fromX + fromY
			}
		}
	}
	for t := range h {
		for d := range h[t] {
			h[t][d] += product[t][d]
		}
	}
}

// halfWeights are the signed weights of the bits that are not set, in a half where two shares have p and q lanes.
func halfWeights(p, q int) (h ofHalf) {
	for common := max(p+q-halfLanes, 0); common <= min(p, q); common++ {
		probability := float64(choose(p, common)*choose(halfLanes-p, q-common)) / choose(halfLanes, q)
		h.addProduct(probability, p+q-2*common, common)
	}
	return h
}

// halfMisses are the probabilities that a share with a lanes of a half misses the given bits: one in each of t lanes,
// and both of two in each of d other lanes.
func halfMisses(a int) (h ofHalf) {
	for t := range halfLanes + 1 {
		for d := range halfLanes - t + 1 {
			sum := 0.0
			for i := 0; i <= min(t, a); i++ {
				for j := 0; j <= min(d, a-i); j++ {
					ways := float64(float64(choose(t, i)*choose(d, j)) * choose(halfLanes-t-d, a-i-j))
					sum += float64(float64(ways*power(31.0/32.0, uint64(i))) * power(30.0/32.0, uint64(j)))
				}
			}
			h[t][d] = sum / choose(halfLanes, a)
		}
	}
	return h
}

// together is the rate of keys with both shares in the same block.
func together(lanes int, blocks, shares uint64) float64 {
	a, b, share := (lanes+1)/2, lanes/2, 1/float64(blocks)
	ofA, ofB := halfMisses(a), halfMisses(b)
	sum := func(low, high ofHalf) float64 {
		sum := 0.0
		for t := range halfLanes + 1 {
			for d := range halfLanes - t + 1 {
				if low[t][d] == 0 {
					continue
				}
				for u := range halfLanes + 1 {
					for e := range halfLanes - u + 1 {
						if high[u][e] == 0 {
							continue
						}
						z := 0.5 * (float64(ofA[t][d]*ofB[u][e]) + float64(ofB[t][d]*ofA[u][e]))
						sum += float64(float64(low[t][d]*high[u][e]) * missed(share*(1-float64(z)), shares))
					}
				}
			}
		}
		return sum
	}
	rate := sum(halfWeights(a, a), halfWeights(b, b))
	if a != b {
		rate = 0.5 * (rate + sum(halfWeights(a, b), halfWeights(b, a)))
	}
	return clamp(rate, 0, 1)
}

// apart is the rate of keys with their shares in two different blocks; there are at least two blocks.
func apart(hashes, blocks, shares uint64) float64 {
	terms, share := lanes(hashes), 1/float64(blocks)
	sum := 0.0
	for i, one := range terms {
		for j, other := range terms[:i+1] {
			weight := float64(one.weight * other.weight)
			if i != j {
				// A pair of different terms comes in both orders.
				weight *= 2
			}
			sum += float64(weight * missed(share*(one.hit+other.hit), shares))
		}
	}
	if sum > twoBlocksLow {
		return math.Min(sum, 1)
	}
	return binomial(shares, share, func(here uint64) float64 {
		if here == 0 {
			return 0
		}
		return float64(blockedSum(terms, 1, here) * blockedSum(terms, 1/float64(blocks-1), shares-here))
	})
}

// twice is the number of shares of this many keys.
func twice(keys uint64) uint64 {
	if keys > math.MaxUint64/2 {
		return math.MaxUint64
	}
	return 2 * keys
}

// TwoBlocks returns the exact false-positive rate of a filter with this many blocks and distinct keys. A key has hashes
// bits, an even number, half of them in each of two blocks.
func TwoBlocks(blocks, hashes, keys uint64) float64 {
	if blocks == 0 {
		return 1
	}
	if keys == 0 {
		return 0
	}
	lanes, shares := min(max(hashes/2, 1), MaxLanes), twice(keys)
	same := together(int(lanes), blocks, shares)
	if blocks == 1 {
		return same
	}
	different := apart(lanes, blocks, shares)
	return clamp(different+(same-different)/float64(blocks), 0, 1)
}

// TwoBlocksHashes returns the number of bits with the least rate at this many bits a key, in the limit of many blocks.
func TwoBlocksHashes(bitsPerKey float64) uint64 {
	lanes := uint64(1)
	for _, change := range twoBlocksChanges {
		if !(bitsPerKey > change.bitsPerKey) {
			break
		}
		lanes++
	}
	return 2 * lanes
}

// sharesFor returns the number of lanes of a share that reaches a rate with the fewest bits a key, and about how many
// bits a key that takes, in the limit of many blocks.
func sharesFor(rate float64) (lanes uint64, bitsPerKey float64) {
	lanes = 1
	for _, change := range twoBlocksChanges {
		if !(rate < change.rate) {
			break
		}
		lanes++
	}
	// Between two changes the logarithms are nearly linear. A single lane needs no table.
	if lanes == 1 {
		return 1, -2 / log1pMinus(math.Sqrt(rate))
	}
	first := twoBlocksChanges[lanes-2]
	if lanes > uint64(len(twoBlocksChanges)) {
		return lanes, first.bitsPerKey
	}
	last := twoBlocksChanges[lanes-1]
	place := log(rate/first.rate) / log(last.rate/first.rate)
	return lanes, first.bitsPerKey * pow(last.bitsPerKey/first.bitsPerKey, place)
}

// TwoBlocksSize returns the least number of blocks that hold this many keys, each in two blocks, at no more than rate.
// The even number of bits is the best one in the limit of many blocks. possible is false if there is no such size.
func TwoBlocksSize(keys uint64, rate float64) (blocks, hashes uint64, possible bool) {
	if !isRate(rate) {
		return 0, 0, false
	}
	each, bitsPerKey := sharesFor(rate)
	hashes = 2 * each
	if keys == 0 {
		return 1, hashes, true
	}
	// With many blocks the shares of a key are nearly independent, each with the square root of the rate.
	start := math.Max(float64(keys)*bitsPerKey/BlockedBits, 1)
	guess := blocksAbout(lanes(each), twice(keys), math.Sqrt(rate), start)
	holds := func(blocks uint64) bool { return TwoBlocks(blocks, hashes, keys) <= rate }
	blocks, possible = least(whole(math.Ceil(guess)), 1<<52, holds)
	return blocks, hashes, possible
}
