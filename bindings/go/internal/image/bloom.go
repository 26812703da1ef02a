package image

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/race"
)

// The kind bloom, layout 1: bit p of the filter is bit p % 8 of byte p / 8.

// The derivations: how a key's bit positions come from its hash.
const (
	remix uint64 = iota
	independent
	slices
	double
	enhancedDouble
	triple
	// fields, which no image names, are positions that are cut out of digests.
	fields
)

var bloomRow = kindRow{
	name:     "bloom",
	choices:  []choice{{"derivation", 1, triple + 1}},
	open:     (*shape).asBloom,
	contains: (*shape).bloomContains,
	insert:   (*shape).bloomInsert,
	isMade:   true,
	first:    (*shape).bloomFirst,
	check:    hasZeroTail,
}

const golden = 0x9e3779b97f4a7c15

func (s *shape) asBloom(h *Header) (payloadBytes uint64, possible bool) {
	k := uint64(h.Hashes)
	partitioned, derivation, width := h.Words[0], h.Words[1], h.Words[2]
	if h.Bits == 0 || k < 1 || k > 64 || partitioned > 1 || derivation > triple ||
		[4]uint64(h.Words[4:]) != [4]uint64{} {
		return 0, false
	}
	if derivation == slices && (width < 1 || width > 64) || derivation != slices && width != 0 {
		return 0, false
	}
	s.reach, s.derivation, s.width = h.Bits, derivation, uint(width)
	if partitioned == 1 {
		if h.Bits%k != 0 {
			return 0, false
		}
		s.reach = h.Bits / k
		s.stride = s.reach
	}
	if h.Hash != DigestHash {
		return wholeBytes(h.Bits), h.Words[3] == 0
	}
	s.derivation, s.width = fields, uint(h.Words[3])
	possible = derivation == remix && h.Identifier >= 128 && h.Identifier <= 512 && h.Identifier%8 == 0 &&
		h.Words[3] == min(64, h.Identifier/k) && s.width >= leastFieldWidth(s.reach)
	return wholeBytes(h.Bits), possible
}

// leastFieldWidth returns how many bits a field of a digest needs for positions below reach.
func leastFieldWidth(reach uint64) uint {
	width := uint(bits.Len64(reach - 1))
	if reach&(reach-1) != 0 {
		width += 8
	}
	return max(1, width)
}

// digestProbe calls visit with each position of a digest until visit returns false, and returns the last result of
// visit.
func (s *shape) digestProbe(digest []byte, visit func(position uint64) bool) bool {
	word := func(i uint) uint64 {
		var b [8]byte
		if 8*i < uint(len(digest)) {
			copy(b[:], digest[8*i:])
		}
		return binary.BigEndian.Uint64(b[:])
	}
	start := uint64(0)
	for i := range uint(s.hashes) {
		at := i * s.width
		field := word(at/64) << (at % 64)
		if at%64 != 0 {
			field |= word(at/64+1) >> (64 - at%64)
		}
		high, low := bits.Mul64(field>>(64-s.width), s.reach)
		if !visit(start + high<<(64-s.width) + low>>s.width) {
			return false
		}
		start += s.stride
	}
	return true
}

// isDigest says whether a key has the length of the filter's digests.
func (h *hasher) isDigest(key []byte) bool { return uint64(len(key))*8 == h.seed }

// containsDigest is [Filter.Contains] where keys are digests.
func (f *Filter) containsDigest(key []byte) bool {
	if !f.hasher.isDigest(key) {
		return true
	}
	found := f.shape.digestProbe(key, func(p uint64) bool { return f.payload[p>>3]>>(p&7)&1 == 1 })
	runtime.KeepAlive(f)
	return found
}

// insertDigest is [Filter.Insert] where keys are digests.
func (f *Filter) insertDigest(key []byte) (isNew bool, err error) {
	if err := f.CheckDigest(key); err != nil {
		return false, err
	}
	if !f.writable {
		return false, ErrUnsupportedByHandle
	}
	race.Write(unsafe.Pointer(&f.row))
	f.shape.digestProbe(key, func(p uint64) bool {
		isNew = isNew || f.payload[p>>3]>>(p&7)&1 == 0
		f.payload[p>>3] |= 1 << (p & 7)
		return true
	})
	if f.header.Insertions+1 != 0 {
		f.header.Insertions++
	}
	return isNew, nil
}

// CheckDigest returns an error unless a key has the length of the digests of a filter whose keys are digests.
func (f *Filter) CheckDigest(key []byte) error {
	if !f.hasher.isDigest(key) {
		return fmt.Errorf("%w: a key of %d bytes: the filter's keys are digests of %d bits", ErrOutOfRange, len(key),
			f.header.Identifier)
	}
	return nil
}

func (s *shape) bloomContains(payload []byte, hash uint64) bool {
	if s.derivation != remix {
		// A hash tells nothing of a digest's positions, and has none to visit.
		return s.bloomProbe(hash, func(p uint64) bool { return payload[p>>3]>>(p&7)&1 == 1 })
	}
	start := uint64(0)
	for range s.hashes {
		high, _ := bits.Mul64(hash, s.reach)
		p := start + high
		if payload[p>>3]>>(p&7)&1 == 0 {
			return false
		}
		start += s.stride
		hash *= golden
	}
	return true
}

func (s *shape) bloomInsert(payload []byte, hash uint64) (isNew bool) {
	if s.derivation == remix {
		start, missing := uint64(0), byte(0)
		for range s.hashes {
			high, _ := bits.Mul64(hash, s.reach)
			p := start + high
			place, bit := &payload[p>>3], byte(1)<<(p&7)
			missing |= bit &^ *place
			*place |= bit
			start += s.stride
			hash *= golden
		}
		return missing != 0
	}
	s.bloomProbe(hash, func(p uint64) bool {
		isNew = isNew || payload[p>>3]>>(p&7)&1 == 0
		payload[p>>3] |= 1 << (p & 7)
		return true
	})
	return isNew
}

// bloomFirst returns the byte of a hash's first position.
func (s *shape) bloomFirst(hash uint64) (first uint64) {
	if s.derivation == remix {
		high, _ := bits.Mul64(hash, s.reach)
		return high >> 3
	}
	s.bloomProbe(hash, func(p uint64) bool {
		first = p >> 3
		return false
	})
	return first
}

// bloomProbe calls visit with each position of a hash until visit returns false, and returns the last result of visit.
func (s *shape) bloomProbe(hash uint64, visit func(position uint64) bool) bool {
	r := s.reach
	switch s.derivation {
	case remix:
		for i := range uint64(s.hashes) {
			q, _ := bits.Mul64(hash, r)
			if !visit(i*s.stride + q) {
				return false
			}
			hash *= golden
		}
	case independent:
		for i := range uint64(s.hashes) {
			q, _ := bits.Mul64(hashWord(hash, i+1), r)
			if !visit(i*s.stride + q) {
				return false
			}
		}
	case slices:
		word, next, left := uint64(0), uint64(1), uint(0)
		for i := range uint64(s.hashes) {
			if left < s.width {
				word, next, left = hashWord(hash, next), next+1, 64
			}
			// The next width bits of the word, from the highest down.
			high, low := bits.Mul64(word>>(64-s.width), r)
			word, left = word<<s.width, left-s.width
			if !visit(i*s.stride + high<<(64-s.width) + low>>s.width) {
				return false
			}
		}
	case double, enhancedDouble, triple:
		// q(i + 1) - q(i) is b at first; it grows by i + 1, or by c, from one i to the next.
		q, step, c := hash%r, hashWord(hash, 1)%r, hashWord(hash, 2)%r
		for i := range uint64(s.hashes) {
			if !visit(i*s.stride + q) {
				return false
			}
			q = addModulo(q, step, r)
			switch s.derivation {
			case enhancedDouble:
				step = addModulo(step, (i+1)%r, r)
			case triple:
				step = addModulo(step, c, r)
			}
		}
	}
	return true
}

// addModulo is (a + b) mod r for a and b less than r.
func addModulo(a, b, r uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 || sum >= r {
		sum -= r
	}
	return sum
}

// hashWord is word j of a hash, w(j).
func hashWord(hash, j uint64) uint64 {
	if j == 0 {
		return hash
	}
	return mix(hash + j*golden)
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * mixOrder
	x = (x ^ x>>27) * mixScatter
	return x ^ x>>31
}
