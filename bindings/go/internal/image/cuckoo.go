package image

import (
	"encoding/binary"
	"math/bits"
)

// The kind cuckoo, layout 1: buckets of fingerprints, two for each key.

var cuckooRow = kindRow{
	name:     "cuckoo",
	open:     (*shape).asCuckoo,
	contains: (*shape).cuckooContains,
	check:    (*shape).checkCuckoo,
}

const (
	// semi-sorted buckets begin with a number for the high bits of their entries.
	sortedCodeBits = 12
	sortedCodes    = 3876
	sortedHighBits = 4
	sortedSlots    = 4
)

// sortedHighs has the high bits of the entries of a semi-sorted bucket, by the bucket's number. The lowest bits belong
// to the first entry.
var sortedHighs = func() (highs [sortedCodes]uint16) {
	for packed := range 1 << 16 {
		a, b, c, d := packed&15, packed>>4&15, packed>>8&15, packed>>12
		if a <= b && b <= c && c <= d {
			highs[a+b*(b+1)/2+c*(c+1)*(c+2)/6+d*(d+1)*(d+2)*(d+3)/24] = uint16(packed)
		}
	}
	return highs
}()

func (s *shape) asCuckoo(h *Header) (payloadBytes uint64, possible bool) {
	width, slots, sorted := h.Words[0], h.Words[1], h.Words[2]
	if h.Hashes != 0 || width < 4 || width > 32 || slots != 2 && slots != 4 && slots != 8 || sorted > 1 ||
		sorted == 1 && slots != sortedSlots || [5]uint64(h.Words[3:]) != [5]uint64{} {
		return 0, false
	}
	s.width, s.slots, s.sorted = uint(width), slots, sorted == 1
	s.stride = slots * (width - sorted)
	// The number of buckets is even, and the tail begins after the last bucket.
	s.reach = h.Bits / s.stride &^ 1
	s.bits = s.reach * s.stride
	return wholeBytes(h.Bits), s.reach != 0
}

func (s *shape) cuckooContains(payload []byte, hash uint64) bool {
	fingerprint, _ := bits.Mul64(hash*golden, lowBits(s.width))
	fingerprint++
	first, _ := bits.Mul64(hash, s.reach)
	sum, _ := bits.Mul64(mix(fingerprint), s.reach/2)
	second := 2*sum + 1 - first
	if 2*sum+1 < first {
		second += s.reach
	}
	return s.bucketHas(payload, first, fingerprint) || s.bucketHas(payload, second, fingerprint)
}

func (s *shape) bucketHas(payload []byte, bucket, fingerprint uint64) bool {
	if s.sorted {
		for _, entry := range s.sortedBucket(payload, bucket) {
			if entry == fingerprint {
				return true
			}
		}
		return false
	}
	bit := bucket * s.stride
	for end := bit + s.stride; bit != end; bit += uint64(s.width) {
		if slotAt(payload, bit, s.width) == fingerprint {
			return true
		}
	}
	return false
}

// sortedBucket returns the entries of a semi-sorted bucket. An invalid number counts as 0.
func (s *shape) sortedBucket(payload []byte, bucket uint64) (entries [sortedSlots]uint64) {
	bit := bucket * s.stride
	var highs uint64
	if code := slotAt(payload, bit, sortedCodeBits); code < sortedCodes {
		highs = uint64(sortedHighs[code])
	}
	bit += sortedCodeBits
	low := s.width - sortedHighBits
	for i := range entries {
		entries[i] = highs & 15 << low
		highs >>= sortedHighBits
		if low > 0 {
			entries[i] |= slotAt(payload, bit, low)
		}
		bit += uint64(low)
	}
	return entries
}

// checkCuckoo says whether the bits after the last bucket are zero, and whether semi-sorted buckets are sorted.
func (s *shape) checkCuckoo(payload []byte) bool {
	if !hasZeroTail(s, payload) {
		return false
	}
	if !s.sorted {
		return true
	}
	for bucket := range s.reach {
		if slotAt(payload, bucket*s.stride, sortedCodeBits) >= sortedCodes {
			return false
		}
		entries := s.sortedBucket(payload, bucket)
		for i, entry := range entries[1:] {
			if entry < entries[i] {
				return false
			}
		}
	}
	return true
}

// slotAt returns at most 63 bits of the payload.
func slotAt(payload []byte, bit uint64, width uint) uint64 {
	at, shift := bit/64*8, uint(bit%64)
	all := binary.LittleEndian.Uint64(payload[at:]) >> shift
	if shift+width > 64 {
		all |= binary.LittleEndian.Uint64(payload[at+8:]) << (64 - shift)
	}
	return all & lowBits(width)
}
