package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/zeebo/xxh3"
)

// The payload has regions of regionBytes; the last one may be shorter. A table of their checksums follows the payload:
// an entry for each region, zeros, and the table's own checksum. An entry is 0 if the region was changed since somebody
// marked it clean.

const regionBytes = 1 << 16

// regions returns how many regions a payload has.
func regions(payloadBytes uint64) uint64 {
	return payloadBytes/regionBytes + min(1, payloadBytes%regionBytes)
}

// tableBytes returns the length of the table of a payload.
func tableBytes(payloadBytes uint64) uint64 {
	return (8*regions(payloadBytes) + 8 + payloadUnit - 1) / payloadUnit * payloadUnit
}

// imageBytes returns the length of the image of a payload.
func imageBytes(payloadBytes uint64) (length int, possible bool) {
	if payloadBytes > math.MaxInt {
		return 0, false
	}
	bytes := headerLength + payloadBytes + tableBytes(payloadBytes)
	return int(bytes), bytes <= math.MaxInt
}

// entryOf returns the table entry of a region with these bytes. The entry is never 0.
func entryOf(region []byte) uint64 {
	return max(1, xxh3.Hash(region))
}

// tableChecksum returns the checksum of a table. The first part of the header is a part of the checksum.
func tableChecksum(header, table []byte) uint64 {
	hasher := xxh3.New()
	_, _ = hasher.Write(header[checksumOffset:stateOffset])
	_, _ = hasher.Write(table[:len(table)-8])
	return hasher.Sum64()
}

// table returns the table of the image.
func (f *Filter) table() []byte { return f.image[headerLength+len(f.payload):] }

// eachRegion calls visit with a copy of each region and with the region's table entry, read after the copy. The payload
// of a mapped file may change meanwhile.
func (f *Filter) eachRegion(visit func(start int, region []byte, entry uint64) error) error {
	buffer := make([]byte, min(regionBytes, len(f.payload)))
	for start := 0; start < len(f.payload); start += regionBytes {
		region := buffer[:copy(buffer, f.payload[start:])]
		if err := visit(start, region, f.entry(start)); err != nil {
			return err
		}
	}
	return nil
}

// entry returns the entry of the region that starts at this byte of the payload.
func (f *Filter) entry(start int) uint64 {
	return binary.LittleEndian.Uint64(f.table()[start/regionBytes*8:])
}

// now reads the header again, which a writer in another process may have changed.
func (f *Filter) now() (Header, error) {
	return readHeader(f.image)
}

// readHeader decodes the header of an image while a writer may be between two stores. A header that looks damaged is
// copied again; it is damaged if two successive copies are equal.
func readHeader(image []byte) (Header, error) {
	var last, now [headerLength]byte
	for attempt := range 1000 {
		length := copy(now[:], image)
		h, err := decodeHeader(now[:length])
		if !errors.Is(err, ErrCorrupt) || attempt > 0 && now == last {
			return h, err
		}
		last = now
		runtime.Gosched()
	}
	return Header{}, fmt.Errorf("%w: the header is written again and again while it is read", ErrUnclean)
}

// cleanTable returns the checksum of the table if the image is clean now. Two different sealed images of one payload
// have different table checksums.
func (f *Filter) cleanTable() (checksum uint64, clean bool, err error) {
	h, err := f.now()
	if err != nil || h.Unclean {
		return 0, false, err
	}
	table := f.table()
	return binary.LittleEndian.Uint64(table[len(table)-8:]), true, nil
}

func damaged(start, length int) error {
	from := headerLength + start
	return fmt.Errorf("%w: bytes %d to %d do not match their checksum", ErrCorrupt, from, from+length-1)
}

// verify compares the present bytes with their checksums.
func (f *Filter) verify() error {
	for range 4 {
		before, clean, err := f.cleanTable()
		if err != nil {
			return err
		}
		touched := false
		err = f.eachRegion(func(start int, region []byte, entry uint64) error {
			if entry == entryOf(region) {
				return nil
			}
			// A writer sets the entry to 0 before it changes the region, and to another value afterwards.
			if entry != 0 && f.entry(start) == entry && f.unchanged(before, clean) {
				return damaged(start, len(region))
			}
			touched = true
			return nil
		})
		if err != nil {
			return err
		}
		table := f.table()
		sealed := before == tableChecksum(f.image, table)
		for _, padding := range table[8*regions(f.header.PayloadBytes) : len(table)-8] {
			sealed = sealed && padding == 0
		}
		if after, stillClean, err := f.cleanTable(); err != nil {
			return err
		} else if !clean || !stillClean {
			return ErrUnclean
		} else if before != after {
			// The image was changed and sealed meanwhile.
			continue
		}
		if touched || !sealed {
			return fmt.Errorf("%w: the table of the payload's checksums is damaged", ErrCorrupt)
		}
		return nil
	}
	return fmt.Errorf("%w: the image is changed again and again while it is read", ErrUnclean)
}

// unchanged says whether the image still has the same clean or unclean state and the same table.
func (f *Filter) unchanged(before uint64, clean bool) bool {
	now, stillClean, err := f.cleanTable()
	return err == nil && stillClean == clean && now == before
}

// pieces calls give with the image piece by piece, with checksums of exactly these bytes. An unclean filter stays
// unclean. If the filter does not own its memory, bytes that do not match their checksum are refused.
func (f *Filter) pieces(give func([]byte) error) error {
	unclean, before := f.header.Unclean, uint64(0)
	if !f.writable {
		checksum, clean, err := f.cleanTable()
		if err != nil {
			return err
		}
		unclean, before = !clean, checksum
	}
	header := f.sealed(unclean)
	if err := give(header[:]); err != nil {
		return err
	}
	table := make([]byte, 0, tableBytes(f.header.PayloadBytes))
	err := f.eachRegion(func(start int, region []byte, entry uint64) error {
		found := entryOf(region)
		if !f.writable && !unclean && found != entry {
			if f.unchanged(before, true) {
				return damaged(start, len(region))
			}
			return fmt.Errorf("%w: another process began to change the image while it was copied", ErrUnclean)
		}
		table = binary.LittleEndian.AppendUint64(table, found)
		return give(region)
	})
	if err != nil {
		return err
	}
	table = table[:cap(table)]
	binary.LittleEndian.PutUint64(table[len(table)-8:], tableChecksum(header[:], table))
	return give(table)
}

// sealed returns the header of the present image, without optional features of a later version: this package cannot
// keep their promises.
func (f *Filter) sealed(unclean bool) (header [headerLength]byte) {
	copy(header[:], f.image[:reservedOffset])
	clear(header[optionalOffset : optionalOffset+8])
	binary.LittleEndian.PutUint64(header[checksumOffset:], xxh3.Hash(header[:checksumOffset]))
	binary.LittleEndian.PutUint64(header[countOffset:], f.header.Insertions)
	binary.LittleEndian.PutUint64(header[sealOffset:], xxh3.Hash(header[checksumOffset:sealOffset]))
	if unclean {
		copy(header[stateOffset:], uncleanState)
	}
	return header
}
