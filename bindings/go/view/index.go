package view

import (
	"io"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// Index is an opened index, for reading: rows of bits with ids, of which it finds those that are similar to a query. A
// row is ceil(width / 8) bytes: bit i of the row is bit i % 8 of byte i / 8. Rows have numbers, from 0 on in the order
// in which they came. Package petal and the command petal make indexes. The zero value is a closed index, and so is
// nil.
//
// All methods but [Index.Close] may run in many goroutines at once. Another process may append to the file of an opened
// index: a search finds the rows that were there when it began, or more. Indexes are experimental: methods may still
// change.
type Index struct {
	byPointer
	opened *image.Filter
}

// NoRow is the number of no row.
const NoRow = image.NoRow

// IndexRow is a row with its number.
type IndexRow = image.IndexRow

// IndexHit is a row that a search found.
type IndexHit = image.IndexHit

// Similarity says how the similarity of two rows is measured. With a bits in the query, b in the row, and c in both,
// each measure is a double from 0 to 1, of which each operation is rounded once.
type Similarity = image.Similarity

const (
	// Tanimoto is c / (a + b - c), and 1 for two empty rows.
	Tanimoto = image.Tanimoto
	// Dice is 2c / (a + b), and 1 for two empty rows.
	Dice = image.Dice
	// Tversky is c / ((alpha * (a - c) + beta * (b - c)) + c), and 1 if the denominator is 0.
	Tversky = image.Tversky
	// Cosine is c / sqrt(a * b), 1 for two empty rows, and 0 if only one is empty.
	Cosine = image.Cosine
	// Hamming is (width - (a + b - 2c)) / width: the share of bits in which query and row are equal.
	Hamming = image.Hamming
)

// SearchOptions say how to search. A nil *SearchOptions is the zero value: Tanimoto.
type SearchOptions = image.SearchOptions

// OpenIndex maps a file that is an index, and nothing else, for reading, in constant time. OpenIndex does not check the
// payload; [Index.Verify] does. [Open] says what happens if the file is truncated meanwhile.
func OpenIndex(path string, options *Options) (*Index, error) {
	return asIndex(image.Open(path, (*image.Options)(options), image.AnIndex))
}

// WrapIndex opens the index at the start of a slice, in place, in constant time. WrapIndex does not check the payload.
// The slice must not change while the index is in use. Other bytes may follow the image.
func WrapIndex(slice []byte, options *Options) (*Index, error) {
	return asIndex(image.Wrap(slice, (*image.Options)(options), image.AnIndex))
}

// LoadIndex copies the index at the start of a slice and compares the checksums, unless the index is dirty. Each row is
// compared with its count, its fold and its columns.
func LoadIndex(slice []byte, options *Options) (*Index, error) {
	return asIndex(image.Load(slice, (*image.Options)(options), image.AnIndex))
}

// ReadIndex reads one index, and not a byte more, and checks it as [LoadIndex] does. Memory grows with the bytes that
// arrive, whatever the header says.
func ReadIndex(r io.Reader, options *Options) (*Index, error) {
	return asIndex(image.Read(r, (*image.Options)(options), image.AnIndex))
}

// image returns the opened image; a closed one if the index is closed or nil.
func (x *Index) image() *image.Filter {
	if x == nil {
		return (*image.Filter)(nil).OrClosed(image.AnIndex)
	}
	return x.opened.OrClosed(image.AnIndex)
}

func asIndex(opened *image.Filter, err error) (*Index, error) {
	if err != nil {
		return nil, err
	}
	return &Index{opened: opened}, nil
}

// Close unmaps the file and frees the memory. Closing twice is allowed.
func (x *Index) Close() error { return x.image().Close() }

// Header returns what the image says about itself. Words[0] is the number of bits of a row, and Bits is that number
// times the number of rows that there is room for. Offered is how many rows there were, without removed ones, when the
// index was opened.
func (x *Index) Header() Header { return Header(x.image().Header()) }

// String returns one line about the index, or "closed".
func (x *Index) String() string { return x.image().String() }

// Verify reads and checks all bytes as they are now. Returns [ErrCorrupt] if a part does not match its checksum.
// Returns [ErrDirty] if all parts match but nobody vouches for them.
func (x *Index) Verify() error { return x.image().Verify() }

// Rows returns how many rows have numbers, with those that were removed.
func (x *Index) Rows() uint64 { return x.image().Rows() }

// Count returns how many rows there are, without those that were removed. Reads a bit of each row.
func (x *Index) Count() uint64 { return x.image().CountRows() }

// Width returns the number of bits of a row.
func (x *Index) Width() uint64 { return x.image().RowWidth() }

// RowAt returns the id of the row with a number, and how many bits the row has set. Returns [ErrOutOfRange] if there is
// no such row.
func (x *Index) RowAt(row uint64) (IndexRow, error) { return x.image().RowAt(row) }

// CopyRow returns the bits of the row with a number, also of one that was removed.
func (x *Index) CopyRow(row uint64) ([]byte, error) { return x.image().CopyRow(row) }

// Find returns the number of the first row with an id, from the row from on, or [NoRow]. Reads ids until then.
func (x *Index) Find(id, from uint64) (uint64, error) { return x.image().FindRow(id, from) }

// Attachment returns the bytes that the index keeps for its user.
func (x *Index) Attachment() ([]byte, error) { return x.image().Attachment() }

// Top returns the k rows that are most similar to a query, or all if there are fewer. options may be nil. Of rows that
// are equally similar, those with the least ids come first. Returns [ErrOutOfRange] if the query is no row, and
// [ErrUnsupported] if the index has only columns.
func (x *Index) Top(query []byte, k int, options *SearchOptions) ([]IndexHit, error) {
	return x.image().Top(query, k, options)
}

// AtLeast returns all rows whose similarity to a query is at least threshold, from 0 to 1, the most similar first.
// options may be nil. Errors are those of [Index.Top].
func (x *Index) AtLeast(query []byte, threshold float64, options *SearchOptions) ([]IndexHit, error) {
	return x.image().AtLeast(query, threshold, options)
}

// ContainsAll returns the ids of all rows that have every bit of a query, in the order of their numbers. An index whose
// parameter store is columns or both reads only the bits of the query. Returns [ErrUnsupported] if the parameter
// nesting is no.
func (x *Index) ContainsAll(query []byte) ([]uint64, error) { return x.image().ContainsAll(query) }
