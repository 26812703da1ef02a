package view_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
	"github.com/petal-filter/petal/bindings/go/view"
)

// Images of sketches, routers, aggregates, digests and indexes do not open. The error says what the image is, and that
// package petal opens it.
func TestOtherHandlesAreForPackagePetal(t *testing.T) {
	folder := goldenfiles.Folder(t)
	seen := map[string]bool{}
	for _, sub := range []string{"sketches", "own"} {
		paths, err := filepath.Glob(filepath.Join(folder, sub, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			bytes, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, ".message") {
				continue
			}
			_, opened := view.Open(path, nil)
			_, openedAsMap := view.OpenMap(path, nil)
			_, wrapped := view.Wrap(bytes, nil)
			_, loaded := view.Load(bytes, nil)
			_, read := view.Read(strings.NewReader(string(bytes)), nil)
			_, live := view.OpenLive(path, nil)
			for _, err := range []error{opened, openedAsMap, wrapped, loaded, read, live} {
				if !errors.Is(err, view.ErrNewerVersion) || !strings.HasSuffix(err.Error(), "only package petal opens it") {
					t.Fatalf("%s: %v", path, err)
				}
				_, what, _ := strings.Cut(err.Error(), "the image is ")
				handle, _, _ := strings.Cut(what, " of the kind ")
				seen[handle] = true
			}
		}
	}
	if len(seen) == 0 {
		t.Skip("tests/golden is not here")
	}
	for _, handle := range []string{"a sketch", "a router", "an aggregate", "a digest", "an index"} {
		if !seen[handle] {
			t.Errorf("no error calls an image %s: %v", handle, seen)
		}
	}
}
