package petal

import (
	"bytes"
	"errors"
	"testing"
)

func TestCompactForms(t *testing.T) {
	f := filled(Spec{Capacity: 1000, Seed: 7}, 1000)
	defer f.Close()
	options := &CompactOptions{Seed: 7}
	form := must(f.AppendCompact([]byte("before")))
	if string(form[:6]) != "before" {
		t.Error("AppendCompact")
	}
	form = form[6:]
	check(t, VerifyCompact(form))
	loaded := must(LoadCompact(form, options))
	defer loaded.Close()
	for i := range uint64(3000) {
		expected := f.ContainsUint64(i)
		hash := must(f.HashUint64(i))
		if loaded.ContainsUint64(i) != expected || CompactContainsHash(form, hash) != expected {
			t.Fatal(i)
		}
	}
	if !CompactContains(nil, options, []byte("key")) || !CompactContainsHash(nil, 1) {
		t.Error("a form that is none says false")
	}
	form[0] ^= 1
	wants(t, VerifyCompact(form), ErrCorrupt)
	wants(t, errorIn(LoadCompact(form, options)), ErrCorrupt)
}

func TestCompactFormsOfBuilders(t *testing.T) {
	for _, kind := range filterKinds() {
		b := must(NewBuilder(Spec{Kind: kind.Name}, nil))
		for round := range 3 {
			for i := range uint64(100) {
				check(t, b.AddUint64(i))
			}
			form := must(b.AppendCompact(bytes.Repeat([]byte{7}, round)))[round:]
			loaded := must(LoadCompact(form, nil))
			lost := 0
			for i := range uint64(100) {
				if !loaded.ContainsUint64(i) {
					lost++
				}
			}
			if lost > mayLose(kind, 100) {
				t.Fatal(kind.Name, lost)
			}
			check(t, loaded.Close())
		}
		check(t, b.Close())
	}
}

func TestManyFiltersAtOnce(t *testing.T) {
	var all []*Filter
	for i := range uint64(200) {
		f := must(New(Spec{Capacity: 100, Seed: i % 3}))
		defer f.Close()
		must(f.InsertString(string(rune('a' + i%26))))
		all = append(all, f)
	}
	list := NewFilters(all...)
	answers := Answers{Bools: make([]bool, len(all))}
	check(t, list.Contain([]byte("c"), &answers))
	count := 0
	for i, f := range all {
		if answers.Bools[i] != f.ContainsString("c") {
			t.Fatal(i)
		}
		if answers.Bools[i] {
			count++
		}
	}
	if answers.TrueCount != count || answers.Done != len(all) {
		t.Error(answers.TrueCount, answers.Done)
	}
	hash := must(all[0].Hash([]byte("c")))
	check(t, list.ContainHash(hash, &answers))
	if answers.Bools[0] != all[0].ContainsHash(hash) {
		t.Error("ContainHash")
	}
	short := Answers{Bools: make([]bool, 1)}
	if err := list.ContainHash(hash, &short); !errors.Is(err, ErrBufferTooSmall) || !short.Bools[0] {
		t.Error(err)
	}
}
