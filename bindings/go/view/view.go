// Package view reads Petal filters without cgo: the same bytes that the C library writes, in Go, with a little assembly
// where the processor has AVX2.
//
// It knows the kinds bloom, split_block and blocked. A filter is opened in place, over a mapped file ([Open]) or over a
// slice ([Wrap]), or is copied into memory of its own ([Load], [Read]), where keys can be inserted too. Filters are
// made, merged and measured with package petal or the command petal.
//
//	seen, err := view.Open("seen.petal", nil)
//	if err != nil {
//		return err
//	}
//	defer seen.Close()
//	if !seen.ContainsString("apple") {
//		// certainly never inserted
//	}
//
// A lookup never says false of a key that was inserted. If it cannot be answered, because the filter is closed or was
// opened without the secret key that it needs, it says true: a broken call costs a lookup and never invents an absence.
//
// Lookups, [Filter.Header], [Filter.Hash], [Filter.HashUint64], [Filter.Verify] and the methods that write the image
// may run in many goroutines at once. [Filter.Insert] and its like, and [Filter.Close], need the filter to themselves:
// -race reports them otherwise.
//
// The format is specified in docs/format.md of Petal's repository; this package is written from that page.
package view

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/race"
	"github.com/zeebo/xxh3"
)

// Options say how to open a filter. A nil *Options is the zero value.
type Options struct {
	// Key is the secret key of a filter whose hash function is SipHash-1-3; all zeros is none. Without it the filter
	// opens, and answers hashes, but says true of every key.
	Key [16]byte
}

// Filter is an opened filter. Its zero value is a closed one.
type Filter struct {
	// What a lookup needs, first and together.
	kind    Kind
	payload []byte
	shape   shape
	hasher  hasher

	header   Header
	image    []byte
	writable bool
	mapping  *mapping
}

// shape is what the kinds need of the geometry to find the bits of a hash.
type shape struct {
	blocks     uint64   // split_block and blocked
	masks      []uint16 // blocked: the choices of lanes that a key has one of
	hashes     int
	reach      uint64 // bloom: the positions that a probe chooses among
	stride     uint64 // bloom: from the slice of one probe to that of the next; 0 where they share one
	derivation uint64 // bloom
	width      uint   // bloom: the slice width
}

// Open maps a file for reading. It takes constant time: the payload is not looked at, which [Filter.Verify] does. The
// file is the image and nothing else. On systems without mmap it is read instead.
//
// If another process truncates a file while it is mapped, touching the lost part ends the program; where that may
// happen, use [Read].
func Open(path string, options *Options) (*Filter, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	mapped, err := mapFile(file)
	if err != nil {
		return nil, err
	}
	f, err := Wrap(mapped.bytes, options)
	// Its writer may have been between two stores of the header.
	for attempts := 3; attempts > 0 && errors.Is(err, ErrCorrupt); attempts-- {
		runtime.Gosched()
		f, err = Wrap(mapped.bytes, options)
	}
	if err == nil && len(f.image) < len(mapped.bytes) {
		err = fmt.Errorf("%w: %d bytes follow the image", ErrCorrupt, len(mapped.bytes)-len(f.image))
	}
	if err != nil {
		mapped.close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.mapping = mapped
	mapped.cleanup = runtime.AddCleanup(f, unmap, mapped.bytes)
	return f, nil
}

// Wrap opens the image at the start of a slice, in place and for reading: constant time, and the payload is not looked
// at. The slice must not change while the filter is in use. What follows the image is ignored.
func Wrap(image []byte, options *Options) (*Filter, error) {
	header, err := decodeHeader(image)
	if err != nil {
		return nil, err
	}
	// The order is the specification's.
	if err := header.known(); err != nil {
		return nil, err
	}
	shape, err := header.shape()
	if err != nil {
		return nil, err
	}
	if have := uint64(len(image) - headerLength); have < header.PayloadBytes {
		return nil, fmt.Errorf("%w: %d bytes of %d of the payload", ErrTruncated, have, header.PayloadBytes)
	}
	hasher, err := newHasher(&header, options)
	if err != nil {
		return nil, err
	}
	end := headerLength + int(header.PayloadBytes)
	return &Filter{
		kind:    header.Kind,
		payload: image[headerLength:end:end],
		shape:   shape,
		hasher:  hasher,
		header:  header,
		image:   image[:end:end],
	}, nil
}

// Load copies the image at the start of a slice and checks its checksum, unless it is dirty and has none. Keys can be
// inserted into the copy.
func Load(image []byte, options *Options) (*Filter, error) {
	f, err := Wrap(image, options)
	if err != nil {
		return nil, err
	}
	f.image = bytes.Clone(f.image)
	f.payload, f.writable = f.image[headerLength:], true
	return f.loaded()
}

// Read reads one image, and not a byte more, and checks its checksum, unless it is dirty and has none. Keys can be
// inserted into it. Memory grows with what really comes, whatever the header says.
func Read(r io.Reader, options *Options) (*Filter, error) {
	start := make([]byte, headerLength)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	header, err := decodeHeader(start[:n])
	if err != nil {
		return nil, err
	}
	if err := header.known(); err != nil {
		return nil, err
	}
	if _, err := header.shape(); err != nil {
		return nil, err
	}
	image, err := readPayload(r, start, header.PayloadBytes)
	if err != nil {
		return nil, err
	}
	f, err := Wrap(image, options)
	if err != nil {
		return nil, err
	}
	f.writable = true
	return f.loaded()
}

// readPayload appends a payload to the header before it. It doubles what it has room for as bytes come.
func readPayload(r io.Reader, image []byte, length uint64) ([]byte, error) {
	const firstRoom = 1 << 20
	for length > 0 {
		room := min(length, uint64(max(len(image), firstRoom)))
		grown := make([]byte, len(image)+int(room))
		copy(grown, image)
		n, err := io.ReadFull(r, grown[len(image):])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			missing := length - uint64(n)
			return nil, fmt.Errorf("%w: %d bytes of the payload are missing", ErrTruncated, missing)
		}
		if err != nil {
			return nil, err
		}
		image, length = grown, length-room
	}
	return image, nil
}

// loaded checks the payload of a filter that was copied.
func (f *Filter) loaded() (*Filter, error) {
	if f.header.Dirty {
		return f, nil
	}
	if err := f.Verify(); err != nil {
		return nil, err
	}
	return f, nil
}

// Close lets go of the file and of the memory; afterwards lookups say true. Closing twice is allowed.
func (f *Filter) Close() error {
	mapped := f.mapping
	*f = Filter{}
	if mapped != nil {
		mapped.cleanup.Stop()
		return mapped.close()
	}
	return nil
}

// Header returns what the image says about itself. The count includes the keys inserted since.
func (f *Filter) Header() Header { return f.header }

// String returns one line about the filter, or "closed".
func (f *Filter) String() string {
	if f == nil || f.kind == 0 {
		return "closed"
	}
	h := &f.header
	line := fmt.Sprintf("%v, %d keys", h.Kind, h.Count)
	if h.Capacity != 0 {
		line += fmt.Sprintf(" of %d", h.Capacity)
	}
	line += fmt.Sprintf(", %d bytes", len(f.image))
	if h.FalsePositiveRate != 0 {
		line += fmt.Sprintf(", false-positive rate %.4g at capacity", h.FalsePositiveRate)
	}
	if h.Dirty {
		line += ", dirty"
	}
	return line
}

// Verify reads the payload and compares it with its checksum. [ErrDirty] if the image has none.
func (f *Filter) Verify() error {
	if f.kind == 0 {
		return ErrClosed
	}
	if f.header.Dirty {
		return ErrDirty
	}
	sum := xxh3.Hash(f.payload)
	runtime.KeepAlive(f)
	if sum != f.header.payloadChecksum {
		return fmt.Errorf("%w: the payload does not match its checksum", ErrCorrupt)
	}
	return nil
}

// Contains says whether a key may have been inserted; false is certain.
func (f *Filter) Contains(key []byte) bool {
	if f.hasher.function == XXH3 {
		return f.ContainsHash(f.hasher.xxh3(key))
	}
	hash, ok := f.hasher.hash(key)
	return !ok || f.ContainsHash(hash)
}

// ContainsString is [Filter.Contains] of a string's bytes.
func (f *Filter) ContainsString(key string) bool { return f.Contains(bytesOf(key)) }

// ContainsUint64 is [Filter.Contains] of a number's eight little-endian bytes.
func (f *Filter) ContainsUint64(key uint64) bool {
	hash, ok := f.hasher.hashUint64(key)
	return !ok || f.ContainsHash(hash)
}

// ContainsHash looks up a hash that [Filter.Hash] made of the key, or that you made where the hash function is
// [External].
func (f *Filter) ContainsHash(hash uint64) bool {
	found := true
	switch {
	case f.kind == Blocked && hasAVX2:
		found = blockedContainsAVX2(f, hash)
	case f.kind == Blocked:
		found = f.shape.blockedContains(f.payload, hash)
	case f.kind == SplitBlock:
		found = f.shape.splitBlockContains(f.payload, hash)
	case f.kind == Bloom:
		found = f.shape.bloomContains(f.payload, hash)
	}
	// The payload of a mapped file goes with the filter.
	runtime.KeepAlive(f)
	return found
}

// Insert inserts a key. isNew is true if the key certainly was not there before. [ErrReadOnly] where the memory is not
// the filter's own; [ErrExternalHash] or [ErrKeyMissing] where keys cannot be hashed.
func (f *Filter) Insert(key []byte) (isNew bool, err error) {
	hash, ok := f.hasher.hash(key)
	if !ok {
		return false, f.unhashable()
	}
	return f.InsertHash(hash)
}

// InsertString is [Filter.Insert] of a string's bytes.
func (f *Filter) InsertString(key string) (isNew bool, err error) { return f.Insert(bytesOf(key)) }

// InsertUint64 is [Filter.Insert] of a number's eight little-endian bytes.
func (f *Filter) InsertUint64(key uint64) (isNew bool, err error) {
	hash, ok := f.hasher.hashUint64(key)
	if !ok {
		return false, f.unhashable()
	}
	return f.InsertHash(hash)
}

// InsertHash inserts a hash; see [Filter.ContainsHash].
func (f *Filter) InsertHash(hash uint64) (isNew bool, err error) {
	if f.kind == 0 {
		return false, ErrClosed
	}
	if !f.writable {
		return false, ErrReadOnly
	}
	// Lookups read this word, and beyond it what the race detector does not see.
	race.Write(unsafe.Pointer(&f.kind))
	switch f.kind {
	case Blocked:
		isNew = f.shape.blockedInsert(f.payload, hash)
	case SplitBlock:
		isNew = f.shape.splitBlockInsert(f.payload, hash)
	case Bloom:
		isNew = f.shape.bloomInsert(f.payload, hash)
	}
	if f.header.Count+1 != 0 {
		f.header.Count++
	}
	return isNew, nil
}

// Hash returns the hash of a key as the filter makes it: for [Filter.ContainsHash] of all filters that share its hash
// function and seed or key.
func (f *Filter) Hash(key []byte) (uint64, error) {
	hash, ok := f.hasher.hash(key)
	if !ok {
		return 0, f.unhashable()
	}
	return hash, nil
}

// HashUint64 is [Filter.Hash] of a number's eight little-endian bytes.
func (f *Filter) HashUint64(key uint64) (uint64, error) {
	hash, ok := f.hasher.hashUint64(key)
	if !ok {
		return 0, f.unhashable()
	}
	return hash, nil
}

func (f *Filter) unhashable() error {
	switch {
	case f.kind == 0:
		return ErrClosed
	case f.header.Hash == External:
		return ErrExternalHash
	}
	return ErrKeyMissing
}

// WriteTo writes the image, with checksums of what it holds now. A dirty filter stays dirty.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	if f.kind == 0 {
		return 0, ErrClosed
	}
	header := f.sealed()
	n, err := w.Write(header[:])
	written := int64(n)
	if err == nil {
		n, err = w.Write(f.payload)
		written += int64(n)
	}
	runtime.KeepAlive(f)
	return written, err
}

// MarshalBinary returns the image as [Filter.WriteTo] writes it.
func (f *Filter) MarshalBinary() ([]byte, error) {
	if f.kind == 0 {
		return nil, ErrClosed
	}
	header := f.sealed()
	image := make([]byte, 0, len(f.image))
	image = append(image, header[:]...)
	image = append(image, f.payload...)
	runtime.KeepAlive(f)
	return image, nil
}

// sealed returns the header of the image that there is now. Its first part never changes.
func (f *Filter) sealed() (header [headerLength]byte) {
	copy(header[:], f.image[:stateOffset])
	binary.LittleEndian.PutUint64(header[countOffset:], f.header.Count)
	binary.LittleEndian.PutUint64(header[payloadChecksumOffset:], xxh3.Hash(f.payload))
	copy(header[lateReservedOffset:sealOffset], f.image[lateReservedOffset:])
	binary.LittleEndian.PutUint64(header[sealOffset:], xxh3.Hash(header[checksumOffset:sealOffset]))
	if f.header.Dirty {
		copy(header[stateOffset:], dirtyState)
	}
	runtime.KeepAlive(f)
	return header
}
