package petal

/*
#include "keys.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Digest is what is left of payloads that went by, such as packets or files: enough to say in which of them an excerpt
// was, and where. Payloads go in whole ([Digest.Add]) or in pieces ([Digest.Begin], [Digest.Write], [Digest.End]).
//
// Methods that only read the digest may run in many goroutines at once. [Digest.Close] and methods that change the
// digest need it to themselves. Digests are experimental: methods may still change. Pure Go does not read them.
type Digest struct {
	byPointer
	owner *held[*C.petal_digest]
}

// DigestMatch is a place where an excerpt was found.
type DigestMatch struct {
	// Payload is the id of the payload, 0 if the digest keeps no ids.
	Payload uint64
	// Offset is the least offset at which the excerpt may lie in the payload. Without ids this is the offset in a segment
	// of the payload, or 0 if blocks are cut by content.
	Offset uint64
	// Span is from how many offsets on, beginning with Offset, the excerpt may lie: 1 with fixed blocks.
	Span uint64
}

// DigestFindResult says what a search found.
type DigestFindResult struct {
	// Matches are the places.
	Matches []DigestMatch
	// Complete says that the search came to its end. Otherwise the search stopped at one of the bounds, and there may be
	// more matches.
	Complete bool
	// NamesPayloads says that matches name payloads, because the digest keeps their ids.
	NamesPayloads bool
	// Rate is the probability that a random excerpt of as many blocks, which no payload has, is found.
	Rate float64
	// WrongSegments is how many wrong segments of payloads are named on average besides the right one, if a payload has
	// the excerpt. It is 0 without ids.
	WrongSegments float64
	// Lookups is how many entries of the filter were looked up.
	Lookups uint64
}

// DigestFindOptions are the bounds of a search. 0 is the default of each.
type DigestFindOptions struct {
	// MaxExcerpt is the most bytes that an excerpt may have; 0 is 2^20.
	MaxExcerpt uint64
	// MaxLookups is the most entries of the filter that are looked up; 0 is 2^28.
	MaxLookups uint64
	// MaxMatches is the most matches that are given; 0 is 64.
	MaxMatches int
}

// DigestStatistics are the counters of a digest.
type DigestStatistics struct {
	// Payloads is how many payloads the digest has ids of; 0 if it keeps none.
	Payloads uint64 `json:"payloads"`
	// Segments is how many segments these payloads have.
	Segments uint64 `json:"segments"`
	// Longest is how many bytes the longest payload has.
	Longest uint64 `json:"longest"`
	// Entries is how many entries were inserted into the filter.
	Entries uint64 `json:"entries"`
	// Fill is the share of the filter's bits that are set.
	Fill float64 `json:"fill"`
	// EntryRate is the probability that the filter seems to have an entry that nobody inserted.
	EntryRate float64 `json:"entry_rate"`
}

// NewDigest makes an empty digest. The Capacity of the spec is a number of bytes of data. The Kind is "digest"; an
// empty one stands for it if no parameter is set. Without a rate and bits, the parameter bytes_per_byte says how many
// bytes of memory each byte of data gets.
func NewDigest(spec Spec) (*Digest, error) {
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	return digestOf(made("petal.NewDigest", freeDigest, func(handle **C.petal_digest, failure *C.petal_error) {
		C.petal_digest_new(&raw, handle, failure)
	}))
}

// Write takes the next bytes of the open payload, so that a digest is an [io.Writer] between [Digest.Begin] and
// [Digest.End]. Changes the digest.
func (d *Digest) Write(bytes []byte) (int, error) {
	err := called("petal.Digest.Write", func(failure *C.petal_error) {
		C.petal_go_digest_write(d.toChange(), bytesOf(bytes), C.size_t(len(bytes)), failure)
	})
	if err != nil {
		return 0, err
	}
	return len(bytes), nil
}

// maxDigestMatches is the most matches that a search has room for.
const maxDigestMatches = 1 << 20

// Find looks for an excerpt. options may be nil. Returns [ErrOutOfRange] for an excerpt that is shorter than
// [Digest.ShortestExcerpt], too long, or without a block if blocks are cut by content. Only reads the digest.
func (d *Digest) Find(excerpt []byte, options *DigestFindOptions) (DigestFindResult, error) {
	raw := C.petal_digest_find_options{struct_size: C.size_t(unsafe.Sizeof(C.petal_digest_find_options{}))}
	room := 64
	if options != nil {
		raw.max_excerpt, raw.max_lookups = C.uint64_t(options.MaxExcerpt), C.uint64_t(options.MaxLookups)
		if options.MaxMatches > 0 {
			room = min(options.MaxMatches, maxDigestMatches)
		}
	}
	matches := make([]DigestMatch, room)
	result := C.petal_digest_find_result{struct_size: C.size_t(unsafe.Sizeof(C.petal_digest_find_result{}))}
	err := called("petal.Digest.Find", func(failure *C.petal_error) {
		C.petal_go_digest_find(d.raw(), bytesOf(excerpt), C.size_t(len(excerpt)), &raw,
			(*C.petal_digest_match)(unsafe.Pointer(unsafe.SliceData(matches))), C.size_t(room), &result, failure)
	})
	if err != nil {
		return DigestFindResult{}, err
	}
	return DigestFindResult{
		Matches:       matches[:result.match_count:result.match_count],
		Complete:      result.is_complete != 0,
		NamesPayloads: result.names_payloads != 0,
		Rate:          float64(result.rate),
		WrongSegments: float64(result.wrong_segments),
		Lookups:       uint64(result.lookups),
	}, nil
}

// ShortestExcerpt returns the length in bytes of the shortest excerpt that [Digest.Find] takes.
func (d *Digest) ShortestExcerpt() uint64 {
	shortest := C.petal_digest_shortest_excerpt(d.raw())
	runtime.KeepAlive(d)
	return uint64(shortest)
}

// Statistics returns the counters of the digest, in constant time.
func (d *Digest) Statistics() (DigestStatistics, error) {
	raw := C.petal_digest_statistics{struct_size: C.size_t(unsafe.Sizeof(C.petal_digest_statistics{}))}
	return converted("petal.Digest.Statistics", raw, digestStatisticsOf,
		func(raw *C.petal_digest_statistics, failure *C.petal_error) {
			C.petal_digest_get_statistics(d.raw(), raw, failure)
		})
}

func digestStatisticsOf(raw *C.petal_digest_statistics) DigestStatistics {
	return DigestStatistics{
		Payloads:  uint64(raw.payloads),
		Segments:  uint64(raw.segments),
		Longest:   uint64(raw.longest),
		Entries:   uint64(raw.entries),
		Fill:      float64(raw.fill),
		EntryRate: float64(raw.entry_rate),
	}
}

// PayloadAt returns the id and the length of the payload that came as number index, from 0 on.
func (d *Digest) PayloadAt(index uint64) (payload, length uint64, err error) {
	told, err := answered("petal.Digest.PayloadAt", func(told *[2]uint64, failure *C.petal_error) {
		C.petal_digest_get_payload_at(d.raw(), C.uint64_t(index), (*C.uint64_t)(&told[0]), (*C.uint64_t)(&told[1]), failure)
	})
	return told[0], told[1], err
}

// Attachment returns the bytes that [Digest.Attach] kept.
func (d *Digest) Attachment() ([]byte, error) {
	const op = "petal.Digest.Attachment"
	size := func() (uint64, error) {
		return answered(op, func(size *uint64, failure *C.petal_error) {
			var length C.size_t
			C.petal_go_digest_get_attachment(d.raw(), nil, 0, &length, failure)
			*size = uint64(length)
		})
	}
	return marshalled(op, size, func(bytes []byte, failure *C.petal_error) {
		var length C.size_t
		C.petal_go_digest_get_attachment(d.raw(), bytesOf(bytes), C.size_t(len(bytes)), &length, failure)
	})
}

// Capabilities returns what this digest can do now: a digest that is open for reading can do less than its kind.
func (d *Digest) Capabilities() Capabilities {
	capabilities := C.petal_digest_capabilities(d.raw())
	runtime.KeepAlive(d)
	return Capabilities(capabilities)
}
