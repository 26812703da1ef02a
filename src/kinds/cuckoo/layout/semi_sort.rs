//! Semi-sorted buckets of four slots, which take one bit less for each slot.
//!
//! The order of entries in a bucket means nothing, so entries are kept ascending. Then the highest four bits of the
//! entries have only 3876 combinations, which are numbered in 12 bits instead of 16. Four-bit numbers `a <= b <= c <=
//! d` have the number `C(a, 1) + C(b + 1, 2) + C(c + 2, 3) + C(d + 3, 4)`. Empty slots are zeros, and so come first.
//! The lower bits of the entries follow in the same order.

use super::MAX_SLOTS;
use crate::blocks::source::{Source, flip, window};
use crate::order::sort;

/// How many slots a bucket has.
const SLOTS: usize = 4;
/// How many bits of an entry the number covers.
const HIGH_BITS: u32 = 4;
/// How many bits the number has.
const CODE_BITS: u32 = 12;
/// How many numbers there are.
const CODES: usize = 3876;

/// `n (n + 1) ... (n + k - 1) / k!`, the number of ascending sequences of k numbers below n.
const fn sequences(n: u64, k: u64) -> u64 {
    let (mut product, mut i) = (1, 0);
    while i < k {
        product = product * (n + i) / (i + 1);
        i += 1;
    }
    product
}

/// The number of an ascending sequence.
const fn code(highs: [u64; SLOTS]) -> u64 {
    sequences(highs[0], 1) + sequences(highs[1], 2) + sequences(highs[2], 3) + sequences(highs[3], 4)
}

/// The sequences by their numbers, the first number of each in the lowest bits.
const fn all_sequences() -> [u16; CODES] {
    let mut all = [0; CODES];
    let mut packed: u64 = 0;
    while packed < 1 << 16 {
        let highs = [packed & 15, packed >> 4 & 15, packed >> 8 & 15, packed >> 12];
        if highs[0] <= highs[1] && highs[1] <= highs[2] && highs[2] <= highs[3] {
            all[code(highs) as usize] = packed as u16;
        }
        packed += 1;
    }
    all
}

/// The list of [`all_sequences`].
#[cfg(not(target_family = "wasm"))]
static SEQUENCES: [u16; CODES] = all_sequences();

/// The list of [`all_sequences`], which a module that browsers load computes itself.
#[cfg(target_family = "wasm")]
static SEQUENCES: std::sync::LazyLock<[u16; CODES]> = std::sync::LazyLock::new(all_sequences);

#[inline]
fn code_at(words: &(impl Source + ?Sized), bit: u64) -> u64 {
    window(words, bit) & ((1 << CODE_BITS) - 1)
}

/// The entries of the bucket that begins at a bit. An invalid code stands for empty slots.
#[inline]
pub(super) fn entries(words: &(impl Source + ?Sized), bit: u64, width: u32) -> [u64; MAX_SLOTS] {
    let highs = SEQUENCES.get(code_at(words, bit) as usize).map_or(0, |highs| u64::from(*highs));
    let low = width - HIGH_BITS;
    let mask = (1 << low) - 1;
    let mut entries = [0; MAX_SLOTS];
    for (i, entry) in (0..).zip(&mut entries[..SLOTS]) {
        let lows = window(words, bit + u64::from(CODE_BITS + i * low)) & mask;
        *entry = (highs >> (i * HIGH_BITS) & 15) << low | lows;
    }
    entries
}

/// Whether an entry is in the bucket that begins at a bit.
#[inline]
pub(super) fn has(words: &(impl Source + ?Sized), bit: u64, width: u32, entry: u64) -> bool {
    entries(words, bit, width)[..SLOTS].contains(&entry)
}

/// Replaces one entry `old` of the bucket that begins at a bit by `new`. Returns false if there is no `old`.
#[inline]
pub(super) fn replace(words: &mut [u64], bit: u64, width: u32, old: u64, new: u64) -> bool {
    let before = entries(words, bit, width);
    let Some(slot) = before[..SLOTS].iter().position(|entry| *entry == old) else { return false };
    let mut after = before;
    after[slot] = new;
    sort(&mut after[..SLOTS]);
    let low = width - HIGH_BITS;
    let highs: [u64; SLOTS] = core::array::from_fn(|i| after[i] >> low);
    flip(words, bit, code_at(words, bit) ^ code(highs));
    for (i, (before, after)) in (0..).zip(before.iter().zip(&after[..SLOTS])) {
        flip(words, bit + u64::from(CODE_BITS + i * low), (before ^ after) & ((1 << low) - 1));
    }
    true
}

/// Whether the bucket that begins at a bit has a valid code, and its entries ascend.
pub(super) fn is_clean(words: &(impl Source + ?Sized), bit: u64, width: u32) -> bool {
    (code_at(words, bit) as usize) < CODES && entries(words, bit, width)[..SLOTS].is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_has_a_number_of_its_own() {
        let mut seen = 0;
        for (number, packed) in SEQUENCES.iter().enumerate() {
            let highs = [0, 4, 8, 12].map(|shift| u64::from(packed >> shift & 15));
            assert!(highs.is_sorted() && code(highs) == number as u64);
            seen += 1;
        }
        assert_eq!((seen, sequences(16, 4)), (CODES, CODES as u64));
    }
}
