package filter

import (
	"encoding/binary"
	"fmt"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// Keys are the keys of a batch. Get them from [BytesKeys], [StringKeys], [Uint64Keys] or [HashKeys]. The zero value is
// no keys. Keys refer to the caller's slice and copy nothing.
type Keys struct {
	slices  [][]byte
	texts   []string
	numbers []uint64
	hashes  []uint64
}

// BytesKeys are keys that are byte slices.
func BytesKeys(keys [][]byte) Keys { return Keys{slices: keys} }

// StringKeys are keys that are the bytes of strings.
func StringKeys(keys []string) Keys { return Keys{texts: keys} }

// Uint64Keys are keys that are numbers, each the same key as its eight little-endian bytes.
func Uint64Keys(keys []uint64) Keys { return Keys{numbers: keys} }

// HashKeys are keys by their hashes. [Filter.Hash] makes the hashes, or the program itself for [External].
func HashKeys(hashes []uint64) Keys { return Keys{hashes: hashes} }

// Len returns how many keys there are.
func (k Keys) Len() int { return len(k.slices) + len(k.texts) + len(k.numbers) + len(k.hashes) }

// canBeFor returns the reason why a filter cannot have these keys, or nil.
func (k *Keys) canBeFor(f *image.Filter) error {
	if f.Header().Kind == 0 {
		return closed
	}
	if f.Header().Hash == image.DigestHash {
		return k.areDigestsFor(f)
	}
	if f.TakesWhole() && len(k.hashes) > 0 {
		return fmt.Errorf("%w: the filter takes keys whole, and no hashes", image.ErrUnsupported)
	}
	if len(k.hashes) == k.Len() {
		return nil
	}
	return f.CanHash()
}

// areDigestsFor returns the reason why a filter of digests cannot have these keys, or nil.
func (k *Keys) areDigestsFor(f *image.Filter) error {
	if len(k.hashes) > 0 {
		return fmt.Errorf("%w: the filter takes digests, and no hashes", image.ErrUnsupported)
	}
	for i := range k.Len() {
		if err := f.CheckDigest(k.key(i)); err != nil {
			return err
		}
	}
	return nil
}

// key returns the bytes of a key that is not a hash.
func (k *Keys) key(i int) []byte {
	switch {
	case k.slices != nil:
		return k.slices[i]
	case k.texts != nil:
		return []byte(k.texts[i])
	}
	return binary.LittleEndian.AppendUint64(nil, k.numbers[i])
}

// batchOfWhole is [batch] of a filter that takes keys whole, such as digests.
func batchOfWhole(f *image.Filter, keys *Keys, answers []bool, insert bool) (trues int) {
	for i := range keys.Len() {
		var answer bool
		if insert {
			// The lengths were checked, so there is no error.
			answer, _ = f.Insert(keys.key(i))
		} else {
			answer = f.Contains(keys.key(i))
		}
		if answer {
			trues++
		}
		if answers != nil {
			answers[i] = answer
		}
	}
	return trues
}

// hash returns the hashes of some keys: the caller's own hashes, or hashes made in the buffer.
func (k *Keys) hash(f *image.Filter, from, to int, buffer *[image.FetchKeys]uint64) []uint64 {
	if k.hashes != nil {
		return k.hashes[from:to]
	}
	hashes := buffer[:to-from]
	switch {
	case k.slices != nil:
		f.HashSlices(k.slices[from:to], hashes)
	case k.texts != nil:
		f.HashStrings(k.texts[from:to], hashes)
	default:
		f.HashUint64s(k.numbers[from:to], hashes)
	}
	return hashes
}

// batch looks up or inserts keys in order, and returns how many answers are true. batch hashes the next keys and
// fetches their cache lines before it looks at the bits of the previous ones.
func batch(f *image.Filter, keys *Keys, answers []bool, insert bool) (trues int) {
	if f.Header().Hash == image.DigestHash || f.TakesWhole() {
		return batchOfWhole(f, keys, answers, insert)
	}
	var buffers [2][image.FetchKeys]uint64
	count := keys.Len()
	next := keys.hash(f, 0, min(count, image.FetchKeys), &buffers[0])
	f.Fetch(next)
	for from, turn := 0, 1; from < count; turn = 1 - turn {
		now := next
		after := from + len(now)
		if after < count {
			next = keys.hash(f, after, min(count, after+image.FetchKeys), &buffers[turn])
			f.Fetch(next)
		}
		for i, hash := range now {
			var answer bool
			if insert {
				// A filter that is open takes every hash, so there is no error.
				answer, _ = f.InsertHash(hash)
			} else {
				answer = f.ContainsHash(hash)
			}
			if answer {
				trues++
			}
			if answers != nil {
				answers[from+i] = answer
			}
		}
		from = after
	}
	return trues
}

// Answers receive the answers of a batch.
type Answers struct {
	// Bools[i] becomes the answer for key i. Bools may be nil; otherwise it has room for all keys.
	Bools []bool
	// TrueCount becomes the number of true answers.
	TrueCount int
	// Done becomes the number of keys that were taken: all keys, or none if there is an error.
	Done int
}

// ContainsBatch looks many keys up: answer i is what [Filter.Contains] says of key i. If the answers have no room for
// all keys, the call does nothing and returns [ErrBufferTooSmall]. On another failure every answer is true. Faster than
// single lookups where the filter is larger than the second-level cache. Only reads the filter.
func (f *Filter) ContainsBatch(keys Keys, answers *Answers) error {
	if answers == nil {
		return fmt.Errorf("%w: answers = nil leaves no room for any answer", ErrBufferTooSmall)
	}
	if err := answers.prepare(keys.Len()); err != nil {
		return err
	}
	if err := keys.canBeFor(f.image()); err != nil {
		for i := range answers.Bools[:min(len(answers.Bools), keys.Len())] {
			answers.Bools[i] = true
		}
		answers.TrueCount = keys.Len()
		return err
	}
	answers.TrueCount, answers.Done = batch(f.image(), &keys, answers.Bools, false), keys.Len()
	return nil
}

// InsertBatch inserts many keys in order: answer i is what [Filter.Insert] says of key i. answers may be nil. If the
// answers have no room for all keys, the call does nothing and returns [ErrBufferTooSmall]. On a failure no key is
// inserted. Faster than single insertions where the filter is larger than the second-level cache. Changes the filter.
func (f *Filter) InsertBatch(keys Keys, answers *Answers) error {
	if answers == nil {
		answers = &Answers{}
	}
	if err := answers.prepare(keys.Len()); err != nil {
		return err
	}
	if err := keys.canBeFor(f.image()); err != nil {
		return err
	}
	answers.TrueCount, answers.Done = batch(f.image(), &keys, answers.Bools, true), keys.Len()
	return nil
}

// prepare returns an error if there is room for fewer keys.
func (a *Answers) prepare(keys int) error {
	a.TrueCount, a.Done = 0, 0
	if a.Bools != nil && len(a.Bools) < keys {
		return fmt.Errorf("%w: room for %d answers is less than the %d keys", ErrBufferTooSmall, len(a.Bools), keys)
	}
	return nil
}
