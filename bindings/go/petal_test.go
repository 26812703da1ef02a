package petal

import (
	"fmt"
	"io"
	"math"
	"sync"
	"testing"
)

func TestKeysAreFoundInEveryForm(t *testing.T) {
	for _, kind := range insertable() {
		f := must(New(Spec{Kind: kind.Name, Capacity: room(kind, 5000), Seed: 7}))
		defer f.Close()
		for i := range uint64(1000) {
			text := fmt.Sprint("key ", i)
			must(f.Insert([]byte(text + " bytes")))
			must(f.InsertString(text + " string"))
			must(f.InsertUint64(i))
			must(f.InsertHash(must(f.Hash([]byte(text + " hash")))))
			for _, found := range []bool{
				f.ContainsString(text + " bytes"), f.Contains([]byte(text + " string")), f.ContainsUint64(i),
				f.ContainsString(text + " hash"), f.ContainsHash(must(f.HashUint64(i))),
				f.Contains([]byte{byte(i), byte(i >> 8), 0, 0, 0, 0, 0, 0}),
				must(f.ContainsChecked([]byte(text + " string"))), must(f.ContainsCheckedString(text + " bytes")),
				must(f.ContainsCheckedUint64(i)), must(f.ContainsCheckedHash(must(f.HashUint64(i)))),
			} {
				if !found {
					t.Fatalf("%s lost key %d", kind.Name, i)
				}
			}
			if again := must(f.InsertUint64(i)); again {
				t.Errorf("%s: %d is new twice", kind.Name, i)
			}
		}
		absent := 0
		for i := range uint64(1000) {
			if !f.ContainsUint64(1 << 40 * (i + 1)) {
				absent++
			}
		}
		if absent < 950 {
			t.Errorf("%s: only %d of 1000 other keys are absent", kind.Name, absent)
		}
		if hash := must(f.HashUint64(9)); hash != must(Spec{Seed: 7}.HashKey([]byte{9, 0, 0, 0, 0, 0, 0, 0})) ||
			hash != must(Spec{Seed: 7}.HashUint64(9)) {
			t.Error("the spec hashes in another way than the filter")
		}
		must(f.Insert(nil))
		if !f.ContainsString("") {
			t.Error("the empty key is lost")
		}
	}
}

func TestFiltersAreMergedMeasuredAndDescribed(t *testing.T) {
	spec := Spec{Capacity: 10_000, FalsePositiveRate: 0.001, Seed: 3}
	a, b := must(New(spec)), must(New(spec))
	defer a.Close()
	defer b.Close()
	for i := range uint64(4000) {
		must(a.InsertUint64(i))
		must(b.InsertUint64(i + 2000))
	}
	overlap := must(a.EstimateOverlap(b))
	near := func(what string, got, want, within float64) {
		t.Helper()
		if !(math.Abs(got-want) <= within) {
			t.Errorf("%s is %v, not %v", what, got, want)
		}
	}
	near("the union", overlap.UnionCount.Value, 6000, 200)
	near("the intersection", overlap.IntersectionCount.Value, 2000, 200)
	near("the differences", overlap.DifferenceCount.Value, 4000, 200)
	near("the estimate", must(a.Estimate()).Value, 4000, 150)
	both := must(a.Copy())
	defer both.Close()
	check(t, both.Intersect(b))
	check(t, a.Merge(b))
	for i := range uint64(6000) {
		if !a.ContainsUint64(i) || i >= 2000 && i < 4000 && !both.ContainsUint64(i) {
			t.Fatal("lost", i)
		}
	}
	description, stats := must(a.Describe()), must(a.Statistics())
	if description.Insertions != 8000 || description.Capacity != 10_000 || description.Seed != 3 ||
		description.FalsePositiveRate != 0.001 || !description.Capabilities.Has(CanMerge|CanInsert) ||
		!description.State.Has(StateWritable|StateCanHash) || description.State.Has(StateUnclean) ||
		description.Bytes != must(a.SerializedSize()) || description.Bytes != must(spec.ImageSize()) ||
		description.Kernel == KernelBest || description.Hash != XXH3 || description.Kind.String() == "" {
		t.Errorf("%+v", description)
	}
	near("the fill's estimate", stats.CountEstimate, 6000, 200)
	if !(stats.Fill > 0.1 && stats.Fill < 0.6 && stats.FalsePositiveRate > 0 && stats.FalsePositiveRate < 0.001) {
		t.Errorf("%+v", stats)
	}
	expected := must(spec.ExpectedFalsePositiveRate(10_000))
	near("the expected rate", must(a.ExpectedFalsePositiveRate(10_000)), expected, 1e-9)
	near("omissions", must(a.ExpectedOmissions(10_000)), must(spec.ExpectedOmissions(10_000)), 1e-9)
	if a.Capabilities() != description.Capabilities {
		t.Error("capabilities differ")
	}

	again := must(New(must(a.Spec())))
	defer again.Close()
	if must(again.CompatibilityID()) != must(a.CompatibilityID()) {
		t.Error("a filter made from the spec of another does not fit it")
	}
	wants(t, a.Merge(must(New(Spec{Capacity: 10_001}))), ErrIncompatible)
	check(t, a.Clear())
	if a.ContainsUint64(1) || !must(a.Equal(again)) {
		t.Error("a cleared filter holds keys")
	}
	foldable := must(New(Spec{Kind: "bloom", Bits: 1 << 12, Hashes: 4}))
	defer foldable.Close()
	check(t, foldable.Fold(4))
	if bits := must(foldable.Describe()).Bits; bits != 1<<10 {
		t.Error(bits)
	}
}

func TestSecrets(t *testing.T) {
	key := [16]byte{1, 2, 3}
	f := filled(Spec{Hash: SipHash13, Secret: key, Capacity: 1000}, 100)
	defer f.Close()
	image := must(f.MarshalBinary())
	var without Filter
	check(t, without.UnmarshalBinary(image))
	defer without.Close()
	found, err := without.ContainsCheckedUint64(1 << 50)
	wants(t, err, ErrSecretMissing)
	if !found || must(without.Describe()).State.Has(StateCanHash) {
		t.Error("without its key it cannot know")
	}
	with := must(Load(image, &OpenOptions{Secret: key}))
	defer with.Close()
	if !with.ContainsUint64(99) || with.ContainsUint64(1<<50) && with.ContainsUint64(1<<51) {
		t.Error("with its key it does not know")
	}
	wants(t, errorIn(Load(image, &OpenOptions{Secret: [16]byte{9}})), ErrSecretMismatch)
}

// Readers need no lock, and filters share no state.
func TestManyGoroutinesRead(t *testing.T) {
	shared := filled(Spec{Capacity: 10_000}, 10_000)
	defer shared.Close()
	var group sync.WaitGroup
	for g := range uint64(8) {
		group.Add(1)
		go func() {
			defer group.Done()
			own := must(New(Spec{Capacity: 1000}))
			defer own.Close()
			found := Answers{Bools: make([]bool, 2)}
			for i := range uint64(2000) {
				must(own.InsertUint64(i * g))
				check(t, own.InsertBatch(StringKeys([]string{fmt.Sprint(i)}), nil))
				err := shared.ContainsBatch(StringKeys([]string{"x", "y"}), &found)
				if err != nil || found.Done != 2 || found.TrueCount > 2 || !shared.ContainsUint64(i) ||
					!own.ContainsString(fmt.Sprint(i)) {
					t.Error("lost", i, err)
				}
			}
			if _, err := shared.WriteTo(io.Discard); err != nil {
				t.Error(err)
			}
			must(shared.Statistics())
		}()
	}
	group.Wait()
}
