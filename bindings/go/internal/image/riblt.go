package image

import "math"

// A sketch of the kind riblt has the first symbols of an endless stream, and a number is in some of the symbols. A
// symbol is three words: the XOR of its numbers, the XOR of their hashes, and how many numbers it has.

// ribltSteps is the most indices that listing computes for each symbol.
const ribltSteps = 128

var ribltRow = kindRow{
	name:    "riblt",
	open:    openRiblt,
	check:   hasZeroTail,
	add:     ribltAdd,
	combine: ribltCombine,
	list:    ribltList,
}

func openRiblt(s *shape, h *Header) (payloadBytes uint64, possible bool) {
	if h.Bits == 0 || h.Bits%(8*cellBytes) != 0 || h.Hashes != 0 || h.Words != [8]uint64{} || h.Hash == External {
		return 0, false
	}
	s.blocks = h.Bits / (8 * cellBytes)
	return wholeBytes(h.Bits), true
}

// ribltIndices generates the indices of a number's symbols, in ascending order.
type ribltIndices struct{ state, next uint64 }

// take returns the next index. take computes in double precision; the conversions keep compilers from fusing
// operations, so the indices are the same on every platform.
func (i *ribltIndices) take() uint64 {
	index := i.next
	i.state *= 0xda942042e4dd58b5
	ratio := float64(4294967296 / math.Sqrt(float64(i.state)+1))
	step := float64(float64(float64(index)+1.5) * float64(ratio-1))
	// Rounds the step up. A step or a sum that is too large becomes the greatest number.
	if i.next = math.MaxUint64; step < 1<<63 {
		up := uint64(math.Ceil(step))
		if sum := index + up; sum >= index {
			i.next = sum
		}
	}
	return index
}

func ribltAdd(s *shape, payload []byte, hash, number uint64, count int64) {
	ribltAddTo(s, payload, hash, number, count)
}

// ribltAddTo adds a number to its symbols, and returns the number of symbols.
func ribltAddTo(s *shape, payload []byte, hash, number uint64, count int64) (added int) {
	// An even number of occurrences cancels out in the XOR.
	check := hash
	if count&1 == 0 {
		number, check = 0, 0
	}
	indices := ribltIndices{state: hash}
	for index := indices.take(); index < s.blocks; index = indices.take() {
		c := cellOf(payload, int(index))
		c.setWord(0, c.word(0)^number)
		c.setWord(1, c.word(1)^check)
		c.setWord(2, c.word(2)+uint64(count))
		added++
	}
	return added
}

func ribltCombine(_ *shape, payload, other []byte, subtract bool) {
	for len(payload) >= cellBytes {
		ours, theirs := cell(payload[:cellBytes]), cell(other[:cellBytes])
		count := theirs.word(2)
		if subtract {
			count = -count
		}
		ours.setWord(0, ours.word(0)^theirs.word(0))
		ours.setWord(1, ours.word(1)^theirs.word(1))
		ours.setWord(2, ours.word(2)+count)
		payload, other = payload[cellBytes:], other[cellBytes:]
	}
}

// ribltAlone returns the hash of the single number in a symbol, and the number with its count; ok is false if the
// symbol does not hold a single number.
func ribltAlone(payload []byte, symbol int, h *hasher) (hash uint64, listed Listed, ok bool) {
	c := cellOf(payload, symbol)
	listed = Listed{Number: c.word(0), Count: int64(c.word(2))}
	if listed.Count != 1 && listed.Count != -1 {
		return 0, listed, false
	}
	hash, ok = h.hashUint64(listed.Number)
	return hash, listed, ok && hash == c.word(1)
}

// ribltList takes a bounded number of steps, for any content. In a sketch made by insertions each number empties a
// symbol; in a forged sketch the bounds end the loop. The library takes the same steps in the same order, so forged
// symbols give the same list in both.
func ribltList(s *shape, payload []byte, h *hasher) (found []Listed) {
	symbols := int(s.blocks)
	var queue []int
	for symbol := range symbols {
		if _, _, ok := ribltAlone(payload, symbol, h); ok {
			queue = append(queue, symbol)
		}
	}
	for steps := symbols * ribltSteps; len(queue) > 0; {
		last := len(queue) - 1
		symbol := queue[last]
		queue = queue[:last]
		hash, one, ok := ribltAlone(payload, symbol, h)
		if !ok {
			continue
		}
		// A number is listed only if the symbol is one of its own.
		own := ribltIndices{state: hash}
		index := own.take()
		for ; index < uint64(symbol); index = own.take() {
			steps--
		}
		if index != uint64(symbol) {
			continue
		}
		if len(found) == symbols || steps <= 0 {
			break
		}
		found = append(found, one)
		steps -= ribltAddTo(s, payload, hash, one.Number, -one.Count)
		indices := ribltIndices{state: hash}
		for index := indices.take(); index < s.blocks; index = indices.take() {
			if _, _, ok := ribltAlone(payload, int(index), h); !ok {
				continue
			}
			if len(queue) == symbols {
				// In a sketch made by insertions the queue never has more entries than there are symbols.
				return found
			}
			queue = append(queue, int(index))
		}
	}
	return found
}
