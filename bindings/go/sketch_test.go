package petal

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSketchesListWhatOnlyOneHas(t *testing.T) {
	spec := Spec{Capacity: 40, FalsePositiveRate: 1e-6}
	ours, theirs := must(NewSketch(spec)), must(NewSketch(spec))
	numbers := make([]uint64, 5000)
	for i := range numbers {
		numbers[i] = uint64(i)
	}
	var answers Answers
	check(t, ours.InsertBatch(Uint64Keys(numbers), &answers))
	check(t, theirs.InsertBatch(Uint64Keys(numbers[15:]), nil))
	for i := range uint64(5) {
		check(t, theirs.InsertUint64(10_000+i))
	}
	if _, complete, err := ours.List(); answers.Done != len(numbers) || complete || err != nil {
		t.Errorf("%d were inserted, %v %v", answers.Done, complete, err)
	}
	check(t, ours.Subtract(theirs))
	listed, complete, err := ours.List()
	check(t, err)
	var wanted []SketchListed
	for i := range uint64(5) {
		wanted = append(wanted, SketchListed{10_000 + i, -1})
	}
	for i := range uint64(15) {
		wanted = append(wanted, SketchListed{i, 1})
	}
	if !complete || !slices.Equal(listed, wanted) {
		t.Errorf("listed are %v %v", listed, complete)
	}
	check(t, ours.RemoveBatch(Uint64Keys(numbers[:15]), nil))
	check(t, ours.Merge(must(NewSketch(spec))))
	if listed, _, _ := ours.List(); len(listed) != 5 {
		t.Errorf("%v are left", listed)
	}
	check(t, ours.Clear())
	if listed, complete, _ := ours.List(); len(listed) != 0 || !complete {
		t.Errorf("%v are left", listed)
	}
	other := must(NewSketch(Spec{Capacity: 41}))
	wants(t, ours.Subtract(other), ErrIncompatible)
	wants(t, errorIn(NewSketch(Spec{Capacity: 40, Hash: External})), ErrContradiction)
	for _, s := range []*Sketch{ours, theirs, other} {
		check(t, s.Close())
		check(t, s.Close())
		wants(t, s.InsertUint64(1), ErrClosed)
	}
}

func TestSketchesTakeKeysInEveryForm(t *testing.T) {
	s := must(NewSketch(Spec{Capacity: 20, FalsePositiveRate: 1e-9}))
	check(t, s.Insert([]byte("apple")))
	check(t, s.InsertString("plum"))
	check(t, s.InsertHash(8))
	check(t, s.Remove([]byte("pear")))
	check(t, s.RemoveString("fig"))
	check(t, s.RemoveUint64(9))
	check(t, s.RemoveHash(10))
	hash := func(key string) uint64 { return must(Spec{}.HashKey([]byte(key))) }
	wanted := map[SketchListed]bool{
		{hash("apple"), 1}: true, {hash("plum"), 1}: true, {8, 1}: true, {hash("pear"), -1}: true, {hash("fig"), -1}: true,
		{9, -1}: true, {10, -1}: true,
	}
	listed, complete, err := s.List()
	check(t, err)
	for _, one := range listed {
		if !wanted[one] {
			t.Errorf("%v is listed", one)
		}
	}
	if !complete || len(listed) != len(wanted) {
		t.Errorf("listed are %v", listed)
	}
	check(t, s.Close())
}

func TestSketchesAreImages(t *testing.T) {
	s := must(NewSketch(Spec{Capacity: 20}))
	check(t, s.InsertUint64(1))
	image := must(s.MarshalBinary())
	var stream bytes.Buffer
	must(s.WriteTo(&stream))
	if !bytes.Equal(image, stream.Bytes()) || must(s.SerializedSize()) != uint64(len(image)) {
		t.Error("the images differ")
	}
	path := filepath.Join(t.TempDir(), "sketch")
	check(t, s.Save(path))
	file := must(os.Open(path))
	opened := []*Sketch{
		must(OpenSketch(path, nil)), must(OpenSketchAt(file, 0, nil)), must(LoadSketch(image, nil)), must(s.Copy()),
	}
	check(t, file.Close())
	for i, other := range opened {
		check(t, other.Verify())
		if listed, _, _ := other.List(); !slices.Equal(listed, []SketchListed{{1, 1}}) {
			t.Errorf("%d lists %v", i, listed)
		}
		if must(other.CompatibilityID()) != must(s.CompatibilityID()) || !other.Capabilities().Has(CanList) {
			t.Errorf("%d is another one", i)
		}
		if can := other.Capabilities().Has(CanInsert | CanSubtract); can != (i > 1) {
			t.Errorf("%d can change: %v", i, can)
		}
		check(t, other.Close())
	}
	changed := must(OpenSketch(path, &OpenOptions{Mode: OpenWrite}))
	check(t, changed.InsertUint64(2))
	check(t, changed.Sync())
	check(t, changed.MarkClean())
	check(t, changed.Close())
	description := must(s.Describe())
	if description.Insertions != 1 || description.Capacity != 20 || must(s.ExpectedFailureRate(20)) > 0.01 {
		t.Errorf("%v", description)
	}
	check(t, s.Close())
}

func TestSketchesKeepKeys(t *testing.T) {
	s := must(NewSketch(Spec{Kind: "riblt", Bits: 192 * 30}))
	if s.KeepsKeys() || s.SymbolCount() != 30 {
		t.Errorf("%v %d", s.KeepsKeys(), s.SymbolCount())
	}
	check(t, s.KeepKeys())
	check(t, s.InsertBatch(Uint64Keys([]uint64{5, 5, 5}), nil))
	check(t, s.RemoveUint64(6))
	if listed, complete, err := s.List(); !complete || err != nil || !slices.Equal(listed, []SketchListed{{5, 1}}) {
		t.Errorf("%v %v %v", listed, complete, err)
	}
	other := must(s.Copy())
	if !s.KeepsKeys() || !other.KeepsKeys() {
		t.Error("the copy keeps no keys")
	}
	check(t, other.Merge(s))
	wants(t, other.KeepKeys(), ErrContradiction)
	check(t, other.Close())
	check(t, s.Close())
}

func TestSketchesHaveTheBytesOfMinisketch(t *testing.T) {
	spec := Spec{Kind: "pinsketch", Capacity: 4, Parameters: map[string]string{"field_bits": "12"}}
	ours, theirs := must(NewSketch(spec)), must(NewSketch(spec))
	elements := []uint64{0x5c6, 0xeee, 0xb78, 0xb64, 0xeb2, 0x562, 0xf74, 0xce8, 0xdbe}
	expected := []byte{0xc6, 0xde, 0xb7, 0x07, 0xac, 0x9a}
	check(t, ours.InsertBatch(Uint64Keys(elements), nil))
	if got := must(ours.ExportMinisketch()); !bytes.Equal(got, expected) {
		t.Errorf("%x", got)
	}
	check(t, theirs.ImportMinisketch(expected))
	check(t, ours.InsertUint64(77))
	check(t, ours.Subtract(theirs))
	if listed, complete, err := ours.List(); !slices.Equal(listed, []SketchListed{{77, 1}}) || !complete || err != nil {
		t.Errorf("%v %v %v", listed, complete, err)
	}
	// The run 64 to 79 leaves nothing in the sums, which the checksum shows.
	check(t, ours.Clear())
	for number := uint64(64); number < 80; number++ {
		check(t, ours.InsertUint64(number))
	}
	if listed, complete, err := ours.List(); len(listed) != 0 || complete || err != nil {
		t.Errorf("%v %v %v", listed, complete, err)
	}
	wants(t, theirs.ImportMinisketch(expected[:5]), ErrForeign)
	wants(t, theirs.ImportMinisketch(nil), ErrForeign)
	wants(t, ours.InsertUint64(4096), ErrOutOfRange)
	other := must(NewSketch(Spec{Capacity: 4}))
	wants(t, errorIn(other.ExportMinisketch()), ErrUnsupported)
	for _, s := range []*Sketch{ours, theirs, other} {
		check(t, s.Close())
		wants(t, errorIn(s.ExportMinisketch()), ErrClosed)
		wants(t, s.ImportMinisketch(expected), ErrClosed)
	}
}
