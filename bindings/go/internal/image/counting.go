package image

import "math/bits"

// The kind counting, layout 1: counters of four bits, of which the one with an even number is the low half of its byte.

var countingRow = kindRow{
	name:     "counting",
	open:     (*shape).asCounting,
	contains: (*shape).countingContains,
	insert:   (*shape).countingInsert,
	check:    hasZeroTail,
}

const (
	counterBits     = 4
	greatestCounter = 1<<counterBits - 1
	maxCounters     = 64
)

func (s *shape) asCounting(h *Header) (payloadBytes uint64, possible bool) {
	s.reach = h.Bits / counterBits
	return wholeBytes(h.Bits), h.Bits != 0 && h.Bits%counterBits == 0 && h.Hashes >= 1 && h.Hashes <= maxCounters &&
		h.Words == [8]uint64{}
}

func (s *shape) countingContains(payload []byte, hash uint64) bool {
	for range s.hashes {
		p, _ := bits.Mul64(hash, s.reach)
		if payload[p/2]>>(p%2*counterBits)&greatestCounter == 0 {
			return false
		}
		hash *= golden
	}
	return true
}

func (s *shape) countingInsert(payload []byte, hash uint64) (isNew bool) {
	var seen [maxCounters]uint64
next:
	for i := range s.hashes {
		p, _ := bits.Mul64(hash, s.reach)
		hash *= golden
		seen[i] = p
		for _, before := range seen[:i] {
			if before == p {
				continue next
			}
		}
		counter, shift := &payload[p/2], p%2*counterBits
		value := *counter >> shift & greatestCounter
		isNew = isNew || value == 0
		if value != greatestCounter {
			*counter += 1 << shift
		}
	}
	return isNew
}
