//! Slots of any number of bits, one after the other: slot i is bits `i width` to `i width + width - 1` of little-endian
//! words. 0 is an empty slot.

use core::sync::atomic::{AtomicU64, Ordering};

/// The slots of a table, and where they lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// How many slots there are.
    pub count: u64,
    /// The bits of one slot, from 1 to 63. All slots together have fewer than 2^63.
    pub width: u32,
}

impl Slots {
    /// The greatest number that a slot holds.
    #[inline]
    pub fn greatest(&self) -> u64 {
        (1 << self.width) - 1
    }

    /// The first and the last word that a slot has bits in, which may be the same.
    #[inline]
    pub fn words_of(&self, slot: u64) -> [usize; 2] {
        let bit = slot * u64::from(self.width);
        [bit / 64, (bit + u64::from(self.width) - 1) / 64].map(|word| word as usize)
    }

    /// What is in a slot, where `word` gives words by their places.
    #[inline]
    pub fn get_by(&self, slot: u64, word: impl Fn(usize) -> u64) -> u64 {
        let bit = slot * u64::from(self.width);
        let (first, shift) = ((bit / 64) as usize, bit % 64);
        let low = word(first) >> shift;
        let high = if shift + u64::from(self.width) > 64 { word(first + 1) << (64 - shift) } else { 0 };
        (low | high) & self.greatest()
    }

    /// What is in a slot.
    #[inline]
    pub fn get(&self, words: &[AtomicU64], slot: u64) -> u64 {
        self.get_by(slot, |word| words[word].load(Ordering::Relaxed))
    }

    /// Puts a number into an empty slot.
    #[inline]
    pub fn put(&self, words: &mut [u64], slot: u64, number: u64) {
        let (shift, [first, last]) = (slot * u64::from(self.width) % 64, self.words_of(slot));
        words[first] |= number << shift;
        if last > first {
            words[last] |= number >> (64 - shift);
        }
    }

    /// Puts a number into a slot, and overwrites what is there.
    #[inline]
    pub fn set(&self, words: &mut [u64], slot: u64, number: u64) {
        let bit = slot * u64::from(self.width);
        let (first, shift) = ((bit / 64) as usize, bit % 64);
        words[first] = words[first] & !(self.greatest() << shift) | number << shift;
        if shift + u64::from(self.width) > 64 {
            words[first + 1] = words[first + 1] & !(self.greatest() >> (64 - shift)) | number >> (64 - shift);
        }
    }

    /// How many slots are not empty. Reads all of them, and reports the bytes of every piece to `progress`.
    pub fn taken(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> u64 {
        const PIECE: u64 = 1 << 16;
        let (mut taken, mut told) = (0, 0);
        for start in (0..self.count).step_by(PIECE as usize) {
            let end = self.count.min(start + PIECE);
            taken += (start..end).filter(|slot| self.get(words, *slot) != 0).count() as u64;
            let bytes = (end * u64::from(self.width)).div_ceil(8);
            progress(bytes - told);
            told = bytes;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_holds_its_numbers_apart() {
        for width in 1..=63 {
            let slots = Slots { count: 200, width };
            let number = |i: u64| 1 + crate::bits::mix(i) % slots.greatest();
            let mut words = vec![0; (200 * width as usize).div_ceil(64)];
            (0..200).step_by(2).for_each(|i| slots.put(&mut words, i, number(i)));
            // What is replaced leaves nothing behind, in its slot or next to it.
            for i in (0..200).step_by(2) {
                slots.set(&mut words, i, slots.greatest());
                slots.set(&mut words, i, number(i));
            }
            let words: Vec<AtomicU64> = words.into_iter().map(AtomicU64::new).collect();
            for i in 0..200 {
                assert_eq!(slots.get(&words, i), if i % 2 == 0 { number(i) } else { 0 }, "slot {i} of {width} bits");
            }
            let mut bytes = 0;
            assert_eq!(slots.taken(&words, &mut |some| bytes += some), 100);
            assert_eq!(bytes, (200 * u64::from(width)).div_ceil(8));
        }
    }
}
