//! Collects keys first and makes the filter afterwards, sized for exactly the distinct keys that came.
//!
//! A builder keeps only hashes, which take eight bytes a key. For kinds that remove or count, it also keeps how often
//! each key came: sixteen bytes a key.

use super::added::Insertions;
use super::collect::{Collector, CollectorOptions};
use super::inserted::{Sizes, insert_all};
use super::placed::{self, PlacedKeys};
use super::progress::Steps;
use super::universe;
use super::{create, payload};
use crate::batch::keys::Keys;
use crate::batch::ring::{GROUP, Taken};
use crate::contract::{Base, Build, Built, Capabilities, Handle, Placed, Progress, Records, Structure, Weighted};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, compact_size};
use crate::handle::many;
use crate::hash::{HashFunction, Hasher};
use crate::simd;
use crate::spec::Spec;
use std::path::{Path, PathBuf};

/// How a [`Builder`] works.
#[derive(Default)]
pub struct BuilderOptions {
    /// The most memory, in bytes, for keys and for sorting them; keys that do not fit into it go to a temporary file.
    /// `None` is no limit; a limit is at least [`MIN_MEMORY_LIMIT`](crate::MIN_MEMORY_LIMIT). The limit does not
    /// include the finished filter and the stacks of threads.
    pub memory_limit: Option<u64>,
    /// The folder of the temporary file. The file has no name and goes away with the builder. It takes eight bytes for
    /// each key, and sixteen while the builder makes the filter; twice that for kinds that remove or count. The folder
    /// must exist, and it must be possible to make files in it.
    pub temporary_directory: Option<PathBuf>,
    /// How many threads make the filter, the caller's included; 0 and 1 mean only the caller's. Other threads run only
    /// while the builder makes the filter. The filter is the same.
    pub threads: usize,
    /// Learns of progress and can cancel. The thread that makes the filter calls this function.
    pub progress: Option<Box<Progress>>,
}

/// Collects keys; [`Builder::finish`] makes the filter.
pub struct Builder {
    pub(super) spec: Spec,
    pub(super) hasher: Hasher,
    /// The function that hashes go through before they are sorted, if the kind has one.
    pub(super) order: Option<fn(u64) -> u64>,
    pub(super) hashes: Insertions,
    /// The keys, if they are divided by their prefixes.
    pub(super) placed: Option<PlacedKeys>,
    /// The filter that is being brought up to date.
    old: Option<Base>,
    /// Whether excluded keys may be members too.
    is_universe: bool,
    /// The frequent non-members, if the kind takes any.
    pub(super) frequent: Option<Collector<Weighted>>,
    /// How many of the offered hashes are those of excluded keys.
    pub(super) excluded: u64,
    sizes: Sizes,
    /// The memory limit of the members' hashes.
    memory_limit: Option<u64>,
    threads: usize,
    pub(super) progress: Option<Box<Progress>>,
}

impl Builder {
    /// A builder of the filter that `spec` describes. A spec without capacity and bits gets the capacity of the
    /// distinct keys that come.
    ///
    /// # Errors
    /// The errors of the spec; [`Status::OutOfRange`] for a memory limit below
    /// [`MIN_MEMORY_LIMIT`](crate::MIN_MEMORY_LIMIT); [`Status::Contradiction`] for a limit without a directory; the
    /// system's error for a directory in which no file can be made.
    pub fn new(spec: &Spec, options: BuilderOptions) -> Result<Builder> {
        // An error of the spec is reported now, and not when all keys have come.
        let row = create::row_of(spec)?;
        if row.is_map() {
            return Err(error!(Unsupported, "{} is a map, not a filter: give its keys to a map builder", row.name));
        }
        if row.handle() != Handle::Filter {
            let (name, handle) = (row.name, row.handle().name());
            return Err(error!(
                Unsupported,
                "{name} is of the handle {handle}, not a filter: make it empty, and insert"
            ));
        }
        if row.hashing.hashes_keys_itself || spec.hash == HashFunction::Digest {
            let Spec { hash, .. } = spec;
            let name = row.name;
            return Err(error!(
                Unsupported,
                "{name} with hash = {hash} takes keys whole, and builders keep hashes: insert them"
            ));
        }
        let order = match row.structure {
            Structure::StaticFilter { order, .. } => Some(order),
            _ => None,
        };
        let capacity = if spec.bits == 0 || order.is_some() { spec.capacity.max(1) } else { spec.capacity };
        create::geometry(&Spec { capacity, ..*spec })?;
        // Where the capacity follows from the keys that come, their copies are counted.
        let spec = &if spec.capacity == 0 && spec.bits == 0 { row.without_times(spec) } else { *spec };
        let BuilderOptions { memory_limit, temporary_directory, threads, progress } = options;
        let hasher = row.hasher(spec)?;
        let options = CollectorOptions { memory_limit, temporary_directory, threads };
        let placed = match (&row.others.parts, order) {
            (Some(parts), Some(order)) if (parts.prefix_bytes)(spec)? > 0 => {
                Some(PlacedKeys::new((parts.prefix_bytes)(spec)?, order, options.clone())?)
            }
            _ => None,
        };
        // Members and frequent non-members each get half of the memory.
        let (shares, frequent) = match row.others.takes_frequent {
            true => (2, Some(Collector::with_part(options.clone(), 2)?)),
            false => (1, None),
        };
        let hashes = Insertions::new(row, options, shares)?;
        let memory_limit = memory_limit.map(|limit| limit / shares);
        let sizes = Sizes::default();
        Ok(Builder {
            spec: *spec,
            hasher,
            order,
            hashes,
            placed,
            old: None,
            is_universe: false,
            frequent,
            excluded: 0,
            sizes,
            memory_limit,
            threads,
            progress,
        })
    }

    /// The hasher of the filter's keys. If keys are divided by their prefixes, this hasher takes keys whole.
    pub fn hasher(&self) -> Hasher {
        if self.placed.is_some() { self.hasher.clone().whole() } else { self.hasher.clone() }
    }

    /// How many keys were added, without those that were excluded.
    pub fn key_count(&self) -> u64 {
        let placed = self.placed.as_ref().map_or(0, |placed| placed.keys.added());
        self.hashes.added() + placed - self.excluded
    }

    /// Adds a key.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] if the spec takes hashes only; the errors of [`Builder::add_hash`].
    #[inline]
    pub fn add(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.add_bytes(key.as_ref())
    }

    fn add_bytes(&mut self, key: &[u8]) -> Result<()> {
        if let Some(placed) = &mut self.placed {
            return placed.add(&self.hasher, key, 0);
        }
        let hash = self.hasher.hash_key(key)?;
        self.add_hash(hash)
    }

    /// Adds all of these keys: borrowed or owned, of any type that lends its bytes.
    ///
    /// # Errors
    /// As [`Builder::add`]. The keys before the one that is refused are added then.
    pub fn add_all(&mut self, keys: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<()> {
        keys.into_iter().try_for_each(|key| self.add_bytes(key.as_ref()))
    }

    /// Adds a `u64` key.
    ///
    /// # Errors
    /// As [`Builder::add`].
    pub fn add_u64(&mut self, key: u64) -> Result<()> {
        if self.placed.is_some() {
            return self.add_bytes(&key.to_le_bytes());
        }
        let hash = self.hasher.hash_u64(key)?;
        self.add_hash(hash)
    }

    /// Adds a hash.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], and the system's errors about the temporary file. [`Status::Unsupported`] if keys are
    /// divided by their prefixes. The key is not added then.
    pub fn add_hash(&mut self, hash: u64) -> Result<()> {
        self.check_takes_hashes()?;
        self.hashes.add(self.order.map_or(hash, |order| order(hash)))
    }

    /// The hash of a key.
    pub(super) fn hash_of(&self, key: &[u8]) -> Result<u64> {
        self.hasher.hash_key(key)
    }

    /// Adds many keys. All are added, unless there is an error.
    pub fn add_batch(&mut self, keys: &Keys) -> Taken {
        self.take_batch(keys, 0)
    }

    /// Excludes a key: the filter will certainly say that it is not there, just as it says of each member that it is
    /// there.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind takes no excluded keys; the errors of [`Builder::add`]. A key that is added
    /// too is found when the filter is made: [`Status::Contradiction`].
    #[inline]
    pub fn exclude(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.exclude_bytes(key.as_ref())
    }

    fn exclude_bytes(&mut self, key: &[u8]) -> Result<()> {
        if let Some(placed) = &mut self.placed {
            placed.add(&self.hasher, key, 1)?;
            self.excluded += 1;
            return Ok(());
        }
        let hash = self.hasher.hash_key(key)?;
        self.exclude_hash(hash)
    }

    /// Excludes a hash; see [`Builder::exclude`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind takes no excluded keys; the errors of [`Builder::add_hash`].
    pub fn exclude_hash(&mut self, hash: u64) -> Result<()> {
        self.check_takes_hashes()?;
        let mark = self.mark_of_excluded()?;
        self.hashes.add(self.order.map_or(hash, |order| order(hash)) | mark)?;
        self.excluded += 1;
        Ok(())
    }

    /// Excludes many keys. All are excluded, unless there is an error: one of [`Builder::exclude`].
    pub fn exclude_batch(&mut self, keys: &Keys) -> Taken {
        match self.mark_of_excluded() {
            Ok(mark) => {
                let taken = self.take_batch(keys, mark);
                self.excluded += taken.keys as u64;
                taken
            }
            Err(error) => Taken::none(error),
        }
    }

    /// Says that the excluded keys are a whole universe: those that are members too are members. This holds until the
    /// builder has made its filter.
    ///
    /// If the hash of a member is that of another key, which is excluded, this call hides the contradiction, and the
    /// filter contains both keys. With 10^9 keys that happens with a probability of about 5 % at most.
    pub fn exclude_all_but_members(&mut self) {
        self.is_universe = true;
    }

    /// Refuses hashes if keys are divided by their prefixes.
    fn check_takes_hashes(&self) -> Result<()> {
        if self.placed.is_some() { Err(placed::needs_keys()) } else { Ok(()) }
    }

    /// Makes the builder bring a filter up to date: the filter that it makes is `old` followed by what changes in its
    /// answers. The keys of the builder are the whole universe of the new filter. The older filter is copied. The
    /// builder makes only one filter like this; the next ones are made as usual.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot; [`Status::Incompatible`] if the filter would have another kind,
    /// hash function, seed or parameter; [`Status::Unclean`] if nobody marked the older filter clean; the errors of
    /// copying.
    pub fn update(&mut self, old: &Filter) -> Result<()> {
        let row = create::row_of(&self.spec)?;
        let Some(parts) = &row.others.parts else {
            return Err(error!(Unsupported, "{} cannot be brought up to date; a kind that can is exact_set", row.name));
        };
        self.old = Some(placed::copy_of_old(row, parts, &self.spec, &self.hasher(), old.base())?);
        Ok(())
    }

    /// The bit that marks the record of an excluded key.
    fn mark_of_excluded(&self) -> Result<u64> {
        let row = create::row_of(&self.spec)?;
        match row.others.excludes {
            Some(_) => Ok(1),
            None => Err(error!(Unsupported, "{} takes no excluded keys; a kind that does is exact_set", row.name)),
        }
    }

    /// Adds the records of many keys with this mark.
    fn take_batch(&mut self, keys: &Keys, mark: u64) -> Taken {
        if let Some(placed) = &mut self.placed {
            return placed.add_batch(&self.hasher, keys, mark);
        }
        many::change(&self.hasher, simd::best(), keys, None, |batch| {
            let (mut done, mut hashes) = (0, [0; GROUP]);
            if let Err(error) = self.hashes.expect(batch.keys()) {
                return Taken::none(error);
            }
            loop {
                let count = batch.next(&mut hashes);
                if let Some(order) = self.order {
                    hashes[..count].iter_mut().for_each(|hash| *hash = order(*hash) | mark);
                }
                let Taken { keys, outcome } = self.hashes.add_all(&hashes[..count]);
                done += keys;
                if count == 0 || outcome.is_err() {
                    return Taken { keys: done, outcome };
                }
            }
        })
    }

    /// Makes the filter and empties the builder, which can then be used again. On an error, or when the progress
    /// callback cancels, the keys stay.
    ///
    /// # Errors
    /// The errors of [`Filter::new`]; [`Status::Cancelled`]; [`Status::Unsupported`] if the kind cannot
    /// insert; the system's errors about the temporary file.
    pub fn finish(&mut self) -> Result<Filter> {
        let filter = self.make()?;
        self.clear();
        Ok(filter)
    }

    /// Makes the filter directly in a file, which replaces the file at the path in one step. So a program can make a
    /// filter anew from its source, in the right size, while others read the old file. Those readers keep the old file
    /// as long as they have it open.
    ///
    /// # Errors
    /// The errors of [`Builder::finish`] and [`Image::save`]; the old file and the keys stay.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.make()?.save(path)?;
        self.clear();
        Ok(())
    }

    /// The greatest length of the filter's compact form, if all keys that were added are distinct. For a kind that is
    /// built from its keys the length is an estimate.
    ///
    /// # Errors
    /// As [`create::geometry`], and [`Status::Unsupported`] for a geometry that has no compact form.
    pub fn compact_size(&mut self) -> Result<usize> {
        let capacity = match self.spec.capacity {
            0 if self.spec.bits == 0 => self.key_count().max(1),
            _ if self.order.is_some() => self.key_count().max(1),
            capacity => capacity,
        };
        let geometry = self.sizes.of(&Spec { capacity, ..self.spec })?;
        compact_size(create::row_of(&self.spec)?, &geometry)
    }

    /// Makes the filter, writes its compact form to the start of `to`, at any alignment, and empties the builder.
    /// Returns the form's length. On an error the keys stay.
    ///
    /// # Errors
    /// As [`Builder::finish`] and [`Filter::serialize_compact`].
    pub fn finish_compact(&mut self, to: &mut [u8]) -> Result<usize> {
        let length = self.make()?.serialize_compact(to)?;
        self.clear();
        Ok(length)
    }

    fn clear(&mut self) {
        self.hashes.clear();
        if let Some(placed) = &mut self.placed {
            placed.clear();
        }
        self.frequent.iter_mut().for_each(Collector::clear);
        (self.excluded, self.old, self.is_universe) = (0, None, false);
    }

    fn make(&mut self) -> Result<Filter> {
        let row = create::row_of(&self.spec)?;
        let added = self.key_count();
        let progress = self.progress.as_deref_mut();
        let hashes = match &mut self.hashes {
            Insertions::Once(hashes) => hashes,
            Insertions::Counted { hashes, .. } => {
                return insert_all(&self.spec, row, &mut self.sizes, hashes, added, progress);
            }
        };
        let Structure::StaticFilter { build, .. } = row.structure else {
            return insert_all(&self.spec, row, &mut self.sizes, hashes, added, progress);
        };
        let limit = self.memory_limit.unwrap_or(0) / 2;
        let (made, capacity) = match (&mut self.placed, &row.others.parts) {
            (Some(placed), Some(parts)) => {
                let prefixes = placed.prefixes()?;
                let mut steps = Steps::new(progress, placed.keys.work() + placed.keys.kept());
                let keys = placed.keys.finish(limit, &mut steps)?;
                let capacity = keys.count().max(1);
                let spec = &Spec { capacity, ..self.spec };
                let make = |build: &mut Build<Placed>| match &self.old {
                    Some(old) => (parts.update_placed)(build, &prefixes, old),
                    None => (parts.build)(build, &prefixes),
                };
                let make = |build: &mut Build<Placed>| universe::made(self.is_universe, build, make);
                (payload::build(make, row, spec, &keys, None, self.threads, &mut steps)?, capacity)
            }
            _ => {
                let frequent_work = self.frequent.as_ref().map_or(0, |frequent| frequent.work() + frequent.kept());
                let mut steps = Steps::new(progress, hashes.work() + hashes.kept() + frequent_work);
                // The other half of the memory is for making the payload.
                let hashes = hashes.finish(limit, &mut steps)?;
                let frequent = self.frequent.as_mut().map(|frequent| frequent.finish(limit, &mut steps)).transpose()?;
                // Filters that merge keep the geometry that the spec asked for. Other filters get the geometry that
                // their keys need.
                let capacity = match self.spec.capacity {
                    asked if asked > 0 && row.capabilities.contains(Capabilities::MERGE) => asked,
                    _ => hashes.count().max(1),
                };
                let spec = &Spec { capacity, ..self.spec };
                let make = |records: &mut Build<u64>| match (&self.old, &row.others.parts) {
                    (Some(old), Some(parts)) => (parts.update)(records, old),
                    _ => build(records),
                };
                let make = |build: &mut Build<u64>| universe::made(self.is_universe, build, make);
                (payload::build(make, row, spec, &hashes, frequent.as_ref(), self.threads, &mut steps)?, capacity)
            }
        };
        let Built { geometry, words } = made;
        // Excluded keys are records too, but the filter holds only its members.
        let capacity = row.others.excludes.map_or(capacity, |members| members(&geometry, words.shared()).max(1));
        let spec = &Spec { capacity, ..self.spec };
        let mut base = create::base(row, spec, geometry, |_| Ok(words))?;
        if spec.false_positive_rate == 0.0 && spec.bits == 0 && !row.others.takes_frequent {
            // The spec asked for no rate, but a parameter may have given one.
            base.promise((row.false_positive_rate)(&geometry, spec.capacity));
        }
        base.set_count(added);
        Filter::over(base)
    }
}
