package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sort"
)

// Listed is a number that a sketch lists, and its count: 1 for a number that was inserted, -1 for a number that was
// removed, or that only the subtracted sketch had.
type Listed struct {
	Number uint64
	Count  int64
}

// ListedKey is a whole key that a sketch lists, and its count, as in [Listed].
type ListedKey struct {
	Key   []byte
	Count int64
}

// Copy copies the sketch into new memory. The copy takes changes.
func (f *Filter) Copy() (*Filter, error) {
	image, err := f.MarshalBinary()
	if err != nil {
		return nil, err
	}
	header, err := readHeader(image)
	if err != nil {
		return nil, err
	}
	end := headerLength + len(f.payload)
	return &Filter{
		row: f.row, kind: f.kind, payload: image[headerLength:end:end], shape: f.shape, hasher: f.hasher, header: header,
		image: image, writable: true, as: f.as,
	}, nil
}

// KeyBytes returns how many bytes a key has, if the sketch holds whole keys; 0 if it holds numbers.
func (f *Filter) KeyBytes() int { return f.shape.keyBytes }

// Add inserts a byte key (count = 1) or removes it (count = -1): whole, or its hash as a number.
func (f *Filter) Add(key []byte, count int64) error {
	hash, ok := f.hasher.hash(key)
	if f.shape.keyBytes == 0 {
		if !ok {
			return f.unhashable()
		}
		return f.AddHash(hash, count)
	}
	payload, err := f.Change()
	if err != nil {
		return err
	}
	if len(key) != f.shape.keyBytes {
		return fmt.Errorf("%w: a key has %d bytes, and those of the sketch %d", ErrOutOfRange, len(key), f.shape.keyBytes)
	}
	if !ok {
		return f.unhashable()
	}
	f.row.addKey(&f.shape, payload, hash, key, count)
	f.offer(count)
	return nil
}

// AddString is [Filter.Add] for the bytes of a string.
func (f *Filter) AddString(key string, count int64) error { return f.Add(bytesOf(key), count) }

// AddHash inserts the number of a hash (count = 1) or removes it (count = -1).
func (f *Filter) AddHash(hash uint64, count int64) error {
	if f.kind == 0 {
		return f.closed()
	}
	if f.shape.keyBytes > 0 {
		return fmt.Errorf("%w: the sketch holds whole keys, and a hash is none", ErrUnsupported)
	}
	return f.AddUint64(f.numberOf(hash), count)
}

// AddUint64 inserts a number (count = 1) or removes it (count = -1). Returns [ErrOutOfRange] if the sketch cannot hold
// the number.
func (f *Filter) AddUint64(number uint64, count int64) error {
	if f.shape.keyBytes > 0 {
		return f.Add(binary.LittleEndian.AppendUint64(nil, number), count)
	}
	payload, err := f.Change()
	if err != nil {
		return err
	}
	if err := f.checkNumber(number); err != nil {
		return err
	}
	hash, ok := f.hasher.hashUint64(number)
	if !ok {
		return f.unhashable()
	}
	if f.shape.valueBits > 0 {
		f.row.pairs.add(&f.shape, payload, pairOf(&f.hasher, number, 0), count)
	} else {
		f.row.add(&f.shape, payload, hash, number, count)
	}
	f.offer(count)
	return nil
}

// offer counts a key that was inserted (count = 1) or removed (count = -1).
func (f *Filter) offer(count int64) {
	switch offered := &f.header.Offered; {
	case count > 0 && *offered+1 != 0:
		*offered++
	case count < 0 && *offered > 0:
		*offered--
	}
}

// Combine adds all numbers of another sketch, or subtracts them. If the other sketch is dirty, this one becomes dirty
// too.
func (f *Filter) Combine(other *Filter, subtract bool) error {
	if f.kind == 0 {
		return f.closed()
	}
	if other.kind == 0 {
		return other.closedOther()
	}
	if !f.writable {
		return ErrReadOnly
	}
	if err := Compatible(f, other, ": give both specs the same Capacity and rate, or the same Bits and Hashes"); err != nil {
		return err
	}
	if a, b := f.shape.keyBytes, other.shape.keyBytes; a != b {
		return fmt.Errorf("%w: key_bytes is %d and %d: give both specs the same", ErrIncompatible, a, b)
	}
	err := other.Verify()
	if err != nil && !errors.Is(err, ErrDirty) {
		return err
	}
	payload, refused := f.Change()
	if refused != nil {
		return refused
	}
	f.row.combine(&f.shape, payload, other.payload, subtract)
	ours, theirs := f.header.Offered, other.header.Offered
	if subtract {
		f.header.Offered = ours - min(ours, theirs)
	} else {
		sum, carry := bits.Add64(ours, theirs, 0)
		f.header.Offered = sum | -carry
	}
	f.header.Dirty = f.header.Dirty || err != nil
	runtime.KeepAlive(other)
	return nil
}

// List returns the numbers of the sketch, those with -1 first, both parts in ascending order. complete says whether
// these are all numbers.
func (f *Filter) List() (listed []Listed, complete bool, err error) {
	if f.shape.keyBytes > 0 {
		return nil, false, fmt.Errorf("%w: the sketch holds whole keys: call ListKeys", ErrUnsupported)
	}
	complete, err = f.listed(func(left []byte) { listed = f.row.list(&f.shape, left, &f.hasher) })
	sort.Slice(listed, func(i, j int) bool {
		a, b := listed[i], listed[j]
		return a.Count < b.Count || a.Count == b.Count && a.Number < b.Number
	})
	return listed, complete, err
}

// ListKeys returns the whole keys of the sketch, those with -1 first, both parts in ascending order of their bytes.
func (f *Filter) ListKeys() (listed []ListedKey, complete bool, err error) {
	if f.kind != 0 && f.shape.keyBytes == 0 {
		return nil, false, fmt.Errorf("%w: the sketch holds numbers: call List", ErrUnsupported)
	}
	complete, err = f.listed(func(left []byte) { listed = f.row.listKeys(&f.shape, left, &f.hasher) })
	sort.Slice(listed, func(i, j int) bool {
		a, b := listed[i], listed[j]
		return a.Count < b.Count || a.Count == b.Count && bytes.Compare(a.Key, b.Key) < 0
	})
	return listed, complete, err
}

// listed calls list with a copy of the payload, and tells whether list has left nothing of it.
func (f *Filter) listed(list func(left []byte)) (complete bool, err error) {
	if f.kind == 0 {
		return false, f.closed()
	}
	if f.hasher.function == 0 {
		// Without a checksum elements of pinsketch are listed from their sums alone.
		isListed := f.kind == Pinsketch
		if isListed {
			_, known := pinsketchChecksum(&f.shape, f.payload)
			isListed = !known
		}
		if !isListed {
			return false, f.unhashable()
		}
	}
	left := bytes.Clone(f.payload)
	runtime.KeepAlive(f)
	list(left)
	end := wholeBytes(f.shape.bits)
	if f.kind == Pinsketch {
		end = uint64(len(left)) // With the checksum: sums of numbers that are there may all be 0.
	}
	for _, b := range left[:end] {
		if b != 0 {
			return false, nil
		}
	}
	return true, nil
}

// Clear forgets all numbers.
func (f *Filter) Clear() error {
	payload, err := f.Change()
	if err != nil {
		return err
	}
	clear(payload)
	f.header.Offered = 0
	return nil
}

// Compatible returns an error that names the first difference between two images that prevents combining them, or nil.
// Compatible does not compare the words. sizes tells the user how to make the sizes equal.
func Compatible(first, second *Filter, sizes string) error {
	a, b := &first.header, &second.header
	differ := func(what string, a, b any, remedy string) error {
		return fmt.Errorf("%w: %s is %v and %v%s", ErrIncompatible, what, a, b, remedy)
	}
	const parameter = ": give both specs the same"
	switch {
	case a.Kind == 0:
		return first.closed()
	case b.Kind == 0:
		return second.closedOther()
	case a.Kind != b.Kind:
		return differ("kind", a.Kind, b.Kind, parameter)
	case a.LayoutVersion != b.LayoutVersion && a.Kind != Pinsketch: // Sums of all layouts combine.
		return differ("layout version", a.LayoutVersion, b.LayoutVersion, "")
	case a.Bits != b.Bits:
		return differ("bits", a.Bits, b.Bits, sizes)
	case a.Hashes != b.Hashes:
		return differ("hashes", a.Hashes, b.Hashes, sizes)
	case a.Kind == IBLT && a.Words != b.Words:
		return differ("value_bits", a.Words[0], b.Words[0], parameter)
	case a.Hash != b.Hash:
		return differ("hash", a.Hash, b.Hash, parameter)
	case a.Identifier != b.Identifier && a.Hash == SipHash13:
		return fmt.Errorf("%w: their secret keys are not the same", ErrIncompatible)
	case a.Identifier != b.Identifier:
		return differ("seed", fmt.Sprintf("%#x", a.Identifier), fmt.Sprintf("%#x", b.Identifier), parameter)
	case a.Kind == Pinsketch && a.Words != b.Words:
		return differ("field_bits", a.Words[0], b.Words[0], parameter)
	}
	return nil
}
