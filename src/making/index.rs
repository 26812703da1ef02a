//! Makes indexes: of any number of rows, and anew from other indexes.

use super::create::create_as;
use super::handles::bytes_of;
use crate::contract::Base;
use crate::error::Result;
#[cfg(doc)]
use crate::error::Status;
use crate::format::Header;
use crate::handle::image::Image;
use crate::index::Index;
use crate::index::STORE;
use crate::index::columns::BLOCK;
use crate::index::layout::Shape;
use crate::spec::{KindId, Spec};
use crate::storage::Words;

bytes_of!(Index "an index",);

impl Index {
    /// An empty index in its own memory. The spec's capacity is the number of rows that there is room for, and its
    /// parameter `width` the bits of a row. An index has no rate.
    ///
    /// # Errors
    /// As [`create_as`].
    pub fn new(spec: &Spec) -> Result<Index> {
        let mut index: Index = create_as(&Spec { kind: Some(spec.kind.unwrap_or(KindId::INDEX)), ..*spec })?;
        let capacity = index.capacity();
        // The spec may give bits instead of the capacity, and rows that are found exactly have no rate.
        index.base_mut().set_capacity(capacity);
        index.base_mut().promise(0.0);
        Ok(index)
    }
}

/// Takes rows, however many come, and makes an index of them whose rows are arranged.
pub struct IndexBuilder {
    /// The rows so far, without columns, which are made from all rows at the end.
    index: Index,
    /// The shape of the index to be made, with the least capacity.
    shape: Shape,
}

impl core::fmt::Debug for IndexBuilder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IndexBuilder").field("index", &self.index).finish_non_exhaustive()
    }
}

/// How many rows a builder has room for at first.
const FIRST: u64 = 1024;

impl IndexBuilder {
    /// A builder of the index that a spec describes. The index gets room for as many rows as come, or for the spec's
    /// capacity if that is more.
    ///
    /// # Errors
    /// As [`Index::new`].
    pub fn new(spec: &Spec) -> Result<IndexBuilder> {
        let mut first = if spec.bits == 0 { Spec { capacity: FIRST, ..*spec } } else { *spec };
        // The spec is checked as it is.
        let index = Index::new(&first)?;
        let capacity = if spec.bits == 0 { spec.capacity } else { index.capacity() };
        let shape = Shape { capacity, ..*index.shape() };
        if !shape.store.has_columns() {
            return Ok(IndexBuilder { index, shape });
        }
        first.set(&STORE, 0.0)?;
        Ok(IndexBuilder { index: Index::new(&first)?, shape })
    }

    /// The rows so far.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Adds a row with an id.
    ///
    /// # Errors
    /// The errors of [`Index::add`] except [`Status::Full`]; [`Status::TooLarge`]; [`Status::OutOfMemory`].
    pub fn add(&mut self, id: u64, row: &[u8]) -> Result<()> {
        if self.index.next_row() == self.index.capacity() {
            self.index = self.index.copied(self.index.capacity().saturating_mul(2))?;
        }
        self.index.add(id, row).map(drop)
    }

    /// The index of all rows that were added, in the order of their numbers of set bits, then of their ids.
    ///
    /// # Errors
    /// [`Status::TooLarge`]; [`Status::OutOfMemory`].
    pub fn build(&self) -> Result<Index> {
        let capacity = self.shape.capacity.max(self.index.next_row()).max(1);
        self.index.arranged_as(Shape { capacity, ..self.shape })
    }

    /// [`IndexBuilder::build`], which ends the builder.
    ///
    /// # Errors
    /// As [`IndexBuilder::build`].
    pub fn finish(self) -> Result<Index> {
        self.build()
    }
}

impl Index {
    /// The shape of an index like this one with another capacity.
    fn shape_for(&self, capacity: u64) -> Shape {
        Shape { capacity: capacity.max(1), ..*self.shape() }
    }

    /// A copy in its own memory with room for `capacity` rows, in the same order, without removed rows.
    fn copied(&self, capacity: u64) -> Result<Index> {
        self.copy_in_order(self.shape_for(capacity), 0..self.next_row())
    }

    /// A copy in its own memory, with room for `capacity` rows. Removed rows are left out, and the others are in the
    /// order of their numbers of set bits, then of their ids. Searches then read the least. Rows get new numbers.
    ///
    /// # Errors
    /// [`Status::Full`] if there are more than `capacity` rows; [`Status::TooLarge`]; [`Status::OutOfMemory`].
    pub fn arrange(&self, capacity: u64) -> Result<Index> {
        self.arranged_as(self.shape_for(capacity))
    }

    fn arranged_as(&self, shape: Shape) -> Result<Index> {
        let mut order: Vec<u64> = crate::storage::try_vec(self.next_row() as usize)?;
        order.extend(0..self.next_row());
        order.sort_unstable_by_key(|row| (self.rows.count(*row), self.rows.id(*row), *row));
        self.copy_in_order(shape, order.into_iter())
    }

    /// An arranged index, in its own memory, of the rows of this one and of another ([`Index::merge`]) with room for
    /// `capacity` rows. The attachment is that of this one.
    ///
    /// # Errors
    /// The errors of [`Index::merge`] and of [`Index::arrange`].
    pub fn arrange_both(&self, other: &Index, capacity: u64) -> Result<Index> {
        let mut both = self.copied((self.row_count() + other.row_count()).max(1))?;
        both.merge(other)?;
        both.arrange(capacity)
    }

    fn copy_in_order(&self, shape: Shape, order: impl Iterator<Item = u64>) -> Result<Index> {
        let (base, capacity) = (self.base(), shape.capacity);
        let geometry = shape.geometry()?;
        // This does not go through a spec, because a spec has no secret key. If nobody marked rows clean, nobody does
        // so in the copy.
        let header = Header { geometry, capacity, count: 0, unclean: base.stays_unclean(), ..base.header().clone() };
        let words = Words::zeroed(geometry.payload_bytes)?;
        let base = Base::new(base.row(), header, base.hasher().clone(), words).with_instructions(base.instructions());
        let mut copy = Index::over(base)?;
        let (width, mut ids) = (self.shape().row_words(), crate::storage::try_vec(BLOCK)?);
        let mut words: Vec<u64> = crate::storage::try_vec(BLOCK * width)?;
        for row in order.filter(|row| !self.rows.is_removed(*row)) {
            let start = words.len();
            words.resize(start + width, 0);
            self.rows.copy_row(row, &mut words[start..]);
            ids.push(self.rows.id(row));
            if ids.len() == BLOCK {
                copy.rows.add_block(&ids, &words)?;
                ids.clear();
                words.clear();
            }
        }
        copy.rows.add_block(&ids, &words)?;
        copy.attach(&self.attachment()?)?;
        Ok(copy)
    }
}
