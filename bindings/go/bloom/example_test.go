package bloom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
)

func Example() {
	seen := NewWithEstimates(1_000_000, 0.01)
	seen.AddString("apple").AddString("pear")
	fmt.Println(seen.TestString("apple"), seen.TestString("plum"))
	// Output: true false
}

// Only the first request for an object is forwarded.
func ExampleBloomFilter_TestOrAddString() {
	seen := NewWithEstimates(1000, 0.001)
	for _, path := range []string{"/a", "/b", "/a"} {
		fmt.Println(path, seen.TestOrAddString(path))
	}
	// Output:
	// /a false
	// /b false
	// /a true
}

// A filter that was written is read back unchanged.
func ExampleBloomFilter_ReadFrom() {
	seen := New(1000, 4).AddString("apple")
	var file bytes.Buffer
	written, err := seen.WriteTo(&file)
	if err != nil {
		log.Fatal(err)
	}
	var again BloomFilter
	if _, err := again.ReadFrom(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(written, again.Equal(seen), again.TestString("apple"))
	// Output: 152 true true
}

func ExampleBloomFilter_MarshalJSON() {
	text, err := json.Marshal(New(64, 3).AddString("apple"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output: {"m":64,"k":3,"b":"AAAAAAAAAEAAAAiAgAAAAA=="}
}

// Filters of the same size are merged: the union of their keys.
func ExampleBloomFilter_Merge() {
	monday, tuesday := New(1000, 4).AddString("apple"), New(1000, 4).AddString("pear")
	if err := monday.Merge(tuesday); err != nil {
		log.Fatal(err)
	}
	fmt.Println(monday.TestString("pear"), monday.Merge(New(999, 4)))
	// Output: true bloom: cannot merge filters of different m: 1000 and 999
}

// One key is hashed once and looked up in many filters.
func ExampleLocations() {
	days := []*BloomFilter{New(1000, 4).AddString("apple"), New(2000, 4).AddString("pear")}
	locations := Locations([]byte("pear"), 4)
	for _, day := range days {
		fmt.Println(day.TestLocations(locations))
	}
	// Output:
	// false
	// true
}

func ExampleEstimateParameters() {
	m, k := EstimateParameters(1000, 0.01)
	fmt.Println(m, k, EstimateFalsePositiveRate(m, k, 1000) < 0.012)
	// Output: 9586 7 true
}
