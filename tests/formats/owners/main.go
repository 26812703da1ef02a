// Command owners writes and reads filters of Go's bits-and-blooms and of Bitcoin's BIP 37 and BIP 158 by btcd;
// README.md says how it is called and what it prints.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bits-and-blooms/bitset"
	bits "github.com/bits-and-blooms/bloom/v3"
	"github.com/btcsuite/btcd/btcutil/bloom"
	"github.com/btcsuite/btcd/btcutil/gcs"
	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/wire"
)

type size struct {
	keys, capacity int
	rate           float64
}

func main() {
	folder := os.Args[2]
	if os.Args[1] == "read" {
		read(folder)
		return
	}
	for _, text := range os.Args[3:] {
		var s size
		_, err := fmt.Sscanf(strings.ReplaceAll(text, ":", " "), "%d %d %g", &s.keys, &s.capacity, &s.rate)
		check(err)
		bitsAndBlooms(folder, s, "big_endian")
		bip37(folder, s)
		bip158(folder, s)
	}
	bitset.LittleEndian()
	bitsAndBlooms(folder, size{40, 100, 0.02}, "little_endian")
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func count(prefix string, keys int, has func([]byte) bool) int {
	found := 0
	for i := 0; i < keys; i++ {
		if has(fmt.Appendf(nil, "%s-%d", prefix, i)) {
			found++
		}
	}
	return found
}

func write(folder, format, variant string, s size, seed uint64, has func([]byte) bool, data []byte) {
	name := fmt.Sprintf("%s/%s-%d.bin", format, variant, s.keys)
	path := filepath.Join(folder, name)
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	check(os.WriteFile(path, data, 0o644))
	if variant == "filter" {
		variant = "-"
	}
	fmt.Println(format, name, s.keys, count("absent", 10000, has), s.capacity, s.rate, variant, seed)
}

func bitsAndBlooms(folder string, s size, variant string) {
	filter := bits.NewWithEstimates(uint(s.capacity), s.rate)
	for i := 0; i < s.keys; i++ {
		filter.Add(fmt.Appendf(nil, "key-%d", i))
	}
	var out bytes.Buffer
	_, err := filter.WriteTo(&out)
	check(err)
	write(folder, "bits_and_blooms", variant, s, 0, filter.Test, out.Bytes())
}

func bip37(folder string, s size) {
	tweak := uint32(2147483649)
	filter := bloom.NewFilter(uint32(s.capacity), tweak, s.rate, wire.BloomUpdateNone)
	for i := 0; i < s.keys; i++ {
		filter.Add(fmt.Appendf(nil, "key-%d", i))
	}
	var out bytes.Buffer
	check(filter.MsgFilterLoad().BtcEncode(&out, wire.ProtocolVersion, wire.BaseEncoding))
	write(folder, "bip37", "filter", s, uint64(tweak), filter.Matches, out.Bytes())
}

// blockKey stands for the first 16 bytes of a block's hash.
const blockKey = "0123456789abcdef"

func bip158(folder string, s size) {
	keys := make([][]byte, s.keys)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key-%d", i)
	}
	filter, err := gcs.BuildGCSFilter(builder.DefaultP, builder.DefaultM, [gcs.KeySize]byte([]byte(blockKey)), keys)
	check(err)
	data, err := filter.NBytes()
	check(err)
	name := fmt.Sprintf("bip158/basic-%d.bin", s.keys)
	check(os.MkdirAll(filepath.Join(folder, "bip158"), 0o755))
	check(os.WriteFile(filepath.Join(folder, name), data, 0o644))
	has := matches(data)
	fmt.Println("bip158", name, s.keys, count("absent", 10000, has), s.keys, 0.01, "-", 0, "key="+blockKey)
}

// matches returns what gcs says about keys under blockKey.
func matches(data []byte) func([]byte) bool {
	filter, err := gcs.FromNBytes(builder.DefaultP, builder.DefaultM, data)
	check(err)
	return func(key []byte) bool {
		found, err := filter.Match([gcs.KeySize]byte([]byte(blockKey)), key)
		check(err)
		return found
	}
}

// open returns what the owner says about keys, or nil for the formats of others.
func open(format, variant string, data []byte) func([]byte) bool {
	switch format {
	case "bits_and_blooms":
		bitset.BigEndian()
		if variant == "little_endian" {
			bitset.LittleEndian()
		}
		var filter bits.BloomFilter
		_, err := filter.ReadFrom(bytes.NewReader(data))
		check(err)
		return filter.Test
	case "bip37":
		var message wire.MsgFilterLoad
		check(message.BtcDecode(bytes.NewReader(data), wire.ProtocolVersion, wire.BaseEncoding))
		return bloom.LoadFilter(&message).Matches
	case "bip158":
		return matches(data)
	}
	return nil
}

func read(folder string) {
	lines, err := os.Open(filepath.Join(folder, "vectors.txt"))
	check(err)
	status := 0
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		var format, name, variant string
		var keys, expected, capacity int
		var rate float64
		_, err := fmt.Sscan(scanner.Text(), &format, &name, &keys, &expected, &capacity, &rate, &variant)
		check(err)
		data, err := os.ReadFile(filepath.Join(folder, name))
		check(err)
		has := open(format, variant, data)
		if has == nil {
			continue
		}
		found, positives, said := count("key", keys, has), count("absent", 10000, has), "same"
		if found != keys || positives != expected {
			said, status = "OTHER", 1
		}
		fmt.Printf("%s %s: %d keys, %d positives\n", said, name, found, positives)
	}
	os.Exit(status)
}
