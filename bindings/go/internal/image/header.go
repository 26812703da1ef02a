package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/petal-filter/petal/bindings/go/internal/texts"
	"github.com/zeebo/xxh3"
)

// Why something failed. An error of this package wraps one of these, or comes from the operating system.
var (
	ErrForeign             = errors.New("petal: the bytes are not a Petal image")
	ErrTruncated           = errors.New("petal: the image ends before it is complete")
	ErrCorrupt             = errors.New("petal: the image contradicts itself or its checksum")
	ErrNewerVersion        = errors.New("petal: the image needs something that this package does not have")
	ErrUnclean             = errors.New("petal: the image is unclean: nobody marked its payload clean")
	ErrExternalHash        = errors.New("petal: the image takes hashes only")
	ErrSecretMissing       = errors.New("petal: the image is keyed and its secret key was not given")
	ErrSecretMismatch      = errors.New("petal: the secret key is not the one that the image was made with")
	ErrContradiction       = errors.New("petal: parameters that cannot hold together")
	ErrUnknownValue        = errors.New("petal: a kind, hash function or parameter that this package does not know")
	ErrUnsupported         = errors.New("petal: the kind does not do this here")
	ErrUnsupportedByHandle = errors.New("petal: the image is open for reading: load a copy to change it")
	ErrOutOfRange          = errors.New("petal: a value is outside its bounds")
	ErrClosed              = errors.New("petal: the handle is closed")
	ErrIncompatible        = errors.New("petal: the two differ in kind, layout, geometry, hash function, seed or secret")
)

// errNoInteger is the error for a key that exact_bits cannot have.
var errNoInteger = fmt.Errorf("%w: keys of exact_bits are integers, or the eight bytes of one", ErrUnsupported)

// Hash is a hash function.
type Hash uint32

// The hash functions.
const (
	XXH3      Hash = 1
	XXH64     Hash = 2
	SipHash13 Hash = 3
	External  Hash = 4
	// Identity is the hash function of [ExactBits], whose keys are integers and are not hashed.
	Identity Hash = 7
	// DigestHash is the hash function of [Bloom] for keys that are digests of MD5, SHA or BLAKE3. The identifier is the
	// number of their bits.
	DigestHash Hash = 9
)

// Hash functions that only package petal has: those of foreign formats, XXPH3 and SipHash-2-4.
const (
	ofFormat  Hash = 5
	xxph3     Hash = 6
	sipHash24 Hash = 8
)

var hashNames = []string{
	XXH3: "xxh3", XXH64: "xxh64", SipHash13: "siphash13", External: "external", ofFormat: "format", xxph3: "xxph3",
	Identity: "identity", sipHash24: "siphash24", DigestHash: "digest",
}

// String returns the hash function's name; "default" for 0.
func (h Hash) String() string {
	if h == 0 {
		return "default"
	}
	return texts.Name(hashNames, "hash", uint32(h))
}

// MarshalText writes the name.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText takes a name, such as "xxh3" or "default".
func (h *Hash) UnmarshalText(text []byte) error {
	if string(text) == "default" {
		*h = 0
		return nil
	}
	found, err := texts.Find(hashNames, string(text))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknownValue, err)
	}
	*h = Hash(found)
	return nil
}

// Header is what an image says about itself.
type Header struct {
	Kind          Kind
	LayoutVersion uint16
	Hash          Hash
	// Hashes is the number of bits that a key sets.
	Hashes uint32
	// Identifier is the seed (XXH3, XXH64), the identifier of the secret key (SipHash13), the maker's tag (External) or
	// the bits of a digest (DigestHash).
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
	// Insertions is the number of keys inserted so far, duplicates included. In an unclean image it may lag.
	Insertions uint64
	// Unclean says that nobody marked the payload clean: the image is open for writing, or was when its process ended.
	Unclean bool
}

// FormatVersion is the version of the format that this package writes, and the greatest that it reads.
const FormatVersion = 1

const (
	magic         = "\x89PETAL\r\n"
	uncleanState  = "DIRTY\x00\x00\x00"
	layoutVersion = 1
	payloadUnit   = 64

	headerLength       = 256
	optionalOffset     = 32
	reservedOffset     = 144
	checksumOffset     = 208
	stateOffset        = 216
	countOffset        = 224
	sharingOffset      = 232
	lateReservedOffset = 240
	sealOffset         = 248
)

// decodeHeader reads a header, and checks it in the order of the specification up to the seal.
func decodeHeader(image []byte) (Header, error) {
	start := min(len(image), len(magic))
	if string(image[:start]) != magic[:start] {
		return Header{}, ErrForeign
	}
	if len(image) < headerLength {
		return Header{}, fmt.Errorf("%w: %d bytes of %d of the header", ErrTruncated, len(image), headerLength)
	}
	// Works on a copy, because another process may write to a mapped image meanwhile.
	b := [headerLength]byte(image)
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

	version := u16(8)
	if version > FormatVersion {
		return Header{}, fmt.Errorf("%w: format version %d", ErrNewerVersion, version)
	}
	if u64(checksumOffset) != xxh3.Hash(b[:checksumOffset]) || version == 0 {
		return Header{}, fmt.Errorf("%w: the header does not match its checksum", ErrCorrupt)
	}
	if required := u64(24); required != 0 {
		return Header{}, fmt.Errorf("%w: required features %#x", ErrNewerVersion, required)
	}
	h := Header{
		LayoutVersion:     u16(10),
		Kind:              Kind(u32(12)),
		Hash:              Hash(u32(16)),
		Hashes:            u32(20),
		Identifier:        u64(40),
		Capacity:          u64(48),
		FalsePositiveRate: math.Float64frombits(u64(56)),
		Bits:              u64(64),
		PayloadBytes:      u64(136),
		Insertions:        u64(countOffset),
	}
	for i := range h.Words {
		h.Words[i] = u64(72 + 8*i)
	}
	if h.Hash < XXH3 || h.Hash > DigestHash {
		return Header{}, fmt.Errorf("%w: %v of the kind %v", ErrNewerVersion, h.Hash, h.Kind)
	}
	// Optional features of a later version may use the reserved bytes.
	reserved := bytes.Count(b[reservedOffset:checksumOffset], []byte{0}) == checksumOffset-reservedOffset
	if optional := u64(optionalOffset); optional == 0 && (!reserved || u64(lateReservedOffset) != 0) {
		return Header{}, fmt.Errorf("%w: reserved bytes of the header are not zero", ErrCorrupt)
	}
	if !(h.FalsePositiveRate >= 0 && h.FalsePositiveRate <= 1) || math.Signbit(h.FalsePositiveRate) {
		return Header{}, fmt.Errorf("%w: false_positive_rate is %g", ErrCorrupt, h.FalsePositiveRate)
	}
	if _, possible := imageBytes(h.PayloadBytes); h.PayloadBytes == 0 || h.PayloadBytes%payloadUnit != 0 || !possible {
		return Header{}, fmt.Errorf("%w: a payload of %d bytes is not possible", ErrCorrupt, h.PayloadBytes)
	}
	switch string(b[stateOffset : stateOffset+8]) {
	case "\x00\x00\x00\x00\x00\x00\x00\x00":
		if u64(sealOffset) != xxh3.Hash(b[checksumOffset:sealOffset]) {
			return Header{}, fmt.Errorf("%w: the header's second part does not match its seal", ErrCorrupt)
		}
		if u64(sharingOffset) != 0 {
			return Header{}, fmt.Errorf("%w: a clean image is shared by somebody", ErrCorrupt)
		}
	case uncleanState:
		h.Unclean = true
	default:
		return Header{}, fmt.Errorf("%w: the header's state is %#x", ErrCorrupt, u64(stateOffset))
	}
	return h, nil
}

// handleOf names the handle of a kind, with its article, by the range of its number, so that kinds of later versions
// have one too.
func handleOf(kind Kind) string {
	switch {
	case kind < 256:
		return "a filter or map"
	case kind < 512:
		return "a sketch"
	case kind >= 768 && kind < 1024:
		return "a router"
	case kind >= 1024 && kind < 1280:
		return "an aggregate"
	case kind >= 1280 && kind < 1536:
		return "a digest"
	case kind >= 1536 && kind < 1792:
		return "an index"
	default:
		return "a handle of its own"
	}
}

// row returns the row of the kind, and checks that this package reads the layout.
func (h *Header) row() (*kindRow, error) {
	row := h.Kind.row()
	if row == nil {
		if names[h.Kind] != "" {
			return nil, fmt.Errorf("%w: the image is %s of the kind %v, and only package petal opens it", ErrNewerVersion,
				handleOf(h.Kind), h.Kind)
		}
		return nil, fmt.Errorf("%w: %v (%s)", ErrNewerVersion, h.Kind, handleOf(h.Kind))
	}
	if h.LayoutVersion > layoutVersion {
		return nil, fmt.Errorf("%w: layout %d of the kind %v", ErrNewerVersion, h.LayoutVersion, h.Kind)
	}
	if h.LayoutVersion == 0 {
		return nil, fmt.Errorf("%w: the layout version is 0", ErrCorrupt)
	}
	if h.Kind == Blocked && h.Words[0] == twoBlocks {
		row = &twoBlocksRow
	}
	if (h.Hash == Identity) != (row == &exactBitsRow) || h.Hash == ofFormat || h.Hash == DigestHash && row != &bloomRow {
		return nil, fmt.Errorf("%w: nothing of the kind %v has the hash function %v", ErrCorrupt, h.Kind, h.Hash)
	}
	for _, c := range row.choices {
		if number := h.Words[c.word]; number >= c.count {
			return nil, fmt.Errorf("%w: %s %d of the kind %v", ErrNewerVersion, c.name, number, h.Kind)
		}
	}
	if h.Hash == xxph3 || h.Hash == sipHash24 {
		return nil, fmt.Errorf("%w: only package petal opens images with the hash function %v", ErrNewerVersion, h.Hash)
	}
	return row, nil
}

// open returns the row and the shape of an image. open checks that the kind has this handle and can have this geometry.
func (h *Header) open(as Handle) (*kindRow, shape, error) {
	row, err := h.row()
	if err != nil {
		return nil, shape{}, err
	}
	s, err := row.shapeOf(h, as)
	return row, s, err
}

// shapeOf returns the shape of an image of this kind. shapeOf checks that the kind has this handle and can have this
// geometry.
func (r *kindRow) shapeOf(h *Header, as Handle) (shape, error) {
	if is := r.handle(); is != as {
		return shape{}, fmt.Errorf("%w: the image is a %v, of the kind %v, and not a %v", ErrUnsupported, is, h.Kind, as)
	}
	s := shape{hashes: int(min(h.Hashes, math.MaxInt32)), bits: h.Bits}
	bytes, possible := r.open(&s, h)
	units := bytes/payloadUnit + min(1, bytes%payloadUnit)
	if !possible || h.PayloadBytes/payloadUnit != units {
		return shape{}, fmt.Errorf("%w: nothing of the kind %v has %d bits, %d hashes, words %v and %d bytes of payload",
			ErrCorrupt, h.Kind, h.Bits, h.Hashes, h.Words, h.PayloadBytes)
	}
	return s, nil
}
