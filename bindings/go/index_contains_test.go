package petal

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// NextRow of features have the features, and those of nested sets are found.
func TestIndexContainsAll(t *testing.T) {
	index := must(NewIndex(Spec{Kind: "index", Capacity: 400,
		Parameters: map[string]string{"width": "256", "store": "columns", "feature_bits": "4"}}))
	defer index.Close()
	row := func(numbers ...int) []byte {
		row := make([]byte, 32)
		for _, number := range numbers {
			if err := index.AddFeature(row, fmt.Appendf(nil, "feature %d", number), 0); err != nil {
				t.Fatal(err)
			}
		}
		return row
	}
	for i := range 400 {
		if _, err := index.Add(uint64(i), row(i%7, 100+i%11)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := index.FindContaining(row(3, 105), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		if i%7 == 3 && i%11 == 5 && !slices.Contains(found, uint64(i)) {
			t.Errorf("%d is missing", i)
		}
	}
	if all, err := index.FindContaining(row(), &IndexSearchOptions{Threads: 2}); err != nil || len(all) != 400 {
		t.Error(len(all), err)
	}
	if rate, err := index.ExpectedFalsePositiveRate(row(3, 105)); err != nil || rate <= 0 || rate > 0.001 {
		t.Error(rate, err)
	}
	hashed := row()
	if err := index.AddFeatureHash(hashed, 12345, 2); err != nil || slices.Equal(hashed, row()) {
		t.Error(hashed, err)
	}
	one := row()
	one[31] = 0x81
	for fold, expected := range map[IndexFold]byte{IndexFoldAdjacent: 0xc0, IndexFoldModulo: 0x81} {
		folded, err := index.FoldRow(one, fold, 64)
		if err != nil || len(folded) != 8 || folded[7] != expected || slices.Max(folded[:7]) != 0 {
			t.Error(fold, folded, err)
		}
	}
	for _, width := range []uint64{0, 65, 512} {
		if _, err := index.FoldRow(one, IndexFoldModulo, width); !errors.Is(err, ErrOutOfRange) {
			t.Error(width, err)
		}
	}
	similarity, margin, err := index.EstimateSimilarity(row(1, 2, 3), row(1, 2, 3))
	if err != nil || similarity != 1 || margin > 0.01 {
		t.Error(similarity, margin, err)
	}
	if _, _, err := index.EstimateSimilarity(row(1), row(1)[:31]); !errors.Is(err, ErrOutOfRange) {
		t.Error(err)
	}
	if err := index.AddFeature(make([]byte, 31), []byte("x"), 0); !errors.Is(err, ErrOutOfRange) {
		t.Error(err)
	}
}
