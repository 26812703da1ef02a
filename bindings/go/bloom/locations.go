package bloom

// location returns the i-th number of a key; its bit is the number modulo m.
func (h pairs) location(i uint64) uint64 {
	base, step := h.low, h.low1
	if i%2 == 1 {
		base = h.high
	}
	if i%4 == 1 || i%4 == 2 {
		step = h.high1
	}
	return base + i*step
}

// words returns the words of all m bits. The second result is false if the set has fewer bits, because the set belongs
// to the caller too, who may shorten it. The functions named Short handle such a set.
func (f *BloomFilter) words() (words []uint64, ok bool) {
	if f.b == nil {
		return nil, false
	}
	words = f.b.Words()
	return words, f.b.Len() >= f.m && uint64(len(words)) > (f.by.m-1)/64
}

// The three functions below compute four locations at a time. After four locations base and step are the same again, so
// each of the four then advances by a constant. The four words are read before the first test, so that the processor
// waits for all of them together. An absent key costs one branch, which the processor predicts.

func (f *BloomFilter) allSet(words []uint64, h pairs) bool {
	by := f.by
	a, b, c, d, even, odd := h.four()
	k := f.k
	for ; k >= 4; k -= 4 {
		if bit(words, by.remainder(a))&bit(words, by.remainder(b))&
			bit(words, by.remainder(c))&bit(words, by.remainder(d))&1 == 0 {
			return false
		}
		a, b, c, d = a+even, b+odd, c+odd, d+even
	}
	found := uint64(1)
	switch k {
	case 3:
		found &= bit(words, by.remainder(c))
		fallthrough
	case 2:
		found &= bit(words, by.remainder(b))
		fallthrough
	case 1:
		found &= bit(words, by.remainder(a))
	}
	return found != 0
}

func (f *BloomFilter) setAll(words []uint64, h pairs) {
	by := f.by
	a, b, c, d, even, odd := h.four()
	k := f.k
	for ; k >= 4; k -= 4 {
		set(words, by.remainder(a))
		set(words, by.remainder(b))
		set(words, by.remainder(c))
		set(words, by.remainder(d))
		a, b, c, d = a+even, b+odd, c+odd, d+even
	}
	switch k {
	case 3:
		set(words, by.remainder(c))
		fallthrough
	case 2:
		set(words, by.remainder(b))
		fallthrough
	case 1:
		set(words, by.remainder(a))
	}
}

// swapAll sets all bits, and says whether all were set before. A bit with two locations counts with its first state.
func (f *BloomFilter) swapAll(words []uint64, h pairs) bool {
	by := f.by
	a, b, c, d, even, odd := h.four()
	found := uint64(1)
	k := f.k
	for ; k >= 4; k -= 4 {
		found &= swap(words, by.remainder(a))
		found &= swap(words, by.remainder(b))
		found &= swap(words, by.remainder(c))
		found &= swap(words, by.remainder(d))
		a, b, c, d = a+even, b+odd, c+odd, d+even
	}
	switch k {
	case 3:
		found &= swap(words, by.remainder(c))
		fallthrough
	case 2:
		found &= swap(words, by.remainder(b))
		fallthrough
	case 1:
		found &= swap(words, by.remainder(a))
	}
	return found != 0
}

// four returns the first four locations, the step of the first and the last, and the step of the two between.
func (h pairs) four() (a, b, c, d, even, odd uint64) {
	return h.low, h.high + h.high1, h.low + 2*h.high1, h.high + 3*h.low1, 4 * h.low1, 4 * h.high1
}

// bit returns a word with the bit in the lowest place; the higher bits may be anything.
func bit(words []uint64, at uint64) uint64 { return words[at/64] >> (at % 64) }

func set(words []uint64, at uint64) { words[at/64] |= 1 << (at % 64) }

func swap(words []uint64, at uint64) uint64 {
	word := words[at/64]
	words[at/64] = word | 1<<(at%64)
	return word >> (at % 64)
}

func (f *BloomFilter) allSetShort(h pairs) bool {
	for i := range f.k {
		if !f.b.Test(f.short(h.location(uint64(i)))) {
			return false
		}
	}
	return true
}

func (f *BloomFilter) setShort(h pairs) {
	for i := range f.k {
		f.b.Set(f.short(h.location(uint64(i))))
	}
}

// short returns the bit of a location in a filter of any m. The divisor works only for an m that has memory.
func (f *BloomFilter) short(location uint64) uint { return uint(location % uint64(max(1, f.m))) }
