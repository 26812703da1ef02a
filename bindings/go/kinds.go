package petal

// #include "keys.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Kind is the number of a kind of filter, of map or of sketch. The library knows which there are: see [Kinds] and
// [FindKind].
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

// Capabilities are what a kind, or a filter, can do.
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
	// CanInsertShared is that of [Filter.InsertShared] and its like.
	CanInsertShared Capabilities = C.PETAL_CAN_INSERT_SHARED
	// CanPut is that of maps which are made empty: [Map.Put].
	CanPut Capabilities = C.PETAL_CAN_PUT
	// CanReplace is that of maps whose keys can be given other values: [Map.Replace].
	CanReplace Capabilities = C.PETAL_CAN_REPLACE
	// CanEnumerate is that of [Filter.StoredHashes].
	CanEnumerate Capabilities = C.PETAL_CAN_ENUMERATE
	// CanResize is that of [Filter.Resize].
	CanResize Capabilities = C.PETAL_CAN_RESIZE
	// CanAge is that of [Filter.Advance].
	CanAge Capabilities = C.PETAL_CAN_AGE
	// MayLoseKeys is no ability, but a warning: lookups may say of keys that are there that they are not.
	MayLoseKeys Capabilities = C.PETAL_MAY_LOSE_KEYS
	// CanRejuvenate is that of [Filter.Rejuvenate] and its like.
	CanRejuvenate Capabilities = C.PETAL_CAN_REJUVENATE
	// CanAgeShared is that of [Filter.AdvanceShared].
	CanAgeShared Capabilities = C.PETAL_CAN_AGE_SHARED
	// CanSubtract is that of [Sketch.Subtract].
	CanSubtract Capabilities = C.PETAL_CAN_SUBTRACT
	// CanList is that of [Sketch.List].
	CanList Capabilities = C.PETAL_CAN_LIST
)

// Has says whether all of other are among the capabilities.
func (c Capabilities) Has(other Capabilities) bool { return c&other == other }

// Overfill is what becomes of a filter that is given more keys than its capacity.
type Overfill uint32

// What becomes of an overfilled filter.
const (
	// OverfillRateRises is of kinds whose false-positive rate rises, in the end to 1.
	OverfillRateRises Overfill = C.PETAL_OVERFILL_RATE_RISES
	// OverfillRefuses is of kinds that refuse keys: [ErrFull].
	OverfillRefuses Overfill = C.PETAL_OVERFILL_REFUSES
	// OverfillGrows is of kinds that grow and keep their rate. They refuse keys ([ErrFull]) where their image is in
	// place and full, and where the rate is so low that another level is not worth its memory. A taffy filter refuses keys
	// after its doublings.
	OverfillGrows Overfill = C.PETAL_OVERFILL_GROWS
	// OverfillIsBuilt is of kinds that take no keys: a [Builder] makes them from all of them.
	OverfillIsBuilt Overfill = C.PETAL_OVERFILL_IS_BUILT
	// OverfillForgets is of kinds that keep their rate and forget their oldest keys.
	OverfillForgets Overfill = C.PETAL_OVERFILL_FORGETS
)

// Handle is what a kind is of: a filter, a map or a sketch.
type Handle uint32

// The handles.
const (
	// HandleFilter is of kinds of [Filter].
	HandleFilter Handle = C.PETAL_HANDLE_FILTER
	// HandleMap is of kinds of [Map].
	HandleMap Handle = C.PETAL_HANDLE_MAP
	// HandleSketch is of kinds of [Sketch], which have the numbers from 256 on.
	HandleSketch Handle = C.PETAL_HANDLE_SKETCH
)

// KindInfo is what the library knows of a kind.
type KindInfo struct {
	Kind Kind `json:"-"`
	// Name is what [Spec.Kind] takes.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Capabilities are those of a filter in memory of its own.
	Capabilities Capabilities `json:"capabilities"`
	// BitsUnit is what [Spec.Bits], the exact size, is a multiple of. 0: they are the most that the filter may have,
	// and a capacity has to be given too.
	BitsUnit uint64 `json:"bits_unit"`
	// Overfill is what becomes of a filter that is given more keys than its capacity.
	Overfill Overfill `json:"overfill"`
	// IsCanonical says that an image depends only on which keys there are, and how often where they are counted, and
	// not on their order.
	IsCanonical bool `json:"is_canonical"`
	// Handle is what it is of. A later library may have kinds of a handle that is not here: skip those.
	Handle Handle `json:"handle"`
	// IsDefault says that a spec without a kind means this one, among those of the same handle.
	IsDefault bool `json:"is_default"`
	// IsForeign says that it is a kind of filter whose bits are another system's: [ImportFilter], [FormatSpec].
	IsForeign bool `json:"is_foreign"`
	// TakesIntegers says that its keys are the integers below the filter's bits, and are not hashed; others are refused:
	// [ErrOutOfRange].
	TakesIntegers bool `json:"takes_integers"`
	// MovesEntries says that a change moves what other keys left: images are not opened for writing, but loaded, changed
	// and saved.
	MovesEntries bool `json:"moves_entries"`
	// MostCopies is how many copies of one key a filter with the kind's default parameters holds, if every copy takes a
	// place: one more is refused, [ErrFull]. 0 if copies take no places.
	MostCopies int `json:"most_copies"`

	parameters int
}

// ParameterInfo is what the library knows of a parameter that only some kinds take.
type ParameterInfo struct {
	Name    string  `json:"name"`
	Summary string  `json:"summary"`
	Minimum float64 `json:"minimum"`
	Maximum float64 `json:"maximum"`
	Default float64 `json:"default_value"`
	// Choices are the names of its values from 0 on; empty where it takes a number.
	Choices []string `json:"choices,omitzero"`

	id uint32
}

// Kinds returns the kinds that there are, of filters, of maps, of other systems' filters and of sketches.
func Kinds() []KindInfo {
	kinds := make([]KindInfo, 0, int(C.petal_kind_count()))
	for index := range cap(kinds) {
		raw := newKindInfo()
		if C.petal_kind_at(C.size_t(index), &raw, nil) == C.PETAL_OK {
			kinds = append(kinds, kindInfo(&raw))
		}
	}
	return kinds
}

// FindKind returns the kind with this name: [ErrUnknownValue] if there is none.
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
		if C.petal_kind_parameter(kind, C.size_t(index), &raw, &failure.raw) != C.PETAL_OK {
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
			if C.petal_kind_choice(kind, C.size_t(index), C.size_t(choice), &name[0], &failure.raw) != C.PETAL_OK {
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

// PlanRequest is what is wanted of a kind: set Keys, and FalsePositiveRate or Memory.
type PlanRequest struct {
	// Keys is how many distinct keys there will be.
	Keys uint64 `json:"keys,omitzero"`
	// FalsePositiveRate is the greatest rate, inside (0, 1); 0 if Memory is set.
	FalsePositiveRate float64 `json:"false_positive_rate,omitzero"`
	// Memory is the most bytes; 0 if FalsePositiveRate is set.
	Memory uint64 `json:"memory,omitzero"`
	// Capabilities are what the kind must be able to do.
	Capabilities Capabilities `json:"capabilities,omitzero"`
	// Static says that all keys are known before the first lookup, so that kinds which cannot insert will do.
	Static bool `json:"is_static,omitzero"`
	// Universe is the bound below which all keys are, where they are integers: at least Keys. Kinds with
	// [KindInfo.TakesIntegers] are proposed then.
	Universe uint64 `json:"universe,omitzero"`
	// Times is how often each key comes at most, where it is counted: kinds that count have room for that, or say why
	// not. 0 is taken for 1.
	Times uint64 `json:"times,omitzero"`
}

// Proposal is what one kind would be.
type Proposal struct {
	Kind Kind   `json:"kind"`
	Name string `json:"-"`
	// Err is nil if the kind fits; otherwise it says why not, and the numbers are 0.
	Err               error   `json:"-"`
	BitsPerKey        float64 `json:"bits_per_key"`
	Bytes             uint64  `json:"bytes"`
	FalsePositiveRate float64 `json:"false_positive_rate"`
	// LinesPerLookup is how many cache lines a lookup of a present key touches.
	LinesPerLookup float64 `json:"lines_per_lookup"`
	// BuildMemory is how many bytes a builder takes beside the filter, without a memory limit and on one thread: eight
	// for each key, and what the work needs. It is for kinds that are built from all of their keys. 0 for kinds that are
	// made empty.
	BuildMemory uint64 `json:"build_memory"`
}

// Plan asks every kind of filter: those that fit first, the smallest (or, for a memory, the most accurate) at the top.
func Plan(request PlanRequest) ([]Proposal, error) {
	raw := C.petal_plan_request{
		struct_size:         C.size_t(unsafe.Sizeof(C.petal_plan_request{})),
		keys:                C.uint64_t(request.Keys),
		false_positive_rate: C.double(request.FalsePositiveRate),
		memory:              C.uint64_t(request.Memory),
		capabilities:        C.uint64_t(request.Capabilities),
		universe:            C.uint64_t(request.Universe),
		times:               C.uint64_t(request.Times),
	}
	if request.Static {
		raw.is_static = 1
	}
	// At least one, whose address can be taken.
	room := make([]C.petal_proposal, int(C.petal_kind_count())+1)
	room[0].struct_size = C.size_t(unsafe.Sizeof(room[0]))
	var count C.size_t
	err := called("petal.Plan", func(failure *C.petal_error) {
		C.petal_plan(&raw, &room[0], C.size_t(len(room)), &count, failure)
	})
	if err != nil {
		return nil, err
	}
	proposals := make([]Proposal, 0, int(count))
	for i := range room[:min(int(count), len(room))] {
		raw := &room[i]
		proposal := Proposal{
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
		proposals = append(proposals, proposal)
	}
	return proposals, nil
}
