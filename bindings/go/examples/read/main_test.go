package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go"
)

func TestNoArticleIsShownTwice(t *testing.T) {
	var out strings.Builder
	if err := run(settings{readers: 40, days: 20}, &out); err != nil {
		t.Error(err)
	}
	t.Log("\n" + out.String())
}

func TestARowThatIsNoneIsRefused(t *testing.T) {
	rows := map[int][]byte{}
	if _, err := visit(rows, 1, []uint64{1, 2, 3}, 2); err != nil {
		t.Fatal(err)
	}
	row := rows[1]
	rows[1] = row[:len(row)-1]
	if _, err := visit(rows, 1, []uint64{1}, 1); !errors.Is(err, petal.ErrCorrupt) {
		t.Error(err)
	}
	rows[1] = row
	if chosen, err := visit(rows, 1, []uint64{1, 2, 3}, 9); err != nil || len(chosen) != 1 || chosen[0] != 3 {
		t.Error(chosen, err)
	}
}
