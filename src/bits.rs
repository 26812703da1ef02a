//! Small operations on arrays of bits.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

/// A position in `0..range` from a uniform 64-bit hash: the high half of the product. It uses the high bits of the
/// hash, needs no division, and scales: `reduce(h, n * d) / d == reduce(h, n)`, which is what folding rests on.
#[inline]
pub fn reduce(hash: u64, range: u64) -> u64 {
    // WebAssembly has no 128-bit product except by a call.
    if cfg!(target_family = "wasm") && range >> 32 == 0 {
        return reduce_to_few(hash, range);
    }
    ((u128::from(hash) * u128::from(range)) >> 64) as u64
}

/// [`reduce`] for a range below 2^32, with products of 64 bits.
#[inline(always)]
fn reduce_to_few(hash: u64, range: u64) -> u64 {
    // The sum is below 2^64: (2^32 - 1)^2 + 2^32 - 1.
    ((hash >> 32) * range + (((hash & 0xffff_ffff) * range) >> 32)) >> 32
}

/// The 64-bit finaliser of MurmurHash3 with Stafford's thirteenth set of constants (as in SplitMix64): a bijection in
/// which every input bit moves every output bit.
#[inline]
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(MIX);
    x = (x ^ (x >> 27)).wrapping_mul(MIX_SCATTERED);
    x ^ (x >> 31)
}

/// The first multiplier of [`mix`].
pub const MIX: u64 = 0xbf58_476d_1ce4_e5b9;

/// The second.
pub const MIX_SCATTERED: u64 = 0x94d0_49bb_1331_11eb;

/// 2^64 over the golden ratio, made odd.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bits of a byte as bytes of 0 or 1, the lowest first: what a mask of eight lanes is for kernels whose vectors are
/// not masked by bits.
pub static BYTES_OF_BITS: [u64; 256] = {
    let (mut bytes, mut byte) = ([0; 256], 0);
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            bytes[byte] |= (byte as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    bytes
};

/// Asks for the cache line of a word that is about to be read. Does nothing where the processor has no such
/// instruction.
#[inline]
pub fn prefetch<T>(word: &T) {
    let address = core::ptr::from_ref(word).cast::<i8>();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing that a program can see, and every x86-64 processor has it.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch changes nothing that a program can see, and every aarch64 processor has it.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// Whether the eight bytes from `byte` on are all among the words.
#[inline]
pub fn holds_eight<T>(words: &[T], byte: u64) -> bool {
    const { assert!(size_of::<T>() == 8) };
    byte < (words.len() as u64 * 8).saturating_sub(7)
}

/// The eight bytes from `byte` on as a little-endian number; 0 if they are not all among the words.
#[inline]
pub fn read_unaligned(words: &[AtomicU64], byte: u64) -> u64 {
    if !holds_eight(words, byte) {
        return 0;
    }
    // SAFETY: `byte + 8` is at most the length of the words in bytes, as was just checked. Only words of payloads that
    // nobody changes once they are made are read like this; a file that another program changes all the same can give
    // any number, as it can to every kernel.
    unsafe { words.as_ptr().cast::<u8>().add(byte as usize).cast::<u64>().read_unaligned() }
}

/// The eight bytes from `byte` on of words that nobody else has, as a little-endian number; 0 if they are not all among
/// the words.
#[inline]
pub fn read_own_unaligned(words: &[u64], byte: u64) -> u64 {
    if !holds_eight(words, byte) {
        return 0;
    }
    // SAFETY: `byte + 8` is at most the length of the words in bytes, as was just checked.
    unsafe { words.as_ptr().cast::<u8>().add(byte as usize).cast::<u64>().read_unaligned() }
}

/// Writes a number as the eight bytes from `byte` on, little-endian. Returns false, with nothing written, if they are
/// not all among the words.
#[inline]
pub fn write_unaligned(words: &mut [u64], byte: u64, number: u64) -> bool {
    if !holds_eight(words, byte) {
        return false;
    }
    // SAFETY: `byte + 8` is at most the length of the words in bytes, as was just checked; any bytes are numbers.
    unsafe { words.as_mut_ptr().cast::<u8>().add(byte as usize).cast::<u64>().write_unaligned(number) };
    true
}

/// Whether the bit at `position` is set.
#[inline]
pub fn test(words: &[AtomicU64], position: u64) -> bool {
    words[(position / 64) as usize].load(Ordering::Relaxed) >> (position % 64) & 1 == 1
}

/// Sets the bit at `position`; true if it was not set before.
#[inline]
pub fn set(words: &mut [u64], position: u64) -> bool {
    let (word, mask) = (&mut words[(position / 64) as usize], 1 << (position % 64));
    let new = *word & mask == 0;
    *word |= mask;
    new
}

/// Sets the bits of `mask` in a word that others may be setting bits in at the same time; true if one of them was not
/// set before. A word that has them all is not written, so that its cache line stays shared between processors.
#[inline]
pub fn set_shared(word: &AtomicU64, mask: u64) -> bool {
    mask & !word.load(Ordering::Relaxed) != 0 && mask & !word.fetch_or(mask, Ordering::Relaxed) != 0
}

/// How many bits are set.
pub fn count_ones(words: &[AtomicU64]) -> u64 {
    let batches = words.chunks_exact(ROWS * COLUMNS);
    let rest: u64 = batches.remainder().iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum();
    let mut counter = Counter::default();
    batches.for_each(|batch| counter.add(batch));
    rest + counter.total()
}

/// A long reading says how far it is after this many words: a mebibyte.
pub const PIECE_WORDS: usize = 1 << 17;

/// Words whose bits at one place are added up before they are counted.
const ROWS: usize = 8;
/// Places that are worked on side by side, so that the compiler uses vector instructions.
const COLUMNS: usize = 8;

/// Counts set bits after Harley and Seal (Warren, "Hacker's Delight", 2012, section 5-1). Three words at a time become
/// two: one has the low bits of the sums, the other their carries. So only one word of eight has to be counted.
#[derive(Default)]
struct Counter {
    ones: [u64; COLUMNS],
    twos: [u64; COLUMNS],
    fours: [u64; COLUMNS],
    eights: [u64; COLUMNS],
}

impl Counter {
    /// `ROWS * COLUMNS` more words.
    fn add(&mut self, words: &[AtomicU64]) {
        let words: [[u64; COLUMNS]; ROWS] = core::array::from_fn(|row| {
            core::array::from_fn(|column| words[row * COLUMNS + column].load(Ordering::Relaxed))
        });
        #[expect(clippy::needless_range_loop, reason = "i is a column of nine arrays")]
        for i in 0..COLUMNS {
            let (a, ones) = carry(self.ones[i], words[0][i], words[1][i]);
            let (b, ones) = carry(ones, words[2][i], words[3][i]);
            let (c, twos) = carry(self.twos[i], a, b);
            let (a, ones) = carry(ones, words[4][i], words[5][i]);
            let (b, ones) = carry(ones, words[6][i], words[7][i]);
            let (d, twos) = carry(twos, a, b);
            let (eights, fours) = carry(self.fours[i], c, d);
            (self.ones[i], self.twos[i], self.fours[i]) = (ones, twos, fours);
            self.eights[i] += u64::from(eights.count_ones());
        }
    }

    fn total(&self) -> u64 {
        let count = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        8 * self.eights.iter().sum::<u64>() + 4 * count(&self.fours) + 2 * count(&self.twos) + count(&self.ones)
    }
}

/// The carries and the low bits of the sums of three bits.
#[inline]
fn carry(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    ((a & b) | (half & c), half ^ c)
}

/// How many bits are set in either of two arrays of the same length.
pub fn count_ones_of_union(words: &[AtomicU64], others: &[AtomicU64]) -> u64 {
    let both = words.iter().zip(others);
    both.map(|(a, b)| u64::from((a.load(Ordering::Relaxed) | b.load(Ordering::Relaxed)).count_ones())).sum()
}

/// Sets the bits of `others` too.
pub fn unite(words: &mut [u64], others: &[AtomicU64]) {
    for (word, other) in words.iter_mut().zip(others) {
        *word |= other.load(Ordering::Relaxed);
    }
}

/// How many bits are set in `from..to`.
pub fn count_ones_in(words: &[AtomicU64], from: u64, to: u64) -> u64 {
    if from >= to {
        return 0;
    }
    let (first, last) = ((from / 64) as usize, ((to - 1) / 64) as usize);
    let mut ones = count_ones(&words[first..=last]);
    let low = words[first].load(Ordering::Relaxed) & ((1 << (from % 64)) - 1);
    let high = words[last].load(Ordering::Relaxed) & !(u64::MAX >> (63 - (to - 1) % 64));
    ones -= u64::from(low.count_ones()) + u64::from(high.count_ones());
    ones
}

/// Clears all bits in `from..to`.
pub fn clear(words: &mut [u64], from: u64, to: u64) {
    if from >= to {
        return;
    }
    let (first, last) = ((from / 64) as usize, ((to - 1) / 64) as usize);
    let (low, high) = (u64::MAX << (from % 64), u64::MAX >> (63 - (to - 1) % 64));
    if first == last {
        words[first] &= !(low & high);
        return;
    }
    words[first] &= !low;
    words[first + 1..last].fill(0);
    words[last] &= !high;
}

/// The places of `count` neighbours in a ring of `of` places, from `first` on: those up to the end, and those after it.
/// All places if `count` is more than `of`.
pub fn arc(first: u64, count: u64, of: u64) -> [Range<u64>; 2] {
    let count = count.min(of);
    let to_end = count.min(of - first);
    [first..first + to_end, 0..count - to_end]
}

/// The positions of the set bits, in order.
pub fn ones(words: &[AtomicU64]) -> impl Iterator<Item = u64> {
    words.iter().enumerate().flat_map(|(i, word)| {
        let mut rest = word.load(Ordering::Relaxed);
        core::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                i as u64 * 64 + u64::from(bit)
            })
        })
    })
}

/// Whether all bits from `position` on are zero.
pub fn is_zero_from(words: &[AtomicU64], position: u64) -> bool {
    count_ones_in(words, position, words.len() as u64 * 64) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_halves_reduce_to_the_same() {
        let mut hash = GOLDEN;
        for range in [1, 2, 3, 1 << 16, (1 << 31) + 12_345, u64::from(u32::MAX) - 1, u64::from(u32::MAX)] {
            for edge in [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX - 1, u64::MAX] {
                assert_eq!(reduce_to_few(edge, range), reduce(edge, range), "{edge} in {range}");
            }
            for _ in 0..10_000 {
                hash = mix(hash);
                assert_eq!(reduce_to_few(hash, range), reduce(hash, range), "{hash} in {range}");
            }
        }
    }

    #[test]
    fn ranges_are_cleared_and_arcs_are_ranges() {
        for (from, to) in [(0, 0), (0, 320), (3, 5), (3, 64), (64, 128), (60, 70), (1, 319), (127, 129), (128, 320)] {
            let mut words = [u64::MAX; 5];
            clear(&mut words, from, to);
            let is_set = |position: u64| words[(position / 64) as usize] >> (position % 64) & 1 == 1;
            assert!((0..320).all(|position| is_set(position) != (from..to).contains(&position)), "{from}..{to}");
        }
        for (first, count, of) in [(0, 0, 3), (2, 1, 3), (2, 2, 3), (1, 3, 3), (1, 9, 3), (0, 3, 3)] {
            let places: Vec<u64> = arc(first, count, of).into_iter().flatten().collect();
            assert_eq!(places, (first..first + count.min(of)).map(|place| place % of).collect::<Vec<_>>());
        }
    }

    #[test]
    fn ranges_of_ones_agree_with_single_bits() {
        let words: Vec<AtomicU64> = (1..6_u64).map(|i| AtomicU64::new(mix(i))).collect();
        for from in (0..320).step_by(7) {
            for to in (from..=320).step_by(5) {
                let expected = (from..to).filter(|i| test(&words, *i)).count() as u64;
                assert_eq!(count_ones_in(&words, from, to), expected, "{from}..{to}");
            }
        }
        assert_eq!(ones(&words).collect::<Vec<_>>(), (0..320).filter(|i| test(&words, *i)).collect::<Vec<_>>());
    }

    #[test]
    fn many_words_are_counted() {
        for length in [0, 63, 64, 65, 500, 10_000] {
            let words: Vec<AtomicU64> = (0..length).map(|i| AtomicU64::new(mix(i) | mix(!i))).collect();
            let expected = words.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum::<u64>();
            assert_eq!(count_ones(&words), expected);
        }
    }

    #[test]
    fn reduction_folds() {
        for i in 0..1000 {
            let hash = mix(i);
            assert_eq!(reduce(hash, 12 * 1000) / 12, reduce(hash, 1000));
        }
    }
}
