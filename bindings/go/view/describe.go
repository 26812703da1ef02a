package view

import (
	"github.com/petal-filter/petal/bindings/go/internal/image"
	"github.com/petal-filter/petal/bindings/go/internal/texts"
)

// Why something failed. An error of this package wraps one of these, or comes from the operating system.
var (
	ErrForeign        = image.ErrForeign
	ErrTruncated      = image.ErrTruncated
	ErrCorrupt        = image.ErrCorrupt
	ErrNewerVersion   = image.ErrNewerVersion
	ErrUnclean        = image.ErrUnclean
	ErrExternalHash   = image.ErrExternalHash
	ErrSecretMissing  = image.ErrSecretMissing
	ErrSecretMismatch = image.ErrSecretMismatch
	ErrContradiction  = image.ErrContradiction
	ErrUnknownValue   = image.ErrUnknownValue
	ErrOutOfRange     = image.ErrOutOfRange
	ErrClosed         = image.ErrClosed
	// ErrUnsupported says that the kind does not support the call in this package.
	ErrUnsupported = image.ErrUnsupported
	// ErrUnsupportedByHandle says that the kind supports the call, but this handle does not: it is open for reading.
	ErrUnsupportedByHandle = image.ErrUnsupportedByHandle
)

// Hash is a hash function.
type Hash = image.Hash

// The hash functions.
const (
	XXH3      = image.XXH3
	XXH64     = image.XXH64
	SipHash13 = image.SipHash13
	External  = image.External
	// Identity is no hash function: keys are integers. Filters of the kind exact_bits have it.
	Identity = image.Identity
	// DigestHash means that keys are digests of MD5, SHA or BLAKE3. Filters of the kind bloom may have it.
	DigestHash = image.DigestHash
)

// Kind is the number of a kind of filter or map. Its String method returns the kind's name.
type Kind = image.Kind

// State is the state of a filter or map.
type State = image.State

// The states.
const (
	// StateUnclean says that nobody marked the payload clean, or not yet. Somebody is changing the image, or was changing
	// it when the process ended, or the filter comes from such an image.
	StateUnclean = image.StateUnclean
	// StateInPlace says that the image lies in a mapped file, or in a slice of the caller's.
	StateInPlace = image.StateInPlace
	// StateWritable says that the handle has a copy of the image, which insertions may change.
	StateWritable = image.StateWritable
	// StateCanHash says that the filter can hash keys: it takes keys, and has its secret key if it needs one.
	StateCanHash = image.StateCanHash
	// StateStaysUnclean says that the filter is unclean and that only marking it makes it clean again. Packages petal
	// and filter can.
	StateStaysUnclean = image.StateStaysUnclean
)

// Description describes a filter or map by the header of its image.
type Description struct {
	Kind Kind `json:"kind"`
	Hash Hash `json:"hash"`
	// Seed is the seed, the identifier of the secret key, the tag of external hashes, or the bits of a digest.
	Seed          uint64 `json:"seed"`
	FormatVersion uint32 `json:"format_version"`
	LayoutVersion uint32 `json:"layout_version"`
	State         State  `json:"state"`
	// Hashes is how many bits or cells a key takes; 0 for kinds without such a number.
	Hashes uint32 `json:"hashes"`
	// Capacity is the number of distinct keys that the filter has room for; 0 is unknown.
	Capacity uint64 `json:"capacity"`
	// Insertions is how many keys were inserted so far, duplicates included. In an unclean image it may lag.
	Insertions uint64 `json:"insertions"`
	// Bits is how many bits the filter spreads its keys over.
	Bits uint64 `json:"bits"`
	// Bytes is the size of the whole image.
	Bytes uint64 `json:"bytes"`
	// BitsPerKey is Bits for each key of the capacity; 0 if the capacity is unknown.
	BitsPerKey float64 `json:"bits_per_key"`
	// FalsePositiveRate is the rate expected at capacity; 0 if the spec had exact bits.
	FalsePositiveRate float64 `json:"false_positive_rate"`
	// Words are the kind's further parameters, as docs/format.md of Petal's repository explains them for each kind.
	Words [8]uint64 `json:"words"`
}

// String returns one line: kind, keys, size, rate, and the state if it is unusual.
func (d Description) String() string {
	return texts.Description{
		Kind: d.Kind, Insertions: d.Insertions, Capacity: d.Capacity, Bytes: d.Bytes, FalsePositiveRate: d.FalsePositiveRate,
		IsUnclean: d.State.Has(StateUnclean), IsWritable: d.State.Has(StateWritable),
	}.String()
}

// describe describes an opened image.
func describe(of *image.Filter, as image.Handle) (Description, error) {
	h := of.Header()
	if h.Kind == 0 {
		return Description{}, image.Closed(as)
	}
	return Description{
		Kind: h.Kind, Hash: h.Hash, Seed: h.Identifier, FormatVersion: image.FormatVersion,
		LayoutVersion: uint32(h.LayoutVersion), State: of.State(), Hashes: h.Hashes, Capacity: h.Capacity,
		Insertions: h.Insertions, Bits: h.Bits, Bytes: of.Bytes(), BitsPerKey: h.BitsPerKey(),
		FalsePositiveRate: h.FalsePositiveRate, Words: h.Words,
	}, nil
}
