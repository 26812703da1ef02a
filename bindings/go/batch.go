package petal

/*
#include "keys.h"

#cgo noescape petal_go_batch
#cgo nocallback petal_go_batch
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// Keys are the keys of a batch, all in one form: get them from [BytesKeys], [StringKeys], [Bytes32Keys], [Uint64Keys],
// [HashKeys] or [DigestKeys]. The zero value is no keys. Keys refer to the caller's slice and copy nothing.
type Keys struct {
	form    C.petal_keys_form
	slices  [][]byte
	texts   []string
	numbers []uint64
	// All digests of each bytes, or the bytes of all keys between the offsets.
	data    []byte
	each    int
	offsets []int32
}

// BytesKeys are keys that are byte slices.
func BytesKeys(keys [][]byte) Keys { return Keys{form: C.PETAL_KEYS_BYTES, slices: keys} }

// StringKeys are keys that are the bytes of strings.
func StringKeys(keys []string) Keys { return Keys{form: C.PETAL_KEYS_BYTES, texts: keys} }

// Bytes32Keys are byte keys in one slice: key i is data[offsets[i]:offsets[i+1]], and there is one offset more than
// there are keys. The values of an Arrow array of the type Binary or Utf8 lie like this. Batches use both slices
// without a copy.
func Bytes32Keys(data []byte, offsets []int32) Keys {
	return Keys{form: C.PETAL_KEYS_BYTES32, data: data, offsets: offsets}
}

// Uint64Keys are keys that are numbers, each the same key as its eight little-endian bytes. Batches use the slice
// without a copy.
func Uint64Keys(keys []uint64) Keys { return Keys{form: C.PETAL_KEYS_U64, numbers: keys} }

// HashKeys are keys by their hashes. [Filter.Hash] or [Spec.HashKey] makes the hashes, or the program itself for
// [External]. Batches use the slice without a copy.
func HashKeys(hashes []uint64) Keys { return Keys{form: C.PETAL_KEYS_HASHES, numbers: hashes} }

// DigestKeys are digests of each bytes, one after the other, such as 32 bytes of SHA-256: for filters with
// [DigestHash]. Batches use the slice without a copy.
func DigestKeys(digests []byte, each int) Keys {
	return Keys{form: C.PETAL_KEYS_DIGESTS, data: digests, each: each}
}

// Len returns how many keys there are.
func (k Keys) Len() int {
	if k.form == C.PETAL_KEYS_BYTES32 {
		return max(len(k.offsets), 1) - 1
	}
	return len(k.slices) + len(k.texts) + len(k.numbers) + len(k.data)/max(k.each, 1)
}

// Answers receive the answers of a batch.
type Answers struct {
	// Bools[i] becomes the answer for key i. Bools may be nil; otherwise it has room for all keys.
	Bools []bool
	// TrueCount becomes the number of true answers.
	TrueCount int
	// Done becomes the number of keys that were taken: all keys, or the keys before an error. An insertion that fails has
	// answers for these keys only.
	Done int
}

// ContainsBatch looks many keys up: answer i is what [Filter.Contains] says of key i. On a failure every answer is
// true. Only reads the filter.
func (f *Filter) ContainsBatch(keys Keys, answers *Answers) error {
	const op = "petal.Filter.ContainsBatch"
	if answers == nil {
		return &Error{Op: op, Status: ErrBufferTooSmall, Message: "answers = nil leaves no room for any answer"}
	}
	err := runBatch(op, C.PETAL_GO_CONTAINS, unsafe.Pointer(f.toRead()), keys, answers)
	runtime.KeepAlive(f)
	if err != nil {
		for i := range answers.Bools[:min(keys.Len(), len(answers.Bools))] {
			answers.Bools[i] = true
		}
		answers.TrueCount, answers.Done = keys.Len(), 0
	}
	return err
}

// InsertBatch inserts many keys in order: answer i is what [Filter.Insert] says of key i. With nil answers the call is
// faster. On a failure the first answers.Done keys are in the filter. Changes the filter.
func (f *Filter) InsertBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Filter.InsertBatch", C.PETAL_GO_INSERT, unsafe.Pointer(f.toChange()), keys, answers)
	runtime.KeepAlive(f)
	return err
}

// Byte keys go to the library as one buffer with offsets, since C may not get pointers to pointers into Go's memory.
// The keys are copied piece by piece, so that the buffer stays in the cache.
const (
	pieceKeys  = 4096
	pieceBytes = 128 << 10
	// A buffer that one huge key made longer than this is not kept.
	keptBytes = 1 << 20
)

// flatKeys are keys one after the other: key i is bytes[offsets[i]:offsets[i+1]].
type flatKeys struct {
	bytes   []byte
	offsets []uint64
}

var flatPool = sync.Pool{New: func() any {
	return &flatKeys{make([]byte, 0, pieceBytes), make([]uint64, 0, pieceKeys+1)}
}}

func (k *flatKeys) release() {
	if cap(k.bytes) <= keptBytes {
		flatPool.Put(k)
	}
}

// flatten takes keys until a piece is full, at least one key if there is any, and returns the number of keys.
func flatten[K []byte | string](k *flatKeys, keys []K) int {
	k.bytes, k.offsets = k.bytes[:0], append(k.offsets[:0], 0)
	taken := 0
	for taken < len(keys) && taken < pieceKeys && (taken == 0 || len(k.bytes)+len(keys[taken]) <= pieceBytes) {
		k.bytes = append(k.bytes, keys[taken]...)
		k.offsets = append(k.offsets, uint64(len(k.bytes)))
		taken++
	}
	return taken
}

// untyped passes a slice of numbers of any type to the library. At an unsafe.Pointer cgo would scan what it points to.
func untyped[T uint64 | int32](slice []T) *C.uint8_t {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(slice)))
}

// numbers passes a slice of numbers to the library.
func numbers(slice []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(slice)) }

// runBatch runs a verb for keys, on the handle that the verb needs, and fills answers, which may be nil.
func runBatch(op string, verb C.petal_go_verb, handle unsafe.Pointer, keys Keys, answers *Answers) error {
	return runBatchWith(op, verb, handle, keys, nil, nil, answers)
}

// oneEach returns an error unless there are as many numbers as keys.
func oneEach(op, what string, given []uint64, keys Keys) error {
	if len(given) == keys.Len() {
		return nil
	}
	message := fmt.Sprintf("%d %s for %d keys", len(given), what, keys.Len())
	return &Error{Op: op, Status: ErrBufferTooSmall, Message: message}
}

// roomForEach returns an error if there is less room than keys.
func roomForEach(op, what string, room int, keys Keys) error {
	if room >= keys.Len() {
		return nil
	}
	message := fmt.Sprintf("room for %d %s is less than the %d keys", room, what, keys.Len())
	return &Error{Op: op, Status: ErrBufferTooSmall, Message: message}
}

// runGiving is [runBatch] for a verb that takes a number with each key.
func runGiving(op string, verb C.petal_go_verb, handle unsafe.Pointer, keys Keys, what string, given []uint64,
	answers *Answers,
) error {
	if err := oneEach(op, what, given, keys); err != nil {
		return err
	}
	if answers == nil {
		answers = &Answers{}
	}
	return runBatchWith(op, verb, handle, keys, given, nil, answers)
}

// runBatchWith is [runBatch] for a verb that takes a number with each key (given), or returns one (told). Each slice is
// nil if the verb does not use it. For an answer the library writes a byte, 0 or 1, which is a Go bool.
func runBatchWith(op string, verb C.petal_go_verb, handle unsafe.Pointer, keys Keys, given, told []uint64,
	answers *Answers,
) error {
	var found []bool
	if answers != nil {
		answers.TrueCount, answers.Done = 0, 0
		found = answers.Bools
		if found != nil {
			if err := roomForEach(op, "answers", len(found), keys); err != nil {
				return err
			}
		}
	}
	var flat *flatKeys
	bytes, length, taken := keys.data, len(keys.data), keys.Len()
	ints := untyped(keys.numbers)
	switch keys.form {
	case C.PETAL_KEYS_U64, C.PETAL_KEYS_HASHES:
	case C.PETAL_KEYS_BYTES32:
		ints = untyped(keys.offsets)
	case C.PETAL_KEYS_DIGESTS:
		if keys.each < 1 || length%keys.each != 0 {
			message := fmt.Sprintf("%d bytes are no digests of %d bytes each", length, keys.each)
			return &Error{Op: op, Status: ErrOutOfRange, Message: message}
		}
		length = keys.each
	default:
		keys.form = C.PETAL_KEYS_BYTES
		flat = flatPool.Get().(*flatKeys)
		defer flat.release()
	}
	// The loop runs once even without keys: the library then reports what is wrong with the handle.
	for done := 0; ; {
		if flat != nil {
			if keys.texts != nil {
				taken = flatten(flat, keys.texts[done:])
			} else {
				taken = flatten(flat, keys.slices[done:])
			}
			bytes, length, ints = flat.bytes, len(flat.bytes), untyped(flat.offsets)
		}
		var came C.petal_go_taken
		failure := newFailure()
		C.petal_go_batch(verb, handle, keys.form, bytesOf(bytes), C.size_t(length), ints,
			C.size_t(taken), numbers(given), numbers(told), C.bool(answers != nil),
			(*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(found))), &came, &failure.raw)
		done += int(came.done)
		if answers != nil {
			answers.TrueCount += int(came.true_count)
			answers.Done = done
		}
		if err := failure.err(op); err != nil || done == keys.Len() {
			return err
		}
		given, told, found = behind(given, came.done), behind(told, came.done), behind(found, came.done)
	}
}

// behind returns the part of a slice after the first done elements. The slice may be nil.
func behind[T any](slice []T, done C.size_t) []T { return slice[min(int(done), len(slice)):] }
