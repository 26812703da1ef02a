package petal

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"
)

// Stored numbers come in order, and say which keys are found.
func TestStoredHashes(t *testing.T) {
	for _, info := range Kinds() {
		if info.Handle != HandleFilter || info.IsForeign || info.TakesIntegers {
			continue
		}
		b := must(NewBuilder(Spec{Kind: info.Name, Hash: External, Capacity: 3000, FalsePositiveRate: 0.001}, nil))
		hashes := make([]uint64, 3000)
		for i := range hashes {
			hashes[i] = uint64(i+1) * 0x9e3779b97f4a7c15
		}
		check(t, b.AddBatch(HashKeys(hashes), nil))
		f := must(b.Finish())
		sequence, err := f.StoredHashes()
		if !info.Capabilities.Has(CanEnumerate) {
			wants(t, err, ErrUnsupported)
			wants(t, errorIn(f.ReadStoredHashes(0, nil, nil)), ErrUnsupported)
			check(t, f.Close())
			continue
		}
		check(t, err)
		var all []uint64
		insertions := uint64(0)
		for number, count := range sequence {
			all = append(all, number)
			insertions += count
		}
		if info.Capabilities.Has(CanCount) != (insertions == 3000 && len(all) < 3000) && len(all) < 3000 {
			t.Errorf("%s: %d numbers of %d keys", info.Name, len(all), insertions)
		}
		wants(t, errorIn(f.ReadStoredHashes(0, all, make([]uint64, 1))), ErrBufferTooSmall)
		if !slices.IsSorted(all) || len(all) < 2900 || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%s: %d numbers", info.Name, len(all))
		}
		for i := range uint64(10000) {
			hash := i * 0x9e3779b97f4a7c15
			stored, below, err := f.StoredHash(hash)
			check(t, err)
			if _, found := slices.BinarySearch(all, stored); found != f.ContainsHash(hash) || stored >= below {
				t.Fatalf("%s: %d is stored as %d below %d", info.Name, hash, stored, below)
			}
		}
		for range sequence {
			break
		}
		check(t, f.Close())
	}
}

// The filter of a block that BIP 158 publishes.
func TestBlockFilter(t *testing.T) {
	published := must(hex.DecodeString("0385acb4f0fe889ef0"))
	script := must(hex.DecodeString("001446c29eabe8208a33aa1023c741fa79aa92e881ff"))
	// The block's hash is 000000006f27ddfe1dd680044a34548f41bed47eba9e6f0b310da21423bc5f33; its last bytes are the key.
	key := [16]byte(must(hex.DecodeString("335fbc2314a20d310b6f9eba7ed4be41")))
	f := must(ImportFilter("bip158", published, &ImportOptions{Secret: key}))
	defer f.Close()
	if !f.Contains(script) || f.ContainsString("none of its scripts") {
		t.Error("a script")
	}
	if !bytes.Equal(must(f.Export("bip158", "")), published) {
		t.Error("it goes out as other bytes")
	}
	if format := must(FindFormat("bip158")); format.Capabilities.Has(FormatCreate) ||
		!format.Capabilities.Has(FormatBuild) {
		t.Errorf("%+v", format)
	}
	spec := must(FormatSpec("bip158", "", 1, 0.01, 0))
	spec.Secret = key
	b := must(NewBuilder(spec, nil))
	check(t, b.Add(script))
	made := must(b.Finish())
	defer made.Close()
	if !made.Contains(script) || must(made.Export("bip158", ""))[0] != 1 {
		t.Error("what is built")
	}
	_, err := ImportFilter("bip158", published, &ImportOptions{Secret: key, RiceBits: 40, Multiplier: 1 << 40})
	wants(t, err, ErrCorrupt)
}
