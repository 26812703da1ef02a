package petal

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestKindsAndParametersAreTheLibrarys(t *testing.T) {
	kinds := Kinds()
	if len(kinds) == 0 || Version() == "" {
		t.Fatal("no kinds")
	}
	for _, kind := range kinds {
		if found := must(FindKind(kind.Name)); found.Kind != kind.Kind || kind.Kind.String() != kind.Name {
			t.Errorf("%+v", found)
		}
		takes := kind.Capabilities.Has(CanInsert) || kind.Capabilities.Has(CanPut)
		if takes == (kind.Overfill == OverfillIsBuilt) {
			t.Errorf("%s: %v, and when overfilled: %v", kind.Name, kind.Capabilities, kind.Overfill)
		}
		if kind.Capabilities.Has(CanGrow) != (kind.Overfill == OverfillGrows) {
			t.Errorf("%s: %v, and when overfilled: %v", kind.Name, kind.Capabilities, kind.Overfill)
		}
		parameters := must(kind.Parameters())
		values := map[string]string{}
		for _, parameter := range parameters {
			if parameter.Name == "" || parameter.Summary == "" || parameter.Minimum > parameter.Maximum {
				t.Errorf("%+v", parameter)
			}
			values[parameter.Name] = parameter.format(parameter.Default)
			if n := len(parameter.Choices); n > 0 {
				values[parameter.Name] = parameter.Choices[n-1]
			}
		}
		spec := Spec{Kind: kind.Name, Capacity: 1000, Parameters: values}
		f, err := New(spec)
		// The range of a kind's number gives its handle, even if the library does not know the kind.
		if is := kind.Handle == HandleSketch; is != (kind.Kind >= 256) {
			t.Errorf("%s: %d is a kind of %v", kind.Name, uint32(kind.Kind), kind.Handle)
		} else if is {
			wants(t, err, ErrUnsupported)
			s := must(NewSketch(spec))
			if s.Capabilities() != kind.Capabilities || must(s.Describe()).Kind.String() != kind.Name {
				t.Errorf("%s: %v", kind.Name, s.Capabilities())
			}
			check(t, s.Close())
			continue
		}
		// A foreign cuckoo filter takes keys, but comes from its owner's bytes only.
		if !kind.Capabilities.Has(CanInsert) || kind.Name == "foreign_cuckoo" {
			wants(t, err, ErrUnsupported)
			continue
		}
		// The last choices of all parameters need not go together, nor reach the rate.
		if errors.Is(err, ErrContradiction) || errors.Is(err, ErrOutOfRange) {
			continue
		}
		check(t, err)
		back := must(f.Spec())
		if back.Kind != kind.Name {
			t.Error(back)
		}
		// With other parameters a filter may be able to do less than its kind.
		if err := must(New(back)).Merge(f); f.Capabilities().Has(CanMerge) {
			check(t, err)
		} else {
			wants(t, err, ErrUnsupported)
		}
		check(t, f.Close())
	}
	// A kind of map has a name and a handle too.
	defaults := map[Handle][]string{}
	for _, kind := range kinds {
		if kind.IsDefault {
			defaults[kind.Handle] = append(defaults[kind.Handle], kind.Name)
		}
	}
	if len(defaults[HandleFilter]) != 1 || len(defaults[HandleMap]) != 1 || len(defaults[HandleSketch]) != 1 {
		t.Error(defaults)
	}
	entries := must(NewMapBuilder(Spec{}, nil))
	check(t, entries.PutUint64(1, 2))
	m := must(entries.Finish())
	defer m.Close()
	if name := must(m.Describe()).Kind.String(); name != defaults[HandleMap][0] {
		t.Error(name)
	}
	wants(t, errorIn(FindKind("no kind")), ErrUnknownValue)
	if name := Kind(math.MaxUint32).String(); name != "kind 4294967295" {
		t.Error(name)
	}
	wants(t, errorIn(New(Spec{Parameters: map[string]string{"no parameter": "1"}})), ErrUnknownValue)
	spec := must(must(New(Spec{Kind: "bloom", Parameters: map[string]string{"derivation": "triple"}})).Spec())
	if spec.Parameters["derivation"] != "triple" {
		t.Errorf("%+v", spec)
	}
}

func TestPlanProposesEveryKind(t *testing.T) {
	proposals := must(Plan(PlanRequest{Keys: 1_000_000, FalsePositiveRate: 0.01, Capabilities: CanInsert}))
	all := slices.DeleteFunc(Kinds(), func(kind KindInfo) bool { return kind.Handle != HandleFilter || kind.IsForeign })
	if len(proposals) != len(all) {
		t.Fatalf("%d proposals", len(proposals))
	}
	best := proposals[0]
	if best.Err != nil || best.BitsPerKey < 5 || best.BitsPerKey > 12 || best.FalsePositiveRate > 0.01 || best.Name == "" {
		t.Errorf("%+v", best)
	}
	for _, proposal := range must(Plan(PlanRequest{Keys: 1000, Memory: 300})) {
		if proposal.Err != nil && proposal.Err.Error() == "" || proposal.Err == nil && proposal.Bytes > 300 {
			t.Errorf("%+v", proposal)
		}
	}
	integers := must(Plan(PlanRequest{Keys: 1000, FalsePositiveRate: 0.01, Static: true, Universe: 5000}))[0]
	if !must(FindKind(integers.Name)).TakesIntegers || integers.FalsePositiveRate != 0 || integers.BitsPerKey != 5 {
		t.Errorf("%+v", integers)
	}
	_, err := Plan(PlanRequest{Keys: 1})
	if err == nil {
		t.Error("neither a rate nor a memory, but a plan")
	}
}
