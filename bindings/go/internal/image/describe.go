package image

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/petal-filter/petal/bindings/go/internal/texts"
)

// State is the state of an image.
type State uint32

// The states.
const (
	StateUnclean State = 1 << iota
	StateInPlace
	StateWritable
	StateCanHash
	StateStaysUnclean
)

// stateNames are the names of the bits, the lowest bit first.
var stateNames = []string{"unclean", "in_place", "writable", "can_hash", "stays_unclean"}

// Has says whether the state includes all of other.
func (s State) Has(other State) bool { return s&other == other }

// String returns the names of the states with "|" between them.
func (s State) String() string { return strings.Join(texts.Flags(stateNames, uint64(s)), "|") }

// MarshalJSON writes a list of names.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(texts.Flags(stateNames, uint64(s)))
}

// UnmarshalJSON takes a list of names, such as ["in_place"].
func (s *State) UnmarshalJSON(text []byte) error {
	all, err := texts.FindFlags(text, func(name string) (bit uint32, err error) {
		if bit, err = texts.Find(stateNames, name); err != nil {
			err = fmt.Errorf("%w: %w", ErrUnknownValue, err)
		}
		return bit, err
	})
	if err == nil {
		*s = State(all)
	}
	return err
}

// State returns the state of the image; 0 if it is closed.
func (f *Filter) State() (state State) {
	if f.kind == 0 {
		return 0
	}
	if f.header.Unclean {
		// Nothing that this package does makes an image clean, but for a program that marks it clean.
		state = StateUnclean | StateStaysUnclean
	}
	if f.writable {
		state |= StateWritable
	} else {
		state |= StateInPlace
	}
	if f.CanHash() == nil {
		state |= StateCanHash
	}
	return state
}

// Bytes returns the length of the image.
func (f *Filter) Bytes() uint64 { return uint64(len(f.image)) }

// BitsPerKey returns the bits for each key of the capacity; 0 if the capacity is unknown.
func (h *Header) BitsPerKey() float64 {
	if h.Capacity == 0 {
		return 0
	}
	return float64(h.Bits) / float64(h.Capacity)
}

// String returns one line about the filter, or "closed".
func (f *Filter) String() string {
	if f == nil || f.kind == 0 {
		return "closed"
	}
	h := &f.header
	return texts.Description{
		Kind: h.Kind, Insertions: h.Insertions, Capacity: h.Capacity, Bytes: f.Bytes(),
		FalsePositiveRate: h.FalsePositiveRate,
		IsUnclean:         h.Unclean, IsWritable: f.writable,
	}.String()
}
