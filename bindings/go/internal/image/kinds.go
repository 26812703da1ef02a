package image

import "fmt"

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
	HashCompaction  Kind = 17
	Signatures      Kind = 18
	ExactBits       Kind = 19
	MutableBloomier Kind = 21
	Cuckoo          Kind = 22
	Quotient        Kind = 23
	VectorQuotient  Kind = 24
	DLeft           Kind = 26
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
	HashCompaction:  &hashCompactionRow,
	Signatures:      &signaturesRow,
	ExactBits:       &exactBitsRow,
	MutableBloomier: &mutableBloomierRow,
	Cuckoo:          &cuckooRow,
	Quotient:        &quotientRow,
	VectorQuotient:  &vectorQuotientRow,
	DLeft:           &dLeftRow,
}

// unread names the kinds that package petal opens, and this one does not.
var unread = map[Kind]string{
	8:  "foreign_bloom",
	9:  "rocksdb_bloom",
	10: "foreign_static",
	11: "foreign_scalable",
	12: "foreign_cuckoo",
	20: "golomb_stream",
	25: "spectral",
	27: "variable_increment",
	28: "layered",
	29: "removed_set",
	30: "taffy",
	31: "aleph",
	32: "age_partitioned",
	33: "stable",
	34: "rotating",
}

// kindRow is what this package knows of a kind.
type kindRow struct {
	name string
	// open finds the shape of a geometry, and the length of its payload before it is rounded up to whole units, if the
	// kind can have this geometry.
	open func(s *shape, h *Header) (payloadBytes uint64, possible bool)
	// check says whether a payload is one, beyond its checksums; nil where every payload is.
	check func(s *shape, payload []byte) bool
	// contains looks up a hash; nil for maps.
	contains func(s *shape, payload []byte, hash uint64) bool
	// value returns the value of a key of a map, if it is there; possible is false where the directory is forged. nil
	// for filters.
	value func(s *shape, payload []byte, id identity) (value uint64, found, possible bool)
	// insert inserts a hash; nil where this package inserts nothing.
	insert func(s *shape, payload []byte, hash uint64) (isNew bool)
	// first returns the byte of the first bit, or the block, of a hash; nil where nobody asks for it.
	first func(s *shape, hash uint64) uint64
}

func (r *kindRow) isMap() bool { return r.value != nil }

// row returns the row of a kind, nil where there is none.
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
	if name := unread[k]; name != "" {
		return name
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// shape is what the kinds need of the geometry to find the bits of a hash.
type shape struct {
	blocks      uint64   // split_block, blocked, and counting in blocks
	masks       []uint16 // blocked: the choices of lanes that a key has one of
	hashes      int
	bits        uint64    // all of them
	reach       uint64    // bloom and counting: the positions that a probe chooses among. cuckoo: the buckets. vector_quotient: the blocks
	counterBits uint64    // counting: how wide a counter is
	stride      uint64    // bloom: from the slice of one probe to that of the next; 0 where they share one. cuckoo: the bits of a bucket
	slots       uint64    // cuckoo: of a bucket. vector_quotient: of a block
	sorted      bool      // cuckoo: whether buckets are semi-sorted
	derivation  uint64    // bloom
	width       uint      // bloom: the slice width. cuckoo and hash_compaction: of an entry
	cells       cellArray // fuse, and maps: those with the values
	ribbon      ribbon
	checks      cellArray    // bloomier: those with the check bits where they are apart; else there are none
	valueBits   uint         // maps
	checkBits   uint         // bloomier
	byRibbon    bool         // bloomier and retrieval
	values      wordCells    // approximator and mutable_bloomier
	lattice     uint64       // approximator
	shards      uint64       // signatures
	buckets     bucketShape  // signatures
	levels      []chainLevel // scalable
}

// wholeBytes returns how many bytes so many bits take.
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
