package image

import (
	"fmt"
	"sort"
)

// Kind is a kind of filter or map.
type Kind uint32

// The kinds that this package reads.
const (
	Bloom           Kind = 1
	SplitBlock      Kind = 2
	Blocked         Kind = 3
	Fuse            Kind = 4
	Counting        Kind = 5
	Scalable        Kind = 6
	Bloomier        Kind = 7
	Ribbon          Kind = 13
	Golomb          Kind = 14
	Retrieval       Kind = 15
	Approximator    Kind = 16
	ExactBits       Kind = 19
	MutableBloomier Kind = 21
	Cuckoo          Kind = 22
	ExactSet        Kind = 35
	Stacked         Kind = 36
)

// kinds has a row for each kind, at its number.
var kinds = [...]*kindRow{
	Bloom:           &bloomRow,
	SplitBlock:      &splitBlockRow,
	Blocked:         &blockedRow,
	Fuse:            &fuseRow,
	Counting:        &countingRow,
	Scalable:        &scalableRow,
	Bloomier:        &bloomierRow,
	Ribbon:          &ribbonRow,
	Golomb:          &golombRow,
	Retrieval:       &retrievalRow,
	Approximator:    &approximatorRow,
	ExactBits:       &exactBitsRow,
	MutableBloomier: &mutableBloomierRow,
	Cuckoo:          &cuckooRow,
	ExactSet:        &exactSetRow,
	Stacked:         &stackedRow,
}

// A choice is a header word with a number below a bound.
type choice struct {
	name  string
	word  int
	count uint64
}

// kindRow is what this package knows of a kind.
type kindRow struct {
	name string
	// choices are the header words that choose among variants of the kind. A later version may have more variants.
	choices []choice
	// open returns the shape of a geometry, and the length of its payload before the length is rounded up to whole units.
	// possible is false if the kind cannot have this geometry.
	open func(s *shape, h *Header) (payloadBytes uint64, possible bool)
	// state says whether the few state words of the kind are within their bounds, in constant time. Every opening calls
	// state. nil if the kind has no state words.
	state func(s *shape, payload []byte) bool
	// check says whether a payload is valid beyond its checksums; nil if every payload is valid.
	check func(s *shape, payload []byte) bool
	// contains looks up a hash; nil for maps.
	contains func(s *shape, payload []byte, hash uint64) bool
	// value returns the value of a key of a map, and whether it is there; possible is false if the directory is forged.
	// nil for all but maps.
	value func(s *shape, payload []byte, id identity) (value uint64, found, possible bool)
	// insert inserts a hash; nil if this package does not insert into the kind.
	insert func(s *shape, payload []byte, hash uint64) (isNew bool)
	// first returns the byte of a hash's first bit, or of its block; nil if the kind does not prefetch.
	first func(s *shape, hash uint64) uint64
	// isMade says that package filter makes filters of the kind, and changes them.
	isMade bool
}

// A Handle is the type that an image opens as.
type Handle int

// The handles that this package opens.
const (
	AFilter Handle = iota
	AMap
)

func (h Handle) String() string { return [...]string{"filter", "map"}[h] }

// handle returns the handle of the kind's images.
func (r *kindRow) handle() Handle {
	if r.value != nil {
		return AMap
	}
	return AFilter
}

// row returns the row of a kind; nil if this package does not know the kind.
func (k Kind) row() *kindRow {
	if uint64(k) < uint64(len(kinds)) {
		return kinds[k]
	}
	return nil
}

// String returns the kind's name.
func (k Kind) String() string {
	if row := k.row(); row != nil {
		return row.name
	}
	if name := names[k]; name != "" {
		return name
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes the name of a kind that the library has.
func (k *Kind) UnmarshalText(text []byte) error {
	for kind, name := range names {
		if name == string(text) {
			*k = kind
			return nil
		}
	}
	return fmt.Errorf("%w: %q is not the name of a kind", ErrUnknownValue, text)
}

// IsMade says whether package filter makes filters of a kind, and changes them.
func IsMade(kind Kind) bool {
	row := kind.row()
	return row != nil && row.isMade
}

// Use is what packages view and filter do with the images of a kind.
type Use struct {
	Kind   Kind
	Handle Handle
	// Opens says that package view opens the images, and Inserts that its copies of them take insertions.
	Opens, Inserts bool
	// IsMade says that package filter makes filters of the kind, and inserts into them.
	IsMade bool
}

// Uses returns what packages view and filter do with each kind that the library opens, in the order of the kinds'
// numbers.
func Uses() (uses []Use) {
	for kind := range names {
		use := Use{Kind: kind}
		if row := kind.row(); row != nil {
			use = Use{kind, row.handle(), true, row.insert != nil, row.isMade}
		}
		uses = append(uses, use)
	}
	sort.Slice(uses, func(i, j int) bool { return uses[i].Kind < uses[j].Kind })
	return uses
}

// shape is the part of the geometry that the kinds need to find the bits of a hash.
type shape struct {
	blocks      uint64   // split_block, blocked, and counting in blocks
	masks       []uint16 // blocked: the choices of lanes that a key has one of
	hashes      int
	bits        uint64    // all of them
	reach       uint64    // the positions of a probe (bloom, counting), buckets (cuckoo)
	counterBits uint64    // counting: how wide a counter is
	stride      uint64    // from one probe's slice to the next one's (bloom), bits of a bucket (cuckoo)
	slots       uint64    // cuckoo: of a bucket
	sorted      bool      // cuckoo: whether buckets are semi-sorted
	derivation  uint64    // bloom
	width       uint      // bloom: the slice width. cuckoo: of an entry
	cells       cellArray // fuse, and maps: those with the values
	ribbon      ribbon
	checks      cellArray    // bloomier: those with the check bits where they are apart; else there are none
	valueBits   uint         // maps
	checkBits   uint         // bloomier
	byRibbon    bool         // bloomier and retrieval
	values      wordCells    // approximator and mutable_bloomier
	lattice     uint64       // approximator
	levels      []chainLevel // scalable
	parts       *exactParts  // exact_set of several parts
}

// wholeBytes returns how many bytes hold this number of bits.
func wholeBytes(bits uint64) uint64 { return bits/8 + min(1, bits%8) }

// hasZeroTail says whether the bits of a payload after the last one are zero.
func hasZeroTail(s *shape, payload []byte) bool {
	tail := payload[s.bits/8:]
	if rest := s.bits % 8; rest != 0 {
		if tail[0]>>rest != 0 {
			return false
		}
		tail = tail[1:]
	}
	for _, b := range tail {
		if b != 0 {
			return false
		}
	}
	return true
}
