// Command vectors writes what github.com/bits-and-blooms/bloom/v3 makes of known keys, for the tests of
// bindings/go/bloom, which do without it:
//
//	cd tests/interop/bits-and-blooms && go run ./vectors > ../../../bindings/go/bloom/testdata/vectors.json
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/bits-and-blooms/bitset"
	"github.com/bits-and-blooms/bloom/v3"
)

// filter is one filter: which keys it has, and what it is in every encoding.
type filter struct {
	M           uint            `json:"m"`
	K           uint            `json:"k"`
	Over        int             `json:"over"` // words that FromWithM was given, -1 for New
	Keys        int             `json:"keys"`
	Binary      string          `json:"binary"`        // in hexadecimal
	Little      string          `json:"little_endian"` // after bitset.LittleEndian()
	JSON        json.RawMessage `json:"json"`
	Approximate uint32          `json:"approximated_size"`
	Others      int             `json:"others"` // how many of the 1000 keys behind its own it says true of
}

type location struct {
	Length    int      `json:"length"` // of the key
	Locations []string `json:"locations"`
}

type parameters struct {
	N uint    `json:"n"`
	P float64 `json:"p"`
	M uint    `json:"m"`
	K uint    `json:"k"`
}

type rate struct {
	M    uint    `json:"m"`
	K    uint    `json:"k"`
	N    uint    `json:"n"`
	Rate float64 `json:"rate"`
}

type vectors struct {
	Version    string       `json:"version"`
	Filters    []filter     `json:"filters"`
	Locations  []location   `json:"locations"`
	Parameters []parameters `json:"parameters"`
	Rates      []rate       `json:"rates"`
}

// key is the i-th key: 3 to 33 bytes, other ones for every i. The tests have the same function.
func key(i int) []byte {
	bytes := []byte{byte(i), byte(i >> 8), byte(i >> 16)}
	for at := range i % 31 {
		bytes = append(bytes, byte(at*(i+7)))
	}
	return bytes
}

func describe(m, k uint, over, keys int) filter {
	f := bloom.New(m, k)
	if over >= 0 {
		f = bloom.FromWithM(make([]uint64, over), m, k)
	}
	for i := range keys {
		f.Add(key(i))
	}
	binary := func() string {
		bytes, err := f.MarshalBinary()
		if err != nil {
			log.Fatal(err)
		}
		return hex.EncodeToString(bytes)
	}
	described := filter{M: m, K: k, Over: over, Keys: keys, Binary: binary(), Approximate: f.ApproximatedSize()}
	bitset.LittleEndian()
	described.Little = binary()
	bitset.BigEndian()
	text, err := json.Marshal(f)
	if err != nil {
		log.Fatal(err)
	}
	described.JSON = text
	for i := range 1000 {
		if f.Test(key(keys + i)) {
			described.Others++
		}
	}
	return described
}

func main() {
	log.SetFlags(0)
	all := vectors{Version: "github.com/bits-and-blooms/bloom/v3 v3.7.1, bitset v1.24.2"}
	for _, f := range []struct {
		m, k       uint
		over, keys int
	}{
		{1, 1, -1, 0}, {1, 1, -1, 1}, {63, 2, -1, 5}, {64, 3, -1, 5}, {65, 4, -1, 5}, {1000, 5, -1, 100},
		{1009, 6, -1, 90}, {4096, 7, -1, 300}, {9586, 7, -1, 1000}, {5003, 8, -1, 400}, {777, 13, -1, 40},
		{4000, 20, -1, 3}, {640, 3, 10, 60}, {600, 3, 10, 60}, {1000, 3, 10, 60}, {128, 3, 2, 200},
	} {
		all.Filters = append(all.Filters, describe(f.m, f.k, f.over, f.keys))
	}
	for length := range 50 {
		bytes := make([]byte, length)
		for at := range bytes {
			bytes[at] = byte(255 - at*length)
		}
		var texts []string
		for _, at := range bloom.Locations(bytes, 9) {
			texts = append(texts, fmt.Sprintf("%016x", at))
		}
		all.Locations = append(all.Locations, location{length, texts})
	}
	for _, n := range []uint{1, 2, 3, 10, 99, 1000, 123_456, 10_000_000, 1 << 32, 1 << 40} {
		for _, p := range []float64{0.999, 0.5, 0.1, 0.03, 0.01, 0.001, 1e-6, 1e-12, 1e-300} {
			m, k := bloom.EstimateParameters(n, p)
			all.Parameters = append(all.Parameters, parameters{n, p, m, k})
		}
	}
	for _, r := range []rate{{M: 1000, K: 4, N: 100}, {M: 9586, K: 7, N: 1000}, {M: 1, K: 1, N: 1},
		{M: 5000, K: 1, N: 77}} {
		r.Rate = bloom.EstimateFalsePositiveRate(r.M, r.K, r.N)
		all.Rates = append(all.Rates, r)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(all); err != nil {
		log.Fatal(err)
	}
}
