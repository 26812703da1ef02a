package view

import "github.com/petal-filter/petal/bindings/go/internal/image"

// Pair is a number with its value, which is 0 in a sketch without values, and its count: 1 for a pair that was
// inserted, -1 for a pair that was removed, or that only the subtracted sketch had.
type Pair = image.Pair

// Presence is what a sketch says of a number: [Absent], [There] or [Unknown].
type Presence = image.Presence

// The answers of [Sketch.Get].
const (
	// Absent says that the number is not there.
	Absent = image.Absent
	// There says that the number is there.
	There = image.There
	// Unknown says that each cell of the number has other numbers too. [Sketch.List] may know.
	Unknown = image.Unknown
)

// Get says whether the sketch has a byte key: its hash. The pair has the count and the value of a number that is there.
// The answer is right if each number was inserted only once. The more numbers a sketch has, the less it knows. Returns
// [ErrUnsupported] for kinds but iblt, and [ErrKeyMissing] if the secret key was not given. Constant time.
func (s *Sketch) Get(key []byte) (Presence, Pair, error) { return s.image().Ask(key) }

// GetString is [Sketch.Get] for the bytes of a string.
func (s *Sketch) GetString(key string) (Presence, Pair, error) { return s.image().Ask([]byte(key)) }

// GetUint64 is [Sketch.Get] for a number.
func (s *Sketch) GetUint64(number uint64) (Presence, Pair, error) { return s.image().AskUint64(number) }

// GetHash is [Sketch.Get] for the hash of a key.
func (s *Sketch) GetHash(hash uint64) (Presence, Pair, error) { return s.image().AskUint64(hash) }

// ValueBits returns the bits of a value: 64, or 0 if the numbers have no values.
func (s *Sketch) ValueBits() int { return s.image().ValueBits() }

// InsertValue inserts a byte key with its value. Insert a key only once, with one value. Returns [ErrUnsupported] if
// the sketch has no values. Changes the sketch.
func (s *Sketch) InsertValue(key []byte, value uint64) error {
	return s.image().AddValue(key, value, 1)
}

// InsertValueString is [Sketch.InsertValue] for the bytes of a string.
func (s *Sketch) InsertValueString(key string, value uint64) error {
	return s.image().AddValue([]byte(key), value, 1)
}

// InsertValueUint64 is [Sketch.InsertValue] for a number.
func (s *Sketch) InsertValueUint64(number, value uint64) error {
	return s.image().AddValueUint64(number, value, 1)
}

// InsertValueHash is [Sketch.InsertValue] for the hash of a key.
func (s *Sketch) InsertValueHash(hash, value uint64) error {
	return s.image().AddValueUint64(hash, value, 1)
}

// RemoveValue removes a byte key with the value that it was inserted with. Changes the sketch.
func (s *Sketch) RemoveValue(key []byte, value uint64) error {
	return s.image().AddValue(key, value, -1)
}

// RemoveValueString is [Sketch.RemoveValue] for the bytes of a string.
func (s *Sketch) RemoveValueString(key string, value uint64) error {
	return s.image().AddValue([]byte(key), value, -1)
}

// RemoveValueUint64 is [Sketch.RemoveValue] for a number.
func (s *Sketch) RemoveValueUint64(number, value uint64) error {
	return s.image().AddValueUint64(number, value, -1)
}

// RemoveValueHash is [Sketch.RemoveValue] for the hash of a key.
func (s *Sketch) RemoveValueHash(hash, value uint64) error {
	return s.image().AddValueUint64(hash, value, -1)
}

// ListValues returns the numbers with their values, ordered by count, number and value. A number whose value differs in
// two subtracted sketches is there twice, with both signs. complete says whether these are all pairs. Returns
// [ErrUnsupported] if the sketch has no values.
func (s *Sketch) ListValues() (listed []Pair, complete bool, err error) {
	return s.image().ListValues()
}
