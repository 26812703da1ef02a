package interop

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/bits-and-blooms/bitset"
	original "github.com/bits-and-blooms/bloom/v3"
	"github.com/petal-filter/petal/bindings/go/bloom"
)

// encodes is the methods that both filters have.
type encodes interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	json.Marshaler
	json.Unmarshaler
	gob.GobEncoder
	gob.GobDecoder
	io.WriterTo
	io.ReaderFrom
	BitSet() *bitset.BitSet
}

// both is a filter of each package; whatever is done to one is done to the other.
type both struct {
	theirs *original.BloomFilter
	ours   *bloom.BloomFilter
}

var encodings = []struct {
	name  string
	write func(encodes) ([]byte, error)
	read  func(encodes, []byte) error
}{
	{"MarshalBinary", encodes.MarshalBinary, encodes.UnmarshalBinary},
	{"GobEncode", encodes.GobEncode, encodes.GobDecode},
	{"MarshalJSON", encodes.MarshalJSON, encodes.UnmarshalJSON},
	{"json.Marshal", func(f encodes) ([]byte, error) { return json.Marshal(f) },
		func(f encodes, data []byte) error { return json.Unmarshal(data, f) }},
	{"WriteTo", func(f encodes) ([]byte, error) {
		var buffer bytes.Buffer
		n, err := f.WriteTo(&buffer)
		if int(n) != buffer.Len() {
			return nil, fmt.Errorf("%d bytes, not %d", buffer.Len(), n)
		}
		return buffer.Bytes(), err
	}, func(f encodes, data []byte) error {
		// What follows the filter stays in the stream, even where nobody knows how long that is.
		stream := bytes.NewReader(append(bytes.Clone(data), "more"...))
		n, err := f.ReadFrom(io.MultiReader(stream))
		if err == nil && (int(n) != len(data) || stream.Len() != 4) {
			return fmt.Errorf("%d bytes were read of %d, and %d are left", n, len(data), stream.Len())
		}
		return err
	}},
}

// compare checks that both filters agree in everything that can be asked.
func (b both) compare(t *testing.T, what string) {
	t.Helper()
	if b.theirs.Cap() != b.ours.Cap() || b.theirs.K() != b.ours.K() {
		t.Fatalf("%s: m %d and %d, k %d and %d", what, b.theirs.Cap(), b.ours.Cap(), b.theirs.K(), b.ours.K())
	}
	if !b.theirs.BitSet().Equal(b.ours.BitSet()) {
		t.Fatalf("%s: other bits", what)
	}
	// A full filter has no size in the original.
	if b.theirs.BitSet().Count() < b.theirs.Cap() && b.theirs.ApproximatedSize() != b.ours.ApproximatedSize() {
		t.Fatalf("%s: of size %d and %d", what, b.theirs.ApproximatedSize(), b.ours.ApproximatedSize())
	}
}

// exchange writes both in every encoding, compares the bytes, and lets each read the other's.
func (b both) exchange(t *testing.T, what string) both {
	t.Helper()
	next := b
	for _, each := range encodings {
		theirs, err := each.write(b.theirs)
		if err != nil {
			t.Fatalf("%s, %s: theirs: %v", what, each.name, err)
		}
		ours, err := each.write(b.ours)
		if err != nil || !bytes.Equal(theirs, ours) {
			t.Fatalf("%s, %s: %v, or other bytes:\n%.200x\n%.200x", what, each.name, err, theirs, ours)
		}
		next = both{new(original.BloomFilter), new(bloom.BloomFilter)}
		if err := each.read(next.theirs, ours); err != nil {
			t.Fatalf("%s, %s: they do not read ours: %v", what, each.name, err)
		}
		if err := each.read(next.ours, theirs); err != nil {
			t.Fatalf("%s, %s: theirs is not read: %v", what, each.name, err)
		}
		next.compare(t, what+", "+each.name)
		if !next.theirs.Equal(b.theirs) || !next.ours.Equal(b.ours) {
			t.Fatalf("%s, %s: it is not what was written", what, each.name)
		}
	}
	return next
}

// world does the same random operations to filters of both packages.
type world struct {
	random *rand.Rand
	both
}

func (w *world) key() []byte {
	// Few enough keys of each length that some come again.
	lengths := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 31, 32, 33, 47, 100, 1000}
	key := make([]byte, lengths[w.random.IntN(len(lengths))])
	seed := w.random.Uint64N(100)
	for at := range key {
		key[at] = byte(seed>>(at%8) + seed*uint64(at))
	}
	return key
}

func (w *world) filter(m, k uint) both {
	switch w.random.IntN(4) {
	case 0:
		words := make([]uint64, (m+63)/64)
		return both{original.From(words, k), bloom.From(wordsOf(words), k)}
	case 1:
		words := make([]uint64, w.random.Uint64N(uint64(2*(m+63)/64)))
		for i := range words {
			words[i] = w.random.Uint64() & w.random.Uint64() & w.random.Uint64()
		}
		return both{original.FromWithM(words, m, k), bloom.FromWithM(wordsOf(words), m, k)}
	}
	return both{original.New(m, k), bloom.New(m, k)}
}

// wordsOf returns a copy of words.
func wordsOf(words []uint64) []uint64 { return append([]uint64{}, words...) }

func (w *world) step(t *testing.T) {
	key := w.key()
	same := func(what string, theirs, ours any) {
		t.Helper()
		if theirs != ours {
			t.Fatalf("%s of %x: %v, not %v", what, key, ours, theirs)
		}
	}
	switch w.random.IntN(18) {
	case 0, 1:
		w.theirs.Add(key)
		same("Add", any(w.ours), any(w.ours.Add(key)))
	case 2, 3:
		w.theirs.AddString(string(key))
		same("AddString", any(w.ours), any(w.ours.AddString(string(key))))
	case 4, 5:
		same("Test", w.theirs.Test(key), w.ours.Test(key))
	case 6, 7:
		same("TestString", w.theirs.TestString(string(key)), w.ours.TestString(string(key)))
	case 8:
		same("TestAndAdd", w.theirs.TestAndAdd(key), w.ours.TestAndAdd(key))
	case 9:
		same("TestAndAddString", w.theirs.TestAndAddString(string(key)), w.ours.TestAndAddString(string(key)))
	case 10:
		same("TestOrAdd", w.theirs.TestOrAdd(key), w.ours.TestOrAdd(key))
	case 11:
		same("TestOrAddString", w.theirs.TestOrAddString(string(key)), w.ours.TestOrAddString(string(key)))
	case 12:
		k := w.random.UintN(20)
		locations := original.Locations(key, k)
		same("Locations", fmt.Sprint(locations), fmt.Sprint(bloom.Locations(key, k)))
		same("TestLocations", w.theirs.TestLocations(locations), w.ours.TestLocations(locations))
	case 13:
		m, k := w.theirs.Cap(), w.theirs.K()
		if w.random.IntN(3) == 0 {
			m += w.random.UintN(2)
			k += w.random.UintN(2)
		}
		other := w.filter(m, k)
		for range w.random.IntN(5) {
			key := w.key()
			other.theirs.Add(key)
			other.ours.Add(key)
		}
		same("Merge", w.theirs.Merge(other.theirs) == nil, w.ours.Merge(other.ours) == nil)
		same("Equal", w.theirs.Equal(other.theirs), w.ours.Equal(other.ours))
	case 14:
		copied := both{w.theirs.Copy(), w.ours.Copy()}
		same("Equal", w.theirs.Equal(copied.theirs), w.ours.Equal(copied.ours))
		w.both = copied
	case 15:
		if w.random.IntN(10) == 0 {
			w.theirs.ClearAll()
			same("ClearAll", any(w.ours), any(w.ours.ClearAll()))
		}
	case 16:
		at := w.random.UintN(2 * w.theirs.Cap())
		switch w.random.IntN(6) {
		case 0:
			w.theirs.BitSet().Compact()
			w.ours.BitSet().Compact()
		case 1:
			w.theirs.BitSet().Set(at)
			w.ours.BitSet().Set(at)
		case 2:
			w.theirs.BitSet().Clear(at)
			w.ours.BitSet().Clear(at)
		}
	case 17:
		w.both = w.exchange(t, "exchange")
	}
	w.compare(t, "step")
}

func (w *world) run(t *testing.T, filters, steps int) {
	for range filters {
		m := 1 + w.random.UintN(1<<w.random.UintN(15))
		w.both = w.filter(m, 1+w.random.UintN(1<<w.random.UintN(6)))
		for range steps {
			w.step(t)
		}
	}
}

func TestOperations(t *testing.T) {
	w := world{random: rand.New(rand.NewPCG(11, 1))}
	w.run(t, 1500, 120)
}

// Both packages use the byte order that the process has chosen.
func TestOperationsLittleEndian(t *testing.T) {
	bitset.LittleEndian()
	defer bitset.BigEndian()
	w := world{random: rand.New(rand.NewPCG(11, 2))}
	w.run(t, 300, 120)
}

// A program of either byte order reads what the original wrote in the other, which the original itself does not.
func TestTheOtherOrder(t *testing.T) {
	defer bitset.BigEndian()
	for m := uint(1); m < 1<<22; m += 1 + m/7 {
		theirs := original.New(m, 5)
		for i := range 40 {
			theirs.AddString(fmt.Sprint(i))
		}
		for _, orders := range [][2]func(){
			{bitset.LittleEndian, bitset.BigEndian}, {bitset.BigEndian, bitset.LittleEndian},
		} {
			for _, each := range encodings {
				orders[0]()
				image, err := each.write(theirs)
				if err != nil {
					t.Fatal(err)
				}
				orders[1]()
				ours := new(bloom.BloomFilter)
				if err := each.read(ours, image); err != nil || !ours.BitSet().Equal(theirs.BitSet()) {
					t.Fatalf("m %d, %s: %v", m, each.name, err)
				}
			}
		}
	}
}

// The other alphabet of base64.
func TestBase64(t *testing.T) {
	w := world{random: rand.New(rand.NewPCG(11, 3))}
	w.both = both{original.New(5000, 4), bloom.New(5000, 4)}
	for i := range 800 {
		w.theirs.AddString(fmt.Sprint(i))
		w.ours.AddString(fmt.Sprint(i))
	}
	w.exchange(t, "URL")
	bitset.Base64StdEncoding()
	w.exchange(t, "standard")
}

func TestEstimates(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 4))
	for range 300_000 {
		n := uint(1 + random.Uint64N(1<<random.UintN(45)))
		p := random.Float64()
		for range random.IntN(4) {
			p *= random.Float64()
		}
		m, k := original.EstimateParameters(n, p)
		if ourM, ourK := bloom.EstimateParameters(n, p); m != ourM || k != ourK {
			t.Fatalf("n %d, p %g: m %d, k %d, not %d and %d", n, p, ourM, ourK, m, k)
		}
	}
	for range 10 {
		m, k, n := 1+random.UintN(20_000), 1+random.UintN(9), random.UintN(2000)
		theirs, ours := original.EstimateFalsePositiveRate(m, k, n), bloom.EstimateFalsePositiveRate(m, k, n)
		if theirs != ours {
			t.Errorf("m %d, k %d, n %d: %g, not %g", m, k, n, ours, theirs)
		}
		n, p := 1+random.UintN(5000), 0.0001+random.Float64()/2
		both{original.NewWithEstimates(n, p), bloom.NewWithEstimates(n, p)}.exchange(t, "estimates")
	}
}

// Streams that are cut, and streams with one wrong byte, are refused or are the same filter as the original's.
func TestDamagedStreams(t *testing.T) {
	w := world{random: rand.New(rand.NewPCG(11, 5))}
	w.both = both{original.New(1000, 4), bloom.New(1000, 4)}
	image, err := w.ours.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for cut := range image {
		if w.theirs.UnmarshalBinary(image[:cut]) == nil || w.ours.UnmarshalBinary(image[:cut]) == nil {
			t.Fatalf("cut at %d: it is read", cut)
		}
	}
	for range 100_000 {
		damaged := bytes.Clone(image)
		// Not the upper bytes of the length: the original allocates as much as they say.
		at := w.random.IntN(len(damaged))
		if at >= 16 && at < 22 {
			continue
		}
		damaged[at] = byte(w.random.Uint32())
		read := both{new(original.BloomFilter), new(bloom.BloomFilter)}
		if read.ours.UnmarshalBinary(damaged) != nil {
			continue
		}
		if err := read.theirs.UnmarshalBinary(damaged); err != nil {
			t.Fatalf("byte %d is %d: only the original refuses it: %v", at, damaged[at], err)
		}
		read.compare(t, "damaged")
	}
}
