package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	original "github.com/bits-and-blooms/bloom/v3"
	"github.com/petal-filter/petal/bindings/go/bloom"
)

// BenchmarkBloom compares package bloom with bits-and-blooms. The keys are strings. The filters fit into the
// second-level cache (-keys), or do not (a hundred times as many keys). Both packages set the same bits.
func BenchmarkBloom(b *testing.B) {
	for _, n := range []uint64{*keys, 100 * *keys} {
		theirs, ours := original.NewWithEstimates(uint(n), rate), bloom.NewWithEstimates(uint(n), rate)
		for i := range n {
			key := text(i)
			theirs.AddString(key)
			ours.AddString(key)
		}
		if !theirs.BitSet().Equal(ours.BitSet()) {
			b.Fatal("the filters have other bits")
		}
		// The keys are few enough that they stay in the cache.
		const some = 1 << 13
		random := rand.New(rand.NewPCG(3, 4))
		var present, absent, mixed []string
		for range some {
			present = append(present, text(random.Uint64N(n)))
			absent = append(absent, text(n+random.Uint64N(n)))
			mixed = append(mixed, text(random.Uint64N(2*n)))
		}
		run := func(what string, keys []string, ours, theirs func(key string) bool) {
			measure := func(name string, call func(key string) bool) {
				b.Run(fmt.Sprintf("%d/%s/%s", n, what, name), func(b *testing.B) {
					i := 0
					for b.Loop() {
						if call(keys[i%some]) {
							sink++
						}
						i++
					}
				})
			}
			measure("petal", ours)
			measure("bits-and-blooms", theirs)
		}
		run("test-present", present, ours.TestString, theirs.TestString)
		run("test-absent", absent, ours.TestString, theirs.TestString)
		run("test-mixed", mixed, ours.TestString, theirs.TestString)
		run("test-and-add", present, ours.TestAndAddString, theirs.TestAndAddString)
		run("add", present, func(key string) bool { return ours.AddString(key) == nil },
			func(key string) bool { return theirs.AddString(key) == nil })
	}
}
