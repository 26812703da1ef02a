package image

import "math/bits"

// The kinds bloomier and retrieval, layout 1: the exclusive or of a key's three cells, or of its slots of a ribbon, is
// the key's value and its check bits. The kind retrieval has no check bits.

// solvedByRibbon is the solver of a map whose slots are a ribbon's.
const solvedByRibbon = 1

const cellsOfEntry = 3

var bloomierRow = kindRow{name: "bloomier", choices: []choice{{"solver", 5, 2}}, open: (*shape).asBloomier,
	check: (*shape).solvedCheck,
	value: (*shape).solvedValue}

var retrievalRow = kindRow{name: "retrieval", choices: []choice{{"solver", 5, 2}}, open: (*shape).asRetrieval,
	check: (*shape).solvedCheck,
	value: (*shape).solvedValue}

func (s *shape) asBloomier(h *Header) (payloadBytes uint64, possible bool) {
	return s.asSolved(h, 1, 32)
}

func (s *shape) asRetrieval(h *Header) (payloadBytes uint64, possible bool) {
	return s.asSolved(h, 0, 0)
}

func (s *shape) asSolved(h *Header, leastCheckBits, mostCheckBits uint64) (payloadBytes uint64, possible bool) {
	valueBits, checkBits, shards, cells, keys := h.Words[0], h.Words[1], h.Words[2], h.Words[3], h.Words[4]
	if h.Words[5] == solvedByRibbon {
		s.valueBits, s.checkBits, s.byRibbon = uint(valueBits), uint(checkBits), true
		if h.Hashes != 0 || valueBits > 64 || checkBits < leastCheckBits || checkBits > mostCheckBits || h.Bits%8 != 0 ||
			shards != 0 || cells != 0 || [2]uint64(h.Words[6:]) != [2]uint64{} {
			return 0, false
		}
		return s.setRibbon(h, max(1, valueBits+checkBits), ribbonWidths[0].width, keys)
	}
	if h.Hashes != cellsOfEntry || valueBits > 64 || checkBits < leastCheckBits || checkBits > mostCheckBits ||
		keys > cells ||
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

// checksApart says whether the check bits lie in a separate array.
func (s *shape) checksApart() bool { return s.checks.width != 0 }

func (s *shape) solvedCheck(payload []byte) bool {
	if s.byRibbon {
		return s.ribbonCheck(payload)
	}
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

// solvedValue returns the value of the key with this identity, and whether it is there; possible is false if the
// directory is forged.
func (s *shape) solvedValue(payload []byte, id identity) (value uint64, found, possible bool) {
	if s.byRibbon {
		return s.ribbonValue(payload, id)
	}
	if s.cells.shards == 0 {
		return 0, s.checkBits == 0, true
	}
	shard, place := s.cells.shardOf(payload, id.high)
	z := shard.scatterIdentity(id)
	places := s.cells.places(&shard, place, z)
	value, possible = s.cells.together(payload, places)
	check := uint64(0)
	if s.checksApart() {
		// Both arrays have the same number of cells.
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

// ribbonValue is [shape.solvedValue] for a map that a ribbon solved.
func (s *shape) ribbonValue(payload []byte, id identity) (value uint64, found, possible bool) {
	if s.ribbon.shards == 0 {
		return 0, s.checkBits == 0, true
	}
	z := mix(id.low ^ mix(id.high))
	together, after, possible := s.ribbonColumns(payload, id.high, z)
	if !possible {
		return 0, false, false
	}
	check := together>>s.valueBits | after<<(64-s.valueBits)
	if (check^fingerprint(z))&lowBits(s.checkBits) != 0 {
		return 0, false, true
	}
	return together & lowBits(s.valueBits), true, true
}
