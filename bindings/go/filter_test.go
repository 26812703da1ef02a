package petal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
)

// pureSpec returns a random spec of package filter, and the same spec of this package.
func pureSpec(random *rand.Rand, kind string) (filter.Spec, Spec) {
	hash := filter.Hash(1 + random.IntN(4))
	pure := filter.Spec{Kind: kind, Hash: hash, Parameters: map[string]string{}}
	if hash == filter.SipHash13 {
		pure.Secret = [16]byte{7, byte(random.IntN(256))}
	} else if random.IntN(2) == 0 {
		pure.Seed = random.Uint64()
	}
	pure.Capacity = random.Uint64N(1 << random.IntN(40))
	if random.IntN(4) > 0 {
		pure.FalsePositiveRate = math.Exp(-20.5 * random.Float64())
		if random.IntN(3) == 0 {
			pure.Parameters["foldable"] = "1"
		}
	} else {
		unit := map[string]uint64{"blocked": 512, "split_block": 256, "bloom": 1}[kind]
		pure.Bits = unit * (1 + random.Uint64N(1<<random.IntN(20)))
		if random.IntN(2) == 0 {
			pure.Hashes = 1 + random.Uint32N(16)
		}
	}
	if kind == "bloom" {
		derivation := random.IntN(6)
		pure.Parameters["partitioned"] = fmt.Sprint(random.IntN(2))
		pure.Parameters["derivation"] = derivations[derivation]
		pure.Parameters["slice_width"] = "0"
		if random.IntN(8) == 0 {
			pure.Parameters["slice_width"] = fmt.Sprint(random.Uint32N(65))
		}
		if derivation >= 3 {
			// Sizes of derivations whose probes depend on each other take longer to find.
			pure.Capacity >>= 8
		}
	}
	if kind == "blocked" && random.IntN(2) == 0 {
		pure.Parameters["blocks"] = fmt.Sprint(1 + random.Uint32N(2))
	}
	return pure, Spec{
		Kind: pure.Kind, Hash: Hash(pure.Hash), Capacity: pure.Capacity, FalsePositiveRate: pure.FalsePositiveRate,
		Bits: pure.Bits, Hashes: pure.Hashes, Seed: pure.Seed, Secret: pure.Secret, Parameters: pure.Parameters,
	}
}

var (
	pureKinds   = []string{"blocked", "split_block", "bloom"}
	derivations = []string{"remix", "independent", "slices", "double", "enhanced_double", "triple"}
)

// A parameter that is written in any way means the same in both packages, or both refuse it for the same reason.
func TestParametersAreReadAlike(t *testing.T) {
	values := []string{
		"", "0", "1", "2", "3", "5", "6", "64", "65", "-1", "-0", "+1", "1.0", "1e0", "0x1", "1_0", "1.5", " 1", "nan", "inf",
		"1e999", "yes", "remix", "slices", "triple", "Triple",
	}
	for _, kind := range append(pureKinds, "", "scalable", "router", "nonsense") {
		for _, name := range []string{
			"foldable", "blocks", "partitioned", "derivation", "slice_width", "growth", "nonsense",
		} {
			for _, value := range values {
				parameters := map[string]string{name: value}
				size, err := filter.Spec{Kind: kind, Parameters: parameters}.ImageSize()
				want, failure := Spec{Kind: kind, Parameters: parameters}.ImageSize()
				// Package filter says that it does not make a kind, and package petal may make it.
				if errors.Is(err, filter.ErrUnsupported) {
					continue
				}
				same := size == want && (err == nil) == (failure == nil)
				for _, pair := range []struct {
					pure error
					ours Status
				}{
					{filter.ErrUnknownValue, ErrUnknownValue}, {filter.ErrOutOfRange, ErrOutOfRange},
					{filter.ErrContradiction, ErrContradiction},
				} {
					same = same && errors.Is(err, pair.pure) == errors.Is(failure, pair.ours)
				}
				if !same {
					t.Errorf("%s with %s = %q: %d, %v, and not %d, %v", kind, name, value, size, err, want, failure)
				}
			}
		}
	}
}

// Both packages write the same of a filter: one line, specs, and JSON with the same names and values.
func TestFilterWritesTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 20))
	for round := 0; round < 100; {
		pure, ours := pureSpec(random, pureKinds[round%3])
		if size, err := pure.ImageSize(); err != nil || size > 1<<16 {
			continue
		}
		round++
		p, f := must(filter.New(pure)), must(New(ours))
		for range random.IntN(300) {
			hash := random.Uint64()
			must(p.InsertHash(hash))
			must(f.InsertHash(hash))
		}
		ofPure, ofOurs := must(p.Spec()), must(f.Spec())
		ofOurs.Kernel = KernelBest
		for _, pair := range [][2]any{{pure, ours}, {p, f}, {ofPure, ofOurs}, {must(p.Describe()), must(f.Describe())}} {
			if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
				t.Errorf("%v, and %v in package petal", pair[0], pair[1])
			}
		}
		for _, pair := range [][2]any{{pure, ours}, {ofPure, ofOurs}} {
			if one, other := must(json.Marshal(pair[0])), must(json.Marshal(pair[1])); !bytes.Equal(one, other) {
				t.Errorf("%s, and %s in package petal", one, other)
			}
		}
		if different := differentDescriptions(must(f.Describe()), must(p.Describe())); different != "" {
			t.Errorf("%v: %s", pure, different)
		}
		var back filter.Spec
		check(t, json.Unmarshal(must(json.Marshal(ofOurs)), &back))
		if fmt.Sprint(back) != fmt.Sprint(ofPure) {
			t.Errorf("%v, and not %v", back, ofPure)
		}
		if one, other := names(t, must(p.EstimateOverlap(p))), names(t, must(f.EstimateOverlap(f))); len(one) != len(other) {
			t.Errorf("overlaps have the names %v and %v", one, other)
		}
		for _, pair := range [][2]fmt.Stringer{
			{must(p.Statistics()), must(f.Statistics())}, {must(p.Estimate()), must(f.Estimate())},
			{must(p.EstimateOverlap(p)), must(f.EstimateOverlap(f))},
		} {
			// Their numbers may differ by rounding, so only the words are held to each other.
			if one, other := words(pair[0]), words(pair[1]); one != other {
				t.Errorf("%v, and %v in package petal", pair[0], pair[1])
			}
			held := map[string]bool{}
			for _, name := range names(t, pair[1]) {
				held[name] = true
			}
			for _, name := range names(t, pair[0]) {
				if !held[name] {
					t.Errorf("%T has the name %s, which package petal does not have", pair[0], name)
				}
			}
		}
		check(t, f.Close())
	}
}

// words returns a text without its digits.
func words(text fmt.Stringer) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789.e+-", r) {
			return -1
		}
		return r
	}, text.String())
}

// near says whether two results of the same formula differ by rounding only.
func near(a, b, relative float64) bool {
	return a == b || math.Abs(a-b) <= relative*max(math.Abs(a), math.Abs(b))
}

// Package filter finds the same geometry as the library for any spec, or refuses the spec as well.
func TestFilterHasTheSameSizes(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	made, refused := 0, 0
	for round := range rounds {
		pure, ours := pureSpec(random, pureKinds[round%3])
		size, err := pure.ImageSize()
		want, failure := ours.ImageSize()
		if (err == nil) != (failure == nil) || size != want {
			t.Fatalf("%+v: %d, %v, and not %d, %v", pure, size, err, want, failure)
		}
		if err != nil {
			refused++
			continue
		}
		made++
		keys := pure.Capacity
		if random.IntN(2) == 0 {
			keys = random.Uint64N(1 << random.IntN(32))
		}
		rate, wanted := must(pure.ExpectedFalsePositiveRate(keys)), must(ours.ExpectedFalsePositiveRate(keys))
		// The alternating sums of blocked and of the dependent derivations lose digits.
		if !near(rate, wanted, 1e-9) && math.Abs(rate-wanted) > 1e-14 {
			t.Fatalf("%+v: the rate with %d keys is %g, and not %g", pure, keys, rate, wanted)
		}
	}
	if made < rounds/2 || refused < rounds/50 {
		t.Errorf("%d specs were good and %d were not", made, refused)
	}
}

// The table of geometries is the reference for package filter without the library: PETAL_UPDATE=1 writes it.
func TestTableOfSizes(t *testing.T) {
	const path = "filter/testdata/sizes.csv"
	table := []byte("kind,capacity,false_positive_rate,foldable,partitioned,derivation,image_size,bits,hashes\n")
	line := func(spec Spec) {
		value := func(name, missing string) string {
			if value := spec.Parameters[name]; value != "" {
				return value
			}
			return missing
		}
		size, err := spec.ImageSize()
		if err != nil {
			return
		}
		var d Description
		if size < 1<<20 {
			f := must(New(spec))
			d = must(f.Describe())
			check(t, f.Close())
		}
		table = fmt.Appendf(table, "%s,%d,%v,%s,%s,%s,%d,%d,%d\n", spec.Kind, spec.Capacity, spec.FalsePositiveRate,
			value("foldable", "0"), value("partitioned", "0"), value("derivation", "remix"), size, d.Bits, d.Hashes)
	}
	rates := []float64{0.75, 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 2e-9}
	capacities := []uint64{1, 2, 7, 31, 100, 999, 10_000, 123_457, 1_000_000, 50_000_000, 3_000_000_000}
	for _, rate := range rates {
		for _, capacity := range capacities {
			for _, foldable := range []string{"0", "1"} {
				spec := Spec{Capacity: capacity, FalsePositiveRate: rate, Parameters: map[string]string{"foldable": foldable}}
				for _, kind := range pureKinds {
					spec.Kind = kind
					line(spec)
				}
				spec.Parameters["partitioned"] = "1"
				line(spec)
			}
			for _, derivation := range []string{"slices", "double", "enhanced_double", "triple"} {
				for _, partitioned := range []string{"0", "1"} {
					if capacity <= 1_000_000 {
						parameters := map[string]string{"derivation": derivation, "partitioned": partitioned}
						line(Spec{Kind: "bloom", Capacity: capacity, FalsePositiveRate: rate, Parameters: parameters})
					}
				}
			}
		}
	}
	if os.Getenv("PETAL_UPDATE") != "" {
		check(t, os.WriteFile(path, table, 0o666))
	}
	if !bytes.Equal(table, must(os.ReadFile(path))) {
		t.Error("the table is another one: write it with PETAL_UPDATE=1 go test . -run TestTableOfSizes")
	}
}

// The same spec and keys give the same bytes, through every operation; estimates are equal to those of the library.
func TestFilterIsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	rounds := 600
	if testing.Short() {
		rounds = 90
	}
	folded, saturated := 0, 0
	for round := 0; round < rounds; {
		pure, ours := pureSpec(random, pureKinds[random.IntN(3)])
		if size, err := pure.ImageSize(); err != nil || size > 1<<20 {
			continue
		}
		round++
		name := fmt.Sprintf("%+v", pure)
		p, f := must(filter.New(pure)), must(New(ours))
		q, g := must(filter.New(pure)), must(New(ours))
		same := func(what string, p *filter.Filter, f *Filter) {
			t.Helper()
			if got, want := must(p.MarshalBinary()), must(f.MarshalBinary()); !bytes.Equal(got, want) {
				t.Fatalf("%s: %s: other bytes\n%v\n%v", name, what, p, f)
			}
		}
		same("empty", p, f)
		count := random.IntN(1 << random.IntN(13))
		for i := range count {
			hash := random.Uint64()
			if must(p.InsertHash(hash)) != must(f.InsertHash(hash)) || must(q.InsertHash(hash+uint64(i%2))) !=
				must(g.InsertHash(hash+uint64(i%2))) {
				t.Fatalf("%s: a hash is new to only one", name)
			}
			if pure.Hash == filter.External {
				continue
			}
			key := make([]byte, random.IntN(300))
			for i := range key {
				key[i] = byte(random.Uint32())
			}
			if must(p.Insert(key)) != must(f.Insert(key)) || must(p.InsertUint64(hash)) != must(f.InsertUint64(hash)) ||
				must(p.InsertString(string(key))) != must(f.InsertString(string(key))) {
				t.Fatalf("%s: a key is new to only one", name)
			}
			if !p.Contains(key) || p.ContainsUint64(hash>>1) != f.ContainsUint64(hash>>1) ||
				p.ContainsHash(hash>>1) != f.ContainsHash(hash>>1) {
				t.Fatalf("%s: the answers differ", name)
			}
		}
		same("inserted", p, f)
		saturated += compareEstimates(t, name, p, q, f, g)
		union := must(p.Copy())
		check(t, union.Merge(q))
		unionOfOurs := must(f.Copy())
		check(t, unionOfOurs.Merge(g))
		same("merged", union, unionOfOurs)
		check(t, p.Intersect(q))
		check(t, f.Intersect(g))
		same("intersected", p, f)
		for _, factor := range []uint64{2, 3, 5, 64} {
			if union.FoldUnits()%factor != 0 {
				continue
			}
			check(t, union.Fold(factor))
			check(t, unionOfOurs.Fold(factor))
			folded++
			got, want := must(union.Describe()).FalsePositiveRate, must(unionOfOurs.Describe()).FalsePositiveRate
			if !near(got, want, 1e-9) {
				t.Fatalf("%s: folded by %d the rate is %g, and not %g", name, factor, got, want)
			}
			if got == want {
				same("folded", union, unionOfOurs)
			}
			if got, want := must(union.MarshalBinary()), must(unionOfOurs.MarshalBinary()); !bytes.Equal(got[256:len(got)-64],
				want[256:len(want)-64]) {
				t.Fatalf("%s: folded by %d: other bits", name, factor)
			}
			break
		}
		check(t, p.Clear())
		check(t, f.Clear())
		same("cleared", p, f)
		for _, f := range []*Filter{f, g, unionOfOurs} {
			check(t, f.Close())
		}
	}
	if folded < rounds/4 || saturated < rounds/100 {
		t.Errorf("%d were folded, %d saturated", folded, saturated)
	}
}

// compareEstimates compares the estimates of both packages, and returns 1 if there is no estimate.
func compareEstimates(t *testing.T, name string, p, q *filter.Filter, f, g *Filter) int {
	t.Helper()
	sameEstimate := func(what string, got filter.Estimate, want Estimate) {
		t.Helper()
		// The terms of a difference are nearly equal, so the difference has fewer digits.
		close := func(a, b float64) bool { return near(a, b, 1e-9) || math.Abs(a-b) < 1e-6 }
		if got.Saturated != want.Saturated || !got.Saturated && (!close(got.Value, want.Value) ||
			!close(got.StandardError, want.StandardError) || !close(got.Low, want.Low) || !close(got.High, want.High)) {
			t.Fatalf("%s: the %s is %+v, and not %+v", name, what, got, want)
		}
	}
	count := must(p.Estimate())
	sameEstimate("count", count, must(f.Estimate()))
	got, want := must(p.EstimateOverlap(q)), must(f.EstimateOverlap(g))
	sameEstimate("first count", got.FirstCount, want.FirstCount)
	sameEstimate("second count", got.SecondCount, want.SecondCount)
	sameEstimate("union", got.UnionCount, want.UnionCount)
	sameEstimate("intersection", got.IntersectionCount, want.IntersectionCount)
	sameEstimate("Jaccard index", got.Jaccard, want.Jaccard)
	sameEstimate("differences", got.DifferenceCount, want.DifferenceCount)
	// The library computes products of blocks with 24 bits.
	statistics, wanted := must(p.Statistics()), must(f.Statistics())
	if statistics.Fill != wanted.Fill || !near(statistics.FalsePositiveRate, wanted.FalsePositiveRate, 1e-6) ||
		!near(statistics.CountEstimate, wanted.CountEstimate, 1e-9) ||
		!near(statistics.FalsePositiveRateFloor, wanted.FalsePositiveRateFloor, 1e-9) {
		t.Fatalf("%s: %+v, and not %+v", name, statistics, wanted)
	}
	if count.Saturated {
		return 1
	}
	return 0
}

// Each package opens, changes and saves what the other saved.
func TestFilterSavesForOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	path := filepath.Join(t.TempDir(), "filter.petal")
	for round := range 30 {
		pure, ours := pureSpec(random, pureKinds[round%3])
		pure.Capacity, ours.Capacity = 1000, 1000
		if pure.Hash == filter.External {
			continue
		}
		p, err := filter.New(pure)
		if err != nil {
			continue
		}
		f := must(New(ours))
		must(p.InsertString("first"))
		check(t, p.Save(path))
		opened := must(Open(path, &OpenOptions{Mode: OpenWrite, Secret: ours.Secret}))
		must(opened.InsertString("second"))
		check(t, opened.Sync())
		check(t, opened.Close())
		again := must(filter.Open(path, &filter.OpenOptions{Secret: pure.Secret}))
		must(again.InsertString("third"))
		for _, key := range []string{"first", "second", "third"} {
			must(f.InsertString(key))
		}
		if !bytes.Equal(must(again.MarshalBinary()), must(f.MarshalBinary())) {
			t.Fatalf("%+v: other bytes", pure)
		}
		check(t, f.Close())
	}
}

// Both packages make the same of a golden or damaged file, or both refuse it.
func TestFilterRefusesWhatTheLibraryRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	paths := must(filepath.Glob(filepath.Join(goldenfiles.Folder(t), "*.petal")))
	for _, path := range paths {
		p, err := filter.Open(path, nil)
		if err != nil {
			// Package filter does not open this kind, which is for package view.
			continue
		}
		image := must(p.MarshalBinary())
		for range 100 {
			damaged := bytes.Clone(image)
			damaged[random.IntN(len(damaged))] ^= byte(random.Uint32())
			f, ours := Load(damaged, nil)
			_, pures := filter.Load(damaged, nil)
			if (ours == nil) != (pures == nil) {
				t.Fatalf("%s: %v, but filter: %v", path, ours, pures)
			}
			if ours == nil {
				check(t, f.Close())
			}
		}
	}
}
