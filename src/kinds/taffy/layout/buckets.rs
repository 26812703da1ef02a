//! The slots of a bucket, side by side in one number, or in two or four. A question about the slots is computed for all
//! of them together, without a branch, because chance decides which slot is the right one.

use super::{BUCKET, ones};
use crate::bits::{read_own_unaligned, write_unaligned};
use crate::blocks::source::{Source, window};
use core::hint::select_unpredictable;

/// How the slots of a bucket lie in numbers, the bucket's windows. Each window has as many slots as eight bytes hold,
/// at whichever multiple of four bits in its first byte the bucket begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    /// Bits of a slot.
    width: u32,
    /// Windows of a bucket: 1, 2 or 4.
    pub windows: u32,
    /// Bits of a window.
    pub bits: u64,
    /// The lowest bit of each slot of a window, and the highest.
    pub ones: u64,
    pub highs: u64,
}

impl Lanes {
    /// The lanes for slots of `width` bits, at most 32.
    #[inline(always)]
    pub fn new(width: u32) -> Lanes {
        // Two such slots begin at any even bit.
        let windows = if width <= 16 {
            1
        } else if width <= 29 {
            2
        } else {
            4
        };
        let two = 1 | 1 << width;
        let all = match windows {
            1 => two | two << (2 * width),
            2 => two,
            _ => 1,
        };
        Lanes {
            width,
            windows,
            bits: BUCKET / u64::from(windows) * u64::from(width),
            ones: all,
            highs: all << (width - 1),
        }
    }

    /// The windows of the bucket that begins at a bit. The bits above a window's slots may belong to other slots.
    #[inline(always)]
    pub fn read<const N: usize>(&self, words: &(impl Source + ?Sized), bit: u64) -> [u64; N] {
        core::array::from_fn(|i| {
            let bit = bit + i as u64 * self.bits;
            words.eight(bit).unwrap_or_else(|| window(words, bit))
        })
    }

    /// The value in a slot of a bucket.
    #[inline(always)]
    pub fn slot<const N: usize>(&self, windows: &[u64; N], slot: usize) -> u64 {
        let each = BUCKET as usize / N;
        windows[slot / each] >> ((slot % each) as u32 * self.width) & ones(self.width)
    }

    /// The highest bits of the slots that are not 0.
    #[inline(always)]
    fn taken(&self, window: u64) -> u64 {
        let lows = self.highs - self.ones;
        ((window & lows).wrapping_add(lows) | window) & self.highs
    }

    /// The highest bits of the empty slots of a bucket.
    #[inline(always)]
    pub fn empty<const N: usize>(&self, windows: &[u64; N]) -> [u64; N] {
        windows.map(|window| self.taken(window) ^ self.highs)
    }

    /// Whether a slot of a bucket agrees with a key in all bits that the slot knows.
    ///
    /// The highest one of a slot ends the known bits, and all bits below that one have to be those of the key. So the
    /// slot must have no bit above the lowest bit that differs. Where no bit differs, the slot's highest bit stands for
    /// the lowest difference, and no bit is above it.
    #[inline(always)]
    pub fn has<const N: usize>(&self, windows: &[u64; N], wanted: u64) -> bool {
        let pattern = wanted.wrapping_mul(self.ones);
        let found = windows.map(|window| {
            let differ = (window ^ pattern) | self.highs;
            let upto = differ ^ differ.wrapping_sub(self.ones);
            self.taken(window) & !self.taken(window & !upto)
        });
        found.into_iter().fold(0, |all, found| all | found) != 0
    }

    /// How many of these highest bits are set.
    #[inline(always)]
    fn count<const N: usize>(&self, highs: &[u64; N]) -> u64 {
        // This sums up the windows. Each slot of the last window gets the sum of the slots up to it.
        let sum: u64 = highs.iter().map(|highs| highs >> (self.width - 1)).sum();
        let last = (BUCKET as u32 / self.windows - 1) * self.width;
        sum.wrapping_mul(self.ones) >> last & (2 * BUCKET - 1)
    }

    /// The slot for a key: which of two buckets, and how many bits after the bucket's first bit. The slot is the first
    /// empty one of the emptier bucket. `None` if both buckets are full.
    #[inline(always)]
    pub fn room<const N: usize>(&self, empty: [&[u64; N]; 2]) -> Option<(usize, u64)> {
        if empty.into_iter().flatten().fold(0, |all, empty| all | empty) == 0 {
            return None;
        }
        let is_second = self.count(empty[0]) < self.count(empty[1]);
        let highs: [u64; N] = core::array::from_fn(|i| select_unpredictable(is_second, empty[1][i], empty[0][i]));
        Some((usize::from(is_second), self.first(&highs)))
    }

    /// How many bits after a bucket's first bit the slot begins that has the first of some highest bits. At least one
    /// must be set.
    #[inline(always)]
    pub fn first<const N: usize>(&self, highs: &[u64; N]) -> u64 {
        let (mut first, mut before) = (highs[0], 0);
        for (i, highs) in highs.iter().enumerate().skip(1) {
            let is_full = first == 0;
            first = select_unpredictable(is_full, *highs, first);
            before = select_unpredictable(is_full, i as u64 * self.bits, before);
        }
        before + u64::from((first.trailing_zeros() + 1).wrapping_sub(self.width) & 63)
    }

    /// Puts a number into an empty slot, which begins `after` bits after the first bit of a bucket.
    #[inline(always)]
    pub fn put_at(&self, words: &mut [u64], bucket: u64, after: u64, number: u64) {
        // A slot lies within the eight bytes from the byte in which it begins.
        let bit = if self.windows == 1 { bucket } else { bucket + after };
        let eight = read_own_unaligned(words, bit / 8) | number << (bit % 8 + bucket + after - bit);
        let is_written = write_unaligned(words, bit / 8, eight);
        debug_assert!(is_written, "there are eight bytes after the first of each bucket");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    /// Compares what buckets say with what their slots say one by one.
    fn agree<const N: usize>(width: u32) {
        let lanes = Lanes::new(width);
        assert_eq!(lanes.windows as usize, N);
        let size = BUCKET * u64::from(width);
        for i in 0..4000 {
            let random = |j: u64| mix(i << 8 | j);
            let mut words = [0_u64; 24];
            // The words around the bucket hold other values.
            words.iter_mut().zip(100..).for_each(|(word, j)| *word = random(j));
            let buckets = [random(0) % 4 * size, (4 + random(1) % 4) * size];
            let (mut slots, wanted) = ([[0; BUCKET as usize]; 2], random(2) & ones(width - 1));
            for (bucket, values) in buckets.iter().zip(&mut slots) {
                for (slot, value) in (0..).zip(values) {
                    let number = random(8 + bucket + slot);
                    // Some slots are empty, some agree with the wanted bits up to some bit, and some have any bits.
                    let known = 1 + (number >> 40) as u32 % width;
                    *value = match number >> 60 {
                        0..5 => 0,
                        5..9 => wanted & ones(known - 1) | 1 << (known - 1),
                        9 => wanted,
                        _ => number & ones(width),
                    };
                    let bit = (bucket + slot * u64::from(width)) as usize;
                    let low = &mut words[bit / 64];
                    *low = *low & !(ones(width) << (bit % 64)) | *value << (bit % 64);
                    if bit % 64 + width as usize > 64 {
                        let (high, shift) = (&mut words[bit / 64 + 1], 64 - bit % 64);
                        *high = *high & !(ones(width) >> shift) | *value >> shift;
                    }
                }
            }
            let read = buckets.map(|bit| lanes.read::<N>(&words[..], bit));
            for (windows, values) in read.iter().zip(slots) {
                assert_eq!(core::array::from_fn(|slot| lanes.slot(windows, slot)), values);
                let has = values.into_iter().any(|value| value != 0 && (value ^ wanted) & ones(value.ilog2()) == 0);
                assert_eq!(lanes.has(windows, wanted), has, "{width}: {values:x?}, {wanted:x}");
            }
            let empty = slots.map(|values| values.into_iter().filter(|value| *value == 0).count());
            let which = usize::from(empty[1] > empty[0]);
            let first = (0_u64..).zip(slots[which]).find(|(_, value)| *value == 0).map(|(slot, _)| slot);
            let found = lanes.room([&lanes.empty(&read[0]), &lanes.empty(&read[1])]);
            assert_eq!(found, first.map(|slot| (which, slot * u64::from(width))), "{width}: {slots:x?}");
            let Some(slot) = first else { continue };
            lanes.put_at(&mut words, buckets[which], slot * u64::from(width), wanted);
            slots[which][slot as usize] = wanted;
            for (bit, values) in buckets.into_iter().zip(slots) {
                let windows = lanes.read::<N>(&words[..], bit);
                assert_eq!(core::array::from_fn(|slot| lanes.slot(&windows, slot)), values);
            }
        }
    }

    #[test]
    fn windows_say_what_slots_say() {
        (11..=16).for_each(agree::<1>);
        (17..=29).for_each(agree::<2>);
        (30..=32).for_each(agree::<4>);
    }
}
