// Package interop compares package bloom of bindings/go with the package that it replaces. It is a separate module, so
// that the original is not among the requirements of Petal's.
package interop
