package petal

import (
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
		if count := must(b.Offered()); count != uint64(added)+4 || count != 300_010 {
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
		if found.TrueCount != 1000 || must(b.Offered()) != 0 {
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
