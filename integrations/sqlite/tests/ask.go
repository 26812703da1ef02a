//go:build ignore

// ask.go IMAGE MADE: prints which lines of the standard input are in a filter that SQL made, for suite.py, and makes a
// filter of the numbers from 1 to 2000 in the file MADE. In pure Go.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

func main() {
	asked, err := view.Open(os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if asked.ContainsString(lines.Text()) {
			fmt.Println(lines.Text())
		}
	}
	made, err := filter.New(filter.Spec{Capacity: 3000, FalsePositiveRate: 0.02})
	if err != nil {
		log.Fatal(err)
	}
	for number := uint64(1); number <= 2000; number++ {
		if _, err := made.InsertUint64(number); err != nil {
			log.Fatal(err)
		}
	}
	if err := made.Save(os.Args[2]); err != nil {
		log.Fatal(err)
	}
}
