package petal

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// For every kind, an unsupported call explains itself, for single keys and for batches. The message says that the kind
// does not support the call, or that the handle was opened for reading.
func TestWhatCannotBeDoneIsExplained(t *testing.T) {
	told := 0
	check := func(name string, handle any, wanted ...string) {
		value := reflect.ValueOf(handle)
		for i := range value.NumMethod() {
			method := value.Type().Method(i).Name
			switch method {
			case "Close", "Save", "WriteTo", "MarkClean", "Sync", "Export", "ExportTo", "AppendCompact", "UnmarshalBinary",
				"ReadFrom":
				continue
			}
			results := callWithSome(t, value.Method(i))
			if len(results) == 0 {
				continue
			}
			err, _ := results[len(results)-1].Interface().(error)
			if !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrUnsupportedByHandle) {
				continue
			}
			told++
			said := strings.TrimPrefix(err.Error(), "petal."+value.Type().Elem().Name()+"."+method+": ")
			isTold := false
			for _, part := range wanted {
				isTold = isTold || strings.Contains(said, part)
			}
			if said == ErrUnsupported.Error() || said == ErrUnsupportedByHandle.Error() || !isTold {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, kind := range Kinds() {
		if kind.IsForeign {
			continue
		}
		if kind.Handle == HandleSketch {
			s := must(NewSketch(Spec{Kind: kind.Name, Capacity: 100}))
			path := filepath.Join(t.TempDir(), "image")
			if err := s.Save(path); err != nil {
				t.Fatal(err)
			}
			mapped := must(OpenSketch(path, nil))
			check(kind.Name+", mapped", mapped, kind.Name, "read", "in place")
			_ = mapped.Close()
			_ = s.Close()
			continue
		}
		if kind.Handle == HandleMap {
			b := must(NewMapBuilder(Spec{Kind: kind.Name}, nil))
			_ = b.PutUint64(1, 2)
			m := must(b.Finish())
			check(kind.Name, m, kind.Name, "maps", "map ")
			_ = m.Close()
			_ = b.Close()
			continue
		}
		spec := Spec{Kind: kind.Name, Capacity: 100}
		if kind.TakesIntegers {
			spec = Spec{Kind: kind.Name, Bits: 1000}
		}
		// Every method of this builder is called, so that a key may be a member and excluded too.
		asked := must(NewBuilder(spec, nil))
		check(kind.Name, asked, kind.Name)
		_ = asked.Close()
		b := must(NewBuilder(spec, nil))
		_ = b.AddUint64(1)
		f := must(b.Finish())
		check(kind.Name, f, kind.Name)
		path := filepath.Join(t.TempDir(), "image")
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		mapped := must(Open(path, nil))
		check(kind.Name+", mapped", mapped, kind.Name, "read", "in place")
		_ = mapped.Close()
		_ = f.Close()
		_ = b.Close()
	}
	if told < 200 {
		t.Errorf("only %d refusals were told", told)
	}
}
