package image

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	sorted "slices"
	"sort"
)

// Similarity says how the similarity of two rows is measured. With a bits in the query, b in the row, and c in both,
// each measure is a double from 0 to 1, of which each operation is rounded once.
type Similarity uint32

const (
	// Tanimoto is c / (a + b - c), and 1 for two empty rows.
	Tanimoto Similarity = iota
	// Dice is 2c / (a + b), and 1 for two empty rows.
	Dice
	// Tversky is c / ((alpha * (a - c) + beta * (b - c)) + c), and 1 if the denominator is 0.
	Tversky
	// Cosine is c / sqrt(a * b), 1 for two empty rows, and 0 if only one is empty.
	Cosine
	// Hamming is (width - (a + b - 2c)) / width: the share of bits in which query and row are equal.
	Hamming
)

// SearchOptions say how to search. The zero value is Tanimoto.
type SearchOptions struct {
	// Similarity is how similarity is measured.
	Similarity Similarity
	// Alpha and Beta are the weights of Tversky: of bits that only the query has, and of bits that only the row has.
	Alpha, Beta float64
}

// IndexHit is a row that a search found.
type IndexHit struct {
	// ID is the id of the row.
	ID uint64
	// Row is the number of the row.
	Row uint64
	// Similarity is how similar the row is to the query.
	Similarity float64
}

const (
	// mostWeight is the greatest weight of Tversky.
	mostWeight = 1e9
	// slack is how much less than the threshold a bound may be before rows are left out. Doubles are rounded by far less,
	// so no row is left out whose similarity reaches the threshold.
	slack = 1e-9
)

// order is the order of answers: the most similar first, then the least id, then the least number.
func order(a, b IndexHit) int {
	return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Row, b.Row))
}

// query is a row that is searched for.
type query struct {
	x       *indexShape
	payload []byte
	words   []uint64
	ones    uint64
	options SearchOptions
}

// queryOf returns the query of the bytes of a row.
func (f *Filter) queryOf(row []byte) (q query, err error) {
	if f.kind == 0 {
		return q, f.closed()
	}
	x := f.shape.index
	if length := (x.width + 7) / 8; uint64(len(row)) != length {
		return q, fmt.Errorf("%w: a row of %d bytes is not one of width %d, which has %d", ErrOutOfRange, len(row), x.width,
			length)
	}
	q = query{x: x, payload: f.payload, words: make([]uint64, x.rowWords)}
	for i, b := range row {
		q.words[i/8] |= uint64(b) << (i % 8 * 8)
	}
	if q.words[x.rowWords-1]&x.beyond() != 0 {
		return q, fmt.Errorf("%w: a row has a bit set after its last, width %d", ErrOutOfRange, x.width)
	}
	for _, word := range q.words {
		q.ones += uint64(bits.OnesCount64(word))
	}
	return q, nil
}

// similarQuery is queryOf for a search of similar rows.
func (f *Filter) similarQuery(row []byte, options *SearchOptions) (q query, err error) {
	if q, err = f.queryOf(row); err != nil {
		return q, err
	}
	if !q.x.hasRows {
		return q, fmt.Errorf("%w: the index has only columns, and similarities need its rows", ErrUnsupported)
	}
	if options != nil {
		q.options = *options
	}
	switch q.options.Similarity {
	case Tanimoto, Dice, Cosine, Hamming:
	case Tversky:
		for _, weight := range []float64{q.options.Alpha, q.options.Beta} {
			if !(weight >= 0 && weight <= mostWeight) {
				return q, fmt.Errorf("%w: %g is not a weight from 0 to %g", ErrOutOfRange, weight, mostWeight)
			}
		}
	default:
		return q, fmt.Errorf("%w: %d is not a similarity; 0 to 4 are known", ErrOutOfRange, q.options.Similarity)
	}
	return q, nil
}

// similarity returns how similar a row with count bits is, common of which the query has too.
func (q *query) similarity(count, common uint64) float64 {
	a, b, c, width := float64(q.ones), float64(count), float64(common), float64(q.x.width)
	numerator, denominator := c, a+b-c
	switch q.options.Similarity {
	case Dice:
		numerator, denominator = 2*c, a+b
	case Tversky:
		// A conversion rounds, so that no processor joins a product and a sum into one operation.
		denominator = float64(float64(q.options.Alpha*(a-c))+float64(q.options.Beta*(b-c))) + c
	case Cosine:
		if a == 0 || b == 0 {
			if a == b {
				return 1
			}
			return 0
		}
		denominator = math.Sqrt(float64(a * b))
	case Hamming:
		numerator, denominator = width-(a+b-float64(2*c)), width
	}
	if denominator == 0 {
		return 1
	}
	return numerator / denominator
}

// bound returns a similarity that no row with count bits exceeds, but for rounding.
func (q *query) bound(count uint64) float64 { return q.similarity(count, min(q.ones, count)) }

// mayReach says whether rows with this bound may reach a threshold. A bound that is not a number comes of forged
// counts, and leaves nothing out.
func mayReach(bound, threshold float64) bool { return !(bound < threshold*(1-slack)) }

// common returns how many bits the query and a row have in common.
func (q *query) common(row uint64) (common uint64) {
	bytes := q.x.row(q.payload, row)
	for _, word := range q.words {
		if len(bytes) < 8 {
			break
		}
		common += uint64(bits.OnesCount64(word & binary.LittleEndian.Uint64(bytes)))
		bytes = bytes[8:]
	}
	return common
}

// run is arranged rows that have one count.
type run struct {
	start, end uint64
	count      uint64
	bound      float64
}

// eachRun calls visit with the runs of arranged rows, in the order of their numbers, until visit says false. eachRun
// returns the first row after the runs that visit got.
func (q *query) eachRun(arranged uint64, visit func(run) bool) (end uint64) {
	for start := uint64(0); start < arranged; start = end {
		count := q.x.count(q.payload, start)
		// The row before low has the count; the steps double until a row has another.
		low, high, step := start+1, arranged, uint64(1)
		for low < arranged {
			at := min(low+step-1, arranged-1)
			if q.x.count(q.payload, at) != count {
				high = at
				break
			}
			low, step = at+1, 2*step
		}
		end = low + uint64(sort.Search(int(high-min(low, high)), func(i int) bool {
			return q.x.count(q.payload, low+uint64(i)) != count
		}))
		if !visit(run{start, end, count, q.bound(count)}) {
			return end
		}
	}
	return end
}

// sink takes the hits of a search. threshold is the least similarity that is of use now.
type sink interface {
	threshold() float64
	take(hit IndexHit)
}

// ofCount gives the rows of a run that reach the sink's threshold to the sink.
func (q *query) ofCount(r run, into sink) {
	for row := r.start; row < r.end; row++ {
		q.offer(row, r.count, into)
	}
}

// ofAnyCount is ofCount for rows that are not arranged.
func (q *query) ofAnyCount(start, end uint64, into sink) {
	for row := start; row < end; row++ {
		if count := q.x.count(q.payload, row); mayReach(q.bound(count), into.threshold()) {
			q.offer(row, count, into)
		}
	}
}

func (q *query) offer(row, count uint64, into sink) {
	similarity := q.similarity(count, q.common(row))
	if similarity >= into.threshold() && !q.x.isRemoved(q.payload, row) {
		into.take(IndexHit{q.x.id(q.payload, row), row, similarity})
	}
}

// listed takes all hits from a threshold on.
type listed struct {
	least float64
	hits  []IndexHit
}

func (l *listed) threshold() float64 { return l.least }

func (l *listed) take(hit IndexHit) { l.hits = append(l.hits, hit) }

// AtLeast returns all rows whose similarity to a query is at least threshold, the most similar first.
func (f *Filter) AtLeast(row []byte, threshold float64, options *SearchOptions) ([]IndexHit, error) {
	q, err := f.similarQuery(row, options)
	if err != nil {
		return nil, err
	}
	if !(threshold >= 0 && threshold <= 1) {
		return nil, fmt.Errorf("%w: the threshold %g is not one from 0 to 1", ErrOutOfRange, threshold)
	}
	rows, arranged := q.x.rows(q.payload)
	into := &listed{least: threshold}
	q.eachRun(arranged, func(r run) bool {
		if mayReach(r.bound, threshold) {
			q.ofCount(r, into)
		}
		return true
	})
	q.ofAnyCount(arranged, rows, into)
	runtime.KeepAlive(f)
	sorted.SortFunc(into.hits, order)
	return into.hits, nil
}

// best keeps the k best hits: a heap whose first hit is the last in the order of answers.
type best struct {
	k    uint64
	hits []IndexHit
}

func (b *best) threshold() float64 {
	if uint64(len(b.hits)) < b.k {
		return 0
	}
	return b.hits[0].Similarity
}

func (b *best) take(hit IndexHit) {
	if uint64(len(b.hits)) == b.k {
		if order(hit, b.hits[0]) >= 0 {
			return
		}
		b.hits[0] = hit
		b.fall()
		return
	}
	b.hits = append(b.hits, hit)
	for place := len(b.hits) - 1; place > 0; {
		above := (place - 1) / 2
		if order(b.hits[place], b.hits[above]) <= 0 {
			return
		}
		b.hits[place], b.hits[above] = b.hits[above], b.hits[place]
		place = above
	}
}

// fall moves the first hit down until the hits below it are better.
func (b *best) fall() {
	for place := 0; ; {
		worst := place
		for below := 2*place + 1; below <= 2*place+2 && below < len(b.hits); below++ {
			if order(b.hits[below], b.hits[worst]) > 0 {
				worst = below
			}
		}
		if worst == place {
			return
		}
		b.hits[place], b.hits[worst] = b.hits[worst], b.hits[place]
		place = worst
	}
}

// Top returns the k rows that are most similar to a query, or all if there are fewer.
func (f *Filter) Top(row []byte, k int, options *SearchOptions) ([]IndexHit, error) {
	q, err := f.similarQuery(row, options)
	if err != nil || k <= 0 {
		return nil, err
	}
	rows, arranged := q.x.rows(q.payload)
	into := &best{k: uint64(k)}
	// A row has one of width + 1 counts. The rows after as many runs are out of order, in a forged image, and are taken
	// for rows that are not arranged.
	var runs []run
	end := q.eachRun(arranged, func(r run) bool {
		runs = append(runs, r)
		return uint64(len(runs)) <= q.x.width
	})
	sorted.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(b.bound, a.bound) })
	for _, r := range runs {
		if !mayReach(r.bound, into.threshold()) {
			break
		}
		q.ofCount(r, into)
	}
	q.ofAnyCount(end, rows, into)
	runtime.KeepAlive(f)
	sorted.SortFunc(into.hits, order)
	return into.hits, nil
}

// ContainsAll returns the ids of all rows that have every bit of a query, in the order of their numbers.
func (f *Filter) ContainsAll(row []byte) ([]uint64, error) {
	q, err := f.queryOf(row)
	if err != nil {
		return nil, err
	}
	if !q.x.nests {
		return nil, fmt.Errorf("%w: the index has nesting = no, so rows with all bits say nothing", ErrUnsupported)
	}
	var ids []uint64
	take := func(row uint64) { ids = append(ids, q.x.id(q.payload, row)) }
	if q.x.hasColumns {
		q.containedByColumns(take)
	} else {
		q.containedByRows(take)
	}
	runtime.KeepAlive(f)
	return ids, nil
}

// containedByRows looks at each row that has enough bits.
func (q *query) containedByRows(take func(row uint64)) {
	rows, _ := q.x.rows(q.payload)
	for row := range rows {
		if q.x.count(q.payload, row) >= q.ones && !q.x.isRemoved(q.payload, row) && q.common(row) == q.ones {
			take(row)
		}
	}
}

const (
	// chunkWords is how many words of the columns are joined at a time.
	chunkWords = 512
	// chunkFew is how many words of a chunk are so few that they are read one by one.
	chunkFew = 32
)

// containedByColumns joins the columns of the query's bits. Columns with few bits in their first line come first, so
// that most chunks are empty soon.
func (q *query) containedByColumns(take func(row uint64)) {
	rows, _ := q.x.rows(q.payload)
	type column struct {
		sample int
		bytes  []byte
	}
	columns := make([]column, 0, q.ones)
	for i, word := range q.words {
		for ; word != 0; word &= word - 1 {
			c := column{bytes: q.x.column(q.payload, uint64(64*i+bits.TrailingZeros64(word)))}
			for word := range uint64(8) {
				c.sample += bits.OnesCount64(wordAt(c.bytes, word))
			}
			columns = append(columns, c)
		}
	}
	sorted.SortFunc(columns, func(a, b column) int { return cmp.Compare(a.sample, b.sample) })
	var room [chunkWords]uint64
	var places [chunkFew]int
	end := (rows + 63) / 64
	for first := uint64(0); first < end; first += chunkWords {
		joined := room[:min(end-first, chunkWords)]
		for i := range joined {
			joined[i] = ^wordAt(q.payload, q.x.removed+first+uint64(i))
		}
		if last := 64 * (first + uint64(len(joined))); last > rows {
			joined[len(joined)-1] &= ^uint64(0) >> (last - rows)
		}
		// As soon as few words have a bit left, only these words of the other columns are read.
		few, isFew := places[:0], false
		for _, c := range columns {
			bytes := c.bytes[8*first:]
			if isFew {
				kept := few[:0]
				for _, i := range few {
					if joined[i] &= binary.LittleEndian.Uint64(bytes[8*i:]); joined[i] != 0 {
						kept = append(kept, i)
					}
				}
				if few = kept; len(few) == 0 {
					break
				}
				continue
			}
			left := 0
			for i := range joined {
				if joined[i] &= binary.LittleEndian.Uint64(bytes[8*i:]); joined[i] != 0 {
					left++
				}
			}
			if left == 0 {
				break
			}
			if isFew = left <= chunkFew; isFew {
				for i := range joined {
					if joined[i] != 0 {
						few = append(few, i)
					}
				}
			}
		}
		for i, word := range joined {
			for ; word != 0; word &= word - 1 {
				take(64*(first+uint64(i)) + uint64(bits.TrailingZeros64(word)))
			}
		}
	}
}
