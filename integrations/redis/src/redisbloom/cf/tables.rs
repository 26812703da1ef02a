//! The value behind a key of `CF.*`: RedisBloom's chain of cuckoo tables, of which each has memory of its own, so that
//! growing copies nothing.

use crate::server::mover::Mover;
use crate::server::words::zeros;
use petal::interop::redisbloom_cuckoo::Header;
use petal::kinds::foreign_cuckoo::{first_slot, hash_of, other, places};
use petal::storage::try_vec;
use petal::{Result, Status};
use std::ops::Range;

/// What RedisBloom says its structures take: the filter, and each table without its slots.
const FILTER_BYTES: u64 = 40;
const TABLE_BYTES: u64 = 16;

/// The most tables that there may be.
const MOST_TABLES: usize = u16::MAX as usize;

/// The most slots of a table that are all found: RedisBloom counts them in 32 bits.
const MOST_SLOTS: u64 = 1 << 32;

/// Keys deleted over keys left from which on tables are compacted.
const COMPACTED_FROM: f64 = 0.1;

/// A table: buckets of slots of a byte, which is a fingerprint, or 0 if the slot is empty. There is a power of two of
/// buckets.
pub struct Table(Box<[u8]>);

/// How many slots a bucket has.
#[derive(Clone, Copy)]
struct Width(u16);

/// A chain of tables, with one at least.
pub struct Tables {
    keys: u64,
    deleted: u64,
    kicks: u16,
    expansion: u16,
    width: Width,
    tables: Box<[Table]>,
}

/// Why a key was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The filter does not grow.
    NonScaling,
    /// There is no memory for another table, or no table can follow.
    Memory,
}

impl Width {
    fn get(self) -> usize {
        self.0.into()
    }

    /// How many buckets so many slots are.
    #[inline]
    fn buckets(self, slots: usize) -> u64 {
        // Nearly all are, and a division takes long.
        match self.0.is_power_of_two() {
            true => slots as u64 >> self.0.trailing_zeros(),
            false => slots as u64 / u64::from(self.0),
        }
    }
}

impl Table {
    /// An empty table.
    fn new(buckets: u64, width: Width) -> Result<Table> {
        zeros(buckets.checked_mul(width.0.into()).ok_or(Status::TooLarge)?).map(Table)
    }

    /// The table with these slots.
    ///
    /// # Errors
    /// [`Status::Corrupt`] if they are not so many; [`Status::OutOfMemory`].
    pub fn of(buckets: u64, width: u16, slots: &[u8]) -> Result<Table> {
        if buckets.checked_mul(width.into()) != Some(slots.len() as u64) {
            return Err(Status::Corrupt.into());
        }
        let mut table = Table::new(buckets, Width(width))?;
        table.0.copy_from_slice(slots);
        Ok(table)
    }

    fn buckets(&self, width: Width) -> u64 {
        width.buckets(self.0.len())
    }

    fn slot_count(&self) -> u64 {
        self.0.len() as u64
    }

    /// Where the bucket of a hash is.
    #[inline]
    fn place(&self, hash: u64, width: Width) -> Range<usize> {
        let start = first_slot(self.buckets(width), width.0.into(), hash) as usize;
        start..start + width.get()
    }

    #[inline]
    fn bucket(&self, hash: u64, width: Width) -> &[u8] {
        &self.0[self.place(hash, width)]
    }

    #[inline]
    fn bucket_mut(&mut self, hash: u64, width: Width) -> &mut [u8] {
        let place = self.place(hash, width);
        &mut self.0[place]
    }

    /// Changes the first slot with `from` into `to`. False if there is none.
    #[inline]
    fn replace(&mut self, from: u8, to: u8, hashes: &[u64], width: Width) -> bool {
        hashes.iter().any(|hash| {
            let slot = self.bucket_mut(*hash, width).iter_mut().find(|slot| **slot == from);
            slot.map(|slot| *slot = to).is_some()
        })
    }

    #[inline]
    fn contains(&self, fingerprint: u8, hashes: &[u64; 2], width: Width) -> bool {
        hashes.iter().any(|hash| self.bucket(*hash, width).contains(&fingerprint))
    }

    /// How often the fingerprint is in the two buckets; twice as often where they are the same, as RedisBloom counts.
    fn count(&self, fingerprint: u8, hashes: &[u64; 2], width: Width) -> u64 {
        let of_bucket =
            |hash: &u64| self.bucket(*hash, width).iter().filter(|slot| **slot == fingerprint).count() as u64;
        hashes.iter().map(of_bucket).sum()
    }

    /// Puts a fingerprint into its first bucket, which is full, and what it kicks out of there into that one's other
    /// bucket, until one has an empty slot. False, with nothing changed, if none has after so many kicks.
    fn kick(&mut self, mut fingerprint: u8, hash: u64, kicks: u16, width: Width) -> bool {
        let (mut hash, mut victim) = (hash, 0);
        for _ in 0..kicks {
            std::mem::swap(&mut self.bucket_mut(hash, width)[victim], &mut fingerprint);
            hash = other(hash, fingerprint);
            if self.replace(0, fingerprint, &[hash], width) {
                return true;
            }
            victim = if victim + 1 == width.get() { 0 } else { victim + 1 };
        }
        for _ in 0..kicks {
            victim = if victim == 0 { width.get() - 1 } else { victim - 1 };
            hash = other(hash, fingerprint);
            std::mem::swap(&mut self.bucket_mut(hash, width)[victim], &mut fingerprint);
        }
        false
    }
}

impl Tables {
    /// An empty filter for so many keys.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`] where there is no memory for it, or `has_room` says that there is not.
    pub fn sized(wanted: &super::Wanted, has_room: impl FnOnce(u64) -> bool) -> Result<Tables> {
        let super::Wanted { capacity, slots, kicks, expansion } = *wanted;
        let header = Header {
            keys: 0,
            buckets: (capacity / slots).max(1).next_power_of_two(),
            deleted: 0,
            tables: 1,
            slots,
            kicks,
            expansion: if expansion == 0 { 0 } else { expansion.next_power_of_two() },
        };
        Tables::of_header(&header, has_room)
    }

    /// The filter that a header describes, its tables empty, if `has_room` for their bytes.
    ///
    /// # Errors
    /// [`Status::Corrupt`] for tables that cannot be; [`Status::OutOfMemory`].
    pub fn of_header(header: &Header, has_room: impl FnOnce(u64) -> bool) -> Result<Tables> {
        if !has_room(header.geometry()?.bits / 8) {
            return Err(Status::OutOfMemory.into());
        }
        Tables::with(header, |buckets, width| Table::new(buckets, Width(width)))
    }

    /// The filter that a header describes, with the tables that `make` makes, of buckets and how many slots each has.
    ///
    /// # Errors
    /// [`Status::Corrupt`] for tables that cannot be; [`Status::OutOfMemory`]; the errors of `make`.
    pub fn with(header: &Header, mut make: impl FnMut(u64, u16) -> Result<Table>) -> Result<Tables> {
        header.geometry()?;
        let small = |number| u16::try_from(number).map_err(|_| Status::Corrupt);
        let (width, kicks, expansion) = (small(header.slots)?, small(header.kicks)?, small(header.expansion)?);
        let mut tables = try_vec(header.tables as usize)?;
        let mut buckets = header.buckets;
        for _ in 0..header.tables {
            tables.push(make(buckets, width)?);
            buckets = buckets.saturating_mul(expansion.into());
        }
        let Header { keys, deleted, .. } = *header;
        Ok(Tables { keys, deleted, kicks, expansion, width: Width(width), tables: tables.into_boxed_slice() })
    }

    /// Adds an empty table, as much larger than the newest as the filter expands.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], [`Status::TooLarge`].
    fn push(&mut self) -> Result<()> {
        let newest = self.tables.last().map_or(0, |newest| newest.buckets(self.width));
        let table = Table::new(newest.checked_mul(self.expansion.into()).ok_or(Status::TooLarge)?, self.width)?;
        let mut tables = try_vec(self.tables.len() + 1)?;
        tables.extend(std::mem::take(&mut self.tables));
        tables.push(table);
        self.tables = tables.into_boxed_slice();
        Ok(())
    }

    /// What the first chunk says.
    pub fn header(&self) -> Header {
        Header {
            keys: self.keys,
            buckets: self.tables[0].buckets(self.width),
            deleted: self.deleted,
            tables: self.tables.len() as u64,
            slots: self.width.0.into(),
            kicks: self.kicks.into(),
            expansion: self.expansion.into(),
        }
    }

    // ---- Keys ----------------------------------------------------------------------------------------------------

    /// Whether a key may have been added.
    pub fn contains(&self, key: &[u8]) -> bool {
        let (fingerprint, hashes) = places(hash_of(key));
        self.tables.iter().any(|table| table.contains(fingerprint, &hashes, self.width))
    }

    /// How often a key may have been added.
    pub fn count(&self, key: &[u8]) -> u64 {
        let (fingerprint, hashes) = places(hash_of(key));
        self.tables.iter().map(|table| table.count(fingerprint, &hashes, self.width)).sum()
    }

    /// Adds a key, once more if it is there. `has_room` says whether so many bytes more may be had.
    ///
    /// # Errors
    /// [`Full`]; then nothing has changed.
    pub fn add(&mut self, key: &[u8], has_room: &dyn Fn(u64) -> bool) -> core::result::Result<(), Full> {
        let (fingerprint, hashes) = places(hash_of(key));
        let (kicks, width) = (self.kicks, self.width);
        let is_put = self.tables.iter_mut().rev().any(|table| table.replace(0, fingerprint, &hashes, width))
            || self.tables.last_mut().is_some_and(|newest| newest.kick(fingerprint, hashes[0], kicks, width));
        if !is_put {
            let newest = self.grow(has_room)?;
            newest.replace(0, fingerprint, &hashes, width);
        }
        self.keys += 1;
        Ok(())
    }

    /// Adds the table that follows the newest.
    #[cold]
    fn grow(&mut self, has_room: &dyn Fn(u64) -> bool) -> core::result::Result<&mut Table, Full> {
        if self.expansion == 0 {
            return Err(Full::NonScaling);
        }
        let next = self.tables.last().map_or(0, |newest| newest.slot_count().saturating_mul(self.expansion.into()));
        if self.tables.len() >= MOST_TABLES || !has_room(next) {
            return Err(Full::Memory);
        }
        self.push().map_err(|_| Full::Memory)?;
        self.tables.last_mut().ok_or(Full::Memory)
    }

    /// Takes a key out once. False if it certainly is not there.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        let (fingerprint, hashes) = places(hash_of(key));
        let width = self.width;
        if !self.tables.iter_mut().rev().any(|table| table.replace(fingerprint, 0, &hashes, width)) {
            return false;
        }
        self.keys = self.keys.saturating_sub(1);
        self.deleted = self.deleted.saturating_add(1);
        if self.is_compacted_after(self.keys, self.deleted) {
            self.compact(false);
        }
        true
    }

    /// Whether taking out one more key compacts the tables.
    pub fn is_compacted_next(&self) -> bool {
        self.is_compacted_after(self.keys.saturating_sub(1), self.deleted.saturating_add(1))
    }

    fn is_compacted_after(&self, keys: u64, deleted: u64) -> bool {
        self.tables.len() > 1 && deleted as f64 > keys as f64 * COMPACTED_FROM
    }

    /// Moves keys to older tables, from the newest table on, and frees those at the end that become empty. Stops at the
    /// first that does not, unless `all` are wanted.
    pub fn compact(&mut self, all: bool) {
        for i in (1..self.tables.len()).rev() {
            if !self.move_down(i) && !all {
                break;
            }
        }
        self.deleted = 0;
    }

    /// Moves what a table holds to older ones; whether it is empty then. The newest is freed if it is.
    fn move_down(&mut self, i: usize) -> bool {
        let width = self.width;
        let (older, newer) = self.tables.split_at_mut(i);
        let table = &mut newer[0];
        // Where buckets cannot be told apart by their slots nothing is moved.
        let mut is_empty = table.slot_count() <= MOST_SLOTS;
        for bucket in 0..if is_empty { table.buckets(width) } else { 0 } {
            for slot in table.bucket_mut(bucket, width) {
                let hashes = [bucket, other(bucket, *slot)];
                // An older table has a divisor of the newer one's buckets, so that these are its buckets as well.
                if *slot != 0 && older.iter_mut().any(|older| older.replace(0, *slot, &hashes, width)) {
                    *slot = 0;
                }
                is_empty &= *slot == 0;
            }
        }
        if is_empty && newer.len() == 1 {
            let mut left = std::mem::take(&mut self.tables).into_vec();
            left.truncate(i);
            self.tables = left.into_boxed_slice();
        }
        is_empty
    }

    // ---- What it is ----------------------------------------------------------------------------------------------

    /// How many tables there are.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// How many bytes RedisBloom would say it takes.
    pub fn stated_bytes(&self) -> u64 {
        FILTER_BYTES + self.tables.iter().map(|table| TABLE_BYTES + table.slot_count()).sum::<u64>()
    }

    /// The slots of each table.
    pub fn arrays(&self) -> impl Iterator<Item = &[u8]> {
        self.tables.iter().map(|table| &*table.0)
    }

    /// The slots of each table, to be changed.
    pub fn arrays_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.tables.iter_mut().map(|table| &mut *table.0)
    }

    /// How many bytes it asked the allocator for: RedisBloom counts so.
    pub fn asked_for(&self) -> usize {
        size_of_val(&*self.tables) + self.tables.iter().map(|table| table.0.len()).sum::<usize>()
    }

    /// Has its memory moved.
    pub fn move_memory(&mut self, mover: &Mover) {
        mover.slice(&mut self.tables);
        self.tables.iter_mut().for_each(|table| mover.slice(&mut table.0));
    }
}
