package image

// The kind fuse, layout 1: the exclusive or of a key's three or four cells is its fingerprint.

var fuseRow = kindRow{
	name:     "fuse",
	open:     (*shape).asFuse,
	check:    func(s *shape, payload []byte) bool { return s.cells.isOrdered(payload) },
	contains: (*shape).fuseContains,
}

func (s *shape) asFuse(h *Header) (payloadBytes uint64, possible bool) {
	width, shards, keys := h.Words[0], h.Words[1], h.Words[2]
	if uint64(h.Hashes) != h.Words[3] || width < 2 || width > 32 || h.Bits%width != 0 || keys > h.Bits/width ||
		(keys == 0) != (shards == 0) || [4]uint64(h.Words[4:]) != [4]uint64{} {
		return 0, false
	}
	s.cells = cellArray{arity: uint(h.Hashes), width: uint(width), shards: shards, cells: h.Bits / width}
	return s.cells.bytes(), s.cells.isPossible()
}

func (s *shape) fuseContains(payload []byte, hash uint64) bool {
	if s.cells.shards == 0 {
		return false
	}
	x := orderOf(hash)
	shard, place := s.cells.shardOf(payload, x)
	z := shard.scatter(x)
	all, there := s.cells.together(payload, s.cells.places(&shard, place, z))
	// With a forged directory the answer is true, because nothing is certain.
	return !there || (all^fingerprint(z))&lowBits(s.cells.width) == 0
}
