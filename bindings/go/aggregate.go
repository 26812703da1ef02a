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
//  1. The disseminator asks which states it told this aggregator ([Aggregate.ListSent]): none before their first
//     meeting, then one.
//  2. The aggregator meets the disseminator ([Aggregate.Add]), and is given state and value, and the states told
//     before with their values.
//  3. The disseminator notes the answer ([Aggregate.RecordSent]).
//
// A value belongs to its state: a participant whose value changes takes another state. At a false-positive rate an id
// that is new seems known, and is refused at each meeting; [Aggregate.ExpectedErrors] tells what that costs.
//
// Methods that only read the aggregate may run in many goroutines at once. [Aggregate.Close] and methods that change
// the aggregate need it to themselves. Aggregates are experimental: methods may still change. Pure Go does not read
// them.
type Aggregate struct {
	byPointer
	owner *held[*C.petal_aggregate]
}

// AggregateStateValue is a state with the value that belongs to it. States are less than the parameter states, and
// values are finite.
type AggregateStateValue struct {
	State uint32
	Value float64
}

// AggregateOutcome is what a meeting came to.
type AggregateOutcome uint32

const (
	// AggregateOutcomeFirst says that the id was met for the first time, and its value is aggregated.
	AggregateOutcomeFirst AggregateOutcome = C.PETAL_AGGREGATE_OUTCOME_FIRST
	// AggregateOutcomeDuplicate says that the value was aggregated already, or seemed so.
	AggregateOutcomeDuplicate AggregateOutcome = C.PETAL_AGGREGATE_OUTCOME_DUPLICATE
	// AggregateOutcomeChanged says that the value of the previous state is replaced by the new one.
	AggregateOutcomeChanged AggregateOutcome = C.PETAL_AGGREGATE_OUTCOME_CHANGED
	// AggregateOutcomeRefused says that nothing is changed. Either the id is new and seems known; or the cited previous
	// states are not aggregated; or more than one of them seems to be.
	AggregateOutcomeRefused AggregateOutcome = C.PETAL_AGGREGATE_OUTCOME_REFUSED
)

var outcomeNames = []string{
	AggregateOutcomeFirst: "first", AggregateOutcomeDuplicate: "duplicate",
	AggregateOutcomeChanged: "changed", AggregateOutcomeRefused: "refused",
}

// String returns the name of the outcome.
func (o AggregateOutcome) String() string { return texts.Name(outcomeNames, "outcome", uint32(o)) }

// AggregateAnswer is an aggregator's answer, for [Aggregate.RecordSent] of the participant that it met.
type AggregateAnswer struct {
	Outcome AggregateOutcome
	// Replaced is the previous state that was replaced, with AggregateOutcomeChanged; otherwise 0.
	Replaced uint32
}

// AggregateStatistics is what is aggregated now.
type AggregateStatistics struct {
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

// AggregateExpectedErrors is what false positives are expected to cost. With f(n) for the false-positive rate of a
// memory of n entries:
type AggregateExpectedErrors struct {
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
func statesOf(previous []AggregateStateValue) (*C.petal_aggregate_state_value, C.size_t) {
	return (*C.petal_aggregate_state_value)(unsafe.Pointer(unsafe.SliceData(previous))), C.size_t(len(previous))
}

func meetingOf(raw *C.petal_aggregate_answer) AggregateAnswer {
	return AggregateAnswer{Outcome: AggregateOutcome(raw.outcome), Replaced: uint32(raw.replaced)}
}

// rawOf passes an answer to the library; nil stands for none.
func rawOf(answer *AggregateAnswer) *C.petal_aggregate_answer {
	if answer == nil {
		return nil
	}
	return &C.petal_aggregate_answer{outcome: C.petal_aggregate_outcome(answer.Outcome),
		replaced: C.uint32_t(answer.Replaced)}
}

// Add meets the participant with this id, which is in the state now. previous has the states that the participant may
// have told this aggregator before, as [Aggregate.ListSent] of the participant lists them, each with its value. Returns
// [ErrOutOfRange] for a state that is not below the parameter states, and for a value that is not finite. Changes the
// aggregate.
func (a *Aggregate) Add(id []byte, now AggregateStateValue,
	previous ...AggregateStateValue,
) (AggregateAnswer, error) {
	cited, count := statesOf(previous)
	return converted("petal.Aggregate.Add", C.petal_aggregate_answer{}, meetingOf,
		func(meeting *C.petal_aggregate_answer, failure *C.petal_error) {
			C.petal_go_aggregate_add(a.toChange(), bytesOf(id), C.size_t(len(id)), C.uint32_t(now.State), C.double(now.Value),
				cited, count, meeting, failure)
		})
}

// Remove forgets the participant with this id, which is aggregated in the state now, and takes its value away. left is
// false, with nothing changed, if the participant is not aggregated in this state. Changes the aggregate.
func (a *Aggregate) Remove(id []byte, now AggregateStateValue) (left bool, err error) {
	return answered("petal.Aggregate.Remove", func(left *bool, failure *C.petal_error) {
		C.petal_go_aggregate_remove(a.toChange(), bytesOf(id), C.size_t(len(id)), C.uint32_t(now.State), C.double(now.Value),
			(*C.bool)(left), failure)
	})
}

// sentBy returns the states that a call lists.
func sentBy(op string, list func(states *C.uint32_t, room C.size_t, count *C.size_t, failure *C.petal_error),
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
func (a *Aggregate) ListSent(id []byte) ([]uint32, error) {
	return sentBy("petal.Aggregate.ListSent",
		func(states *C.uint32_t, room C.size_t, count *C.size_t, failure *C.petal_error) {
			C.petal_go_aggregate_list_sent(a.raw(), bytesOf(id), C.size_t(len(id)), states, room, count, failure)
		})
}

// RecordSent notes what the aggregator with this id answered when it was told state. A first meeting and a change are
// noted. A duplicate and a refusal change nothing. answer is nil if no answer came: the memory then has this state and
// the previous one, and the next meeting shows which of them is aggregated. [Aggregate.ListSent] may go on listing the
// other state. That does no harm, and [Aggregate.ForgetSent] ends it. Changes the aggregate.
func (a *Aggregate) RecordSent(id []byte, state uint32, answer *AggregateAnswer) error {
	raw := rawOf(answer)
	return called("petal.Aggregate.RecordSent", func(failure *C.petal_error) {
		C.petal_go_aggregate_record_sent(a.toChange(), bytesOf(id), C.size_t(len(id)), C.uint32_t(state), raw, failure)
	})
}

// ForgetSent forgets that the aggregator with this id was told state, for an aggregator that left or lost its memories.
// forgotten is false, with nothing changed, if the aggregator was not told state. Changes the aggregate.
func (a *Aggregate) ForgetSent(id []byte, state uint32) (forgotten bool, err error) {
	return answered("petal.Aggregate.ForgetSent", func(forgotten *bool, failure *C.petal_error) {
		C.petal_go_aggregate_forget_sent(a.toChange(), bytesOf(id), C.size_t(len(id)), C.uint32_t(state),
			(*C.bool)(forgotten), failure)
	})
}

// AggregateStatistics tells what is aggregated now.
func (a *Aggregate) Statistics() (AggregateStatistics, error) {
	raw := C.petal_aggregate_statistics{struct_size: C.size_t(unsafe.Sizeof(C.petal_aggregate_statistics{}))}
	return converted("petal.Aggregate.Statistics", raw, resultsOf,
		func(raw *C.petal_aggregate_statistics, failure *C.petal_error) {
			C.petal_aggregate_get_statistics(a.raw(), raw, failure)
		})
}

func resultsOf(raw *C.petal_aggregate_statistics) AggregateStatistics {
	return AggregateStatistics{
		Count:          uint64(raw.count),
		Sum:            float64(raw.sum),
		Mean:           float64(raw.mean),
		Maximum:        float64(raw.maximum),
		Minimum:        float64(raw.minimum),
		MaximumIsExact: raw.exact&C.PETAL_AGGREGATE_MAXIMUM_IS_EXACT != 0,
		MinimumIsExact: raw.exact&C.PETAL_AGGREGATE_MINIMUM_IS_EXACT != 0,
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
func (a *Aggregate) ExpectedErrors(participants uint64) (AggregateExpectedErrors, error) {
	raw := C.petal_aggregate_expected_errors{struct_size: C.size_t(unsafe.Sizeof(C.petal_aggregate_expected_errors{}))}
	toGo := func(raw *C.petal_aggregate_expected_errors) AggregateExpectedErrors {
		return AggregateExpectedErrors{
			FalsePositiveRate: float64(raw.false_positive_rate),
			RefusedFirsts:     float64(raw.refused_firsts),
			Bias:              float64(raw.bias),
			MissedChanges:     float64(raw.missed_changes),
		}
	}
	return converted("petal.Aggregate.ExpectedErrors", raw, toGo,
		func(raw *C.petal_aggregate_expected_errors, failure *C.petal_error) {
			C.petal_aggregate_get_expected_errors(a.raw(), C.uint64_t(participants), raw, failure)
		})
}

// States returns how many states a participant can have. A closed aggregate has 0.
func (a *Aggregate) StateCount() uint32 {
	states := C.petal_aggregate_state_count(a.raw())
	runtime.KeepAlive(a)
	return uint32(states)
}
