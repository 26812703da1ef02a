//go:build cgo

package petal

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petal-filter/petal/bindings/go/internal/texts"
)

// Values as text and as JSON. Names are those of the C library, in lower case.

var (
	hashNames = []string{
		XXH3: "xxh3", XXH64: "xxh64", SipHash13: "siphash13", External: "external", FormatHash: "format", XXPH3: "xxph3",
		Identity: "identity", SipHash24: "siphash24", DigestHash: "digest",
	}
	modeNames   = []string{OpenRead: "read", OpenWrite: "write", OpenLoad: "load", OpenShare: "share"}
	stateNames  = []string{"unclean", "in_place", "writable", "can_hash", "stays_unclean"}
	kernelNames = []string{
		KernelBest: "best", KernelPortable: "portable", KernelAVX2: "avx2", KernelAVX512: "avx512", KernelNEON: "neon",
	}
	overfillNames = []string{
		OverfillRateRises: "rate_rises", OverfillRefuses: "refuses", OverfillGrows: "grows", OverfillIsBuilt: "is_built",
		OverfillForgets: "forgets",
	}
	handleNames = []string{
		HandleFilter: "filter", HandleMap: "map", HandleSketch: "sketch",
		HandleRouter: "router", HandleAggregate: "aggregate", HandleDigest: "digest", HandleIndex: "index",
	}
	// The names of the bits, the lowest bit first.
	abilityNames = []string{
		"insert", "clear", "merge", "intersect", "fold", "estimate", "remove", "count", "grow", "insert_shared",
		"put", "replace", "enumerate", "resize", "age", "may_lose_keys", "rejuvenate", "age_shared",
		"subtract", "list",
	}
)

// valueOf finds the number with this name.
func valueOf[T ~uint32](value *T, names []string, what string, text []byte) error {
	found, err := texts.Find(names, string(text))
	if err != nil {
		return &Error{Op: "petal." + what, Status: ErrUnknownValue, Message: err.Error()}
	}
	*value = T(found)
	return nil
}

// String returns the hash function's name; "default" for 0.
func (h Hash) String() string {
	if h == 0 {
		return "default"
	}
	return texts.Name(hashNames, "hash", uint32(h))
}

// MarshalText writes the name.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText takes a name, such as "xxh3" or "default".
func (h *Hash) UnmarshalText(text []byte) error {
	if string(text) == "default" {
		*h = 0
		return nil
	}
	return valueOf(h, hashNames, "Hash", text)
}

// String returns the kernel's name.
func (k Kernel) String() string { return texts.Name(kernelNames, "kernel", uint32(k)) }

// MarshalText writes the name.
func (k Kernel) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes a name, such as "best" or "avx2".
func (k *Kernel) UnmarshalText(text []byte) error { return valueOf(k, kernelNames, "Kernel", text) }

// String returns the mode's name.
func (m OpenMode) String() string { return texts.Name(modeNames, "mode", uint32(m)) }

// MarshalText writes the name.
func (m OpenMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText takes a name: "read", "write", "load" or "share".
func (m *OpenMode) UnmarshalText(text []byte) error { return valueOf(m, modeNames, "OpenMode", text) }

// String returns the name of the behaviour.
func (o Overfill) String() string { return texts.Name(overfillNames, "overfill", uint32(o)) }

// MarshalText writes the name.
func (o Overfill) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText takes a name, such as "rate_rises" or "is_built".
func (o *Overfill) UnmarshalText(text []byte) error {
	return valueOf(o, overfillNames, "Overfill", text)
}

// String returns the name of the handle.
func (h Handle) String() string { return texts.Name(handleNames, "handle", uint32(h)) }

// MarshalText writes the name.
func (h Handle) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText takes "filter", "map" or "sketch".
func (h *Handle) UnmarshalText(text []byte) error { return valueOf(h, handleNames, "Handle", text) }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes the name of a kind that the library has.
func (k *Kind) UnmarshalText(text []byte) error {
	info, err := FindKind(string(text))
	if err == nil {
		*k = info.Kind
	}
	return err
}

// valuesOf finds the bits with these names.
func valuesOf[T ~uint32 | ~uint64](value *T, names []string, what string, text []byte) error {
	all, err := texts.FindFlags(text, func(name string) (bit uint32, err error) {
		err = valueOf(&bit, names, what, []byte(name))
		return bit, err
	})
	if err != nil {
		return err
	}
	*value = T(all)
	return nil
}

// String returns the names of the capabilities with "|" between them.
func (c Capabilities) String() string { return strings.Join(texts.Flags(abilityNames, uint64(c)), "|") }

// MarshalJSON writes a list of names.
func (c Capabilities) MarshalJSON() ([]byte, error) {
	return json.Marshal(texts.Flags(abilityNames, uint64(c)))
}

// UnmarshalJSON takes a list of names, such as ["insert", "merge"].
func (c *Capabilities) UnmarshalJSON(text []byte) error {
	return valuesOf(c, abilityNames, "Capabilities", text)
}

// String returns the names of the states with "|" between them.
func (s State) String() string { return strings.Join(texts.Flags(stateNames, uint64(s)), "|") }

// MarshalJSON writes a list of names.
func (s State) MarshalJSON() ([]byte, error) { return json.Marshal(texts.Flags(stateNames, uint64(s))) }

// UnmarshalJSON takes a list of names, such as ["in_place"].
func (s *State) UnmarshalJSON(text []byte) error { return valuesOf(s, stateNames, "State", text) }

// String returns the fields that the spec sets, by their names in JSON and in C. A secret key appears only as a note.
func (s Spec) String() string {
	var set texts.Fields
	set.Add("kind", s.Kind, s.Kind != "")
	set.Add("hash", s.Hash, s.Hash != 0)
	set.Add("capacity", s.Capacity, s.Capacity != 0)
	set.Add("false_positive_rate", s.FalsePositiveRate, s.FalsePositiveRate != 0)
	set.Add("bits", s.Bits, s.Bits != 0)
	set.Add("hashes", s.Hashes, s.Hashes != 0)
	set.Add("kernel", s.Kernel, s.Kernel != KernelBest)
	set.Add("seed", s.Seed, s.Seed != 0)
	set.Add("secret", "given", s.Secret != Secret{})
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		set.Add(name, s.Parameters[name], true)
	}
	return set.String()
}

// UnmarshalJSON takes an object in the JSON form of a spec. UnmarshalJSON refuses unknown names, because a misspelt
// rate would make another filter. A secret key has no JSON form; set it afterwards.
func (s *Spec) UnmarshalJSON(text []byte) error {
	type plain Spec
	var read plain
	if err := texts.Strict(text, &read); err != nil {
		return fmt.Errorf("petal.Spec: %w", err)
	}
	*s = Spec(read)
	return nil
}

// String returns one line: kind, keys, size, rate, and the state if it is unusual.
func (d Description) String() string {
	return texts.Description{
		Kind: d.Kind, Insertions: d.Insertions, Capacity: d.Capacity, Bytes: d.Bytes, FalsePositiveRate: d.FalsePositiveRate,
		IsUnclean: d.State.Has(StateUnclean), IsWritable: d.State.Has(StateWritable),
	}.String()
}

// String returns one line about the filter, or "closed". Only reads the filter.
func (f *Filter) String() string { return lineOf(f.Describe()) }

// String returns one line: the fill, the present rate, and the estimated number of keys.
func (s Statistics) String() string {
	return texts.Statistics(s.Fill, s.FalsePositiveRate, s.CountEstimate)
}

// String returns the estimate and its interval, or "unknown" if the filter is too full to tell.
func (e Estimate) String() string {
	return texts.Estimate(e.Value, e.Low, e.High, e.Saturated)
}

// String returns one line with all six estimates.
func (o Overlap) String() string {
	return texts.Overlap(o.FirstCount, o.SecondCount, o.UnionCount, o.IntersectionCount, o.Jaccard, o.DifferenceCount)
}

// String returns one line: the kind, and its numbers or why it does not fit.
func (p PlanProposal) String() string {
	if p.Err != nil {
		return fmt.Sprintf("%s: %v", p.Name, reasonOf(p.Err))
	}
	return fmt.Sprintf("%s: %s bits a key, %d bytes, false-positive rate %s, %s lines a lookup", p.Name,
		texts.Number(p.BitsPerKey), p.Bytes, texts.Number(p.FalsePositiveRate), texts.Number(p.LinesPerLookup))
}

// MarshalJSON writes the error as its "reason", which is missing if the kind fits.
func (p PlanProposal) MarshalJSON() ([]byte, error) {
	type plain PlanProposal
	reason := ""
	if p.Err != nil {
		reason = reasonOf(p.Err)
	}
	return json.Marshal(struct {
		plain
		Reason string `json:"reason,omitempty"`
	}{plain(p), reason})
}

// reasonOf returns an error's message without the function's name, which says nothing in a proposal.
func reasonOf(err error) string {
	if failure, ok := err.(*Error); ok && failure.Message != "" {
		return failure.Message
	}
	return err.Error()
}

var (
	_ encoding.TextMarshaler   = Hash(0)
	_ encoding.TextUnmarshaler = (*Hash)(nil)
	_ fmt.Stringer             = (*Filter)(nil)
	_ json.Marshaler           = PlanProposal{}
)
