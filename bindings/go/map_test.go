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
	check(t, m.Verify())
}

func TestMapsHoldExactValues(t *testing.T) {
	keys, values := entries(10000)
	builder := must(NewMapBuilder(Spec{FalsePositiveRate: 1.0 / 1024}, nil))
	defer builder.Close()
	var answers Answers
	if err := builder.PutBatch(StringKeys(keys), values, &answers); err != nil || answers.Done != len(keys) {
		t.Fatal(answers.Done, err)
	}
	check(t, builder.PutString(keys[0], values[0]))
	if insertions, err := builder.KeyCount(); err != nil || insertions != uint64(len(keys)+1) {
		t.Fatal(insertions, err)
	}
	m := must(builder.Finish())
	defer m.Close()
	checkMap(t, m, keys, values)
	absent := 0
	for i := range 10000 {
		if _, found, _ := m.Get(fmt.Append(nil, "other ", i)); found {
			absent++
		}
	}
	// The number is binomial, 10000 at 1/1024: mean 9.8, standard deviation 3.1.
	if absent > 24 {
		t.Errorf("%d absent keys have values", absent)
	}
	statistics, err := m.Statistics()
	if err != nil || statistics.CountEstimate != float64(len(keys)) || statistics.FalsePositiveRate != 1.0/1024 {
		t.Error(statistics, err)
	}
	info := must(FindKind("bloomier"))
	description, err := m.Describe()
	if err != nil || description.Kind != info.Kind || description.Insertions != uint64(len(keys)+1) {
		t.Error(description, err)
	}
}

func TestMapsAreImages(t *testing.T) {
	keys, values := entries(1000)
	builder, _ := NewMapBuilder(Spec{}, nil)
	for i, key := range keys {
		check(t, builder.Put([]byte(key), values[i]))
	}
	m := must(builder.Finish())
	path := filepath.Join(t.TempDir(), "map.petal")
	check(t, m.Save(path))
	image := must(m.MarshalBinary())
	var streamed bytes.Buffer
	if _, err := m.WriteTo(&streamed); err != nil || !bytes.Equal(streamed.Bytes(), image) {
		t.Fatal("the stream is another image", err)
	}
	opened := must(OpenMap(path, nil))
	loaded := must(LoadMap(image, nil))
	copied := must(loaded.Copy())
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
		check(t, builder.PutUint64(7, value))
	}
	wants(t, errorIn(builder.Finish()), ErrContradiction)
	wants(t, builder.PutHash(1, 1), ErrUnsupported)
	wants(t, builder.PutBatch(Uint64Keys([]uint64{1, 2}), []uint64{1}, nil), ErrBufferTooSmall)
}

func TestMapsAreMadeEmptyAndMerged(t *testing.T) {
	keys, values := entries(2000)
	spec := Spec{Kind: "approximator", Capacity: 2000, Parameters: map[string]string{"lattice": "max"}}
	first := must(NewMap(spec))
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
	check(t, first.Merge(second))
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
	wants(t, errorIn(first.PutHash(7, 1)), ErrUnsupported)
	wants(t, errorIn(first.Replace([]byte("a"), 1)), ErrUnsupported)
	if err := errors.Join(first.Sync(), first.MarkClean(), first.Clear()); err != nil {
		t.Error(err)
	}
	if _, found, _ := first.GetString(keys[0]); found {
		t.Error("a cleared map has a key")
	}
	wants(t, errorIn(NewMap(Spec{})), ErrUnsupported)
}

func TestValuesAreReplaced(t *testing.T) {
	keys, values := entries(2000)
	spec := Spec{Kind: "mutable_bloomier", FalsePositiveRate: 1e-6, Parameters: map[string]string{"value_bits": "64"}}
	builder := must(NewMapBuilder(spec, nil))
	defer builder.Close()
	for i, key := range keys {
		_ = builder.PutString(key, values[i])
	}
	path := filepath.Join(t.TempDir(), "map.petal")
	check(t, builder.Save(path))
	m := must(OpenMap(path, &OpenOptions{Mode: OpenWrite}))
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
	wants(t, errorIn(m.ReplaceHash(1, 1)), ErrUnsupported)
	wants(t, m.ReplaceBatch(StringKeys(keys), values[1:], nil), ErrBufferTooSmall)
	answers := Answers{Bools: make([]bool, len(keys))}
	if err := m.ReplaceBatch(StringKeys(keys), values, &answers); err != nil || answers.TrueCount != len(keys) {
		t.Error(answers, err)
	}
	if value, found, err := m.GetString(keys[2]); value != values[2] || !found || err != nil {
		t.Error(value, found, err)
	}
	check(t, m.Close())
	m = must(OpenMap(path, nil))
	defer m.Close()
	checkMap(t, m, keys, values)
}
