package image

import (
	"bytes"
	"encoding/binary"
	"math"
)

// A sketch of the kind riblt has the first symbols of an endless stream, and a key is in some of the symbols. A symbol
// is words: the XOR of its keys, the XOR of their hashes, and how many keys it has. A key is a number, or whole: the
// bytes of a whole key, and zeros that fill the last word.

// ribltSteps is the most indices that listing computes for each symbol.
const ribltSteps = 128

var ribltRow = kindRow{
	name:     "riblt",
	open:     openRiblt,
	check:    hasZeroTail,
	add:      ribltAdd,
	addKey:   ribltAddKey,
	combine:  ribltCombine,
	list:     ribltList,
	listKeys: ribltListKeys,
}

func openRiblt(s *shape, h *Header) (payloadBytes uint64, possible bool) {
	keyBytes := h.Words[0]
	if keyBytes != 0 && (keyBytes < 8 || keyBytes > maxKeyBytes) {
		return 0, false
	}
	s.keyBytes = int(keyBytes)
	symbolBits := uint64(8 * s.symbolBytes())
	if h.Bits == 0 || h.Bits%symbolBits != 0 || h.Hashes != 0 || [7]uint64(h.Words[1:]) != [7]uint64{} ||
		h.Hash == External {
		return 0, false
	}
	s.blocks = h.Bits / symbolBits
	return wholeBytes(h.Bits), true
}

// maxKeyBytes is the most bytes of a whole key.
const maxKeyBytes = 64

// paddedKeyBytes returns the length of a key in a symbol.
func (s *shape) paddedKeyBytes() int { return max(8, (s.keyBytes+7)/8*8) }

// symbolBytes returns the length of a symbol.
func (s *shape) symbolBytes() int { return s.paddedKeyBytes() + 16 }

// symbol returns a symbol, the place of its hash and its count.
func (s *shape) symbol(payload []byte, index uint64) (symbol []byte, hash, count []byte) {
	length, key := s.symbolBytes(), s.paddedKeyBytes()
	symbol = payload[int(index)*length:][:length]
	return symbol[:key], symbol[key:][:8], symbol[key+8:]
}

// ribltIndices generates the indices of a number's symbols, in ascending order.
type ribltIndices struct{ state, next uint64 }

// take returns the next index. take computes in double precision; the conversions keep compilers from fusing
// operations, so the indices are the same on every platform.
func (i *ribltIndices) take() uint64 {
	index := i.next
	i.state *= 0xda942042e4dd58b5
	ratio := float64(4294967296 / math.Sqrt(float64(i.state)+1))
	step := float64(float64(float64(index)+1.5) * float64(ratio-1))
	// Rounds the step up. A step or a sum that is too large becomes the greatest number.
	if i.next = math.MaxUint64; step < 1<<63 {
		up := uint64(math.Ceil(step))
		if sum := index + up; sum >= index {
			i.next = sum
		}
	}
	return index
}

func ribltAdd(s *shape, payload []byte, hash, number uint64, count int64) {
	var key [8]byte
	binary.LittleEndian.PutUint64(key[:], number)
	ribltAddTo(s, payload, hash, key[:], count)
}

func ribltAddKey(s *shape, payload []byte, hash uint64, key []byte, count int64) {
	ribltAddTo(s, payload, hash, key, count)
}

// ribltAddTo adds a key to its symbols, and returns the number of symbols.
func ribltAddTo(s *shape, payload []byte, hash uint64, key []byte, count int64) (added int) {
	indices := ribltIndices{state: hash}
	for index := indices.take(); index < s.blocks; index = indices.take() {
		keys, check, sum := s.symbol(payload, index)
		// An even number of occurrences cancels out in the XOR.
		if count&1 != 0 {
			for i, b := range key {
				keys[i] ^= b
			}
			binary.LittleEndian.PutUint64(check, binary.LittleEndian.Uint64(check)^hash)
		}
		binary.LittleEndian.PutUint64(sum, binary.LittleEndian.Uint64(sum)+uint64(count))
		added++
	}
	return added
}

func ribltCombine(s *shape, payload, other []byte, subtract bool) {
	for index := range s.blocks {
		keys, check, sum := s.symbol(payload, index)
		others, otherCheck, otherSum := s.symbol(other, index)
		for i, b := range others {
			keys[i] ^= b
		}
		for i, b := range otherCheck {
			check[i] ^= b
		}
		count := binary.LittleEndian.Uint64(otherSum)
		if subtract {
			count = -count
		}
		binary.LittleEndian.PutUint64(sum, binary.LittleEndian.Uint64(sum)+count)
	}
}

// ribltAlone returns the hash of the single key in a symbol, and the key with its count; ok is false if the symbol does
// not hold a single key.
func ribltAlone(s *shape, payload []byte, index uint64, h *hasher) (hash uint64, listed ListedKey, ok bool) {
	key, check, sum := s.symbol(payload, index)
	count := int64(binary.LittleEndian.Uint64(sum))
	if count != 1 && count != -1 {
		return 0, ListedKey{}, false
	}
	if s.keyBytes > 0 {
		for _, b := range key[s.keyBytes:] {
			if b != 0 {
				return 0, ListedKey{}, false
			}
		}
		key = key[:s.keyBytes]
	}
	hash, ok = h.hash(key)
	return hash, ListedKey{key, count}, ok && hash == binary.LittleEndian.Uint64(check)
}

func ribltList(s *shape, payload []byte, h *hasher) (found []Listed) {
	for _, one := range ribltListKeys(s, payload, h) {
		found = append(found, Listed{binary.LittleEndian.Uint64(one.Key), one.Count})
	}
	return found
}

// ribltListKeys takes a bounded number of steps, for any content. In a sketch made by insertions each key empties a
// symbol; in a forged sketch the bounds end the loop. The library takes the same steps in the same order, so forged
// symbols give the same list in both.
func ribltListKeys(s *shape, payload []byte, h *hasher) (found []ListedKey) {
	symbols := int(s.blocks)
	var queue []uint64
	for symbol := range s.blocks {
		if _, _, ok := ribltAlone(s, payload, symbol, h); ok {
			queue = append(queue, symbol)
		}
	}
	for steps := symbols * ribltSteps; len(queue) > 0; {
		last := len(queue) - 1
		symbol := queue[last]
		queue = queue[:last]
		hash, one, ok := ribltAlone(s, payload, symbol, h)
		if !ok {
			continue
		}
		// A key is listed only from a symbol that is one of the key's own.
		own := ribltIndices{state: hash}
		index := own.take()
		for ; index < symbol; index = own.take() {
			steps--
		}
		if index != symbol {
			continue
		}
		if len(found) == symbols || steps <= 0 {
			break
		}
		one.Key = bytes.Clone(one.Key)
		found = append(found, one)
		steps -= ribltAddTo(s, payload, hash, one.Key, -one.Count)
		indices := ribltIndices{state: hash}
		for index := indices.take(); index < s.blocks; index = indices.take() {
			if _, _, ok := ribltAlone(s, payload, index, h); !ok {
				continue
			}
			if len(queue) == symbols {
				// In a sketch made by insertions the queue never has more entries than there are symbols.
				return found
			}
			queue = append(queue, index)
		}
	}
	return found
}
