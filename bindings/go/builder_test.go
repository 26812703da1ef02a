package petal

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
)

func TestBuilders(t *testing.T) {
	for _, kind := range filterKinds() {
		calls := 0
		b := must(NewBuilder(Spec{Kind: kind.Name, FalsePositiveRate: 0.001}, &BuilderOptions{
			MemoryLimit: 1 << 20, TemporaryDirectory: t.TempDir(), Threads: 2,
			Progress: func(done, total uint64) bool { calls++; return done <= total },
		}))
		numbers := make([]uint64, 300_000)
		for i := range numbers {
			numbers[i] = uint64(i)
		}
		added := 0
		add := func(keys Keys) {
			var answers Answers
			check(t, b.AddBatch(keys, &answers))
			added += answers.Done
		}
		add(Uint64Keys(numbers))
		add(BytesKeys([][]byte{[]byte("a"), nil}))
		add(StringKeys([]string{"b", "c"}))
		check(t, b.Add([]byte("d")))
		check(t, b.AddString("e"))
		check(t, b.AddUint64(1<<60))
		check(t, b.AddHash(1))
		add(HashKeys([]uint64{2, 3}))
		wants(t, b.AddBatch(Uint64Keys(numbers), &Answers{Bools: make([]bool, len(numbers))}), ErrUnsupported)
		if count := must(b.KeyCount()); count != uint64(added)+4 || count != 300_010 {
			t.Error(count)
		}
		f := must(b.Finish())
		for _, key := range []string{"a", "", "b", "c", "d", "e"} {
			if !f.ContainsString(key) {
				t.Errorf("%s lost %q", kind.Name, key)
			}
		}
		var found Answers
		check(t, f.ContainsBatch(Uint64Keys(numbers), &found))
		if found.TrueCount < len(numbers)-mayLose(kind, len(numbers)) || !f.ContainsHash(3) {
			t.Errorf("%s has only %d", kind.Name, found.TrueCount)
		}
		if capacity := must(f.Describe()).Capacity; capacity < 300_000 || capacity > 300_010 || calls == 0 {
			t.Errorf("%s: capacity %d, %d calls", kind.Name, capacity, calls)
		}
		check(t, f.Close())
		check(t, b.AddBatch(Uint64Keys(numbers[:1000]), nil))
		path := filepath.Join(t.TempDir(), "built")
		check(t, b.Save(path))
		saved := must(Open(path, nil))
		check(t, saved.ContainsBatch(Uint64Keys(numbers[:1000]), &found))
		if found.TrueCount != 1000 || must(b.KeyCount()) != 0 {
			t.Error("the saved filter lost keys")
		}
		check(t, saved.Close())
		check(t, b.Close())
	}
}

func TestBuildersStopWhenProgressSaysSo(t *testing.T) {
	var behave func() bool
	b := must(NewBuilder(Spec{}, &BuilderOptions{Progress: func(uint64, uint64) bool { return behave() }}))
	defer b.Close()
	check(t, b.AddBatch(Uint64Keys(make([]uint64, 100_000)), nil))
	behave = func() bool { return false }
	wants(t, errorIn(b.Finish()), ErrCancelled)
	behave = func() bool { panic("thrown") }
	func() {
		defer func() {
			if recovered := recover(); recovered != "thrown" {
				t.Error(recovered)
			}
		}()
		_, _ = b.Finish()
	}()
	behave = func() bool { return true }
	f := must(b.Finish())
	defer f.Close()
	if !f.ContainsUint64(0) {
		t.Error("the keys did not stay")
	}
	_, err := NewBuilder(Spec{}, &BuilderOptions{MemoryLimit: 1, Progress: func(uint64, uint64) bool { return true }})
	wants(t, err, ErrOutOfRange)
}

// Builders with shares of the keys make what one builder makes of all.
func TestKeysOfSeveralBuilders(t *testing.T) {
	spec := Spec{Kind: "fuse", FalsePositiveRate: 0.001}
	one, here, there := must(NewBuilder(spec, nil)), must(NewBuilder(spec, nil)), must(NewBuilder(spec, nil))
	for i := range uint64(1000) {
		check(t, one.AddUint64(i))
		if i < 600 {
			check(t, here.AddUint64(i))
		} else {
			check(t, there.AddUint64(i))
		}
	}
	var state bytes.Buffer
	if n := must(there.WriteTo(&state)); n != int64(state.Len()) {
		t.Errorf("%d of %d bytes", n, state.Len())
	}
	wants(t, here.Merge(nil), ErrForeign)
	wants(t, here.Merge(state.Bytes()[:state.Len()-1]), ErrTruncated)
	other := must(NewBuilder(Spec{Kind: "fuse", FalsePositiveRate: 0.001, Seed: 1}, nil))
	wants(t, other.Merge(state.Bytes()), ErrIncompatible)
	check(t, here.Merge(state.Bytes()))
	merged, expected := must(here.Finish()), must(one.Finish())
	if !bytes.Equal(must(merged.MarshalBinary()), must(expected.MarshalBinary())) {
		t.Error("the filters differ")
	}
	full := errors.New("full")
	if _, err := there.WriteTo(writer(func([]byte) (int, error) { return 0, full })); !errors.Is(err, full) {
		t.Error(err)
	}

	first, second := must(NewMapBuilder(Spec{}, nil)), must(NewMapBuilder(Spec{}, nil))
	check(t, first.PutString("a", 1))
	check(t, second.PutString("b", 2))
	state.Reset()
	must(second.WriteTo(&state))
	wants(t, first.Merge(state.Bytes()[:20]), ErrTruncated)
	check(t, first.Merge(state.Bytes()))
	m := must(first.Finish())
	for key, value := range map[string]uint64{"a": 1, "b": 2} {
		if got, found, err := m.GetString(key); err != nil || !found || got != value {
			t.Errorf("%s: %d, %v, %v", key, got, found, err)
		}
	}
}
