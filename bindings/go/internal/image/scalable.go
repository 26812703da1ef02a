package image

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The kind scalable, layout 1: a chain of levels by size, each the payload of another kind, and 64 bytes of state. Only
// the library inserts, so only the library computes the capacity of each level.

var scalableRow = kindRow{
	name:     "scalable",
	choices:  []choice{{"level", 0, 3}},
	open:     (*shape).asScalable,
	state:    (*shape).scalableState,
	contains: (*shape).scalableContains,
}

// levelKinds are the kinds of levels, by their number in the header, with the most bits of a key in one level.
var levelKinds = [...]struct {
	row       *kindRow
	maxHashes uint64
}{{&bloomRow, 64}, {&splitBlockRow, 8}, {&blockedRow, maxLanes}}

const (
	levelUnit  = 512
	maxLevels  = 64
	stateBytes = 64
	// sizesOfMore is the number of smallest sizes that may have several levels each.
	sizesOfMore = 32
)

// chainLevel is a level and its part of the payload.
type chainLevel struct {
	row        *kindRow
	shape      shape
	start, end uint64
}

func (s *shape) asScalable(h *Header) (payloadBytes uint64, possible bool) {
	kind, tightening, growth, levels := h.Words[0], math.Float64frombits(h.Words[1]), h.Words[2], h.Words[3]
	capacity, step, more := h.Words[4], h.Words[5], [2]uint64(h.Words[6:8])
	if kind >= uint64(len(levelKinds)) || !(tightening >= 0.5 && tightening <= 0.9) || growth < 2 || growth > 4 ||
		levels < 1 || levels > maxLevels || step > 64 || h.Hashes < 1 || h.Hashes > maxLevels {
		return 0, false
	}
	// ofSize returns how many levels have a size: one, and one more for each level of that size that a merge added.
	ofSize := func(i uint64) uint64 {
		if i >= sizesOfMore {
			return 1
		}
		return 1 + more[i/16]>>(4*(i%16))&15
	}
	for i := levels; i < sizesOfMore; i++ {
		if ofSize(i) > 1 {
			return 0, false
		}
	}
	// all and size count in units of the first level.
	all, size := uint64(0), uint64(1)
	for i := range levels {
		if size == 0 || size > (h.Bits-all)/ofSize(i) {
			return 0, false
		}
		all += ofSize(i) * size
		high, next := bits.Mul64(size, growth)
		if size = next; high != 0 {
			size = 0
		}
	}
	first := h.Bits / all
	if h.Bits%all != 0 || first == 0 || first%levelUnit != 0 || capacity < 1 || capacity > first {
		return 0, false
	}
	of, start, bits := levelKinds[kind], uint64(0), first
	for i := range levels {
		header := Header{Bits: bits, Hashes: uint32(min(uint64(h.Hashes)+i*step/64, of.maxHashes))}
		level := chainLevel{row: of.row, shape: shape{hashes: int(header.Hashes)}, start: start, end: start + bits/8}
		if bytes, possible := of.row.open(&level.shape, &header); !possible || bytes != bits/8 {
			return 0, false
		}
		for range ofSize(i) {
			s.levels = append(s.levels, level)
			level.start, level.end = level.end, level.end+bits/8
		}
		start, bits = level.start, bits*growth
	}
	return start + stateBytes, true
}

func (s *shape) scalableState(payload []byte) bool {
	state := payload[s.levels[len(s.levels)-1].end:]
	taken, inUse := binary.LittleEndian.Uint64(state), binary.LittleEndian.Uint64(state[8:])
	if inUse >= uint64(len(s.levels)) || [stateBytes - 16]byte(state[16:]) != [stateBytes - 16]byte{} {
		return false
	}
	level := &s.levels[inUse]
	return taken <= (level.end-level.start)*8
}

func (s *shape) scalableContains(payload []byte, hash uint64) bool {
	hash = mix(hash)
	// The last levels hold most of the keys.
	for i := len(s.levels) - 1; i >= 0; i-- {
		level := &s.levels[i]
		if level.row.contains(&level.shape, payload[level.start:level.end], hash) {
			return true
		}
	}
	return false
}
