package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// tableOfKinds is the table of README: what packages view and filter do with each kind.
func tableOfKinds() string {
	var table strings.Builder
	table.WriteString("| kind | `view` | `filter` |\n|---|---|---|\n")
	var others []string
	for _, use := range Uses() {
		name := fmt.Sprintf("`%v`", use.Kind)
		if !use.Opens {
			others = append(others, name)
			continue
		}
		view, filter := fmt.Sprintf("opens %vs", use.Handle), ""
		if use.Inserts {
			view += ", inserts into copies"
		}
		if use.IsMade {
			filter = "makes, inserts"
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", name, view, filter)
	}
	fmt.Fprintf(&table, "| only package `petal`: %s | | |\n", strings.Join(others, ", "))
	return strings.ReplaceAll(table.String(), "|  |", "| |")
}

// README has the table of kinds, which PETAL_UPDATE=1 writes, and the comment of package view names the same kinds.
func TestTableOfKinds(t *testing.T) {
	const readme = "../../../../docs/go.md"
	const start = "<!-- kinds: made by `PETAL_UPDATE=1 go test ./internal/image -run TableOfKinds` -->\n"
	text, err := os.ReadFile(readme)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("docs/go.md is not here")
	}
	ok(t, err)
	before, rest, hasStart := strings.Cut(string(text), start)
	_, after, hasEnd := strings.Cut(rest, "<!-- end -->")
	if !hasStart || !hasEnd {
		t.Fatal("docs/go.md has no place for the table")
	}
	made := before + start + "\n" + tableOfKinds() + "\n<!-- end -->" + after
	if os.Getenv("PETAL_UPDATE") != "" {
		ok(t, os.WriteFile(readme, []byte(made), 0o666))
	} else if made != string(text) {
		t.Error("docs/go.md has another table of kinds: write it with " +
			"PETAL_UPDATE=1 go test ./internal/image -run TableOfKinds")
	}
}

// The comment of package view names the kinds that it opens, and those that it inserts into.
func TestKindsOfPackageView(t *testing.T) {
	source, err := os.ReadFile("../../view/view.go")
	ok(t, err)
	comment, _, _ := strings.Cut(string(source), "\npackage view")
	comment = strings.ReplaceAll(comment, "\n// ", " ")
	named := func(start, end string) map[string]bool {
		_, list, found := strings.Cut(comment, start)
		list, _, ends := strings.Cut(list, end)
		if !found || !ends {
			t.Fatalf("the comment has no list after %q", start)
		}
		names := map[string]bool{}
		for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
			if name != "and" && name != "or" {
				names[name] = true
			}
		}
		return names
	}
	filters, maps, inserted := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, use := range Uses() {
		switch name := use.Kind.String(); {
		case use.Opens && use.Handle == AMap:
			maps[name] = true
		case use.Opens:
			filters[name] = true
		}
		if use.Inserts {
			inserted[use.Kind.String()] = true
		}
	}
	for _, list := range []struct {
		start, end string
		want       map[string]bool
	}{
		{"The kinds of filter are ", ".", filters}, {"The kinds of map are ", " (", maps},
		{"a copy of ", " takes insertions", inserted},
	} {
		if got := named(list.start, list.end); fmt.Sprint(got) != fmt.Sprint(list.want) {
			t.Errorf("after %q are %v, and not %v", list.start, got, list.want)
		}
	}
}

// The page on which to choose a filter shows lines in pure Go for the kinds that pure Go opens and makes.
func TestKindsOfThePage(t *testing.T) {
	text, err := os.ReadFile("../../../../web/src/lines.js")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the page is not here")
	}
	ok(t, err)
	for name, isListed := range map[string]func(Use) bool{
		"PURE_READ": func(use Use) bool { return use.Opens },
		"PURE_MADE": func(use Use) bool { return use.IsMade },
	} {
		_, list, _ := strings.Cut(string(text), "const "+name+" = [")
		list, _, _ = strings.Cut(list, "]")
		for _, use := range Uses() {
			if strings.Contains(list, fmt.Sprintf("%q", use.Kind.String())) != isListed(use) {
				t.Errorf("%s of web/src/lines.js: %v", name, use.Kind)
			}
		}
	}
}

// A kind has the name that the library gives it, also in JSON, and its row is that of its number.
func TestKindsHaveTheirNames(t *testing.T) {
	for _, use := range Uses() {
		var back Kind
		text, err := use.Kind.MarshalText()
		ok(t, err, back.UnmarshalText(text))
		if row := use.Kind.row(); back != use.Kind || row != nil && row.name != names[use.Kind] {
			t.Errorf("%d is %s", uint32(use.Kind), text)
		}
	}
	var none Kind
	if err := none.UnmarshalText([]byte("quadruple")); !errors.Is(err, ErrUnknownValue) || Kind(99).String() != "kind 99" {
		t.Error(err)
	}
}
