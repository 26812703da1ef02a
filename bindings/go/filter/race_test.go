package filter_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/internal/race"
)

var (
	keys      = filter.StringKeys([]string{"a", "b"})
	insert    = func(f *filter.Filter) { must(f.InsertString("a")) }
	batch     = func(f *filter.Filter) { must(f.InsertBatch(keys, nil)) }
	lookup    = func(f *filter.Filter) { f.ContainsString("b") }
	lookups   = func(f *filter.Filter) { must(f.ContainsBatch(keys, nil)) }
	measure   = func(f *filter.Filter) { must(f.Statistics()); must(f.Estimate()) }
	write     = func(f *filter.Filter) { must(f.WriteTo(io.Discard)) }
	copied    = func(f *filter.Filter) { must(f.Copy()) }
	forget    = func(f *filter.Filter) { _ = f.Clear() }
	fold      = func(f *filter.Filter) { _ = f.Fold(2) }
	mergeInto = func(f *filter.Filter) { _ = f.Merge(must(filter.New(f.Spec()))) }
	mergeFrom = func(f *filter.Filter) { _ = must(filter.New(f.Spec())).Merge(f) }
)

// pairs are what two goroutines do with one filter at once, and whether they may.
var pairs = map[string]struct {
	allowed    bool
	one, other func(*filter.Filter)
}{
	"insert and insert":       {false, insert, insert},
	"insert and lookup":       {false, insert, lookup},
	"lookup and insert":       {false, lookup, insert},
	"batch and lookups":       {false, batch, lookups},
	"insert and statistics":   {false, insert, measure},
	"insert and write":        {false, insert, write},
	"insert and copy":         {false, insert, copied},
	"clear and lookup":        {false, forget, lookup},
	"fold and lookup":         {false, fold, lookup},
	"merge into and lookup":   {false, mergeInto, lookup},
	"merge from and insert":   {false, mergeFrom, insert},
	"lookup and lookup":       {true, lookup, lookup},
	"lookups and lookup":      {true, lookups, lookup},
	"lookup and statistics":   {true, lookup, measure},
	"write and copy":          {true, write, copied},
	"merge from and lookup":   {true, mergeFrom, lookup},
	"merge from and the same": {true, mergeFrom, mergeFrom},
}

// pairVariable names the pair that a copy of this program is to do.
const pairVariable = "PETAL_TEST_PAIR"

// The race detector reports what the comments forbid and nothing that they allow. What it reports makes the program
// fail, so a copy of it does each pair. Both do their thing once. A forbidden pair is run until it is reported, at most
// so many times, because something else may order the two.
func TestRacesAreReported(t *testing.T) {
	if !race.Enabled {
		t.Skip("needs go test -race")
	}
	if name := os.Getenv(pairVariable); name != "" {
		f := must(filter.New(filter.Spec{Capacity: 1000, Foldable: true}))
		must(f.InsertString("c"))
		var group sync.WaitGroup
		group.Add(2)
		for _, act := range []func(*filter.Filter){pairs[name].one, pairs[name].other} {
			go func() {
				defer group.Done()
				act(f)
			}()
		}
		group.Wait()
		return
	}
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 20
			if pair.allowed {
				runs = 1
			}
			reported := false
			for run := 0; run < runs && !reported; run++ {
				command := exec.Command(must(os.Executable()), "-test.run=^TestRacesAreReported$", "-test.count=1")
				command.Env = append(os.Environ(), pairVariable+"="+name, "GORACE=atexit_sleep_ms=0")
				output, err := command.CombinedOutput()
				reported = bytes.Contains(output, []byte("WARNING: DATA RACE"))
				if reported != (err != nil) || reported && pair.allowed {
					t.Fatalf("reported: %v, allowed: %v, %v\n%s", reported, pair.allowed, err, output)
				}
			}
			if !reported && !pair.allowed {
				t.Errorf("no race is reported in %d runs", runs)
			}
		})
	}
}
