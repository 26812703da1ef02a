// Package pairs tests what the race detector reports about two goroutines that run at once.
package pairs

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/race"
)

// Pair is two actions that goroutines run at once. Allowed says whether the documentation allows that.
type Pair struct {
	Allowed bool
	// Prepare makes the objects that both use, and returns the two actions. Each runs once.
	Prepare func() (one, other func())
}

// Of makes a pair.
func Of(allowed bool, prepare func() (one, other func())) Pair { return Pair{allowed, prepare} }

// variable is the environment variable that names the pair for a copy of this program.
const variable = "PETAL_TEST_PAIR"

// Test checks that the race detector reports each pair that is not allowed, and no other. A reported race makes the
// program fail, so a copy of the program runs the test for each pair. The two actions may happen to run in order, for
// example because of a call of C: if one ends before the other begins, the detector sees no race. So the test runs a
// forbidden pair until the detector reports it, a limited number of times.
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
