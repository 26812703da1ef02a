package view_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/petal-filter/petal/bindings/go/view"
)

// A file with a hundred keys. Package petal, the command petal, or another program over the C library wrote it.
const path = "testdata/seen.petal"

func Example() {
	seen, err := view.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	fmt.Println(seen.ContainsString("key 1"), seen.ContainsString("no such key"))
	_, err = seen.InsertString("apple")
	fmt.Println(errors.Is(err, view.ErrUnsupportedByHandle))
	// Output:
	// true false
	// true
}

// An image in memory, such as a part of a larger file, is used in place.
func ExampleWrap() {
	image, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	seen, err := view.Wrap(image, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(seen.ContainsString("key 1"))
	_, err = view.Wrap(image[:100], nil)
	fmt.Println(errors.Is(err, view.ErrTruncated))
	// Output:
	// true
	// true
}

// A filter that was read or loaded has a copy of the image, and takes insertions.
func ExampleRead() {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	seen, err := view.Read(file, nil)
	if err != nil {
		log.Fatal(err)
	}
	isNew, err := seen.InsertString("apple")
	fmt.Println(isNew, err, seen.ContainsString("apple"))

	var written bytes.Buffer
	if _, err := seen.WriteTo(&written); err != nil {
		log.Fatal(err)
	}
	again, err := view.Load(written.Bytes(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.ContainsString("apple"))
	// Output:
	// true <nil> true
	// true
}

func ExampleFilter_Describe() {
	seen, err := view.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	description, err := seen.Describe()
	fmt.Println(description.Kind, description.Hash, description.Insertions, err)
	fmt.Println(seen)
	// Output:
	// split_block xxh3 100 <nil>
	// split_block, 100 keys of 100, 576 bytes, false-positive rate 0.001 at capacity, read-only
}

// One filter's hash of a key works for all filters with the same hash function and seed.
func ExampleFilter_ContainsHash() {
	seen, err := view.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	hash, err := seen.Hash([]byte("key 1"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(seen.ContainsHash(hash))
	// Output: true
}
