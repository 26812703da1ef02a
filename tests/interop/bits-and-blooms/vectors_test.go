package interop

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// The committed vectors are what the original makes today.
func TestVectors(t *testing.T) {
	committed, err := os.ReadFile("../../../bindings/go/bloom/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	made, err := exec.Command("go", "run", "./vectors").Output()
	if err != nil || !bytes.Equal(made, committed) {
		t.Errorf("they are others: %v", err)
	}
}
