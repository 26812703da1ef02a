//! The value behind a key of `CF.*`: RedisBloom's chain of cuckoo tables. Each table has its own memory, so growing
//! copies no table.

use crate::server::mover::Mover;
use crate::server::words::zeros;
use petal::interop::redisbloom_cuckoo::Header;
use petal::kinds::foreign_cuckoo::tables::{self, Chain, MOST_TABLES, Width};
use petal::kinds::foreign_cuckoo::{hash_of, places};
use petal::storage::try_vec;
use petal::{Result, Status};

/// The sizes that RedisBloom reports for its structures: the filter, and each table without its slots.
const FILTER_BYTES: u64 = 40;
const TABLE_BYTES: u64 = 16;

/// A table: buckets of one-byte slots. A slot holds a fingerprint, or 0 if it is empty. The number of buckets is a
/// power of two.
pub struct Table(Box<[u8]>);

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

impl Table {
    /// An empty table.
    fn new(buckets: u64, width: Width) -> Result<Table> {
        zeros(buckets.checked_mul(width.get() as u64).ok_or(Status::TooLarge)?).map(Table)
    }

    /// The table with these slots.
    ///
    /// # Errors
    /// [`Status::Corrupt`] if the number of slots differs; [`Status::OutOfMemory`].
    pub fn of(buckets: u64, width: u16, slots: &[u8]) -> Result<Table> {
        if buckets.checked_mul(width.into()) != Some(slots.len() as u64) {
            return Err(Status::Corrupt.into());
        }
        let mut table = Table::new(buckets, Width::of(width))?;
        table.0.copy_from_slice(slots);
        Ok(table)
    }

    fn buckets(&self, width: Width) -> u64 {
        width.buckets(self.0.len())
    }

    fn slot_count(&self) -> u64 {
        self.0.len() as u64
    }

    #[inline]
    fn bucket(&self, hash: u64, width: Width) -> &[u8] {
        &self.0[width.place(self.0.len(), hash)]
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
}

impl Chain for Tables {
    fn width(&self) -> Width {
        self.width
    }

    fn count(&self) -> usize {
        self.tables.len()
    }

    #[inline]
    fn table(&mut self, i: usize) -> &mut [u8] {
        &mut self.tables[i].0
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
        Tables::with(header, |buckets, width| Table::new(buckets, Width::of(width)))
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
        Ok(Tables { keys, deleted, kicks, expansion, width: Width::of(width), tables: tables.into_boxed_slice() })
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
            slots: self.width.get() as u64,
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
        let (hash, kicks) = (hash_of(key), self.kicks);
        if !tables::insert(self, hash, kicks) {
            self.grow(has_room)?;
            tables::insert(self, hash, 0);
        }
        self.keys += 1;
        Ok(())
    }

    /// Adds the table that follows the newest.
    #[cold]
    fn grow(&mut self, has_room: &dyn Fn(u64) -> bool) -> core::result::Result<(), Full> {
        if self.expansion == 0 {
            return Err(Full::NonScaling);
        }
        let next = self.tables.last().map_or(0, |newest| newest.slot_count().saturating_mul(self.expansion.into()));
        if self.tables.len() >= MOST_TABLES || !has_room(next) {
            return Err(Full::Memory);
        }
        self.push().map_err(|_| Full::Memory)
    }

    /// Deletes one occurrence of a key. Returns false if the key certainly is not there.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        if !tables::remove(self, hash_of(key)) {
            return false;
        }
        self.keys = self.keys.saturating_sub(1);
        self.deleted = self.deleted.saturating_add(1);
        if tables::is_compacted(self.tables.len(), self.keys, self.deleted) {
            self.compact(false);
        }
        true
    }

    /// Whether the deletion of one more key compacts the tables.
    pub fn is_compacted_next(&self) -> bool {
        tables::is_compacted(self.tables.len(), self.keys.saturating_sub(1), self.deleted.saturating_add(1))
    }

    /// Moves keys from each table to older tables, the newest table first, and frees empty tables at the end. Unless
    /// `all` is set, stops at the first table that does not become empty.
    pub fn compact(&mut self, all: bool) {
        let left = tables::compact(self, all);
        let mut kept = std::mem::take(&mut self.tables).into_vec();
        kept.truncate(left);
        self.tables = kept.into_boxed_slice();
        self.deleted = 0;
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
