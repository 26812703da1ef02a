package filter_test

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/filter"
	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
	"github.com/petal-filter/petal/bindings/go/view"
)

var (
	_ io.WriterTo                = (*filter.Filter)(nil)
	_ io.ReaderFrom              = (*filter.Filter)(nil)
	_ io.Closer                  = (*filter.Filter)(nil)
	_ encoding.BinaryMarshaler   = (*filter.Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*filter.Filter)(nil)
	_ encoding.BinaryAppender    = (*filter.Filter)(nil)
)

// must returns a value, or panics if there is an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, and not: %v", err, want)
	}
}

// settings are parameters of a spec.
type settings = map[string]string

var kinds = []string{"blocked", "split_block", "bloom"}

// specs returns some specs of every kind, derivation and hash function.
func specs() (all []filter.Spec) {
	for _, hash := range []filter.Hash{filter.XXH3, filter.XXH64, filter.SipHash13, filter.External} {
		spec := filter.Spec{Capacity: 1000, Hash: hash, Seed: 5}
		if hash == filter.SipHash13 {
			spec.Secret, spec.Seed = [16]byte{1, 2, 3}, 0
		}
		for _, kind := range kinds {
			spec.Kind = kind
			all = append(all, spec)
		}
		if hash != filter.XXH3 {
			continue
		}
		for i, derivation := range []string{"remix", "independent", "slices", "double", "enhanced_double", "triple"} {
			spec.Parameters = settings{"derivation": derivation, "partitioned": decimal(uint64(1 - i%2))}
			all = append(all, spec)
		}
	}
	return all
}

func TestKeysAreFoundAndFewOthers(t *testing.T) {
	hasher := must(filter.New(filter.Spec{Capacity: 1}))
	for _, spec := range specs() {
		f := must(filter.New(spec))
		hash := func(i uint64) uint64 { return must(hasher.HashUint64(i)) }
		for i := range uint64(1000) {
			must(f.InsertHash(hash(i)))
		}
		const absent = 20_000
		found := 0
		for i := range uint64(1000 + absent) {
			switch is := f.ContainsHash(hash(i)); {
			case i < 1000 && !is:
				t.Fatalf("%+v: key %d is lost", spec, i)
			case i >= 1000 && is:
				found++
			}
		}
		// The limit is 4.5 standard deviations above 200 hits.
		if found > 200+64 {
			t.Errorf("%+v: %d of %d other keys are found", spec, found, absent)
		}
		statistics, count := must(f.Statistics()), must(f.Estimate())
		if rate := statistics.FalsePositiveRate; rate < 0.004 || rate > 0.016 || statistics.CountEstimate != count.Value {
			t.Errorf("%+v: %+v", spec, statistics)
		}
		if math.Abs(count.Value-1000) > 4.5*count.StandardError || count.StandardError > 50 {
			t.Errorf("%+v: %+v", spec, count)
		}
		if expected := must(f.ExpectedFalsePositiveRate(1000)); expected > 0.01 || expected < 0.005 {
			t.Errorf("%+v: %g is expected", spec, expected)
		}
	}
}

// From the header alone, this package makes the same bytes as a file of the C library.
func TestGoldenFilesAreMadeAgain(t *testing.T) {
	paths := must(filepath.Glob(filepath.Join(goldenfiles.Folder(t), "*.petal")))
	made := 0
	for _, path := range paths {
		options := &filter.OpenOptions{}
		if strings.Contains(path, "siphash13") {
			for i := range options.Secret {
				options.Secret[i] = byte(i)
			}
		}
		written, err := filter.Open(path, options)
		if errors.Is(err, filter.ErrUnsupported) || errors.Is(err, filter.ErrNewerVersion) {
			continue
		}
		check(t, err)
		spec := must(written.Spec())
		spec.Secret = options.Secret
		f := must(filter.New(spec))
		for i := range uint64(100) {
			if spec.Hash == filter.External {
				x := i + 1
				x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
				x = (x ^ x>>27) * 0x94d049bb133111eb
				must(f.InsertHash(x ^ x>>31))
			} else {
				must(f.InsertString("key " + decimal(i)))
			}
		}
		if !bytes.Equal(must(f.MarshalBinary()), must(os.ReadFile(path))) {
			t.Errorf("%s: other bytes\n%v\n%v", path, written, f)
		}
		made++
	}
	if len(paths) != 0 && made < 9 {
		t.Errorf("only %d", made)
	}
}

func decimal(i uint64) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return decimal(i/10) + decimal(i%10)
}

// A batch gives the same answers as single calls, for every form of keys, in small filters and in those that are
// prefetched.
func TestBatchesAreManyCalls(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, capacity := range []uint64{100, 1_000_000} {
		for _, spec := range specs() {
			spec.Capacity = capacity
			derivation := spec.Parameters["derivation"]
			isPlain := spec.Hash == filter.XXH3 && (derivation == "" || derivation == "remix")
			if spec.Hash == filter.External || capacity > 100 && !isPlain {
				continue
			}
			f, one := must(filter.New(spec)), must(filter.New(spec))
			for _, count := range []int{0, 1, 31, 32, 33, 64, 200} {
				numbers, texts, slices, hashes := make([]uint64, count), []string{}, [][]byte{}, []uint64{}
				for i := range numbers {
					numbers[i] = random.Uint64N(500)
					slices = append(slices, binary.LittleEndian.AppendUint64(nil, numbers[i]))
					texts = append(texts, string(slices[i]))
					hashes = append(hashes, must(f.HashUint64(numbers[i])))
				}
				forms := []filter.Keys{filter.Uint64Keys(numbers), filter.StringKeys(texts), filter.BytesKeys(slices),
					filter.HashKeys(hashes)}
				for form, keys := range forms {
					found, isNew := filter.Answers{Bools: make([]bool, count+1)}, filter.Answers{Bools: make([]bool, count+1)}
					check(t, f.ContainsBatch(keys, &found))
					check(t, f.InsertBatch(keys, &isNew))
					trues, fresh := 0, 0
					for i, number := range numbers {
						if found.Bools[i] != one.ContainsUint64(number) {
							t.Fatalf("%+v: form %d, answer %d of %d", spec, form, i, count)
						}
						if found.Bools[i] {
							trues++
						}
					}
					for i, number := range numbers {
						if isNew.Bools[i] != must(one.InsertUint64(number)) {
							t.Fatalf("%+v: form %d, answer %d of %d", spec, form, i, count)
						}
						if isNew.Bools[i] {
							fresh++
						}
					}
					var counted filter.Answers
					check(t, f.ContainsBatch(keys, &counted))
					if found.TrueCount != trues || isNew.TrueCount != fresh || counted.TrueCount != count || keys.Len() != count ||
						found.Done != count || isNew.Done != count {
						t.Fatalf("%+v: form %d of %d keys was counted wrong", spec, form, count)
					}
				}
			}
			if !bytes.Equal(must(f.MarshalBinary()), must(one.MarshalBinary())) {
				t.Errorf("%+v: other bytes", spec)
			}
		}
	}
	f := must(filter.New(filter.Spec{Capacity: 10}))
	few := filter.Answers{Bools: make([]bool, 2), TrueCount: 7, Done: 7}
	wants(t, f.InsertBatch(filter.Uint64Keys(make([]uint64, 3)), &few), filter.ErrBufferTooSmall)
	wants(t, f.ContainsBatch(filter.Uint64Keys(make([]uint64, 3)), nil), filter.ErrBufferTooSmall)
	if must(f.Describe()).Insertions != 0 || few.TrueCount != 0 || few.Done != 0 {
		t.Error("a batch that was refused inserted something", few)
	}
}

func TestSpecsThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []struct {
		spec filter.Spec
		want error
	}{
		{filter.Spec{FalsePositiveRate: 1}, filter.ErrFalsePositiveRate},
		{filter.Spec{FalsePositiveRate: -0.1}, filter.ErrFalsePositiveRate},
		{filter.Spec{FalsePositiveRate: math.NaN()}, filter.ErrFalsePositiveRate},
		{filter.Spec{FalsePositiveRate: 1e-12}, filter.ErrOutOfRange},
		{filter.Spec{Kind: "bloom", FalsePositiveRate: 1e-18}, filter.ErrOutOfRange},
		{filter.Spec{Hashes: 3}, filter.ErrContradiction},
		{filter.Spec{Bits: 512}, filter.ErrContradiction},
		{filter.Spec{Bits: 512, FalsePositiveRate: 0.1}, filter.ErrContradiction},
		{filter.Spec{Bits: 512, Hashes: 3, Parameters: settings{"foldable": "1"}}, filter.ErrContradiction},
		{filter.Spec{Bits: 513, Hashes: 3}, filter.ErrOutOfRange},
		{filter.Spec{Bits: 512, Hashes: 17}, filter.ErrOutOfRange},
		{filter.Spec{Kind: "split_block", Bits: 512, Hashes: 7}, filter.ErrOutOfRange},
		{filter.Spec{Kind: "split_block", Bits: 1 << 40}, filter.ErrTooLarge},
		{filter.Spec{Kind: "bloom", Bits: 512, Hashes: 65}, filter.ErrOutOfRange},
		{filter.Spec{Kind: "bloom", Bits: 1 << 63, Hashes: 3}, filter.ErrTooLarge},
		{filter.Spec{Kind: "bloom", Capacity: 1 << 62, FalsePositiveRate: 0.3}, filter.ErrTooLarge},
		{filter.Spec{Kind: "bloom", Bits: 1 << 62, Hashes: 3}, filter.ErrOutOfMemory},
		{filter.Spec{Capacity: 1 << 55}, filter.ErrOutOfMemory},
		{filter.Spec{Kind: "bloom", Bits: 3, Hashes: 7, Parameters: settings{"partitioned": "1"}}, filter.ErrContradiction},
		{filter.Spec{Kind: "bloom", Parameters: settings{"derivation": "6"}}, filter.ErrUnknownValue},
		{filter.Spec{Kind: "bloom", Parameters: settings{"derivation": "quadruple"}}, filter.ErrUnknownValue},
		{filter.Spec{Kind: "bloom", Parameters: settings{"slice_width": "65"}}, filter.ErrOutOfRange},
		{filter.Spec{Kind: "bloom", Parameters: settings{"slice_width": "20"}}, filter.ErrContradiction},
		{filter.Spec{Kind: "bloom", Parameters: settings{"partitioned": "yes"}}, filter.ErrOutOfRange},
		{filter.Spec{Kind: "bloom", Parameters: settings{"partitioned": "0.5"}}, filter.ErrOutOfRange},
		{filter.Spec{Kind: "bloom", Parameters: settings{"partitioned": "nan"}}, filter.ErrOutOfRange},
		{filter.Spec{Kind: "bloom", Parameters: settings{"derivation": "slices", "slice_width": "5"}},
			filter.ErrContradiction},
		{filter.Spec{Kind: "bloom", Parameters: settings{"derivation": "double", "foldable": "1"}}, filter.ErrContradiction},
		{filter.Spec{Parameters: settings{"blocks": "3"}}, filter.ErrOutOfRange},
		{filter.Spec{Parameters: settings{"blocks": "0"}}, filter.ErrOutOfRange},
		{filter.Spec{Parameters: settings{"partitioned": "1"}}, filter.ErrUnknownValue},
		{filter.Spec{Parameters: settings{"fpr": "1"}}, filter.ErrUnknownValue},
		{filter.Spec{Kind: "split_block", Parameters: settings{"derivation": "double"}}, filter.ErrUnknownValue},
		{filter.Spec{Kind: "quadruple"}, filter.ErrUnknownValue},
		{filter.Spec{Kind: "scalable"}, filter.ErrUnsupported},
		{filter.Spec{Kind: "router"}, filter.ErrUnsupported},
		{filter.Spec{Kind: "bloom", Hash: filter.DigestHash, Seed: 256}, filter.ErrUnsupported},
		{filter.Spec{Hash: 99}, filter.ErrUnknownValue},
		{filter.Spec{Hash: filter.SipHash13}, filter.ErrSecretMissing},
		{filter.Spec{Hash: filter.SipHash13, Secret: [16]byte{1}, Seed: 1}, filter.ErrContradiction},
		{filter.Spec{Secret: [16]byte{1}}, filter.ErrContradiction},
	} {
		f, err := filter.New(c.spec)
		if !errors.Is(err, c.want) || f != nil {
			t.Errorf("%+v: %v, and not: %v", c.spec, err, c.want)
		}
	}
}

// The library wrote down the geometry that it finds for many specs. To write it anew, run PETAL_UPDATE=1 go test . -run
// TestTableOfSizes in bindings/go of Petal's repository, with the library installed.
func TestSizesAreThoseOfTheLibrary(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(must(os.ReadFile("testdata/sizes.csv")))), "\n")
	for _, line := range lines[1:] {
		var spec filter.Spec
		var foldable, partitioned, derivation string
		var size, bits uint64
		var hashes uint32
		line := strings.ReplaceAll(line, ",", " ")
		_ = must(fmt.Sscan(line, &spec.Kind, &spec.Capacity, &spec.FalsePositiveRate, &foldable, &partitioned, &derivation,
			&size, &bits, &hashes))
		spec.Parameters = settings{"foldable": foldable}
		if spec.Kind == "bloom" {
			spec.Parameters["partitioned"], spec.Parameters["derivation"] = partitioned, derivation
		}
		if size > math.MaxInt/2 {
			// Not on this system.
			continue
		}
		if got, err := spec.ImageSize(); err != nil || got != size {
			t.Errorf("%s: the image has %d bytes, %v", line, got, err)
		}
		if bits == 0 {
			continue
		}
		d := must(must(filter.New(spec)).Describe())
		if d.Bits != bits || d.Hashes != hashes {
			t.Errorf("%s: %d bits and %d hashes", line, d.Bits, d.Hashes)
		}
	}
	if len(lines) < 1000 {
		t.Errorf("only %d lines", len(lines))
	}
}

func TestOnlyWhatIsCompatibleIsMerged(t *testing.T) {
	base := filter.Spec{Kind: "bloom", Bits: 4096, Hashes: 4, Parameters: settings{"partitioned": "1"}}
	f := must(filter.New(base))
	others := []filter.Spec{{Kind: "blocked", Bits: 4096, Hashes: 4}}
	for i := range 6 {
		other := base
		switch i {
		case 0:
			other.Bits = 8192
		case 1:
			other.Hashes = 8
		case 2:
			other.Hash = filter.XXH64
		case 3:
			other.Seed = 1
		case 4:
			other.Parameters = settings{"partitioned": "1", "derivation": "independent"}
		case 5:
			other.Parameters = nil
		}
		others = append(others, other)
	}
	said := []string{
		"kind is bloom and blocked: give both", "bits is 4096 and 8192: filters of different keys have one size",
		"hashes is 4 and 8: filters", "hash is xxh3 and xxh64: give", "seed is 0x0 and 0x1: give",
		"derivation is remix and independent: give", "partitioned is 1 and 0: give",
	}
	for i, spec := range others {
		other := must(filter.New(spec))
		if err := f.Merge(other); err == nil || !strings.Contains(err.Error(), said[i]) {
			t.Errorf("%v, and not: %s", err, said[i])
		}
		must(other.InsertHash(1))
		_, err := f.EstimateOverlap(other)
		for _, err := range []error{err, f.Merge(other), f.Intersect(other)} {
			wants(t, err, filter.ErrIncompatible)
		}
		if f.IsCompatible(other) || f.ContainsHash(1) {
			t.Errorf("%+v is compatible", spec)
		}
	}
	small, large := must(filter.New(filter.Spec{Capacity: 100})), must(filter.New(filter.Spec{Capacity: 1000}))
	const sizes = "because they were made for 100 and 1000 keys: filters of different keys have one size if"
	if err := small.Merge(large); err == nil || !strings.Contains(err.Error(), sizes) {
		t.Error(err)
	}
	same := must(filter.New(base))
	must(same.InsertHash(1))
	check(t, f.Merge(same))
	if !f.IsCompatible(same) || !f.ContainsHash(1) || must(f.Describe()).Insertions != 1 {
		t.Error("what is compatible was not merged")
	}
	wants(t, f.Fold(3), filter.ErrOutOfRange)
	wants(t, f.Fold(1), filter.ErrOutOfRange)
}

func TestAClosedFilterSaysSo(t *testing.T) {
	closed := must(filter.New(filter.Spec{}))
	for range 2 {
		check(t, closed.Close())
	}
	for _, f := range []*filter.Filter{closed, {}} {
		open := must(filter.New(filter.Spec{}))
		_, inserted := f.InsertString("a")
		many := f.InsertBatch(filter.HashKeys([]uint64{1}), nil)
		found := filter.Answers{Bools: []bool{false}}
		looked := f.ContainsBatch(filter.StringKeys([]string{"a"}), &found)
		_, described := f.Describe()
		_, like := f.Spec()
		_, size := f.SerializedSize()
		_, rate := f.ExpectedFalsePositiveRate(1)
		_, hashed := f.HashUint64(1)
		_, estimated := f.Estimate()
		_, measured := f.Statistics()
		_, copied := f.Copy()
		_, written := f.MarshalBinary()
		saved := f.Save(filepath.Join(t.TempDir(), "none"))
		for _, err := range []error{inserted, many, looked, hashed, estimated, measured, copied, written, saved, described,
			like, size, rate, f.Merge(open), open.Merge(f), f.Intersect(open), f.Clear(), f.MarkClean(), f.Fold(2)} {
			wants(t, err, filter.ErrClosed)
		}
		if !f.ContainsString("a") || !f.ContainsHash(1) || !found.Bools[0] || f.String() != "closed" || f.FoldUnits() != 0 {
			t.Error("a closed filter answered")
		}
	}
}

func TestKeysThatCannotBeHashed(t *testing.T) {
	external := must(filter.New(filter.Spec{Hash: filter.External}))
	keyed := must(filter.New(filter.Spec{Hash: filter.SipHash13, Secret: [16]byte{9}}))
	must(keyed.InsertString("a"))
	locked := must(filter.Load(must(keyed.MarshalBinary()), nil))
	for f, want := range map[*filter.Filter]error{external: filter.ErrExternalHash, locked: filter.ErrSecretMissing} {
		_, one := f.InsertString("b")
		many := f.InsertBatch(filter.StringKeys([]string{"b"}), nil)
		found := filter.Answers{Bools: []bool{false}}
		looked := f.ContainsBatch(filter.StringKeys([]string{"b"}), &found)
		for _, err := range []error{one, many, looked} {
			wants(t, err, want)
		}
		var fresh filter.Answers
		check(t, f.InsertBatch(filter.HashKeys([]uint64{5}), &fresh))
		if !f.ContainsString("b") || !found.Bools[0] || found.TrueCount != 1 || fresh.TrueCount != 1 {
			t.Error("what cannot be looked up is there, and hashes can be inserted")
		}
	}
	// Without the key the filter can still be merged.
	check(t, keyed.Merge(locked))
	if hash := must(keyed.Hash([]byte("a"))); !locked.ContainsHash(hash) || !must(locked.Copy()).ContainsHash(hash) {
		t.Error("the key is lost")
	}
	_, err := filter.Load(must(keyed.MarshalBinary()), &filter.OpenOptions{Secret: [16]byte{8}})
	wants(t, err, filter.ErrSecretMismatch)
}

func isUnclean(f *filter.Filter) bool { return must(f.Describe()).State.Has(filter.StateUnclean) }

// An unclean image stays unclean through every operation, until somebody marks it clean.
func TestDirtStays(t *testing.T) {
	f := must(filter.New(filter.Spec{Capacity: 100}))
	image := must(f.MarshalBinary())
	copy(image[216:], "DIRTY\x00\x00\x00")
	unclean := must(filter.Load(image, nil))
	check(t, f.Merge(unclean))
	for _, f := range []*filter.Filter{unclean, f, must(unclean.Copy()), must(filter.Load(must(f.MarshalBinary()), nil))} {
		if !isUnclean(f) {
			t.Error("it became clean")
		}
		check(t, f.MarkClean())
		if isUnclean(f) || isUnclean(must(filter.Load(must(f.MarshalBinary()), nil))) {
			t.Error("it stayed unclean")
		}
	}
}

func TestFilesAreReplacedAsAWhole(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "filter.petal")
	f := must(filter.New(filter.Spec{}))
	must(f.InsertString("old"))
	check(t, f.Save(path))
	old := must(view.Open(path, nil))
	check(t, os.Chmod(path, 0o640))
	must(f.InsertString("new"))
	check(t, f.Save(path))
	now := must(filter.Open(path, nil))
	if old.ContainsString("new") || !old.ContainsString("old") || !now.ContainsString("new") {
		t.Error("who has the old file open sees the new one")
	}
	if mode := must(os.Stat(path)).Mode().Perm(); mode != 0o640 && os.PathSeparator == '/' {
		t.Errorf("the permissions are %v", mode)
	}
	check(t, old.Close())
	wants(t, f.Save(folder), filter.ErrUnsupported)
	wants(t, f.Save(filepath.Join(folder, "none", "filter")), fs.ErrNotExist)
	if names := must(os.ReadDir(folder)); len(names) != 1 {
		t.Errorf("something was left behind: %v", names)
	}
	check(t, os.WriteFile(path, append(must(f.MarshalBinary()), 0), 0o600))
	_, err := filter.Open(path, nil)
	wants(t, err, filter.ErrCorrupt)
	_, err = filter.Open(filepath.Join(folder, "none"), nil)
	wants(t, err, fs.ErrNotExist)
}

func TestStreamsHoldOneAfterTheOther(t *testing.T) {
	var stream bytes.Buffer
	for i := range uint64(3) {
		f := must(filter.New(filter.Spec{Kind: kinds[i], Capacity: 1000 * (i + 1)}))
		must(f.InsertUint64(i))
		size := must(f.SerializedSize())
		if n := must(f.WriteTo(&stream)); uint64(n) != size || size != uint64(len(must(f.AppendBinary(nil)))) {
			t.Errorf("%d bytes were written", n)
		}
	}
	for i := range uint64(3) {
		var f filter.Filter
		n := must(f.ReadFrom(&stream))
		if uint64(n) != must(f.SerializedSize()) || !f.ContainsUint64(i) || must(f.Describe()).Kind.String() != kinds[i] {
			t.Errorf("filter %d: %v", i, &f)
		}
		var again filter.Filter
		check(t, again.UnmarshalBinary(must(f.AppendBinary([]byte("prefix")))[6:]))
		wants(t, again.UnmarshalBinary([]byte("nothing")), filter.ErrForeign)
		if !again.ContainsUint64(i) || must(again.Describe()).Insertions != 1 {
			t.Errorf("filter %d: %v", i, &again)
		}
	}
}

// Bits after the last one must be zero in a payload.
func TestBitsAfterTheLastOneAreRefused(t *testing.T) {
	f := must(filter.New(filter.Spec{Kind: "bloom", Bits: 1001, Hashes: 3}))
	image := must(f.MarshalBinary())
	image[256+1001/8] |= 1 << (1001 % 8)
	copy(image[216:], "DIRTY\x00\x00\x00")
	_, err := filter.Load(image, nil)
	wants(t, err, filter.ErrCorrupt)
}

func TestSingleKeysDoNotAllocate(t *testing.T) {
	key, numbers := []byte("a key"), make([]uint64, 100)
	found := filter.Answers{Bools: make([]bool, 100)}
	for _, spec := range specs() {
		f := must(filter.New(spec))
		if n := testing.AllocsPerRun(100, func() {
			_ = f.Contains(key) || f.ContainsString("another") || f.ContainsUint64(5)
			_, _ = f.Insert(key)
			_, _ = f.InsertHash(1)
			_ = f.ContainsBatch(filter.HashKeys(numbers), &found)
			_ = f.InsertBatch(filter.Uint64Keys(numbers), nil)
		}); n != 0 {
			t.Errorf("%+v: %v allocations", spec, n)
		}
	}
}
