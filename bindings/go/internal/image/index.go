package image

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// The kind index, layout 1: rows of bits with ids. The rows, their folds, the counts of their set bits, their ids, a
// bit for each row that was removed, the columns and the attachment come one after the other, and a line of state ends
// the payload. This package checks folds, but searches without them.

var indexRow = kindRow{
	name:    "index",
	choices: []choice{{"fold", 1, uint64(len(foldWords))}, {"store", 2, 3}, {"nesting", 3, 2}},
	open:    (*shape).asIndex,
	state:   (*shape).indexState,
	check:   (*shape).indexCheck,
}

const (
	leastWidth      = 64
	mostWidth       = 1 << 16
	mostRows        = 1 << 40
	mostFeatureBits = 64
	mostAttachment  = 1 << 32

	onlyColumns = 1
	foldBlock   = 8 // the rows of a block of a level of folds
)

// foldWords has the words of the fold of a row for each value of the header's word 1. 0 is none in an image.
var foldWords = [...]uint64{0, 0, 1, 2, 4, 8}

// indexShape says where the parts of an index lie. Places and lengths are in words of 64 bits.
type indexShape struct {
	width, capacity                      uint64
	rowWords, foldWords, columnWords     uint64
	hasRows, hasColumns, nests           bool
	mostAttached                         uint64 // bytes
	countBytes, idBytes                  uint64
	folds, counts, ids, removed, columns uint64 // the rows lie at 0
	attachment, state                    uint64
}

// wholeLines rounds a number of words up to whole lines of 64 bytes.
func wholeLines(words uint64) uint64 { return (words + 7) / 8 * 8 }

// linesOf returns how many words, in whole lines, this many numbers of 1, 2, 4 or 8 bytes take.
func linesOf(numbers, bytes uint64) uint64 { return wholeLines((numbers + 8/bytes - 1) / (8 / bytes)) }

func (s *shape) asIndex(h *Header) (payloadBytes uint64, possible bool) {
	width, fold, store := h.Words[0], h.Words[1], h.Words[2]
	if width < leastWidth || width > mostWidth || h.Bits == 0 || h.Bits%width != 0 || h.Bits/width > mostRows ||
		h.Hashes != 1 || fold == 0 || fold > 1 && store == onlyColumns || h.Words[4] == 0 ||
		h.Words[4] > mostFeatureBits || h.Words[5] > mostAttachment || h.Words[6] != 4 && h.Words[6] != 8 || h.Words[7] != 0 {
		return 0, false
	}
	x := &indexShape{
		width: width, capacity: h.Bits / width, rowWords: (width + 63) / 64, foldWords: foldWords[fold],
		hasRows: store != onlyColumns, hasColumns: store != 0, nests: h.Words[3] == 0, mostAttached: h.Words[5],
		countBytes: 4, idBytes: h.Words[6],
	}
	switch {
	case width < 1<<8:
		x.countBytes = 1
	case width < 1<<16:
		x.countBytes = 2
	}
	// With at most 2^40 rows of 2^10 words nothing here overflows.
	x.columnWords = wholeLines((x.capacity + 63) / 64)
	if x.hasRows {
		x.folds = wholeLines(x.capacity * x.rowWords)
	}
	x.counts = x.folds + x.foldedRows()*x.foldWords
	x.ids = x.counts + linesOf(x.capacity, x.countBytes)
	x.removed = x.ids + linesOf(x.capacity, x.idBytes)
	x.columns = x.removed + x.columnWords
	x.attachment = x.columns
	if x.hasColumns {
		x.attachment += width * x.columnWords
	}
	x.state = x.attachment + wholeLines((x.mostAttached+7)/8)
	s.index = x
	return 8*x.state + payloadUnit, true
}

// foldedRows returns how many rows have a place for their folds.
func (x *indexShape) foldedRows() uint64 { return (x.capacity + foldBlock - 1) / foldBlock * foldBlock }

// foldWord returns the place of a word of the fold of a row.
func (x *indexShape) foldWord(row, word uint64) uint64 {
	before, words := uint64(0), min(x.foldWords, 2)
	switch {
	case word >= 4:
		before, words = 4, 4
	case word >= 2:
		before, words = 2, 2
	}
	return x.folds + before*x.foldedRows() + row/foldBlock*foldBlock*words + (word-before)*foldBlock + row%foldBlock
}

// wordAt returns a word of a payload.
func wordAt(payload []byte, word uint64) uint64 { return binary.LittleEndian.Uint64(payload[8*word:]) }

// numberAt returns the number i of numbers of 1, 2, 4 or 8 bytes that follow each other.
func numberAt(numbers []byte, i, bytes uint64) uint64 {
	switch numbers = numbers[i*bytes:]; bytes {
	case 1:
		return uint64(numbers[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(numbers))
	case 4:
		return uint64(binary.LittleEndian.Uint32(numbers))
	default:
		return binary.LittleEndian.Uint64(numbers)
	}
}

// count returns how many bits a row has set, by what the image says.
func (x *indexShape) count(payload []byte, row uint64) uint64 {
	return numberAt(payload[8*x.counts:], row, x.countBytes)
}

// id returns the id of a row.
func (x *indexShape) id(payload []byte, row uint64) uint64 {
	return numberAt(payload[8*x.ids:], row, x.idBytes)
}

// isRemoved says whether a row was removed.
func (x *indexShape) isRemoved(payload []byte, row uint64) bool {
	return payload[8*x.removed+row/8]>>(row%8)&1 == 1
}

// row returns the bytes of a row, as whole words. The index has rows.
func (x *indexShape) row(payload []byte, row uint64) []byte {
	return payload[8*x.rowWords*row:][:8*x.rowWords]
}

// column returns the bytes of the column of a bit. The index has columns.
func (x *indexShape) column(payload []byte, bit uint64) []byte {
	return payload[8*(x.columns+bit*x.columnWords):][:8*x.columnWords]
}

// isLittle says that this machine has the byte order of images.
var isLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// stateAt returns a word of the state. What a writer in another process wrote before that word is seen too, if the
// image lies at a multiple of 8 bytes, as a mapped file does.
func (x *indexShape) stateAt(payload []byte, word uint64) uint64 {
	bytes := payload[8*(x.state+word):][:8]
	at := unsafe.Pointer(unsafe.SliceData(bytes))
	if uintptr(at)%8 != 0 {
		return binary.LittleEndian.Uint64(bytes)
	}
	value := atomic.LoadUint64((*uint64)(at))
	if !isLittle {
		value = bits.ReverseBytes64(value)
	}
	return value
}

// rows returns how many rows there are, and how many of the first ones are in the order of their counts. Both are
// within their bounds, whatever another process writes meanwhile.
func (x *indexShape) rows(payload []byte) (rows, arranged uint64) {
	arranged = x.stateAt(payload, 1)
	rows = min(x.stateAt(payload, 0), x.capacity)
	return rows, min(arranged, rows)
}

func (s *shape) indexState(payload []byte) bool {
	x := s.index
	arranged := x.stateAt(payload, 1)
	rows := x.stateAt(payload, 0)
	return rows <= x.capacity && arranged <= rows && x.stateAt(payload, 2) <= x.mostAttached &&
		isZeroFrom(payload[8*(x.state+3):], 0)
}

// isZeroFrom says whether all bits from this one on are 0.
func isZeroFrom(bytes []byte, bit uint64) bool {
	if bit/8 >= uint64(len(bytes)) {
		return true
	}
	bytes = bytes[bit/8:]
	if bytes[0]>>(bit%8) != 0 {
		return false
	}
	for bytes = bytes[1:]; len(bytes) >= 8; bytes = bytes[8:] {
		if binary.LittleEndian.Uint64(bytes) != 0 {
			return false
		}
	}
	for _, b := range bytes {
		if b != 0 {
			return false
		}
	}
	return true
}

// beyond returns the bits of a row's last word that are after the row's last bit.
func (x *indexShape) beyond() uint64 {
	if x.width%64 == 0 {
		return 0
	}
	return ^uint64(0) << (x.width % 64)
}

func (s *shape) indexCheck(payload []byte) bool {
	x := s.index
	return s.indexState(payload) && x.checkRows(payload) && x.checkColumns(payload) && x.checkRest(payload)
}

// checkRows says whether rows agree with their counts and folds, and are in the order that the state says.
func (x *indexShape) checkRows(payload []byte) bool {
	rows, arranged := x.rows(payload)
	before := uint64(0)
	for number := range rows {
		count := x.count(payload, number)
		if count > x.width || number < arranged && count < before {
			return false
		}
		before = count
		if !x.hasRows {
			continue
		}
		row := x.row(payload, number)
		ones := 0
		var folded [8]uint64
		for i := range x.rowWords {
			word := wordAt(row, i)
			ones += bits.OnesCount64(word)
			if x.foldWords > 0 {
				folded[i%x.foldWords] ^= word
			}
		}
		if uint64(ones) != count || wordAt(row, x.rowWords-1)&x.beyond() != 0 {
			return false
		}
		// A level has the first half of its fold, and the exclusive or of both halves is the fold of the level before.
		for words := x.foldWords; words > 2; words /= 2 {
			for i := range words / 2 {
				folded[i], folded[words/2+i] = folded[i]^folded[words/2+i], folded[i]
			}
		}
		for i := range x.foldWords {
			if wordAt(payload, x.foldWord(number, i)) != folded[i] {
				return false
			}
		}
	}
	return true
}

// checkColumns says whether columns agree with the rows, and with the rows' counts.
func (x *indexShape) checkColumns(payload []byte) bool {
	rows, _ := x.rows(payload)
	if !x.hasColumns {
		return true
	}
	for start := uint64(0); start < rows; start += 64 {
		inBlock := min(rows-start, 64)
		var counts [64]uint64
		for word := range x.rowWords {
			var block [64]uint64
			for bit := range min(x.width-64*word, 64) {
				block[bit] = wordAt(x.column(payload, 64*word+bit), start/64)
			}
			transpose(&block)
			for i := range inBlock {
				counts[i] += uint64(bits.OnesCount64(block[i]))
				if x.hasRows && wordAt(x.row(payload, start+i), word) != block[i] {
					return false
				}
			}
		}
		for i := range inBlock {
			if x.count(payload, start+i) != counts[i] {
				return false
			}
		}
	}
	return true
}

// transpose makes bit j of word i bit i of word j.
func transpose(block *[64]uint64) {
	mask := uint64(0xffffffff)
	for size := 32; size > 0; size /= 2 {
		for i := 0; i < 64; i = (i + size + 1) &^ size {
			moved := (block[i]>>size ^ block[i+size]) & mask
			block[i] ^= moved << size
			block[i+size] ^= moved
		}
		mask ^= mask << (size / 2)
	}
}

// checkRest says whether everything is 0 where nothing is. The place after the last row may have what is left of a row
// that was not finished.
func (x *indexShape) checkRest(payload []byte) bool {
	rows, _ := x.rows(payload)
	first := min(rows+1, x.capacity)
	part := func(start, end uint64) []byte { return payload[8*start : 8*end] }
	if x.hasRows && !isZeroFrom(part(0, x.folds), 64*x.rowWords*first) ||
		!isZeroFrom(part(x.counts, x.ids), 8*x.countBytes*first) ||
		!isZeroFrom(part(x.ids, x.removed), 8*x.idBytes*first) ||
		!isZeroFrom(part(x.removed, x.columns), first) ||
		!isZeroFrom(part(x.attachment, x.state), 8*x.stateAt(payload, 2)) {
		return false
	}
	for word := range x.foldWords {
		for row := first; row < x.foldedRows(); row++ {
			if wordAt(payload, x.foldWord(row, word)) != 0 {
				return false
			}
		}
	}
	if x.hasColumns {
		for bit := range x.width {
			if !isZeroFrom(x.column(payload, bit), first) {
				return false
			}
		}
	}
	return true
}

// NoRow is the number of no row.
const NoRow = ^uint64(0)

// IndexRow is a row with its number.
type IndexRow struct {
	// ID is the id of the row.
	ID uint64
	// Count is how many bits the row has set.
	Count uint64
	// Removed says that the row was removed. ID and Count are 0 then.
	Removed bool
}

// Rows returns how many rows have numbers, with those that were removed.
func (f *Filter) Rows() uint64 {
	if f.kind == 0 {
		return 0
	}
	rows, _ := f.shape.index.rows(f.payload)
	runtime.KeepAlive(f)
	return rows
}

// CountRows returns how many rows there are, without those that were removed. Reads a bit of each row.
func (f *Filter) CountRows() uint64 {
	if f.kind == 0 {
		return 0
	}
	x := f.shape.index
	rows, _ := x.rows(f.payload)
	removed := uint64(0)
	// The place after the last row may have a mark that a writer left.
	for row := uint64(0); row < rows; row += 64 {
		marks := wordAt(f.payload, x.removed+row/64)
		if rows-row < 64 {
			marks &= 1<<(rows-row) - 1
		}
		removed += uint64(bits.OnesCount64(marks))
	}
	runtime.KeepAlive(f)
	return rows - removed
}

// RowWidth returns the number of bits of a row.
func (f *Filter) RowWidth() uint64 {
	if f.kind == 0 {
		return 0
	}
	return f.shape.index.width
}

// checkRow refuses a row that is not there.
func (f *Filter) checkRow(row uint64) error {
	if f.kind == 0 {
		return f.closed()
	}
	if rows := f.Rows(); row >= rows {
		return fmt.Errorf("%w: row %d is not below %d, the number of rows", ErrOutOfRange, row, rows)
	}
	return nil
}

// RowAt returns the id of the row with a number, and how many bits the row has set.
func (f *Filter) RowAt(row uint64) (IndexRow, error) {
	if err := f.checkRow(row); err != nil {
		return IndexRow{}, err
	}
	defer runtime.KeepAlive(f)
	x := f.shape.index
	if x.isRemoved(f.payload, row) {
		return IndexRow{Removed: true}, nil
	}
	return IndexRow{ID: x.id(f.payload, row), Count: x.count(f.payload, row)}, nil
}

// CopyRow returns the bits of the row with a number, also of one that was removed.
func (f *Filter) CopyRow(row uint64) ([]byte, error) {
	if err := f.checkRow(row); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(f)
	x := f.shape.index
	into := make([]byte, (x.width+7)/8)
	if x.hasRows {
		copy(into, x.row(f.payload, row))
		return into, nil
	}
	for bit := range x.width {
		into[bit/8] |= x.column(f.payload, bit)[row/8] >> (row % 8) & 1 << (bit % 8)
	}
	return into, nil
}

// FindRow returns the number of the first row with an id, from the row from on, or [NoRow]. Reads ids until then.
func (f *Filter) FindRow(id, from uint64) (uint64, error) {
	if f.kind == 0 {
		return NoRow, f.closed()
	}
	defer runtime.KeepAlive(f)
	x := f.shape.index
	rows, _ := x.rows(f.payload)
	for row := from; row < rows; row++ {
		if x.id(f.payload, row) == id && !x.isRemoved(f.payload, row) {
			return row, nil
		}
	}
	return NoRow, nil
}

// Attachment returns a copy of the bytes that the index keeps for its user.
func (f *Filter) Attachment() ([]byte, error) {
	if f.kind == 0 {
		return nil, f.closed()
	}
	defer runtime.KeepAlive(f)
	x := f.shape.index
	length := min(x.stateAt(f.payload, 2), x.mostAttached)
	return append([]byte{}, f.payload[8*x.attachment:][:length]...), nil
}
