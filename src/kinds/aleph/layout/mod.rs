//! Segments of an Aleph filter: quotient tables whose remainders also say how many bits an entry knows.
//!
//! Dayan, Bercea and Pagh, "Aleph Filter: To Infinity in Constant Time", 2024. A hash is a string of bits, the lowest
//! bit first. Its first bits say the slot, the next ones the segment, and those after these are the fingerprint. An
//! entry has as many fingerprint bits as it was inserted with, less one for each growth since. A remainder has one bit
//! more than the longest fingerprint. From the top, it holds a one for each bit by which the entry's fingerprint is
//! shorter, a zero, and the fingerprint with its first bit lowest. An entry that is there more than once has a counter,
//! as in any table of [`crate::blocks::runs`].

mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;

pub use kernel::{Kernel, Segments};

use crate::blocks::runs::{BLOCK, block_bits};
use crate::blocks::runs::{Bytes, Reader, Table};
use crate::blocks::segments::ones;
use crate::blocks::select::Select;
#[cfg(target_arch = "x86_64")]
use crate::blocks::select::{Broadword, Pdep};
use crate::simd::Instructions;

/// The inner loops for an instruction set.
pub fn kernel(instructions: Instructions) -> &'static Kernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 if instructions.deposits_quickly() => const { &lanes::avx2::kernel::<Pdep<4>>() },
        #[cfg(all(target_arch = "x86_64", feature = "avx2"))]
        crate::simd::Kernel::Avx2 => const { &lanes::avx2::kernel::<Broadword>() },
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => const { &lanes::avx512::kernel::<Pdep<8>>() },
        _ => &kernel::PORTABLE,
    }
}

/// The shape of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The table of the segment's slots.
    pub table: Table,
    /// The base-2 logarithm of the number of slots.
    pub slot_bits: u32,
    /// Bits of the longest fingerprint.
    pub fingerprint_bits: u32,
}

/// What is known of a key besides its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The slot of the entry's hash. The entry itself may lie further on.
    pub slot: u64,
    /// Bits of the fingerprint. An entry without any is void.
    pub length: u32,
    /// The fingerprint.
    pub fingerprint: u64,
}

/// Most runs end within this many slots after the slot of their hash.
const AFTER: u64 = 12;

impl Shape {
    /// A segment of `2^slot_bits` slots with fingerprints of `fingerprint_bits` bits. `None` if no table has such a
    /// shape.
    pub fn new(slot_bits: u32, fingerprint_bits: u32) -> Option<Shape> {
        Some(Shape { table: Table::new(1 << slot_bits, fingerprint_bits + 1)?, slot_bits, fingerprint_bits })
    }

    /// The words of a segment.
    pub fn words(&self) -> usize {
        (self.table.payload_bytes() / 8) as usize
    }

    /// The number that the table holds for an entry: slot and remainder.
    #[inline]
    pub fn number(&self, entry: Entry) -> u64 {
        let Entry { slot, length, fingerprint } = entry;
        let age = ones(self.fingerprint_bits - length) << (length + 1);
        slot << (self.fingerprint_bits + 1) | age | fingerprint
    }

    /// The length of the fingerprint in a remainder. `None` for a remainder of ones only, which no entry has.
    #[inline]
    fn length(&self, remainder: u64) -> Option<u32> {
        let ages = (!(remainder << (63 - self.fingerprint_bits))).leading_zeros();
        self.fingerprint_bits.checked_sub(ages)
    }

    /// The entry that a number stands for. `None` if the remainder is of ones only.
    #[inline]
    pub fn entry_of(&self, number: u64) -> Option<Entry> {
        let length = self.length(number & self.table.mask())?;
        Some(Entry { slot: number >> (self.fingerprint_bits + 1), length, fingerprint: number & ones(length) })
    }

    /// Whether the entry with this number knows nothing but its address.
    pub fn is_void(&self, number: u64) -> bool {
        self.length(number & self.table.mask()) == Some(0)
    }

    /// The number of the first entry of a slot that agrees with a hash in all bits that both the entry and the first
    /// `known` bits of the fingerprint have, which is the one that knows most. `None` if the table's metadata is
    /// corrupt.
    #[inline]
    fn find<B: Bytes + ?Sized>(&self, reader: Reader<B>, slot: u64, tail: u64, known: u32) -> Option<Option<u64>> {
        if !reader.is_occupied(slot) {
            return Some(None);
        }
        let run = reader.run(slot)?;
        let mut at = run.start;
        while at <= run.end {
            let entry = reader.entry(at, run);
            if let Some(length) = self.length(entry.remainder)
                && (entry.remainder ^ tail) & ones(length.min(known)) == 0
            {
                return Some(Some(slot << (self.fingerprint_bits + 1) | entry.remainder));
            }
            at += entry.length;
        }
        Some(None)
    }

    /// Whether a hash of this slot finds an entry; `tail` is the hash bits after those of the segment. True if the
    /// table's metadata is corrupt.
    #[inline(always)]
    pub fn contains<B: Bytes + ?Sized, S: Select>(&self, reader: Reader<B, S>, slot: u64, tail: u64) -> bool {
        if !reader.is_occupied(slot) {
            return false;
        }
        let Some(run) = reader.run(slot) else { return true };
        let (mut found, mut before, slots) = (false, 0, run.left(run.start));
        for at in run.start..=run.end {
            let remainder = reader.remainder(at);
            // A counter shows as a remainder that does not rise. A run of one or two slots has no room for a counter.
            if slots > 2 && at > run.start && remainder <= before {
                return self.contains_counted(reader.plainly(), slot, tail);
            }
            found |= self.is_of(remainder, tail);
            before = remainder;
        }
        found
    }

    /// Whether a hash has all the bits that an entry with this remainder knows.
    ///
    /// The highest clear bit of a remainder ends its ones, and all bits below that have to agree with the hash. So the
    /// lowest bit that differs must not be below that clear bit. A remainder of ones only is no entry: 0 less 1 is less
    /// than no mask.
    #[inline(always)]
    fn is_of(&self, remainder: u64, tail: u64) -> bool {
        let mask = self.table.mask();
        let (has_not, differ) = (!remainder & mask, (remainder ^ tail) & mask);
        has_not.wrapping_sub(1) < differ ^ differ.wrapping_sub(1)
    }

    /// [`Shape::contains`] for a run in which some slots are counters.
    #[inline(never)]
    fn contains_counted<B: Bytes + ?Sized>(&self, reader: Reader<B>, slot: u64, tail: u64) -> bool {
        self.find(reader, slot, tail, self.fingerprint_bits).is_none_or(|found| found.is_some())
    }

    /// The words that most lookups in a slot read: the metadata of the slot's block, the slots from this one on, and
    /// where runs end in the next block. Several of these words may be in the same line.
    #[inline(always)]
    pub fn words_of(&self, slot: u64) -> [usize; 5] {
        let (bits, block) = (u64::from(self.table.remainder_bits()), block_bits(self.table.remainder_bits()));
        let (first, last) = (slot / BLOCK * block, (self.table.blocks() - 1) * block);
        let head = block - BLOCK * bits;
        let own = first + head + slot % BLOCK * bits;
        let next = if first == last { 0 } else { first + block };
        [first, first + head - 1, own, own + AFTER * bits, next + head - 1].map(|bit| (bit / 64) as usize)
    }

    /// Whether an entry agrees with a hash in all bits that both the entry and the first `known` bits of the
    /// fingerprint have. True if the table's metadata is corrupt.
    pub fn contains_alike<B: Bytes + ?Sized>(&self, reader: Reader<B>, (slot, tail): (u64, u64), known: u32) -> bool {
        self.find(reader, slot, tail, known).is_none_or(|found| found.is_some())
    }

    /// The number of the entry that knows most among those that a hash finds.
    pub fn first<B: Bytes + ?Sized>(&self, reader: Reader<B>, slot: u64, tail: u64) -> Option<u64> {
        self.find(reader, slot, tail, self.fingerprint_bits).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;
    use crate::blocks::runs::{Editor, Entries};

    fn entry(shape: Shape, hash: u64, length: u32) -> Entry {
        let (slot, tail) = parts(shape, hash);
        Entry { slot, length, fingerprint: tail & ones(length) }
    }

    fn parts(shape: Shape, hash: u64) -> (u64, u64) {
        (hash & ones(shape.slot_bits), hash >> shape.slot_bits)
    }

    fn shapes() -> impl Iterator<Item = Shape> {
        (0..12).map(|i: u64| Shape::new(6 + i as u32 % 4, 2 + (mix(i) % 30) as u32).unwrap())
    }

    /// Entries come back from their numbers. Numbers rise with the slot, the longest entry of a slot comes first, and
    /// no entry has the number of all ones.
    #[test]
    fn entries_come_back_from_their_numbers() {
        for shape in shapes() {
            let mut before: Option<(u64, u32)> = None;
            let (mut words, mut count) = (vec![0; shape.words()], 0);
            for i in 0..sample(shape) {
                let entry = entry(shape, mix(i), (mix(i ^ 1 << 40) % u64::from(shape.fingerprint_bits + 1)) as u32);
                assert_eq!(shape.entry_of(shape.number(entry)), Some(entry));
                Editor::new(shape.table, &mut words).insert(shape.number(entry), 1).unwrap();
                count += 1;
            }
            let mut all = 0;
            for (number, times) in Entries::new(Reader::new(shape.table, &words[..]), 0) {
                let entry = shape.entry_of(number).unwrap();
                assert!(before.is_none_or(|(slot, length)| (slot, !length) <= (entry.slot, !entry.length)));
                before = Some((entry.slot, entry.length));
                all += times;
            }
            assert_eq!(all, count);
            assert_eq!(shape.entry_of(shape.table.mask()), None);
        }
    }

    fn sample(shape: Shape) -> u64 {
        shape.table.slots() * 9 / 10
    }

    /// Compares the table with a list of all entries: a hash finds the entries that agree with it, and the longest of
    /// them comes first.
    #[test]
    fn a_hash_finds_the_entry_that_knows_most_of_it() {
        for shape in shapes().filter(|shape| shape.fingerprint_bits < 12) {
            let (mut words, mut list) = (vec![0; shape.words()], Vec::new());
            for i in 0..sample(shape) {
                let entry = entry(shape, mix(i), (mix(i ^ 1 << 40) % u64::from(shape.fingerprint_bits + 1)) as u32);
                Editor::new(shape.table, &mut words).insert(shape.number(entry), 1).unwrap();
                list.push(entry);
            }
            let reader = Reader::new(shape.table, &words[..]);
            for i in 0..4000 {
                let hash = mix(i ^ 1 << 50);
                let (slot, tail) = parts(shape, hash);
                let found = list.iter().filter(|one| **one == entry(shape, hash, one.length));
                let longest = found.max_by_key(|entry| entry.length).copied();
                assert_eq!(shape.contains(reader, slot, tail), longest.is_some());
                assert_eq!(shape.first(reader, slot, tail), longest.map(|entry| shape.number(entry)));
                let known = (i % 5) as u32 % (shape.fingerprint_bits + 1);
                let alike = list.iter().any(|one| {
                    let both = one.length.min(known);
                    let part = |entry: Entry| (entry.slot, entry.fingerprint & ones(both));
                    part(*one) == part(entry(shape, hash, both))
                });
                assert_eq!(shape.contains_alike(reader, (slot, tail), known), alike);
            }
        }
    }
}
