package filter_test

import (
	"io"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/internal/pairs"
)

var (
	keys      = filter.StringKeys([]string{"a", "b"})
	insert    = func(f *filter.Filter) { must(f.InsertString("a")) }
	batch     = func(f *filter.Filter) { _ = f.InsertBatch(keys, nil) }
	lookup    = func(f *filter.Filter) { f.ContainsString("b") }
	lookups   = func(f *filter.Filter) { _ = f.ContainsBatch(keys, &filter.Answers{}) }
	measure   = func(f *filter.Filter) { must(f.Statistics()); must(f.Estimate()) }
	write     = func(f *filter.Filter) { must(f.WriteTo(io.Discard)) }
	copied    = func(f *filter.Filter) { must(f.Copy()) }
	forget    = func(f *filter.Filter) { _ = f.Clear() }
	fold      = func(f *filter.Filter) { _ = f.Fold(2) }
	mergeInto = func(f *filter.Filter) { _ = f.Merge(must(filter.New(must(f.Spec())))) }
	mergeFrom = func(f *filter.Filter) { _ = must(filter.New(must(f.Spec()))).Merge(f) }
)

// with makes a pair that uses one filter.
func with(allowed bool, one, other func(*filter.Filter)) pairs.Pair {
	return pairs.Of(allowed, func() (func(), func()) {
		f := must(filter.New(filter.Spec{Capacity: 1000, Parameters: settings{"foldable": "1"}}))
		must(f.InsertString("c"))
		return func() { one(f) }, func() { other(f) }
	})
}

// The race detector reports every use that the comments forbid, and no use that they allow.
func TestRacesAreReported(t *testing.T) {
	pairs.Test(t, map[string]pairs.Pair{
		"insert and insert":       with(false, insert, insert),
		"insert and lookup":       with(false, insert, lookup),
		"lookup and insert":       with(false, lookup, insert),
		"batch and lookups":       with(false, batch, lookups),
		"insert and statistics":   with(false, insert, measure),
		"insert and write":        with(false, insert, write),
		"insert and copy":         with(false, insert, copied),
		"clear and lookup":        with(false, forget, lookup),
		"fold and lookup":         with(false, fold, lookup),
		"merge into and lookup":   with(false, mergeInto, lookup),
		"merge from and insert":   with(false, mergeFrom, insert),
		"lookup and lookup":       with(true, lookup, lookup),
		"lookups and lookup":      with(true, lookups, lookup),
		"lookup and statistics":   with(true, lookup, measure),
		"write and copy":          with(true, write, copied),
		"merge from and lookup":   with(true, mergeFrom, lookup),
		"merge from and the same": with(true, mergeFrom, mergeFrom),
	})
}
