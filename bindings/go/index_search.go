package petal

/*
#include "keys.h"
*/
import "C"

import (
	"fmt"
	"math"
	"unsafe"
)

// maxHits is the greatest number of hits that many queries get together: a slice of more panics.
const maxHits = min(1<<46, math.MaxInt) / int(unsafe.Sizeof(IndexHit{}))

// Similarity says how the similarity of two rows is measured. With a bits in the query, b in the row, and c in both,
// each measure is a double from 0 to 1, of which each operation is rounded once.
type IndexSimilarity uint32

const (
	// Tanimoto is c / (a + b - c), and 1 for two empty rows.
	IndexSimilarityTanimoto IndexSimilarity = C.PETAL_INDEX_SIMILARITY_TANIMOTO
	// Dice is 2c / (a + b), and 1 for two empty rows.
	IndexSimilarityDice IndexSimilarity = C.PETAL_INDEX_SIMILARITY_DICE
	// Tversky is c / ((alpha * (a - c) + beta * (b - c)) + c), and 1 if the denominator is 0.
	IndexSimilarityTversky IndexSimilarity = C.PETAL_INDEX_SIMILARITY_TVERSKY
	// Cosine is c / sqrt(a * b), 1 for two empty rows, and 0 if only one is empty.
	IndexSimilarityCosine IndexSimilarity = C.PETAL_INDEX_SIMILARITY_COSINE
	// Hamming is (width - (a + b - 2c)) / width: the share of bits in which query and row are equal.
	IndexSimilarityHamming IndexSimilarity = C.PETAL_INDEX_SIMILARITY_HAMMING
)

// IndexSearchOptions say how to search. The zero value is Tanimoto on one thread.
type IndexSearchOptions struct {
	// IndexSimilarity is how similarity is measured.
	Similarity IndexSimilarity
	// Alpha and Beta are the weights of IndexSimilarityTversky: of bits that only the query has, and of bits that only the
	// row has.
	Alpha, Beta float64
	// Threads is how many threads search; 0 and 1 are one.
	Threads int
}

// IndexHit is a row that a search found.
type IndexHit struct {
	// ID is the id of the row.
	ID uint64
	// Row is the number of the row.
	Row uint64
	// IndexSimilarity is how similar the row is to the query.
	Similarity float64
}

func (o *IndexSearchOptions) raw() C.petal_index_search_options {
	raw := C.petal_index_search_options{struct_size: C.size_t(unsafe.Sizeof(C.petal_index_search_options{}))}
	if o != nil {
		raw.similarity, raw.threads = C.petal_index_similarity(o.Similarity), C.size_t(max(o.Threads, 0))
		raw.alpha, raw.beta = C.double(o.Alpha), C.double(o.Beta)
	}
	return raw
}

func rawHits(hits []IndexHit) *C.petal_index_hit {
	return (*C.petal_index_hit)(unsafe.Pointer(unsafe.SliceData(hits)))
}

// FindTop returns the k rows that are most similar to a query, or all if there are fewer. options may be nil. Of rows
// that are equally similar, those with the least ids come first.
func (x *Index) FindTop(query []byte, k int, options *IndexSearchOptions) ([]IndexHit, error) {
	raw := options.raw()
	room := int(min(uint64(max(k, 0)), x.NextRow()))
	hits := make([]IndexHit, room)
	var found C.size_t
	err := called("petal.Index.FindTop", func(failure *C.petal_error) {
		C.petal_go_index_find_top(x.raw(), nonNil(query), C.size_t(len(query)), C.size_t(room), &raw, rawHits(hits), &found,
			failure)
	})
	if err != nil {
		return nil, err
	}
	return hits[:found:found], nil
}

// FindSimilar returns all rows whose similarity to a query is at least threshold, from 0 to 1, the most similar first.
// options may be nil.
func (x *Index) FindSimilar(query []byte, threshold float64, options *IndexSearchOptions) ([]IndexHit, error) {
	raw := options.raw()
	// Most answers are short. Of a longer one the first search says the length.
	for room := 256; ; {
		hits := make([]IndexHit, room)
		var found C.size_t
		err := called("petal.Index.FindSimilar", func(failure *C.petal_error) {
			C.petal_go_index_find_similar(x.raw(), nonNil(query), C.size_t(len(query)), C.double(threshold), &raw,
				rawHits(hits), C.size_t(room), &found, failure)
		})
		if err != nil {
			return nil, err
		}
		if int(found) <= room {
			return hits[:found:found], nil
		}
		room = int(found)
	}
}

// FindTopBatch is [Index.FindTop] for many queries, which threads share.
func (x *Index) FindTopBatch(queries [][]byte, k int, options *IndexSearchOptions) ([][]IndexHit, error) {
	raw := options.raw()
	room := int(min(uint64(max(k, 0)), x.NextRow()))
	return x.many("petal.Index.FindTopBatch", queries, room,
		func(all []byte, hits []IndexHit, found []C.size_t, failure *C.petal_error) {
			C.petal_go_index_find_top_batch(x.raw(), nonNil(all), C.size_t(len(queries)), C.size_t(room), &raw, rawHits(hits),
				&found[0], failure)
		})
}

// FindSimilarBatch is [Index.FindSimilar] for many queries, which threads share. Of each it returns the room most
// similar rows.
func (x *Index) FindSimilarBatch(queries [][]byte, threshold float64, room int,
	options *IndexSearchOptions) ([][]IndexHit, error) {
	raw := options.raw()
	room = int(min(uint64(max(room, 0)), x.NextRow()))
	return x.many("petal.Index.FindSimilarBatch", queries, room,
		func(all []byte, hits []IndexHit, found []C.size_t, failure *C.petal_error) {
			C.petal_go_index_find_similar_batch(x.raw(), nonNil(all), C.size_t(len(queries)), C.double(threshold), &raw,
				rawHits(hits), C.size_t(room), &found[0], failure)
		})
}

// checkHits refuses more hits than there can be.
func checkHits(name string, queries, room int) error {
	if room > maxHits/queries {
		message := fmt.Sprintf("%d queries times %d hits are more than %d", queries, room, maxHits)
		return &Error{Op: name, Status: ErrTooLarge, Message: message}
	}
	return nil
}

func (x *Index) many(name string, queries [][]byte, room int,
	search func(all []byte, hits []IndexHit, found []C.size_t, failure *C.petal_error)) ([][]IndexHit, error) {
	width := int((x.Width() + 7) / 8)
	all := make([]byte, 0, width*len(queries))
	for _, query := range queries {
		if len(query) != width {
			// The library says what is wrong with a row of such a length.
			_, err := x.FindTop(query, 1, nil)
			return nil, err
		}
		all = append(all, query...)
	}
	if len(queries) == 0 {
		// A closed index says so even then.
		_, err := x.SerializedSize()
		return nil, err
	}
	if err := checkHits(name, len(queries), room); err != nil {
		return nil, err
	}
	hits, found := make([]IndexHit, room*len(queries)), make([]C.size_t, len(queries))
	err := called(name, func(failure *C.petal_error) { search(all, hits, found, failure) })
	if err != nil {
		return nil, err
	}
	answers := make([][]IndexHit, len(queries))
	for i := range answers {
		end := i*room + min(int(found[i]), room)
		answers[i] = hits[i*room : end : end]
	}
	return answers, nil
}

// IndexBuilder takes any number of rows, and makes an index of them that is arranged for searches.
type IndexBuilder struct {
	never
	owner *held[*C.petal_index_builder]
}

func freeIndexBuilder(handle *C.petal_index_builder) { C.petal_index_builder_free(handle) }

func (b *IndexBuilder) toChange() *C.petal_index_builder {
	if b == nil {
		return nil
	}
	return b.owner.toChange()
}

// NewIndexBuilder makes a builder of the index that a spec describes. The Capacity may be 0: the index gets room for as
// many rows as come.
func NewIndexBuilder(spec Spec) (*IndexBuilder, error) {
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	owner, err := made("petal.NewIndexBuilder", freeIndexBuilder,
		func(handle **C.petal_index_builder, failure *C.petal_error) {
			C.petal_index_builder_new(&raw, handle, failure)
		})
	if err != nil {
		return nil, err
	}
	return &IndexBuilder{owner: owner}, nil
}

// Close frees the builder. The error is always nil. Closing twice is allowed.
func (b *IndexBuilder) Close() error {
	if b != nil {
		b.owner.close()
	}
	return nil
}

// Finish makes the index of all rows. The builder takes no more rows then.
func (b *IndexBuilder) Finish() (*Index, error) {
	return indexOf(made("petal.IndexBuilder.Finish", freeIndex, func(handle **C.petal_index, failure *C.petal_error) {
		C.petal_index_builder_finish(b.toChange(), handle, failure)
	}))
}
