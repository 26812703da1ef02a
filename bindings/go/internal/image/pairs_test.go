package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// sampleValues makes the image of an empty sketch of four sub-tables of seven cells, whose numbers have values.
func sampleValues(t testing.TB) []byte {
	image := sampleOf(t, 28, 4)
	binary.LittleEndian.PutUint64(image[72:], 64)
	// 28 cells of four words are fourteen lines of 64 bytes; of three words they are ten and a half.
	grown := append(image[:headerLength:headerLength], make([]byte, 14*payloadUnit+payloadUnit)...)
	binary.LittleEndian.PutUint64(grown[64:], 28*256)
	binary.LittleEndian.PutUint64(grown[136:], 14*payloadUnit)
	return seal(grown)
}

// pairsOf returns the list of a sketch with values, which must be complete.
func pairsOf(t testing.TB, s *Filter) []Pair {
	t.Helper()
	listed, complete, err := s.ListValues()
	if err != nil || !complete {
		t.Error(listed, complete, err)
	}
	return listed
}

func TestGoldenSketchesHaveTheirValues(t *testing.T) {
	files, seen := goldenSketches(t), 0
	for path, image := range files {
		if !strings.Contains(path, "value_bits") {
			continue
		}
		seen++
		s := loadedSketch(t, image)
		ok(t, s.Verify())
		if s.ValueBits() != 64 {
			t.Error(path, s.ValueBits())
		}
		key, _ := s.hasher.hash([]byte("key 0"))
		wanted := map[Pair]bool{{7, 70, -1}: true, {mix(6), 600, -1}: true, {key, 0, 1}: true}
		for i := range uint64(6) {
			wanted[Pair{mix(i + 1), mix(i + 101), 1}] = true
		}
		listed := pairsOf(t, s)
		for _, one := range listed {
			if !wanted[one] {
				t.Errorf("%s lists %v", path, one)
			}
			presence, found, err := s.AskUint64(one.Number)
			isOne := presence == There && (found == one || one.Number == mix(6) && wanted[found])
			if err != nil || !isOne && presence != Unknown {
				t.Errorf("%s: %v is %v %v, %v", path, one, presence, found, err)
			}
		}
		if len(listed) != len(wanted) {
			t.Errorf("%s lists %v", path, listed)
		}
		// The same changes to an empty sketch make the same bytes.
		ok(t, s.Clear())
		for i := range uint64(6) {
			ok(t, s.AddValueUint64(mix(i+1), mix(i+101), 1))
		}
		ok(t, s.AddValueUint64(7, 70, -1), s.AddValueUint64(mix(6), 600, -1), s.AddString("key 0", 1))
		if again, err := s.MarshalBinary(); err != nil || !bytes.Equal(again, image) {
			t.Errorf("%s: changes make other bytes, %v", path, err)
		}
	}
	if len(files) == 0 {
		t.Skip("tests/golden is not here")
	}
	if seen == 0 {
		t.Error("no golden sketch has values")
	}
}

func TestSketchesListValues(t *testing.T) {
	image := sampleValues(t)
	ours, theirs := loadedSketch(t, image), loadedSketch(t, image)
	for i := range uint64(1000) {
		ok(t, ours.AddValueUint64(i, 2*i, 1), theirs.AddValueUint64(i, 2*i+i/999, 1))
	}
	ok(t, theirs.AddValue([]byte("pear"), 5, 1), ours.Combine(theirs, true))
	pear, _ := ours.hasher.hash([]byte("pear"))
	wanted := []Pair{{999, 1999, -1}, {pear, 5, -1}, {999, 1998, 1}}
	if listed := pairsOf(t, ours); !reflect.DeepEqual(listed, wanted) {
		t.Error(listed)
	}
	if listed := listing(t, ours); len(listed) != 3 {
		t.Error(listed)
	}
	if presence, found, err := ours.Ask([]byte("pear")); presence != There || found != wanted[1] || err != nil {
		t.Error(presence, found, err)
	}
	// Both values of the number share the cell that is asked.
	if presence, _, err := ours.AskUint64(999); presence != Unknown || err != nil {
		t.Error(presence, err)
	}
	plain := loadedSketch(t, sampleOf(t, 28, 4))
	if _, _, err := plain.ListValues(); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if err := plain.AddValueUint64(1, 2, 1); !errors.Is(err, ErrUnsupported) || plain.ValueBits() != 0 {
		t.Error(err)
	}
	if err := plain.Combine(ours, true); !errors.Is(err, ErrIncompatible) {
		t.Error(err)
	}
}

func TestSketchesSayWhatIsThere(t *testing.T) {
	s := loadedSketch(t, sampleSketch(t))
	ok(t, s.AddUint64(5, 1), s.AddString("a", -1))
	for _, one := range []struct {
		number   uint64
		presence Presence
		count    int64
	}{{5, There, 1}, {6, Absent, 0}} {
		presence, found, err := s.AskUint64(one.number)
		if presence != one.presence || found.Count != one.count || err != nil {
			t.Error(one, presence, found, err)
		}
	}
	if presence, found, err := s.Ask([]byte("a")); presence != There || found.Count != -1 || err != nil {
		t.Error(presence, found, err)
	}
	for i := range uint64(500) {
		ok(t, s.AddUint64(1000+i, 1))
	}
	if presence, _, err := s.AskUint64(5); presence != Unknown || presence.String() != "unknown" || err != nil {
		t.Error(presence, err)
	}
	if Presence(7).String() != "Presence(7)" {
		t.Error(Presence(7))
	}
}

// Geometries that a sketch with values cannot have are refused.
func TestForgedValuesAreRefused(t *testing.T) {
	put := func(image []byte, at int, value uint64) { binary.LittleEndian.PutUint64(image[at:], value) }
	for what, change := range map[string]func([]byte){
		"nothing":               func([]byte) {},
		"no values":             func(image []byte) { put(image, 72, 0) },
		"values of 63 bits":     func(image []byte) { put(image, 72, 63) },
		"another word":          func(image []byte) { put(image, 80, 64) },
		"three sub-tables":      func(image []byte) { image[20], image[64], image[65] = 3, 0, 27 },
		"part of a cell":        func(image []byte) { put(image, 64, 28*256-64) },
		"more than the payload": func(image []byte) { put(image, 64, 32*256) },
	} {
		image := sampleValues(t)
		change(image)
		if _, err := Load(seal(image), nil, ASketch); (what == "nothing") != (err == nil) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Each step puts a single pair into the cleared cells again, so a decoder without a bound would never end.
	s := loadedSketch(t, sampleValues(t))
	ok(t, s.AddValueUint64(42, 43, 1))
	one := pairOf(&s.hasher, 42, 43)
	for table := 1; table < 4; table++ {
		clear(s.shape.ibltCellOf(s.payload, s.shape.ibltCell(&one, table)))
	}
	if listed, complete, err := s.ListValues(); complete || err != nil || len(listed) > 28 {
		t.Error(listed, complete, err)
	}
	// A value that is changed does not match the check of its cell.
	s = loadedSketch(t, sampleValues(t))
	ok(t, s.AddValueUint64(42, 43, 1))
	for table := range 4 {
		c := s.shape.ibltCellOf(s.payload, s.shape.ibltCell(&one, table))
		c.setWord(3, 44)
	}
	if listed, complete, err := s.ListValues(); complete || err != nil || len(listed) != 0 {
		t.Error(listed, complete, err)
	}
	if presence, found, err := s.AskUint64(42); presence != Unknown || err != nil {
		t.Error(presence, found, err)
	}
}

// usePairs calls every method about single numbers and values of a sketch that has any cells.
func usePairs(t *testing.T, s *Filter, number uint64) {
	presence, found, err := s.AskUint64(number)
	if presence == There && (found.Number != number || found.Count != 1 && found.Count != -1) {
		t.Fatal(presence, found, err)
	}
	listed, _, err := s.ListValues()
	if err == nil && uint64(len(listed)) > s.Header().Bits/256 {
		t.Fatalf("%d are listed of %d bits", len(listed), s.Header().Bits)
	}
	if errors.Is(err, ErrUnsupported) {
		return
	}
	copied, err := s.Copy()
	ok(t, err, s.AddValueUint64(number, 3, 1), copied.Combine(s, true))
	if listed := pairsOf(t, copied); !reflect.DeepEqual(listed, []Pair{{number, 3, -1}}) {
		t.Fatal(listed)
	}
}
