// Command hashed writes filters of numbers and of hashes, those of Go's FastFilter/xorfilter and blobloom: `go run
// hashed.go FOLDER`. See vectors.txt for what it prints.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"github.com/FastFilter/xorfilter"
	"github.com/greatroar/blobloom"
	bloomfilter "github.com/holiman/bloomfilter/v2"
)

// hashed is the number that a text is known by: MurmurHash3's finaliser of its FNV-1a hash.
func hashed(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func numbers(prefix string, count int) []uint64 {
	keys := make([]uint64, count)
	for i := range keys {
		keys[i] = hashed(fmt.Sprintf("%s-%d", prefix, i))
	}
	return keys
}

func write(format, name string, count int, content []byte, contains func(uint64) bool) {
	positives := 0
	for _, key := range numbers("absent", 10000) {
		if contains(key) {
			positives++
		}
	}
	path := filepath.Join(format, name)
	check(os.MkdirAll(filepath.Join(os.Args[1], format), 0o755))
	check(os.WriteFile(filepath.Join(os.Args[1], path), content, 0o644))
	fmt.Println(format, path, count, positives)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func fuse[T xorfilter.Unsigned](name string, count int) {
	filter, err := xorfilter.NewBinaryFuse[T](numbers("key", count))
	check(err)
	var content bytes.Buffer
	check(filter.Save(&content))
	write("binary_fuse", fmt.Sprintf("go%s-%d.bin", name, count), count, content.Bytes(), filter.Contains)
}

func blob(count int, rate float64) {
	filter := blobloom.NewOptimized(blobloom.Config{Capacity: uint64(count), FPRate: rate})
	for _, key := range numbers("key", count) {
		filter.Add(key)
	}
	var content bytes.Buffer
	_, err := blobloom.Dump(&content, filter, "fnv-1a and fmix64")
	check(err)
	write("blobloom", fmt.Sprintf("%d.bin", count), count, content.Bytes(), filter.Has)
}

// Erigon's header is put together by hand, as its writer does: its module has no package that others may import.
func erigon(count int) {
	filter, err := xorfilter.NewBinaryFuse[uint8](numbers("key", count))
	check(err)
	content := binary.BigEndian.AppendUint32(nil, 1)
	content = binary.BigEndian.AppendUint32(content, filter.SegmentCount)
	content = binary.BigEndian.AppendUint32(content, filter.SegmentCountLength)
	content = binary.BigEndian.AppendUint64(content, filter.Seed)
	content = binary.BigEndian.AppendUint32(content, filter.SegmentLength)
	content = binary.BigEndian.AppendUint32(content, filter.SegmentLengthMask)
	content = binary.BigEndian.AppendUint64(content, uint64(len(filter.Fingerprints)))
	content = append(content, filter.Fingerprints...)
	write("erigon_fuse", fmt.Sprintf("%d.bin", count), count, content, filter.Contains)
}

// Erigon's shards are put together by hand too. The low byte of a key says its shard, and a shard without keys has
// zeros.
func shards(count int) {
	var all [256][]uint64
	for _, key := range numbers("key", count) {
		all[byte(key)] = append(all[byte(key)], key)
	}
	content, offsets, fingerprints := binary.BigEndian.AppendUint32(nil, 1), []byte{}, []byte{}
	var filters [256]*xorfilter.BinaryFuse[uint8]
	for shard, keys := range all {
		offsets = binary.BigEndian.AppendUint64(offsets, uint64(len(fingerprints)))
		if len(keys) == 0 {
			content = append(content, make([]byte, 16)...)
			continue
		}
		filter, err := xorfilter.NewBinaryFuse[uint8](keys)
		check(err)
		content = binary.BigEndian.AppendUint32(content, filter.SegmentCount)
		content = binary.BigEndian.AppendUint32(content, filter.SegmentLength)
		content = binary.BigEndian.AppendUint64(content, filter.Seed)
		fingerprints = append(fingerprints, filter.Fingerprints...)
		filters[shard] = filter
	}
	content = append(content, offsets...)
	content = binary.BigEndian.AppendUint64(content, uint64(len(fingerprints)))
	content = append(content, fingerprints...)
	contains := func(key uint64) bool {
		return filters[byte(key)] != nil && filters[byte(key)].Contains(key)
	}
	write("erigon_shards", fmt.Sprintf("%d.bin", count), count, content, contains)
}

// The filter's keys are random in the package, and here the hashes of texts.
func holiman(count, bits, hashes int) {
	filter, err := bloomfilter.NewWithKeys(uint64(bits), numbers("filter", hashes))
	check(err)
	for _, key := range numbers("key", count) {
		filter.AddHash(key)
	}
	content, err := filter.MarshalBinary()
	check(err)
	write("holiman", fmt.Sprintf("%d.bin", count), count, content, filter.ContainsHash)
}

func main() {
	fuse[uint8]("8", 1000)
	fuse[uint16]("16", 300)
	fuse[uint32]("32", 17)
	fuse[uint8]("8", 1)
	blob(1000, 0.01)
	blob(17, 0.001)
	blob(300, 0.05)
	erigon(1000)
	erigon(17)
	erigon(1)
	shards(1000)
	shards(17)
	shards(0)
	holiman(1000, 9586, 7)
	holiman(17, 8192, 300)
	holiman(300, 1024, 1)
	holiman(1, 2, 1)
}
