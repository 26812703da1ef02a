package petal

/*
#include "keys.h"
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/texts"
)

// Aggregate is the sum, mean, maximum, minimum and count of values that change. Each participant counts once, however
// often the participant is met. Two participants meet, and the disseminator tells the aggregator its state and value:
//
//  1. The disseminator asks which states it told this aggregator ([Aggregate.Told]): none before their first meeting,
//     then one.
//  2. The aggregator meets the disseminator ([Aggregate.Meet]), and is given state and value, and the states told
//     before with their values.
//  3. The disseminator notes the answer ([Aggregate.Tell]).
//
// A value belongs to its state: a participant whose value changes takes another state. At a false-positive rate an id
// that is new seems known, and is refused at each meeting; [Aggregate.Expect] tells what that costs.
//
// Methods that only read the aggregate may run in many goroutines at once. [Aggregate.Close] and methods that change
// the aggregate need it to themselves. Aggregates are experimental: methods may still change. Pure Go does not read
// them.
type Aggregate struct {
	byPointer
	owner *held[*C.petal_aggregate]
}

// StateValue is a state with the value that belongs to it. States are less than the parameter states, and values are
// finite.
type StateValue struct {
	State uint32
	Value float64
}

// Outcome is what a meeting came to.
type Outcome uint32

const (
	// MeetingFirst says that the id was met for the first time, and its value is aggregated.
	MeetingFirst Outcome = C.PETAL_MEETING_FIRST
	// MeetingDuplicate says that the value was aggregated already, or seemed so.
	MeetingDuplicate Outcome = C.PETAL_MEETING_DUPLICATE
	// MeetingChanged says that the value of the previous state is replaced by the new one.
	MeetingChanged Outcome = C.PETAL_MEETING_CHANGED
	// MeetingRefused says that nothing is changed. Either the id is new and seems known; or the cited previous states are
	// not aggregated; or more than one of them seems to be.
	MeetingRefused Outcome = C.PETAL_MEETING_REFUSED
)

var outcomeNames = []string{
	MeetingFirst: "first", MeetingDuplicate: "duplicate", MeetingChanged: "changed", MeetingRefused: "refused",
}

// String returns the name of the outcome.
func (o Outcome) String() string { return texts.Name(outcomeNames, "outcome", uint32(o)) }

// Meeting is an aggregator's answer, for [Aggregate.Tell] of the participant that it met.
type Meeting struct {
	Outcome Outcome
	// Replaced is the previous state that was replaced, with MeetingChanged; otherwise 0.
	Replaced uint32
}

// Results is what is aggregated now.
type Results struct {
	// Count is how many participants are aggregated.
	Count uint64 `json:"count"`
	// Sum is the sum of their values, rounded once to the nearest number. It is infinite if no number is that great.
	Sum float64 `json:"sum"`
	// Mean is the exact mean of their values, rounded once. It is NaN if nobody is aggregated.
	Mean float64 `json:"mean"`
	// Maximum is the greatest value, or a bound above all of them. It is NaN if nobody is aggregated.
	Maximum float64 `json:"maximum"`
	// Minimum is the least value, or a bound below all of them. It is NaN if nobody is aggregated.
	Minimum float64 `json:"minimum"`
	// MaximumIsExact says that a participant has the maximum. If all who had it changed or left, the maximum is a bound,
	// until a participant comes to it again or above it.
	MaximumIsExact bool `json:"maximum_is_exact"`
	// MinimumIsExact says that a participant has the minimum.
	MinimumIsExact bool `json:"minimum_is_exact"`
	// Participants is an estimate of how many have come: those who are aggregated, and those who were refused because they
	// seemed known. Mean times this estimate is the sum without the bias of false positives.
	Participants float64 `json:"participants"`
	// Firsts counts the meetings that aggregated an id for the first time.
	Firsts uint64 `json:"firsts"`
	// Changes counts the meetings that replaced a state and its value.
	Changes uint64 `json:"changes"`
	// Duplicates counts the meetings with a state that was aggregated already, or seemed so.
	Duplicates uint64 `json:"duplicates"`
	// RefusedFirsts counts the refused meetings that cited no previous state.
	RefusedFirsts uint64 `json:"refused_firsts"`
	// RefusedChanges counts the refused meetings that cited previous states.
	RefusedChanges uint64 `json:"refused_changes"`
	// Departures counts the participants that left.
	Departures uint64 `json:"departures"`
}

// AggregateErrors is what false positives are expected to cost. With f(n) for the false-positive rate of a memory of n
// entries:
type AggregateErrors struct {
	// FalsePositiveRate is that of each memory with as many entries as participants: f(n).
	FalsePositiveRate float64 `json:"false_positive_rate"`
	// RefusedFirsts is how many participants are refused when they come, because they seem known: f(0) + ... + f(n-1).
	RefusedFirsts float64 `json:"refused_firsts"`
	// Bias is the relative error of sum and count, if values do not depend on ids. The mean has none.
	Bias float64 `json:"bias"`
	// MissedChanges is the share of changes of aggregated participants that the aggregator takes for duplicates, once all
	// have changed several times.
	MissedChanges float64 `json:"missed_changes"`
}

// NewAggregate makes an aggregate that has met nobody. The Capacity of the spec is the number of participants, and
// FalsePositiveRate is that of each memory. The Kind is "aggregate"; an empty one stands for it if no parameter is set.
func NewAggregate(spec Spec) (*Aggregate, error) {
	if spec.Kind == "" {
		spec.Kind = "aggregate"
	}
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	return aggregateOf(made("petal.NewAggregate", freeAggregate,
		func(handle **C.petal_aggregate, failure *C.petal_error) {
			C.petal_aggregate_new(&raw, handle, failure)
		}))
}

// statesOf passes cited states to the library.
func statesOf(previous []StateValue) (*C.petal_state_value, C.size_t) {
	return (*C.petal_state_value)(unsafe.Pointer(unsafe.SliceData(previous))), C.size_t(len(previous))
}

func meetingOf(raw *C.petal_meeting) Meeting {
	return Meeting{Outcome: Outcome(raw.outcome), Replaced: uint32(raw.replaced)}
}

// rawOf passes an answer to the library; nil stands for none.
func rawOf(answer *Meeting) *C.petal_meeting {
	if answer == nil {
		return nil
	}
	return &C.petal_meeting{outcome: C.petal_outcome(answer.Outcome), replaced: C.uint32_t(answer.Replaced)}
}

// Meet meets the participant with this id, which is in the state now. previous has the states that the participant may
// have told this aggregator before, as [Aggregate.Told] of the participant lists them, each with its value. Returns
// [ErrOutOfRange] for a state that is not below the parameter states, and for a value that is not finite. Changes the
// aggregate.
func (a *Aggregate) Meet(id []byte, now StateValue, previous ...StateValue) (Meeting, error) {
	cited, count := statesOf(previous)
	return converted("petal.Aggregate.Meet", C.petal_meeting{}, meetingOf,
		func(meeting *C.petal_meeting, failure *C.petal_error) {
			C.petal_go_aggregate_meet(a.toChange(), bytesOf(id), C.size_t(len(id)), C.uint32_t(now.State), C.double(now.Value),
				cited, count, meeting, failure)
		})
}

// Leave forgets the participant with this id, which is aggregated in the state now, and takes its value away. left is
// false, with nothing changed, if the participant is not aggregated in this state. Changes the aggregate.
func (a *Aggregate) Leave(id []byte, now StateValue) (left bool, err error) {
	return answered("petal.Aggregate.Leave", func(left *bool, failure *C.petal_error) {
		C.petal_go_aggregate_leave(a.toChange(), bytesOf(id), C.size_t(len(id)), C.uint32_t(now.State), C.double(now.Value),
			(*C.bool)(left), failure)
	})
}

// toldBy returns the states that a call lists.
func toldBy(op string, list func(states *C.uint32_t, room C.size_t, count *C.size_t, failure *C.petal_error),
) ([]uint32, error) {
	count, err := answered(op, func(count *C.size_t, failure *C.petal_error) { list(nil, 0, count, failure) })
	if err != nil || count == 0 {
		return nil, err
	}
	states := make([]uint32, count)
	err = called(op, func(failure *C.petal_error) {
		list((*C.uint32_t)(unsafe.SliceData(states)), count, &count, failure)
	})
	if err != nil {
		return nil, err
	}
	return states, nil
}

// Told returns the states that this disseminator told the aggregator with this id: none before their first meeting,
// then one. At the false-positive rate the list also has states that were never told. Cite all of them. Looks up all
// states. Only reads the aggregate.
func (a *Aggregate) Told(id []byte) ([]uint32, error) {
	return toldBy("petal.Aggregate.Told",
		func(states *C.uint32_t, room C.size_t, count *C.size_t, failure *C.petal_error) {
			C.petal_go_aggregate_told(a.raw(), bytesOf(id), C.size_t(len(id)), states, room, count, failure)
		})
}

// Tell notes what the aggregator with this id answered when it was told state. A first meeting and a change are noted.
// A duplicate and a refusal change nothing. answer is nil if no answer came: the memory then has this state and the
// previous one, and the next meeting shows which of them is aggregated. [Aggregate.Told] may go on listing the other
// state. That does no harm, and [Aggregate.Forget] ends it. Changes the aggregate.
func (a *Aggregate) Tell(id []byte, state uint32, answer *Meeting) error {
	raw := rawOf(answer)
	return called("petal.Aggregate.Tell", func(failure *C.petal_error) {
		C.petal_go_aggregate_tell(a.toChange(), bytesOf(id), C.size_t(len(id)), C.uint32_t(state), raw, failure)
	})
}

// Forget forgets that the aggregator with this id was told state, for an aggregator that left or lost its memories.
// forgotten is false, with nothing changed, if the aggregator was not told state. Changes the aggregate.
func (a *Aggregate) Forget(id []byte, state uint32) (forgotten bool, err error) {
	return answered("petal.Aggregate.Forget", func(forgotten *bool, failure *C.petal_error) {
		C.petal_go_aggregate_forget(a.toChange(), bytesOf(id), C.size_t(len(id)), C.uint32_t(state),
			(*C.bool)(forgotten), failure)
	})
}

// Results tells what is aggregated now.
func (a *Aggregate) Results() (Results, error) {
	raw := C.petal_aggregated{struct_size: C.size_t(unsafe.Sizeof(C.petal_aggregated{}))}
	return converted("petal.Aggregate.Results", raw, resultsOf,
		func(raw *C.petal_aggregated, failure *C.petal_error) {
			C.petal_aggregate_results(a.raw(), raw, failure)
		})
}

func resultsOf(raw *C.petal_aggregated) Results {
	return Results{
		Count:          uint64(raw.count),
		Sum:            float64(raw.sum),
		Mean:           float64(raw.mean),
		Maximum:        float64(raw.maximum),
		Minimum:        float64(raw.minimum),
		MaximumIsExact: raw.exact&C.PETAL_MAXIMUM_IS_EXACT != 0,
		MinimumIsExact: raw.exact&C.PETAL_MINIMUM_IS_EXACT != 0,
		Participants:   float64(raw.participants),
		Firsts:         uint64(raw.firsts),
		Changes:        uint64(raw.changes),
		Duplicates:     uint64(raw.duplicates),
		RefusedFirsts:  uint64(raw.refused_firsts),
		RefusedChanges: uint64(raw.refused_changes),
		Departures:     uint64(raw.departures),
	}
}

// Expect tells what false positives are expected to cost if this many participants are met, all of them.
func (a *Aggregate) Expect(participants uint64) (AggregateErrors, error) {
	raw := C.petal_aggregate_errors{struct_size: C.size_t(unsafe.Sizeof(C.petal_aggregate_errors{}))}
	toGo := func(raw *C.petal_aggregate_errors) AggregateErrors {
		return AggregateErrors{
			FalsePositiveRate: float64(raw.false_positive_rate),
			RefusedFirsts:     float64(raw.refused_firsts),
			Bias:              float64(raw.bias),
			MissedChanges:     float64(raw.missed_changes),
		}
	}
	return converted("petal.Aggregate.Expect", raw, toGo,
		func(raw *C.petal_aggregate_errors, failure *C.petal_error) {
			C.petal_aggregate_expect(a.raw(), C.uint64_t(participants), raw, failure)
		})
}

// CountOf returns how many participants are aggregated with a state. If a state means the same value everywhere, these
// counts are the exact distribution of values.
func (a *Aggregate) CountOf(state uint32) (uint64, error) {
	return answered("petal.Aggregate.CountOf", func(count *uint64, failure *C.petal_error) {
		C.petal_aggregate_count_of(a.raw(), C.uint32_t(state), (*C.uint64_t)(count), failure)
	})
}

// States returns how many states a participant can have. A closed aggregate has 0.
func (a *Aggregate) States() uint32 {
	states := C.petal_aggregate_states(a.raw())
	runtime.KeepAlive(a)
	return uint32(states)
}

// Clear forgets everything. Changes the aggregate.
func (a *Aggregate) Clear() error {
	return called("petal.Aggregate.Clear", func(failure *C.petal_error) {
		C.petal_aggregate_clear(a.toChange(), failure)
	})
}
