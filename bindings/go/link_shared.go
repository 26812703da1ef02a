//go:build cgo && !petal_static

package petal

// Without pkg-config: where the library is missing, its message would come instead of the one in petal.go.

// In files of their own, not as conditions in one: Go's build cache tells packages apart by their files, and would take
// what it compiled for the other way to link.

// #cgo LDFLAGS: -lpetal
import "C"
