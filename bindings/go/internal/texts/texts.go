// Package texts has what packages petal, view and filter write of the same things: one line about a filter, its
// statistics and its estimates, and the names of values in JSON. It needs Go's standard library alone, so that package
// petal does too.
package texts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Name returns the name of a number. For a number without a name, Name returns what and the number.
func Name(names []string, what string, value uint32) string {
	if uint64(value) < uint64(len(names)) && names[value] != "" {
		return names[value]
	}
	return fmt.Sprintf("%s %d", what, value)
}

// Find returns the number with a name. The error lists the names.
func Find(names []string, name string) (value uint32, err error) {
	found := slices.Index(names, name)
	if found < 0 || name == "" {
		known := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
		return 0, fmt.Errorf("%q is none of %s", name, strings.Join(known, ", "))
	}
	return uint32(found), nil
}

// Flags returns the names of the set bits. The name of the lowest bit comes first in names.
func Flags(names []string, bits uint64) []string {
	flags := []string{}
	for bit := range 64 {
		switch {
		case bits>>bit&1 == 0:
		case bit < len(names):
			flags = append(flags, names[bit])
		default:
			flags = append(flags, fmt.Sprintf("bit %d", bit))
		}
	}
	return flags
}

// FindFlags returns the bits whose names are in a list in JSON. find is [Find], or returns its error in another form.
func FindFlags(text []byte, find func(name string) (bit uint32, err error)) (bits uint64, err error) {
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return 0, err
	}
	for _, name := range list {
		bit, err := find(name)
		if err != nil {
			return 0, err
		}
		bits |= 1 << bit
	}
	return bits, nil
}

// Strict decodes an object in JSON, and refuses names that the struct does not have.
func Strict(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// Number writes a number with up to four digits.
func Number(value float64) string { return strconv.FormatFloat(value, 'g', 4, 64) }

// Description has what the line about a filter or map tells.
type Description struct {
	Kind                        fmt.Stringer
	Insertions, Capacity, Bytes uint64
	FalsePositiveRate           float64
	IsUnclean, IsWritable       bool
}

// String returns one line: kind, keys, size, rate, and the state if it is unusual.
func (d Description) String() string {
	line := fmt.Sprintf("%v, %d keys", d.Kind, d.Insertions)
	if d.Capacity != 0 {
		line += fmt.Sprintf(" of %d", d.Capacity)
	}
	line += fmt.Sprintf(", %d bytes", d.Bytes)
	if d.FalsePositiveRate != 0 {
		line += fmt.Sprintf(", false-positive rate %s at capacity", Number(d.FalsePositiveRate))
	}
	if d.IsUnclean {
		line += ", unclean"
	}
	if !d.IsWritable {
		line += ", read-only"
	}
	return line
}

// Statistics returns one line: the fill, the present rate, and the estimated number of keys, which is negative if it is
// not known.
func Statistics(fill, rate, keys float64) string {
	line := fmt.Sprintf("%s %% full, false-positive rate %s", strconv.FormatFloat(100*fill, 'f', 1, 64), Number(rate))
	if keys < 0 {
		return line + ", keys unknown"
	}
	return fmt.Sprintf("%s, about %.0f keys", line, keys)
}

// Estimate returns an estimate with its interval, or "unknown" if the filter is too full to tell.
func Estimate(value, low, high float64, saturated bool) string {
	if saturated {
		return "unknown"
	}
	digits := 0
	if math.Abs(high) < 100 {
		digits = 3
	}
	plain := func(value float64) string { return strconv.FormatFloat(value, 'f', digits, 64) }
	return fmt.Sprintf("%s (95 %%: %s to %s)", plain(value), plain(low), plain(high))
}

// Overlap returns one line with all six estimates of a comparison.
func Overlap(first, second, union, intersection, jaccard, differences fmt.Stringer) string {
	return fmt.Sprintf("first %v, second %v, union %v, intersection %v, Jaccard %v, differences %v", first, second, union,
		intersection, jaccard, differences)
}

// Fields are the fields that a spec sets, each with its name.
type Fields []string

// Add adds a field if it is set.
func (f *Fields) Add(name string, value any, isSet bool) {
	if isSet {
		*f = append(*f, fmt.Sprintf("%s=%v", name, value))
	}
}

// String returns the fields with blanks between them, or "default" if there are none.
func (f Fields) String() string {
	if len(f) == 0 {
		return "default"
	}
	return strings.Join(f, " ")
}
