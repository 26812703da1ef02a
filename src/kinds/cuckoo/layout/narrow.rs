//! Buckets that lie in the eight bytes from the byte in which they begin, as most do. Each bucket is one read, and the
//! answer of a key's two buckets is computed without a branch: chance decides which bucket holds a key and where there
//! is room, so a processor that guesses is wrong half of the time.
//!
//! Tests compare this code with the plain code of `mod.rs` for buckets of any size.

use super::{Buckets, Look, MAX_SLOTS, Place};
use crate::bits::{read_own_unaligned, write_unaligned};
use crate::blocks::source::{Source, window};
use core::hint::select_unpredictable;

/// Whether buckets of `size` bits lie in the eight bytes from the byte in which they begin, wherever they begin.
pub(super) const fn suits(size: u64) -> bool {
    let before = match size.trailing_zeros() {
        zeros @ 0..3 => 8 - (1 << zeros),
        _ => 0,
    };
    size + before <= 64
}

/// The factor by which the highest bits of slots are multiplied to count them: [`Buckets::count_highs`].
pub(super) const fn counter(slots: u32, width: u32) -> u64 {
    let (mut counter, mut slot) = (0, 1);
    while slot <= slots {
        counter |= 1 << (64 - slot * width);
        slot += 1;
    }
    counter
}

impl Buckets {
    /// The bits of a bucket. The bits above it may belong to other buckets.
    #[inline(always)]
    fn eight(&self, words: &(impl Source + ?Sized), bucket: u64) -> u64 {
        let bit = bucket * self.size;
        words.eight(bit).unwrap_or_else(|| window(words, bit))
    }

    /// Both buckets of a place, if neither lies in the last few bytes of the words.
    #[inline(always)]
    fn pair(&self, words: &(impl Source + ?Sized), place: Place) -> Option<[u64; 2]> {
        Some([words.eight(place.bucket * self.size)?, words.eight(place.other * self.size)?])
    }

    /// The highest bits of the slots that are not 0, among other bits.
    #[inline(always)]
    fn taken(&self, eight: u64) -> u64 {
        (eight & self.lows).wrapping_add(self.lows) | eight
    }

    /// How many of the highest bits of slots are set. In the product the terms of each slot with itself add up at bit
    /// 60, and the other terms come below or fall out at the top.
    #[inline(always)]
    fn count_highs(&self, highs: u64) -> u64 {
        (highs >> 3).wrapping_mul(self.counter) >> 60
    }

    /// The highest bits of the slots of two buckets that hold a fingerprint.
    #[inline(always)]
    fn equal(&self, pair: [u64; 2], fingerprint: u64) -> [u64; 2] {
        let pattern = fingerprint * self.ones;
        [self.zeros(pair[0] ^ pattern), self.zeros(pair[1] ^ pattern)]
    }

    /// Changes one slot of a bucket: the slot of the lowest bit of `highs`. The bucket must not lie in the last few
    /// bytes of the words.
    #[inline(always)]
    fn change_slot(&self, words: &mut [u64], bucket: u64, highs: u64, change: u64) {
        let bit = bucket * self.size;
        let place = (highs.trailing_zeros() + 1).wrapping_sub(self.width) & 63;
        let eight = read_own_unaligned(words, bit / 8) ^ change << place << (bit % 8);
        let is_written = write_unaligned(words, bit / 8, eight);
        debug_assert!(is_written, "it was read before");
    }

    #[inline(always)]
    pub(super) fn narrow_entries(&self, words: &(impl Source + ?Sized), bucket: u64) -> [u64; MAX_SLOTS] {
        let (mut eight, mut entries) = (self.eight(words, bucket), [0; MAX_SLOTS]);
        for slot in &mut entries[..self.slots as usize] {
            *slot = eight & self.greatest;
            eight >>= self.width;
        }
        entries
    }

    #[inline(always)]
    pub(super) fn narrow_has(&self, words: &(impl Source + ?Sized), bucket: u64, fingerprint: u64) -> bool {
        self.zeros(self.eight(words, bucket) ^ (fingerprint * self.ones)) != 0
    }

    /// [`Buckets::contains`]; `None` leaves it to the plain code.
    #[inline(always)]
    pub(super) fn narrow_contains(&self, words: &(impl Source + ?Sized), place: Place) -> Option<bool> {
        let pattern = place.fingerprint * self.ones;
        let [here, there] = self.pair(words, place)?;
        Some(!(self.taken(here ^ pattern) & self.taken(there ^ pattern)) & self.highs != 0)
    }

    #[inline(always)]
    pub(super) fn narrow_look(&self, words: &(impl Source + ?Sized), bucket: u64, fingerprint: u64) -> Look {
        let eight = self.eight(words, bucket);
        let count = |eight| self.count_highs(self.zeros(eight)) as u32;
        Look { copies: count(eight ^ (fingerprint * self.ones)), empty: count(eight) }
    }

    /// [`Buckets::insert`] if one of the buckets has room. `None`, with nothing changed, if both are full, or to leave
    /// it to the plain code.
    #[inline(always)]
    pub(super) fn narrow_insert(&self, words: &mut [u64], place: Place) -> Option<bool> {
        let Place { fingerprint, bucket, other } = place;
        let pair = self.pair(words, place)?;
        let [here, there] = [self.zeros(pair[0]), self.zeros(pair[1])];
        if here | there == 0 {
            return None;
        }
        let is_there = self.count_highs(here) < self.count_highs(there);
        let pick = |second, first| select_unpredictable(is_there, second, first);
        self.change_slot(words, pick(other, bucket), pick(there, here), fingerprint);
        let [here, there] = self.equal(pair, fingerprint);
        Some(here | there == 0)
    }

    /// [`Buckets::insert`] if both buckets are full and one of their entries has room in its other bucket, as `search`
    /// would find it. `None`, with nothing changed, if no entry has, or to leave it to the plain code. The other
    /// buckets of all entries are looked at together.
    #[inline(always)]
    pub(super) fn narrow_move(&self, words: &mut [u64], place: Place) -> Option<bool> {
        let Place { fingerprint, bucket, other } = place;
        let pair = self.pair(words, place)?;
        let slots = self.slots as usize;
        let (mut nexts, mut with_room) = ([0; 2 * MAX_SLOTS], 0_u64);
        for (half, (from, mut eight)) in [(bucket, pair[0]), (other, pair[1])].into_iter().enumerate() {
            for slot in 0..slots {
                let i = half * slots + slot;
                nexts[i] = self.other(from, eight & self.greatest);
                with_room |= u64::from(self.zeros(words.eight(nexts[i] * self.size)?) != 0) << i;
                eight >>= self.width;
            }
        }
        if with_room == 0 {
            return None;
        }
        let first = with_room.trailing_zeros();
        let is_there = first >= self.slots;
        let pick = |second, first| select_unpredictable(is_there, second, first);
        let shift = (first % self.slots) * self.width;
        let entry = pick(pair[1], pair[0]) >> shift & self.greatest;
        let next = nexts[first as usize % nexts.len()];
        let empty = self.zeros(words.eight(next * self.size)?);
        self.change_slot(words, next, empty, entry);
        self.change_slot(words, pick(other, bucket), 1 << (shift + self.width - 1), entry ^ fingerprint);
        let [here, there] = self.equal(pair, fingerprint);
        Some(here | there == 0)
    }

    /// Replaces a fingerprint of a bucket by another, where 0 stands for an empty slot. `None` leaves it to the plain
    /// code.
    #[inline(always)]
    pub(super) fn narrow_replace(&self, words: &mut [u64], bucket: u64, old: u64, new: u64) -> Option<bool> {
        let found = self.zeros(words.eight(bucket * self.size)? ^ (old * self.ones));
        if found != 0 {
            self.change_slot(words, bucket, found, old ^ new);
        }
        Some(found != 0)
    }

    /// [`Buckets::remove`]; `None` leaves it to the plain code.
    #[inline(always)]
    pub(super) fn narrow_remove(&self, words: &mut [u64], place: Place) -> Option<bool> {
        let Place { fingerprint, bucket, other } = place;
        let [here, there] = self.equal(self.pair(words, place)?, fingerprint);
        let is_found = here | there != 0;
        if is_found {
            let pick = |second, first| select_unpredictable(here == 0, second, first);
            self.change_slot(words, pick(other, bucket), pick(there, here), fingerprint);
        }
        Some(is_found)
    }
}
