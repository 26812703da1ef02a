//go:build !cgo

package petal

// Package petal is a binding of a C library, so it does not compile without cgo. The undefined name below is the
// message. Either set CGO_ENABLED=1 and have a C compiler (docs/go.md says how to cross-compile). Or import
// github.com/petal-filter/petal/bindings/go/view, which reads the same files in pure Go.
var _ = petal_needs_cgo__set_CGO_ENABLED_1_or_import_bindings_go_view_instead
