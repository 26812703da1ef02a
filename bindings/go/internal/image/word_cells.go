package image

import (
	"encoding/binary"
	"math/bits"
)

// The kinds approximator and mutable_bloomier, layout 1: cells in words. No cell crosses a word boundary.

var approximatorRow = kindRow{name: "approximator", choices: []choice{{"lattice", 1, 3}},
	open: (*shape).asApproximator, check: (*shape).approximatorCheck, value: (*shape).approximatorValue}

var mutableBloomierRow = kindRow{name: "mutable_bloomier", open: (*shape).asMutableBloomier,
	check: (*shape).mutableBloomierCheck, value: (*shape).mutableBloomierValue}

// The lattices of an approximator.
const (
	latticeMin   = 1
	latticeUnion = 2
)

// wordCells are cells in words of 64 bits; each word has as many whole cells as fit.
type wordCells struct {
	start uint64 // the first byte
	width uint   // bits of a cell, from 1 to 64
	cells uint64
}

func (c *wordCells) inWord() uint64 { return 64 / uint64(c.width) }

// words returns the number of words of the cells.
func (c *wordCells) words() uint64 {
	each := c.inWord()
	return c.cells/each + min(1, c.cells%each)
}

// get returns the cell at a valid place.
func (c *wordCells) get(payload []byte, place uint64) uint64 {
	each := c.inWord()
	word := binary.LittleEndian.Uint64(payload[c.start+place/each*8:])
	return word >> (place % each * uint64(c.width)) & lowBits(c.width)
}

// isClean says whether all bits after the beginning of the cells that belong to no cell are zero.
func (c *wordCells) isClean(payload []byte) bool {
	each, left := c.inWord(), c.cells
	for at := c.start; at < uint64(len(payload)); at += 8 {
		used := min(left, each)
		left -= used
		if binary.LittleEndian.Uint64(payload[at:])>>(used*uint64(c.width)) != 0 {
			return false
		}
	}
	return true
}

func (s *shape) asApproximator(h *Header) (payloadBytes uint64, possible bool) {
	valueBits, lattice := h.Words[0], h.Words[1]
	if valueBits < 1 || valueBits > 64 || lattice > latticeUnion || [6]uint64(h.Words[2:]) != [6]uint64{} ||
		h.Hashes < 1 || h.Hashes > 64 || h.Bits == 0 || h.Bits%64 != 0 {
		return 0, false
	}
	s.values = wordCells{width: uint(valueBits), cells: h.Bits / 64 * (64 / valueBits)}
	s.lattice = lattice
	return h.Bits / 8, true
}

func (s *shape) approximatorCheck(payload []byte) bool { return s.values.isClean(payload) }

// approximatorValue returns the joined value of the key with this identity.
func (s *shape) approximatorValue(payload []byte, id identity) (value uint64, found, possible bool) {
	hash, met := mix(id.low*golden^id.high), lowBits(s.values.width)
	for range s.hashes {
		place, _ := bits.Mul64(hash, s.values.cells)
		cell := s.values.get(payload, place)
		if s.lattice == latticeUnion {
			met &= cell
		} else {
			met = min(met, cell)
		}
		hash *= golden
	}
	if met == 0 {
		return 0, false, true
	}
	if s.lattice == latticeMin {
		met ^= lowBits(s.values.width)
	}
	return met, true, true
}

func (s *shape) asMutableBloomier(h *Header) (payloadBytes uint64, possible bool) {
	valueBits, checkBits, shards, cells, keys := h.Words[0], h.Words[1], h.Words[2], h.Words[3], h.Words[4]
	if h.Hashes != cellsOfEntry || valueBits < 1 || valueBits > 64 || checkBits > 30 || keys > cells || cells >= 1<<56 ||
		(keys == 0) != (shards == 0) || [3]uint64(h.Words[5:]) != [3]uint64{} {
		return 0, false
	}
	s.cells = cellArray{arity: cellsOfEntry, width: uint(checkBits) + 2, shards: shards, cells: cells}
	s.values = wordCells{start: s.cells.bytes(), width: uint(valueBits), cells: cells}
	words := s.values.words()
	if h.Bits != cells*(checkBits+2)+64*words {
		return 0, false
	}
	return s.values.start + (words+7)/8*payloadUnit, s.cells.isPossible()
}

func (s *shape) mutableBloomierCheck(payload []byte) bool {
	return s.cells.isOrdered(payload) && s.values.isClean(payload)
}

// mutableBloomierValue returns the value of the key with this identity, and whether it is there; possible is false if
// the directory is forged.
func (s *shape) mutableBloomierValue(payload []byte, id identity) (value uint64, found, possible bool) {
	if s.cells.shards == 0 {
		return 0, false, true
	}
	shard, place := s.cells.shardOf(payload, id.high)
	z := shard.scatterIdentity(id)
	places := s.cells.places(&shard, place, z)
	own, possible := s.cells.together(payload, places)
	own = (own ^ fingerprint(z)) & lowBits(s.cells.width)
	if !possible || own >= cellsOfEntry {
		return 0, false, possible
	}
	return s.values.get(payload, places[own]), true, true
}
