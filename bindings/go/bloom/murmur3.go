package bloom

import (
	"encoding/binary"
	"math/bits"
)

// The constants of Austin Appleby's MurmurHash3_x64_128 (public domain).
const (
	c1 = 0x87c37b91114253d5
	c2 = 0x4cf5ad432745937f
)

// pairs are the four hashes from which the locations of a key follow. low and high are the MurmurHash3_x64_128 of the
// key with seed 0; low1 and high1 are that of the key followed by a byte 1.
type pairs struct{ low, high, low1, high1 uint64 }

// hash computes both hashes together: all whole blocks of 16 bytes are the same, and the tails differ by one byte.
func hash(key []byte) pairs {
	var h1, h2 uint64
	rest := key
	for len(rest) >= 16 {
		h1, h2 = block(h1, h2, binary.LittleEndian.Uint64(rest), binary.LittleEndian.Uint64(rest[8:]))
		rest = rest[16:]
	}
	// The tail is a number of 128 bits. Mixing in a word of 0 changes nothing.
	tail := uint(len(rest))
	n := uint64(len(key))
	if tail < 8 {
		var low uint64
		switch {
		case len(key) >= 16:
			// Reads the last eight bytes of the key, and shifts out the bytes before the tail.
			low = binary.LittleEndian.Uint64(key[len(key)-8:]) >> 1 >> (63 - 8*tail)
		case tail >= 4:
			low = uint64(binary.LittleEndian.Uint32(rest)) |
				uint64(binary.LittleEndian.Uint32(rest[tail-4:]))<<(8*(tail-4)&63)
		case tail > 0:
			low = uint64(rest[0]) | uint64(rest[tail/2])<<(tail/2*8&63) | uint64(rest[tail-1])<<(8*(tail-1)&63)
		}
		low1 := low | 1<<(8*tail&63)
		a1, a2 := finish(h1^mixLow(low), h2, n)
		b1, b2 := finish(h1^mixLow(low1), h2, n+1)
		return pairs{a1, a2, b1, b2}
	}
	low := binary.LittleEndian.Uint64(rest)
	high := binary.LittleEndian.Uint64(key[len(key)-8:]) >> 1 >> ((127 - 8*tail) & 63)
	a1, a2 := finish(h1^mixLow(low), h2^mixHigh(high), n)
	high1 := high | 1<<(8*tail&63)
	if tail == 15 {
		// The byte 1 completes the tail to a whole block.
		h1, h2 = block(h1, h2, low, high1)
	} else {
		h1 ^= mixLow(low)
		h2 ^= mixHigh(high1)
	}
	b1, b2 := finish(h1, h2, n+1)
	return pairs{a1, a2, b1, b2}
}

func block(h1, h2, low, high uint64) (uint64, uint64) {
	h1 = (bits.RotateLeft64(h1^mixLow(low), 27)+h2)*5 + 0x52dce729
	h2 = (bits.RotateLeft64(h2^mixHigh(high), 31)+h1)*5 + 0x38495ab5
	return h1, h2
}

func mixLow(word uint64) uint64 { return bits.RotateLeft64(word*c1, 31) * c2 }

func mixHigh(word uint64) uint64 { return bits.RotateLeft64(word*c2, 33) * c1 }

func finish(h1, h2, length uint64) (uint64, uint64) {
	h1 ^= length
	h2 ^= length
	h1 += h2
	h2 += h1
	h1 = avalanche(h1)
	h2 = avalanche(h2)
	h1 += h2
	return h1, h2 + h1
}

func avalanche(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
