package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
)

// digest is digest i of the golden files, of digestBits bits.
func digest(i, digestBits uint64) []byte {
	var b []byte
	for j := range uint64(8) {
		b = binary.BigEndian.AppendUint64(b, mix(mix(i<<8)+mix(j)))
	}
	return b[:digestBits/8]
}

// The golden images of digests hold their keys, and a filter into which the digests are inserted here has their bytes.
func TestGoldenDigestsAreFoundAndMade(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(goldenfiles.Folder(t), "digests", "*.petal"))
	ok(t, err)
	for _, path := range paths {
		image, err := os.ReadFile(path)
		ok(t, err)
		golden, err := Load(image, nil, AFilter)
		ok(t, err)
		h := golden.Header()
		made, err := Create(h, nil)
		ok(t, err)
		absent := 0
		for i := range uint64(goldenKeys) {
			key := digest(i, h.Identifier)
			if !golden.Contains(key) || !golden.ContainsString(string(key)) {
				t.Errorf("%s: digest %d", path, i)
			}
			if !golden.Contains(digest(goldenKeys+i, h.Identifier)) {
				absent++
			}
			if _, err := made.Insert(key); err != nil {
				t.Fatal(err)
			}
		}
		if absent < 80 {
			t.Errorf("%s: only %d other digests are absent", path, absent)
		}
		written, err := made.MarshalBinary()
		ok(t, err)
		if !bytes.Equal(written, image) {
			t.Errorf("%s: the same digests make other bytes", path)
		}
		// What is no digest of this length gets no answer but a maybe, and is not inserted.
		for _, key := range [][]byte{nil, make([]byte, 8), digest(1, h.Identifier)[1:], append(digest(1, h.Identifier), 0)} {
			_, err := made.Insert(key)
			if !errors.Is(err, ErrOutOfRange) || !made.Contains(key) {
				t.Errorf("%s: a key of %d bytes: %v", path, len(key), err)
			}
		}
		if _, err := made.InsertUint64(7); !errors.Is(err, ErrOutOfRange) || !made.ContainsUint64(7) {
			t.Error(err)
		}
		if _, err := made.InsertHash(7); !errors.Is(err, ErrUnsupported) || !made.ContainsHash(7) {
			t.Error(err)
		}
		if _, err := made.Hash(digest(1, h.Identifier)); !errors.Is(err, ErrUnsupported) {
			t.Error(err)
		}
		again, err := made.MarshalBinary()
		ok(t, err)
		if !bytes.Equal(again, written) {
			t.Errorf("%s: what was refused changed the filter", path)
		}
		if _, err := Load(image, &Options{Secret: [16]byte{1}}, AFilter); !errors.Is(err, ErrContradiction) {
			t.Error(err)
		}
	}
}

// A field of a digest has 8 bits more than positions need, or as many as they need if the range is a power of two.
func TestFieldsOfDigestsAreWideEnough(t *testing.T) {
	for _, c := range []struct {
		digestBits, bits, width uint64
		possible                bool
	}{
		{128, 1023, 18, true}, {128, 1024, 18, true}, {128, 1025, 18, false}, {128, 1 << 18, 18, true},
		{128, 1<<18 - 1, 18, false}, {128, 1 << 19, 18, false}, {128, 1, 18, true}, {128, 1023, 17, false},
		{128, 1023, 0, false}, {512, 1 << 20, 64, true}, {512, 1 << 20, 73, false}, {120, 1023, 17, false},
		{520, 1023, 64, false}, {132, 1023, 18, false}, {256, 1023, 36, true},
	} {
		h := Header{Kind: Bloom, Hash: DigestHash, Hashes: 7, Bits: c.bits, Words: [8]uint64{3: c.width}}
		h.Identifier = c.digestBits
		if _, err := Create(h, nil); (err == nil) != c.possible || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	h := Header{Kind: Bloom, Hash: XXH3, Hashes: 7, Bits: 1023, Words: [8]uint64{3: 36}}
	if _, err := Create(h, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("fields without digests: %v", err)
	}
}
