//go:build unix

package image

import "syscall"

// isThereMemory says whether the system would give this much memory now.
func isThereMemory(length int) bool {
	bytes, err := syscall.Mmap(-1, 0, length, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return false
	}
	_ = syscall.Munmap(bytes)
	return true
}
