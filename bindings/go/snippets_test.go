// The programs of this test link with the shared library, so the tests of the static library leave this file out.

//go:build !petal_static

package petal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// snippetPackages are the packages that a fragment may name, besides its own declarations.
var snippetPackages = map[string]string{
	"bloom":  "github.com/petal-filter/petal/bindings/go/bloom",
	"atomic": "sync/atomic",
	"errors": "errors",
	"fmt":    "fmt",
	"log":    "log",
	"os":     "os",
	"petal":  "github.com/petal-filter/petal/bindings/go",
	"view":   "github.com/petal-filter/petal/bindings/go/view",
	"filter": "github.com/petal-filter/petal/bindings/go/filter",
	"time":   "time",
}

var (
	goFence  = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	declares = regexp.MustCompile(`(?m)^([\w, ]+) := `)
)

// Every Go snippet of a document compiles and runs without an error. A fragment becomes the body of a function.
func TestSnippetsOfDocuments(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "ARCHITECTURE.md")); err != nil {
		t.Skip("this package stands alone, without Petal's documents")
	}
	var documents []string
	for _, pattern := range []string{"*.md", "docs/*.md", "bindings/*/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, found...)
	}
	count := 0
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range goFence.FindAllSubmatchIndex(text, -1) {
			name := fmt.Sprintf("%s:%d", filepath.Base(document), 1+strings.Count(string(text[:at[2]]), "\n"))
			code := string(text[at[2]:at[3]])
			t.Run(name, func(t *testing.T) { runSnippet(t, code) })
			count++
		}
	}
	if count == 0 {
		t.Fatal("no snippet was found")
	}
}

func runSnippet(t *testing.T, code string) {
	if !strings.HasPrefix(code, "package ") {
		var imports, uses strings.Builder
		for name, path := range snippetPackages {
			if regexp.MustCompile(`\b` + name + `\.`).MatchString(code) {
				fmt.Fprintf(&imports, "import %q\n", path)
			}
		}
		for _, names := range declares.FindAllStringSubmatch(code, -1) {
			blanks := strings.Repeat("_, ", strings.Count(names[1], ","))
			fmt.Fprintf(&uses, "%s_ = %s\n", blanks, names[1])
		}
		code = "package main\n" + imports.String() + "func snippet() error {\n" + code + uses.String() +
			"return nil\n}\nfunc main() {\nif err := snippet(); err != nil {\npanic(err)\n}\n}\n"
	}
	folder := t.TempDir()
	source, program := filepath.Join(folder, "main.go"), filepath.Join(folder, "snippet")
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	// Imports resolve in this module, except for package bloom, whose module is in the folder bloom.
	build := exec.Command("go", "build", "-o", program, source)
	if strings.Contains(code, snippetPackages["bloom"]) {
		build.Dir = "bloom"
	}
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, code)
	}
	run := exec.Command(program)
	run.Dir = folder
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, code)
	}
}
