//! Golomb-coded sets: rates, the best Rice parameter, and sizes.
//!
//! Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009: the keys' hashes are reduced to
//! whole numbers below a range F, and the gaps between these numbers in ascending order are coded. Among n different
//! numbers a gap is about geometric with mean M = F/n. Rice's code with parameter P spends P bits on a gap's remainder
//! by 2^P, and q + 1 bits on its quotient q, in unary.

use crate::sizing::{is_rate, rate_in_range};

/// The greatest range. Hashes have 64 bits, so reduction to a range well below 2^64 is even.
pub const MAX_RANGE: u64 = 1 << 62;

/// Significant bits of a range, so that it is exact as a parameter and has room in a compact form.
pub const RANGE_BITS: u32 = 48;

/// The greatest Rice parameter.
pub const MAX_RICE_BITS: u32 = 56;

/// The binary logarithm of how many quotients by `2^P` a bucket spans: the numbers of a bucket have the same quotient
/// by `2^(P + 5)`, so a bucket has 15 to 31 numbers on average.
pub const BUCKET_BITS: u32 = 5;

/// Buckets that share an entry of the index.
pub const GROUP: u64 = 8;

/// Bits of a payload before the index.
pub const HEAD_BITS: u64 = 512;

/// Whether a filter may have this range.
pub fn is_range(range: u64) -> bool {
    (1..=MAX_RANGE).contains(&range) && range == round_down(range)
}

/// The greatest number with [`RANGE_BITS`] significant bits that does not exceed a range.
pub fn round_down(range: u64) -> u64 {
    let surplus = (u64::BITS - range.leading_zeros()).saturating_sub(RANGE_BITS);
    range >> surplus << surplus
}

/// The least range in which `keys` keys keep a rate inside (0, 1); `None` past [`MAX_RANGE`]. No keys count as one.
pub fn range_for(keys: u64, rate: f64) -> Option<u64> {
    let keys = keys.max(1);
    if !is_rate(rate) {
        return None;
    }
    // The exact range is `1 / (1 - (1 - rate)^(1/n))`.
    let exact = -1.0 / ((-rate).ln_1p() / keys as f64).exp_m1();
    if exact > MAX_RANGE as f64 {
        return None;
    }
    let mut range = round_down((exact as u64).max(1));
    // The formula is not exact to the last bit, so the range may have to be raised several times after rounding.
    while rate_in_range(range, keys) > rate {
        let step = 1 << (u64::BITS - range.leading_zeros()).saturating_sub(RANGE_BITS);
        range = round_down(range + step);
    }
    (range <= MAX_RANGE).then_some(range)
}

/// Below this share of gaps that are shorter than 2^P, parameter P + 1 codes the gaps in fewer bits than P does. The
/// share is `(3 - sqrt(5)) / 2` (Kiely, "Selecting the Golomb Parameter in Rice Coding", 2004).
const SHORT_ENOUGH: f64 = 0.381_966_011_250_105_1;

/// The shares of gaps that are shorter than 2^P, among `values` numbers below `range`, for P from 0 on: `1 - (1 -
/// values/range)^(2^P)`. Sums and products alone make them the same on every machine.
fn short_gaps(range: u64, values: u64) -> impl Iterator<Item = f64> {
    let first = values as f64 / range.max(1) as f64;
    core::iter::successors(Some(first), |share| Some(share * (2.0 - share)))
}

/// The Rice parameter, at most [`MAX_RICE_BITS`], that codes `values` different numbers below `range` in the fewest
/// bits; 0 without numbers.
pub fn rice_bits(range: u64, values: u64) -> u32 {
    let most = if values == 0 { 0 } else { MAX_RICE_BITS };
    let is_enough = |share| share >= SHORT_ENOUGH;
    short_gaps(range, values).take(most as usize).position(is_enough).map_or(most, |bits| bits as u32)
}

/// The share of gaps that are 2^P or longer.
fn long_gaps(range: u64, values: u64, rice_bits: u32) -> f64 {
    1.0 - short_gaps(range, values).nth(rice_bits as usize).unwrap_or(1.0)
}

/// The average bits of Rice's code for each of `values` numbers below `range`: `P + 1 / (1 - e^(-2^P / M))`. Neither an
/// index nor an end is counted. 0 without numbers.
pub fn stream_bits(range: u64, values: u64, rice_bits: u32) -> f64 {
    if values == 0 {
        return 0.0;
    }
    // For a large M, `(1 - 1/M)^(2^P)` is `e^(-2^P/M)`.
    f64::from(rice_bits) + 1.0 / (1.0 - long_gaps(range, values, rice_bits))
}

/// The buckets of a filter with this Rice parameter.
pub fn buckets(range: u64, rice_bits: u32) -> u64 {
    range.div_ceil(1 << (rice_bits + BUCKET_BITS))
}

/// The bits of the codes of an average bucket. The gap before a bucket's first number begins where the bucket does, so
/// a code is a little shorter than in a stream. Sums and products alone make the result the same on every machine.
pub fn bucket_bits(range: u64, values: u64, rice_bits: u32) -> f64 {
    let y = long_gaps(range, values, rice_bits);
    let quotients = range.div_ceil(1 << rice_bits).min(1 << BUCKET_BITS);
    let (mut power, mut sum) = (1.0, 0.0);
    for i in 1..quotients {
        power *= y;
        sum += power * (1.0 - i as f64 / quotients as f64);
    }
    (f64::from(rice_bits + 1) + sum) * values as f64 / buckets(range, rice_bits).max(1) as f64
}

/// The bits to expect of a payload for `keys` keys in a range: head, index and codes. With many keys the result is
/// right to a part in a hundred.
pub fn payload_bits(range: u64, keys: u64) -> f64 {
    let values = (range as f64 * rate_in_range(range, keys)).round().max(1.0) as u64;
    let rice_bits = rice_bits(range, values);
    let buckets = buckets(range, rice_bits) as f64;
    let each = bucket_bits(range, values, rice_bits);
    // The count of numbers in a bucket follows Poisson's distribution approximately, and each number takes P + 1/2
    // bits.
    let deviation = (values as f64 / buckets).sqrt() * (f64::from(rice_bits) + 0.5);
    // The differences from the shortest to the longest bucket, and how far the sum of all lengths strays from a line.
    let lengths = 2.0 * deviation * (2.0 * buckets.max(2.0).ln()).sqrt();
    let offsets = 1.6 * deviation * buckets.sqrt();
    let width = |values: f64| (1.0 + values).log2().ceil();
    let groups = (buckets / GROUP as f64).ceil();
    let entry = width(offsets) + (GROUP - 1) as f64 * width(if buckets > 1.0 { lengths } else { 0.0 });
    HEAD_BITS as f64 + groups * entry + width(offsets) + buckets * each
}

/// The greatest range whose payload for `keys` keys is expected to have at most `bits` bits; `None` if there is none.
pub fn range_within(keys: u64, bits: u64) -> Option<u64> {
    let fits = |range: u64| payload_bits(range, keys) <= bits as f64;
    let (mut less, mut more) = (1, MAX_RANGE);
    if !fits(less) {
        return None;
    }
    if fits(more) {
        return Some(more);
    }
    while more - less > 1 {
        let middle = less + (more - less) / 2;
        if fits(middle) { less = middle } else { more = middle }
    }
    Some(round_down(less))
}
