package image

// The kind exact_bits, layout 1: a bit for each integer below a bound. The integers are the keys, without a hash.

var exactBitsRow = kindRow{
	name:     "exact_bits",
	open:     (*shape).asExactBits,
	contains: (*shape).exactBitsContains,
	check:    hasZeroTail,
	first:    func(_ *shape, key uint64) uint64 { return key / 8 },
}

func (s *shape) asExactBits(h *Header) (payloadBytes uint64, possible bool) {
	return wholeBytes(h.Bits), h.Bits != 0 && h.Hashes == 1 && h.Words == [8]uint64{}
}

func (s *shape) exactBitsContains(payload []byte, key uint64) bool {
	return key < s.bits && payload[key/8]>>(key%8)&1 == 1
}
