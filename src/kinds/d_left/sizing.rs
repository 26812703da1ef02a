//! d-left counting filters: four subtables of B buckets of eight cells, with remainders of `r` bits.
//!
//! Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "An Improved Construction for Counting Bloom Filters", 2006. A
//! key is known by its fingerprint, one of `B 2^r` numbers, and is found exactly if its fingerprint is there. With n
//! keys the rate is `1 - (1 - 1 / (B 2^r))^n`. A capacity is six keys a bucket, three quarters of the cells. At
//! capacity the rate is about `24 2^-r`, and a key takes `4/3 (r + 2)` bits.
//!
//! If each key goes to the least loaded of its four buckets, only one bucket in 10^10 then has all eight cells taken
//! (the fluid limit). A large table finds all four buckets full at 89 to 91 % of the cells.

use crate::sizing::rate_in_range;

/// How many subtables there are.
pub const TABLES: u64 = 4;

/// How many cells a bucket has.
pub const CELLS: u64 = 8;

/// The least and the greatest number of bits of a remainder.
pub const REMAINDER_BITS: (u32, u32) = (4, 32);

/// How many keys there are for each bucket of a subtable.
pub const LOAD: u64 = 24;

/// The greatest range of fingerprints. Hashes have 64 bits, so reduction to a range well below 2^64 is even.
pub const MAX_RANGE: u64 = 1 << 62;

/// How many cells there are.
pub const fn cells(buckets: u64) -> u64 {
    buckets.saturating_mul(TABLES * CELLS)
}

/// The bits of `buckets` buckets in each subtable: remainders, and counters of two bits. `None` for too many bits.
pub fn bits(buckets: u64, remainder_bits: u32) -> Option<u64> {
    buckets.checked_mul(TABLES * CELLS)?.checked_mul(u64::from(remainder_bits) + 2)
}

/// How many buckets a subtable needs for `keys` keys; `None` past the greatest range.
pub fn buckets_for(keys: u64) -> Option<u64> {
    let buckets = keys.max(1).div_ceil(LOAD);
    (buckets <= MAX_RANGE >> REMAINDER_BITS.0).then_some(buckets)
}

/// The false-positive rate with `keys` distinct keys. With more keys than cells this is the rate of a full table.
pub fn false_positive_rate(buckets: u64, remainder_bits: u32, keys: u64) -> f64 {
    rate_in_range(buckets << remainder_bits, keys.min(cells(buckets)))
}
