package petal

import (
	"slices"
	"testing"
)

// Sketches of few numbers know which they are.
func TestSketchesSayWhatIsThere(t *testing.T) {
	s := must(NewSketch(Spec{Capacity: 20, FalsePositiveRate: 1e-9}))
	check(t, s.InsertString("apple"))
	check(t, s.RemoveUint64(7))
	hash := must(Spec{}.HashKey([]byte("apple")))
	told := func(wanted SketchPresence, sign int64) func(SketchPresence, SketchPair, error) {
		return func(presence SketchPresence, pair SketchPair, err error) {
			t.Helper()
			if presence != wanted || pair.Sign != sign || err != nil {
				t.Errorf("%v %v %v", presence, pair, err)
			}
		}
	}
	told(Present, 1)(s.Get([]byte("apple")))
	told(Present, 1)(s.GetString("apple"))
	told(Present, 1)(s.GetHash(hash))
	told(Present, -1)(s.GetUint64(7))
	told(Absent, 0)(s.GetUint64(8))
	for i := range uint64(1000) {
		check(t, s.InsertUint64(1000+i))
	}
	told(Unknown, 0)(s.GetUint64(7))
	if Present.String() != "present" || SketchPresence(9).String() != "SketchPresence(9)" {
		t.Error(Present, SketchPresence(9))
	}
	wants(t, s.InsertValueUint64(1, 2), ErrUnsupported)
	other := must(NewSketch(Spec{Kind: "riblt", Capacity: 20}))
	_, _, err := other.GetUint64(1)
	wants(t, err, ErrUnsupported)
	check(t, other.Close())
	check(t, s.Close())
}

func TestSketchesListValues(t *testing.T) {
	spec := Spec{Kind: "iblt", Capacity: 20, FalsePositiveRate: 1e-9, Parameters: map[string]string{"value_bits": "64"}}
	ours, theirs := must(NewSketch(spec)), must(NewSketch(spec))
	numbers, values := make([]uint64, 500), make([]uint64, 500)
	for i := range numbers {
		numbers[i], values[i] = uint64(i), uint64(3*i)
	}
	var answers Answers
	check(t, ours.InsertValueBatch(Uint64Keys(numbers), values, &answers))
	values[9] = 1
	check(t, theirs.InsertValueBatch(Uint64Keys(numbers), values, nil))
	check(t, ours.Subtract(theirs))
	check(t, ours.InsertValue([]byte("apple"), 10))
	check(t, ours.InsertValueString("plum", 11))
	check(t, ours.InsertValueHash(1000, 12))
	check(t, ours.RemoveValueUint64(1001, 13))
	listed, complete, err := ours.ListValues()
	check(t, err)
	wanted := []SketchPair{{9, 1, -1}, {1001, 13, -1}, {9, 27, 1}, {1000, 12, 1}}
	if answers.Done != 500 || !complete || len(listed) != 6 || !slices.Equal(listed[:4], wanted) {
		t.Errorf("%d were inserted, listed are %v %v", answers.Done, listed, complete)
	}
	if must(ours.ValueBits()) != 64 {
		t.Error("values have another width")
	}
	// Without its pairs the sketch is empty.
	check(t, ours.RemoveValue([]byte("apple"), 10))
	check(t, ours.RemoveValueString("plum", 11))
	check(t, ours.RemoveValueHash(1000, 12))
	check(t, ours.InsertValueUint64(1001, 13))
	check(t, ours.RemoveValueBatch(Uint64Keys([]uint64{9}), []uint64{27}, nil))
	check(t, ours.InsertValueBatch(Uint64Keys([]uint64{9}), []uint64{1}, nil))
	if left, complete, err := ours.ListValues(); len(left) != 0 || !complete || err != nil {
		t.Errorf("%v are left, %v, %v", left, complete, err)
	}
	wants(t, ours.InsertValueBatch(Uint64Keys(numbers), nil, nil), ErrBufferTooSmall)
	plain := must(NewSketch(Spec{Capacity: 20}))
	_, _, err = plain.ListValues()
	wants(t, err, ErrUnsupported)
	wants(t, plain.Subtract(ours), ErrIncompatible)
	for _, s := range []*Sketch{ours, theirs, plain} {
		check(t, s.Close())
	}
}
