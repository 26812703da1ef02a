//! The operations of a stable filter on the cells of its payload.

use super::cells::Shape;
use crate::batch::ring::{self, Batch, Taken};
use crate::bits;
use crate::blocks::Measure;
use crate::contract::{Age, Base, Insert, Kind, Payload, change_words, facets, insert_of_words, one_by_one, over_base};
use crate::error::{Result, Status, error};
use crate::storage::try_box;
use core::sync::atomic::Ordering;

/// A filter over cells. The last line of the payload is the state: how many steps there were, which says what the next
/// step decrements.
struct Stable {
    base: Base,
    shape: Shape,
}

/// The word of the state that says how many steps there were.
const STEPS: usize = 0;

/// A filter over a payload of this kind.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the kind cannot have; [`Status::OutOfMemory`].
pub fn open(base: Base) -> Result<Box<dyn Kind>> {
    let shape = base.known(Shape::of(base.geometry()))?;
    Ok(try_box(Stable { base, shape })?)
}

impl Stable {
    /// The place of the state in the payload.
    fn state(&self) -> usize {
        Shape::state(self.base.words().shared().len())
    }

    /// How many steps there were.
    #[inline]
    fn steps(&self) -> u64 {
        self.base.words().shared()[self.state() + STEPS].load(Ordering::Relaxed)
    }

    /// The seed of the choice of cells that are decremented.
    #[inline]
    fn seed(&self) -> u64 {
        self.base.header().identifier
    }

    /// Whether all cells of a mixed hash are above 0.
    #[inline]
    fn contains(&self, hash: u64) -> bool {
        let words = self.base.words().shared();
        self.shape.cells_of(hash).all(|cell| self.shape.is_set(words, cell))
    }

    /// Fetches the lines of a mixed hash, which then come together and not one after the other.
    #[inline]
    fn fetch_cells(&self, hash: u64) {
        let words = self.base.words().shared();
        self.shape.cells_of(hash).for_each(|cell| ring::fetch_word(words, self.shape.word(cell)));
    }

    /// Fetches the lines of the cells that a step decrements.
    #[inline]
    fn fetch_step(&self, step: u64) {
        let words = self.base.words().shared();
        for cells in self.shape.decremented(self.seed(), step) {
            self.shape.words(cells).step_by(8).for_each(|word| ring::fetch_word(words, word));
        }
    }

    /// Decrements the next cells if [`Base::writable_at_once`] allows it.
    #[inline]
    fn step(&mut self) -> Option<()> {
        let (shape, state, steps) = (self.shape, self.state(), self.steps());
        let decremented = shape.decremented(self.seed(), steps);
        let words = self.base.writable_at_once()?;
        decremented.into_iter().for_each(|cells| shape.count_down(words, cells));
        words[state + STEPS] = steps.wrapping_add(1);
        Some(())
    }

    /// Inserts a hash if [`Base::writable_at_once`] allows it: decrements the next cells, and then sets the key's
    /// cells.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<bool> {
        if ring::is_far(self.base.words().shared().len()) {
            self.fetch_cells(bits::mix(hash));
            self.fetch_step(self.steps());
        }
        self.insert_fetched(hash)
    }

    /// [`Stable::insert`] of a hash whose lines were fetched if that pays.
    #[inline]
    fn insert_fetched(&mut self, hash: u64) -> Option<bool> {
        if !self.base.is_at_once() {
            return None;
        }
        let (hash, shape) = (bits::mix(hash), self.shape);
        let new = !self.contains(hash);
        self.step()?;
        let words = self.base.writable_at_once()?;
        shape.cells_of(hash).for_each(|cell| shape.set(words, cell));
        self.base.add_count(1);
        Some(new)
    }

    /// Makes `steps` steps without inserting a key.
    fn advance(&mut self, steps: u64) -> Option<()> {
        if steps < self.shape.cells.lifetime() {
            return (0..steps).try_for_each(|_| self.step());
        }
        let (state, made) = (self.state(), self.steps());
        let words = self.base.writable_at_once()?;
        words[..state].fill(0);
        words[state + STEPS] = made.wrapping_add(steps);
        Some(())
    }
}

impl Payload for Stable {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()?;
        let cells = &self.base.words().shared()[..self.state()];
        // Clears the bits after the last cell: the rest of its group, and of the last line.
        let end = self.shape.cells.count();
        let last = self.shape.words(end - 1..end);
        let beyond = u64::MAX.checked_shl(((end - 1) % 64 + 1) as u32).unwrap_or(0);
        let is_tail_zero = cells[last.clone()].iter().all(|word| word.load(Ordering::Relaxed) & beyond == 0)
            && cells[last.end..].iter().all(|word| word.load(Ordering::Relaxed) == 0);
        match is_tail_zero {
            true => Ok(()),
            false => Err(error!(Corrupt, "bits after the last cell are set")),
        }
    }

    /// Every state is valid, because there may have been any number of steps.
    fn check_state(&self) -> Result<()> {
        let rest = &self.base.words().shared()[self.state() + STEPS + 1..];
        match rest.iter().all(|word| word.load(Ordering::Relaxed) == 0) {
            true => Ok(()),
            false => Err(error!(Corrupt, "bits after the state are set")),
        }
    }
}

impl Kind for Stable {
    fn contains_hash(&self, hash: u64) -> bool {
        let hash = bits::mix(hash);
        if ring::is_far(self.base.words().shared().len()) {
            self.fetch_cells(hash);
        }
        self.contains(hash)
    }

    fn fetch(&self, hash: u64) {
        self.fetch_cells(bits::mix(hash));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        let ahead = ring::ahead(self.base.words().shared().len(), self.shape.cells.hashes as usize);
        ring::rolling(
            &mut (),
            ahead,
            batch,
            |_, hash| self.fetch_cells(bits::mix(hash)),
            ring::nothing,
            |_, hash| self.contains(bits::mix(hash)),
        );
    }

    /// The rate is the product, over the slices, of the share of cells above 0.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (words, each) = (self.base.words().shared(), self.shape.cells.each);
        let (mut taken, mut rate) = (0, 1.0);
        for slice in 0..u64::from(self.shape.cells.hashes) {
            let (end, mut set, mut from) = ((slice + 1) * each, 0, slice * each);
            while from < end {
                let to = end.min(from + 64 * bits::PIECE_WORDS as u64);
                set += self.shape.count_set(words, from..to);
                progress((to - from) * self.shape.planes as u64 / 8);
                from = to;
            }
            taken += set;
            rate *= set as f64 / each as f64;
        }
        Measure::of_bits(taken, self.shape.cells.count(), rate)
    }

    /// Looks through the state, then the cells that are decremented first, and then the cells of the hash.
    fn unmarked(&self, hash: u64) -> Option<usize> {
        let decremented = self.shape.decremented(self.seed(), self.steps());
        let mut cells = self.shape.cells_of(bits::mix(hash)).map(|cell| self.shape.words(cell..cell + 1));
        let found = self.base.unmarked(self.state());
        let found =
            found.or_else(|| decremented.into_iter().find_map(|cells| self.base.unmarked_in(&self.shape.words(cells))));
        found.or_else(|| cells.find_map(|words| self.base.unmarked_in(&words)))
    }

    facets!(Insert, Age);
}

impl Insert for Stable {
    insert_of_words!();

    /// Keys go into an image in place one after the other. Elsewhere the lines of a key's cells, and of the cells that
    /// are decremented before it, come while other keys are inserted.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if !self.base.is_own() {
            return one_by_one(batch, |hash| self.insert_one(hash));
        }
        let ahead = ring::ahead(self.base.words().shared().len(), self.shape.cells.hashes as usize + 1);
        ring::trying(
            self,
            ahead,
            batch,
            |filter, hash| filter.fetch_cells(bits::mix(hash)),
            |filter, hash| {
                if ahead > 0 {
                    filter.fetch_step(filter.steps().wrapping_add(ahead as u64));
                }
                filter.insert_fetched(hash).ok_or_else(|| Status::Internal.into())
            },
        )
    }
}

/// A step decrements as many cells as an insertion does.
impl Age for Stable {
    fn advance_by(&mut self, steps: u64) -> Result<()> {
        let state = self.state();
        let all = 0..self.base.words().shared().len();
        let changed = match steps {
            0 => [0..0, 0..0, 0..0],
            1 => {
                let [first, second] =
                    self.shape.decremented(self.seed(), self.steps()).map(|cells| self.shape.words(cells));
                [first, second, state..state + 1]
            }
            _ => [all, 0..0, 0..0],
        };
        change_words(self, &changed, |filter| filter.advance(steps))?.ok_or_else(|| Status::Internal.into())
    }
}
