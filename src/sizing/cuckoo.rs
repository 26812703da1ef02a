//! Cuckoo filters: `m` buckets of `b` slots, an even number of them, and fingerprints of `f` bits that are not 0.
//!
//! Fan, Andersen, Kaminsky and Mitzenmacher, "Cuckoo Filter: Practically Better Than Bloom", 2014. A key that is not
//! there has the fingerprint of a given other one with probability `1 / (2^f - 1)`, and its pair of buckets with `2 / m`,
//! as the pair of a fingerprint is known from either. So with n keys the rate is `1 - (1 - 2 / (m (2^f - 1)))^n`: the
//! `1 - (1 - 1 / (2^f - 1))^(2 b a)` of the literature at load `a`, and below `2 b a / (2^f - 1)`.
//!
//! How many keys fit is measured. The share of the slots that a large table fills is below the threshold up to which
//! keys with two buckets at random have places (.897, .980 and .9988 for 2, 4 and 8 slots; Fernholz and Ramachandran,
//! 2007; Cain, Sanders and Wormald, 2007), by what a search of two thousand buckets misses; a small one varies more,
//! and has some slots besides. And no more than `2 b` keys can have one pair of buckets. Two keys have the same with
//! the probability `1 / N = 2/m (1 / (2^f - 1) + 2/m)`, so that more than `2 b` keys have one with a probability below
//! `n (n / N)^(2b) / (2b + 1)!`. Few buckets, and short fingerprints, are held to that.

use super::{hash_floor, hit_at_least_once, is_rate, search};

/// The least and the greatest number of bits of a fingerprint.
pub const FINGERPRINT_BITS: (u32, u32) = (4, 32);

/// The most bits of a table.
const MAX_BITS: u64 = 1 << 62;

/// How many times as many buckets as the keys need a low rate may ask for.
const SPARSE: u64 = 4;

/// The bound on the probability that more keys than fit have one pair of buckets.
const CROWDING: f64 = 1e-6;

/// How large a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Buckets, an even number.
    pub buckets: u64,
    /// Bits of a fingerprint.
    pub fingerprint_bits: u32,
}

/// Bits of a bucket of `slots` slots; a semi-sorted one has a bit less for each.
pub const fn bucket_bits(slots: u32, fingerprint_bits: u32, is_semi_sorted: bool) -> u64 {
    slots as u64 * (fingerprint_bits - is_semi_sorted as u32) as u64
}

/// The share of its slots that a large table fills. Short fingerprints know few other buckets, and fill less.
pub fn load(slots: u32, fingerprint_bits: u32) -> f64 {
    let all = match slots {
        2 => 0.84,
        4 => 0.955,
        _ => 0.98,
    };
    all - match fingerprint_bits {
        ..=4 => 0.1,
        5 => 0.03,
        6 => 0.01,
        _ => 0.0,
    }
}

/// Slots that a table has besides.
fn spare_slots(slots: u32) -> f64 {
    match slots {
        2 => 40.0,
        4 => 24.0,
        _ => 24.0,
    }
}

/// How many fingerprints with pairs of buckets there are.
pub fn classes(buckets: u64, fingerprint_bits: u32) -> f64 {
    0.5 * buckets as f64 * ((1_u64 << fingerprint_bits.clamp(1, 63)) - 1) as f64
}

/// The false-positive rate with `keys` distinct keys; with more than there are slots that of a full table.
pub fn false_positive_rate(buckets: u64, slots: u32, fingerprint_bits: u32, keys: u64) -> f64 {
    let keys = keys.min(buckets.saturating_mul(slots.into()));
    if keys == 0 {
        return 0.0;
    }
    let one = (1.0 / classes(buckets, fingerprint_bits)).min(1.0);
    if one == 1.0 { 1.0 } else { hit_at_least_once(one, keys as f64).max(hash_floor(keys, 64)) }
}

/// The least even number of buckets that `keys` keys fit into.
pub fn buckets_for(keys: u64, slots: u32, fingerprint_bits: u32) -> Option<u64> {
    let keys = keys.max(1);
    let all = 2 * u64::from(slots);
    // One pair of buckets takes any keys.
    if keys <= all {
        return Some(2);
    }
    let needed = keys as f64 / load(slots, fingerprint_bits) + spare_slots(slots);
    // The N that makes crowding rare, and the m that has it.
    let others: f64 = (2..=all + 1).map(|i| i as f64).product();
    let crowd = keys as f64 * (keys as f64 / others / CROWDING).powf(1.0 / all as f64);
    let fingerprints = 2.0 * classes(1, fingerprint_bits);
    let spread = (crowd + (crowd * crowd + 4.0 * crowd * fingerprints * fingerprints).sqrt()) / fingerprints;
    let needed = (needed / f64::from(slots)).max(spread);
    let pairs = (needed * 0.5).ceil();
    (pairs < (MAX_BITS / 64) as f64).then(|| 2 * pairs as u64)
}

/// The smallest table that holds `keys` keys and whose rate is then at most `rate`. `fingerprint_bits` = 0 leaves these
/// open. `None` for a rate outside (0, 1) or too low for the fingerprints or for 64-bit hashes, and past 2^62 bits.
pub fn size_for(keys: u64, rate: f64, slots: u32, fingerprint_bits: u32, is_semi_sorted: bool) -> Option<Size> {
    if !is_rate(rate) || hash_floor(keys, 64) > rate {
        return None;
    }
    let sizes = widths(fingerprint_bits).filter_map(|fingerprint_bits| {
        let rate_of = |buckets| false_positive_rate(buckets, slots, fingerprint_bits, keys);
        let mut buckets = buckets_for(keys, slots, fingerprint_bits)?;
        if rate_of(buckets) > rate {
            // A shorter fingerprint in more slots may be smaller.
            let pairs = search::least(buckets, buckets.saturating_mul(SPARSE / 2), |pairs| rate_of(2 * pairs) <= rate)?;
            buckets = 2 * pairs;
        }
        Some(Size { buckets, fingerprint_bits })
    });
    let bits = |size: &Size| size.buckets.checked_mul(bucket_bits(slots, size.fingerprint_bits, is_semi_sorted));
    sizes
        .filter(|size| bits(size).is_some_and(|bits| bits <= MAX_BITS))
        .min_by_key(|size| (bits(size), size.fingerprint_bits))
}

/// The longest fingerprints with which a table of `bits` bits holds `keys` keys; the shortest if none does.
pub fn best_fingerprint_bits(bits: u64, keys: u64, slots: u32, is_semi_sorted: bool) -> u32 {
    let fits = |width: &u32| {
        let buckets = bits / bucket_bits(slots, *width, is_semi_sorted);
        buckets_for(keys, slots, *width).is_some_and(|needed| needed <= buckets)
    };
    widths(0).rev().find(fits).unwrap_or(FINGERPRINT_BITS.0)
}

fn widths(fingerprint_bits: u32) -> core::ops::RangeInclusive<u32> {
    match fingerprint_bits {
        0 => FINGERPRINT_BITS.0..=FINGERPRINT_BITS.1,
        given => given..=given,
    }
}
