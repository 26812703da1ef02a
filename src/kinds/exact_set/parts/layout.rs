//! How the payload of an exact set of several parts lies: partitions by the prefixes of keys, and updates.
//!
//! **Partitions.** The payload begins with a line, the head: the numbers of listed partitions and of sets, the class of
//! all other partitions, and how many keys are in the classes without a set. The table of sets follows: for each set
//! two words, its bits and side, and the bits of its payload. Then comes the directory, a word for each listed
//! partition: 57 bits of the hash of the prefix, and the class. The words of the directory ascend. The table and the
//! directory are filled up to whole lines. The payloads of the sets follow, each like that of an exact set alone.
//!
//! **Updates.** An update follows in whole lines: a line with the bits and side of a set, the bits of its payload, and
//! the number of members and of all keys. Then comes the payload of the set. A key that is in this set has the opposite
//! of the answer that everything before the update gives.
//!
//! Without partitions the payload begins with that of an exact set alone.
//!
//! The words of a header: word 2 is the bytes of a prefix, or 0 without partitions. Words 0 and 1 are 0 with
//! partitions, and otherwise those of the exact set that comes first. Word 3 has the rate for non-members, as the bits
//! of a double. Word 4 is the number of updates. With updates word 5 is the bits of the payload before them.

use super::super::layout::{EXCLUDED_STORED, Levels, Shape};
use super::super::sizing;
use super::choice::{ALWAYS, FIRST_SET, NEVER};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::simd::Instructions;
use crate::storage::try_vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// The words of a line.
pub const LINE: usize = PAYLOAD_UNIT as usize / 8;
/// The most bytes of a prefix.
pub const MAX_PREFIX: u64 = 64;
/// The most updates.
pub const MAX_UPDATES: u64 = 64;
/// The most sets of one payload, without updates.
pub const MAX_SETS: u64 = 64;
/// The bits of a directory's word that say the class.
pub const CLASS_BITS: u32 = 7;

/// The word of a geometry that has the bytes of a prefix.
pub const PREFIX_WORD: usize = 2;
/// The word that has the rate for non-members.
pub const RATE_WORD: usize = 3;
/// The word that has the number of updates.
pub const UPDATES_WORD: usize = 4;
/// The word that has the bits before all updates.
pub const BASE_WORD: usize = 5;

/// Whether a geometry is one of several parts.
pub fn has_parts(geometry: &Geometry) -> bool {
    geometry.words[PREFIX_WORD] != 0 || geometry.words[UPDATES_WORD] != 0
}

/// The geometry of the payload before all updates.
pub fn without_updates(geometry: &Geometry) -> Geometry {
    let mut before = *geometry;
    if geometry.words[UPDATES_WORD] != 0 {
        before.bits = geometry.words[BASE_WORD];
        before.payload_bytes = lines(before.bits).saturating_mul(PAYLOAD_UNIT);
        (before.words[UPDATES_WORD], before.words[BASE_WORD]) = (0, 0);
    }
    before.words[RATE_WORD] = 0;
    before
}

/// How many lines `bits` bits take.
fn lines(bits: u64) -> u64 {
    bits.div_ceil(8 * PAYLOAD_UNIT)
}

/// A set: its payload in the words from `start` to `end`.
pub struct Set {
    pub shape: Shape,
    levels: Levels,
    start: usize,
    end: usize,
}

impl Set {
    /// The set whose payload begins at this word, given its row in a table.
    fn of(words: &[AtomicU64], start: usize, [form, bits]: [u64; 2], instructions: Instructions) -> Option<Set> {
        let length = lines(bits).checked_mul(LINE as u64)?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let geometry = Geometry {
            bits,
            hashes: 1,
            words: [form & 0xff, form >> 8, 0, 0, 0, 0, 0, 0],
            payload_bytes: length.checked_mul(8)?,
        };
        let shape = Shape::of(&geometry, words.get(start..end)?)?;
        Some(Set { levels: Levels::new(&shape, instructions), shape, start, end })
    }

    /// The row of a set in a table.
    pub fn row(shape: &Shape) -> Option<[u64; 2]> {
        let Geometry { bits, words: [of_levels, side, ..], .. } = shape.geometry()?;
        Some([of_levels | side << 8, bits])
    }

    fn words<'a>(&self, words: &'a [AtomicU64]) -> &'a [AtomicU64] {
        words.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether the set has a hash.
    #[inline]
    pub fn contains(&self, words: &[AtomicU64], hash: u64) -> bool {
        self.levels.contains(&self.shape, self.words(words), hash)
    }

    /// Prefetches the cache lines that a lookup reads first.
    pub fn fetch(&self, words: &[AtomicU64], hash: u64) {
        self.shape.fetch(self.words(words), hash);
    }

    /// The rate for non-members.
    fn rate(&self) -> f64 {
        let Shape { bits, is_inverted, .. } = self.shape;
        sizing::false_positive_rate(bits, is_inverted, self.shape.members())
    }
}

/// The partitions of a payload.
pub struct Partitions {
    /// How many bytes of a key are its prefix.
    pub prefix_bytes: usize,
    /// The words of the directory.
    start: usize,
    end: usize,
    /// The class of the partitions that are not in the directory.
    rest: u8,
}

/// The parts of a payload.
pub struct Form {
    pub partitions: Option<Partitions>,
    /// The sets of the partitions, or the only set if there are no partitions.
    sets: Vec<Set>,
    updates: Vec<Set>,
    /// How many members there are.
    pub members: u64,
    /// The rate for non-members whose prefixes are spread like those of the universe.
    pub rate: f64,
}

impl Form {
    /// The parts of a payload, if a geometry and the payload describe any.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn of(geometry: &Geometry, words: &[AtomicU64], instructions: Instructions) -> Result<Option<Form>> {
        let told = f64::from_bits(geometry.words[RATE_WORD]);
        let form = Form::untold(geometry, words, instructions)?;
        Ok(form.filter(|form| (0.0..=1.0).contains(&told) && (told - form.rate).abs() <= 1e-9 * form.rate))
    }

    /// [`Form::of`] for a geometry that may have any rate, or for that of an exact set alone.
    ///
    /// # Errors
    /// As [`Form::of`].
    pub fn untold(geometry: &Geometry, words: &[AtomicU64], instructions: Instructions) -> Result<Option<Form>> {
        let room = (try_vec(MAX_SETS as usize)?, try_vec(MAX_UPDATES.min(geometry.words[UPDATES_WORD]) as usize)?);
        Ok(Form::within(geometry, words, instructions, room))
    }

    fn within(
        geometry: &Geometry,
        words: &[AtomicU64],
        instructions: Instructions,
        (mut sets, mut updates): (Vec<Set>, Vec<Set>),
    ) -> Option<Form> {
        let [of_levels, side, prefix, _, count, base_bits, 0, 0] = geometry.words else { return None };
        let is_possible = geometry.hashes == 1
            && prefix <= MAX_PREFIX
            && count <= MAX_UPDATES
            && (count > 0) == (base_bits > 0)
            && geometry.payload_bytes == lines(geometry.bits) * PAYLOAD_UNIT
            && words.len() as u64 == geometry.payload_bytes / 8
            && image_bytes(geometry.payload_bytes).is_some();
        if !is_possible {
            return None;
        }
        let base_bits = if count > 0 { base_bits } else { geometry.bits };
        let (partitions, mut members, mut expected) = match prefix {
            0 if of_levels <= 0xff && side <= EXCLUDED_STORED => {
                let set = Set::of(words, 0, [of_levels | side << 8, base_bits], instructions)?;
                let (members, rate) = (set.shape.members(), set.rate());
                sets.push(set);
                (None, members, rate)
            }
            1.. if [of_levels, side] == [0, 0] => {
                let (partitions, members, rate) = partitioned(prefix, base_bits, words, instructions, &mut sets)?;
                (Some(partitions), members, rate)
            }
            _ => return None,
        };
        let mut bits = base_bits;
        for _ in 0..count {
            let start = usize::try_from(lines(bits)).ok()?.checked_mul(LINE)?;
            let line = words.get(start..)?.first_chunk::<LINE>()?.each_ref().map(|word| word.load(Ordering::Relaxed));
            let [form, of_set, new_members, universe, 0, 0, 0, 0] = line else { return None };
            let set = Set::of(words, start + LINE, [form, of_set], instructions)?;
            if new_members > universe || set.shape.universe != universe {
                return None;
            }
            members = new_members;
            let flipped = set.rate();
            expected = expected * (1.0 - flipped) + (1.0 - expected) * flipped;
            bits = 64 * (start + LINE) as u64 + of_set;
            updates.push(set);
        }
        (bits == geometry.bits).then_some(Form { partitions, sets, updates, members, rate: expected })
    }

    /// The class of a key whose prefix has this hash.
    #[inline]
    pub fn class(&self, words: &[AtomicU64], prefix: u64) -> u8 {
        let Some(partitions) = &self.partitions else { return FIRST_SET };
        let directory = words.get(partitions.start..partitions.end).unwrap_or_default();
        let hash = prefix >> CLASS_BITS;
        let at = directory.partition_point(|word| word.load(Ordering::Relaxed) >> CLASS_BITS < hash);
        match directory.get(at).map(|word| word.load(Ordering::Relaxed)) {
            Some(word) if word >> CLASS_BITS == hash => (word & ((1 << CLASS_BITS) - 1)) as u8,
            _ => partitions.rest,
        }
    }

    /// Whether a hash counts as that of a member, in a partition of this class.
    #[inline]
    pub fn contains(&self, words: &[AtomicU64], class: u8, hash: u64) -> bool {
        let is_member = match class {
            NEVER => false,
            ALWAYS => true,
            // A forged directory may name a set that is not there. Then nothing is certain.
            class => self.sets.get(usize::from(class - FIRST_SET)).is_none_or(|set| set.contains(words, hash)),
        };
        self.updates.iter().fold(is_member, |is_member, update| is_member != update.contains(words, hash))
    }

    /// Prefetches the cache lines that a lookup reads first.
    pub fn fetch(&self, words: &[AtomicU64], class: u8, hash: u64) {
        let set = class.checked_sub(FIRST_SET).and_then(|set| self.sets.get(usize::from(set)));
        set.into_iter().chain(&self.updates).for_each(|set| set.fetch(words, hash));
    }

    /// The keys and the slots of all levels.
    pub fn places(&self) -> [u64; 2] {
        let places = self.sets.iter().chain(&self.updates).map(|set| set.shape.places());
        places.fold([0; 2], |[keys, slots], [more_keys, more_slots]| [keys + more_keys, slots + more_slots])
    }

    /// Looks through the directory of partitions and those of all levels.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        if let Some(Partitions { start, end, rest, .. }) = self.partitions {
            let mut last = None;
            for (i, word) in words.get(start..end).unwrap_or_default().iter().enumerate() {
                let word = word.load(Ordering::Relaxed);
                let (hash, class) = (word >> CLASS_BITS, (word & ((1 << CLASS_BITS) - 1)) as u8);
                if last.is_some_and(|last| last >= hash) || class == rest || !self.has_class(class) {
                    return Err(error!(
                        Corrupt,
                        "the word of partition {i}, {word:#018x}, is not possible (exact_set)"
                    ));
                }
                last = Some(hash);
            }
        }
        self.sets.iter().chain(&self.updates).try_for_each(|set| set.shape.check(set.words(words)))
    }

    fn has_class(&self, class: u8) -> bool {
        usize::from(class) < usize::from(FIRST_SET) + self.sets.len()
    }
}

/// The partitions of a payload, how many members they have, and the rate for non-members.
fn partitioned(
    prefix: u64,
    base_bits: u64,
    words: &[AtomicU64],
    instructions: Instructions,
    sets: &mut Vec<Set>,
) -> Option<(Partitions, u64, f64)> {
    let word = |i: usize| words.get(i).map(|word| word.load(Ordering::Relaxed));
    let head = words.first_chunk::<LINE>()?.each_ref().map(|word| word.load(Ordering::Relaxed));
    let [listed, count, rest, always, never, 0, 0, 0] = head else { return None };
    if count > MAX_SETS || rest >= u64::from(FIRST_SET) + count {
        return None;
    }
    let start = LINE + (2 * count as usize).next_multiple_of(LINE);
    let end = start.checked_add(usize::try_from(listed).ok()?)?;
    let mut from = end.checked_next_multiple_of(LINE).filter(|from| *from <= words.len())?;
    let (mut bits, mut last) = (64 * from as u64, 0);
    let (mut members, mut universe, mut wrong) = (always, always.checked_add(never)?, always as f64);
    for i in 0..count as usize {
        let row = [word(LINE + 2 * i)?, word(LINE + 2 * i + 1)?];
        let set = Set::of(words, from, row, instructions)?;
        // Sets ascend by side and bits, and each stores something.
        if row[0] <= last || set.shape.stored == 0 {
            return None;
        }
        last = row[0];
        bits = 64 * from as u64 + row[1];
        from = set.end;
        members = members.checked_add(set.shape.members())?;
        universe = universe.checked_add(set.shape.universe)?;
        wrong += set.rate() * set.shape.universe as f64;
        sets.push(set);
    }
    let zeros = [LINE + 2 * count as usize..start, end..end.next_multiple_of(LINE)];
    let are_zeros = zeros
        .into_iter()
        .all(|zeros| words.get(zeros).is_some_and(|words| words.iter().all(|word| word.load(Ordering::Relaxed) == 0)));
    let rate = if universe == 0 { 0.0 } else { wrong / universe as f64 };
    let partitions = Partitions { prefix_bytes: prefix as usize, start, end, rest: rest as u8 };
    (bits == base_bits && are_zeros).then_some((partitions, members, rate.min(1.0)))
}
