package petal

/*
#include "keys.h"

extern _Bool petalGoWrite(uintptr_t context, void *bytes, size_t length);

static bool petal_go_index_put(void *context, const void *bytes, size_t length) {
	return petalGoWrite((uintptr_t)context, (void *)bytes, length);
}

static petal_status petal_go_index_serialize_to(const petal_index *index, uintptr_t context, petal_error *error) {
	return petal_index_serialize_to(index, petal_go_index_put, (void *)context, error);
}
*/
import "C"

import (
	"io"
	"os"
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

// NoRow is the number of no row.
const NoRow uint64 = C.PETAL_NO_ROW

// IndexRow is a row with its number.
type IndexRow struct {
	// ID is the id of the row.
	ID uint64
	// Count is how many bits the row has set.
	Count uint64
	// Removed says that the row was removed. ID and Count are 0 then.
	Removed bool
}

func freeIndex(handle *C.petal_index) { C.petal_index_free(handle) }

// indexOf returns the index of a handle, or the error of the call that should make it.
func indexOf(owner *held[*C.petal_index], err error) (*Index, error) {
	if err != nil {
		return nil, err
	}
	return &Index{owner: owner}, nil
}

// raw returns the library's index from [held.toRead].
func (x *Index) raw() *C.petal_index {
	if x == nil {
		return nil
	}
	return x.owner.toRead()
}

// toChange returns the library's index from [held.toChange].
func (x *Index) toChange() *C.petal_index {
	if x == nil {
		return nil
	}
	return x.owner.toChange()
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

// Close frees the index. If you changed an image in place, Close writes the changes first; call [Index.Sync] before if
// you want to know whether that works. The error is always nil. Closing twice is allowed.
func (x *Index) Close() error {
	if x != nil {
		x.owner.close()
	}
	return nil
}

// OpenIndex opens a file that is the image of an index: for reading, for writing or as a copy. If another process
// truncates a file while it is mapped, touching the lost part ends the program; use OpenLoad where that may happen.
func OpenIndex(path string, options *OpenOptions) (*Index, error) {
	return indexOf(openedBy("petal.OpenIndex", path, options, freeIndex,
		func(path *C.char, raw *C.petal_open_options, handle **C.petal_index, failure *C.petal_error) {
			C.petal_index_open(path, raw, handle, failure)
		}))
}

// OpenIndexAt opens the image of an index at an offset of an open file. The offset is a multiple of 8, and other data
// may follow the image. You may close the file right away.
func OpenIndexAt(file *os.File, offset int64, options *OpenOptions) (*Index, error) {
	raw := options.raw()
	return indexOf(openedAt("petal.OpenIndexAt", file, offset, freeIndex,
		func(descriptor uintptr, handle **C.petal_index, failure *C.petal_error) {
			C.petal_index_open_descriptor(C.intptr_t(descriptor), C.uint64_t(offset), &raw, handle, failure)
		}))
}

// LoadIndex copies the image at the start of a slice into new memory and compares the checksums.
func LoadIndex(image []byte, options *OpenOptions) (*Index, error) {
	raw := options.raw()
	return indexOf(made("petal.LoadIndex", freeIndex, func(handle **C.petal_index, failure *C.petal_error) {
		C.petal_go_index_load(nonNil(image), C.size_t(len(image)), &raw, handle, failure)
	}))
}

// Copy copies the index into new memory.
func (x *Index) Copy() (*Index, error) {
	return indexOf(made("petal.Index.Copy", freeIndex, func(handle **C.petal_index, failure *C.petal_error) {
		C.petal_index_copy(x.raw(), handle, failure)
	}))
}

// Add adds a row under an id of yours, and returns the number of the row. Returns [ErrFull] if the index has as many
// rows as its capacity. Changes the index.
func (x *Index) Add(id uint64, row []byte) (uint64, error) {
	return answered("petal.Index.Add", func(number *uint64, failure *C.petal_error) {
		C.petal_go_index_add(x.toChange(), C.uint64_t(id), nonNil(row), C.size_t(len(row)), (*C.uint64_t)(number), failure)
	})
}

// Remove removes all rows with an id, and returns how many these were. Reads all ids. A removed row keeps its number
// and its place, and is found no more; [Index.Arranged] makes an index without such rows. Changes the index.
func (x *Index) Remove(id uint64) (uint64, error) {
	return answered("petal.Index.Remove", func(removed *uint64, failure *C.petal_error) {
		C.petal_index_remove(x.toChange(), C.uint64_t(id), (*C.uint64_t)(removed), failure)
	})
}

// RemoveRow removes the row with a number, and returns whether it was there. Changes the index.
func (x *Index) RemoveRow(row uint64) (bool, error) {
	return answered("petal.Index.RemoveRow", func(removed *bool, failure *C.petal_error) {
		C.petal_index_remove_row(x.toChange(), C.uint64_t(row), (*C.bool)(removed), failure)
	})
}

// Rows returns how many rows have numbers, with those that were removed: the number of the next row.
func (x *Index) Rows() uint64 {
	rows := C.petal_index_rows(x.raw())
	runtime.KeepAlive(x)
	return uint64(rows)
}

// Count returns how many rows there are, without those that were removed. Reads a bit of each row.
func (x *Index) Count() uint64 {
	rows := C.petal_index_count(x.raw())
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
	var id, count C.uint64_t
	err := called("petal.Index.RowAt", func(failure *C.petal_error) {
		C.petal_index_row_at(x.raw(), C.uint64_t(row), &isThere, &id, &count, failure)
	})
	return IndexRow{ID: uint64(id), Count: uint64(count), Removed: err == nil && !bool(isThere)}, err
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

// Find returns the number of the first row with an id, from the row from on, or [NoRow]. Reads ids until then.
func (x *Index) Find(id, from uint64) (uint64, error) {
	return answered("petal.Index.Find", func(row *uint64, failure *C.petal_error) {
		C.petal_index_find(x.raw(), C.uint64_t(id), C.uint64_t(from), (*C.uint64_t)(row), failure)
	})
}

// Merge appends all rows of another index, without those that were removed. Returns [ErrIncompatible] if the rows mean
// something else, and [ErrFull] if there is no room for all rows. Changes the index.
func (x *Index) Merge(other *Index) error {
	return called("petal.Index.Merge", func(failure *C.petal_error) {
		C.petal_index_merge(x.toChange(), other.raw(), failure)
		runtime.KeepAlive(other)
	})
}

// Arranged makes an index, in its own memory, with room for capacity rows; 0 is as many as there are. Removed rows are
// left out, and the others are in the order of their numbers of set bits. Searches are fastest that way.
func (x *Index) Arranged(capacity uint64) (*Index, error) {
	return indexOf(made("petal.Index.Arranged", freeIndex, func(handle **C.petal_index, failure *C.petal_error) {
		C.petal_index_arranged(x.raw(), C.uint64_t(capacity), handle, failure)
	}))
}

// Merged makes an arranged index of the rows of two, with room for capacity rows; 0 is as many as there are.
func (x *Index) Merged(other *Index, capacity uint64) (*Index, error) {
	return indexOf(made("petal.Index.Merged", freeIndex, func(handle **C.petal_index, failure *C.petal_error) {
		C.petal_index_merged(x.raw(), other.raw(), C.uint64_t(capacity), handle, failure)
		runtime.KeepAlive(other)
	}))
}

// Attach keeps your bytes in the image, instead of those that were there before. Changes the index.
func (x *Index) Attach(bytes []byte) error {
	return called("petal.Index.Attach", func(failure *C.petal_error) {
		C.petal_go_index_attach(x.toChange(), bytesOf(bytes), C.size_t(len(bytes)), failure)
	})
}

// Attachment returns the bytes that [Index.Attach] kept.
func (x *Index) Attachment() ([]byte, error) {
	const op = "petal.Index.Attachment"
	size := func() (uint64, error) {
		return answered(op, func(size *uint64, failure *C.petal_error) {
			var length C.size_t
			C.petal_go_index_attachment(x.raw(), nil, 0, &length, failure)
			*size = uint64(length)
		})
	}
	return marshalled(op, size, func(bytes []byte, failure *C.petal_error) {
		var length C.size_t
		C.petal_go_index_attachment(x.raw(), bytesOf(bytes), C.size_t(len(bytes)), &length, failure)
	})
}

// Clear removes all rows and the attachment. Changes the index.
func (x *Index) Clear() error {
	return called("petal.Index.Clear", func(failure *C.petal_error) { C.petal_index_clear(x.toChange(), failure) })
}

// Capabilities returns what this index can do now: an index that is open for reading can do less than its kind.
func (x *Index) Capabilities() Capabilities {
	capabilities := C.petal_index_capabilities(x.raw())
	runtime.KeepAlive(x)
	return Capabilities(capabilities)
}

// Save writes the image to a file: first to a temporary file next to it, which then replaces the old file in one step.
func (x *Index) Save(path string) error {
	return withPath("petal.Index.Save", path, func(path *C.char, failure *C.petal_error) {
		C.petal_index_save(x.raw(), path, failure)
	})
}

// Sync writes the changes of an image in place to its disk. [Index.Close] does the same, but does not say whether it
// worked. Changes the index.
func (x *Index) Sync() error {
	return called("petal.Index.Sync", func(failure *C.petal_error) { C.petal_index_sync(x.toChange(), failure) })
}

// Vouch declares the present bytes to be right, and makes the index clean. Reads the whole payload. Changes the
// index.
func (x *Index) Vouch() error {
	return called("petal.Index.Vouch", func(failure *C.petal_error) { C.petal_index_vouch(x.toChange(), failure) })
}

// Verify reads and checks all bytes as they are now. Returns [ErrCorrupt] if a part does not match its checksum.
func (x *Index) Verify() error {
	return called("petal.Index.Verify", func(failure *C.petal_error) { C.petal_index_verify(x.raw(), failure) })
}

// SerializedSize returns the size of the image in bytes.
func (x *Index) SerializedSize() (uint64, error) {
	return answered("petal.Index.SerializedSize", func(size *uint64, failure *C.petal_error) {
		C.petal_index_serialized_size(x.raw(), (*C.uint64_t)(size), failure)
	})
}

// MarshalBinary returns the image.
func (x *Index) MarshalBinary() ([]byte, error) {
	const op = "petal.Index.MarshalBinary"
	return marshalled(op, x.SerializedSize, func(image []byte, failure *C.petal_error) {
		C.petal_go_index_serialize(x.raw(), bytesOf(image), C.size_t(len(image)), failure)
	})
}

// WriteTo writes the image, piece by piece and without a copy of the whole. The writer must not end its goroutine
// ([runtime.Goexit]).
func (x *Index) WriteTo(w io.Writer) (int64, error) {
	return streamed("petal.Index.WriteTo", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_index_serialize_to(x.raw(), context, failure)
	})
}

// Describe describes the index by its header, in constant time.
func (x *Index) Describe() (Description, error) {
	const op = "petal.Index.Describe"
	return converted(op, sizedDescription(), descriptionOf, func(raw *C.petal_description, failure *C.petal_error) {
		C.petal_index_describe(x.raw(), raw, failure)
	})
}
