// Package goldenfiles unpacks the golden files of tests/golden. The files do not exist if this module was downloaded
// alone.
package goldenfiles

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Folder unpacks all golden images into a temporary folder of the test, and returns its name. Images of maps, of
// sketches and of kinds that are alone in their handle go into the subfolders maps, sketches and own, and those of
// filters of digests into digests. The folder is empty if the module is not in its repository.
func Folder(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	root := repository()
	if _, err := os.Stat(filepath.Join(root, "include", "petal.h")); errors.Is(err, os.ErrNotExist) {
		return folder
	}
	for _, sub := range []string{"", "maps", "sketches", "own"} {
		archives, err := filepath.Glob(filepath.Join(root, "tests", "golden", sub, "*.tar"))
		if err != nil || len(archives) == 0 {
			t.Fatalf("there are no golden files in tests/golden/%s: %v", sub, err)
		}
		into := filepath.Join(folder, sub)
		if err := os.MkdirAll(into, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, archive := range archives {
			if err := unpack(archive, into); err != nil {
				t.Fatalf("%s: %v", archive, err)
			}
		}
	}
	digests := os.DirFS(filepath.Join(root, "tests", "golden", "digests"))
	if err := os.CopyFS(filepath.Join(folder, "digests"), digests); err != nil {
		t.Fatal(err)
	}
	return folder
}

// repository returns the folder of the module's repository, for a test of any package.
func repository() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../../..")
}

func unpack(archive, folder string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	for entries := tar.NewReader(file); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		bytes, err := io.ReadAll(entries)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(entry.Name)), bytes, 0o644); err != nil {
			return err
		}
	}
}
