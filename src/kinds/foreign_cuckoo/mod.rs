//! The kind `foreign_cuckoo`: the cuckoo filters of RedisBloom, looked up in the tables as their owner wrote them.
//!
//! A filter is a chain of tables, each `expansion` times as large as the one before. A table has buckets of slots of
//! one byte; a key's fingerprint, from 1 to 255, is in one of its two buckets of one of the tables. The payload is the
//! tables, the oldest first. The geometry has what the owner's header says: the buckets of the first table, the number
//! of tables, the slots of a bucket, the most kicks of an insertion, and the expansion. It also has the number of keys
//! inserted less those deleted, and the number of keys deleted.
//!
//! Keys are only looked up. For programs that keep such tables in their own memory, [`hash_of`], [`places`] and
//! [`first_slot`] say where a key is.

use crate::batch::answers::Answers;
use crate::batch::keys::WholeKeys;
use crate::batch::ring::{GROUP, Taken};
use crate::bits;
use crate::blocks::Measure;
use crate::contract::{Base, Hashing, KeyedKind, Kind, Overfill, Payload, Row, Sizes, Structure, facets, over_base};
use crate::error::{Error, Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::hash::murmur2::murmur64a;
use crate::spec::KindId;
use crate::storage::{try_box, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::FOREIGN_CUCKOO,
    name: "foreign_cuckoo",
    summary: "RedisBloom's cuckoo filter, for looking keys up and giving its bytes back",
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
    overfill: Overfill::IsBuilt,
    hashing: Hashing { hashes_keys_itself: true, ..Hashing::BASE },
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
    let [mut buckets, count, slots, _, expansion, ..] = geometry.words;
    // There is at least a byte for each.
    let mut tables = try_vec(count as usize)?;
    let mut start = 0;
    for _ in 0..count {
        tables.push(Table { start, buckets });
        start += buckets * slots;
        buckets = buckets.saturating_mul(expansion);
    }
    Ok(try_box(ForeignCuckoo { base, tables, slots })?)
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

    #[inline]
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
    /// A hash says nothing about a key's places, so any hash may have been inserted.
    fn contains_hash(&self, _hash: u64) -> bool {
        true
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

    facets!(KeyedKind);
}

impl KeyedKind for ForeignCuckoo {
    fn contains_key(&self, key: &[u8]) -> bool {
        self.finds(hash_of(key))
    }

    fn contains_keys(&self, keys: &WholeKeys, answers: &mut Answers) {
        for start in (0..keys.len()).step_by(GROUP) {
            let count = GROUP.min(keys.len() - start);
            let mut hashes = [0; GROUP];
            for (i, hash) in hashes[..count].iter_mut().enumerate() {
                *hash = keys.with(start + i, hash_of);
                self.fetch(*hash);
            }
            let found = hashes[..count].iter().enumerate().map(|(i, hash)| u64::from(self.finds(*hash)) << i);
            answers.take(start, found.fold(0, |all, one| all | one), count);
        }
    }

    fn insert_key(&mut self, _key: &[u8]) -> Result<bool> {
        Err(refusal())
    }

    fn insert_keys(&mut self, _keys: &WholeKeys, _answers: Option<&mut Answers>) -> Taken {
        Taken::none(refusal())
    }
}

#[cold]
fn refusal() -> Error {
    error!(Unsupported, "filters of the kind {} cannot insert", ROW.name)
}
