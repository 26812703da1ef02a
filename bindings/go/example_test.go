package petal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/petal-filter/petal/bindings/go"
)

func Example() {
	seen, err := petal.New(petal.Spec{Capacity: 1_000_000, FalsePositiveRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	if _, err := seen.InsertString("apple"); err != nil {
		log.Fatal(err)
	}
	fmt.Println("apple:", seen.ContainsString("apple"))
	fmt.Println("pear:", seen.ContainsString("pear"))
	// Output:
	// apple: true
	// pear: false
}

// The answer of an insertion finds duplicates in a stream.
func ExampleFilter_InsertString() {
	seen, err := petal.New(petal.Spec{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
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

// A filter of another library is a filter like any other, and is exported as the same bytes.
func ExampleImportFilter() {
	guava := []byte{1, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0} // An empty one with a single word.
	seen, err := petal.ImportFilter("guava", guava, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	if _, err := seen.InsertString("apple"); err != nil {
		log.Fatal(err)
	}
	foreign, err := seen.Export("guava", "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(seen.ContainsString("apple"), len(foreign))
	// Output: true 14
}

// A batch costs one call of C for all its keys.
func ExampleFilter_ContainsBatch() {
	seen, err := petal.New(petal.Spec{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	if err := seen.InsertBatch(petal.Uint64Keys([]uint64{10, 20, 30}), nil); err != nil {
		log.Fatal(err)
	}
	ids := []uint64{10, 11, 20}
	answers := petal.Answers{Bools: make([]bool, len(ids))}
	err = seen.ContainsBatch(petal.Uint64Keys(ids), &answers)
	fmt.Println(answers.TrueCount, answers.Bools, err)
	// Output: 2 [true false true] <nil>
}

func ExampleFilter_InsertShared() {
	seen, err := petal.New(petal.Spec{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	var group sync.WaitGroup
	for worker := range uint64(4) {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range uint64(100) {
				if _, err := seen.InsertSharedUint64(100*worker + i); err != nil {
					log.Print(err)
				}
			}
		}()
	}
	group.Wait()
	// Shared insertions are not counted one by one.
	if err := seen.AddInsertions(400); err != nil {
		log.Fatal(err)
	}
	fmt.Println(seen.ContainsUint64(0), seen.ContainsUint64(399))
	// Output: true true
}

func ExampleOpen() {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("petal-example-%d", os.Getpid()))
	defer os.Remove(path)
	made, err := petal.New(petal.Spec{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer made.Close()
	if _, err := made.InsertString("apple"); err != nil {
		log.Fatal(err)
	}
	if err := made.Save(path); err != nil {
		log.Fatal(err)
	}

	// Another process maps the file, in constant time.
	opened, err := petal.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()
	_, err = opened.InsertString("pear")
	fmt.Println(opened.ContainsString("apple"), errors.Is(err, petal.ErrUnsupportedByHandle))

	_, err = petal.Open(path+".none", nil)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// true true
	// true
}

func ExampleFilter_WriteTo() {
	made, err := petal.New(petal.Spec{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer made.Close()
	if _, err := made.InsertString("apple"); err != nil {
		log.Fatal(err)
	}
	var network bytes.Buffer
	if _, err := made.WriteTo(&network); err != nil {
		log.Fatal(err)
	}
	var received petal.Filter
	defer received.Close()
	if _, err := received.ReadFrom(&network); err != nil {
		log.Fatal(err)
	}
	fmt.Println(received.ContainsString("apple"))
	// Output: true
}

// Filters that were made from one spec can be merged, even if different processes filled them.
func ExampleFilter_Merge() {
	spec := petal.Spec{Capacity: 1000}
	monday, err := petal.New(spec)
	if err != nil {
		log.Fatal(err)
	}
	defer monday.Close()
	tuesday, err := petal.New(spec)
	if err != nil {
		log.Fatal(err)
	}
	defer tuesday.Close()
	_, _ = monday.InsertString("apple")
	_, _ = tuesday.InsertString("pear")
	if err := monday.Merge(tuesday); err != nil {
		log.Fatal(err)
	}
	fmt.Println(monday.ContainsString("apple"), monday.ContainsString("pear"))

	other, err := petal.New(petal.Spec{Capacity: 5000})
	if err != nil {
		log.Fatal(err)
	}
	defer other.Close()
	fmt.Println(errors.Is(monday.Merge(other), petal.ErrIncompatible))
	// Output:
	// true true
	// true
}

// A builder sizes the filter for the distinct keys that came.
func ExampleBuilder() {
	builder, err := petal.NewBuilder(petal.Spec{FalsePositiveRate: 0.001}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer builder.Close()
	if err := builder.AddBatch(petal.StringKeys([]string{"apple", "pear", "apple"}), nil); err != nil {
		log.Fatal(err)
	}
	built, err := builder.Finish()
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	description, err := built.Describe()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(description.Capacity, built.ContainsString("pear"))
	// Output: 2 true
}

// A service keeps its specs in its configuration.
func ExampleSpec() {
	var spec petal.Spec
	config := `{"kind": "bloom", "capacity": 1000, "false_positive_rate": 0.001, "hash": "xxh3", "seed": 7}`
	if err := json.Unmarshal([]byte(config), &spec); err != nil {
		log.Fatal(err)
	}
	fmt.Println(spec)
	err := json.Unmarshal([]byte(`{"rate": 0.001}`), &spec)
	fmt.Println(err)
	// Output:
	// kind=bloom hash=xxh3 capacity=1000 false_positive_rate=0.001 seed=7
	// petal.Spec: json: unknown field "rate"
}

func ExamplePlan() {
	proposals, err := petal.Plan(petal.PlanRequest{
		Keys: 1_000_000, FalsePositiveRate: 0.01, Capabilities: petal.CanInsert | petal.CanMerge,
	})
	if err != nil {
		log.Fatal(err)
	}
	best := proposals[0]
	fmt.Println(best.Err == nil, best.FalsePositiveRate <= 0.01, best.BitsPerKey < 10)
	// Output: true true true
}

func ExampleFindKind() {
	kind, err := petal.FindKind("split_block")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(kind.Name, kind.Capabilities.Has(petal.CanMerge))
	_, err = petal.FindKind("no_such_kind")
	fmt.Println(err)
	// Output:
	// split_block true
	// petal.FindKind: kind = "no_such_kind" is not known
}

func ExampleError() {
	_, err := petal.New(petal.Spec{FalsePositiveRate: 2})
	var failure *petal.Error
	fmt.Println(errors.As(err, &failure), errors.Is(err, petal.ErrFalsePositiveRate), failure.Op)

	var closed petal.Filter
	_, err = closed.InsertString("apple")
	fmt.Println(errors.Is(err, petal.ErrClosed), err)
	// Output:
	// true true petal.New
	// true petal.Filter.InsertString: the filter is closed
}

func ExampleMapBuilder() {
	builder, err := petal.NewMapBuilder(petal.Spec{FalsePositiveRate: 1e-6}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer builder.Close()
	words := []string{"apple", "pear", "quince"}
	if err := builder.PutBatch(petal.StringKeys(words), []uint64{3, 1, 4}, nil); err != nil {
		log.Fatal(err)
	}
	if err := builder.PutString("medlar", 15); err != nil {
		log.Fatal(err)
	}
	prices, err := builder.Finish()
	if err != nil {
		log.Fatal(err)
	}
	defer prices.Close()

	price, found, err := prices.GetString("pear")
	fmt.Println(price, found, err)
	_, found, err = prices.GetString("brick") // One of a million such keys would get some value.
	fmt.Println(found, err)

	asked := []string{"quince", "brick", "medlar"}
	values, answers := make([]uint64, len(asked)), petal.Answers{Bools: make([]bool, len(asked))}
	if err := prices.GetBatch(petal.StringKeys(asked), values, &answers); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answers.TrueCount, answers.Bools, values)
	// Output:
	// 1 true <nil>
	// false <nil>
	// 2 [true false true] [4 0 15]
}

func ExampleOpenMap() {
	folder, err := os.MkdirTemp("", "petal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "squares.petal")

	builder, err := petal.NewMapBuilder(petal.Spec{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer builder.Close()
	for i := range uint64(1000) {
		if err := builder.PutUint64(i, i*i); err != nil {
			log.Fatal(err)
		}
	}
	if err := builder.Save(path); err != nil {
		log.Fatal(err)
	}

	squares, err := petal.OpenMap(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer squares.Close()
	square, found, err := squares.GetUint64(31)
	fmt.Println(square, found, err)
	// Output: 961 true <nil>
}

func ExampleFilter_EstimateOverlap() {
	spec := petal.Spec{Capacity: 10_000}
	one, err := petal.New(spec)
	if err != nil {
		log.Fatal(err)
	}
	defer one.Close()
	other, err := petal.New(spec)
	if err != nil {
		log.Fatal(err)
	}
	defer other.Close()
	for i := range uint64(6000) {
		_, _ = one.InsertUint64(i)
		_, _ = other.InsertUint64(i + 3000)
	}
	overlap, err := one.EstimateOverlap(other)
	if err != nil {
		log.Fatal(err)
	}
	common := overlap.IntersectionCount
	fmt.Println(common.Low < 3000 && 3000 < common.High, overlap.Jaccard.Value > 0.3)
	// Output: true true
}
