package petal

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

// The digests of the hash functions of Go's own library go in one by one and as a batch, in this package and in pure
// Go, and all make the same bytes and give the same answers.
func TestDigestsAreKeys(t *testing.T) {
	const keys, absent = 500, 10_000
	functions := map[string]func([]byte) []byte{
		"MD5":     func(b []byte) []byte { s := md5.Sum(b); return s[:] },
		"SHA-1":   func(b []byte) []byte { s := sha1.Sum(b); return s[:] },
		"SHA-256": func(b []byte) []byte { s := sha256.Sum256(b); return s[:] },
		"SHA-384": func(b []byte) []byte { s := sha512.Sum384(b); return s[:] },
		"SHA-512": func(b []byte) []byte { s := sha512.Sum512(b); return s[:] },
	}
	for name, of := range functions {
		each := len(of(nil))
		spec := Spec{
			Kind: "bloom", Capacity: keys, FalsePositiveRate: 0.01, Hash: DigestHash, Seed: uint64(8 * each),
		}
		single, batch := must(New(spec)), must(New(spec))
		defer single.Close()
		defer batch.Close()
		pure := must(view.Load(must(single.MarshalBinary()), nil))
		bare := must(filter.Load(must(single.MarshalBinary()), nil))
		var all []byte
		var slices [][]byte
		for i := range keys {
			digest := of(fmt.Appendf(nil, "key %d", i))
			all, slices = append(all, digest...), append(slices, digest)
			isNew := must(single.Insert(digest))
			if alike := must(pure.Insert(digest)); alike != isNew {
				t.Errorf("%s: digest %d is new: %v, in pure Go %v", name, i, isNew, alike)
			}
		}
		if err := batch.InsertBatch(DigestKeys(all, each), nil); err != nil {
			t.Fatal(err)
		}
		check(t, bare.InsertBatch(filter.BytesKeys(slices), nil))
		image := must(single.MarshalBinary())
		for other, written := range map[string][]byte{
			"a batch": must(batch.MarshalBinary()), "view": must(pure.MarshalBinary()), "filter": must(bare.MarshalBinary()),
		} {
			if !bytes.Equal(written, image) {
				t.Errorf("%s: %s makes other bytes", name, other)
			}
		}
		var others []byte
		slices = slices[:0]
		for i := range absent {
			digest := of(fmt.Appendf(nil, "other %d", i))
			others, slices = append(others, digest...), append(slices, digest)
		}
		answers := Answers{Bools: make([]bool, absent)}
		if err := batch.ContainsBatch(DigestKeys(others, each), &answers); err != nil {
			t.Fatal(err)
		}
		found := filter.Answers{Bools: make([]bool, absent)}
		check(t, bare.ContainsBatch(filter.BytesKeys(slices), &found))
		for i, digest := range slices {
			if is := single.Contains(digest); is != answers.Bools[i] || is != pure.Contains(digest) || is != found.Bools[i] {
				t.Errorf("%s: other digest %d", name, i)
			}
		}
		// 100 are expected, and 45 are 4.5 standard deviations.
		if found.TrueCount != answers.TrueCount || found.TrueCount < 55 || found.TrueCount > 145 {
			t.Errorf("%s: %d and %d of %d other digests are found", name, found.TrueCount, answers.TrueCount, absent)
		}
		for _, keys := range []Keys{
			DigestKeys(all[1:], each), DigestKeys(all, each+8), DigestKeys(all, 0), DigestKeys(all, -1),
			BytesKeys([][]byte{all[:each], all[:each-1]}), Uint64Keys([]uint64{1}),
		} {
			if err := single.InsertBatch(keys, nil); !errors.Is(err, ErrOutOfRange) {
				t.Errorf("%s: %v", name, err)
			}
			answers := Answers{Bools: make([]bool, keys.Len())}
			if err := single.ContainsBatch(keys, &answers); !errors.Is(err, ErrOutOfRange) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := single.InsertBatch(HashKeys([]uint64{1}), nil); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
		wants(t, bare.InsertBatch(filter.BytesKeys([][]byte{all[:each], all[:8]}), nil), filter.ErrOutOfRange)
		wants(t, bare.InsertBatch(filter.HashKeys([]uint64{1}), nil), filter.ErrUnsupported)
		if different := differentDescriptions(must(single.Describe()), must(pure.Describe())); different != "" {
			t.Errorf("%s: %s", name, different)
		}
		if !bytes.Equal(must(single.MarshalBinary()), image) || !bytes.Equal(must(bare.MarshalBinary()), image) {
			t.Errorf("%s: what was refused changed the filter", name)
		}
	}
	plain := must(New(Spec{Capacity: 100}))
	defer plain.Close()
	if err := plain.InsertBatch(DigestKeys(make([]byte, 64), 32), nil); !errors.Is(err, ErrContradiction) {
		t.Error(err)
	}
	for _, bits := range []uint64{0, 120, 129, 520} {
		_, err := New(Spec{Kind: "bloom", Capacity: 100, Hash: DigestHash, Seed: bits})
		if !errors.Is(err, ErrOutOfRange) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
}
