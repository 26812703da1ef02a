package filter_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/view"
)

func Example() {
	seen, err := filter.New(filter.Spec{Capacity: 1_000_000, FalsePositiveRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := seen.InsertString("apple"); err != nil {
		log.Fatal(err)
	}
	fmt.Println("apple:", seen.ContainsString("apple"))
	fmt.Println("pear:", seen.ContainsString("pear"))
	// Output:
	// apple: true
	// pear: false
}

// An error names the parameter, its value and what is allowed.
func ExampleNew() {
	_, err := filter.New(filter.Spec{FalsePositiveRate: 2})
	fmt.Println(errors.Is(err, filter.ErrFalsePositiveRate))
	fmt.Println(err)
	// Output:
	// true
	// petal: a false-positive rate that is not inside (0, 1): false_positive_rate = 2 is not inside (0, 1)
}

// The answer of an insertion finds duplicates in a stream.
func ExampleFilter_InsertString() {
	seen, err := filter.New(filter.Spec{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	for _, word := range []string{"to", "be", "or", "not", "to", "be"} {
		isNew, err := seen.InsertString(word)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(word, isNew)
	}
	// Output:
	// to true
	// be true
	// or true
	// not true
	// to false
	// be false
}

func ExampleFilter_ContainsBatch() {
	seen, err := filter.New(filter.Spec{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	if err := seen.InsertBatch(filter.Uint64Keys([]uint64{10, 20, 30}), nil); err != nil {
		log.Fatal(err)
	}
	ids := []uint64{10, 11, 20}
	answers := filter.Answers{Bools: make([]bool, len(ids))}
	err = seen.ContainsBatch(filter.Uint64Keys(ids), &answers)
	fmt.Println(answers.TrueCount, answers.Bools, err)
	// Output: 2 [true false true] <nil>
}

// Goroutines fill their own filters, which are merged at the end.
func ExampleFilter_Merge() {
	spec := filter.Spec{Capacity: 4000}
	parts := make([]*filter.Filter, 4)
	var group sync.WaitGroup
	for i := range parts {
		part, err := filter.New(spec)
		if err != nil {
			log.Fatal(err)
		}
		parts[i] = part
		group.Add(1)
		go func() {
			defer group.Done()
			for key := range uint64(1000) {
				_, _ = part.InsertUint64(1000*uint64(i) + key)
			}
		}()
	}
	group.Wait()
	for _, part := range parts[1:] {
		if err := parts[0].Merge(part); err != nil {
			log.Fatal(err)
		}
	}
	all, err := parts[0].Describe()
	fmt.Println(parts[0].ContainsUint64(3999), all.Insertions, err)
	// Output: true 4000 <nil>
}

// The C library, the command petal, and package view open a saved filter in place.
func ExampleFilter_Save() {
	folder, err := os.MkdirTemp("", "petal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "seen.petal")

	seen, err := filter.New(filter.Spec{Kind: "split_block", Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := seen.InsertString("apple"); err != nil {
		log.Fatal(err)
	}
	if err := seen.Save(path); err != nil {
		log.Fatal(err)
	}

	mapped, err := view.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer mapped.Close()
	fmt.Println(mapped.ContainsString("apple"), mapped.ContainsString("pear"))
	// Output: true false
}

func ExampleRead() {
	sent, err := filter.New(filter.Spec{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	var connection bytes.Buffer
	if _, err := sent.WriteTo(&connection); err != nil {
		log.Fatal(err)
	}
	received, err := filter.Read(&connection, nil)
	if err != nil {
		log.Fatal(err)
	}
	isNew, err := received.InsertString("apple")
	fmt.Println(isNew, err)
	// Output: true <nil>
}

func ExampleFilter_Estimate() {
	seen, err := filter.New(filter.Spec{Capacity: 10_000})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		for key := range uint64(5000) {
			_, _ = seen.InsertUint64(key)
		}
	}
	keys, err := seen.Estimate()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keys.Low < 5000 && 5000 < keys.High, keys.StandardError < 50)
	// Output: true true
}

func ExampleFilter_Fold() {
	seen, err := filter.New(filter.Spec{Capacity: 100_000, Parameters: map[string]string{"foldable": "1"}})
	if err != nil {
		log.Fatal(err)
	}
	before, err := seen.SerializedSize()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := seen.InsertString("apple"); err != nil {
		log.Fatal(err)
	}
	// The filter got fewer keys than expected.
	if err := seen.Fold(4); err != nil {
		log.Fatal(err)
	}
	after, err := seen.SerializedSize()
	fmt.Println(after < before/3, seen.ContainsString("apple"), err)
	// Output: true true <nil>
}
