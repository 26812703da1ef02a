package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/race"
	"github.com/petal-filter/petal/bindings/go/internal/secret"
	"github.com/zeebo/xxh3"
)

// Why Create failed.
var (
	ErrTooLarge    = errors.New("petal: more bits than the kind, or the address space, can hold")
	ErrOutOfMemory = errors.New("petal: memory could not be had")
)

// Create makes an empty filter in its own memory. Create takes kind, hash, identifier, capacity, rate and geometry from
// the header, and derives the payload's length from the number of bits.
func Create(h Header, options *Options) (*Filter, error) {
	h.LayoutVersion, h.Insertions, h.Unclean = layoutVersion, 0, false
	bytes := max(1, wholeBytes(h.Bits))
	length, possible := imageBytes(bytes)
	if possible {
		h.PayloadBytes = (bytes + payloadUnit - 1) / payloadUnit * payloadUnit
		length, possible = imageBytes(h.PayloadBytes)
	}
	if !possible {
		return nil, fmt.Errorf("%w: bits = %d are more than the address space holds", ErrTooLarge, h.Bits)
	}
	row, shape, err := h.open(AFilter)
	if err != nil {
		return nil, err
	}
	hasher, err := newHasher(&h, options)
	if err != nil {
		return nil, err
	}
	image, err := allocate(length)
	if err != nil {
		return nil, err
	}
	h.encode((*[headerLength]byte)(image))
	end := headerLength + int(h.PayloadBytes)
	return &Filter{
		row:      row,
		kind:     h.Kind,
		payload:  image[headerLength:end:end],
		shape:    shape,
		hasher:   hasher,
		header:   h,
		image:    image,
		writable: true,
	}, nil
}

// allocate makes zeros, or fails if there is no memory. Without this check Go would end the program.
func allocate(length int) ([]byte, error) {
	const certain = 64 << 20
	if length > certain && !isThereMemory(length) {
		return nil, fmt.Errorf("%w: %d bytes", ErrOutOfMemory, length)
	}
	return make([]byte, length), nil
}

// ImageBytes returns the length of an image with this many bits; possible is false if it is too long.
func ImageBytes(bits uint64) (length uint64, possible bool) {
	bytes := max(1, wholeBytes(bits))
	if bytes > math.MaxInt/2 {
		return 0, false
	}
	all, possible := imageBytes((bytes + payloadUnit - 1) / payloadUnit * payloadUnit)
	return uint64(all), possible
}

// encode writes the header of a clean image that holds no keys.
func (h *Header) encode(b *[headerLength]byte) {
	u16 := func(at int, value uint16) { binary.LittleEndian.PutUint16(b[at:], value) }
	u32 := func(at int, value uint32) { binary.LittleEndian.PutUint32(b[at:], value) }
	u64 := func(at int, value uint64) { binary.LittleEndian.PutUint64(b[at:], value) }
	copy(b[:], magic)
	u16(8, FormatVersion)
	u16(10, h.LayoutVersion)
	u32(12, uint32(h.Kind))
	u32(16, uint32(h.Hash))
	u32(20, h.Hashes)
	u64(40, h.Identifier)
	u64(48, h.Capacity)
	u64(56, math.Float64bits(h.FalsePositiveRate))
	u64(64, h.Bits)
	for i, word := range h.Words {
		u64(72+8*i, word)
	}
	u64(136, h.PayloadBytes)
	u64(checksumOffset, xxh3.Hash(b[:checksumOffset]))
	u64(sealOffset, xxh3.Hash(b[checksumOffset:sealOffset]))
}

// KeyIdentifier returns the identifier of a secret key in images.
func KeyIdentifier(key secret.Key) uint64 { return newSipKey(key).identifier() }

// Payload returns the payload for reading; nil if the filter is closed.
func (f *Filter) Payload() []byte { return f.payload }

// Change returns the payload for a change. The race detector takes the call for a change.
func (f *Filter) Change() ([]byte, error) {
	switch {
	case f.kind == 0:
		return nil, f.closed()
	case !f.writable:
		return nil, ErrUnsupportedByHandle
	}
	race.Write(unsafe.Pointer(&f.row))
	return f.payload, nil
}

// SetInsertions sets how many keys were inserted.
func (f *Filter) SetInsertions(insertions uint64) { f.header.Insertions = insertions }

// SetUnclean sets whether the filter is unclean: nobody marked the payload clean.
func (f *Filter) SetUnclean(unclean bool) { f.header.Unclean = unclean }

// Become takes over another filter, but keeps the number of insertions and the hasher.
func (f *Filter) Become(other *Filter) {
	h := f.hasher
	other.header.Insertions, other.header.Unclean = f.header.Insertions, f.header.Unclean
	*f = *other
	f.hasher = h
}

// Probe calls visit with the positions of the bits of a hash in a filter of the kind bloom.
func (f *Filter) Probe(hash uint64, visit func(position uint64) bool) {
	f.shape.bloomProbe(hash, visit)
}

// Like makes an empty filter with another header, which has the same hash function, seed or secret.
func (f *Filter) Like(h Header) (*Filter, error) {
	made, err := Create(h, nil)
	if err != nil {
		return nil, err
	}
	made.hasher = f.hasher
	return made, nil
}
