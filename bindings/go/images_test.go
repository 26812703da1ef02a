package petal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestImagesGoRound(t *testing.T) {
	f := filled(Spec{Capacity: 300_000}, 1000)
	defer f.Close()
	path := filepath.Join(t.TempDir(), "filter.petal")
	check(t, f.Save(path))
	image := must(os.ReadFile(path))
	if !bytes.Equal(image, must(f.MarshalBinary())) {
		t.Error("marshalled and saved bytes differ")
	}
	if got := must(f.AppendBinary([]byte("before"))); string(got[:6]) != "before" || !bytes.Equal(got[6:], image) {
		t.Error("AppendBinary")
	}
	var stream bytes.Buffer
	for range 2 {
		if n := must(f.WriteTo(&stream)); n != int64(len(image)) {
			t.Error(n)
		}
	}
	stream.WriteString("rest")
	if !bytes.Equal(stream.Bytes()[:len(image)], image) {
		t.Error("written and saved bytes differ")
	}
	var first, second Filter
	for _, read := range []*Filter{&first, &second, &first} {
		if read == &first && stream.Len() == len("rest") {
			n, err := read.ReadFrom(&stream)
			wants(t, err, ErrForeign)
			if n != 4 || !must(first.Equal(f)) {
				t.Error("a failed read changed the filter")
			}
			break
		}
		if n := must(read.ReadFrom(&stream)); n != int64(len(image)) || !must(read.Equal(f)) {
			t.Error(n)
		}
	}
	wants(t, errorIn(first.ReadFrom(bytes.NewReader(image[:len(image)-1]))), ErrTruncated)
	broken := bytes.Clone(image)
	broken[len(image)/2] ^= 1
	wants(t, first.UnmarshalBinary(broken), ErrCorrupt)
	broken[20] ^= 1
	wants(t, errorIn(first.ReadFrom(bytes.NewReader(broken))), ErrCorrupt)
	check(t, second.UnmarshalBinary(image))
	if !must(second.Equal(f)) {
		t.Error("unmarshalled to something else")
	}
	check(t, first.Close())
	check(t, second.Close())

	mapped := must(Open(path, nil))
	defer mapped.Close()
	if !must(mapped.Equal(f)) || !must(mapped.Describe()).State.Has(StateInPlace) {
		t.Error("the file is another filter")
	}
	check(t, mapped.Verify())
	wants(t, errorIn(mapped.InsertUint64(1)), ErrUnsupportedByHandle)
	wants(t, mapped.Save(path), ErrMappedPath)
	written := must(Open(path, &OpenOptions{Mode: OpenWrite}))
	must(written.InsertUint64(1 << 40))
	wants(t, errorIn(Open(path, &OpenOptions{Mode: OpenWrite})), ErrLocked)
	check(t, written.Sync())
	check(t, written.Close())
	if !mapped.ContainsUint64(1 << 40) {
		t.Error("what one handle writes the other does not see")
	}
	loaded := must(Open(path, &OpenOptions{Mode: OpenLoad}))
	defer loaded.Close()
	must(loaded.InsertUint64(1 << 41))

	packed := filepath.Join(t.TempDir(), "packed")
	check(t, os.WriteFile(packed, append(append(make([]byte, 512), image...), "after"...), 0o600))
	file := must(os.Open(packed))
	inside := must(OpenAt(file, 512, nil))
	defer inside.Close()
	wants(t, errorIn(OpenAt(file, 513, nil)), ErrMisaligned)
	wants(t, errorIn(OpenAt(file, -1, nil)), ErrOutOfRange)
	check(t, file.Close())
	if errorIn(OpenAt(file, 512, nil)) == nil {
		t.Error("a closed file opens")
	}
	if !must(inside.Equal(f)) {
		t.Error("the filter inside a file is another")
	}
}

// The image of a file that somebody is changing is unclean, until somebody marks it clean.
func TestVouchingMakesAFilterClean(t *testing.T) {
	folder := t.TempDir()
	path, torn := filepath.Join(folder, "filter.petal"), filepath.Join(folder, "torn.petal")
	check(t, filled(Spec{Capacity: 1000}, 10).Save(path))
	f := must(Open(path, &OpenOptions{Mode: OpenWrite}))
	must(f.InsertUint64(100))
	check(t, os.WriteFile(torn, must(os.ReadFile(path)), 0o600))
	check(t, f.Close())
	check(t, must(Open(path, nil)).Verify())

	f = must(Open(torn, &OpenOptions{Mode: OpenWrite}))
	if state := must(f.Describe()).State; !state.Has(StateUnclean | StateStaysUnclean) {
		t.Error(state)
	}
	check(t, f.Sync())
	wants(t, f.Verify(), ErrUnclean)
	check(t, f.MarkClean())
	check(t, f.Verify())
	if state := must(f.Describe()).State; state.Has(StateUnclean) || state.Has(StateStaysUnclean) {
		t.Error(state)
	}
	check(t, f.Close())
	again := must(Open(torn, &OpenOptions{Mode: OpenLoad}))
	defer again.Close()
	if !again.ContainsUint64(100) {
		t.Error("lost")
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func TestWritersThatFailAreReported(t *testing.T) {
	f := filled(Spec{Capacity: 100_000}, 10)
	defer f.Close()
	full := errors.New("full")
	n, err := f.WriteTo(writer(func(b []byte) (int, error) { return len(b) / 2, full }))
	wants(t, err, full)
	if n != 128 {
		t.Error(n)
	}
	wants(t, errorIn(f.WriteTo(writer(func(b []byte) (int, error) { return 0, nil }))), io.ErrShortWrite)
	wants(t, errorIn(f.WriteTo(writer(func(b []byte) (int, error) { return len(b) + 1, nil }))), io.ErrShortWrite)
	func() {
		defer func() {
			if recovered := recover(); recovered != "thrown" {
				t.Error(recovered)
			}
		}()
		_, _ = f.WriteTo(writer(func([]byte) (int, error) { panic("thrown") }))
	}()
	check(t, f.Verify())
	must(f.InsertString("still in use"))
}
