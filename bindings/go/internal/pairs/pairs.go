// Package pairs tests what the race detector reports of two goroutines that do something at once.
package pairs

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/race"
)

// Pair is what two goroutines do at once, and whether they may.
type Pair struct {
	Allowed bool
	// Prepare makes what both use, and returns what each does, once.
	Prepare func() (one, other func())
}

// Of makes a pair.
func Of(allowed bool, prepare func() (one, other func())) Pair { return Pair{allowed, prepare} }

// variable names the pair that a copy of this program is to do.
const variable = "PETAL_TEST_PAIR"

// Test is a test that the race detector reports what is not allowed, and nothing that is. What it reports makes the
// program fail, so a copy of it runs this test for each pair. Both do their thing once. Something else may order the
// two, such as a call of C: where one ends before the other begins, the detector sees no race. So a forbidden pair is
// run until it is reported, at most so many times.
func Test(t *testing.T, pairs map[string]Pair) {
	if !race.Enabled {
		t.Skip("needs go test -race")
	}
	if name := os.Getenv(variable); name != "" {
		one, other := pairs[name].Prepare()
		var group sync.WaitGroup
		group.Add(2)
		for _, act := range []func(){one, other} {
			go func() {
				defer group.Done()
				act()
			}()
		}
		group.Wait()
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	test := "-test.run=^" + t.Name() + "$"
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 20
			if pair.Allowed {
				runs = 1
			}
			reported := false
			for run := 0; run < runs && !reported; run++ {
				command := exec.Command(program, test, "-test.count=1")
				command.Env = append(os.Environ(), variable+"="+name, "GORACE=atexit_sleep_ms=0")
				output, err := command.CombinedOutput()
				reported = bytes.Contains(output, []byte("WARNING: DATA RACE"))
				if reported != (err != nil) || reported && pair.Allowed {
					t.Fatalf("reported: %v, allowed: %v, %v\n%s", reported, pair.Allowed, err, output)
				}
			}
			if !reported && !pair.Allowed {
				t.Errorf("no race is reported in %d runs", runs)
			}
		})
	}
}
