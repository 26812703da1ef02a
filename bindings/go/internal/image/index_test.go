package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
)

// goldenIndexes reads the golden files of indexes.
func goldenIndexes(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(goldenfiles.Folder(t), "indexes", "*"))
	ok(t, err)
	files := map[string][]byte{}
	for _, path := range paths {
		if files[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// sampleIndex makes the image of an index of 20 rows of 100 bits, with folds of 64 bits, room for 24 rows and an
// attachment. store is 0 for rows, and 2 for columns too. Row n has the bits below 2n, and the id 100 - n.
func sampleIndex(store uint64) []byte {
	var s shape
	h := Header{Hashes: 1, Bits: 2400, Words: [8]uint64{100, 2, store, 0, 2, 16, 8}}
	payloadBytes, _ := s.asIndex(&h)
	x := s.index
	image := make([]byte, headerLength+int(payloadBytes)+payloadUnit)
	copy(image, magic)
	binary.LittleEndian.PutUint16(image[8:], 1)
	binary.LittleEndian.PutUint16(image[10:], 1)
	binary.LittleEndian.PutUint32(image[12:], uint32(Index))
	binary.LittleEndian.PutUint32(image[16:], uint32(XXH3))
	binary.LittleEndian.PutUint32(image[20:], 1)
	binary.LittleEndian.PutUint64(image[64:], h.Bits)
	for i, word := range h.Words {
		binary.LittleEndian.PutUint64(image[72+8*i:], word)
	}
	binary.LittleEndian.PutUint64(image[136:], payloadBytes)
	payload := image[headerLength:]
	put := func(word, value uint64) { binary.LittleEndian.PutUint64(payload[8*word:], value) }
	for n := range uint64(20) {
		for bit := range 2 * n {
			payload[16*n+bit/8] |= 1 << (bit % 8)
			if x.hasColumns {
				x.column(payload, bit)[n/8] |= 1 << (n % 8)
			}
		}
		put(x.foldWord(n, 0), wordAt(payload, 2*n)^wordAt(payload, 2*n+1))
		payload[8*x.counts+n] = byte(2 * n) // the width is below 256
		put(x.ids+n, 100-n)
	}
	copy(payload[8*x.attachment:], "attached")
	put(x.state, 20)
	put(x.state+1, 20)
	put(x.state+2, 8)
	return seal(image)
}

// The golden indexes open, and find their own rows.
func TestGoldenIndexesFindTheirRows(t *testing.T) {
	files := goldenIndexes(t)
	for path, image := range files {
		mapped, err := Open(path, nil, AnIndex)
		ok(t, err)
		loaded, err := Load(image, nil, AnIndex)
		ok(t, err)
		read, err := Read(bytes.NewReader(append(bytes.Clone(image), 1, 2, 3)), nil, AnIndex)
		ok(t, err)
		for _, f := range []*Filter{mapped, loaded, read} {
			ok(t, f.Verify())
			if f.Rows() == 0 || f.CountRows() > f.Rows() || f.Header().Offered != f.CountRows() {
				t.Errorf("%s: %v, %d rows", path, f, f.Rows())
			}
			for number := range f.Rows() {
				at, err := f.RowAt(number)
				ok(t, err)
				row, err := f.CopyRow(number)
				ok(t, err)
				found := func(ids ...uint64) (there bool) {
					for _, id := range ids {
						there = there || id == at.ID
					}
					return there || at.Removed
				}
				ids, err := f.ContainsAll(row)
				if err != nil && !errors.Is(err, ErrUnsupported) || err == nil && !found(ids...) {
					t.Errorf("%s: row %d is not in %v, %v", path, number, ids, err)
				}
				hits, err := f.AtLeast(row, 1, nil)
				if !f.shape.index.hasRows {
					if !errors.Is(err, ErrUnsupported) {
						t.Errorf("%s: %v", path, err)
					}
					continue
				}
				ok(t, err)
				there := at.Removed
				for _, hit := range hits {
					there = there || hit == IndexHit{at.ID, number, 1}
				}
				if !there {
					t.Errorf("%s: row %d is not in %v", path, number, hits)
				}
			}
		}
		ok(t, mapped.Close(), mapped.Close())
		for _, as := range []Handle{AFilter, AMap, ASketch} {
			if _, err := Wrap(image, nil, as); !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: an index opens as a %v: %v", path, as, err)
			}
		}
	}
	for _, image := range sample() {
		if _, err := Wrap(image, nil, AnIndex); !errors.Is(err, ErrUnsupported) {
			t.Errorf("a filter opens as an index: %v", err)
		}
	}
	if len(files) == 0 {
		t.Skip("tests/golden is not here")
	}
}

// Every set bit of the payload means something, and every bit that is not set too: no image with one other bit loads,
// but for ids, removed rows, the attachment, the state, and the place of the next row.
func TestFlippedBitsOfIndexesAreRefused(t *testing.T) {
	image := sampleIndex(2)
	whole, err := Load(image, nil, AnIndex)
	ok(t, err)
	x, next := whole.shape.index, uint64(20)
	for bit := range 64 * (x.state + 8) {
		word := bit / 64
		free := word >= 2*next && word < 2*next+2 || word == x.foldWord(next, 0) ||
			word == x.counts+next/8 && bit%64/8 == next%8 || word >= x.ids && word <= x.ids+next || // the ids of 21 rows
			word == x.removed && bit%64 <= next || word == x.attachment
		for column := range x.width {
			free = free || word == x.columns+column*x.columnWords && bit%64 == next
		}
		flipped := bytes.Clone(image)
		flipped[headerLength+bit/8] ^= 1 << (bit % 8)
		_, err := Load(seal(flipped), nil, AnIndex)
		switch {
		case word >= x.state && word < x.state+3:
			// A state may be a possible one of fewer rows that are in order, or of more bytes.
			if err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("bit %d of the state: %v", bit-64*x.state, err)
			}
		case free != (err == nil) || err != nil && !errors.Is(err, ErrCorrupt):
			t.Errorf("bit %d of word %d: %v", bit%64, word, err)
		}
	}
	for _, state := range [][4]uint64{
		{25, 20, 8}, {20, 21, 8}, {20, 20, 17}, {20, 20, 7}, {18, 18, 8}, {20, 20, 8, 1}, {math.MaxUint64, 0, 0},
	} {
		forged := bytes.Clone(image)
		for i, word := range state {
			binary.LittleEndian.PutUint64(forged[headerLength+8*(int(x.state)+i):], word)
		}
		if _, err := Load(seal(forged), nil, AnIndex); !errors.Is(err, ErrCorrupt) {
			t.Errorf("the state %d: %v", state, err)
		}
	}
	// Changes of two places that agree with each other: a bit of row 19 moves past its width to a bit of the same fold,
	// and two rows change places.
	outside, swapped := bytes.Clone(sampleIndex(0)), bytes.Clone(sampleIndex(0))
	outside[headerLength+16*19+4] ^= 1 << 5
	outside[headerLength+16*19+12] ^= 1 << 5
	rows := swapped[headerLength:]
	swap := func(a, b []byte) {
		for i := range a {
			a[i], b[i] = b[i], a[i]
		}
	}
	swap(rows[:16], rows[16:32])
	plain, err := Load(sampleIndex(0), nil, AnIndex)
	ok(t, err)
	at := plain.shape.index
	swap(rows[8*at.counts:][:1], rows[8*at.counts+1:][:1])
	swap(rows[8*at.foldWord(0, 0):][:8], rows[8*at.foldWord(1, 0):][:8])
	for _, forged := range [][]byte{outside, swapped} {
		if _, err := Load(seal(forged), nil, AnIndex); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
	}
	state := headerLength + 8*int(at.state)
	binary.LittleEndian.PutUint64(swapped[state+8:], 0)
	if _, err := Load(seal(swapped), nil, AnIndex); err != nil {
		t.Errorf("rows out of order, of which none is said to be in order: %v", err)
	}
	for _, fewer := range []uint64{0, 7} {
		forged := bytes.Clone(image)
		binary.LittleEndian.PutUint64(forged[headerLength+8*(int(x.state)+1):], fewer)
		f, err := Load(seal(forged), nil, AnIndex)
		ok(t, err)
		if hits, err := f.Top(make([]byte, 13), 1, nil); err != nil || hits[0] != (IndexHit{100, 0, 1}) {
			t.Error(hits, err)
		}
	}
}

// Forged counts of an image in place lead no search astray for long, and ask for no memory.
func TestForgedCountsOfIndexesAreBounded(t *testing.T) {
	image := sampleIndex(0)
	whole, err := Load(image, nil, AnIndex)
	ok(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		forged := bytes.Clone(image)
		for n := range uint64(20) {
			forged[headerLength+8*whole.shape.index.counts+n] = byte(random.Uint32() >> random.IntN(32))
		}
		useIndex(t, seal(forged), random.Uint64())
	}
}

// useIndex opens any bytes as an index, and calls every method of indexes. Nothing may panic or run for ever.
func useIndex(t *testing.T, image []byte, hash uint64) {
	wrapped, err := Wrap(image, nil, AnIndex)
	if err != nil {
		return
	}
	_ = wrapped.Verify()
	_, errOfLoad := Load(image, nil, AnIndex)
	rows := wrapped.Rows()
	_, _ = wrapped.FindRow(hash, 0)
	attached, err := wrapped.Attachment()
	ok(t, err)
	if count := wrapped.CountRows(); count > rows || rows > wrapped.shape.index.capacity || len(attached) > len(image) {
		t.Fatal(count, rows, len(attached))
	}
	query := make([]byte, (wrapped.RowWidth()+7)/8)
	if rows > 0 {
		_, err := wrapped.RowAt(hash % rows)
		ok(t, err)
		row, err := wrapped.CopyRow(hash % rows)
		ok(t, err)
		if last := wrapped.RowWidth() % 8; last != 0 {
			row[len(row)-1] &= 1<<last - 1
		}
		query = row
	}
	for measure := range Hamming + 2 {
		options := &SearchOptions{measure, float64(hash % 3), 0.5}
		for _, threshold := range []float64{0, 0.4, 1} {
			hits, err := wrapped.AtLeast(query, threshold, options)
			if uint64(len(hits)) > rows || err != nil && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrOutOfRange) {
				t.Fatal(len(hits), err)
			}
		}
		all, err := wrapped.Top(query, math.MaxInt, options)
		best, _ := wrapped.Top(query, 3, options)
		if uint64(len(all)) > rows || len(best) > 3 || err == nil && errOfLoad == nil && len(best) != min(3, len(all)) {
			t.Fatal(len(all), len(best), rows, err)
		}
		for i, hit := range best {
			if errOfLoad == nil && hit != all[i] {
				t.Fatal(best, all)
			}
		}
	}
	if ids, err := wrapped.ContainsAll(query); uint64(len(ids)) > rows || err != nil && !errors.Is(err, ErrUnsupported) {
		t.Fatal(len(ids), err)
	}
}
