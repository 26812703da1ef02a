package main

import (
	"strings"
	"testing"
)

func TestAFrontierGrowsAndFetchesNothingTwice(t *testing.T) {
	for _, kind := range []string{"scalable", "taffy"} {
		var out strings.Builder
		s := settings{kind: kind, capacity: 1000, rate: 0.001, urls: 100_000}
		if err := run(s, &out); err != nil {
			t.Error(kind, err)
		}
		t.Logf("%s\n%s", kind, out.String())
	}
}

func TestAFilterThatDoesNotGrowMissesTooMuch(t *testing.T) {
	s := settings{kind: "blocked", capacity: 1000, rate: 0.001, urls: 100_000}
	if err := run(s, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "missed") {
		t.Error(err)
	}
}
