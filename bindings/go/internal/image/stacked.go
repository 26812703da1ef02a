package image

import "encoding/binary"

// The kind stacked, layout 1: ribbons of the members and of the frequent non-members, by turns.

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

// stackedWalk goes through the levels of a payload. After each next that returned true, level, of and part are the
// number of a level, its shape and its part of the payload. Without keys a level has no shards.
type stackedWalk struct {
	level int
	of    shape
	part  []byte
	// possible is whether the heads that were read fit the geometry.
	possible bool

	payload    []byte
	begin, end uint64
	most       [2]uint64
}

func (s *shape) stackedWalk(payload []byte) stackedWalk {
	w := stackedWalk{level: -1, payload: payload, begin: stackedHeadBytes, end: 8 * stackedHeadBytes}
	w.most = [2]uint64{1<<64 - 1, w.word(0)}
	w.possible = w.word(1) == 0
	return w
}

func (w *stackedWalk) word(i int) uint64 { return binary.LittleEndian.Uint64(w.payload[8*i:]) }

// next goes to the next level. It returns false after the last one, and where a head does not fit.
func (w *stackedWalk) next(s *shape) bool {
	for w.possible && w.level+1 < mostStacked {
		w.level++
		keys, bits, columns := w.word(2+2*w.level), w.word(3+2*w.level), s.columns(w.level)
		if columns == 0 {
			w.possible = keys|bits == 0
			continue
		}
		if bits > s.bits || bits%8 != 0 || keys > w.most[w.level%2] || w.begin*8+bits > s.bits ||
			keys == 0 && (w.level > 0 || s.columns(1) != 0 || w.word(0) != 0) {
			w.possible = false
			return false
		}
		w.most[w.level%2] = keys
		width := ribbonWidths[0].width
		if columns <= mostWideColumns {
			width = ribbonWidths[1].width
		}
		w.of = shape{bits: bits}
		if _, w.possible = w.of.setRibbon(&Header{Bits: bits}, columns, width, keys); !w.possible {
			return false
		}
		w.end = w.begin*8 + bits
		bytes := (bits + 63) / 64 * 8
		if s.columns(w.level+1) == 0 {
			bytes = uint64(len(w.payload)) - w.begin
		}
		w.part = w.payload[w.begin : w.begin+bytes]
		w.begin += bytes
		return true
	}
	w.possible = w.possible && w.end == s.bits
	return false
}

func (s *shape) stackedState(payload []byte) bool {
	w := s.stackedWalk(payload)
	for w.next(s) {
	}
	return w.possible
}

func (s *shape) stackedCheck(payload []byte) bool {
	w := s.stackedWalk(payload)
	for w.next(s) {
		if w.of.ribbon.shards > 0 && !w.of.ribbonCheck(w.part) {
			return false
		}
	}
	return w.possible
}

func (s *shape) stackedContains(payload []byte, hash uint64) bool {
	x, found := orderOf(hash), false
	w := s.stackedWalk(payload)
	for w.next(s) {
		z := (&shard{}).scatter(x)
		if w.level > 0 {
			z = mix(x + golden*uint64(w.level))
		}
		passes := false
		if w.of.ribbon.shards > 0 {
			together, _, there := w.of.ribbonColumns(w.part, x, z)
			// With a forged directory a key is found, because nothing is certain.
			if !there {
				return true
			}
			passes = together == fingerprint(z)&lowBits(uint(w.of.ribbon.columns))
		}
		// The answer is that of the first level that the key does not pass, or of the last level.
		found = (w.level%2 == 0) == passes
		if !passes {
			return found
		}
	}
	return !w.possible || found
}
