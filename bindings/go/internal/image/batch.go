package image

// Batches: many keys are hashed, and the cache lines of their bits fetched, before the first of them is looked at.

// fetchFrom is the length of a payload from which on fetching ahead pays: that of a second-level cache.
const fetchFrom = 512 << 10

// FetchKeys is how many hashes are fetched at once.
const FetchKeys = 32

// Fetch brings the cache lines near that the bits of some hashes are in, at most [FetchKeys], where that pays. Of keys
// with many lines it is the first.
func (f *Filter) Fetch(hashes []uint64) {
	if !canPrefetch || f.row == nil || f.row.first == nil || len(f.payload) < fetchFrom {
		return
	}
	var offsets [FetchKeys]uint64
	hashes = hashes[:min(len(hashes), FetchKeys)]
	for i, hash := range hashes {
		offsets[i] = f.row.first(&f.shape, hash)
	}
	prefetch(f.payload, offsets[:len(hashes)])
}

// CanHash says why keys cannot be hashed, if they cannot.
func (f *Filter) CanHash() error {
	if f.hasher.function == 0 {
		return f.unhashable()
	}
	return nil
}

// HashSlices makes the hashes of byte strings, of a filter that can hash; hashes is as long.
func (f *Filter) HashSlices(keys [][]byte, hashes []uint64) {
	if f.hasher.function == XXH3 {
		for i, key := range keys {
			hashes[i] = f.hasher.xxh3(key)
		}
		return
	}
	for i, key := range keys {
		hashes[i], _ = f.hasher.hash(key)
	}
}

// HashStrings makes the hashes of strings, of a filter that can hash; hashes is as long.
func (f *Filter) HashStrings(keys []string, hashes []uint64) {
	if f.hasher.function == XXH3 {
		for i, key := range keys {
			hashes[i] = f.hasher.xxh3(bytesOf(key))
		}
		return
	}
	for i, key := range keys {
		hashes[i], _ = f.hasher.hash(bytesOf(key))
	}
}

// HashUint64s makes the hashes of numbers, of a filter that can hash; hashes is as long.
func (f *Filter) HashUint64s(keys, hashes []uint64) {
	for i, key := range keys {
		hashes[i], _ = f.hasher.hashUint64(key)
	}
}
