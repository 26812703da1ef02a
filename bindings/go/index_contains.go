package petal

/*
#include "keys.h"
*/
import "C"

import "unsafe"

// FindContaining returns the ids of all rows that have every bit of a query, in the order of their numbers. An index
// whose parameter store is columns or both reads only the bits of the query. options may be nil; its similarity has no
// meaning here. Returns [ErrUnsupported] if the parameter nesting is no.
func (x *Index) FindContaining(query []byte, options *IndexSearchOptions) ([]uint64, error) {
	raw := options.raw()
	// Most answers are short. Of a longer one the first search says the length.
	for room := 256; ; {
		ids := make([]uint64, room)
		var found C.size_t
		err := called("petal.Index.FindContaining", func(failure *C.petal_error) {
			C.petal_go_index_find_containing(x.raw(), nonNil(query), C.size_t(len(query)), &raw,
				(*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(ids))), C.size_t(room), &found, failure)
		})
		if err != nil {
			return nil, err
		}
		if int(found) <= room {
			return ids[:found:found], nil
		}
		room = int(found)
	}
}

// IndexFold says which bits of a row become one bit of a narrower row.
type IndexFold uint32

const (
	// IndexFoldAdjacent joins bits that lie side by side. The folded row of some features is the row that they give at the
	// smaller width.
	IndexFoldAdjacent IndexFold = C.PETAL_INDEX_FOLD_ADJACENT
	// IndexFoldModulo joins bits whose places are equal modulo the smaller width, as most fingerprints of chemistry do.
	IndexFoldModulo IndexFold = C.PETAL_INDEX_FOLD_MODULO
)

// FoldRow folds a row of this index to one of width bits, which divide the width of the index. A bit of the folded row
// is set if one of its bits of the row is.
func (x *Index) FoldRow(row []byte, fold IndexFold, width uint64) ([]byte, error) {
	// The library says what is wrong with a greater width.
	folded := make([]byte, (min(width, x.Width())+7)/8)
	err := called("petal.Index.FoldRow", func(failure *C.petal_error) {
		C.petal_go_index_fold_row(x.raw(), nonNil(row), C.size_t(len(row)), C.petal_index_fold(fold),
			C.uint64_t(width), nonNil(folded), C.size_t(len(folded)), failure)
	})
	if err != nil {
		return nil, err
	}
	return folded, nil
}

// ExpectedFalsePositiveRate returns the share of rows that have every bit of a query by chance: the false-positive rate
// of [Index.FindContaining] for rows that have none of the query's features.
func (x *Index) ExpectedFalsePositiveRate(query []byte) (float64, error) {
	var rate C.double
	err := called("petal.Index.ExpectedFalsePositiveRate", func(failure *C.petal_error) {
		C.petal_go_index_expected_false_positive_rate(x.raw(), nonNil(query), C.size_t(len(query)), &rate, failure)
	})
	return float64(rate), err
}

// EstimateSimilarity estimates Tanimoto's coefficient of two sets of features from their rows, without the bits that
// features share by chance. It returns the estimate and its standard error. All features have to set the same number of
// bits.
func (x *Index) EstimateSimilarity(first, second []byte) (similarity, margin float64, err error) {
	length := len(first)
	if len(second) != length {
		// The library says what is wrong with a row of another length.
		length = 0
	}
	var told, its C.double
	err = called("petal.Index.EstimateSimilarity", func(failure *C.petal_error) {
		C.petal_go_index_estimate_similarity(x.raw(), nonNil(first), nonNil(second), C.size_t(length), &told, &its, failure)
	})
	return float64(told), float64(its), err
}
