//go:build !amd64

package image

const hasAVX2 = false

func blockedContainsAVX2(s *shape, payload []byte, hash uint64) bool {
	return s.blockedContains(payload, hash)
}

func blockedInsertAVX2(s *shape, payload []byte, hash uint64) (isNew bool) {
	return s.blockedInsert(payload, hash)
}
