//! Arithmetic against a definition by long division, vectors of minisketch, and what a decoding finds.

use super::carryless::Arithmetic;
use super::field::{Field, MAX_BITS, MIN_BITS};
use super::{packed, sums, toggle};
use crate::simd::{self, Instructions};

/// Numbers without structure, the same at every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Distinct elements of a field, none 0.
    fn elements(&mut self, field: Field, count: usize) -> Vec<u64> {
        let mut elements = std::collections::BTreeSet::new();
        while elements.len() < count {
            elements.insert(self.next() & field.max());
            elements.remove(&0);
        }
        elements.into_iter().collect()
    }
}

fn fields() -> impl Iterator<Item = Field> {
    (MIN_BITS..=MAX_BITS).map(|bits| Field::new(bits).unwrap())
}

/// Packed sums, as in a payload.
struct Sums {
    arithmetic: Arithmetic,
    capacity: usize,
    words: Vec<u64>,
}

impl Sums {
    fn new(bits: u32, capacity: usize, instructions: Instructions) -> Sums {
        let arithmetic = Arithmetic::new(Field::new(bits).unwrap(), instructions);
        Sums { arithmetic, capacity, words: vec![0; (bits as usize * capacity).div_ceil(64)] }
    }

    fn toggle(&mut self, element: u64) {
        toggle(&self.arithmetic, element, self.capacity, &mut self.words);
    }

    fn decode(&self) -> Option<Vec<u64>> {
        let bits = self.arithmetic.field().bits();
        let sums: Vec<u64> = packed::sums(bits, self.words.iter().copied()).take(self.capacity).collect();
        sums::decode(&self.arithmetic, &sums).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        let length = (self.arithmetic.field().bits() as usize * self.capacity).div_ceil(8);
        self.words.iter().flat_map(|word| word.to_le_bytes()).take(length).collect()
    }

    fn read(&mut self, bytes: &[u8]) {
        self.words = bytes
            .chunks(8)
            .map(|chunk| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
            .collect();
    }
}

fn sketch(bits: u32, capacity: usize, elements: &[u64], instructions: Instructions) -> Sums {
    let mut sums = Sums::new(bits, capacity, instructions);
    elements.iter().for_each(|&element| sums.toggle(element));
    sums
}

/// The product by shifting and subtracting the whole polynomial, term by term.
fn product(field: Field, a: u64, b: u64) -> u64 {
    let whole = 1u128 << field.bits() | u128::from(field.modulus());
    (0..field.bits()).rev().fold(0u128, |mut sum, at| {
        sum <<= 1;
        if sum >> field.bits() & 1 == 1 {
            sum ^= whole;
        }
        if b >> at & 1 == 1 { sum ^ u128::from(a) } else { sum }
    }) as u64
}

/// Whether 1, x^modulus is irreducible: x^(2^b) is x, and x^(2^(b/p)) - x has no factor with it for each prime p of b.
fn is_irreducible(bits: u32, modulus: u64) -> bool {
    let whole = 1u128 << bits | u128::from(modulus);
    let reduced = |mut a: u128, by: u128| {
        while a != 0 && a.ilog2() >= by.ilog2() {
            a ^= by << (a.ilog2() - by.ilog2());
        }
        a
    };
    let squared = |a: u128| {
        (0..bits).rev().fold(0u128, |mut sum, at| {
            sum = reduced(sum << 1, whole);
            if a >> at & 1 == 1 { sum ^ a } else { sum }
        })
    };
    let raised = |times: u32| (0..times).fold(2u128, |a, _| squared(a));
    let is_prime = |p: &u32| bits.is_multiple_of(*p) && (2..*p).all(|q| !p.is_multiple_of(q));
    raised(bits) == 2
        && (2..=bits).filter(is_prime).all(|p| {
            let (mut a, mut b) = (whole, raised(bits / p) ^ 2);
            while b != 0 {
                (a, b) = (b, reduced(a, b));
            }
            a == 1
        })
}

#[test]
fn each_modulus_is_the_least_with_the_fewest_terms() {
    for field in fields() {
        let bits = field.bits();
        let three = (1..bits).map(|a| 1 | 1 << a).find(|&modulus| is_irreducible(bits, modulus));
        let five = || {
            let mut all = (3..bits).flat_map(|a| (2..a).flat_map(move |b| (1..b).map(move |c| (a, b, c))));
            all.find_map(|(a, b, c)| {
                let modulus = 1u64 | 1 << a | 1 << b | 1 << c;
                is_irreducible(bits, modulus).then_some(modulus)
            })
        };
        assert_eq!(Some(field.modulus()), three.or_else(five), "{bits} bits");
    }
}

#[test]
fn products_are_those_of_the_definition_for_all_instructions() {
    let mut numbers = Numbers(1);
    for instructions in simd::available() {
        for field in fields() {
            let arithmetic = Arithmetic::new(field, instructions);
            for round in 0..60 {
                let edge = [0, 1, field.max()].get(round).copied();
                let (a, b) = (edge.unwrap_or(numbers.next() & field.max()), numbers.next() & field.max());
                let got = arithmetic.multiply(field.raised(a), field.raised(b));
                assert_eq!(field.lowered(got), product(field, a, b), "{} bits", field.bits());
                assert_eq!(
                    arithmetic.square_times(field.raised(a), 1),
                    arithmetic.multiply(field.raised(a), field.raised(a))
                );
                if a != 0 {
                    let inverse = arithmetic.inverse(field.raised(a));
                    assert_eq!(arithmetic.multiply(inverse, field.raised(a)), field.raised(1), "{} bits", field.bits());
                }
            }
        }
    }
}

#[test]
fn loops_are_the_portable_ones_at_every_length() {
    let mut numbers = Numbers(2);
    for instructions in simd::available() {
        for bits in [8, 13, 33, 58, 62, 63, 64] {
            let field = Field::new(bits).unwrap();
            let (own, portable) =
                (Arithmetic::new(field, instructions), Arithmetic::new(field, Instructions::PORTABLE));
            for length in 0..35 {
                let mut some =
                    |count: usize| -> Vec<u64> { (0..count).map(|_| field.raised(numbers.next())).collect() };
                let (a, b, rows, factor) = (some(length), some(length), some(3 * length), some(3));
                assert_eq!(own.dot(&a, &b), portable.dot(&a, &b));
                let both = [own, portable].map(|arithmetic| {
                    let (mut powers, mut multiple, mut combined) = (a.clone(), a.clone(), a.clone());
                    let mut each = arithmetic.powers(factor[0]);
                    let (first, rest) = powers.split_at_mut(length / 8 * 4);
                    each.add_next(first);
                    each.add_next(rest);
                    arithmetic.add_multiple(&mut multiple, factor[1], &b);
                    if length > 0 {
                        arithmetic.combine(&factor, &rows, &mut combined);
                    }
                    (powers, multiple, combined)
                });
                assert_eq!(both[0], both[1], "{bits} bits, {length} elements");
            }
        }
    }
}

#[test]
fn vectors_of_minisketch_byte_for_byte_and_decoded() {
    let mut lines = 0;
    for line in include_str!("../../../tests/formats/minisketch/sketches.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (bits, capacity): (u32, usize) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        let byte = |at: usize| u8::from_str_radix(&words[2][2 * at..2 * at + 2], 16).unwrap();
        let expected: Vec<u8> = (0..words[2].len() / 2).map(byte).collect();
        let mut elements: Vec<u64> = words[3..].iter().map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
        for instructions in simd::available() {
            let sums = sketch(bits, capacity, &elements, instructions);
            assert_eq!(sums.bytes(), expected, "{bits} bits, capacity {capacity}");
            // The vectors have more elements than their capacity, so what is decoded is the rest after most are gone.
            let mut read = Sums::new(bits, capacity, instructions);
            read.read(&expected);
            for &element in &elements[capacity.min(elements.len())..] {
                read.toggle(element);
            }
            let mut first = elements[..capacity.min(elements.len())].to_vec();
            first.sort_unstable();
            assert_eq!(read.decode(), Some(first), "{bits} bits, capacity {capacity}");
        }
        elements.clear();
        lines += 1;
    }
    assert_eq!(lines, 24);
}

#[test]
fn a_thousand_pairs_of_sets_of_each_size() {
    let mut numbers = Numbers(3);
    for size in [0, 1, 2, 3, 8, 16, 24] {
        for round in 0..1000 {
            let field = Field::new(16 + round % 49).unwrap();
            let elements = numbers.elements(field, size + 10);
            let in_left = (numbers.next() % (size as u64 + 1)) as usize;
            let (different, common) = elements.split_at(size);
            let set = |part: &[u64]| sketch(field.bits(), 24, &[part, common].concat(), simd::best());
            let mut left = set(&different[..in_left]);
            for (word, right) in left.words.iter_mut().zip(set(&different[in_left..]).words) {
                *word ^= right;
            }
            assert_eq!(left.decode().as_deref(), Some(different), "{} bits", field.bits());
        }
    }
}

/// Of all sums of two powers over 8 bits, exactly those decode that are the sums of up to two elements.
#[test]
fn all_sketches_of_a_small_field_decode_as_the_theory_counts() {
    let mut decoded = 0;
    let mut sums = Sums::new(8, 2, simd::best());
    for number in 0..=u16::MAX {
        sums.read(&number.to_le_bytes());
        if let Some(elements) = sums.decode() {
            assert_eq!(sketch(8, 2, &elements, simd::best()).bytes(), number.to_le_bytes());
            decoded += 1;
        }
    }
    assert_eq!(decoded, 1 + 255 + 255 * 254 / 2);
}

/// Sums of too many elements are near random ones; one in c! decodes. The band is 4.5 sigma.
#[test]
fn false_decodings_are_as_many_as_the_theory_says() {
    let (mut numbers, field) = (Numbers(4), Field::new(12).unwrap());
    for (capacity, rounds) in [(3, 3000), (4, 6000)] {
        let ways = |k: u64| (0..k).fold(1.0, |ways, i| ways * (4095 - i) as f64 / (i + 1) as f64);
        let rate = (0..=capacity).map(ways).sum::<f64>() / 4096f64.powi(capacity as i32);
        let mut decoded = 0;
        for _ in 0..rounds {
            let elements = numbers.elements(field, 40);
            decoded += u32::from(sketch(12, capacity as usize, &elements, simd::best()).decode().is_some());
        }
        let (mean, n) = (rate * f64::from(rounds), f64::from(rounds));
        let sigma = (n * rate * (1.0 - rate)).sqrt();
        assert!((f64::from(decoded) - mean).abs() < 4.5 * sigma, "{decoded} of {rounds}, {mean} expected");
    }
}

/// Too many elements or forged bytes decode to nothing, or to a set with these very sums.
#[test]
fn forged_sketches_fail_or_are_right() {
    let mut numbers = Numbers(5);
    for bits in [8, 9, 17, 32, 64] {
        for capacity in [1, 5, 40] {
            for _ in 0..50 {
                let mut sums = Sums::new(bits, capacity, simd::best());
                let mut bytes: Vec<u8> = sums.bytes().iter().map(|_| numbers.next() as u8).collect();
                if let used @ 1.. = capacity * bits as usize % 8 {
                    *bytes.last_mut().unwrap() &= (1 << used) - 1;
                }
                sums.read(&bytes);
                if let Some(elements) = sums.decode() {
                    assert_eq!(sketch(bits, capacity, &elements, simd::best()).bytes(), bytes);
                }
            }
        }
    }
}

/// Elements that only the last traces tell apart are found too.
#[test]
fn elements_that_few_bits_tell_apart() {
    for bits in [8, 31, 64] {
        let field = Field::new(bits).unwrap();
        let elements: Vec<u64> = (0..32).map(|low| field.max() - low).rev().collect();
        assert_eq!(sketch(bits, 32, &elements, simd::best()).decode(), Some(elements));
    }
}
