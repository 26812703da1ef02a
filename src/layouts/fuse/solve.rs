//! Solves the array of one shard: finds a seed under which its keys can be put in an order in which each has a cell
//! that no later one has (*peeling*), and fills the cells in the reverse of that order.

use super::Segments;
use super::cells;
use crate::bits::{GOLDEN, mix, prefetch};
use crate::error::{Result, Status, error};
use crate::storage::{Words, try_vec};

/// The most keys of one shard: what a slot's count and index hold, and far more than an average one has.
pub(super) const MAX_KEYS: u64 = 1 << 29;

/// Seeds that are tried before the array is made larger. Of the sizes in [`crate::sizing::fuse`] the worst fail about
/// every third time.
const SEEDS: u32 = 24;

/// Seeds that are tried in each larger array.
const MORE_SEEDS: u32 = 4;

/// From this attempt on seeds depend on the keys, so that no set of keys can be made that fails under all of them.
const PREDICTABLE: u32 = 2;

/// What is known of each cell while keys are peeled: the exclusive or of the numbers of the keys that have it (bits 0
/// to 31), that of its numbers, from 0 on, among theirs (bits 32 and 33), and how many they are (from bit 34 on).
type Slot = u64;

const COUNT: u32 = 34;
const ONE: Slot = 1 << COUNT;

/// A key that has a cell as its so many-th.
#[inline]
fn slot(key: usize, which: usize) -> Slot {
    (which as u64) << 32 | key as u64
}

/// What solving needs of the keys of a shard.
pub(super) trait Keys {
    /// How many there are.
    fn len(&self) -> usize;
    /// How far into the shard a key is, and its scattered hash.
    fn place(&self, key: usize, seed: u32) -> (u64, u64);
    /// Asks for the cache line of a key, if there is such a key.
    fn fetch(&self, key: usize);
    /// The value that its cells are to have; it was peeled with its `own`-th one, which no other key was.
    fn value(&self, key: usize, z: u64, own: usize) -> u64;
    /// A number that depends on all keys.
    fn digest(&self) -> u64;
}

/// Memory for solving, used again for each shard.
pub(super) struct Scratch {
    /// On huge pages, where there are some.
    slots: Words,
    /// The cells of peeled keys, in order, and after them those that may be peeled next.
    order: Vec<u32>,
}

impl Scratch {
    /// Bytes of scratch memory for arrays of so many cells.
    pub(super) fn bytes(cells: u64) -> u64 {
        (size_of::<Slot>() + size_of::<u32>()) as u64 * (cells + 1)
    }

    /// Memory for arrays of up to so many cells.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub(super) fn new(cells: u64) -> Result<Scratch> {
        let slots = Words::zeroed(cells * size_of::<Slot>() as u64)?;
        let cells = usize::try_from(cells).map_err(|_| Status::TooLarge)?;
        let mut order: Vec<u32> = try_vec(cells + 1)?;
        order.resize(cells + 1, 0);
        Ok(Scratch { slots, order })
    }

    /// Peels the keys under a seed: how many there were before it came to a halt.
    fn peel<const K: usize>(&mut self, segments: Segments, keys: &impl Keys, seed: u32) -> usize {
        let cells = segments.cells(K as u32) as usize;
        // Memory of its own is there to be changed.
        let slots: &mut [Slot] = self.slots.exclusive().unwrap_or_default();
        let (slots, order) = (&mut slots[..cells], &mut self.order[..=cells]);
        slots.fill(0);
        for key in 0..keys.len() {
            let (how_far, z) = keys.place(key, seed);
            for (which, position) in segments.positions::<K>(how_far, z).into_iter().enumerate() {
                let place = &mut slots[position as usize];
                *place = (*place ^ slot(key, which)) + ONE;
            }
        }
        // A queue: in turn those that are free do not depend on each other, so that many are under way at once. What
        // becomes free is near what freed it, so what is at work stays in the cache. Behind the head are those that
        // were peeled. A cell comes into the queue once at most, when its count becomes 1, or had it before; `tail`
        // is never past the last place.
        let (mut done, mut head, mut tail) = (0, 0, 0);
        for start in (0..cells).step_by(BLOCK) {
            for (i, place) in slots[start..cells.min(start + BLOCK)].iter().enumerate() {
                order[tail] = (start + i) as u32;
                tail += usize::from(place >> COUNT == 1);
            }
            while head < tail {
                let cell = order[head];
                head += 1;
                // Those that come soon, if they are there already; otherwise anything.
                fetch_slot(slots, order, head + FAR);
                fetch_key(slots, order, head + NEAR, keys);
                let place = &mut slots[cell as usize];
                if *place >> COUNT != 1 {
                    continue;
                }
                *place -= ONE;
                let (key, own) = (*place as u32 as usize, (*place >> 32) as usize);
                order[done] = cell;
                done += 1;
                let (how_far, z) = keys.place(key, seed);
                let positions: [u64; K] = segments.positions(how_far, z);
                for which in OTHERS[own][..K - 1].iter().copied() {
                    let position = positions[which];
                    let place = &mut slots[position as usize];
                    *place = (*place ^ slot(key, which)) - ONE;
                    order[tail] = position as u32;
                    tail += usize::from(*place >> COUNT == 1);
                }
            }
        }
        done
    }

    /// Gives the cells their values, once all keys were peeled.
    fn assign<const K: usize>(
        &mut self,
        segments: Segments,
        keys: &impl Keys,
        seed: u32,
        width: u32,
        cells: &mut [u64],
    ) {
        let slots: &[Slot] = self.slots.exclusive().unwrap_or_default();
        for (i, cell) in self.order[..keys.len()].iter().enumerate().rev() {
            fetch_slot(slots, &self.order, i.saturating_sub(FAR));
            fetch_key(slots, &self.order, i.saturating_sub(NEAR), keys);
            let slot = slots[*cell as usize];
            let (key, own) = (slot as u32 as usize, (slot >> 32) as usize);
            let (how_far, z) = keys.place(key, seed);
            // The cell itself is zero as yet.
            let mut value = keys.value(key, z, own);
            for position in segments.positions::<K>(how_far, z) {
                value ^= cells::get_own(cells, width, position);
            }
            cells::set(cells, width, u64::from(*cell), value & cells::mask(width));
        }
    }

    /// Fills the cells of a shard, which are zero and as many as the segments have. Returns the seed; `None` if none
    /// was found and more cells are needed.
    ///
    /// Deterministic: cells and seed depend on the keys alone. `O(keys)`.
    pub(super) fn solve<const K: usize>(
        &mut self,
        segments: Segments,
        growth: u32,
        keys: &impl Keys,
        width: u32,
        cells: &mut [u64],
    ) -> Option<u32> {
        let mut digest = 0;
        for attempt in attempts(growth) {
            if attempt >= PREDICTABLE && digest == 0 {
                digest = keys.digest() | 1;
            }
            let seed = (mix(digest.wrapping_add(u64::from(attempt).wrapping_mul(GOLDEN))) >> 32) as u32;
            if self.peel::<K>(segments, keys, seed) == keys.len() {
                self.assign::<K>(segments, keys, seed, width, cells);
                return Some(seed);
            }
        }
        None
    }
}

/// How many cells are looked through for free ones at once.
const BLOCK: usize = 1 << 10;

/// How many keys ahead of its turn the slot of a cell is fetched.
const FAR: usize = 24;
/// How many keys ahead of its turn a key is fetched.
const NEAR: usize = 12;

/// Asks for the slot of a cell that has its turn soon.
#[inline]
fn fetch_slot(slots: &[Slot], order: &[u32], i: usize) {
    if let Some(slot) = order.get(i).and_then(|cell| slots.get(*cell as usize)) {
        prefetch(slot);
    }
}

/// Asks for the key that is to be peeled with a cell.
#[inline]
fn fetch_key(slots: &[Slot], order: &[u32], i: usize, keys: &impl Keys) {
    if let Some(slot) = order.get(i).and_then(|cell| slots.get(*cell as usize)) {
        keys.fetch(*slot as u32 as usize);
    }
}

/// The numbers of the other cells of a key; of three cells the first two of each.
const OTHERS: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

/// The attempts with an array that was enlarged so many times.
fn attempts(growth: u32) -> core::ops::Range<u32> {
    match growth {
        0 => 0..SEEDS,
        _ => SEEDS + (growth - 1) * MORE_SEEDS..SEEDS + growth * MORE_SEEDS,
    }
}

/// That a shard has more keys than can be solved.
#[cold]
pub(super) fn too_many(keys: u64) -> crate::Error {
    error!(TooLarge, "{keys} keys have hashes that are nearly the same: at most {MAX_KEYS} can")
}
