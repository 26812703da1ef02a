package petal

/*
#include "keys.h"

#cgo noescape petal_filter_get_stored_hash
#cgo nocallback petal_filter_get_stored_hash
#cgo noescape petal_filter_get_stored_hashes
#cgo nocallback petal_filter_get_stored_hashes
*/
import "C"

import (
	"fmt"
	"iter"
	"runtime"
	"unsafe"
)

// StoredHash returns the number that the filter stores for a hash, and the range: all such numbers are below it. A key
// may be there exactly if the number of its hash is stored. Returns [ErrUnsupported] without [CanEnumerate]. Only reads
// the filter.
func (f *Filter) StoredHash(hash uint64) (stored, below uint64, err error) {
	var number, limit C.uint64_t
	failure := newFailure()
	C.petal_filter_get_stored_hash(f.toRead(), C.uint64_t(hash), &number, &limit, &failure.raw)
	runtime.KeepAlive(f)
	return uint64(number), uint64(limit), failure.err("petal.Filter.StoredHash")
}

// ReadStoredHashes writes the stored numbers into stored, beginning with the number from, in ascending order and each
// once. The result is how many numbers were written: fewer than the length of stored if there are no more. counts is
// nil, or as long as stored, and gets the count of each number: 1 if the kind does not count. Returns [ErrUnsupported]
// without [CanEnumerate]. Only reads the filter.
func (f *Filter) ReadStoredHashes(from uint64, stored, counts []uint64) (int, error) {
	if counts != nil && len(counts) != len(stored) {
		message := fmt.Sprintf("room for %d numbers and %d counts", len(stored), len(counts))
		return 0, &Error{Op: "petal.Filter.ReadStoredHashes", Status: ErrBufferTooSmall, Message: message}
	}
	var count C.size_t
	failure := newFailure()
	C.petal_filter_get_stored_hashes(f.toRead(), C.uint64_t(from), (*C.uint64_t)(unsafe.SliceData(stored)),
		(*C.uint64_t)(unsafe.SliceData(counts)), C.size_t(len(stored)), &count, &failure.raw)
	runtime.KeepAlive(f)
	return int(count), failure.err("petal.Filter.ReadStoredHashes")
}

// StoredHashes returns all numbers that the filter stores, in ascending order and each once, with the count of each
// number: 1 if the kind does not count. Returns [ErrUnsupported] without [CanEnumerate]. The loop only reads the
// filter, which must stay open meanwhile.
func (f *Filter) StoredHashes() (iter.Seq2[uint64, uint64], error) {
	if _, _, err := f.StoredHash(0); err != nil {
		return nil, err
	}
	return func(yield func(uint64, uint64) bool) {
		piece, counts := make([]uint64, 1024), make([]uint64, 1024)
		for from := uint64(0); ; {
			count, err := f.ReadStoredHashes(from, piece, counts)
			for i, number := range piece[:count] {
				if !yield(number, counts[i]) {
					return
				}
			}
			if err != nil || count < len(piece) {
				return
			}
			from = piece[count-1] + 1
		}
	}, nil
}
