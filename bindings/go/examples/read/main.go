// Command read remembers which articles its readers have read: a site proposes articles, and none twice to one reader.
// A reader's history grows for years, and there are many readers, so each has a filter of the kind scalable instead of
// a list. A row of a database has the filter in its packed form, which has no more bytes than its information. A reader
// never gets an article twice. A filter withholds a few articles that the reader does not know: one in a hundred at
// most, and nobody misses one of a long list.
//
//	read -readers 1000 -days 30
//
// It makes readers of whom a few read much, compares every answer with exact lists, and prints what the filters save.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/petal-filter/petal/bindings/go"
)

func main() {
	var s settings
	flag.IntVar(&s.readers, "readers", 1000, "readers")
	flag.IntVar(&s.days, "days", 30, "days")
	flag.Parse()
	if err := run(s, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

type settings struct{ readers, days int }

// mostBytes is the most that the history of a reader may take in memory, whatever the bytes of a row say.
const mostBytes = 16 << 20

// history is what a reader has read.
type history struct{ read *petal.Filter }

// openHistory returns the history of a row of the database. An empty row is a new reader.
func openHistory(row []byte) (history, error) {
	if len(row) == 0 {
		// Nobody knows how many articles will come, so the filter grows.
		read, err := petal.New(petal.Spec{Kind: "scalable", Capacity: 100, FalsePositiveRate: 0.01})
		return history{read}, err
	}
	read, err := petal.Unpack(row, mostBytes, nil)
	return history{read}, err
}

// row returns the row for the database.
func (h history) row() ([]byte, error) {
	var row bytes.Buffer
	_, err := h.read.Pack(&row)
	return row.Bytes(), err
}

// choose returns those of the proposed articles that the reader has not read, up to most. They then count as read.
func (h history) choose(proposed []uint64, most int) ([]uint64, error) {
	var chosen []uint64
	for _, article := range proposed {
		if len(chosen) == most {
			break
		}
		isNew, err := h.read.InsertUint64(article)
		if err != nil {
			return nil, err
		}
		if isNew {
			chosen = append(chosen, article)
		}
	}
	return chosen, nil
}

// visit is what the site does when a reader comes: it takes the reader's row, chooses, and writes the row.
func visit(rows map[int][]byte, reader int, proposed []uint64, most int) (chosen []uint64, err error) {
	h, err := openHistory(rows[reader])
	if err != nil {
		return nil, err
	}
	defer h.read.Close()
	if chosen, err = h.choose(proposed, most); err == nil {
		rows[reader], err = h.row()
	}
	return chosen, err
}

// run has readers come every day, and compares.
func run(s settings, out io.Writer) error {
	const articlesADay = 400
	random := rand.New(rand.NewPCG(1, 1))
	rows := map[int][]byte{}
	exact := make([]map[uint64]bool, s.readers)
	for reader := range exact {
		exact[reader] = map[uint64]bool{}
	}
	shown, withheld := 0, 0
	for day := range s.days {
		for reader := range s.readers {
			// Articles of this day and of the day before; some come twice.
			proposed := make([]uint64, 2*articlesADay)
			for i := range proposed {
				proposed[i] = uint64(day*articlesADay + random.IntN(2*articlesADay))
			}
			most := 10
			if reader%10 == 0 {
				most = 100
			}
			chosen, err := visit(rows, reader, proposed, most)
			if err != nil {
				return err
			}
			for _, article := range chosen {
				if exact[reader][article] {
					return fmt.Errorf("reader %d got article %d again", reader, article)
				}
				exact[reader][article] = true
			}
			shown += len(chosen)
			// What came before the last one that was chosen, and is not known, was withheld.
			for _, article := range proposed {
				if len(chosen) > 0 && article == chosen[len(chosen)-1] {
					break
				}
				if !exact[reader][article] {
					exact[reader][article] = true
					withheld++
				}
			}
		}
	}
	packed, ids := 0, 0
	for reader, articles := range exact {
		packed += len(rows[reader])
		ids += 8 * len(articles)
	}
	fmt.Fprintf(out, "%d readers read %d articles in %d days; none was shown again, %d were withheld unread\n", s.readers,
		shown, s.days, withheld)
	fmt.Fprintf(out, "the histories take %d bytes, lists of 8 bytes for each article %d: saved %.1f %%\n", packed, ids,
		100-100*float64(packed)/float64(max(1, ids)))
	if withheld*50 > shown {
		return errors.New("too many articles were withheld")
	}
	return nil
}
