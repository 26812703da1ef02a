package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
)

// goldenKeys is how many keys a golden file holds; tests/golden/README.md says which.
const goldenKeys = 100

func ok(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// goldenFiles reads Petal's golden files. The files do not exist if this module was downloaded alone.
func goldenFiles(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(goldenfiles.Folder(t), "*.petal"))
	ok(t, err)
	files := map[string][]byte{}
	for _, path := range paths {
		image, err := os.ReadFile(path)
		ok(t, err)
		// This package does not know a kind of a later version.
		if _, err := Wrap(image, nil, AFilter); !errors.Is(err, ErrNewerVersion) {
			files[path] = image
		}
	}
	return files
}

func goldenOptions(path string) *Options {
	if !strings.Contains(path, "siphash13") {
		return nil
	}
	options := &Options{}
	for i := range options.Secret {
		options.Secret[i] = byte(i)
	}
	return options
}

func goldenKey(i int) string { return fmt.Sprintf("key %d", i) }

func goldenHash(t testing.TB, f *Filter, i int) uint64 {
	t.Helper()
	switch f.Header().Hash {
	case External:
		return mix(uint64(i + 1))
	case Identity:
		return uint64(7 * i)
	}
	hash, err := f.Hash([]byte(goldenKey(i)))
	ok(t, err)
	return hash
}

func TestGoldenFilesHoldTheirKeys(t *testing.T) {
	kinds := map[Kind]int{}
	for path, image := range goldenFiles(t) {
		options := goldenOptions(path)
		mapped, err := Open(path, options, AFilter)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		loaded, err := Load(image, options, AFilter)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		read, err := Read(bytes.NewReader(append(bytes.Clone(image), 1, 2, 3)), options, AFilter)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, f := range []*Filter{mapped, loaded, read} {
			if err := f.Verify(); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			absent := 0
			for i := range 10 * goldenKeys {
				var found bool
				if f.TakesWhole() {
					found = f.ContainsString(goldenKey(i))
				} else {
					found = f.ContainsHash(goldenHash(t, f, i))
				}
				switch {
				case i < goldenKeys && !found, f.Header().Hash < External && found != f.ContainsString(goldenKey(i)):
					t.Errorf("%s: key %d", path, i)
				case f.Header().Hash == Identity && found != f.ContainsUint64(uint64(7*i)):
					t.Errorf("%s: integer %d", path, 7*i)
				case !found:
					absent++
				}
				if found && !f.Contains([]byte(goldenKey(i))) {
					t.Errorf("%s: key %d as bytes", path, i)
				}
			}
			// With ten bits a key, some two per cent of the other keys are found. Ten bits are two and a half counters, and less
			// than one of the widest counters, so most of the other keys are found there.
			least := 800
			switch f.Header().Kind {
			case Counting:
				least = 100
			case ExactSet:
				// Its head takes half of 1024 bits, which leaves three for the levels.
				least = 700
			}
			if absent < least {
				t.Errorf("%s: only %d of %d other keys are absent", path, absent, 9*goldenKeys)
			}
			if f.Header().Insertions != goldenKeys {
				t.Errorf("%s: %+v", path, f.Header())
			}
			if again, err := f.MarshalBinary(); err != nil || !bytes.Equal(again, image) {
				t.Errorf("%s: written with other bytes, %v", path, err)
			}
		}
		kinds[mapped.Header().Kind]++
		if err := mapped.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(kinds) == 0 {
		t.Skip("tests/golden is not here")
	}
	for _, kind := range []Kind{Bloom, SplitBlock, Blocked, Fuse, Counting, Scalable, ExactBits} {
		if kinds[kind] == 0 {
			t.Errorf("no golden file of the kind %v", kind)
		}
	}
}

// An error names a kind that this package does not read.
func TestOtherKindsAreNamed(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(goldenfiles.Folder(t), "*.petal"))
	ok(t, err)
	for _, path := range paths {
		kind, _, _ := strings.Cut(filepath.Base(path), "-")
		if _, err := Open(path, goldenOptions(path), AFilter); err != nil && !strings.Contains(err.Error(), "kind "+kind) {
			t.Errorf("%s: %v", path, err)
		}
	}
	foreign := sample()[Blocked]
	binary.LittleEndian.PutUint32(foreign[12:], 10)
	if _, err := Wrap(seal(foreign), nil, AFilter); !errors.Is(err, ErrNewerVersion) ||
		!strings.Contains(err.Error(), "foreign_static") {
		t.Error(err)
	}
	// Images of other handles say what they are, and who opens them.
	for number, what := range map[uint32]string{
		256: "a sketch of the kind iblt", 257: "a sketch of the kind riblt", 258: "a sketch of the kind pinsketch",
		768: "a router of the kind router", 1024: "an aggregate of the kind aggregate",
		1280: "a digest of the kind digest", 1536: "an index of the kind index", 25: "a filter or map of the kind spectral",
	} {
		binary.LittleEndian.PutUint32(foreign[12:], number)
		for _, as := range []Handle{AFilter, AMap} {
			_, err := Load(seal(foreign), nil, as)
			if !errors.Is(err, ErrNewerVersion) ||
				!strings.HasSuffix(err.Error(), "the image is "+what+", and only package petal opens it") {
				t.Error(number, err)
			}
		}
	}
	// The number of an unknown kind still gives its handle.
	for number, handle := range map[uint32]string{99: "filter or map", 300: "sketch", 1700: "index", 5000: "handle"} {
		binary.LittleEndian.PutUint32(foreign[12:], number)
		_, err := Wrap(seal(foreign), nil, AFilter)
		if !errors.Is(err, ErrNewerVersion) || !strings.Contains(err.Error(), handle) {
			t.Error(number, err)
		}
	}
}

// Insertion does the same as in the library: an emptied golden file has the same bytes again after its keys were
// inserted.
func TestInsertingMakesTheSameBytes(t *testing.T) {
	for path, image := range goldenFiles(t) {
		if f, err := Wrap(image, nil, AFilter); err != nil || f.row.insert == nil {
			continue
		}
		empty := bytes.Clone(image)
		clear(empty[headerLength:])
		binary.LittleEndian.PutUint64(empty[countOffset:], 0)
		f, err := Load(seal(empty), goldenOptions(path), AFilter)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		fresh := 0
		for i := range goldenKeys {
			isNew, err := f.InsertHash(goldenHash(t, f, i))
			ok(t, err)
			if isNew {
				fresh++
			}
			if f.kind == Counting {
				// A counting filter counts a key that comes again.
				continue
			}
			if again, _ := f.InsertHash(goldenHash(t, f, i)); again {
				t.Errorf("%s: key %d is new twice", path, i)
			}
		}
		if fresh < 40 {
			t.Errorf("%s: only %d keys were new", path, fresh)
		}
		if got := f.Header().Insertions; got != 2*goldenKeys && f.kind != Counting {
			t.Errorf("%s: count is %d", path, got)
		}
		f.header.Insertions = goldenKeys
		var written bytes.Buffer
		if n, err := f.WriteTo(&written); err != nil || n != int64(len(image)) {
			t.Fatal(n, err)
		}
		if !bytes.Equal(written.Bytes(), image) {
			t.Errorf("%s: inserting makes other bytes", path)
		}
	}
}

func TestHashesAreThePublishedOnes(t *testing.T) {
	// The vectors of the SipHash paper and of its reference code: key 00 to 0f, message 00 to n - 1.
	key := sipKey{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	message := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	for _, c := range []struct {
		c, d, length int
		want         uint64
	}{{2, 4, 15, 0xa129ca6149be45e5}, {2, 4, 0, 0x726fdb47dd0e0e31}, {1, 3, 0, 0xabac0158050fc4dc}} {
		if got := key.hash(c.c, c.d, message[:c.length]); got != c.want {
			t.Errorf("SipHash-%d-%d of %d bytes is %#x, not %#x", c.c, c.d, c.length, got, c.want)
		}
	}
	// The 128-bit forms of 2-4, from the reference code, and of 1-3.
	for c, want := range map[int]identity{
		2: {0xe6a825ba047f81a3, 0x930255c71472f66d},
		1: {0xbea58827b2bc7ee7, 0x013030dd6adb62fd},
	} {
		if got := key.hash128(c, c+2, nil); got != want {
			t.Errorf("SipHash-%d-%d-128 of nothing is %#x", c, c+2, got)
		}
	}
	h128 := hasher{function: XXH3}
	if got, _ := h128.identify(nil); got != (identity{0x6001c324468d497f, 0x99aa06d3014798d8}) {
		t.Errorf("the 128-bit XXH3 of nothing is %#x", got)
	}
	// XXH64 and XXH3 of no bytes, with seed 0.
	for function, want := range map[Hash]uint64{XXH64: 0xef46db3751d8e999, XXH3: 0x2d06800538d394c2} {
		h := hasher{function: function}
		if got, ok := h.hash(nil); !ok || got != want {
			t.Errorf("%v of nothing is %#x", function, got)
		}
	}
}

// The positions of every derivation against the formulas of the specification, with exact arithmetic in small numbers.
func TestDerivationsAreTheFormulas(t *testing.T) {
	for r := uint64(1); r < 400; r += 7 {
		for _, hash := range []uint64{0, 1, math.MaxUint64, mix(r), mix(mix(r))} {
			a, b, c := hashWord(hash, 0)%r, hashWord(hash, 1)%r, hashWord(hash, 2)%r
			formulas := map[uint64]func(i uint64) uint64{
				double:         func(i uint64) uint64 { return (a + i*b) % r },
				enhancedDouble: func(i uint64) uint64 { return (a + i*b + (i*i*i-i)/6) % r },
				triple:         func(i uint64) uint64 { return (a + i*b + i*(i-1)/2*c) % r },
			}
			for derivation, formula := range formulas {
				s := shape{hashes: 64, reach: r, stride: r, derivation: derivation}
				i := uint64(0)
				s.bloomProbe(hash, func(p uint64) bool {
					want := i * r
					if i == 0 {
						want += a
					} else {
						want += formula(i)
					}
					if p != want {
						t.Fatalf("derivation %d, r = %d, hash %#x: q(%d) is %d, not %d", derivation, r, hash, i, p, want)
					}
					i++
					return true
				})
			}
		}
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	key, text := []byte("a key"), "another key"
	for path, image := range goldenFiles(t) {
		f, err := Load(image, goldenOptions(path), AFilter)
		ok(t, err)
		if n := testing.AllocsPerRun(100, func() {
			_ = f.Contains(key) || f.ContainsString(text) || f.ContainsUint64(5)
			_, _ = f.Insert(key)
		}); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}
