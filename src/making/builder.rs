//! Collects keys first and makes the filter afterwards, sized for exactly the distinct keys that came.
//!
//! A builder keeps only hashes, eight bytes a key. For kinds that remove or count, it also keeps how often each key
//! came: sixteen bytes a key.

use super::collect::{Collector, CollectorOptions};
use super::offered::{Offer, Offered};
use super::progress::Steps;
use super::{create, payload};
use crate::batch::keys::Keys;
use crate::batch::ring::{GROUP, Taken};
use crate::contract::{Built, Capabilities, Handle, Progress, Records, Row, Structure, Weighted, one_by_one};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::handle::filter::Filter;
use crate::handle::image::{Image, compact_size};
use crate::handle::many;
use crate::hash::{HashFunction, Hasher};
use crate::simd;
use crate::spec::Spec;
use crate::storage::try_vec;
use std::path::{Path, PathBuf};

/// How many keys' room a copy of a key takes, in kinds whose copies of a key lie near each other.
pub(super) const COPY_PLACES: u64 = 3;

/// How a [`Builder`] works.
#[derive(Default)]
pub struct BuilderOptions {
    /// The most memory, in bytes, for keys and for sorting them; keys that find no room go to a temporary file. `None`
    /// is no limit; a limit is at least [`MIN_MEMORY_LIMIT`](crate::MIN_MEMORY_LIMIT). The limit does not include the
    /// finished filter and the stacks of threads.
    pub memory_limit: Option<u64>,
    /// The folder of the temporary file. The file has no name and goes with the builder. The file takes eight bytes for
    /// each key, and sixteen while the builder makes the filter; twice that for kinds that remove or count. A folder
    /// that is given must exist and take files.
    pub temporary_directory: Option<PathBuf>,
    /// How many threads make the filter, the caller's included; 0 and 1 mean the caller's only. Other threads run only
    /// while the builder makes the filter. The filter is the same.
    pub threads: usize,
    /// Learns of progress and can cancel. The thread that makes the filter calls this function.
    pub progress: Option<Box<Progress>>,
}

/// Collects keys; [`Builder::finish`] makes the filter.
pub struct Builder {
    pub(super) spec: Spec,
    pub(super) hasher: Hasher,
    /// The function that hashes pass before they are sorted, if the kind has one.
    pub(super) order: Option<fn(u64) -> u64>,
    hashes: Offered,
    /// The frequent strangers, if the kind takes any.
    pub(super) frequent: Option<Collector<Weighted>>,
    /// How many of the hashes that were offered are those of excluded keys.
    excluded: u64,
    sizes: Sizes,
    /// The memory limit of the members' hashes.
    memory_limit: Option<u64>,
    threads: usize,
    progress: Option<Box<Progress>>,
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
        // An error of the spec comes up now and not when all keys have come.
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
        if row.hashes_keys_itself || spec.hash == HashFunction::Digest {
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
        let BuilderOptions { memory_limit, temporary_directory, threads, progress } = options;
        let hasher = row.hasher(spec)?;
        let options = CollectorOptions { memory_limit, temporary_directory, threads };
        // Members and frequent strangers have half of the memory each.
        let (parts, frequent) = match row.takes_frequent {
            true => (2, Some(Collector::with_part(options.clone(), 2)?)),
            false => (1, None),
        };
        let hashes = Offered::new(row, options, parts)?;
        let sizes = Sizes::default();
        let memory_limit = memory_limit.map(|limit| limit / parts);
        let spec = *spec;
        Ok(Builder { spec, hasher, order, hashes, frequent, excluded: 0, sizes, memory_limit, threads, progress })
    }

    /// How many keys were added, without those that were excluded.
    pub fn count(&self) -> u64 {
        self.hashes.added() - self.excluded
    }

    /// Adds a key.
    ///
    /// # Errors
    /// [`Status::ExternalHash`] if the spec takes hashes only; the errors of [`Builder::add_hash`].
    pub fn add(&mut self, key: &[u8]) -> Result<()> {
        let hash = self.hasher.hash_key(key)?;
        self.add_hash(hash)
    }

    /// Adds a `u64` key.
    ///
    /// # Errors
    /// As [`Builder::add`].
    pub fn add_u64(&mut self, key: u64) -> Result<()> {
        let hash = self.hasher.hash_u64(key)?;
        self.add_hash(hash)
    }

    /// Adds a hash.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`], and the system's errors about the temporary file. The key is not added then.
    pub fn add_hash(&mut self, hash: u64) -> Result<()> {
        self.hashes.add(self.order.map_or(hash, |order| order(hash)))
    }

    /// Adds a key that came so many times. 0 times add nothing.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot count; the errors of [`Builder::add`].
    pub fn add_times(&mut self, key: &[u8], times: u64) -> Result<()> {
        let hash = self.hasher.hash_key(key)?;
        self.add_hash_times(hash, times)
    }

    /// Adds a `u64` key that came so many times; see [`Builder::add_times`].
    ///
    /// # Errors
    /// As [`Builder::add_times`].
    pub fn add_u64_times(&mut self, key: u64, times: u64) -> Result<()> {
        let hash = self.hasher.hash_u64(key)?;
        self.add_hash_times(hash, times)
    }

    /// Adds a hash that came so many times; see [`Builder::add_times`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot count; the errors of [`Builder::add_hash`].
    pub fn add_hash_times(&mut self, hash: u64, times: u64) -> Result<()> {
        self.check_counts()?;
        self.hashes.add_times(hash, times)
    }

    /// Adds each of many keys as often as `times` says. All are added, unless there is an error: one of
    /// [`Builder::add_times`], [`Status::Offsets`], or [`Status::BufferTooSmall`] if there are not as many `times` as
    /// keys.
    pub fn add_times_batch(&mut self, keys: &Keys, times: &[u64]) -> Taken {
        if let Err(error) = self.check_counts().and_then(|()| keys.check_times(times)) {
            return Taken::none(error);
        }
        let mut times = times.iter();
        many::change(&self.hasher, simd::best(), keys, None, |batch| {
            one_by_one(batch, |hash| {
                self.hashes.add_times(hash, times.next().copied().unwrap_or(0))?;
                Ok(true)
            })
        })
    }

    /// Refuses counts if the kind does not count.
    fn check_counts(&self) -> Result<()> {
        let row = create::row_of(&self.spec)?;
        if row.capabilities.contains(Capabilities::COUNT) {
            return Ok(());
        }
        Err(error!(Unsupported, "{} cannot count, and takes no keys with their counts", row.name))
    }

    /// Adds many keys. All are added, unless there is an error.
    pub fn add_batch(&mut self, keys: &Keys) -> Taken {
        self.take_batch(keys, 0)
    }

    /// Excludes a key: the filter will say of it that it is not there, as it says of each member that it is there.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind takes no excluded keys; the errors of [`Builder::add`]. A key that is added
    /// too is found when the filter is made: [`Status::Contradiction`].
    pub fn exclude(&mut self, key: &[u8]) -> Result<()> {
        let hash = self.hasher.hash_key(key)?;
        self.exclude_hash(hash)
    }

    /// Excludes a `u64` key; see [`Builder::exclude`].
    ///
    /// # Errors
    /// As [`Builder::exclude`].
    pub fn exclude_u64(&mut self, key: u64) -> Result<()> {
        let hash = self.hasher.hash_u64(key)?;
        self.exclude_hash(hash)
    }

    /// Excludes a hash; see [`Builder::exclude`].
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind takes no excluded keys; the errors of [`Builder::add_hash`].
    pub fn exclude_hash(&mut self, hash: u64) -> Result<()> {
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

    /// The bit that the record of an excluded key has.
    fn mark_of_excluded(&self) -> Result<u64> {
        let row = create::row_of(&self.spec)?;
        match row.excludes {
            Some(_) => Ok(1),
            None => Err(error!(Unsupported, "{} takes no excluded keys; a kind that does is exact_set", row.name)),
        }
    }

    /// Adds the records of many keys with this mark.
    fn take_batch(&mut self, keys: &Keys, mark: u64) -> Taken {
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
    /// The errors of [`create`](crate::create); [`Status::Cancelled`]; [`Status::Unsupported`] if the kind cannot
    /// insert; the system's errors about the temporary file.
    pub fn finish(&mut self) -> Result<Filter> {
        let filter = self.make()?;
        self.clear();
        Ok(filter)
    }

    /// Makes the filter straight into a file, which replaces the file at the path in one step. So a program can make a
    /// filter anew from its source, in the right size, while others read the old file. These readers keep the old file
    /// as long as they have it open.
    ///
    /// # Errors
    /// The errors of [`Builder::finish`] and [`Image::save`]; the old file and the keys stay.
    pub fn save(&mut self, path: &Path) -> Result<()> {
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
            0 if self.spec.bits == 0 => self.count().max(1),
            _ if self.order.is_some() => self.count().max(1),
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
        self.frequent.iter_mut().for_each(Collector::clear);
        self.excluded = 0;
    }

    fn make(&mut self) -> Result<Filter> {
        let row = create::row_of(&self.spec)?;
        let added = self.count();
        let progress = self.progress.as_deref_mut();
        let hashes = match &mut self.hashes {
            Offered::Once(hashes) => hashes,
            Offered::Counted { hashes, .. } => {
                return insert_all(&self.spec, row, &mut self.sizes, hashes, added, progress);
            }
        };
        let Structure::StaticFilter { build, .. } = row.structure else {
            return insert_all(&self.spec, row, &mut self.sizes, hashes, added, progress);
        };
        let frequent_work = self.frequent.as_ref().map_or(0, |frequent| frequent.work() + frequent.kept());
        let mut steps = Steps::new(progress, hashes.work() + hashes.kept() + frequent_work);
        // The other half of the memory is for making the payload.
        let leave = self.memory_limit.unwrap_or(0) / 2;
        let hashes = hashes.finish(leave, &mut steps)?;
        let frequent = self.frequent.as_mut().map(|frequent| frequent.finish(leave, &mut steps)).transpose()?;
        // Filters that merge keep the geometry that the spec asked for. Other filters get the geometry that their keys
        // need.
        let capacity = match self.spec.capacity {
            asked if asked > 0 && row.capabilities.contains(Capabilities::MERGE) => asked,
            _ => hashes.count().max(1),
        };
        let spec = &Spec { capacity, ..self.spec };
        let Built { geometry, words } =
            payload::build(build, row, spec, &hashes, frequent.as_ref(), self.threads, &mut steps)?;
        // Excluded keys are records too, but the filter holds its members.
        let capacity = row.excludes.map_or(capacity, |members| members(&geometry, words.shared()).max(1));
        let spec = &Spec { capacity, ..self.spec };
        let mut base = create::base(row, spec, geometry, |_| Ok(words))?;
        if spec.false_positive_rate == 0.0 && spec.bits == 0 && !row.takes_frequent {
            // The spec asked for no rate, but a parameter may have given one.
            base.promise((row.false_positive_rate)(&geometry, spec.capacity));
        }
        base.set_count(added);
        Filter::over(base)
    }
}

/// Geometries that were computed before, of specs that differ in their capacity only. Computing a geometry takes as
/// long as inserting hundreds of keys. A builder that is used again and again, for the blocks of a table, meets the
/// same few capacities.
#[derive(Default)]
struct Sizes(Vec<(u64, Geometry)>);

/// How many geometries are kept. Each stands in the place of its capacity modulo this number.
const SIZES: usize = 256;

impl Sizes {
    /// The geometry that [`create::geometry`] gives for a spec.
    fn of(&mut self, spec: &Spec) -> Result<Geometry> {
        if let Some((_, geometry)) = self.0.get(spec.capacity as usize % SIZES).filter(|(of, _)| *of == spec.capacity) {
            return Ok(*geometry);
        }
        let geometry = create::geometry(spec)?;
        if spec.capacity < SIZES as u64 * 16 {
            if self.0.is_empty() {
                self.0 = try_vec(SIZES)?;
                self.0.resize(SIZES, (0, Geometry::default()));
            }
            self.0[spec.capacity as usize % SIZES] = (spec.capacity, geometry);
        }
        Ok(geometry)
    }
}

/// If a kind counts, a hash that came at most so often is inserted as so many hashes of a batch.
const SEVERAL: u64 = 4;

/// A filter of a kind that is made empty, with all hashes inserted in order. If the kind counts or removes, each hash
/// is inserted as often as it was offered, `added` times for all hashes together.
fn insert_all<R: Offer>(
    spec: &Spec,
    row: &'static Row,
    sizes: &mut Sizes,
    hashes: &mut Collector<R>,
    added: u64,
    progress: Option<&mut Progress>,
) -> Result<Filter> {
    let mut steps = Steps::new(progress, hashes.work() + hashes.kept());
    let hashes = hashes.finish(0, &mut steps)?;
    let distinct = hashes.count();
    // If every copy of a key takes a place near the others, copies take more room than as many distinct keys.
    let copies = if row.copies.is_some() { added.saturating_sub(distinct) } else { 0 };
    let mut places = copies.saturating_mul(COPY_PLACES).saturating_add(distinct);
    if let (Some(places_of), 0, 0) = (row.places, spec.capacity, spec.bits) {
        // A counter takes as many places as it has digits.
        let geometry = sizes.of(&Spec { capacity: distinct.max(1), ..*spec })?;
        places = 0;
        hashes.for_each(&mut |records| {
            let each = records.iter().map(|record| places_of(&geometry, record.times()));
            places = each.fold(places, u64::saturating_add);
            Ok(())
        })?;
    }
    let capacity = if spec.capacity == 0 && spec.bits == 0 { places.max(1) } else { spec.capacity };
    let spec = &Spec { capacity, ..*spec };
    let mut filter: Filter = create::create_sized(row, spec, sizes.of(spec)?)?;
    let several = match filter.kind().as_count() {
        // This kind has a counter for each key, which may hold any number.
        Some(_) if row.places.is_some() => 0,
        Some(_) => SEVERAL,
        None => u64::MAX,
    };
    let (start, mut done) = (steps.done(), 0);
    hashes.for_each(&mut |records| {
        // Insertion keeps the order of the records, because some kinds remember it. The parts in which the records come
        // must not show.
        for records in records.chunk_by(|a, b| (a.times() > several) == (b.times() > several)) {
            R::each(records, several, &mut |hashes| filter.insert_batch(&Keys::Hashes(hashes), None).outcome)?;
            for record in records.iter().filter(|record| record.times() > several) {
                filter.insert_hash_times(record.hash(), record.times())?;
            }
        }
        done += records.len() as u64;
        steps.advance_part(start, done, distinct)
    })?;
    steps.finish()?;
    filter.base_mut().set_count(added);
    Ok(filter)
}
