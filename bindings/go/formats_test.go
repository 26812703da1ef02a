package petal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The bytes that Guava 33 wrote for the keys key-0 to key-16, sized for 17 at 0.001.
var guava = []byte{
	0x01, 0x0a, 0x00, 0x00, 0x00, 0x04, 0x11, 0x8b, 0x20, 0x39, 0x08, 0xca, 0xe1, 0x5d, 0x9c, 0x65, 0xb7, 0xba, 0xf1,
	0x10, 0x01, 0xc1, 0xef, 0x60, 0xd3, 0x2b, 0x0c, 0xb7, 0x69, 0xff, 0xe7, 0x44, 0x12, 0xfd, 0x46, 0x41, 0x9b, 0x91,
}

func numberedTexts(name string, count int) []string {
	made := make([]string, count)
	for i := range made {
		made[i] = fmt.Sprintf("%s-%d", name, i)
	}
	return made
}

// found counts the keys that a filter may have, with single lookups and with a batch.
func found(t *testing.T, f *Filter, keys []string) (count int) {
	t.Helper()
	answers := Answers{Bools: make([]bool, len(keys))}
	check(t, f.ContainsBatch(StringKeys(keys), &answers))
	for i, key := range keys {
		if f.ContainsString(key) != answers.Bools[i] {
			t.Errorf("%q is %v by itself and %v in a batch", key, !answers.Bools[i], answers.Bools[i])
		}
		if answers.Bools[i] {
			count++
		}
	}
	return count
}

// What CF.SCANDUMP gave for the keys key-0 to key-9, after CF.RESERVE for 64.
var cuckoo = []byte{
	0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x14, 0x00, 0x01, 0x00,
	0x00, 0x00, 0xa4, 0x00, 0x0d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xda, 0x21, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5b, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1b, 0x86, 0x00, 0x00, 0xe7, 0x00, 0x00,
	0x00, 0xf8, 0x00, 0x5a, 0x00, 0x00, 0x00,
}

func TestACuckooFilterOfRedisBloom(t *testing.T) {
	f := must(ImportFilter("redisbloom_cuckoo", cuckoo, nil))
	defer f.Close()
	for range 2 {
		must(f.InsertString("pear"))
	}
	again := must(ImportFilter("redisbloom_cuckoo", must(f.Export("redisbloom_cuckoo", "")), nil))
	defer again.Close()
	must(again.RemoveString("pear"))
	if before, after := must(f.CountString("pear")), must(again.CountString("pear")); before != 2 || after != 1 {
		t.Error(before, after)
	}
	if n := found(t, again, numberedTexts("key", 10)); n != 10 {
		t.Error(n)
	}
}

func TestAFilterOfGuava(t *testing.T) {
	f := must(ImportFilter("guava", guava, nil))
	defer f.Close()
	if n := found(t, f, numberedTexts("key", 17)); n != 17 {
		t.Error(n)
	}
	if n := found(t, f, numberedTexts("absent", 10_000)); n != 55 {
		t.Errorf("%d, and Guava itself says 55", n)
	}
	for _, variant := range []string{"", "mitz_64"} {
		if !bytes.Equal(must(f.Export("guava", variant)), guava) {
			t.Error("it goes out as other bytes")
		}
	}
	description := must(f.Describe())
	if description.Kind.String() != "foreign_bloom" || description.Hash.String() != "format" {
		t.Error(description)
	}

	path := filepath.Join(t.TempDir(), "guava.petal")
	check(t, f.Save(path))
	mapped := must(Open(path, nil))
	defer mapped.Close()
	if !must(mapped.Equal(f)) || !bytes.Equal(must(mapped.Export("guava", "")), guava) {
		t.Error("by an image it is another filter")
	}
	if isNew := must(f.InsertString("one more")); !isNew || mapped.ContainsString("one more") {
		t.Error("an insertion")
	}
	// The format hashes whole keys, so the filter takes no hashes.
	wants(t, errorIn(f.InsertHash(1)), ErrUnsupported)
	if !f.ContainsHash(1) {
		t.Error("a hash that nobody can look up is said not to be there")
	}
	empty := must(New(must(f.Spec())))
	defer empty.Close()
	check(t, empty.Merge(f))
	if !must(empty.Equal(f)) {
		t.Error("its spec makes another filter")
	}
}

func TestEveryFormatThatIsMade(t *testing.T) {
	formats := Formats()
	if len(formats) == 0 {
		t.Fatal("no formats")
	}
	for _, format := range formats {
		if info := must(FindFormat(format.Name)); info.Summary != format.Summary || len(info.Variants) == 1 {
			t.Errorf("%+v", info)
		}
		if format.Capabilities.Has(FormatBuild) {
			continue
		}
		if !format.Capabilities.Has(FormatCreate) {
			wants(t, errorIn(FormatSpec(format.Name, "", 1001, 0.01, 0)), ErrUnsupported)
			continue
		}
		for _, variant := range append([]string{""}, format.Variants...) {
			f := must(New(must(FormatSpec(format.Name, variant, 1001, 0.01, 0))))
			check(t, f.InsertBatch(StringKeys(numberedTexts("key", 1001)), nil))
			if format.Capabilities.Has(FormatWrite) {
				goesRound(t, format, variant, f)
			}
			check(t, f.Close())
		}
		wants(t, errorIn(FormatSpec(format.Name, "rose", 1001, 0.01, 0)), ErrUnknownValue)
	}
}

// goesRound writes a filter with 1001 keys in a format and reads it back.
func goesRound(t *testing.T, format FormatInfo, variant string, f *Filter) {
	t.Helper()
	foreign := must(f.Export(format.Name, variant))
	var stream bytes.Buffer
	if n := must(f.ExportTo(&stream, format.Name, variant)); n != int64(len(foreign)) {
		t.Errorf("%s: %d bytes of %d", format.Name, n, len(foreign))
	}
	if !bytes.Equal(stream.Bytes(), foreign) {
		t.Errorf("%s: written and exported bytes differ", format.Name)
	}
	if format.Capabilities.Has(FormatRecognise) && must(RecogniseFormat(foreign)).Name != format.Name {
		t.Errorf("%s is not recognised", format.Name)
	}
	again, err := ImportFilter(format.Name, foreign, nil)
	if errors.Is(err, ErrContradiction) {
		shape := must(f.Describe())
		again, err = ImportFilter(format.Name, foreign, &ImportOptions{Bits: shape.Bits, Hashes: shape.Hashes,
			Seed: shape.Seed})
	}
	check(t, err)
	defer again.Close()
	if n := found(t, again, numberedTexts("key", 1001)); n != 1001 {
		t.Errorf("%s: %d keys of 1001", format.Name, n)
	}
	if !bytes.Equal(must(again.Export(format.Name, "")), foreign) {
		t.Errorf("%s goes out as other bytes", format.Name)
	}
}

type failingWriter struct{ panics bool }

func (w failingWriter) Write([]byte) (int, error) {
	if w.panics {
		panic("the tape is torn")
	}
	return 0, io.ErrClosedPipe
}

func TestFormatsRefuse(t *testing.T) {
	f := must(ImportFilter("guava", guava, nil))
	own := must(New(Spec{Capacity: 100}))
	defer own.Close()
	_, err := own.Export("guava", "")
	wants(t, err, ErrUnsupported)
	if !strings.Contains(err.Error(), "no form in guava") {
		t.Error(err)
	}
	wants(t, errorIn(own.ExportTo(io.Discard, "guava", "")), ErrUnsupported)
	for _, name := range []string{"rose", "", "\xff"} {
		wants(t, errorIn(ImportFilter(name, guava, nil)), ErrUnknownValue)
		wants(t, errorIn(FindFormat(name)), ErrUnknownValue)
	}
	for _, call := range []func(name string) error{
		func(name string) error { _, err := ImportFilter(name, guava, nil); return err },
		func(name string) error { _, err := FindFormat(name); return err },
		func(name string) error { _, err := f.Export(name, ""); return err },
		func(name string) error { _, err := f.Export("guava", name); return err },
		func(name string) error { _, err := f.ExportTo(io.Discard, name, ""); return err },
		func(name string) error { _, err := FormatSpec(name, "", 1, 0.01, 0); return err },
	} {
		wants(t, call("a\x00b"), ErrOutOfRange)
	}
	for _, cut := range [][]byte{nil, {}, guava[:5], guava[:37]} {
		wants(t, errorIn(ImportFilter("guava", cut, nil)), ErrTruncated)
	}
	wants(t, errorIn(ImportFilter("guava", append(slices.Clone(guava), 0), nil)), ErrCorrupt)
	wants(t, errorIn(ImportFilter("guava", guava, &ImportOptions{Seed: 7})), ErrContradiction)
	for _, other := range [][]byte{nil, []byte("an apple")} {
		wants(t, errorIn(RecogniseFormat(other)), ErrForeign)
	}
	wants(t, errorIn(FormatSpec("guava", "", 100, 2, 0)), ErrFalsePositiveRate)

	// An export returns the writer's error and passes on its panic.
	wants(t, errorIn(f.ExportTo(failingWriter{}, "guava", "")), io.ErrClosedPipe)
	func() {
		defer func() {
			if recover() != "the tape is torn" {
				t.Error("the panic was lost")
			}
		}()
		_, _ = f.ExportTo(failingWriter{panics: true}, "guava", "")
	}()
	check(t, f.Close())
	wants(t, errorIn(f.Export("guava", "")), ErrClosed)
	wants(t, errorIn(f.ExportTo(io.Discard, "guava", "")), ErrClosed)
}
