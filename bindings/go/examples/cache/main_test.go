package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestSecondRequestsHitMore(t *testing.T) {
	for _, direct := range []bool{true, false} {
		s := settings{objects: 500, window: 5000, rate: 0.01, load: 3000, direct: direct}
		if direct {
			s.load = 40_000
		}
		var out strings.Builder
		if err := run(s, &out); err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + out.String())
		var times float64
		_, last, _ := strings.Cut(out.String(), "hit rate: ")
		if _, err := fmt.Sscan(last, &times); err != nil {
			t.Fatal(err)
		}
		if direct && times < 1.1 {
			t.Errorf("only %v times as many hits", times)
		}
	}
}

func TestKeysAreRememberedForAWindow(t *testing.T) {
	const window = 1000
	seen, err := newSeenRecently(window, 0.001)
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Close()
	again := func(i int) bool {
		known, err := seen.again(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	remembers := func(i int) bool {
		return seen.current.ContainsString(fmt.Sprint(i)) || seen.previous.ContainsString(fmt.Sprint(i))
	}
	nonMembers := 0
	for i := range 10 * window {
		if again(i) {
			nonMembers++
		}
		if i >= window && !remembers(i-window+1) {
			t.Fatalf("%d was forgotten too soon", i-window+1)
		}
	}
	// The expected number is some twenty.
	if nonMembers > 50 || seen.rotations < 9 {
		t.Errorf("%d new keys passed for seen ones, %d rotations", nonMembers, seen.rotations)
	}
	if remembers(0) && remembers(1) && remembers(2) {
		t.Error("nothing is forgotten")
	}
}
