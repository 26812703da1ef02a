package image

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The cells of the kinds fuse and bloomier: a key has three or four cells, and their exclusive or is the key's
// fingerprint or value. The cells of all shards come first, and then the directory: for each shard, where it begins and
// how it is cut into segments.

const (
	mixOrder   = 0xbf58476d1ce4e5b9
	mixScatter = 0x94d049bb133111eb

	entryBytes = 16

	// A key has leastArity to mostArity cells.
	leastArity = 3
	mostArity  = 4
)

// cellArray is an array of cells with its directory, somewhere in a payload.
type cellArray struct {
	start  uint64 // its first byte
	arity  uint   // cells of a key, 3 or 4
	width  uint   // bits of a cell, from 1 to 64
	shards uint64 // 0 where there are no keys
	cells  uint64
}

// isPossible says whether such an array can exist. The caller knows that the array has fewer than 2^64 bits.
func (a *cellArray) isPossible() bool {
	return a.arity >= leastArity && a.arity <= mostArity && a.width >= 1 && a.width <= 64 &&
		a.shards <= math.MaxUint32 && a.cells < 1<<62 && (a.shards == 0) == (a.cells == 0)
}

// directory returns the byte at which the directory begins: the first whole word after the cells.
func (a *cellArray) directory() uint64 {
	cellBits := a.cells * uint64(a.width)
	words := cellBits / 64
	if cellBits%64 != 0 {
		words++
	}
	return a.start + words*8
}

// bytes returns the array's length with its directory, in whole units.
func (a *cellArray) bytes() uint64 {
	bytes := a.directory() - a.start + entryBytes*a.shards
	return max(1, (bytes+payloadUnit-1)/payloadUnit) * payloadUnit
}

// shard is an entry of the directory.
type shard struct {
	starts, seed, first uint64
	length              uint // of a segment, its base-2 logarithm
}

func (a *cellArray) entry(payload []byte, index uint64) shard {
	entry := payload[a.directory()+entryBytes*index:]
	low, high := binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
	return shard{starts: low & math.MaxUint32, seed: low >> 32, length: uint(high & 63), first: high >> 6 << 6}
}

// shardOf returns the shard of x, and the place of x in the shard, in 32 bits. The array must have a shard.
func (a *cellArray) shardOf(payload []byte, x uint64) (of shard, place uint64) {
	index, low := bits.Mul64(x, a.shards)
	return a.entry(payload, index), low >> 32
}

// scatter is the second half of the mixing, with the seed of the shard.
func (s *shard) scatter(x uint64) uint64 {
	z := (x ^ (s.seed<<32 | s.seed)) * mixScatter
	return z ^ z>>31
}

// orderOf is the first half of the mixing.
func orderOf(hash uint64) uint64 {
	x := (hash ^ hash>>30) * mixOrder
	return x ^ x>>27
}

// scatterIdentity is the counterpart of scatter for a key of a map.
func (s *shard) scatterIdentity(id identity) uint64 {
	return s.scatter(orderOf(id.low) ^ s.scatter(id.high))
}

// keyCells are the cells of a key. If a key has three cells, the fourth is 0.
type keyCells [mostArity]uint64

// places returns the cells of a key. A forged directory may give any number.
func (a *cellArray) places(s *shard, place, z uint64) keyCells {
	length := uint64(1) << s.length
	p := place * s.starts >> 32
	slice := 64 / (a.arity - 1)
	cells := keyCells{s.first + p}
	for i := uint(1); i < a.arity; i++ {
		p += length
		cells[i] = s.first + (p ^ (z & (length - 1)))
		z >>= slice
	}
	return cells
}

// together returns the exclusive or of a key's cells; false if a cell lies outside of the array.
func (a *cellArray) together(payload []byte, places keyCells) (all uint64, there bool) {
	if max(places[0], places[1], places[2], places[3]) >= a.cells {
		return 0, false
	}
	payload = payload[a.start:]
	for _, place := range places[:a.arity] {
		bit := place * uint64(a.width)
		if a.width <= 57 {
			// The directory follows the cells, so all eight bytes exist.
			all ^= binary.LittleEndian.Uint64(payload[bit/8:]) >> (bit % 8)
			continue
		}
		at, shift := bit/64*8, uint(bit%64)
		all ^= binary.LittleEndian.Uint64(payload[at:]) >> shift
		if shift+a.width > 64 {
			all ^= binary.LittleEndian.Uint64(payload[at+8:]) << (64 - shift)
		}
	}
	return all & lowBits(a.width), true
}

// isOrdered says whether the directory's shards follow one another and cover all cells.
func (a *cellArray) isOrdered(payload []byte) bool {
	next, end := uint64(0), uint64(0)
	for index := range a.shards {
		s := a.entry(payload, index)
		cells := s.starts + uint64(a.arity-1)<<s.length
		if s.length < 1 || s.length > 30 || s.starts == 0 || s.starts&(1<<s.length-1) != 0 ||
			cells > math.MaxUint32 || s.first != next || next+cells > a.cells {
			return false
		}
		end = next + cells
		next = (end + 63) / 64 * 64
	}
	return end == a.cells
}

// fingerprint returns 32 bits of a scattered hash that are independent of the bits that choose the cells.
func fingerprint(z uint64) uint64 { return z * golden >> 32 }

// lowBits has the lowest n bits set, n from 0 to 64.
func lowBits(n uint) uint64 { return 1<<n - 1 }
