package image

import "math/bits"

// The kind d_left, layout 1: four subtables of buckets of cells.

var dLeftRow = kindRow{
	name:     "d_left",
	open:     (*shape).asDLeft,
	contains: (*shape).dLeftContains,
	check:    hasZeroTail,
}

const (
	subtables   = 4
	bucketCells = 8
	shiftBits   = 21
	shiftReach  = 1 << 12
)

func (s *shape) asDLeft(h *Header) (payloadBytes uint64, possible bool) {
	width, buckets := h.Words[0], h.Words[1]
	if h.Hashes != 0 || width < 4 || width > 32 || buckets == 0 || buckets > 1<<62>>width ||
		[6]uint64(h.Words[2:]) != [6]uint64{} {
		return 0, false
	}
	high, all := bits.Mul64(buckets, subtables*bucketCells*(width+2))
	s.width, s.reach, s.bits = uint(width), buckets, all
	s.stride = bucketCells * (width + 2)
	return wholeBytes(all), high == 0 && h.Bits == all
}

func (s *shape) dLeftContains(payload []byte, hash uint64) bool {
	fingerprint, _ := bits.Mul64(hash*golden, s.reach<<s.width)
	quotient, remainder := fingerprint>>s.width, fingerprint&lowBits(s.width)
	mixed := mix(remainder + 1)
	var shift uint64
	for i := range uint64(subtables) {
		first := ((quotient+shift)%s.reach*subtables + i) * s.stride
		for cell := range uint64(bucketCells) {
			if slotAt(payload, first+2*cell, 2) != 0 &&
				slotAt(payload, first+2*bucketCells+cell*uint64(s.width), s.width) == remainder {
				return true
			}
		}
		shift = mixed & lowBits(shiftBits) * min(s.reach, shiftReach) >> shiftBits
		mixed >>= shiftBits
	}
	return false
}
