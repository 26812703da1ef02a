package image

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// Both implementations of the lookup against the definition, bit by bit, for every number of lanes.
func TestBlocksAreTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	counts := []int{16, 64, 448, 784, 3136, 3136, 7840, 4900, 7840, 3136, 3136, 784, 448, 64, 16, 1}
	for k := 1; k <= maxLanes; k++ {
		masks := laneMasks(k)
		if len(masks) != counts[k-1] {
			t.Fatalf("%d masks of %d lanes", len(masks), k)
		}
		for range 5000 {
			hash := random.Uint64()
			low := hash & 0xffffffff
			f := &Filter{
				kind: Blocked, row: &blockedRow, payload: make([]byte, 3*blockBytes),
				shape: shape{blocks: 3, masks: masks, hashes: k},
			}
			high, _ := bits.Mul64(hash, 3)
			block, mask := f.payload[high*blockBytes:], masks[low*uint64(len(masks))>>32]
			fill := random.IntN(5)
			for i := range f.payload {
				f.payload[i] = byte(random.Uint32())
				for range fill {
					f.payload[i] |= byte(random.Uint32())
				}
			}
			missing := 0
			var last [2]int
			for lane := range maxLanes {
				n := int(low * uint64(salts[lane/2]) >> (27 + 5*(lane%2)) & 31)
				if mask>>lane&1 == 1 && block[4*lane+n/8]>>(n%8)&1 == 0 {
					missing++
					last = [2]int{4*lane + n/8, n % 8}
				}
			}
			answer := func(want bool) {
				t.Helper()
				if f.shape.blockedContains(f.payload, hash) != want || f.ContainsHash(hash) != want ||
					hasAVX2 && blockedContainsAVX2(&f.shape, f.payload, hash) != want {
					t.Fatalf("%d lanes %016b, hash %#x: the answer is not %v", k, mask, hash, want)
				}
			}
			answer(missing == 0)
			if missing == 1 {
				block[last[0]] |= 1 << last[1]
				answer(true)
			}
			twin := bytes.Clone(f.payload)
			if isNew := f.shape.blockedInsert(f.payload, hash); isNew != (missing > 1) {
				t.Fatalf("%d lanes, hash %#x: new is %v", k, hash, isNew)
			}
			if hasAVX2 {
				isNew := blockedInsertAVX2(&f.shape, twin, hash)
				if isNew != (missing > 1) || !bytes.Equal(twin, f.payload) {
					t.Fatalf("%d lanes, hash %#x: the insertions differ", k, hash)
				}
			}
			answer(true)
		}
	}
}
