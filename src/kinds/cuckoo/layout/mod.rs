//! Buckets of fingerprints, two for each key, so that keys can be removed and counted.
//!
//! Fan, Andersen, Kaminsky and Mitzenmacher, "Cuckoo Filter: Practically Better Than Bloom", 2014. A key leaves its
//! fingerprint, which is not 0, in a slot of one of its two buckets. Either bucket follows from the other and the
//! fingerprint, so entries can be moved without their keys. Here the two buckets add up to a sum s of the fingerprint,
//! modulo the number of buckets. That is an involution for any number of buckets, whereas the exclusive or of the
//! literature needs a power of two. The number of buckets is even and s is odd, so that the two buckets of a key always
//! differ. An involution of an odd number of buckets would map some bucket to itself, and keys there would have half of
//! the room.
//!
//! An insertion puts the fingerprint into the emptier of its buckets. If both are full, `search` finds the shortest way
//! to an empty slot before anything is moved. So a refused insertion changes nothing, and no entry is ever without a
//! slot, unlike the "victim" of the literature.
//!
//! Bucket i is bits `i size` to `i size + size - 1` of little-endian words. Slot j of a bucket is its `width` bits from
//! bit `j width` on; 0 is an empty slot. `semi_sort` describes the other form of buckets.

mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod measure;
mod merge;
mod narrow;
mod portable;
mod search;
mod semi_sort;
mod table;

pub use kernel::Kernel;
pub use search::{SEARCHED, Search};
pub use table::Cuckoo;

use self::kernel::{Any, Shape};
use super::sizing::{bucket_bits, sum_of};
use crate::bits::{GOLDEN, prefetch, reduce};
use crate::blocks::source::{Source, flip, window};
use crate::blocks::{Layout, View};
use crate::format::Geometry;
use crate::simd::Instructions;
use core::sync::atomic::AtomicU64;

/// The inner loops of an instruction set for these buckets.
pub fn kernel(instructions: Instructions, buckets: &Buckets) -> &'static Kernel {
    let [any, eight, twelve, sixteen] = match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => &lanes::avx2::KERNELS,
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &lanes::avx512::KERNELS,
        _ => &portable::KERNELS,
    };
    let own = [(8, eight), (12, twelve), (16, sixteen)];
    let own = own.into_iter().find(|(width, _)| *buckets == Buckets::of_four(buckets.count, *width));
    own.map_or(any, |(_, kernel)| kernel)
}

/// The most slots of a bucket.
pub const MAX_SLOTS: usize = 8;

/// The shape of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// How many buckets there are: an even number.
    count: u64,
    /// How many slots a bucket has: 2, 4 or 8.
    slots: u32,
    /// Bits of a fingerprint.
    width: u32,
    /// Whether buckets are semi-sorted.
    is_sorted: bool,
    /// Whether all of a bucket lies in the eight bytes from the byte in which it begins. For such buckets [`narrow`]
    /// has faster code.
    is_narrow: bool,
    /// Bits of a bucket.
    size: u64,
    /// How many slots one window holds.
    together: u32,
    /// How many windows hold a bucket.
    windows: u64,
    /// The lowest bit of each slot of a window.
    ones: u64,
    /// All bits of each slot of a window except the highest.
    lows: u64,
    /// The highest bit of each slot of a window.
    highs: u64,
    /// The greatest fingerprint.
    greatest: u64,
    /// The factor with which [`narrow`] counts highest bits.
    counter: u64,
}

/// Where a key may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The fingerprint that the key leaves in a bucket; not 0.
    pub fingerprint: u64,
    /// The bucket that the hash gives.
    pub bucket: u64,
    /// The key's other bucket.
    pub other: u64,
}

impl Place {
    const NONE: Place = Place { fingerprint: 0, bucket: 0, other: 0 };
}

/// What a bucket says about a fingerprint.
#[derive(Clone, Copy)]
struct Look {
    copies: u32,
    empty: u32,
}

impl Buckets {
    /// `count` buckets of 2, 4 or 8 slots for fingerprints of 4 to 32 bits; semi-sorted buckets have four slots. `None`
    /// for other shapes, and for a number of buckets that is odd or 0.
    pub const fn new(count: u64, slots: u32, width: u32, is_sorted: bool) -> Option<Buckets> {
        if !matches!(slots, 2 | 4 | 8) || width < 4 || width > 32 || is_sorted && slots != 4 {
            return None;
        }
        let size = bucket_bits(slots, width, is_sorted);
        if count == 0 || count % 2 == 1 || count.checked_mul(size).is_none() {
            return None;
        }
        let mut together = slots;
        while together * width > 64 {
            together /= 2;
        }
        let (mut ones, mut slot) = (0, 0);
        while slot < together {
            ones |= 1 << (slot * width);
            slot += 1;
        }
        let (lows, highs) = (((1_u64 << (width - 1)) - 1) * ones, ones << (width - 1));
        let (windows, greatest) = ((slots / together) as u64, (1 << width) - 1);
        let is_narrow = !is_sorted && narrow::suits(size);
        let counter = if is_narrow { narrow::counter(slots, width) } else { 0 };
        Some(Buckets {
            count,
            slots,
            width,
            is_sorted,
            is_narrow,
            size,
            together,
            windows,
            ones,
            lows,
            highs,
            greatest,
            counter,
        })
    }

    /// `count` buckets of four fingerprints of `width` bits.
    const fn of_four(count: u64, width: u32) -> Buckets {
        match Buckets::new(count, 4, width, false) {
            Some(buckets) => buckets,
            None => panic!("these are widths and numbers of buckets"),
        }
    }

    /// These buckets with the code for buckets of any size. Tests compare it with the faster code for buckets of at
    /// most 64 bits.
    pub fn plain(self) -> Buckets {
        Buckets { is_narrow: false, ..self }
    }

    /// The buckets that a geometry describes, if the geometry is one of this kind.
    pub fn of_geometry(geometry: &Geometry) -> Option<Buckets> {
        let [width, slots, is_sorted @ (0 | 1), 0, 0, 0, 0, 0] = geometry.words else { return None };
        let [width, slots] = [width, slots].map(|word| u32::try_from(word).unwrap_or(0));
        let pair = Buckets::new(2, slots, width, is_sorted == 1)?;
        let buckets = Buckets::new(2 * (geometry.bits / pair.bits()), slots, width, is_sorted == 1)?;
        (geometry.hashes == 0 && geometry.is_of_bits()).then_some(buckets)
    }

    /// The buckets for programs that look hashes up themselves. Semi-sorted buckets are not for such programs.
    fn view<'a>(&self, payload: &'a [AtomicU64]) -> Option<View<'a>> {
        let Buckets { count, slots, width, together, ones, .. } = *self;
        let is_narrow = narrow::suits(self.size).into();
        let words = [count, slots.into(), width.into(), together.into(), ones, is_narrow, 0, 0];
        (!self.is_sorted).then_some(View { layout: Layout::Cuckoo, payload, words, table: &[] })
    }

    /// How many buckets there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many slots all buckets have together.
    pub fn all_slots(&self) -> u64 {
        self.count * u64::from(self.slots)
    }

    /// How many slots a bucket has.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// How many bits all buckets have together.
    pub fn bits(&self) -> u64 {
        self.count * self.size
    }

    /// How many classes of keys the table distinguishes. Keys of one class have the same fingerprint and the same two
    /// buckets.
    pub fn classes(&self) -> u64 {
        (self.count / 2).saturating_mul(self.greatest)
    }

    /// Where a key with this hash may be.
    #[inline(always)]
    pub fn place(&self, hash: u64) -> Place {
        let fingerprint = 1 + reduce(hash.wrapping_mul(GOLDEN), self.greatest);
        let bucket = reduce(hash, self.count);
        Place { fingerprint, bucket, other: self.other(bucket, fingerprint) }
    }

    /// The other bucket of a fingerprint that is in `bucket`.
    #[inline(always)]
    pub fn other(&self, bucket: u64, fingerprint: u64) -> u64 {
        let sum = 2 * sum_of(fingerprint, self.count) + 1;
        let other = sum.wrapping_sub(bucket);
        if sum < bucket { other.wrapping_add(self.count) } else { other }
    }

    /// The places of the words in which a bucket lies.
    pub(super) fn words_of(&self, bucket: u64) -> core::ops::Range<usize> {
        (bucket * self.size / 64) as usize..((bucket + 1) * self.size).div_ceil(64) as usize
    }

    /// The place of the word in which a bucket begins.
    #[inline]
    pub fn first_word(&self, bucket: u64) -> usize {
        (bucket * self.size / 64) as usize
    }

    /// Prefetches the lines of both buckets of a hash.
    #[inline]
    pub fn fetch<T>(&self, words: &[T], hash: u64) {
        let Place { bucket, other, .. } = self.place(hash);
        self.fetch_bucket(words, bucket);
        self.fetch_bucket(words, other);
    }

    #[inline]
    fn fetch_bucket<T>(&self, words: &[T], bucket: u64) {
        if let Some(word) = words.get(self.first_word(bucket)) {
            prefetch(word);
        }
    }

    /// The highest bits of those slots of a window that are 0.
    #[inline(always)]
    fn zeros(&self, window: u64) -> u64 {
        !((window & self.lows).wrapping_add(self.lows) | window) & self.highs
    }

    /// The first bits of the windows that hold a bucket.
    #[inline]
    fn windows(&self, bucket: u64) -> impl Iterator<Item = u64> + use<> {
        let (start, step) = (bucket * self.size, u64::from(self.together * self.width));
        (0..self.windows).map(move |i| start + i * step)
    }

    /// The fingerprints of a bucket, in the order of its slots, filled up with 0.
    #[inline]
    fn entries(&self, words: &(impl Source + ?Sized), bucket: u64) -> [u64; MAX_SLOTS] {
        if self.is_sorted {
            return semi_sort::entries(words, bucket * self.size, self.width);
        }
        if self.is_narrow {
            return self.narrow_entries(words, bucket);
        }
        let mask = self.greatest;
        let mut entries = [0; MAX_SLOTS];
        let slots = entries.chunks_exact_mut(self.together as usize);
        for (slots, bit) in slots.zip(self.windows(bucket)) {
            let window = window(words, bit);
            slots.iter_mut().enumerate().for_each(|(i, slot)| *slot = window >> (i as u32 * self.width) & mask);
        }
        entries
    }

    /// What a bucket says about a fingerprint.
    #[inline]
    fn look(&self, words: &(impl Source + ?Sized), bucket: u64, fingerprint: u64) -> Look {
        let mut look = Look { copies: 0, empty: 0 };
        if self.is_sorted {
            for entry in &self.entries(words, bucket)[..self.slots as usize] {
                look.copies += u32::from(*entry == fingerprint);
                look.empty += u32::from(*entry == 0);
            }
            return look;
        }
        if self.is_narrow {
            return self.narrow_look(words, bucket, fingerprint);
        }
        for bit in self.windows(bucket) {
            let window = window(words, bit);
            look.copies += self.zeros(window ^ (fingerprint * self.ones)).count_ones();
            look.empty += self.zeros(window).count_ones();
        }
        look
    }

    /// Whether a fingerprint is in a bucket.
    #[inline]
    fn has(&self, words: &(impl Source + ?Sized), bucket: u64, fingerprint: u64) -> bool {
        if self.is_sorted {
            return semi_sort::has(words, bucket * self.size, self.width, fingerprint);
        }
        if self.is_narrow {
            return self.narrow_has(words, bucket, fingerprint);
        }
        // Chance decides in which slot a fingerprint is, and for most buckets whether it is there. So the code looks at
        // all windows, and leaves nothing to guess.
        let pattern = fingerprint * self.ones;
        let zeros = |bit| self.zeros(window(words, bit) ^ pattern);
        self.windows(bucket).fold(0, |found, bit| found | zeros(bit)) != 0
    }

    /// Whether a key with this hash may be there.
    pub fn contains(&self, words: &(impl Source + ?Sized), hash: u64) -> bool {
        self.contains_as::<Any>(words, hash)
    }

    /// [`Buckets::contains`] for buckets of a shape that the compiler knows.
    #[inline(always)]
    fn contains_as<S: Shape>(&self, words: &(impl Source + ?Sized), hash: u64) -> bool {
        let shape = S::of(self);
        let at_once = if shape.is_narrow { shape.narrow_contains(words, shape.place(hash)) } else { None };
        at_once.unwrap_or_else(|| self.plain_contains(words, hash))
    }

    /// Looks a hash up with the code for buckets of any size. Kept out of line, so that the faster code stays short.
    #[inline(never)]
    fn plain_contains(&self, words: &(impl Source + ?Sized), hash: u64) -> bool {
        self.either_has(words, hash)
    }

    /// Looks a hash up window by window.
    #[inline(always)]
    fn either_has(&self, words: &(impl Source + ?Sized), hash: u64) -> bool {
        let Place { fingerprint, bucket, other } = self.place(hash);
        // Both buckets are always looked at, so that the processor waits for both at the same time.
        self.has(words, bucket, fingerprint) | self.has(words, other, fingerprint)
    }

    /// How many copies of a hash there are, at most twice the slots of a bucket.
    #[inline]
    pub fn copies(&self, words: &(impl Source + ?Sized), hash: u64) -> u64 {
        let Place { fingerprint, bucket, other } = self.place(hash);
        let copies = |bucket| self.look(words, bucket, fingerprint).copies;
        u64::from(copies(bucket) + copies(other))
    }

    /// The most copies of one fingerprint that its two buckets hold together.
    pub fn most_copies(&self) -> u64 {
        2 * u64::from(self.slots)
    }

    /// Replaces a fingerprint of a bucket by another, where 0 stands for an empty slot. Returns false, with nothing
    /// changed, if the bucket does not have the old one.
    #[inline]
    fn replace(&self, words: &mut [u64], bucket: u64, old: u64, new: u64) -> bool {
        if self.is_sorted {
            return semi_sort::replace(words, bucket * self.size, self.width, old, new);
        }
        if let Some(is_there) = self.is_narrow.then(|| self.narrow_replace(words, bucket, old, new)).flatten() {
            return is_there;
        }
        let found = |bit| match self.zeros(window(words, bit) ^ (old * self.ones)) {
            0 => None,
            zeros => Some(bit + u64::from(zeros.trailing_zeros() + 1 - self.width)),
        };
        let Some(bit) = self.windows(bucket).find_map(found) else { return false };
        flip(words, bit, old ^ new);
        true
    }

    /// Inserts a hash. Returns whether it certainly was absent before, or `None`, with nothing changed, if it finds no
    /// place.
    pub fn insert(&self, words: &mut [u64], hash: u64, search: &mut Search) -> Option<bool> {
        self.insert_as::<Any>(words, hash, search)
    }

    /// [`Buckets::insert`] into buckets of a shape that the compiler knows.
    #[inline(always)]
    fn insert_as<S: Shape>(&self, words: &mut [u64], hash: u64, search: &mut Search) -> Option<bool> {
        let shape = S::of(self);
        let at_once = if shape.is_narrow { shape.narrow_insert(words, shape.place(hash)) } else { None };
        at_once.or_else(|| self.insert_crowded::<S>(words, hash, search))
    }

    /// Inserts a hash that the faster code could not insert. Kept out of line, so that the faster code stays short.
    #[inline(never)]
    fn insert_crowded<S: Shape>(&self, words: &mut [u64], hash: u64, search: &mut Search) -> Option<bool> {
        let shape = S::of(self);
        let moved = if shape.is_narrow { shape.narrow_move(words, shape.place(hash)) } else { None };
        moved.or_else(|| self.plain_insert(words, hash, search))
    }

    /// Inserts a hash window by window, and moves entries if both of its buckets are full.
    #[inline(never)]
    fn plain_insert(&self, words: &mut [u64], hash: u64, search: &mut Search) -> Option<bool> {
        let Place { fingerprint, bucket, other } = self.place(hash);
        let (first, second) = (self.look(words, bucket, fingerprint), self.look(words, other, fingerprint));
        let copies = first.copies + second.copies;
        let is_placed = match (first.empty, second.empty) {
            (0, 0) => {
                u64::from(copies) < self.most_copies() && search.make_room(self, words, [bucket, other], fingerprint)
            }
            (first, second) => self.replace(words, if first >= second { bucket } else { other }, 0, fingerprint),
        };
        is_placed.then_some(copies == 0)
    }

    /// Puts a fingerprint into one of its two buckets, given its bucket in another table of this shape. Returns false,
    /// with nothing changed, if it finds no place.
    pub fn insert_entry(&self, words: &mut [u64], bucket: u64, fingerprint: u64, search: &mut Search) -> bool {
        let other = self.other(bucket, fingerprint);
        let [here, there] = [bucket, other].map(|bucket| self.look(words, bucket, fingerprint).empty);
        match (here, there) {
            (0, 0) => search.make_room(self, words, [bucket, other], fingerprint),
            _ => self.replace(words, if here >= there { bucket } else { other }, 0, fingerprint),
        }
    }

    /// Removes one copy of a hash. Returns false, with nothing changed, if there is none.
    #[inline]
    pub fn remove(&self, words: &mut [u64], hash: u64) -> bool {
        let at_once = if self.is_narrow { self.narrow_remove(words, self.place(hash)) } else { None };
        at_once.unwrap_or_else(|| self.plain_remove(words, hash))
    }

    #[inline]
    fn plain_remove(&self, words: &mut [u64], hash: u64) -> bool {
        let Place { fingerprint, bucket, other } = self.place(hash);
        self.replace(words, bucket, fingerprint, 0) || self.replace(words, other, fingerprint, 0)
    }

    /// Whether all codes of semi-sorted buckets are valid.
    pub fn is_clean(&self, words: &[AtomicU64]) -> bool {
        !self.is_sorted || (0..self.count).all(|bucket| semi_sort::is_clean(words, bucket * self.size, self.width))
    }
}
