// Package interop holds package bloom of bindings/go to the package whose place it takes. It is a module of its own, so
// that this is not among the requirements of Petal's.
package interop
