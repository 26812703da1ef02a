//! The mutable Bloomier filter. The fuse structure says which of a key's three cells is the key's own. The values lie
//! in a second table, in clear, each in the own cell of its key. So a value can be replaced in place.
//!
//! Chazelle, Kilian, Rubinfeld and Tal, "The Bloomier Filter", 2004. When the array is solved, every key is peeled with
//! a cell that no other key is peeled with: the key's own cell. The cells of the first table have q bits. A key's three
//! cells there give the number of its own cell among the three, masked with q bits of the key. A key that was given no
//! value gets an arbitrary number below 2^q, and so one of the three numbers with probability 3 / 2^q.
//!
//! **Payload.** First comes the first table, laid out like that of kind bloomier, with q bits a cell. Then comes a
//! value for each cell of that table, as [`WordCells`] has them, so that one store replaces a value. Zeros fill the
//! last line.

use super::values::{low, scatter_id};
use super::{Array, Cells, Equations, Places, Shape, solve};
use crate::batch::records::{Entry, Records};
use crate::batch::ring::{GROUP, Lookups, fetch_word, is_very_far};
use crate::batch::workers::Work;
use crate::blocks::mixing::fingerprint;
use crate::blocks::word_cells::WordCells;
use crate::error::{Result, Status, error};
use crate::storage::Words;
use core::sync::atomic::{AtomicU64, Ordering};

/// The fewest bits of a cell of the first table, which has to hold three different numbers.
pub const MIN_OWN_BITS: u32 = 2;
/// The most bits of a cell of the first table.
pub const MAX_OWN_BITS: u32 = 32;

/// Cells of a key.
const ARITY: u32 = 3;

/// The shape of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnShape {
    /// The shape of the first table.
    first: Shape,
    values: WordCells,
}

impl OwnShape {
    /// The shape with values of `value_bits` bits (1 to 64), cells of `own_bits` bits in the first table, and these
    /// numbers of shards and cells. `None` if there is no such shape.
    pub fn new(value_bits: u32, own_bits: u32, shards: u64, cells: u64) -> Option<OwnShape> {
        let known = (MIN_OWN_BITS..=MAX_OWN_BITS).contains(&own_bits) && cells < 1 << 56;
        let shape =
            OwnShape { first: Shape::new(ARITY, own_bits, shards, cells)?, values: WordCells::new(value_bits, cells)? };
        Some(shape).filter(|shape| known && shape.words() < 1 << 60)
    }

    /// The expected shape for `keys` keys.
    pub fn expected(value_bits: u32, own_bits: u32, keys: u64) -> Option<OwnShape> {
        let shape = Shape::expected_peeled(ARITY, 1, keys)?;
        OwnShape::new(value_bits, own_bits, shape.shards(), shape.cells())
    }

    /// Bits of a value.
    pub fn value_bits(&self) -> u32 {
        self.values.bits()
    }

    /// Bits of a cell of the first table.
    pub fn own_bits(&self) -> u32 {
        self.first.width()
    }

    /// How many shards there are.
    pub fn shards(&self) -> u64 {
        self.first.shards()
    }

    /// How many cells each table has.
    pub fn cells(&self) -> u64 {
        self.first.cells()
    }

    /// The bits of all cells of both tables, including the unused bits in the words of the second table.
    pub fn bits(&self) -> u64 {
        self.cells() * u64::from(self.own_bits()) + 64 * self.values.words()
    }

    /// How many words a payload has: whole lines of eight.
    pub fn words(&self) -> u64 {
        self.first.words() + self.values.words().next_multiple_of(8)
    }

    /// Looks through the directory of a payload, and at the bits between its values. Linear in the payload.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    pub fn check(&self, words: &[AtomicU64]) -> Result<()> {
        let (first, values) = words.split_at_checked(self.first.words() as usize).ok_or(Status::Corrupt)?;
        self.first.check(first)?;
        match self.values.is_clean(values) {
            true => Ok(()),
            false => Err(error!(Corrupt, "bits of the payload that belong to no value are not 0")),
        }
    }
}

/// The equations of the first table: a record's value is the number of its own cell.
struct OwnCell;

impl Equations<Entry> for OwnCell {
    #[inline]
    fn order(&self, entry: &Entry) -> u64 {
        (entry.id >> 64) as u64
    }

    #[inline]
    fn scatter(&self, entry: &Entry, seed: u32) -> u64 {
        scatter_id(entry.id, seed)
    }

    #[inline]
    fn value(&self, _: &Entry, z: u64, own: usize) -> u64 {
        own as u64 ^ fingerprint(z)
    }
}

/// A map whose values lie in clear.
#[derive(Clone, Copy)]
pub struct OwnCells<'a> {
    shape: OwnShape,
    first: Array<'a>,
    values: &'a [AtomicU64],
}

impl<'a> OwnCells<'a> {
    /// The map of this shape in `words`.
    #[inline]
    pub fn new(shape: OwnShape, words: &'a [AtomicU64]) -> OwnCells<'a> {
        let (first, values) = words.split_at(words.len().min(shape.first.words() as usize));
        OwnCells { shape, first: Array::new(shape.first, first), values }
    }

    /// Builds the map of entries, whose values have at most `value_bits` bits.
    ///
    /// # Errors
    /// As [`solve`]; [`Status::OutOfRange`] for numbers of bits that no shape has.
    pub fn build(
        entries: &dyn Records<Entry>,
        value_bits: u32,
        own_bits: u32,
        work: &mut Work,
    ) -> Result<(OwnShape, Words)> {
        let (of, first) = solve(entries, &OwnCell, Cells::peeled(ARITY, own_bits), work)?;
        let shape = OwnShape::new(value_bits, own_bits, of.shards(), of.cells()).ok_or(Status::TooLarge)?;
        let mut words = Words::zeroed(shape.words() * 8)?;
        let all = words.exclusive().ok_or(Status::Internal)?;
        let (to, values) = all.split_at_mut(shape.first.words() as usize);
        let from = first.shared().iter();
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
        let own = OwnCells { shape, first: Array::new(shape.first, first.shared()), values: &[] };
        entries.for_each(&mut |entries| {
            for Entry { id, value } in entries.iter().copied() {
                let cell = own.own_cell(&own.find(id)).ok_or(Status::Internal)?;
                shape.values.change(values, cell, |_| value);
            }
            Ok(())
        })?;
        Ok((shape, words))
    }

    /// Where the cells of a key are.
    #[inline(always)]
    fn find(&self, id: u128) -> Places<{ ARITY as usize }> {
        self.first.places((id >> 64) as u64, |seed| scatter_id(id, seed))
    }

    /// The key's own cell. `None` if the cells give no number of a cell.
    #[inline(always)]
    fn own_cell(&self, places: &Places<{ ARITY as usize }>) -> Option<u64> {
        let own = (self.first.together(places) ^ fingerprint(places.z)) & low(self.shape.own_bits());
        let cell = places.cells.get(usize::try_from(own).ok()?);
        // A forged directory may send a key anywhere.
        cell.copied().filter(|cell| *cell < self.shape.cells())
    }

    /// The cell in which the value of the key with this identity lies, or `None`. A key that was given no value
    /// nevertheless gets a cell with probability 3 / 2^q for q bits of a cell.
    #[inline]
    pub fn cell(&self, id: u128) -> Option<u64> {
        if self.shape.shards() == 0 { None } else { self.own_cell(&self.find(id)) }
    }

    /// The word of the payload in which the value of a cell lies.
    #[inline]
    pub fn word(&self, cell: u64) -> usize {
        self.shape.first.words() as usize + self.shape.values.place(cell).word
    }

    /// The value of the key with this identity, or `None`, as [`OwnCells::cell`] says.
    #[inline]
    pub fn get(&self, id: u128) -> Option<u64> {
        self.cell(id).map(|cell| self.shape.values.get(self.values, cell))
    }

    /// Prefetches the cache lines of a key in the first table.
    #[inline]
    pub fn fetch(&self, id: u128) {
        if self.shape.shards() > 0 {
            self.first.fetch(&self.find(id));
        }
    }

    /// The value of each key of a batch. In a map that is larger than the caches two groups are under way: the cells of
    /// the next group are fetched, and the values of this group are fetched before they are read.
    pub fn get_many(&self, batch: &mut dyn Lookups) {
        let is_fetched = is_very_far(self.first.words.len() + self.values.len());
        let (mut now, mut later) = ([0; GROUP], [0; GROUP]);
        let mut count = batch.next(&mut now);
        while count > 0 {
            let next = batch.next(&mut later);
            if is_fetched {
                later[..next].iter().for_each(|id| self.fetch(*id));
            }
            let cells = now.map(|id| self.cell(id));
            if is_fetched {
                let places = cells.iter().flatten().map(|cell| self.shape.values.place(*cell));
                places.for_each(|place| fetch_word(self.values, place.word));
            }
            let found = cells.map(|cell| cell.map(|cell| self.shape.values.get(self.values, cell)));
            batch.give(&found[..count]);
            (now, count) = (later, next);
        }
    }

    /// Replaces the value in a cell, in the words of a whole payload of this shape.
    pub fn replace(shape: &OwnShape, words: &mut [u64], cell: u64, value: u64) {
        let values = words.get_mut(shape.first.words() as usize..).unwrap_or_default();
        shape.values.change(values, cell, |_| value);
    }
}
