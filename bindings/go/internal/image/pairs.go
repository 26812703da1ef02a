package image

import (
	"bytes"
	"fmt"
	"runtime"
	"sort"
)

// Pair is a number with its value, which is 0 in a sketch without values, and its count: 1 for a pair that was
// inserted, -1 for a pair that was removed, or that only the subtracted sketch had.
type Pair struct {
	Number uint64
	Value  uint64
	Count  int64
}

// Presence is what a sketch says of a number.
type Presence int

// The answers of a sketch.
const (
	// Absent: the number is not there.
	Absent Presence = iota
	// There: the number is there.
	There
	// Unknown: the sketch cannot say.
	Unknown
)

func (p Presence) String() string {
	if p < Absent || p > Unknown {
		return fmt.Sprintf("Presence(%d)", int(p))
	}
	return [...]string{"absent", "there", "unknown"}[p]
}

// pairFunctions are what a kind does with single numbers and values.
type pairFunctions struct {
	get  func(s *shape, payload []byte, h *hasher, number uint64) (Presence, Pair)
	add  func(s *shape, payload []byte, p pair, count int64)
	list func(s *shape, payload []byte, h *hasher) []Pair
}

// pair is a number with its value, and the hashes that place both.
type pair struct {
	number, value uint64
	hash, both    uint64
	hashed        bool
}

// pairOf hashes a number with its value. The hash of both is that of the number's hash, into which the mixed value goes
// by XOR.
func pairOf(h *hasher, number, value uint64) pair {
	hash, ok := h.hashUint64(number)
	both, alsoOK := h.hashUint64(hash ^ mix(value))
	return pair{number: number, value: value, hash: hash, both: both, hashed: ok && alsoOK}
}

// Ask says whether a sketch has the hash of a byte key.
func (f *Filter) Ask(key []byte) (Presence, Pair, error) {
	number, ok := f.hasher.hash(key)
	if !ok {
		return Unknown, Pair{}, f.unhashable()
	}
	return f.AskUint64(number)
}

// AskUint64 says whether a sketch has a number.
func (f *Filter) AskUint64(number uint64) (Presence, Pair, error) {
	if f.kind == 0 {
		return Unknown, Pair{}, f.closed()
	}
	if f.row.pairs == nil {
		return Unknown, Pair{}, fmt.Errorf("%w: sketches of the kind %s cannot get", ErrUnsupported, f.row.name)
	}
	if _, ok := f.hasher.hashUint64(number); !ok {
		return Unknown, Pair{}, f.unhashable()
	}
	presence, found := f.row.pairs.get(&f.shape, f.payload, &f.hasher, number)
	runtime.KeepAlive(f)
	return presence, found, nil
}

// ValueBits returns the bits of a value; 0 without values.
func (f *Filter) ValueBits() int { return int(f.shape.valueBits) }

// checkValues returns an error if a sketch has no values.
func (f *Filter) checkValues() error {
	switch {
	case f.kind == 0:
		return f.closed()
	case f.row.pairs == nil:
		return fmt.Errorf("%w: sketches of the kind %s have no values", ErrUnsupported, f.row.name)
	case f.shape.valueBits == 0:
		return fmt.Errorf("%w: this %s sketch has no values: make it with value_bits = 64", ErrUnsupported, f.row.name)
	}
	return nil
}

// AddValue inserts the hash of a byte key with its value (count = 1), or removes it (count = -1).
func (f *Filter) AddValue(key []byte, value uint64, count int64) error {
	number, ok := f.hasher.hash(key)
	if !ok {
		return f.unhashable()
	}
	return f.AddValueUint64(number, value, count)
}

// AddValueUint64 inserts a number with its value (count = 1), or removes it (count = -1).
func (f *Filter) AddValueUint64(number, value uint64, count int64) error {
	if err := f.checkValues(); err != nil {
		return err
	}
	payload, err := f.Change()
	if err != nil {
		return err
	}
	p := pairOf(&f.hasher, number, value)
	if !p.hashed {
		return f.unhashable()
	}
	f.row.pairs.add(&f.shape, payload, p, count)
	f.offer(count)
	return nil
}

// ListValues returns the numbers of a sketch with their values, ordered by count, number and value. complete says
// whether these are all pairs.
func (f *Filter) ListValues() (listed []Pair, complete bool, err error) {
	if err := f.checkValues(); err != nil {
		return nil, false, err
	}
	if f.hasher.function == 0 {
		return nil, false, f.unhashable()
	}
	left := bytes.Clone(f.payload)
	runtime.KeepAlive(f)
	listed = f.row.pairs.list(&f.shape, left, &f.hasher)
	sort.Slice(listed, func(i, j int) bool {
		a, b := listed[i], listed[j]
		if a.Count != b.Count {
			return a.Count < b.Count
		}
		return a.Number < b.Number || a.Number == b.Number && a.Value < b.Value
	})
	for _, b := range left[:f.shape.bits/8] {
		if b != 0 {
			return listed, false, nil
		}
	}
	return listed, true, nil
}
