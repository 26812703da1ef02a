package image

import (
	"encoding/binary"
	"errors"
	"testing"
)

// An index whose fields have no bits may claim 2^57 buckets: a loop over the buckets must still end.
func TestBucketsWithoutNumbersEnd(t *testing.T) {
	image := make([]byte, headerLength+128+64)
	header := Header{LayoutVersion: 1, Kind: Golomb, Hash: XXH3, Hashes: 1, Bits: 513, Words: [8]uint64{1 << 62},
		PayloadBytes: 128}
	header.encode((*[headerLength]byte)(image))
	// The image has one number, and one bit of codes.
	binary.LittleEndian.PutUint64(image[headerLength:], 1)
	binary.LittleEndian.PutUint64(image[headerLength+8:], 1)
	if _, err := Load(seal(image), nil, AFilter); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}
