package image

const canPrefetch = true

// prefetch brings the cache lines at these places of a payload near. In fetch_amd64.s.
//
//go:noescape
func prefetch(payload []byte, offsets []uint64)
