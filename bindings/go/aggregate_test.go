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
	cold, warm := StateValue{0, 18.5}, StateValue{1, 21}
	if states := ours.States(); states != 4 {
		t.Error(states)
	}
	answer := must(ours.MeetString("sensor 7", cold))
	if answer != (Meeting{MeetingFirst, 0}) {
		t.Error(answer)
	}
	check(t, theirs.TellString("we", 0, &answer))
	if again := must(ours.Meet([]byte("sensor 7"), cold)); again.Outcome != MeetingDuplicate {
		t.Error(again)
	}
	if told := must(theirs.ToldString("we")); !slices.Equal(told, []uint32{0}) {
		t.Error(told)
	}
	if told := must(theirs.Told([]byte("others"))); len(told) != 0 {
		t.Error(told)
	}
	answer = must(ours.MeetString("sensor 7", warm, cold))
	if answer != (Meeting{MeetingChanged, 0}) || answer.Outcome.String() != "changed" {
		t.Error(answer)
	}
	check(t, theirs.Tell([]byte("we"), 1, &answer))
	if refused := must(ours.MeetString("sensor 7", cold)); refused.Outcome != MeetingRefused {
		t.Error(refused)
	}
	must(ours.MeetUint64(8, StateValue{2, 1}))
	must(ours.MeetHash(9, StateValue{2, 3}))
	if count := must(ours.CountOf(2)); count != 2 {
		t.Error(count)
	}
	results := must(ours.Results())
	if results.Count != 3 || results.Sum != 25 || results.Mean != 25.0/3 || results.Maximum != 21 ||
		results.Minimum != 1 || !results.MaximumIsExact || !results.MinimumIsExact {
		t.Errorf("%+v", results)
	}
	if results.Firsts != 3 || results.Changes != 1 || results.Duplicates != 1 || results.RefusedFirsts != 1 ||
		results.RefusedChanges != 0 || results.Departures != 0 || math.Abs(results.Participants-3) > 1e-6 {
		t.Errorf("%+v", results)
	}
	if !must(ours.LeaveString("sensor 7", warm)) || must(ours.Leave([]byte("sensor 7"), warm)) {
		t.Error("the participant left once")
	}
	if !must(ours.LeaveUint64(8, StateValue{2, 1})) || !must(ours.LeaveHash(9, StateValue{2, 3})) {
		t.Error("all left")
	}
	if results := must(ours.Results()); results.Count != 0 || !math.IsNaN(results.Mean) || results.Departures != 3 {
		t.Errorf("%+v", results)
	}
	check(t, theirs.TellUint64(5, 3, nil))
	check(t, theirs.TellHash(6, 3, nil))
	if !slices.Equal(must(theirs.ToldUint64(5)), must(theirs.ToldHash(6))) {
		t.Error("both were told state 3")
	}
	if !must(theirs.ForgetUint64(5, 3)) || !must(theirs.ForgetHash(6, 3)) || !must(theirs.ForgetString("we", 1)) ||
		must(theirs.Forget([]byte("we"), 1)) {
		t.Error("each was told once")
	}
}

func TestAggregatesTellWhatFalsePositivesCost(t *testing.T) {
	expected := must(newAggregate(t, 0.05).Expect(100))
	if expected.FalsePositiveRate > 0.05 || expected.RefusedFirsts < 0.5 || expected.Bias >= 0 ||
		expected.MissedChanges < 0.9*expected.FalsePositiveRate || expected.MissedChanges > 1.1*expected.FalsePositiveRate {
		t.Errorf("%+v", expected)
	}
}

func TestAggregatesAreImages(t *testing.T) {
	ours := newAggregate(t, 1e-9)
	for id := range uint64(50) {
		must(ours.MeetUint64(id, StateValue{0, float64(id)}))
	}
	image := must(ours.MarshalBinary())
	loaded := must(LoadAggregate(image, nil))
	defer loaded.Close()
	check(t, loaded.Verify())
	if results := must(loaded.Results()); results.Sum != 1225 || must(loaded.Describe()).Offered != 50 {
		t.Errorf("%+v", results)
	}
	if size := must(loaded.SerializedSize()); size != uint64(len(image)) {
		t.Error(size)
	}
	path := filepath.Join(t.TempDir(), "aggregate.petal")
	check(t, loaded.Save(path))
	opened := must(OpenAggregate(path, &OpenOptions{Mode: OpenWrite}))
	must(opened.MeetUint64(50, StateValue{1, 1}))
	check(t, opened.Sync())
	check(t, opened.Vouch())
	check(t, opened.Close())
	read := must(OpenAggregate(path, nil))
	defer read.Close()
	if results := must(read.Results()); results.Sum != 1226 {
		t.Errorf("%+v", results)
	}
	if _, err := read.MeetUint64(51, StateValue{}); !errors.Is(err, ErrUnsupportedByHandle) {
		t.Error(err)
	}
	copied := must(read.Copy())
	defer copied.Close()
	check(t, copied.Clear())
	if results := must(copied.Results()); results.Count != 0 {
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
	for _, wrong := range []StateValue{{4, 1}, {0, math.NaN()}, {0, math.Inf(1)}} {
		if _, err := ours.MeetUint64(1, wrong); !errors.Is(err, ErrOutOfRange) {
			t.Error(err)
		}
	}
	if _, err := NewAggregate(Spec{Kind: "bloom"}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	check(t, ours.TellUint64(1, 0, &Meeting{Outcome: MeetingRefused}))
	if err := ours.TellUint64(1, 0, &Meeting{Outcome: 9}); !errors.Is(err, ErrUnknownValue) {
		t.Error(err)
	}
	check(t, ours.Close())
	if _, err := ours.Results(); err == nil {
		t.Error("a closed aggregate has results")
	}
}
