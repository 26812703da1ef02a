package image

import (
	"encoding/binary"
	"math/bits"
)

// A sketch of the kind iblt has sub-tables of cells, and a number has one cell in each sub-table. A cell is three
// words: how many numbers it has, the XOR of the numbers, and the XOR of their checks.

// cellBytes is the length of a cell.
const cellBytes = 24

var ibltRow = kindRow{
	name:    "iblt",
	open:    openIBLT,
	check:   hasZeroTail,
	add:     ibltAdd,
	combine: ibltCombine,
	list:    ibltList,
}

func openIBLT(s *shape, h *Header) (payloadBytes uint64, possible bool) {
	cells, tables := h.Bits/(8*cellBytes), uint64(h.Hashes)
	if tables < 3 || tables > 7 || cells == 0 || h.Bits%(8*cellBytes) != 0 || cells%tables != 0 ||
		h.Words != [8]uint64{} || h.Hash == External {
		return 0, false
	}
	s.blocks = cells / tables
	return wholeBytes(h.Bits), true
}

// ibltCell returns the cell of a hash in a sub-table.
func (s *shape) ibltCell(hash uint64, table int) int {
	place, _ := bits.Mul64(mix(hash+golden*uint64(table+1)), s.blocks)
	return table*int(s.blocks) + int(place)
}

// ibltCheck returns the check of a hash, which confirms that a cell holds a single number.
func ibltCheck(hash uint64) uint64 { return mix(hash) }

// A cell is the three words of a cell.
type cell []byte

func cellOf(payload []byte, number int) cell { return payload[cellBytes*number:][:cellBytes] }

func (c cell) word(i int) uint64           { return binary.LittleEndian.Uint64(c[8*i:]) }
func (c cell) setWord(i int, value uint64) { binary.LittleEndian.PutUint64(c[8*i:], value) }

func ibltAdd(s *shape, payload []byte, hash, number uint64, count int64) {
	for table := range s.hashes {
		c := cellOf(payload, s.ibltCell(hash, table))
		c.setWord(0, c.word(0)+uint64(count))
		// An even number of occurrences cancels out in the XOR.
		if count&1 != 0 {
			c.setWord(1, c.word(1)^number)
			c.setWord(2, c.word(2)^ibltCheck(hash))
		}
	}
}

func ibltCombine(_ *shape, payload, other []byte, subtract bool) {
	for len(payload) >= cellBytes {
		ours, theirs := cell(payload[:cellBytes]), cell(other[:cellBytes])
		count := theirs.word(0)
		if subtract {
			count = -count
		}
		ours.setWord(0, ours.word(0)+count)
		ours.setWord(1, ours.word(1)^theirs.word(1))
		ours.setWord(2, ours.word(2)^theirs.word(2))
		payload, other = payload[cellBytes:], other[cellBytes:]
	}
}

// alone returns the hash of the single number in a cell, and the number with its count; ok is false if the cell does
// not hold a single number.
func (s *shape) alone(payload []byte, number int, h *hasher) (hash uint64, listed Listed, ok bool) {
	c := cellOf(payload, number)
	listed = Listed{Number: c.word(1), Count: int64(c.word(0))}
	if listed.Count != 1 && listed.Count != -1 {
		return 0, listed, false
	}
	hash, ok = h.hashUint64(listed.Number)
	ok = ok && c.word(2) == ibltCheck(hash) && s.ibltCell(hash, number/int(s.blocks)) == number
	return hash, listed, ok
}

// ibltList takes at most as many steps as there are cells, for any content. In a table made by insertions each step
// empties a cell; in a forged table the bound ends the loop. The library takes the same steps in the same order, so
// forged cells give the same list in both.
func ibltList(s *shape, payload []byte, h *hasher) (found []Listed) {
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
		hash, one, ok := s.alone(payload, number, h)
		if !ok {
			continue
		}
		if len(found) == cells {
			break
		}
		found = append(found, one)
		ibltAdd(s, payload, hash, one.Number, -one.Count)
		for table := range s.hashes {
			number := s.ibltCell(hash, table)
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
