//go:build !amd64

package view

const hasAVX2 = false

func blockedContainsAVX2(f *Filter, hash uint64) bool {
	return f.shape.blockedContains(f.payload, hash)
}
