module github.com/petal-filter/petal/tests/interop/bits-and-blooms

go 1.24.0

require (
	github.com/bits-and-blooms/bitset v1.24.2
	github.com/bits-and-blooms/bloom/v3 v3.7.1
	github.com/petal-filter/petal/bindings/go/bloom v0.0.0-00010101000000-000000000000
)

replace github.com/petal-filter/petal/bindings/go/bloom => ../../../bindings/go/bloom
