//! The sizes and the false-positive rate of the binary fuse filter.
//!
//! Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022. A filter is an array of cells in
//! segments of equal length. A key has one cell in each of three or four consecutive segments, and the exclusive or of
//! these cells is its fingerprint. Section 3 of the paper gives the length of segments and the number of cells as
//! functions of the number of keys, chosen so that nearly every array can be solved at the first attempt.
//!
//! Keys are divided into shards, each with its own array, so that threads share the work and memory is bounded. A few
//! keys are set aside while an array is solved ([`super::layout`]), so the array has fewer cells than the paper's.

/// The most keys of an average shard, for few keys and for many. In between a shard has half of all keys. The larger a
/// shard, the less the ends of its array cost, but solving takes some 30 bytes a key. Solving walks through the array,
/// so a shard need not fit in the caches.
const SHARD_KEYS: (u64, u64) = (1 << 20, 5 << 20);

/// The most shards.
pub const MAX_SHARDS: u64 = u32::MAX as u64;

/// How many cells a key may have.
pub const ARITIES: core::ops::RangeInclusive<u32> = 3..=4;

/// The base-2 logarithm of the longest segment's length.
const MAX_SEGMENT_BITS: f64 = 18.0;

/// How many shards `keys` keys are divided into, at least one.
pub fn shards(keys: u64) -> u64 {
    let (least, most) = SHARD_KEYS;
    keys.div_ceil(keys.div_ceil(2).clamp(least, most)).clamp(1, MAX_SHARDS)
}

/// The segments of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The base-2 logarithm of a segment's length.
    pub bits: u32,
    /// How many segments a key may begin in. The array has one more for each further cell of a key.
    pub starts: u64,
}

/// The segments that Graf and Lemire give for `keys` keys with `arity` cells each. A segment's length is the power of
/// two with exponent `floor(ln n / ln 3.33 + 2.25)` for three cells, or `floor(ln n / ln 2.91 - 0.5)` for four, and at
/// most 18. There are as many segments as `n max(1.125, 0.875 + 0.25 ln(10^6) / ln n)` cells need for three cells a
/// key, or `n max(1.075, 0.77 + 0.305 ln(6 10^5) / ln n)` for four, and at least as many as a key has cells.
pub fn of_paper(arity: u32, keys: u64) -> Segments {
    let n = keys.max(2) as f64;
    let (bits, factor) = match arity {
        3 => (n.ln() / 3.33_f64.ln() + 2.25, (0.875 + 0.25 * 1e6_f64.ln() / n.ln()).max(1.125)),
        _ => (n.ln() / 2.91_f64.ln() - 0.5, (0.77 + 0.305 * 6e5_f64.ln() / n.ln()).max(1.075)),
    };
    let bits = bits.floor().clamp(1.0, MAX_SEGMENT_BITS) as u32;
    let cells = (n * factor).round() as u64;
    Segments { bits, starts: cells.div_ceil(1 << bits).saturating_sub(u64::from(arity) - 1).max(1) }
}

/// The segments of the array of one shard of `keys` keys that are all peeled: those of [`of_paper`] except for a few
/// numbers of keys.
///
/// Just after the length doubles, the number of whole segments may come out so low that a third of all attempts fail,
/// or nearly all (at 11,500 keys, say). There the length stays as it was. Some small numbers of keys need one more
/// segment.
pub fn peeled(arity: u32, keys: u64) -> Segments {
    // The most keys for each cell that a key may begin in. Nearer to the thresholds of .918 and .977 peeling begins to
    // fail.
    let most = if arity == 3 { 0.9 } else { 0.95 };
    let least = |bits: u32| (keys as f64 / most / f64::from(1 << bits)).ceil() as u64;
    let Segments { bits, starts } = of_paper(arity, keys);
    if starts >= least(bits) {
        return Segments { bits, starts };
    }
    if bits == 1 {
        return Segments { bits, starts: least(bits) };
    }
    let further = u64::from(arity) - 1;
    Segments { bits: bits - 1, starts: (2 * (starts + further) - further).max(least(bits - 1)) }
}

/// How many cells there are for each key, from 2^x keys on, for three and for four cells of a key. Between two rows the
/// factor lies on the line from one to the next. The factors were measured: with this many cells a few dozen keys have
/// to be set aside, and most attempts succeed.
const FACTORS: [(f64, [f64; 2]); 13] = [
    (3.0, [2.0, 1.9]),
    (6.0, [1.45, 1.30]),
    (9.0, [1.27, 1.15]),
    (10.0, [1.25, 1.13]),
    (12.0, [1.18, 1.11]),
    (13.3, [1.137, 1.10]),
    // For three cells a key, segments are twice as long from here on, so there are few of them.
    (13.6, [1.15, 1.0982]),
    (14.2, [1.14, 1.0947]),
    (15.0, [1.14, 1.09]),
    (17.0, [1.14, 1.085]),
    (20.0, [1.122, 1.067]),
    (21.5, [1.1125, 1.06]),
    (22.2, [1.108, 1.059]),
];

/// From 2^x keys on segments are twice as long if a key has three cells. Now and then two keys have the same cells, or
/// a few segments are too crowded for any solution. For that, one in five shards of five million keys was begun anew;
/// with longer segments none of forty was. The ends of so large an array hardly show.
const TWICE: f64 = 21.6;

/// The segments of the array of one shard of `keys` keys, of which a few may be set aside. There are never more cells
/// than those of Graf and Lemire ([`of_paper`]).
///
/// With longer segments peeling goes on by itself nearer to the threshold, and two keys rarely have the same cells. But
/// the array's ends are filled badly, so segments grow little faster than the square root of the keys.
pub fn segments(arity: u32, keys: u64) -> Segments {
    let (n, further) = (keys.max(2) as f64, u64::from(arity) - 1);
    let x = n.log2();
    let after = FACTORS.iter().position(|(from, _)| x < *from).unwrap_or(FACTORS.len());
    let of = |i: usize| FACTORS[i].1[usize::from(arity > 3)];
    let factor = match after {
        0 => of(0),
        i if i == FACTORS.len() => of(i - 1),
        i => {
            let (low, high) = (FACTORS[i - 1].0, FACTORS[i].0);
            of(i - 1) + (of(i) - of(i - 1)) * (x - low) / (high - low)
        }
    };
    let bits = match arity {
        3 if x >= TWICE => 0.55 * x + 2.55,
        3 => 0.55 * x + 1.55,
        _ => 0.55 * x + 0.55,
    };
    let bits = bits.floor().clamp(1.0, MAX_SEGMENT_BITS) as u32;
    let exact = n * factor / f64::from(1 << bits);
    // If segments are few, rounding their number down takes away more cells than can be spared. For few keys the
    // factors have room for that.
    let most_lost = match keys {
        0..3000 => 0.5,
        3000..12_000 => 0.01 * exact,
        _ => 0.0025 * exact,
    };
    let whole = if exact.fract() <= most_lost.min(0.5) { exact.floor() } else { exact.ceil() };
    let starts = (whole as u64).saturating_sub(further).max(1);
    let (own, of_paper) = (Segments { bits, starts }, of_paper(arity, keys));
    let cells = |segments: &Segments| (segments.starts + further) << segments.bits;
    if cells(&own) <= cells(&of_paper) { own } else { of_paper }
}

/// How many cells the array of one shard of `keys` keys has.
pub fn cells(arity: u32, keys: u64) -> u64 {
    let Segments { bits, starts } = segments(arity, keys);
    (starts + u64::from(arity) - 1) << bits
}

/// The most words of bits that hold the equations that are processed together while an array is solved.
pub const ASIDE_WORDS: u64 = 4;
/// At most this many free cells, and one more, are known for each of the keys set aside.
pub const ASIDE_FREE: u64 = 64;

/// How many keys can be set aside while an array of `cells` cells is solved.
pub fn most_aside(cells: u64) -> u64 {
    cells.clamp(1, 1 << 11)
}

/// How many cells can come into equations that are processed together.
pub fn aside_rows(cells: u64) -> u64 {
    cells.min(1 << 17)
}

/// Bytes for the keys that are set aside, and their equations.
pub fn aside_memory(cells: u64) -> u64 {
    most_aside(cells) * (56 + 4 * ASIDE_FREE) + aside_rows(cells) * (4 + 8 * ASIDE_WORDS)
}

/// The most bytes that solving takes on one thread, in addition to the payload and the records of `keys` keys in
/// memory. Records that do not lie in memory are copied, those of the largest shard together. Solving takes twelve
/// bytes for each cell of that shard, of which there are most if a key has three, and memory for the equations of keys
/// that are set aside.
pub fn build_memory(keys: u64) -> u64 {
    let shards = shards(keys);
    let mean = keys.div_ceil(shards);
    // No shard is larger than 6 standard deviations above the mean.
    let largest = if shards == 1 { mean } else { mean + 6 * mean.isqrt() };
    let cells = cells(3, largest);
    12 * cells + aside_memory(cells)
}
