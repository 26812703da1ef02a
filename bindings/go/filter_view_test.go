package petal

import (
	"errors"
	"testing"
)

// A view gives the same answers as its filter, for kinds whose layouts have names, also for keys that are inserted
// later.
func TestViewsLookUpAsFiltersDo(t *testing.T) {
	for _, spec := range []Spec{
		{Kind: "blocked"}, {Kind: "blocked", Seed: 7, Hash: XXH64},
		{Kind: "blocked", Parameters: map[string]string{"blocks": "2"}},
		{Kind: "split_block"}, {Kind: "bloom"}, {Kind: "cuckoo"},
	} {
		spec.Capacity, spec.FalsePositiveRate = 1000, .01
		f, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		v, err := f.View()
		if err != nil {
			t.Fatalf("%v: %v", spec, err)
		}
		for i := range uint64(1000) {
			if _, err := f.InsertUint64(i); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.InsertString("apple"); err != nil {
			t.Fatal(err)
		}
		if !v.ContainsString("apple") || !v.Contains([]byte("apple")) {
			t.Errorf("%v: a key is not there", spec)
		}
		for i := range uint64(10000) {
			hash, err := f.HashUint64(i)
			if err != nil {
				t.Fatal(err)
			}
			if found := f.ContainsUint64(i); v.ContainsUint64(i) != found || v.ContainsHash(hash) != found {
				t.Fatalf("%v: the view says other than %v of %d", spec, found, i)
			}
		}
		f.Close()
	}
}

func TestViewsAreRefused(t *testing.T) {
	keyed := Spec{Capacity: 100, Hash: SipHash13, Key: [16]byte{1}}
	for _, spec := range []Spec{{Kind: "quotient", Capacity: 100}, keyed} {
		f, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.View(); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v: %v", spec, err)
		}
		f.Close()
		if _, err := f.View(); !errors.Is(err, ErrClosed) {
			t.Errorf("of a closed filter: %v", err)
		}
	}
}

func BenchmarkViewContainsUint64(b *testing.B) {
	f, err := New(Spec{Capacity: 10000, FalsePositiveRate: .01})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	v, err := f.View()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("view", func(b *testing.B) {
		for i := range uint64(b.N) {
			v.ContainsUint64(i)
		}
	})
	b.Run("call", func(b *testing.B) {
		for i := range uint64(b.N) {
			f.ContainsUint64(i)
		}
	})
}
