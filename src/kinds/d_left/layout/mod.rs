//! Four subtables of buckets, with cells of a remainder and a small counter. Keys can be removed and counted, and no
//! operation moves what other keys left.
//!
//! Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "An Improved Construction for Counting Bloom Filters", 2006. A
//! key has a *fingerprint*, one of B 2^r numbers. In each of the d subtables a permutation of these numbers gives
//! bucket and remainder. Two fingerprints that agree in one subtable are the same, so a cell belongs to exactly one
//! fingerprint. With independent hashes for each subtable a removal could take another key's cell.
//!
//! Here a fingerprint is a quotient q and a remainder x of r bits. The permutation of subtable i is `(q, x) -> (q +
//! s_i(x) mod B, x)`. The shifts s_i are below [`REACH`] and are mixed from x; the first shift is 0. So the fingerprint
//! of a cell is known. Fingerprints with about the same quotient are near each other, which makes it possible to list
//! them in order. The number of buckets is arbitrary.
//!
//! An insertion adds to the counter of a cell that the fingerprint has, or takes a cell in the first of the least
//! loaded among its four buckets. A counter goes up to three; after that another cell begins to count. A removal
//! subtracts from the cell whose counter is not full, so a fingerprint has at most one such cell.
//!
//! Bucket b of subtable i is the `r + 2` bytes from byte `(4 b + i) (r + 2)` on. Its bits are counted from the lowest
//! bit of the first byte. Bits 2 j and 2 j + 1 are the counter of cell j, and bits `16 + j r` to `16 + j r + r - 1` are
//! the cell's remainder. A cell with counter 0 is free.

pub mod list;
mod measure;

use super::sizing;
use crate::batch::ring::{self, Batch, Few};
use crate::bits::{self, GOLDEN, mix, reduce};
use crate::blocks::fingerprint_table::{FingerprintTable, Held};
use crate::blocks::source::{Source, flip, window};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::hash::xxh3;
use crate::simd::Instructions;
use core::ops::Range;
use core::sync::atomic::AtomicU64;

/// Exclusive upper bound of the shifts.
pub const REACH: u64 = 1 << 12;

/// How many subtables there are.
const TABLES: u64 = sizing::TABLES;

/// How many cells a bucket has.
const CELLS: u32 = sizing::CELLS as u32;

/// The greatest value of a counter.
const MOST: u64 = 3;

/// The low bits of the counters of a bucket.
const LOWS: u64 = 0x5555;

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// How many buckets a subtable has.
    buckets: u64,
    /// How many bits a remainder has.
    width: u32,
    /// Exclusive upper bound of the shifts: [`REACH`], or less if there are fewer buckets.
    reach: u64,
    /// How many remainders one window holds, and the lowest bit of each.
    together: u32,
    ones: u64,
    /// Whether all remainders of a window are among the eight bytes from the byte in which the first one begins.
    is_near: bool,
    /// 2^16 / `width`, rounded up, for a product instead of a division by the width.
    inverse: u32,
}

/// A cell that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    /// The first bit of the cell's bucket.
    bucket: u64,
    /// The number of the cell in the bucket.
    number: u32,
    /// The counter of the cell.
    count: u64,
}

impl Table {
    /// A table with `buckets` buckets in each subtable and remainders of `width` bits. `None` if there is no such
    /// table.
    pub fn new(buckets: u64, width: u32) -> Option<Table> {
        let (least, most) = sizing::REMAINDER_BITS;
        if !(least..=most).contains(&width) || buckets == 0 || buckets > sizing::MAX_RANGE >> width {
            return None;
        }
        sizing::bits(buckets, width)?;
        let together = match width {
            ..=8 => 8,
            9..=16 => 4,
            _ => 2,
        };
        let ones = (0..together).fold(0, |ones, cell| ones | 1 << (cell * width));
        let is_near = (0..CELLS).step_by(together as usize).all(|cell| cell * width % 8 + together * width <= 64);
        let inverse = (1 << 16) / width + 1;
        Some(Table { buckets, width, reach: REACH.min(buckets), together, ones, is_near, inverse })
    }

    /// The table that a geometry describes, if it is one of this kind.
    pub fn of_geometry(geometry: &Geometry) -> Option<Table> {
        let [width, buckets, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        let table = Table::new(buckets, u32::try_from(width).ok()?)?;
        (geometry.hashes == 0 && geometry.bits == table.bits() && geometry.is_of_bits()).then_some(table)
    }

    /// A table with `buckets` buckets in each subtable and the same number of fingerprints, if there is one.
    pub fn with_buckets(&self, buckets: u64) -> Option<Table> {
        let width = (self.range() / buckets.max(1)).checked_ilog2()?;
        Table::new(buckets, width).filter(|table| table.range() == self.range())
    }

    /// Buckets of a subtable.
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// Bits of a remainder.
    pub fn remainder_bits(&self) -> u32 {
        self.width
    }

    /// How many fingerprints there are.
    pub fn range(&self) -> u64 {
        self.buckets << self.width
    }

    /// Bits of all buckets.
    pub fn bits(&self) -> u64 {
        sizing::bits(self.buckets, self.width).unwrap_or(u64::MAX)
    }

    /// Bits of a bucket.
    #[inline(always)]
    fn size(&self) -> u64 {
        u64::from(CELLS * (self.width + 2))
    }

    /// The fingerprint of a hash. Builders insert in the order of hashes, and the order of fingerprints must differ
    /// from it, because buckets that are filled in their own order are not filled evenly.
    #[inline(always)]
    pub fn fingerprint(&self, hash: u64) -> u64 {
        reduce(hash.wrapping_mul(GOLDEN), self.range())
    }

    #[inline(always)]
    fn remainder(&self, fingerprint: u64) -> u64 {
        fingerprint & ((1 << self.width) - 1)
    }

    /// The shift of a remainder's bucket in each subtable.
    #[inline(always)]
    fn shifts(&self, remainder: u64) -> [u64; TABLES as usize] {
        const BITS: u32 = 21;
        let mixed = mix(remainder + 1);
        let shift = |i: u32| ((mixed >> (BITS * i) & ((1 << BITS) - 1)) * self.reach) >> BITS;
        [0, shift(0), shift(1), shift(2)]
    }

    /// The first bits of the four buckets of a fingerprint.
    #[inline(always)]
    fn buckets_of(&self, fingerprint: u64) -> [u64; TABLES as usize] {
        let quotient = fingerprint >> self.width;
        let [a, b, c, d] = self.shifts(self.remainder(fingerprint));
        let first = |table: u64, shift: u64| {
            let bucket = quotient + shift;
            let bucket = if bucket >= self.buckets { bucket - self.buckets } else { bucket };
            (bucket * TABLES + table) * self.size()
        };
        [first(0, a), first(1, b), first(2, c), first(3, d)]
    }

    /// The fingerprint of a remainder in bucket `bucket` of a subtable.
    #[inline]
    fn fingerprint_at(&self, table: u64, bucket: u64, remainder: u64) -> u64 {
        let shift = self.shifts(remainder)[table as usize];
        let quotient = if bucket >= shift { bucket - shift } else { bucket + self.buckets - shift };
        quotient << self.width | remainder
    }

    /// The counters of a bucket.
    #[inline(always)]
    fn counters(words: &(impl Source + ?Sized), bucket: u64) -> u64 {
        words.eight(bucket).unwrap_or_else(|| window(words, bucket)) & 0xffff
    }

    /// The first bit of a cell's remainder.
    #[inline(always)]
    fn place(&self, bucket: u64, number: u32) -> u64 {
        bucket + 16 + u64::from(number * self.width)
    }

    /// A bit for each cell of the four buckets that has this remainder; some of these cells may be free. The bit is the
    /// cell's highest bit in its window, shifted down by the number of windows that were compared before.
    ///
    /// All buckets are always read, so that the processor waits for their lines at the same time.
    #[inline(always)]
    fn equal(&self, words: &(impl Source + ?Sized), buckets: [u64; TABLES as usize], remainder: u64) -> u64 {
        let highs = self.ones << (self.width - 1);
        let lows = highs - self.ones;
        let pattern = remainder * self.ones;
        let near = |bit| if self.is_near { words.eight(bit) } else { None };
        let (mut equal, mut first, mut shift) = (0, 0, 0);
        while first < CELLS {
            for bucket in buckets {
                let place = self.place(bucket, first);
                let differs = near(place).unwrap_or_else(|| window(words, place)) ^ pattern;
                let zeros = !((differs & lows).wrapping_add(lows) | differs) & highs;
                // A remainder has more bits than there are windows in all four buckets, so no two bits coincide.
                equal |= zeros >> shift;
                shift += 1;
            }
            first += self.together;
        }
        equal
    }

    /// The taken cells among those that [`Table::equal`] found, in the order of the subtables.
    #[inline(always)]
    fn taken_of<S: Source + ?Sized>(
        &self,
        words: &S,
        buckets: [u64; TABLES as usize],
        mut equal: u64,
    ) -> impl Iterator<Item = Cell> + use<S> {
        // `cells` has a bit for each cell of the four buckets. `counters` has 16 bits for each bucket with a found
        // cell. There is seldom more than one found cell.
        let (mut cells, mut counters) = (0_u32, 0);
        while equal != 0 {
            let bit = equal.trailing_zeros();
            equal &= equal - 1;
            let lane = (bit * self.inverse) >> 16;
            let shift = self.width - 1 - (bit - lane * self.width);
            let (table, window) = (shift % TABLES as u32, shift / TABLES as u32);
            cells |= 1 << (table * CELLS + window * self.together + lane);
            counters |= Table::counters(words, buckets[table as usize]) << (16 * table);
        }
        core::iter::from_fn(move || {
            while cells != 0 {
                let cell = cells.trailing_zeros();
                cells &= cells - 1;
                let count = counters >> (2 * cell) & MOST;
                if count > 0 {
                    return Some(Cell { bucket: buckets[(cell / CELLS) as usize], number: cell % CELLS, count });
                }
            }
            None
        })
    }

    /// The cells of a fingerprint, in the order of the subtables.
    #[inline(always)]
    fn cells_of<S: Source + ?Sized>(&self, words: &S, fingerprint: u64) -> impl Iterator<Item = Cell> + use<S> {
        let buckets = self.buckets_of(fingerprint);
        self.taken_of(words, buckets, self.equal(words, buckets, self.remainder(fingerprint)))
    }

    /// Whether a fingerprint is there.
    #[inline(always)]
    pub fn has(&self, words: &(impl Source + ?Sized), fingerprint: u64) -> bool {
        self.cells_of(words, fingerprint).next().is_some()
    }

    /// How often a fingerprint is there.
    #[inline]
    pub fn count(&self, words: &(impl Source + ?Sized), fingerprint: u64) -> u64 {
        self.cells_of(words, fingerprint).map(|cell| cell.count).sum()
    }

    /// Inserts a fingerprint. Returns whether it certainly was absent before, or `None`, with nothing changed, if there
    /// is no cell for it.
    #[inline]
    pub fn add(&self, words: &mut [u64], fingerprint: u64) -> Option<bool> {
        let (buckets, remainder) = (self.buckets_of(fingerprint), self.remainder(fingerprint));
        let equal = self.equal(&*words, buckets, remainder);
        let (mut is_there, mut counting) = (false, None);
        for cell in self.taken_of(&*words, buckets, equal) {
            is_there = true;
            if cell.count < MOST && counting.is_none() {
                counting = Some(cell);
            }
        }
        if let Some(Cell { bucket, number, count }) = counting {
            flip(words, bucket + u64::from(2 * number), count ^ (count + 1));
            return Some(false);
        }
        let counters = buckets.iter().rev().fold(0, |all, bucket| all << 16 | Table::counters(&*words, *bucket));
        let taken = (counters | counters >> 1) & (u64::MAX / 3);
        // The cells taken in each bucket, 16 bits a bucket.
        let pairs = (taken & (u64::MAX / 5)) + (taken >> 2 & (u64::MAX / 5));
        let fours = (pairs + (pairs >> 4)) & (u64::MAX / 17);
        let loads = fours + (fours >> 8);
        // The first of the least loaded buckets.
        let table = (0..TABLES as usize).min_by_key(|table| loads >> (16 * table) & 0xff)?;
        let number = (!(taken >> (16 * table)) & LOWS).trailing_zeros() / 2;
        if number >= CELLS {
            return None;
        }
        // A process that died may have left bits in a free cell. The remainder is written before the counter that makes
        // it count.
        let place = self.place(buckets[table], number);
        let old = self.remainder(window(words, place));
        flip(words, place, old ^ remainder);
        flip(words, buckets[table] + u64::from(2 * number), 1);
        Some(!is_there)
    }

    /// Removes one copy of a fingerprint. Returns false, with nothing changed, if there is none.
    #[inline]
    pub fn take(&self, words: &mut [u64], fingerprint: u64) -> bool {
        let Some(cell) = self.cells_of(&*words, fingerprint).min_by_key(|cell| cell.count) else { return false };
        let Cell { bucket, number, count } = cell;
        flip(words, bucket + u64::from(2 * number), count ^ (count - 1));
        if count == 1 {
            flip(words, self.place(bucket, number), self.remainder(fingerprint));
        }
        true
    }

    /// Visits the places of the words that have cells of a hash, until `visit` returns false.
    pub fn visit_words(&self, hash: u64, visit: &mut dyn FnMut(usize) -> bool) {
        for bucket in self.buckets_of(self.fingerprint(hash)) {
            for word in bucket / 64..=(bucket + self.size() - 1) / 64 {
                if !visit(word as usize) {
                    return;
                }
            }
        }
    }

    /// The places of the words in which the four buckets of a hash begin.
    pub fn first_words(&self, hash: u64) -> [usize; TABLES as usize] {
        self.buckets_of(self.fingerprint(hash)).map(|bucket| (bucket / 64) as usize)
    }

    /// The taken cells of bucket `bucket` of a subtable, with their fingerprints.
    fn bucket_at(&self, words: &(impl Source + ?Sized), table: u64, bucket: u64) -> impl Iterator<Item = (u64, Cell)> {
        let first = (bucket * TABLES + table) * self.size();
        let counters = Table::counters(words, first);
        (0..CELLS).filter_map(move |number| {
            let count = counters >> (2 * number) & MOST;
            let remainder = || self.remainder(window(words, self.place(first, number)));
            (count > 0)
                .then(|| (self.fingerprint_at(table, bucket, remainder()), Cell { bucket: first, number, count }))
        })
    }
}

/// A table, with the instruction set for hashing.
pub struct DLeft {
    /// The table of the filter.
    pub table: Table,
    instructions: Instructions,
}

impl FingerprintTable for DLeft {
    const LINES: usize = TABLES as usize;

    fn of(geometry: &Geometry, instructions: Instructions) -> Result<Option<DLeft>> {
        Ok(Table::of_geometry(geometry).map(|table| DLeft { table, instructions }))
    }

    #[inline]
    fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        self.table.has(words, self.table.fingerprint(hash))
    }

    #[inline]
    fn fetch(&self, words: &[AtomicU64], hash: u64) {
        let [a, b, c, d] = self.table.buckets_of(self.table.fingerprint(hash));
        // A bucket may lie in two lines.
        for bucket in [a, b, c, d] {
            ring::fetch_word(words, (bucket / 64) as usize);
            ring::fetch_word(words, ((bucket + self.table.size() - 1) / 64) as usize);
        }
    }

    fn contains_many(&self, words: &[AtomicU64], batch: &mut dyn Batch) {
        let fetch = |_: &(), hash| self.fetch(words, hash);
        let answer = |_: &mut (), hash| self.contains(words, hash);
        ring::rolling(&mut (), ring::ahead(words.len(), DLeft::LINES), batch, fetch, ring::nothing, answer);
    }

    fn contains_few(&self, words: &[AtomicU64], few: &Few) -> u64 {
        let hash = |flip, keys: &[u64], hashes: &mut [u64]| xxh3::hash_u64s(self.instructions, flip, keys, hashes);
        let fetch = |_: &(), hash| self.fetch(words, hash);
        let answer = |_: &mut (), hash| self.contains(words, hash);
        ring::answer_few(&mut (), ring::is_far(words.len()), few, hash, fetch, answer)
    }

    #[inline]
    fn insert(&mut self, words: &mut [u64], hash: u64) -> Option<bool> {
        self.table.add(words, self.table.fingerprint(hash))
    }

    fn visit_changed(&mut self, words: &[u64], hash: u64, visit: &mut dyn FnMut(Range<usize>)) {
        self.table.visit_words(hash, &mut |word| {
            visit(word..(word + 1).min(words.len()));
            true
        });
    }

    #[inline]
    fn remove(&self, words: &mut [u64], hash: u64) -> bool {
        self.table.take(words, self.table.fingerprint(hash))
    }

    #[inline]
    fn copies(&self, words: &[AtomicU64], hash: u64) -> u64 {
        self.table.count(words, self.table.fingerprint(hash))
    }

    fn most_copies(&self) -> u64 {
        MOST * sizing::cells(1)
    }

    fn slots(&self) -> u64 {
        sizing::cells(self.table.buckets)
    }

    fn classes(&self) -> u64 {
        self.table.range()
    }

    fn held(&self, words: &[AtomicU64], progress: &mut dyn FnMut(u64)) -> Held {
        measure::held(&self.table, words, progress)
    }

    fn classes_of_union(&self, words: &[AtomicU64], other: &DLeft, others: &[AtomicU64]) -> u64 {
        measure::classes_of_union(&self.table, words, &other.table, others)
    }

    fn insert_all(&mut self, words: &mut [u64], other: &DLeft, others: &[AtomicU64]) -> bool {
        measure::insert_all(&self.table, words, &other.table, others)
    }

    fn check(&self, words: &[AtomicU64]) -> Result<()> {
        match bits::is_zero_from(words, self.table.bits()) {
            true => Ok(()),
            false => Err(error!(Corrupt, "bits after the last of {} buckets are set", TABLES * self.table.buckets)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remainders of every length are found in the cells that have them, in the order of the subtables, whatever the
    /// cells hold, and also where the words end with the last bucket.
    #[test]
    fn cells_are_found_for_every_length_of_a_remainder() {
        for width in sizing::REMAINDER_BITS.0..=sizing::REMAINDER_BITS.1 {
            let table = Table::new(5, width).unwrap();
            for seed in 0..200 {
                let mut words: Vec<u64> = (0..table.bits().div_ceil(64)).map(|i| mix(seed << 32 | i)).collect();
                let fingerprint = table.fingerprint(mix(!seed));
                let (buckets, remainder) = (table.buckets_of(fingerprint), table.remainder(fingerprint));
                // Some cells get the remainder.
                for i in 0..mix(seed) % 6 {
                    let place = table.place(buckets[(mix(i ^ seed) % 4) as usize], (mix(i + seed) % 8) as u32);
                    let old = table.remainder(window(&words[..], place));
                    flip(&mut words, place, old ^ remainder);
                }
                let mut expected = Vec::new();
                for (bucket, number) in buckets.into_iter().flat_map(|bucket| (0..CELLS).map(move |i| (bucket, i))) {
                    let count = window(&words[..], bucket + u64::from(2 * number)) & MOST;
                    if count > 0 && table.remainder(window(&words[..], table.place(bucket, number))) == remainder {
                        expected.push(Cell { bucket, number, count });
                    }
                }
                assert_eq!(table.cells_of(&words[..], fingerprint).collect::<Vec<_>>(), expected, "{width} bits");
            }
        }
    }
}
