package petal

import (
	"bytes"
	"errors"
	"testing"
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
	if n := must(newer.Delta(older, &delta)); n != int64(delta.Len()) || n > 200 {
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
	if _, err := other.Delta(older, &delta); !errors.Is(err, ErrIncompatible) {
		t.Error(err)
	}
}
