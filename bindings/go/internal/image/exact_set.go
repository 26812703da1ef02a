package image

import "encoding/binary"

// The kind exact_set, layout 1: a ribbon of the stored side, and a ribbon of one bit for each key that passes it.

var exactSetRow = kindRow{
	name:     "exact_set",
	open:     (*shape).asExactSet,
	state:    (*shape).exactSetState,
	check:    (*shape).exactSetCheck,
	contains: (*shape).exactSetContains,
}

const (
	exactHeadBytes  = 64
	mostExactBits   = 32
	membersStored   = 1
	excludedStored  = 2
	pairBit         = 27
	mostWideColumns = 4
)

func (s *shape) asExactSet(h *Header) (payloadBytes uint64, possible bool) {
	if h.Words[2] != 0 || h.Words[4] != 0 {
		return s.asExactParts(h)
	}
	s.reach, s.derivation = h.Words[0], h.Words[1]
	possible = h.Hashes == 1 && s.reach >= 1 && s.reach <= mostExactBits && h.Bits%8 == 0 &&
		(s.derivation == membersStored || s.derivation == excludedStored) &&
		[6]uint64(h.Words[2:]) == [6]uint64{} && h.Bits >= 8*exactHeadBytes && h.Bits < 1<<62
	return h.Bits / 8, possible
}

// exactLevel is a level of an exact set, and its part of the payload.
type exactLevel struct {
	shape   shape
	payload []byte
}

// exactLevels returns the levels of a payload; possible is false if its head does not fit the geometry. A level without
// keys has no shards.
func (s *shape) exactLevels(payload []byte) (first, second exactLevel, possible bool) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(payload[8*i:]) }
	stored, passed, universe, firstBits := word(0), word(1), word(2), word(3)
	if word(4)|word(5)|word(6)|word(7) != 0 || stored > universe || passed > universe || firstBits > s.bits {
		return first, second, false
	}
	words := (firstBits + 63) / 64 * 64
	if s.bits < 8*exactHeadBytes+words {
		return first, second, false
	}
	level := func(columns, keys, bits, from, to uint64) (of exactLevel, possible bool) {
		width := ribbonWidths[0].width
		if columns <= mostWideColumns {
			width = ribbonWidths[1].width
		}
		of = exactLevel{shape: shape{bits: bits}, payload: payload[from:to]}
		_, possible = of.shape.setRibbon(&Header{Bits: bits}, columns, width, keys)
		return of, possible && bits%8 == 0
	}
	switch {
	case stored == 0 && (passed != 0 || s.derivation == excludedStored):
		return first, second, false
	case s.reach > 1:
		if first, possible = level(s.reach-1, stored, firstBits, exactHeadBytes, exactHeadBytes+words/8); !possible ||
			stored > passed {
			return first, second, false
		}
	case firstBits != 0 || stored > 0 && passed != universe:
		return first, second, false
	}
	second, possible = level(1, passed, s.bits-8*exactHeadBytes-words, exactHeadBytes+words/8, uint64(len(payload)))
	return first, second, possible
}

func (s *shape) exactSetState(payload []byte) bool {
	if s.parts != nil {
		return s.exactPartsState(payload)
	}
	_, _, possible := s.exactLevels(payload)
	return possible
}

func (s *shape) exactSetCheck(payload []byte) bool {
	if s.parts != nil {
		return s.exactPartsCheck(payload)
	}
	first, second, possible := s.exactLevels(payload)
	check := func(of *exactLevel) bool { return of.shape.ribbon.shards == 0 || of.shape.ribbonCheck(of.payload) }
	return possible && check(&first) && check(&second)
}

func (s *shape) exactSetContains(payload []byte, hash uint64) bool {
	if s.parts != nil {
		// A hash has no prefix, so it may be that of a key of any partition.
		return s.parts.prefix > 0 || s.exactPartsContains(payload, firstSetClass, hash)
	}
	first, second, possible := s.exactLevels(payload)
	if !possible {
		return true
	}
	x := orderOf(hash)
	if x&1 != 0 {
		x = orderOf(hash ^ 1<<pairBit)
	}
	z := (&shard{}).scatter(x)
	passes := func(of *exactLevel, columns, skipped uint) bool {
		if of.shape.ribbon.shards == 0 {
			return false
		}
		together, _, there := of.shape.ribbonColumns(of.payload, x, z)
		// With a forged directory a level lets a key pass, because nothing is certain.
		return !there || together == fingerprint(z)>>skipped&lowBits(columns)
	}
	columns := uint(s.reach - 1)
	isStored := (columns == 0 || passes(&first, columns, 0)) && passes(&second, 1, columns)
	return isStored != (s.derivation == excludedStored)
}
