//! Where the levels of a stacked filter lie, and how a key is looked up in them.
//!
//! The payload begins with the head, two lines of words: how many frequent non-members the filter took, a zero, and for
//! each level its number of keys and its bits. The payloads of the levels follow, each in whole words. A level's
//! payload is that of a ribbon filter (`ribbon::layout`) without the zeros that fill its last line.
//!
//! All levels divide their keys by one order, so that they are built from passes over sorted records. The coefficients
//! and the fingerprint of a key come from a separate hash for each level ([`scattered`]). So a key passes a level by
//! chance, whatever levels it passed before.

use super::plan::{MAX_LEVELS, Stack, width};
use crate::batch::ring::{Batch, GROUP};
use crate::bits::{GOLDEN, mix};
use crate::blocks::mixing::{order, scatter};
use crate::error::Result;
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::kinds::ribbon::layout::{Fingerprints, Lookup, Shape as Level};
use crate::simd::Instructions;
use core::sync::atomic::{AtomicU64, Ordering};

/// The words of the head: two lines.
pub const HEAD_WORDS: usize = 2 + 2 * MAX_LEVELS;

const _: () = assert!(HEAD_WORDS as u64 * 8 == 2 * PAYLOAD_UNIT);

/// The bits of the head.
pub const HEAD_BITS: u64 = 64 * HEAD_WORDS as u64;

/// The hash that the coefficients and the fingerprint of a key come from in a level, counted from 0.
#[inline]
pub fn scattered(x: u64, level: usize) -> u64 {
    match level {
        0 => scatter(x, 0),
        level => mix(x.wrapping_add(GOLDEN.wrapping_mul(level as u64))),
    }
}

/// The shape of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    stack: Stack,
    /// How many frequent non-members the filter took.
    non_members: u64,
    /// How many levels there are.
    count: usize,
    levels: [Option<Level>; MAX_LEVELS],
}

impl Shape {
    /// The shape of these levels, if such a filter can be: as many levels as the stack has, each with keys, and a level
    /// without keys only as the first.
    pub fn new(stack: &Stack, non_members: u64, levels: &[Option<Level>; MAX_LEVELS]) -> Option<Shape> {
        let count = stack.levels();
        let mut most = [u64::MAX, non_members];
        for (i, level) in levels.iter().enumerate() {
            let Some(level) = level.filter(|_| i < count) else {
                if level.is_some() || i < count {
                    return None;
                }
                continue;
            };
            let keys = level.keys();
            let known = u64::from(level.columns()) == stack.0[i]
                && u64::from(level.width()) == width(stack.0[i])
                && keys <= most[i % 2]
                && (keys > 0 || (count == 1 && non_members == 0));
            if !known {
                return None;
            }
            most[i % 2] = keys;
        }
        let shape = Shape { stack: *stack, non_members, count, levels: *levels };
        (count > 0 && shape.bits().is_some()).then_some(shape)
    }

    /// The shape to expect for a stack whose levels have these numbers of keys.
    pub fn expected(stack: &Stack, non_members: u64, keys: &[u64; MAX_LEVELS]) -> Option<Shape> {
        let mut shapes = [None; MAX_LEVELS];
        for (i, shape) in shapes.iter_mut().take(stack.levels()).enumerate() {
            *shape = Some(Level::expected(stack.0[i] as u32, width(stack.0[i]) as u32, keys[i])?);
        }
        Shape::new(stack, non_members, &shapes)
    }

    /// The shape that a geometry and a payload's head describe, if it is one of this kind.
    pub fn of(geometry: &Geometry, words: &[AtomicU64]) -> Option<Shape> {
        let head = words.first_chunk::<HEAD_WORDS>()?.each_ref().map(|word| word.load(Ordering::Relaxed));
        let ([first, rest, 0, 0, 0, 0, 0, 0], [non_members, 0, ..]) = (geometry.words, head) else { return None };
        let stack = Stack::of_words([first, rest])?;
        let mut levels = [None; MAX_LEVELS];
        for (i, level) in levels.iter_mut().enumerate().take(stack.levels()) {
            let (bits, keys) = (stack.0[i], head[2 + 2 * i]);
            *level = Some(Level::new(bits as u32, width(bits) as u32, keys, head[3 + 2 * i])?);
        }
        let shape = Shape::new(&stack, non_members, &levels).filter(|shape| shape.head() == head)?;
        (shape.geometry().as_ref() == Some(geometry)).then_some(shape)
    }

    /// The head of a payload.
    pub fn head(&self) -> [u64; HEAD_WORDS] {
        let mut head = [0; HEAD_WORDS];
        head[0] = self.non_members;
        for (of, level) in head[2..].as_chunks_mut().0.iter_mut().zip(&self.levels) {
            *of = level.map_or([0; 2], |level| [level.keys(), level.bits()]);
        }
        head
    }

    /// The bits of the head and of all levels, of which the last one need not end with its word.
    fn bits(&self) -> Option<u64> {
        self.levels
            .iter()
            .flatten()
            .try_fold(HEAD_BITS, |bits, level| bits.checked_next_multiple_of(64)?.checked_add(level.bits()))
    }

    /// The geometry of this shape.
    pub fn geometry(&self) -> Option<Geometry> {
        let bits = self.bits()?;
        let payload_bytes = bits.div_ceil(8).checked_next_multiple_of(PAYLOAD_UNIT)?;
        image_bytes(payload_bytes)?;
        let [first, rest] = self.stack.words();
        Some(Geometry { bits, hashes: 1, words: [first, rest, 0, 0, 0, 0, 0, 0], payload_bytes })
    }

    /// The bits of the levels.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// How many members there are.
    pub fn members(&self) -> u64 {
        self.levels[0].map_or(0, |level| level.keys())
    }

    /// The keys and the slots of all levels.
    pub fn places(&self) -> [u64; 2] {
        let levels = self.levels.iter().flatten();
        levels.fold([0; 2], |[keys, slots], level| {
            [keys + level.keys(), slots + level.bits() / u64::from(level.columns())]
        })
    }

    /// The levels and their words in a payload, in order. The last level has all words that are left.
    #[inline]
    fn each<'a>(&self, words: &'a [AtomicU64]) -> impl Iterator<Item = (Level, &'a [AtomicU64])> {
        let (mut rest, last) = (words.get(HEAD_WORDS..).unwrap_or_default(), self.count.saturating_sub(1));
        self.levels.iter().flatten().enumerate().map(move |(i, level)| {
            let own = if i == last { rest.len() } else { level.bits().div_ceil(64) as usize };
            let (own, after) = rest.split_at_checked(own).unwrap_or_default();
            rest = after;
            (*level, own)
        })
    }

    /// Looks through the directories of all levels.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        self.each(words).try_for_each(|(level, words)| level.check_within(words))
    }

    /// Asks for the cache lines that a lookup reads first.
    pub fn fetch(&self, words: &[AtomicU64], hash: u64) {
        if let Some((level, words)) = self.each(words).next() {
            Fingerprints::new(level, words).fetch(hash);
        }
    }
}

/// The inner loops of lookups in levels, for both widths.
#[derive(Clone, Copy)]
pub struct Lookups([Lookup; 2]);

impl Lookups {
    /// The inner loops with these instructions.
    pub fn new(instructions: Instructions) -> Lookups {
        Lookups([64, 128].map(|width| Lookup::new(width, instructions)))
    }

    #[inline(always)]
    fn of(&self, level: &Level) -> &Lookup {
        &self.0[usize::from(level.width() > 64)]
    }

    /// Whether a key with this order passes a level, counted from 0, in these words.
    #[inline]
    pub fn passes(&self, number: usize, level: &Level, words: &[AtomicU64], x: u64) -> bool {
        Fingerprints::new(*level, words).contains_scattered(self.of(level), x, scattered(x, number))
    }

    /// Whether a hash counts as that of a member.
    #[inline]
    pub fn contains(&self, shape: &Shape, words: &[AtomicU64], hash: u64) -> bool {
        self.answer(shape, words, order(hash), 0)
    }

    /// The answer for a key that passes all levels before level `from`: that of the first level that it does not pass.
    #[inline]
    fn answer(&self, shape: &Shape, words: &[AtomicU64], x: u64, from: usize) -> bool {
        let mut levels = 0;
        for (i, (level, words)) in shape.each(words).enumerate() {
            if i >= from && !self.passes(i, &level, words, x) {
                return i % 2 == 1;
            }
            levels = i + 1;
        }
        levels % 2 == 1
    }

    /// [`Lookups::contains`] for all keys of a batch. The first level sees all keys, and the others those that pass.
    pub fn contains_many(&self, shape: &Shape, words: &[AtomicU64], batch: &mut dyn Batch) {
        let Some((level, first)) = shape.each(words).next() else { return };
        let (first, lookup) = (Fingerprints::new(level, first), self.of(&level));
        if shape.count == 1 {
            return first.contains_many(lookup, batch);
        }
        let mut passing =
            Passing { batch, shape, words, lookups: self, hashes: [[0; GROUP]; 2], given: 0, answered: 0 };
        first.contains_many(lookup, &mut passing);
    }
}

/// A batch between the caller and the first level: what passes that level is asked for in the others before the
/// answers go on.
struct Passing<'a> {
    batch: &'a mut dyn Batch,
    shape: &'a Shape,
    words: &'a [AtomicU64],
    lookups: &'a Lookups,
    /// The hashes of the last two groups. Answers come at most one group after the hashes.
    hashes: [[u64; GROUP]; 2],
    /// How many groups were given and answered.
    given: usize,
    answered: usize,
}

impl Batch for Passing<'_> {
    fn keys(&self) -> usize {
        self.batch.keys()
    }

    fn next(&mut self, hashes: &mut [u64; GROUP]) -> usize {
        let count = self.batch.next(hashes);
        if count > 0 {
            self.hashes[self.given % 2] = *hashes;
            self.given += 1;
        }
        count
    }

    fn is_asked(&self) -> bool {
        self.batch.is_asked()
    }

    fn answer(&mut self, answers: u64, keys: usize) {
        let hashes = &self.hashes[self.answered % 2];
        self.answered += 1;
        let mut left = answers & u64::MAX.checked_shr((GROUP - keys) as u32).unwrap_or(0);
        let mut answers = left;
        while left != 0 {
            let i = left.trailing_zeros();
            left &= left - 1;
            let is_member = self.lookups.answer(self.shape, self.words, order(hashes[i as usize]), 1);
            answers ^= u64::from(!is_member) << i;
        }
        self.batch.answer(answers, keys);
    }
}
