package petal

import (
	"bytes"
	"slices"
	"testing"

	"github.com/petal-filter/petal/bindings/go/view"
)

// Sketches of few numbers know which they are. The library and package view say the same.
func TestSketchesSayWhatIsThere(t *testing.T) {
	s := must(NewSketch(Spec{Capacity: 20, FalsePositiveRate: 1e-9}))
	check(t, s.InsertString("apple"))
	check(t, s.RemoveUint64(7))
	hash := must(Spec{}.HashKey([]byte("apple")))
	v := must(view.LoadSketch(must(s.MarshalBinary()), nil))
	told := func(wanted Presence, count int64) func(Presence, Pair, error) {
		return func(presence Presence, pair Pair, err error) {
			t.Helper()
			if presence != wanted || pair.Count != count || err != nil {
				t.Errorf("%v %v %v", presence, pair, err)
			}
		}
	}
	told(There, 1)(s.Get([]byte("apple")))
	told(There, 1)(s.GetString("apple"))
	told(There, 1)(s.GetHash(hash))
	told(There, -1)(s.GetUint64(7))
	told(Absent, 0)(s.GetUint64(8))
	for number := range uint64(100) {
		presence, pair, err := s.GetUint64(number)
		same, seen, refusal := v.GetUint64(number)
		if int(presence) != int(same) || pair != Pair(seen) || err != nil || refusal != nil {
			t.Errorf("%d: %v and %v, %v %v", number, presence, same, err, refusal)
		}
	}
	for i := range uint64(1000) {
		check(t, s.InsertUint64(1000+i))
	}
	told(Unknown, 0)(s.GetUint64(7))
	if There.String() != "there" || Presence(9).String() != "Presence(9)" {
		t.Error(There, Presence(9))
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
	wanted := []Pair{{9, 1, -1}, {1001, 13, -1}, {9, 27, 1}, {1000, 12, 1}}
	if answers.Done != 500 || !complete || len(listed) != 6 || !slices.Equal(listed[:4], wanted) {
		t.Errorf("%d were inserted, listed are %v %v", answers.Done, listed, complete)
	}
	v := must(view.LoadSketch(must(ours.MarshalBinary()), nil))
	seen, complete, err := v.ListValues()
	check(t, err)
	for i, one := range seen {
		if Pair(one) != listed[i] {
			t.Errorf("%v is %v in package view", listed[i], one)
		}
	}
	if !complete || len(seen) != len(listed) || must(ours.ValueBits()) != 64 || v.ValueBits() != 64 {
		t.Errorf("%v %v", seen, complete)
	}
	// The same changes make the same bytes.
	check(t, ours.RemoveValue([]byte("apple"), 10))
	check(t, ours.RemoveValueString("plum", 11))
	check(t, ours.RemoveValueHash(1000, 12))
	check(t, ours.InsertValueUint64(1001, 13))
	check(t, ours.RemoveValueBatch(Uint64Keys([]uint64{9}), []uint64{27}, nil))
	check(t, v.RemoveValue([]byte("apple"), 10))
	check(t, v.RemoveValueString("plum", 11))
	check(t, v.RemoveValueHash(1000, 12))
	check(t, v.InsertValueUint64(1001, 13))
	check(t, v.RemoveValueUint64(9, 27))
	if !bytes.Equal(must(ours.MarshalBinary()), must(v.MarshalBinary())) {
		t.Error("package view makes other bytes")
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
