//! Cuckoo filters: an even number `m` of buckets of `b` slots, and fingerprints of `f` bits that are not 0.
//!
//! Fan, Andersen, Kaminsky and Mitzenmacher, "Cuckoo Filter: Practically Better Than Bloom", 2014. An absent key has
//! the fingerprint of a given key with probability `1 / (2^f - 1)`, and the given key's pair of buckets with `2 / m`,
//! because either bucket of a fingerprint gives the other. So with n keys the rate is `1 - (1 - 2 / (m (2^f - 1)))^n`.
//! That is the `1 - (1 - 1 / (2^f - 1))^(2 b a)` of the literature at load `a`, and below `2 b a / (2^f - 1)`.
//!
//! How many keys fit was measured. Keys with two random buckets have places up to a threshold: .897, .980 and .9988 of
//! the slots for 2, 4 and 8 slots (Fernholz and Ramachandran, 2007; Cain, Sanders and Wormald, 2007). A large table
//! fills a smaller share, because a search of two thousand buckets misses some places. A small table varies more, and
//! gets some extra slots.
//!
//! No more than `2 b` keys can have one pair of buckets, nor more than `3 b` keys two pairs with a bucket in common.
//! The sums of buckets come from the fingerprints ([`sum_of`]), and several fingerprints may have the same sum. If `c`
//! fingerprints have a sum, a key has one of that sum's `m / 2` pairs with probability `2 c / (m (2^f - 1))`.
//! [`crowding`] adds up the binomial tails, and a table has enough buckets for the total to be below [`most_crowding`].
//! Whenever a capacity's keys did not fit, too many of them had two or three buckets in common.

use crate::bits::{mix, reduce};
use crate::order::sort;
use crate::sizing::{exp, hash_floor, hit_at_least_once, is_rate, ln, ln_1p_minus, search};

/// The least and the greatest number of bits of a fingerprint.
pub const FINGERPRINT_BITS: (u32, u32) = (4, 32);

/// The most bits of a table.
const MAX_BITS: u64 = 1 << 62;

/// For a low rate a table may have up to this many times as many buckets as the keys need.
const SPARSE: u64 = 4;

/// Up to this many bits of a fingerprint, the fingerprints with each sum are counted. Among longer fingerprints the
/// sums are about equally frequent.
const COUNTED_BITS: u32 = 10;

/// The bound on the probability that a filter refuses one of `capacity` distinct keys.
pub const fn most_crowding(slots: u32) -> f64 {
    if slots == 2 { 1e-6 } else { 1e-8 }
}

/// The size of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Buckets, an even number.
    pub buckets: u64,
    /// Bits of a fingerprint.
    pub fingerprint_bits: u32,
}

/// Bits of a bucket of `slots` slots. A semi-sorted bucket has one bit less for each slot.
pub const fn bucket_bits(slots: u32, fingerprint_bits: u32, is_semi_sorted: bool) -> u64 {
    slots as u64 * (fingerprint_bits - is_semi_sorted as u32) as u64
}

/// The share of its slots that a large table fills. Entries with short fingerprints have few other buckets to go to, so
/// they fill less.
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

/// How many extra slots a table has.
fn spare_slots(slots: u32) -> f64 {
    match slots {
        2 => 40.0,
        4 => 24.0,
        _ => 24.0,
    }
}

/// How many classes there are: fingerprints, each with a pair of buckets.
pub fn classes(buckets: u64, fingerprint_bits: u32) -> f64 {
    0.5 * buckets as f64 * ((1_u64 << fingerprint_bits.clamp(1, 63)) - 1) as f64
}

/// The false-positive rate with `keys` distinct keys. With more keys than slots this is the rate of a full table.
pub fn false_positive_rate(buckets: u64, slots: u32, fingerprint_bits: u32, keys: u64) -> f64 {
    let keys = keys.min(buckets.saturating_mul(slots.into()));
    if keys == 0 {
        return 0.0;
    }
    let one = (1.0 / classes(buckets, fingerprint_bits)).min(1.0);
    if one == 1.0 { 1.0 } else { hit_at_least_once(one, keys as f64).max(hash_floor(keys, 64)) }
}

/// The least even number of buckets into which `keys` keys fit.
pub fn buckets_for(keys: u64, slots: u32, fingerprint_bits: u32) -> Option<u64> {
    let keys = keys.max(1);
    let all = 2 * u64::from(slots);
    // One pair of buckets takes any keys, because every key has that pair.
    if keys <= all {
        return Some(2);
    }
    let needed = keys as f64 / load(slots, fingerprint_bits) + spare_slots(slots);
    let pairs = (needed / f64::from(slots) * 0.5).ceil();
    let pairs = (pairs < (MAX_BITS / 64) as f64).then_some(pairs as u64)?;
    uncrowded(2 * pairs, keys, slots, fingerprint_bits)
}

/// The least number of buckets, from `buckets` on and in small steps, for which crowding is rare enough.
fn uncrowded(mut buckets: u64, keys: u64, slots: u32, fingerprint_bits: u32) -> Option<u64> {
    while crowding(buckets, keys, slots, fingerprint_bits) > most_crowding(slots) {
        buckets += 2 * (buckets / 64).max(1);
        if buckets > MAX_BITS / 64 {
            return None;
        }
    }
    Some(buckets)
}

/// The sum of a fingerprint's two buckets, less 1 and halved.
#[inline(always)]
pub fn sum_of(fingerprint: u64, buckets: u64) -> u64 {
    reduce(mix(fingerprint), buckets / 2)
}

/// A bound on the probability that one pair of buckets, or two pairs with a bucket in common, belongs to more keys than
/// these buckets have slots.
pub fn crowding(buckets: u64, keys: u64, slots: u32, fingerprint_bits: u32) -> f64 {
    let (keys, half) = (keys as f64, buckets as f64 / 2.0);
    let fingerprints = classes(2, fingerprint_bits);
    // For each number of fingerprints with the same sum, how many sums have that number. There are few different
    // numbers, because they add up to all fingerprints and 1 + 2 + ... + 45 is more than 2^10.
    let mut sums = [(0.0, 0.0); 45];
    if fingerprint_bits <= COUNTED_BITS {
        let mut all = [0; 1 << COUNTED_BITS];
        let all = &mut all[..fingerprints as usize];
        all.iter_mut().zip(1..).for_each(|(sum, fingerprint)| *sum = sum_of(fingerprint, buckets));
        sort(all);
        for same in all.chunk_by(|a, b| a == b) {
            let often = same.len() as f64;
            if let Some((known, count)) = sums.iter_mut().find(|(known, _)| *known == often || *known == 0.0) {
                (*known, *count) = (often, *count + 1.0);
            }
        }
    } else {
        let often = (fingerprints / half).max(1.0);
        // By chance the most frequent sums have this many more fingerprints.
        sums[0] = (often + if often > 1.0 { 3.0 * often.sqrt() } else { 1.0 }, half.min(fingerprints));
    }
    let sums = &sums[..sums.iter().position(|(often, _)| *often == 0.0).unwrap_or(sums.len())];
    let share = |often: f64| (often / fingerprints / half).min(1.0);
    let mut crowded = 0.0;
    for (i, (often, count)) in sums.iter().enumerate() {
        crowded += count * half * tail(keys, share(*often), f64::from(2 * slots + 1));
        for (j, (other, others)) in sums.iter().enumerate().skip(i) {
            let pairs = if i == j { count * (count - 1.0) / 2.0 } else { count * others };
            if pairs > 0.0 {
                crowded += pairs * 2.0 * half * tail(keys, share(*often) + share(*other), f64::from(3 * slots + 1));
            }
        }
    }
    crowded.min(1.0)
}

/// The probability of at least `least` successes in `trials` trials, each of which succeeds with `probability`. The
/// result is 1 if that many successes are expected.
fn tail(trials: f64, probability: f64, least: f64) -> f64 {
    if least > trials || probability <= 0.0 {
        return 0.0;
    }
    if probability >= 1.0 || (trials + 1.0) * probability > least {
        return 1.0;
    }
    let ways: f64 = (0..least as u32).map(|i| ln((trials - f64::from(i)) / f64::from(i + 1))).sum();
    let mut term = exp(ways + least * ln(probability) + (trials - least) * ln_1p_minus(probability));
    let (odds, mut sum, mut successes) = (probability / (1.0 - probability), 0.0, least);
    while term > 1e-6 * sum {
        sum += term;
        term *= (trials - successes) / (successes + 1.0) * odds;
        successes += 1.0;
    }
    sum
}

/// The smallest table that holds `keys` keys at a rate of at most `rate`. `fingerprint_bits` = 0 leaves the length of
/// fingerprints open. `None` for a rate outside (0, 1), for a rate too low for the fingerprints or for 64-bit hashes,
/// and past 2^62 bits.
pub fn size_for(keys: u64, rate: f64, slots: u32, fingerprint_bits: u32, is_semi_sorted: bool) -> Option<Size> {
    if !is_rate(rate) || hash_floor(keys, 64) > rate {
        return None;
    }
    let sizes = widths(fingerprint_bits).filter_map(|fingerprint_bits| {
        let rate_of = |buckets| false_positive_rate(buckets, slots, fingerprint_bits, keys);
        let mut buckets = buckets_for(keys, slots, fingerprint_bits)?;
        if rate_of(buckets) > rate {
            // Shorter fingerprints in more slots may take fewer bits.
            let pairs = search::least(buckets, buckets.saturating_mul(SPARSE / 2), |pairs| rate_of(2 * pairs) <= rate)?;
            buckets = uncrowded(2 * pairs, keys, slots, fingerprint_bits)?;
        }
        Some(Size { buckets, fingerprint_bits })
    });
    let bits = |size: &Size| size.buckets.checked_mul(bucket_bits(slots, size.fingerprint_bits, is_semi_sorted));
    sizes
        .filter(|size| bits(size).is_some_and(|bits| bits <= MAX_BITS))
        .min_by_key(|size| (bits(size), size.fingerprint_bits))
}

/// The longest fingerprints with which a table of `bits` bits holds `keys` keys, or the shortest if none does.
pub fn best_fingerprint_bits(bits: u64, keys: u64, slots: u32, is_semi_sorted: bool) -> u32 {
    let fits = |width: &u32| {
        let buckets = bits / bucket_bits(slots, *width, is_semi_sorted);
        let is_spread = || crowding(buckets & !1, keys, slots, *width) <= most_crowding(slots);
        buckets_for(keys, slots, *width).is_some_and(|needed| needed <= buckets) && is_spread()
    };
    widths(0).rev().find(fits).unwrap_or(FINGERPRINT_BITS.0)
}

fn widths(fingerprint_bits: u32) -> core::ops::RangeInclusive<u32> {
    match fingerprint_bits {
        0 => FINGERPRINT_BITS.0..=FINGERPRINT_BITS.1,
        given => given..=given,
    }
}
