package filter

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/petal-filter/petal/bindings/go/internal/image"
	"github.com/petal-filter/petal/bindings/go/internal/sizing"
	"github.com/petal-filter/petal/bindings/go/internal/texts"
)

// Kind is the number of a kind of filter. Its String method returns the kind's name, as [Spec] takes it.
type Kind = image.Kind

// The kinds that this package makes.
const (
	bloom      = image.Bloom
	splitBlock = image.SplitBlock
	blocked    = image.Blocked
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
	// DigestHash means that keys are digests of MD5, SHA or BLAKE3. This package reads and changes such filters, which are
	// of the kind bloom, but does not make them.
	DigestHash = image.DigestHash
)

// derivation is how the bits of a key come from its hash, in filters of the kind bloom.
type derivation uint64

// The derivations.
const (
	// remix multiplies the hash by the golden ratio from probe to probe.
	remix derivation = iota
	// independent mixes a separate word from the hash for each probe.
	independent
	// sliced cuts the words of independent into pieces.
	sliced
	// double is a + i b (Kirsch and Mitzenmacher 2006).
	double
	// enhancedDouble is a + i b + (i^3 - i) / 6 (Dillinger and Manolios 2004).
	enhancedDouble
	// triple is a + i b + i (i - 1) / 2 c (Dillinger and Manolios 2004).
	triple
)

var derivations = []string{"remix", "independent", "slices", "double", "enhanced_double", "triple"}

// String returns the derivation's name.
func (d derivation) String() string { return texts.Name(derivations, "derivation", uint32(d)) }

// scheme returns how the probes of a derivation depend on each other; dependent is false if they do not.
func (d derivation) scheme() (scheme sizing.Scheme, dependent bool) {
	return sizing.Scheme(d) - sizing.Scheme(double), d >= double
}

const (
	defaultCapacity = 1_000_000
	defaultRate     = 0.01
	maxHashes       = sizing.MaxHashes
)

// Spec says what filter to make: a capacity and a false-positive rate, or exact bits and hashes. The zero value is a
// whole spec: of the kind blocked, for a million keys, at a rate of 1 %.
type Spec struct {
	// Kind is the name of the kind. Empty is blocked, which takes one cache line a key and is nearly as accurate as bloom.
	// bloom is the classic Bloom filter: any size, the lowest false-positive rate. split_block is the split-block Bloom
	// filter of Apache Parquet: one memory access a key.
	Kind string `json:"kind,omitzero"`
	// Hash is the hash function; 0 is [XXH3].
	Hash Hash `json:"hash,omitzero"`
	// Capacity is the number of distinct keys that the filter has room for; 0 means a million, or unknown if Bits is set.
	Capacity uint64 `json:"capacity,omitzero"`
	// FalsePositiveRate is the greatest rate at capacity, inside (0, 1); 0 means 0.01 unless Bits is set.
	FalsePositiveRate float64 `json:"false_positive_rate,omitzero"`
	// Bits is the exact number of bits, in place of a rate: a multiple of 512 for blocked, and of 256 for split_block.
	Bits uint64 `json:"bits,omitzero"`
	// Hashes is the exact number of bits that a key sets, with Bits; 0 is the best for Bits and Capacity. bloom takes
	// 1 to 64, blocked 1 to 16, or an even number from 2 to 32 with two blocks, split_block 8.
	Hashes uint32 `json:"hashes,omitzero"`
	// Seed is the seed of [XXH3] and [XXH64], and your tag for [External]. A seed is not a secret.
	Seed uint64 `json:"seed,omitzero"`
	// Secret is the secret key of [SipHash13], not all zeros. Files never contain the key.
	Secret Secret `json:"-"`
	// Parameters are the parameters that only some kinds take, by name: numbers as digits, choices by name.
	//
	//   - foldable, of all three kinds: 1 rounds the size up, by less than 0.8 %, so that the filter can be folded by many
	//     powers of two.
	//   - blocks, of blocked: in how many blocks a key has its bits, 1 or 2. Two blocks take fewer bits at low rates, and
	//     a lookup reads two cache lines.
	//   - partitioned, of bloom: 1 gives each probe of a key a slice of the bits.
	//   - derivation, of bloom: how a key's probes come from its hash. remix, the default, is as good as independent
	//     hashing at every size, as independent and slices are. double (Kirsch and Mitzenmacher 2006), enhanced_double and
	//     triple (Dillinger and Manolios 2004) need more bits in small filters and at low rates.
	//   - slice_width, of bloom: how many bits of the hash a probe takes with the derivation slices, at most 64. 0 means
	//     16 bits more than the size needs.
	Parameters map[string]string `json:"parameters,omitzero"`
}

// String returns the fields that the spec sets, by their names in JSON and in C. A secret key appears only as a note.
func (s Spec) String() string {
	var set texts.Fields
	set.Add("kind", s.Kind, s.Kind != "")
	set.Add("hash", s.Hash, s.Hash != 0)
	set.Add("capacity", s.Capacity, s.Capacity != 0)
	set.Add("false_positive_rate", s.FalsePositiveRate, s.FalsePositiveRate != 0)
	set.Add("bits", s.Bits, s.Bits != 0)
	set.Add("hashes", s.Hashes, s.Hashes != 0)
	set.Add("seed", s.Seed, s.Seed != 0)
	set.Add("secret", "given", s.Secret != Secret{})
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		set.Add(name, s.Parameters[name], true)
	}
	return set.String()
}

// UnmarshalJSON takes an object in the JSON form of a spec. UnmarshalJSON refuses unknown names, because a misspelt
// rate would make another filter. A secret key has no JSON form; set it afterwards.
func (s *Spec) UnmarshalJSON(text []byte) error {
	type plain Spec
	var read plain
	if err := texts.Strict(text, &read); err != nil {
		return fmt.Errorf("petal: a spec: %w", err)
	}
	*s = Spec(read)
	return nil
}

// request is a spec whose defaults are filled in, and whose kind and parameters are numbers.
type request struct {
	Spec
	kind                  Kind
	foldable, partitioned bool
	derivation            derivation
	sliceWidth, blocks    uint32
}

// parameter is a parameter that some kinds take: one of the choices, or a whole number from least to most.
type parameter struct {
	kinds       []Kind
	choices     []string
	least, most uint64
	set         func(r *request, value uint64)
}

var parameters = map[string]parameter{
	"foldable": {
		kinds: []Kind{bloom, splitBlock, blocked}, most: 1, set: func(r *request, value uint64) { r.foldable = value == 1 },
	},
	"blocks": {
		kinds: []Kind{blocked}, least: 1, most: 2, set: func(r *request, value uint64) { r.blocks = uint32(value) },
	},
	"partitioned": {
		kinds: []Kind{bloom}, most: 1, set: func(r *request, value uint64) { r.partitioned = value == 1 },
	},
	"derivation": {
		kinds: []Kind{bloom}, choices: derivations, most: uint64(triple),
		set: func(r *request, value uint64) { r.derivation = derivation(value) },
	},
	"slice_width": {
		kinds: []Kind{bloom}, most: 64, set: func(r *request, value uint64) { r.sliceWidth = uint32(value) },
	},
}

// read returns the number that a text stands for.
func (p *parameter) read(name, text string) (uint64, error) {
	if place := slices.Index(p.choices, text); place >= 0 {
		return uint64(place), nil
	}
	// Digits of a fraction are a whole number too if the fraction is 0. The library reads no hexadecimal digits.
	value, err := strconv.ParseFloat(text, 64)
	switch {
	case err == nil && !strings.ContainsAny(text, "xX_") && value == math.Trunc(value) &&
		value >= float64(p.least) && value <= float64(p.most):
		return uint64(value), nil
	case len(p.choices) > 0:
		return 0, fmt.Errorf("%w: %s = %s is not one of %s", ErrUnknownValue, name, text, strings.Join(p.choices, ", "))
	}
	return 0, fmt.Errorf("%w: %s = %s is not a whole number from %d to %d", ErrOutOfRange, name, text, p.least, p.most)
}

// request reads the kind and the parameters of a spec.
func (s Spec) request() (request, error) {
	r := request{Spec: s, kind: blocked, blocks: 1}
	if s.Kind != "" {
		if err := r.kind.UnmarshalText([]byte(s.Kind)); err != nil {
			return r, err
		}
	}
	if !image.IsMade(r.kind) {
		return r, fmt.Errorf("%w: this package makes bloom, split_block and blocked, not %v", ErrUnsupported, r.kind)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		p, known := parameters[name]
		switch {
		case !known:
			return r, fmt.Errorf("%w: %s is not a parameter of any kind of this package", ErrUnknownValue, name)
		case !slices.Contains(p.kinds, r.kind):
			return r, fmt.Errorf("%w: %v takes no parameter %s, which is one of %v", ErrUnknownValue, r.kind, name, p.kinds)
		}
		value, err := p.read(name, s.Parameters[name])
		if err != nil {
			return r, err
		}
		p.set(&r, value)
	}
	return r, r.complete()
}

// number formats a rate for messages.
func number(x float64) string { return fmt.Sprintf("%.6g", x) }

// complete checks the rules that all kinds have in common, and fills the defaults in.
func (r *request) complete() error {
	if r.Hash == 0 {
		r.Hash = XXH3
	}
	rate := r.FalsePositiveRate
	if rate != 0 && !(rate > 0 && rate < 1) {
		return fmt.Errorf("%w: false_positive_rate = %s is not inside (0, 1)", ErrFalsePositiveRate, number(rate))
	}
	if r.Bits == 0 {
		if r.Hashes != 0 {
			return fmt.Errorf("%w: hashes = %d without bits: give both, or a rate", ErrContradiction, r.Hashes)
		}
		if r.Capacity == 0 {
			r.Capacity = defaultCapacity
		}
		if rate == 0 {
			r.FalsePositiveRate = defaultRate
		}
		if floor := sizing.HashFloor(r.Capacity); r.FalsePositiveRate < floor {
			return fmt.Errorf("%w: false_positive_rate = %s is below %s, the least that 64-bit hashes of %d keys have",
				ErrOutOfRange, number(r.FalsePositiveRate), number(floor), r.Capacity)
		}
		return nil
	}
	if rate != 0 {
		return fmt.Errorf("%w: bits = %d and false_positive_rate = %s: give one of them", ErrContradiction, r.Bits,
			number(rate))
	}
	return r.checkExact()
}

// checkExact refuses an exact geometry that the kind cannot have.
func (r *request) checkExact() error {
	unit, least, most := uint64(1), uint32(1), uint32(maxHashes)
	switch r.kind {
	case blocked:
		unit, most = sizing.BlockedBits, sizing.MaxLanes
		if r.blocks == 2 {
			most = sizing.MaxTwoBlocksHashes
		}
	case splitBlock:
		unit, least, most = sizing.SplitBlockBits, 8, 8
	}
	switch {
	case r.Bits%unit != 0:
		return fmt.Errorf("%w: bits = %d is not a multiple of %d", ErrOutOfRange, r.Bits, unit)
	case r.Hashes != 0 && least == most && r.Hashes != most:
		return fmt.Errorf("%w: hashes = %d is not the %d of %v", ErrOutOfRange, r.Hashes, most, r.kind)
	case r.Hashes != 0 && (r.Hashes < least || r.Hashes > most):
		return fmt.Errorf("%w: hashes = %d with bits = %d is not from %d to %d", ErrOutOfRange, r.Hashes, r.Bits,
			least, most)
	case r.blocks == 2 && r.Hashes%2 != 0:
		return fmt.Errorf("%w: hashes = %d with blocks = 2 is not an even number", ErrOutOfRange, r.Hashes)
	case r.Hashes == 0 && r.Capacity == 0 && least < most:
		return fmt.Errorf("%w: bits = %d needs hashes, or a capacity to choose them for", ErrContradiction, r.Bits)
	case r.Bits >= 1<<63:
		return fmt.Errorf("%w: bits = %d are more than the address space holds", ErrTooLarge, r.Bits)
	case r.foldable:
		return fmt.Errorf("%w: foldable rounds a size, but bits = %d is exact", ErrContradiction, r.Bits)
	}
	return nil
}

// header returns the header of an empty filter's image, without the length of its payload.
func (s Spec) header() (image.Header, error) {
	r, err := s.request()
	if err != nil {
		return image.Header{}, err
	}
	h := image.Header{Kind: r.kind, Hash: r.Hash, Capacity: r.Capacity, FalsePositiveRate: r.FalsePositiveRate}
	var hashes uint64
	switch r.kind {
	case blocked:
		h.Bits, hashes, err = r.blocked()
		if r.blocks == 2 {
			h.Words[0] = 2
		}
	case splitBlock:
		h.Bits, hashes, err = r.splitBlock()
	case bloom:
		h.Bits, hashes, err = r.bloom(&h.Words)
	}
	if err != nil {
		return h, err
	}
	h.Hashes = uint32(hashes)
	if _, possible := image.ImageBytes(h.Bits); !possible {
		return h, fmt.Errorf("%w: bits = %d are more than the address space holds", ErrTooLarge, h.Bits)
	}
	h.Identifier, err = r.identifier()
	return h, err
}

// identifier checks the hash function with its seed or secret, and returns the identifier for the image.
func (r *request) identifier() (uint64, error) {
	given := r.Secret != Secret{}
	switch {
	case r.Hash == DigestHash:
		return 0, fmt.Errorf("%w: this package makes no filters of digests; package petal does", ErrUnsupported)
	case r.Hash < XXH3 || r.Hash > External:
		return 0, fmt.Errorf("%w: hash = %d is not a hash function", ErrUnknownValue, uint32(r.Hash))
	case r.Hash != SipHash13 && given:
		return 0, fmt.Errorf("%w: a secret key was given, but hash = %v takes none", ErrContradiction, r.Hash)
	case r.Hash != SipHash13:
		return r.Seed, nil
	case !given:
		return 0, fmt.Errorf("%w: hash = siphash13 needs a secret key that is not all zeros", ErrSecretMissing)
	case r.Seed != 0:
		return 0, fmt.Errorf("%w: seed = %d has no meaning with hash = siphash13, which takes a secret", ErrContradiction,
			r.Seed)
	}
	return image.KeyIdentifier(r.Secret), nil
}

// tooLarge is the error for a size that is too large.
func (r *request) tooLarge() error {
	return fmt.Errorf("%w: capacity = %d at false_positive_rate = %s needs more bits than can be", ErrTooLarge,
		r.Capacity, number(r.FalsePositiveRate))
}

// folding rounds the units of a foldable filter up to a multiple of the greatest power of two that is at most a 128th
// of them.
func (r *request) folding(units uint64) (uint64, error) {
	if !r.foldable {
		return units, nil
	}
	unit := uint64(1) << (bits.Len64(max(units/128, 1)) - 1)
	if units > math.MaxUint64-(unit-1) {
		return 0, r.tooLarge()
	}
	return (units + unit - 1) / unit * unit, nil
}

// product multiplies two numbers, or returns an error if the product is too large.
func (r *request) product(a, b uint64) (uint64, error) {
	high, low := bits.Mul64(a, b)
	if high != 0 {
		return 0, r.tooLarge()
	}
	return low, nil
}

func (r *request) blocked() (bits, hashes uint64, err error) {
	best, size := sizing.BlockedHashes, sizing.BlockedSize
	if r.blocks == 2 {
		best, size = sizing.TwoBlocksHashes, sizing.TwoBlocksSize
	}
	if r.Bits != 0 {
		if r.Hashes == 0 {
			return r.Bits, best(float64(r.Bits) / float64(r.Capacity)), nil
		}
		return r.Bits, uint64(r.Hashes), nil
	}
	if r.FalsePositiveRate < sizing.BlockedMinRate {
		return 0, 0, fmt.Errorf("%w: false_positive_rate = %s is below %s, the least of this kind", ErrOutOfRange,
			number(r.FalsePositiveRate), number(sizing.BlockedMinRate))
	}
	blocks, hashes, possible := size(r.Capacity, r.FalsePositiveRate)
	if !possible {
		return 0, 0, r.tooLarge()
	}
	if blocks, err = r.folding(blocks); err != nil {
		return 0, 0, err
	}
	bits, err = r.product(blocks, sizing.BlockedBits)
	return bits, hashes, err
}

func (r *request) splitBlock() (bits, hashes uint64, err error) {
	blocks := r.Bits / sizing.SplitBlockBits
	if r.Bits == 0 {
		possible := false
		if blocks, possible = sizing.SplitBlockSize(r.Capacity, r.FalsePositiveRate); !possible {
			return 0, 0, fmt.Errorf("%w: capacity = %d at false_positive_rate = %s needs 2^32 blocks or more", ErrTooLarge,
				r.Capacity, number(r.FalsePositiveRate))
		}
		if blocks, err = r.folding(blocks); err != nil {
			return 0, 0, err
		}
	}
	if blocks >= sizing.MaxSplitBlocks {
		return 0, 0, fmt.Errorf("%w: %d blocks of 256 bits are 2^32 or more", ErrTooLarge, blocks)
	}
	return blocks * sizing.SplitBlockBits, 8, nil
}

func (r *request) bloom(words *[8]uint64) (size, hashes uint64, err error) {
	size, hashes = r.Bits, uint64(r.Hashes)
	switch {
	case size == 0:
		size, hashes, err = r.bloomByRate()
	case hashes == 0:
		hashes = sizing.BloomHashes(size, r.Capacity)
	}
	if err != nil {
		return 0, 0, err
	}
	parts := uint64(1)
	if r.partitioned {
		parts, words[0] = hashes, 1
	}
	reach := size / parts
	if reach == 0 {
		return 0, 0, fmt.Errorf("%w: bits = %d are fewer than the hashes = %d slices", ErrContradiction, size, hashes)
	}
	words[1] = uint64(r.derivation)
	needed := uint32(bits.Len64(reach - 1))
	switch {
	case r.derivation == sliced && r.sliceWidth == 0:
		words[2] = uint64(min(needed+16, 64))
	case r.derivation == sliced && r.sliceWidth < needed:
		return 0, 0, fmt.Errorf("%w: slice_width = %d is too few for positions below %d", ErrContradiction,
			r.sliceWidth, reach)
	case r.derivation == sliced:
		words[2] = uint64(r.sliceWidth)
	case r.sliceWidth != 0:
		return 0, 0, fmt.Errorf("%w: slice_width = %d has no meaning without derivation = slices", ErrContradiction,
			r.sliceWidth)
	}
	return reach * parts, hashes, nil
}

// bloomByRate returns the least size for the rate.
func (r *request) bloomByRate() (size, hashes uint64, err error) {
	scheme, dependent := r.derivation.scheme()
	if dependent && r.foldable {
		// These derivations need a range without small factors, which cannot be folded.
		return 0, 0, fmt.Errorf("%w: foldable keeps no false_positive_rate with derivation = %v: give bits instead, or "+
			"derivation = remix", ErrContradiction, r.derivation)
	}
	// units is the number that a fold divides: all bits, or the bits of a slice.
	var units uint64
	var possible bool
	switch {
	case dependent:
		units, hashes, possible = sizing.DependentSize(scheme, r.partitioned, r.Capacity, r.FalsePositiveRate)
	case r.partitioned:
		units, hashes, possible = sizing.PartitionedSize(r.Capacity, r.FalsePositiveRate)
	default:
		units, hashes, possible = sizing.BloomSize(r.Capacity, r.FalsePositiveRate)
	}
	if !possible {
		return 0, 0, r.tooLarge()
	}
	if units, err = r.folding(units); err != nil || !r.partitioned {
		return units, hashes, err
	}
	size, err = r.product(units, hashes)
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
	case blocked:
		of := sizing.Blocked
		if shares(h) == 2 {
			of = sizing.TwoBlocks
		}
		rate = of(h.Bits/sizing.BlockedBits, hashes, keys)
	case splitBlock:
		rate = sizing.SplitBlock(h.Bits/sizing.SplitBlockBits, keys)
	case bloom:
		reach, partitioned := reach(h)
		if scheme, dependent := derivation(h.Words[1]).scheme(); dependent {
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
