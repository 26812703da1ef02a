package image

import "encoding/binary"

// The kind stacked, layout 1: ribbons of the members and of the frequent strangers, by turns.

var stackedRow = kindRow{
	name:     "stacked",
	open:     (*shape).asStacked,
	state:    (*shape).stackedState,
	check:    (*shape).stackedCheck,
	contains: (*shape).stackedContains,
}

const (
	stackedHeadBytes = 128
	mostStacked      = 7
	// levelField is how many bits of the second header word a level has.
	levelField = 6
)

func (s *shape) asStacked(h *Header) (payloadBytes uint64, possible bool) {
	s.reach, s.derivation = h.Words[0], h.Words[1]
	possible = h.Hashes == 1 && h.Bits%8 == 0 && [6]uint64(h.Words[2:]) == [6]uint64{} &&
		h.Bits >= 8*stackedHeadBytes && h.Bits < 1<<62 && s.reach >= 1 && s.reach <= mostRibbonBits
	rest := s.derivation
	for range mostStacked - 1 {
		columns := rest & lowBits(levelField)
		rest >>= levelField
		possible = possible && columns <= mostRibbonBits && (columns > 0 || rest == 0)
	}
	return h.Bits / 8, possible && rest == 0
}

// columns returns the bits of a level, counted from 0; 0 after the last one.
func (s *shape) columns(level int) uint64 {
	switch {
	case level == 0:
		return s.reach
	case level >= mostStacked:
		return 0
	}
	return s.derivation >> (levelField * (level - 1)) & lowBits(levelField)
}

// stackedLevels calls visit for each level of a payload with its shape and its part of the payload, until visit returns
// false. Without keys a level has no shards. possible is false if the head does not fit the geometry.
func (s *shape) stackedLevels(payload []byte, visit func(level int, of *shape, payload []byte) bool) (possible bool) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(payload[8*i:]) }
	begin, end, most := uint64(stackedHeadBytes), uint64(8*stackedHeadBytes), [2]uint64{1<<64 - 1, word(0)}
	if word(1) != 0 {
		return false
	}
	for level := range mostStacked {
		keys, bits, columns := word(2+2*level), word(3+2*level), s.columns(level)
		if columns == 0 {
			if keys|bits != 0 {
				return false
			}
			continue
		}
		if bits > s.bits || bits%8 != 0 || keys > most[level%2] || begin*8+bits > s.bits ||
			keys == 0 && (level > 0 || s.columns(1) != 0 || word(0) != 0) {
			return false
		}
		most[level%2] = keys
		width := ribbonWidths[0].width
		if columns <= mostWideColumns {
			width = ribbonWidths[1].width
		}
		of := shape{bits: bits}
		if _, possible := of.setRibbon(&Header{Bits: bits}, columns, width, keys); !possible {
			return false
		}
		end = begin*8 + bits
		bytes := (bits + 63) / 64 * 8
		if s.columns(level+1) == 0 {
			bytes = uint64(len(payload)) - begin
		}
		if visit != nil && !visit(level, &of, payload[begin:begin+bytes]) {
			return true
		}
		begin += bytes
	}
	return end == s.bits
}

func (s *shape) stackedState(payload []byte) bool { return s.stackedLevels(payload, nil) }

func (s *shape) stackedCheck(payload []byte) bool {
	valid := true
	possible := s.stackedLevels(payload, func(_ int, of *shape, payload []byte) bool {
		valid = of.ribbon.shards == 0 || of.ribbonCheck(payload)
		return valid
	})
	return possible && valid
}

func (s *shape) stackedContains(payload []byte, hash uint64) bool {
	x, found := orderOf(hash), false
	possible := s.stackedLevels(payload, func(level int, of *shape, payload []byte) bool {
		z := (&shard{}).scatter(x)
		if level > 0 {
			z = mix(x + golden*uint64(level))
		}
		passes := false
		if of.ribbon.shards > 0 {
			together, _, there := of.ribbonColumns(payload, x, z)
			// With a forged directory a key is found, because nothing is certain.
			if !there {
				found = true
				return false
			}
			passes = together == fingerprint(z)&lowBits(uint(of.ribbon.columns))
		}
		// The answer is that of the first level that the key does not pass, or of the last level.
		found = (level%2 == 0) == passes
		return passes
	})
	return !possible || found
}
