package bench

import (
	"fmt"
	"math"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/greatroar/blobloom"
	"github.com/petal-filter/petal/bindings/go/filter"
)

// filters returns filters of package filter, of each kind, empty and with the same memory for the same keys.
func filters(b *testing.B, keys, bits uint64) map[string]*filter.Filter {
	made := map[string]*filter.Filter{}
	for _, kind := range []string{"blocked", "split_block", "bloom"} {
		f, err := filter.New(filter.Spec{Kind: kind, Capacity: keys, Bits: bits})
		if err != nil {
			b.Fatal(err)
		}
		made[kind] = f
	}
	return made
}

// insertions measures one insertion.
func insertions[K any](b *testing.B, keys []K, insert func(key K)) {
	i := 0
	for b.Loop() {
		insert(keys[i%probes])
		i++
	}
}

// BenchmarkInsertString inserts strings, one by one, hashing included, into filters in a second-level cache.
func BenchmarkInsertString(b *testing.B) {
	s := prepare(b)
	for name, f := range filters(b, 2**keys, s.blob.NumBits()) {
		b.Run("filter-"+name, func(b *testing.B) {
			insertions(b, s.texts, func(text string) { _, _ = f.InsertString(text) })
		})
	}
	m := s.blob.NumBits()
	original := bloom.New(uint(m), uint(math.Round(float64(m)/float64(2**keys)*math.Ln2)))
	b.Run("bits-and-blooms", func(b *testing.B) {
		insertions(b, s.texts, func(text string) { original.AddString(text) })
	})
}

// BenchmarkInsertHash inserts hashes, one by one.
func BenchmarkInsertHash(b *testing.B) {
	s := prepare(b)
	for name, f := range filters(b, 2**keys, s.blob.NumBits()) {
		b.Run("filter-"+name, func(b *testing.B) {
			insertions(b, s.hashes, func(hash uint64) { _, _ = f.InsertHash(hash) })
		})
	}
	blob := blobloom.NewOptimized(blobloom.Config{Capacity: 2 * *keys, FPRate: rate})
	b.Run("blobloom", func(b *testing.B) { insertions(b, s.hashes, blob.Add) })
}

// BenchmarkFilter looks hashes up in filters of package filter: half of them are there.
func BenchmarkFilter(b *testing.B) {
	s := prepare(b)
	for name, f := range filters(b, 2**keys, s.blob.NumBits()) {
		for i := range s.hashes {
			if s.numbers[i] < *keys {
				_, _ = f.InsertHash(s.hashes[i])
			}
		}
		b.Run(name, func(b *testing.B) { lookups(b, s, "view-"+name, s.hashes, f.ContainsHash) })
	}
}

// BenchmarkFilterBatch looks 1024 hashes up, in one call and one by one, in filters of 64 MiB: ns/key is the figure.
func BenchmarkFilterBatch(b *testing.B) {
	s := prepare(b)
	answers := filter.Answers{Bools: make([]bool, batch)}
	for name, f := range filters(b, 50_000_000, 64<<23) {
		perKey := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/key")
		}
		for _, hash := range s.hashes {
			_, _ = f.InsertHash(hash * 3)
		}
		b.Run(fmt.Sprintf("%s/at-once", name), func(b *testing.B) {
			i := 0
			for b.Loop() {
				if err := f.ContainsBatch(filter.HashKeys(s.hashes[i*batch%probes:][:batch]), &answers); err != nil {
					b.Fatal(err)
				}
				sink += answers.TrueCount
				i++
			}
			perKey(b)
		})
		b.Run(fmt.Sprintf("%s/one-by-one", name), func(b *testing.B) {
			i := 0
			for b.Loop() {
				for j, hash := range s.hashes[i*batch%probes:][:batch] {
					answers.Bools[j] = f.ContainsHash(hash)
				}
				i++
			}
			perKey(b)
		})
	}
}
