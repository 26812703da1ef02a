package petal

import (
	"bytes"
	"encoding"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/petal-filter/petal/bindings/go/internal/race"
)

var cycles = flag.Int("cycles", 5_000, "how often the memory test opens and closes")

var (
	_ io.WriterTo                = (*Filter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
	_ io.Closer                  = (*Filter)(nil)
	_ io.Closer                  = (*Builder)(nil)
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
	_ encoding.BinaryAppender    = (*Filter)(nil)
)

// must passes a value on if there is no error.
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

// wants checks that an error is a certain one.
func wants(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, and not: %v", err, want)
	}
}

// insertable are the kinds that keys can be added to, whichever there are.
func insertable() (kinds []KindInfo) {
	for _, kind := range Kinds() {
		if kind.Capabilities.Has(CanInsert) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func TestKeysAreFoundInEveryForm(t *testing.T) {
	for _, kind := range insertable() {
		f := must(New(Spec{Kind: kind.Name, Capacity: 5000, Seed: 7}))
		defer f.Close()
		for i := range uint64(1000) {
			text := fmt.Sprint("key ", i)
			must(f.Insert([]byte(text + " bytes")))
			must(f.InsertString(text + " string"))
			must(f.InsertUint64(i))
			must(f.InsertHash(must(f.Hash([]byte(text + " hash")))))
			for _, found := range []bool{
				f.ContainsString(text + " bytes"), f.Contains([]byte(text + " string")), f.ContainsUint64(i),
				f.ContainsString(text + " hash"), f.ContainsHash(must(f.HashUint64(i))),
				f.Contains([]byte{byte(i), byte(i >> 8), 0, 0, 0, 0, 0, 0}),
				must(f.ContainsChecked([]byte(text + " string"))), must(f.ContainsCheckedString(text + " bytes")),
				must(f.ContainsCheckedUint64(i)), must(f.ContainsCheckedHash(must(f.HashUint64(i)))),
			} {
				if !found {
					t.Fatalf("%s lost key %d", kind.Name, i)
				}
			}
			if again := must(f.InsertUint64(i)); again {
				t.Errorf("%s: %d is new twice", kind.Name, i)
			}
		}
		absent := 0
		for i := range uint64(1000) {
			if !f.ContainsUint64(1 << 40 * (i + 1)) {
				absent++
			}
		}
		if absent < 950 {
			t.Errorf("%s: only %d of 1000 other keys are absent", kind.Name, absent)
		}
		if hash := must(f.HashUint64(9)); hash != must(Spec{Seed: 7}.HashKey([]byte{9, 0, 0, 0, 0, 0, 0, 0})) ||
			hash != must(Spec{Seed: 7}.HashUint64(9)) {
			t.Error("the spec hashes in another way than the filter")
		}
		must(f.Insert(nil))
		if !f.ContainsString("") {
			t.Error("the empty key is lost")
		}
	}
}

func TestBatchesDoWhatSingleCallsDo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, kind := range insertable() {
		single := must(New(Spec{Kind: kind.Name, Capacity: 40_000}))
		batch := must(New(Spec{Kind: kind.Name, Capacity: 40_000}))
		defer single.Close()
		defer batch.Close()
		var texts []string
		var slices [][]byte
		var numbers []uint64
		for range 10_000 {
			// Some are longer than a piece.
			length := random.IntN(40)
			if random.IntN(2000) == 0 {
				length = random.IntN(3 * pieceBytes)
			}
			key := make([]byte, length)
			for i := range key {
				key[i] = byte(random.Uint32())
			}
			slices, texts = append(slices, key), append(texts, string(key)+"s")
			numbers = append(numbers, random.Uint64())
		}
		hashes := make([]uint64, len(numbers))
		for i, number := range numbers {
			hashes[i] = must(single.HashUint64(^number))
		}
		isNew := make([]bool, len(numbers)+1)
		same := func(what string, answers *Answers, want int, err error, one func(i int) bool) {
			t.Helper()
			check(t, err)
			count := 0
			for i := range numbers {
				if isNew[i] != one(i) {
					t.Fatalf("%s: %s: key %d", kind.Name, what, i)
				}
				if isNew[i] {
					count++
				}
			}
			if answers.Done != want || answers.TrueCount != count {
				t.Errorf("%s: %s: %d instead of %d, %d of %d true", kind.Name, what, answers.Done, want, answers.TrueCount, count)
			}
			clear(isNew)
		}
		half := len(numbers) / 2
		insert := func(what string, keys Keys, one func(i int) (bool, error)) {
			t.Helper()
			answers := Answers{Bools: isNew}
			err := batch.InsertBatch(keys, &answers)
			same(what, &answers, keys.Len(), err, func(i int) bool { return i < keys.Len() && must(one(i)) })
		}
		insert("bytes", BytesKeys(slices), func(i int) (bool, error) { return single.Insert(slices[i]) })
		insert("strings", StringKeys(texts), func(i int) (bool, error) { return single.InsertString(texts[i]) })
		insert("numbers", Uint64Keys(numbers[:half]), func(i int) (bool, error) { return single.InsertUint64(numbers[i]) })
		insert("hashes", HashKeys(hashes[:half]), func(i int) (bool, error) { return single.InsertHash(hashes[i]) })
		if !must(single.Equal(batch)) {
			t.Errorf("%s: the bits differ", kind.Name)
		}

		for i := range slices {
			if i%2 == 1 {
				slices[i], texts[i] = append(slices[i], 'x'), texts[i]+"x"
			}
		}
		lookups := map[string]struct {
			keys Keys
			one  func(int) bool
		}{
			"bytes":   {BytesKeys(slices), func(i int) bool { return single.Contains(slices[i]) }},
			"strings": {StringKeys(texts), func(i int) bool { return single.ContainsString(texts[i]) }},
			"numbers": {Uint64Keys(numbers), func(i int) bool { return single.ContainsUint64(numbers[i]) }},
			"hashes":  {HashKeys(hashes), func(i int) bool { return single.ContainsHash(hashes[i]) }},
		}
		for name, lookup := range lookups {
			var count Answers
			check(t, single.ContainsBatch(lookup.keys, &count))
			answers := Answers{Bools: isNew}
			same(name, &answers, len(numbers), single.ContainsBatch(lookup.keys, &answers), lookup.one)
			if answers.TrueCount != count.TrueCount || answers.Done != count.Done {
				t.Errorf("%s: %s without answers: %v", kind.Name, name, count)
			}
			short := Answers{Bools: make([]bool, 5)}
			wants(t, single.ContainsBatch(lookup.keys, &short), ErrBufferTooSmall)
			if short.TrueCount != len(numbers) || short.Done != 0 || slicesContainsFalse(short.Bools) {
				t.Errorf("%s: a failed lookup said false", name)
			}
			wants(t, single.ContainsBatch(lookup.keys, nil), ErrBufferTooSmall)
		}
		for _, none := range []Keys{
			{}, BytesKeys(nil), StringKeys([]string{}), Uint64Keys(nil), HashKeys([]uint64{}),
		} {
			answers := Answers{Bools: []bool{}, TrueCount: 1, Done: 1}
			check(t, single.ContainsBatch(none, &answers))
			check(t, single.InsertBatch(none, &answers))
			check(t, single.InsertBatch(none, nil))
			if answers.TrueCount != 0 || answers.Done != 0 || none.Len() != 0 {
				t.Error("no keys, but answers")
			}
		}
	}
}

func slicesContainsFalse(found []bool) bool { return slices.Contains(found, false) }

// A key may lie beside pointers, in a struct that the garbage collector looks after.
func TestKeysMayLieBesidePointers(t *testing.T) {
	type record struct {
		next *record
		text string
		key  [8]byte
		id   uint64
		ids  [4]uint64
		fits [4]bool
	}
	r := &record{next: &record{}, text: strings.Repeat("text", 3), key: [8]byte{1}, id: 5, ids: [4]uint64{1, 2, 3, 4}}
	f := must(New(Spec{}))
	defer f.Close()
	must(f.Insert(r.key[:]))
	must(f.InsertString(r.text[2:]))
	answers := &Answers{Bools: r.fits[:]}
	check(t, f.InsertBatch(Uint64Keys(r.ids[:]), answers))
	check(t, f.InsertBatch(BytesKeys([][]byte{r.key[1:], r.key[2:3]}), nil))
	clear(r.fits[:])
	check(t, f.ContainsBatch(HashKeys(r.ids[:]), answers))
	check(t, f.ContainsBatch(Uint64Keys(r.ids[:]), answers))
	if answers.TrueCount != 4 || slicesContainsFalse(r.fits[:]) || !f.Contains(r.key[:]) || !f.Contains(r.key[2:3]) {
		t.Error("keys are lost")
	}
	b := must(NewBuilder(Spec{}, nil))
	defer b.Close()
	check(t, b.Add(r.key[:]))
	check(t, b.AddBatch(HashKeys(r.ids[:]), nil))
	must(Spec{}.HashKey(r.key[:]))
}

func TestFiltersAreMergedMeasuredAndDescribed(t *testing.T) {
	spec := Spec{Capacity: 10_000, FalsePositiveRate: 0.001, Seed: 3}
	a, b := must(New(spec)), must(New(spec))
	defer a.Close()
	defer b.Close()
	for i := range uint64(4000) {
		must(a.InsertUint64(i))
		must(b.InsertUint64(i + 2000))
	}
	overlap := must(a.EstimateOverlap(b))
	near := func(what string, got, want, within float64) {
		t.Helper()
		if !(math.Abs(got-want) <= within) {
			t.Errorf("%s is %v, not %v", what, got, want)
		}
	}
	near("the union", overlap.UnionCount.Value, 6000, 200)
	near("the intersection", overlap.IntersectionCount.Value, 2000, 200)
	near("the estimate", must(a.Estimate()).Value, 4000, 150)
	both := must(a.Copy())
	defer both.Close()
	check(t, both.Intersect(b))
	check(t, a.Merge(b))
	for i := range uint64(6000) {
		if !a.ContainsUint64(i) || i >= 2000 && i < 4000 && !both.ContainsUint64(i) {
			t.Fatal("lost", i)
		}
	}
	description, stats := must(a.Describe()), must(a.Statistics())
	if description.Count != 8000 || description.Capacity != 10_000 || description.Seed != 3 ||
		description.FalsePositiveRate != 0.001 || !description.Capabilities.Has(CanMerge|CanInsert) ||
		!description.State.Has(StateWritable|StateCanHash) || description.State.Has(StateDirty) ||
		description.Bytes != must(a.SerializedSize()) || description.Bytes != must(spec.ImageSize()) ||
		description.Kernel == KernelBest || description.Hash != XXH3 || description.Kind.String() == "" {
		t.Errorf("%+v", description)
	}
	near("the fill's estimate", stats.CountEstimate, 6000, 200)
	if !(stats.Fill > 0.1 && stats.Fill < 0.6 && stats.FalsePositiveRate > 0 && stats.FalsePositiveRate < 0.001) {
		t.Errorf("%+v", stats)
	}
	expected := must(spec.ExpectedFalsePositiveRate(10_000))
	near("the expected rate", must(a.ExpectedFalsePositiveRate(10_000)), expected, 1e-9)
	if a.Capabilities() != description.Capabilities {
		t.Error("capabilities differ")
	}

	again := must(New(must(a.Spec())))
	defer again.Close()
	if must(again.CompatibilityID()) != must(a.CompatibilityID()) {
		t.Error("a filter made from the spec of another does not fit it")
	}
	wants(t, a.Merge(must(New(Spec{Capacity: 10_001}))), ErrIncompatible)
	check(t, a.Clear())
	if a.ContainsUint64(1) || !must(a.Equal(again)) {
		t.Error("a cleared filter holds keys")
	}
	foldable := must(New(Spec{Kind: "bloom", Bits: 1 << 12, Hashes: 4}))
	defer foldable.Close()
	check(t, foldable.Fold(4))
	if bits := must(foldable.Describe()).Bits; bits != 1<<10 {
		t.Error(bits)
	}
}

func TestKindsAndParametersAreTheLibrarys(t *testing.T) {
	kinds := Kinds()
	if len(kinds) == 0 || Version() == "" {
		t.Fatal("no kinds")
	}
	for _, kind := range kinds {
		if found := must(FindKind(kind.Name)); found.Kind != kind.Kind || kind.Kind.String() != kind.Name {
			t.Errorf("%+v", found)
		}
		parameters := must(kind.Parameters())
		values := map[string]string{}
		for _, parameter := range parameters {
			if parameter.Name == "" || parameter.Summary == "" || parameter.Minimum > parameter.Maximum {
				t.Errorf("%+v", parameter)
			}
			values[parameter.Name] = parameter.format(parameter.Default)
			if n := len(parameter.Choices); n > 0 {
				values[parameter.Name] = parameter.Choices[n-1]
			}
		}
		spec := Spec{Kind: kind.Name, Capacity: 1000, Parameters: values}
		f, err := New(spec)
		if errors.Is(err, ErrContradiction) || errors.Is(err, ErrUnsupported) {
			continue
		}
		check(t, err)
		back := must(f.Spec())
		if back.Kind != kind.Name {
			t.Error(back)
		}
		check(t, must(New(back)).Merge(f))
		check(t, f.Close())
	}
	_, err := FindKind("no kind")
	wants(t, err, ErrUnknownValue)
	if name := Kind(math.MaxUint32).String(); name != "kind 4294967295" {
		t.Error(name)
	}
	_, err = New(Spec{Parameters: map[string]string{"no parameter": "1"}})
	wants(t, err, ErrUnknownValue)
	spec := must(must(New(Spec{Kind: "bloom", Parameters: map[string]string{"derivation": "triple"}})).Spec())
	if spec.Parameters["derivation"] != "triple" {
		t.Errorf("%+v", spec)
	}
}

func TestPlanProposesEveryKind(t *testing.T) {
	proposals := must(Plan(PlanRequest{Keys: 1_000_000, FalsePositiveRate: 0.01, Capabilities: CanInsert}))
	if len(proposals) != len(Kinds()) {
		t.Fatalf("%d proposals", len(proposals))
	}
	best := proposals[0]
	if best.Err != nil || best.BitsPerKey < 5 || best.BitsPerKey > 12 || best.FalsePositiveRate > 0.01 || best.Name == "" {
		t.Errorf("%+v", best)
	}
	for _, proposal := range must(Plan(PlanRequest{Keys: 1000, Memory: 300})) {
		if proposal.Err != nil && proposal.Err.Error() == "" || proposal.Err == nil && proposal.Bytes > 300 {
			t.Errorf("%+v", proposal)
		}
	}
	_, err := Plan(PlanRequest{Keys: 1})
	if err == nil {
		t.Error("neither a rate nor a memory, but a plan")
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	_, err := New(Spec{FalsePositiveRate: 1.5})
	wants(t, err, ErrFalsePositiveRate)
	var failure *Error
	if !errors.As(err, &failure) || !strings.Contains(failure.Message, "1.5") || failure.Op != "petal.New" ||
		!strings.HasPrefix(err.Error(), "petal.New: ") {
		t.Errorf("%#v", err)
	}
	if errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		t.Error("an error is everything")
	}
	_, err = Open(filepath.Join(t.TempDir(), "none"), nil)
	wants(t, err, ErrNotFound)
	wants(t, err, fs.ErrNotExist)
	wants(t, err, syscall.ENOENT)
	_, err = Open("a\x00b", nil)
	wants(t, err, ErrOutOfRange)
	_, err = New(Spec{Kind: "a\x00b"})
	wants(t, err, ErrOutOfRange)
	_, err = New(Spec{Kind: "blooming"})
	wants(t, err, ErrUnknownValue)
	_, err = New(Spec{Hash: 77})
	wants(t, err, ErrUnknownValue)
	_, err = New(Spec{Kind: "bloom", Bits: 1 << 62, Hashes: 1})
	wants(t, err, ErrOutOfMemory)
	_, err = Load(nil, nil)
	wants(t, err, ErrTruncated)
	_, err = Load([]byte("PAR1"), nil)
	wants(t, err, ErrForeign)
	for status := ErrFull; status < 0; status++ {
		if message := status.Error(); message == "" || strings.Contains(message, "unknown") {
			t.Errorf("status %d: %q", status, message)
		}
	}
	external := must(New(Spec{Hash: External}))
	defer external.Close()
	_, err = external.InsertString("a")
	wants(t, err, ErrExternalHash)
	found, err := external.ContainsChecked([]byte("a"))
	wants(t, err, ErrExternalHash)
	if !found || !external.ContainsString("a") || external.ContainsHash(1) {
		t.Error("a failed lookup said false")
	}
	answers := Answers{Bools: []bool{false, false}, Done: 9}
	wants(t, external.InsertBatch(StringKeys([]string{"a"}), &answers), ErrExternalHash)
	if answers.Done != 0 || answers.TrueCount != 0 || answers.Bools[0] {
		t.Error(answers)
	}
	wants(t, external.ContainsBatch(StringKeys([]string{"a"}), &answers), ErrExternalHash)
	if answers.Done != 0 || answers.TrueCount != 1 || !answers.Bools[0] || answers.Bools[1] {
		t.Error(answers)
	}
}

// Methods of closed filters and builders fail, and their lookups say true.
func TestClosedOnesFail(t *testing.T) {
	closed := must(New(Spec{}))
	check(t, closed.Close())
	b := must(NewBuilder(Spec{}, nil))
	check(t, b.Close())
	check(t, b.Close())
	for _, f := range []*Filter{closed, {}, nil} {
		check(t, f.Close())
		if !f.Contains(nil) || !f.ContainsString("a") || !f.ContainsUint64(1) || !f.ContainsHash(1) {
			t.Error("a closed filter said false")
		}
		answers := Answers{Bools: []bool{false}}
		wants(t, f.ContainsBatch(Uint64Keys([]uint64{1}), &answers), ErrClosed)
		if answers.TrueCount != 1 || !answers.Bools[0] {
			t.Error("a closed filter said false")
		}
		_, added := f.Insert(nil)
		_, described := f.Describe()
		_, measured := f.Statistics()
		_, copied := f.Copy()
		_, written := f.WriteTo(io.Discard)
		_, marshalled := f.MarshalBinary()
		_, spec := f.Spec()
		_, equal := f.Equal(closed)
		open := must(New(Spec{}))
		for _, err := range []error{
			added, f.InsertBatch(Keys{}, nil), described, measured, copied, written, marshalled, spec, equal, f.Merge(closed), open.Merge(f),
			f.Save(filepath.Join(t.TempDir(), "x")), f.Sync(), f.Vouch(), f.Verify(), f.Clear(), f.Fold(2),
		} {
			wants(t, err, ErrClosed)
		}
		check(t, open.Close())
		if f.Capabilities() != 0 {
			t.Error("a closed filter can do something")
		}
	}
	open := must(New(Spec{}))
	defer open.Close()
	for want, err := range map[string]error{
		"petal.Filter.Clear: the filter is closed":       closed.Clear(),
		"petal.Filter.Merge: the other filter is closed": open.Merge(closed),
		"petal.Builder.Add: the builder is closed":       b.Add(nil),
	} {
		if err.Error() != want || errors.Is(err, ErrUnsupported) {
			t.Errorf("%v, and not: %s", err, want)
		}
	}
	_, counted := b.Count()
	_, finished := b.Finish()
	for _, err := range []error{b.AddString("a"), b.AddBatch(StringKeys([]string{"a"}), nil), counted, finished, b.Save("x")} {
		wants(t, err, ErrClosed)
	}
}

// filled makes a filter with some keys.
func filled(spec Spec, keys uint64) *Filter {
	f := must(New(spec))
	for i := range keys {
		must(f.InsertUint64(i))
	}
	return f
}

func TestImagesGoRound(t *testing.T) {
	f := filled(Spec{Capacity: 300_000}, 1000)
	defer f.Close()
	path := filepath.Join(t.TempDir(), "filter.petal")
	check(t, f.Save(path))
	image := must(os.ReadFile(path))
	if !bytes.Equal(image, must(f.MarshalBinary())) {
		t.Error("marshalled and saved bytes differ")
	}
	if got := must(f.AppendBinary([]byte("before"))); string(got[:6]) != "before" || !bytes.Equal(got[6:], image) {
		t.Error("AppendBinary")
	}
	var stream bytes.Buffer
	for range 2 {
		if n := must(f.WriteTo(&stream)); n != int64(len(image)) {
			t.Error(n)
		}
	}
	stream.WriteString("rest")
	if !bytes.Equal(stream.Bytes()[:len(image)], image) {
		t.Error("written and saved bytes differ")
	}
	var first, second Filter
	for _, read := range []*Filter{&first, &second, &first} {
		if read == &first && stream.Len() == len("rest") {
			n, err := read.ReadFrom(&stream)
			wants(t, err, ErrForeign)
			if n != 4 || !must(first.Equal(f)) {
				t.Error("a failed read changed the filter")
			}
			break
		}
		if n := must(read.ReadFrom(&stream)); n != int64(len(image)) || !must(read.Equal(f)) {
			t.Error(n)
		}
	}
	_, err := first.ReadFrom(bytes.NewReader(image[:len(image)-1]))
	wants(t, err, ErrTruncated)
	broken := bytes.Clone(image)
	broken[len(image)/2] ^= 1
	wants(t, first.UnmarshalBinary(broken), ErrCorrupt)
	broken[20] ^= 1
	_, err = first.ReadFrom(bytes.NewReader(broken))
	wants(t, err, ErrCorrupt)
	check(t, second.UnmarshalBinary(image))
	if !must(second.Equal(f)) {
		t.Error("unmarshalled to something else")
	}
	check(t, first.Close())
	check(t, second.Close())

	mapped := must(Open(path, nil))
	defer mapped.Close()
	if !must(mapped.Equal(f)) || !must(mapped.Describe()).State.Has(StateInPlace) {
		t.Error("the file is another filter")
	}
	check(t, mapped.Verify())
	_, err = mapped.InsertUint64(1)
	wants(t, err, ErrUnsupported)
	wants(t, mapped.Save(path), ErrMappedPath)
	written := must(Open(path, &OpenOptions{Mode: OpenWrite}))
	must(written.InsertUint64(1 << 40))
	_, err = Open(path, &OpenOptions{Mode: OpenWrite})
	wants(t, err, ErrLocked)
	check(t, written.Sync())
	check(t, written.Close())
	if !mapped.ContainsUint64(1 << 40) {
		t.Error("what one handle writes the other does not see")
	}
	loaded := must(Open(path, &OpenOptions{Mode: OpenLoad}))
	defer loaded.Close()
	must(loaded.InsertUint64(1 << 41))

	packed := filepath.Join(t.TempDir(), "packed")
	check(t, os.WriteFile(packed, append(append(make([]byte, 512), image...), "after"...), 0o600))
	file := must(os.Open(packed))
	inside := must(OpenAt(file, 512, nil))
	defer inside.Close()
	_, err = OpenAt(file, 513, nil)
	wants(t, err, ErrMisaligned)
	_, err = OpenAt(file, -1, nil)
	wants(t, err, ErrOutOfRange)
	check(t, file.Close())
	if _, err = OpenAt(file, 512, nil); err == nil {
		t.Error("a closed file opens")
	}
	if !must(inside.Equal(f)) {
		t.Error("the filter inside a file is another")
	}
}

// The image of a file that somebody is changing is dirty, and stays so until somebody vouches for it.
func TestVouchingMakesAFilterClean(t *testing.T) {
	folder := t.TempDir()
	path, torn := filepath.Join(folder, "filter.petal"), filepath.Join(folder, "torn.petal")
	check(t, filled(Spec{Capacity: 1000}, 10).Save(path))
	f := must(Open(path, &OpenOptions{Mode: OpenWrite}))
	must(f.InsertUint64(100))
	check(t, os.WriteFile(torn, must(os.ReadFile(path)), 0o600))
	check(t, f.Close())
	check(t, must(Open(path, nil)).Verify())

	f = must(Open(torn, &OpenOptions{Mode: OpenWrite}))
	if state := must(f.Describe()).State; !state.Has(StateDirty | StateUnvouched) {
		t.Error(state)
	}
	check(t, f.Sync())
	wants(t, f.Verify(), ErrDirty)
	check(t, f.Vouch())
	check(t, f.Verify())
	if state := must(f.Describe()).State; state.Has(StateDirty) || state.Has(StateUnvouched) {
		t.Error(state)
	}
	check(t, f.Close())
	again := must(Open(torn, &OpenOptions{Mode: OpenLoad}))
	defer again.Close()
	if !again.ContainsUint64(100) {
		t.Error("lost")
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func TestWritersThatFailAreReported(t *testing.T) {
	f := filled(Spec{Capacity: 100_000}, 10)
	defer f.Close()
	full := errors.New("full")
	n, err := f.WriteTo(writer(func(b []byte) (int, error) { return len(b) / 2, full }))
	wants(t, err, full)
	if n != 128 {
		t.Error(n)
	}
	_, err = f.WriteTo(writer(func(b []byte) (int, error) { return 0, nil }))
	wants(t, err, io.ErrShortWrite)
	_, err = f.WriteTo(writer(func(b []byte) (int, error) { return len(b) + 1, nil }))
	wants(t, err, io.ErrShortWrite)
	func() {
		defer func() {
			if recovered := recover(); recovered != "thrown" {
				t.Error(recovered)
			}
		}()
		_, _ = f.WriteTo(writer(func([]byte) (int, error) { panic("thrown") }))
	}()
	check(t, f.Verify())
	must(f.InsertString("still in use"))
}

func TestSecretKeys(t *testing.T) {
	key := [16]byte{1, 2, 3}
	f := filled(Spec{Hash: SipHash13, Key: key, Capacity: 1000}, 100)
	defer f.Close()
	image := must(f.MarshalBinary())
	var without Filter
	check(t, without.UnmarshalBinary(image))
	defer without.Close()
	found, err := without.ContainsCheckedUint64(1 << 50)
	wants(t, err, ErrKeyMissing)
	if !found || must(without.Describe()).State.Has(StateCanHash) {
		t.Error("without its key it cannot know")
	}
	with := must(Load(image, &OpenOptions{Key: key}))
	defer with.Close()
	if !with.ContainsUint64(99) || with.ContainsUint64(1<<50) && with.ContainsUint64(1<<51) {
		t.Error("with its key it does not know")
	}
	_, err = Load(image, &OpenOptions{Key: [16]byte{9}})
	wants(t, err, ErrKeyMismatch)
}

func TestBuilders(t *testing.T) {
	for _, kind := range Kinds() {
		calls := 0
		b := must(NewBuilder(Spec{Kind: kind.Name, FalsePositiveRate: 0.001}, &BuilderOptions{
			MemoryLimit: 1 << 20, TemporaryDirectory: t.TempDir(),
			Progress: func(done, total uint64) bool { calls++; return done <= total },
		}))
		numbers := make([]uint64, 300_000)
		for i := range numbers {
			numbers[i] = uint64(i)
		}
		added := 0
		add := func(keys Keys) {
			var answers Answers
			check(t, b.AddBatch(keys, &answers))
			added += answers.Done
		}
		add(Uint64Keys(numbers))
		add(BytesKeys([][]byte{[]byte("a"), nil}))
		add(StringKeys([]string{"b", "c"}))
		check(t, b.Add([]byte("d")))
		check(t, b.AddString("e"))
		check(t, b.AddUint64(1<<60))
		check(t, b.AddHash(1))
		add(HashKeys([]uint64{2, 3}))
		wants(t, b.AddBatch(Uint64Keys(numbers), &Answers{Bools: make([]bool, len(numbers))}), ErrUnsupported)
		if count := must(b.Count()); count != uint64(added)+4 || count != 300_010 {
			t.Error(count)
		}
		f := must(b.Finish())
		for _, key := range []string{"a", "", "b", "c", "d", "e"} {
			if !f.ContainsString(key) {
				t.Errorf("%s lost %q", kind.Name, key)
			}
		}
		var found Answers
		check(t, f.ContainsBatch(Uint64Keys(numbers), &found))
		if found.TrueCount != len(numbers) || !f.ContainsHash(3) {
			t.Errorf("%s has only %d", kind.Name, found.TrueCount)
		}
		if capacity := must(f.Describe()).Capacity; capacity < 300_000 || capacity > 300_010 || calls == 0 {
			t.Errorf("%s: capacity %d, %d calls", kind.Name, capacity, calls)
		}
		check(t, f.Close())
		check(t, b.AddBatch(Uint64Keys(numbers[:1000]), nil))
		path := filepath.Join(t.TempDir(), "built")
		check(t, b.Save(path))
		saved := must(Open(path, nil))
		check(t, saved.ContainsBatch(Uint64Keys(numbers[:1000]), &found))
		if found.TrueCount != 1000 || must(b.Count()) != 0 {
			t.Error("the saved filter lost keys")
		}
		check(t, saved.Close())
		check(t, b.Close())
	}
}

func TestBuildersStopWhenProgressSaysSo(t *testing.T) {
	var behave func() bool
	b := must(NewBuilder(Spec{}, &BuilderOptions{Progress: func(uint64, uint64) bool { return behave() }}))
	defer b.Close()
	check(t, b.AddBatch(Uint64Keys(make([]uint64, 100_000)), nil))
	behave = func() bool { return false }
	_, err := b.Finish()
	wants(t, err, ErrCancelled)
	behave = func() bool { panic("thrown") }
	func() {
		defer func() {
			if recovered := recover(); recovered != "thrown" {
				t.Error(recovered)
			}
		}()
		_, _ = b.Finish()
	}()
	behave = func() bool { return true }
	f := must(b.Finish())
	defer f.Close()
	if !f.ContainsUint64(0) {
		t.Error("the keys did not stay")
	}
	_, err = NewBuilder(Spec{}, &BuilderOptions{MemoryLimit: 1, Progress: func(uint64, uint64) bool { return true }})
	wants(t, err, ErrOutOfRange)
}

// Readers need no lock; filters have nothing in common.
func TestManyGoroutinesRead(t *testing.T) {
	shared := filled(Spec{Capacity: 10_000}, 10_000)
	defer shared.Close()
	var group sync.WaitGroup
	for g := range uint64(8) {
		group.Add(1)
		go func() {
			defer group.Done()
			own := must(New(Spec{Capacity: 1000}))
			defer own.Close()
			found := Answers{Bools: make([]bool, 2)}
			for i := range uint64(2000) {
				must(own.InsertUint64(i * g))
				check(t, own.InsertBatch(StringKeys([]string{fmt.Sprint(i)}), nil))
				err := shared.ContainsBatch(StringKeys([]string{"x", "y"}), &found)
				if err != nil || found.Done != 2 || found.TrueCount > 2 || !shared.ContainsUint64(i) || !own.ContainsString(fmt.Sprint(i)) {
					t.Error("lost", i, err)
				}
			}
			if _, err := shared.WriteTo(io.Discard); err != nil {
				t.Error(err)
			}
			must(shared.Statistics())
		}()
	}
	group.Wait()
}

// Shared insertion needs no lock either.
func TestManyGoroutinesInsert(t *testing.T) {
	for _, kind := range insertable() {
		if !kind.Capabilities.Has(CanInsertShared) {
			continue
		}
		path := filepath.Join(t.TempDir(), "shared.petal")
		made := must(New(Spec{Kind: kind.Name, Capacity: 60_000}))
		check(t, made.Save(path))
		f := must(Open(path, &OpenOptions{Mode: OpenShare}))
		other := must(Open(path, &OpenOptions{Mode: OpenShare}))
		const goroutines, each = 4, 1000
		var group sync.WaitGroup
		for g := range uint64(goroutines) {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := range uint64(each) {
					key := g<<32 + i
					text := fmt.Sprint("text ", key)
					isNew := &Answers{Bools: make([]bool, 2)}
					must(f.InsertShared([]byte(text + " bytes")))
					must(f.InsertSharedString(text))
					must(f.InsertSharedUint64(key))
					must(f.InsertSharedHash(must(f.HashUint64(^key))))
					check(t, other.InsertSharedBatch(BytesKeys([][]byte{[]byte(text + " 1"), nil}), isNew))
					check(t, other.InsertSharedBatch(StringKeys([]string{text + " 2"}), nil))
					check(t, other.InsertSharedBatch(Uint64Keys([]uint64{key + 1<<24}), isNew))
					check(t, other.InsertSharedBatch(HashKeys([]uint64{must(f.HashUint64(key + 1<<25))}), nil))
					for _, found := range []bool{
						f.ContainsString(text + " bytes"), other.ContainsString(text), other.ContainsUint64(key),
						f.ContainsUint64(^key), f.ContainsString(text + " 1"), f.ContainsString(""),
						f.ContainsString(text + " 2"), f.ContainsUint64(key + 1<<24), f.ContainsUint64(key + 1<<25),
					} {
						if !found {
							t.Error(kind.Name, "lost", key)
						}
					}
				}
			}()
		}
		group.Wait()
		check(t, f.Close())
		check(t, other.Close())
		again := must(Open(path, nil))
		check(t, again.Verify())
		for g := range uint64(goroutines) {
			for i := range uint64(each) {
				if !again.ContainsUint64(g<<32 + i) {
					t.Fatal(kind.Name, "lost", g, i)
				}
			}
		}
		check(t, again.Close())
		check(t, made.AddCount(5))
		if count := must(made.Describe()).Count; count != 5 {
			t.Error(count)
		}
		wants(t, made.InsertSharedBatch(Uint64Keys([]uint64{1, 2}), &Answers{Bools: []bool{}}), ErrBufferTooSmall)
		check(t, made.Close())
		_, err := made.InsertSharedUint64(1)
		wants(t, err, ErrClosed)
		wants(t, made.AddCount(1), ErrClosed)
	}
}

// residentBytes is how much memory the process has, the library's with it.
func residentBytes(t *testing.T) uint64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("there is no /proc/self/status")
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	var kilobytes uint64
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// However often filters are made and closed, or forgotten, memory stays as it is. `-cycles 1000000` is the long form.
func TestMemoryStaysFlat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter.petal")
	check(t, filled(Spec{Capacity: 10_000}, 10).Save(path))
	image := must(os.ReadFile(path))
	cycle := func(i int) {
		opened := must(Open(path, nil))
		made := must(New(Spec{Capacity: 10_000}))
		if !opened.ContainsUint64(1) || made.ContainsUint64(1) {
			t.Fatal("wrong answers")
		}
		check(t, opened.Close())
		if i%8 == 0 {
			check(t, made.UnmarshalBinary(image))
			b := must(NewBuilder(Spec{}, &BuilderOptions{Progress: func(uint64, uint64) bool { return true }}))
			check(t, b.AddBatch(Uint64Keys([]uint64{1, 2, 3}), nil))
			check(t, must(b.Finish()).Close())
			if i%16 == 0 {
				check(t, b.Close())
			}
		}
		// Every fourth is left to its cleanup.
		if i%4 != 0 {
			check(t, made.Close())
		}
		if i%512 == 0 {
			// To the garbage collector, filters that are forgotten are small.
			runtime.GC()
		}
	}
	if testing.Short() {
		*cycles = min(*cycles, 500)
	}
	for i := range min(*cycles, 4096) {
		cycle(i)
	}
	runtime.GC()
	before := residentBytes(t)
	for i := range *cycles {
		cycle(i)
	}
	runtime.GC()
	after := residentBytes(t)
	if after > before+(32<<20) {
		t.Errorf("%d cycles took %d MiB", *cycles, (after-before)>>20)
	}
	t.Logf("%d cycles: %.1f MiB before, %.1f MiB after", *cycles, float64(before)/(1<<20), float64(after)/(1<<20))
}

func TestCallsDoNotAllocate(t *testing.T) {
	f := filled(Spec{Capacity: 1000}, 10)
	defer f.Close()
	key, numbers, found := []byte("key"), make([]uint64, 64), make([]bool, 64)
	keys, texts := [][]byte{key, key}, []string{"a", "b"}
	calls := map[string]func(){
		"Contains":          func() { _ = f.Contains(key) },
		"ContainsChecked":   func() { _, _ = f.ContainsChecked(key) },
		"Insert":            func() { _, _ = f.Insert(key) },
		"InsertString":      func() { _, _ = f.InsertString("text") },
		"lookup of numbers": func() { _ = f.ContainsBatch(Uint64Keys(numbers), &Answers{Bools: found}) },
		"lookup of slices":  func() { _ = f.ContainsBatch(BytesKeys(keys), &Answers{Bools: found}) },
		"lookup of strings": func() { _ = f.ContainsBatch(StringKeys(texts), &Answers{Bools: found}) },
		"hashes inserted":   func() { _ = f.InsertBatch(HashKeys(numbers), &Answers{Bools: found}) },
		"slices inserted":   func() { _ = f.InsertBatch(BytesKeys(keys), nil) },
	}
	for name, call := range calls {
		// The garbage collector may empty the pool in between.
		if n := testing.AllocsPerRun(1000, call); n > 0.1 && !race.Enabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
