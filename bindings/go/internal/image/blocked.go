package image

import (
	"math/bits"
	"sync"
)

// The kind blocked, layout 1: blocks of sixteen lanes of 32 bits. A key has one bit in each of k lanes of its block.

var blockedRow = kindRow{
	name:     "blocked",
	open:     (*shape).asBlocked,
	contains: blockedLookup(),
	insert:   blockedChange(),
	isMade:   true,
	first:    (*shape).blockedFirst,
}

// blockedLookup returns the lookup for this processor.
func blockedLookup() func(s *shape, payload []byte, hash uint64) bool {
	if hasAVX2 {
		return blockedContainsAVX2
	}
	return (*shape).blockedContains
}

// blockedChange returns the insertion for this processor.
func blockedChange() func(s *shape, payload []byte, hash uint64) (isNew bool) {
	if hasAVX2 {
		return blockedInsertAVX2
	}
	return (*shape).blockedInsert
}

const (
	blockBytes = 64
	maxLanes   = 16
)

// laneSalts are the multipliers of the lanes, shifted so that bits 32 to 36 of the product are the bit's number in the
// lane. Two neighbouring lanes share a product: the first lane takes its bits 27 to 31, and the second bits 32 to 36.
var laneSalts = func() (all [maxLanes]uint64) {
	for i, salt := range salts {
		all[2*i], all[2*i+1] = uint64(salt)<<5, uint64(salt)
	}
	return all
}()

// laneMasks returns the choices of k lanes, as masks in increasing order: ceil(k/2) ones in one byte and floor(k/2) in
// the other.
func laneMasks(k int) []uint16 {
	laneMasksOnce[k].Do(func() {
		for mask := range 1 << maxLanes {
			low, high := bits.OnesCount8(uint8(mask)), bits.OnesCount8(uint8(mask>>8))
			if low+high == k && max(low, high) == (k+1)/2 {
				laneMasksOf[k] = append(laneMasksOf[k], uint16(mask))
			}
		}
	})
	return laneMasksOf[k]
}

var (
	laneMasksOnce [maxLanes + 1]sync.Once
	laneMasksOf   [maxLanes + 1][]uint16
)

func (s *shape) asBlocked(h *Header) (payloadBytes uint64, possible bool) {
	if h.Bits == 0 || h.Bits%(8*blockBytes) != 0 || h.Hashes < 1 || h.Hashes > maxLanes || h.Words != [8]uint64{} {
		return 0, false
	}
	s.blocks = h.Bits / (8 * blockBytes)
	s.masks = laneMasks(int(h.Hashes))
	return wholeBytes(h.Bits), true
}

// blockedFirst returns the byte at which the block of a hash begins.
func (s *shape) blockedFirst(hash uint64) uint64 {
	index, _ := bits.Mul64(hash, s.blocks)
	return index * blockBytes
}

// block returns the block of a hash and the mask of its lanes.
func (s *shape) block(payload []byte, hash uint64) (*[blockBytes]byte, uint64) {
	choice := uint64(uint32(hash)) * uint64(len(s.masks)) >> 32
	return (*[blockBytes]byte)(payload[s.blockedFirst(hash):]), uint64(s.masks[choice])
}

// place returns the byte of a block, and the bit in that byte, of a key in the first lane of a nonempty mask. Bit n of
// lane l is bit 32 l + n of the block.
func place(mask, hash uint64) (index, bit uint64) {
	lane := uint64(bits.TrailingZeros64(mask)) & (maxLanes - 1)
	n := (hash & 0xffffffff) * laneSalts[lane] >> 32
	return lane*4 + n>>3&3, n & 7
}

func (s *shape) blockedContains(payload []byte, hash uint64) bool {
	block, mask := s.block(payload, hash)
	// Three lanes together: most absent keys end here, and the processor predicts this branch better than a branch for
	// each lane.
	if rest := mask & (mask - 1); rest&(rest-1) != 0 {
		i0, bit0 := place(mask, hash)
		i1, bit1 := place(rest, hash)
		rest &= rest - 1
		i2, bit2 := place(rest, hash)
		if block[i0]>>bit0&(block[i1]>>bit1)&(block[i2]>>bit2)&1 == 0 {
			return false
		}
		mask = rest & (rest - 1)
	}
	all := uint8(1)
	for ; mask != 0; mask &= mask - 1 {
		i, bit := place(mask, hash)
		all &= block[i] >> bit
	}
	return all&1 == 1
}

func (s *shape) blockedInsert(payload []byte, hash uint64) (isNew bool) {
	block, mask := s.block(payload, hash)
	for ; mask != 0; mask &= mask - 1 {
		i, bit := place(mask, hash)
		isNew = isNew || block[i]>>bit&1 == 0
		block[i] |= 1 << bit
	}
	return isNew
}
