module github.com/petal-filter/petal/bindings/go

go 1.24.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/klauspost/cpuid/v2 v2.2.10
	github.com/zeebo/xxh3 v1.1.0
)

require golang.org/x/sys v0.30.0 // indirect
