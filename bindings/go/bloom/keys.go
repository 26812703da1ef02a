package bloom

import "unsafe"

// Add adds a key. It returns f, for chaining.
func (f *BloomFilter) Add(data []byte) *BloomFilter {
	f.add(data)
	return f
}

// AddString adds a key. It returns f, for chaining.
func (f *BloomFilter) AddString(data string) *BloomFilter {
	f.add(bytesOf(data))
	return f
}

// Test says whether a key may have been added: true of every key that was, and of others at the false-positive rate.
func (f *BloomFilter) Test(data []byte) bool { return f.test(data) }

// TestString says whether a key may have been added: true of every key that was, and of others at the false-positive
// rate.
func (f *BloomFilter) TestString(data string) bool { return f.test(bytesOf(data)) }

// TestAndAdd adds a key, and returns what [BloomFilter.Test] would have said before. It writes all k bits, whether they
// were set or not.
func (f *BloomFilter) TestAndAdd(data []byte) bool { return f.testAndAdd(data) }

// TestAndAddString adds a key, and returns what [BloomFilter.TestString] would have said before. It writes all k bits,
// whether they were set or not.
func (f *BloomFilter) TestAndAddString(data string) bool { return f.testAndAdd(bytesOf(data)) }

// TestOrAdd adds a key unless [BloomFilter.Test] says true of it, which it returns: then it writes nothing.
func (f *BloomFilter) TestOrAdd(data []byte) bool { return f.testOrAdd(data) }

// TestOrAddString adds a key unless [BloomFilter.TestString] says true of it, which it returns: then it writes nothing.
func (f *BloomFilter) TestOrAddString(data string) bool { return f.testOrAdd(bytesOf(data)) }

// Locations returns what the k bits of a key follow from in a filter of any m, where they are these numbers modulo m.
// See [BloomFilter.TestLocations].
func Locations(data []byte, k uint) []uint64 {
	h := hash(data)
	locations := make([]uint64, k)
	for i := range locations {
		locations[i] = h.location(uint64(i))
	}
	return locations
}

// TestLocations says whether the bits of [Locations] are set: what [BloomFilter.Test] says of the key, if there are as
// many as the filter has hash functions. It hashes a key once for many filters.
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

// bytesOf returns the bytes of a string in place. They are only read.
func bytesOf(s string) []byte {
	// SAFETY: the bytes are those of the string, as many as it has, and hash, which is all that gets them, does not
	// write. TestKeysStay looks that keys are as before.
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
