package bloom

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bits-and-blooms/bitset"
)

// vectors are the original's results for known keys. tests/interop/bits-and-blooms/vectors writes them, and says with
// which command.
type vectors struct {
	Filters []struct {
		M, K        uint
		Over, Keys  int
		Binary      string
		Little      string `json:"little_endian"`
		JSON        json.RawMessage
		Approximate uint32 `json:"approximated_size"`
		Others      int
	}
	Locations []struct {
		Length    int
		Locations []string
	}
	Parameters []struct {
		N    uint64
		P    float64
		M, K uint64
	}
	Rates []struct {
		M, K, N uint
		Rate    float64
	}
}

func readVectors(t *testing.T) *vectors {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all vectors
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Filters) == 0 || len(all.Locations) == 0 || len(all.Parameters) == 0 || len(all.Rates) == 0 {
		t.Fatal("vectors are missing")
	}
	return &all
}

// key is the i-th key of the vectors.
func key(i int) []byte {
	bytes := []byte{byte(i), byte(i >> 8), byte(i >> 16)}
	for at := range i % 31 {
		bytes = append(bytes, byte(at*(i+7)))
	}
	return bytes
}

func binaryOf(t *testing.T, f *BloomFilter) []byte {
	t.Helper()
	bytes, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	bytes, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestFiltersAreThoseOfTheOriginal(t *testing.T) {
	for _, v := range readVectors(t).Filters {
		make := func() *BloomFilter {
			if v.Over >= 0 {
				return FromWithM(make([]uint64, v.Over), v.M, v.K)
			}
			return New(v.M, v.K)
		}
		name := fmt.Sprintf("m %d, k %d, over %d, %d keys", v.M, v.K, v.Over, v.Keys)
		f, strings, added, unless := make(), make(), make(), make()
		for i := range v.Keys {
			there := f.Test(key(i))
			if f.TestString(string(key(i))) != there {
				t.Errorf("%s: the string %d is not the bytes", name, i)
			}
			f.Add(key(i))
			strings.AddString(string(key(i)))
			if added.TestAndAdd(key(i)) != there || unless.TestOrAddString(string(key(i))) != there {
				t.Errorf("%s: TestAndAdd or TestOrAddString of key %d is not %v", name, i, there)
			}
			if !f.Test(key(i)) || !f.TestAndAddString(string(key(i))) || !f.TestOrAdd(key(i)) {
				t.Errorf("%s: key %d is lost", name, i)
			}
		}
		want := unhex(t, v.Binary)
		for i, each := range []*BloomFilter{f, strings, added, unless, f.Copy()} {
			// A copy has all m bits, even if the set was shorter.
			if got := binaryOf(t, each); !bytes.Equal(got, want) && !(i == 4 && f.BitSet().Len() < v.M) {
				t.Errorf("%s: filter %d is\n%x, not\n%x", name, i, got, want)
			}
		}
		others := 0
		for i := range 1000 {
			if f.Test(key(v.Keys + i)) {
				others++
			}
			if f.TestLocations(Locations(key(v.Keys+i), v.K)) != f.Test(key(v.Keys+i)) {
				t.Errorf("%s: key %d by its locations", name, v.Keys+i)
			}
		}
		if others != v.Others {
			t.Errorf("%s: %d others are said to be there, not %d", name, others, v.Others)
		}
		// In the original a full filter has no size.
		if set := f.BitSet().Count(); set < v.M && f.ApproximatedSize() != v.Approximate {
			t.Errorf("%s: %d keys are estimated, not %d", name, f.ApproximatedSize(), v.Approximate)
		}
		if text, err := json.Marshal(f); err != nil || !sameJSON(text, v.JSON) {
			t.Errorf("%s: JSON %s, %v", name, text, err)
		}
		images := [][]byte{want}
		// The other byte order is recognised by a length of m bits, or of whole words.
		if f.BitSet().Len() >= v.M {
			images = append(images, unhex(t, v.Little))
		}
		for i, image := range images {
			var read BloomFilter
			n, err := read.ReadFrom(bytes.NewReader(append(bytes.Clone(image), "more"...)))
			if err != nil || int(n) != len(image) || !read.Equal(f) || read.Cap() != v.M || read.K() != v.K {
				t.Errorf("%s: image %d: %d bytes, m %d, k %d, %v", name, i, n, read.Cap(), read.K(), err)
			}
		}
		var read BloomFilter
		if err := json.Unmarshal(v.JSON, &read); err != nil || !read.Equal(f) {
			t.Errorf("%s: from JSON: %v", name, err)
		}
	}
}

// sameJSON says whether two JSON texts differ in spaces at most.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func TestLocationsAreThoseOfTheOriginal(t *testing.T) {
	for _, v := range readVectors(t).Locations {
		bytes := make([]byte, v.Length)
		for at := range bytes {
			bytes[at] = byte(255 - at*v.Length)
		}
		for i, at := range Locations(bytes, uint(len(v.Locations))) {
			if got := fmt.Sprintf("%016x", at); got != v.Locations[i] {
				t.Errorf("%d bytes, location %d: %s, not %s", v.Length, i, got, v.Locations[i])
			}
		}
	}
}

func TestEstimatesAreThoseOfTheOriginal(t *testing.T) {
	all := readVectors(t)
	for _, v := range all.Parameters {
		if v.N > math.MaxUint || v.M > math.MaxUint {
			continue
		}
		if m, k := EstimateParameters(uint(v.N), v.P); uint64(m) != v.M || uint64(k) != v.K {
			t.Errorf("n %d, p %g: m %d, k %d, not %d and %d", v.N, v.P, m, k, v.M, v.K)
		}
	}
	for _, v := range all.Rates {
		if rate := EstimateFalsePositiveRate(v.M, v.K, v.N); rate != v.Rate {
			t.Errorf("m %d, k %d, n %d: %g, not %g", v.M, v.K, v.N, rate, v.Rate)
		}
	}
}

func TestEstimatesWithoutAnswer(t *testing.T) {
	for _, v := range []struct {
		n    uint
		p    float64
		m, k uint
	}{
		{0, 0.01, 0, 0}, {10, 1, 0, 0}, {10, 2, 0, 0}, {10, math.NaN(), 0, 0}, {0, 0, 0, 0},
	} {
		if m, k := EstimateParameters(v.n, v.p); m != v.m || k != v.k {
			t.Errorf("n %d, p %g: m %d, k %d", v.n, v.p, m, k)
		}
	}
	if m, _ := EstimateParameters(1, 0); m != math.MaxUint {
		t.Errorf("p 0: m %d", m)
	}
	if f := NewWithEstimates(0, 0.01); f.Cap() != 1 || f.K() != 1 || !f.AddString("x").TestString("x") {
		t.Errorf("no keys: m %d, k %d", f.Cap(), f.K())
	}
	full := New(64, 1)
	full.BitSet().SetAll()
	if n := full.ApproximatedSize(); n != math.MaxUint32 {
		t.Errorf("a full filter has %d keys", n)
	}
	more := FromWithM([]uint64{math.MaxUint64, math.MaxUint64}, 100, 3)
	if n := more.ApproximatedSize(); n != math.MaxUint32 {
		t.Errorf("a filter with more bits than m has %d keys", n)
	}
	if n := FromWithM([]uint64{1}, 64, 0).ApproximatedSize(); n != math.MaxUint32 {
		t.Errorf("a filter without hash functions has %d keys", n)
	}
}

// A key that is passed as a string is not written to.
func TestKeysStay(t *testing.T) {
	f := New(1<<20, 9)
	for length := range 100 {
		text := strings.Repeat("0123456789", 10)[:length]
		before := []byte(text)
		f.AddString(text)
		f.TestString(text)
		f.TestAndAddString(text)
		f.TestOrAddString(text)
		if text != string(before) {
			t.Fatalf("the key %q was %q", text, before)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	f := New(1<<16, 7)
	text := strings.Repeat("a long key ", 10)
	bytes := []byte(text)
	allocated := testing.AllocsPerRun(100, func() {
		f.Add(bytes).AddString(text)
		f.TestAndAdd(bytes)
		f.TestOrAddString(text)
		if !f.Test(bytes) || !f.TestString(text) {
			t.Error("lost")
		}
	})
	if allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}

// The bits belong to the caller too, who may shorten, lengthen or change them.
func TestBitsOfTheCaller(t *testing.T) {
	f, whole := New(100_000, 5), New(100_000, 5)
	f.BitSet().Compact()
	for i := range 300 {
		there := whole.Test(key(i))
		if f.Test(key(i)) != there || f.TestLocations(Locations(key(i), 5)) != there {
			t.Fatalf("key %d is there without bits", i)
		}
		whole.Add(key(i))
		switch i % 3 {
		case 0:
			f.Add(key(i))
		case 1:
			if f.TestAndAdd(key(i)) != there {
				t.Fatalf("key %d by TestAndAdd", i)
			}
		case 2:
			if f.TestOrAdd(key(i)) != there {
				t.Fatalf("key %d by TestOrAdd", i)
			}
		}
		if !f.Test(key(i)) || !f.TestLocations(Locations(key(i), 5)) {
			t.Fatalf("key %d is lost", i)
		}
		f.BitSet().Compact()
	}
	// The original's copies have all bits.
	if copied := f.Copy(); !copied.Equal(whole) || f.Equal(whole) {
		t.Error("a copy of a shortened filter is not whole")
	}
	var read BloomFilter
	if err := read.UnmarshalBinary(binaryOf(t, f)); err != nil || !read.Equal(f) || !read.Test(key(7)) {
		t.Errorf("a shortened filter is not read: %v", err)
	}
	f.BitSet().Set(200_000)
	for i := range 300 {
		if !f.Test(key(i)) {
			t.Fatalf("key %d is lost", i)
		}
	}
	f.BitSet().ClearAll()
	if f.Test(key(1)) || f.ApproximatedSize() != 0 {
		t.Error("a cleared set of bits has keys")
	}

	// A set that ends in the filter's last word grows as package bitset grows it.
	var short BloomFilter
	if err := short.UnmarshalBinary(image(960, 3, 950, make([]uint64, 15)...)); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		short.Add(key(i))
	}
	if length := short.BitSet().Len(); length != 960 {
		t.Errorf("the set has %d bits, not 960", length)
	}

	words := make([]uint64, 16)
	From(words, 3).AddString("key")
	if again := From(words, 3); !again.TestString("key") || again.Cap() != 1024 {
		t.Error("a filter does not use the words that it was given")
	}
}

func TestMerge(t *testing.T) {
	a, b := New(1000, 4), New(1000, 4)
	a.AddString("a")
	b.AddString("b")
	if err := a.Merge(b); err != nil || !a.TestString("a") || !a.TestString("b") || b.TestString("a") {
		t.Errorf("merged: %v", err)
	}
	before := a.Copy()
	for _, other := range []*BloomFilter{nil, New(1001, 4), New(1000, 5)} {
		if err := a.Merge(other); err == nil || !a.Equal(before) {
			t.Errorf("%v was merged, or changed something: %v", other, err)
		}
	}
	before.AddString("c")
	if a.TestString("c") || a.Equal(before) || a.Equal(nil) {
		t.Error("a copy is not another filter")
	}
	if a.ClearAll() != a || a.TestString("a") || a.ApproximatedSize() != 0 {
		t.Error("a cleared filter has keys")
	}
}

// The original divides by zero, or follows nil, in most of these.
func TestFiltersOfNothing(t *testing.T) {
	var zero BloomFilter
	if !zero.TestString("x") || !zero.Copy().AddString("x").TestAndAddString("x") || zero.BitSet() != nil {
		t.Error("the zero value")
	}
	if !zero.TestLocations(Locations([]byte("x"), 3)) {
		t.Error("the zero value")
	}
	if zero.ApproximatedSize() != 0 || !zero.ClearAll().Equal(&BloomFilter{}) || zero.Merge(&zero) != nil {
		t.Error("the zero value")
	}
	text, err := json.Marshal(struct{ F BloomFilter }{})
	if err != nil || string(text) != `{"F":{"m":0,"k":0,"b":null}}` {
		t.Errorf("the zero value is %s, %v", text, err)
	}
	var into struct{ F, G BloomFilter }
	if err := json.Unmarshal([]byte(`{"F":{"m":0,"k":0,"b":null},"G":null}`), &into); err != nil {
		t.Error(err)
	}
	read := New(5, 5)
	if err := read.UnmarshalBinary(binaryOf(t, &zero)); err != nil || read.Cap() != 0 || read.K() != 0 {
		t.Errorf("the zero value: %v", err)
	}
	if err := zero.Merge(read); err != nil {
		t.Error(err)
	}
	none := From(nil, 3)
	if none.Cap() != 0 || none.TestString("x") || !none.AddString("x").TestString("x") {
		t.Error("a filter of no bits")
	}
	if f := New(0, 0); f.Cap() != 1 || f.K() != 1 || f.TestString("x") || !f.AddString("x").TestString("y") {
		t.Error("a filter of one bit")
	}
	if bits.UintSize == 32 {
		return
	}
	// Go has no slice of this length. As in the original the filter has no memory, and adding a key panics.
	huge := New(math.MaxUint, 3)
	if huge.TestString("x") || huge.Cap() != math.MaxUint {
		t.Error("a filter of too many bits")
	}
}

func TestStreams(t *testing.T) {
	var stream bytes.Buffer
	var filters []*BloomFilter
	for i, m := range []uint{1, 64, 65, 10_000, 64 * 8189, 64 * 8190, 3_000_001, 64 << 18} {
		f := New(m, uint(i+1))
		for j := range 1000 {
			f.Add(key(j))
		}
		filters = append(filters, f)
		n, err := f.WriteTo(&stream)
		if want := 24 + (int64(m)+63)/64*8; err != nil || n != want {
			t.Fatalf("m %d: %d bytes, not %d, %v", m, n, want, err)
		}
	}
	all := stream.Bytes()
	for name, reader := range map[string]io.Reader{
		"buffer": bytes.NewBuffer(all), "bytes": bytes.NewReader(all), "string": strings.NewReader(string(all)),
		"halves": iotest.HalfReader(bytes.NewReader(all)), "at the end": iotest.DataErrReader(bytes.NewReader(all)),
	} {
		for i, want := range filters {
			var got BloomFilter
			if n, err := got.ReadFrom(reader); err != nil || !got.Equal(want) || int(n) != len(binaryOf(t, want)) {
				t.Fatalf("%s: filter %d: %d bytes, %v", name, i, n, err)
			}
		}
		var got BloomFilter
		if n, err := got.ReadFrom(reader); n != 0 || err != io.EOF {
			t.Errorf("%s: at the end: %d, %v", name, n, err)
		}
	}
	// Wherever a stream ends early, the filter stays as it was.
	image := binaryOf(t, filters[3])
	for cut := range len(image) {
		want := io.ErrUnexpectedEOF
		if cut == 0 {
			want = io.EOF
		}
		for i, reader := range []io.Reader{
			bytes.NewReader(image[:cut]), iotest.OneByteReader(bytes.NewReader(image[:cut])),
		} {
			f := New(77, 3).AddString("before")
			n, err := f.ReadFrom(reader)
			if err != want || !f.Equal(New(77, 3).AddString("before")) || i == 1 && int(n) != cut {
				t.Fatalf("cut at %d: %d bytes, %v", cut, n, err)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := new(BloomFilter).ReadFrom(iotest.ErrReader(broken)); err != broken {
		t.Errorf("an error of the stream is %v", err)
	}
	for room := range int64(len(image)) {
		if n, err := filters[3].WriteTo(&narrow{room}); err != errNarrow || n != room {
			t.Fatalf("room for %d: %d, %v", room, n, err)
		}
	}
}

// narrow is a writer with room for this many bytes.
type narrow struct{ room int64 }

var errNarrow = errors.New("no room")

func (w *narrow) Write(p []byte) (int, error) {
	if int64(len(p)) <= w.room {
		w.room -= int64(len(p))
		return len(p), nil
	}
	n := w.room
	w.room = 0
	return int(n), errNarrow
}

func TestGob(t *testing.T) {
	type message struct {
		Name   string
		Filter *BloomFilter
		Value  BloomFilter
	}
	sent := message{"n", New(1000, 3).AddString("a"), *New(99, 2).AddString("b")}
	var buffer bytes.Buffer
	if err := gob.NewEncoder(&buffer).Encode(&sent); err != nil {
		t.Fatal(err)
	}
	var got message
	if err := gob.NewDecoder(&buffer).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if !got.Filter.Equal(sent.Filter) || !got.Value.Equal(&sent.Value) || !got.Value.TestString("b") {
		t.Error("another filter arrived")
	}
}

// Filters are written in the byte order of this process, and read in both orders.
func TestOrders(t *testing.T) {
	defer bitset.BigEndian()
	f := New(1000, 3).AddString("a").AddString("b")
	big := binaryOf(t, f)
	bitset.LittleEndian()
	little := binaryOf(t, f)
	text, err := json.Marshal(f)
	if err != nil || bytes.Equal(big, little) {
		t.Fatalf("orders are the same, or %v", err)
	}
	for range 2 {
		for name, image := range map[string][]byte{"big": big, "little": little} {
			var read BloomFilter
			if err := read.UnmarshalBinary(image); err != nil || !read.Equal(f) {
				t.Errorf("%s: %v", name, err)
			}
		}
		var read BloomFilter
		if err := json.Unmarshal(text, &read); err != nil || !read.Equal(f) {
			t.Errorf("JSON: %v", err)
		}
		bitset.BigEndian()
	}
}

func TestJSON(t *testing.T) {
	f := New(500, 3)
	for i := range 200 {
		f.Add(key(i))
	}
	text, err := json.Marshal(f)
	if err != nil || !bytes.ContainsAny(text, "-_") {
		t.Fatalf("%s, %v", text, err)
	}
	standard := []byte(strings.NewReplacer("-", "+", "_", "/").Replace(string(text)))
	for _, text := range [][]byte{text, standard} {
		var read BloomFilter
		if err := json.Unmarshal(text, &read); err != nil || !read.Equal(f) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		`{"m":10,"k":3}`, `{"m":10,"k":3,"b":null}`, `{"m":0,"k":1}`, `{"m":10,"k":3,"b":""}`, `[]`, `{"m":-1}`, `7`,
		`{"m":10,"k":3,"b":"!"}`, `{"m":10,"k":3,"b":"AAAA"}`, `{"m":10,"k":3,"b":"AAAAAAAAAAoAAA=="}`,
		`{"m":10,"k":70000,"b":"AAAAAAAAAAoAAAAAAAAAAA=="}`, `{"m":9999999999,"k":3,"b":"AAAAAAAAAAoAAAAAAAAAAA=="}`,
	} {
		read := f.Copy()
		if err := read.UnmarshalJSON([]byte(text)); err == nil || !read.Equal(f) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func image(m, k, length uint64, words ...uint64) []byte {
	bytes := binary.BigEndian.AppendUint64(nil, m)
	bytes = binary.BigEndian.AppendUint64(bytes, k)
	bytes = binary.BigEndian.AppendUint64(bytes, length)
	for _, word := range words {
		bytes = binary.BigEndian.AppendUint64(bytes, word)
	}
	return bytes
}

// A claim about missing bytes is an error, and no memory is taken for such bytes.
func TestForgedImages(t *testing.T) {
	forged := map[string][]byte{
		"length":             image(1<<50, 3, 1<<50, 1, 2, 3),
		"largest length":     image(math.MaxUint64, 3, math.MaxUint64, 1, 2, 3),
		"length of a word":   image(math.MaxUint64-62, 3, math.MaxUint64-62, 1),
		"m":                  image(1<<40, 3, 128, 1, 2),
		"largest m":          image(math.MaxUint64, 3, 128, 1, 2),
		"m above the slack":  image(64*128+1<<26+64, 3, 128, 1, 2),
		"k":                  image(128, 1<<16+1, 128, 1, 2),
		"largest k":          image(128, math.MaxUint64, 128, 1, 2),
		"length in between":  image(1<<30, 3, 1<<30, make([]uint64, 1000)...),
		"length below words": image(100, 3, 200, 1, 2, 3),
	}
	for name, bad := range forged {
		for _, reader := range []io.Reader{bytes.NewReader(bad), iotest.OneByteReader(bytes.NewReader(bad))} {
			f := New(64, 1).AddString("before")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := f.ReadFrom(reader)
			runtime.ReadMemStats(&after)
			if err == nil || !f.Equal(New(64, 1).AddString("before")) {
				t.Errorf("%s: %v", name, err)
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 4<<20 {
				t.Errorf("%s: %d bytes were taken", name, taken)
			}
		}
	}
	var f BloomFilter
	for name, good := range map[string][]byte{
		"slack": image(64*128+1<<26, 3, 128, 1, 2), "k": image(128, 1<<16, 128, 1, 2), "none": image(0, 0, 0),
	} {
		if err := f.UnmarshalBinary(good); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A filter that is read can be used and written, and is read again as the same.
func FuzzReadFrom(f *testing.F) {
	f.Add(image(128, 3, 128, 1, 2))
	f.Add(image(100, 7, 64, 1))
	f.Add(image(0, 0, 0))
	f.Add([]byte("{}"))
	f.Add([]byte(`{"m":10,"k":3,"b":"AAAAAAAAAAoAAAAAAAAAAA=="}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func(*BloomFilter) error{
			func(into *BloomFilter) error { return into.UnmarshalBinary(data) },
			func(into *BloomFilter) error { return into.UnmarshalJSON(data) },
		} {
			var first, again BloomFilter
			if read(&first) != nil || first.BitSet() == nil {
				continue // The zero value is written as a filter that has a set of no bits.
			}
			if err := again.UnmarshalBinary(binaryOf(t, &first)); err != nil || !again.Equal(&first) {
				t.Errorf("it is not read again: %v", err)
			}
			if !first.AddString("key").TestString("key") {
				t.Error("a key is lost")
			}
		}
	})
}

// A filter does not depend on where its keys lie, or on the bytes around them.
func TestKeysInsideOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	room := make([]byte, 300)
	for range 20_000 {
		from := random.IntN(100)
		to := from + random.IntN(100)
		inside := room[from:to:to]
		for at := range inside {
			inside[at] = byte(random.Uint32())
		}
		alone := bytes.Clone(inside)
		want := Locations(alone, 4)
		for at := range room {
			if at < from || at >= to {
				room[at] ^= byte(random.Uint32())
			}
		}
		if got := Locations(inside, 4); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%x at %d: %x, not %x", alone, from, got, want)
		}
	}
}

// shortWriter takes half of its input without an error.
type shortWriter struct{ taken int64 }

func (w *shortWriter) Write(piece []byte) (int, error) {
	w.taken += int64(len(piece) / 2)
	return len(piece) / 2, nil
}

// A writer that takes less than its input without an error counts as failed.
func TestShortWritesAreErrors(t *testing.T) {
	short := &shortWriter{}
	if n, err := NewWithEstimates(1000, 0.01).WriteTo(short); !errors.Is(err, io.ErrShortWrite) || n != short.taken {
		t.Errorf("%d bytes of %d and the error %v", n, short.taken, err)
	}
}
