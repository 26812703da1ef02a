package petal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/goldenfiles"
	"github.com/petal-filter/petal/bindings/go/internal/image"
	"github.com/petal-filter/petal/bindings/go/view"
)

// differentDescriptions compares what two packages say of one image in JSON, which package petal may say more in, and
// as text. The images need not lie in the same place.
func differentDescriptions(ours, others any) string {
	var left, right map[string]any
	for _, one := range []struct {
		described any
		into      *map[string]any
	}{{ours, &left}, {others, &right}} {
		if err := json.Unmarshal(must(json.Marshal(one.described)), one.into); err != nil {
			return err.Error()
		}
	}
	states := func(of any) string {
		all := slices.DeleteFunc(of.([]any), func(state any) bool { return state == "in_place" || state == "writable" })
		return fmt.Sprint(all)
	}
	for name, value := range right {
		switch want := left[name]; {
		case name == "words":
			// Only package view tells them.
		case name == "state" && states(value) == states(want), name != "state" && fmt.Sprint(value) == fmt.Sprint(want):
		default:
			return fmt.Sprintf("%s is %v, and %v in package petal", name, value, want)
		}
	}
	line := func(described any) string { return strings.TrimSuffix(fmt.Sprint(described), ", read-only") }
	if line(ours) != line(others) {
		return fmt.Sprintf("%v, and %v in package petal", others, ours)
	}
	return ""
}

// compare looks up the same keys, present and absent, in both.
func compare(t *testing.T, name string, f *Filter, v *view.Filter, random *rand.Rand) {
	t.Helper()
	if different := differentDescriptions(must(f.Describe()), must(v.Describe())); different != "" {
		t.Errorf("%s: %s", name, different)
	}
	for i := range uint64(2000) {
		hash, number := random.Uint64(), random.Uint64()>>random.IntN(64)
		key := make([]byte, random.IntN(20)*random.IntN(80))
		for i := range key {
			key[i] = byte(random.Uint32())
		}
		if f.ContainsHash(hash) != v.ContainsHash(hash) || f.ContainsUint64(number) != v.ContainsUint64(number) ||
			f.Contains(key) != v.Contains(key) || f.ContainsString(string(key)) != v.ContainsString(string(key)) ||
			f.ContainsUint64(i) != v.ContainsUint64(i) {
			t.Fatalf("%s: the answers differ: %#x, %d, %.40x, %d", name, hash, number, key, i)
		}
		// For kinds over integers, both refuse other bytes.
		mine, refused := f.Hash(key)
		theirs, err := v.Hash(key)
		if mine != theirs || (refused == nil) != (err == nil) {
			t.Fatalf("%s: the hashes of %d bytes differ: %v, %v", name, len(key), refused, err)
		}
	}
}

// Package view gives the same answers as the library for each kind that it opens and that starts empty, with every
// parameter and hash function, and insertions make the same bytes. Kinds over integers have a test of their own.
func TestViewIsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	key := [16]byte{7, 7, 7}
	kinds := map[string]int{}
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for _, kind := range filterKinds() {
		for round := range rounds {
			hash := []Hash{XXH3, XXH64, SipHash13, External}[round%4]
			spec := Spec{Kind: kind.Name, Hash: hash, Capacity: 1 + random.Uint64N(3000), Parameters: map[string]string{}}
			spec.FalsePositiveRate = []float64{0.3, 0.05, 0.01, 0.001, 1e-5}[random.IntN(5)]
			if hash == SipHash13 {
				spec.Secret = key
			} else if round%3 > 0 {
				spec.Seed = random.Uint64()
			}
			for _, parameter := range must(kind.Parameters()) {
				value := parameter.Minimum + float64(random.IntN(int(parameter.Maximum-parameter.Minimum)+1))
				if random.IntN(3) > 0 {
					spec.Parameters[parameter.Name] = parameter.format(value)
				}
			}
			f, err := New(spec)
			if err != nil {
				// Some parameters exclude each other.
				continue
			}
			keys := uint64(1000)
			if kind.Overfill == OverfillRefuses {
				keys = min(keys, spec.Capacity/2)
			}
			for i := range keys {
				if hash != External {
					must(f.InsertUint64(i))
				}
				must(f.InsertHash(random.Uint64()))
			}
			name := fmt.Sprintf("%+v", spec)
			if kind.Capabilities&CanMerge != 0 && kind.Capabilities&CanGrow != 0 && round%2 == 0 {
				// A union may have a geometry that a filter does not reach by itself.
				other := must(New(spec))
				for range random.IntN(2000) {
					must(other.InsertHash(random.Uint64()))
				}
				check(t, f.Merge(other))
				check(t, other.Close())
			}
			options := &view.OpenOptions{Secret: spec.Secret}
			image := must(f.MarshalBinary())
			v, err := view.Load(image, options)
			if errors.Is(err, view.ErrNewerVersion) {
				// Package view does not open this kind.
				check(t, f.Close())
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			kinds[kind.Name]++
			compare(t, name, f, v, random)
			for range 1000 {
				hash := random.Uint64()
				isNew, err := v.InsertHash(hash)
				if errors.Is(err, view.ErrUnsupported) {
					break
				}
				if check(t, err); must(f.InsertHash(hash)) != isNew {
					t.Fatalf("%s: a key is new to only one", name)
				}
			}
			image = must(f.MarshalBinary())
			if kind.Name == "scalable" {
				// Package view does not insert into this kind.
				v = must(view.Load(image, options))
			}
			if !bytes.Equal(image, must(v.MarshalBinary())) {
				t.Fatalf("%s: insertion made other bytes", name)
			}
			path := filepath.Join(t.TempDir(), strconv.Itoa(round))
			check(t, f.Save(path))
			mapped := must(view.Open(path, options))
			compare(t, name, f, mapped, random)
			check(t, mapped.Close())
			check(t, f.Close())
		}
	}
	for _, kind := range []string{"bloom", "split_block", "blocked", "counting", "scalable"} {
		if _, err := FindKind(kind); err == nil && kinds[kind] < rounds/3 {
			t.Errorf("only %d filters of the kind %v", kinds[kind], kind)
		}
	}
	for _, use := range image.Uses() {
		if info, err := FindKind(use.Kind.String()); err == nil && info.Handle == HandleFilter {
			isCompared := use.Opens && info.Capabilities.Has(CanInsert) && !info.TakesIntegers
			if compared := kinds[info.Name]; (compared > 0) != isCompared {
				t.Errorf("%d filters of the kind %s were compared", compared, info.Name)
			}
		}
	}
}

func TestViewAnswersGoldenFilesTheSame(t *testing.T) {
	paths := must(filepath.Glob(filepath.Join(goldenfiles.Folder(t), "*.petal")))
	random := rand.New(rand.NewPCG(5, 6))
	for _, path := range paths {
		var key [16]byte
		if strings.Contains(path, "siphash13") {
			for i := range key {
				key[i] = byte(i)
			}
		}
		f := must(Open(path, &OpenOptions{Secret: key}))
		v, err := view.Open(path, &view.OpenOptions{Secret: key})
		if err != nil {
			// Package view does not open this kind.
			check(t, f.Close())
			continue
		}
		compare(t, path, f, v, random)
		check(t, v.Close())
		check(t, f.Close())
	}
	if len(paths) == 0 {
		t.Skip("tests/golden is not here")
	}
}

// Damaged images: both packages refuse them, or both give the same answers.
func TestViewRefusesWhatTheLibraryRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, path := range must(filepath.Glob(filepath.Join(goldenfiles.Folder(t), "*.petal"))) {
		image := must(os.ReadFile(path))
		if _, err := view.Wrap(image, nil); err != nil {
			continue
		}
		for range 300 {
			damaged := bytes.Clone(image)
			for range 1 + random.IntN(3) {
				damaged[random.IntN(len(damaged))] ^= byte(random.Uint32())
			}
			damaged = damaged[:len(damaged)-random.IntN(2)*random.IntN(len(damaged))]
			f, ours := Load(damaged, nil)
			_, views := view.Load(damaged, nil)
			if (ours == nil) != (views == nil) {
				t.Fatalf("%s: %v, but view: %v", path, ours, views)
			}
			if ours == nil {
				check(t, f.Close())
			}
		}
	}
}

// Kinds whose keys are integers, below a bound that is any number.
func TestViewOfIntegers(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for _, kind := range filterKinds() {
		for range 20 {
			if !kind.TakesIntegers {
				continue
			}
			f := must(New(Spec{Kind: kind.Name, Hash: Identity, Bits: 1 + random.Uint64N(1<<random.IntN(16))}))
			bits := must(f.Describe()).Bits
			for range random.Uint64N(bits + 1) {
				must(f.InsertUint64(random.Uint64N(bits)))
			}
			v := must(view.Load(must(f.MarshalBinary()), nil))
			compare(t, f.String(), f, v, random)
			for i := range bits + 10 {
				if f.ContainsUint64(i) != v.ContainsUint64(i) {
					t.Fatalf("%v: %d", f, i)
				}
			}
			check(t, f.Close())
		}
	}
}

// Filters and maps that are built from all their keys, with every hash function.
func TestViewReadsWhatIsBuilt(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for round := range 24 {
		hash := []Hash{XXH3, XXH64, SipHash13, External}[round%4]
		spec := Spec{Hash: hash, FalsePositiveRate: []float64{0.1, 0.01, 1e-3, 1e-6}[random.IntN(4)]}
		if hash == SipHash13 {
			spec.Secret = [16]byte{7, 7, 7}
		} else {
			spec.Seed = random.Uint64()
		}
		options := &view.OpenOptions{Secret: spec.Secret}
		keys, valueBits := random.Uint64N(20000)*uint64(min(round, 1)), random.IntN(65)
		ofFilter := spec
		ofFilter.Kind = "fuse"
		filters, maps := must(NewBuilder(ofFilter, nil)), must(NewMapBuilder(spec, nil))
		values := map[uint64]uint64{}
		for i := range keys {
			key := i
			if hash == External {
				key = random.Uint64()
			}
			values[key] = random.Uint64() >> 1 >> (63 - min(valueBits, 63))
			if hash == External {
				check(t, filters.AddHash(key))
				check(t, maps.PutHash(key, values[key]))
			} else {
				check(t, filters.AddUint64(key))
				check(t, maps.PutUint64(key, values[key]))
			}
		}
		f, m := must(filters.Finish()), must(maps.Finish())
		compare(t, fmt.Sprintf("%+v", ofFilter), f, must(view.Load(must(f.MarshalBinary()), options)), random)
		v := must(view.LoadMap(must(m.MarshalBinary()), options))
		if different := differentDescriptions(must(m.Describe()), must(v.Describe())); different != "" {
			t.Errorf("%+v: %s", spec, different)
		}
		for key := range keys + 5000 {
			get, ours, bytes := v.GetUint64, m.GetUint64, make([]byte, random.IntN(400))
			if hash == External {
				get, ours = v.GetHash, m.GetHash
				key = random.Uint64()
			}
			value, found, err := get(key)
			check(t, err)
			want, there, err := ours(key)
			check(t, err)
			if known, inserted := values[key]; value != want || found != there || inserted && (!found || value != known) {
				t.Fatalf("%+v: %d has the value %d, %v; in package petal %d, %v", spec, key, value, found, want, there)
			}
			if hash == External {
				continue
			}
			for i := range bytes {
				bytes[i] = byte(random.Uint32())
			}
			value, found, err = v.Get(bytes)
			check(t, err)
			if want, there, err := m.Get(bytes); err != nil || value != want || found != there {
				t.Fatalf("%+v: %d bytes have the value %d, %v; in package petal %d, %v, %v", spec, len(bytes), value, found,
					want, there, err)
			}
		}
		for key, known := range values {
			get := v.GetUint64
			if hash == External {
				get = v.GetHash
			}
			if value, found, err := get(key); err != nil || !found || value != known {
				t.Fatalf("%+v: %d has the value %d, %v, %v", spec, key, value, found, err)
			}
		}
		check(t, filters.Close())
		check(t, maps.Close())
		check(t, f.Close())
		check(t, m.Close())
	}
}

func TestViewAnswersGoldenMapsTheSame(t *testing.T) {
	for _, path := range must(filepath.Glob(filepath.Join(goldenfiles.Folder(t), "maps", "*-xxh3.petal"))) {
		m, v := must(OpenMap(path, nil)), must(view.OpenMap(path, nil))
		for key := range uint64(100_000) {
			value, found, err := v.GetUint64(key)
			check(t, err)
			if want, there, err := m.GetUint64(key); err != nil || value != want || found != there {
				t.Fatalf("%s: %d has the value %d, %v; in package petal %d, %v, %v", path, key, value, found, want, there, err)
			}
		}
		check(t, v.Close())
		check(t, m.Close())
	}
}

// Exact sets in pure Go make no error either, whichever side is stored and in however many levels.
func TestViewOfExactSets(t *testing.T) {
	for _, count := range []struct{ members, excluded uint64 }{
		{0, 50}, {50, 0}, {1, 5000}, {300, 30_000}, {400, 500}, {20_000, 900}, {3000, 9000}, {300_000, 250_000},
	} {
		b := must(NewBuilder(Spec{Kind: "exact_set"}, nil))
		keys := make([]uint64, count.members+count.excluded)
		for i := range keys {
			keys[i] = uint64(i)
		}
		check(t, b.AddBatch(Uint64Keys(keys[:count.members]), nil))
		check(t, b.ExcludeBatch(Uint64Keys(keys[count.members:]), nil))
		f := must(b.Finish())
		v := must(view.Load(must(f.MarshalBinary()), nil))
		check(t, v.Verify())
		for i := range keys {
			if v.ContainsUint64(keys[i]) != (uint64(i) < count.members) {
				t.Fatalf("%+v: key %d", count, i)
			}
		}
		for nonMember := uint64(1 << 40); nonMember < 1<<40+2000; nonMember++ {
			if v.ContainsUint64(nonMember) != f.ContainsUint64(nonMember) {
				t.Fatalf("%+v: non-member %d", count, nonMember)
			}
		}
		check(t, f.Close())
		check(t, b.Close())
	}
}

// Exact sets of several parts in pure Go make no error either: partitions by prefixes, and updates.
func TestViewOfExactParts(t *testing.T) {
	for _, prefix := range []string{"0", "2"} {
		spec := Spec{Kind: "exact_set", Parameters: map[string]string{"partition_prefix_bytes": prefix}}
		b := must(NewBuilder(spec, nil))
		keyOf := func(partition, i int) string { return fmt.Sprintf("%02d:%06d", partition, i) }
		sizes := []struct{ members, excluded int }{
			{300, 20_000}, {0, 900}, {800, 0}, {5000, 60}, {1000, 1000}, {1, 0}, {0, 1},
		}
		var old *Filter
		for shift := range 3 {
			if old != nil {
				check(t, b.Update(old))
			}
			for p, size := range sizes {
				for i := range size.members + size.excluded {
					if key := keyOf(p, i); i < size.members+shift && size.members > 1 {
						check(t, b.AddString(key))
					} else {
						check(t, b.ExcludeString(key))
					}
				}
			}
			f := must(b.Finish())
			v := must(view.Load(must(f.MarshalBinary()), nil))
			check(t, v.Verify())
			for p, size := range sizes {
				for i := range size.members + size.excluded + 50 {
					key := keyOf(p, i)
					if v.ContainsString(key) != f.ContainsString(key) {
						t.Fatalf("prefix %v, update %d: key %s", prefix, shift, key)
					}
					if i < size.members+size.excluded && f.ContainsString(key) != (i < size.members+shift && size.members > 1) {
						t.Fatalf("prefix %v, update %d: the library errs on key %s", prefix, shift, key)
					}
				}
			}
			for nonMember := range uint64(2000) {
				if v.ContainsUint64(nonMember) != f.ContainsUint64(nonMember) {
					t.Fatalf("prefix %v, update %d: non-member %d", prefix, shift, nonMember)
				}
			}
			if _, err := v.Hash([]byte("x")); (err == nil) != (prefix == "0") {
				t.Errorf("prefix %v: a hash is %v", prefix, err)
			}
			if old != nil {
				check(t, old.Close())
			}
			old = f
		}
		check(t, old.Close())
		check(t, b.Close())
	}
}

// Pure Go gives the answers of the library for members, frequent non-members and others, in several levels.
func TestViewAnswersForFrequentStrangers(t *testing.T) {
	for _, count := range []struct {
		members, nonMembers uint64
		share, rate         float64
		levels              bool
	}{
		{0, 50, 0.5, 0.01, false}, {50, 0, 0.5, 0.1, false}, {2000, 20_000, 0.95, 0.001, true},
		{300_000, 100_000, 0.9, 0.01, true}, {30_000, 30_000, 0.99, 0.02, true},
	} {
		spec := Spec{Kind: "stacked", FalsePositiveRate: count.rate}
		spec.Parameters = map[string]string{"frequent_share": fmt.Sprint(count.share)}
		b := must(NewBuilder(spec, nil))
		keys := make([]uint64, count.members+count.nonMembers)
		for i := range keys {
			keys[i] = uint64(i)
		}
		check(t, b.AddBatch(Uint64Keys(keys[:count.members]), nil))
		check(t, b.AddFrequentBatch(Uint64Keys(keys[count.members:]), nil, nil))
		f := must(b.Finish())
		image := must(f.MarshalBinary())
		if (image[80] != 0) != count.levels {
			t.Errorf("%+v: the second header word is %x", count, image[80:88])
		}
		v := must(view.Load(image, nil))
		check(t, v.Verify())
		for i, key := range keys {
			if v.ContainsUint64(key) != f.ContainsUint64(key) || uint64(i) < count.members && !v.ContainsUint64(key) {
				t.Fatalf("%+v: key %d", count, i)
			}
		}
		for nonMember := uint64(1 << 40); nonMember < 1<<40+5000; nonMember++ {
			if v.ContainsUint64(nonMember) != f.ContainsUint64(nonMember) {
				t.Fatalf("%+v: non-member %d", count, nonMember)
			}
		}
		check(t, f.Close())
		check(t, b.Close())
	}
}
