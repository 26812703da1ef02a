package image

import (
	"encoding/binary"
	"math/bits"
)

// The kind golomb, layout 1: a Golomb-coded set of numbers, in buckets with an index.

var golombRow = kindRow{name: "golomb", open: (*shape).asGolomb, contains: (*shape).golombContains}

const (
	golombHeadBits   = 512
	mostGolombRange  = 1 << 62
	mostGolombDigits = 48
	mostGolombBits   = 56
	golombGroup      = 8
)

func (s *shape) asGolomb(h *Header) (payloadBytes uint64, possible bool) {
	values := h.Words[0]
	s.reach = values
	possible = h.Hashes == 1 && values >= 1 && values <= mostGolombRange &&
		bits.Len64(values)-bits.TrailingZeros64(values) <= mostGolombDigits &&
		[7]uint64(h.Words[1:]) == [7]uint64{} && h.Bits >= golombHeadBits && h.Bits < 1<<62
	return wholeBytes(h.Bits + 64), possible
}

// bitsAt returns so many bits of a payload, at most 64, from a bit on; false past its end.
func bitsAt(payload []byte, bit uint64, width uint) (all uint64, there bool) {
	if width == 0 {
		return 0, true
	}
	last := bit + uint64(width) - 1
	if last < bit || last/64*8+8 > uint64(len(payload)) {
		return 0, false
	}
	at, shift := bit/64*8, uint(bit%64)
	all = binary.LittleEndian.Uint64(payload[at:]) >> shift
	if shift+width > 64 {
		all |= binary.LittleEndian.Uint64(payload[at+8:]) << (64 - shift)
	}
	return all & lowBits(width), true
}

// golombBucket returns the bits in which the codes of a bucket begin and end; false where the index is forged.
func (s *shape) golombBucket(payload []byte, bucket uint64, low uint) (begin, end uint64, there bool) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(payload[8*i:]) }
	length, offset, shortest := uint(word(2)>>8&0xff), uint(word(2)>>16&0xff), word(3)
	if length > 64 || offset > 64 {
		return 0, 0, false
	}
	buckets := (s.reach-1)>>(low+5) + 1
	groups := (buckets-1)/golombGroup + 1
	entry := uint64(offset) + 7*uint64(length)
	high, all := bits.Mul64(groups, entry)
	if high != 0 || all > s.bits {
		return 0, 0, false
	}
	codes := golombHeadBits + all + uint64(offset)
	// Where a group begins.
	of := func(group uint64) (uint64, bool) {
		high, line := bits.Mul64(group, word(4))
		more, there := bitsAt(payload, golombHeadBits+group*entry, offset)
		return codes + (high<<48 | line>>16) + word(5) + more, there
	}
	group, number := bucket/golombGroup, bucket%golombGroup
	if begin, there = of(group); !there {
		return 0, 0, false
	}
	at := golombHeadBits + group*entry + uint64(offset)
	for i := range number + 1 {
		if i == 7 {
			end, there = of(group + 1)
		} else {
			var more uint64
			more, there = bitsAt(payload, at+i*uint64(length), length)
			end = begin + more + shortest
		}
		if !there {
			return 0, 0, false
		}
		if i < number {
			begin = end
		}
	}
	return begin, end, begin >= codes && begin <= end && end <= s.bits
}

func (s *shape) golombContains(payload []byte, hash uint64) bool {
	if binary.LittleEndian.Uint64(payload) == 0 {
		return false
	}
	low := uint(payload[16])
	if low > mostGolombBits {
		return true
	}
	wanted, _ := bits.Mul64(mix(hash), s.reach)
	bucket := wanted >> (low + 5)
	at, end, there := s.golombBucket(payload, bucket, low)
	if !there {
		// Of an index that is forged nothing certain is known.
		return true
	}
	// The high parts of the gaps go up from the bucket's begin, the low parts down from its end.
	number := bucket<<(low+5) - 1
	for at < end {
		zeros := uint64(0)
		for {
			code, there := bitsAt(payload, at, 1)
			if !there || at >= end {
				return true
			}
			if at++; code == 1 {
				break
			}
			zeros++
		}
		if end -= uint64(low); end < at {
			return true
		}
		rest, _ := bitsAt(payload, end, low)
		if number += zeros<<low + rest + 1; number >= wanted {
			return number == wanted
		}
	}
	return false
}
