package image

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
)

// goldenMaps reads the golden files of maps. Key i of their hundred keys has the value 1000 i + 7.
func goldenMaps(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(goldenfiles.Folder(t), "maps", "*.petal"))
	ok(t, err)
	files := map[string][]byte{}
	for _, path := range paths {
		if files[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestGoldenMapsHoldTheirValues(t *testing.T) {
	files := goldenMaps(t)
	for path, image := range files {
		options := goldenOptions(path)
		mapped, err := Open(path, options, AMap)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		wrapped, err := Wrap(image, options, AMap)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		loaded, err := Load(image, options, AMap)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		read, err := Read(bytes.NewReader(append(bytes.Clone(image), 1, 2, 3)), options, AMap)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, m := range []*Filter{mapped, wrapped, loaded, read} {
			if err := m.Verify(); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			others := 0
			for i := range 100 * goldenKeys {
				get := func() (uint64, bool, error) { return m.GetString(goldenKey(i)) }
				if m.Header().Hash == External {
					get = func() (uint64, bool, error) { return m.GetHash(mix(uint64(i + 1))) }
				}
				value, found, err := get()
				switch {
				case err != nil, i < goldenKeys && (!found || value != uint64(1000*i+7)), !found && value != 0:
					t.Fatalf("%s: key %d has the value %d, %v, %v", path, i, value, found, err)
				case i >= goldenKeys && found:
					others++
				}
			}
			// Maps have at least seven check bits, which find one other key in 128, or none, and then find all.
			most := 2 * 99 * goldenKeys / 128
			if m.Header().Kind == Retrieval {
				most = 99 * goldenKeys
			}
			if others > most {
				t.Errorf("%s: %d other keys are found", path, others)
			}
			_, _, err := m.GetHash(1)
			_, _, ofBytes := m.Get([]byte("key"))
			_, _, ofNumber := m.GetUint64(1)
			if isExternal := m.Header().Hash == External; isExternal == errors.Is(err, ErrUnsupported) ||
				isExternal != errors.Is(ofBytes, ErrExternalHash) || isExternal != errors.Is(ofNumber, ErrExternalHash) {
				t.Errorf("%s: %v, %v, %v", path, err, ofBytes, ofNumber)
			}
		}
		if n := testing.AllocsPerRun(100, func() { _, _, _ = mapped.GetString("another key") }); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
		if err := mapped.Close(); err != nil {
			t.Error(err)
		}
		for _, closed := range []*Filter{mapped, {}} {
			if _, _, err := closed.GetUint64(1); !errors.Is(err, ErrClosed) || closed.String() != "closed" {
				t.Errorf("%s: a closed map gives %v", path, err)
			}
			if _, _, err := closed.GetHash(1); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: a closed map gives %v", path, err)
			}
		}
		if _, err := Wrap(image, options, AFilter); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: a map opens as a filter: %v", path, err)
		}
	}
	if len(files) == 0 {
		t.Skip("tests/golden is not here")
	}
	for _, image := range sample() {
		if _, err := Wrap(image, nil, AMap); !errors.Is(err, ErrUnsupported) {
			t.Errorf("a filter opens as a map: %v", err)
		}
	}
}

// Changed headers and payloads with corrected checksums open or do not open. Nothing panics, and an image that loads is
// valid.
func TestForgedImagesAreHarmless(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	files := goldenMaps(t)
	for path, image := range goldenFiles(t) {
		files[path] = image
	}
	for _, image := range files {
		for range 300 {
			forged := bytes.Clone(image)
			for range 1 + random.IntN(3) {
				switch at := random.IntN(3); at {
				case 0: // bits, words and the length of the payload
					forged[20+random.IntN(144-20)] ^= 1 << random.IntN(8)
				case 1: // of the kinds with cells the directory, and of scalable the state, are near the end
					from := len(forged) - 64 - random.IntN(min(256, len(forged)-headerLength-64)) - 1
					forged[from] ^= byte(random.Uint32())
				case 2:
					forged[headerLength+random.IntN(len(forged)-headerLength)] ^= byte(random.Uint32())
				}
			}
			use(t, seal(forged), random.Uint64())
		}
	}
}

func TestAForgedDirectoryIsFound(t *testing.T) {
	image, err := os.ReadFile(filepath.Join(goldenfiles.Folder(t), "fuse-fingerprint_bits_16-arity_3-layout_1-xxh3.petal"))
	if err != nil {
		t.Skip("tests/golden is not here")
	}
	f, err := Wrap(image, nil, AFilter)
	ok(t, err)
	entry := headerLength + int(f.shape.cells.directory())
	// The changed fields say where cells begin, how long segments are, and where the shard begins: all lead out of the
	// payload.
	for _, at := range []int{3, 8, 15} {
		forged := bytes.Clone(image)
		forged[entry+at] |= 0xf0
		if _, err := Load(seal(forged), nil, AFilter); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d: %v", at, err)
		}
		use(t, forged, 1)
	}
}
