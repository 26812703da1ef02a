//go:build !unix

package image

import "math"

// isThereMemory says whether the system may give so many bytes. Nobody can ask this system: only absurd lengths fail.
func isThereMemory(length int) bool { return uint64(length) < min(1<<46, math.MaxInt/2) }
