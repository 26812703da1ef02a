package petal

/*
#include "keys.h"
*/
import "C"

import (
	"runtime"
)

// Index has rows of bits with ids, and finds those that are similar to a query. All rows have one width. A row is
// ceil(width / 8) bytes: bit i of the row is bit i % 8 of byte i / 8. Rows have numbers, from 0 on in the order in
// which they came.
//
// Methods that only read the index may run in many goroutines at once. [Index.Close] and methods that change the index
// need it to themselves. Indexes are experimental: methods may still change. Package view reads their images
// without cgo.
type Index struct {
	byPointer
	owner *held[*C.petal_index]
}

// IndexRow is a row with its number.
type IndexRow struct {
	// ID is the id of the row.
	ID uint64
	// Ones is how many bits the row has set.
	Ones uint64
	// Removed says that the row was removed. ID and Ones are 0 then.
	Removed bool
}

// NewIndex makes an empty index. The Capacity of the spec is the number of rows that there is room for. The Kind is
// "index"; an empty one stands for it if no parameter is set. The parameter width is the number of bits of a row.
func NewIndex(spec Spec) (*Index, error) {
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	return indexOf(made("petal.NewIndex", freeIndex, func(handle **C.petal_index, failure *C.petal_error) {
		C.petal_index_new(&raw, handle, failure)
	}))
}

// NextRow returns how many rows have numbers, with those that were removed: the number of the next row.
func (x *Index) NextRow() uint64 {
	rows := C.petal_index_next_row(x.raw())
	runtime.KeepAlive(x)
	return uint64(rows)
}

// RowCount returns how many rows there are, without those that were removed. Reads a bit of each row.
func (x *Index) RowCount() uint64 {
	rows := C.petal_index_row_count(x.raw())
	runtime.KeepAlive(x)
	return uint64(rows)
}

// Width returns the number of bits of a row.
func (x *Index) Width() uint64 {
	width := C.petal_index_width(x.raw())
	runtime.KeepAlive(x)
	return uint64(width)
}

// RowAt returns the id of the row with a number, and how many bits the row has set.
func (x *Index) RowAt(row uint64) (IndexRow, error) {
	var isThere C.bool
	var id, ones C.uint64_t
	err := called("petal.Index.RowAt", func(failure *C.petal_error) {
		C.petal_index_get_row_at(x.raw(), C.uint64_t(row), &isThere, &id, &ones, failure)
	})
	return IndexRow{ID: uint64(id), Ones: uint64(ones), Removed: err == nil && !bool(isThere)}, err
}

// FindRow returns the number of the first row with an id, from the row from on; found is false if there is none. Reads
// ids until then.
func (x *Index) FindRow(id, from uint64) (row uint64, found bool, err error) {
	var first C.uint64_t
	var isThere C.bool
	err = called("petal.Index.FindRow", func(failure *C.petal_error) {
		C.petal_index_find_row(x.raw(), C.uint64_t(id), C.uint64_t(from), &first, &isThere, failure)
	})
	return uint64(first), bool(isThere), err
}

// CopyRow returns the bits of the row with a number, also of one that was removed.
func (x *Index) CopyRow(row uint64) ([]byte, error) {
	bits := make([]byte, (x.Width()+7)/8)
	err := called("petal.Index.CopyRow", func(failure *C.petal_error) {
		C.petal_go_index_copy_row(x.raw(), C.uint64_t(row), nonNil(bits), C.size_t(len(bits)), failure)
	})
	if err != nil {
		return nil, err
	}
	return bits, nil
}

// Arrange makes an index, in its own memory, with room for capacity rows; 0 is as many as there are. Removed rows are
// left out, and the others are in the order of their numbers of set bits. Searches are fastest that way.
func (x *Index) Arrange(capacity uint64) (*Index, error) {
	return indexOf(made("petal.Index.Arrange", freeIndex, func(handle **C.petal_index, failure *C.petal_error) {
		C.petal_index_arrange(x.raw(), C.uint64_t(capacity), handle, failure)
	}))
}

// ArrangeBoth makes an arranged index of the rows of two, with room for capacity rows; 0 is as many as there are.
func (x *Index) ArrangeBoth(other *Index, capacity uint64) (*Index, error) {
	return indexOf(made("petal.Index.ArrangeBoth", freeIndex, func(handle **C.petal_index, failure *C.petal_error) {
		C.petal_index_arrange_both(x.raw(), other.raw(), C.uint64_t(capacity), handle, failure)
		runtime.KeepAlive(other)
	}))
}

// Attachment returns the bytes that [Index.Attach] kept.
func (x *Index) Attachment() ([]byte, error) {
	const op = "petal.Index.Attachment"
	size := func() (uint64, error) {
		return answered(op, func(size *uint64, failure *C.petal_error) {
			var length C.size_t
			C.petal_go_index_get_attachment(x.raw(), nil, 0, &length, failure)
			*size = uint64(length)
		})
	}
	return marshalled(op, size, func(bytes []byte, failure *C.petal_error) {
		var length C.size_t
		C.petal_go_index_get_attachment(x.raw(), bytesOf(bytes), C.size_t(len(bytes)), &length, failure)
	})
}

// Capabilities returns what this index can do now: an index that is open for reading can do less than its kind.
func (x *Index) Capabilities() Capabilities {
	capabilities := C.petal_index_capabilities(x.raw())
	runtime.KeepAlive(x)
	return Capabilities(capabilities)
}
