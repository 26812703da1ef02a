package interop

import (
	"go/importer"
	"go/token"
	"go/types"
	"sort"
	"strings"
	"testing"
)

const (
	theirs = "github.com/bits-and-blooms/bloom/v3"
	ours   = "github.com/petal-filter/petal/bindings/go/bloom"
)

// exported returns what a package exports, one line each: constants, functions and types, and the methods of the types
// and of pointers to them, with the names of all parameters.
func exported(t *testing.T, path string) []string {
	t.Helper()
	pkg, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import(path)
	if err != nil {
		t.Fatal(err)
	}
	// The package's own types get the same name in both.
	name := func(of *types.Package) string {
		if of == pkg {
			return "bloom"
		}
		return of.Path()
	}
	var lines []string
	for _, each := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(each)
		if !object.Exported() {
			continue
		}
		if _, isType := object.(*types.TypeName); !isType {
			lines = append(lines, types.ObjectString(object, name))
			continue
		}
		kind := "type " + each
		if structure, ok := object.Type().Underlying().(*types.Struct); ok {
			kind += " struct"
			for field := range structure.Fields() {
				if field.Exported() {
					lines = append(lines, types.ObjectString(field, name))
				}
			}
		} else {
			kind += " " + types.TypeString(object.Type().Underlying(), name)
		}
		lines = append(lines, kind)
		for _, receiver := range []types.Type{object.Type(), types.NewPointer(object.Type())} {
			methods := types.NewMethodSet(receiver)
			for i := range methods.Len() {
				if method := methods.At(i); method.Obj().Exported() {
					lines = append(lines, types.SelectionString(method, name))
				}
			}
		}
	}
	sort.Strings(lines)
	return lines
}

// Both packages export the same, down to the names of parameters: nothing is missing, and nothing was added.
func TestAPI(t *testing.T) {
	want, got := exported(t, theirs), exported(t, ours)
	if len(want) < 30 {
		t.Fatalf("only these were found: %s", want)
	}
	if strings.Join(want, "\n") == strings.Join(got, "\n") {
		return
	}
	in := func(lines []string, line string) bool {
		at := sort.SearchStrings(lines, line)
		return at < len(lines) && lines[at] == line
	}
	for _, line := range want {
		if !in(got, line) {
			t.Errorf("missing: %s", line)
		}
	}
	for _, line := range got {
		if !in(want, line) {
			t.Errorf("added:   %s", line)
		}
	}
}
