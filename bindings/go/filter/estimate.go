package filter

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/petal-filter/petal/bindings/go/internal/image"
	"github.com/petal-filter/petal/bindings/go/internal/sizing"
	"github.com/petal-filter/petal/bindings/go/internal/texts"
)

// Estimate is an estimate with its uncertainty.
type Estimate struct {
	// Value is the estimate as the formula gives it: the estimate of an intersection may be negative.
	Value         float64 `json:"value"`
	StandardError float64 `json:"standard_error"`
	// Low and High are the ends of the 95 % interval.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Saturated says that a filter is too full to tell, and that the numbers mean nothing.
	Saturated bool `json:"saturated"`
}

// String returns the estimate and its interval, or "unknown" if the filter is too full to tell.
func (e Estimate) String() string { return texts.Estimate(e.Value, e.Low, e.High, e.Saturated) }

// Overlap compares two filters: the sizes of both sets, of the union and of the intersection.
type Overlap struct {
	FirstCount        Estimate `json:"first_count"`
	SecondCount       Estimate `json:"second_count"`
	UnionCount        Estimate `json:"union_count"`
	IntersectionCount Estimate `json:"intersection_count"`
	// Jaccard is the share of all keys that both filters hold.
	Jaccard Estimate `json:"jaccard"`
	// DifferenceCount is how many keys only one of the two holds. The error of this estimate grows with the difference,
	// and not with the sets.
	DifferenceCount Estimate `json:"difference_count"`
}

// String returns one line with all six estimates.
func (o Overlap) String() string {
	return texts.Overlap(o.FirstCount, o.SecondCount, o.UnionCount, o.IntersectionCount, o.Jaccard, o.DifferenceCount)
}

// Statistics are how full a filter is.
type Statistics struct {
	// Fill is the share of the bits that are set.
	Fill float64 `json:"fill"`
	// FalsePositiveRate is the present rate, measured from the payload.
	FalsePositiveRate float64 `json:"false_positive_rate"`
	// FalsePositiveRateFloor is the lowest rate that 64-bit hashes allow with this many keys.
	FalsePositiveRateFloor float64 `json:"false_positive_rate_floor"`
	// CountEstimate is the number of distinct keys, estimated from the fill; negative if the filter is too full to tell.
	CountEstimate float64 `json:"count_estimate"`
}

// String returns one line: the fill, the present rate, and the estimated number of keys.
func (s Statistics) String() string {
	return texts.Statistics(s.Fill, s.FalsePositiveRate, s.CountEstimate)
}

// sigmas is the distance of an interval's ends in standard errors: 95 % of a normal distribution.
const sigmas = 1.959963984540054

func estimate(value, standardError float64) Estimate {
	return Estimate{
		Value:         value,
		StandardError: standardError,
		Low:           value - sigmas*standardError,
		High:          value + sigmas*standardError,
	}
}

// ExpectedFalsePositiveRate returns the exact rate to expect with that many distinct keys. Only reads the filter.
func (f *Filter) ExpectedFalsePositiveRate(keys uint64) (float64, error) {
	h := f.image().Header()
	if h.Kind == 0 {
		return 0, closed
	}
	return expected(&h, keys), nil
}

// Estimate returns how many distinct keys the filter holds, judged by its bits (Swamidass and Baldi 2007). Reads the
// whole payload, and changes nothing.
func (f *Filter) Estimate() (Estimate, error) {
	h := f.image().Header()
	if h.Kind == 0 {
		return Estimate{}, closed
	}
	return cardinality(&h, ones(f.image().Payload())), nil
}

// EstimateOverlap compares two filters that could be merged. Returns [ErrIncompatible] for other filters. The
// intersection's error does not depend on its size: a small overlap of large sets looks like none. Reads both payloads,
// and changes nothing.
func (f *Filter) EstimateOverlap(other *Filter) (Overlap, error) {
	if err := compatible(f.image(), other.image()); err != nil {
		return Overlap{}, err
	}
	h, first, second := f.image().Header(), f.image().Payload(), other.image().Payload()
	both := uint64(0)
	for at := 0; at < len(first); at += 8 {
		both += uint64(bits.OnesCount64(binary.LittleEndian.Uint64(first[at:]) | binary.LittleEndian.Uint64(second[at:])))
	}
	o := Overlap{
		FirstCount:  cardinality(&h, ones(first)),
		SecondCount: cardinality(&h, ones(second)),
		UnionCount:  cardinality(&h, both),
	}
	if o.FirstCount.Saturated || o.SecondCount.Saturated || o.UnionCount.Saturated {
		o.IntersectionCount.Saturated, o.Jaccard.Saturated, o.DifferenceCount.Saturated = true, true, true
		return o, nil
	}
	sum, union := o.FirstCount.Value+o.SecondCount.Value, o.UnionCount.Value
	errors := o.FirstCount.StandardError + o.SecondCount.StandardError
	o.IntersectionCount = estimate(sum-union, errors+o.UnionCount.StandardError)
	// J = (|A| + |B|) / |A or B| - 1. The errors add up at most. Empty filters have no keys in common.
	if union > 0 {
		o.Jaccard = estimate(sum/union-1, (errors+sum/union*o.UnionCount.StandardError)/union)
	}
	o.DifferenceCount = differences(&h, o)
	return o, nil
}

// differences estimates the number of keys that only one of two filters has, 2 |A or B| - |A| - |B|. The bits that both
// filters share have the same error in all three terms. The variance is therefore 4 V(A or B) - 3 V(A) - 3 V(B) + 2 V(A
// and B), where V is the variance of the estimate of a set.
func differences(h *image.Header, o Overlap) Estimate {
	variance := func(e Estimate) float64 { return e.StandardError * e.StandardError }
	inCommon := standardError(h, max(0, o.FirstCount.Value+o.SecondCount.Value-o.UnionCount.Value))
	sum := 4*variance(o.UnionCount) - 3*(variance(o.FirstCount)+variance(o.SecondCount)) + 2*inCommon*inCommon
	return estimate(2*o.UnionCount.Value-o.FirstCount.Value-o.SecondCount.Value, math.Sqrt(max(0, sum)))
}

// cardinality estimates the number of distinct keys from the number of set bits.
func cardinality(h *image.Header, ones uint64) Estimate {
	hashes := uint64(h.Hashes)
	var keys float64
	var possible bool
	switch h.Kind {
	case blocked:
		// The shares of a key set their bits independently, like as many keys with one block each.
		shares := shares(h)
		keys, possible = sizing.BlockedCardinality(h.Bits/sizing.BlockedBits, hashes/shares, ones)
		keys /= float64(shares)
	case splitBlock:
		keys, possible = sizing.SplitBlockCardinality(h.Bits/sizing.SplitBlockBits, ones)
	default:
		keys, possible = bloomKeys(h, ones)
	}
	if !possible {
		return Estimate{Saturated: true}
	}
	return estimate(keys, standardError(h, keys))
}

// standardError returns the standard error of an estimate of this many keys.
func standardError(h *image.Header, keys float64) float64 {
	hashes, whole := uint64(h.Hashes), uint64(math.Round(keys))
	switch h.Kind {
	case blocked:
		shares := shares(h)
		all := uint64(math.Round(keys * float64(shares)))
		return sizing.BlockedCardinalityError(h.Bits/sizing.BlockedBits, hashes/shares, all) / float64(shares)
	case splitBlock:
		return sizing.SplitBlockCardinalityError(h.Bits/sizing.SplitBlockBits, whole)
	default:
		// One formula for both shapes: the error of k independent slices of m/k bits is as small as that of one array of m
		// bits.
		return sizing.BloomCardinalityError(h.Bits, hashes, whole)
	}
}

// bloomKeys returns the number of keys that set this many bits in a filter of the kind bloom.
func bloomKeys(h *image.Header, ones uint64) (keys float64, possible bool) {
	if slice, partitioned := reach(h); partitioned {
		return sizing.PartitionedCardinality(slice, uint64(h.Hashes), ones)
	}
	return sizing.BloomCardinality(h.Bits, uint64(h.Hashes), ones)
}

// Statistics measures how full the filter is. Reads the whole payload, and changes nothing.
func (f *Filter) Statistics() (Statistics, error) {
	h, payload := f.image().Header(), f.image().Payload()
	var all uint64
	var rate float64
	switch h.Kind {
	case 0:
		return Statistics{}, closed
	case blocked:
		all, rate = measureBlocked(payload, h.Hashes/uint32(shares(&h)))
		// Given the bits, a lookup finds the shares of a key independently of each other.
		rate = math.Pow(rate, float64(shares(&h)))
	case splitBlock:
		// The payload may have padding after its blocks.
		all, rate = measureSplitBlock(payload[:h.Bits/8])
	default:
		all, rate = measureBloom(&h, payload)
	}
	s := Statistics{Fill: float64(all) / float64(h.Bits), FalsePositiveRate: rate, CountEstimate: -1}
	keys := h.Insertions
	if count := cardinality(&h, all); !count.Saturated {
		s.CountEstimate = count.Value
		keys = uint64(count.Value)
	}
	s.FalsePositiveRateFloor = sizing.HashFloor(keys)
	return s, nil
}

// ones counts the set bits in whole words.
func ones(payload []byte) (count uint64) {
	for ; len(payload) >= 8; payload = payload[8:] {
		count += uint64(bits.OnesCount64(binary.LittleEndian.Uint64(payload)))
	}
	return count
}

// onesOf counts the set bits in from..to.
func onesOf(payload []byte, from, to uint64) (count uint64) {
	for from < to {
		at := from / 64
		word := binary.LittleEndian.Uint64(payload[8*at:]) >> (from % 64)
		end := min(to, 64*(at+1))
		if width := end - from; width < 64 {
			word &= 1<<width - 1
		}
		count += uint64(bits.OnesCount64(word))
		from = end
	}
	return count
}

// measureSplitBlock returns the number of set bits, and the mean over the blocks of the product of the lanes' fills.
func measureSplitBlock(blocks []byte) (all uint64, rate float64) {
	sum := 0.0
	for at := 0; at < len(blocks); at += 32 {
		product := 1.0
		for lane := at; lane < at+32; lane += 4 {
			count := bits.OnesCount32(binary.LittleEndian.Uint32(blocks[lane:]))
			all += uint64(count)
			product *= float64(count)
		}
		sum += product
	}
	return all, sum * 0x1p-40 / float64(len(blocks)/32)
}

// measureBlocked returns the number of set bits, and the mean product of the chosen lanes' fills, over the blocks and
// over the choices of lanes. The sum of the products of a of eight numbers, over all choices, is their elementary
// symmetric polynomial of degree a.
func measureBlocked(payload []byte, hashes uint32) (all uint64, rate float64) {
	more, fewer := (hashes+1)/2, hashes/2
	sum := 0.0
	for at := 0; at < len(payload); at += 64 {
		// The coefficients of the product of 1 + x t, where x is the number of set bits of each lane of a half.
		var halves [2][9]float64
		for half := range halves {
			products := &halves[half]
			products[0] = 1
			for lane := range 8 {
				count := bits.OnesCount32(binary.LittleEndian.Uint32(payload[at+32*half+4*lane:]))
				all += uint64(count)
				for degree := lane + 1; degree >= 1; degree-- {
					products[degree] += products[degree-1] * float64(count)
				}
			}
		}
		sum += halves[0][more]*halves[1][fewer] + halves[0][fewer]*halves[1][more]
	}
	return all, sizing.BlockedNow(sum, uint64(len(payload)/64), uint64(hashes))
}

// measureBloom returns the number of set bits and the present rate. For independent probes the rate is (X/m)^k, or the
// product of the slices' fills.
func measureBloom(h *image.Header, payload []byte) (all uint64, rate float64) {
	reach, partitioned := reach(h)
	if !partitioned {
		all = ones(payload)
		rate = math.Pow(float64(all)/float64(h.Bits), float64(h.Hashes))
	} else {
		rate = 1
		for slice := range uint64(h.Hashes) {
			set := onesOf(payload, slice*reach, (slice+1)*reach)
			all += set
			rate *= float64(set) / float64(reach)
		}
	}
	scheme, dependent := derivation(h.Words[1]).scheme()
	if !dependent {
		return all, rate
	}
	if exact, counted := countOut(h, scheme, payload); counted {
		return all, exact
	}
	fill := rate
	if !partitioned {
		fill = float64(all) / float64(h.Bits)
	}
	keys, possible := bloomKeys(h, all)
	if !possible {
		return all, rate
	}
	return all, sizing.DependentNow(scheme, partitioned, reach, uint64(h.Hashes), keys, fill)
}

// mostReads is the most reads of 64 bits that countOut may take: some milliseconds.
const mostReads = 1 << 22

// countOut returns the share of all hashes whose bits are all set, for a small filter whose probes depend on each
// other. For every pair of words b and c, countOut tests 64 neighbouring values of a together. counted is false if that
// takes too many reads.
func countOut(h *image.Header, scheme sizing.Scheme, payload []byte) (rate float64, counted bool) {
	reach, partitioned := reach(h)
	stride, thirds := uint64(0), uint64(1)
	if partitioned {
		stride = reach
	}
	if scheme == sizing.Triple {
		thirds = reach
	}
	high, pairs := bits.Mul64(reach, thirds)
	if high != 0 || pairs > mostReads || pairs*((reach+63)/64)*uint64(h.Hashes) > mostReads {
		return 0, false
	}
	found := 0
	for c := range thirds {
		for b := range reach {
			for a := uint64(0); a < reach; a += 64 {
				set := uint64(math.MaxUint64) >> (64 - min(reach-a, 64))
				q, step := a, b
				for i := uint64(0); i < uint64(h.Hashes) && set != 0; i++ {
					set &= window(payload, i*stride, reach, q)
					q = (q + step) % reach
					switch scheme {
					case sizing.EnhancedDouble:
						step = (step + i + 1) % reach
					case sizing.Triple:
						step = (step + c) % reach
					}
				}
				found += bits.OnesCount64(set)
			}
		}
	}
	return float64(found) / float64(reach) / float64(pairs), true
}

// window returns 64 consecutive bits from a position on. The bits lie in a range of reach bits from start on, which
// wraps around.
func window(payload []byte, start, reach, position uint64) (all uint64) {
	for have := uint64(0); have < 64; {
		more := min(reach-position, 64-have)
		from := start + position
		word := binary.LittleEndian.Uint64(payload[from/64*8:]) >> (from % 64)
		more = min(more, 64-from%64)
		if more < 64 {
			word &= 1<<more - 1
		}
		all |= word << have
		have += more
		if position += more; position == reach {
			position = 0
		}
	}
	return all
}
