package image

import (
	"encoding/binary"
	"math/bits"
)

// The kind hash_compaction, layout 1: an open-addressed table of signatures.

var hashCompactionRow = kindRow{
	name:     "hash_compaction",
	open:     (*shape).asHashCompaction,
	contains: (*shape).hashCompactionContains,
	check:    hasZeroTail,
}

func (s *shape) asHashCompaction(h *Header) (payloadBytes uint64, possible bool) {
	width, slots := h.Words[0], h.Words[1]
	if h.Hashes != 0 || width < 2 || width > 63 || slots < 2 || [6]uint64(h.Words[2:]) != [6]uint64{} {
		return 0, false
	}
	high, all := bits.Mul64(width, slots)
	// The tail begins after the last slot.
	s.width, s.reach, s.bits = uint(width), slots, all
	return wholeBytes(h.Bits), high == 0 && all <= h.Bits
}

// slotAt returns at most 63 bits of the payload.
func slotAt(payload []byte, bit uint64, width uint) uint64 {
	at, shift := bit/64*8, uint(bit%64)
	all := binary.LittleEndian.Uint64(payload[at:]) >> shift
	if shift+width > 64 {
		all |= binary.LittleEndian.Uint64(payload[at+8:]) << (64 - shift)
	}
	return all & lowBits(width)
}

func (s *shape) hashCompactionContains(payload []byte, hash uint64) bool {
	g := uint64(golden)
	slot, _ := bits.Mul64(mix(hash), s.reach)
	step, _ := bits.Mul64(mix(hash+g), s.reach-1)
	signature, _ := bits.Mul64(mix(hash+2*g), lowBits(s.width))
	step, signature = step+1, signature+1
	for range s.reach {
		switch slotAt(payload, slot*uint64(s.width), s.width) {
		case signature:
			return true
		case 0:
			return false
		}
		// slot and step are below the number of slots, which is below 2^63.
		if slot += step; slot >= s.reach {
			slot -= s.reach
		}
	}
	return false
}
