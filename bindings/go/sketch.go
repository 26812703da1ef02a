package petal

/*
#include "keys.h"

#cgo noescape petal_sketch_insert_u64
#cgo nocallback petal_sketch_insert_u64
#cgo noescape petal_sketch_insert_hash
#cgo nocallback petal_sketch_insert_hash
#cgo noescape petal_go_sketch_change
#cgo nocallback petal_go_sketch_change
#cgo noescape petal_sketch_remove_u64
#cgo nocallback petal_sketch_remove_u64
#cgo noescape petal_sketch_remove_hash
#cgo nocallback petal_sketch_remove_hash

extern _Bool petalGoWrite(uintptr_t context, void *bytes, size_t length);

static bool petal_go_sketch_write(void *context, const void *bytes, size_t length) {
	return petalGoWrite((uintptr_t)context, (void *)bytes, length);
}

static petal_status petal_go_sketch_serialize_to(const petal_sketch *sketch, uintptr_t context, petal_error *error) {
	return petal_sketch_serialize_to(sketch, petal_go_sketch_write, (void *)context, error);
}
*/
import "C"

import (
	"io"
	"os"
	"runtime"
	"unsafe"
)

// Sketch is a set of 64-bit numbers in little memory. Subtract one sketch from another, and list the numbers that only
// one of them has. A uint64 key is the number itself; the number of a byte key is its hash. Insert a number only once:
// a sketch cannot tell that it has the number already, and does not list numbers that are there twice.
//
// Methods that only read the sketch may run in many goroutines at once. [Sketch.Close] and methods that change the
// sketch need it to themselves.
type Sketch struct {
	byPointer
	owner *held[*C.petal_sketch]
}

// Listed is a number that a sketch lists, and its count: 1 for a number that was inserted, -1 for a number that was
// removed, or that only the subtracted sketch had.
type Listed struct {
	Number uint64
	Count  int64
}

func freeSketch(handle *C.petal_sketch) { C.petal_sketch_free(handle) }

// sketchOf returns the sketch of a handle, or the error of the call that should make it.
func sketchOf(owner *held[*C.petal_sketch], err error) (*Sketch, error) {
	if err != nil {
		return nil, err
	}
	return &Sketch{owner: owner}, nil
}

// raw returns the library's sketch from [held.toRead].
func (s *Sketch) raw() *C.petal_sketch {
	if s == nil {
		return nil
	}
	return s.owner.toRead()
}

// toChange returns the library's sketch from [held.toChange].
func (s *Sketch) toChange() *C.petal_sketch {
	if s == nil {
		return nil
	}
	return s.owner.toChange()
}

// NewSketch makes an empty sketch. The Capacity of the spec is the greatest number of differences, and
// FalsePositiveRate is the probability that the sketch cannot list that many. Sketches of one spec can be subtracted.
func NewSketch(spec Spec) (*Sketch, error) {
	raw, err := spec.raw()
	if err != nil {
		return nil, err
	}
	return sketchOf(made("petal.NewSketch", freeSketch, func(handle **C.petal_sketch, failure *C.petal_error) {
		C.petal_sketch_new(&raw, handle, failure)
	}))
}

// Close frees the sketch. If you changed an image in place, Close writes the changes first; call [Sketch.Sync] before
// if you want to know whether that works. The error is always nil. Closing twice is allowed.
func (s *Sketch) Close() error {
	if s != nil {
		s.owner.close()
	}
	return nil
}

// OpenSketch opens a file that is the image of a sketch: for reading, for writing or as a copy. If another process
// truncates a file while it is mapped, touching the lost part ends the program; use OpenLoad where that may happen.
func OpenSketch(path string, options *OpenOptions) (*Sketch, error) {
	return sketchOf(openedBy("petal.OpenSketch", path, options, freeSketch,
		func(path *C.char, raw *C.petal_open_options, handle **C.petal_sketch, failure *C.petal_error) {
			C.petal_sketch_open(path, raw, handle, failure)
		}))
}

// OpenSketchAt opens the image of a sketch at an offset of an open file. The offset is a multiple of 8, and other data
// may follow the image. You may close the file right away.
func OpenSketchAt(file *os.File, offset int64, options *OpenOptions) (*Sketch, error) {
	raw := options.raw()
	return sketchOf(openedAt("petal.OpenSketchAt", file, offset, freeSketch,
		func(descriptor uintptr, handle **C.petal_sketch, failure *C.petal_error) {
			C.petal_sketch_open_descriptor(C.intptr_t(descriptor), C.uint64_t(offset), &raw, handle, failure)
		}))
}

// LoadSketch copies the image at the start of a slice into new memory and compares the checksums.
func LoadSketch(image []byte, options *OpenOptions) (*Sketch, error) {
	raw := options.raw()
	return sketchOf(made("petal.LoadSketch", freeSketch, func(handle **C.petal_sketch, failure *C.petal_error) {
		C.petal_go_sketch_load(nonNil(image), C.size_t(len(image)), &raw, handle, failure)
	}))
}

// Copy copies the sketch into new memory.
func (s *Sketch) Copy() (*Sketch, error) {
	return sketchOf(made("petal.Sketch.Copy", freeSketch, func(handle **C.petal_sketch, failure *C.petal_error) {
		C.petal_sketch_copy(s.raw(), handle, failure)
	}))
}

// The batch calls of a sketch, each without keys.
func insertInSketchNone(s *Sketch, none Keys) error   { return s.InsertBatch(none, nil) }
func removeFromSketchNone(s *Sketch, none Keys) error { return s.RemoveBatch(none, nil) }

// Insert inserts the hash of a byte key, as a number. Changes the sketch.
func (s *Sketch) Insert(key []byte) error {
	status := C.petal_go_sketch_change(s.toChange(), false, bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.Insert", status, s, insertInSketchNone, StringKeys(nil))
}

// InsertString is [Sketch.Insert] for the bytes of a string.
func (s *Sketch) InsertString(key string) error {
	status := C.petal_go_sketch_change(s.toChange(), false, textOf(key), C.size_t(len(key)))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.InsertString", status, s, insertInSketchNone, StringKeys(nil))
}

// InsertUint64 inserts a number. Changes the sketch.
func (s *Sketch) InsertUint64(number uint64) error {
	status := C.petal_sketch_insert_u64(s.toChange(), C.uint64_t(number))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.InsertUint64", status, s, insertInSketchNone, Uint64Keys(nil))
}

// InsertHash inserts the hash of a key, which is a number like any other. Changes the sketch.
func (s *Sketch) InsertHash(hash uint64) error {
	status := C.petal_sketch_insert_hash(s.toChange(), C.uint64_t(hash))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.InsertHash", status, s, insertInSketchNone, HashKeys(nil))
}

// InsertBatch inserts many keys in order. answers may be nil; it only tells how many keys were inserted, the first
// answers.Done, and has no Bools. Changes the sketch.
func (s *Sketch) InsertBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Sketch.InsertBatch", C.PETAL_GO_SKETCH_INSERT, unsafe.Pointer(s.toChange()), keys, answers)
	runtime.KeepAlive(s)
	return err
}

// Remove removes a byte key. If you remove a number that you did not insert, the sketch lists the number with -1.
// Changes the sketch.
func (s *Sketch) Remove(key []byte) error {
	status := C.petal_go_sketch_change(s.toChange(), true, bytesOf(key), C.size_t(len(key)))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.Remove", status, s, removeFromSketchNone, StringKeys(nil))
}

// RemoveString is [Sketch.Remove] for the bytes of a string.
func (s *Sketch) RemoveString(key string) error {
	status := C.petal_go_sketch_change(s.toChange(), true, textOf(key), C.size_t(len(key)))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.RemoveString", status, s, removeFromSketchNone, StringKeys(nil))
}

// RemoveUint64 is [Sketch.Remove] for a number.
func (s *Sketch) RemoveUint64(number uint64) error {
	status := C.petal_sketch_remove_u64(s.toChange(), C.uint64_t(number))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.RemoveUint64", status, s, removeFromSketchNone, Uint64Keys(nil))
}

// RemoveHash is [Sketch.Remove] for the hash of a key.
func (s *Sketch) RemoveHash(hash uint64) error {
	status := C.petal_sketch_remove_hash(s.toChange(), C.uint64_t(hash))
	runtime.KeepAlive(s)
	return explained("petal.Sketch.RemoveHash", status, s, removeFromSketchNone, HashKeys(nil))
}

// RemoveBatch removes many keys in order, as [Sketch.InsertBatch] inserts them. Changes the sketch.
func (s *Sketch) RemoveBatch(keys Keys, answers *Answers) error {
	err := runBatch("petal.Sketch.RemoveBatch", C.PETAL_GO_SKETCH_REMOVE, unsafe.Pointer(s.toChange()), keys, answers)
	runtime.KeepAlive(s)
	return err
}

// Subtract subtracts another sketch. Numbers that both have are gone, and the sketch lists numbers that only other has
// with -1. Returns [ErrIncompatible] unless both sketches come from one spec. Changes s and only reads other.
func (s *Sketch) Subtract(other *Sketch) error {
	return called("petal.Sketch.Subtract", func(failure *C.petal_error) {
		C.petal_sketch_subtract(s.toChange(), other.raw(), failure)
	})
}

// Merge adds all numbers of another sketch. If the two sets have nothing in common, the result is the sketch of both.
// Merge refuses the same sketches as [Sketch.Subtract].
func (s *Sketch) Merge(other *Sketch) error {
	return called("petal.Sketch.Merge", func(failure *C.petal_error) {
		C.petal_sketch_merge(s.toChange(), other.raw(), failure)
	})
}

// List returns the numbers of the sketch in ascending order, first those with -1, then those with 1. complete says
// whether these are all numbers. If there are more differences than the sketch can tell apart, the list is right, but
// some numbers are missing; a pinsketch then lists none. Returns [ErrKeyMissing] if the secret key was not given.
func (s *Sketch) List() (listed []Listed, complete bool, err error) {
	description, err := s.Describe()
	if err != nil {
		return nil, false, err
	}
	return listedBy("petal.Sketch.List", description.Bits/192,
		func(listed *C.petal_listed, room C.size_t, count *C.size_t, complete *C.bool, failure *C.petal_error) {
			C.petal_sketch_list(s.raw(), listed, room, count, complete, failure)
		})
}

// ListKeys returns the whole keys of a sketch that was made with the parameter key_bytes, in ascending order of their
// bytes: first those with -1, then those with 1. complete says whether these are all. Returns [ErrUnsupported] for a
// sketch of numbers.
func (s *Sketch) ListKeys() (listed []ListedKey, complete bool, err error) {
	return listedKeysBy("petal.Sketch.ListKeys", s.KeyBytes(), s.Symbols(),
		func(keys *C.uint8_t, counts *C.int64_t, room C.size_t, count *C.size_t, complete *C.bool,
			failure *C.petal_error,
		) {
			C.petal_go_sketch_list_keys(s.raw(), keys, counts, room, count, complete, failure)
		})
}

// KeyBytes returns how many bytes a key has, if the sketch holds whole keys; 0 if it holds numbers.
func (s *Sketch) KeyBytes() int {
	bytes := C.petal_sketch_key_bytes(s.raw())
	runtime.KeepAlive(s)
	return int(bytes)
}

// KeepKeys keeps the set of keys in memory from now on: some 25 to 45 bytes for a number. Inserting a key that is
// there, and removing a key that is not there, then change nothing. The sketch must be empty. [Sketch.Copy] copies the
// keys, and images have none. After [Sketch.Merge] and [Sketch.Subtract] the sketch keeps no keys. Changes the sketch.
func (s *Sketch) KeepKeys() error {
	return called("petal.Sketch.KeepKeys", func(failure *C.petal_error) {
		C.petal_sketch_keep_keys(s.toChange(), failure)
	})
}

// KeepsKeys tells whether the sketch keeps its keys.
func (s *Sketch) KeepsKeys() bool {
	keeps := C.petal_sketch_keeps_keys(s.raw())
	runtime.KeepAlive(s)
	return bool(keeps)
}

// Symbols returns how many coded symbols the sketch has, 0 if its kind has none.
func (s *Sketch) Symbols() uint64 {
	symbols := C.petal_sketch_symbols(s.raw())
	runtime.KeepAlive(s)
	return uint64(symbols)
}

// ExportMinisketch returns the bytes that minisketch serializes for a sketch of the same numbers. Returns
// [ErrUnsupported] for other kinds than pinsketch.
func (s *Sketch) ExportMinisketch() ([]byte, error) {
	const op = "petal.Sketch.ExportMinisketch"
	size := func() (uint64, error) {
		return answered(op, func(size *uint64, failure *C.petal_error) {
			var length C.size_t
			C.petal_go_sketch_export_minisketch(s.raw(), nil, 0, &length, failure)
			*size = uint64(length)
		})
	}
	return marshalled(op, size, func(bytes []byte, failure *C.petal_error) {
		var length C.size_t
		C.petal_go_sketch_export_minisketch(s.raw(), bytesOf(bytes), C.size_t(len(bytes)), &length, failure)
	})
}

// ImportMinisketch takes the numbers of a serialized sketch of minisketch instead of those that are there. Both
// sketches have the same capacity and bits of an element; [ErrForeign] says that they do not. Bytes of minisketch have
// no checksum, so a list of more differences than the capacity may be called complete. Changes the sketch.
func (s *Sketch) ImportMinisketch(bytes []byte) error {
	return called("petal.Sketch.ImportMinisketch", func(failure *C.petal_error) {
		C.petal_go_sketch_import_minisketch(s.toChange(), nonNil(bytes), C.size_t(len(bytes)), failure)
	})
}

// Clear forgets all numbers. Changes the sketch.
func (s *Sketch) Clear() error {
	return called("petal.Sketch.Clear", func(failure *C.petal_error) { C.petal_sketch_clear(s.toChange(), failure) })
}

// Capabilities returns what this sketch can do now: a sketch that is open for reading can do less than its kind.
func (s *Sketch) Capabilities() Capabilities {
	capabilities := C.petal_sketch_capabilities(s.raw())
	runtime.KeepAlive(s)
	return Capabilities(capabilities)
}

// ExpectedFailureRate returns an upper estimate of the probability that this many numbers cannot be listed.
func (s *Sketch) ExpectedFailureRate(numbers uint64) (float64, error) {
	return answered("petal.Sketch.ExpectedFailureRate", func(rate *float64, failure *C.petal_error) {
		C.petal_sketch_expected_failure_rate(s.raw(), C.uint64_t(numbers), (*C.double)(rate), failure)
	})
}

// CompatibilityID returns an identifier that is equal for two sketches if one can be subtracted from the other.
func (s *Sketch) CompatibilityID() ([16]byte, error) {
	return answered("petal.Sketch.CompatibilityID", func(id *[16]byte, failure *C.petal_error) {
		C.petal_sketch_compatibility_id(s.raw(), (*C.uint8_t)(&id[0]), failure)
	})
}

// Save writes the image to a file: first to a temporary file next to it, which then replaces the old file in one step.
func (s *Sketch) Save(path string) error {
	return withPath("petal.Sketch.Save", path, func(path *C.char, failure *C.petal_error) {
		C.petal_sketch_save(s.raw(), path, failure)
	})
}

// Sync writes the changes of an image in place to its disk. [Sketch.Close] does the same, but does not say whether it
// worked. Changes the sketch.
func (s *Sketch) Sync() error {
	return called("petal.Sketch.Sync", func(failure *C.petal_error) { C.petal_sketch_sync(s.toChange(), failure) })
}

// Vouch declares the present bytes to be right, and makes the sketch clean. Reads the whole payload. Changes the
// sketch.
func (s *Sketch) Vouch() error {
	return called("petal.Sketch.Vouch", func(failure *C.petal_error) { C.petal_sketch_vouch(s.toChange(), failure) })
}

// Verify reads and checks all bytes as they are now. Returns [ErrCorrupt] if a part does not match its checksum.
func (s *Sketch) Verify() error {
	return called("petal.Sketch.Verify", func(failure *C.petal_error) { C.petal_sketch_verify(s.raw(), failure) })
}

// SerializedSize returns the size of the image in bytes.
func (s *Sketch) SerializedSize() (uint64, error) {
	return answered("petal.Sketch.SerializedSize", func(size *uint64, failure *C.petal_error) {
		C.petal_sketch_serialized_size(s.raw(), (*C.uint64_t)(size), failure)
	})
}

// MarshalBinary returns the image.
func (s *Sketch) MarshalBinary() ([]byte, error) {
	const op = "petal.Sketch.MarshalBinary"
	return marshalled(op, s.SerializedSize, func(image []byte, failure *C.petal_error) {
		C.petal_go_sketch_serialize(s.raw(), bytesOf(image), C.size_t(len(image)), failure)
	})
}

// WriteTo writes the image, piece by piece and without a copy of the whole. The writer must not end its goroutine
// ([runtime.Goexit]).
func (s *Sketch) WriteTo(w io.Writer) (int64, error) {
	return streamed("petal.Sketch.WriteTo", w, func(context C.uintptr_t, failure *C.petal_error) {
		C.petal_go_sketch_serialize_to(s.raw(), context, failure)
	})
}

// Describe describes the sketch by its header, in constant time.
func (s *Sketch) Describe() (Description, error) {
	const op = "petal.Sketch.Describe"
	return converted(op, sizedDescription(), descriptionOf, func(raw *C.petal_description, failure *C.petal_error) {
		C.petal_sketch_describe(s.raw(), raw, failure)
	})
}
