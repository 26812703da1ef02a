// Command owners writes filters of Go's bits-and-blooms and of Bitcoin's BIP 37 by btcd: owners FOLDER.
// See vectors.txt for what it prints.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bits-and-blooms/bitset"
	bits "github.com/bits-and-blooms/bloom/v3"
	"github.com/btcsuite/btcd/btcutil/bloom"
	"github.com/btcsuite/btcd/wire"
)

type size struct {
	keys, capacity int
	rate           float64
}

var sizes = []size{{1000, 1000, 0.01}, {17, 17, 0.001}, {0, 500, 0.03}, {300, 1000, 0.05}}

func main() {
	for _, s := range sizes {
		bitsAndBlooms(s, "big_endian")
		bip37(s)
	}
	bitset.LittleEndian()
	bitsAndBlooms(size{40, 100, 0.02}, "little_endian")
}

func key(i int) []byte    { return []byte(fmt.Sprint("key-", i)) }
func absent(i int) []byte { return []byte(fmt.Sprint("absent-", i)) }

func write(format, variant string, s size, seed uint64, has func([]byte) bool, data []byte) {
	name := fmt.Sprintf("%s/%s-%d.bin", format, variant, s.keys)
	path := filepath.Join(os.Args[1], name)
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	check(os.WriteFile(path, data, 0o644))
	positives := 0
	for i := 0; i < 10000; i++ {
		if has(absent(i)) {
			positives++
		}
	}
	if variant == "filter" {
		variant = "-"
	}
	fmt.Println(format, name, s.keys, positives, s.capacity, s.rate, variant, seed)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func bitsAndBlooms(s size, variant string) {
	filter := bits.NewWithEstimates(uint(s.capacity), s.rate)
	for i := 0; i < s.keys; i++ {
		filter.Add(key(i))
	}
	var out bytes.Buffer
	_, err := filter.WriteTo(&out)
	check(err)
	write("bits_and_blooms", variant, s, 0, filter.Test, out.Bytes())
}

func bip37(s size) {
	tweak := uint32(2147483649)
	filter := bloom.NewFilter(uint32(s.capacity), tweak, s.rate, wire.BloomUpdateNone)
	for i := 0; i < s.keys; i++ {
		filter.Add(key(i))
	}
	var out bytes.Buffer
	check(filter.MsgFilterLoad().BtcEncode(&out, wire.ProtocolVersion, wire.BaseEncoding))
	write("bip37", "filter", s, uint64(tweak), filter.Matches, out.Bytes())
}
