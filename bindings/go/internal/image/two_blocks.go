package image

// The kind blocked with word 0 = 2: a key has half of its bits in each of two blocks. The hash gives the first block,
// and the mixed hash the second one, with the same formulas as in filters with one block a key.

var twoBlocksRow = kindRow{
	name:     "blocked",
	open:     (*shape).asTwoBlocks,
	contains: twoBlocksLookup(blockedLookup()),
	insert:   twoBlocksChange(blockedChange()),
	first:    (*shape).blockedFirst,
}

// twoBlocks is the value of header word 0 for keys with two blocks.
const twoBlocks = 2

func (s *shape) asTwoBlocks(h *Header) (payloadBytes uint64, possible bool) {
	one := *h
	one.Words[0], one.Hashes = 0, h.Hashes/2
	if h.Hashes%2 != 0 {
		return 0, false
	}
	return s.asBlocked(&one)
}

// twoBlocksLookup returns a lookup in both blocks.
func twoBlocksLookup(one func(s *shape, payload []byte, hash uint64) bool) func(*shape, []byte, uint64) bool {
	return func(s *shape, payload []byte, hash uint64) bool {
		return one(s, payload, hash) && one(s, payload, mix(hash))
	}
}

// twoBlocksChange returns an insertion into both blocks.
func twoBlocksChange(one func(s *shape, payload []byte, hash uint64) bool) func(*shape, []byte, uint64) bool {
	return func(s *shape, payload []byte, hash uint64) (isNew bool) {
		first, second := one(s, payload, hash), one(s, payload, mix(hash))
		return first || second
	}
}
