//go:build race

// Package race tells Go's race detector of changes that it cannot see: changes of C's memory, or of mapped memory.
package race

import (
	"runtime"
	"unsafe"
)

// Enabled says whether the program was built with -race.
const Enabled = true

// Write tells the detector of a change to the value that this word belongs to. A method that only reads the value reads
// the word, which the detector sees without help.
func Write(word unsafe.Pointer) { runtime.RaceWrite(word) }
