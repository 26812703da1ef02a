//! Segments of a taffy filter: two tables of buckets, and entries that give up a bit whenever the filter grows.
//!
//! Apple, "Stretching Your Data With Taffy Filters", 2022. A hash is a string of bits, its lowest bit first. The first
//! `t + f` bits are the prefix, some bits after these name the segment, and up to T more bits are the tail. Each
//! segment has two tables of 2^t buckets of four slots. A key lies in one of the tables. In table 0 its bucket is the
//! low t bits of its prefix, and its fingerprint the high f bits. In table 1 bucket and fingerprint are those of a
//! permutation of the prefix. So prefix and tail can be read back from the place and the value of an entry, and an
//! entry knows nothing else of its key. A lookup says true if an entry has the prefix of the hash, and the part of the
//! tail that the entry knows agrees with the hash.
//!
//! When a segment becomes two, or the only one becomes twice as large, the first bit of an entry's tail becomes part of
//! its address. An entry whose tail has no bits left becomes two, one for either bit. In two segments these two do not
//! share buckets, so that a filter can grow as often as hashes have bits. Each entry keeps its slot.
//!
//! A slot has `f + T + 1` bits: the fingerprint in the low ones, above it the known bits of the tail, the first one
//! lowest, and above these a one. The value 0 is an empty slot. A segment is a word with the number of slots taken, the
//! buckets of table 0, those of table 1, and zeros to the end of a line. Bucket i is slots 4 i to 4 i + 3.

mod buckets;
mod divide;
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod search;
mod segments;

pub use kernel::Kernel;
pub use search::Search;
pub use segments::Segments;

use crate::blocks::segments::ones;
use crate::blocks::slots::Slots;
use crate::blocks::source::Source;
use crate::simd::Instructions;
use buckets::Lanes;

/// The inner loops for an instruction set.
pub fn kernel(instructions: Instructions) -> &'static Kernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => &lanes::avx2::KERNEL,
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &lanes::avx512::KERNEL,
        _ => &kernel::PORTABLE,
    }
}

/// How many slots a bucket has.
pub const BUCKET: u64 = 4;

/// The bit of a segment's first word that says whether the segment was divided.
pub const DIVIDED: u64 = 1 << 63;

/// The error for an entry that finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// The shape of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The base-2 logarithm of the number of buckets of a table.
    pub bucket_bits: u32,
    /// Bits of a fingerprint.
    pub fingerprint_bits: u32,
    /// The most bits of a tail.
    pub tail_bits: u32,
}

/// What is known of a key, apart from its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The prefix of the key's hash.
    pub prefix: u64,
    /// The known bits of the key's tail, below a one.
    pub tail: u64,
}

/// Where a key may be.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The key's bucket in each table; the buckets of table 1 come after those of table 0.
    pub buckets: [u64; 2],
    /// The key's fingerprint in each table, and above it the key's tail.
    wanted: [u64; 2],
}

impl Place {
    const NONE: Place = Place { buckets: [0; 2], wanted: [0; 2] };
}

/// The multipliers of the permutation, and their inverses modulo 2^64: odd numbers without a pattern.
const MULTIPLIERS: [u64; 2] = [0x9e6c_63d0_876a_68e5, 0xd1b5_4a32_d192_ed03];
const INVERSES: [u64; 2] = [inverse(MULTIPLIERS[0]), inverse(MULTIPLIERS[1])];

/// The inverse of an odd number modulo 2^64. Each step of Newton's method doubles how many low bits of the result are
/// right.
const fn inverse(odd: u64) -> u64 {
    let (mut inverse, mut step) = (odd, 0);
    while step < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

impl Shape {
    /// Bits of a prefix.
    #[inline]
    pub fn prefix_bits(&self) -> u32 {
        self.bucket_bits + self.fingerprint_bits
    }

    /// Bits of a slot.
    #[inline]
    pub fn width(&self) -> u32 {
        self.fingerprint_bits + self.tail_bits + 1
    }

    /// The slots of both tables.
    #[inline]
    pub fn slots(&self) -> Slots {
        Slots { count: (2 * BUCKET) << self.bucket_bits, width: self.width() }
    }

    /// How many words a segment has: whole lines.
    #[inline]
    pub fn words(&self) -> u64 {
        let Slots { count, width } = self.slots();
        (1 + (count * u64::from(width)).div_ceil(64)).next_multiple_of(8)
    }

    /// The prefix that stands for a prefix in table 1: a permutation of the numbers of as many bits. The low bits of
    /// the result, which are the bucket, depend on all bits of the prefix.
    #[inline]
    fn permuted(&self, prefix: u64) -> u64 {
        let (bits, mut x) = (self.prefix_bits(), prefix);
        for multiplier in MULTIPLIERS {
            x = x.wrapping_mul(multiplier) & ones(bits);
            // A shift by at least half of the bits undoes itself.
            x ^= x >> bits.div_ceil(2);
        }
        x
    }

    /// The prefix from which [`Shape::permuted`] made this one.
    #[inline]
    fn restored(&self, permuted: u64) -> u64 {
        let (bits, mut x) = (self.prefix_bits(), permuted);
        for inverse in INVERSES.into_iter().rev() {
            x ^= x >> bits.div_ceil(2);
            x = x.wrapping_mul(inverse) & ones(bits);
        }
        x
    }

    /// The bucket and the fingerprint of a prefix in each table.
    #[inline]
    fn halves(&self, prefix: u64) -> [(u64, u64); 2] {
        let halves = |x: u64| (x & ones(self.bucket_bits), x >> self.bucket_bits);
        let ((first, low), (second, high)) = (halves(prefix), halves(self.permuted(prefix)));
        [(first, low), (second + (1 << self.bucket_bits), high)]
    }

    /// Where a hash may be. The caller has removed the bits that name the segment.
    #[inline]
    pub fn place(&self, hash: u64) -> Place {
        let (prefix_bits, fingerprint_bits) = (self.prefix_bits(), self.fingerprint_bits);
        let tail = (hash >> prefix_bits & ones(self.tail_bits)) << fingerprint_bits;
        let [first, second] = self.halves(hash & ones(prefix_bits));
        Place { buckets: [first.0, second.0], wanted: [first.1 | tail, second.1 | tail] }
    }

    /// The entry for a hash whose segment bits were removed. `known` bits of the hash are known, at least those of a
    /// prefix.
    #[inline]
    pub fn entry(&self, hash: u64, known: u32) -> Entry {
        let length = (known - self.prefix_bits()).min(self.tail_bits);
        let tail = hash >> self.prefix_bits() & ones(length) | 1 << length;
        Entry { prefix: hash & ones(self.prefix_bits()), tail }
    }

    /// The entry in a slot that is not empty.
    #[inline]
    pub fn entry_at(&self, slot: u64, value: u64) -> Entry {
        let bucket = slot / BUCKET;
        let (is_second, low) = (bucket >> self.bucket_bits, bucket & ones(self.bucket_bits));
        let x = (value & ones(self.fingerprint_bits)) << self.bucket_bits | low;
        let prefix = if is_second == 0 { x } else { self.restored(x) };
        Entry { prefix, tail: value >> self.fingerprint_bits }
    }

    /// The buckets of an entry in both tables, and the slot's value in each.
    #[inline]
    fn values(&self, entry: Entry) -> [(u64, u64); 2] {
        self.halves(entry.prefix).map(|(bucket, low)| (bucket, entry.tail << self.fingerprint_bits | low))
    }

    /// The first bit of a bucket in the segment that begins at a word.
    #[inline(always)]
    fn first_bit(&self, start: usize, bucket: u64) -> u64 {
        64 * (start as u64 + 1) + bucket * BUCKET * u64::from(self.width())
    }

    /// Whether the segment that begins at a word may hold a key.
    #[inline(always)]
    pub fn contains(&self, words: &(impl Source + ?Sized), start: usize, place: &Place) -> bool {
        let lanes = Lanes::new(self.width());
        match lanes.windows {
            1 => self.contains_in::<1>(lanes, words, start, place),
            2 => self.contains_in::<2>(lanes, words, start, place),
            _ => self.contains_in::<4>(lanes, words, start, place),
        }
    }

    #[inline(always)]
    fn contains_in<const N: usize>(
        &self,
        lanes: Lanes,
        words: &(impl Source + ?Sized),
        start: usize,
        place: &Place,
    ) -> bool {
        let has = |i: usize| {
            let windows = lanes.read::<N>(words, self.first_bit(start, place.buckets[i]));
            lanes.has(&windows, place.wanted[i])
        };
        has(0) | has(1)
    }

    /// The words in which the buckets of a key begin.
    #[inline]
    pub fn words_of(&self, start: usize, place: &Place) -> [usize; 2] {
        place.buckets.map(|bucket| start + 1 + (bucket * BUCKET * u64::from(self.width()) / 64) as usize)
    }

    /// Puts an entry into a segment. Returns false, with nothing changed, if there is no room.
    pub fn insert(&self, segment: &mut [u64], entry: Entry, search: &mut Search) -> bool {
        let lanes = Lanes::new(self.width());
        let values = self.values(entry);
        match lanes.windows {
            1 => self.put::<1>(lanes, segment, values, None, search),
            2 => self.put::<2>(lanes, segment, values, None, search),
            _ => self.put::<4>(lanes, segment, values, None, search),
        }
        .is_ok_and(|is_new| is_new)
    }

    /// Puts the entry of a place, of which all bits are known, into a segment, unless the entry is found there. The
    /// segment then has at most `limit` entries. Returns whether the entry was inserted.
    ///
    /// # Errors
    /// [`Full`]: nothing has changed.
    #[inline(always)]
    pub fn insert_new(
        &self,
        segment: &mut [u64],
        place: &Place,
        limit: u64,
        search: &mut Search,
    ) -> Result<bool, Full> {
        let lanes = Lanes::new(self.width());
        let value = |i: usize| (place.buckets[i], place.wanted[i] | 1 << (self.fingerprint_bits + self.tail_bits));
        let (values, asked) = ([value(0), value(1)], Some((place, limit)));
        match lanes.windows {
            1 => self.put::<1>(lanes, segment, values, asked, search),
            2 => self.put::<2>(lanes, segment, values, asked, search),
            _ => self.put::<4>(lanes, segment, values, asked, search),
        }
    }

    /// Puts an entry into one of its two buckets, in the slot that [`Shape::insert_new`] would choose.
    #[inline(always)]
    fn put<const N: usize>(
        &self,
        lanes: Lanes,
        segment: &mut [u64],
        values: [(u64, u64); 2],
        asked: Option<(&Place, u64)>,
        search: &mut Search,
    ) -> Result<bool, Full> {
        let bits = values.map(|(bucket, _)| self.first_bit(0, bucket));
        let [first, second] = bits.map(|bit| lanes.read::<N>(&*segment, bit));
        if let Some((place, limit)) = asked {
            if lanes.has(&first, place.wanted[0]) | lanes.has(&second, place.wanted[1]) {
                return Ok(false);
            }
            if segment[0] & !DIVIDED >= limit {
                return Err(Full);
            }
        }
        match lanes.room([&lanes.empty(&first), &lanes.empty(&second)]) {
            Some((which, after)) => lanes.put_at(segment, bits[which], after, values[which].1),
            None => self.put_moving(segment, values, search)?,
        }
        segment[0] = segment[0].wrapping_add(1);
        Ok(true)
    }

    /// Puts an entry into one of its two full buckets by moving other entries.
    #[inline(never)]
    fn put_moving(&self, segment: &mut [u64], values: [(u64, u64); 2], search: &mut Search) -> Result<(), Full> {
        let words = segment.get_mut(1..).ok_or(Full)?;
        let room = search.make_room(self, words, values.map(|(bucket, _)| bucket)).ok_or(Full)?;
        let value = values.into_iter().find(|(bucket, _)| *bucket == room / BUCKET);
        self.slots().set(words, room, value.map_or(0, |(_, value)| value));
        Ok(())
    }

    /// Makes way for an entry. `None` if the segment has an entry that every hash of the new one finds. Otherwise this
    /// takes out the entries that only hashes of the new one find, and returns how many these were.
    pub fn take_over(&self, segment: &mut [u64], entry: Entry) -> Option<u64> {
        let (slots, length, words) = (self.slots(), entry.tail.ilog2(), &segment[1..]);
        let of_prefix = |bucket: u64| {
            (BUCKET * bucket..BUCKET * (bucket + 1)).filter(move |slot| {
                let value = self.value(words, *slot);
                let other = self.entry_at(*slot, value);
                other.tail != 0 && other.prefix == entry.prefix
            })
        };
        let [(first, _), (second, _)] = self.values(entry);
        let (mut covered, mut count) = ([0; 2 * BUCKET as usize], 0);
        for slot in of_prefix(first).chain(of_prefix(second)) {
            let tail = self.entry_at(slot, self.value(words, slot)).tail;
            let shorter = length.min(tail.ilog2());
            if (tail ^ entry.tail) & ones(shorter) != 0 {
                continue;
            }
            if tail.ilog2() <= length {
                return None;
            }
            covered[count] = slot;
            count += 1;
        }
        covered[..count].iter().for_each(|slot| slots.set(&mut segment[1..], *slot, 0));
        segment[0] = segment[0].wrapping_sub(count as u64);
        Some(count as u64)
    }

    /// The value of a slot, in the words after a segment's first word.
    #[inline]
    fn value(&self, words: &[u64], slot: u64) -> u64 {
        self.slots().get_by(slot, |at| words[at])
    }

    /// All entries of a segment.
    pub fn entries<'a>(&self, segment: &'a (impl Source + ?Sized), start: usize) -> impl Iterator<Item = Entry> + 'a {
        let shape = *self;
        let slots = (0..shape.slots().count).map(move |slot| {
            let word = |at| segment.word(start + 1 + at);
            shape.entry_at(slot, shape.slots().get_by(slot, word))
        });
        // In a payload that nobody verified a slot may hold anything.
        slots.filter(|entry| entry.tail != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    fn shapes() -> impl Iterator<Item = Shape> {
        (0..40).map(|i: u64| Shape {
            bucket_bits: 5 + (mix(i) % 7) as u32,
            fingerprint_bits: 6 + (mix(i + 100) % 3) as u32,
            tail_bits: 4 + (mix(i + 200) % 20) as u32,
        })
    }

    #[test]
    fn prefixes_come_back_from_their_permutation() {
        for shape in shapes() {
            let all = 1_u64 << shape.prefix_bits();
            for prefix in (0..1000).map(|i| mix(i) % all).chain([0, 1, all - 1]) {
                assert!(shape.permuted(prefix) < all);
                assert_eq!(shape.restored(shape.permuted(prefix)), prefix);
            }
        }
    }

    #[test]
    fn entries_are_found_and_read_back_until_a_segment_is_full() {
        let (mut search, mut loads) = (Search::new().unwrap(), Vec::new());
        for shape in shapes() {
            let mut segment = vec![0_u64; shape.words() as usize];
            let (mut entries, mut hashes) = (Vec::new(), Vec::new());
            for i in 0.. {
                let hash = mix(i ^ u64::from(shape.width()) << 32);
                let known = shape.prefix_bits() + (mix(hash) % 30) as u32;
                let entry = shape.entry(hash, known);
                if !shape.insert(&mut segment, entry, &mut search) {
                    break;
                }
                entries.push((entry.prefix, entry.tail));
                hashes.push(hash);
            }
            loads.push(entries.len() as f64 / shape.slots().count as f64);
            assert_eq!(segment[0], entries.len() as u64);
            assert!(hashes.iter().all(|hash| shape.contains(&segment[..], 0, &shape.place(*hash))));
            let mut read: Vec<_> = shape.entries(&segment[..], 0).map(|entry| (entry.prefix, entry.tail)).collect();
            entries.sort_unstable();
            read.sort_unstable();
            assert_eq!(read, entries);
        }
        // Of 100 key sets with 42 shapes each, one load was less than .92. The median load is at least .953, whatever
        // the shape.
        assert!(loads.iter().all(|load| *load > 0.9), "{loads:?}");
        let mean = loads.iter().sum::<f64>() / loads.len() as f64;
        assert!(mean > 0.955, "{mean}");
    }
}
