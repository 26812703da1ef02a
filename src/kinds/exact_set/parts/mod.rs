//! Exact sets of several parts: partitions of a universe by the prefixes of its keys, each stored as suits its share of
//! members, and updates, which correct the answers of what was built before.
//!
//! With partitions a filter takes whole keys, because it hashes a key and its prefix. A hash alone does not give the
//! partition, and may be that of a member.

pub mod building;
mod choice;
mod layout;

pub use layout::{MAX_PREFIX, PREFIX_WORD, RATE_WORD, UPDATES_WORD, has_parts};

use crate::batch::answers::Answers;
use crate::batch::keys::WholeKeys;
use crate::batch::ring::{self, Batch, GROUP, Stages, Taken};
use crate::blocks::Measure;
use crate::contract::{Base, KeyedKind, Kind, Payload, over_base};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::hash::Hasher;
use crate::simd;
use choice::FIRST_SET;
use core::sync::atomic::AtomicU64;
use layout::Form;

/// How many members a payload of several parts has.
pub fn members(geometry: &Geometry, words: &[AtomicU64]) -> u64 {
    Form::untold(geometry, words, simd::best()).ok().flatten().map_or(0, |form| form.members)
}

/// Whether a payload of several parts can have this geometry and these words.
pub fn is_known(geometry: &Geometry, words: &[AtomicU64]) -> bool {
    Form::of(geometry, words, simd::best()).is_ok_and(|form| form.is_some())
}

/// An exact set of several parts over a payload.
pub struct ExactParts {
    base: Base,
    form: Form,
    /// The hasher of keys and of their prefixes.
    hasher: Hasher,
}

impl ExactParts {
    /// The parts of a payload.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for a payload that has no such parts.
    pub fn new(base: Base) -> Result<ExactParts> {
        let form = Form::of(base.geometry(), base.words().shared(), base.instructions())?;
        let form = form.ok_or_else(|| base.foreign_geometry())?;
        Ok(ExactParts { form, hasher: base.hasher().of_parts(), base })
    }

    fn words(&self) -> &[AtomicU64] {
        self.base.words().shared()
    }

    /// The class and the hash of a key; `None` if it cannot be hashed. `last` is the hash of the last prefix, and its
    /// class.
    #[inline]
    fn place(&self, key: &[u8], last: &mut Option<(u64, u8)>) -> Option<(u8, u64)> {
        let prefix_bytes = self.form.partitions.as_ref().map_or(0, |partitions| partitions.prefix_bytes);
        let prefix = self.hasher.hash_bytes(key.get(..prefix_bytes).unwrap_or(key)).ok()?;
        let class = match last {
            Some((before, class)) if *before == prefix => *class,
            _ => self.form.class(self.words(), prefix),
        };
        *last = Some((prefix, class));
        Some((class, self.hasher.hash_bytes(key).ok()?))
    }
}

impl Payload for ExactParts {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.form.check(self.words())
    }
}

impl Kind for ExactParts {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.form.partitions.is_some() || self.form.contains(self.words(), FIRST_SET, hash)
    }

    fn fetch(&self, hash: u64) {
        if self.form.partitions.is_none() {
            self.form.fetch(self.words(), FIRST_SET, hash);
        }
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        let stages = Stages { far: ring::AHEAD, near: 0 };
        let fetch = |(): &(), hash| self.fetch(hash);
        ring::rolling(&mut (), stages, batch, fetch, ring::nothing, |(), hash| self.contains_hash(hash));
    }

    /// The places that the measure counts are the slots of all levels.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        progress(self.base.words().bytes());
        let [keys, slots] = self.form.places();
        Measure::of_cells(keys, slots, self.form.rate)
    }

    fn as_keyed(&self) -> Option<&dyn KeyedKind> {
        Some(self)
    }
}

impl KeyedKind for ExactParts {
    fn contains_key(&self, key: &[u8]) -> bool {
        let place = self.place(key, &mut None);
        place.is_none_or(|(class, hash)| self.form.contains(self.words(), class, hash))
    }

    fn contains_keys(&self, keys: &WholeKeys, answers: &mut Answers) {
        let (mut last, mut places) = (None, [None; GROUP]);
        for start in (0..keys.len()).step_by(GROUP) {
            let places = &mut places[..GROUP.min(keys.len() - start)];
            for (i, place) in places.iter_mut().enumerate() {
                *place = keys.with(start + i, |key| self.place(key, &mut last));
                if let Some((class, hash)) = *place {
                    self.form.fetch(self.words(), class, hash);
                }
            }
            let is_there = |(class, hash)| self.form.contains(self.words(), class, hash);
            let bits = places.iter().enumerate().map(|(i, place)| u64::from(place.is_none_or(is_there)) << i);
            answers.take(start, bits.sum(), places.len());
        }
    }

    fn insert_key(&mut self, _key: &[u8]) -> Result<bool> {
        Err(self.base.unsupported("insert"))
    }

    fn insert_keys(&mut self, _keys: &WholeKeys, _answers: Option<&mut Answers>) -> Taken {
        Taken::none(self.base.unsupported("insert"))
    }
}

/// Refuses what a filter of several parts cannot have.
pub fn check_hash(prefix_bytes: u64, function: crate::HashFunction) -> Result<()> {
    match function {
        crate::HashFunction::External if prefix_bytes > 0 => Err(error!(
            Contradiction,
            "partition_prefix_bytes = {prefix_bytes} with hash = external, whose hashes have no prefixes"
        )),
        _ => Ok(()),
    }
}
