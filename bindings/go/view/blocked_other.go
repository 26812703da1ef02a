//go:build !amd64

package view

const hasAVX2 = false

func blockedContainsAVX2(s *shape, payload []byte, hash uint64) bool {
	return s.blockedContains(payload, hash)
}
