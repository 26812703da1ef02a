//! Solves the array of one shard: finds a seed under which nearly all of its keys can be peeled, and fills the cells.
//!
//! Where peeling comes to a halt, one key is set aside, and peeling goes on. Near the threshold one key in some ten
//! thousand is enough. In the reverse order of peeling, the cells of peeled keys follow from the cells that no key was
//! peeled with. So the keys set aside are linear equations in those free cells, which are solved on the way
//! ([`super::aside`]).

use super::aside::Asides;
use super::peel::{Advance, FAR, Keys, NEAR, Peeling, STRETCH, Seeded, Slot, fetch_key, fetch_slot, other, peeled};
use super::shape::Segments;
use super::{IS_SMALL, cells};
use crate::bits::{GOLDEN, mix};
use crate::error::{Result, Status, error};
use crate::storage::{Words, try_vec};
use core::ops::Range;

/// The most keys of one shard: as many as a slot's count and index hold, and far more than an average shard has.
pub(super) const MAX_KEYS: u64 = 1 << 29;

/// How many seeds are tried before the array is made larger. Of the sizes in [`crate::kinds::fuse::sizing`] the worst
/// fail about every third time.
const SEEDS: u32 = 24;

/// How many seeds are tried in each larger array.
const MORE_SEEDS: u32 = 4;

/// From this attempt on seeds depend on the keys, so nobody can make a set of keys that fails under all of them.
const PREDICTABLE: u32 = 2;

/// Memory for solving, reused for each shard.
pub(super) struct Scratch {
    /// A slot for each cell, on huge pages if there are any.
    slots: Words,
    /// The cells of peeled keys, in order, and after them the cells that keys may be peeled with next.
    order: Vec<u32>,
    /// The equations of keys that were set aside.
    asides: Asides,
}

/// The parameters of an attempt to solve a shard.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    pub segments: Segments,
    /// How many times the array was enlarged.
    pub growth: u32,
    /// Bits of a cell.
    pub width: u32,
    /// Whether all keys have to be peeled, so that none may be set aside.
    pub is_peeled: bool,
}

impl Scratch {
    /// Bytes of scratch memory for arrays of `cells` cells.
    pub(super) fn bytes(cells: u64) -> u64 {
        (size_of::<Slot>() + size_of::<u32>()) as u64 * (cells + 1) + Asides::bytes(cells)
    }

    /// Memory for arrays of up to `cells` cells.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub(super) fn new(cells: u64) -> Result<Scratch> {
        let slots = Words::zeroed(cells * size_of::<Slot>() as u64)?;
        let asides = Asides::new(cells)?;
        let cells = usize::try_from(cells).map_err(|_| Status::TooLarge)?;
        let mut order: Vec<u32> = try_vec(cells + 1)?;
        order.resize(cells + 1, 0);
        Ok(Scratch { slots, order, asides })
    }

    /// Fills the cells of a shard, which are zero and as many as the segments have. Returns the seed, or `None` if no
    /// seed was found and more cells are needed. `advance` gets the numbers of keys processed.
    ///
    /// Deterministic: seed and cells depend on the keys alone, and the seed does not depend on their values. Takes
    /// `O(keys)`.
    ///
    /// # Errors
    /// The errors of `advance`.
    pub(super) fn solve<const K: usize>(
        &mut self,
        attempt: Attempt,
        keys: &impl Keys,
        cells: &mut [u64],
        advance: &mut Advance,
    ) -> Result<Option<u32>> {
        let mut digest = 0;
        for number in attempts(attempt.growth) {
            if number >= PREDICTABLE && digest == 0 {
                digest = keys.digest() | 1;
            }
            let seed = (mix(digest.wrapping_add(u64::from(number).wrapping_mul(GOLDEN))) >> 32) as u32;
            let of = Seeded { keys, segments: attempt.segments, seed };
            if self.solve_under::<_, K>(of, attempt, cells, advance)? {
                return Ok(Some(seed));
            }
        }
        Ok(None)
    }

    /// [`Scratch::solve`] under one seed. Returns false, with the cells zero, if there is no solution or too many keys
    /// would be set aside.
    fn solve_under<Q: Keys, const K: usize>(
        &mut self,
        of: Seeded<Q>,
        Attempt { segments, width, is_peeled, .. }: Attempt,
        cells: &mut [u64],
        advance: &mut Advance,
    ) -> Result<bool> {
        let Scratch { slots, order, asides } = self;
        let count = segments.cells(K as u32) as usize;
        // Owned memory can always be changed.
        let slots = &mut slots.exclusive().unwrap_or_default()[..count];
        let mut peeling = Peeling::<_, K>::new(of, &mut *slots, &mut order[..=count], advance)?;
        let mut groups = 0;
        if peeling.done < of.keys.len() {
            if is_peeled || !asides.set(&mut peeling, advance)? {
                return Ok(false);
            }
            groups = asides.groups().len();
        }
        // Cells are assigned from the end of the order, because the last key's cell comes first.
        let done = peeling.done;
        let mut rest = &order[..done];
        for group in (0..groups).rev() {
            let late = asides.groups()[group].late.clone();
            let (before, now) = rest.split_at(late.start);
            assign::<_, K>(of, slots, now, width, cells, advance)?;
            let late = &now[..late.len()];
            if !asides.solve::<_, K>(group, of, slots, late, (&mut *cells, width)) {
                cells.fill(0);
                return Ok(false);
            }
            assign::<_, K>(of, slots, late, width, cells, advance)?;
            rest = before;
        }
        assign::<_, K>(of, slots, rest, width, cells, advance)?;
        Ok(true)
    }
}

/// Gives the cells that keys were peeled with their values, beginning with the last key. These cells are zero before.
#[inline(never)]
fn assign<Q: Keys, const K: usize>(
    of: Seeded<Q>,
    slots: &[Slot],
    order: &[u32],
    width: u32,
    cells: &mut [u64],
    advance: &mut Advance,
) -> Result<()> {
    for part in order.rchunks(STRETCH) {
        match width {
            _ if IS_SMALL => assign_part::<_, K, 0>(of, slots, part, width, cells),
            8 => assign_part::<_, K, 8>(of, slots, part, width, cells),
            16 => assign_part::<_, K, 16>(of, slots, part, width, cells),
            _ => assign_part::<_, K, 0>(of, slots, part, width, cells),
        }
        if part.len() == STRETCH {
            advance(STRETCH)?;
        }
    }
    Ok(())
}

/// [`assign`] for cells of W bits; if W is 0, `width` says how many.
fn assign_part<Q: Keys, const K: usize, const W: u32>(
    of: Seeded<Q>,
    slots: &[Slot],
    order: &[u32],
    width: u32,
    cells: &mut [u64],
) {
    let width = if W == 0 { width } else { W };
    for (i, cell) in order.iter().enumerate().rev() {
        fetch_slot(slots, order, i.saturating_sub(FAR));
        fetch_key(slots, order, i.saturating_sub(NEAR), of.keys);
        let (key, own) = peeled(slots[*cell as usize]);
        let (positions, z): ([u64; K], u64) = of.cells(key);
        let mut value = of.keys.value(key, z, own);
        for i in 0..K - 1 {
            value ^= cells::get_own(cells, width, other(&positions, own, i).1);
        }
        cells::set(cells, width, u64::from(*cell), value & cells::mask(width));
    }
}

/// The numbers of the attempts with an array that was enlarged `growth` times.
fn attempts(growth: u32) -> Range<u32> {
    match growth {
        0 => 0..SEEDS,
        _ => SEEDS + (growth - 1) * MORE_SEEDS..SEEDS + growth * MORE_SEEDS,
    }
}

/// The error for a shard with more keys than can be solved.
#[cold]
pub(super) fn too_many(keys: u64) -> crate::Error {
    error!(TooLarge, "{keys} keys have hashes that are nearly the same: at most {MAX_KEYS} can")
}

/// The error for keys of one shard that have the same cells under all seeds.
#[cold]
pub(super) fn alike(keys: u64) -> crate::Error {
    error!(TooLarge, "among {keys} keys are some whose hashes are so much alike that nothing tells them apart")
}
