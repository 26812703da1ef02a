package image

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// emptyPinsketch makes an empty sketch of this capacity over a field of 2^width elements.
func emptyPinsketch(t testing.TB, width, capacity uint64) *Filter {
	t.Helper()
	image := sampleOf(t, int(width*capacity+191)/192, 0)
	binary.LittleEndian.PutUint32(image[12:], uint32(Pinsketch))
	binary.LittleEndian.PutUint64(image[64:], width*capacity)
	binary.LittleEndian.PutUint64(image[72:], width)
	payload := (width*capacity/8 + payloadUnit) / payloadUnit * payloadUnit
	if width*capacity%(8*payloadUnit) == 0 {
		payload = width * capacity / 8
	}
	payload += payloadUnit // For the checksum, of layout 2.
	image[10] = 2
	image = append(image[:headerLength], make([]byte, payload+payloadUnit)...)
	binary.LittleEndian.PutUint64(image[136:], payload)
	return loadedSketch(t, seal(image))
}

// Sketches have the bytes of minisketch, take them, and list what is left when few elements are left.
func TestSketchesHaveTheBytesOfMinisketch(t *testing.T) {
	if _, err := os.Stat("../../../../include/petal.h"); errors.Is(err, os.ErrNotExist) {
		t.Skip("tests/formats is not here")
	}
	text, err := os.ReadFile("../../../../tests/formats/minisketch/sketches.txt")
	ok(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 24 {
		t.Fatal(len(lines), "vectors")
	}
	for _, line := range lines {
		words := strings.Fields(line)
		width, err := strconv.ParseUint(words[0], 10, 64)
		ok(t, err)
		capacity, err := strconv.ParseUint(words[1], 10, 64)
		ok(t, err)
		expected, err := hex.DecodeString(words[2])
		ok(t, err)
		s, other := emptyPinsketch(t, width, capacity), emptyPinsketch(t, width, capacity)
		var elements []uint64
		for _, word := range words[3:] {
			element, err := strconv.ParseUint(word, 16, 64)
			ok(t, err, s.AddUint64(element, 1))
			elements = append(elements, element)
		}
		if written, err := s.ExportMinisketch(); err != nil || !bytes.Equal(written, expected) {
			t.Errorf("%d bits, capacity %d: %x, %v", width, capacity, written, err)
		}
		ok(t, other.AddUint64(1, 1), other.ImportMinisketch(expected))
		left := min(len(elements), int(capacity))
		for _, element := range elements[left:] {
			ok(t, other.AddUint64(element, -1))
		}
		found := listing(t, other)
		kept := elements[:left]
		sort.Slice(kept, func(i, j int) bool { return kept[i] < kept[j] })
		if len(found) != left {
			t.Fatalf("%d bits, capacity %d: %d are listed of %d", width, capacity, len(found), left)
		}
		for i, one := range found {
			if one != (Listed{Number: kept[i], Count: 1}) {
				t.Errorf("%d bits, capacity %d: %v is not %d", width, capacity, one, kept[i])
			}
		}
		// More elements than the capacity are not listed.
		for i := range capacity + 1 {
			ok(t, other.AddHash(mix(i), 1))
		}
		listed, complete, err := other.List()
		if isSure := capacity >= 16 && width > 20; err != nil || isSure && (complete || len(listed) != 0) {
			t.Errorf("%d bits, capacity %d: %v %v %v", width, capacity, listed, complete, err)
		}
	}
}

func TestNumbersOfPinsketchAreElements(t *testing.T) {
	s := emptyPinsketch(t, 13, 3)
	for _, number := range []uint64{0, 8192, 1 << 63} {
		if err := s.AddUint64(number, 1); !errors.Is(err, ErrOutOfRange) {
			t.Error(number, err)
		}
	}
	ok(t, s.AddHash(0, 1), s.AddHash(1<<64-1, 1))
	if listed := listing(t, s); len(listed) != 2 || listed[0].Number != 1 || listed[1].Number != 8191 {
		t.Error(listed)
	}
	right, err := s.ExportMinisketch()
	ok(t, err)
	for _, wrong := range [][]byte{nil, right[:4], append(bytes.Clone(right), 0), append(bytes.Clone(right[:4]), 0x80)} {
		if err := s.ImportMinisketch(wrong); !errors.Is(err, ErrForeign) {
			t.Errorf("%x: %v", wrong, err)
		}
	}
	if err := s.Combine(emptyPinsketch(t, 39, 1), true); !errors.Is(err, ErrIncompatible) {
		t.Error(err)
	}
	other := loadedSketch(t, sampleSketch(t))
	_, err = other.ExportMinisketch()
	for _, err := range []error{err, other.ImportMinisketch(right)} {
		if !errors.Is(err, ErrUnsupported) {
			t.Error(err)
		}
	}
	closed := &Filter{}
	_, err = closed.ExportMinisketch()
	for _, err := range []error{err, closed.ImportMinisketch(right), closed.AddHash(1, 1)} {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	image, err := s.MarshalBinary()
	ok(t, err)
	wrapped, err := Wrap(image, nil, ASketch)
	ok(t, err)
	if err := wrapped.ImportMinisketch(right); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}

// ofLayout1 makes the image of a sketch of layout 1 of the same numbers.
func ofLayout1(t *testing.T, s *Filter) *Filter {
	t.Helper()
	image, err := s.MarshalBinary()
	ok(t, err)
	payload := pinsketchLine(&s.shape)
	image[10] = 1
	binary.LittleEndian.PutUint64(image[136:], payload)
	return loadedSketch(t, seal(append(image[:headerLength+payload], make([]byte, payloadUnit)...)))
}

// Sums of powers of runs of numbers vanish. With a checksum a list of them is not called complete, and without one it
// is.
func TestRunsOfNumbersAreNotLost(t *testing.T) {
	s, run := emptyPinsketch(t, 64, 12), [2]uint64{64, 96}
	addRun := func(s *Filter) {
		for number := run[0]; number < run[1]; number++ {
			ok(t, s.AddUint64(number, 1))
		}
	}
	addRun(s)
	if listed, complete, err := s.List(); complete || err != nil || len(listed) != 0 {
		t.Error(listed, complete, err)
	}
	sums, err := s.ExportMinisketch()
	imported := emptyPinsketch(t, 64, 12)
	ok(t, err, imported.ImportMinisketch(sums))
	for _, unknown := range []*Filter{imported, ofLayout1(t, s)} {
		if listed := listing(t, unknown); len(listed) != 0 {
			t.Error(listed)
		}
		for _, pair := range [][2]*Filter{{s, unknown}, {unknown, s}} {
			first, err := pair[0].Copy()
			ok(t, err, first.Combine(pair[1], true), first.AddUint64(5, 1))
			if listed := listing(t, first); len(listed) != 1 || listed[0].Number != 5 {
				t.Error(listed)
			}
			addRun(first) // Nobody knows the checksum, so nobody sees that these numbers are missing.
			if listed := listing(t, first); len(listed) != 1 {
				t.Error(listed)
			}
		}
	}
	// Both have a checksum, which the difference has too.
	other := emptyPinsketch(t, 64, 12)
	ok(t, other.AddUint64(7, 1), other.Combine(s, true))
	if listed, complete, err := other.List(); complete || err != nil || len(listed) != 0 {
		t.Error(listed, complete, err)
	}
	addRun(other)
	if listed := listing(t, other); len(listed) != 1 || listed[0].Number != 7 {
		t.Error(listed)
	}
	// Bits that belong to nothing are refused.
	image, err := s.MarshalBinary()
	ok(t, err)
	line := headerLength + int(pinsketchLine(&s.shape))
	for _, at := range []int{line - 1, line + 8, line + 9, line + 16, line + 63} {
		forged := bytes.Clone(image)
		forged[at] |= 3
		if _, err := Load(seal(forged), nil, ASketch); !errors.Is(err, ErrCorrupt) {
			t.Error(at-line, err)
		}
	}
}
