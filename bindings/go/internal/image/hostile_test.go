// Images that are forged, damaged, or not images.

package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// seal corrects the checksums of an image.
func seal(image []byte) []byte {
	put := binary.LittleEndian.PutUint64
	put(image[checksumOffset:], xxh3.Hash(image[:checksumOffset]))
	state := [8]byte(image[stateOffset:])
	clear(image[stateOffset : stateOffset+8])
	// Seals the table if the image has room for it.
	payload := binary.LittleEndian.Uint64(image[136:])
	if length, possible := imageBytes(payload); possible && length <= len(image) {
		table := image[headerLength+int(payload) : length]
		clear(table)
		for start := 0; start < int(payload); start += 65536 {
			region := image[headerLength+start : headerLength+min(start+65536, int(payload))]
			put(table[start/65536*8:], max(1, xxh3.Hash(region)))
		}
		put(table[len(table)-8:], xxh3.Hash(append(bytes.Clone(image[checksumOffset:stateOffset]), table[:len(table)-8]...)))
	}
	put(image[sealOffset:], xxh3.Hash(image[checksumOffset:sealOffset]))
	copy(image[stateOffset:], state[:])
	return image
}

// sample makes an image of each kind, without the golden files.
func sample() map[Kind][]byte {
	images := map[Kind][]byte{}
	for kind, hashes := range map[Kind]uint32{Bloom: 7, SplitBlock: 8, Blocked: 6, Counting: 7} {
		image := make([]byte, headerLength+128+64)
		copy(image, magic)
		binary.LittleEndian.PutUint16(image[8:], 1)
		binary.LittleEndian.PutUint16(image[10:], 1)
		binary.LittleEndian.PutUint32(image[12:], uint32(kind))
		binary.LittleEndian.PutUint32(image[16:], uint32(XXH3))
		binary.LittleEndian.PutUint32(image[20:], hashes)
		binary.LittleEndian.PutUint64(image[64:], 1024)
		if kind == Counting {
			binary.LittleEndian.PutUint64(image[72:], 4)
		}
		binary.LittleEndian.PutUint64(image[136:], 128)
		images[kind] = seal(image)
	}
	return images
}

// An unknown choice counts as a later version's, and not as damage.
func TestUnknownChoicesAreThoseOfALaterVersion(t *testing.T) {
	tried := 0
	for kind, row := range kinds {
		if row == nil {
			continue
		}
		for _, c := range row.choices {
			for _, number := range []uint64{c.count, c.count + 1, math.MaxUint64} {
				image := sample()[Bloom]
				binary.LittleEndian.PutUint32(image[12:], uint32(kind))
				binary.LittleEndian.PutUint64(image[72+8*c.word:], number)
				_, err := Load(seal(image), nil, AFilter)
				if !errors.Is(err, ErrNewerVersion) || !strings.Contains(err.Error(), c.name) {
					t.Errorf("%v with %s %d: %v", Kind(kind), c.name, number, err)
				}
				tried++
			}
			image := sample()[Bloom]
			binary.LittleEndian.PutUint32(image[12:], uint32(kind))
			binary.LittleEndian.PutUint64(image[72+8*c.word:], c.count-1)
			if _, err := Load(seal(image), nil, AFilter); errors.Is(err, ErrNewerVersion) {
				t.Errorf("%v with %s %d: %v", Kind(kind), c.name, c.count-1, err)
			}
		}
	}
	if tried < 18 {
		t.Errorf("only %d choices were tried", tried)
	}
}

func TestHeadersThatLieAreRefused(t *testing.T) {
	u64 := func(value uint64) []byte { return binary.LittleEndian.AppendUint64(nil, value) }
	u32 := func(value uint32) []byte { return binary.LittleEndian.AppendUint32(nil, value) }
	float := func(value float64) []byte { return u64(math.Float64bits(value)) }
	changes := []struct {
		what   string
		offset int
		change []byte
		want   error
	}{
		{"nothing", 0, nil, nil},
		{"magic", 0, []byte{0x88}, ErrForeign},
		{"version", 8, []byte{2}, ErrNewerVersion},
		{"version", 8, []byte{0}, ErrCorrupt},
		{"layout", 10, []byte{2}, ErrNewerVersion},
		{"layout", 10, []byte{0}, ErrCorrupt},
		{"kind", 12, u32(0), ErrNewerVersion},
		{"kind", 12, u32(math.MaxUint32), ErrNewerVersion},
		{"hash", 16, u32(0), ErrNewerVersion},
		{"hash", 16, u32(5), ErrCorrupt},
		{"hash", 16, u32(6), ErrNewerVersion},
		{"hash", 16, u32(9), ErrCorrupt},
		{"hash", 16, u32(10), ErrNewerVersion},
		{"hash", 16, u32(uint32(Identity)), ErrCorrupt},
		{"hashes", 20, u32(0), ErrCorrupt},
		{"hashes", 20, u32(65), ErrCorrupt},
		{"hashes", 20, u32(math.MaxUint32), ErrCorrupt},
		{"required features", 24, u64(1 << 63), ErrNewerVersion},
		{"optional features", 32, u64(math.MaxUint64), nil},
		{"capacity", 48, u64(math.MaxUint64), nil},
		{"rate", 56, float(1), nil},
		{"rate", 56, float(math.NaN()), ErrCorrupt},
		{"rate", 56, float(math.Inf(1)), ErrCorrupt},
		{"rate", 56, float(1.5), ErrCorrupt},
		{"rate", 56, float(-0.01), ErrCorrupt},
		{"bits", 64, u64(0), ErrCorrupt},
		{"bits", 64, u64(math.MaxUint64), ErrCorrupt},
		{"bits", 64, u64(1 << 63), ErrCorrupt},
		{"bits", 64, u64(512), ErrCorrupt},
		{"bits", 64, u64(1024 + 256), ErrCorrupt},
		{"word 0", 72, u64(17), ErrCorrupt},
		{"word 2", 88, u64(65), ErrCorrupt},
		{"word 7", 128, u64(1), ErrCorrupt},
		{"payload", 136, u64(0), ErrCorrupt},
		{"payload", 136, u64(64), ErrCorrupt},
		{"payload", 136, u64(127), ErrCorrupt},
		{"payload", 136, u64(192), ErrCorrupt},
		{"payload", 136, u64(1 << 63), ErrCorrupt},
		{"payload", 136, u64(math.MaxUint64), ErrCorrupt},
		{"reserved", 144, []byte{1}, ErrCorrupt},
		{"reserved", 207, []byte{1}, ErrCorrupt},
		{"sharing", 232, []byte{1}, ErrCorrupt},
		{"late reserved", 240, []byte{1}, ErrCorrupt},
		{"state", 216, []byte{1}, ErrCorrupt},
		{"state", 216, []byte("DIRTY\x00\x00\x01"), ErrCorrupt},
		{"state", 216, []byte("DIRTY\x00\x00\x00"), nil},
		{"count", 224, u64(math.MaxUint64), nil},
	}
	for kind, image := range sample() {
		for _, c := range changes {
			// The forged image has room for a payload that is a line longer.
			forged := append(bytes.Clone(image), make([]byte, payloadUnit)...)
			copy(forged[c.offset:], c.change)
			_, wrapped := Wrap(seal(forged), nil, AFilter)
			_, loaded := Load(forged, nil, AFilter)
			_, read := Read(bytes.NewReader(forged), nil, AFilter)
			for _, err := range []error{wrapped, loaded, read} {
				if !errors.Is(err, c.want) {
					t.Errorf("%v: %s = %x: %v, not %v", kind, c.what, c.change, err, c.want)
				}
			}
		}
		// The claim of a huge image does not allocate memory for it.
		huge := bytes.Clone(image)
		const blocks = 1<<32 - 2
		copy(huge[64:], u64(256*blocks))
		copy(huge[136:], u64(32*blocks))
		if _, err := Wrap(seal(huge), nil, AFilter); !errors.Is(err, ErrTruncated) {
			t.Errorf("%v: %v", kind, err)
		}
		if _, err := Read(bytes.NewReader(huge), nil, AFilter); !errors.Is(err, ErrTruncated) {
			t.Errorf("%v: %v", kind, err)
		}
	}
}

func TestEveryFlippedBitOfTheHeaderIsNoticed(t *testing.T) {
	for kind, image := range sample() {
		for bit := range 8 * headerLength {
			flipped := bytes.Clone(image)
			flipped[bit/8] ^= 1 << (bit % 8)
			if _, err := Load(flipped, nil, AFilter); err == nil {
				t.Errorf("%v: bit %d", kind, bit)
			}
		}
		// The places are the payload, the table's entry, its padding and its own checksum.
		for _, at := range []int{100, 128, 128 + 8, 128 + 63} {
			flipped := bytes.Clone(image)
			flipped[headerLength+at] ^= 1
			if _, err := Load(flipped, nil, AFilter); !errors.Is(err, ErrCorrupt) {
				t.Error(at, err)
			}
			f, err := Wrap(flipped, nil, AFilter)
			ok(t, err)
			if err := f.Verify(); !errors.Is(err, ErrCorrupt) {
				t.Error(at, err)
			}
			if _, err := f.MarshalBinary(); at < 136 && !errors.Is(err, ErrCorrupt) {
				t.Error(at, err)
			}
		}
		for length := range image {
			if _, err := Wrap(image[:length], nil, AFilter); !errors.Is(err, ErrTruncated) {
				t.Errorf("%v: %d bytes: %v", kind, length, err)
			}
		}
		if _, err := Wrap(append(bytes.Clone(image), 0), nil, AFilter); err != nil {
			t.Errorf("an image may be followed by anything: %v", err)
		}
		path := filepath.Join(t.TempDir(), "longer")
		ok(t, os.WriteFile(path, append(bytes.Clone(image), 0), 0o600))
		if _, err := Open(path, nil, AFilter); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a file that is an image ends with it: %v", err)
		}
	}
	for _, foreign := range []string{"PAR1", "\x7fELF\x02\x01\x01\x00", strings.Repeat("\xff", 5000)} {
		if _, err := Wrap([]byte(foreign), nil, AFilter); !errors.Is(err, ErrForeign) {
			t.Errorf("%q: %v", foreign, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	ok(t, os.WriteFile(empty, nil, 0o600))
	if _, err := Open(empty, nil, AFilter); !errors.Is(err, ErrTruncated) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir(), nil, AFilter); err == nil {
		t.Error("a folder opens")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), nil, AFilter); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A lookup that fails says that the key is there.
func TestBrokenLookupsSayTrue(t *testing.T) {
	image := sample()[Blocked]
	f, err := Wrap(image, nil, AFilter)
	ok(t, err)
	if f.ContainsString("a") || f.ContainsUint64(1) || f.Contains(nil) {
		t.Error("an empty filter holds keys")
	}
	if _, err := f.Insert([]byte("a")); !errors.Is(err, ErrUnsupportedByHandle) {
		t.Error(err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if !f.ContainsString("a") || !f.ContainsHash(1) || !f.ContainsUint64(1) {
			t.Error("a closed filter said false")
		}
	}
	_, inserted := f.InsertHash(1)
	_, hashed := f.HashUint64(1)
	_, written := f.WriteTo(&bytes.Buffer{})
	_, marshalled := f.MarshalBinary()
	for _, err := range []error{inserted, hashed, written, marshalled, f.Verify()} {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}

	external := bytes.Clone(image)
	external[16] = byte(External)
	f, err = Load(seal(external), nil, AFilter)
	ok(t, err)
	if _, err := f.InsertString("a"); !errors.Is(err, ErrExternalHash) || !f.ContainsString("a") || f.ContainsHash(1) {
		t.Error("external", err)
	}
	keyed := bytes.Clone(image)
	keyed[16] = byte(SipHash13)
	f, err = Load(seal(keyed), nil, AFilter)
	ok(t, err)
	if _, err := f.InsertUint64(1); !errors.Is(err, ErrSecretMissing) || !f.ContainsUint64(1) || f.ContainsHash(1) {
		t.Error("keyed", err)
	}
	if _, err := Load(keyed, &Options{Secret: [16]byte{1}}, AFilter); !errors.Is(err, ErrSecretMismatch) {
		t.Error(err)
	}
	if _, err := Load(image, &Options{Secret: [16]byte{1}}, AFilter); !errors.Is(err, ErrContradiction) {
		t.Error(err)
	}
}

func TestUncleanImagesOpenAndSaySo(t *testing.T) {
	for kind, image := range sample() {
		copy(image[stateOffset:], uncleanState)
		image[sharingOffset] ^= 1
		image[sealOffset] ^= 1
		f, err := Load(image, nil, AFilter)
		if err != nil {
			t.Fatal(kind, err)
		}
		if !f.Header().Unclean || !errors.Is(f.Verify(), ErrUnclean) {
			t.Error(kind, "is not unclean")
		}
		again, err := f.MarshalBinary()
		ok(t, err)
		if f, err = Load(again, nil, AFilter); err != nil || !f.Header().Unclean {
			t.Error(kind, "did not stay unclean", err)
		}
	}
}

// FuzzImage opens any bytes: as they are, and with corrected checksums, which reach more code. Nothing may panic.
func FuzzImage(f *testing.F) {
	for _, image := range goldenFiles(f) {
		f.Add(image, uint64(1))
	}
	for _, image := range sample() {
		f.Add(image, uint64(2))
	}
	for _, image := range goldenMaps(f) {
		f.Add(image, uint64(3))
	}
	f.Fuzz(func(t *testing.T, image []byte, hash uint64) {
		use(t, image, hash)
		if len(image) >= headerLength {
			use(t, seal(bytes.Clone(image)), hash)
		}
	})
}

func use(t *testing.T, image []byte, hash uint64) {
	before := bytes.Clone(image)
	useMap(t, image, hash)
	wrapped, err := Wrap(image, nil, AFilter)
	if err != nil {
		if wrapped != nil {
			t.Fatal("an error and a filter")
		}
		return
	}
	_ = wrapped.Verify()
	hashes := []uint64{hash, 0, math.MaxUint64}
	for i := range uint64(50) {
		hashes = append(hashes, mix(hash+i))
	}
	for _, hash := range hashes {
		wrapped.ContainsHash(hash)
	}
	wrapped.ContainsString("key")
	if !bytes.Equal(image, before) {
		t.Fatal("reading changed the image")
	}
	loaded, err := Load(image, nil, AFilter)
	if err != nil {
		return
	}
	for _, hash := range hashes {
		_, err := loaded.InsertHash(hash)
		if loaded.row.insert == nil && errors.Is(err, ErrUnsupported) {
			continue
		}
		if err != nil || !loaded.ContainsHash(hash) {
			t.Fatal("lost an insertion", err)
		}
	}
	written, err := loaded.MarshalBinary()
	ok(t, err)
	if _, err := Load(written, nil, AFilter); err != nil {
		t.Fatal(err)
	}
}

func useMap(t *testing.T, image []byte, hash uint64) {
	m, err := Wrap(image, nil, AMap)
	if err != nil {
		return
	}
	_ = m.Verify()
	for i := range uint64(50) {
		_, _, _ = m.GetUint64(hash + i)
		_, _, _ = m.GetHash(mix(hash + i))
	}
	if _, err := Load(image, nil, AMap); err != nil {
		return
	}
	// A directory that was checked leads no lookup outside of the payload.
	for i := range uint64(50) {
		if _, _, err := m.GetUint64(hash + i); errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	}
}
