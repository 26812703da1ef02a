package petal

import (
	"math"
	"testing"
)

func TestCountsGoUpAndDown(t *testing.T) {
	filter := must(New(Spec{Kind: "counting", Capacity: 10_000}))
	defer filter.Close()
	keys := make([]string, 9000)
	for i := range keys {
		keys[i] = string(rune('a'+i%26)) + string(rune(i))
	}
	for range 2 {
		check(t, filter.InsertBatch(StringKeys(keys), nil))
	}
	counts := make([]uint64, len(keys))
	check(t, filter.CountBatch(StringKeys(keys), counts))
	for i, key := range keys {
		count, bytes := must(filter.CountString(key)), must(filter.Count([]byte(key)))
		if count != counts[i] || count != bytes || count < 2 {
			t.Fatalf("%q: %d and %d, %d in the batch", key, count, bytes, counts[i])
		}
	}
	for i, key := range keys {
		if i%2 == 0 && !must(filter.RemoveString(key)) || i%2 == 1 && !must(filter.Remove([]byte(key))) {
			t.Fatalf("%q is not removed", key)
		}
	}
	answers := Answers{Bools: make([]bool, len(keys))}
	check(t, filter.RemoveBatch(StringKeys(keys), &answers))
	if answers.TrueCount != len(keys) || must(filter.RemoveUint64(7)) {
		t.Fatalf("%d of %d, or a key that is not there, are removed", answers.TrueCount, len(keys))
	}
	if statistics := must(filter.Statistics()); statistics.Fill != 0 || statistics.Saturated != 0 {
		t.Fatalf("%+v", statistics)
	}
	for range 20 {
		must(filter.InsertHash(5))
	}
	if !must(filter.RemoveHash(5)) || must(filter.CountHash(5)) != 15 || must(filter.CountUint64(7)) != 0 {
		t.Fatal(must(filter.CountHash(5)), must(filter.CountUint64(7)))
	}
	other := must(New(Spec{Capacity: 100}))
	defer other.Close()
	wants(t, errorIn(other.Remove(nil)), ErrUnsupported)
	wants(t, other.CountBatch(StringKeys(keys), counts), ErrUnsupported)
	if counts[0] != math.MaxUint64 {
		t.Fatal(counts[0])
	}
}

// A batch of keys with counts does the same as single calls, for every kind that counts and removes. Counting gives the
// counts back.
func TestTimes(t *testing.T) {
	for _, info := range Kinds() {
		if info.Handle != HandleFilter || info.IsForeign || info.TakesIntegers || !info.Capabilities.Has(CanCount|CanRemove) {
			continue
		}
		f := must(New(Spec{Kind: info.Name, Capacity: 3000}))
		keys, times := []string{"a", "bb", "ccc", "dddd"}, []uint64{1, 2, 3, 0}
		answers := Answers{Bools: make([]bool, len(keys))}
		check(t, f.InsertTimesBatch(StringKeys(keys), times, &answers))
		if answers.Done != 4 || answers.TrueCount < 3 {
			t.Errorf("%s: %+v", info.Name, answers)
		}
		for i, key := range keys {
			if count := must(f.CountString(key)); count < times[i] {
				t.Errorf("%s: %q is there %d times", info.Name, key, count)
			}
		}
		must(f.InsertTimes([]byte("a"), 1))
		must(f.InsertTimesString("a", 1))
		must(f.InsertTimesUint64(7, 4))
		must(f.InsertTimesHash(9, 2))
		if a, seven := must(f.CountString("a")), must(f.CountUint64(7)); a < 3 || seven < 4 {
			t.Errorf("%s: %d and %d", info.Name, a, seven)
		}
		removed := must(f.RemoveTimesUint64(7, math.MaxUint64)) + must(f.RemoveTimesHash(9, 2)) +
			must(f.RemoveTimes([]byte("a"), 1)) + must(f.RemoveTimesString("a", 1))
		if removed != 8 {
			t.Errorf("%s: %d were removed", info.Name, removed)
		}
		check(t, f.RemoveTimesBatch(StringKeys(keys), times, nil))
		if fill := must(f.Statistics()).Fill; fill != 0 {
			t.Errorf("%s: the fill is %g", info.Name, fill)
		}
		wants(t, f.InsertTimesBatch(StringKeys(keys), times[1:], nil), ErrBufferTooSmall)
		wants(t, f.RemoveTimesBatch(StringKeys(keys), nil, nil), ErrBufferTooSmall)
		check(t, f.Close())
	}
	f := must(New(Spec{Capacity: 100}))
	b := must(NewBuilder(Spec{}, nil))
	wants(t, b.AddTimesUint64(1, 2), ErrUnsupported)
	wants(t, b.AddTimesBatch(Uint64Keys([]uint64{1}), []uint64{2}, nil), ErrUnsupported)
	check(t, b.Close())
	wants(t, errorIn(f.InsertTimesUint64(1, 2)), ErrUnsupported)
	wants(t, errorIn(f.RemoveTimesUint64(1, 2)), ErrUnsupported)
	wants(t, f.Resize(1000), ErrUnsupported)
	check(t, f.Close())
}

// Excluded keys are not in the filter, where the kind takes them.
func TestBuilderExclude(t *testing.T) {
	b := must(NewBuilder(Spec{Kind: "exact_set"}, nil))
	members, excluded := make([]uint64, 100), make([]uint64, 3000)
	for i := range members {
		members[i] = uint64(i)
	}
	for i := range excluded {
		excluded[i] = uint64(100 + i)
	}
	answers := Answers{}
	check(t, b.AddBatch(Uint64Keys(members), nil))
	check(t, b.ExcludeBatch(Uint64Keys(excluded), &answers))
	check(t, b.AddString("member"))
	check(t, b.Exclude([]byte("a")))
	check(t, b.ExcludeString("bb"))
	check(t, b.ExcludeUint64(5000))
	check(t, b.ExcludeHash(9))
	if insertions := must(b.KeyCount()); answers.Done != 3000 || insertions != 101 {
		t.Errorf("%+v, %d insertions", answers, insertions)
	}
	f := must(b.Finish())
	check(t, f.ContainsBatch(Uint64Keys(members), &answers))
	if answers.TrueCount != 100 {
		t.Errorf("%d members are there", answers.TrueCount)
	}
	check(t, f.ContainsBatch(Uint64Keys(excluded), &answers))
	if answers.TrueCount != 0 || f.ContainsString("a") || f.ContainsString("bb") || f.ContainsUint64(5000) ||
		f.ContainsHash(9) || !f.ContainsString("member") {
		t.Errorf("%d excluded keys are there", answers.TrueCount)
	}
	check(t, b.Update(f))
	check(t, b.AddString("a"))
	check(t, b.ExcludeBatch(Uint64Keys(members), nil))
	newer := must(b.Finish())
	if !newer.ContainsString("a") || newer.ContainsUint64(5) {
		t.Error("the update errs")
	}
	check(t, newer.Close())
	check(t, f.Close())
	wants(t, b.Update(f), ErrClosed)
	check(t, b.AddString("both"))
	check(t, b.ExcludeString("both"))
	wants(t, errorIn(b.Finish()), ErrContradiction)
	check(t, b.Close())

	other := must(NewBuilder(Spec{Kind: "ribbon"}, nil))
	wants(t, other.Exclude([]byte("a")), ErrUnsupported)
	wants(t, other.ExcludeUint64(1), ErrUnsupported)
	wants(t, other.ExcludeHash(1), ErrUnsupported)
	wants(t, other.ExcludeBatch(Uint64Keys(members), nil), ErrUnsupported)
	check(t, other.Close())
}

// Frequent non-members are given with weights, where the kind takes them.
func TestBuilderFrequent(t *testing.T) {
	spec := Spec{Kind: "stacked", FalsePositiveRate: 0.001, Parameters: map[string]string{"frequent_share": "0.9"}}
	b := must(NewBuilder(spec, nil))
	members, nonMembers, weights := make([]uint64, 5000), make([]uint64, 3000), make([]float64, 3000)
	for i := range members {
		members[i] = uint64(i)
	}
	for i := range nonMembers {
		nonMembers[i], weights[i] = uint64(5000+i), 1/float64(i+1)
	}
	answers := Answers{}
	check(t, b.AddBatch(Uint64Keys(members), nil))
	check(t, b.AddFrequentBatch(Uint64Keys(nonMembers), weights, &answers))
	check(t, b.AddFrequentBatch(StringKeys([]string{"x", "yy"}), nil, nil))
	check(t, b.AddFrequentBatch(StringKeys([]string{"z"}), []float64{7}, nil))
	check(t, b.AddString("member"))
	check(t, b.AddFrequent([]byte("a"), 2))
	check(t, b.AddFrequentString("bb", 0.5))
	check(t, b.AddFrequentUint64(9000, 1e-9))
	check(t, b.AddFrequentHash(9, 1e9))
	if insertions := must(b.KeyCount()); answers.Done != 3000 || insertions != 5001 {
		t.Errorf("%+v, %d insertions", answers, insertions)
	}
	f := must(b.Finish())
	check(t, f.ContainsBatch(Uint64Keys(members), &answers))
	if answers.TrueCount != 5000 || !f.ContainsString("member") {
		t.Errorf("%d members are there", answers.TrueCount)
	}
	check(t, f.ContainsBatch(Uint64Keys(nonMembers), &answers))
	// Nearly all of the weight is that of one hash. So the rate of the others is that of any key, which is at most 0.01
	// where 0.9 of all lookups are known: 30 of 3,000, and 4.5 standard deviations more.
	if answers.TrueCount > 55 {
		t.Errorf("%d frequent non-members are there", answers.TrueCount)
	}
	for _, weight := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-30} {
		wants(t, b.AddFrequent([]byte("a"), weight), ErrOutOfRange)
		wants(t, b.AddFrequentUint64(1, weight), ErrOutOfRange)
		wants(t, b.AddFrequentHash(1, weight), ErrOutOfRange)
		wants(t, b.AddFrequentBatch(Uint64Keys(members[:1]), []float64{weight}, nil), ErrOutOfRange)
	}
	wants(t, b.AddFrequentBatch(Uint64Keys(members), weights, nil), ErrBufferTooSmall)
	check(t, f.Close())
	check(t, b.AddString("both"))
	check(t, b.AddFrequentString("both", 1))
	wants(t, errorIn(b.Finish()), ErrContradiction)
	check(t, b.Close())

	other := must(NewBuilder(Spec{Kind: "ribbon"}, nil))
	wants(t, other.AddFrequent([]byte("a"), 1), ErrUnsupported)
	wants(t, other.AddFrequentUint64(1, 1), ErrUnsupported)
	wants(t, other.AddFrequentHash(1, 1), ErrUnsupported)
	wants(t, other.AddFrequentBatch(Uint64Keys(members), nil, nil), ErrUnsupported)
	check(t, other.Close())
}

// A builder with counts makes the same filter as single insertions.
func TestBuilderTimes(t *testing.T) {
	for _, info := range Kinds() {
		if info.Handle != HandleFilter || info.IsForeign || info.TakesIntegers || !info.Capabilities.Has(CanCount|CanInsert) {
			continue
		}
		b := must(NewBuilder(Spec{Kind: info.Name, FalsePositiveRate: 1e-6}, nil))
		keys, times := []string{"a", "bb", "ccc", "dddd"}, []uint64{1, 2, 3, 0}
		answers := Answers{}
		check(t, b.AddTimesBatch(StringKeys(keys), times, &answers))
		check(t, b.AddTimes([]byte("a"), 1))
		check(t, b.AddTimesString("bb", 1))
		check(t, b.AddTimesUint64(7, 2))
		check(t, b.AddTimesHash(9, 2))
		wants(t, b.AddTimesBatch(StringKeys(keys), times[1:], nil), ErrBufferTooSmall)
		if insertions := must(b.KeyCount()); answers.Done != 4 || insertions != 12 {
			t.Errorf("%s: %+v, %d insertions", info.Name, answers, insertions)
		}
		f := must(b.Finish())
		for i, wanted := range []uint64{2, 3, 3, 0} {
			if count := must(f.CountString(keys[i])); count < wanted {
				t.Errorf("%s: %q is there %d times", info.Name, keys[i], count)
			}
		}
		check(t, f.Close())
		check(t, b.Close())
	}
}

func TestResize(t *testing.T) {
	f := must(New(Spec{Kind: "quotient", Capacity: 1000}))
	for i := range uint64(1000) {
		must(f.InsertTimesUint64(i, 1))
	}
	check(t, f.Resize(5000))
	if capacity := must(f.Describe()).Capacity; capacity < 5000 {
		t.Errorf("the capacity is %d", capacity)
	}
	for i := range uint64(1000) {
		if !f.ContainsUint64(i) {
			t.Fatalf("key %d is lost", i)
		}
	}
	wants(t, f.Resize(1<<60), ErrOutOfRange)
	check(t, f.Close())
}

func TestRejuvenate(t *testing.T) {
	f := must(New(Spec{Kind: "aleph", Capacity: 100}))
	if can := f.Capabilities(); !can.Has(CanRejuvenate) {
		t.Errorf("it can %v", can)
	}
	must(f.InsertString("apple"))
	keys := make([]uint64, 50_000)
	for i := range keys {
		keys[i] = uint64(i)
	}
	check(t, f.InsertBatch(Uint64Keys(keys), nil))
	// An entry that was rejuvenated has full length, so a second call changes nothing.
	first := []bool{must(f.RejuvenateString("apple")), must(f.RejuvenateUint64(0)), must(f.RejuvenateUint64(1))}
	again := []bool{
		must(f.Rejuvenate([]byte("apple"))), must(f.RejuvenateHash(must(f.HashUint64(0)))),
		must(f.Rejuvenate([]byte{1, 0, 0, 0, 0, 0, 0, 0})),
	}
	for i := range first {
		if !first[i] || again[i] {
			t.Errorf("key %d: %v, and again %v", i, first[i], again[i])
		}
	}
	before := must(f.Statistics()).FalsePositiveRate
	answers := Answers{Bools: make([]bool, len(keys))}
	check(t, f.RejuvenateBatch(Uint64Keys(keys), &answers))
	if answers.Done != len(keys) || answers.TrueCount < len(keys)/4 || answers.Bools[0] {
		t.Errorf("%d of %d were rejuvenated", answers.TrueCount, answers.Done)
	}
	if now := must(f.Statistics()).FalsePositiveRate; now > 0.9*before {
		t.Errorf("the rate was %v and is %v", before, now)
	}
	check(t, f.RejuvenateBatch(Uint64Keys(keys), nil))
	check(t, f.ContainsBatch(Uint64Keys(keys), &answers))
	if answers.TrueCount != len(keys) || must(f.Describe()).Insertions != uint64(len(keys)+1) {
		t.Errorf("%d of %d keys are there", answers.TrueCount, len(keys))
	}
	check(t, f.Close())

	f = must(New(Spec{Capacity: 100}))
	wants(t, errorIn(f.RejuvenateString("apple")), ErrUnsupported)
	wants(t, f.RejuvenateBatch(Uint64Keys(keys), nil), ErrUnsupported)
	check(t, f.Close())
}

func TestAdvance(t *testing.T) {
	for _, kind := range []string{"rotating", "age_partitioned"} {
		f := must(New(Spec{Kind: kind, Capacity: 1000, Parameters: map[string]string{"clock": "steps"}}))
		must(f.InsertUint64(1))
		check(t, f.Advance(3))
		if !f.ContainsUint64(1) {
			t.Errorf("%s: the key is lost", kind)
		}
		check(t, f.Advance(100))
		if f.ContainsUint64(1) {
			t.Errorf("%s: the key is still there", kind)
		}
		check(t, f.Close())
	}
	f := must(New(Spec{Kind: "rotating", Capacity: 1000, Parameters: map[string]string{"clock": "steps"}}))
	if !f.Capabilities().Has(CanAgeShared | CanInsertShared) {
		t.Error(f.Capabilities())
	}
	must(f.InsertSharedUint64(1))
	check(t, f.AdvanceShared(3))
	if !f.ContainsUint64(1) {
		t.Error("the key is lost")
	}
	check(t, f.AdvanceShared(1))
	if f.ContainsUint64(1) {
		t.Error("the key is still there")
	}
	check(t, f.Close())
	f = must(New(Spec{Kind: "stable", Capacity: 1000}))
	if can := f.Capabilities(); !can.Has(MayLoseKeys) || !can.Has(CanAge) {
		t.Errorf("a stable filter can %v", can)
	}
	lost := must(f.ExpectedFalseNegativeRate(1000))
	if lost <= 0.009 || lost > 0.01 || must(f.ExpectedFalseNegativeRate(0)) != 0 {
		t.Errorf("%v of the keys are lost", lost)
	}
	check(t, f.Close())
	f = must(New(Spec{Capacity: 100}))
	wants(t, f.Advance(1), ErrUnsupported)
	wants(t, f.AdvanceShared(1), ErrUnsupported)
	check(t, f.Close())
}
