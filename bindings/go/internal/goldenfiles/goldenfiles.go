// Package goldenfiles unpacks the golden files of tests/golden, which is not there where this module alone was
// downloaded.
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

// Folder unpacks all golden images into a folder that goes with the test, those of maps and sketches into its
// subfolders maps and sketches, and returns its name. The folder is empty where there is no repository around the
// module.
func Folder(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	root := repository()
	if _, err := os.Stat(filepath.Join(root, "include", "petal.h")); errors.Is(err, os.ErrNotExist) {
		return folder
	}
	for _, sub := range []string{"", "maps", "sketches"} {
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
	return folder
}

// repository is the folder that the module's repository would be, whichever package's test asks.
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
