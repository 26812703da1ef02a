package sizing

import "math"

const (
	// BlockedBits is the number of bits of a block of the kind blocked.
	BlockedBits = 512
	// MaxLanes is the greatest number of lanes that a key has.
	MaxLanes = 16
	// BlockedMinRate is the least rate that a filter of the kind blocked is sized for.
	BlockedMinRate = 1e-9
	// blockedLow is the rate below which the mixture is summed over the number of keys in the block.
	blockedLow = 1e-10
	halfLanes  = 8
)

// blockedChanges has, for k = 1, 2, .. 15, the false-positive rate and the bits a key at which k + 1 lanes become
// better than k, in the limit of many blocks. The last entry is the least rate, and the bits a key that all lanes need
// for it.
var blockedChanges = [MaxLanes]struct{ rate, bitsPerKey float64 }{
	{3.809209828939094e-1, 2.0854084815726313},
	{1.8405626922417906e-1, 3.578213589968071},
	{8.786334960547734e-2, 5.130574637649552},
	{4.2495580548290196e-2, 6.689802638191673},
	{1.9538671743540043e-2, 8.401690665126225},
	{9.076385254718593e-3, 10.146931088977189},
	{3.9282435087214275e-3, 12.12841391269771},
	{1.7133788959375132e-3, 14.18380530475289},
	{6.867896212255226e-4, 16.570844491420086},
	{2.75796533250397e-4, 19.1009761424463},
	{1.0112835951332604e-4, 22.076885658828246},
	{3.6735037872350634e-5, 25.315410489899943},
	{1.2222271757211453e-5, 29.13768528704742},
	{3.952722766578133e-6, 33.43230552453523},
	{1.1893751919438839e-6, 38.474350625529276},
	{BlockedMinRate, 86.34326171875098},
}

// blockedTerms are the terms of the inclusion-exclusion sum over the bits that are not set, for each number of lanes.
var blockedTerms = func() (all [MaxLanes][]term) {
	// The probability that a key with a lanes of a half misses t given bits in different lanes of it.
	miss := func(a, t int) float64 {
		sum, power := 0.0, 1.0
		for j := 0; j <= a && j <= t; j++ {
			sum += float64(choose(a, j) * choose(halfLanes-a, t-j) / choose(halfLanes, t) * power)
			power *= 31.0 / 32.0
		}
		return sum
	}
	for i := range all {
		hashes := i + 1
		a, b := (hashes+1)/2, hashes/2
		for t := 0; t <= a; t++ {
			// The terms (t, u) and (u, t) have the same z and are counted as one, unless only one of them exists.
			for u := 0; u <= b && u <= t; u++ {
				sign := 1.0
				if (t+u)%2 == 1 {
					sign = -1
				}
				z := 0.5 * (float64(miss(a, t)*miss(b, u)) + float64(miss(b, t)*miss(a, u)))
				other := 0.0
				if u < t && t <= b {
					other = choose(a, u) * choose(b, t)
				}
				all[i] = append(all[i], term{sign * (choose(a, t)*choose(b, u) + other), 1 - float64(z)})
			}
		}
	}
	return all
}()

// lanes returns the terms for keys with this number of lanes.
func lanes(hashes uint64) []term { return blockedTerms[min(max(hashes, 1), MaxLanes)-1] }

// blockedSum is the rate of a block if each of its keys misses with probability 1 - share * hit.
func blockedSum(terms []term, share float64, keys uint64) float64 {
	sum := 0.0
	for _, t := range terms {
		sum += float64(t.weight * missed(share*t.hit, keys))
	}
	// The difference of numbers near one may be just below zero.
	return clamp(sum, 0, 1)
}

// missed is (1 - hit)^keys, for hit in 0..1, by the fastest formula that keeps all digits.
func missed(hit float64, keys uint64) float64 {
	if keys <= 32 {
		return power(1-float64(hit), keys)
	}
	return exp(float64(keys) * log1pMinus(hit))
}

// Blocked returns the exact false-positive rate of a filter with this many blocks and distinct keys, and hashes lanes a
// key.
func Blocked(blocks, hashes, keys uint64) float64 {
	if blocks == 0 {
		return 1
	}
	if keys == 0 {
		return 0
	}
	terms, share := lanes(hashes), 1/float64(blocks)
	if rate := blockedSum(terms, share, keys); rate > blockedLow {
		return rate
	}
	// For lower rates the sum loses too many digits, so the mixture is summed term by term.
	return binomial(keys, share, func(keys uint64) float64 {
		if keys == 0 {
			return 0
		}
		return blockedSum(terms, 1, keys)
	})
}

// BlockedHashes returns the number of lanes with the least rate at this many bits a key, in the limit of many blocks.
func BlockedHashes(bitsPerKey float64) uint64 {
	hashes := uint64(1)
	for _, change := range blockedChanges[:MaxLanes-1] {
		if !(bitsPerKey > change.bitsPerKey) {
			break
		}
		hashes++
	}
	return hashes
}

// lanesFor returns the number of lanes that reaches a rate with the fewest bits a key, and about how many bits a key
// that takes, in the limit of many blocks.
func lanesFor(rate float64) (hashes uint64, bitsPerKey float64) {
	hashes = 1
	for _, change := range blockedChanges[:MaxLanes-1] {
		if !(rate < change.rate) {
			break
		}
		hashes++
	}
	// Between two changes the logarithms are nearly linear. A single lane needs no table.
	if hashes == 1 {
		return 1, -1 / log1pMinus(rate)
	}
	first, last := blockedChanges[hashes-2], blockedChanges[hashes-1]
	place := log(rate/first.rate) / log(last.rate/first.rate)
	return hashes, first.bitsPerKey * pow(last.bitsPerKey/first.bitsPerKey, place)
}

// BlockedSize returns the least number of blocks that hold this many keys at no more than rate. The number of lanes is
// the best one in the limit of many blocks. possible is false if there is no such size.
func BlockedSize(keys uint64, rate float64) (blocks, hashes uint64, possible bool) {
	if !isRate(rate) {
		return 0, 0, false
	}
	hashes, bitsPerKey := lanesFor(rate)
	if keys == 0 {
		return 1, hashes, true
	}
	start := math.Max(float64(keys)*bitsPerKey/BlockedBits, 1)
	guess := blocksAbout(lanes(hashes), keys, rate, start)
	holds := func(blocks uint64) bool { return Blocked(blocks, hashes, keys) <= rate }
	blocks, possible = least(whole(math.Ceil(guess)), 1<<52, holds)
	return blocks, hashes, possible
}

// blocksAbout approximates the number of blocks with this rate, by Newton's method on the logarithms.
func blocksAbout(terms []term, keys uint64, rate, start float64) float64 {
	wanted, blocks := log(rate), start
	for range 8 {
		share, value, slope := 1/blocks, 0.0, 0.0
		for _, t := range terms {
			hit := share * t.hit
			part := float64(t.weight * missed(hit, keys))
			value += part
			slope += part * hit / (1 - hit)
		}
		step := (wanted - log(value)) * value / (float64(keys) * slope)
		if !isFinite(step) || step < 0 && blocks == 1 {
			break
		}
		blocks = math.Max(blocks*exp(clamp(step, -0.5, 0.5)), 1)
		// The error after the last step is about the square of that step: far less than a block.
		if math.Abs(step) < 1e-6 || math.Abs(step)*blocks < 0.5 {
			break
		}
	}
	return blocks
}

// BlockedNow returns the present rate of a filter. products is the sum, over the blocks and over the choices of lanes,
// of the products of the numbers of set bits in the chosen lanes. A choice counts once with the greater share in the
// low half, and once with the greater share in the high half, even if the shares are equal.
func BlockedNow(products float64, blocks, hashes uint64) float64 {
	choices := choose(halfLanes, int(hashes+1)/2) * choose(halfLanes, int(hashes)/2)
	return products * 0.5 / (choices * power(32, hashes)) / float64(blocks)
}

// BlockedCardinality returns the number of distinct keys that set this many bits in this many blocks; possible is false
// if all bits are set.
func BlockedCardinality(blocks, hashes, ones uint64) (keys float64, possible bool) {
	bits := float64(blocks * BlockedBits)
	if ones >= blocks*BlockedBits {
		return 0, false
	}
	return math.Abs(math.Log1p(-float64(ones)/bits) / math.Log1p(-float64(hashes)/bits)), true
}

// BlockedCardinalityError returns the standard error of the cardinality with this many keys. The variance of the number
// of zeros of one block is a sum over pairs of bits: the same bit, bits of one lane, of one half, and of both halves. A
// fixed number of keys makes the variance smaller.
func BlockedCardinalityError(blocks, hashes, keys uint64) float64 {
	n := float64(blocks)
	load := float64(keys) / n
	a, b := float64((hashes+1)/2), float64(hashes/2)
	p := float64(hashes) / BlockedBits
	// oneHalf is the probability that a key sets both of two different bits in one half.
	oneHalf := 0.5 * (a*(a-1) + b*(b-1)) / (8 * 7) / (32 * 32)
	bothHalves := a * b / 64 / (32 * 32)
	// The variance of the zeros of one block, for each type of pair.
	variance := 512*math.Expm1(load*p) + 512*7*32*math.Expm1(load*oneHalf) + 512*256*math.Expm1(load*bothHalves)
	slope := BlockedBits * p
	return math.Sqrt(n*math.Max(variance-load*slope*slope, 0)) / (BlockedBits * p)
}
