package petal

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// entries are keys with values, in two slices.
func entries(count int) (keys []string, values []uint64) {
	for i := range count {
		keys = append(keys, fmt.Sprintf("key %d", i))
		values = append(values, uint64(i)*uint64(i))
	}
	return keys, values
}

func checkMap(t *testing.T, m *Map, keys []string, values []uint64) {
	t.Helper()
	for i, key := range keys {
		value, found, err := m.GetString(key)
		if err != nil || !found || value != values[i] {
			t.Fatalf("%q has the value %d, %v, %v; expected %d", key, value, found, err, values[i])
		}
	}
	got, answers := make([]uint64, len(keys)), Answers{Bools: make([]bool, len(keys))}
	if err := m.GetBatch(StringKeys(keys), got, &answers); err != nil || answers.TrueCount != len(keys) {
		t.Fatalf("a batch found %d of %d keys: %v", answers.TrueCount, len(keys), err)
	}
	for i := range keys {
		if got[i] != values[i] || !answers.Bools[i] {
			t.Fatalf("in a batch %q has the value %d, expected %d", keys[i], got[i], values[i])
		}
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
}

func TestMapsHoldExactValues(t *testing.T) {
	keys, values := entries(10000)
	builder, err := NewMapBuilder(Spec{FalsePositiveRate: 1.0 / 1024}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer builder.Close()
	var answers Answers
	if err := builder.PutBatch(StringKeys(keys), values, &answers); err != nil || answers.Done != len(keys) {
		t.Fatal(answers.Done, err)
	}
	if err := builder.PutString(keys[0], values[0]); err != nil {
		t.Fatal(err)
	}
	if offered, err := builder.Offered(); err != nil || offered != uint64(len(keys)+1) {
		t.Fatal(offered, err)
	}
	m, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	checkMap(t, m, keys, values)
	absent := 0
	for i := range 10000 {
		if _, found, _ := m.Get(fmt.Append(nil, "other ", i)); found {
			absent++
		}
	}
	// Binomial of 10000 at 1/1024: 9.8 with a deviation of 3.1.
	if absent > 24 {
		t.Errorf("%d absent keys have values", absent)
	}
	statistics, err := m.Statistics()
	if err != nil || statistics.CountEstimate != float64(len(keys)) || statistics.FalsePositiveRate != 1.0/1024 {
		t.Error(statistics, err)
	}
	info, err := FindKind("bloomier")
	if err != nil {
		t.Fatal(err)
	}
	description, err := m.Describe()
	if err != nil || description.Kind != info.Kind || description.Offered != uint64(len(keys)+1) {
		t.Error(description, err)
	}
}

func TestMapsAreImages(t *testing.T) {
	keys, values := entries(1000)
	builder, _ := NewMapBuilder(Spec{}, nil)
	for i, key := range keys {
		if err := builder.Put([]byte(key), values[i]); err != nil {
			t.Fatal(err)
		}
	}
	m, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "map.petal")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	image, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var streamed bytes.Buffer
	if _, err := m.WriteTo(&streamed); err != nil || !bytes.Equal(streamed.Bytes(), image) {
		t.Fatal("the stream is another image", err)
	}
	opened, err := OpenMap(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadMap(image, nil)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := loaded.Copy()
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []*Map{m, opened, loaded, copied} {
		checkMap(t, each, keys, values)
		each.Close()
		if _, _, err := each.GetString("a"); err == nil {
			t.Error("a closed map answers", err)
		}
	}
	if _, err := Open(path, nil); !errors.Is(err, ErrUnsupported) {
		t.Error("a map was opened as a filter", err)
	}
}

func TestTwoValuesOfAKeyAreRefused(t *testing.T) {
	builder, _ := NewMapBuilder(Spec{}, nil)
	defer builder.Close()
	for _, value := range []uint64{1, 2} {
		if err := builder.PutUint64(7, value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := builder.Finish(); !errors.Is(err, ErrContradiction) {
		t.Error(err)
	}
	if err := builder.PutHash(1, 1); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if err := builder.PutBatch(Uint64Keys([]uint64{1, 2}), []uint64{1}, nil); !errors.Is(err, ErrBufferTooSmall) {
		t.Error(err)
	}
}
