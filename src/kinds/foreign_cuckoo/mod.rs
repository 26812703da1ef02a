//! The kind `foreign_cuckoo`: the cuckoo filters of RedisBloom, looked up and changed in the tables as their owner does
//! it, to the byte.
//!
//! A filter is a chain of tables, each `expansion` times as large as the one before. A table has buckets of slots of
//! one byte; a key's fingerprint, from 1 to 255, is in one of its two buckets of one of the tables. The payload is the
//! tables, the oldest first. The geometry has what the owner's header says: the buckets of the first table, the number
//! of tables, the slots of a bucket, the most kicks of an insertion, and the expansion. It also has the number of keys
//! inserted less those deleted, and the number of keys deleted.
//!
//! For programs that keep such tables in their own memory, [`hash_of`], [`places`] and [`first_slot`] say where a key
//! is, and [`tables`] changes them.

pub mod tables;

use crate::bits;
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Count, Form, Hashing, Insert, Kind, Overfill, Payload, Remove, Room, Row, Sizes, Structure,
    facets, over_base,
};
use crate::error::{Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::hash::murmur2::murmur64a;
use crate::spec::KindId;
use crate::storage::{Words, try_box, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};
use tables::{Chain, MOST_TABLES, Width};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::FOREIGN_CUCKOO,
    name: "foreign_cuckoo",
    summary: "RedisBloom's cuckoo filter, for exchanging its bytes: removes keys, and adds tables when it is full",
    capabilities: Capabilities::INSERT.with(Capabilities::CLEAR).with(Capabilities::REMOVE).with(Capabilities::COUNT),
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(8),
    geometry: |_, _| Err(error!(Unsupported, "foreign_cuckoo filters come from other systems' bytes only")),
    lines_per_lookup: |geometry| 2.0 * geometry.words[1] as f64,
    // Each of the two buckets of a key has this many of the 255 fingerprints.
    false_positive_rate: |geometry, keys| {
        let slots = (geometry.bits / 8).max(1) as f64;
        let taken = (keys as f64 / slots).min(1.0) * 2.0 * geometry.words[2] as f64 * geometry.words[1] as f64;
        -(taken * (-1.0_f64 / 255.0).ln_1p()).exp_m1()
    },
    is_canonical: false,
    overfill: Overfill::Refuses,
    room: Room { copies: Some(|geometry| 2 * geometry.words[2] * geometry.words[1]), ..Room::BASE },
    form: Form { moves_entries: true, ..Form::BASE },
    hashing: Hashing { hashes_keys_itself: true, own: Some(hash_of), ..Hashing::BASE },
    ..Row::BASE
};

/// The factor of the fingerprint that gives a key's other bucket.
const SPREAD: u64 = 0x5bd1_e995;

/// The most slots of a bucket that the owner makes.
const MAX_SLOTS: u64 = 255;

/// The geometry of the tables that the owner's words describe; `None` if it has no such tables.
pub fn of(words: [u64; 8]) -> Option<Geometry> {
    let [buckets, tables, slots, kicks, expansion, items, _, 0] = words else { return None };
    let is_known = buckets.is_power_of_two()
        && tables > 0
        && [tables, kicks, expansion].iter().all(|small| u16::try_from(*small).is_ok())
        && (1..=MAX_SLOTS).contains(&slots)
        && (expansion.is_power_of_two() || tables == 1);
    if !is_known {
        return None;
    }
    let bytes = match expansion {
        1 => buckets.checked_mul(tables)?,
        // Later tables are beyond 2^64 bytes.
        _ => {
            (0..tables.min(65))
                .try_fold((0_u64, Some(buckets)), |(sum, size), _| {
                    Some((sum.checked_add(size?)?, size?.checked_mul(expansion)))
                })?
                .0
        }
    };
    let bytes = bytes.checked_mul(slots).filter(|bytes| items <= *bytes)?;
    let payload_bytes = bytes.checked_next_multiple_of(PAYLOAD_UNIT).filter(|bytes| image_bytes(*bytes).is_some())?;
    Some(Geometry { bits: bytes.checked_mul(8)?, hashes: 0, words, payload_bytes })
}

/// A table: its first slot, and its buckets, a power of two.
struct Table {
    start: u64,
    buckets: u64,
}

/// A cuckoo filter over a payload.
struct ForeignCuckoo {
    base: Base,
    tables: Vec<Table>,
    /// The slots of a bucket.
    slots: u64,
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let geometry = *base.geometry();
    if of(geometry.words) != Some(geometry) {
        return Err(base.foreign_geometry());
    }
    let tables = tables_of(&geometry)?;
    Ok(try_box(ForeignCuckoo { base, tables, slots: geometry.words[2] })?)
}

/// The tables of a geometry that [`of`] made.
fn tables_of(geometry: &Geometry) -> Result<Vec<Table>> {
    let [mut buckets, count, slots, _, expansion, ..] = geometry.words;
    // There is at least a byte for each.
    let mut tables = try_vec(count as usize)?;
    let mut start = 0;
    for _ in 0..count {
        tables.push(Table { start, buckets });
        start += buckets * slots;
        buckets = buckets.saturating_mul(expansion);
    }
    Ok(tables)
}

/// The tables of a filter in its own memory.
struct Lent<'a> {
    slots: &'a mut [u8],
    tables: &'a [Table],
    width: Width,
}

impl Chain for Lent<'_> {
    fn width(&self) -> Width {
        self.width
    }

    fn count(&self) -> usize {
        self.tables.len()
    }

    #[inline]
    fn table(&mut self, i: usize) -> &mut [u8] {
        let Table { start, buckets } = self.tables[i];
        &mut self.slots[start as usize..][..buckets as usize * self.width.get()]
    }
}

/// The hash that gives a key's fingerprint and buckets.
#[inline]
pub fn hash_of(key: &[u8]) -> u64 {
    murmur64a(key, 0)
}

/// A key's fingerprint, from 1 to 255, and the hashes of its two buckets.
#[inline]
pub fn places(hash: u64) -> (u8, [u64; 2]) {
    let fingerprint = (hash % 255 + 1) as u8;
    (fingerprint, [hash, other(hash, fingerprint)])
}

/// The hash of the other bucket of a fingerprint, given the hash of one of its buckets.
#[inline]
pub fn other(hash: u64, fingerprint: u8) -> u64 {
    hash ^ (u64::from(fingerprint) * SPREAD)
}

/// The first slot of a hash's bucket in a table of `buckets` buckets, a power of two, with `slots` slots each. The
/// owner counts slots of a table in 32 bits.
#[inline]
pub fn first_slot(buckets: u64, slots: u64, hash: u64) -> u64 {
    u64::from(((hash & (buckets - 1)) * slots) as u32)
}

impl ForeignCuckoo {
    /// The first slot of a hash's bucket.
    #[inline]
    fn bucket(&self, table: &Table, hash: u64) -> u64 {
        table.start + first_slot(table.buckets, self.slots, hash)
    }

    /// The fingerprint in a slot; 0 in an empty one.
    #[inline]
    fn slot(&self, place: u64) -> u8 {
        let word = self.base.words().shared().get((place / 8) as usize);
        word.map_or(0, |word| (word.load(Ordering::Relaxed) >> (place % 8 * 8)) as u8)
    }

    #[inline]
    fn has(&self, bucket: u64, fingerprint: u8) -> bool {
        (bucket..bucket + self.slots).any(|place| self.slot(place) == fingerprint)
    }

    #[inline]
    fn finds(&self, hash: u64) -> bool {
        let (fingerprint, hashes) = places(hash);
        let has = |table: &Table| hashes.iter().any(|hash| self.has(self.bucket(table, *hash), fingerprint));
        self.tables.iter().any(has)
    }

    /// The tables, to be changed.
    fn lent(&mut self) -> Result<Lent<'_>> {
        let slots = self.base.writable_bytes()?;
        Ok(Lent { slots, tables: &self.tables, width: Width::of(self.slots as u16) })
    }

    /// Notes how many keys there are, and how many were deleted.
    fn set_keys(&mut self, keys: u64, deleted: u64) -> Result<()> {
        let mut geometry = *self.base.geometry();
        // A header may have said more keys than there were.
        let keys = keys.min(geometry.bits / 8);
        (geometry.words[5], geometry.words[6]) = (keys, deleted);
        self.base.set_count(keys);
        self.base.lengthen(geometry)
    }

    /// Adds a hash, once more if it is there.
    fn add(&mut self, hash: u64) -> Result<()> {
        let [_, _, _, kicks, _, keys, deleted, _] = self.base.geometry().words;
        if !tables::insert(&mut self.lent()?, hash, kicks as u16) {
            self.grow()?;
            tables::insert(&mut self.lent()?, hash, 0);
        }
        self.set_keys(keys + 1, deleted)
    }

    /// Adds the table that follows the newest.
    #[cold]
    fn grow(&mut self) -> Result<()> {
        let mut words = self.base.geometry().words;
        if words[4] == 0 || self.tables.len() >= MOST_TABLES {
            return Err(self.base.full());
        }
        words[1] += 1;
        let geometry = of(words).ok_or_else(|| self.base.full())?;
        let tables = tables_of(&geometry)?;
        self.base.lengthen(geometry)?;
        self.tables = tables;
        Ok(())
    }

    /// Moves keys to older tables, and gives up tables that are empty then.
    #[cold]
    fn compact(&mut self) -> Result<()> {
        let left = tables::compact(&mut self.lent()?, false);
        if left == self.tables.len() {
            return Ok(());
        }
        let mut words = self.base.geometry().words;
        words[1] = left as u64;
        // A header may have said more keys than the slots that are left; the caller says how many there are.
        words[5] = 0;
        let geometry = of(words).ok_or(Status::Internal)?;
        let mut shorter = Words::zeroed(geometry.payload_bytes)?;
        let room = shorter.exclusive().ok_or(Status::Internal)?;
        for (to, from) in room.iter_mut().zip(self.base.words().shared()) {
            *to = from.load(Ordering::Relaxed);
        }
        self.base.replace(geometry, shorter);
        self.tables.truncate(left);
        Ok(())
    }

    /// Adds up, for each fingerprint, the hashes modulo the number of buckets that find it in a table. Returns how many
    /// slots are taken.
    fn add_found(&self, table: &Table, found: &mut [u64; 256]) -> u64 {
        let mut taken = 0;
        for bucket in 0..table.buckets {
            let start = table.start + bucket * self.slots;
            for place in start..start + self.slots {
                let fingerprint = self.slot(place);
                taken += u64::from(fingerprint != 0);
                if fingerprint == 0 || (start..place).any(|earlier| self.slot(earlier) == fingerprint) {
                    continue;
                }
                // This bucket and the other one, unless the other one counts itself.
                let other = self.bucket(table, other(bucket, fingerprint));
                found[usize::from(fingerprint)] += 2 - u64::from(self.has(other, fingerprint));
            }
        }
        taken
    }
}

impl Payload for ForeignCuckoo {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

impl Kind for ForeignCuckoo {
    fn contains_hash(&self, hash: u64) -> bool {
        self.finds(hash)
    }

    fn fetch(&self, hash: u64) {
        let words: &[AtomicU64] = self.base.words().shared();
        for table in &self.tables {
            for hash in places(hash).1 {
                if let Some(word) = words.get((self.bucket(table, hash) / 8) as usize) {
                    bits::prefetch(word);
                }
            }
        }
    }

    /// Exact for each table. A key's buckets in different tables are taken as independent.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let mut missed = [1.0; 256];
        let mut taken = 0;
        for table in &self.tables {
            let mut found = [0; 256];
            taken += self.add_found(table, &mut found);
            for (missed, found) in missed.iter_mut().zip(found) {
                *missed *= 1.0 - found as f64 / table.buckets as f64;
            }
        }
        progress(self.base.words().bytes());
        let slots = (self.base.geometry().bits / 8) as f64;
        Measure {
            taken,
            fill: taken as f64 / slots,
            saturated: 0,
            false_positive_rate: missed[1..].iter().map(|missed| 1.0 - missed).sum::<f64>() / 255.0,
        }
    }

    /// The tables stay, empty.
    fn reset(&mut self) -> Result<()> {
        self.base.writable()?.fill(0);
        self.set_keys(0, 0)
    }

    facets!(Insert, Remove, Count);
}

impl Insert for ForeignCuckoo {
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        let new = !self.finds(hash);
        self.add(hash)?;
        Ok(new)
    }

    /// Copies of one key take places near each other, so all that have no room may be learnt only from the last one.
    fn insert_times(&mut self, hash: u64, times: u64) -> Result<bool> {
        if times == 1 {
            return self.insert_one(hash);
        }
        let new = !self.finds(hash);
        let (geometry, words) = (*self.base.geometry(), self.base.words().copy()?);
        for _ in 0..times {
            if let Err(error) = self.add(hash) {
                self.base.replace(geometry, words);
                self.tables.truncate(geometry.words[1] as usize);
                self.base.set_count(geometry.words[5]);
                return Err(error);
            }
        }
        Ok(new)
    }
}

impl Remove for ForeignCuckoo {
    /// The removal of a key that was never inserted may remove another one with the same fingerprint.
    fn remove_one(&mut self, hash: u64) -> Result<bool> {
        if !tables::remove(&mut self.lent()?, hash) {
            return Ok(false);
        }
        let [.., keys, deleted, _] = self.base.geometry().words;
        let (keys, mut deleted) = (keys.saturating_sub(1), deleted.saturating_add(1));
        if tables::is_compacted(self.tables.len(), keys, deleted) {
            self.compact()?;
            deleted = 0;
        }
        self.set_keys(keys, deleted)?;
        Ok(true)
    }
}

impl Count for ForeignCuckoo {
    fn greatest_count(&self) -> u64 {
        u64::MAX
    }

    /// As the owner, counts each slot twice if the two buckets of a key are the same.
    fn count_one(&self, hash: u64) -> u64 {
        let (fingerprint, hashes) = places(hash);
        let of_bucket =
            |bucket: u64| (bucket..bucket + self.slots).filter(|place| self.slot(*place) == fingerprint).count() as u64;
        let of_table = |table: &Table| hashes.iter().map(|hash| of_bucket(self.bucket(table, *hash))).sum::<u64>();
        self.tables.iter().map(of_table).sum()
    }
}
