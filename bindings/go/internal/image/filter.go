// Package image has Petal's images in pure Go: their format, the hash functions, and what the kinds do with the bits of
// a key, with a little assembly where the processor has AVX2. Packages view and filter are what programs see of it.
//
// The format is specified in docs/format.md of Petal's repository; this package is written from that page.
package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"github.com/petal-filter/petal/bindings/go/internal/encoded"
	"github.com/petal-filter/petal/bindings/go/internal/race"
	"github.com/petal-filter/petal/bindings/go/internal/secret"
)

// Options say how to open a filter. A nil *Options is the zero value.
type Options struct {
	// Secret is the secret key of a filter whose hash function is SipHash-1-3; all zeros is none. Without the key the
	// filter opens and looks up hashes, but says true of every key.
	Secret secret.Key
}

// Filter is an opened filter or map. The zero value is closed.
type Filter struct {
	byPointer
	// The fields that a lookup needs come first, side by side.
	row     *kindRow
	payload []byte
	shape   shape
	hasher  hasher
	// whole hashes keys, and their prefixes, where keys are taken whole. hasher then cannot hash.
	whole hasher

	kind     Kind
	header   Header
	image    []byte
	writable bool
	mapping  *mapping
	// as is what errors call a closed image.
	as Handle
}

// byPointer makes encoders refuse a filter that is not given by its pointer.
type byPointer = encoded.ByPointer

// OrClosed returns the image, or a closed one of this handle if it is nil, so that the methods of packages view and
// filter accept nil.
func (f *Filter) OrClosed(as Handle) *Filter {
	if f == nil {
		return &Filter{as: as}
	}
	return f
}

// closedError is the error for a closed handle, with the name of the handle.
type closedError string

func (c closedError) Error() string { return "petal: the " + string(c) + " is closed" }

// Is says that a closed handle is one, whatever its name.
func (c closedError) Is(target error) bool { return target == ErrClosed }

// Closed returns the error for a closed handle.
func Closed(as Handle) error { return closedError(as.String()) }

func (f *Filter) closed() error { return Closed(f.as) }

// ClosedOther returns the error for a closed handle beside the one that is called.
func ClosedOther(as Handle) error { return closedError("other " + as.String()) }

// Open maps a file for reading, in constant time. Open does not check the payload; [Filter.Verify] does. The file is
// the image and nothing else. On systems without mmap, Open reads the file instead.
//
// If another process truncates a file while it is mapped, touching the lost part ends the program; where that may
// happen, use [Read].
func Open(path string, options *Options, as Handle) (*Filter, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	mapped, err := mapFile(file)
	if err != nil {
		return nil, err
	}
	f, err := Wrap(mapped.bytes, options, as)
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

// Wrap opens the image at the start of a slice, in place and for reading, in constant time. Wrap does not check the
// payload. The slice must not change while the filter is in use. Other bytes may follow the image.
func Wrap(image []byte, options *Options, as Handle) (*Filter, error) {
	header, err := readHeader(image)
	if err != nil {
		return nil, err
	}
	// The checks come in the order of the specification.
	length, _ := imageBytes(header.PayloadBytes)
	if len(image) < length {
		return nil, fmt.Errorf("%w: %d bytes of %d", ErrTruncated, len(image), length)
	}
	end := headerLength + int(header.PayloadBytes)
	f, err := over(&header, image[headerLength:end:end], options, as)
	if err != nil {
		return nil, err
	}
	f.image = image[:length:length]
	return f, nil
}

// over opens a payload, whose length is the header's.
func over(header *Header, payload []byte, options *Options, as Handle) (*Filter, error) {
	row, err := header.row()
	if err != nil {
		return nil, err
	}
	hasher, err := newHasher(header, options)
	if err != nil {
		return nil, err
	}
	shape, err := row.shapeOf(header, as)
	if err != nil {
		return nil, err
	}
	if row.state != nil && !row.state(&shape, payload) {
		return nil, fmt.Errorf("%w: the state of the kind %v is not within its bounds", ErrCorrupt, header.Kind)
	}
	f := &Filter{row: row, kind: header.Kind, payload: payload, shape: shape, hasher: hasher, header: *header, as: as}
	if f.TakesWhole() {
		f.whole, f.hasher = hasher, f.whole
	}
	return f, nil
}

// Load copies the image at the start of a slice and compares the checksums. An unclean image has no checksums, and its
// copy is unclean. The copy takes insertions.
func Load(image []byte, options *Options, as Handle) (*Filter, error) {
	f, err := Wrap(image, options, as)
	if err != nil {
		return nil, err
	}
	f.image = bytes.Clone(f.image)
	f.payload = f.image[headerLength:][:len(f.payload):len(f.payload)]
	return f.loaded()
}

// Read reads one image, and not a byte more, and compares the checksums, unless the image is unclean. The filter takes
// insertions. Memory grows with the bytes that arrive, whatever the header says.
func Read(r io.Reader, options *Options, as Handle) (*Filter, error) {
	start := make([]byte, headerLength)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	header, err := decodeHeader(start[:n])
	if err != nil {
		return nil, err
	}
	if _, _, err := header.open(as); err != nil {
		return nil, err
	}
	image, err := readRest(r, start, header.PayloadBytes+tableBytes(header.PayloadBytes))
	if err != nil {
		return nil, err
	}
	f, err := Wrap(image, options, as)
	if err != nil {
		return nil, err
	}
	return f.loaded()
}

// readRest appends the payload and the table to the header. The buffer doubles as bytes arrive.
func readRest(r io.Reader, image []byte, length uint64) ([]byte, error) {
	const firstRoom = 1 << 20
	for length > 0 {
		room := min(length, uint64(max(len(image), firstRoom)))
		grown := make([]byte, len(image)+int(room))
		copy(grown, image)
		n, err := io.ReadFull(r, grown[len(image):])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			missing := length - uint64(n)
			return nil, fmt.Errorf("%w: %d bytes are missing", ErrTruncated, missing)
		}
		if err != nil {
			return nil, err
		}
		image, length = grown, length-room
	}
	return image, nil
}

// loaded checks the payload of a copied filter, and makes the filter writable.
func (f *Filter) loaded() (*Filter, error) {
	if !f.header.Unclean {
		if err := f.verify(); err != nil {
			return nil, err
		}
	}
	if f.row.check != nil && !f.row.check(&f.shape, f.payload) {
		return nil, fmt.Errorf("%w: the payload is none of the kind %v", ErrCorrupt, f.kind)
	}
	f.writable = true
	return f, nil
}

// Close unmaps the file and frees the memory; afterwards lookups say true. Closing twice is allowed.
func (f *Filter) Close() error {
	mapped := f.mapping
	*f = Filter{as: f.as}
	if mapped != nil {
		mapped.cleanup.Stop()
		return mapped.close()
	}
	return nil
}

// Header returns what the image says about itself. The count includes the keys inserted since.
func (f *Filter) Header() Header { return f.header }

// Verify reads and checks all bytes as they are now. Returns [ErrCorrupt] if a part does not match its checksum.
// Returns [ErrUnclean] if all parts match but nobody marked them clean, or not yet. A filter in its own memory was
// checked when it was loaded.
func (f *Filter) Verify() error {
	if f.kind == 0 {
		return f.closed()
	}
	if f.writable && f.header.Unclean {
		return ErrUnclean
	}
	if f.writable {
		return nil
	}
	err := f.verify()
	runtime.KeepAlive(f)
	return err
}

// Contains says whether a key may have been inserted; false is certain.
func (f *Filter) Contains(key []byte) bool {
	if f.hasher.function == XXH3 {
		return f.ContainsHash(f.hasher.xxh3(key))
	}
	if f.hasher.function == DigestHash {
		return f.containsDigest(key)
	}
	if f.TakesWhole() {
		return f.containsWhole(key)
	}
	hash, ok := f.hasher.hash(key)
	return !ok || f.ContainsHash(hash)
}

// ContainsString is [Filter.Contains] for the bytes of a string.
func (f *Filter) ContainsString(key string) bool { return f.Contains(bytesOf(key)) }

// ContainsUint64 is [Filter.Contains] for the eight little-endian bytes of a number.
func (f *Filter) ContainsUint64(key uint64) bool {
	if f.TakesWhole() {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], key)
		return f.containsWhole(b[:])
	}
	hash, ok := f.hasher.hashUint64(key)
	return !ok || f.ContainsHash(hash)
}

// ContainsHash looks up a hash: one that [Filter.Hash] made of the key, or one that you made if the hash function is
// [External].
func (f *Filter) ContainsHash(hash uint64) bool {
	if f.row == nil {
		return true
	}
	found := false
	if f.row == &blockedRow && hasAVX2 {
		// The default kind: a call through the row would go through a wrapper of the assembly, which costs a third of the
		// lookup.
		found = blockedContainsAVX2(&f.shape, f.payload, hash)
	} else {
		found = f.row.contains(&f.shape, f.payload, hash)
	}
	// The payload of a mapped file must not be unmapped before the lookup ends.
	runtime.KeepAlive(f)
	return found
}

// Insert inserts a key. isNew is true if the key certainly was not there before. Returns [ErrUnsupported] for kinds
// that this package only reads. Returns [ErrUnsupportedByHandle] if the filter does not own its memory. Returns
// [ErrExternalHash] or [ErrSecretMissing] if keys cannot be hashed.
func (f *Filter) Insert(key []byte) (isNew bool, err error) {
	if f.hasher.function == DigestHash {
		return f.insertDigest(key)
	}
	hash, ok := f.hasher.hash(key)
	if !ok {
		return false, f.unhashable()
	}
	return f.InsertHash(hash)
}

// InsertString is [Filter.Insert] for the bytes of a string.
func (f *Filter) InsertString(key string) (isNew bool, err error) { return f.Insert(bytesOf(key)) }

// InsertUint64 is [Filter.Insert] for the eight little-endian bytes of a number.
func (f *Filter) InsertUint64(key uint64) (isNew bool, err error) {
	if f.hasher.function == DigestHash {
		return false, f.CheckDigest(make([]byte, 8))
	}
	hash, ok := f.hasher.hashUint64(key)
	if !ok {
		return false, f.unhashable()
	}
	return f.InsertHash(hash)
}

// InsertHash inserts a hash; see [Filter.ContainsHash].
func (f *Filter) InsertHash(hash uint64) (isNew bool, err error) {
	if f.kind == 0 {
		return false, f.closed()
	}
	if f.row.insert == nil || f.header.Hash == DigestHash {
		return false, ErrUnsupported
	}
	if !f.writable {
		return false, ErrUnsupportedByHandle
	}
	// Lookups read this word. The race detector does not see the payload.
	race.Write(unsafe.Pointer(&f.row))
	if f.row == &blockedRow && hasAVX2 {
		isNew = blockedInsertAVX2(&f.shape, f.payload, hash)
	} else {
		isNew = f.row.insert(&f.shape, f.payload, hash)
	}
	if f.header.Insertions+1 != 0 {
		f.header.Insertions++
	}
	return isNew, nil
}

// Hash returns the hash of a key for [Filter.ContainsHash] of all filters with the same hash function and seed or
// secret.
func (f *Filter) Hash(key []byte) (uint64, error) {
	hash, ok := f.hasher.hash(key)
	if !ok {
		return 0, f.unhashable()
	}
	return hash, nil
}

// HashUint64 is [Filter.Hash] for the eight little-endian bytes of a number.
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
		return f.closed()
	case f.header.Hash == External:
		return ErrExternalHash
	case f.header.Hash == Identity:
		return errNoInteger
	case f.TakesWhole() && f.whole.function != 0:
		return errTakesWhole
	case f.header.Hash == DigestHash:
		return fmt.Errorf("%w: keys are digests, which have no hash", ErrUnsupported)
	}
	return ErrSecretMissing
}

// WriteTo writes the image, with checksums of the bytes that it writes. An unclean filter stays unclean. Returns
// [ErrCorrupt] if an image in place does not match its checksums. Returns [ErrUnclean] if another process begins to
// change the image meanwhile.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	if f.kind == 0 {
		return 0, f.closed()
	}
	written := int64(0)
	err := f.pieces(func(piece []byte) error {
		n, err := w.Write(piece)
		if n < 0 || n > len(piece) || n < len(piece) && err == nil {
			err = io.ErrShortWrite
		}
		written += int64(max(0, min(n, len(piece))))
		return err
	})
	runtime.KeepAlive(f)
	return written, err
}

// MarshalBinary returns the image as [Filter.WriteTo] writes it.
func (f *Filter) MarshalBinary() ([]byte, error) {
	if f.kind == 0 {
		return nil, f.closed()
	}
	image := make([]byte, 0, len(f.image))
	err := f.pieces(func(piece []byte) error {
		image = append(image, piece...)
		return nil
	})
	runtime.KeepAlive(f)
	if err != nil {
		return nil, err
	}
	return image, nil
}
