// Command frontier is the part of a web crawler that decides what to fetch next: a queue of URLs, and a filter that
// remembers every URL that was ever queued. The size of the web is unknown, so the filter begins with room for a
// thousand URLs and grows. The filter keeps its false-positive rate below the requested rate. A URL that the filter
// takes for a known one is never fetched. The command measures this loss.
//
//	frontier -urls 10000000
//
// The web is generated, so that it is the same at each run: pages have links to near pages, most of which were seen
// before, and to far pages.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"

	"github.com/petal-filter/petal/bindings/go"
)

func main() {
	var s settings
	flag.StringVar(&s.kind, "kind", "scalable", "kind of filter, one that grows")
	flag.Uint64Var(&s.capacity, "capacity", 1000, "URLs that the filter is made for at first")
	flag.Float64Var(&s.rate, "false-positive-rate", 0.001, "share of new URLs that may be missed, at most")
	flag.IntVar(&s.urls, "urls", 1_000_000, "different URLs after which to end")
	flag.Parse()
	if err := run(s, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

type settings struct {
	kind     string
	capacity uint64
	rate     float64
	urls     int
}

// frontier is the queue of URLs to fetch, each of them once.
type frontier struct {
	seen *petal.Filter
	// queue holds the waiting pages; a real queue is on disk.
	queue []int
}

// add puts a page into the queue unless its URL was there before, and says whether it did. One call looks the URL up
// and remembers it.
func (f *frontier) add(page int, url []byte) (bool, error) {
	isNew, err := f.seen.Insert(url)
	if isNew {
		f.queue = append(f.queue, page)
	}
	return isNew, err
}

// next takes the page that has waited longest.
func (f *frontier) next() (int, bool) {
	if len(f.queue) == 0 {
		return 0, false
	}
	page := f.queue[0]
	f.queue = f.queue[1:]
	return page, true
}

// run crawls until it has met this many different URLs, and prints the filter's size and errors at every power of ten.
func run(s settings, out io.Writer) error {
	spec := petal.Spec{Kind: s.kind, Capacity: s.capacity, FalsePositiveRate: s.rate}
	filter, err := petal.New(spec)
	if err != nil {
		return err
	}
	defer filter.Close()
	crawl := frontier{seen: filter}
	// The pages that were met, to count the errors. A real crawler has no memory for this set.
	met := newBits(64 * s.urls)
	pages, missed, links := 0, 0, 0
	fmt.Fprintf(out, "%12s %12s %12s %14s %14s %10s\n", "URLs", "links seen", "filter MB", "bits per URL", "missed",
		"share")
	url := make([]byte, 0, 64)
	report := 1000
	meet := func(page int) error {
		links++
		url = appendURL(url[:0], page)
		isNew, err := crawl.add(page, url)
		if err != nil {
			return err
		}
		if !met.add(page) {
			if isNew {
				return fmt.Errorf("%s was forgotten", url)
			}
			return nil
		}
		pages++
		if !isNew {
			missed++
		}
		if pages == report || pages == s.urls {
			report *= 10
			description, err := filter.Describe()
			if err != nil {
				return err
			}
			bits := 8 * float64(description.Bytes)
			fmt.Fprintf(out, "%12d %12d %12.3f %14.2f %14d %9.4f%%\n", pages, links, bits/8e6, bits/float64(pages), missed,
				100*float64(missed)/float64(pages))
		}
		return nil
	}
	// If the queue is empty, the next start page follows.
	for seed := 0; pages < s.urls; seed++ {
		if err := meet(seed * 64 % met.len()); err != nil {
			return err
		}
		for page, waits := crawl.next(); waits && pages < s.urls; page, waits = crawl.next() {
			for link := range 8 {
				if err := meet(linkOf(page, link, met.len())); err != nil {
					return err
				}
				if pages == s.urls {
					break
				}
			}
		}
	}
	if share := float64(missed) / float64(pages); share > s.rate {
		return fmt.Errorf("%v of the URLs were missed, and not %v at most", share, s.rate)
	}
	fmt.Fprintf(out, "no URL was fetched twice\n")
	return nil
}

// linkOf returns the target of a page's link: most links lead to near pages, two to any page.
func linkOf(page, link, pages int) int {
	random := mix(uint64(page)<<3 | uint64(link))
	if link < 2 {
		return int(random % uint64(pages))
	}
	return (page + int(random%64)) % pages
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// appendURL appends the URL of a page: 256 pages of each site.
func appendURL(url []byte, page int) []byte {
	url = append(url, "https://site-"...)
	url = strconv.AppendInt(url, int64(page/256), 10)
	url = append(url, ".example/page/"...)
	return strconv.AppendInt(url, int64(page%256), 10)
}

// bits is a set of small numbers.
type bits []uint64

func newBits(count int) bits { return make(bits, (count+63)/64) }

func (b bits) len() int { return 64 * len(b) }

// add puts a number into the set and says whether it was not there.
func (b bits) add(i int) bool {
	mask := uint64(1) << (i % 64)
	isNew := b[i/64]&mask == 0
	b[i/64] |= mask
	return isNew
}
