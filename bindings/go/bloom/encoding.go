package bloom

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/bits-and-blooms/bitset"
)

// A filter in bytes: m, k, the length of the set of bits (64 bits each) and its words. m and k are big-endian. The
// length and the words have the byte order that package bitset has for the whole process, by default big-endian.

const (
	headerBytes = 24
	// maxK is the most hash functions that are read: more would only slow lookups down.
	maxK = 1 << 16
	// chunkBytes is the most bytes of one read or write.
	chunkBytes = 1 << 16
	// firstWords is the most words for which memory is taken before any word was read.
	firstWords = 1 << 17
	// A set of bits may be shorter than m. The bits behind its end are not set, and get memory with the first key that
	// needs them. m may therefore be slackFactor times the length of the set, or a little more than a short set.
	slackFactor = 64
	slackBits   = 1 << 26
)

// WriteTo writes the filter, 24 bytes and its words, in pieces of at most 64 KiB, and returns how many bytes were
// written. [BloomFilter.ReadFrom] and the original read them.
func (f *BloomFilter) WriteTo(stream io.Writer) (int64, error) {
	order := bitset.BinaryOrder()
	var words []uint64
	header := make([]byte, headerBytes, min(chunkBytes, f.storedBytes()))
	binary.BigEndian.PutUint64(header, uint64(f.m))
	binary.BigEndian.PutUint64(header[8:], uint64(f.k))
	if f.b != nil {
		order.PutUint64(header[16:], uint64(f.b.Len()))
		words = f.b.Words()[:wordsOf(uint64(f.b.Len()))]
	}
	written := int64(0)
	for chunk := header; ; chunk = chunk[:0] {
		now := min(len(words), (cap(chunk)-len(chunk))/8)
		for _, word := range words[:now] {
			order.PutUint64(chunk[len(chunk):len(chunk)+8], word)
			chunk = chunk[:len(chunk)+8]
		}
		n, err := stream.Write(chunk)
		if n < 0 || n > len(chunk) || n < len(chunk) && err == nil {
			err = io.ErrShortWrite
		}
		written += int64(max(0, min(n, len(chunk))))
		words = words[now:]
		if err != nil || len(words) == 0 {
			return written, err
		}
	}
}

// storedBytes returns how many bytes WriteTo writes.
func (f *BloomFilter) storedBytes() int {
	if f.b == nil {
		return headerBytes
	}
	return headerBytes + 8*int(wordsOf(uint64(f.b.Len())))
}

// wordsOf returns how many words hold length bits.
func wordsOf(length uint64) uint64 {
	words := length / 64
	if length%64 != 0 {
		words++
	}
	return words
}

// ReadFrom replaces the filter by one that [BloomFilter.WriteTo] or the original wrote, and returns how many bytes it
// read. ReadFrom reads no further than the filter, so others may follow in the same stream. The error is [io.EOF] at
// the stream's end, and [io.ErrUnexpectedEOF] in the middle of a filter. After an error the filter stays as it was.
//
// ReadFrom reads in pieces of at most 64 KiB, and takes memory as the words arrive, whatever the filter claims to be.
// The memory is up to twice as much in passing, unless stream is a [bytes.Reader], [bytes.Buffer] or [strings.Reader].
func (f *BloomFilter) ReadFrom(stream io.Reader) (int64, error) {
	counted := &counter{stream: stream}
	read, err := readFilter(counted)
	if err == nil {
		*f = *read
	}
	return counted.bytes, err
}

// counter counts the bytes that are read.
type counter struct {
	stream io.Reader
	bytes  int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.stream.Read(p)
	c.bytes += int64(n)
	return n, err
}

func readFilter(stream *counter) (*BloomFilter, error) {
	var header [16]byte
	if _, err := io.ReadFull(stream, header[:]); err != nil {
		return nil, err
	}
	return readBits(stream, binary.BigEndian.Uint64(header[:]), binary.BigEndian.Uint64(header[8:]))
}

// readBits reads the set of bits of a filter.
func readBits(stream *counter, m, k uint64) (*BloomFilter, error) {
	var header [8]byte
	if err := readInside(stream, header[:]); err != nil {
		return nil, err
	}
	order := orderOf(header, m)
	length := order.Uint64(header[:])
	switch {
	case k > maxK:
		return nil, fmt.Errorf("bloom: a filter with k = %d hash functions is not read, at most %d are", k, maxK)
	case m > math.MaxUint:
		return nil, fmt.Errorf("bloom: m = %d bits are more than this processor can address", m)
	case length > math.MaxUint:
		return nil, fmt.Errorf("bloom: a set of %d bits is more than this processor can address", length)
	case m > slackBits && (m-slackBits)/slackFactor > length:
		return nil, fmt.Errorf("bloom: m = %d bits are claimed over a set of %d, at most %d times as many are read",
			m, length, slackFactor)
	}
	words, err := readWords(stream, order, wordsOf(length))
	if err != nil {
		return nil, err
	}
	return over(bitset.FromWithLength(uint(length), words), uint(m), uint(k)), nil
}

// orderOf returns the byte order of the words that follow. Constructors make sets of m bits or of the next whole word.
// If the length fits that only in the order that this process does not use, orderOf returns that other order.
func orderOf(length [8]byte, m uint64) binary.ByteOrder {
	own := bitset.BinaryOrder()
	other := binary.ByteOrder(binary.LittleEndian)
	if own == other {
		other = binary.BigEndian
	}
	usual := func(order binary.ByteOrder) bool {
		bits := order.Uint64(length[:])
		return bits == m || bits%64 == 0 && bits/64 == wordsOf(m)
	}
	if !usual(own) && usual(other) {
		return other
	}
	return own
}

// readWords reads count words, and takes memory as they arrive.
func readWords(stream *counter, order binary.ByteOrder, count uint64) ([]uint64, error) {
	room := min(count, firstWords)
	if left, known := remaining(stream.stream); known {
		if left/8 < count {
			return nil, io.ErrUnexpectedEOF
		}
		room = count
	}
	words := make([]uint64, 0, room)
	chunk := make([]byte, min(count*8, chunkBytes))
	for uint64(len(words)) < count {
		if len(words) == cap(words) {
			words = append(make([]uint64, 0, min(count, 2*uint64(cap(words)))), words...)
		}
		now := chunk[:min(len(chunk), 8*(cap(words)-len(words)))]
		if err := readInside(stream, now); err != nil {
			return nil, err
		}
		for ; len(now) > 0; now = now[8:] {
			words = append(words, order.Uint64(now))
		}
	}
	return words, nil
}

// remaining returns how many bytes are left to read, for readers that know the number.
func remaining(stream io.Reader) (bytesLeft uint64, known bool) {
	switch reader := stream.(type) {
	case *bytes.Reader:
		return uint64(reader.Len()), true
	case *bytes.Buffer:
		return uint64(reader.Len()), true
	case *strings.Reader:
		return uint64(reader.Len()), true
	}
	return 0, false
}

// readInside fills p; the stream must not end here.
func readInside(stream io.Reader, p []byte) error {
	_, err := io.ReadFull(stream, p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// MarshalBinary returns what [BloomFilter.WriteTo] writes.
func (f *BloomFilter) MarshalBinary() ([]byte, error) {
	var buffer bytes.Buffer
	buffer.Grow(f.storedBytes())
	_, err := f.WriteTo(&buffer)
	return buffer.Bytes(), err
}

// UnmarshalBinary replaces the filter by one that [BloomFilter.MarshalBinary] returned, as [BloomFilter.ReadFrom] does.
// Other bytes may follow the filter in data.
func (f *BloomFilter) UnmarshalBinary(data []byte) error {
	_, err := f.ReadFrom(bytes.NewReader(data))
	return err
}

// GobEncode returns what [BloomFilter.WriteTo] writes, for package encoding/gob.
func (f *BloomFilter) GobEncode() ([]byte, error) { return f.MarshalBinary() }

// GobDecode replaces the filter by one that [BloomFilter.GobEncode] returned, for package encoding/gob.
func (f *BloomFilter) GobDecode(data []byte) error { return f.UnmarshalBinary(data) }

// MarshalJSON returns {"m":M,"k":K,"b":"BITS"}. BITS is the set of bits as [BloomFilter.WriteTo] writes it, length and
// words, in base64 for URLs, or in standard base64 after bitset.Base64StdEncoding.
func (f BloomFilter) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		M uint           `json:"m"`
		K uint           `json:"k"`
		B *bitset.BitSet `json:"b"`
	}{f.m, f.k, f.b})
}

// UnmarshalJSON replaces the filter by one that [BloomFilter.MarshalJSON] or the original returned. UnmarshalJSON
// accepts both alphabets of base64. After an error the filter stays as it was; null leaves it as it is.
func (f *BloomFilter) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var form struct {
		M uint    `json:"m"`
		K uint    `json:"k"`
		B *string `json:"b"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	if form.B == nil {
		if form.M != 0 || form.K != 0 {
			return errors.New(`bloom: the JSON of a filter has no "b", the bits in base64`)
		}
		*f = BloomFilter{}
		return nil
	}
	encoding := base64.StdEncoding
	if strings.ContainsAny(*form.B, "-_") {
		encoding = base64.URLEncoding
	}
	bits, err := encoding.DecodeString(*form.B)
	if err != nil {
		return fmt.Errorf(`bloom: the bits "b" of a filter in JSON: %w`, err)
	}
	read, err := readBits(&counter{stream: bytes.NewReader(bits)}, uint64(form.M), uint64(form.K))
	if err == nil {
		*f = *read
	}
	return err
}
