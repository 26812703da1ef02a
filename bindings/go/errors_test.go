package petal

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestErrorsSayWhatIsWrong(t *testing.T) {
	_, err := New(Spec{FalsePositiveRate: 1.5})
	wants(t, err, ErrFalsePositiveRate)
	var failure *Error
	if !errors.As(err, &failure) || !strings.Contains(failure.Message, "1.5") || failure.Op != "petal.New" ||
		!strings.HasPrefix(err.Error(), "petal.New: ") {
		t.Errorf("%#v", err)
	}
	if errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		t.Error("an error is everything")
	}
	_, err = Open(filepath.Join(t.TempDir(), "none"), nil)
	wants(t, err, ErrNotFound)
	wants(t, err, fs.ErrNotExist)
	wants(t, err, syscall.ENOENT)
	wants(t, errorIn(Open("a\x00b", nil)), ErrOutOfRange)
	wants(t, errorIn(New(Spec{Kind: "a\x00b"})), ErrOutOfRange)
	wants(t, errorIn(New(Spec{Kind: "blooming"})), ErrUnknownValue)
	wants(t, errorIn(New(Spec{Hash: 77})), ErrUnknownValue)
	wants(t, errorIn(New(Spec{Kind: "bloom", Bits: 1 << 62, Hashes: 1})), ErrOutOfMemory)
	wants(t, errorIn(Load(nil, nil)), ErrTruncated)
	wants(t, errorIn(Load([]byte("PAR1"), nil)), ErrForeign)
	for status := ErrFull; status < 0; status++ {
		if message := status.Error(); message == "" || strings.Contains(message, "unknown") {
			t.Errorf("status %d: %q", status, message)
		}
	}
	external := must(New(Spec{Hash: External}))
	defer external.Close()
	wants(t, errorIn(external.InsertString("a")), ErrExternalHash)
	found, err := external.ContainsChecked([]byte("a"))
	wants(t, err, ErrExternalHash)
	if !found || !external.ContainsString("a") || external.ContainsHash(1) {
		t.Error("a failed lookup said false")
	}
	answers := Answers{Bools: []bool{false, false}, Done: 9}
	wants(t, external.InsertBatch(StringKeys([]string{"a"}), &answers), ErrExternalHash)
	if answers.Done != 0 || answers.TrueCount != 0 || answers.Bools[0] {
		t.Error(answers)
	}
	wants(t, external.ContainsBatch(StringKeys([]string{"a"}), &answers), ErrExternalHash)
	if answers.Done != 0 || answers.TrueCount != 1 || !answers.Bools[0] || answers.Bools[1] {
		t.Error(answers)
	}
}

// Methods of closed filters and builders fail, and their lookups say true.
func TestClosedOnesFail(t *testing.T) {
	closed := must(New(Spec{}))
	check(t, closed.Close())
	b := must(NewBuilder(Spec{}, nil))
	check(t, b.Close())
	check(t, b.Close())
	for _, f := range []*Filter{closed, {}, nil} {
		check(t, f.Close())
		if !f.Contains(nil) || !f.ContainsString("a") || !f.ContainsUint64(1) || !f.ContainsHash(1) {
			t.Error("a closed filter said false")
		}
		answers := Answers{Bools: []bool{false}}
		wants(t, f.ContainsBatch(Uint64Keys([]uint64{1}), &answers), ErrClosed)
		if answers.TrueCount != 1 || !answers.Bools[0] {
			t.Error("a closed filter said false")
		}
		_, added := f.Insert(nil)
		_, described := f.Describe()
		_, measured := f.Statistics()
		_, copied := f.Copy()
		_, written := f.WriteTo(io.Discard)
		_, marshalled := f.MarshalBinary()
		_, spec := f.Spec()
		_, equal := f.Equal(closed)
		open := must(New(Spec{}))
		for _, err := range []error{
			added, f.InsertBatch(Keys{}, nil),
			described, measured, copied, written, marshalled, spec, equal, f.Merge(closed), open.Merge(f),
			f.Save(filepath.Join(t.TempDir(), "x")), f.Sync(), f.MarkClean(), f.Verify(), f.Clear(), f.Fold(2),
		} {
			wants(t, err, ErrClosed)
		}
		check(t, open.Close())
		if f.Capabilities() != 0 {
			t.Error("a closed filter can do something")
		}
	}
	open := must(New(Spec{}))
	defer open.Close()
	ours := must(NewMap(Spec{Kind: "approximator", Capacity: 10}))
	defer ours.Close()
	for want, err := range map[string]error{
		"petal.Filter.Clear: the filter is closed":        closed.Clear(),
		"petal.Filter.Merge: the other filter is closed":  open.Merge(closed),
		"petal.Builder.Add: the builder is closed":        b.Add(nil),
		"petal.Map.Merge: the other map is closed":        ours.Merge(&Map{}),
		"petal.Map.Verify: the map is closed":             (*Map)(nil).Verify(),
		"petal.Sketch.Clear: the sketch is closed":        (&Sketch{}).Clear(),
		"petal.Index.Verify: the index is closed":         (&Index{}).Verify(),
		"petal.Router.Verify: the router is closed":       (&Router{}).Verify(),
		"petal.MapBuilder.Put: the map builder is closed": (&MapBuilder{}).Put(nil, 1),
	} {
		if err.Error() != want || errors.Is(err, ErrUnsupported) {
			t.Errorf("%v, and not: %s", err, want)
		}
	}
	// Another handle is named with its article.
	_, err := LoadSketch(must(smallIndex(t).MarshalBinary()), nil)
	if wants(t, err, ErrUnsupported); err == nil || !strings.HasSuffix(err.Error(), "open it as an index") {
		t.Error(err)
	}
	_, counted := b.KeyCount()
	_, finished := b.Finish()
	for _, err := range []error{b.AddString("a"), b.AddBatch(StringKeys([]string{"a"}), nil), counted, finished,
		b.Save("x")} {
		wants(t, err, ErrClosed)
	}
}
