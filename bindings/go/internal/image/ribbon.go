package image

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The kind ribbon, layout 1: a key selects some of the slots from its start on, and the exclusive or of these slots is
// the key's fingerprint.

var ribbonRow = kindRow{
	name:     "ribbon",
	open:     (*shape).asRibbon,
	check:    (*shape).ribbonCheck,
	contains: (*shape).ribbonContains,
}

const (
	ribbonShardKeys = 1 << 18
	mostRibbonBits  = 32
	// The limit for maps, whose columns hold values and check bits.
	mostRibbonColumns = 96
	// The number of layers after the first, whose sizes the shard's entry has.
	ribbonLayers = 3
	// Codes beyond the layers: ribbonSearched counts the restarts of a search, and ribbonListed says that the shard has a
	// list.
	ribbonSearched = 4
	ribbonListed   = 7

	ribbonHigh = 0xd6e8feb86659fd93
)

// ribbonWidth has the constants for a number of coefficients.
type ribbonWidth struct {
	width         uint64
	bucket        uint // slots of a bucket, the base-2 logarithm
	over          uint
	second, third uint64 // from which place before the end of a bucket on its keys are of these classes
}

var ribbonWidths = [...]ribbonWidth{{64, 7, 4, 90, 111}, {128, 9, 5, 379, 454}}

// ribbon is the shape of a payload.
type ribbon struct {
	ribbonWidth
	columns, shards, starts uint64
	end                     uint64 // of the last shard, in bytes
}

func (r *ribbon) metadata(starts uint64) uint64 {
	buckets := (starts + 1<<r.bucket - 1) >> r.bucket
	return (buckets + 3) / 4
}

// first returns the byte at which the first shard begins, after the metadata of all first layers.
func (r *ribbon) first() uint64 { return 16*r.shards - 8 + r.shards*r.metadata(r.starts) }

func (s *shape) asRibbon(h *Header) (payloadBytes uint64, possible bool) {
	columns, width, keys := h.Words[0], h.Words[1], h.Words[2]
	if h.Hashes != 1 || columns < 1 || columns > mostRibbonBits || h.Bits%8 != 0 || width != 64 && width != 128 ||
		[5]uint64(h.Words[3:]) != [5]uint64{} {
		return 0, false
	}
	return s.setRibbon(h, columns, width, keys)
}

// setRibbon sets the shape for this number of columns, coefficients (width) and keys.
func (s *shape) setRibbon(h *Header, columns, width, keys uint64) (payloadBytes uint64, possible bool) {
	if keys == 0 {
		return payloadUnit, h.Bits == 0
	}
	shards := (keys-1)/ribbonShardKeys + 1
	if shards > math.MaxUint32 {
		return 0, false
	}
	each := (keys-1)/shards + 1
	s.ribbon = ribbon{ribbonWidth: ribbonWidths[width/128], columns: columns, shards: shards, end: h.Bits / 8}
	s.ribbon.starts = each - each>>s.ribbon.over
	if s.ribbon.first() > h.Bits/8 {
		return 0, false
	}
	// Every key needs its own slot.
	return h.Bits / 8, keys <= (h.Bits/8-s.ribbon.first())/columns*8
}

// ribbonShard is the directory's entry of a shard.
type ribbonShard struct {
	begin, end uint64
	layers     [ribbonLayers]uint64
	slots      uint64 // of all layers
	more       uint64 // slots of those that no layer has, or pairs of the list
	number     uint64
}

// shard returns a shard; false if the directory is forged.
func (r *ribbon) shard(payload []byte, index uint64) (of ribbonShard, there bool) {
	of.begin, of.end = r.first(), r.end
	if index > 0 {
		of.begin = binary.LittleEndian.Uint64(payload[8*(index-1):])
	}
	if index+1 < r.shards {
		of.end = binary.LittleEndian.Uint64(payload[8*index:]) - r.gap()
	}
	sizes := binary.LittleEndian.Uint64(payload[8*(r.shards-1+index):])
	decode := func(code uint64) uint64 { return code & (1<<11 - 1) << (code >> 11) }
	of.slots = r.starts
	after := uint64(0)
	for i := range of.layers {
		of.layers[i] = decode(sizes >> (15 * i) & (1<<15 - 1))
		of.slots += of.layers[i]
		after += r.metadata(of.layers[i])
	}
	of.more, of.number = decode(sizes>>45&(1<<16-1)), sizes>>61
	if of.number == ribbonListed {
		after += 16 * of.more
	}
	there = of.begin >= r.first() && of.begin <= of.end && of.end <= r.end && after <= of.end-of.begin
	return of, there
}

// ribbonCheck says whether each shard begins where the previous one ends, and whether it has the slots and the metadata
// of its layers.
func (s *shape) ribbonCheck(payload []byte) bool {
	r := &s.ribbon
	if !hasZeroTail(s, payload) {
		return false
	}
	begin := r.first()
	for index := range r.shards {
		of, there := r.shard(payload, index)
		if !there || of.begin != begin || !r.isShard(&of) || !areLeastCodes(payload[8*(r.shards-1+index):]) {
			return false
		}
		if begin = of.end; index+1 < r.shards {
			begin += r.gap()
		}
		for _, b := range payload[of.end:begin] {
			if b != 0 {
				return false
			}
		}
	}
	return true
}

// gap is how many zeros are between two shards.
func (r *ribbon) gap() uint64 { return r.columns * r.width / 8 }

// isShard says whether a shard can have layers of these sizes, and whether its length matches its slots.
func (r *ribbon) isShard(of *ribbonShard) bool {
	inOrder := of.more > 0 || of.number == 0
	slots := of.end - of.begin
	for i, starts := range of.layers {
		inOrder = inOrder && (i == 0 || starts == 0 || of.layers[i-1] > 0)
		slots -= r.metadata(starts)
	}
	if of.number == ribbonListed {
		slots -= 16 * of.more
	}
	least, groups := of.slots+of.more, slots/r.columns
	return inOrder && slots%r.columns == 0 && groups >= (least+7)/8 && groups <= (least+2*r.width+7)/8
}

// areLeastCodes says whether each size in a shard's entry has its least code.
func areLeastCodes(word []byte) bool {
	sizes := binary.LittleEndian.Uint64(word)
	for _, code := range []uint64{sizes & (1<<15 - 1), sizes >> 15 & (1<<15 - 1), sizes >> 30 & (1<<15 - 1),
		sizes >> 45 & (1<<16 - 1)} {
		if code>>11 != 0 && code>>10&1 == 0 {
			return false
		}
	}
	return true
}

// isTaken says whether the bucket's threshold, two bits of a byte, keeps a key with this start in its layer.
func (r *ribbon) isTaken(thresholds byte, start uint64) bool {
	before := uint64(1)<<r.bucket - 1 - start&(1<<r.bucket-1)
	class := byte(0)
	switch {
	case before >= r.third:
		class = 2
	case before >= r.second:
		class = 1
	}
	return class < thresholds>>(start>>r.bucket%4*2)&3
}

// place returns the first slot of a key and the key's coefficients.
func (r *ribbon) place(payload []byte, of *ribbonShard, index, place, x, z uint64) (slot, low, high uint64) {
	if start := place * r.starts >> 32; r.isTaken(
		payload[16*r.shards-8+index*r.metadata(r.starts)+start>>r.bucket/4], start) {
		return start, z | 1, r.high(z)
	}
	layer := func(i uint64) (y, v uint64) {
		y = mix(z ^ mix(x+i*golden))
		v = y * golden
		return y, v ^ v>>32
	}
	slots, end := r.starts, of.end
	for i, starts := range of.layers {
		if starts == 0 {
			break
		}
		y, v := layer(uint64(i) + 1)
		start, _ := bits.Mul64(y, starts)
		if r.isTaken(payload[end-1-start>>r.bucket/4], start) {
			return slots + start, v | 1, r.high(v)
		}
		slots += starts
		end -= r.metadata(starts)
	}
	switch {
	case of.number == ribbonListed:
		return r.listed(payload, of, x, z)
	case of.more != 0:
		y, v := layer(ribbonSearched + of.number)
		start, _ := bits.Mul64(y, of.more)
		return of.slots + start, v | 1, r.high(v)
	}
	return 0, 0, 0
}

// listed finds a key in the list of its shard.
func (r *ribbon) listed(payload []byte, of *ribbonShard, x, z uint64) (slot, low, high uint64) {
	end := of.end
	for _, starts := range of.layers {
		end -= r.metadata(starts)
	}
	list := payload[end-16*of.more : end]
	for i := range of.more {
		if binary.LittleEndian.Uint64(list[16*i:]) == x && binary.LittleEndian.Uint64(list[16*i+8:]) == z {
			return of.slots + r.width + i, 1, 0
		}
	}
	return 0, 0, 0
}

// high returns the coefficients after the first 64.
func (r *ribbon) high(z uint64) uint64 {
	if r.width == 64 {
		return 0
	}
	u := z * ribbonHigh
	return u ^ u>>32
}

func (s *shape) ribbonContains(payload []byte, hash uint64) bool {
	if s.ribbon.shards == 0 {
		return false
	}
	x := orderOf(hash)
	z := (&shard{}).scatter(x)
	together, _, there := s.ribbonColumns(payload, x, z)
	// With a forged directory the answer is true, because nothing is certain.
	return !there || together == fingerprint(z)&lowBits(uint(s.ribbon.columns))
}

// ribbonColumns returns the exclusive or of a key's slots: the first 64 columns, and the columns after them. there is
// false if the directory is forged. The shape must have a shard.
func (s *shape) ribbonColumns(payload []byte, x, z uint64) (together, after uint64, there bool) {
	r := &s.ribbon
	index, low := bits.Mul64(x, r.shards)
	of, there := r.shard(payload, index)
	if !there {
		return 0, 0, false
	}
	slot, first, second := r.place(payload, &of, index, low>>32, x, z)
	// The coefficients, shifted so that the lowest one belongs to the first slot of a group.
	shift := slot % 8
	coefficients := [3]uint64{first << shift, second<<shift | first>>(64-shift), second >> (64 - shift)}
	var columns [mostRibbonColumns]byte
	at := of.begin + slot/8*r.columns
	for group := range r.width/8 + 1 {
		mask := byte(coefficients[group/8] >> (group % 8 * 8))
		for column := range r.columns {
			// Slots past the end of the payload count as zeros.
			if at < uint64(len(payload)) {
				columns[column] ^= payload[at] & mask
			}
			at++
		}
	}
	var both [2]uint64
	for column := range r.columns {
		both[column/64] |= uint64(bits.OnesCount8(columns[column])&1) << (column % 64)
	}
	return both[0], both[1], true
}
