//go:build !unix

package image

import "math"

// isThereMemory says whether the system may have this much memory. This system cannot be asked, so only absurd lengths
// fail.
func isThereMemory(length int) bool { return uint64(length) < min(1<<46, math.MaxInt/2) }
