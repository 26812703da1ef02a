package petal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/petal-filter/petal/bindings/go/view"
)

// weights of Tversky that searches of tests have.
var weights = [][2]float64{{0, 0}, {1, 0}, {0, 1}, {0.3, 1.7}, {0.1, 1e9}}

// eachSearch calls search with every measure, for both packages.
func eachSearch(search func(ours *SearchOptions, views *view.SearchOptions)) {
	search(nil, nil)
	for _, measure := range []Similarity{Tanimoto, Dice, Cosine, Hamming} {
		search(&SearchOptions{Similarity: measure}, &view.SearchOptions{Similarity: view.Similarity(measure)})
	}
	for _, w := range weights {
		search(&SearchOptions{Similarity: Tversky, Alpha: w[0], Beta: w[1]},
			&view.SearchOptions{Similarity: view.Tversky, Alpha: w[0], Beta: w[1]})
	}
}

func sameHits(ours []IndexHit, views []view.IndexHit) bool {
	return slices.EqualFunc(ours, views, func(a IndexHit, b view.IndexHit) bool { return a == IndexHit(b) })
}

// differentSearches compares what both packages say of an index: of each row, and of searches for some of the rows.
func differentSearches(x *Index, v *view.Index, queries int) string {
	attached, err := x.Attachment()
	views, refusal := v.Attachment()
	if x.Rows() != v.Rows() || x.Count() != v.Count() || x.Width() != v.Width() || !bytes.Equal(attached, views) ||
		(err == nil) != (refusal == nil) {
		return fmt.Sprintf("%d rows of %d, width %d, %x, %v; in view %d of %d, width %d, %x, %v", x.Count(), x.Rows(),
			x.Width(), attached, err, v.Count(), v.Rows(), v.Width(), views, refusal)
	}
	asked := [][]byte{make([]byte, (x.Width()+7)/8)}
	for row := range x.Rows() {
		ours, err := x.RowAt(row)
		views, refusal := v.RowAt(row)
		bits, viewed := must(x.CopyRow(row)), must(v.CopyRow(row))
		if ours != IndexRow(views) || err != nil || refusal != nil || !bytes.Equal(bits, viewed) {
			return fmt.Sprintf("row %d is %v, %x, %v; in view %v, %x, %v", row, ours, bits, err, views, viewed, refusal)
		}
		if place := must(v.Find(ours.ID, row/2)); place != must(x.Find(ours.ID, row/2)) {
			return fmt.Sprintf("the id %d is found in row %d of view", ours.ID, place)
		}
		if row%(x.Rows()/uint64(queries)+1) == 0 {
			half := bytes.Clone(bits)
			clear(half[len(half)/3:])
			asked = append(asked, bits, half)
		}
	}
	different := ""
	for _, query := range asked {
		ours, err := x.ContainsAll(query, nil)
		views, refusal := v.ContainsAll(query)
		if !slices.Equal(ours, views) || (err == nil) != (refusal == nil) {
			return fmt.Sprintf("%x is in %d, %v; in view in %d, %v", query, ours, err, views, refusal)
		}
		eachSearch(func(options *SearchOptions, of *view.SearchOptions) {
			for _, threshold := range []float64{0, 0.2, 1.0 / 3, 0.5, 0.8, 1} {
				ours, err := x.AtLeast(query, threshold, options)
				views, refusal := v.AtLeast(query, threshold, of)
				if !sameHits(ours, views) || (err == nil) != (refusal == nil) {
					different = fmt.Sprintf("%v from %g: %v, %v; in view %v, %v", options, threshold, ours, err, views, refusal)
				}
			}
			for _, k := range []int{0, 1, 3, 20, 1 << 40} {
				ours, err := x.Top(query, k, options)
				views, refusal := v.Top(query, k, of)
				if !sameHits(ours, views) || (err == nil) != (refusal == nil) {
					different = fmt.Sprintf("the best %d by %v are %v, %v; in view %v, %v", k, options, ours, err, views, refusal)
				}
			}
		})
	}
	return different
}

// Package view gives the same rows and similarities as the library, for every measure and store, with rows in order,
// out of order, removed and missing.
func TestViewOfIndexesIsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 20))
	type is struct{ store, width, fold, nesting string }
	for _, of := range []is{
		{"rows", "64", "none", "yes"}, {"rows", "64", "auto", "no"}, {"rows", "1024", "256", "yes"},
		{"rows", "2049", "512", "yes"}, {"both", "130", "64", "yes"}, {"both", "881", "128", "yes"},
		{"columns", "100", "none", "yes"}, {"columns", "64", "none", "no"},
	} {
		spec := Spec{Kind: "index", Capacity: 700, Parameters: map[string]string{
			"store": of.store, "width": of.width, "fold": of.fold, "nesting": of.nesting, "attachment_bytes": "20",
		}}
		x := must(NewIndex(spec))
		images := [][]byte{must(x.MarshalBinary())}
		width := int(x.Width())
		for i := range uint64(600) {
			// Rows of all densities, some of them near an earlier one, and ids that come twice.
			row := make([]byte, (width+7)/8)
			if i%5 == 1 {
				copy(row, must(x.CopyRow(random.Uint64N(i))))
			}
			for range random.IntN(width) * int(min(i%7, 2)) / 2 {
				bit := random.IntN(width)
				row[bit/8] |= 1 << (bit % 8)
			}
			must(x.Add(random.Uint64N(500), row))
			if i == 200 {
				images = append(images, must(x.MarshalBinary()))
			}
		}
		check(t, x.Attach([]byte("names of rows")))
		for range 40 {
			must(x.RemoveRow(random.Uint64N(600)))
		}
		images = append(images, must(x.MarshalBinary()))
		arranged := must(x.Arranged(660))
		images = append(images, must(arranged.MarshalBinary()))
		// Some rows come after those that are arranged.
		for i := range uint64(30) {
			must(arranged.Add(1000+i, must(x.CopyRow(600/(i+1)-1))))
		}
		images = append(images, must(arranged.MarshalBinary()))
		path := filepath.Join(t.TempDir(), "rows")
		check(t, arranged.Save(path))
		mapped := must(view.OpenIndex(path, nil))
		check(t, mapped.Verify())
		if different := differentSearches(arranged, mapped, 4); different != "" {
			t.Errorf("%v, mapped: %s", of, different)
		}
		check(t, mapped.Close())
		for i, image := range images {
			ours, views := must(LoadIndex(image, nil)), must(view.LoadIndex(image, nil))
			if different := differentSearches(ours, views, 4); different != "" {
				t.Errorf("%v, image %d: %s", of, i, different)
			}
			read := must(view.ReadIndex(io.MultiReader(bytes.NewReader(image), bytes.NewReader(image)), nil))
			if !reflect.DeepEqual(read.Header(), views.Header()) || read.String() != views.String() {
				t.Errorf("%v, image %d: %v and %v", of, i, read, views)
			}
			description := must(ours.Describe())
			h := views.Header()
			if h.Kind != view.IndexKind || h.Offered != description.Offered || h.Bits != description.Bits ||
				h.Capacity != description.Capacity || h.Hashes != description.Hashes {
				t.Errorf("%+v and %+v", h, description)
			}
			check(t, ours.Close())
		}
		check(t, arranged.Close())
		check(t, x.Close())
	}
}

// An invalid search is refused as in package petal.
func TestViewRefusesSearches(t *testing.T) {
	x := smallIndex(t)
	v := must(view.LoadIndex(must(x.MarshalBinary()), nil))
	row := indexBytes(7)
	for _, weight := range []float64{-1, 2e9} {
		options := &view.SearchOptions{Similarity: view.Tversky, Beta: weight}
		if _, err := v.Top(row, 1, options); !errors.Is(err, view.ErrOutOfRange) {
			t.Error(weight, err)
		}
		if _, err := v.AtLeast(row, weight, nil); !errors.Is(err, view.ErrOutOfRange) {
			t.Error(weight, err)
		}
	}
	_, top := v.Top(row, 1, &view.SearchOptions{Similarity: 5})
	_, short := v.AtLeast(row[:7], 0.5, nil)
	_, all := v.ContainsAll(append(row, 0))
	_, at := v.RowAt(v.Rows())
	_, bits := v.CopyRow(v.Rows())
	for _, err := range []error{top, short, all, at, bits} {
		if !errors.Is(err, view.ErrOutOfRange) {
			t.Error(err)
		}
	}
	if hits, err := v.Top(row, -1, nil); len(hits) != 0 || err != nil {
		t.Error(hits, err)
	}
	if row, err := v.Find(0, view.NoRow); row != view.NoRow || err != nil {
		t.Error(row, err)
	}
	narrow := must(NewIndex(Spec{Kind: "index", Capacity: 1, Parameters: map[string]string{"width": "100"}}))
	defer narrow.Close()
	v = must(view.LoadIndex(must(narrow.MarshalBinary()), nil))
	beyond := make([]byte, 13)
	beyond[12] = 0x10
	if _, err := v.Top(beyond, 1, nil); !errors.Is(err, view.ErrOutOfRange) {
		t.Error(err)
	}
}

// Many rows, of which columns are joined chunk by chunk, and a file to which rows come while package view has it open.
func TestViewOfManyRows(t *testing.T) {
	const rows = 70_000
	random := rand.New(rand.NewPCG(21, 22))
	for _, store := range []string{"rows", "columns", "both"} {
		b := must(NewIndexBuilder(Spec{Kind: "index", Capacity: rows + 200, Hash: SipHash13, Key: [16]byte{1},
			Parameters: map[string]string{"width": "64", "store": store}}))
		for i := range uint64(rows) {
			check(t, b.Add(i/2, indexBytes(random.Uint64()&random.Uint64())))
		}
		made := must(b.Finish())
		path := filepath.Join(t.TempDir(), "rows")
		check(t, made.Save(path))
		check(t, made.Close())
		check(t, b.Close())
		x := must(OpenIndex(path, &OpenOptions{Mode: OpenWrite}))
		v := must(view.OpenIndex(path, nil))
		for round := range uint64(100) {
			must(x.Add(rows+round, indexBytes(random.Uint64())))
			must(x.RemoveRow(random.Uint64N(rows)))
			if v.Rows() != rows+round+1 || v.Count() != rows {
				t.Fatalf("%s: %d of %d rows after %d were added", store, v.Count(), v.Rows(), round+1)
			}
			query := indexBytes(random.Uint64() & random.Uint64() & random.Uint64())
			if round > 90 {
				// Few bits, which many rows have.
				query = indexBytes(1 << random.IntN(64))
			}
			if ours, views := must(x.ContainsAll(query, nil)), must(v.ContainsAll(query)); !slices.Equal(ours, views) {
				t.Fatalf("%s: %x is in %d rows, and in %d of view", store, query, len(ours), len(views))
			}
			if store == "columns" {
				continue
			}
			if ours, views := must(x.AtLeast(query, 0.4, nil)), must(v.AtLeast(query, 0.4, nil)); !sameHits(ours, views) {
				t.Fatalf("%s: %d rows are near %x, and %d of view", store, len(ours), query, len(views))
			}
			k := random.IntN(300)
			if ours, views := must(x.Top(query, k, nil)), must(v.Top(query, k, nil)); !sameHits(ours, views) {
				t.Fatalf("%s: the best %d for %x are %v, and %v of view", store, k, query, ours, views)
			}
		}
		wants(t, v.Verify(), view.ErrDirty)
		check(t, x.Close())
		check(t, v.Verify())
		check(t, v.Close())
		if _, err := view.OpenIndex(path, &view.Options{Key: [16]byte{2}}); !errors.Is(err, view.ErrKeyMismatch) {
			t.Error(err)
		}
	}
}
