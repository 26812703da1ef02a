package petal

import (
	"encoding"
	"errors"
	"io"
	"slices"
	"testing"
)

var (
	_ io.WriterTo                = (*Filter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
	_ io.Closer                  = (*Filter)(nil)
	_ io.Closer                  = (*Builder)(nil)
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
	_ encoding.BinaryAppender    = (*Filter)(nil)
)

// must passes a value on if there is no error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants checks that an error is a certain one.
func wants(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, and not: %v", err, want)
	}
}

// errorIn returns the error of a call and drops the value.
func errorIn[T any](_ T, err error) error { return err }

// filterKinds are the library's own kinds of filter, whichever there are.
func filterKinds() []KindInfo {
	return slices.DeleteFunc(Kinds(), func(kind KindInfo) bool {
		return kind.Handle != HandleFilter || kind.IsForeign || kind.TakesIntegers
	})
}

// insertable are the kinds that keys can be added to, whichever there are.
func insertable() (kinds []KindInfo) {
	for _, kind := range filterKinds() {
		if kind.Capabilities.Has(CanInsert) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// room is the capacity with which a filter takes so many keys for certain, some of them more than once: copies may take
// room of their own.
func room(kind KindInfo, keys uint64) uint64 {
	if kind.Capabilities.Has(MayLoseKeys) {
		return 4 * keys
	}
	if kind.Overfill == OverfillRefuses && (kind.Capabilities.Has(CanRemove) || kind.Capabilities.Has(CanCount)) {
		return 2 * keys
	}
	return keys
}

// mayLose is how many of so many keys, as many as the capacity, a filter may lose.
func mayLose(kind KindInfo, keys int) int {
	if kind.Capabilities.Has(MayLoseKeys) {
		return keys/100 + 1
	}
	return 0
}

func slicesContainsFalse(found []bool) bool { return slices.Contains(found, false) }

// filled makes a filter with some keys.
func filled(spec Spec, keys uint64) *Filter {
	f := must(New(spec))
	for i := range keys {
		must(f.InsertUint64(i))
	}
	return f
}
