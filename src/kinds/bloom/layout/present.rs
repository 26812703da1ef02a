//! The present rate of derivations with dependent probes. It is not a function of the fill.
//!
//! Small filters are counted: for every pair of words (b, c) that hashes can have, 64 values of `a` are tried at a
//! time, whose bits lie side by side. The partitioned layout is counted slice by slice. Counting is exact, whatever was
//! inserted. Larger filters, which would take more than [`MOST_READS`] reads, go to [`crate::sizing::dependent`]. In
//! these, dependence adds only a small part of the rate, or a sum over enough hashes to be near its mean.

use super::Bloom;
use super::derivation::{Derivation, Probes};
use crate::blocks::ScatteredBits;
use crate::sizing::dependent::Scheme;
use core::sync::atomic::{AtomicU64, Ordering};

/// How many reads of 64 bits counting may take: some milliseconds.
const MOST_READS: u64 = 1 << 22;

/// The share of all hashes whose bits are all set; `None` if there are too many to try.
pub fn count_out(shape: &Bloom, scheme: Scheme, words: &[AtomicU64]) -> Option<f64> {
    let Bloom { bits: ScatteredBits { range, hashes, .. }, derivation, .. } = *shape;
    let thirds = if scheme == Scheme::Triple { range } else { 1 };
    let pairs = range.checked_mul(thirds).filter(|pairs| *pairs <= MOST_READS)?;
    let reads = pairs.checked_mul(range.div_ceil(64))?.checked_mul(hashes.into())?;
    if reads > MOST_READS {
        return None;
    }
    let mut found = 0;
    for c in 0..thirds {
        for b in 0..range {
            found += positions(shape, words, derivation, b, c);
        }
    }
    Some(found as f64 / range as f64 / pairs as f64)
}

/// For how many values of `a` all bits are set, given the other words.
fn positions(shape: &Bloom, words: &[AtomicU64], derivation: Derivation, b: u64, c: u64) -> u64 {
    let mut found = 0;
    for first in (0..shape.bits.range).step_by(64) {
        let mut probes = Probes::of_words(derivation, first, b, c, shape.bits.range);
        let mut set = u64::MAX >> (64 - (shape.bits.range - first).min(64));
        for i in 0..u64::from(shape.bits.hashes) {
            set &= window(words, i * shape.bits.stride, shape.bits.range, probes.next_position());
            if set == 0 {
                break;
            }
        }
        found += u64::from(set.count_ones());
    }
    found
}

/// The bits from `position` on among the `range` bits that begin at bit `start`, going on with the first of these bits
/// after the last.
fn window(words: &[AtomicU64], start: u64, range: u64, position: u64) -> u64 {
    if position + 64 <= range {
        return bits_from(words, start + position);
    }
    // The window may cross the end, even more than once. Bits past the wanted 64 fall out.
    let (mut bits, mut have, mut at) = (0, 0, position);
    while have < 64 {
        let more = (range - at).min(64);
        bits |= (bits_from(words, start + at) & (u64::MAX >> (64 - more))) << have;
        have += more;
        at = 0;
    }
    bits
}

/// The 64 bits from `position` on; zeros after the last word.
fn bits_from(words: &[AtomicU64], position: u64) -> u64 {
    let (word, shift) = ((position / 64) as usize, position % 64);
    let get = |word: usize| words.get(word).map_or(0, |word| word.load(Ordering::Relaxed));
    let low = get(word) >> shift;
    if shift == 0 { low } else { low | get(word + 1) << (64 - shift) }
}
