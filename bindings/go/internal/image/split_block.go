package image

import "encoding/binary"

// The kind split_block, layout 1: blocks of eight lanes of 32 bits. A key has one bit in each lane of its block.

var splitBlockRow = kindRow{
	name:     "split_block",
	open:     (*shape).asSplitBlock,
	contains: (*shape).splitBlockContains,
	insert:   (*shape).splitBlockInsert,
	isMade:   true,
	first:    (*shape).splitBlockFirst,
	check:    hasZeroTail,
}

const splitBlockBytes = 32

// salts are the odd multipliers of Apache Parquet's format.
var salts = [8]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

func (s *shape) asSplitBlock(h *Header) (payloadBytes uint64, possible bool) {
	s.blocks = h.Bits / (8 * splitBlockBytes)
	possible = h.Bits != 0 && h.Hashes == 8 && h.Words == [8]uint64{} && h.Bits%(8*splitBlockBytes) == 0
	return wholeBytes(h.Bits), possible && s.blocks < 1<<32
}

// splitBlockFirst returns the byte at which the block of a hash begins.
func (s *shape) splitBlockFirst(hash uint64) uint64 {
	return (hash >> 32 * s.blocks) >> 32 * splitBlockBytes
}

func (s *shape) splitBlock(payload []byte, hash uint64) *[splitBlockBytes]byte {
	return (*[splitBlockBytes]byte)(payload[s.splitBlockFirst(hash):])
}

func (s *shape) splitBlockContains(payload []byte, hash uint64) bool {
	block, x := s.splitBlock(payload, hash), uint32(hash)
	// Half of the lanes together: nearly all absent keys end here, and the processor predicts this branch well.
	all := binary.LittleEndian.Uint32(block[0:]) >> (x * 0x47b6137b >> 27) &
		(binary.LittleEndian.Uint32(block[4:]) >> (x * 0x44974d91 >> 27)) &
		(binary.LittleEndian.Uint32(block[8:]) >> (x * 0x8824ad5b >> 27)) &
		(binary.LittleEndian.Uint32(block[12:]) >> (x * 0xa2b7289d >> 27))
	if all&1 == 0 {
		return false
	}
	all = binary.LittleEndian.Uint32(block[16:]) >> (x * 0x705495c7 >> 27) &
		(binary.LittleEndian.Uint32(block[20:]) >> (x * 0x2df1424b >> 27)) &
		(binary.LittleEndian.Uint32(block[24:]) >> (x * 0x9efc4947 >> 27)) &
		(binary.LittleEndian.Uint32(block[28:]) >> (x * 0x5c6bfb31 >> 27))
	return all&1 == 1
}

func (s *shape) splitBlockInsert(payload []byte, hash uint64) (isNew bool) {
	block := s.splitBlock(payload, hash)
	for lane, salt := range salts {
		place := block[4*lane : 4*lane+4]
		bits := binary.LittleEndian.Uint32(place)
		bit := uint32(1) << (uint32(hash) * salt >> 27)
		isNew = isNew || bits&bit == 0
		binary.LittleEndian.PutUint32(place, bits|bit)
	}
	return isNew
}
