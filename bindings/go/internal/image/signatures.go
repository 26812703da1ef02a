package image

import (
	"encoding/binary"
	"math/bits"
)

// The kind signatures, layout 1: a static table of cuckoo signatures.

var signaturesRow = kindRow{
	name:     "signatures",
	choices:  []choice{{"buckets", 1, uint64(len(bucketShapes))}},
	open:     (*shape).asSignatures,
	check:    (*shape).signaturesAreOrdered,
	contains: (*shape).signaturesContain,
}

// bucketShape is the number of buckets that a key can choose, and the number of slots of a bucket.
type bucketShape struct{ choices, slots uint64 }

var bucketShapes = [...]bucketShape{{2, 4}, {2, 3}, {2, 2}, {2, 1}, {3, 1}, {4, 1}}

// seedBits is the number of bits of the seed in a word of the directory.
const seedBits = 16

func (s *shape) asSignatures(h *Header) (payloadBytes uint64, possible bool) {
	width, of, shards := h.Words[0], h.Words[1], h.Words[2]
	if h.Hashes != 0 || width < 2 || width > 32 || of >= uint64(len(bucketShapes)) ||
		[5]uint64(h.Words[3:]) != [5]uint64{} {
		return 0, false
	}
	s.width, s.shards, s.buckets = uint(width), shards, bucketShapes[of]
	perBucket := width * s.buckets.slots
	s.reach = h.Bits / perBucket
	if h.Bits%perBucket != 0 || shards == 0 || shards > s.reach || s.reach >= 1<<(64-seedBits) {
		return 0, false
	}
	// The tail begins after the last slot.
	s.bits = 64*shards + h.Bits
	return wholeBytes(s.bits), true
}

// signaturesAreOrdered says whether the directory is valid, and whether all bits after the last slot are zero.
func (s *shape) signaturesAreOrdered(payload []byte) bool {
	least := uint64(0)
	for shard := range s.shards {
		first := binary.LittleEndian.Uint64(payload[8*shard:]) >> seedBits
		if first < least || first >= s.reach || shard == 0 && first != 0 {
			return false
		}
		least = first + 1
	}
	return hasZeroTail(s, payload)
}

func (s *shape) signaturesContain(payload []byte, hash uint64) bool {
	x := mix(hash)
	shard, _ := bits.Mul64(x, s.shards)
	entry := binary.LittleEndian.Uint64(payload[8*shard:])
	first, end := entry>>seedBits, s.reach
	if shard+1 < s.shards {
		end = binary.LittleEndian.Uint64(payload[8*(shard+1):]) >> seedBits
	}
	if first >= end || end > s.reach {
		// With a forged directory the answer is true, because nothing is certain.
		return true
	}
	part := func(i uint64) uint64 { return mix(x + (8*(entry&lowBits(seedBits))+i+1)*golden) }
	signature, _ := bits.Mul64(part(7), lowBits(s.width))
	signature++
	for i := range s.buckets.choices {
		bucket, _ := bits.Mul64(part(i), end-first)
		for j := range s.buckets.slots {
			slot := (first+bucket)*s.buckets.slots + j
			if slotAt(payload, 64*s.shards+slot*uint64(s.width), s.width) == signature {
				return true
			}
		}
	}
	return false
}
