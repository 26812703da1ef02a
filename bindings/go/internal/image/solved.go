package image

import "math/bits"

// The kinds bloomier and retrieval, layout 1: the exclusive or of a key's three cells is its value and, but for
// retrieval, check bits.

const cellsOfEntry = 3

var bloomierRow = kindRow{name: "bloomier", open: (*shape).asBloomier, check: (*shape).solvedCheck,
	value: (*shape).solvedValue}

var retrievalRow = kindRow{name: "retrieval", open: (*shape).asRetrieval, check: (*shape).solvedCheck,
	value: (*shape).solvedValue}

func (s *shape) asBloomier(h *Header) (payloadBytes uint64, possible bool) {
	return s.asSolved(h, 1, 32)
}

func (s *shape) asRetrieval(h *Header) (payloadBytes uint64, possible bool) {
	return s.asSolved(h, 0, 0)
}

func (s *shape) asSolved(h *Header, leastCheckBits, mostCheckBits uint64) (payloadBytes uint64, possible bool) {
	valueBits, checkBits, shards, cells, keys := h.Words[0], h.Words[1], h.Words[2], h.Words[3], h.Words[4]
	if h.Hashes != cellsOfEntry || valueBits > 64 || checkBits < leastCheckBits || checkBits > mostCheckBits || keys > cells ||
		(keys == 0) != (shards == 0) || [3]uint64(h.Words[5:]) != [3]uint64{} {
		return 0, false
	}
	if high, all := bits.Mul64(cells, valueBits+checkBits); high != 0 || all != h.Bits {
		return 0, false
	}
	s.valueBits, s.checkBits = uint(valueBits), uint(checkBits)
	s.cells = cellArray{arity: cellsOfEntry, width: s.valueBits + s.checkBits, shards: shards, cells: cells}
	if s.cells.width > 64 {
		s.cells.width = s.valueBits
		s.checks = cellArray{start: s.cells.bytes(), arity: cellsOfEntry, width: s.checkBits, shards: shards, cells: cells}
		return s.checks.start + s.checks.bytes(), s.cells.isPossible() && s.checks.isPossible()
	}
	return s.cells.bytes(), s.cells.isPossible()
}

// checksApart says whether the check bits lie in an array of their own.
func (s *shape) checksApart() bool { return s.checks.width != 0 }

func (s *shape) solvedCheck(payload []byte) bool {
	if !s.cells.isOrdered(payload) {
		return false
	}
	if s.checksApart() {
		for index := range s.checks.shards {
			if s.cells.entry(payload, index) != s.checks.entry(payload, index) {
				return false
			}
		}
	}
	return true
}

// solvedValue returns the value of the key with this identity, if it is there; possible is false where the directory
// is forged.
func (s *shape) solvedValue(payload []byte, id identity) (value uint64, found, possible bool) {
	if s.cells.shards == 0 {
		return 0, s.checkBits == 0, true
	}
	shard, place := s.cells.shardOf(payload, id.high)
	z := shard.scatter(id.low ^ shard.scatter(id.high))
	places := s.cells.places(&shard, place, z)
	value, possible = s.cells.together(payload, places)
	check := uint64(0)
	if s.checksApart() {
		// There are as many cells as in the first array.
		check, _ = s.checks.together(payload, places)
	} else {
		check = value >> s.valueBits
		value &= lowBits(s.valueBits)
	}
	if !possible || check != fingerprint(z)&lowBits(s.checkBits) {
		return 0, false, possible
	}
	return value, true, true
}
