package petal

/*
#include "keys.h"

#cgo noescape petal_go_stream_write
#cgo nocallback petal_go_stream_write
#cgo noescape petal_go_stream_read
#cgo nocallback petal_go_stream_read
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// streamHeader and streamBeside are the most bytes before the first coded symbol, and of a symbol besides its key.
const (
	streamHeader = 16
	streamBeside = 18
)

// Stream has coded symbols from a sketch and to it. One side writes the symbols of its set. The other side reads them
// as they come, subtracts its own, and says when it has found all differences. Neither side has to know the number of
// differences beforehand. Symbols after those of the sketch come from the keys that the sketch keeps
// ([Sketch.KeepKeys]).
//
// The sketch must not change while the stream is used: methods then return [ErrContradiction]. If the sketch is closed,
// they return [ErrClosed]. All methods need the stream to themselves.
type Stream struct {
	never
	owner    *held[*C.petal_stream]
	sketch   *Sketch
	keyBytes int
}

// NewStream makes a stream that has written and read nothing. Returns [ErrUnsupported] if the kind of the sketch has no
// coded symbols.
func NewStream(s *Sketch) (*Stream, error) {
	owner, err := made("petal.NewStream", func(handle *C.petal_stream) { C.petal_stream_free(handle) },
		func(handle **C.petal_stream, failure *C.petal_error) { C.petal_stream_new(s.raw(), handle, failure) })
	if err != nil {
		return nil, err
	}
	return &Stream{owner: owner, sketch: s, keyBytes: s.KeyBytes()}, nil
}

// raw returns the library's stream, or NULL if the stream or its sketch is closed.
func (s *Stream) raw() *C.petal_stream {
	if s == nil || s.sketch.raw() == nil {
		return nil
	}
	return s.owner.toChange()
}

// Close frees the stream. The error is always nil. Closing twice is allowed.
func (s *Stream) Close() error {
	if s != nil {
		s.owner.close()
	}
	return nil
}

// SetLimit sets the most symbols that the stream reads; 2^20 if you do not set it. [Stream.Read] returns [ErrTooLarge]
// for a symbol past the limit.
func (s *Stream) SetLimit(symbols uint64) error {
	return called("petal.Stream.SetLimit", func(failure *C.petal_error) {
		C.petal_stream_set_limit(s.raw(), C.uint64_t(symbols), failure)
	})
}

// Append appends the next coded symbols of the sketch, as many as symbols says, or fewer if the sketch keeps no keys.
// Returns [ErrUnsupported] if the sketch keeps no keys and the stream has written all symbols of the sketch.
func (s *Stream) Append(b []byte, symbols int) ([]byte, error) {
	const op = "petal.Stream.Append"
	most := streamHeader + streamBeside
	if s != nil {
		most += s.keyBytes
	}
	for room := 0; symbols > 0; symbols -= room {
		// A piece at a time, so that no more memory is asked for than the symbols need.
		room = min(symbols, 1024)
		before := s.SymbolsWritten()
		grown, place := grow(b, room*most)
		var written C.size_t
		err := called(op, func(failure *C.petal_error) {
			C.petal_go_stream_write(s.raw(), C.uint64_t(room), bytesOf(place), C.size_t(len(place)), &written, failure)
		})
		if err != nil {
			return b, err
		}
		b = grown[:len(b)+int(written)]
		if s.SymbolsWritten()-before < uint64(room) {
			return b, nil
		}
	}
	return b, nil
}

// Read reads the next bytes of the other side's stream, which may end anywhere. complete says whether the symbols up to
// here show all differences. Returns [ErrForeign] or [ErrIncompatible] if the stream is not for this sketch,
// [ErrCorrupt] for symbols that no set has, [ErrTooLarge] past the limit, and [ErrUnsupported] if the next symbol needs
// the keys and the sketch does not keep them. After an error the stream reads no more, and keeps what it has found.
func (s *Stream) Read(b []byte) (complete bool, err error) {
	var isComplete C.bool
	err = called("petal.Stream.Read", func(failure *C.petal_error) {
		C.petal_go_stream_read(s.raw(), nonNil(b), C.size_t(len(b)), &isComplete, failure)
	})
	return bool(isComplete), err
}

// List returns the differences that are found so far: with Count 1 those that only the sketch has, with -1 those that
// only the other side has. complete says whether these are all.
func (s *Stream) List() (listed []SketchListed, complete bool, err error) {
	return listedBy("petal.Stream.List", s.SymbolsRead(),
		func(listed *C.petal_sketch_listed, room C.size_t, count *C.size_t, complete *C.bool, failure *C.petal_error) {
			C.petal_stream_list(s.raw(), listed, room, count, complete, failure)
		})
}

// ListKeys is [Stream.List] for a sketch of whole keys.
func (s *Stream) ListKeys() (listed []SketchListedKey, complete bool, err error) {
	keyBytes := 0
	if s != nil {
		keyBytes = s.keyBytes
	}
	return listedKeysBy("petal.Stream.ListKeys", keyBytes, s.SymbolsRead(),
		func(keys *C.uint8_t, signs *C.int64_t, room C.size_t, count *C.size_t, complete *C.bool,
			failure *C.petal_error,
		) {
			C.petal_go_stream_list_keys(s.raw(), keys, signs, room, count, complete, failure)
		})
}

// SymbolsWritten returns how many coded symbols were written.
func (s *Stream) SymbolsWritten() uint64 {
	symbols := C.petal_stream_symbols_written(s.raw())
	runtime.KeepAlive(s)
	return uint64(symbols)
}

// SymbolsRead returns how many coded symbols were read.
func (s *Stream) SymbolsRead() uint64 {
	symbols := C.petal_stream_symbols_read(s.raw())
	runtime.KeepAlive(s)
	return uint64(symbols)
}

// SketchListedKey is a whole key that a sketch lists, and its sign, as in [SketchListed].
type SketchListedKey struct {
	Key  []byte
	Sign int64
}

// listedBy returns a list of numbers. There are at most room, unless the kind has smaller cells.
func listedBy(op string, room uint64,
	list func(*C.petal_sketch_listed, C.size_t, *C.size_t, *C.bool, *C.petal_error),
) (listed []SketchListed, complete bool, err error) {
	// A kind with smaller cells may list more numbers.
	for {
		listed = make([]SketchListed, room)
		var count C.size_t
		var isComplete C.bool
		err := called(op, func(failure *C.petal_error) {
			list((*C.petal_sketch_listed)(unsafe.Pointer(unsafe.SliceData(listed))), C.size_t(room), &count, &isComplete,
				failure)
		})
		if err != nil {
			return nil, false, err
		}
		if uint64(count) <= room {
			return listed[:count], bool(isComplete), nil
		}
		room = uint64(count)
	}
}

// listedKeysBy returns a list of whole keys, of which there are at most room.
func listedKeysBy(op string, keyBytes int, room uint64,
	list func(*C.uint8_t, *C.int64_t, C.size_t, *C.size_t, *C.bool, *C.petal_error),
) (listed []SketchListedKey, complete bool, err error) {
	keys, signs := make([]byte, uint64(keyBytes)*room+1), make([]int64, room+1)
	var count C.size_t
	var isComplete C.bool
	err = called(op, func(failure *C.petal_error) {
		list(bytesOf(keys), (*C.int64_t)(unsafe.SliceData(signs)), C.size_t(room), &count, &isComplete, failure)
	})
	if err != nil {
		return nil, false, err
	}
	listed = make([]SketchListedKey, min(uint64(count), room))
	for i := range listed {
		start := i * keyBytes
		listed[i] = SketchListedKey{keys[start : start+keyBytes : start+keyBytes], signs[i]}
	}
	return listed, bool(isComplete), nil
}
