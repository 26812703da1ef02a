package petal

import (
	"io"
	"sync"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/pairs"
	"github.com/petal-filter/petal/bindings/go/view"
)

// with makes pairs that use the same filter.
func with(allowed bool, one, other func(*Filter)) pairs.Pair {
	return pairs.Of(allowed, func() (func(), func()) {
		f := filled(Spec{Capacity: 1000}, 10)
		return func() { one(f) }, func() { other(f) }
	})
}

func withBuilder(one, other func(*Builder)) pairs.Pair {
	return pairs.Of(false, func() (func(), func()) {
		b := must(NewBuilder(Spec{}, nil))
		return func() { one(b) }, func() { other(b) }
	})
}

func withView(allowed bool, one, other func(*view.Filter)) pairs.Pair {
	return pairs.Of(allowed, func() (func(), func()) {
		f := filled(Spec{Capacity: 1000}, 10)
		v := must(view.Load(must(f.MarshalBinary()), nil))
		return func() { one(v) }, func() { other(v) }
	})
}

var (
	keys    = []string{"a", "b"}
	insert  = func(f *Filter) { must(f.InsertString("a")) }
	batch   = func(f *Filter) { _ = f.InsertBatch(StringKeys(keys), nil) }
	lookup  = func(f *Filter) { f.ContainsString("a") }
	lookups = func(f *Filter) { _ = f.ContainsBatch(StringKeys(keys), &Answers{}) }
	shared  = func(f *Filter) { must(f.InsertSharedString("a")) }
	measure = func(f *Filter) { must(f.Statistics()); must(f.WriteTo(io.Discard)) }

	add    = func(b *Builder) { _ = b.AddString("a") }
	finish = func(b *Builder) { must(b.Finish()) }

	viewInsert = func(v *view.Filter) { must(v.InsertUint64(1)) }
	viewWrite  = func(v *view.Filter) { must(v.MarshalBinary()) }
)

var together = map[string]pairs.Pair{
	"insert and insert":        with(false, insert, insert),
	"insert and lookup":        with(false, insert, lookup),
	"lookup and insert":        with(false, lookup, insert),
	"insert and shared insert": with(false, insert, shared),
	"batch and batch":          with(false, batch, batch),
	"batch and lookups":        with(false, batch, lookups),
	"insert and statistics":    with(false, insert, measure),
	"clear and lookup":         with(false, func(f *Filter) { _ = f.Clear() }, lookup),
	"close and lookup":         with(false, func(f *Filter) { _ = f.Close() }, lookup),
	"sync and insert":          with(false, func(f *Filter) { _ = f.Sync() }, insert),
	"merge and insert": pairs.Of(false, func() (func(), func()) {
		f, g := must(New(Spec{})), must(New(Spec{}))
		return func() { _ = g.Merge(f) }, func() { insert(f) }
	}),
	"add and add":                withBuilder(add, func(b *Builder) { _ = b.AddUint64(1) }),
	"add batch and finish":       withBuilder(func(b *Builder) { _ = b.AddBatch(StringKeys(keys), nil) }, finish),
	"view: insert and lookup":    withView(false, viewInsert, func(v *view.Filter) { v.ContainsUint64(2) }),
	"view: insert and write":     withView(false, viewInsert, viewWrite),
	"view: lookup and write":     withView(true, func(v *view.Filter) { v.ContainsUint64(2) }, viewWrite),
	"lookup and lookup":          with(true, lookup, lookup),
	"lookups and lookup":         with(true, lookups, lookup),
	"shared insert and lookup":   with(true, shared, lookup),
	"shared insert and the same": with(true, shared, shared),
	"count and shared insert":    with(true, func(f *Filter) { _ = f.AddInsertions(1) }, shared),
	"mark and lookup":            with(false, func(f *Filter) { _ = f.MarkClean() }, lookup),
	"lookup and statistics":      with(true, lookup, measure),
	"inserts under a lock": pairs.Of(true, func() (func(), func()) {
		var mutex sync.Mutex
		f := must(New(Spec{}))
		locked := func() {
			mutex.Lock()
			defer mutex.Unlock()
			insert(f)
			lookup(f)
		}
		return locked, locked
	}),
	"inserts into two filters": pairs.Of(true, func() (func(), func()) {
		f, g := must(New(Spec{})), must(New(Spec{}))
		return func() { insert(f) }, func() { insert(g) }
	}),
}

// The race detector cannot see C's memory, but reports every use that the comments forbid, and no use that they allow.
func TestRacesAreReported(t *testing.T) { pairs.Test(t, together) }
