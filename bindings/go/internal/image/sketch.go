package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"sort"
)

// Sketch is an opened sketch: a set of 64-bit numbers in little memory, which is subtracted from another one and lists
// what only one of them has. Sketches are made with package petal or the command petal. The zero value is a closed
// sketch.
type Sketch struct {
	image *Filter
}

// Listed is a number that a sketch lists, and its count: 1 of one that was inserted, -1 of one that was removed, or
// that a subtracted sketch had more.
type Listed struct {
	Number uint64
	Count  int64
}

// OpenSketch maps a file that is a sketch, and nothing else, for reading.
func OpenSketch(path string, options *Options) (*Sketch, error) {
	return asSketch(open(path, options, aSketch))
}

// WrapSketch opens the sketch at the start of a slice, in place and for reading.
func WrapSketch(image []byte, options *Options) (*Sketch, error) {
	return asSketch(wrap(image, options, aSketch))
}

// LoadSketch copies the sketch at the start of a slice and compares the checksums, unless it is dirty.
func LoadSketch(image []byte, options *Options) (*Sketch, error) {
	return asSketch(load(image, options, aSketch))
}

// ReadSketch reads one sketch, and not a byte more, and compares the checksums, unless it is dirty.
func ReadSketch(r io.Reader, options *Options) (*Sketch, error) {
	return asSketch(read(r, options, aSketch))
}

func asSketch(image *Filter, err error) (*Sketch, error) {
	if err != nil {
		return nil, err
	}
	return &Sketch{image}, nil
}

// opened returns the image, a closed one if the sketch is closed or nil.
func (s *Sketch) opened() *Filter {
	if s == nil || s.image == nil {
		return &Filter{}
	}
	return s.image
}

// Close lets go of the file and of the memory. Closing twice is allowed.
func (s *Sketch) Close() error { return s.opened().Close() }

// Header returns what the image says about itself. The count includes the changes since.
func (s *Sketch) Header() Header { return s.opened().header }

// String returns one line about the sketch, or "closed".
func (s *Sketch) String() string {
	f := s.opened()
	h := &f.header
	if h.Kind == 0 {
		return "closed"
	}
	line := fmt.Sprintf("%v, %d numbers", h.Kind, h.Offered)
	if h.Capacity != 0 {
		line += fmt.Sprintf(", for %d differences", h.Capacity)
	}
	line += fmt.Sprintf(", %d bytes", len(f.image))
	if h.Dirty {
		line += ", dirty"
	}
	return line
}

// Verify checks the bytes that are there now, by reading them.
func (s *Sketch) Verify() error { return s.opened().Verify() }

// WriteTo writes the image, with checksums of the bytes that it writes.
func (s *Sketch) WriteTo(w io.Writer) (int64, error) { return s.opened().WriteTo(w) }

// MarshalBinary returns the image as [Sketch.WriteTo] writes it.
func (s *Sketch) MarshalBinary() ([]byte, error) { return s.opened().MarshalBinary() }

// Copy copies the sketch, wherever it lies, into memory of its own, where it can be changed.
func (s *Sketch) Copy() (*Sketch, error) {
	f := s.opened()
	image, err := f.MarshalBinary()
	if err != nil {
		return nil, err
	}
	header, err := readHeader(image)
	if err != nil {
		return nil, err
	}
	end := headerLength + len(f.payload)
	return &Sketch{&Filter{
		row: f.row, kind: f.kind, payload: image[headerLength:end:end], shape: f.shape, hasher: f.hasher, header: header,
		image: image, writable: true,
	}}, nil
}

// Add inserts the number that a byte key's hash is (count = 1) or removes it (count = -1).
func (s *Sketch) Add(key []byte, count int64) error {
	f := s.opened()
	number, ok := f.hasher.hash(key)
	if !ok {
		return f.unhashable()
	}
	return s.AddUint64(number, count)
}

// AddString is [Sketch.Add] for the bytes of a string.
func (s *Sketch) AddString(key string, count int64) error { return s.Add(bytesOf(key), count) }

// AddUint64 inserts a number (count = 1) or removes it (count = -1).
func (s *Sketch) AddUint64(number uint64, count int64) error {
	f := s.opened()
	payload, err := f.Change()
	if err != nil {
		return err
	}
	hash, ok := f.hasher.hashUint64(number)
	if !ok {
		return f.unhashable()
	}
	f.row.add(&f.shape, payload, hash, number, count)
	switch offered := &f.header.Offered; {
	case count > 0 && *offered+1 != 0:
		*offered++
	case count < 0 && *offered > 0:
		*offered--
	}
	return nil
}

// Combine adds all that another sketch has, or subtracts it. If the other is dirty this one becomes so.
func (s *Sketch) Combine(other *Sketch, subtract bool) error {
	f, others := s.opened(), other.opened()
	if f.kind == 0 || others.kind == 0 {
		return ErrClosed
	}
	if !f.writable {
		return ErrReadOnly
	}
	if err := Compatible(f, others, ": give both specs the same Capacity and rate, or the same Bits and Hashes"); err != nil {
		return err
	}
	err := others.Verify()
	if err != nil && !errors.Is(err, ErrDirty) {
		return err
	}
	payload, refused := f.Change()
	if refused != nil {
		return refused
	}
	f.row.combine(payload, others.payload[:len(payload)], subtract)
	ours, theirs := f.header.Offered, others.header.Offered
	if subtract {
		f.header.Offered = ours - min(ours, theirs)
	} else {
		sum, carry := bits.Add64(ours, theirs, 0)
		f.header.Offered = sum | -carry
	}
	f.header.Dirty = f.header.Dirty || err != nil
	runtime.KeepAlive(other)
	return nil
}

// List returns the numbers that the sketch has, those with -1 first, both in ascending order, and whether these are
// all.
func (s *Sketch) List() (listed []Listed, complete bool, err error) {
	f := s.opened()
	if f.kind == 0 {
		return nil, false, ErrClosed
	}
	if f.hasher.function == 0 {
		return nil, false, f.unhashable()
	}
	left := bytes.Clone(f.payload)
	runtime.KeepAlive(f)
	listed = f.row.list(&f.shape, left, &f.hasher)
	sort.Slice(listed, func(i, j int) bool {
		a, b := listed[i], listed[j]
		return a.Count < b.Count || a.Count == b.Count && a.Number < b.Number
	})
	for _, b := range left[:f.shape.bits/8] {
		if b != 0 {
			return listed, false, nil
		}
	}
	return listed, true, nil
}

// Clear forgets all numbers.
func (s *Sketch) Clear() error {
	f := s.opened()
	payload, err := f.Change()
	if err != nil {
		return err
	}
	clear(payload)
	f.header.Offered = 0
	return nil
}

// Compatible names the first thing in which two images differ that must be the same for them to be combined, words
// apart, if they do. sizes is what makes their sizes the same.
func Compatible(first, second *Filter, sizes string) error {
	a, b := &first.header, &second.header
	differ := func(what string, a, b any, remedy string) error {
		return fmt.Errorf("%w: %s is %v and %v%s", ErrIncompatible, what, a, b, remedy)
	}
	const parameter = ": give both specs the same"
	switch {
	case a.Kind == 0 || b.Kind == 0:
		return ErrClosed
	case a.Kind != b.Kind:
		return differ("kind", a.Kind, b.Kind, parameter)
	case a.LayoutVersion != b.LayoutVersion:
		return differ("layout version", a.LayoutVersion, b.LayoutVersion, "")
	case a.Bits != b.Bits:
		return differ("bits", a.Bits, b.Bits, sizes)
	case a.Hashes != b.Hashes:
		return differ("hashes", a.Hashes, b.Hashes, sizes)
	case a.Hash != b.Hash:
		return differ("hash", a.Hash, b.Hash, parameter)
	case a.Identifier != b.Identifier && a.Hash == SipHash13:
		return fmt.Errorf("%w: their secret keys are not the same", ErrIncompatible)
	case a.Identifier != b.Identifier:
		return differ("seed", fmt.Sprintf("%#x", a.Identifier), fmt.Sprintf("%#x", b.Identifier), parameter)
	}
	return nil
}
