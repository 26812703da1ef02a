package bloom

import "unsafe"

// Add adds a key and returns f, for chaining.
func (f *BloomFilter) Add(data []byte) *BloomFilter {
	f.add(data)
	return f
}

// AddString adds a key and returns f, for chaining.
func (f *BloomFilter) AddString(data string) *BloomFilter {
	f.add(bytesOf(data))
	return f
}

// Test says whether a key may have been added: true for every key that was, and for other keys at the false-positive
// rate.
func (f *BloomFilter) Test(data []byte) bool { return f.test(data) }

// TestString says whether a key may have been added: true for every key that was, and for other keys at the
// false-positive rate.
func (f *BloomFilter) TestString(data string) bool { return f.test(bytesOf(data)) }

// TestAndAdd adds a key, and returns what [BloomFilter.Test] would have said before. TestAndAdd writes all k bits, even
// those that are set already.
func (f *BloomFilter) TestAndAdd(data []byte) bool { return f.testAndAdd(data) }

// TestAndAddString adds a key, and returns what [BloomFilter.TestString] would have said before. TestAndAddString
// writes all k bits, even those that are set already.
func (f *BloomFilter) TestAndAddString(data string) bool { return f.testAndAdd(bytesOf(data)) }

// TestOrAdd returns what [BloomFilter.Test] says of a key, and adds the key if the answer is false. If the answer is
// true, TestOrAdd writes nothing.
func (f *BloomFilter) TestOrAdd(data []byte) bool { return f.testOrAdd(data) }

// TestOrAddString returns what [BloomFilter.TestString] says of a key, and adds the key if the answer is false. If the
// answer is true, TestOrAddString writes nothing.
func (f *BloomFilter) TestOrAddString(data string) bool { return f.testOrAdd(bytesOf(data)) }

// Locations returns k numbers from which the bits of a key follow: in a filter of m bits they are these numbers modulo
// m. See [BloomFilter.TestLocations].
func Locations(data []byte, k uint) []uint64 {
	h := hash(data)
	locations := make([]uint64, k)
	for i := range locations {
		locations[i] = h.location(uint64(i))
	}
	return locations
}

// TestLocations says whether the bits of [Locations] are set. The answer is that of [BloomFilter.Test] for the key if
// there are as many locations as the filter has hash functions. A program can so hash a key once for many filters.
func (f *BloomFilter) TestLocations(locs []uint64) bool {
	words, ok := f.words()
	if f.b == nil {
		return true
	}
	if !ok {
		for _, location := range locs {
			if !f.b.Test(f.short(location)) {
				return false
			}
		}
		return true
	}
	for _, location := range locs {
		if bit(words, f.by.remainder(location))&1 == 0 {
			return false
		}
	}
	return true
}

// bytesOf returns the bytes of a string in place. The callers only read the bytes.
func bytesOf(s string) []byte {
	// SAFETY: the slice has exactly the bytes of the string. Only hash gets the slice, and hash does not write.
	// TestKeysStay checks that keys stay the same.
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

func (f *BloomFilter) add(key []byte) {
	h := hash(key)
	if words, ok := f.words(); ok {
		f.setAll(words, h)
	} else {
		f.setShort(h)
	}
}

func (f *BloomFilter) test(key []byte) bool {
	h := hash(key)
	if words, ok := f.words(); ok {
		return f.allSet(words, h)
	}
	return f.allSetShort(h)
}

func (f *BloomFilter) testAndAdd(key []byte) bool {
	h := hash(key)
	if words, ok := f.words(); ok {
		return f.swapAll(words, h)
	}
	found := f.allSetShort(h)
	f.setShort(h)
	return found
}

func (f *BloomFilter) testOrAdd(key []byte) bool {
	h := hash(key)
	words, ok := f.words()
	if !ok {
		found := f.allSetShort(h)
		if !found {
			f.setShort(h)
		}
		return found
	}
	found := f.allSet(words, h)
	if !found {
		f.setAll(words, h)
	}
	return found
}
