package image

import "math"

// A sketch of the kind riblt has the first symbols of a stream without an end; a number is in some of them. A symbol is
// three words: the sum of its numbers by XOR, that of their hashes, and how many numbers it has.

// ribltSteps is how many indices listing finds at most for each symbol.
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

// ribltIndices has the indices of the symbols that a number is in, ascending.
type ribltIndices struct{ state, next uint64 }

// take returns the next index. Its steps are computed in double precision; the conversions keep compilers from fusing
// operations, so the indices are the same on every platform.
func (i *ribltIndices) take() uint64 {
	index := i.next
	i.state *= 0xda942042e4dd58b5
	ratio := float64(4294967296 / math.Sqrt(float64(i.state)+1))
	step := float64(float64(float64(index)+1.5) * float64(ratio-1))
	// The step rounded up. Steps and sums that are too large become the greatest number.
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

// ribltAddTo adds a number to its symbols, and returns how many these are.
func ribltAddTo(s *shape, payload []byte, hash, number uint64, count int64) (added int) {
	// A number that is there an even number of times is not in the sums.
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

func ribltCombine(payload, other []byte, subtract bool) {
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

// ribltAlone returns the hash of the number that is alone in a symbol, and the number with its count, by what the
// symbol says.
func ribltAlone(payload []byte, symbol int, h *hasher) (hash uint64, listed Listed, ok bool) {
	c := cellOf(payload, symbol)
	listed = Listed{Number: c.word(0), Count: int64(c.word(2))}
	if listed.Count != 1 && listed.Count != -1 {
		return 0, listed, false
	}
	hash, ok = h.hashUint64(listed.Number)
	return hash, listed, ok && hash == c.word(1)
}

// ribltList takes bounded steps, whatever is in the symbols: in a sketch that numbers were added to, each number
// empties a symbol, and in any other the bounds end it. The steps come in the library's order, so that what is listed
// of symbols that no numbers made is the same there and here.
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
		// No number is taken from a symbol that is not one of its own.
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
				// Only symbols that no numbers made are in the queue more often than there are symbols.
				return found
			}
			queue = append(queue, int(index))
		}
	}
	return found
}
