package image

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
)

// The kind exact_set in several parts: partitions of a universe by the prefixes of its keys, and updates.

const (
	mostPrefixBytes = 64
	mostUpdates     = 64
	mostSets        = 64
	classBits       = 7
	neverClass      = 0
	alwaysClass     = 1
	firstSetClass   = 2
	exactLineBytes  = 64
	// exactHashBits is how many bits of a hash tell keys apart: one of the 64 is the side that a record is on.
	exactHashBits = 63
)

// exactParts says where the parts of a payload lie.
type exactParts struct {
	prefix       int // the bytes of a prefix, or 0 without partitions
	updateCount  uint64
	baseBits     uint64
	listed, rest uint64
	directory    uint64  // where the directory begins
	told, rate   float64 // the rate for non-members: that of the header, and that of the parts
	sets         []exactPart
	updates      []exactPart
}

// exactPart is a set, and its part of the payload.
type exactPart struct {
	shape    shape
	from, to uint64
}

func (p *exactPart) of(payload []byte) []byte { return payload[p.from:p.to] }

// rate returns the rate of a set for non-members. stored is the number of keys that it stores.
func (p *exactPart) rate(stored uint64) float64 {
	passes := math.Exp2(-float64(p.shape.reach))
	switch {
	case p.shape.derivation == excludedStored:
		return 1 - passes
	case stored == 0:
		return 0
	}
	// The probability that a key has the hash of another.
	same := -math.Expm1(float64(stored) * math.Log1p(-math.Exp2(-exactHashBits)))
	return same + (1-same)*passes
}

// asExactParts is asExactSet for several parts.
func (s *shape) asExactParts(h *Header) (payloadBytes uint64, possible bool) {
	w := &h.Words
	rate := math.Float64frombits(w[3])
	s.parts = &exactParts{prefix: int(min(w[2], mostPrefixBytes)), updateCount: w[4], baseBits: h.Bits, told: rate}
	if w[4] > 0 {
		s.parts.baseBits = w[5]
	}
	s.reach, s.derivation = w[0], w[1]
	possible = h.Hashes == 1 && h.Bits%8 == 0 && h.Bits < 1<<62 && w[2] <= mostPrefixBytes && w[4] <= mostUpdates &&
		(w[4] > 0) == (w[5] > 0) && w[6] == 0 && w[7] == 0 && rate >= 0 && rate <= 1 &&
		(w[2] == 0 || w[0] == 0 && w[1] == 0) && w[0] <= mostExactBits && w[1] <= excludedStored
	return h.Bits / 8, possible
}

// exactLineOf rounds bytes up to whole lines.
func exactLineOf(bytes uint64) uint64 {
	return (bytes + exactLineBytes - 1) / exactLineBytes * exactLineBytes
}

// addPart appends the set whose payload begins at this byte, and says where the payload ends.
func addPart(to []exactPart, payload []byte, from, form, bits uint64) (parts []exactPart, end uint64, possible bool) {
	if bits >= 1<<62 || bits%8 != 0 || bits < 8*exactHeadBytes {
		return to, 0, false
	}
	end = from + exactLineOf(bits/8)
	levels, side := form&0xff, form>>8
	if end > uint64(len(payload)) || levels < 1 || levels > mostExactBits ||
		side != membersStored && side != excludedStored {
		return to, 0, false
	}
	part := exactPart{shape: shape{bits: bits, reach: levels, derivation: side}, from: from, to: end}
	return append(to, part), end, part.shape.exactSetState(part.of(payload))
}

// exactPartsState reads the heads of all parts.
func (s *shape) exactPartsState(payload []byte) bool {
	p, possible := s.parts, false
	word := func(at uint64) uint64 { return binary.LittleEndian.Uint64(payload[at:]) }
	length := uint64(len(payload))
	p.sets, p.updates = nil, nil
	if p.prefix == 0 {
		if p.sets, _, possible = addPart(nil, payload, 0, s.reach|s.derivation<<8, p.baseBits); !possible {
			return false
		}
		p.rate = p.sets[0].rate(word(0))
	} else if !s.exactPartitions(payload) {
		return false
	}
	bits := p.baseBits
	for range p.updateCount {
		at := exactLineOf(bits / 8)
		if bits >= 1<<62 || at+exactLineBytes > length {
			return false
		}
		for unused := at + 32; unused < at+exactLineBytes; unused += 8 {
			if word(unused) != 0 {
				return false
			}
		}
		form, ofSet, members, universe := word(at), word(at+8), word(at+16), word(at+24)
		if p.updates, _, possible = addPart(p.updates, payload, at+exactLineBytes, form, ofSet); !possible {
			return false
		}
		if members > universe || word(at+exactLineBytes+16) != universe {
			return false
		}
		flipped := p.updates[len(p.updates)-1].rate(word(at + exactLineBytes))
		p.rate = p.rate*(1-flipped) + (1-p.rate)*flipped
		bits = 8*(at+exactLineBytes) + ofSet
	}
	return bits == s.bits && math.Abs(p.told-p.rate) <= 1e-9*p.rate
}

// exactPartitions reads the head of partitions, and those of their sets.
func (s *shape) exactPartitions(payload []byte) bool {
	p, length := s.parts, uint64(len(payload))
	word := func(at uint64) uint64 { return binary.LittleEndian.Uint64(payload[at:]) }
	if length < exactLineBytes {
		return false
	}
	listed, count, rest, always, never := word(0), word(8), word(16), word(24), word(32)
	universe := always + never
	if word(40)|word(48)|word(56) != 0 || count > mostSets || rest >= firstSetClass+count || universe < always ||
		listed > length/8 {
		return false
	}
	table := exactLineBytes + 16*count
	p.directory, p.listed, p.rest = exactLineBytes+exactLineOf(16*count), listed, rest
	end := p.directory + 8*listed
	from := exactLineOf(end)
	if from > length {
		return false
	}
	for zero := table; zero < p.directory; zero += 8 {
		if word(zero) != 0 {
			return false
		}
	}
	for zero := end; zero < from; zero += 8 {
		if word(zero) != 0 {
			return false
		}
	}
	bits, last, possible, wrong := 8*from, uint64(0), false, float64(always)
	for i := range count {
		form, ofSet := word(exactLineBytes+16*i), word(exactLineBytes+16*i+8)
		start := from
		if p.sets, from, possible = addPart(p.sets, payload, start, form, ofSet); !possible {
			return false
		}
		stored, all := word(start), word(start+16)
		if form <= last || stored == 0 || universe+all < universe {
			return false
		}
		universe, last, bits = universe+all, form, 8*start+ofSet
		wrong += p.sets[i].rate(stored) * float64(all)
	}
	p.rate = 0
	if universe > 0 {
		p.rate = min(wrong/float64(universe), 1)
	}
	return bits == p.baseBits
}

func (s *shape) exactPartsCheck(payload []byte) bool {
	p := s.parts
	if p.prefix > 0 {
		last := uint64(0)
		for i := range p.listed {
			word := binary.LittleEndian.Uint64(payload[p.directory+8*i:])
			class, hash := word&lowBits(classBits), word>>classBits
			if i > 0 && hash <= last || class == p.rest || class >= firstSetClass+uint64(len(p.sets)) {
				return false
			}
			last = hash
		}
	}
	for _, parts := range [][]exactPart{p.sets, p.updates} {
		for i := range parts {
			if !parts[i].shape.exactSetCheck(parts[i].of(payload)) {
				return false
			}
		}
	}
	return true
}

// exactClass returns the class of the partition whose prefix has this hash.
func (s *shape) exactClass(payload []byte, prefix uint64) uint64 {
	p, hash := s.parts, prefix>>classBits
	directory := payload[p.directory:][:8*p.listed]
	low, high := uint64(0), p.listed
	for low < high {
		middle := (low + high) / 2
		if binary.LittleEndian.Uint64(directory[8*middle:])>>classBits < hash {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < p.listed {
		if word := binary.LittleEndian.Uint64(directory[8*low:]); word>>classBits == hash {
			return word & lowBits(classBits)
		}
	}
	return p.rest
}

// exactPartsContains looks a hash up in a partition of this class.
func (s *shape) exactPartsContains(payload []byte, class, hash uint64) bool {
	found := class == alwaysClass
	if class >= firstSetClass {
		// A forged directory may name a set that is not there. Nothing is certain then.
		found = true
		if i := class - firstSetClass; i < uint64(len(s.parts.sets)) {
			set := &s.parts.sets[i]
			found = set.shape.exactSetContains(set.of(payload), hash)
		}
	}
	for i := range s.parts.updates {
		update := &s.parts.updates[i]
		found = found != update.shape.exactSetContains(update.of(payload), hash)
	}
	return found
}

// errTakesWhole is the error for the hash of a key that has none. It is made once, so that lookups do not allocate.
var errTakesWhole = fmt.Errorf("%w: keys are taken whole, because their prefixes are hashed too", ErrUnsupported)

// TakesWhole says whether keys are taken whole, because their prefixes are hashed too.
func (f *Filter) TakesWhole() bool { return f.shape.parts != nil && f.shape.parts.prefix > 0 }

// containsWhole is [Filter.Contains] where keys are taken whole.
func (f *Filter) containsWhole(key []byte) bool {
	prefix, ok := f.whole.hash(key[:min(len(key), f.shape.parts.prefix)])
	hash, _ := f.whole.hash(key)
	found := !ok || f.shape.exactPartsContains(f.payload, f.shape.exactClass(f.payload, prefix), hash)
	runtime.KeepAlive(f)
	return found
}
