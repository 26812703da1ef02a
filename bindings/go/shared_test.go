package petal

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// Shared insertion needs no lock.
func TestManyGoroutinesInsert(t *testing.T) {
	for _, kind := range insertable() {
		if !kind.Capabilities.Has(CanInsertShared) {
			continue
		}
		path := filepath.Join(t.TempDir(), "shared.petal")
		made := must(New(Spec{Kind: kind.Name, Capacity: 60_000}))
		check(t, made.Save(path))
		f := must(Open(path, &OpenOptions{Mode: OpenShare}))
		other := must(Open(path, &OpenOptions{Mode: OpenShare}))
		const goroutines, each = 4, 1000
		var group sync.WaitGroup
		for g := range uint64(goroutines) {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := range uint64(each) {
					key := g<<32 + i
					text := fmt.Sprint("text ", key)
					isNew := &Answers{Bools: make([]bool, 2)}
					must(f.InsertShared([]byte(text + " bytes")))
					must(f.InsertSharedString(text))
					must(f.InsertSharedUint64(key))
					must(f.InsertSharedHash(must(f.HashUint64(^key))))
					check(t, other.InsertSharedBatch(BytesKeys([][]byte{[]byte(text + " 1"), nil}), isNew))
					check(t, other.InsertSharedBatch(StringKeys([]string{text + " 2"}), nil))
					check(t, other.InsertSharedBatch(Uint64Keys([]uint64{key + 1<<24}), isNew))
					check(t, other.InsertSharedBatch(HashKeys([]uint64{must(f.HashUint64(key + 1<<25))}), nil))
					for _, found := range []bool{
						f.ContainsString(text + " bytes"), other.ContainsString(text), other.ContainsUint64(key),
						f.ContainsUint64(^key), f.ContainsString(text + " 1"), f.ContainsString(""),
						f.ContainsString(text + " 2"), f.ContainsUint64(key + 1<<24), f.ContainsUint64(key + 1<<25),
					} {
						if !found {
							t.Error(kind.Name, "lost", key)
						}
					}
				}
			}()
		}
		group.Wait()
		check(t, f.Close())
		check(t, other.Close())
		again := must(Open(path, nil))
		check(t, again.Verify())
		for g := range uint64(goroutines) {
			for i := range uint64(each) {
				if !again.ContainsUint64(g<<32 + i) {
					t.Fatal(kind.Name, "lost", g, i)
				}
			}
		}
		check(t, again.Close())
		check(t, made.AddInsertions(5))
		if count := must(made.Describe()).Insertions; count != 5 {
			t.Error(count)
		}
		wants(t, made.InsertSharedBatch(Uint64Keys([]uint64{1, 2}), &Answers{Bools: []bool{}}), ErrBufferTooSmall)
		check(t, made.Close())
		wants(t, errorIn(made.InsertSharedUint64(1)), ErrClosed)
		wants(t, made.AddInsertions(1), ErrClosed)
	}
}
