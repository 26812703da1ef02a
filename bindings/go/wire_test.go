package petal

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"
)

func TestPackedForms(t *testing.T) {
	f := filled(Spec{Capacity: 10000}, 500)
	defer f.Close()
	image := must(f.MarshalBinary())
	var packed bytes.Buffer
	if n := must(f.Pack(&packed)); n != int64(packed.Len()) || packed.Len() > len(image)/3 {
		t.Error(n, packed.Len())
	}
	back := must(Unpack(packed.Bytes(), uint64(len(image)), nil))
	defer back.Close()
	if !bytes.Equal(must(back.MarshalBinary()), image) {
		t.Error("another image")
	}
	if _, err := Unpack(packed.Bytes(), uint64(len(image)-1), nil); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := Unpack(packed.Bytes()[:packed.Len()-1], 1<<20, nil); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func TestDeltas(t *testing.T) {
	older := filled(Spec{Capacity: 10000}, 500)
	defer older.Close()
	newer := filled(Spec{Capacity: 10000}, 510)
	defer newer.Close()
	var delta bytes.Buffer
	if n := must(older.Delta(newer, &delta)); n != int64(delta.Len()) || n > 200 {
		t.Error(n, delta.Len())
	}
	if err := newer.Patch(delta.Bytes(), 1<<20); !errors.Is(err, ErrIncompatible) {
		t.Error(err)
	}
	check(t, older.Patch(delta.Bytes(), 1<<20))
	if !bytes.Equal(must(older.MarshalBinary()), must(newer.MarshalBinary())) {
		t.Error("another image")
	}
	other := filled(Spec{Capacity: 20000}, 1)
	defer other.Close()
	if _, err := older.Delta(other, &delta); !errors.Is(err, ErrIncompatible) {
		t.Error(err)
	}
}

func TestFormsAreReadFromStreams(t *testing.T) {
	older := filled(Spec{Capacity: 10000}, 500)
	defer older.Close()
	newer := filled(Spec{Capacity: 10000}, 510)
	defer newer.Close()
	size := must(newer.SerializedSize())
	// A pipe, whose other end packs meanwhile.
	r, w := io.Pipe()
	go func() {
		_, err := newer.Pack(w)
		w.CloseWithError(err)
	}()
	back := must(UnpackFrom(r, size, nil))
	defer back.Close()
	image := must(newer.MarshalBinary())
	if !bytes.Equal(must(back.MarshalBinary()), image) {
		t.Error("another image")
	}
	var delta bytes.Buffer
	must(older.Delta(newer, &delta))
	check(t, older.PatchFrom(iotest.OneByteReader(&delta), math.MaxUint64))
	if !bytes.Equal(must(older.MarshalBinary()), image) {
		t.Error("another image")
	}
	// A stream that does not end is not read to its end, and an error of the reader comes back.
	endless := zeros(0)
	if _, err := UnpackFrom(&endless, 1000, nil); !errors.Is(err, ErrTooLarge) || endless > 10_000 {
		t.Error(err, endless)
	}
	if err := older.PatchFrom(&endless, 1000); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := UnpackFrom(iotest.ErrReader(io.ErrClosedPipe), 1000, nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := older.PatchFrom(iotest.ErrReader(io.ErrClosedPipe), 1000); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// zeros is a stream without an end, and counts what was read.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	*z += zeros(len(p))
	clear(p)
	return len(p), nil
}

func TestMapsOnTheWire(t *testing.T) {
	older := must(NewMap(Spec{Kind: "approximator", Capacity: 1000}))
	defer older.Close()
	for i := range uint64(50) {
		must(older.PutUint64(i, i))
	}
	newer := must(older.Copy())
	defer newer.Close()
	must(newer.PutUint64(50, 9))
	image := must(newer.MarshalBinary())
	var packed, delta bytes.Buffer
	if n := must(newer.Pack(&packed)); n != int64(packed.Len()) || packed.Len() > len(image)/2 {
		t.Error(n, packed.Len(), len(image))
	}
	for _, back := range []*Map{
		must(UnpackMap(packed.Bytes(), uint64(len(image)), nil)),
		must(UnpackMapFrom(bytes.NewReader(packed.Bytes()), uint64(len(image)), nil)),
	} {
		if !bytes.Equal(must(back.MarshalBinary()), image) {
			t.Error("another image")
		}
		back.Close()
	}
	if _, err := UnpackMap(packed.Bytes(), uint64(len(image)-1), nil); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := Unpack(packed.Bytes(), uint64(len(image)), nil); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if n := must(older.Delta(newer, &delta)); n != int64(delta.Len()) || n > 200 {
		t.Error(n, delta.Len())
	}
	if err := newer.Patch(delta.Bytes(), 1<<20); !errors.Is(err, ErrIncompatible) {
		t.Error(err)
	}
	check(t, older.PatchFrom(&delta, 1<<20))
	if !bytes.Equal(must(older.MarshalBinary()), image) {
		t.Error("another image")
	}
	endless := zeros(0)
	if _, err := UnpackMapFrom(&endless, 1000, nil); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if err := older.PatchFrom(&endless, 1000); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestSparserFiltersForTheWire(t *testing.T) {
	const keys, packedBytes = 10_000, 10_000
	spec := must(WireSpec(keys, packedBytes, 20_000))
	f := filled(spec, keys)
	defer f.Close()
	var packed bytes.Buffer
	must(f.Pack(&packed))
	plain := Spec{Kind: "bloom", Capacity: keys, Bits: 8 * packedBytes}
	rate, plainRate := must(spec.ExpectedFalsePositiveRate(keys)), must(plain.ExpectedFalsePositiveRate(keys))
	if packed.Len() > packedBytes*103/100 || rate > 0.85*plainRate || must(f.SerializedSize()) > 20_000 {
		t.Error(spec, packed.Len(), rate, plainRate)
	}
	if _, err := WireSpec(keys, 10, 0); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}
