package bench

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/greatroar/blobloom"
	"github.com/petal-filter/petal/bindings/go"
	"github.com/petal-filter/petal/bindings/go/view"
	"github.com/zeebo/xxh3"
)

// keys is how many keys a filter holds: by default few enough that the filter fits into the second-level cache.
var keys = flag.Uint64("keys", 100_000, "keys in each filter")

const (
	rate = 0.01
	// Lookups repeat this many keys, more than a branch predictor remembers.
	probes = 1 << 18
	batch  = 1024
)

// setup has every filter with the same keys in the same number of bits, and the keys to look up: every second key is
// there.
type setup struct {
	filter   *petal.Filter
	image    []byte
	view     map[string]*view.Filter
	bits     *bloom.BloomFilter
	blob     *blobloom.Filter
	texts    []string
	slices   [][]byte
	numbers  []uint64
	hashes   []uint64
	observed map[string]float64
}

var ready *setup

func text(i uint64) string { return fmt.Sprintf("user:%012x", i) }

func prepare(b *testing.B) *setup {
	if ready != nil {
		return ready
	}
	s := &setup{
		view:     map[string]*view.Filter{},
		observed: map[string]float64{},
	}
	open := func(spec petal.Spec) *petal.Filter {
		f, err := petal.New(spec)
		if err != nil {
			b.Fatal(err)
		}
		for i := range *keys {
			if _, err := f.InsertString(text(i)); err != nil {
				b.Fatal(err)
			}
			if _, err := f.InsertUint64(i); err != nil {
				b.Fatal(err)
			}
		}
		return f
	}
	// Twice as many keys as -keys, as texts and as numbers.
	n := 2 * *keys
	s.blob = blobloom.NewOptimized(blobloom.Config{Capacity: n, FPRate: rate})
	// The same memory for all filters; each chooses its number of hashes.
	bits := s.blob.NumBits()
	s.bits = bloom.New(uint(bits), uint(math.Round(float64(bits)/float64(n)*math.Ln2)))
	for _, kind := range petal.Kinds() {
		// Only kinds that take keys one by one; every filter gets the same memory.
		if kind.Handle != petal.HandleFilter || kind.IsForeign || kind.TakesIntegers ||
			!kind.Capabilities.Has(petal.CanInsert) {
			continue
		}
		// A kind that doubles may have no size near the wanted one.
		if kind.Capabilities.Has(petal.CanGrow) && kind.BitsUnit == 0 {
			continue
		}
		f := open(petal.Spec{Kind: kind.Name, Capacity: n, Bits: bits})
		image, err := f.MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		if v, err := view.Load(image, nil); err == nil {
			s.view[kind.Name] = v
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	s.filter = open(petal.Spec{Capacity: n, Bits: bits})
	image, err := s.filter.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	s.image = image
	// The filter is loaded from the same image as C's.
	if err := s.filter.UnmarshalBinary(image); err != nil {
		b.Fatal(err)
	}
	var number [8]byte
	for i := range *keys {
		s.bits.AddString(text(i))
		binary.LittleEndian.PutUint64(number[:], i)
		s.bits.Add(number[:])
		s.blob.Add(xxh3.HashString(text(i)))
		s.blob.Add(xxh3.Hash(number[:]))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range probes {
		key := random.Uint64N(*keys)
		if i%2 == 1 {
			key += *keys
		}
		s.numbers = append(s.numbers, key)
	}
	random.Shuffle(probes, func(i, j int) { s.numbers[i], s.numbers[j] = s.numbers[j], s.numbers[i] })
	for _, key := range s.numbers {
		s.texts = append(s.texts, text(key))
		s.slices = append(s.slices, []byte(text(key)))
		s.hashes = append(s.hashes, xxh3.HashString(text(key)))
	}
	measure := func(name string, contains func(text string) bool) {
		const absent = 1_000_000
		found := 0
		for i := range uint64(absent) {
			if contains(text(*keys + i)) {
				found++
			}
		}
		s.observed[name] = float64(found) / absent
	}
	measure("bits-and-blooms", s.bits.TestString)
	measure("blobloom", func(text string) bool { return s.blob.Has(xxh3.HashString(text)) })
	measure("petal", s.filter.ContainsString)
	for name, v := range s.view {
		measure("view-"+name, v.ContainsString)
	}
	ready = s
	return s
}

var sink int

// lookups measures one lookup, and reports the false-positive rate too.
func lookups[K any](b *testing.B, s *setup, name string, keys []K, contains func(key K) bool) {
	found := 0
	i := 0
	for b.Loop() {
		if contains(keys[i%probes]) {
			found++
		}
		i++
	}
	sink += found
	b.ReportMetric(100*s.observed[name], "fpr-%")
}

// mixes are the keys to look up: present keys, absent keys, and both in random order, which no branch predictor
// foretells.
var mixes = []string{"absent", "present", "mixed"}

// choose picks the keys of a mix.
func choose[K any](s *setup, mix string, all []K) []K {
	if mix == "mixed" {
		return all
	}
	chosen := make([]K, 0, probes)
	for i := 0; len(chosen) < probes; i = (i + 1) % probes {
		if (s.numbers[i] < *keys) == (mix == "present") {
			chosen = append(chosen, all[i])
		}
	}
	return chosen
}

// BenchmarkString looks strings up, one by one, hashing included.
func BenchmarkString(b *testing.B) {
	s := prepare(b)
	for _, mix := range mixes {
		texts := choose(s, mix, s.texts)
		run := func(name string, contains func(text string) bool) {
			b.Run(mix+"/"+name, func(b *testing.B) { lookups(b, s, name, texts, contains) })
		}
		for name, v := range s.view {
			run("view-"+name, v.ContainsString)
		}
		run("petal", s.filter.ContainsString)
		run("bits-and-blooms", s.bits.TestString)
		run("blobloom", func(text string) bool { return s.blob.Has(xxh3.HashString(text)) })
	}
}

// BenchmarkHash looks hashes up, one by one.
func BenchmarkHash(b *testing.B) {
	s := prepare(b)
	for _, mix := range mixes {
		hashes := choose(s, mix, s.hashes)
		run := func(name string, contains func(hash uint64) bool) {
			b.Run(mix+"/"+name, func(b *testing.B) { lookups(b, s, name, hashes, contains) })
		}
		for name, v := range s.view {
			run("view-"+name, v.ContainsHash)
		}
		run("petal", s.filter.ContainsHash)
		run("blobloom", s.blob.Has)
	}
}

// BenchmarkBatch looks 1024 keys up in one call through cgo, and in C for comparison; ns/key is the figure.
func BenchmarkBatch(b *testing.B) {
	s := prepare(b)
	found := make([]bool, batch)
	run := func(name string, keys func(from int) petal.Keys) {
		b.Run(name, func(b *testing.B) {
			i := 0
			answers := petal.Answers{Bools: found}
			for b.Loop() {
				if err := s.filter.ContainsBatch(keys(i*batch%probes), &answers); err != nil {
					b.Fatal(err)
				}
				sink += answers.TrueCount
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/key")
		})
	}
	run("uint64", func(from int) petal.Keys { return petal.Uint64Keys(s.numbers[from : from+batch]) })
	run("hash", func(from int) petal.Keys { return petal.HashKeys(s.hashes[from : from+batch]) })
	run("string", func(from int) petal.Keys { return petal.StringKeys(s.texts[from : from+batch]) })
	run("bytes", func(from int) petal.Keys { return petal.BytesKeys(s.slices[from : from+batch]) })
	b.Run("uint64-in-C", func(b *testing.B) {
		elapsed, err := cBatches(s.image, s.numbers, batch, b.N)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(elapsed/float64(b.N), "ns/op")
		b.ReportMetric(elapsed/float64(b.N)/batch, "ns/key")
	})
}
