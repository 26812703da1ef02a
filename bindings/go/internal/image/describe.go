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

// Description describes a filter or map by the header of its image.
type Description struct {
	Kind Kind `json:"kind"`
	Hash Hash `json:"hash"`
	// Seed is the seed, the identifier of the secret key, the tag of external hashes, or the bits of a digest.
	Seed          uint64 `json:"seed"`
	FormatVersion uint32 `json:"format_version"`
	LayoutVersion uint32 `json:"layout_version"`
	State         State  `json:"state"`
	// Hashes is how many bits or cells a key takes; 0 for kinds without such a number.
	Hashes uint32 `json:"hashes"`
	// Capacity is the number of distinct keys that the filter has room for; 0 is unknown.
	Capacity uint64 `json:"capacity"`
	// Insertions is how many keys were inserted so far, duplicates included. In an unclean image it may lag.
	Insertions uint64 `json:"insertions"`
	// Bits is how many bits the filter spreads its keys over.
	Bits uint64 `json:"bits"`
	// Bytes is the size of the whole image.
	Bytes uint64 `json:"bytes"`
	// BitsPerKey is Bits for each key of the capacity; 0 if the capacity is unknown.
	BitsPerKey float64 `json:"bits_per_key"`
	// FalsePositiveRate is the rate expected at capacity; 0 if the spec had exact bits.
	FalsePositiveRate float64 `json:"false_positive_rate"`
	// Words are the kind's further parameters, as docs/format.md of Petal's repository explains them for each kind.
	Words [8]uint64 `json:"words"`
}

// String returns one line: kind, keys, size, rate, and the state if it is unusual.
func (d Description) String() string {
	return texts.Description{
		Kind: d.Kind, Insertions: d.Insertions, Capacity: d.Capacity, Bytes: d.Bytes, FalsePositiveRate: d.FalsePositiveRate,
		IsUnclean: d.State.Has(StateUnclean), IsWritable: d.State.Has(StateWritable),
	}.String()
}

// Describe describes an opened image, as a handle of this sort.
func (f *Filter) Describe(as Handle) (Description, error) {
	h := f.Header()
	if h.Kind == 0 {
		return Description{}, Closed(as)
	}
	return Description{
		Kind: h.Kind, Hash: h.Hash, Seed: h.Identifier, FormatVersion: FormatVersion,
		LayoutVersion: uint32(h.LayoutVersion), State: f.State(), Hashes: h.Hashes, Capacity: h.Capacity,
		Insertions: h.Insertions, Bits: h.Bits, Bytes: f.Bytes(), BitsPerKey: h.BitsPerKey(),
		FalsePositiveRate: h.FalsePositiveRate, Words: h.Words,
	}, nil
}
