package image

import "github.com/klauspost/cpuid/v2"

var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)

// blockedContainsAVX2 is blockedContains with a vector of 32-bit lanes for each half of the block. The code is in
// blocked_amd64.s.
//
//go:noescape
func blockedContainsAVX2(s *shape, payload []byte, hash uint64) bool

// blockedInsertAVX2 is blockedInsert with the same vectors. The code is in blocked_amd64.s.
//
//go:noescape
func blockedInsertAVX2(s *shape, payload []byte, hash uint64) (isNew bool)

// bytesOfBits are the bits of a byte as bytes of 0 or 1, the lowest first.
//
//lint:ignore U1000 blocked_amd64.s uses it.
var bytesOfBits = func() (all [256]uint64) {
	for i := range all {
		for bit := range 8 {
			all[i] |= uint64(i) >> bit & 1 << (8 * bit)
		}
	}
	return all
}()
