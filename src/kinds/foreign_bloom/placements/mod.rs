//! Bit arrays in which keys are placed as in other systems: m bits, of which a key sets k, at places that come from
//! more of the key than a 64-bit hash. So a placement takes the whole key.
//!
//! Each placement has a file: a type that is a [`Placement`](crate::blocks::placed::Placement), and a line in
//! [`PLACEMENTS`]. Bit p is bit p mod 64 of the little-endian word p / 64; a format with another order of bytes
//! reorders them where it is read and written (`crate::interop`).

mod bip37;
mod bits_and_blooms;
mod cassandra;
mod datasketches;
mod dcso;
mod guava;
mod hbase;
mod leveldb;
mod libbloom;
mod orc;
pub mod redisbloom;
mod rocksdb;
mod spark;
mod squid;
pub mod valkey;

pub use bip37::{MOST_BYTES as MOST_BIP37_BYTES, MOST_HASHES as MOST_BIP37_HASHES};
pub use hbase::MOST_BYTES as MOST_HBASE_BYTES;
pub use leveldb::MOST_HASHES as MOST_LEVELDB_HASHES;
pub use squid::{HASHES as SQUID_HASHES, MOST_BITS as MOST_SQUID_BITS};

use crate::blocks::placed::PlacedArray;
use crate::format::Geometry;
use crate::sizing::dependent::Scheme;
use crate::sizing::{self, bloom, dependent};
use core::sync::atomic::AtomicU64;

/// The most bits that a key may set: the greatest number of hashes that most owners can hold, a positive `int`.
pub const MAX_HASHES: u32 = i32::MAX as u32;

/// The most bits that a key may set in any array, however small: the greatest number that 16 bits hold, which is all
/// that DataSketches has for it. [`PlacementRow::most_hashes`] says why larger arrays may have more.
const MOST_ANYWHERE: u64 = u16::MAX as u64;

/// The most bits that a key may set where k is written in a byte.
const MOST_IN_BYTE: u32 = u8::MAX as u32;

/// The most bits that a key may set where k follows from a rate alone: 1,074 for the least rate that a double holds,
/// and one more for rounding.
const MOST_BY_RATE: u32 = 1075;

/// [`PlacementRow::hash_bits`] of the 32-bit MurmurHash3 of a key together with that under the first as its seed. Of
/// random pairs of keys of eight bytes with the same first hash, one in 2^18 has the same second one, because both
/// differ alike after the first block. (871 of 2^28 pairs; of longer keys hardly any pair has.)
const MURMUR3_TWICE: u32 = 32 + 18;

/// Likewise of MurmurHash2: 80 of 2^28 pairs.
const MURMUR2_TWICE: u32 = 32 + 21;

/// The words of the geometry that a placement may use for its own key.
pub const KEY_WORDS: core::ops::Range<usize> = 2..6;

/// What the library knows about a placement.
pub struct PlacementRow {
    /// The placement's name, the value of the parameter `placement`.
    pub name: &'static str,
    /// How the places of a key depend on each other, if they do.
    pub scheme: Option<Scheme>,
    /// How many bits of a key's hash decide its places, if keys are random: two keys have the same places with the
    /// probability 2 to the power of minus this.
    pub hash_bits: u32,
    /// How many numbers there are that places are taken modulo m of: places past these are never set, and if they are
    /// not many times m, some places are set more often than others.
    pub reach: u64,
    /// How many places the third probe of a key goes to, if they are fewer than the array has: once there are many
    /// keys, nearly all of these are set.
    pub third: f64,
    /// The most bits that a key sets in the largest arrays.
    pub max_hashes: u32,
    /// The most bits that an array has.
    pub max_bits: u64,
    /// Whether the format counts only keys that were new when they were inserted.
    pub counts_new: bool,
    /// The expected rate with a given number of keys, if it is not that of bits anywhere in the array.
    pub lines_rate: Option<fn(&Geometry, u64) -> f64>,
    /// The present rate of these bits, likewise.
    pub lines_rate_now: Option<fn(&Geometry, &[AtomicU64]) -> f64>,
    /// An array of this geometry, whose shape is sound, for filters with this seed.
    pub open: fn(&Geometry, u64) -> Option<Box<dyn PlacedArray>>,
}

impl PlacementRow {
    /// The values of most placements.
    pub const BASE: PlacementRow = PlacementRow {
        name: "",
        scheme: Some(Scheme::Double),
        hash_bits: 64,
        reach: u64::MAX,
        third: f64::INFINITY,
        max_hashes: MAX_HASHES,
        max_bits: 1 << 62,
        counts_new: false,
        lines_rate: None,
        lines_rate_now: None,
        open: |_, _| None,
    };

    /// The most bits that a key sets in an array of `bits` bits. Owners choose (m / n) ln 2, which is never more than
    /// m, so no array needs more than it has bits. Hence a forged number costs a lookup at most as many steps as there
    /// are bits, or 65,535.
    pub fn most_hashes(&self, bits: u64) -> u32 {
        u64::from(self.max_hashes).min(bits.max(MOST_ANYWHERE)) as u32
    }

    /// The rate of an array with `keys` distinct keys, if no two of their hashes were the same.
    pub fn rate(&self, bits: u64, hashes: u32, keys: u64) -> f64 {
        let bits = bits.min(self.reach);
        // Third probes that go to the same places set no more bits than those of fewer keys.
        let all = keys as f64 * f64::from(hashes) - (keys as f64 - self.thirds(keys as f64));
        let (probes, third) = self.without_third(hashes, keys as f64, || -(-all / bits as f64).exp_m1());
        let others = if probes < hashes { (all / f64::from(probes)).round() as u64 } else { keys };
        let rate = match self.scheme {
            Some(scheme) => dependent::rate(scheme, false, bits, probes, others),
            None => bloom::exact(bits, probes, others),
        };
        self.uneven(bits, probes, keys as f64, rate * third, false)
    }

    /// How many probes go anywhere in the array, and the probability that the third is set if it does not. `fill` is
    /// the share of all bits that are set.
    fn without_third(&self, hashes: u32, keys: f64, fill: impl Fn() -> f64) -> (u32, f64) {
        if self.third.is_infinite() || hashes < 3 {
            return (hashes, 1.0);
        }
        let missed = (-keys / self.third).exp();
        (hashes - 1, 1.0 - missed * (1.0 - fill()))
    }

    /// How many numbers give each place, and the share of places that one more gives, if that makes a difference.
    fn excess(&self, bits: u64) -> Option<(f64, f64)> {
        let (times, rest) = (self.reach / bits.max(1), self.reach % bits.max(1));
        // Where a place has that many numbers, one more is below a hundredth of a percent.
        (times <= 10_000 && rest != 0).then(|| (times as f64, rest as f64 / bits as f64))
    }

    /// The share of places that `throws` probes set which have that many numbers.
    fn set(&self, throws: f64, numbers: f64) -> f64 {
        -(-throws * numbers / self.reach as f64).exp_m1()
    }

    /// A rate that was computed as if all places of an array were as likely, for the likelihoods that they have.
    /// `is_counted` says whether it comes from the bits that are set, and not from the keys.
    fn uneven(&self, bits: u64, hashes: u32, keys: f64, rate: f64, is_counted: bool) -> f64 {
        let Some((times, more)) = self.excess(bits).filter(|_| rate > 0.0) else { return rate };
        let (even, throws) = (self.reach as f64 / bits as f64, keys * f64::from(hashes));
        let (few, many) = (self.set(throws, times), self.set(throws, times + 1.0));
        let probes = more * (times + 1.0) / even;
        let met = probes * many + (1.0 - probes) * few;
        let taken = if is_counted { more * many + (1.0 - more) * few } else { self.set(throws, even) };
        (rate * (met / taken).powf(f64::from(hashes))).min(1.0)
    }

    /// The rate of a structure with `keys` random keys whose bits alone say yes with the probability `rate`.
    pub fn with_floor(&self, rate: f64, keys: f64) -> f64 {
        sizing::with_floor(rate, sizing::hash_floor(keys.round() as u64, self.hash_bits))
    }

    /// The rate of an array in which `ones` bits are set.
    pub fn rate_from_fill(&self, bits: u64, hashes: u32, ones: u64) -> f64 {
        let bits = bits.min(self.reach);
        let Some(keys) = self.keys_from_fill(bits, hashes, ones) else { return 1.0 };
        let fill = ones as f64 / bits as f64;
        let (probes, third) = self.without_third(hashes, keys, || fill);
        let rate = match self.scheme {
            Some(scheme) => dependent::from_fill(scheme, false, bits, probes, keys, fill),
            None => bloom::from_fill(bits, probes, ones),
        };
        self.uneven(bits, probes, keys, rate * third, true)
    }

    /// How many keys set `ones` bits of an array; `None` if all are set that can be.
    pub fn keys_from_fill(&self, bits: u64, hashes: u32, ones: u64) -> Option<f64> {
        let bits = bits.min(self.reach);
        let even = bloom::cardinality_exact_base(bits, hashes, ones)?;
        let zeros = (-(ones as f64) / bits as f64).ln_1p();
        let keys = match self.excess(bits).filter(|_| ones > 0) {
            // Each step corrects the number by how far off the bits are that it would set.
            Some((times, more)) => (0..20).fold(even, |keys, _| {
                let set = |numbers: f64| self.set(keys * f64::from(hashes), numbers);
                keys * zeros / (-(more * set(times + 1.0) + (1.0 - more) * set(times))).ln_1p()
            }),
            None => even,
        };
        if self.third.is_infinite() || hashes < 3 {
            return Some(keys);
        }
        // As many probes as all keys make in different places; the third probes of most keys add nothing to them.
        let (probes, hashes) = (keys * f64::from(hashes), f64::from(hashes));
        Some((0..20).fold(keys, |keys, _| (probes - self.thirds(keys)) / (hashes - 1.0)))
    }

    /// To how many different places the third probes of these keys go.
    fn thirds(&self, keys: f64) -> f64 {
        if self.third.is_infinite() { keys } else { self.third * -(-keys / self.third).exp_m1() }
    }
}

/// All placements. The place in this list is the placement's number in images, so new ones are only appended.
const ROWS: &[PlacementRow] = &[
    guava::MITZ_32,
    guava::MITZ_64,
    rocksdb::LEGACY,
    spark::V1,
    spark::V2,
    redisbloom::ROW,
    libbloom::V1,
    libbloom::V2,
    bits_and_blooms::ROW,
    leveldb::ROW,
    bip37::ROW,
    dcso::ROW,
    datasketches::ROW,
    orc::TEXT,
    orc::NUMBER,
    cassandra::ROW,
    valkey::ROW,
    squid::ROW,
    hbase::JENKINS,
    hbase::MURMUR,
    hbase::MURMUR_3,
];

/// All placements, in the order of their numbers.
pub static PLACEMENTS: &[PlacementRow] = ROWS;

/// The names of the placements, in the same order.
pub const NAMES: [&str; ROWS.len()] = {
    let (mut names, mut i) = ([""; ROWS.len()], 0);
    while i < names.len() {
        names[i] = ROWS[i].name;
        i += 1;
    }
    names
};

/// The number of the placement with this name.
pub fn number(name: &str) -> Option<u64> {
    PLACEMENTS.iter().position(|row| row.name == name).map(|number| number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    /// Places by few numbers: lookups of random keys, in arrays with fewer bits than numbers and with more.
    #[test]
    fn rates_of_few_numbers_are_those_of_lookups() {
        const NUMBERS: u64 = 1 << 12;
        const ASKED: u64 = 400_000;
        let row = PlacementRow { scheme: None, reach: NUMBERS, ..PlacementRow::BASE };
        for (bits, hashes, keys) in [(3000, 5, 400), (2049, 3, 500), (1500, 7, 150), (10_000, 4, 600)] {
            let place = |key: u64, i: u32| (mix(mix(key) ^ u64::from(i)) % NUMBERS % bits) as usize;
            let mut set = vec![false; bits as usize];
            (0..keys).for_each(|key| (0..hashes).for_each(|i| set[place(key, i)] = true));
            let absent = (1 << 40)..(1 << 40) + ASKED;
            let found = absent.filter(|key| (0..hashes).all(|i| set[place(*key, i)])).count() as f64;
            let ones = set.iter().filter(|set| **set).count() as u64;
            let (expected, now) = (row.rate(bits, hashes, keys), row.rate_from_fill(bits, hashes, ones));
            let plain = bloom::exact(bits, hashes, keys);
            // Which bits are set is chance as well, and more so of a small array.
            for (said, chance) in [(expected, 0.25), (now, 0.1)] {
                let band = 4.5 * (said / ASKED as f64).sqrt() + chance * said;
                assert!((found / ASKED as f64 - said).abs() < band, "{bits} {hashes} {keys}: {found} and {said}");
            }
            let estimate = row.keys_from_fill(bits, hashes, ones).unwrap();
            assert!((estimate / keys as f64 - 1.0).abs() < 0.1, "{bits} {hashes} {keys}: {estimate}");
            // With nearly two numbers for each place, all are about as likely.
            assert!(expected > 1.05 * plain || bits == 2049, "{bits} {hashes} {keys}: {expected} and {plain}");
        }
    }
}
