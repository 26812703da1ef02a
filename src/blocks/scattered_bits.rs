//! Bits of a key that lie anywhere in an array, one for each multiple of its hash.

use crate::batch::ring::fetch_word;
use crate::bits::{GOLDEN, reduce, set_shared};
use core::sync::atomic::{AtomicU64, Ordering};

/// How many probes a lookup reads before it decides whether to go on. The processor reads the bits of one group
/// together. In a filter at its capacity an absent key fails in the first group with a probability of 15/16, so the
/// processor seldom guesses wrong, and the lines of the first group are those to fetch ahead.
pub const GROUP: usize = 4;

/// What the hash is multiplied by for each probe of a group; the last power leads to the next group. No product has to
/// wait for the one before it.
const POWERS: [u64; GROUP + 1] = {
    let (mut powers, mut i) = ([1; GROUP + 1], 1);
    while i <= GROUP {
        powers[i] = GOLDEN.wrapping_mul(powers[i - 1]);
        i += 1;
    }
    powers
};

/// Where the bits of a key lie. Probe i of a hash h is the bit `i stride + floor((h g^i mod 2^64) range / 2^64)`, where
/// g is the odd integer next to 2^64 divided by the golden ratio.
#[derive(Clone, Copy, Debug)]
pub struct ScatteredBits {
    /// Bits that a probe ranges over: all of them, or those of a slice.
    pub range: u64,
    /// Bits from one probe's range to the next one's; 0 where every probe ranges over all bits.
    pub stride: u64,
    /// How many probes a key has, at least 1.
    pub hashes: u32,
}

/// The inner loops for one key, out of line. Callers that go to other kernels then save no registers for these loops,
/// and a build without kinds whose bits lie anywhere has no code for them.
#[derive(Clone, Copy, Debug)]
pub struct ScatteredKernel {
    /// [`ScatteredBits::contains`].
    pub contains: fn(&ScatteredBits, &[AtomicU64], u64) -> bool,
    /// [`ScatteredBits::insert`].
    pub insert: fn(&ScatteredBits, &mut [u64], u64) -> bool,
    /// [`ScatteredBits::put`]. It has no answer, so this returns false.
    pub put: fn(&ScatteredBits, &mut [u64], u64) -> bool,
    /// [`ScatteredBits::insert_shared`].
    pub insert_shared: fn(&ScatteredBits, &[AtomicU64], u64) -> bool,
}

impl ScatteredKernel {
    /// The inner loops for every processor.
    pub const PORTABLE: &ScatteredKernel = &ScatteredKernel {
        contains: |bits, words, hash| bits.contains(words, hash),
        insert: |bits, words, hash| bits.insert(words, hash),
        put: |bits, words, hash| {
            bits.put(words, hash);
            false
        },
        insert_shared: |bits, words, hash| bits.insert_shared(words, hash),
    };
}

impl ScatteredBits {
    /// Visits all bits of a hash in order.
    #[inline(always)]
    pub fn each(&self, hash: u64, mut visit: impl FnMut(u64)) {
        self.fold(hash, (), |(), bit| visit(bit), |()| true);
    }

    /// Folds the bits of a hash, one after the other, into `state` by `step`. Ends after a group if `goes_on` says
    /// false of the state.
    #[inline(always)]
    pub fn fold<S: Copy>(&self, hash: u64, state: S, step: impl FnMut(S, u64) -> S, goes_on: impl Fn(S) -> bool) -> S {
        // Without slices the code has nothing to add.
        match self.stride {
            0 => self.fold_with::<false, S>(hash, state, step, goes_on),
            _ => self.fold_with::<true, S>(hash, state, step, goes_on),
        }
    }

    /// [`ScatteredBits::fold`], with slices or without.
    #[inline(always)]
    fn fold_with<const SLICED: bool, S: Copy>(
        &self,
        mut hash: u64,
        mut state: S,
        mut step: impl FnMut(S, u64) -> S,
        goes_on: impl Fn(S) -> bool,
    ) -> S {
        let (mut start, mut left) = (0, self.hashes);
        let mut probes = |hash: u64, start: u64, count: usize, mut state: S| {
            for (i, power) in POWERS[..count].iter().enumerate() {
                let slice = if SLICED { start + i as u64 * self.stride } else { 0 };
                state = step(state, slice + reduce(hash.wrapping_mul(*power), self.range));
            }
            state
        };
        // Each count is a constant, so the code has no loop.
        while left >= GROUP as u32 {
            state = probes(hash, start, GROUP, state);
            if !goes_on(state) {
                return state;
            }
            hash = hash.wrapping_mul(POWERS[GROUP]);
            start += GROUP as u64 * self.stride;
            left -= GROUP as u32;
        }
        match left {
            3 => probes(hash, start, 3, state),
            2 => probes(hash, start, 2, state),
            1 => probes(hash, start, 1, state),
            _ => state,
        }
    }

    /// Whether `test` says true of all bits of a hash. Asks about a whole group of them before it decides whether to go
    /// on.
    #[inline(always)]
    pub fn all(&self, hash: u64, mut test: impl FnMut(u64) -> bool) -> bool {
        self.fold(hash, true, |all, bit| all & test(bit), |all| all)
    }

    /// The bits of a hash in its first group.
    #[inline(always)]
    fn first(&self, hash: u64) -> impl Iterator<Item = u64> {
        let powers = POWERS.into_iter().take(GROUP.min(self.hashes as usize));
        (0..).zip(powers).map(move |(i, power)| i * self.stride + reduce(hash.wrapping_mul(power), self.range))
    }

    /// Asks for the lines of the first [`GROUP`] probes of a hash.
    #[inline]
    pub fn fetch(&self, words: &[AtomicU64], hash: u64) {
        self.first(hash).for_each(|bit| fetch_word(words, (bit / 64) as usize));
    }

    /// Whether the bits are set whose lines [`ScatteredBits::fetch`] asks for.
    #[inline]
    pub fn has_first(&self, words: &[AtomicU64], hash: u64) -> bool {
        let read = |bit: u64| words[(bit / 64) as usize].load(Ordering::Relaxed) >> (bit % 64);
        self.first(hash).fold(1, |all, bit| all & read(bit)) != 0
    }

    /// Whether all bits of a hash are set.
    #[inline(always)]
    pub fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        let read = |bit: u64| words[(bit / 64) as usize].load(Ordering::Relaxed) >> (bit % 64);
        self.fold(hash, 1, |all, bit| all & read(bit), |all| all & 1 != 0) & 1 != 0
    }

    /// Sets the bits of a hash. Returns whether any of them was not set.
    #[inline(always)]
    pub fn insert(&self, words: &mut [u64], hash: u64) -> bool {
        let set = |all: u64, bit: u64| {
            let word = &mut words[(bit / 64) as usize];
            let before = *word;
            *word = before | 1 << (bit % 64);
            all & before >> (bit % 64)
        };
        self.fold(hash, 1, set, |_| true) & 1 == 0
    }

    /// Sets the bits of a hash without looking whether they were set.
    #[inline(always)]
    pub fn put(&self, words: &mut [u64], hash: u64) {
        let end = self.stride.saturating_mul(u64::from(self.hashes) - 1).saturating_add(self.range);
        assert!(end <= words.len() as u64 * 64, "the bits lie in the words");
        // SAFETY: a bit of a hash lies in the range of its probe, and the last range ends within the words.
        self.each(hash, |bit| unsafe { *words.get_unchecked_mut((bit / 64) as usize) |= 1 << (bit % 64) });
    }

    /// Sets the bits of a hash while others set bits too. Returns whether any of them was not set.
    #[inline(always)]
    pub fn insert_shared(&self, words: &[AtomicU64], hash: u64) -> bool {
        let set = |new: bool, bit: u64| new | set_shared(&words[(bit / 64) as usize], 1 << (bit % 64));
        self.fold(hash, false, set, |_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    /// Probe after probe, as docs/format.md says it.
    fn places(bits: &ScatteredBits, hash: u64) -> Vec<u64> {
        let power = |i: u32| (0..i).fold(1_u64, |power, _| power.wrapping_mul(GOLDEN));
        let place = |i: u32| u64::from(i) * bits.stride + reduce(hash.wrapping_mul(power(i)), bits.range);
        (0..bits.hashes).map(place).collect()
    }

    #[test]
    fn every_number_of_probes_is_visited_in_order() {
        for hashes in 1..=64 {
            for stride in [0, 1009] {
                let bits = ScatteredBits { range: 1009, stride, hashes };
                let hash = mix(hashes.into());
                let mut visited = Vec::new();
                bits.each(hash, |bit| visited.push(bit));
                assert_eq!(visited, places(&bits, hash), "{hashes} probes, stride {stride}");
            }
        }
    }

    #[test]
    fn a_key_is_there_when_its_last_bit_is_set() {
        for hashes in 1..=64 {
            let bits = ScatteredBits { range: 64, stride: 64, hashes };
            let hash = mix(hashes.into());
            let places = places(&bits, hash);
            for missing in 0..hashes as usize {
                let mut words = vec![0_u64; hashes as usize];
                places.iter().for_each(|place| words[(place / 64) as usize] |= 1 << (place % 64));
                words[missing] = 0;
                let shared: Vec<AtomicU64> = words.iter().map(|word| AtomicU64::new(*word)).collect();
                assert!(!bits.contains(&shared, hash) && !bits.all(hash, |bit| words[(bit / 64) as usize] != 0));
                assert!(bits.insert_shared(&shared, hash) && !bits.insert_shared(&shared, hash));
                let mut put = words.clone();
                bits.put(&mut put, hash);
                assert!(bits.insert(&mut words, hash) && !bits.insert(&mut words, hash));
                assert_eq!(put, words);
                assert!(bits.contains(&shared, hash));
                assert!(words.iter().zip(&shared).all(|(word, shared)| *word == shared.load(Ordering::Relaxed)));
            }
        }
    }

    #[test]
    #[should_panic(expected = "the bits lie in the words")]
    fn bits_behind_the_words_are_not_put() {
        ScatteredBits { range: 64, stride: 64, hashes: 3 }.put(&mut [0; 2], 1);
    }
}
