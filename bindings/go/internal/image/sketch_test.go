package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"
)

// goldenSketches reads the golden files of sketches. The sketches hold mix(1) to mix(6) and the hash of "key 0", and
// lack 7.
func goldenSketches(t testing.TB) map[string][]byte {
	t.Helper()
	return goldenFilesOf(t, "sketches")
}

// sampleSketch makes the image of an empty sketch of three sub-tables of seven cells, without the golden files.
func sampleSketch(t testing.TB) []byte { return sampleOf(t, 21, 3) }

// sampleOf makes the image of an empty sketch with this many cells and sub-tables.
func sampleOf(t testing.TB, cells, tables int) []byte {
	t.Helper()
	payload := (cells*cellBytes + payloadUnit - 1) / payloadUnit * payloadUnit
	image := make([]byte, headerLength+payload+payloadUnit)
	copy(image, magic)
	binary.LittleEndian.PutUint16(image[8:], 1)
	binary.LittleEndian.PutUint16(image[10:], 1)
	binary.LittleEndian.PutUint32(image[12:], uint32(IBLT))
	binary.LittleEndian.PutUint32(image[16:], uint32(XXH3))
	binary.LittleEndian.PutUint32(image[20:], uint32(tables))
	binary.LittleEndian.PutUint64(image[64:], uint64(8*cellBytes*cells))
	binary.LittleEndian.PutUint64(image[136:], uint64(payload))
	return seal(image)
}

func loadedSketch(t testing.TB, image []byte) *Filter {
	t.Helper()
	s, err := Load(image, nil, ASketch)
	ok(t, err)
	return s
}

// listing returns the list of a sketch, which must be complete.
func listing(t testing.TB, s *Filter) []Listed {
	t.Helper()
	listed, complete, err := s.List()
	if err != nil || !complete {
		t.Error(listed, complete, err)
	}
	return listed
}

func ok(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoldenSketchesListTheirNumbers(t *testing.T) {
	files := goldenSketches(t)
	for path, image := range files {
		if strings.Contains(path, "key_bytes") || strings.Contains(path, "value_bits") {
			continue // Tests of whole keys and of values have these.
		}
		mapped, err := Open(path, nil, ASketch)
		ok(t, err)
		wrapped, err := Wrap(image, nil, ASketch)
		ok(t, err)
		read, err := Read(bytes.NewReader(append(bytes.Clone(image), 1, 2, 3)), nil, ASketch)
		ok(t, err)
		copied, err := mapped.Copy()
		ok(t, err)
		key, _ := mapped.hasher.hash([]byte("key 0"))
		wanted := []Listed{{7, -1}, {mapped.numberOf(key), 1}}
		for i := range uint64(6) {
			wanted = append(wanted, Listed{mapped.numberOf(mix(i + 1)), 1})
		}
		others := wanted[1:]
		if mapped.kind == Pinsketch {
			wanted[0].Count, others = 1, wanted
		}
		sort.Slice(others, func(i, j int) bool { return others[i].Number < others[j].Number })
		for _, s := range []*Filter{mapped, wrapped, loadedSketch(t, image), read, copied} {
			ok(t, s.Verify())
			if listed := listing(t, s); !reflect.DeepEqual(listed, wanted) {
				t.Errorf("%s lists %v and not %v", path, listed, wanted)
			}
			again, err := s.MarshalBinary()
			if err != nil || !bytes.Equal(again, image) {
				t.Errorf("%s: written with other bytes, %v", path, err)
			}
			h := s.Header()
			if name := h.Kind.String(); h.Offered != 6 || !strings.HasPrefix(s.String(), name+", 6 numbers") {
				t.Errorf("%s: %v, %+v", path, s, h)
			}
		}
		// The same changes to an empty sketch make the same bytes.
		empty := loadedSketch(t, image)
		ok(t, empty.Clear())
		if strings.Contains(path, "unchecked") {
			none, err := empty.ExportMinisketch()
			ok(t, err, empty.ImportMinisketch(none))
		}
		if listed := listing(t, empty); len(listed) != 0 || empty.Header().Offered != 0 {
			t.Errorf("%s: %v are left", path, listed)
		}
		for i := range uint64(6) {
			ok(t, empty.AddHash(mix(i+1), 1))
		}
		ok(t, empty.AddUint64(7, -1), empty.AddString("key 0", 1))
		if again, err := empty.MarshalBinary(); err != nil || !bytes.Equal(again, image) {
			t.Errorf("%s: changes make other bytes, %v", path, err)
		}
		// A sketch in place is only read.
		for _, err := range []error{
			mapped.AddUint64(1, 1), wrapped.Add(nil, -1), mapped.Clear(), wrapped.Combine(empty, true),
		} {
			if !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s: %v", path, err)
			}
		}
		ok(t, empty.Combine(mapped, true))
		if listed := listing(t, empty); len(listed) != 0 {
			t.Errorf("%s less itself has %v", path, listed)
		}
		ok(t, mapped.Close(), mapped.Close())
		if _, err := Wrap(image, nil, AFilter); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: a sketch opens as a filter: %v", path, err)
		}
		if _, err := Wrap(image, nil, AMap); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: a sketch opens as a map: %v", path, err)
		}
	}
	for _, image := range sample() {
		if _, err := Wrap(image, nil, ASketch); !errors.Is(err, ErrUnsupported) {
			t.Errorf("a filter opens as a sketch: %v", err)
		}
	}
	if len(files) == 0 {
		t.Skip("tests/golden is not here")
	}
}

// Golden sketches of whole keys list these, and the same changes to an empty sketch make the same bytes.
func TestGoldenSketchesListTheirKeys(t *testing.T) {
	seen := 0
	for path, image := range goldenSketches(t) {
		if !strings.Contains(path, "key_bytes") {
			continue
		}
		seen++
		s := loadedSketch(t, image)
		listed, complete, err := s.ListKeys()
		if err != nil || !complete || len(listed) != 7 || listed[0].Count != -1 || listed[1].Count != 1 {
			t.Errorf("%s: %v %v %v", path, listed, complete, err)
		}
		if _, _, err := s.List(); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", path, err)
		}
		empty := loadedSketch(t, image)
		ok(t, empty.Clear())
		for _, one := range listed {
			if len(one.Key) != s.KeyBytes() {
				t.Errorf("%s: %v", path, one)
			}
			ok(t, empty.Add(one.Key, one.Count))
		}
		if again, err := empty.MarshalBinary(); err != nil || !bytes.Equal(again[headerLength:], image[headerLength:]) {
			t.Errorf("%s: changes make other bytes, %v", path, err)
		}
		for _, err := range []error{empty.Add(make([]byte, s.KeyBytes()+1), 1), empty.Add(nil, -1)} {
			if !errors.Is(err, ErrOutOfRange) {
				t.Errorf("%s: %v", path, err)
			}
		}
		if err := empty.AddHash(5, 1); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", path, err)
		}
		if err := empty.AddUint64(5, 1); (s.KeyBytes() == 8) != (err == nil) {
			t.Errorf("%s: %v", path, err)
		}
		ok(t, empty.Combine(s, true))
		listed, _, err = empty.ListKeys()
		if err != nil || len(listed) > 1 {
			t.Errorf("%s: %v %v", path, listed, err)
		}
		if err := empty.Combine(loadedSketch(t, sampleSketch(t)), true); !errors.Is(err, ErrIncompatible) {
			t.Error(err)
		}
	}
	if numbers := loadedSketch(t, sampleSketch(t)); numbers.KeyBytes() != 0 {
		t.Error(numbers)
	} else if _, _, err := numbers.ListKeys(); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if seen == 0 {
		t.Skip("tests/golden is not here")
	}
}

// A number that only one of two sketches has is listed with its sign, in ascending order. A number that both have is
// gone.
func TestSketchesListDifferences(t *testing.T) {
	image := sampleSketch(t)
	ours, theirs := loadedSketch(t, image), loadedSketch(t, image)
	for i := range uint64(1000) {
		ok(t, ours.AddUint64(i, 1), theirs.AddUint64(i+2, 1))
	}
	if listed, complete, err := ours.List(); complete || err != nil {
		t.Error(listed, complete, err)
	}
	both, err := ours.Copy()
	ok(t, err, ours.Combine(theirs, true))
	if listed := listing(t, ours); !reflect.DeepEqual(listed, []Listed{{1000, -1}, {1001, -1}, {0, 1}, {1, 1}}) {
		t.Error(listed)
	}
	if ours.Header().Offered != 0 {
		t.Error(ours)
	}
	// A sketch plus itself has every number twice; minus itself it has none.
	ok(t, ours.Combine(ours, false))
	if listed, complete, _ := ours.List(); complete || len(listed) != 0 {
		t.Error(listed)
	}
	ok(t, ours.Combine(ours, true), both.Combine(theirs, false))
	if listed := listing(t, ours); len(listed) != 0 || both.Header().Offered != 2000 {
		t.Error(listed, both)
	}
	// The count of offered keys stops at both ends of its range.
	both.header.Offered = math.MaxUint64
	ok(t, both.AddUint64(1, 1), both.Combine(theirs, false))
	ok(t, ours.AddUint64(1, -1))
	if both.Header().Offered != math.MaxUint64 || ours.Header().Offered != 0 {
		t.Error(both, ours)
	}
}

func TestSketchesThatDifferDoNotCombine(t *testing.T) {
	ours := loadedSketch(t, sampleSketch(t))
	for at, change := range map[int]byte{16: byte(XXH64), 20: 7, 40: 1} {
		other := sampleSketch(t)
		other[at] = change
		if err := ours.Combine(loadedSketch(t, seal(other)), true); !errors.Is(err, ErrIncompatible) {
			t.Error(at, err)
		}
	}
	// A dirty sketch makes the other sketch dirty, and a damaged sketch in place is refused.
	dirty := sampleSketch(t)
	copy(dirty[stateOffset:], dirtyState)
	damaged := sampleSketch(t)
	damaged[headerLength] ^= 1
	wrapped, err := Wrap(damaged, nil, ASketch)
	ok(t, err)
	if err := ours.Combine(wrapped, false); !errors.Is(err, ErrCorrupt) || ours.Header().Dirty {
		t.Error(err)
	}
	if _, err := wrapped.Copy(); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	for _, open := range []func([]byte, *Options, Handle) (*Filter, error){Load, Wrap} {
		ours := loadedSketch(t, sampleSketch(t))
		other, err := open(dirty, nil, ASketch)
		ok(t, err, ours.Combine(other, false))
		copied, err := other.Copy()
		if err != nil || !copied.Header().Dirty || !ours.Header().Dirty || !errors.Is(ours.Verify(), ErrDirty) {
			t.Error(ours, copied, err)
		}
	}
}

func TestKeyedSketchesNeedTheirKey(t *testing.T) {
	image := sampleSketch(t)
	options := &Options{Key: [16]byte{9}}
	image[16] = byte(SipHash13)
	binary.LittleEndian.PutUint64(image[40:], KeyIdentifier(options.Key))
	open, err := Load(seal(image), options, ASketch)
	ok(t, err, open.AddUint64(5, 1), open.AddString("a", -1))
	closed := loadedSketch(t, image)
	_, _, err = closed.List()
	for _, err := range []error{err, closed.AddUint64(1, 1), closed.Add(nil, -1)} {
		if !errors.Is(err, ErrKeyMissing) {
			t.Error(err)
		}
	}
	// The difference is still right.
	ok(t, closed.Combine(open, true), open.Combine(closed, false))
	if listed := listing(t, open); len(listed) != 0 {
		t.Error(listed)
	}
	if _, err := Load(image, &Options{Key: [16]byte{1}}, ASketch); !errors.Is(err, ErrKeyMismatch) {
		t.Error(err)
	}
}

func TestClosedSketchesSaySo(t *testing.T) {
	open := loadedSketch(t, sampleSketch(t))
	for _, s := range []*Filter{(*Filter)(nil).OrClosed(ASketch), {}} {
		_, _, listed := s.List()
		_, copied := s.Copy()
		_, written := s.WriteTo(io.Discard)
		for _, err := range []error{
			listed, copied, written, s.AddString("a", 1), s.AddUint64(1, -1), s.Combine(open, true), open.Combine(s, false),
			s.Clear(), s.Verify(),
		} {
			if !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
		if err := s.Close(); err != nil || s.String() != "closed" {
			t.Error(s, err)
		}
	}
	path := filepath.Join(t.TempDir(), "longer")
	ok(t, os.WriteFile(path, append(sampleSketch(t), 0), 0o600))
	if _, err := Open(path, nil, ASketch); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// Geometries that a sketch cannot have are refused.
func TestForgedSketchesAreRefused(t *testing.T) {
	put := func(image []byte, at int, value uint64) { binary.LittleEndian.PutUint64(image[at:], value) }
	for what, change := range map[string]func([]byte){
		"cells that do not share": func(image []byte) { image[20] = 4 },
		"no cells":                func(image []byte) { put(image, 64, 0) },
		"part of a cell":          func(image []byte) { put(image, 64, 21*192+1) },
		"more than the payload":   func(image []byte) { put(image, 64, 24*192) },
		"less than the payload":   func(image []byte) { put(image, 64, 6*192) },
		"a word":                  func(image []byte) { image[72] = 1 },
		"hashes from elsewhere":   func(image []byte) { image[16] = byte(External) },
		"bits after the cells":    func(image []byte) { image[headerLength+21*cellBytes] = 1 },
	} {
		image := sampleSketch(t)
		change(image)
		if _, err := Load(seal(image), nil, ASketch); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for tables := range 12 {
		image := sampleOf(t, 24*max(1, tables), tables)
		s, err := Load(image, nil, ASketch)
		if isOne := 3 <= tables && tables <= 7; isOne != (err == nil) || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d sub-tables: %v", tables, err)
		} else if isOne {
			ok(t, s.AddUint64(5, -1))
			if listed := listing(t, s); len(listed) != 1 {
				t.Errorf("%d sub-tables list %v", tables, listed)
			}
		}
	}
	// Each step puts a single number into the cleared cells again, so a decoder without a bound would never end.
	s := loadedSketch(t, sampleSketch(t))
	ok(t, s.AddUint64(42, 1))
	one, _ := s.shape.ibltPair(&s.hasher, 42, 0)
	for table := 1; table < 3; table++ {
		clear(cellOf(s.payload, s.shape.ibltCell(&one, table)))
	}
	if listed, complete, err := s.List(); complete || err != nil || len(listed) > 21 {
		t.Error(listed, complete, err)
	}
	// A number in a wrong cell is not listed.
	s = loadedSketch(t, sampleSketch(t))
	ok(t, s.AddUint64(42, 1))
	for table := range 3 {
		cells := s.payload[7*cellBytes*table:][:7*cellBytes]
		copy(cells, append(bytes.Clone(cells[cellBytes:]), cells[:cellBytes]...))
	}
	if listed, complete, err := s.List(); complete || err != nil || len(listed) != 0 {
		t.Error(listed, complete, err)
	}
}

// useSketch opens any bytes as a sketch, and calls every method of sketches. Nothing may panic or run for ever.
func useSketch(t *testing.T, image []byte, hash uint64) {
	wrapped, err := Wrap(image, nil, ASketch)
	if err != nil {
		return
	}
	_ = wrapped.Verify()
	most := wrapped.Header().Bits / 192
	if wrapped.kind == Pinsketch {
		most = wrapped.shape.blocks
	}
	_, _, _ = wrapped.ListKeys()
	if listed, _, err := wrapped.List(); err == nil && uint64(len(listed)) > most {
		t.Fatalf("%d are listed of %d bits", len(listed), wrapped.Header().Bits)
	}
	loaded, err := Load(image, nil, ASketch)
	if err != nil {
		return
	}
	copied, err := wrapped.Copy()
	ok(t, err)
	if errors.Is(loaded.AddHash(hash, 1), ErrKeyMissing) || loaded.KeyBytes() > 0 {
		return
	}
	ok(t, loaded.AddString("key", -1), copied.Combine(loaded, true))
	ok(t, copied.AddHash(hash, 1), copied.AddString("key", -1))
	if listed, complete, err := copied.List(); err != nil || !complete || len(listed) != 0 {
		t.Fatal("the same changes differ by", listed, complete, err)
	}
	usePairs(t, loaded, hash)
	written, err := loaded.MarshalBinary()
	ok(t, err)
	if _, err := Load(written, nil, ASketch); err != nil {
		t.Fatal(err)
	}
}
