package petal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/view"
)

// compare asks both for the same keys, present and absent.
func compare(t *testing.T, name string, f *Filter, v *view.Filter, random *rand.Rand) {
	t.Helper()
	description, header := must(f.Describe()), v.Header()
	if uint32(header.Kind) != uint32(description.Kind) || header.Kind.String() != description.Kind.String() ||
		header.Offered != description.Offered || header.Capacity != description.Capacity || header.Bits != description.Bits ||
		header.Hashes != description.Hashes || header.FalsePositiveRate != description.FalsePositiveRate {
		t.Errorf("%s: %+v and %+v", name, header, description)
	}
	for i := range uint64(2000) {
		hash, number := random.Uint64(), random.Uint64()>>random.IntN(64)
		key := make([]byte, random.IntN(20)*random.IntN(80))
		for i := range key {
			key[i] = byte(random.Uint32())
		}
		if f.ContainsHash(hash) != v.ContainsHash(hash) || f.ContainsUint64(number) != v.ContainsUint64(number) ||
			f.Contains(key) != v.Contains(key) || f.ContainsString(string(key)) != v.ContainsString(string(key)) ||
			f.ContainsUint64(i) != v.ContainsUint64(i) {
			t.Fatalf("%s: the answers differ: %#x, %d, %.40x, %d", name, hash, number, key, i)
		}
		if header.Hash != view.External && must(f.Hash(key)) != must(v.Hash(key)) {
			t.Fatalf("%s: the hashes of %d bytes differ", name, len(key))
		}
	}
}

// Package view answers as the library does, and makes the same bytes, of every kind that it reads with every parameter
// and hash function.
func TestViewIsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	key := [16]byte{7, 7, 7}
	kinds := map[view.Kind]int{}
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for _, kind := range Kinds() {
		for round := range rounds {
			hash := []Hash{XXH3, XXH64, SipHash13, External}[round%4]
			spec := Spec{Kind: kind.Name, Hash: hash, Capacity: 1 + random.Uint64N(3000), Parameters: map[string]string{}}
			spec.FalsePositiveRate = []float64{0.3, 0.05, 0.01, 0.001, 1e-5}[random.IntN(5)]
			if hash == SipHash13 {
				spec.Key = key
			} else if round%3 > 0 {
				spec.Seed = random.Uint64()
			}
			for _, parameter := range must(kind.Parameters()) {
				value := parameter.Minimum + float64(random.IntN(int(parameter.Maximum-parameter.Minimum)+1))
				if random.IntN(3) > 0 {
					spec.Parameters[parameter.Name] = parameter.format(value)
				}
			}
			f, err := New(spec)
			if err != nil {
				// Not all go together.
				continue
			}
			for i := range uint64(1000) {
				if hash != External {
					must(f.InsertUint64(i))
				}
				must(f.InsertHash(random.Uint64()))
			}
			name := fmt.Sprintf("%+v", spec)
			options := &view.Options{Key: spec.Key}
			image := must(f.MarshalBinary())
			v, err := view.Load(image, options)
			if err != nil {
				if _, known := map[string]bool{"bloom": true, "split_block": true, "blocked": true}[kind.Name]; known {
					t.Fatalf("%s: %v", name, err)
				}
				continue
			}
			kinds[v.Header().Kind]++
			compare(t, name, f, v, random)
			for range 1000 {
				hash := random.Uint64()
				if must(f.InsertHash(hash)) != must(v.InsertHash(hash)) {
					t.Fatalf("%s: a key is new to only one", name)
				}
			}
			image = must(f.MarshalBinary())
			if !bytes.Equal(image, must(v.MarshalBinary())) {
				t.Fatalf("%s: insertion made other bytes", name)
			}
			path := filepath.Join(t.TempDir(), strconv.Itoa(round))
			check(t, f.Save(path))
			mapped := must(view.Open(path, options))
			compare(t, name, f, mapped, random)
			check(t, mapped.Close())
			check(t, f.Close())
		}
	}
	for _, kind := range []view.Kind{view.Bloom, view.SplitBlock, view.Blocked} {
		if _, err := FindKind(kind.String()); err == nil && kinds[kind] < rounds/3 {
			t.Errorf("only %d filters of the kind %v", kinds[kind], kind)
		}
	}
	if len(kinds) == 0 {
		t.Error("nothing was compared")
	}
}

func TestViewAnswersGoldenFilesTheSame(t *testing.T) {
	paths := must(filepath.Glob("../../tests/golden/*.petal"))
	random := rand.New(rand.NewPCG(5, 6))
	for _, path := range paths {
		var key [16]byte
		if strings.Contains(path, "siphash13") {
			for i := range key {
				key[i] = byte(i)
			}
		}
		f := must(Open(path, &OpenOptions{Key: key}))
		v, err := view.Open(path, &view.Options{Key: key})
		if err != nil {
			// A kind that is not for package view.
			check(t, f.Close())
			continue
		}
		compare(t, path, f, v, random)
		check(t, v.Close())
		check(t, f.Close())
	}
	if len(paths) == 0 {
		t.Skip("tests/golden is not here")
	}
}

// Damaged images: both refuse, or both answer the same.
func TestViewRefusesWhatTheLibraryRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, path := range must(filepath.Glob("../../tests/golden/*.petal")) {
		image := must(os.ReadFile(path))
		if _, err := view.Wrap(image, nil); err != nil {
			continue
		}
		for range 300 {
			damaged := bytes.Clone(image)
			for range 1 + random.IntN(3) {
				damaged[random.IntN(len(damaged))] ^= byte(random.Uint32())
			}
			damaged = damaged[:len(damaged)-random.IntN(2)*random.IntN(len(damaged))]
			f, ours := Load(damaged, nil)
			_, views := view.Load(damaged, nil)
			if (ours == nil) != (views == nil) {
				t.Fatalf("%s: %v, but view: %v", path, ours, views)
			}
			if ours == nil {
				check(t, f.Close())
			}
		}
	}
}
