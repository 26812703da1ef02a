package filter

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/petal-filter/petal/bindings/go/internal/image"
	"github.com/petal-filter/petal/bindings/go/internal/sizing"
)

// Kind is a kind of filter.
type Kind = image.Kind

// The kinds that this package makes.
const (
	// Bloom is the classic Bloom filter: any size, the lowest false-positive rate.
	Bloom = image.Bloom
	// SplitBlock is the split-block Bloom filter of Apache Parquet: one memory access a key.
	SplitBlock = image.SplitBlock
	// Blocked, the default, is the blocked Bloom filter: one cache line a key, nearly as accurate as the classic one.
	Blocked = image.Blocked
)

// Hash is a hash function.
type Hash = image.Hash

// The hash functions.
const (
	// XXH3, the default, is the 64-bit XXH3, seeded. XXH3 is not for keys that an attacker may choose.
	XXH3 = image.XXH3
	// XXH64, seeded, is what Apache Parquet's filters use, with seed 0.
	XXH64 = image.XXH64
	// SipHash13 has a secret key: for keys that an attacker may choose.
	SipHash13 = image.SipHash13
	// External means that your program hashes: the filter takes only 64-bit hashes, which must be uniform in all bits.
	External = image.External
)

// Derivation is how the bits of a key come from its hash, in filters of the kind [Bloom].
type Derivation uint64

// The derivations.
const (
	// Remix multiplies the hash by the golden ratio from probe to probe. Remix is as good as independent hashing at every
	// size.
	Remix Derivation = iota
	// Independent mixes a separate word from the hash for each probe.
	Independent
	// Slices cuts the words of Independent into pieces.
	Slices
	// Double is a + i b (Kirsch and Mitzenmacher 2006). Small filters and low rates need more bits.
	Double
	// EnhancedDouble is a + i b + (i^3 - i) / 6 (Dillinger and Manolios 2004).
	EnhancedDouble
	// Triple is a + i b + i (i - 1) / 2 c (Dillinger and Manolios 2004).
	Triple
)

var derivations = [...]string{"remix", "independent", "slices", "double", "enhanced_double", "triple"}

// String returns the derivation's name.
func (d Derivation) String() string {
	if uint64(d) < uint64(len(derivations)) {
		return derivations[d]
	}
	return fmt.Sprintf("derivation %d", uint64(d))
}

// scheme returns how the probes of a derivation depend on each other; dependent is false if they do not.
func (d Derivation) scheme() (scheme sizing.Scheme, dependent bool) {
	return sizing.Scheme(d) - sizing.Scheme(Double), d >= Double
}

const (
	defaultCapacity = 1_000_000
	defaultRate     = 0.01
	maxHashes       = sizing.MaxHashes
)

// Spec says what filter to make: a capacity and a false-positive rate, or exact bits and hashes. The zero value is a
// whole spec: of the kind [Blocked], for a million keys, at a rate of 1 %.
type Spec struct {
	// Kind is the kind; 0 is [Blocked].
	Kind Kind
	// Capacity is the number of distinct keys that the filter has room for; 0 means a million, or unknown if Bits is set.
	Capacity uint64
	// FalsePositiveRate is the greatest rate at capacity, inside (0, 1); 0 means 0.01 unless Bits is set.
	FalsePositiveRate float64
	// Bits is the exact number of bits, instead of a rate: a multiple of 512 for Blocked, and of 256 for SplitBlock.
	Bits uint64
	// Hashes is the exact number of bits that a key sets, with Bits; 0 is the best for Bits and Capacity. Bloom takes
	// 1 to 64, Blocked 1 to 16, or an even number from 2 to 32 with two blocks, SplitBlock 8.
	Hashes uint32
	// Hash is the hash function; 0 is [XXH3].
	Hash Hash
	// Seed is the seed of [XXH3] and [XXH64], and your tag for [External]. A seed is not a secret.
	Seed uint64
	// Key is the secret key of [SipHash13], not all zeros. Files never contain the key.
	Key SecretKey
	// Foldable rounds the size up, by less than 0.8 %, so that the filter can be folded by many powers of two.
	Foldable bool

	// Blocks is the number of blocks in which a key has its bits, 1 or 2; 0 is 1. Two blocks take fewer bits at low rates,
	// and a lookup reads two cache lines. Only Blocked takes Blocks.
	Blocks uint32

	// Partitioned gives each probe of a key a slice of the bits. Only Bloom takes Partitioned.
	Partitioned bool
	// Derivation says how a key's probes come from its hash. Only Bloom takes derivations other than [Remix].
	Derivation Derivation
	// SliceWidth is how many bits of the hash a probe takes with [Slices], at most 64. 0 means 16 bits more than the size
	// needs.
	SliceWidth uint32
}

// number formats a rate for messages.
func number(x float64) string { return fmt.Sprintf("%.6g", x) }

// complete checks the rules that all kinds have in common, and returns the spec with the defaults filled in.
func (s Spec) complete() (Spec, error) {
	if s.Kind == 0 {
		s.Kind = Blocked
	}
	if s.Hash == 0 {
		s.Hash = XXH3
	}
	if s.Blocks > 1 && s.Kind != Blocked {
		return s, fmt.Errorf("%w: blocks is of blocked, not of %v", ErrUnknownValue, s.Kind)
	}
	if s.Blocks > 2 {
		return s, fmt.Errorf("%w: blocks = %d is not one of 1, 2", ErrOutOfRange, s.Blocks)
	}
	switch s.Kind {
	case Bloom:
	case Blocked, SplitBlock:
		if s.Partitioned || s.Derivation != Remix || s.SliceWidth != 0 {
			return s, fmt.Errorf("%w: partitioned, derivation and slice_width are of bloom, not of %v", ErrUnknownValue,
				s.Kind)
		}
	case image.Counting, image.Scalable, image.Fuse, image.Bloomier, image.Retrieval,
		image.Approximator, image.MutableBloomier:
		return s, fmt.Errorf("%w: this package makes blocked, split_block and bloom, not %v", ErrUnsupported, s.Kind)
	default:
		return s, fmt.Errorf("%w: kind = %d is not a kind", ErrUnknownValue, uint32(s.Kind))
	}
	rate := s.FalsePositiveRate
	if rate != 0 && !(rate > 0 && rate < 1) {
		return s, fmt.Errorf("%w: false_positive_rate = %s is not inside (0, 1)", ErrFalsePositiveRate, number(rate))
	}
	if s.Bits == 0 {
		if s.Hashes != 0 {
			return s, fmt.Errorf("%w: hashes = %d without bits: give both, or a rate", ErrContradiction, s.Hashes)
		}
		if s.Capacity == 0 {
			s.Capacity = defaultCapacity
		}
		if rate == 0 {
			s.FalsePositiveRate = defaultRate
		}
		if floor := sizing.HashFloor(s.Capacity); s.FalsePositiveRate < floor {
			return s, fmt.Errorf("%w: false_positive_rate = %s is below %s, the least that 64-bit hashes of %d keys have",
				ErrOutOfRange, number(s.FalsePositiveRate), number(floor), s.Capacity)
		}
		return s, nil
	}
	if rate != 0 {
		return s, fmt.Errorf("%w: bits = %d and false_positive_rate = %s: give one of them", ErrContradiction, s.Bits,
			number(rate))
	}
	return s, s.checkExact()
}

// checkExact refuses an exact geometry that the kind cannot have.
func (s *Spec) checkExact() error {
	unit, least, most := uint64(1), uint32(1), uint32(maxHashes)
	switch s.Kind {
	case Blocked:
		unit, most = sizing.BlockedBits, sizing.MaxLanes
		if s.Blocks == 2 {
			most = sizing.MaxTwoBlocksHashes
		}
	case SplitBlock:
		unit, least, most = sizing.SplitBlockBits, 8, 8
	}
	switch {
	case s.Bits%unit != 0:
		return fmt.Errorf("%w: bits = %d is not a multiple of %d", ErrOutOfRange, s.Bits, unit)
	case s.Hashes != 0 && least == most && s.Hashes != most:
		return fmt.Errorf("%w: hashes = %d is not the %d of %v", ErrOutOfRange, s.Hashes, most, s.Kind)
	case s.Hashes != 0 && (s.Hashes < least || s.Hashes > most):
		return fmt.Errorf("%w: hashes = %d with bits = %d is not from %d to %d", ErrOutOfRange, s.Hashes, s.Bits,
			least, most)
	case s.Blocks == 2 && s.Hashes%2 != 0:
		return fmt.Errorf("%w: hashes = %d with blocks = 2 is not an even number", ErrOutOfRange, s.Hashes)
	case s.Hashes == 0 && s.Capacity == 0 && least < most:
		return fmt.Errorf("%w: bits = %d needs hashes, or a capacity to choose them for", ErrContradiction, s.Bits)
	case s.Bits >= 1<<63:
		return fmt.Errorf("%w: bits = %d are more than the address space holds", ErrTooLarge, s.Bits)
	case s.Foldable:
		return fmt.Errorf("%w: foldable rounds a size, but bits = %d is exact", ErrContradiction, s.Bits)
	}
	return nil
}

// header returns the header of an empty filter's image, without the length of its payload.
func (s Spec) header() (image.Header, error) {
	s, err := s.complete()
	if err != nil {
		return image.Header{}, err
	}
	h := image.Header{Kind: s.Kind, Hash: s.Hash, Capacity: s.Capacity, FalsePositiveRate: s.FalsePositiveRate}
	var hashes uint64
	switch s.Kind {
	case Blocked:
		h.Bits, hashes, err = s.blocked()
		if s.Blocks == 2 {
			h.Words[0] = 2
		}
	case SplitBlock:
		h.Bits, hashes, err = s.splitBlock()
	case Bloom:
		h.Bits, hashes, err = s.bloom(&h.Words)
	}
	if err != nil {
		return h, err
	}
	h.Hashes = uint32(hashes)
	if _, possible := image.ImageBytes(h.Bits); !possible {
		return h, fmt.Errorf("%w: bits = %d are more than the address space holds", ErrTooLarge, h.Bits)
	}
	h.Identifier, err = s.identifier()
	return h, err
}

// identifier checks the hash function with its seed or key, and returns the identifier for the image.
func (s *Spec) identifier() (uint64, error) {
	given := s.Key != SecretKey{}
	switch {
	case s.Hash < XXH3 || s.Hash > External:
		return 0, fmt.Errorf("%w: hash = %d is not a hash function", ErrUnknownValue, uint32(s.Hash))
	case s.Hash != SipHash13 && given:
		return 0, fmt.Errorf("%w: hash = %v", ErrKeyUnwanted, s.Hash)
	case s.Hash != SipHash13:
		return s.Seed, nil
	case !given:
		return 0, fmt.Errorf("%w: hash = siphash13 needs a secret key that is not all zeros", ErrKeyMissing)
	case s.Seed != 0:
		return 0, fmt.Errorf("%w: seed = %d has no meaning with hash = siphash13, which takes a key", ErrContradiction,
			s.Seed)
	}
	return image.KeyIdentifier(s.Key), nil
}

// tooLarge is the error for a size that is too large.
func (s *Spec) tooLarge() error {
	return fmt.Errorf("%w: capacity = %d at false_positive_rate = %s needs more bits than can be", ErrTooLarge,
		s.Capacity, number(s.FalsePositiveRate))
}

// folding rounds the units of a foldable filter up to a multiple of the greatest power of two that is at most a 128th
// of them.
func (s *Spec) folding(units uint64) (uint64, error) {
	if !s.Foldable {
		return units, nil
	}
	unit := uint64(1) << (bits.Len64(max(units/128, 1)) - 1)
	if units > math.MaxUint64-(unit-1) {
		return 0, s.tooLarge()
	}
	return (units + unit - 1) / unit * unit, nil
}

// product multiplies two numbers, or returns an error if the product is too large.
func (s *Spec) product(a, b uint64) (uint64, error) {
	high, low := bits.Mul64(a, b)
	if high != 0 {
		return 0, s.tooLarge()
	}
	return low, nil
}

func (s *Spec) blocked() (bits, hashes uint64, err error) {
	best, size := sizing.BlockedHashes, sizing.BlockedSize
	if s.Blocks == 2 {
		best, size = sizing.TwoBlocksHashes, sizing.TwoBlocksSize
	}
	if s.Bits != 0 {
		if s.Hashes == 0 {
			return s.Bits, best(float64(s.Bits) / float64(s.Capacity)), nil
		}
		return s.Bits, uint64(s.Hashes), nil
	}
	if s.FalsePositiveRate < sizing.BlockedMinRate {
		return 0, 0, fmt.Errorf("%w: false_positive_rate = %s is below %s, the least of this kind", ErrOutOfRange,
			number(s.FalsePositiveRate), number(sizing.BlockedMinRate))
	}
	blocks, hashes, possible := size(s.Capacity, s.FalsePositiveRate)
	if !possible {
		return 0, 0, s.tooLarge()
	}
	if blocks, err = s.folding(blocks); err != nil {
		return 0, 0, err
	}
	bits, err = s.product(blocks, sizing.BlockedBits)
	return bits, hashes, err
}

func (s *Spec) splitBlock() (bits, hashes uint64, err error) {
	blocks := s.Bits / sizing.SplitBlockBits
	if s.Bits == 0 {
		possible := false
		if blocks, possible = sizing.SplitBlockSize(s.Capacity, s.FalsePositiveRate); !possible {
			return 0, 0, fmt.Errorf("%w: capacity = %d at false_positive_rate = %s needs 2^32 blocks or more", ErrTooLarge,
				s.Capacity, number(s.FalsePositiveRate))
		}
		if blocks, err = s.folding(blocks); err != nil {
			return 0, 0, err
		}
	}
	if blocks >= sizing.MaxSplitBlocks {
		return 0, 0, fmt.Errorf("%w: %d blocks of 256 bits are 2^32 or more", ErrTooLarge, blocks)
	}
	return blocks * sizing.SplitBlockBits, 8, nil
}

func (s *Spec) bloom(words *[8]uint64) (size, hashes uint64, err error) {
	if s.Derivation > Triple {
		return 0, 0, fmt.Errorf("%w: derivation = %d is not a whole number from 0 to 5", ErrOutOfRange,
			uint64(s.Derivation))
	}
	if s.SliceWidth > 64 {
		return 0, 0, fmt.Errorf("%w: slice_width = %d is not a whole number from 0 to 64", ErrOutOfRange, s.SliceWidth)
	}
	size, hashes = s.Bits, uint64(s.Hashes)
	switch {
	case size == 0:
		size, hashes, err = s.bloomByRate()
	case hashes == 0:
		hashes = sizing.BloomHashes(size, s.Capacity)
	}
	if err != nil {
		return 0, 0, err
	}
	slices := uint64(1)
	if s.Partitioned {
		slices, words[0] = hashes, 1
	}
	reach := size / slices
	if reach == 0 {
		return 0, 0, fmt.Errorf("%w: bits = %d are fewer than the hashes = %d slices", ErrContradiction, size, hashes)
	}
	words[1] = uint64(s.Derivation)
	needed := uint32(bits.Len64(reach - 1))
	switch {
	case s.Derivation == Slices && s.SliceWidth == 0:
		words[2] = uint64(min(needed+16, 64))
	case s.Derivation == Slices && s.SliceWidth < needed:
		return 0, 0, fmt.Errorf("%w: slice_width = %d is too few for positions below %d", ErrContradiction,
			s.SliceWidth, reach)
	case s.Derivation == Slices:
		words[2] = uint64(s.SliceWidth)
	case s.SliceWidth != 0:
		return 0, 0, fmt.Errorf("%w: slice_width = %d has no meaning without derivation = slices", ErrContradiction,
			s.SliceWidth)
	}
	return reach * slices, hashes, nil
}

// bloomByRate returns the least size for the rate.
func (s *Spec) bloomByRate() (size, hashes uint64, err error) {
	scheme, dependent := s.Derivation.scheme()
	if dependent && s.Foldable {
		// These derivations need a range without small factors, which cannot be folded.
		return 0, 0, fmt.Errorf("%w: foldable keeps no false_positive_rate with derivation = %v: give bits instead, or "+
			"derivation = remix", ErrContradiction, s.Derivation)
	}
	// units is the number that a fold divides: all bits, or the bits of a slice.
	var units uint64
	var possible bool
	switch {
	case dependent:
		units, hashes, possible = sizing.DependentSize(scheme, s.Partitioned, s.Capacity, s.FalsePositiveRate)
	case s.Partitioned:
		units, hashes, possible = sizing.PartitionedSize(s.Capacity, s.FalsePositiveRate)
	default:
		units, hashes, possible = sizing.BloomSize(s.Capacity, s.FalsePositiveRate)
	}
	if !possible {
		return 0, 0, s.tooLarge()
	}
	if units, err = s.folding(units); err != nil || !s.Partitioned {
		return units, hashes, err
	}
	size, err = s.product(units, hashes)
	return size, hashes, err
}

// ImageSize returns the size in bytes of the complete image of the filter that the spec describes.
func (s Spec) ImageSize() (uint64, error) {
	h, err := s.header()
	if err != nil {
		return 0, err
	}
	length, _ := image.ImageBytes(h.Bits)
	return length, nil
}

// ExpectedFalsePositiveRate returns the exact rate of the filter that the spec describes with that many distinct keys
// in it.
func (s Spec) ExpectedFalsePositiveRate(keys uint64) (float64, error) {
	h, err := s.header()
	if err != nil {
		return 0, err
	}
	return expected(&h, keys), nil
}

// expected returns the exact false-positive rate of a geometry with that many distinct keys.
func expected(h *image.Header, keys uint64) float64 {
	var rate float64
	hashes := uint64(h.Hashes)
	switch h.Kind {
	case Blocked:
		of := sizing.Blocked
		if shares(h) == 2 {
			of = sizing.TwoBlocks
		}
		rate = of(h.Bits/sizing.BlockedBits, hashes, keys)
	case SplitBlock:
		rate = sizing.SplitBlock(h.Bits/sizing.SplitBlockBits, keys)
	case Bloom:
		reach, partitioned := reach(h)
		if scheme, dependent := Derivation(h.Words[1]).scheme(); dependent {
			rate = sizing.Dependent(scheme, partitioned, reach, hashes, keys)
		} else if partitioned {
			rate = sizing.Partitioned(reach, hashes, keys)
		} else {
			rate = sizing.Bloom(reach, hashes, keys)
		}
	}
	return max(rate, sizing.HashFloor(keys))
}

// reach returns the number of bits among which a probe of a filter of the kind bloom chooses, and whether these bits
// are the probe's own slice.
func reach(h *image.Header) (bits uint64, partitioned bool) {
	if h.Words[0] == 1 {
		return h.Bits / uint64(h.Hashes), true
	}
	return h.Bits, false
}

// shares returns the number of blocks in which a key of a filter of the kind blocked has its bits.
func shares(h *image.Header) uint64 { return max(h.Words[0], 1) }
