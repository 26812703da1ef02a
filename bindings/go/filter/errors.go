package filter

import (
	"errors"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// Why something failed. An error of this package wraps one of these, and names the parameter, its value and what is
// allowed; or the error comes from the operating system.
var (
	ErrUnknownValue      = image.ErrUnknownValue
	ErrOutOfRange        = image.ErrOutOfRange
	ErrFalsePositiveRate = errors.New("petal: a false-positive rate that is not inside (0, 1)")
	ErrContradiction     = image.ErrContradiction
	ErrBufferTooSmall    = errors.New("petal: less room for answers than there are keys")
	ErrTooLarge          = image.ErrTooLarge
	ErrOutOfMemory       = image.ErrOutOfMemory

	ErrForeign        = image.ErrForeign
	ErrTruncated      = image.ErrTruncated
	ErrCorrupt        = image.ErrCorrupt
	ErrNewerVersion   = image.ErrNewerVersion
	ErrUnclean        = image.ErrUnclean
	ErrExternalHash   = image.ErrExternalHash
	ErrSecretMissing  = image.ErrSecretMissing
	ErrSecretMismatch = image.ErrSecretMismatch
	ErrUnsupported    = image.ErrUnsupported
	ErrIncompatible   = image.ErrIncompatible
	ErrClosed         = image.ErrClosed
)

// The errors of a closed filter, which say that it is one, and that the other filter is one.
var (
	closed      = image.Closed(image.AFilter)
	otherClosed = image.ClosedOther(image.AFilter)
)
