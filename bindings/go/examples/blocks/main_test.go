package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryBlockIsWrittenOnce(t *testing.T) {
	const blocks, size, days = 5000, 64, 4
	folder := t.TempDir()
	random := rand.NewChaCha8([32]byte{1})
	volume := make([]byte, blocks*size)
	random.Read(volume)
	file := filepath.Join(folder, "volume")
	written, changed := blocks, blocks
	for day := range days {
		if err := os.WriteFile(file, volume, 0o644); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := run(folder, size, []string{file, file}, &out); err != nil {
			t.Fatal(err)
		}
		t.Logf("day %d\n%s", day, out.String())
		if want := fmt.Sprintf("%d blocks came, %d were written", 2*blocks, changed); !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, out.String())
		}
		// Another file of the same length, of which every tenth block is new.
		changed = blocks / 10
		written += changed
		for i := range changed {
			random.Read(volume[10*i*size:][:size])
		}
	}
	s, err := openStore(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if want := uint64((written - blocks/10) * size); s.end != want {
		t.Errorf("%d bytes are stored, and not %d", s.end, want)
	}
	// Names that are not there: one in a hundred is searched for.
	for i := range 10_000 {
		if _, isThere, err := s.find(name([]byte(fmt.Sprintf("%032d", i)))); isThere || err != nil {
			t.Fatal(i, isThere, err)
		}
	}
	if s.vain > 200 {
		t.Errorf("%d searches in vain", s.vain)
	}
}

func TestAStoreFindsDamage(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "text")
	if err := os.WriteFile(file, bytes.Repeat([]byte("text"), 100), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(folder, 7, []string{file}, &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "blocks"), bytes.Repeat([]byte("?"), 400), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(folder, 7, []string{file}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "another") {
		t.Error(err)
	}
}
