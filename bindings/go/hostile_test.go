// Forged images with valid checksums: packages petal and view give the same verdict, and the same answers if both open
// the image.

package petal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
	"github.com/petal-filter/petal/bindings/go/view"
	"github.com/zeebo/xxh3"
)

// The places of the parts of an image, by docs/format.md.
const (
	headerBytes    = 256
	wordsAt        = 72
	payloadBytesAt = 136
	checksumAt     = 208
	stateAt        = 216
	sealAt         = 248
	tableRegion    = 1 << 16
)

// reseal corrects those checksums of an image for which the image has the parts.
func reseal(image []byte) []byte {
	put := binary.LittleEndian.PutUint64
	put(image[checksumAt:], xxh3.Hash(image[:checksumAt]))
	payload := binary.LittleEndian.Uint64(image[payloadBytesAt:])
	if payload < uint64(len(image)) {
		regions := (payload + tableRegion - 1) / tableRegion
		start := headerBytes + payload
		if end := start + (8*regions+8+63)/64*64; end <= uint64(len(image)) {
			table := image[start:end]
			clear(table)
			for i := range regions {
				region := image[headerBytes+tableRegion*i : min(headerBytes+tableRegion*(i+1), start)]
				put(table[8*i:], max(1, xxh3.Hash(region)))
			}
			put(table[len(table)-8:], xxh3.Hash(append(bytes.Clone(image[checksumAt:stateAt]), table[:len(table)-8]...)))
		}
	}
	state := [8]byte(image[stateAt:])
	clear(image[stateAt : stateAt+8])
	put(image[sealAt:], xxh3.Hash(image[checksumAt:sealAt]))
	copy(image[stateAt:], state[:])
	return image
}

// hostileValues are replacements for a value: its neighbours, its multiples, the limits of fields, and all values that
// differ in one bit.
func hostileValues(value uint64, width int, random *rand.Rand) []uint64 {
	values := []uint64{0, 1, 2, 3, 4, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 96, 97, 128, 255, 256, 512, 1 << 16, 1<<18 + 1,
		math.MaxUint32, 1 << 32, 1 << 48, 1 << 62, 1 << 63, math.MaxInt64, math.MaxUint64, value + 1, value - 1, value + 8,
		value - 8, value + 64, value - 64, value + 512, value - 512, 2 * value, 3 * value, value / 2, value / 3,
		-value, ^value}
	for bit := range width {
		values = append(values, value^1<<bit)
	}
	for range 8 {
		values = append(values, random.Uint64()>>random.IntN(64))
	}
	return values
}

// field is the place of a part of an image, and its length in bytes.
type field struct{ at, bytes int }

func (f field) get(image []byte) uint64 {
	var all [8]byte
	copy(all[:], image[f.at:f.at+f.bytes])
	return binary.LittleEndian.Uint64(all[:])
}

func (f field) set(image []byte, value uint64) {
	copy(image[f.at:f.at+f.bytes], binary.LittleEndian.AppendUint64(nil, value))
}

// headerFields returns all fields of a header except those that reseal writes.
func headerFields() []field {
	fields := []field{{8, 2}, {10, 2}, {12, 4}, {16, 4}, {20, 4}}
	for at := 24; at < headerBytes; at += 8 {
		if at != checksumAt && at != sealAt {
			fields = append(fields, field{at, 8})
		}
	}
	return fields
}

// verdicts pairs the errors of packages petal and view.
var verdicts = []struct{ petal, view error }{
	{ErrForeign, view.ErrForeign},
	{ErrTruncated, view.ErrTruncated},
	{ErrCorrupt, view.ErrCorrupt},
	{ErrNewerVersion, view.ErrNewerVersion},
	{ErrUnclean, view.ErrUnclean},
	{ErrUnsupported, view.ErrUnsupported},
	{ErrSecretMismatch, view.ErrSecretMismatch},
	{ErrContradiction, view.ErrContradiction},
}

func sameVerdict(ours, views error) bool {
	if ours == nil || views == nil {
		return ours == views
	}
	for _, pair := range verdicts {
		if errors.Is(ours, pair.petal) != errors.Is(views, pair.view) {
			return false
		}
	}
	return true
}

// isOnlyForPetal says whether view refuses a kind or a hash function that only petal has.
func isOnlyForPetal(err error) bool {
	return errors.Is(err, view.ErrNewerVersion) && strings.Contains(err.Error(), "only package petal opens")
}

// verdictOfBoth opens an image in both packages, mapped and copied, and compares the verdicts: err is the verdict about
// the copy. The comparison looks up the keys of golden images, and as many other keys.
type verdictOfBoth struct {
	file   *os.File
	handle Handle
	key    [16]byte
	random *rand.Rand
	// One in share forged images is tried.
	share int
	// How many images both packages copied, and how many both refused.
	opened, refused int
}

// newVerdict makes the verdict for a golden image. For one image of each kind all forgeries are tried, for the others a
// share.
func newVerdict(t *testing.T, path string, seen map[string]bool, random *rand.Rand) *verdictOfBoth {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "image"))
	check(t, err)
	v := &verdictOfBoth{file: file, handle: handleOf(path), random: random, share: 1}
	kind, _, _ := strings.Cut(filepath.Base(path), "-")
	if seen[kind] || testing.Short() {
		v.share = 40
	} else {
		seen[kind] = strings.Contains(path, "xxh3") || strings.Contains(path, "identity")
	}
	if strings.Contains(path, "siphash13") {
		v.key = goldenKey
	}
	t.Cleanup(func() { check(t, file.Close()) })
	return v
}

// handleOf returns the handle of a golden image, by its folder.
func handleOf(path string) Handle {
	switch filepath.Base(filepath.Dir(path)) {
	case "maps":
		return HandleMap
	case "sketches":
		return HandleSketch
	case "own": // of which tests here take the indexes
		return HandleIndex
	}
	return HandleFilter
}

// goldenKey is the secret key of golden images.
var goldenKey = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// opened is an image that both packages opened.
type opened struct {
	petal, view error
	// differ looks keys up in both packages, and returns the differences.
	differ func() string
	close  func() error
}

func (v *verdictOfBoth) copied(image []byte) opened {
	if v.handle == HandleMap {
		ours, err := LoadMap(image, &OpenOptions{Secret: v.key})
		views, refusal := view.LoadMap(image, &view.OpenOptions{Secret: v.key})
		return opened{err, refusal, func() string { return differentValues(ours, views) }, ours.Close}
	}
	ours, err := Load(image, &OpenOptions{Secret: v.key})
	views, refusal := view.Load(image, &view.OpenOptions{Secret: v.key})
	return opened{err, refusal, func() string { return differentAnswers(ours, views) }, ours.Close}
}

func (v *verdictOfBoth) mapped(image []byte) opened {
	if v.handle == HandleMap {
		ours, err := OpenMapAt(v.file, 0, &OpenOptions{Secret: v.key})
		views, refusal := view.WrapMap(image, &view.OpenOptions{Secret: v.key})
		return opened{err, refusal, func() string { return differentValues(ours, views) }, ours.Close}
	}
	ours, err := OpenAt(v.file, 0, &OpenOptions{Secret: v.key})
	views, refusal := view.Wrap(image, &view.OpenOptions{Secret: v.key})
	return opened{err, refusal, func() string { return differentAnswers(ours, views) }, ours.Close}
}

// compare returns the difference, or "". A payload that nobody copied is looked up too, without a comparison of the
// answers, because nobody has checked the payload.
func (v *verdictOfBoth) compare(t *testing.T, image []byte) string {
	t.Helper()
	copied := v.copied(image)
	defer copied.close()
	if isOnlyForPetal(copied.view) {
		return ""
	}
	if !sameVerdict(copied.petal, copied.view) {
		return fmt.Sprintf("copied: %v, but view: %v", copied.petal, copied.view)
	}
	if copied.petal == nil {
		v.opened++
		if different := copied.differ(); different != "" {
			return "copied: " + different
		}
	} else {
		v.refused++
	}
	if copied.petal != nil && v.random.IntN(8) > 0 {
		return ""
	}
	v.write(t, image)
	mapped := v.mapped(image)
	defer mapped.close()
	if !sameVerdict(mapped.petal, mapped.view) {
		return fmt.Sprintf("mapped: %v, but view: %v", mapped.petal, mapped.view)
	}
	if mapped.petal == nil {
		if different := mapped.differ(); different != "" && copied.petal == nil {
			return "mapped: " + different
		}
	}
	return ""
}

func (v *verdictOfBoth) write(t *testing.T, image []byte) {
	t.Helper()
	check(t, v.file.Truncate(int64(len(image))))
	must(v.file.WriteAt(image, 0))
}

// differentAnswers looks up the keys of golden images, and as many other keys.
func differentAnswers(f *Filter, v *view.Filter) string {
	for i := range uint64(120) {
		key, hash := fmt.Sprintf("key %d", i), (i+1)*0x9e3779b97f4a7c15
		switch {
		case f.ContainsString(key) != v.ContainsString(key):
			return fmt.Sprintf("view says %v of %q", v.ContainsString(key), key)
		case f.ContainsUint64(i) != v.ContainsUint64(i):
			return fmt.Sprintf("view says %v of %d", v.ContainsUint64(i), i)
		case f.ContainsHash(hash) != v.ContainsHash(hash):
			return fmt.Sprintf("view says %v of the hash %#x", v.ContainsHash(hash), hash)
		}
	}
	return ""
}

// differentValues is [differentAnswers] for maps.
func differentValues(m *Map, v *view.Map) string {
	for i := range uint64(120) {
		key, hash := fmt.Sprintf("key %d", i), (i+1)*0x9e3779b97f4a7c15
		value, found, err := m.GetString(key)
		if views, there, refusal := v.GetString(key); value != views || found != there || (err == nil) != (refusal == nil) {
			return fmt.Sprintf("%q has %d, %v, %v; in view %d, %v, %v", key, value, found, err, views, there, refusal)
		}
		value, found, err = m.GetHash(hash)
		if views, there, refusal := v.GetHash(hash); value != views || found != there || (err == nil) != (refusal == nil) {
			return fmt.Sprintf("hash %#x has %d, %v, %v; in view %d, %v, %v", hash, value, found, err, views, there, refusal)
		}
	}
	return ""
}

// goldenPaths are the golden images of filters and maps; none outside the repository.
func goldenPaths(t *testing.T) (paths []string) {
	t.Helper()
	return goldenImages(t, "*.petal", "maps/*.petal", "digests/*.petal")
}

func goldenImages(t *testing.T, patterns ...string) (paths []string) {
	t.Helper()
	folder := goldenfiles.Folder(t)
	for _, pattern := range patterns {
		paths = append(paths, must(filepath.Glob(filepath.Join(folder, pattern)))...)
	}
	if len(paths) == 0 {
		t.Skip("tests/golden is not here")
	}
	return paths
}

// In one image of each kind that package view opens, each field of the header takes each hostile value. In every other
// golden image a share of the values is tried, and some pairs of fields.
func TestForgedHeadersComeToTheSameVerdict(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	opened, refused, seen := 0, 0, map[string]bool{}
	for _, path := range goldenPaths(t) {
		image := must(os.ReadFile(path))
		v := newVerdict(t, path, seen, random)
		// The room is for payloads that claim to be longer: any bytes may follow an image.
		const room = 1 << 12
		failures := 0
		try := func(changes ...func([]byte)) {
			forged := append(bytes.Clone(image), make([]byte, room)...)
			for _, change := range changes {
				change(forged)
			}
			if different := v.compare(t, reseal(forged)); different != "" {
				if failures++; failures <= 5 {
					t.Errorf("%s: %s: the header is %x", path, different, forged[:sealAt])
				}
			}
		}
		try()
		if v.opened == 0 {
			// Package view does not open this kind.
			continue
		}
		fields := headerFields()
		for _, f := range fields {
			for _, value := range hostileValues(f.get(image), 8*f.bytes, random) {
				if random.IntN(v.share) == 0 {
					try(func(forged []byte) { f.set(forged, value) })
				}
			}
		}
		for range 200 / v.share {
			var changes []func([]byte)
			for range 2 {
				f := fields[random.IntN(len(fields))]
				if random.IntN(2) == 0 {
					f = field{wordsAt - 8 + 8*random.IntN(9), 8}
				}
				values := hostileValues(f.get(image), 8*f.bytes, random)
				value := values[random.IntN(len(values))]
				changes = append(changes, func(forged []byte) { f.set(forged, value) })
			}
			try(changes...)
		}
		opened, refused = opened+v.opened, refused+v.refused
	}
	t.Logf("%d forged images open, %d are refused", opened, refused)
}

// Forged payloads, with changed words in heads, directories, lengths and state.
func TestForgedPayloadsComeToTheSameVerdict(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	opened, refused, seen := 0, 0, map[string]bool{}
	for _, path := range goldenPaths(t) {
		image := must(os.ReadFile(path))
		v, failures := newVerdict(t, path, seen, random), 0
		if v.compare(t, image) != "" || v.opened == 0 {
			continue
		}
		try := func(at int, value uint64) {
			forged := bytes.Clone(image)
			binary.LittleEndian.PutUint64(forged[at:], value)
			if different := v.compare(t, reseal(forged)); different != "" {
				if failures++; failures <= 5 {
					t.Errorf("%s: %s: the word at byte %d of the payload is %#x and not %#x", path, different, at-headerBytes,
						value, binary.LittleEndian.Uint64(image[at:]))
				}
			}
		}
		end := headerBytes + int(binary.LittleEndian.Uint64(image[payloadBytesAt:]))
		for at := headerBytes; at < end; at += 8 {
			values := hostileValues(binary.LittleEndian.Uint64(image[at:]), 64, random)
			if at >= headerBytes+64 && at < end-64 {
				random.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
				values = values[:5]
			}
			for _, value := range values {
				if random.IntN(v.share) == 0 {
					try(at, value)
				}
			}
		}
		opened, refused = opened+v.opened, refused+v.refused
	}
	t.Logf("%d forged images open, %d are refused", opened, refused)
}

// builtOfMany returns images that are built from enough keys for several shards: filters, and maps with each solver.
func builtOfMany(t *testing.T, keys uint64) map[string][]byte {
	t.Helper()
	images := map[string][]byte{}
	numbers := make([]uint64, keys)
	for i := range numbers {
		numbers[i] = uint64(i)
	}
	for _, kind := range filterKinds() {
		if kind.Capabilities.Has(CanInsert) {
			continue
		}
		b := must(NewBuilder(Spec{Kind: kind.Name}, nil))
		check(t, b.AddBatch(Uint64Keys(numbers), nil))
		f := must(b.Finish())
		images[kind.Name] = must(f.MarshalBinary())
		check(t, f.Close())
		check(t, b.Close())
	}
	for _, solver := range []string{"fuse", "ribbon"} {
		b := must(NewMapBuilder(Spec{Kind: "bloomier", Parameters: map[string]string{"solver": solver}}, nil))
		check(t, b.PutBatch(Uint64Keys(numbers), numbers, nil))
		m := must(b.Finish())
		images["maps/"+solver] = must(m.MarshalBinary())
		check(t, m.Close())
		check(t, b.Close())
	}
	return images
}

// Forged directories of several shards, which golden images do not have: words at both ends of the payload are changed.
func TestForgedDirectoriesComeToTheSameVerdict(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	tries := 200
	if testing.Short() {
		tries = 20
	}
	for name, image := range builtOfMany(t, 600_000) {
		v := newVerdict(t, name, map[string]bool{}, random)
		if different := v.compare(t, image); different != "" {
			t.Errorf("%s: %s", name, different)
		}
		if v.opened == 0 {
			// Package view does not open this kind.
			continue
		}
		payload := int(binary.LittleEndian.Uint64(image[payloadBytesAt:]))
		for range tries {
			forged := bytes.Clone(image)
			word := random.IntN(16)
			if random.IntN(2) == 0 {
				word = payload/8 - 1 - random.IntN(32)
			}
			at := headerBytes + 8*word
			values := hostileValues(binary.LittleEndian.Uint64(image[at:]), 64, random)
			value := values[random.IntN(len(values))]
			binary.LittleEndian.PutUint64(forged[at:], value)
			if different := v.compare(t, reseal(forged)); different != "" {
				t.Errorf("%s: %s: word %d of the payload is %#x and not %#x", name, different, word, value,
					binary.LittleEndian.Uint64(image[at:]))
			}
		}
		t.Logf("%s: %d forged images open, %d are refused", name, v.opened, v.refused)
	}
}

// Optional features of a later version: both packages open an image with such features and write it without them, to
// the same bytes. Neither package changes such an image in place.
func TestOptionalFeaturesAreNotKeptUp(t *testing.T) {
	for _, path := range goldenImages(t, "*.petal", "maps/*.petal", "digests/*.petal", "sketches/*.petal", "own/width*") {
		image := must(os.ReadFile(path))
		later := bytes.Clone(image)
		later[32], later[144], later[240] = 1, 2, 3
		reseal(later)
		options := &OpenOptions{}
		if strings.Contains(path, "siphash13") {
			options.Secret = goldenKey
		}
		file := filepath.Join(t.TempDir(), "later")
		check(t, os.WriteFile(file, later, 0o600))
		var writers []io.WriterTo
		switch handleOf(path) {
		case HandleMap:
			mapped := must(view.OpenMap(file, &view.OpenOptions{Secret: options.Secret}))
			writers = append(writers, must(LoadMap(later, options)), must(OpenMap(file, options)),
				must(view.LoadMap(later, &view.OpenOptions{Secret: options.Secret})), mapped)
		case HandleIndex:
			writers = append(writers, must(LoadIndex(later, options)), must(OpenIndex(file, options)))
		case HandleSketch:
			writers = append(writers, must(LoadSketch(later, options)), must(OpenSketch(file, options)))
		default:
			writers = append(writers, must(Load(later, options)), must(Open(file, options)))
			views, err := view.Load(later, &view.OpenOptions{Secret: options.Secret})
			if !isOnlyForPetal(err) {
				check(t, err)
				writers = append(writers, views, must(view.Open(file, &view.OpenOptions{Secret: options.Secret})))
			}
		}
		for _, from := range writers {
			var written bytes.Buffer
			must(from.WriteTo(&written))
			if !bytes.Equal(written.Bytes(), image) {
				t.Errorf("%s: %T writes other bytes", path, from)
			}
			check(t, from.(io.Closer).Close())
		}
		if handleOf(path) != HandleFilter {
			continue
		}
		f, err := Open(file, &OpenOptions{Mode: OpenWrite, Secret: options.Secret})
		if err == nil || !errors.Is(err, ErrNewerVersion) && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s is opened to be written: %v", path, err)
		}
		check(t, f.Close())
	}
}
