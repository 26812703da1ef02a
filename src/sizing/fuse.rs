//! The binary fuse filter: sizes and rate.
//!
//! Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022: an array of cells in segments of
//! equal length; a key has one cell in each of three or four segments that follow each other, and the exclusive or of
//! these is its fingerprint. Their section 3 gives the length of segments and the number of cells as functions of the number
//! of keys, chosen so that nearly every array can be solved at the first attempt.
//!
//! Keys are divided into shards, each with an array of its own, so that the work on one fits in the cache.

/// The most keys of an average shard. So many need no more cells each than any larger number would: the size factor
/// has come down to its least long before, and the ends of the array do not show.
pub const SHARD_KEYS: u64 = 1 << 20;

/// The most shards.
pub const MAX_SHARDS: u64 = u32::MAX as u64;

/// How many cells a key may have.
pub const ARITIES: core::ops::RangeInclusive<u32> = 3..=4;

/// The longest segment, as a power of two.
const MAX_SEGMENT_BITS: f64 = 18.0;

/// How many shards `keys` keys are divided into: one at least.
pub fn shards(keys: u64) -> u64 {
    keys.div_ceil(SHARD_KEYS).clamp(1, MAX_SHARDS)
}

/// The segments of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The base-2 logarithm of the length of one.
    pub bits: u32,
    /// How many a key may begin in: the array has as many more as a key has further cells.
    pub starts: u64,
}

/// The segments of the array of one shard of `keys` keys that have `arity` cells each. Their length is the power of two
/// with exponent `floor(ln n / ln 3.33 + 2.25)`, or `floor(ln n / ln 2.91 - 0.5)` of four cells, at most 18; there are
/// as many as `n max(1.125, 0.875 + 0.25 ln(10^6) / ln n)` cells need, or
/// `n max(1.075, 0.77 + 0.305 ln(6 10^5) / ln n)`, and at least as many as a key has cells.
///
/// Just after the length doubles, whole segments may come out so that a third of all attempts fail, or nearly all (at
/// 11,500 keys, say). There the length stays as it was; some small numbers of keys need a segment more.
pub fn segments(arity: u32, keys: u64) -> Segments {
    let n = keys.max(2) as f64;
    // The most keys for each cell that a key may begin in: nearer to the thresholds of .918 and .977 solving begins to
    // fail.
    let (bits, factor, most) = match arity {
        3 => (n.ln() / 3.33_f64.ln() + 2.25, (0.875 + 0.25 * 1e6_f64.ln() / n.ln()).max(1.125), 0.9),
        _ => (n.ln() / 2.91_f64.ln() - 0.5, (0.77 + 0.305 * 6e5_f64.ln() / n.ln()).max(1.075), 0.95),
    };
    let bits = bits.floor().clamp(1.0, MAX_SEGMENT_BITS) as u32;
    let cells = (n * factor).round() as u64;
    let starts = |bits: u32| cells.div_ceil(1 << bits).saturating_sub(u64::from(arity - 1)).max(1);
    let least = |bits: u32| (n / most / f64::from(1 << bits)).ceil() as u64;
    if starts(bits) >= least(bits) || bits == 1 {
        return Segments { bits, starts: starts(bits).max(least(bits)) };
    }
    let bits = bits - 1;
    Segments { bits, starts: starts(bits).max(least(bits)) }
}

/// How many cells the array of one shard of `keys` keys has.
pub fn cells(arity: u32, keys: u64) -> u64 {
    let Segments { bits, starts } = segments(arity, keys);
    (starts + u64::from(arity - 1)) << bits
}

/// Bytes that solving takes on one thread, beside the payload, for `keys` records of so many bytes each: room for those
/// of the largest shard, and twelve for each of its cells, of which there are most where a key has three.
pub fn build_memory(keys: u64, record: u64) -> u64 {
    let shards = shards(keys);
    let mean = keys.div_ceil(shards);
    // No shard is 6 standard deviations above the mean.
    let largest = if shards == 1 { mean } else { mean + 6 * mean.isqrt() };
    largest * record + 12 * cells(3, largest)
}

/// The greatest part of a rate that equal hashes may add to that of the fingerprints without costing another bit.
const HASH_SHARE: f64 = 1e-3;

/// Whether fingerprints of `bits` bits among `keys` keys keep a rate: theirs, 2^-bits, is no greater, and what equal
/// hashes add to it exceeds the rate by a thousandth at most. Else whoever asks for 2^-8 would get nine bits, because of
/// one key in 10^14.
pub fn keeps(bits: u32, keys: u64, rate: f64) -> bool {
    (-f64::from(bits)).exp2() <= rate && false_positive_rate(bits, keys) <= rate * (1.0 + HASH_SHARE)
}

/// The false-positive rate of fingerprints of `bits` bits among `keys` keys.
///
/// The fingerprint of a key that is not there equals the exclusive or of its cells with probability `2^-bits`,
/// whatever the cells hold; and with probability `1 - (1 - 2^-64)^n` its hash is that of a key that is there. No keys
/// give 0. `bits` above 1074 give the latter alone.
pub fn false_positive_rate(bits: u32, keys: u64) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let same = super::hash_floor(keys, 64);
    same + (1.0 - same) * (-f64::from(bits)).exp2()
}
