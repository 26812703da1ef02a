// Command blocks is a store that writes every block once, as archives do. A block is named by its SHA-256, so a block
// that is there already need not be written again. The index of all names is too large for memory and lies on the disk.
// A new block is in no index, and a search for it would find nothing. A filter in memory says so before the disk is
// read.
//
//	blocks -store FOLDER FILE...
//
// It puts the files into the store in FOLDER, reads every block back and compares. It prints what was not written, and
// how many searches of the index the filter saved. Call it again, with the same files or later states of them.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/petal-filter/petal/bindings/go"
)

func main() {
	folder := flag.String("store", ".", "the folder of the store")
	size := flag.Int("block", 4096, "bytes of a block")
	flag.Parse()
	if err := run(*folder, *size, flag.Args(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// name is the SHA-256 of a block.
type name = [sha256.Size]byte

// place says where the block of a name lies.
type place struct{ offset, length uint64 }

// entryBytes is the length of a line of the index: the name and the place.
const entryBytes = sha256.Size + 16

// store is a folder with the blocks, the index of their names, and the filter of these names.
type store struct {
	folder string
	names  *petal.Filter
	blocks *os.File
	index  *os.File
	// indexed is how many lines the index on the disk has, and added has what is not there yet.
	indexed int64
	added   map[name]place
	end     uint64

	given, written           int
	givenBytes, writtenBytes int
	// asked counts names that were looked for on the disk, searches those for which the index was searched, and vain
	// those that were not there.
	asked, searches, vain int
}

// openStore opens the store in a folder, or makes a new one.
func openStore(folder string) (*store, error) {
	s := &store{folder: folder, added: map[name]place{}}
	var err error
	s.names, err = petal.Open(s.path("names.petal"), &petal.OpenOptions{Mode: petal.OpenLoad})
	if errors.Is(err, fs.ErrNotExist) {
		// Nobody knows how many blocks will come, so the filter grows.
		s.names, err = petal.New(petal.Spec{Kind: "scalable", Capacity: 10_000, FalsePositiveRate: 0.01})
	}
	if err != nil {
		return nil, err
	}
	if s.blocks, err = os.OpenFile(s.path("blocks"), os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, errors.Join(err, s.close())
	}
	end, err := s.blocks.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.end = uint64(end)
	if err := s.openIndex(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *store) path(file string) string { return filepath.Join(s.folder, file) }

func (s *store) openIndex() (err error) {
	if s.index, err = os.OpenFile(s.path("index"), os.O_RDONLY|os.O_CREATE, 0o644); err != nil {
		return err
	}
	info, err := s.index.Stat()
	if err == nil {
		s.indexed = info.Size() / entryBytes
	}
	return err
}

func (s *store) close() error {
	err := s.names.Close()
	for _, file := range []*os.File{s.blocks, s.index} {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// find looks a name up, and reads the disk only if the filter has the name.
func (s *store) find(of name) (place, bool, error) {
	if found, isThere := s.added[of]; isThere {
		return found, true, nil
	}
	s.asked++
	if !s.names.Contains(of[:]) {
		return place{}, false, nil
	}
	s.searches++
	entry := make([]byte, entryBytes)
	for low, high := int64(0), s.indexed; low < high; {
		middle := low + (high-low)/2
		if _, err := s.index.ReadAt(entry, middle*entryBytes); err != nil {
			return place{}, false, err
		}
		switch bytes.Compare(of[:], entry[:len(of)]) {
		case 0:
			at := entry[len(of):]
			return place{binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])}, true, nil
		case -1:
			high = middle
		default:
			low = middle + 1
		}
	}
	s.vain++
	return place{}, false, nil
}

// put puts a block into the store, unless it is there.
func (s *store) put(block []byte) error {
	of := sha256.Sum256(block)
	s.given++
	s.givenBytes += len(block)
	if _, isThere, err := s.find(of); isThere || err != nil {
		return err
	}
	if _, err := s.names.Insert(of[:]); err != nil {
		return err
	}
	if _, err := s.blocks.WriteAt(block, int64(s.end)); err != nil {
		return err
	}
	s.added[of] = place{s.end, uint64(len(block))}
	s.end += uint64(len(block))
	s.written++
	s.writtenBytes += len(block)
	return nil
}

// get returns the block with a name.
func (s *store) get(of name) ([]byte, error) {
	at, isThere, err := s.find(of)
	if err != nil {
		return nil, err
	}
	if !isThere {
		return nil, fmt.Errorf("block %x is not in the store", of)
	}
	block := make([]byte, at.length)
	_, err = s.blocks.ReadAt(block, int64(at.offset))
	return block, err
}

// finish merges what was added into the index. The filter is saved before that, so the filter always has all names of
// the index. After a crash it may have more, which costs a search each.
func (s *store) finish() error {
	if err := s.names.Save(s.path("names.petal")); err != nil {
		return err
	}
	file, err := os.Create(s.path("index.new"))
	if err != nil {
		return err
	}
	if err := errors.Join(s.merge(file), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(s.path("index.new"), s.path("index")); err != nil {
		return err
	}
	clear(s.added)
	return errors.Join(s.index.Close(), s.openIndex())
}

// merge writes the lines of the index and those that were added, in the order of names.
func (s *store) merge(file io.Writer) error {
	out := bufio.NewWriter(file)
	added := slices.SortedFunc(maps.Keys(s.added), func(a, b name) int { return bytes.Compare(a[:], b[:]) })
	add := func(of name) error {
		line := binary.LittleEndian.AppendUint64(of[:], s.added[of].offset)
		_, err := out.Write(binary.LittleEndian.AppendUint64(line, s.added[of].length))
		return err
	}
	old := bufio.NewReader(io.NewSectionReader(s.index, 0, s.indexed*entryBytes))
	entry := make([]byte, entryBytes)
	for range s.indexed {
		if _, err := io.ReadFull(old, entry); err != nil {
			return err
		}
		for len(added) > 0 && bytes.Compare(added[0][:], entry[:sha256.Size]) < 0 {
			if err := add(added[0]); err != nil {
				return err
			}
			added = added[1:]
		}
		if _, err := out.Write(entry); err != nil {
			return err
		}
	}
	for _, of := range added {
		if err := add(of); err != nil {
			return err
		}
	}
	return out.Flush()
}

// eachBlock gives the blocks of a file to a function.
func eachBlock(path string, size int, do func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for block := make([]byte, size); ; {
		n, err := io.ReadFull(file, block)
		if n > 0 {
			if err := do(block[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// run puts files into a store, prints what that saved, and reads all blocks back.
func run(folder string, size int, files []string, out io.Writer) error {
	if size < 1 {
		return fmt.Errorf("blocks of %d bytes", size)
	}
	s, err := openStore(folder)
	if err != nil {
		return err
	}
	defer s.close()
	for _, file := range files {
		if err := eachBlock(file, size, s.put); err != nil {
			return err
		}
	}
	if err := s.finish(); err != nil {
		return err
	}
	filter, err := s.names.SerializedSize()
	if err != nil {
		return err
	}
	share := 100 * float64(s.givenBytes-s.writtenBytes) / float64(cmp.Or(s.givenBytes, 1))
	fmt.Fprintf(out, "%d blocks came, %d were written: saved %.1f %% of the disk\n", s.given, s.written, share)
	fmt.Fprintf(out, "the index was searched for %d of %d blocks: saved %d searches; %d were in vain\n", s.searches,
		s.asked, s.asked-s.searches, s.vain)
	fmt.Fprintf(out, "the filter takes %d bytes, the index %d\n", filter, s.indexed*entryBytes)
	return errors.Join(slices.Collect(func(yield func(error) bool) {
		for _, file := range files {
			if !yield(eachBlock(file, size, s.compare)) {
				return
			}
		}
	})...)
}

// compare reads a block back.
func (s *store) compare(block []byte) error {
	of := sha256.Sum256(block)
	stored, err := s.get(of)
	if err == nil && !bytes.Equal(stored, block) {
		err = fmt.Errorf("block %x came back as another one", of)
	}
	return err
}
