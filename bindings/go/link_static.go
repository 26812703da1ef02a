//go:build cgo && petal_static

package petal

// The libraries behind it are those that Rust's standard library needs, empty ones in a C library of today.

// #cgo linux LDFLAGS: -l:libpetal.a -lutil -lrt -lpthread -lm -ldl
// #cgo !linux LDFLAGS: -l:libpetal.a -lpthread -lm
import "C"
