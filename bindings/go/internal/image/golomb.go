package image

import (
	"encoding/binary"
	"math/bits"
)

// The kind golomb, layout 1: a Golomb-coded set of numbers, in buckets with an index.

var golombRow = kindRow{
	name:     "golomb",
	open:     (*shape).asGolomb,
	check:    (*shape).golombCheck,
	contains: (*shape).golombContains,
}

const (
	golombHeadBits   = 512
	mostGolombRange  = 1 << 62
	mostGolombDigits = 48
	mostGolombBits   = 56
	// The greatest width of an index field.
	mostGolombWidth = 57
	golombGroup     = 8
)

func (s *shape) asGolomb(h *Header) (payloadBytes uint64, possible bool) {
	values := h.Words[0]
	s.reach = values
	possible = h.Hashes == 1 && values >= 1 && values <= mostGolombRange &&
		bits.Len64(values)-bits.TrailingZeros64(values) <= mostGolombDigits &&
		[7]uint64(h.Words[1:]) == [7]uint64{} && h.Bits >= golombHeadBits && h.Bits < 1<<62
	return wholeBytes(h.Bits + 64), possible
}

// bitsAt returns width bits of a payload, at most 64, from a bit on; false past the end of the payload.
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

// golombHead is the first line of a payload, with the numbers that follow from it.
type golombHead struct {
	values        uint64
	low           uint // the Rice parameter
	length, begin uint // the widths of the lengths and of the beginnings in the index
	shortest      uint64
	slope, least  uint64
	buckets       uint64
	codes         uint64 // the bit in which the codes begin
}

// golombHead reads the head; false if a payload with this geometry cannot have it.
func (s *shape) golombHead(payload []byte) (of golombHead, possible bool) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(payload[8*i:]) }
	codeBits, widths := word(1), word(2)
	of = golombHead{values: word(0), low: uint(widths & 0xff), length: uint(widths >> 8 & 0xff),
		begin: uint(widths >> 16 & 0xff), shortest: word(3), slope: word(4), least: word(5), codes: golombHeadBits}
	if of.values == 0 {
		isZero := codeBits|widths|of.shortest|of.slope|of.least == 0
		return of, isZero && s.bits == golombHeadBits
	}
	if widths>>24 != 0 || of.low > mostGolombBits || of.length > mostGolombWidth || of.begin > mostGolombWidth {
		return of, false
	}
	of.buckets = (s.reach-1)>>(of.low+5) + 1
	// Every number has at least one bit, and there is at most one bucket more than numbers.
	if of.values > codeBits || of.buckets-1 > of.values {
		return of, false
	}
	groups := (of.buckets-1)/golombGroup + 1
	high, index := bits.Mul64(groups, of.entry())
	if high != 0 || index > s.bits {
		return of, false
	}
	of.codes += index + uint64(of.begin)
	return of, of.codes <= s.bits && codeBits == s.bits-of.codes
}

// entry returns the length of an index entry in bits.
func (g *golombHead) entry() uint64 { return uint64(g.begin) + (golombGroup-1)*uint64(g.length) }

// bucket returns the bits at which the codes of a bucket begin and end; false if the index is forged.
func (g *golombHead) bucket(s *shape, payload []byte, bucket uint64) (begin, end uint64, there bool) {
	// of returns the bit at which a group begins.
	of := func(group uint64) (uint64, bool) {
		more, there := bitsAt(payload, golombHeadBits+group*g.entry(), g.begin)
		return g.codes + group*g.slope>>16 + g.least + more, there
	}
	group, number := bucket/golombGroup, bucket%golombGroup
	if begin, there = of(group); !there {
		return 0, 0, false
	}
	at := golombHeadBits + group*g.entry() + uint64(g.begin)
	for i := range number + 1 {
		if i == golombGroup-1 {
			end, there = of(group + 1)
		} else {
			var more uint64
			more, there = bitsAt(payload, at+i*uint64(g.length), g.length)
			end = begin + more + g.shortest
		}
		if !there {
			return 0, 0, false
		}
		if i < number {
			begin = end
		}
	}
	return begin, end, begin <= end && end <= s.bits
}

// golombNumbers reads the numbers of a bucket, each minus the bucket's least number.
type golombNumbers struct {
	payload []byte
	low     uint
	// The high parts of the gaps are stored upwards from the bucket's begin, the low parts downwards from its end.
	at, end uint64
	next    uint64
}

// number returns the next number. more is false after the last number; there is false if the codes are forged.
func (n *golombNumbers) number() (number uint64, more, there bool) {
	if n.at >= n.end {
		return 0, false, true
	}
	zeros := uint64(0)
	for {
		code, there := bitsAt(n.payload, n.at, 1)
		if !there || n.at >= n.end {
			return 0, false, false
		}
		if n.at++; code == 1 {
			break
		}
		zeros++
	}
	if n.end -= uint64(n.low); n.end < n.at {
		return 0, false, false
	}
	rest, _ := bitsAt(n.payload, n.end, n.low)
	number = n.next + zeros<<n.low + rest
	n.next = number + 1
	return number, true, true
}

// golombCheck says whether the index leads to the codes, and whether the codes are distinct numbers below the range, as
// many as the head says.
func (s *shape) golombCheck(payload []byte) bool {
	head, possible := s.golombHead(payload)
	if !possible {
		return false
	}
	for _, b := range payload[6*8 : golombHeadBits/8] {
		if b != 0 {
			return false
		}
	}
	values, at := uint64(0), head.codes
	for bucket := range head.buckets {
		begin, end, there := head.bucket(s, payload, bucket)
		if !there || begin != at {
			return false
		}
		at = end
		numbers := golombNumbers{payload: payload, low: head.low, at: begin, end: end}
		for {
			number, more, there := numbers.number()
			if !there {
				return false
			}
			if !more {
				break
			}
			if number>>(head.low+5) != 0 || bucket<<(head.low+5)|number >= s.reach {
				return false
			}
			values++
		}
	}
	return at == s.bits && values == head.values && hasZeroTail(s, payload)
}

func (s *shape) golombContains(payload []byte, hash uint64) bool {
	head, possible := s.golombHead(payload)
	if !possible {
		return true
	}
	if head.values == 0 {
		return false
	}
	wanted, _ := bits.Mul64(mix(hash), s.reach)
	bucket := wanted >> (head.low + 5)
	begin, end, there := head.bucket(s, payload, bucket)
	if !there || begin < head.codes {
		// With a forged index the answer is true, because nothing is certain.
		return true
	}
	wanted &= lowBits(head.low + 5)
	numbers := golombNumbers{payload: payload, low: head.low, at: begin, end: end}
	for {
		number, more, there := numbers.number()
		if !there {
			return true
		}
		if !more || number >= wanted {
			return more && number == wanted
		}
	}
}
