package petal

// #include "keys.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Kind is the number of a kind of filter, map or sketch. [Kinds] and [FindKind] list the kinds of the library.
type Kind uint32

// String returns the kind's name.
func (k Kind) String() string {
	for _, info := range Kinds() {
		if info.Kind == k {
			return info.Name
		}
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// Capabilities are the operations of a kind, or of a filter.
type Capabilities uint64

// The capabilities.
const (
	CanInsert    Capabilities = C.PETAL_CAN_INSERT
	CanClear     Capabilities = C.PETAL_CAN_CLEAR
	CanMerge     Capabilities = C.PETAL_CAN_MERGE
	CanIntersect Capabilities = C.PETAL_CAN_INTERSECT
	CanFold      Capabilities = C.PETAL_CAN_FOLD
	CanEstimate  Capabilities = C.PETAL_CAN_ESTIMATE
	CanRemove    Capabilities = C.PETAL_CAN_REMOVE
	CanCount     Capabilities = C.PETAL_CAN_COUNT
	CanGrow      Capabilities = C.PETAL_CAN_GROW
	// CanInsertShared is needed for [Filter.InsertShared] and the other Shared methods.
	CanInsertShared Capabilities = C.PETAL_CAN_INSERT_SHARED
	// CanPut is needed for [Map.Put]: kinds of maps that start empty have it.
	CanPut Capabilities = C.PETAL_CAN_PUT
	// CanReplace is needed for [Map.Replace].
	CanReplace Capabilities = C.PETAL_CAN_REPLACE
	// CanEnumerate is needed for [Filter.StoredHashes].
	CanEnumerate Capabilities = C.PETAL_CAN_ENUMERATE
	// CanResize is needed for [Filter.Resize].
	CanResize Capabilities = C.PETAL_CAN_RESIZE
	// CanAge is needed for [Filter.Advance].
	CanAge Capabilities = C.PETAL_CAN_AGE
	// MayLoseKeys is a warning and not an ability: a lookup may say that an inserted key is absent.
	MayLoseKeys Capabilities = C.PETAL_MAY_LOSE_KEYS
	// CanRejuvenate is needed for [Filter.Rejuvenate] and its forms.
	CanRejuvenate Capabilities = C.PETAL_CAN_REJUVENATE
	// CanAgeShared is needed for [Filter.AdvanceShared].
	CanAgeShared Capabilities = C.PETAL_CAN_AGE_SHARED
	// CanSubtract is needed for [Sketch.Subtract].
	CanSubtract Capabilities = C.PETAL_CAN_SUBTRACT
	// CanList is needed for [Sketch.List].
	CanList Capabilities = C.PETAL_CAN_LIST
)

// Has says whether the capabilities include all of other.
func (c Capabilities) Has(other Capabilities) bool { return c&other == other }

// Overfill says what a filter does with more keys than its capacity.
type Overfill uint32

// The ways in which a filter takes more keys than its capacity.
const (
	// OverfillRateRises: the false-positive rate rises, in the end to 1.
	OverfillRateRises Overfill = C.PETAL_OVERFILL_RATE_RISES
	// OverfillRefuses: the filter refuses keys with [ErrFull].
	OverfillRefuses Overfill = C.PETAL_OVERFILL_REFUSES
	// OverfillGrows: the filter grows and keeps its rate. The filter refuses keys ([ErrFull]) if its image is in place and
	// full, or if the rate is so low that another level is not worth its memory. A taffy filter refuses keys after its
	// doublings.
	OverfillGrows Overfill = C.PETAL_OVERFILL_GROWS
	// OverfillIsBuilt: the filter takes no keys, and a [Builder] makes it from all of its keys.
	OverfillIsBuilt Overfill = C.PETAL_OVERFILL_IS_BUILT
	// OverfillForgets: the filter keeps its rate and forgets its oldest keys.
	OverfillForgets Overfill = C.PETAL_OVERFILL_FORGETS
)

// Handle says whether a kind is one of filters, maps or sketches, or the only kind of its handle.
type Handle uint32

// The handles.
const (
	// HandleFilter is for kinds of [Filter].
	HandleFilter Handle = C.PETAL_HANDLE_FILTER
	// HandleMap is for kinds of [Map].
	HandleMap Handle = C.PETAL_HANDLE_MAP
	// HandleSketch is for kinds of [Sketch], whose numbers begin at 256.
	HandleSketch Handle = C.PETAL_HANDLE_SKETCH
	// HandleRouter is for the kind router.
	HandleRouter Handle = C.PETAL_HANDLE_ROUTER
	// HandleAggregate is for the kind aggregate.
	HandleAggregate Handle = C.PETAL_HANDLE_AGGREGATE
	// HandleDigest is for the kind digest.
	HandleDigest Handle = C.PETAL_HANDLE_DIGEST
	// HandleIndex is for the kind index.
	HandleIndex Handle = C.PETAL_HANDLE_INDEX
)

// KindInfo describes a kind.
type KindInfo struct {
	Kind Kind `json:"-"`
	// Name is the kind's name, as [Spec.Kind] takes it.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Capabilities are the operations of a filter in its own memory.
	Capabilities Capabilities `json:"capabilities"`
	// BitsUnit is the unit of [Spec.Bits], the exact size. If BitsUnit is 0, Bits is an upper limit, and the spec needs a
	// capacity too.
	BitsUnit uint64 `json:"bits_unit"`
	// Overfill says what a filter does with more keys than its capacity.
	Overfill Overfill `json:"overfill"`
	// IsCanonical says that an image depends on the set of keys (and on the counts, if the kind counts), and not on their
	// order.
	IsCanonical bool `json:"is_canonical"`
	// Handle says whether the kind is a kind of filters, maps or sketches. A later library may have kinds with other
	// handles: skip those.
	Handle Handle `json:"handle"`
	// IsDefault says that a spec without a kind means this kind, for the same handle.
	IsDefault bool `json:"is_default"`
	// IsForeign says that the bits of the kind's filters are another system's: [ImportFilter], [FormatSpec].
	IsForeign bool `json:"is_foreign"`
	// TakesIntegers says that the kind's keys are the integers below the filter's bits, and that the filter does not hash
	// them. The filter refuses other keys with [ErrOutOfRange].
	TakesIntegers bool `json:"takes_integers"`
	// MovesEntries says that a change moves the entries of other keys, so an image of the kind does not open for writing.
	// Load a copy, change the copy and save it.
	MovesEntries bool `json:"moves_entries"`
	// MostCopies is how many copies of one key a filter with the kind's default parameters holds, if every copy takes a
	// place. The filter refuses one copy more ([ErrFull]). 0 if copies take no places.
	MostCopies int `json:"most_copies"`

	parameters int
}

// ParameterInfo describes a parameter that only some kinds take.
type ParameterInfo struct {
	Name    string  `json:"name"`
	Summary string  `json:"summary"`
	Minimum float64 `json:"minimum"`
	Maximum float64 `json:"maximum"`
	Default float64 `json:"default_value"`
	// Choices are the names of the parameter's values from 0 on; empty if it takes a number.
	Choices []string `json:"choices,omitzero"`

	id uint32
}

// Kinds returns all kinds: of filters, maps, other systems' filters and sketches.
func Kinds() []KindInfo {
	kinds := make([]KindInfo, 0, int(C.petal_kind_count()))
	for index := range cap(kinds) {
		raw := newKindInfo()
		if C.petal_kind_get_at(C.size_t(index), &raw, nil) == C.PETAL_OK {
			kinds = append(kinds, kindInfo(&raw))
		}
	}
	return kinds
}

// FindKind returns the kind with this name. Returns [ErrUnknownValue] if there is none.
func FindKind(name string) (KindInfo, error) {
	const op = "petal.FindKind"
	if err := withoutNUL(op, "the name", name); err != nil {
		return KindInfo{}, err
	}
	return converted(op, newKindInfo(), kindInfo, func(raw *C.petal_kind_info, failure *C.petal_error) {
		C.petal_kind_find(cString(name), raw, failure)
	})
}

// Parameters returns the parameters that filters or maps of this kind take.
func (k Kind) Parameters() ([]ParameterInfo, error) {
	for _, info := range Kinds() {
		if info.Kind == k {
			return info.Parameters()
		}
	}
	return nil, &Error{Op: "petal.Kind.Parameters", Status: ErrUnknownValue}
}

// Parameters returns the parameters that filters or maps of this kind take.
func (i KindInfo) Parameters() ([]ParameterInfo, error) {
	const op = "petal.KindInfo.Parameters"
	parameters := make([]ParameterInfo, 0, i.parameters)
	kind := C.petal_kind(i.Kind)
	failure := newFailure()
	for index := range i.parameters {
		raw := C.petal_parameter_info{struct_size: C.size_t(unsafe.Sizeof(C.petal_parameter_info{}))}
		if C.petal_kind_get_parameter(kind, C.size_t(index), &raw, &failure.raw) != C.PETAL_OK {
			return nil, failure.err(op)
		}
		parameter := ParameterInfo{
			Name:    C.GoString(&raw.name[0]),
			Summary: C.GoString(&raw.summary[0]),
			Minimum: float64(raw.minimum),
			Maximum: float64(raw.maximum),
			Default: float64(raw.default_value),
			id:      uint32(raw.id),
		}
		for choice := range int(raw.choice_count) {
			var name [C.PETAL_NAME_SIZE]C.char
			if C.petal_kind_get_choice(kind, C.size_t(index), C.size_t(choice), &name[0], &failure.raw) != C.PETAL_OK {
				return nil, failure.err(op)
			}
			parameter.Choices = append(parameter.Choices, C.GoString(&name[0]))
		}
		parameters = append(parameters, parameter)
	}
	return parameters, nil
}

func newKindInfo() C.petal_kind_info {
	return C.petal_kind_info{struct_size: C.size_t(unsafe.Sizeof(C.petal_kind_info{}))}
}

func kindInfo(raw *C.petal_kind_info) KindInfo {
	return KindInfo{
		Kind:          Kind(raw.kind),
		Name:          C.GoString(&raw.name[0]),
		Summary:       C.GoString(&raw.summary[0]),
		Capabilities:  Capabilities(raw.capabilities),
		BitsUnit:      uint64(raw.bits_unit),
		Overfill:      Overfill(raw.overfill),
		IsCanonical:   raw.flags&C.PETAL_IS_CANONICAL != 0,
		Handle:        Handle(raw.handle),
		IsDefault:     raw.flags&C.PETAL_IS_DEFAULT != 0,
		IsForeign:     raw.flags&C.PETAL_IS_FOREIGN != 0,
		TakesIntegers: raw.flags&C.PETAL_TAKES_INTEGERS != 0,
		MovesEntries:  raw.flags&C.PETAL_MOVES_ENTRIES != 0,
		MostCopies:    int(raw.most_copies),
		parameters:    int(raw.parameter_count),
	}
}

// PlanRequest describes what you need from a kind: set Keys, and FalsePositiveRate or Memory.
type PlanRequest struct {
	// Keys is how many distinct keys there will be.
	Keys uint64 `json:"keys,omitzero"`
	// FalsePositiveRate is the greatest rate, inside (0, 1); 0 if Memory is set.
	FalsePositiveRate float64 `json:"false_positive_rate,omitzero"`
	// Memory is the most bytes; 0 if FalsePositiveRate is set.
	Memory uint64 `json:"memory,omitzero"`
	// Capabilities are what the kind must be able to do.
	Capabilities Capabilities `json:"capabilities,omitzero"`
	// Static says that you know all keys before the first lookup, so that kinds which cannot insert are proposed too.
	Static bool `json:"is_static,omitzero"`
	// Universe is how many keys there are, members and others, at least Keys, if you know all keys that are asked for.
	// Kinds with [KindInfo.TakesIntegers] fit only if you give it: their keys are the integers below it. With Static the
	// proposal of exact_set is one without an error for any of these keys.
	Universe uint64 `json:"universe,omitzero"`
	// Frequent is the share, from 0 to 1, of all lookups of absent keys that asks for keys which you know and which are no
	// members. With Static the rate of stacked is then that of all lookups of absent keys.
	Frequent float64 `json:"frequent,omitzero"`
	// NonMembers is how many keys Frequent is about; 0 means as many as Keys.
	NonMembers uint64 `json:"non_members,omitzero"`
	// Times is the greatest number of times that one key comes, for kinds that count. If a kind cannot hold that many
	// copies, its proposal says why. 0 means 1.
	Times uint64 `json:"times,omitzero"`
}

// PlanProposal is the offer of one kind.
type PlanProposal struct {
	Kind Kind   `json:"kind"`
	Name string `json:"-"`
	// Err is nil if the kind fits; otherwise it says why not, and the numbers are 0.
	Err               error   `json:"-"`
	BitsPerKey        float64 `json:"bits_per_key"`
	Bytes             uint64  `json:"bytes"`
	FalsePositiveRate float64 `json:"false_positive_rate"`
	// LinesPerLookup is how many cache lines a lookup of a present key touches.
	LinesPerLookup float64 `json:"lines_per_lookup"`
	// BuildMemory is how many bytes a builder takes besides the filter, without a memory limit and on one thread: eight
	// for each key, and the memory of solving. 0 for kinds that start empty.
	BuildMemory uint64 `json:"build_memory"`
	// Parameters are the parameters with which the kind has these numbers, for [Spec]; nil if all have their defaults.
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Plan asks every kind of filter. The kinds that fit come first. The smallest kind is at the top, or the most accurate
// kind if the request sets Memory.
func Plan(request PlanRequest) ([]PlanProposal, error) {
	raw := C.petal_plan_request{
		struct_size:         C.size_t(unsafe.Sizeof(C.petal_plan_request{})),
		keys:                C.uint64_t(request.Keys),
		false_positive_rate: C.double(request.FalsePositiveRate),
		memory:              C.uint64_t(request.Memory),
		capabilities:        C.uint64_t(request.Capabilities),
		universe:            C.uint64_t(request.Universe),
		times:               C.uint64_t(request.Times),
		frequent:            C.double(request.Frequent),
		non_members:         C.uint64_t(request.NonMembers),
	}
	if request.Static {
		raw.is_static = 1
	}
	// The slice has at least one element, so that it has an address.
	room := make([]C.petal_plan_proposal, int(C.petal_kind_count())+1)
	room[0].struct_size = C.size_t(unsafe.Sizeof(room[0]))
	var count C.size_t
	err := called("petal.Plan", func(failure *C.petal_error) {
		C.petal_plan_propose(&raw, &room[0], C.size_t(len(room)), &count, failure)
	})
	if err != nil {
		return nil, err
	}
	proposals := make([]PlanProposal, 0, int(count))
	for i := range room[:min(int(count), len(room))] {
		raw := &room[i]
		proposal := PlanProposal{
			Kind:              Kind(raw.kind),
			Name:              C.GoString(&raw.name[0]),
			BitsPerKey:        float64(raw.bits_per_key),
			Bytes:             uint64(raw.bytes),
			FalsePositiveRate: float64(raw.false_positive_rate),
			LinesPerLookup:    float64(raw.lines_per_lookup),
			BuildMemory:       uint64(raw.build_memory),
		}
		if raw.status != C.PETAL_OK {
			proposal.Err = &Error{
				Op: "petal.Plan", Status: Status(raw.status), Message: C.GoString(&raw.reason[0]),
			}
		}
		parameters, err := settingOf(proposal.Kind, &raw.setting)
		if err != nil {
			return nil, err
		}
		proposal.Parameters = parameters
		proposals = append(proposals, proposal)
	}
	return proposals, nil
}

// settingOf returns the parameter of a setting, by its name; nil if the setting is empty.
func settingOf(kind Kind, setting *C.petal_setting) (map[string]string, error) {
	if setting.id == 0 {
		return nil, nil
	}
	parameters, err := kind.Parameters()
	if err != nil {
		return nil, err
	}
	for _, parameter := range parameters {
		if parameter.id == uint32(setting.id) {
			return map[string]string{parameter.Name: fmt.Sprint(float64(setting.value))}, nil
		}
	}
	return nil, nil
}
