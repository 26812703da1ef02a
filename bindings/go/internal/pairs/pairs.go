// Package pairs tests the race detector's reports about two goroutines that run at the same time.
package pairs

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/race"
)

// Pair is what two goroutines do at the same time, and whether the comments allow that.
type Pair struct {
	Allowed bool
	// Prepare makes the values that both goroutines use, and returns the function of each.
	Prepare func() (one, other func())
}

// Of makes a pair.
func Of(allowed bool, prepare func() (one, other func())) Pair { return Pair{allowed, prepare} }

// variable names the pair that a copy of this program runs.
const variable = "PETAL_TEST_PAIR"

// Test checks that the race detector reports every forbidden pair and no allowed one. A report makes the program fail,
// so a copy of the program runs this test for each pair. Each goroutine runs its function once. A call of C or
// something else may order the two functions, and the detector then sees no race. A forbidden pair is therefore run
// until it is reported, up to a limit.
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
