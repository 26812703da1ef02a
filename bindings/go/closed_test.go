package petal

import (
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

// Every method of a nil handle, of each package, fails with the error of a closed handle, and none panics.
func TestNilHandlesAreClosedOnes(t *testing.T) {
	handles := []any{
		(*Filter)(nil), (*Map)(nil), (*Sketch)(nil), (*Session)(nil), (*Router)(nil), (*Aggregate)(nil), (*Digest)(nil),
		(*Index)(nil),
		(*Builder)(nil), (*MapBuilder)(nil),
		(*view.Filter)(nil), (*view.Map)(nil), (*filter.Filter)(nil),
	}
	for _, handle := range handles {
		value := reflect.ValueOf(handle)
		for i := range value.NumMethod() {
			name := value.Type().String() + "." + value.Type().Method(i).Name
			t.Run(name, func(t *testing.T) {
				defer func() {
					if panicked := recover(); panicked != nil {
						t.Errorf("it panics: %v", panicked)
					}
				}()
				results := callWithSome(t, value.Method(i))
				if len(results) == 0 {
					return
				}
				err, isError := results[len(results)-1].Interface().(error)
				isCloser := strings.HasSuffix(name, ".Close")
				if isError && (isCloser || !errors.Is(err, ErrClosed) && !errors.Is(err, view.ErrClosed)) {
					t.Error(err)
				}
				if fails := value.Method(i).Type().Out(len(results)-1) == reflect.TypeFor[error](); fails && !isError && !isCloser {
					t.Error("it fails without an error")
				}
				if strings.Contains(name, ".Contains") && results[0].Kind() == reflect.Bool && !results[0].Bool() {
					t.Error("a lookup says false")
				}
			})
		}
	}
}

// callWithSome calls a method with a value for each of its parameters.
func callWithSome(t *testing.T, method reflect.Value) []reflect.Value {
	t.Helper()
	var arguments []reflect.Value
	for i := range method.Type().NumIn() {
		kind := method.Type().In(i)
		argument := reflect.New(kind).Elem()
		switch {
		case kind == reflect.TypeFor[io.Writer]():
			argument.Set(reflect.ValueOf(io.Discard))
		case kind == reflect.TypeFor[io.Reader]():
			argument.Set(reflect.ValueOf(strings.NewReader("")))
		case kind == reflect.TypeFor[*Answers]():
			argument.Set(reflect.ValueOf(&Answers{}))
		case kind == reflect.TypeFor[*filter.Answers]():
			argument.Set(reflect.ValueOf(&filter.Answers{}))
		case kind.Kind() == reflect.String:
			argument.SetString(filepath.Join(t.TempDir(), "none"))
		case kind.Kind() == reflect.Func:
			argument.Set(reflect.MakeFunc(kind, func([]reflect.Value) (results []reflect.Value) {
				for i := range kind.NumOut() {
					results = append(results, reflect.Zero(kind.Out(i)))
				}
				return results
			}))
		}
		arguments = append(arguments, argument)
	}
	if method.Type().IsVariadic() {
		return method.CallSlice(arguments)
	}
	return method.Call(arguments)
}

// shortWriter takes half of its input without an error.
type shortWriter struct{ taken int64 }

func (w *shortWriter) Write(piece []byte) (int, error) {
	w.taken += int64(len(piece) / 2)
	return len(piece) / 2, nil
}

// A writer that takes less than its input without an error counts as failed.
func TestShortWritesAreErrors(t *testing.T) {
	made := filled(Spec{Capacity: 1000}, 1000)
	defer made.Close()
	image := must(made.MarshalBinary())
	maps := must(NewMapBuilder(Spec{}, nil))
	check(t, maps.PutUint64(1, 2))
	m := must(maps.Finish())
	defer m.Close()
	writers := map[string]io.WriterTo{
		"petal.Filter": made, "petal.Map": m, "view.Filter": must(view.Load(image, nil)),
		"filter.Filter": must(filter.Load(image, nil)),
	}
	for name, from := range writers {
		short := &shortWriter{}
		if n, err := from.WriteTo(short); !errors.Is(err, io.ErrShortWrite) || n != short.taken {
			t.Errorf("%s: %d bytes of %d and the error %v", name, n, short.taken, err)
		}
	}
}

// A list outlives its filters: a lookup names a filter that was closed, and uses the new image of a filter that read
// one.
func TestAListOutlivesItsFilters(t *testing.T) {
	first, second := filled(Spec{Capacity: 100}, 100), must(New(Spec{Capacity: 100}))
	defer first.Close()
	image := must(first.MarshalBinary())
	list := NewFilters(first, second)
	answers := Answers{Bools: make([]bool, 3)}
	hash := must(first.HashUint64(5))
	check(t, list.ContainHash(hash, &answers))
	if !answers.Bools[0] || answers.Bools[1] {
		t.Error(answers)
	}
	check(t, second.UnmarshalBinary(image))
	check(t, list.ContainHash(hash, &answers))
	if !answers.Bools[0] || !answers.Bools[1] || answers.TrueCount != 2 {
		t.Error(answers)
	}
	check(t, second.Close())
	for _, ask := range []func() error{
		func() error { return list.ContainHash(hash, &answers) }, func() error { return list.Contain([]byte("a"), &answers) },
	} {
		answers = Answers{Bools: make([]bool, 3)}
		err := ask()
		wants(t, err, ErrClosed)
		if err != nil && !strings.Contains(err.Error(), "filter 1 of the list is closed") {
			t.Error(err)
		}
		if !answers.Bools[0] || !answers.Bools[1] || answers.Bools[2] || answers.TrueCount != 2 {
			t.Error(answers)
		}
	}
	// The last filter was never opened.
	wants(t, NewFilters(nil, &Filter{}).ContainHash(1, &answers), ErrClosed)
}
