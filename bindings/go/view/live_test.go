package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

// save writes a filter of the keys "common" and "only <number>".
func save(t *testing.T, path string, number int) {
	t.Helper()
	made, err := filter.New(filter.Spec{Capacity: 5000, FalsePositiveRate: 1e-6})
	if err == nil {
		_, err = made.InsertString("common")
	}
	if err == nil {
		_, err = made.InsertString(fmt.Sprint("only ", number))
	}
	if err == nil {
		err = made.Save(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Goroutines look keys up while the file is replaced many times and the garbage collector unmaps the old files: every
// lookup finds what all files have, and the last file is in use in the end.
func TestALiveFilterFollowsItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.petal")
	save(t, path, 0)
	live, err := view.OpenLive(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if isNew, err := live.Refresh(); isNew || err != nil {
		t.Error("the same file is another one", err)
	}
	var ended atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for !ended.Load() {
				if !live.ContainsString("common") || live.ContainsString("none") {
					t.Error("a lookup is wrong")
					return
				}
			}
		}()
	}
	const last = 8
	for number := 1; number <= last; number++ {
		save(t, path, number)
		if isNew, err := live.Refresh(); !isNew || err != nil {
			t.Errorf("file %d: %v, %v", number, isNew, err)
		}
		runtime.GC()
	}
	ended.Store(true)
	readers.Wait()
	if !live.ContainsString(fmt.Sprint("only ", last)) || live.ContainsString("only 0") {
		t.Error("the last file is not in use")
	}
}

// A file that is damaged, unclean or missing changes nothing.
func TestALiveFilterKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.petal")
	if _, err := view.OpenLive(path, nil); err == nil {
		t.Error("no file is one")
	}
	save(t, path, 7)
	live, err := view.OpenLive(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image[5000] ^= 1
	for name, bytes := range map[string][]byte{"damaged": image, "cut": image[:300], "empty": {}} {
		if err := os.WriteFile(path+".new", bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		if isNew, err := live.Refresh(); isNew || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", name, isNew, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if isNew, err := live.Refresh(); isNew || err == nil {
		t.Error(err)
	}
	if !live.ContainsString("only 7") || live.ContainsString("none") {
		t.Error("the old file is not in use")
	}
	save(t, path, 8)
	if isNew, err := live.Refresh(); !isNew || err != nil || !live.ContainsString("only 8") {
		t.Error(isNew, err)
	}
	var closed *view.Live
	if _, err := closed.Refresh(); err == nil || !closed.ContainsString("none") || closed.String() != "closed" {
		t.Error(err)
	}
}
