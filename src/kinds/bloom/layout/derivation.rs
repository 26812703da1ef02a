//! The derivation of k positions from one 64-bit hash.
//!
//! [`Derivation::Remix`] is the default, and has its own loop next to the filter. The other derivations, which the
//! literature and other libraries use, share this code. Mixing makes more than 64 bits of a hash: word j of a hash is
//! mix(hash + j times the golden ratio), and word 0 is the hash itself.

use crate::bits::{GOLDEN, mix, reduce};
use crate::sizing::dependent::Scheme;

/// A way to derive the positions. `a`, `b` and `c` are words 0, 1 and 2 of the hash, reduced modulo the range first.
/// All further arithmetic of the last three derivations is modulo the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Derivation {
    /// The hash is multiplied by the golden ratio from probe to probe, and each probe is the high bits of the product,
    /// scaled. As good as independent hashing at every size.
    Remix = 0,
    /// Probe i is word i + 1, scaled. For all practical purposes these are k hash functions.
    Independent = 1,
    /// Successive slices of the words from 1 on, each sixteen bits wider than the range needs, scaled. This is how one
    /// wide digest is cut up.
    Slices = 2,
    /// a + i b: Kirsch and Mitzenmacher, "Less hashing, same performance", 2006. Small filters and low rates need more
    /// bits with this derivation: see [`crate::sizing::dependent`].
    Double = 3,
    /// a + i b + (i^3 - i) / 6: Dillinger and Manolios, "Bloom filters in probabilistic verification", 2004.
    EnhancedDouble = 4,
    /// a + i b + i (i - 1) / 2 c: the same paper.
    Triple = 5,
}

impl Derivation {
    /// All derivations, in the order of their numbers.
    pub const ALL: [Derivation; 6] = [
        Derivation::Remix,
        Derivation::Independent,
        Derivation::Slices,
        Derivation::Double,
        Derivation::EnhancedDouble,
        Derivation::Triple,
    ];

    /// The names of the derivations, in the order of their numbers.
    pub const NAMES: [&'static str; 6] = ["remix", "independent", "slices", "double", "enhanced_double", "triple"];

    /// The derivation with this number.
    pub fn from_number(number: u64) -> Option<Derivation> {
        Derivation::ALL.into_iter().find(|derivation| *derivation as u64 == number)
    }

    /// How the probes of a key depend on each other, if they do.
    pub fn scheme(self) -> Option<Scheme> {
        match self {
            Derivation::Double => Some(Scheme::Double),
            Derivation::EnhancedDouble => Some(Scheme::EnhancedDouble),
            Derivation::Triple => Some(Scheme::Triple),
            Derivation::Remix | Derivation::Independent | Derivation::Slices => None,
        }
    }

    /// Whether positions are remainders modulo the range, which decides how a filter folds.
    pub fn is_remainder(self) -> bool {
        self.scheme().is_some()
    }

    /// The positions in `0..range` of a hash.
    pub fn probes(self, hash: u64, range: u64, slice_width: u32) -> Probes {
        match self {
            Derivation::Remix => Probes::Remix { hash, range },
            Derivation::Independent => Probes::Independent { hash, next: 1, range },
            Derivation::Slices => Probes::Slices { hash, next: 0, width: slice_width, range },
            _ => Probes::of_words(self, word(hash, 0), word(hash, 1), word(hash, 2), range),
        }
    }
}

/// Word `j` of a hash.
fn word(hash: u64, j: u64) -> u64 {
    if j == 0 { hash } else { mix(hash.wrapping_add(j.wrapping_mul(GOLDEN))) }
}

/// How many bits the positions in `0..range` have.
pub fn bits_of(range: u64) -> u32 {
    u64::BITS - range.saturating_sub(1).leading_zeros()
}

/// How many bits a slice has for such positions: sixteen more, so that scaling is even.
pub fn slice_width(range: u64) -> u32 {
    (bits_of(range) + 16).min(64)
}

/// The endless positions of one hash, one after the other.
pub enum Probes {
    /// See [`Derivation::Remix`].
    Remix {
        /// The product from which the next position is scaled.
        hash: u64,
        /// The upper bound of all positions, exclusive.
        range: u64,
    },
    /// See [`Derivation::Independent`].
    Independent {
        /// The key's hash.
        hash: u64,
        /// The word for the next position.
        next: u64,
        /// The upper bound of all positions, exclusive.
        range: u64,
    },
    /// See [`Derivation::Slices`].
    Slices {
        /// The key's hash.
        hash: u64,
        /// The slice for the next position.
        next: u64,
        /// Bits of a slice.
        width: u32,
        /// The upper bound of all positions, exclusive.
        range: u64,
    },
    /// The state of differences: position x, its step y, and the step's step, which is a constant or grows by one.
    Remainders {
        /// The next position.
        x: u64,
        /// The step that is added to `x` next.
        y: u64,
        /// What is added to `y` next.
        z: u64,
        /// How much `z` grows each time: 1 makes the step's step count up.
        growth: u64,
        /// The modulus.
        range: u64,
    },
}

impl Probes {
    /// The positions of a derivation by remainders, from the words `a`, `b` and `c`.
    pub fn of_words(derivation: Derivation, a: u64, b: u64, c: u64, range: u64) -> Probes {
        let (x, y) = (a % range, b % range);
        let (z, growth) = match derivation {
            Derivation::EnhancedDouble => (1 % range, 1 % range),
            Derivation::Triple => (c % range, 0),
            _ => (0, 0),
        };
        Probes::Remainders { x, y, z, growth, range }
    }

    /// The next position.
    #[inline]
    pub fn next_position(&mut self) -> u64 {
        match self {
            Probes::Remix { hash, range } => {
                let position = reduce(*hash, *range);
                *hash = hash.wrapping_mul(GOLDEN);
                position
            }
            Probes::Independent { hash, next, range } => {
                let position = reduce(word(*hash, *next), *range);
                *next += 1;
                position
            }
            Probes::Slices { hash, next, width, range } => {
                let in_word = u64::from(64 / *width);
                let bits = word(*hash, 1 + *next / in_word) << (*next % in_word * u64::from(*width)) >> (64 - *width);
                *next += 1;
                ((u128::from(bits) * u128::from(*range)) >> *width) as u64
            }
            Probes::Remainders { x, y, z, growth, range } => {
                let position = *x;
                *x = add(*x, *y, *range);
                *y = add(*y, *z, *range);
                *z = add(*z, *growth, *range);
                position
            }
        }
    }
}

/// The sum of two remainders. Ranges are below 2^63, so the sum does not overflow.
fn add(a: u64, b: u64, range: u64) -> u64 {
    let sum = a + b;
    if sum >= range { sum - range } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(derivation: Derivation, [a, b, c]: [u64; 3], range: u64) -> [u64; 7] {
        let mut probes = Probes::of_words(derivation, a, b, c, range);
        core::array::from_fn(|_| probes.next_position())
    }

    /// The positions follow the definitions, evaluated by hand for a = 12345, b = 6789, c = 424242 and m = 1000.
    #[test]
    fn remainders_follow_their_definitions() {
        let words = [12345, 6789, 424_242];
        assert_eq!(positions(Derivation::Double, words, 1000), [345, 134, 923, 712, 501, 290, 79]);
        assert_eq!(positions(Derivation::EnhancedDouble, words, 1000), [345, 134, 924, 716, 511, 310, 114]);
        assert_eq!(positions(Derivation::Triple, words, 1000), [345, 134, 165, 438, 953, 710, 709]);
        assert_eq!(positions(Derivation::EnhancedDouble, [5, 0, 0], 1000), [5, 5, 6, 9, 15, 25, 40]);
    }

    #[test]
    fn every_position_is_in_range() {
        for derivation in Derivation::ALL {
            for range in [1, 2, 63, 1000, (1 << 62) + 1] {
                let mut probes = derivation.probes(mix(range), range, slice_width(range));
                assert!((0..64).all(|_| probes.next_position() < range), "{derivation:?} {range}");
            }
        }
    }
}
