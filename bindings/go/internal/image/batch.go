package image

// Batches: a batch hashes many keys and fetches their cache lines before it looks at the bits of the first key.

// fetchFrom is the least length of a payload for which fetching ahead pays: the size of a second-level cache.
const fetchFrom = 512 << 10

// FetchKeys is how many hashes are fetched together.
const FetchKeys = 32

// Fetch prefetches the cache lines of at most [FetchKeys] hashes if the payload is long enough. If a key has bits in
// several lines, Fetch prefetches the first one.
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

// CanHash returns the reason why the filter cannot hash keys, or nil.
func (f *Filter) CanHash() error {
	if f.hasher.function == 0 && f.whole.function == 0 {
		return f.unhashable()
	}
	return nil
}

// HashSlices hashes byte strings into hashes, which has the same length. The filter must be able to hash.
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

// HashStrings hashes strings into hashes, which has the same length. The filter must be able to hash.
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

// HashUint64s hashes numbers into hashes, which has the same length. The filter must be able to hash.
func (f *Filter) HashUint64s(keys, hashes []uint64) {
	for i, key := range keys {
		hashes[i], _ = f.hasher.hashUint64(key)
	}
}
