//! The fuse structure as a map. A key's cells give the value that was given for the key, and check bits that reveal
//! absent keys. Without check bits every key gets a value.
//!
//! A key is known by 128 bits. Records are sorted and divided by their high half. Both halves together choose the cells
//! after the first and the check bits, so that two keys with the same high half differ under nearly all seeds.
//!
//! **Payload.** A cell has the value in its low bits and the check bits above. If a cell cannot hold both, there are
//! two arrays, of values and then of check bits; a key has the same cells in both.

use super::{Array, Cells, Equations, MAX_WIDTH, Places, Shape, solve};
use crate::batch::records::{Entry, Records};
use crate::batch::ring::{GROUP, Lookups, is_very_far};
use crate::batch::workers::Work;
use crate::blocks::mixing::{fingerprint, order, scatter};
use crate::blocks::{Layout, View};
use crate::error::{Result, Status, error};
use crate::storage::Words;
use core::sync::atomic::{AtomicU64, Ordering};

/// The most check bits.
pub const MAX_CHECK_BITS: u32 = 32;

/// The bits of a value and of a check, and the cells of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueShape {
    value_bits: u32,
    check_bits: u32,
    /// The shape of the cells that hold both, or only values if the check bits lie apart.
    first: Shape,
    /// The shape of the cells that hold check bits, if these lie apart.
    checks: Option<Shape>,
}

/// A number whose lowest `bits` bits are ones, from 0 to 64.
#[inline(always)]
pub(super) fn low(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

impl ValueShape {
    /// The shape with `arity` cells a key and these numbers of bits, shards and cells. `None` if there is no such
    /// shape.
    pub fn new(arity: u32, value_bits: u32, check_bits: u32, shards: u64, cells: u64) -> Option<ValueShape> {
        if value_bits > 64 || check_bits > MAX_CHECK_BITS {
            return None;
        }
        let shape = |width| Shape::new(arity, width, shards, cells);
        let both = value_bits + check_bits;
        let (first, checks) = match both <= MAX_WIDTH {
            true => (shape(both)?, None),
            false => (shape(value_bits)?, Some(shape(check_bits)?)),
        };
        Some(ValueShape { value_bits, check_bits, first, checks }).filter(|shape| shape.words() < 1 << 60)
    }

    /// The expected shape for `keys` keys.
    pub fn expected(arity: u32, value_bits: u32, check_bits: u32, keys: u64) -> Option<ValueShape> {
        let shape = Shape::expected(arity, 1, keys)?;
        ValueShape::new(arity, value_bits, check_bits, shape.shards(), shape.cells())
    }

    /// How many cells a key has: 3 or 4.
    pub fn arity(&self) -> u32 {
        self.first.arity()
    }

    /// Bits of a value.
    pub fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// Bits of a check.
    pub fn check_bits(&self) -> u32 {
        self.check_bits
    }

    /// How many shards there are.
    pub fn shards(&self) -> u64 {
        self.first.shards()
    }

    /// How many cells there are for values.
    pub fn cells(&self) -> u64 {
        self.first.cells()
    }

    /// Whether values and check bits lie in separate arrays.
    pub fn is_apart(&self) -> bool {
        self.checks.is_some()
    }

    /// How many words a payload has.
    pub fn words(&self) -> u64 {
        self.first.words().saturating_add(self.checks.map_or(0, |checks| checks.words()))
    }

    /// Looks through the directories of a payload. Linear in the shards.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let (first, rest) = words.split_at_checked(self.first.words() as usize).ok_or(Status::Corrupt)?;
        self.first.check(first)?;
        let Some(shape) = &self.checks else { return Ok(()) };
        shape.check(rest)?;
        let (values, checks) = (Array::new(self.first, first).directory, Array::new(*shape, rest).directory);
        let load = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let pairs = values.as_flattened().iter().zip(checks.as_flattened()).take(2 * self.shards() as usize);
        match pairs.into_iter().position(|(a, b)| load(a) != load(b)) {
            Some(word) => Err(error!(Corrupt, "the directories of values and checks differ in shard {}", word / 2)),
            None => Ok(()),
        }
    }
}

/// The equations of a map's entries, or of one half of them if check bits lie apart.
struct OfEntries {
    /// Whether the cells give the value, from the lowest bit on.
    values: bool,
    /// The bit from which on the cells give the check bits; 64 if they give none.
    checks: u32,
}

/// Applies a seed to a key's 128 bits. The low half goes through both halves of the mixing. Keys with the same high
/// half begin in the same cell, and low halves that differ in high bits alone must not share the other cells too.
#[inline]
pub(super) fn scatter_id(id: u128, seed: u32) -> u64 {
    scatter(order(id as u64) ^ scatter((id >> 64) as u64, seed), seed)
}

impl Equations<Entry> for OfEntries {
    #[inline]
    fn order(&self, entry: &Entry) -> u64 {
        (entry.id >> 64) as u64
    }

    #[inline]
    fn scatter(&self, entry: &Entry, seed: u32) -> u64 {
        scatter_id(entry.id, seed)
    }

    #[inline]
    fn value(&self, entry: &Entry, z: u64, _: usize) -> u64 {
        let value = if self.values { entry.value } else { 0 };
        value | fingerprint(z).checked_shl(self.checks).unwrap_or(0)
    }
}

/// A map in arrays that were solved.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    shape: ValueShape,
    first: Array<'a>,
    checks: Option<Array<'a>>,
}

/// The places of a key's cells.
#[derive(Clone, Copy, Default)]
struct Found<const K: usize>(Places<K>);

impl<'a> Values<'a> {
    /// The map of this shape in `words`.
    #[inline(always)]
    pub fn new(shape: ValueShape, words: &'a [AtomicU64]) -> Values<'a> {
        let Some(checks) = shape.checks else {
            return Values { shape, first: Array::new(shape.first, words), checks: None };
        };
        let (first, rest) = words.split_at(words.len().min(shape.first.words() as usize));
        Values { shape, first: Array::new(shape.first, first), checks: Some(Array::new(checks, rest)) }
    }

    /// Builds the map of entries, whose values have at most `value_bits` bits, with `arity` cells a key: 3 or 4.
    ///
    /// # Errors
    /// As [`solve`]; [`Status::OutOfRange`] for numbers of bits that no shape has.
    pub fn build(
        entries: &dyn Records<Entry>,
        arity: u32,
        value_bits: u32,
        check_bits: u32,
        work: &mut Work,
    ) -> Result<(ValueShape, Words)> {
        let shape =
            |of: Shape| ValueShape::new(arity, value_bits, check_bits, of.shards(), of.cells()).ok_or(Status::TooLarge);
        let both = value_bits + check_bits;
        if both <= MAX_WIDTH {
            let (of, words) =
                solve(entries, &OfEntries { values: true, checks: value_bits }, Cells::fewest(arity, both), work)?;
            return Ok((shape(of)?, words));
        }
        let (memory, threads) = (work.memory, work.threads);
        let mut half = |which: u64, width, equations: &OfEntries| {
            let progress = &mut *work.progress;
            let mut progress = |done, all: u64| progress(which * all + done, 2 * all);
            solve(
                entries,
                equations,
                Cells::fewest(arity, width),
                &mut Work { memory, threads, progress: &mut progress },
            )
        };
        // The cells of a key depend on the keys alone, so it has the same cells in both arrays.
        let (of, values) = half(0, value_bits, &OfEntries { values: true, checks: 64 })?;
        let (_, checks) = half(1, check_bits, &OfEntries { values: false, checks: 0 })?;
        let mut words = Words::zeroed(values.bytes() + checks.bytes())?;
        let both = values.shared().iter().chain(checks.shared());
        for (to, from) in words.exclusive().ok_or(Status::Internal)?.iter_mut().zip(both) {
            *to = from.load(Ordering::Relaxed);
        }
        Ok((shape(of)?, words))
    }

    /// The view for inlined lookups. `None` if a cell has no bits, if a key has not three cells, or if check bits lie
    /// apart.
    pub fn view(&self) -> Option<View<'a>> {
        let mut view = self.first.view();
        view.layout = Layout::FuseValues;
        view.words[2] = self.shape.value_bits.into();
        (self.checks.is_none() && self.shape.arity() == 3 && view.words[1] > 0).then_some(view)
    }

    /// Where the cells of a key are.
    #[inline(always)]
    fn find<const K: usize>(&self, id: u128) -> Found<K> {
        Found(self.first.places((id >> 64) as u64, |seed| scatter_id(id, seed)))
    }

    /// The value that the cells of a key give, if the check bits agree.
    #[inline(always)]
    fn answer<const K: usize>(&self, Found(places): &Found<K>) -> Option<u64> {
        let ValueShape { value_bits, check_bits, .. } = self.shape;
        let first = self.first.together(places);
        let check = match &self.checks {
            // A value of 64 bits leaves no room for check bits in its cell.
            None => first.wrapping_shr(value_bits),
            Some(checks) => checks.together(places),
        };
        ((check ^ fingerprint(places.z)) & low(check_bits) == 0).then_some(first & low(value_bits))
    }

    /// The answer for every key if there are no cells.
    #[inline]
    fn of_none(&self) -> Option<u64> {
        (self.shape.check_bits == 0).then_some(0)
    }

    /// The value of the key with this identity, or `None`. A key that was given no value nevertheless gets one with
    /// probability 2^-c for c check bits.
    #[inline(always)]
    pub fn get(&self, id: u128) -> Option<u64> {
        match self.shape.arity() {
            _ if self.shape.shards() == 0 => self.of_none(),
            3 => self.answer(&self.find::<3>(id)),
            _ => self.answer(&self.find::<4>(id)),
        }
    }

    /// The value of each key of a batch. In a map that is larger than the caches the cells of the next group are
    /// fetched while this group is answered.
    pub fn get_many(&self, batch: &mut dyn Lookups) {
        let (mut ids, found) = ([0; GROUP], [self.of_none(); GROUP]);
        match self.shape.arity() {
            _ if self.shape.shards() == 0 => loop {
                match batch.next(&mut ids) {
                    0 => return,
                    count => batch.give(&found[..count]),
                }
            },
            3 => self.get_many_of::<3>(batch),
            _ => self.get_many_of::<4>(batch),
        }
    }

    /// [`Values::get_many`] for keys with K cells, in a map that has keys.
    fn get_many_of<const K: usize>(&self, batch: &mut dyn Lookups) {
        let (mut ids, mut found) = ([0; GROUP], [None; GROUP]);
        let is_fetched = is_very_far(self.first.words.len());
        let find = |id| {
            let found = self.find(id);
            if is_fetched {
                self.first.fetch(&found.0);
                self.checks.iter().for_each(|checks| checks.fetch(&found.0));
            }
            found
        };
        let (mut now, mut later) = (&mut [Found::<K>::default(); GROUP], &mut [Found::default(); GROUP]);
        let mut count = batch.next(&mut ids);
        now.iter_mut().zip(&ids[..count]).for_each(|(place, id)| *place = find(*id));
        while count > 0 {
            let next = batch.next(&mut ids);
            if count == GROUP && next == GROUP {
                // One fetch goes with each answer, so that fetches are spread evenly.
                for i in 0..GROUP {
                    later[i] = find(ids[i]);
                    found[i] = self.answer(&now[i]);
                }
            } else {
                later.iter_mut().zip(&ids[..next]).for_each(|(place, id)| *place = find(*id));
                found.iter_mut().zip(&now[..count]).for_each(|(to, place)| *to = self.answer(place));
            }
            batch.give(&found[..count]);
            core::mem::swap(&mut now, &mut later);
            count = next;
        }
    }
}
