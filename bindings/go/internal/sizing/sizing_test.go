package sizing

import (
	"math"
	"testing"
)

func TestElementaryFunctionsAreThoseOfMath(t *testing.T) {
	check := func(what string, x, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance*math.Abs(want) {
			t.Fatalf("%s of %v is %v, and not %v", what, x, got, want)
		}
	}
	for i := range 20_000 {
		x := float64(i) / 20_000
		for _, scale := range []float64{1, -1, 30, -30, -700} {
			check("exp", x*scale, exp(x*scale), math.Exp(x*scale), 1e-15)
		}
		for _, x := range []float64{x, x * 1e-2, x * 1e-9} {
			check("log1pMinus", x, log1pMinus(x), math.Log1p(-x), 1e-15)
		}
	}
	for _, x := range []float64{1e-300, 1e-9, 0.01, 0.7499, 0.75, 1, 1.5, 2, 1e300} {
		check("log", x, log(x), math.Log(x), 1e-15)
		check("pow", x, pow(x, 0.3), math.Pow(x, 0.3), 1e-13)
	}
	if exp(-1e9) != 0 || !math.IsInf(exp(1e9), 1) || !math.IsNaN(exp(math.NaN())) || !math.IsInf(log1pMinus(1), -1) ||
		!math.IsInf(log(0), -1) || !math.IsNaN(log(-1)) {
		t.Error("the ends are wrong")
	}
}

// Sizes keep their rate, and one unit less does not keep it.
func TestSizesAreTheLeast(t *testing.T) {
	for _, keys := range []uint64{1, 10, 777, 100_000, 20_000_000} {
		for _, rate := range []float64{0.5, 0.1, 0.01, 1e-4, 1e-6} {
			check := func(what string, size uint64, possible bool, at func(size uint64) float64) {
				t.Helper()
				if !possible || at(size) > rate || size > 1 && at(size-1) <= rate {
					t.Errorf("%s of %d keys at %g: %d, %v", what, keys, rate, size, possible)
				}
			}
			bits, hashes, possible := BloomSize(keys, rate)
			check("bloom", bits, possible, func(bits uint64) float64 { return Bloom(bits, hashes, keys) })
			slice, hashes, possible := PartitionedSize(keys, rate)
			check("slices", slice, possible, func(slice uint64) float64 { return Partitioned(slice, hashes, keys) })
			blocks, possible := SplitBlockSize(keys, rate)
			check("split_block", blocks, possible, func(blocks uint64) float64 { return SplitBlock(blocks, keys) })
			blocks, hashes, possible = BlockedSize(keys, rate)
			check("blocked", blocks, possible, func(blocks uint64) float64 { return Blocked(blocks, hashes, keys) })
		}
	}
}
