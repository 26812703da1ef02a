package image

const canPrefetch = true

// prefetch prefetches the cache lines at these places of a payload. The code is in fetch_amd64.s.
//
//go:noescape
func prefetch(payload []byte, offsets []uint64)
