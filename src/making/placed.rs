//! The keys of a builder that divides them by their prefixes: a record for each key, with the number of its partition.

use super::collect::{Collector, CollectorOptions};
use crate::batch::keys::{Keys, WholeKeys};
use crate::batch::ring::Taken;
use crate::contract::{Base, Partitioning, Placed, Row};
use crate::error::{Error, Result, Status, error};
use crate::format::Header;
use crate::hash::Hasher;
use crate::order::sort;
use crate::spec::Spec;
use crate::storage::try_vec;
use std::collections::HashMap;

/// Keys with their partitions.
pub struct PlacedKeys {
    prefix_bytes: usize,
    /// What a kind makes of a hash.
    order: fn(u64) -> u64,
    /// The number of each partition, by the hash of its prefix, and these hashes in the order of the numbers.
    numbers: HashMap<u64, u32>,
    prefixes: Vec<u64>,
    /// The partition of the last key, because keys often come partition by partition.
    last: Option<(u64, u32)>,
    pub keys: Collector<Placed>,
}

impl PlacedKeys {
    /// No keys yet.
    ///
    /// # Errors
    /// As [`Collector::new`].
    pub fn new(prefix_bytes: u64, order: fn(u64) -> u64, options: CollectorOptions) -> Result<PlacedKeys> {
        Ok(PlacedKeys {
            prefix_bytes: prefix_bytes as usize,
            order,
            numbers: HashMap::new(),
            prefixes: Vec::new(),
            last: None,
            keys: Collector::new(options)?,
        })
    }

    /// The hashes of the partitions' prefixes, by the partitions' numbers.
    pub fn prefixes(&self) -> Result<Vec<u64>> {
        let mut prefixes = try_vec(self.prefixes.len())?;
        prefixes.extend_from_slice(&self.prefixes);
        Ok(prefixes)
    }

    /// The bits of a prefix's hash by which a partition is known: in a directory the other bits hold a class.
    const KNOWN_BITS: u64 = u64::MAX << 7;

    /// Adds a key whose record gets this mark.
    ///
    /// # Errors
    /// The errors of [`Hasher::hash_key`] and [`Collector::add`]; [`Status::OutOfMemory`]; [`Status::TooLarge`] for
    /// more partitions than 2^32.
    pub fn add(&mut self, hasher: &Hasher, key: &[u8], mark: u64) -> Result<()> {
        let prefix = hasher.hash_key(key.get(..self.prefix_bytes).unwrap_or(key))? & PlacedKeys::KNOWN_BITS;
        let partition = match self.last {
            Some((last, partition)) if last == prefix => partition,
            _ => self.number(prefix)?,
        };
        self.last = Some((prefix, partition));
        self.keys.add(Placed { record: (self.order)(hasher.hash_key(key)?) | mark, partition })
    }

    /// The number of a partition.
    fn number(&mut self, prefix: u64) -> Result<u32> {
        if let Some(number) = self.numbers.get(&prefix) {
            return Ok(*number);
        }
        let number = u32::try_from(self.prefixes.len()).map_err(|_| Status::TooLarge)?;
        let room = self.numbers.try_reserve(1).and_then(|()| self.prefixes.try_reserve(1));
        room.map_err(|_| error!(OutOfMemory, "no memory for partition {number}"))?;
        self.numbers.insert(prefix, number);
        self.prefixes.push(prefix);
        Ok(number)
    }

    /// Adds many keys. All are added, unless there is an error.
    pub fn add_batch(&mut self, hasher: &Hasher, keys: &Keys, mark: u64) -> Taken {
        let whole = match WholeKeys::of(keys, hasher) {
            Ok(whole) => whole,
            Err(error) => return Taken::none(error),
        };
        for i in 0..whole.len() {
            if let Err(error) = whole.with(i, |key| self.add(hasher, key, mark)) {
                return Taken { keys: i, outcome: Err(error) };
            }
        }
        Taken::all(whole.len())
    }

    /// Takes in the keys of another builder, which came `times` times in all, with the hashes of its partitions'
    /// prefixes.
    ///
    /// # Errors
    /// [`Status::Corrupt`] for hashes that prefixes cannot have or that come twice, and for a number that no partition
    /// has; the errors of [`PlacedKeys::add`] and [`Collector::merge`]. No key is added then.
    pub fn merge(&mut self, prefixes: &[u8], records: &[u8], times: u64) -> Result<()> {
        let known = self.prefixes.len();
        let merged = self.merge_some(prefixes, records);
        match merged {
            Ok(()) => self.keys.count_added(times),
            Err(_) => self.prefixes.drain(known..).for_each(|prefix| {
                self.numbers.remove(&prefix);
            }),
        }
        merged
    }

    fn merge_some(&mut self, prefixes: &[u8], records: &[u8]) -> Result<()> {
        let prefixes = prefixes.as_chunks().0;
        let mut numbers = try_vec(prefixes.len())?;
        let mut all: Vec<u64> = try_vec(prefixes.len())?;
        for prefix in prefixes.iter().map(|bytes| u64::from_le_bytes(*bytes)) {
            if prefix & !PlacedKeys::KNOWN_BITS != 0 {
                return Err(error!(Corrupt, "{prefix:#018x} is not the hash of a prefix"));
            }
            numbers.push(self.number(prefix)?);
            all.push(prefix);
        }
        sort(&mut all);
        if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(error!(Corrupt, "the partition {:#018x} is there twice", twice[0]));
        }
        self.keys.merge(records, |Placed { record, partition }| match numbers.get(partition as usize) {
            Some(partition) => Ok(Placed { record, partition: *partition }),
            None => Err(error!(Corrupt, "{partition} is not the number of a partition: there are {}", numbers.len())),
        })
    }

    /// Gives up all keys.
    pub fn clear(&mut self) {
        self.keys.clear();
        (self.numbers, self.prefixes, self.last) = (HashMap::new(), Vec::new(), None);
    }
}

/// The error for a hash, which has no prefix.
#[cold]
pub fn needs_keys() -> Error {
    error!(Unsupported, "keys are divided by their prefixes, which hashes do not have: give the keys")
}

/// A copy of a filter that a builder with this spec brings up to date. The builder makes filters of this kind, with
/// this hasher.
///
/// # Errors
/// As [`Builder::update`](super::builder::Builder::update).
pub fn copy_of_old(row: &Row, parts: &Partitioning, spec: &Spec, hasher: &Hasher, old: &Base) -> Result<Base> {
    let Header { kind, layout_version, geometry, .. } = old.header();
    let name = row.name;
    if *kind != row.kind {
        return Err(error!(Incompatible, "the older filter is of the kind {}, not {name}", old.row().name));
    }
    if *layout_version != row.form.layout_version {
        return Err(error!(Incompatible, "the older filter has the layout version {layout_version} of {name}"));
    }
    if !old.hasher().is_same(hasher) {
        let (was, is) = (old.hasher().of_parts(), hasher.of_parts());
        return Err(error!(
            Incompatible,
            "the older filter has the hash and seed {was:?}, and the newer {is:?}, or only one divides keys by prefixes"
        ));
    }
    if !(parts.keeps)(geometry, spec)? {
        return Err(error!(
            Incompatible,
            "the older filter and the newer divide keys by prefixes of different lengths"
        ));
    }
    if old.stays_unclean() {
        return Err(error!(Unclean, "nobody marked the older filter clean"));
    }
    old.copy()
}
