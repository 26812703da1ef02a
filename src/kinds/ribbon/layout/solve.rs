//! Solves one shard: finds a slot for each row or bumps its key, and then fills the slots from the last to the first.
//!
//! Rows come in by the buckets that they start in, and within a bucket from its end to its beginning. A row takes the
//! slot where it starts if that slot is free. Otherwise the row of that slot is added to it, and the sum goes on at its
//! first coefficient that is left. If none is left, the rows contradict each other or repeat. Then the row's class of
//! the bucket and the classes after it are bumped to the next layer. The slots of a layer follow those of the layer
//! before, and rows of both may meet there.

use super::equations::Equations;
use super::metadata::{self, LAYERS, LISTED, SEEDS, Sizes};
use super::query;
use super::row::{Coefficients, Value, bumped_hash, bumped_scatter};
use super::shape::{Shape, class};
use crate::batch::shards::place;
use crate::bits::{BYTES_OF_BITS, reduce};
use crate::error::{Result, Status, error};
use crate::order::sort_by_key;

/// How many rows are on their way to their slots at the same time.
const LANES: usize = 4;

/// A key that was bumped from the first layer.
#[derive(Clone, Copy)]
struct Bumped<V> {
    /// The key's hash in the layer that is filled next.
    hash: u64,
    x: u64,
    z: u64,
    value: V,
}

/// Memory for solving, used again for each shard.
pub(super) struct Scratch<C, V> {
    system: System<C, V>,
    bumped: Vec<Bumped<V>>,
    next: Vec<Bumped<V>>,
}

/// The rows that have a slot, and their values.
struct System<C, V> {
    /// The row of each slot, 0 for a free slot.
    rows: Vec<C>,
    values: Vec<V>,
    /// The slots that the last rows took, those of one class of one bucket.
    taken: Vec<u32>,
}

/// A solved shard, as bytes.
#[derive(Default)]
pub(super) struct Solved {
    /// The slots, then the list of keys, and the metadata of layers after the first.
    pub slots: Vec<u8>,
    /// The metadata of the first layer.
    pub metadata: Vec<u8>,
    pub sizes: u64,
}

/// Brings a vector to `length` elements. New elements have the default value.
fn resize<T: Copy + Default>(vector: &mut Vec<T>, length: usize) -> Result<()> {
    if let Some(more) = length.checked_sub(vector.len()) {
        vector.try_reserve(more).map_err(|_| error!(OutOfMemory, "{length} slots could not be had"))?;
    }
    vector.resize(length, T::default());
    Ok(())
}

fn push<T>(vector: &mut Vec<T>, element: T) -> Result<()> {
    vector.try_reserve(1).map_err(|_| error!(OutOfMemory, "{} keys more could not be kept", vector.len()))?;
    vector.push(element);
    Ok(())
}

impl<C: Coefficients, V: Value> System<C, V> {
    /// Gives a row its slot. `None` if the row is a sum of rows that are there already.
    #[inline]
    fn insert(&mut self, start: usize, mut row: C, mut value: V) -> Option<usize> {
        let mut slot = start;
        loop {
            let there = &mut self.rows[slot];
            if there.is_zero() {
                *there = row;
                self.values[slot] = value;
                return Some(slot);
            }
            row ^= *there;
            value ^= self.values[slot];
            if row.is_zero() {
                return None;
            }
            let (shifted, zeros) = row.normalised();
            (row, slot) = (shifted, slot + zeros as usize);
        }
    }

    /// Gives each of these rows a slot, in whatever order the rows arrive, and notes the slots. Returns false if one of
    /// the rows is a sum of others and of rows that are there already. The order changes neither which slots are taken
    /// nor what these give in the end.
    #[inline(always)]
    fn insert_all(&mut self, mut next: impl FnMut() -> Option<(usize, C, V)>) -> bool {
        let mut lanes = [(0, C::default(), V::default()); LANES];
        let mut count = 0;
        while let Some(lane) = (count < LANES).then(&mut next).flatten() {
            lanes[count] = lane;
            count += 1;
        }
        let mut is_full = count == LANES;
        // A step of a row waits for no other row's step.
        'all: while is_full {
            for lane in &mut lanes {
                let (slot, mut row, mut value) = *lane;
                let there = &mut self.rows[slot];
                if there.is_zero() {
                    (*there, self.values[slot]) = (row, value);
                    self.taken.push(slot as u32);
                    match next() {
                        Some(other) => *lane = other,
                        None => {
                            // This lane is done; the others still have rows to place.
                            lane.1 = C::default();
                            is_full = false;
                            continue 'all;
                        }
                    }
                    continue;
                }
                row ^= *there;
                value ^= self.values[slot];
                if row.is_zero() {
                    return false;
                }
                let (row, zeros) = row.normalised();
                *lane = (slot + zeros as usize, row, value);
            }
        }
        lanes[..count].iter().filter(|lane| !lane.1.is_zero()).all(|(slot, row, value)| {
            let slot = self.insert(*slot, *row, *value);
            self.taken.extend(slot.map(|slot| slot as u32));
            slot.is_some()
        })
    }

    /// Takes back the rows that came last.
    fn undo(&mut self) {
        self.taken.drain(..).for_each(|slot| self.rows[slot as usize] = C::default());
    }

    /// Fills a layer of `starts` slots, from `first` on, with `keys` keys in the order of their starts. Writes down for
    /// each bucket what was bumped from it, and gives `bump` the numbers of the bumped keys.
    #[inline]
    fn fill(
        &mut self,
        (first, starts): (usize, u64),
        keys: usize,
        start: impl Fn(usize) -> u64,
        key: impl Fn(usize) -> (C, V),
        mut bump: impl FnMut(usize) -> Result<()>,
        metadata: &mut Vec<u8>,
    ) -> Result<()> {
        resize(&mut self.rows, first + starts as usize + C::WIDTH)?;
        resize(&mut self.values, first + starts as usize + C::WIDTH)?;
        // The rows of one bucket take slots in the bucket and in the `C::WIDTH` slots after it.
        self.taken.clear();
        self.taken.try_reserve((1 << C::SIZES.bucket_bits) + C::WIDTH).map_err(|_| Status::OutOfMemory)?;
        let mut begin = 0;
        for bucket in 0..C::SIZES.buckets(starts) {
            let after = (bucket + 1) << C::SIZES.bucket_bits;
            let mut end = begin;
            while end < keys && start(end) < after {
                end += 1;
            }
            let (mut rest, mut threshold) = (end, metadata::NOTHING);
            while rest > begin {
                // Either all keys of one class are taken, or none.
                let class_end = rest;
                let now = class::<C>(start(class_end - 1));
                while rest > begin && class::<C>(start(rest - 1)) == now {
                    rest -= 1;
                }
                self.taken.clear();
                let mut keys = (rest..class_end).rev();
                let next = || {
                    let i = keys.next()?;
                    let (row, value) = key(i);
                    Some((first + start(i) as usize, row, value))
                };
                if !self.insert_all(next) {
                    self.undo();
                    threshold = now;
                    (begin..class_end).try_for_each(&mut bump)?;
                    break;
                }
            }
            metadata::push(metadata, bucket, threshold)?;
            begin = end;
        }
        Ok(())
    }
}

impl<C: Coefficients, V: Value> Scratch<C, V> {
    pub(super) fn new() -> Scratch<C, V> {
        let system = System { rows: Vec::new(), values: Vec::new(), taken: Vec::new() };
        Scratch { system, bumped: Vec::new(), next: Vec::new() }
    }

    /// Bytes of scratch memory for a shard of `keys` records, not counting what bumped keys take.
    pub(super) fn bytes(keys: u64) -> u64 {
        keys * (size_of::<C>() + size_of::<V>()) as u64 + keys / 8 * size_of::<Bumped<V>>() as u64
    }

    /// Solves a shard of these records.
    ///
    /// Deterministic: depends on shape, shard and records alone. Linear in the records, whatever their hashes are.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub(super) fn solve<R, E: Equations<R, Value = V>>(
        &mut self,
        shape: &Shape,
        records: &[R],
        equations: &E,
        solved: &mut Solved,
    ) -> Result<()> {
        let Solved { slots, metadata, sizes } = solved;
        slots.clear();
        metadata.clear();
        self.system.rows.clear();
        let Scratch { system, bumped, next } = self;
        bumped.clear();
        next.clear();
        let starts = shape.starts();
        let start = |i: usize| (place(equations.order(&records[i]), shape.shards()).1 * starts) >> 32;
        let key = |i: usize| {
            let z = equations.scatter(&records[i]);
            (C::of(z), equations.value(&records[i], z))
        };
        let bump = |i: usize| {
            let record = &records[i];
            let (x, z) = (equations.order(record), equations.scatter(record));
            push(bumped, Bumped { hash: 0, x, z, value: equations.value(record, z) })
        };
        system.fill((0, starts), records.len(), start, key, bump, metadata)?;
        let (mut first, mut layers, mut upper) = (starts as usize, Sizes::default(), Vec::new());
        for layer in 0..LAYERS {
            if bumped.len() as u64 <= C::SIZES.dense {
                break;
            }
            let starts = layers.set_layer(layer, C::SIZES.starts(bumped.len() as u64));
            bumped.iter_mut().for_each(|key| key.hash = bumped_hash(key.x, key.z, layer as u32 + 1));
            sort_by_key(bumped, |key| (key.hash, key.x, key.z));
            let mut part = Vec::new();
            next.clear();
            let start = |i: usize| reduce(bumped[i].hash, starts);
            let key = |i: usize| (C::of(bumped_scatter(bumped[i].hash)), bumped[i].value);
            system.fill((first, starts), bumped.len(), start, key, |i| push(next, bumped[i]), &mut part)?;
            upper.try_reserve(part.len()).map_err(|_| Status::OutOfMemory)?;
            upper.extend_from_slice(&part);
            core::mem::swap(bumped, next);
            first += starts as usize;
        }
        let mut list: Vec<u8> = Vec::new();
        let end = self.base(first, equations.seeds().min(SEEDS), &mut layers, &mut list)?;
        *sizes = layers.encode();
        // Metadata is read from its end.
        upper.reverse();
        let used = self.system.rows.iter().rposition(|row| !row.is_zero()).map_or(0, |last| last + 1);
        let length = end.max(used).div_ceil(8) * shape.columns() as usize;
        let tail = list.len() + upper.len();
        // Reading past these bytes gives zeros.
        resize(slots, length + tail + (C::GROUPS + 1) * shape.columns() as usize + size_of::<u64>())?;
        slots[length..][..list.len()].copy_from_slice(&list);
        slots[length + list.len()..][..upper.len()].copy_from_slice(&upper);
        self.substitute(shape.columns(), length, slots);
        slots.truncate(length + tail);
        Ok(())
    }

    /// Gives the keys that no layer took their slots, from `first` on. Returns where the slots end.
    fn base(&mut self, first: usize, seeds: u32, layers: &mut Sizes, list: &mut Vec<u8>) -> Result<usize> {
        let Scratch { system, bumped, .. } = self;
        let keys = bumped.len() as u64;
        if keys == 0 {
            return Ok(first);
        }
        for seed in 0..seeds {
            let starts = C::SIZES.base(keys, seed);
            let starts = layers.set_base(seed, starts);
            resize(&mut system.rows, first + starts as usize + C::WIDTH)?;
            resize(&mut system.values, first + starts as usize + C::WIDTH)?;
            system.taken.clear();
            system.taken.try_reserve(bumped.len()).map_err(|_| Status::OutOfMemory)?;
            let complete = bumped.iter().all(|key| {
                let hash = bumped_hash(key.x, key.z, metadata::base_layer(seed));
                let row = C::of(bumped_scatter(hash));
                let slot = system.insert(first + reduce(hash, starts) as usize, row, key.value);
                system.taken.extend(slot.map(|slot| slot as u32));
                slot.is_some()
            });
            if complete {
                return Ok(first + starts as usize);
            }
            system.undo();
        }
        // Only hashes made on purpose let all of this fail. Then each key has a slot to itself, and is found by search.
        sort_by_key(bumped, |key| (key.x, key.z));
        let listed = layers.set_base(LISTED, keys) as usize;
        let first = first + C::WIDTH;
        resize(&mut system.rows, first + listed + C::WIDTH)?;
        resize(&mut system.values, first + listed + C::WIDTH)?;
        list.try_reserve(listed * 16).map_err(|_| Status::OutOfMemory)?;
        for (i, key) in bumped.iter().enumerate() {
            list.extend_from_slice(&key.x.to_le_bytes());
            list.extend_from_slice(&key.z.to_le_bytes());
            system.rows[first + i] = C::of(0);
            system.values[first + i] = key.value;
        }
        // The number of listed keys was rounded up, so the list is filled up.
        list.resize(listed * 16, u8::MAX);
        Ok(first + listed)
    }

    /// Fills the slots, from the last to the first. The slot of a row gets the exclusive or of the row's value and of
    /// what the row's other slots give, which come after it. The slots end at the byte `end`.
    fn substitute(&self, columns: u32, end: usize, slots: &mut [u8]) {
        match columns {
            1 => return self.substitute_few::<1>(end, slots),
            2 => return self.substitute_few::<2>(end, slots),
            3 => return self.substitute_few::<3>(end, slots),
            4 => return self.substitute_few::<4>(end, slots),
            _ => {}
        }
        let columns = columns as usize;
        let System { rows, values, .. } = &self.system;
        for (slot, row) in rows.iter().enumerate().rev() {
            if row.is_zero() {
                continue;
            }
            let (group, shift) = (slot / 8 * columns, slot as u32 % 8);
            for first in (0..columns).step_by(8) {
                let read = |i: usize| {
                    let bytes = slots[group + i * columns + first..].first_chunk().copied().unwrap_or_default();
                    u64::from_le_bytes(bytes)
                };
                let sum = query::sum::<C>(*row, shift, read);
                let value = BYTES_OF_BITS[values[slot].byte(first / 8) as usize];
                let own = (query::parities(sum) ^ value) & query::columns(columns - first);
                if let Some(bytes) = slots[group + first..].first_chunk_mut() {
                    *bytes = (u64::from_le_bytes(*bytes) | own << shift).to_le_bytes();
                }
            }
        }
    }

    /// [`Scratch::substitute`] for few columns. For each column the slots that a row may reach are a number, so that no
    /// slot is read again.
    fn substitute_few<const COLUMNS: usize>(&self, end: usize, slots: &mut [u8]) {
        let System { rows, values, .. } = &self.system;
        let groups = end / COLUMNS;
        // Bit i is that of the i-th slot after the one that is filled next. Behind the slots lies what rows read there.
        let mut after = [C::default(); COLUMNS];
        for (column, after) in after.iter_mut().enumerate() {
            for group in (groups..groups + C::WIDTH / 8).rev() {
                *after = after.before(slots.get(group * COLUMNS + column).copied().unwrap_or(0));
            }
        }
        for group in (0..groups).rev() {
            for slot in (group * 8..group * 8 + 8).rev() {
                let row = rows.get(slot).copied().unwrap_or_default();
                let value = values.get(slot).copied().unwrap_or_default().byte(0);
                let is_taken = u8::from(!row.is_zero());
                for (column, after) in after.iter_mut().enumerate() {
                    *after = after.with_first(row.parity(*after) ^ value >> column & is_taken);
                }
            }
            for (column, after) in after.iter().enumerate() {
                slots[group * COLUMNS + column] = after.byte(0, 0);
            }
        }
    }
}
