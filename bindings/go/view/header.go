package view

import "github.com/petal-filter/petal/bindings/go/internal/image"

// Why something failed. An error of this package wraps one of these, or comes from the operating system.
var (
	ErrForeign      = image.ErrForeign
	ErrTruncated    = image.ErrTruncated
	ErrCorrupt      = image.ErrCorrupt
	ErrNewerVersion = image.ErrNewerVersion
	ErrDirty        = image.ErrDirty
	ErrExternalHash = image.ErrExternalHash
	ErrKeyMissing   = image.ErrKeyMissing
	ErrKeyMismatch  = image.ErrKeyMismatch
	ErrKeyUnwanted  = image.ErrKeyUnwanted
	ErrUnsupported  = image.ErrUnsupported
	ErrOutOfRange   = image.ErrOutOfRange
	ErrReadOnly     = image.ErrReadOnly
	ErrClosed       = image.ErrClosed
)

// Hash is a hash function.
type Hash = image.Hash

// The hash functions.
const (
	XXH3      = image.XXH3
	XXH64     = image.XXH64
	SipHash13 = image.SipHash13
	External  = image.External
	Identity  = image.Identity
	Digest    = image.Digest
)

// Kind is a kind of filter or map.
type Kind = image.Kind

// The kinds that this package reads.
const (
	Bloom           = image.Bloom
	SplitBlock      = image.SplitBlock
	Blocked         = image.Blocked
	Fuse            = image.Fuse
	Counting        = image.Counting
	Scalable        = image.Scalable
	Bloomier        = image.Bloomier
	Ribbon          = image.Ribbon
	Golomb          = image.Golomb
	Retrieval       = image.Retrieval
	HashCompaction  = image.HashCompaction
	Signatures      = image.Signatures
	ExactBits       = image.ExactBits
	Approximator    = image.Approximator
	MutableBloomier = image.MutableBloomier
	Cuckoo          = image.Cuckoo
	Quotient        = image.Quotient
	VectorQuotient  = image.VectorQuotient
	DLeft           = image.DLeft
	ExactSet        = image.ExactSet
	Stacked         = image.Stacked
)

// Header is what an image says about itself.
type Header struct {
	Kind          Kind
	LayoutVersion uint16
	Hash          Hash
	// Hashes is the number of bits that a key sets.
	Hashes uint32
	// Identifier is the seed (XXH3, XXH64), the identifier of the secret key (SipHash13), the maker's tag (External) or
	// the bits of a digest (Digest).
	Identifier uint64
	// Capacity is the number of distinct keys that the filter was sized for; 0 is unknown.
	Capacity uint64
	// FalsePositiveRate is the rate expected at capacity; 0 if exact bits were asked for.
	FalsePositiveRate float64
	// Bits is the number of bits that keys are spread over.
	Bits uint64
	// Words are the kind's further parameters.
	Words [8]uint64
	// PayloadBytes is the length of the payload. The image has a header of 256 bytes before it and a table of checksums
	// after it.
	PayloadBytes uint64
	// Offered is the number of keys offered so far, duplicates included. In a dirty image it may lag.
	Offered uint64
	// Dirty says that nobody vouches for the payload: the image is open for writing, or was when its process ended.
	Dirty bool
}
