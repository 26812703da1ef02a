//! Where the levels of an exact set lie, and how a key is looked up in them.
//!
//! The payload begins with a line of words, the head: the number of stored keys, of keys that pass, and of keys of the
//! universe, and the bits of the first level. The payload of the first level follows, in whole words, and then that of
//! the second. Each is the payload of a ribbon filter (`ribbon::layout`) without the zeros that fill its last line.
//! Without a first level there is only the second.
//!
//! **Pairs of hashes.** A record is 64 bits, one of which says the side of its key, so 63 bits of a hash are left. Two
//! hashes that differ only in bit 27 are one key here: [`paired`] gives the one of the two whose order is even. Bit 0
//! of the order flips with bit 27 of the hash, because the multiplication of the order carries upwards only.

use super::plan::{MAX_BITS, MIN_BITS, Plan, width};
use crate::batch::ring::{Batch, GROUP};
use crate::bits::MIX;
use crate::blocks::mixing;
use crate::error::Result;
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::kinds::ribbon::layout::{Fingerprints, Lookup, Shape as Level, Underway};
use crate::simd::Instructions;
use core::sync::atomic::{AtomicU64, Ordering};

/// The bit of a record that says that its key is excluded.
pub const EXCLUDED: u64 = 1;

/// The bit of a hash in which the two hashes of a pair differ.
const PAIR: u32 = 27;

/// The hash of a pair that stands for both, whose order is even.
#[inline(always)]
pub fn paired(hash: u64) -> u64 {
    hash ^ (mixing::order(hash) & 1) << PAIR
}

/// The record of a member with this hash. With [`EXCLUDED`] it is the record of an excluded key.
///
/// This is the order of `paired`, without a second multiplication: if the other hash of the pair is the even one, its
/// product differs from that of this hash by the multiplier moved up to bit `PAIR`.
#[inline(always)]
pub fn order(hash: u64) -> u64 {
    let factor = hash ^ hash >> 30;
    let product = factor.wrapping_mul(MIX);
    let is_odd = (product ^ product >> 27) & 1;
    // All ones if bit `PAIR` of this factor is 1, so that the factor of the other hash is less.
    let is_less = 0_u64.wrapping_sub(factor >> PAIR & 1);
    let difference = (MIX << PAIR ^ is_less).wrapping_sub(is_less);
    let product = product.wrapping_add(difference & 0_u64.wrapping_sub(is_odd));
    product ^ product >> 27
}

/// The two hashes that have this record.
pub fn hashes_of(record: u64) -> [u64; 2] {
    let hash = mixing::hash_of(record & !EXCLUDED);
    [hash, hash ^ 1 << PAIR]
}

/// The words of the head: a line.
pub const HEAD_WORDS: usize = PAYLOAD_UNIT as usize / 8;

/// The bits of the head.
const HEAD_BITS: u64 = 64 * HEAD_WORDS as u64;

/// What word 1 of a geometry says about the side that is stored.
const MEMBERS_STORED: u64 = 1;
/// See [`MEMBERS_STORED`].
pub const EXCLUDED_STORED: u64 = 2;

/// The shape of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits of both levels.
    pub bits: u64,
    /// Whether the excluded keys are stored.
    pub is_inverted: bool,
    /// How many keys the stored side has.
    pub stored: u64,
    /// How many keys both sides have.
    pub universe: u64,
    first: Option<Level>,
    second: Level,
}

impl Shape {
    /// The shape of these levels, for the universe of a plan.
    pub fn new(plan: &Plan, first: Option<Level>, second: Level) -> Option<Shape> {
        let Plan { bits, is_inverted, stored, others } = *plan;
        let universe = stored.checked_add(others)?;
        let passed = second.keys();
        let known = (MIN_BITS..=MAX_BITS).contains(&bits)
            && match first {
                Some(first) => u64::from(first.columns()) + 1 == bits && first.keys() == stored && stored <= passed,
                None => bits == 1 && passed == if stored == 0 { 0 } else { universe },
            }
            && passed <= universe
            && (stored > 0 || (passed == 0 && !is_inverted))
            && second.columns() == 1;
        known.then_some(Shape { bits, is_inverted, stored, universe, first, second })
    }

    /// The expected shape of a plan.
    pub fn expected(plan: &Plan) -> Option<Shape> {
        let level = |bits: u64, keys| Level::expected(bits as u32, width(bits) as u32, keys);
        let first = if plan.bits > 1 { Some(level(plan.bits - 1, plan.stored)?) } else { None };
        let all = plan.stored.checked_add(plan.others)?;
        Shape::new(plan, first, level(1, plan.expected_passed().min(all))?)
    }

    /// The shape that a geometry and a payload's head describe, if it is one of this kind.
    pub fn of(geometry: &Geometry, words: &[AtomicU64]) -> Option<Shape> {
        let head = words.first_chunk::<HEAD_WORDS>()?.each_ref().map(|word| word.load(Ordering::Relaxed));
        let ([bits, side, 0, 0, 0, 0, 0, 0], [stored, passed, universe, first, 0, 0, 0, 0]) = (geometry.words, head)
        else {
            return None;
        };
        if !(MIN_BITS..=MAX_BITS).contains(&bits) || !(MEMBERS_STORED..=EXCLUDED_STORED).contains(&side) {
            return None;
        }
        let others = universe.checked_sub(stored)?;
        let plan = Plan { bits, is_inverted: side == EXCLUDED_STORED, stored, others };
        let level = |columns: u64, keys, bits| Level::new(columns as u32, width(columns) as u32, keys, bits);
        let before = HEAD_BITS.checked_add(first.checked_next_multiple_of(64)?)?;
        let second = level(1, passed, geometry.bits.checked_sub(before)?)?;
        let level = if bits > 1 { Some(level(bits - 1, stored, first)?) } else { None };
        let shape = Shape::new(&plan, level, second).filter(|shape| shape.head() == head)?;
        (shape.geometry().as_ref() == Some(geometry)).then_some(shape)
    }

    /// The head of a payload.
    pub fn head(&self) -> [u64; HEAD_WORDS] {
        let first = self.first.map_or(0, |first| first.bits());
        [self.stored, self.second.keys(), self.universe, first, 0, 0, 0, 0]
    }

    /// The geometry of this shape.
    pub fn geometry(&self) -> Option<Geometry> {
        let side = if self.is_inverted { EXCLUDED_STORED } else { MEMBERS_STORED };
        let payload_bytes = self.words().checked_mul(8).filter(|bytes| image_bytes(*bytes).is_some())?;
        let before = (HEAD_WORDS as u64).checked_add(self.first_words())?.checked_mul(64)?;
        let bits = before.checked_add(self.second.bits())?;
        Some(Geometry { bits, hashes: 1, words: [self.bits, side, 0, 0, 0, 0, 0, 0], payload_bytes })
    }

    /// How many words a payload has.
    pub fn words(&self) -> u64 {
        let all = (HEAD_WORDS as u64 + self.first_words()).saturating_add(words_of(&self.second));
        all.checked_next_multiple_of(PAYLOAD_UNIT / 8).unwrap_or(u64::MAX)
    }

    /// How many words the first level has.
    pub fn first_words(&self) -> u64 {
        self.first.map_or(0, |first| words_of(&first))
    }

    /// How many members there are.
    pub fn members(&self) -> u64 {
        if self.is_inverted { self.universe - self.stored } else { self.stored }
    }

    /// The keys and the slots of both levels.
    pub fn places(&self) -> [u64; 2] {
        let slots = self.second.bits() + self.first.map_or(0, |first| first.bits() / u64::from(first.columns()));
        [self.second.keys() + self.first.map_or(0, |first| first.keys()), slots]
    }

    /// The words of the levels.
    #[inline(always)]
    fn split<'a>(&self, words: &'a [AtomicU64]) -> (&'a [AtomicU64], &'a [AtomicU64]) {
        let levels = words.get(HEAD_WORDS..).unwrap_or_default();
        levels.split_at_checked(self.first_words() as usize).unwrap_or_default()
    }

    /// The first level over the words of a payload, if there is one.
    #[inline(always)]
    fn first<'a>(&self, words: &'a [AtomicU64]) -> Option<Fingerprints<'a>> {
        self.first.map(|first| Fingerprints::new(first, self.split(words).0))
    }

    /// The second level over the words of a payload. A bit of the key's fingerprint, the one after those of the first
    /// level, says which bit stands for the stored side.
    #[inline(always)]
    fn second<'a>(&self, words: &'a [AtomicU64]) -> Fingerprints<'a> {
        Fingerprints::after(self.second, self.split(words).1, self.bits as u32 - 1)
    }

    /// Looks through the directories of both levels.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let (first, second) = self.split(words);
        let check = |level: &Level, words| if level.keys() > 0 { level.check_within(words) } else { Ok(()) };
        self.first.map_or(Ok(()), |level| check(&level, first))?;
        check(&self.second, second)
    }

    /// Prefetches the cache lines that a lookup reads first.
    pub fn fetch(&self, words: &[AtomicU64], hash: u64) {
        self.first(words).unwrap_or_else(|| self.second(words)).fetch(paired(hash));
    }
}

/// How many words a level has: none without keys.
fn words_of(level: &Level) -> u64 {
    level.bits().div_ceil(64)
}

/// The inner loops of lookups in both levels.
pub struct Levels {
    first: Lookup,
    second: Lookup,
}

impl Levels {
    /// The inner loops for a shape with these instructions.
    pub fn new(shape: &Shape, instructions: Instructions) -> Levels {
        let of = |level: &Level| Lookup::new(level.width(), instructions);
        Levels { first: of(&shape.first.unwrap_or(shape.second)), second: of(&shape.second) }
    }

    /// Whether a hash counts as that of a member.
    #[inline]
    pub fn contains(&self, shape: &Shape, words: &[AtomicU64], hash: u64) -> bool {
        let x = order(hash);
        let passes = shape.first(words).is_none_or(|first| first.contains_ordered(&self.first, x));
        (passes && shape.second(words).contains_ordered(&self.second, x)) != shape.is_inverted
    }

    /// [`Levels::contains`] for all keys of a batch. The first level sees all keys, and the second those that pass.
    pub fn contains_many(&self, shape: &Shape, words: &[AtomicU64], batch: &mut dyn Batch) {
        let flip = if shape.is_inverted { u64::MAX } else { 0 };
        let second = shape.second(words);
        let Some(first) = shape.first(words) else {
            return second.contains_many_ordered(&self.second, &mut Ordered { batch, flip });
        };
        let mut passing = Passing::new(&mut *batch, flip, second, self.second);
        first.contains_many_ordered(&self.first, &mut passing);
        passing.finish();
    }
}

/// Replaces `hashes` by the orders of a batch's next hashes.
#[inline]
fn next_ordered(batch: &mut dyn Batch, hashes: &mut [u64; GROUP]) -> usize {
    let count = batch.next(hashes);
    hashes[..count].iter_mut().for_each(|hash| *hash = order(*hash));
    count
}

/// A batch between the caller and the only level.
struct Ordered<'a> {
    batch: &'a mut dyn Batch,
    /// All ones to negate the answers.
    flip: u64,
}

impl Batch for Ordered<'_> {
    fn keys(&self) -> usize {
        self.batch.keys()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        next_ordered(self.batch, hashes)
    }

    fn is_asked(&self) -> bool {
        self.batch.is_asked()
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        self.batch.answer(answers ^ self.flip, keys);
    }
}

/// The most groups of answers that wait for keys in the second level.
const HELD: usize = 16;

/// If at least this many keys of a group pass, the second level is asked for the whole group. The passing keys of other
/// groups are gathered.
const MANY: u32 = GROUP as u32 / 2;

/// Up to this many keys are looked up one by one.
const FEW: usize = 8;

/// A batch between the caller and the first level. Keys that pass that level are gathered, and a group of them goes to
/// the second level together. The answers of a group of the caller's keys go on when all of them are known.
struct Passing<'a, 'b> {
    batch: &'a mut dyn Batch,
    /// All ones to negate the answers.
    flip: u64,
    second: Fingerprints<'b>,
    lookup: Lookup,
    underway: Option<Underway<'b>>,
    /// The orders of the last two groups. Answers of the first level come at most one group after the hashes.
    orders: [[u64; GROUP]; 2],
    /// How many groups were given to the first level, answered by it, and answered to the caller.
    given: usize,
    answered: usize,
    released: usize,
    /// The answers of groups that were answered by the first level, and how many keys these groups have.
    held: [(u64, usize); HELD],
    /// Keys that were gathered, and their orders.
    waiting: Places,
    waiting_orders: [u64; GROUP],
    /// What the second level was given in its last turn, and the places of keys that were gathered for it.
    asked: SecondLevelInput,
    asked_places: [usize; GROUP],
}

/// The places of some keys among those of the batch, in order: the number of a key's group times [`GROUP`], and the
/// key's number in the group.
struct Places {
    count: usize,
    places: [usize; GROUP],
}

/// What the second level was given.
enum SecondLevelInput {
    Nothing,
    /// All keys of the group with this number.
    Group(usize),
    /// This many gathered keys, at least one.
    Gathered(usize),
}

impl<'a, 'b> Passing<'a, 'b> {
    fn new(batch: &'a mut dyn Batch, flip: u64, second: Fingerprints<'b>, lookup: Lookup) -> Passing<'a, 'b> {
        Passing {
            batch,
            flip,
            second,
            lookup,
            underway: None,
            orders: [[0; GROUP]; 2],
            given: 0,
            answered: 0,
            released: 0,
            held: [(0, 0); HELD],
            waiting: Places { count: 0, places: [0; GROUP] },
            waiting_orders: [0; GROUP],
            asked: SecondLevelInput::Nothing,
            asked_places: [0; GROUP],
        }
    }

    /// Gives the second level these `count` keys, and takes the answers of those that it was given last.
    #[inline(always)]
    fn step(&mut self, orders: &[u64; GROUP], count: usize, next: SecondLevelInput) {
        let (second, lookup) = (self.second, &self.lookup);
        let underway = self.underway.get_or_insert_with(|| Underway::new(second, lookup));
        let answers = underway.turn(orders, count);
        match core::mem::replace(&mut self.asked, next) {
            SecondLevelInput::Nothing => {}
            SecondLevelInput::Group(group) => self.held[group % HELD].0 &= answers,
            SecondLevelInput::Gathered(count) => {
                for i in 0..count {
                    self.note(self.asked_places[i], answers >> i & 1 == 1);
                }
            }
        }
    }

    /// Notes the second level's answer for a key that passed the first.
    #[inline(always)]
    fn note(&mut self, place: usize, is_stored: bool) {
        self.held[place / GROUP % HELD].0 ^= u64::from(!is_stored) << (place % GROUP);
    }

    /// Gives the second level the keys that were gathered.
    fn ask_gathered(&mut self) {
        let (orders, count) = (self.waiting_orders, core::mem::take(&mut self.waiting.count));
        self.step(&orders, count, SecondLevelInput::Gathered(count));
        self.asked_places = self.waiting.places;
    }

    /// Gives the caller the answers of all groups before this one.
    fn release(&mut self, before: usize) {
        while self.released < before {
            let (answers, keys) = self.held[self.released % HELD];
            self.batch.answer(answers ^ self.flip, keys);
            self.released += 1;
        }
    }

    /// Gives the caller the answers that are left.
    fn finish(&mut self) {
        if self.waiting.count > FEW {
            self.ask_gathered();
        }
        for i in 0..core::mem::take(&mut self.waiting.count) {
            let is_stored = self.second.contains_ordered(&self.lookup, self.waiting_orders[i]);
            self.note(self.waiting.places[i], is_stored);
        }
        if !matches!(self.asked, SecondLevelInput::Nothing) {
            self.step(&[0; GROUP], 0, SecondLevelInput::Nothing);
        }
        self.release(self.answered);
    }
}

impl Batch for Passing<'_, '_> {
    fn keys(&self) -> usize {
        self.batch.keys()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let count = next_ordered(self.batch, hashes);
        if count > 0 {
            self.orders[self.given % 2] = *hashes;
            self.given += 1;
        }
        count
    }

    fn is_asked(&self) -> bool {
        self.batch.is_asked()
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        if self.answered - self.released == HELD {
            self.finish();
        }
        let (group, turn) = (self.answered, self.answered % 2);
        let mut left = answers & u64::MAX.checked_shr((GROUP - keys) as u32).unwrap_or(0);
        self.held[group % HELD] = (left, keys);
        self.answered += 1;
        if left.count_ones() >= MANY {
            let orders = self.orders[turn];
            self.step(&orders, keys, SecondLevelInput::Group(group));
            left = 0;
        }
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let to = self.waiting.count;
            (self.waiting_orders[to], self.waiting.places[to]) = (self.orders[turn][i], group * GROUP + i);
            self.waiting.count += 1;
            if self.waiting.count == GROUP {
                self.ask_gathered();
            }
        }
        let asked = match &self.asked {
            SecondLevelInput::Nothing => self.answered,
            SecondLevelInput::Group(group) => *group,
            SecondLevelInput::Gathered(_) => self.asked_places[0] / GROUP,
        };
        let waiting = if self.waiting.count > 0 { self.waiting.places[0] / GROUP } else { self.answered };
        self.release(asked.min(waiting));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    #[test]
    fn a_record_is_that_of_two_hashes() {
        for hash in (0..1000).map(mix).chain(0..1000).chain((0..64).map(|bit| 1 << bit)).chain([u64::MAX]) {
            let record = order(hash);
            assert_eq!(record & EXCLUDED, 0);
            assert!(hashes_of(record).contains(&hash) && hashes_of(record | EXCLUDED).contains(&hash));
            assert_eq!(record, order(hash ^ 1 << PAIR));
            assert_eq!(mixing::order(paired(hash)), record);
        }
    }
}
