package petal

import (
	"math/rand/v2"
	"strings"
	"testing"
)

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
			// Some keys are longer than a piece.
			length := 4 + random.IntN(40)
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
		data, offsets := flat32(slices)
		insert := func(what string, keys Keys, one func(i int) (bool, error)) {
			t.Helper()
			answers := Answers{Bools: isNew}
			err := batch.InsertBatch(keys, &answers)
			same(what, &answers, keys.Len(), err, func(i int) bool { return i < keys.Len() && must(one(i)) })
		}
		insert("bytes", BytesKeys(slices), func(i int) (bool, error) { return single.Insert(slices[i]) })
		insert("strings", StringKeys(texts), func(i int) (bool, error) { return single.InsertString(texts[i]) })
		insert("offsets of 32 bits", Bytes32Keys(data, offsets[half:]), func(i int) (bool, error) {
			return single.Insert(slices[half+i])
		})
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
			"bytes32": {Bytes32Keys(flat32(slices)), func(i int) bool { return single.Contains(slices[i]) }},
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
			Bytes32Keys(nil, nil), Bytes32Keys([]byte("a"), []int32{1}),
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

// The keys in one slice, with their offsets.
func flat32(keys [][]byte) ([]byte, []int32) {
	data, offsets := []byte{}, []int32{0}
	for _, key := range keys {
		data = append(data, key...)
		offsets = append(offsets, int32(len(data)))
	}
	return data, offsets
}

func TestOffsetsAreChecked(t *testing.T) {
	f := must(New(Spec{}))
	for _, offsets := range [][]int32{{0, 3, 2}, {0, 4}, {-1, 2}} {
		answers := Answers{}
		wants(t, f.ContainsBatch(Bytes32Keys([]byte("abc"), offsets), &answers), ErrOffsets)
		wants(t, f.InsertBatch(Bytes32Keys([]byte("abc"), offsets), nil), ErrOffsets)
		if answers.TrueCount != len(offsets)-1 {
			t.Errorf("%v: %d answers are true", offsets, answers.TrueCount)
		}
	}
}

// A key may lie next to pointers, in a struct that the garbage collector scans.
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
