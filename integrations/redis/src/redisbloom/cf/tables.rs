//! The value behind a key of `CF.*`: RedisBloom's chain of cuckoo tables, of which each has memory of its own, so that
//! growing copies nothing.

use crate::server::words::{bytes, bytes_mut};
use petal::filters::foreign_cuckoo::{first_slot, hash_of, other, places};
use petal::interop::redisbloom_cuckoo::Header;
use petal::storage::{Words, try_vec};
use petal::{Result, Status};

/// What RedisBloom says its structures take: the filter, and each table without its slots.
const FILTER_BYTES: u64 = 40;
const TABLE_BYTES: u64 = 16;

/// The most tables that there may be.
const MOST_TABLES: usize = u16::MAX as usize;

/// The most slots of a table that are all found: RedisBloom counts them in 32 bits.
const MOST_SLOTS: u64 = 1 << 32;

/// Keys deleted over keys left from which on tables are compacted.
const COMPACTED_FROM: f64 = 0.1;

/// A table: buckets of slots of a byte, which is a fingerprint, or 0 if the slot is empty.
struct Table {
    /// A power of two.
    buckets: u64,
    /// In a bucket.
    slots: u64,
    words: Words,
}

/// A chain of tables, with one at least.
pub struct Tables {
    keys: u64,
    deleted: u64,
    kicks: u64,
    expansion: u64,
    tables: Vec<Table>,
}

/// Why a key was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The filter does not grow.
    NonScaling,
    /// There is no memory for another table, or no table can follow.
    Memory,
}

impl Table {
    /// An empty table.
    fn new(buckets: u64, slots: u64) -> Result<Table> {
        let bytes = buckets.checked_mul(slots).and_then(|bytes| bytes.checked_next_multiple_of(8));
        Ok(Table { buckets, slots, words: Words::zeroed(bytes.ok_or(Status::TooLarge)?)? })
    }

    fn slot_count(&self) -> u64 {
        self.buckets * self.slots
    }

    fn bytes(&self) -> &[u8] {
        &bytes(&self.words)[..self.slot_count() as usize]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.slot_count() as usize;
        &mut bytes_mut(&mut self.words)[..length]
    }

    /// Where the bucket of a hash starts.
    fn start(&self, hash: u64) -> usize {
        first_slot(self.buckets, self.slots, hash) as usize
    }

    fn bucket(&self, hash: u64) -> &[u8] {
        &self.bytes()[self.start(hash)..][..self.slots as usize]
    }

    fn bucket_mut(&mut self, hash: u64) -> &mut [u8] {
        let (start, slots) = (self.start(hash), self.slots as usize);
        &mut self.bytes_mut()[start..][..slots]
    }

    /// The first slot of the buckets of these hashes that holds this byte.
    fn slot_with(&mut self, byte: u8, hashes: &[u64]) -> Option<&mut u8> {
        let hash = hashes.iter().find(|hash| self.bucket(**hash).contains(&byte))?;
        self.bucket_mut(*hash).iter_mut().find(|slot| **slot == byte)
    }

    /// Changes the first slot with `from` into `to`. False if there is none.
    fn replace(&mut self, from: u8, to: u8, hashes: &[u64]) -> bool {
        self.slot_with(from, hashes).map(|slot| *slot = to).is_some()
    }

    fn contains(&self, fingerprint: u8, hashes: &[u64; 2]) -> bool {
        hashes.iter().any(|hash| self.bucket(*hash).contains(&fingerprint))
    }

    /// How often the fingerprint is in the two buckets; twice as often where they are the same, as RedisBloom counts.
    fn count(&self, fingerprint: u8, hashes: &[u64; 2]) -> u64 {
        let of_bucket = |hash: &u64| self.bucket(*hash).iter().filter(|slot| **slot == fingerprint).count() as u64;
        hashes.iter().map(of_bucket).sum()
    }

    /// Puts a fingerprint into its first bucket, which is full, and what it kicks out of there into that one's other
    /// bucket, until one has an empty slot. False, with nothing changed, if none has after so many kicks.
    fn kick(&mut self, mut fingerprint: u8, hash: u64, kicks: u64) -> bool {
        let mut hash = hash;
        for i in 0..kicks {
            let victim = (i % self.slots) as usize;
            std::mem::swap(&mut self.bucket_mut(hash)[victim], &mut fingerprint);
            hash = other(hash, fingerprint);
            if self.replace(0, fingerprint, &[hash]) {
                return true;
            }
        }
        for i in (0..kicks).rev() {
            let victim = (i % self.slots) as usize;
            hash = other(hash, fingerprint);
            std::mem::swap(&mut self.bucket_mut(hash)[victim], &mut fingerprint);
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
        let mut filter = Tables::without(header)?;
        while filter.tables.len() < header.tables as usize {
            filter.push(header.buckets, header.slots)?;
        }
        Ok(filter)
    }

    /// The filter that a header describes, without its tables, which have to be pushed before anything else is done.
    ///
    /// # Errors
    /// [`Status::Corrupt`] for tables that cannot be; [`Status::OutOfMemory`].
    pub fn without(header: &Header) -> Result<Tables> {
        header.geometry()?;
        let Header { keys, deleted, kicks, expansion, tables, .. } = *header;
        Ok(Tables { keys, deleted, kicks, expansion, tables: try_vec(tables as usize)? })
    }

    /// Adds an empty table: the first with so many buckets, and each other one as much larger as the filter expands.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], [`Status::TooLarge`].
    pub fn push(&mut self, buckets: u64, slots: u64) -> Result<()> {
        let buckets = self.tables.last().map_or(Some(buckets), |last| last.buckets.checked_mul(self.expansion));
        let table = Table::new(buckets.ok_or(Status::TooLarge)?, slots)?;
        self.tables.try_reserve(1).map_err(|_| Status::OutOfMemory)?;
        self.tables.push(table);
        Ok(())
    }

    /// What the first chunk says.
    pub fn header(&self) -> Header {
        let first = &self.tables[0];
        Header {
            keys: self.keys,
            buckets: first.buckets,
            deleted: self.deleted,
            tables: self.tables.len() as u64,
            slots: first.slots,
            kicks: self.kicks,
            expansion: self.expansion,
        }
    }

    // ---- Keys ----------------------------------------------------------------------------------------------------

    /// Whether a key may have been added.
    pub fn contains(&self, key: &[u8]) -> bool {
        let (fingerprint, hashes) = places(hash_of(key));
        self.tables.iter().any(|table| table.contains(fingerprint, &hashes))
    }

    /// How often a key may have been added.
    pub fn count(&self, key: &[u8]) -> u64 {
        let (fingerprint, hashes) = places(hash_of(key));
        self.tables.iter().map(|table| table.count(fingerprint, &hashes)).sum()
    }

    /// Adds a key, once more if it is there. `has_room` says whether so many bytes more may be had.
    ///
    /// # Errors
    /// [`Full`]; then nothing has changed.
    pub fn add(&mut self, key: &[u8], has_room: &dyn Fn(u64) -> bool) -> core::result::Result<(), Full> {
        let (fingerprint, hashes) = places(hash_of(key));
        let kicks = self.kicks;
        let is_put = self.tables.iter_mut().rev().any(|table| table.replace(0, fingerprint, &hashes))
            || self.tables.last_mut().is_some_and(|newest| newest.kick(fingerprint, hashes[0], kicks));
        if !is_put {
            let newest = self.grow(has_room)?;
            newest.replace(0, fingerprint, &hashes);
        }
        self.keys += 1;
        Ok(())
    }

    /// Adds the table that follows the newest.
    #[cold]
    fn grow(&mut self, has_room: &dyn Fn(u64) -> bool) -> core::result::Result<&mut Table, Full> {
        let Header { buckets, slots, expansion, .. } = self.header();
        if expansion == 0 {
            return Err(Full::NonScaling);
        }
        let next = self.tables.last().map_or(0, |newest| newest.slot_count().saturating_mul(expansion));
        if self.tables.len() >= MOST_TABLES || !has_room(next) {
            return Err(Full::Memory);
        }
        self.push(buckets, slots).map_err(|_| Full::Memory)?;
        self.tables.last_mut().ok_or(Full::Memory)
    }

    /// Takes a key out once. False if it certainly is not there.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        let (fingerprint, hashes) = places(hash_of(key));
        if !self.tables.iter_mut().rev().any(|table| table.replace(fingerprint, 0, &hashes)) {
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
        let (older, newer) = self.tables.split_at_mut(i);
        let table = &mut newer[0];
        // Where buckets cannot be told apart by their slots nothing is moved.
        let mut is_empty = table.slot_count() <= MOST_SLOTS;
        for bucket in 0..if is_empty { table.buckets } else { 0 } {
            for slot in table.bucket_mut(bucket) {
                let hashes = [bucket, other(bucket, *slot)];
                // An older table has a divisor of the newer one's buckets, so that these are its buckets as well.
                if *slot != 0 && older.iter_mut().any(|older| older.replace(0, *slot, &hashes)) {
                    *slot = 0;
                }
                is_empty &= *slot == 0;
            }
        }
        if is_empty && newer.len() == 1 {
            self.tables.truncate(i);
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
        self.tables.iter().map(Table::bytes)
    }

    /// The slots of each table, to be changed.
    pub fn arrays_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut [u8]> {
        self.tables.iter_mut().map(Table::bytes_mut)
    }
}
