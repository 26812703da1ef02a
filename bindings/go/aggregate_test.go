package petal

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func newAggregate(t *testing.T, rate float64) *Aggregate {
	t.Helper()
	spec := Spec{Capacity: 100, FalsePositiveRate: rate, Parameters: map[string]string{"states": "4"}}
	a := must(NewAggregate(spec))
	t.Cleanup(func() { check(t, a.Close()) })
	return a
}

func TestAggregatesTakeEachValueOnceAndReplaceIt(t *testing.T) {
	ours, theirs := newAggregate(t, 1e-9), newAggregate(t, 1e-9)
	cold, warm := AggregateStateValue{0, 18.5}, AggregateStateValue{1, 21}
	if states := ours.StateCount(); states != 4 {
		t.Error(states)
	}
	answer := must(ours.AddString("sensor 7", cold))
	if answer != (AggregateAnswer{AggregateOutcomeFirst, 0}) {
		t.Error(answer)
	}
	check(t, theirs.RecordSentString("we", 0, &answer))
	if again := must(ours.Add([]byte("sensor 7"), cold)); again.Outcome != AggregateOutcomeDuplicate {
		t.Error(again)
	}
	if told := must(theirs.ListSentString("we")); !slices.Equal(told, []uint32{0}) {
		t.Error(told)
	}
	if told := must(theirs.ListSent([]byte("others"))); len(told) != 0 {
		t.Error(told)
	}
	answer = must(ours.AddString("sensor 7", warm, cold))
	if answer != (AggregateAnswer{AggregateOutcomeChanged, 0}) || answer.Outcome.String() != "changed" {
		t.Error(answer)
	}
	check(t, theirs.RecordSent([]byte("we"), 1, &answer))
	if refused := must(ours.AddString("sensor 7", cold)); refused.Outcome != AggregateOutcomeRefused {
		t.Error(refused)
	}
	must(ours.AddUint64(8, AggregateStateValue{2, 1}))
	must(ours.AddHash(9, AggregateStateValue{2, 3}))
	if count := must(ours.CountInState(2)); count != 2 {
		t.Error(count)
	}
	results := must(ours.Statistics())
	if results.Count != 3 || results.Sum != 25 || results.Mean != 25.0/3 || results.Maximum != 21 ||
		results.Minimum != 1 || !results.MaximumIsExact || !results.MinimumIsExact {
		t.Errorf("%+v", results)
	}
	if results.Firsts != 3 || results.Changes != 1 || results.Duplicates != 1 || results.RefusedFirsts != 1 ||
		results.RefusedChanges != 0 || results.Departures != 0 || math.Abs(results.Participants-3) > 1e-6 {
		t.Errorf("%+v", results)
	}
	if !must(ours.RemoveString("sensor 7", warm)) || must(ours.Remove([]byte("sensor 7"), warm)) {
		t.Error("the participant left once")
	}
	if !must(ours.RemoveUint64(8, AggregateStateValue{2, 1})) || !must(ours.RemoveHash(9, AggregateStateValue{2, 3})) {
		t.Error("all left")
	}
	if results := must(ours.Statistics()); results.Count != 0 || !math.IsNaN(results.Mean) || results.Departures != 3 {
		t.Errorf("%+v", results)
	}
	check(t, theirs.RecordSentUint64(5, 3, nil))
	check(t, theirs.RecordSentHash(6, 3, nil))
	if !slices.Equal(must(theirs.ListSentUint64(5)), must(theirs.ListSentHash(6))) {
		t.Error("both were told state 3")
	}
	if !must(theirs.ForgetSentUint64(5, 3)) || !must(theirs.ForgetSentHash(6, 3)) ||
		!must(theirs.ForgetSentString("we", 1)) ||
		must(theirs.ForgetSent([]byte("we"), 1)) {
		t.Error("each was told once")
	}
}

func TestAggregatesTellWhatFalsePositivesCost(t *testing.T) {
	expected := must(newAggregate(t, 0.05).ExpectedErrors(100))
	if expected.FalsePositiveRate > 0.05 || expected.RefusedFirsts < 0.5 || expected.Bias >= 0 ||
		expected.MissedChanges < 0.9*expected.FalsePositiveRate || expected.MissedChanges > 1.1*expected.FalsePositiveRate {
		t.Errorf("%+v", expected)
	}
}

func TestAggregatesAreImages(t *testing.T) {
	ours := newAggregate(t, 1e-9)
	for id := range uint64(50) {
		must(ours.AddUint64(id, AggregateStateValue{0, float64(id)}))
	}
	image := must(ours.MarshalBinary())
	loaded := must(LoadAggregate(image, nil))
	defer loaded.Close()
	check(t, loaded.Verify())
	if results := must(loaded.Statistics()); results.Sum != 1225 || must(loaded.Describe()).Insertions != 50 {
		t.Errorf("%+v", results)
	}
	if size := must(loaded.SerializedSize()); size != uint64(len(image)) {
		t.Error(size)
	}
	path := filepath.Join(t.TempDir(), "aggregate.petal")
	check(t, loaded.Save(path))
	opened := must(OpenAggregate(path, &OpenOptions{Mode: OpenWrite}))
	must(opened.AddUint64(50, AggregateStateValue{1, 1}))
	check(t, opened.Sync())
	check(t, opened.MarkClean())
	check(t, opened.Close())
	read := must(OpenAggregate(path, nil))
	defer read.Close()
	if results := must(read.Statistics()); results.Sum != 1226 {
		t.Errorf("%+v", results)
	}
	if _, err := read.AddUint64(51, AggregateStateValue{}); !errors.Is(err, ErrUnsupportedByHandle) {
		t.Error(err)
	}
	copied := must(read.Copy())
	defer copied.Close()
	check(t, copied.Clear())
	if results := must(copied.Statistics()); results.Count != 0 {
		t.Errorf("%+v", results)
	}
	var text strings.Builder
	if written := must(ours.WriteTo(&text)); written != int64(len(image)) || text.String() != string(image) {
		t.Error(written)
	}
	if _, err := LoadAggregate(image[:100], nil); !errors.Is(err, ErrTruncated) {
		t.Error(err)
	}
}

func TestAggregatesRefuse(t *testing.T) {
	ours := newAggregate(t, 0.01)
	for _, wrong := range []AggregateStateValue{{4, 1}, {0, math.NaN()}, {0, math.Inf(1)}} {
		if _, err := ours.AddUint64(1, wrong); !errors.Is(err, ErrOutOfRange) {
			t.Error(err)
		}
	}
	if _, err := NewAggregate(Spec{Kind: "bloom"}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	check(t, ours.RecordSentUint64(1, 0, &AggregateAnswer{Outcome: AggregateOutcomeRefused}))
	if err := ours.RecordSentUint64(1, 0, &AggregateAnswer{Outcome: 9}); !errors.Is(err, ErrUnknownValue) {
		t.Error(err)
	}
	check(t, ours.Close())
	if _, err := ours.Statistics(); err == nil {
		t.Error("a closed aggregate has results")
	}
}
