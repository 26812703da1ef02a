//go:build cgo && !petal_static

package petal

// In files of their own, not as conditions in one: Go's build cache tells packages apart by their files, and would take
// what it compiled for the other way to link.

// #cgo pkg-config: petal
import "C"
