package image

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"runtime"
)

// A sketch of the kind pinsketch has the sums of the odd powers 1, 3, 5, ... of its numbers, which are elements of a
// field. A number that is there twice is gone, so inserting and removing are the same. The sums lie as minisketch
// writes them: each has as many bits as an element, the lowest first, without gaps. From layout 2 on a line follows
// them: the sum of the mixed hashes of all numbers, and a 1 if nobody knows that sum.

// pinsketchMost is the greatest capacity.
const pinsketchMost = 4096

var pinsketchRow = kindRow{
	name:    "pinsketch",
	layout:  2,
	open:    openPinsketch,
	check:   pinsketchCheck,
	add:     pinsketchAdd,
	combine: pinsketchCombine,
	list:    pinsketchList,
	greatest: func(s *shape) uint64 {
		return 1<<s.width - 1
	},
}

func openPinsketch(s *shape, h *Header) (payloadBytes uint64, possible bool) {
	width := h.Words[0]
	if width < 8 || width > 64 || h.Bits%width != 0 || h.Bits == 0 || h.Bits/width > pinsketchMost || h.Hashes != 0 ||
		h.Words != [8]uint64{width} || h.Hash == External {
		return 0, false
	}
	s.blocks, s.width = h.Bits/width, uint(width)
	if h.LayoutVersion == 1 {
		return wholeBytes(h.Bits), true
	}
	return pinsketchLine(s) + payloadUnit, true
}

// pinsketchLine returns where the line with the checksum is, if there is one.
func pinsketchLine(s *shape) uint64 {
	return (wholeBytes(s.bits) + payloadUnit - 1) / payloadUnit * payloadUnit
}

// pinsketchChecksum returns the checksum; known is false if nobody knows it.
func pinsketchChecksum(s *shape, payload []byte) (checksum uint64, known bool) {
	line := payload[pinsketchLine(s):]
	if len(line) == 0 || binary.LittleEndian.Uint64(line[8:]) != 0 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(line), true
}

// pinsketchSetChecksum notes the checksum, or that nobody knows it.
func pinsketchSetChecksum(s *shape, payload []byte, checksum uint64, known bool) {
	line := payload[pinsketchLine(s):]
	if len(line) == 0 {
		return
	}
	clear(line)
	if known {
		binary.LittleEndian.PutUint64(line, checksum)
	} else {
		line[8] = 1
	}
}

func pinsketchCheck(s *shape, payload []byte) bool {
	sums, line := payload[:pinsketchLine(s)], payload[pinsketchLine(s):]
	if !hasZeroTail(s, sums) {
		return false
	}
	if len(line) == 0 {
		return true
	}
	unknown := binary.LittleEndian.Uint64(line[8:])
	for _, b := range line[16:] {
		if b != 0 {
			return false
		}
	}
	return unknown == 0 || unknown == 1 && binary.LittleEndian.Uint64(line) == 0
}

// pinsketchSum returns the sum at a place.
func pinsketchSum(s *shape, payload []byte, place int) (sum uint64) {
	first := uint(place) * s.width
	for bit := uint(0); bit < s.width; {
		at := first + bit
		sum |= uint64(payload[at/8]>>(at%8)) << bit
		bit += 8 - at%8
	}
	return sum & (1<<s.width - 1)
}

// pinsketchAddSum adds to the sum at a place.
func pinsketchAddSum(s *shape, payload []byte, place int, sum uint64) {
	first := uint(place) * s.width
	for bit := uint(0); bit < s.width; {
		at := first + bit
		payload[at/8] ^= byte(sum>>bit) << (at % 8)
		bit += 8 - at%8
	}
}

func pinsketchAdd(s *shape, payload []byte, hash, number uint64, count int64) {
	if count&1 == 0 {
		return
	}
	checksum, known := pinsketchChecksum(s, payload)
	pinsketchSetChecksum(s, payload, checksum^mix(hash), known)
	f := fieldOf(int(s.width))
	power := f.raised(number)
	step := f.factor(f.square(power))
	for place := range int(s.blocks) {
		pinsketchAddSum(s, payload, place, f.lowered(power))
		power = f.reduced(step.times(power))
	}
}

func pinsketchCombine(s *shape, payload, other []byte, _ bool) {
	ours, known := pinsketchChecksum(s, payload)
	theirs, others := pinsketchChecksum(s, other)
	for i, b := range other[:pinsketchLine(s)] {
		payload[i] ^= b
	}
	pinsketchSetChecksum(s, payload, ours^theirs, known && others)
}

// pinsketchList lists all numbers, and leaves an empty payload; or lists none, and leaves the payload as it is.
func pinsketchList(s *shape, payload []byte, h *hasher) (found []Listed) {
	f := fieldOf(int(s.width))
	sums := make([]uint64, s.blocks)
	for place := range sums {
		sums[place] = pinsketchSum(s, payload, place)
	}
	elements, ok := f.elementsOf(sums)
	if !ok {
		return nil
	}
	if checksum, known := pinsketchChecksum(s, payload); known {
		for _, element := range elements {
			hash, _ := h.hashUint64(element)
			checksum ^= mix(hash)
		}
		if checksum != 0 {
			return nil
		}
	}
	for _, element := range elements {
		found = append(found, Listed{Number: element, Count: 1})
	}
	clear(payload)
	return found
}

// numberOf returns the number of a hash: the hash itself, unless the numbers of the sketch have a range.
func (f *Filter) numberOf(hash uint64) uint64 {
	if f.row.greatest == nil {
		return hash
	}
	high, _ := bits.Mul64(hash, f.row.greatest(&f.shape))
	return 1 + high
}

// checkNumber refuses numbers that the sketch cannot hold.
func (f *Filter) checkNumber(number uint64) error {
	if f.row.greatest == nil {
		return nil
	}
	if greatest := f.row.greatest(&f.shape); number == 0 || number > greatest {
		return fmt.Errorf("%w: %d is not 1 to %d, the numbers of the sketch", ErrOutOfRange, number, greatest)
	}
	return nil
}

// ExportMinisketch returns the bytes that minisketch serializes for a sketch of the same numbers.
func (f *Filter) ExportMinisketch() ([]byte, error) {
	length, err := f.minisketchBytes()
	if err != nil {
		return nil, err
	}
	bytes := append([]byte(nil), f.payload[:length]...)
	// The payload of a mapped file must not be unmapped before the copy ends.
	runtime.KeepAlive(f)
	return bytes, nil
}

// ImportMinisketch takes the numbers of a serialized sketch of minisketch instead of those that are there. The sketch
// has no checksum then.
func (f *Filter) ImportMinisketch(bytes []byte) error {
	length, err := f.minisketchBytes()
	if err != nil {
		return err
	}
	if len(bytes) != length {
		return fmt.Errorf("%w: %d bytes are not the %d of minisketch for this sketch", ErrForeign, len(bytes), length)
	}
	if used := f.shape.bits % 8; used != 0 && bytes[length-1]>>used != 0 {
		return fmt.Errorf("%w: bits are set after the last sum", ErrForeign)
	}
	payload, err := f.Change()
	if err != nil {
		return err
	}
	copy(payload, bytes)
	pinsketchSetChecksum(&f.shape, payload, 0, false)
	f.header.Offered = 0
	return nil
}

// minisketchBytes returns how many of the first bytes of the payload are those of minisketch.
func (f *Filter) minisketchBytes() (int, error) {
	if f.kind == 0 {
		return 0, f.closed()
	}
	if f.kind != Pinsketch {
		return 0, fmt.Errorf("%w: sketches of the kind %v have no bytes of minisketch", ErrUnsupported, f.kind)
	}
	return int(wholeBytes(f.shape.bits)), nil
}
