package view

import "github.com/petal-filter/petal/bindings/go/internal/image"

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
type Description = image.Description
