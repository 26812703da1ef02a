package petal

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"path/filepath"
	"testing"
)

const indexRows = 300

// indexRow returns a row of 64 bits; three rows each are near each other.
func indexRow(i uint64) uint64 {
	number := func(i uint64) uint64 { return (i + 1) * 0x9e3779b97f4a7c15 }
	return number(i/3)&number(1000+i/3) ^ number(2000+i%3)&0x8101
}

func indexBytes(row uint64) []byte { return binary.LittleEndian.AppendUint64(nil, row) }

func smallIndex(t *testing.T) *Index {
	t.Helper()
	x := must(NewIndex(Spec{
		Kind: "index", Capacity: indexRows, Parameters: map[string]string{"width": "64", "attachment_bytes": "9"},
	}))
	t.Cleanup(func() { check(t, x.Close()) })
	for i := range uint64(indexRows) {
		if row := must(x.Add(10*i, indexBytes(indexRow(i)))); row != i {
			t.Fatalf("row %d has the number %d", i, row)
		}
	}
	return x
}

func tanimotoOf(a, b uint64) float64 {
	if a|b == 0 {
		return 1
	}
	return float64(bits.OnesCount64(a&b)) / float64(bits.OnesCount64(a|b))
}

func TestIndexesFindWhatAScanFinds(t *testing.T) {
	x := smallIndex(t)
	var queries [][]byte
	for q := uint64(0); q < indexRows; q += 37 {
		query, expected := indexRow(q), 0
		queries = append(queries, indexBytes(query))
		for i := range uint64(indexRows) {
			if tanimotoOf(query, indexRow(i)) >= 0.5 {
				expected++
			}
		}
		hits := must(x.FindSimilar(indexBytes(query), 0.5, &IndexSearchOptions{Threads: 2}))
		if len(hits) != expected {
			t.Errorf("query %d: %d rows, and a scan finds %d", q, len(hits), expected)
		}
		for _, hit := range hits {
			if hit.Similarity != tanimotoOf(query, indexRow(hit.ID/10)) {
				t.Errorf("query %d: %v", q, hit)
			}
		}
		if len(must(x.FindSimilar(indexBytes(query), 0, nil))) != indexRows {
			t.Error("a threshold of 0 does not find all rows")
		}
		if top := must(x.FindTop(indexBytes(query), 3, nil)); len(top) != 3 || top[0].Similarity != 1 {
			t.Errorf("query %d: %v", q, top)
		}
	}
	best, near := must(x.FindTopBatch(queries, 3, nil)), must(x.FindSimilarBatch(queries, 0.5, 4, nil))
	for i, query := range queries {
		if best[i][2] != must(x.FindTop(query, 3, nil))[2] || near[i][0] != best[i][0] || len(near[i]) > 4 {
			t.Errorf("many queries: %v, %v", best[i], near[i])
		}
	}
	if _, err := x.FindTopBatch([][]byte{{1}}, 1, nil); !errors.Is(err, ErrOutOfRange) {
		t.Errorf("a short query: %v", err)
	}
	for _, room := range []int{math.MaxInt, math.MaxInt / 2, math.MaxInt/5 + 1} {
		if err := checkHits("petal.Index.FindTopBatch", 5, room); !errors.Is(err, ErrTooLarge) {
			t.Errorf("5 queries of %d hits: %v", room, err)
		}
	}
	tversky := must(x.FindTop(queries[0], 1, &IndexSearchOptions{Similarity: IndexSimilarityTversky, Alpha: 1}))
	if tversky[0].Similarity != 1 {
		t.Errorf("IndexSimilarityTversky: %v", tversky)
	}
}

func TestIndexesChangeAndAreSaved(t *testing.T) {
	x := smallIndex(t)
	if _, err := x.Add(1, indexBytes(7)); !errors.Is(err, ErrFull) {
		t.Errorf("a full index: %v", err)
	}
	first, found, err := x.FindRow(50, 0)
	if err != nil || !found || first != 5 || must(x.Remove(50)) != 1 || !must(x.RemoveRow(6)) {
		t.Error("rows are not removed")
	}
	if _, found, err = x.FindRow(50, 0); err != nil || found {
		t.Errorf("a row that was removed is found: %v", err)
	}
	if row := must(x.RowAt(6)); !row.Removed || row.ID != 0 {
		t.Errorf("row 6: %v", row)
	}
	row := must(x.RowAt(7))
	if row.ID != 70 || int(row.Ones) != bits.OnesCount64(indexRow(7)) {
		t.Errorf("row 7: %v", row)
	}
	if binary.LittleEndian.Uint64(must(x.CopyRow(7))) != indexRow(7) || x.Width() != 64 {
		t.Error("row 7 has other bits")
	}
	check(t, x.Attach([]byte("names")))
	path := filepath.Join(t.TempDir(), "rows")
	check(t, x.Save(path))
	opened := must(OpenIndex(path, nil))
	defer opened.Close()
	check(t, opened.Verify())
	if opened.NextRow() != indexRows || opened.RowCount() != indexRows-2 || string(must(opened.Attachment())) != "names" {
		t.Error("the file has other rows")
	}
	larger := must(opened.Arrange(2 * indexRows))
	defer larger.Close()
	check(t, larger.Merge(x))
	merged := must(x.ArrangeBoth(larger, 0))
	defer merged.Close()
	if larger.RowCount() != 2*(indexRows-2) || merged.RowCount() != 3*(indexRows-2) {
		t.Error("rows were lost on the way")
	}
	loaded := must(LoadIndex(must(x.MarshalBinary()), nil))
	defer loaded.Close()
	check(t, loaded.Clear())
	if loaded.NextRow() != 0 {
		t.Error("a cleared index has rows")
	}
}

func TestIndexesAreBuilt(t *testing.T) {
	b := must(NewIndexBuilder(Spec{Kind: "index", Parameters: map[string]string{"width": "64"}}))
	defer b.Close()
	for i := range uint64(5000) {
		check(t, b.Add(i, indexBytes(i)))
	}
	x := must(b.Finish())
	defer x.Close()
	if hits := must(x.FindTop(indexBytes(4097), 1, nil)); hits[0].ID != 4097 || x.NextRow() != 5000 {
		t.Errorf("%v", hits)
	}
	if err := b.Add(1, indexBytes(1)); !errors.Is(err, ErrContradiction) {
		t.Errorf("a builder that is done: %v", err)
	}
}
