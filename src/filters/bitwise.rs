//! What all kinds that are plain bit arrays do alike.

use crate::bits;
use crate::bits::ring::{Batch, Chunk, Few, Taken};
use crate::error::{Result, Status, error};
use crate::filter::{Capabilities, Insert, Intersect, Merge, SharedInsert, mark, mark_one};
use crate::layouts::block_kernel::Fills;
use crate::spec::Parameter;
use crate::storage::Words;
use core::sync::atomic::{AtomicU64, Ordering};

/// Whether the size may later be divided without the keys.
pub const FOLDABLE: Parameter = Parameter {
    name: "foldable",
    summary: "1 rounds the size up, by less than 0.8 %, so that the filter can be folded by many powers of two",
    default: 0,
    domain: crate::spec::Domain::Integer(0, 1),
    word: None,
};

/// `units` rounded up to a multiple of the greatest power of two that is at most a 128th of them.
pub fn foldable_units(units: u64) -> Option<u64> {
    units.checked_next_multiple_of(1 << (units / 128).max(1).ilog2())
}

/// What a kind can do whose keys only ever set bits.
pub const CAPABILITIES: Capabilities = Capabilities::INSERT
    .with(Capabilities::CLEAR)
    .with(Capabilities::MERGE)
    .with(Capabilities::INTERSECT)
    .with(Capabilities::FOLD)
    .with(Capabilities::ESTIMATE)
    .with(Capabilities::INSERT_SHARED);

/// What the bits of all blocks tell, by way of a kernel.
pub fn fills(blocks: &[AtomicU64], progress: &mut dyn FnMut(u64), of: impl Fn(&[AtomicU64]) -> Fills) -> Fills {
    let mut all = Fills::default();
    for piece in blocks.chunks(bits::PIECE_WORDS) {
        let fills = of(piece);
        all.ones += fills.ones;
        all.products += fills.products;
        progress(size_of_val(piece) as u64);
    }
    all
}

/// A kind whose keys only ever set bits, always the same ones: OR is the union, AND holds the intersection.
pub trait BitArray: SharedInsert {
    /// Sets the bits of a hash. Whether any was not set; `None`, having done nothing, where its regions have to be
    /// marked first.
    fn set(&mut self, hash: u64) -> Option<bool>;

    /// Sets the bits of the keys of a batch; `None`, having done nothing, where their regions have to be
    /// marked first.
    fn set_many(&mut self, batch: &mut dyn Batch) -> Option<()>;

    /// Sets the bits of few keys and says of each, if it is asked, whether any was not set; `None`, having done nothing,
    /// where regions have to be marked first, or where few keys are set as many are.
    fn set_few(&mut self, _few: &Few, _is_asked: bool) -> Option<u64> {
        None
    }
}

impl<Kind: BitArray> Insert for Kind {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        match self.insert_at_once(hash) {
            Some(new) => Ok(new),
            None => insert_in_place(self, hash),
        }
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        let new = self.set(hash)?;
        self.base_mut().add_count(1);
        Some(new)
    }

    fn insert_few(&mut self, few: &Few, is_asked: bool) -> Option<u64> {
        let new = self.set_few(few, is_asked)?;
        self.base_mut().add_count(few.keys.len() as u64);
        Some(new)
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if self.set_many(batch).is_some() {
            self.base_mut().add_count(batch.keys() as u64);
            return Taken::all(batch.keys());
        }
        if let Err(error) = self.base_mut().begin_writing() {
            return Taken::none(error);
        }
        Chunk::each(batch, |chunk| {
            let Taken { keys: ready, outcome } = mark(self, chunk.hashes());
            chunk.keep(ready);
            if at_once(self, |filter| filter.set_many(chunk)).is_none() {
                chunk.keep(0);
                return Err(Status::Internal.into());
            }
            self.base_mut().add_count(ready as u64);
            outcome
        })
    }
}

/// An insertion into an image in place, or one that is refused. Out of line, for the sake of memory of the filter's own.
#[inline(never)]
fn insert_in_place<Kind: BitArray>(filter: &mut Kind, hash: u64) -> Result<bool> {
    if !filter.base().has_begun() {
        filter.base_mut().begin_writing()?;
    }
    mark_one(filter, hash)?;
    let new = at_once(filter, |filter| filter.set(hash)).ok_or(Status::Internal)?;
    filter.base_mut().add_count(1);
    Ok(new)
}

/// Makes a change whose regions are marked.
fn at_once<Kind: BitArray, T>(filter: &mut Kind, change: impl FnOnce(&mut Kind) -> T) -> T {
    filter.base_mut().allow_at_once(true);
    let outcome = change(filter);
    filter.base_mut().allow_at_once(false);
    outcome
}

impl<Kind: BitArray> Merge for Kind {
    fn merge_words(&mut self, other: &Words) -> Result<()> {
        for (word, other) in self.base_mut().writable()?.iter_mut().zip(other.shared()) {
            *word |= other.load(Ordering::Relaxed);
        }
        Ok(())
    }
}

impl<Kind: BitArray> Intersect for Kind {
    fn intersect_words(&mut self, other: &Words) -> Result<()> {
        for (word, other) in self.base_mut().writable()?.iter_mut().zip(other.shared()) {
            *word &= other.load(Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Refuses a factor that folding cannot use.
pub fn check_factor(factor: u64, units: u64) -> Result<()> {
    if factor >= 2 && units.is_multiple_of(factor) {
        return Ok(());
    }
    Err(error!(OutOfRange, "factor = {factor} is not a divisor of the {units} units, 2 or more"))
}
