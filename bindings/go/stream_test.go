package petal

import (
	"bytes"
	"slices"
	"testing"
)

func TestStreamsFindDifferences(t *testing.T) {
	make := func(symbols, from, to uint64) *Sketch {
		s := must(NewSketch(Spec{Kind: "riblt", Bits: 192 * symbols}))
		check(t, s.KeepKeys())
		for i := from; i < to; i++ {
			check(t, s.InsertUint64(i))
		}
		return s
	}
	ours, theirs := make(10, 0, 1000), make(20, 3, 1002)
	out, into := must(NewStream(theirs)), must(NewStream(ours))
	complete := false
	for !complete {
		symbols := must(out.Append([]byte("x"), 2))
		if symbols[0] != 'x' {
			t.Fatal("the slice was not kept")
		}
		half := 1 + (len(symbols)-1)/2
		must(into.Read(symbols[1:half]))
		complete = must(into.Read(symbols[half:]))
	}
	listed, all, err := into.List()
	if err != nil || !all || !slices.Equal(listed, []SketchListed{{1000, -1}, {1001, -1}, {0, 1}, {1, 1}, {2, 1}}) {
		t.Errorf("%v %v %v", listed, all, err)
	}
	if into.SymbolsRead() != out.SymbolsWritten() || into.SymbolsRead() < 5 {
		t.Errorf("%d of %d were read", into.SymbolsRead(), out.SymbolsWritten())
	}
	if many := must(out.Append(nil, 3000)); len(many) > 3000*18 {
		t.Errorf("%d bytes", len(many))
	}
	check(t, into.SetLimit(into.SymbolsRead()))
	wants(t, errorIn(into.Read(must(out.Append(nil, 1)))), ErrTooLarge)
	wants(t, errorIn(into.Read(nil)), ErrContradiction)
	check(t, theirs.InsertUint64(5000))
	wants(t, errorIn(out.Append(nil, 1)), ErrContradiction)
	check(t, theirs.Close())
	wants(t, errorIn(out.Append(nil, 1)), ErrClosed)
	for range 2 {
		check(t, out.Close())
		check(t, into.Close())
	}
	wants(t, errorIn(into.Read(nil)), ErrClosed)
	check(t, ours.Close())
	other := must(NewSketch(Spec{Capacity: 10}))
	wants(t, errorIn(NewStream(other)), ErrUnsupported)
	check(t, other.Close())
}

func TestStreamsWithoutKeysEnd(t *testing.T) {
	s := must(NewSketch(Spec{Kind: "riblt", Bits: 192 * 10}))
	out := must(NewStream(s))
	must(out.Append(nil, 2000))
	if out.SymbolsWritten() != 10 {
		t.Errorf("%d symbols", out.SymbolsWritten())
	}
	wants(t, errorIn(out.Append(nil, 1)), ErrUnsupported)
	check(t, out.Close())
	check(t, s.Close())
}

func TestSketchesHoldWholeKeys(t *testing.T) {
	spec := Spec{Kind: "riblt", Bits: 256 * 40, Parameters: map[string]string{"key_bytes": "16"}}
	ours, theirs := must(NewSketch(spec)), must(NewSketch(spec))
	check(t, ours.Insert([]byte("sixteen bytes: a")))
	check(t, ours.Insert([]byte("sixteen bytes: b")))
	check(t, theirs.InsertString("sixteen bytes: b"))
	check(t, theirs.InsertString("sixteen bytes: c"))
	wants(t, ours.Insert([]byte("short")), ErrOutOfRange)
	wants(t, ours.InsertHash(1), ErrUnsupported)
	if ours.KeyBytes() != 16 {
		t.Errorf("%d bytes", ours.KeyBytes())
	}
	is := func(listed []SketchListedKey, complete bool, err error) {
		t.Helper()
		if err != nil || !complete || len(listed) != 2 || listed[0].Sign != -1 || listed[1].Sign != 1 ||
			!bytes.Equal(listed[0].Key, []byte("sixteen bytes: c")) || string(listed[1].Key) != "sixteen bytes: a" {
			t.Errorf("%v %v %v", listed, complete, err)
		}
	}
	out, into := must(NewStream(theirs)), must(NewStream(ours))
	if !must(into.Read(must(out.Append(nil, 10)))) {
		t.Error("the stream is not complete")
	}
	is(into.ListKeys())
	wants(t, errorIn2(into.List()), ErrUnsupported)
	check(t, out.Close())
	check(t, into.Close())
	check(t, ours.Subtract(theirs))
	is(ours.ListKeys())
	wants(t, errorIn2(ours.List()), ErrUnsupported)
	check(t, ours.Close())
	check(t, theirs.Close())
}

// errorIn2 returns the error of a call that lists.
func errorIn2[T any](_ []T, _ bool, err error) error { return err }
