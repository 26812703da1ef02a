//! The value behind a key of `CF.*`: RedisBloom's chain of cuckoo tables. Each table has its own memory, so growing
//! copies no table.

use crate::server::mover::Mover;
use crate::server::words::zeros;
use petal::interop::redisbloom_cuckoo::Header;
use petal::kinds::foreign_cuckoo::{first_slot, hash_of, other, places};
use petal::storage::try_vec;
use petal::{Result, Status};
use std::ops::Range;

/// The sizes that RedisBloom reports for its structures: the filter, and each table without its slots.
const FILTER_BYTES: u64 = 40;
const TABLE_BYTES: u64 = 16;

/// The most tables of a filter.
const MOST_TABLES: usize = u16::MAX as usize;

/// The most slots of a table in which every key is found: RedisBloom counts slots in 32 bits.
const MOST_SLOTS: u64 = 1 << 32;

/// The tables are compacted when the deleted keys are more than this share of the remaining keys.
const COMPACTED_FROM: f64 = 0.1;

/// A table: buckets of one-byte slots. A slot holds a fingerprint, or 0 if it is empty. The number of buckets is a
/// power of two.
pub struct Table(Box<[u8]>);

/// The number of slots in a bucket.
#[derive(Clone, Copy)]
struct Width(u16);

/// A chain of at least one table.
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
    /// There is no memory for another table, or the number of tables is at its limit.
    Memory,
}

impl Width {
    fn get(self) -> usize {
        self.0.into()
    }

    /// The number of buckets that have `slots` slots.
    #[inline]
    fn buckets(self, slots: usize) -> u64 {
        // Nearly all widths are powers of two, and a shift is faster than a division.
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
    /// [`Status::Corrupt`] if the number of slots differs; [`Status::OutOfMemory`].
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

    /// The range of slots of a hash's bucket.
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

    /// Changes the first slot that holds `from` to `to`. Returns false if there is no such slot.
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

    /// How often the fingerprint is in the two buckets. Like RedisBloom, counts each slot twice if the two buckets are
    /// the same.
    fn count(&self, fingerprint: u8, hashes: &[u64; 2], width: Width) -> u64 {
        let of_bucket =
            |hash: &u64| self.bucket(*hash, width).iter().filter(|slot| **slot == fingerprint).count() as u64;
        hashes.iter().map(of_bucket).sum()
    }

    /// Puts a fingerprint into its first bucket, which is full, and moves the evicted fingerprint to its other bucket,
    /// and so on until a bucket has an empty slot. Returns false, with nothing changed, if `kicks` moves do not
    /// suffice.
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
    /// An empty filter with these parameters.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`] if the allocation fails, or `has_room` returns false.
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

    /// The filter that a header describes, with empty tables, if `has_room` allows their bytes.
    ///
    /// # Errors
    /// [`Status::Corrupt`] for impossible tables; [`Status::OutOfMemory`].
    pub fn of_header(header: &Header, has_room: impl FnOnce(u64) -> bool) -> Result<Tables> {
        if !has_room(header.geometry()?.bits / 8) {
            return Err(Status::OutOfMemory.into());
        }
        Tables::with(header, |buckets, width| Table::new(buckets, Width(width)))
    }

    /// The filter that a header describes. `make` makes each table from its number of buckets and the slots of a
    /// bucket.
    ///
    /// # Errors
    /// [`Status::Corrupt`] for impossible tables; [`Status::OutOfMemory`]; the errors of `make`.
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

    /// Adds an empty table. The expansion times the buckets of the newest table is its number of buckets.
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

    /// The header, which is the first chunk.
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

    /// Adds a key, once more if the filter has it. `has_room` says whether the server has that many more bytes.
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

    /// Deletes one occurrence of a key. Returns false if the key certainly is not there.
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

    /// Whether the deletion of one more key compacts the tables.
    pub fn is_compacted_next(&self) -> bool {
        self.is_compacted_after(self.keys.saturating_sub(1), self.deleted.saturating_add(1))
    }

    fn is_compacted_after(&self, keys: u64, deleted: u64) -> bool {
        self.tables.len() > 1 && deleted as f64 > keys as f64 * COMPACTED_FROM
    }

    /// Moves keys from each table to older tables, the newest table first, and frees empty tables at the end. Unless
    /// `all` is set, stops at the first table that does not become empty.
    pub fn compact(&mut self, all: bool) {
        for i in (1..self.tables.len()).rev() {
            if !self.move_down(i) && !all {
                break;
            }
        }
        self.deleted = 0;
    }

    /// Moves the fingerprints of a table to older tables. Returns whether the table is then empty. Frees the newest
    /// table if it is empty.
    fn move_down(&mut self, i: usize) -> bool {
        let width = self.width;
        let (older, newer) = self.tables.split_at_mut(i);
        let table = &mut newer[0];
        // RedisBloom cannot tell the buckets of a larger table apart, so such a table stays as it is.
        let mut is_empty = table.slot_count() <= MOST_SLOTS;
        for bucket in 0..if is_empty { table.buckets(width) } else { 0 } {
            for slot in table.bucket_mut(bucket, width) {
                let hashes = [bucket, other(bucket, *slot)];
                // An older table's number of buckets divides this one's, so these hashes find their buckets in older
                // tables too.
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

    /// How many bytes RedisBloom would report.
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

    /// How many bytes the filter asked the allocator for, as RedisBloom counts.
    pub fn asked_for(&self) -> usize {
        size_of_val(&*self.tables) + self.tables.iter().map(|table| table.0.len()).sum::<usize>()
    }

    /// Lets the server move the memory of the filter.
    pub fn move_memory(&mut self, mover: &Mover) {
        mover.slice(&mut self.tables);
        self.tables.iter_mut().for_each(|table| mover.slice(&mut table.0));
    }
}
