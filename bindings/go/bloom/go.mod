module github.com/petal-filter/petal/bindings/go/bloom

go 1.24.0

require github.com/bits-and-blooms/bitset v1.24.2
