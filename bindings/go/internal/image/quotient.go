package image

import (
	"encoding/binary"
	"math/bits"
)

// The kind quotient, layout 1: a rank-and-select quotient filter with counters.

var quotientRow = kindRow{
	name:     "quotient",
	open:     (*shape).asQuotient,
	contains: (*shape).quotientContains,
	check:    (*shape).quotientCheck,
}

const (
	quotientBlock = 64    // slots of a block
	quotientHead  = 18    // bytes of a block before its remainders
	quotientFar   = 65535 // an offset that stands for this one and all greater ones
)

func (s *shape) asQuotient(h *Header) (payloadBytes uint64, possible bool) {
	width, slots := h.Words[0], h.Words[1]
	if h.Hashes != 0 || width < 2 || width > 32 || slots == 0 || slots%quotientBlock != 0 || slots > 1<<62>>width ||
		[6]uint64(h.Words[2:]) != [6]uint64{} {
		return 0, false
	}
	s.width, s.reach, s.blocks = uint(width), slots, slots/quotientBlock
	s.stride = quotientHead + 8*width
	s.bits = s.blocks * s.stride * 8
	// Whole lines of blocks, and a line of state after them.
	return (wholeBytes(s.bits)+63)/64*64 + 64, s.bits == h.Bits
}

// quotientTable is a payload. Positions wrap around: the first slot follows the last one.
type quotientTable struct {
	*shape
	payload []byte
}

// block returns the bytes from the beginning of a position's block.
func (t quotientTable) block(position uint64) []byte {
	return t.payload[position/quotientBlock%t.blocks*t.stride:]
}

func (t quotientTable) occupieds(position uint64) uint64 {
	return binary.LittleEndian.Uint64(t.block(position)[2:])
}

func (t quotientTable) runends(position uint64) uint64 {
	return binary.LittleEndian.Uint64(t.block(position)[10:])
}

func (t quotientTable) isEnd(position uint64) bool {
	return t.runends(position)>>(position%quotientBlock)&1 == 1
}

func (t quotientTable) slot(position uint64) uint64 {
	bit := position % quotientBlock * uint64(t.width)
	// The slot has at most 39 bits from that byte on, and the line of state follows the last block.
	return binary.LittleEndian.Uint64(t.block(position)[quotientHead+bit/8:]) >> (bit % 8) & lowBits(t.width)
}

func (t quotientTable) storedOffset(position uint64) uint64 {
	return uint64(binary.LittleEndian.Uint16(t.block(position)))
}

// offset returns how many slots, from the beginning of a position's block on, belong to runs of earlier quotients.
func (t quotientTable) offset(position uint64) (offset uint64, ok bool) {
	if offset := t.storedOffset(position); offset < quotientFar {
		return offset, true
	}
	// Computes the offset from the last block whose offset is stored exactly.
	last := position/quotientBlock%t.blocks + t.blocks
	first := last
	for t.storedOffset(first*quotientBlock) == quotientFar {
		if first--; last-first > t.blocks {
			return 0, false
		}
	}
	offset = t.storedOffset(first * quotientBlock)
	for ; first < last; first++ {
		if offset, ok = t.nextOffset(first*quotientBlock, offset); !ok {
			return 0, false
		}
	}
	return offset, true
}

// nextOffset returns the offset of the next block, from the beginning and the offset of a block.
func (t quotientTable) nextOffset(start, offset uint64) (uint64, bool) {
	after := start + offset
	if runs := bits.OnesCount64(t.occupieds(start)); runs > 0 {
		end, ok := t.runEnd(after, runs)
		if !ok {
			return 0, false
		}
		after = end + 1
	}
	// No run reaches further than once around the table.
	next := after - min(after, start+quotientBlock)
	return next, next <= t.reach
}

// runEnd returns the position of the count-th run end from a position on.
func (t quotientTable) runEnd(from uint64, count int) (position uint64, ok bool) {
	ends := t.runends(from) &^ lowBits(uint(from%quotientBlock))
	first := from / quotientBlock
	for block := first; block <= first+t.blocks; block++ {
		if block > first {
			ends = t.runends(block * quotientBlock)
		}
		if here := bits.OnesCount64(ends); here < count {
			count -= here
			continue
		}
		for ; count > 1; count-- {
			ends &= ends - 1
		}
		return block*quotientBlock + uint64(bits.TrailingZeros64(ends)), true
	}
	return 0, false
}

// run returns the first and the last position of a quotient's run. The quotient must have a run.
func (t quotientTable) run(quotient uint64) (start, end uint64, ok bool) {
	offset, ok := t.offset(quotient)
	if !ok {
		return 0, 0, false
	}
	start = quotient/quotientBlock*quotientBlock + offset
	if before := bits.OnesCount64(t.occupieds(quotient) & lowBits(uint(quotient%quotientBlock))); before > 0 {
		if end, ok = t.runEnd(start, before); !ok {
			return 0, 0, false
		}
		start = end + 1
	}
	start = max(start, quotient)
	end, ok = t.runEnd(start, 1)
	return start, end, ok
}

// code returns the length in slots of the code at start, in a run that ends at end.
func (t quotientTable) code(start, end uint64) uint64 {
	x := t.slot(start)
	if start == end {
		return 1
	}
	second := t.slot(start + 1)
	switch {
	case x > 0 && second > x:
		return 1
	case x > 0 && second == x:
		return 2
	case x == 0 && second == 0:
		if start+2 <= end && t.slot(start+2) == 0 {
			return 3
		}
		return 2
	}
	// A counter ends at the next x, or at two zeros if x is zero. Without that end the further slots are other remainders.
	at := start + 1
	if x > 0 && second == 0 {
		at++
	}
	for ; at <= end; at++ {
		if t.slot(at) != x {
			continue
		}
		if x > 0 {
			return at - start + 1
		}
		if at < end && t.slot(at+1) == 0 {
			return at - start + 2
		}
		break
	}
	return 1
}

func (s *shape) quotientContains(payload []byte, hash uint64) bool {
	t := quotientTable{s, payload}
	fingerprint, _ := bits.Mul64(hash, s.reach<<s.width)
	quotient, remainder := fingerprint>>s.width, fingerprint&lowBits(s.width)
	if t.occupieds(quotient)>>(quotient%quotientBlock)&1 == 0 {
		return false
	}
	start, end, ok := t.run(quotient)
	if !ok {
		// With a forged table the answer is true, because nothing is certain.
		return true
	}
	for start <= end {
		if found := t.slot(start); found >= remainder {
			return found == remainder
		}
		start += t.code(start, end)
	}
	return false
}

// quotientCheck compares a payload with its offsets and its number of taken slots. All other slots must be zero.
func (s *shape) quotientCheck(payload []byte) bool {
	t := quotientTable{s, payload}
	state := payload[len(payload)-64:]
	taken := binary.LittleEndian.Uint64(state)
	first, ok := t.offset(0)
	if !ok || taken > s.reach {
		return false
	}
	isFree := func(position uint64) bool { return t.slot(position) == 0 && !t.isEnd(position) }
	after, slots, fingerprints := first, uint64(0), uint64(0)
	for start := uint64(0); start < s.reach; start += quotientBlock {
		if t.storedOffset(start) != min(after-min(after, start), quotientFar) {
			return false
		}
		for occupieds := t.occupieds(start); occupieds != 0; occupieds &= occupieds - 1 {
			quotient := start + uint64(bits.TrailingZeros64(occupieds))
			for ; after < quotient; after++ {
				if !isFree(after) {
					return false
				}
			}
			end, ok := t.runEnd(after, 1)
			if !ok {
				return false
			}
			slots += end + 1 - after
			if slots > taken {
				return false
			}
			for last, isFirst := uint64(0), true; after <= end; isFirst = false {
				x := t.slot(after)
				if !isFirst && x <= last {
					return false
				}
				last = x
				after += t.code(after, end)
				fingerprints++
			}
		}
	}
	if after-min(after, s.reach) != first {
		return false
	}
	for ; after < s.reach+first; after++ {
		if !isFree(after) {
			return false
		}
	}
	return slots == taken && fingerprints == binary.LittleEndian.Uint64(state[8:])
}
