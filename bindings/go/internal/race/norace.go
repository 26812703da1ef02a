//go:build !race

// Package race tells Go's race detector of changes that it cannot see: changes of C's memory, or of mapped memory.
package race

import "unsafe"

// Enabled says whether the program was built with -race.
const Enabled = false

// Write tells the detector of a change to the value that this word belongs to. A method that only reads the value reads
// the word, which the detector sees without help.
func Write(unsafe.Pointer) {}
