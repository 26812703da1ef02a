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

// must returns a value, or panics if there is an error.
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

// wants checks that an error is the wanted one.
func wants(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, and not: %v", err, want)
	}
}

// errorIn returns the error of a call and drops the value.
func errorIn[T any](_ T, err error) error { return err }

// filterKinds returns the library's own kinds of filter.
func filterKinds() []KindInfo {
	return slices.DeleteFunc(Kinds(), func(kind KindInfo) bool {
		return kind.Handle != HandleFilter || kind.IsForeign || kind.TakesIntegers
	})
}

// insertable returns the kinds into which keys can be inserted.
func insertable() (kinds []KindInfo) {
	for _, kind := range filterKinds() {
		if kind.Capabilities.Has(CanInsert) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// room returns a capacity with which a filter certainly takes this many keys, some of them more than once. Each copy
// may take room.
func room(kind KindInfo, keys uint64) uint64 {
	if kind.Capabilities.Has(MayLoseKeys) {
		return 4 * keys
	}
	if kind.Overfill == OverfillRefuses && (kind.Capabilities.Has(CanRemove) || kind.Capabilities.Has(CanCount)) {
		return 2 * keys
	}
	return keys
}

// mayLose returns how many keys a filter with keys keys, as many as its capacity, may lose.
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
