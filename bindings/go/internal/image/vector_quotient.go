package image

import (
	"encoding/binary"
	"math/bits"
)

// The kind vector_quotient, layout 1: blocks of buckets of tags, two for each key.

var vectorQuotientRow = kindRow{
	name:     "vector_quotient",
	open:     (*shape).asVectorQuotient,
	contains: (*shape).vectorQuotientContains,
	check:    (*shape).checkVectorQuotient,
}

const tagBlockBytes = 64

func (s *shape) asVectorQuotient(h *Header) (payloadBytes uint64, possible bool) {
	width := h.Words[0]
	if h.Hashes != 0 || width != 8 && width != 16 || [7]uint64(h.Words[1:]) != [7]uint64{} || h.Bits < 2*8*tagBlockBytes ||
		h.Bits%(8*tagBlockBytes) != 0 {
		return 0, false
	}
	s.width = uint(width)
	s.reach = h.Bits / (8 * tagBlockBytes) &^ 1
	s.slots, s.stride = 48, 80
	if width == 16 {
		s.slots, s.stride = 28, 36
	}
	s.bits = s.reach * 8 * tagBlockBytes
	return h.Bits / 8, true
}

func (s *shape) vectorQuotientContains(payload []byte, hash uint64) bool {
	fingerprint, _ := bits.Mul64(hash, s.stride<<s.width)
	first, _ := bits.Mul64(hash*golden, s.reach)
	sum, _ := bits.Mul64(mix(fingerprint), s.reach/2)
	second := 2*sum + 1 - first
	if 2*sum+1 < first {
		second += s.reach
	}
	return s.tagBlockHas(payload, first, fingerprint) || s.tagBlockHas(payload, second, fingerprint)
}

// tagBlock returns the bytes of a block and its metadata; the second word is 0 if the metadata is one word.
func (s *shape) tagBlock(payload []byte, i uint64) (block []byte, metadata [2]uint64) {
	block = payload[i*tagBlockBytes:][:tagBlockBytes]
	metadata[0] = binary.LittleEndian.Uint64(block)
	if s.width == 8 {
		metadata[1] = binary.LittleEndian.Uint64(block[8:])
	}
	return block, metadata
}

// tagAt returns the tag in a slot of a block.
func (s *shape) tagAt(block []byte, slot uint64) uint64 {
	if s.width == 8 {
		return uint64(block[16+slot])
	}
	return uint64(binary.LittleEndian.Uint16(block[8+2*slot:]))
}

// metadataBits returns how many bits of metadata a block has: one for each bucket and each slot.
func (s *shape) metadataBits() uint64 { return s.slots + s.stride }

func (s *shape) tagBlockHas(payload []byte, i, fingerprint uint64) bool {
	block, metadata := s.tagBlock(payload, i)
	bucket, tag := fingerprint>>s.width, fingerprint&lowBits(s.width)
	var slot, before uint64 // what was passed: tags, and ends of buckets
	for bit := uint64(0); bit < s.metadataBits() && before <= bucket && slot < s.slots; bit++ {
		switch {
		case metadata[bit/64]>>(bit%64)&1 == 0:
			before++
		case before == bucket && s.tagAt(block, slot) == tag:
			return true
		default:
			slot++
		}
	}
	return false
}

// checkVectorQuotient says whether no block has more tags than slots, no block has tags after its last bucket, and all
// free slots are zero.
func (s *shape) checkVectorQuotient(payload []byte) bool {
	if !hasZeroTail(s, payload) {
		return false
	}
	for i := range s.reach {
		block, metadata := s.tagBlock(payload, i)
		taken := uint64(bits.OnesCount64(metadata[0]) + bits.OnesCount64(metadata[1]))
		last := uint64(bits.Len64(metadata[0]))
		if metadata[1] != 0 {
			last = 64 + uint64(bits.Len64(metadata[1]))
		}
		if taken > s.slots || last-taken >= s.stride {
			return false
		}
		for slot := taken; slot < s.slots; slot++ {
			if s.tagAt(block, slot) != 0 {
				return false
			}
		}
	}
	return true
}
