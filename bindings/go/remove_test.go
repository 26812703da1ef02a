package petal

import (
	"errors"
	"math"
	"testing"
)

func TestCountsGoUpAndDown(t *testing.T) {
	filter, err := New(Spec{Kind: "counting", Capacity: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	defer filter.Close()
	keys := make([]string, 9000)
	for i := range keys {
		keys[i] = string(rune('a'+i%26)) + string(rune(i))
	}
	for range 2 {
		if err := filter.InsertBatch(StringKeys(keys), nil); err != nil {
			t.Fatal(err)
		}
	}
	counts := make([]uint64, len(keys))
	if err := filter.CountBatch(StringKeys(keys), counts); err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		count, err := filter.CountString(key)
		if err != nil || count != counts[i] || count < 2 {
			t.Fatalf("%q: %d, %d in the batch, %v", key, count, counts[i], err)
		}
		if bytes, err := filter.Count([]byte(key)); err != nil || bytes != count {
			t.Fatalf("%q: %d, %v", key, bytes, err)
		}
	}
	for i, key := range keys {
		var removed bool
		if i%2 == 0 {
			removed, err = filter.RemoveString(key)
		} else {
			removed, err = filter.Remove([]byte(key))
		}
		if err != nil || !removed {
			t.Fatalf("%q: %v, %v", key, removed, err)
		}
	}
	answers := Answers{Bools: make([]bool, len(keys))}
	if err := filter.RemoveBatch(StringKeys(keys), &answers); err != nil || answers.TrueCount != len(keys) {
		t.Fatalf("%d of %d, %v", answers.TrueCount, len(keys), err)
	}
	if removed, err := filter.RemoveUint64(7); err != nil || removed {
		t.Fatalf("a key that is not there: %v, %v", removed, err)
	}
	if statistics, err := filter.Statistics(); err != nil || statistics.Fill != 0 || statistics.Saturated != 0 {
		t.Fatalf("%+v, %v", statistics, err)
	}
	for range 20 {
		if _, err := filter.InsertHash(5); err != nil {
			t.Fatal(err)
		}
	}
	if removed, err := filter.RemoveHash(5); err != nil || !removed {
		t.Fatal(removed, err)
	}
	if count, err := filter.CountHash(5); err != nil || count != 15 {
		t.Fatal(count, err)
	}
	if count, err := filter.CountUint64(7); err != nil || count != 0 {
		t.Fatal(count, err)
	}
	other, err := New(Spec{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Remove(nil); !errors.Is(err, ErrUnsupported) {
		t.Fatal(err)
	}
	if err := other.CountBatch(StringKeys(keys), counts); !errors.Is(err, ErrUnsupported) {
		t.Fatal(err)
	}
	if counts[0] != math.MaxUint64 {
		t.Fatal(counts[0])
	}
}
