package image

import (
	"encoding/binary"
	"math/bits"
)

// A sketch of the kind iblt has sub-tables of cells, and a number has one cell in each sub-table. A cell is three
// words: how many numbers it has, the XOR of the numbers, and the XOR of their checks. With values it has a fourth
// word, the XOR of the values. Then the number alone has the cell of the first sub-table, and the number with its value
// the cells of the others.

// cellBytes is the length of a cell without values.
const cellBytes = 24

var ibltRow = kindRow{
	name:    "iblt",
	open:    openIBLT,
	check:   hasZeroTail,
	add:     ibltAdd,
	combine: ibltCombine,
	list:    ibltList,
	pairs:   &pairFunctions{get: ibltGet, add: ibltAddPair, list: ibltListPairs},
}

func openIBLT(s *shape, h *Header) (payloadBytes uint64, possible bool) {
	least := uint64(3)
	switch h.Words {
	case [8]uint64{}:
		s.stride = cellBytes
	case [8]uint64{64}:
		s.stride, s.valueBits, least = cellBytes+8, 64, 4
	default:
		return 0, false
	}
	cells, tables := h.Bits/(8*s.stride), uint64(h.Hashes)
	if tables < least || tables > 7 || cells == 0 || h.Bits%(8*s.stride) != 0 || cells%tables != 0 ||
		h.Hash == External {
		return 0, false
	}
	s.blocks = cells / tables
	return wholeBytes(h.Bits), true
}

// ibltPair hashes a number with its value, which is 0 in a sketch without values.
func (s *shape) ibltPair(h *hasher, number, value uint64) (p pair, ok bool) {
	if s.valueBits > 0 {
		p = pairOf(h, number, value)
		return p, p.hashed
	}
	hash, ok := h.hashUint64(number)
	return pair{number: number, hash: hash, both: hash, hashed: ok}, ok
}

// ibltCell returns the cell of a number in a sub-table.
func (s *shape) ibltCell(p *pair, table int) int {
	hash := p.both
	if table == 0 {
		hash = p.hash
	}
	place, _ := bits.Mul64(mix(hash+golden*uint64(table+1)), s.blocks)
	return table*int(s.blocks) + int(place)
}

// ibltCheck returns the check of a number, which confirms that a cell holds a single number.
func ibltCheck(p *pair) uint64 { return mix(p.both) }

// A cell is the words of a cell.
type cell []byte

func cellOf(payload []byte, number int) cell { return payload[cellBytes*number:][:cellBytes] }

// ibltCellOf returns a cell of a sketch that may have values.
func (s *shape) ibltCellOf(payload []byte, number int) cell {
	return payload[int(s.stride)*number:][:s.stride]
}

func (c cell) word(i int) uint64           { return binary.LittleEndian.Uint64(c[8*i:]) }
func (c cell) setWord(i int, value uint64) { binary.LittleEndian.PutUint64(c[8*i:], value) }

// value returns the XOR of the values in a cell; 0 without values.
func (c cell) value() uint64 {
	if len(c) == cellBytes {
		return 0
	}
	return c.word(3)
}

func ibltAdd(s *shape, payload []byte, hash, number uint64, count int64) {
	ibltAddPair(s, payload, pair{number: number, hash: hash, both: hash}, count)
}

func ibltAddPair(s *shape, payload []byte, p pair, count int64) {
	for table := range s.hashes {
		c := s.ibltCellOf(payload, s.ibltCell(&p, table))
		c.setWord(0, c.word(0)+uint64(count))
		// An even number of occurrences cancels out in the XOR.
		if count&1 != 0 {
			c.setWord(1, c.word(1)^p.number)
			c.setWord(2, c.word(2)^ibltCheck(&p))
			if s.valueBits > 0 {
				c.setWord(3, c.word(3)^p.value)
			}
		}
	}
}

func ibltCombine(s *shape, payload, other []byte, subtract bool) {
	for length := int(s.stride); len(payload) >= length; payload, other = payload[length:], other[length:] {
		ours, theirs := cell(payload[:length]), cell(other[:length])
		count := theirs.word(0)
		if subtract {
			count = -count
		}
		ours.setWord(0, ours.word(0)+count)
		for i := 1; i < length/8; i++ {
			ours.setWord(i, ours.word(i)^theirs.word(i))
		}
	}
}

// alone returns the single number in a cell with its count; ok is false if the cell does not hold a single number.
func (s *shape) alone(payload []byte, number int, h *hasher) (p pair, count int64, ok bool) {
	c := s.ibltCellOf(payload, number)
	count = int64(c.word(0))
	if count != 1 && count != -1 {
		return p, count, false
	}
	p, ok = s.ibltPair(h, c.word(1), c.value())
	ok = ok && c.word(2) == ibltCheck(&p) && s.ibltCell(&p, number/int(s.blocks)) == number
	return p, count, ok
}

// ibltGet looks a number up in constant time. An empty cell of the number says that the number is absent. A cell with a
// single number says so too, or that this number is there. With values only the first sub-table can be asked.
func ibltGet(s *shape, payload []byte, h *hasher, number uint64) (presence Presence, found Pair) {
	hash, _ := h.hashUint64(number)
	sought, asked := pair{number: number, hash: hash, both: hash}, s.hashes
	if s.valueBits > 0 {
		asked = 1
	}
	for table := range asked {
		at := s.ibltCell(&sought, table)
		c := s.ibltCellOf(payload, at)
		if c.word(0)|c.word(1)|c.word(2)|c.value() == 0 {
			return Absent, Pair{}
		}
		if p, count, ok := s.alone(payload, at, h); ok && p.number == number {
			return There, Pair{Number: number, Value: p.value, Count: count}
		} else if ok {
			return Absent, Pair{}
		}
	}
	return Unknown, Pair{}
}

func ibltList(s *shape, payload []byte, h *hasher) (found []Listed) {
	for _, one := range ibltListPairs(s, payload, h) {
		found = append(found, Listed{Number: one.Number, Count: one.Count})
	}
	return found
}

// ibltListPairs takes at most as many steps as there are cells, for any content. In a table made by insertions each
// step empties a cell; in a forged table the bound ends the loop. The library takes the same steps in the same order,
// so forged cells give the same list in both.
func ibltListPairs(s *shape, payload []byte, h *hasher) (found []Pair) {
	cells := int(s.blocks) * s.hashes
	var queue []int
	for number := range cells {
		if _, _, ok := s.alone(payload, number, h); ok {
			queue = append(queue, number)
		}
	}
	for len(queue) > 0 {
		last := len(queue) - 1
		number := queue[last]
		queue = queue[:last]
		one, count, ok := s.alone(payload, number, h)
		if !ok {
			continue
		}
		if len(found) == cells {
			break
		}
		found = append(found, Pair{Number: one.number, Value: one.value, Count: count})
		ibltAddPair(s, payload, one, -count)
		for table := range s.hashes {
			number := s.ibltCell(&one, table)
			if _, _, ok := s.alone(payload, number, h); !ok {
				continue
			}
			if len(queue) == cells {
				// In a table made by insertions the queue never has more entries than there are cells.
				return found
			}
			queue = append(queue, number)
		}
	}
	return found
}
