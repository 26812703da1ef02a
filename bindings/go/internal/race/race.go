//go:build race

// Package race tells Go's race detector of changes that it cannot see: changes of C's memory, or of mapped memory.
package race

import (
	"runtime"
	"unsafe"
)

// Enabled says whether the program was built with -race.
const Enabled = true

// Write says that what belongs to this word is being changed. A method that only reads reads the word, which the
// detector sees for itself.
func Write(word unsafe.Pointer) { runtime.RaceWrite(word) }
