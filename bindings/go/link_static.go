//go:build cgo && petal_static

package petal

// #cgo pkg-config: petal-static
import "C"
