//! Peeling: puts the keys of a shard in an order in which each key has a cell that no later key has.

use super::shape::{Segments, positions};
use crate::bits::prefetch;
use crate::error::Result;

/// What is known of a cell while keys are peeled: about the keys that have it. Bits 0 to 31 are the exclusive or of
/// their numbers. Bits 32 and 33 are the exclusive or of the cell's numbers, from 0 on, among the cells of each key.
/// The count of the keys is from bit 34 on.
pub(super) type Slot = u64;

pub(super) const COUNT: u32 = 34;
const ONE: Slot = 1 << COUNT;

/// A key that has a cell as its cell number `which`.
#[inline]
fn slot(key: usize, which: usize) -> Slot {
    (which as u64) << 32 | key as u64
}

/// The key that was peeled with a cell, and the cell's number among those of the key.
#[inline]
pub(super) fn peeled(slot: Slot) -> (usize, usize) {
    (slot as u32 as usize, (slot >> 32 & 3) as usize)
}

/// A function that gets the number of keys processed since its last call, at most [`STRETCH`]. An error ends the work.
pub(super) type Advance<'a> = dyn FnMut(usize) -> Result<()> + 'a;

/// How many keys are processed between two calls of [`Advance`].
pub(super) const STRETCH: usize = 1 << 19;

/// What solving needs to know of the keys of a shard. Keys come in the order of how far into the shard they are.
pub(super) trait Keys {
    /// How many keys there are.
    fn len(&self) -> usize;
    /// How far into the shard a key is, and its scattered hash.
    fn place(&self, key: usize, seed: u32) -> (u64, u64);
    /// Prefetches the cache line of a key, if there is such a key.
    fn fetch(&self, key: usize);
    /// The value that the key's cells have to give. `own` is the number of the cell that the key was peeled with, and
    /// no other key was peeled with that cell.
    fn value(&self, key: usize, z: u64, own: usize) -> u64;
    /// A number that depends on all keys, from which seeds are derived.
    fn digest(&self) -> u64;
}

/// The keys of a shard under a seed.
pub(super) struct Seeded<'a, Q> {
    pub keys: &'a Q,
    pub segments: Segments,
    pub seed: u32,
}

impl<Q> Copy for Seeded<'_, Q> {}

impl<Q> Clone for Seeded<'_, Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: Keys> Seeded<'_, Q> {
    /// The cells of a key, and its scattered hash.
    #[inline(always)]
    pub(super) fn cells<const K: usize>(&self, key: usize) -> ([u64; K], u64) {
        let (how_far, z) = self.keys.place(key, self.seed);
        (positions(self.segments.starts.into(), 1 << self.segments.bits, how_far, z), z)
    }
}

/// Keys that are being peeled.
pub(super) struct Peeling<'a, Q, const K: usize> {
    pub of: Seeded<'a, Q>,
    /// A slot for each cell.
    slots: &'a mut [Slot],
    /// The cells of peeled keys, in order, and after them the cells that keys may be peeled with next. The array has
    /// one place more than there are cells.
    order: &'a mut [u32],
    /// How many keys were peeled.
    pub done: usize,
    head: usize,
    tail: usize,
    /// No key that is still there has a cell before this one.
    left: usize,
}

impl<'a, Q: Keys, const K: usize> Peeling<'a, Q, K> {
    /// Peels as many keys as can be peeled, and passes their number to `advance`.
    ///
    /// # Errors
    /// The errors of `advance`.
    pub(super) fn new(
        of: Seeded<'a, Q>,
        slots: &'a mut [Slot],
        order: &'a mut [u32],
        advance: &mut Advance,
    ) -> Result<Peeling<'a, Q, K>> {
        let (count, cells) = (of.keys.len(), slots.len());
        // Keys come in the order of their first cells. Slots are zeroed just before a key can reach them, so that they
        // are still in the caches then.
        let reach = K << of.segments.bits;
        let mut zeroed = 0;
        for start in (0..count).step_by(STRETCH) {
            let end = count.min(start + STRETCH);
            for key in start..end {
                let positions = of.cells::<K>(key).0;
                let needed = positions[0] as usize + reach;
                if needed > zeroed {
                    let end = cells.min(needed + BLOCK);
                    slots[zeroed.min(end)..end].fill(0);
                    zeroed = end.max(needed);
                }
                for (which, position) in positions.into_iter().enumerate() {
                    let place = &mut slots[position as usize];
                    *place = (*place ^ slot(key, which)) + ONE;
                }
            }
            advance(end - start)?;
        }
        slots[zeroed.min(cells)..].fill(0);
        let mut peeling = Peeling { of, slots, order, done: 0, head: 0, tail: 0, left: 0 };
        for start in (0..cells).step_by(BLOCK) {
            // The keys that are peeled with these cells reach slots up to here, and later ones reach further.
            let ahead = start + 2 * reach;
            let lines = peeling.slots[ahead.min(cells)..(ahead + BLOCK).min(cells)].iter().step_by(8);
            lines.for_each(prefetch);
            for (i, place) in peeling.slots[start..cells.min(start + BLOCK)].iter().enumerate() {
                peeling.order[peeling.tail] = (start + i) as u32;
                peeling.tail += usize::from(place >> COUNT == 1);
            }
            peeling.drain(advance)?;
        }
        Ok(peeling)
    }

    /// Peels the keys that can be peeled next, and those that this makes free.
    ///
    /// # Errors
    /// The errors of `advance`.
    pub(super) fn drain(&mut self, advance: &mut Advance) -> Result<()> {
        while self.head < self.tail {
            let before = self.done;
            self.drain_until(before + STRETCH, |_| true);
            // Mostly these are a few keys, which take negligible time.
            if self.done - before >= STRETCH {
                advance(self.done - before)?;
            }
        }
        Ok(())
    }

    /// As [`Peeling::drain`], until `limit` keys are peeled in all. `go_on` is called with each queued cell in which no
    /// key is left; if it returns false, the draining ends.
    ///
    /// The cells are a queue. Consecutive free cells in it are independent, and thus several are under way at the
    /// same time. A cell becomes free near the cell that freed it, so the slots at work stay in the cache. The places
    /// behind the head hold the cells of peeled keys. A cell comes into the queue at most once, when its count becomes
    /// 1 or because its count was 1 before. So `tail` is never past the last place.
    #[inline(always)]
    pub(super) fn drain_until(&mut self, limit: usize, mut go_on: impl FnMut(u32) -> bool) {
        let Peeling { of, slots, order, .. } = self;
        let (mut done, mut head, mut tail) = (self.done, self.head, self.tail);
        while head < tail && done < limit {
            let cell = order[head];
            head += 1;
            // Fetches the slots and keys that come soon. Places of the order that hold nothing yet are harmless.
            fetch_slot(slots, order, head + FAR);
            fetch_key(slots, order, head + NEAR, of.keys);
            let place = &mut slots[cell as usize];
            if *place >> COUNT != 1 {
                if go_on(cell) {
                    continue;
                }
                break;
            }
            *place -= ONE;
            let (key, own) = peeled(*place);
            order[done] = cell;
            done += 1;
            let positions = of.cells::<K>(key).0;
            for i in 0..K - 1 {
                let (which, position) = other(&positions, own, i);
                let place = &mut slots[position as usize];
                *place = (*place ^ slot(key, which)) - ONE;
                order[tail] = position as u32;
                tail += usize::from(*place >> COUNT == 1);
            }
        }
        (self.done, self.head, self.tail) = (done, head, tail);
    }

    /// The first key that is still there, not before `from`; `None` if all keys were peeled. Only called when no key
    /// can be peeled next.
    ///
    /// The first cell in which keys are left is one that a key begins in. Keys that begin in the same cell are
    /// neighbours. Such a key is still there if all of its cells have keys, because the cell that a key was peeled with
    /// has none.
    pub(super) fn first_left(&mut self, from: usize) -> Option<usize> {
        self.left += self.slots[self.left..].iter().position(|slot| slot >> COUNT > 0)?;
        let (mut low, mut high) = (from, self.of.keys.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.of.cells::<K>(middle).0[0] < self.left as u64 { low = middle + 1 } else { high = middle }
        }
        let is_left = |key: &usize| {
            let cells: [u64; K] = self.of.cells(*key).0;
            cells.iter().all(|cell| self.slots[*cell as usize] >> COUNT > 0)
        };
        (low..self.of.keys.len()).find(is_left)
    }

    /// How many cells there are.
    pub(super) fn cells(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Takes a key away that was not peeled. The cells that this makes free can be peeled next.
    pub(super) fn take_away(&mut self, key: usize) {
        for (which, position) in self.of.cells::<K>(key).0.into_iter().enumerate() {
            let place = &mut self.slots[position as usize];
            *place = (*place ^ slot(key, which)) - ONE;
            self.order[self.tail] = position as u32;
            self.tail += usize::from(*place >> COUNT == 1);
        }
    }
}

/// How many cells are searched together for free ones.
const BLOCK: usize = 1 << 10;

/// How many keys before its turn the slot of a cell is fetched.
pub(super) const FAR: usize = 24;
/// How many keys before its turn a key is fetched.
pub(super) const NEAR: usize = 12;

/// Prefetches the slot of a cell that has its turn soon.
#[inline]
pub(super) fn fetch_slot(slots: &[Slot], order: &[u32], i: usize) {
    if let Some(slot) = order.get(i).and_then(|cell| slots.get(*cell as usize)) {
        prefetch(slot);
    }
}

/// Prefetches the key that is to be peeled with a cell.
#[inline]
pub(super) fn fetch_key(slots: &[Slot], order: &[u32], i: usize, keys: &impl Keys) {
    if let Some(slot) = order.get(i).and_then(|cell| slots.get(*cell as usize)) {
        keys.fetch(peeled(*slot).0);
    }
}

/// The number, among a key's cells, of the `i`-th cell other than the key's own, and that cell.
#[inline(always)]
pub(super) fn other<const K: usize>(cells: &[u64; K], own: usize, i: usize) -> (usize, u64) {
    // Every index here is known in advance, so that the cells stay in registers.
    if own <= i { (i + 1, cells[i + 1]) } else { (i, cells[i]) }
}
