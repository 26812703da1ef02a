package image

import "math/bits"

// A field has 2^b elements, b from 8 to 64: polynomials over two elements, modulo an irreducible one. All arithmetic
// takes elements in the upper b bits of a word, so that the upper half of a product is what must be reduced.
type field struct {
	bits  int
	terms []int // the exponents of the irreducible polynomial below b, each plus the bits that an element leaves
}

// moduli has the irreducible polynomial of each field without its leading term, from 8 bits on.
var moduli = [...]uint64{
	0x1b, 0x03, 0x09, 0x05, 0x09, 0x1b, 0x21, 0x03, 0x2b, 0x09, 0x09, 0x27, 0x09, 0x05, 0x03, 0x21,
	0x1b, 0x09, 0x1b, 0x27, 0x03, 0x05, 0x03, 0x09, 0x8d, 0x401, 0x81, 0x05, 0x201, 0x53, 0x63, 0x11,
	0x39, 0x09, 0x81, 0x59, 0x21, 0x1b, 0x03, 0x21, 0x2d, 0x201, 0x1d, 0x4b, 0x09, 0x47, 0x201, 0x81,
	0x95, 0x11, 0x80001, 0x95, 0x03, 0x27, 0x20000001, 0x03, 0x1b,
}

// fieldOf returns the field whose elements have this many bits.
func fieldOf(width int) field {
	f := field{bits: width}
	for modulus := moduli[width-8]; modulus != 0; modulus &= modulus - 1 {
		f.terms = append(f.terms, bits.TrailingZeros64(modulus)+64-width)
	}
	return f
}

func (f *field) raised(element uint64) uint64 { return element << (64 - f.bits) }
func (f *field) lowered(raised uint64) uint64 { return raised >> (64 - f.bits) }

// wide is a product of two words without carries.
type wide struct{ high, low uint64 }

func (w wide) plus(other wide) wide { return wide{w.high ^ other.high, w.low ^ other.low} }

// multiples has the products of a word with all polynomials of four terms.
type multiples [16]wide

func multiplesOf(word uint64) (m multiples) {
	m[1].low = word
	for i := 2; i < len(m); i += 2 {
		half := m[i/2]
		m[i] = wide{half.high<<1 | half.low>>63, half.low << 1}
		m[i+1] = wide{m[i].high, m[i].low ^ word}
	}
	return m
}

// times returns the product with another word.
func (m *multiples) times(word uint64) (product wide) {
	for range 16 {
		one := &m[word>>60]
		product = wide{
			(product.high<<4 | product.low>>60) ^ one.high,
			product.low<<4 ^ one.low,
		}
		word <<= 4
	}
	return product
}

// factor prepares an element for many products.
func (f *field) factor(element uint64) multiples { return multiplesOf(f.lowered(element)) }

// reduced returns the element of a product.
func (f *field) reduced(product wide) uint64 {
	// The terms are few. Two rounds are enough: the second one takes what the first one moves above the field.
	for over := product.high; over != 0; {
		high := uint64(0)
		for _, term := range f.terms {
			product.low ^= over << term
			high ^= over >> (64 - term)
		}
		over = high
	}
	return product.low
}

func (f *field) times(a, b uint64) uint64 {
	m := f.factor(a)
	return f.reduced(m.times(b))
}

func (f *field) square(a uint64) uint64 { return f.times(a, a) }

// inverse returns the inverse of an element that is not 0: the power 2^b - 2 of the element.
func (f *field) inverse(a uint64) uint64 {
	product := f.raised(1)
	for range f.bits - 1 {
		a = f.square(a)
		product = f.times(product, a)
	}
	return product
}

// dot returns the sum of the products of two slices, element by element.
func (f *field) dot(a, b []uint64) uint64 {
	var total wide
	for i, one := range a {
		m := f.factor(one)
		total = total.plus(m.times(b[i]))
	}
	return f.reduced(total)
}

// addMultiple adds a factor times a slice to the first elements of another one.
func (f *field) addMultiple(to []uint64, factor uint64, from []uint64) {
	m := f.factor(factor)
	for i, one := range from {
		to[i] ^= f.reduced(m.times(one))
	}
}

// combine adds to a slice each of the rows, which are as long, times its factor.
func (f *field) combine(factors, rows, to []uint64) {
	totals := make([]wide, len(to))
	for i, factor := range factors {
		m := f.factor(factor)
		for column, one := range rows[i*len(to) : (i+1)*len(to)] {
			totals[column] = totals[column].plus(m.times(one))
		}
	}
	for column, total := range totals {
		to[column] ^= f.reduced(total)
	}
}
