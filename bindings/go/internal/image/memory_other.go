//go:build !unix

package image

import "math"

// isThereMemory says whether the system may give so many bytes: here it cannot be asked.
func isThereMemory(length int) bool { return uint64(length) < min(1<<46, math.MaxInt/2) }
