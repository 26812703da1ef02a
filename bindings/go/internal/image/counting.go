package image

import "math/bits"

// The kind counting, layout 1: counters of 2 to 16 bits. The counters of a key lie anywhere, or in one block.

var countingRow = kindRow{
	name:     "counting",
	choices:  []choice{{"layout", 1, 2}},
	open:     (*shape).asCounting,
	contains: (*shape).countingContains,
	insert:   (*shape).countingInsert,
	check:    hasZeroTail,
}

const maxCounters = 64

func (s *shape) asCounting(h *Header) (payloadBytes uint64, possible bool) {
	width, inBlocks := h.Words[0], h.Words[1]
	if width < 2 || width > 16 || inBlocks > 1 || h.Bits%4 != 0 || [6]uint64(h.Words[2:]) != [6]uint64{} || h.Hashes < 1 {
		return 0, false
	}
	s.counterBits = width
	if inBlocks == 1 {
		s.blocks = h.Bits / (8 * blockBytes)
		if s.blocks == 0 || width&(width-1) != 0 || h.Hashes > maxLanes {
			return 0, false
		}
		s.masks = laneMasks(int(h.Hashes))
		s.bits = s.blocks * 8 * blockBytes
		return wholeBytes(h.Bits), true
	}
	s.reach = h.Bits / width
	s.bits = s.reach * width
	return wholeBytes(h.Bits), s.reach != 0 && h.Hashes <= maxCounters
}

// countersOf writes the distinct counters of a hash to the front of room.
func (s *shape) countersOf(hash uint64, room *[maxCounters]uint64) []uint64 {
	found := room[:0]
	if s.masks != nil {
		choice := uint64(uint32(hash)) * uint64(len(s.masks)) >> 32
		for mask := uint64(s.masks[choice]); mask != 0; mask &= mask - 1 {
			index, bit := place(mask, hash)
			found = append(found, (8*(s.blockedFirst(hash)+index)+bit)/s.counterBits)
		}
		return found
	}
next:
	for range s.hashes {
		p, _ := bits.Mul64(hash, s.reach)
		hash *= golden
		for _, before := range found {
			if before == p {
				continue next
			}
		}
		found = append(found, p)
	}
	return found
}

// counter returns the bytes of a counter, and its lowest bit in the first of these bytes.
func (s *shape) counter(payload []byte, p uint64) (in []byte, shift uint64) {
	first := p * s.counterBits
	return payload[first/8 : (first+s.counterBits+7)/8], first % 8
}

// valueOf returns the number in bytes, the lowest byte first.
func valueOf(in []byte) (value uint64) {
	for i, b := range in {
		value |= uint64(b) << (8 * i)
	}
	return value
}

func (s *shape) countingContains(payload []byte, hash uint64) bool {
	var room [maxCounters]uint64
	for _, p := range s.countersOf(hash, &room) {
		in, shift := s.counter(payload, p)
		if valueOf(in)>>shift&(1<<s.counterBits-1) == 0 {
			return false
		}
	}
	return true
}

func (s *shape) countingInsert(payload []byte, hash uint64) (isNew bool) {
	var room [maxCounters]uint64
	for _, p := range s.countersOf(hash, &room) {
		in, shift := s.counter(payload, p)
		value, greatest := valueOf(in), uint64(1)<<s.counterBits-1
		isNew = isNew || value>>shift&greatest == 0
		if value>>shift&greatest != greatest {
			value += 1 << shift
		}
		for i := range in {
			in[i] = byte(value >> (8 * i))
		}
	}
	return isNew
}
