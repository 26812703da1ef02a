package petal

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petal-filter/petal/bindings/go/internal/race"
)

var cycles = flag.Int("cycles", 5_000, "how often the memory test opens and closes")

// residentBytes returns how much memory the process has, the library's memory included.
func residentBytes(t *testing.T) uint64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("there is no /proc/self/status")
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	var kilobytes uint64
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// The memory stays the same, however often filters are made and closed, or forgotten. `-cycles 1000000` is the long
// form.
func TestMemoryStaysFlat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter.petal")
	check(t, filled(Spec{Capacity: 10_000}, 10).Save(path))
	image := must(os.ReadFile(path))
	cycle := func(i int) {
		opened := must(Open(path, nil))
		made := must(New(Spec{Capacity: 10_000}))
		if !opened.ContainsUint64(1) || made.ContainsUint64(1) {
			t.Fatal("wrong answers")
		}
		check(t, opened.Close())
		if i%8 == 0 {
			check(t, made.UnmarshalBinary(image))
			b := must(NewBuilder(Spec{}, &BuilderOptions{Progress: func(uint64, uint64) bool { return true }}))
			check(t, b.AddBatch(Uint64Keys([]uint64{1, 2, 3}), nil))
			check(t, must(b.Finish()).Close())
			if i%16 == 0 {
				check(t, b.Close())
			}
		}
		// The cleanup frees every fourth filter.
		if i%4 != 0 {
			check(t, made.Close())
		}
		if i%512 == 0 {
			// The garbage collector takes forgotten filters for small objects, so the test calls it.
			runtime.GC()
		}
	}
	if testing.Short() {
		*cycles = min(*cycles, 500)
	}
	for i := range min(*cycles, 4096) {
		cycle(i)
	}
	runtime.GC()
	before := residentBytes(t)
	for i := range *cycles {
		cycle(i)
	}
	runtime.GC()
	after := residentBytes(t)
	if after > before+(32<<20) {
		t.Errorf("%d cycles took %d MiB", *cycles, (after-before)>>20)
	}
	t.Logf("%d cycles: %.1f MiB before, %.1f MiB after", *cycles, float64(before)/(1<<20), float64(after)/(1<<20))
}

func TestCallsDoNotAllocate(t *testing.T) {
	f := filled(Spec{Capacity: 1000}, 10)
	defer f.Close()
	key, numbers, found := []byte("key"), make([]uint64, 64), make([]bool, 64)
	keys, texts := [][]byte{key, key}, []string{"a", "b"}
	calls := map[string]func(){
		"Contains":          func() { _ = f.Contains(key) },
		"ContainsChecked":   func() { _, _ = f.ContainsChecked(key) },
		"Insert":            func() { _, _ = f.Insert(key) },
		"InsertString":      func() { _, _ = f.InsertString("text") },
		"lookup of numbers": func() { _ = f.ContainsBatch(Uint64Keys(numbers), &Answers{Bools: found}) },
		"lookup of slices":  func() { _ = f.ContainsBatch(BytesKeys(keys), &Answers{Bools: found}) },
		"lookup of strings": func() { _ = f.ContainsBatch(StringKeys(texts), &Answers{Bools: found}) },
		"hashes inserted":   func() { _ = f.InsertBatch(HashKeys(numbers), &Answers{Bools: found}) },
		"slices inserted":   func() { _ = f.InsertBatch(BytesKeys(keys), nil) },
	}
	for name, call := range calls {
		// The garbage collector may empty the pool between two calls.
		if n := testing.AllocsPerRun(1000, call); n > 0.1 && !race.Enabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A handle that a call refers to is not freed before the call returns, although nothing else refers to the handle.
func TestHandlesLiveThroughCalls(t *testing.T) {
	var freed atomic.Bool
	collect := func() {
		for range 5 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
	owner := hold(new(int), func(*int) { freed.Store(true) })
	// Tests cannot import C. This type is C.petal_error.
	check(t, called("a test", func(*_Ctype_struct_petal_error) {
		_ = owner.toRead()
		collect()
		if freed.Load() {
			t.Error("it is freed too early")
		}
	}))
	collect()
	if !freed.Load() {
		t.Error("it is not freed at all")
	}
}
