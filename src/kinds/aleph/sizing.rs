//! Aleph filters: the length of fingerprints at each size, the slots that entries take, and the false-positive rate.
//!
//! Dayan, Bercea, Reviriego and Pagh, "InfiniFilter: Expanding Filters to Infinity and Beyond", 2023; Dayan, Bercea and
//! Pagh, "Aleph Filter: To Infinity in Constant Time", 2024.
//!
//! A filter of `2^k` slots doubles whenever [`limit`] of them are taken. After i growths an address takes `k + i` bits
//! of a hash, and an entry that is inserted then knows `F_i` bits more, its fingerprint. A growth gives the first bit
//! of each fingerprint to the address, so an entry of growth j always knows `K_j = k + j + F_j` bits, and has `F_j -
//! (i - j)` of them in its slot. An entry that has none left is void: it becomes two in each later growth, one for
//! either value of the bit that it does not know, so that a lookup looks at one address at any size.
//!
//! **Slots.** A slot has `F_i + 1` bits: as many ones as the entry's fingerprint is shorter than `F_i`, a zero, and the
//! fingerprint.
//!
//! **Rate.** An entry is found by a random hash with probability `2^-K`, whatever else is there, and the rate with
//! entries of `K_1, K_2, ...` is `1 - product of (1 - 2^-K)`.
//!
//! **Regimes.** With [`Regime::Fixed`] all `F_i` are the same. Each growth adds half of the first rate, so the rate
//! after X growths is the first rate times `1 + X/2`. A filter does not grow more often than it was made for. With
//! [`Regime::Widening`] `F_i` is `2 lg(i+1)` more than `F_0`: growth i adds the `1/(i+1)^2`-th part of half the first
//! rate, and all growths together never add more than `pi^2/12` of it. With [`Regime::Predictive`] fingerprints begin
//! long, and become shorter up to the expected number of growths X. Those of growth i have `2 lg(X-i+1)` bits more than
//! the shortest, those of growth X; they shrink by at most one bit a growth, and become longer again after growth X. So
//! a filter of the expected size is as small as one that does not grow.

use crate::blocks::runs::{BLOCK, REMAINDER_BITS};
use crate::sizing::elementary::{exp, ln_1p_minus};

/// How long fingerprints are after more growths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Fingerprints stay as long as at first.
    Fixed,
    /// Fingerprints become longer, so that the rate is kept however often the filter grows.
    Widening,
    /// Fingerprints become shorter up to the growth that is expected to be the last, and longer after it.
    Predictive,
}

/// Bits of a fingerprint when it is inserted: a slot has one more.
pub const BITS: (u32, u32) = (2, REMAINDER_BITS.1 - 1);

/// How many growths can be expected.
pub const DOUBLINGS: (u32, u32) = (8, 32);

/// The base-2 logarithm of the number of slots of a segment, at first and at most.
pub const SLOT_BITS: (u32, u32) = (6, 13);

/// The greatest base-2 logarithm of the number of all slots when a filter is made.
pub const MOST_SLOT_BITS: u32 = 46;

/// How many of `slots` slots may be taken before a segment grows: 9 of 10. A table that does not grow is full at 19 of
/// 20, but insertions move more entries there.
pub fn limit(slots: u64) -> u64 {
    slots / 10 * 9 + slots % 10 * 9 / 10
}

/// The parameters of a filter that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growing {
    /// The base-2 logarithm of the number of slots at first, of all segments.
    pub slot_bits: u32,
    /// Bits of the shortest fingerprint.
    pub bits: u32,
    /// The number of expected growths, or of growths through which the rate is kept.
    pub doublings: u32,
    /// How long the fingerprints of other growths are.
    pub regime: Regime,
}

/// `2 lg(i + 1)`, rounded up.
fn share(i: u32) -> u32 {
    let square = (u64::from(i) + 1).pow(2);
    u64::BITS - (square - 1).leading_zeros()
}

/// A filter between two growths.
struct Stage {
    growths: u32,
    /// How many keys the filter takes in this stage.
    room: f64,
    /// The probability that a random hash finds a given one of these keys.
    rate: f64,
    /// Whether a filter can reach this stage.
    is_one: bool,
}

impl Stage {
    fn is_one(&self) -> bool {
        self.is_one
    }
}

/// `2^exponent`.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

impl Growing {
    /// Bits of a fingerprint that is inserted after `growths` growths.
    pub fn fingerprint_bits(&self, growths: u32) -> u32 {
        self.bits
            + match self.regime {
                Regime::Fixed => 0,
                Regime::Widening => share(growths),
                Regime::Predictive => {
                    let distance = growths.abs_diff(self.doublings);
                    // Each entry gives only one bit to the address in a growth, so the length must not fall by more
                    // than one bit.
                    if growths < self.doublings { share(distance).min(distance) } else { share(distance) }
                }
            }
    }

    /// How many growths there can be, which four things limit. No entry knows more bits than a hash has. No fingerprint
    /// has more than [`BITS`]. Void entries take at most half of the slots that may be taken. With [`Regime::Fixed`]
    /// there are no more growths than were expected. `None` if there could not even be a filter that has not grown.
    pub fn most_doublings(&self) -> Option<u32> {
        self.all_stages().take_while(Stage::is_one).last().map(|stage| stage.growths)
    }

    /// The known bits of an entry that is inserted after `growths` growths.
    fn known(&self, growths: u32) -> u32 {
        self.slot_bits + growths + self.fingerprint_bits(growths)
    }

    /// The stages of a filter, one for each number of growths, if each growth comes when it has to. The stages that a
    /// filter can reach come first.
    fn all_stages(&self) -> impl Iterator<Item = Stage> {
        let (growing, mut keys) = (*self, [0.0; 65]);
        (0..=64).map(move |growths| {
            let (address, known) = (growing.slot_bits + growths, growing.known(growths));
            // A void entry has a copy at each address that it may belong to.
            let copies = |before: usize| power(address.saturating_sub(growing.known(before as u32)) as i32);
            let taken: f64 = (0..growths as usize).map(|before| keys[before] * copies(before)).sum();
            let all: f64 = keys[..growths as usize].iter().sum();
            let limit = 0.9 * power(address as i32);
            let room = (limit - taken).max(0.0);
            keys[growths as usize] = room;
            let fits = known <= u64::BITS && growing.fingerprint_bits(growths) <= BITS.1;
            let is_expected = growing.regime != Regime::Fixed || growths <= growing.doublings;
            let is_one = fits && is_expected && taken - all <= limit / 2.0;
            Stage { growths, room, rate: power(-(known as i32)), is_one }
        })
    }

    fn stages(&self) -> impl Iterator<Item = Stage> {
        self.all_stages().take_while(Stage::is_one)
    }

    /// The false-positive rate with `keys` keys, or with as many as the filter takes if that is fewer.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        let (mut left, mut ln_absent) = (keys as f64, 0.0);
        for Stage { room, rate, .. } in self.stages() {
            ln_absent += left.min(room) * ln_1p_minus(rate);
            left -= room;
            if left <= 0.0 {
                break;
            }
        }
        // This is `1 - e^x`. Near 0 the series keeps all digits.
        let x: f64 = ln_absent;
        if x > -1e-4 { -x * (1.0 + x / 2.0 * (1.0 + x / 3.0)) } else { 1.0 - exp(x) }
    }

    /// How many distinct keys were inserted, if `new` of them were not found before their insertion.
    pub fn seen(&self, new: f64) -> f64 {
        let (mut left, mut seen, mut absent) = (new, 0.0, 1.0);
        for Stage { room, rate, .. } in self.stages() {
            // Of the m keys of a stage, the number of new ones is the integral over m of the share of hashes that find
            // nothing.
            let decay = -ln_1p_minus(rate);
            let at_most = absent * -(-decay * room).exp_m1() / decay;
            if left <= at_most {
                return seen - (-decay * left / absent).ln_1p() / decay;
            }
            (left, seen, absent) = (left - at_most, seen + room, absent * (-decay * room).exp());
        }
        seen + left / absent
    }

    /// How many keys the filter takes.
    pub fn most_keys(&self) -> f64 {
        self.stages().map(|stage| stage.room).sum()
    }
}

/// The base-2 logarithm of the number of slots that take `keys` keys. `None` for more keys than a filter can be made
/// for.
pub fn slot_bits_for(keys: u64) -> Option<u32> {
    let least = BLOCK.ilog2().max(SLOT_BITS.0);
    (least..=MOST_SLOT_BITS).find(|bits| limit(1 << bits) >= keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growing(regime: Regime) -> Growing {
        Growing { slot_bits: 10, bits: 8, doublings: 10, regime }
    }

    /// The rate of the fixed regime is the first one times 1 + X/2, and that of the widening one is bounded by a
    /// series.
    #[test]
    fn rates_rise_as_the_regime_says() {
        let first = 0.9 * 2_f64.powi(-8);
        for growths in 0..=7 {
            let keys = (0.9 * f64::from(10 + growths).exp2()) as u64;
            let fixed = growing(Regime::Fixed).false_positive_rate(keys);
            let expected = 1.0 - (-first * (1.0 + f64::from(growths) / 2.0)).exp();
            assert!((fixed / expected - 1.0).abs() < 1e-2, "{growths}: {fixed}, {expected}");
            let widening = growing(Regime::Widening).false_positive_rate(keys);
            assert!(widening <= fixed && widening < first * 1.83);
        }
    }

    /// No fingerprint is so much shorter than the one before that an entry would not fit into the slots of the next
    /// growth.
    #[test]
    fn no_fingerprint_loses_more_than_a_bit() {
        for regime in [Regime::Fixed, Regime::Widening, Regime::Predictive] {
            let growing = growing(regime);
            let lengths: Vec<u32> = (0..30).map(|growths| growing.fingerprint_bits(growths)).collect();
            assert!(lengths.windows(2).all(|pair| pair[1] + 1 >= pair[0]), "{lengths:?}");
            assert_eq!(*lengths.iter().min().unwrap(), 8);
        }
        assert_eq!(growing(Regime::Predictive).fingerprint_bits(10), 8);
        assert_eq!(growing(Regime::Widening).fingerprint_bits(3), 12);
    }

    #[test]
    fn tables_have_room() {
        assert_eq!(slot_bits_for(1), Some(6));
        assert_eq!((slot_bits_for(57), slot_bits_for(58)), (Some(6), Some(7)));
        assert_eq!(slot_bits_for(u64::MAX), None);
    }
}
