package bloom

// location returns from which number the i-th location of a key follows, which is that number modulo m.
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

// words returns the words of all m bits. It says no where there are fewer bits, and the functions named Short are to be
// used: the set belongs to the caller as well, who may have shortened it.
func (f *BloomFilter) words() (words []uint64, ok bool) {
	if f.b == nil {
		return nil, false
	}
	words = f.b.Words()
	return words, f.b.Len() >= f.m && uint64(len(words)) > (f.by.m-1)/64
}

// The three functions below go through the locations four at a time: so long is it until base and step come round, and
// from there each of the four goes on by what never changes. The words of four are read before anything is asked, so
// that the processor waits for all of them at once, and a key that is absent costs one branch that it foretells.

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

// swapAll sets all bits, and says whether they were set. A bit that two locations share counts as it was at first.
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

// four returns the first four locations, and by how much the first and last, and the two between, go on.
func (h pairs) four() (a, b, c, d, even, odd uint64) {
	return h.low, h.high + h.high1, h.low + 2*h.high1, h.high + 3*h.low1, 4 * h.low1, 4 * h.high1
}

// bit returns a bit in the lowest place, and whatever above it.
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

// short returns the bit of a location in a filter of any m, where the divisor knows those only that have memory.
func (f *BloomFilter) short(location uint64) uint { return uint(location % uint64(max(1, f.m))) }
