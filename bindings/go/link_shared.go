//go:build cgo && !petal_static

package petal

// This file does not use pkg-config: without the library, its error would hide the message of petal.go.

// The two ways to link are in separate files. Go's build cache tells packages apart by their files, and would otherwise
// reuse the package that was compiled for the other way.

// #cgo LDFLAGS: -lpetal
import "C"
