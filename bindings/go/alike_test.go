package petal

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

// signature returns what a method takes and returns, with the types of each package by their bare names.
func signature(method reflect.Method) string {
	var parts []string
	for i := 1; i < method.Type.NumIn(); i++ {
		parts = append(parts, bareName(method.Type.In(i)))
	}
	for i := range method.Type.NumOut() {
		parts = append(parts, "-> "+bareName(method.Type.Out(i)))
	}
	return strings.Join(parts, " ")
}

func bareName(of reflect.Type) string {
	name := of.String()
	for _, part := range []string{"petal.", "filter.", "view.", "image.", "secret."} {
		name = strings.ReplaceAll(name, part, "")
	}
	return name
}

// What packages view and filter have under a name of this package takes and returns the same, and has the same form in
// JSON. The names that only they have are known.
func TestPackagesNameThingsAlike(t *testing.T) {
	for _, pair := range []struct {
		pure, ours any
		own        []string
	}{
		{&view.Filter{}, &Filter{}, nil},
		{&view.Map{}, &Map{}, nil},
		{&filter.Filter{}, &Filter{}, []string{"FoldUnits", "IsCompatible"}},
		{view.Description{}, Description{}, []string{"Words"}},
		{filter.Description{}, Description{}, []string{"Words"}},
		{view.OpenOptions{}, OpenOptions{}, nil},
		{filter.OpenOptions{}, OpenOptions{}, nil},
		{filter.Spec{}, Spec{}, nil},
		{&filter.Spec{}, &Spec{}, nil},
		{filter.Statistics{}, Statistics{}, nil},
		{filter.Estimate{}, Estimate{}, nil},
		{filter.Overlap{}, Overlap{}, nil},
		{filter.Answers{}, Answers{}, nil},
		{filter.Keys{}, Keys{}, nil},
		{filter.Kind(0), Kind(0), nil},
		{new(filter.Kind), new(Kind), nil},
		{filter.Hash(0), Hash(0), nil},
		{new(filter.Hash), new(Hash), nil},
		{filter.State(0), State(0), nil},
		{new(filter.State), new(State), nil},
	} {
		pure, ours := reflect.TypeOf(pair.pure), reflect.TypeOf(pair.ours)
		for i := range pure.NumMethod() {
			method := pure.Method(i)
			same, found := ours.MethodByName(method.Name)
			if isOwn := slices.Contains(pair.own, method.Name); isOwn || !found {
				if isOwn == found {
					t.Errorf("%v.%s is there in package petal: %v", pure, method.Name, found)
				}
			} else if signature(method) != signature(same) {
				t.Errorf("%v.%s: %s, and in package petal: %s", pure, method.Name, signature(method), signature(same))
			}
		}
		if pure.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(pure) {
			same, found := ours.FieldByName(field.Name)
			if !field.IsExported() || slices.Contains(pair.own, field.Name) {
				continue
			}
			if !found || bareName(field.Type) != bareName(same.Type) || field.Tag != same.Tag {
				t.Errorf("%v.%s: %v %s, and in package petal: %v %s", pure, field.Name, field.Type, field.Tag, same.Type, same.Tag)
			}
		}
	}
}

// The numbers of hash functions and states are those of the library, under the same names.
func TestPackagesNumberThingsAlike(t *testing.T) {
	for ours, pure := range map[Hash]filter.Hash{
		XXH3: filter.XXH3, XXH64: filter.XXH64, SipHash13: filter.SipHash13, External: filter.External,
		DigestHash: filter.DigestHash, Identity: view.Identity, XXPH3: filter.Hash(XXPH3),
		FormatHash: filter.Hash(FormatHash), SipHash24: filter.Hash(SipHash24), 0: 0, 77: 77,
	} {
		if uint32(ours) != uint32(pure) || ours.String() != pure.String() {
			t.Errorf("%v is %d, and %v is %d", ours, uint32(ours), pure, uint32(pure))
		}
	}
	for ours, pure := range map[State]view.State{
		StateUnclean: view.StateUnclean, StateInPlace: view.StateInPlace, StateWritable: view.StateWritable,
		StateCanHash: view.StateCanHash, StateStaysUnclean: view.StateStaysUnclean, StateUnclean | 1<<9: view.StateUnclean |
			1<<9,
	} {
		if uint32(ours) != uint32(pure) || ours.String() != pure.String() {
			t.Errorf("%v is %d, and %v is %d", ours, uint32(ours), pure, uint32(pure))
		}
	}
	for _, kind := range Kinds() {
		var pure view.Kind
		if err := pure.UnmarshalText([]byte(kind.Name)); err != nil || uint32(pure) != uint32(kind.Kind) {
			t.Errorf("%s is %d in pure Go, %v", kind.Name, uint32(pure), err)
		}
	}
	// What no filter can have is refused for the same reason.
	image := must(filled(Spec{Capacity: 100}, 1).MarshalBinary())
	path := t.TempDir() + "/filter"
	check(t, must(filter.Load(image, nil)).Save(path))
	ours, views := must(Open(path, nil)), must(view.Open(path, nil))
	defer ours.Close()
	defer views.Close()
	_, refused := ours.InsertUint64(1)
	_, err := views.InsertUint64(1)
	wants(t, refused, ErrUnsupportedByHandle)
	wants(t, err, view.ErrUnsupportedByHandle)
	_, refused = Load(image, &OpenOptions{Secret: Secret{1}})
	_, err = view.Load(image, &view.OpenOptions{Secret: view.Secret{1}})
	wants(t, refused, ErrContradiction)
	wants(t, err, view.ErrContradiction)
	few := Answers{Bools: make([]bool, 1)}
	fewOfPure := filter.Answers{Bools: make([]bool, 1)}
	pure := must(filter.Load(image, nil))
	wants(t, ours.ContainsBatch(Uint64Keys(make([]uint64, 2)), &few), ErrBufferTooSmall)
	wants(t, pure.ContainsBatch(filter.Uint64Keys(make([]uint64, 2)), &fewOfPure), filter.ErrBufferTooSmall)
	if errors.Is(err, view.ErrUnsupportedByHandle) {
		t.Error(err)
	}
}
