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

func TestMapsAreMadeEmptyAndMerged(t *testing.T) {
	keys, values := entries(2000)
	spec := Spec{Kind: "approximator", Capacity: 2000, Parameters: map[string]string{"lattice": "max"}}
	first, err := NewMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, _ := NewMap(spec)
	defer second.Close()
	if !first.Capabilities().Has(CanPut|CanMerge|CanClear) || first.Capabilities().Has(CanReplace) {
		t.Error(first.Capabilities())
	}
	for i, key := range keys {
		if changed, err := first.PutString(key, 1); err != nil || i == 0 && !changed {
			t.Fatal(changed, err)
		}
	}
	answers := Answers{Bools: make([]bool, len(keys))}
	if err := second.PutBatch(StringKeys(keys), values, &answers); err != nil || answers.Done != len(keys) {
		t.Fatal(answers, err)
	}
	if err := first.Merge(second); err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if value, found, err := first.GetString(key); err != nil || !found || value < max(1, values[i]) {
			t.Fatal(key, value, found, err)
		}
	}
	if changed, err := first.Put([]byte(keys[0]), values[0]); changed || err != nil {
		t.Error(changed, err)
	}
	if changed, err := first.PutUint64(7, 1<<63); !changed || err != nil {
		t.Error(changed, err)
	}
	if _, err := first.PutHash(7, 1); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if _, err := first.Replace([]byte("a"), 1); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if err := errors.Join(first.Sync(), first.Vouch(), first.Clear()); err != nil {
		t.Error(err)
	}
	if _, found, _ := first.GetString(keys[0]); found {
		t.Error("a cleared map has a key")
	}
	if _, err := NewMap(Spec{}); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}

func TestValuesAreReplaced(t *testing.T) {
	keys, values := entries(2000)
	spec := Spec{Kind: "mutable_bloomier", FalsePositiveRate: 1e-6, Parameters: map[string]string{"value_bits": "64"}}
	builder, err := NewMapBuilder(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer builder.Close()
	for i, key := range keys {
		_ = builder.PutString(key, values[i])
	}
	path := filepath.Join(t.TempDir(), "map.petal")
	if err := builder.Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := OpenMap(path, &OpenOptions{Mode: OpenWrite})
	if err != nil {
		t.Fatal(err)
	}
	for i := range values {
		values[i] ^= 1 << 50
	}
	if found, err := m.ReplaceString(keys[0], values[0]); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := m.Replace([]byte(keys[1]), values[1]); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := m.ReplaceUint64(1, 1); found || err != nil {
		t.Error(found, err)
	}
	if _, err := m.ReplaceHash(1, 1); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if err := m.ReplaceBatch(StringKeys(keys), values[1:], nil); !errors.Is(err, ErrBufferTooSmall) {
		t.Error(err)
	}
	answers := Answers{Bools: make([]bool, len(keys))}
	if err := m.ReplaceBatch(StringKeys(keys), values, &answers); err != nil || answers.TrueCount != len(keys) {
		t.Error(answers, err)
	}
	if value, found, err := m.GetString(keys[2]); value != values[2] || !found || err != nil {
		t.Error(value, found, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	m, err = OpenMap(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	checkMap(t, m, keys, values)
	if err := m.Verify(); err != nil {
		t.Error(err)
	}
}
