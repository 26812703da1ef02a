package petal

// #include "keys.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// State is the state of a filter.
type State uint32

// The states.
const (
	// StateUnclean says that nobody marked the payload clean, or not yet. Somebody is changing the image, or was changing
	// it when the process ended, or the filter comes from such an image.
	StateUnclean State = C.PETAL_STATE_UNCLEAN
	// StateInPlace says that the image lies in a mapped file.
	StateInPlace State = C.PETAL_STATE_IN_PLACE
	// StateWritable says that this handle can change the filter.
	StateWritable State = C.PETAL_STATE_WRITABLE
	// StateCanHash says that the filter can hash keys: it takes keys, and has its secret key if it needs one.
	StateCanHash State = C.PETAL_STATE_CAN_HASH
	// StateStaysUnclean says that the filter is unclean and that only [Filter.MarkClean] makes it clean again.
	StateStaysUnclean State = C.PETAL_STATE_STAYS_UNCLEAN
)

// Has says whether the state includes all of other.
func (s State) Has(other State) bool { return s&other == other }

// Description describes a filter by its header.
type Description struct {
	Kind Kind `json:"kind"`
	Hash Hash `json:"hash"`
	// Seed is the seed, the identifier of the secret key, or the tag of external hashes.
	Seed          uint64 `json:"seed"`
	FormatVersion uint32 `json:"format_version"`
	LayoutVersion uint32 `json:"layout_version"`
	// Capabilities are what this handle can do: a file opened for reading cannot insert.
	Capabilities Capabilities `json:"capabilities"`
	State        State        `json:"state"`
	// Hashes is how many bits or cells a key takes; 0 for kinds without such a number.
	Hashes uint32 `json:"hashes"`
	// Capacity is the number of distinct keys that the filter has room for; 0 is unknown.
	Capacity uint64 `json:"capacity"`
	// Insertions is how many keys were inserted so far, duplicates included.
	Insertions uint64 `json:"insertions"`
	// Bits is how many bits the filter spreads its keys over.
	Bits uint64 `json:"bits"`
	// Bytes is the size of the whole image.
	Bytes uint64 `json:"bytes"`
	// BitsPerKey is Bits for each key of the capacity; 0 if the capacity is unknown.
	BitsPerKey float64 `json:"bits_per_key"`
	// FalsePositiveRate is the rate expected at capacity; 0 if the spec had exact bits.
	FalsePositiveRate float64 `json:"false_positive_rate"`
	Kernel            Kernel  `json:"kernel"`
}

// Statistics are how full a filter is.
type Statistics struct {
	// Fill is the share of the bits, or of other places, that keys have taken.
	Fill float64 `json:"fill"`
	// FalsePositiveRate is the present rate, measured from the payload.
	FalsePositiveRate float64 `json:"false_positive_rate"`
	// FalsePositiveRateFloor is the lowest rate that 64-bit hashes allow with this many keys.
	FalsePositiveRateFloor float64 `json:"false_positive_rate_floor"`
	// CountEstimate is the number of distinct keys, estimated from the fill; negative if the filter is too full to tell.
	CountEstimate float64 `json:"count_estimate"`
	// Saturated is how many counters have reached their greatest value, where they stay; 0 for kinds without counters.
	Saturated uint64 `json:"saturated"`
}

// Estimate is an estimate with its uncertainty.
type Estimate struct {
	// Value is the estimate as the formula gives it: the estimate of an intersection may be negative.
	Value         float64 `json:"value"`
	StandardError float64 `json:"standard_error"`
	// Low and High are the ends of the 95 % interval.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Saturated says that a filter is too full to tell, and that the numbers mean nothing.
	Saturated bool `json:"saturated"`
}

// Overlap compares two filters: the sizes of both sets, of the union and of the intersection.
type Overlap struct {
	FirstCount        Estimate `json:"first_count"`
	SecondCount       Estimate `json:"second_count"`
	UnionCount        Estimate `json:"union_count"`
	IntersectionCount Estimate `json:"intersection_count"`
	// Jaccard is the share of all keys that both filters hold.
	Jaccard Estimate `json:"jaccard"`
	// DifferenceCount is how many keys only one of the two holds. The error of this estimate grows with the difference,
	// and not with the sets.
	DifferenceCount Estimate `json:"difference_count"`
}

// descriptionOf converts the library's description of a filter or a map.
func descriptionOf(raw *C.petal_description) Description {
	return Description{
		Kind:              Kind(raw.kind),
		Hash:              Hash(raw.hash),
		Seed:              uint64(raw.seed),
		FormatVersion:     uint32(raw.format_version),
		LayoutVersion:     uint32(raw.layout_version),
		Capabilities:      Capabilities(raw.capabilities),
		State:             State(raw.state),
		Hashes:            uint32(raw.hashes),
		Capacity:          uint64(raw.capacity),
		Insertions:        uint64(raw.insertions),
		Bits:              uint64(raw.bits),
		Bytes:             uint64(raw.bytes),
		BitsPerKey:        float64(raw.bits_per_key),
		FalsePositiveRate: float64(raw.false_positive_rate),
		Kernel:            Kernel(raw.kernel),
	}
}

// statisticsOf converts the library's statistics of a filter or a map.
func statisticsOf(raw *C.petal_statistics) Statistics {
	return Statistics{
		Fill:                   float64(raw.fill),
		FalsePositiveRate:      float64(raw.false_positive_rate),
		FalsePositiveRateFloor: float64(raw.false_positive_rate_floor),
		CountEstimate:          float64(raw.count_estimate),
		Saturated:              uint64(raw.saturated),
	}
}

// Spec returns the spec of an empty filter that merges with this one: its exact bits and hashes, without the secret key
// of a keyed filter. Only reads the filter.
func (f *Filter) Spec() (Spec, error) {
	return writtenSpec("petal.Filter.Spec", func(raw *C.petal_spec, failure *C.petal_error) {
		C.petal_filter_get_spec(f.toRead(), raw, failure)
	})
}

// Capabilities returns what this handle can do; no capabilities if it is closed. Only reads the filter.
func (f *Filter) Capabilities() Capabilities {
	capabilities := C.petal_filter_capabilities(f.toRead())
	runtime.KeepAlive(f)
	return Capabilities(capabilities)
}

// Estimate returns how many distinct keys the filter holds, judged by its bits. Returns [ErrUnsupported] if its kind
// cannot tell. Reads the whole payload, and changes nothing.
func (f *Filter) Estimate() (Estimate, error) {
	return converted("petal.Filter.Estimate", C.petal_filter_estimate{}, estimate,
		func(raw *C.petal_filter_estimate, failure *C.petal_error) {
			C.petal_filter_get_estimate(f.toRead(), raw, failure)
		})
}

// EstimateOverlap compares two filters that could be merged. Reads both payloads, and changes nothing.
func (f *Filter) EstimateOverlap(other *Filter) (Overlap, error) {
	raw := C.petal_filter_overlap{struct_size: C.size_t(unsafe.Sizeof(C.petal_filter_overlap{}))}
	err := called("petal.Filter.EstimateOverlap", func(failure *C.petal_error) {
		C.petal_filter_estimate_overlap(f.toRead(), other.toRead(), &raw, failure)
	})
	return Overlap{
		FirstCount:        estimate(&raw.first_count),
		SecondCount:       estimate(&raw.second_count),
		UnionCount:        estimate(&raw.union_count),
		IntersectionCount: estimate(&raw.intersection_count),
		Jaccard:           estimate(&raw.jaccard),
		DifferenceCount:   estimate(&raw.difference_count),
	}, err
}

func estimate(raw *C.petal_filter_estimate) Estimate {
	return Estimate{
		Value:         float64(raw.value),
		StandardError: float64(raw.standard_error),
		Low:           float64(raw.low),
		High:          float64(raw.high),
		Saturated:     raw.saturated != 0,
	}
}

func sizedDescription() C.petal_description {
	return C.petal_description{struct_size: C.size_t(unsafe.Sizeof(C.petal_description{}))}
}

func sizedStatistics() C.petal_statistics {
	return C.petal_statistics{struct_size: C.size_t(unsafe.Sizeof(C.petal_statistics{}))}
}
