//go:build cgo && petal_static

package petal

// The further libraries are those that Rust's standard library needs. In a present C library they are empty.

// #cgo linux LDFLAGS: -l:libpetal.a -lutil -lrt -lpthread -lm -ldl
// #cgo !linux LDFLAGS: -l:libpetal.a -lpthread -lm
import "C"
