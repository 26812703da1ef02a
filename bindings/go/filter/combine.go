package filter

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/petal-filter/petal/bindings/go/internal/image"
)

// compatible returns an error that names the first difference between two filters and how to avoid it, or nil.
func compatible(first, second *image.Filter) error {
	a, b := first.Header(), second.Header()
	const parameter = ": give both specs the same"
	differ := func(what string, a, b any, remedy string) error {
		return fmt.Errorf("%w: %s is %v and %v%s", ErrIncompatible, what, a, b, remedy)
	}
	sizes := ": filters of different keys have one size if both specs have the same Capacity and rate, or the same Bits " +
		"and Hashes"
	if a.Capacity != b.Capacity && a.Capacity != 0 && b.Capacity != 0 {
		sizes = fmt.Sprintf(", because they were made for %d and %d keys%s", a.Capacity, b.Capacity, sizes)
	}
	switch {
	case a.Kind == 0:
		return closed
	case b.Kind == 0:
		return otherClosed
	case a.Kind != b.Kind:
		return differ("kind", a.Kind, b.Kind, parameter)
	case a.LayoutVersion != b.LayoutVersion:
		return differ("layout version", a.LayoutVersion, b.LayoutVersion, "")
	case a.Bits != b.Bits:
		return differ("bits", a.Bits, b.Bits, sizes)
	case a.Hashes != b.Hashes:
		return differ("hashes", a.Hashes, b.Hashes, sizes)
	case a.Hash != b.Hash:
		return differ("hash", a.Hash, b.Hash, parameter)
	case a.Identifier != b.Identifier && a.Hash == SipHash13:
		return fmt.Errorf("%w: their secret keys are not the same", ErrIncompatible)
	case a.Identifier != b.Identifier:
		return differ("seed", fmt.Sprintf("%#x", a.Identifier), fmt.Sprintf("%#x", b.Identifier), parameter)
	case a.Words[0] != b.Words[0] && a.Kind == blocked:
		return differ("blocks", shares(&a), shares(&b), parameter)
	case a.Words[0] != b.Words[0]:
		return differ("partitioned", a.Words[0], b.Words[0], parameter)
	case a.Words[1] != b.Words[1]:
		return differ("derivation", derivation(a.Words[1]), derivation(b.Words[1]), parameter)
	case a.Words[2] != b.Words[2]:
		return differ("slice_width", a.Words[2], b.Words[2], parameter)
	case a.Words != b.Words:
		return differ("the kind's parameters", a.Words, b.Words, parameter)
	}
	return nil
}

// IsCompatible says whether two filters can be merged: they have the same kind, geometry, hash function, and seed or
// key. Only reads both.
func (f *Filter) IsCompatible(other *Filter) bool { return compatible(f.image(), other.image()) == nil }

// Merge makes the filter the union of both: the same bits as a filter into which the keys of both were inserted.
// Returns [ErrIncompatible] if they differ in kind, geometry, hash function, seed or secret. If the other filter is
// unclean, this filter becomes unclean too. Changes the filter, only reads the other.
func (f *Filter) Merge(other *Filter) error {
	insertions := func(a, b uint64) uint64 {
		sum, carry := bits.Add64(a, b, 0)
		return sum | -carry
	}
	return f.combine(other, insertions, func(ours, theirs []byte) {
		for ; len(ours) >= 8 && len(theirs) >= 8; ours, theirs = ours[8:], theirs[8:] {
			word := binary.LittleEndian.Uint64(ours) | binary.LittleEndian.Uint64(theirs)
			binary.LittleEndian.PutUint64(ours, word)
		}
	})
}

// Intersect makes the filter hold every key that both hold. The rate is then no higher than the rate of either filter.
// The number of insertions becomes the smaller of both. Returns [ErrIncompatible] as [Filter.Merge] does. If the
// other filter is unclean, this filter becomes unclean too. Changes the filter, only reads the other.
func (f *Filter) Intersect(other *Filter) error {
	insertions := func(a, b uint64) uint64 { return min(a, b) }
	return f.combine(other, insertions, func(ours, theirs []byte) {
		for ; len(ours) >= 8 && len(theirs) >= 8; ours, theirs = ours[8:], theirs[8:] {
			word := binary.LittleEndian.Uint64(ours) & binary.LittleEndian.Uint64(theirs)
			binary.LittleEndian.PutUint64(ours, word)
		}
	})
}

// combine changes the payload, word by word, with the payload of another filter.
func (f *Filter) combine(other *Filter, insertions func(a, b uint64) uint64, change func(ours, theirs []byte)) error {
	if err := compatible(f.image(), other.image()); err != nil {
		return err
	}
	payload, err := f.image().Change()
	if err != nil {
		return err
	}
	ours, theirs := f.image().Header(), other.image().Header()
	change(payload, other.image().Payload())
	f.image().SetInsertions(insertions(ours.Insertions, theirs.Insertions))
	f.image().SetUnclean(ours.Unclean || theirs.Unclean)
	return nil
}

// Clear forgets all keys. Changes the filter.
func (f *Filter) Clear() error {
	payload, err := f.image().Change()
	if err != nil {
		return err
	}
	clear(payload)
	f.image().SetInsertions(0)
	return nil
}

// MarkClean declares the present bytes to be right, and makes an unclean filter clean. Call MarkClean if you know that
// all keys are there, or if you can do without some. Changes the filter.
func (f *Filter) MarkClean() error {
	if _, err := f.image().Change(); err != nil {
		return err
	}
	f.image().SetUnclean(false)
	return nil
}

// FoldUnits returns the number that a fold divides: bits, bits of a slice, or blocks. Only reads the filter.
func (f *Filter) FoldUnits() uint64 {
	h := f.image().Header()
	switch h.Kind {
	case blocked, splitBlock:
		return h.Bits / blockBits(&h)
	case bloom:
		units, _ := reach(&h)
		return units
	}
	return 0
}

// blockBits returns how many bits a block has.
func blockBits(h *image.Header) uint64 {
	if h.Kind == splitBlock {
		return 256
	}
	return 512
}

// Fold makes the filter smaller by a factor, 2 or more, that divides [Filter.FoldUnits]. The result has the same bits
// as a filter that had the smaller size from the beginning, and a higher false-positive rate. Returns [ErrOutOfRange]
// for another factor. Changes the filter.
func (f *Filter) Fold(factor uint64) error {
	payload, err := f.image().Change()
	if err != nil {
		return err
	}
	units := f.FoldUnits()
	if factor < 2 || units%factor != 0 {
		return fmt.Errorf("%w: factor = %d is not a divisor of the %d units, 2 or more", ErrOutOfRange, factor, units)
	}
	h := f.image().Header()
	all := h.Bits
	h.Bits /= factor
	if h.FalsePositiveRate != 0 {
		// The promised rate is now the rate of the smaller geometry.
		h.FalsePositiveRate = expected(&h, h.Capacity)
	}
	folded, err := f.image().Like(h)
	if err != nil {
		return err
	}
	into, err := folded.Change()
	if err != nil {
		return err
	}
	if h.Kind == bloom {
		foldBits(&h, payload, into, units, factor)
	} else {
		// Blocks are chosen by multiplication, so neighbours fold together: block b becomes b / factor.
		length := blockBits(&h) / 8
		for from := uint64(0); from < all/8; from++ {
			into[from/length/factor*length+from%length] |= payload[from]
		}
	}
	f.image().Become(folded)
	return nil
}

// foldBits folds the bits of a filter of the kind bloom. Positions that were scaled down from the hash by
// multiplication fold by neighbours: p becomes p / factor. Positions that are remainders fold by slices: p becomes
// p mod (units / factor).
func foldBits(h *image.Header, payload, into []byte, units, factor uint64) {
	few := units / factor
	_, remainders := derivation(h.Words[1]).scheme()
	for at := 0; at < len(payload); at += 8 {
		for word := binary.LittleEndian.Uint64(payload[at:]); word != 0; word &= word - 1 {
			position := 8*uint64(at) + uint64(bits.TrailingZeros64(word))
			slice, place := position/units, position%units
			if remainders {
				place %= few
			} else {
				place /= factor
			}
			position = slice*few + place
			into[position/8] |= 1 << (position % 8)
		}
	}
}
