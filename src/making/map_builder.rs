//! Collects keys with their values first and makes the map afterwards.
//!
//! A builder keeps the 128-bit identity of each key, which takes 24 bytes a key, including its value.

use super::collect::{Collector, CollectorOptions, Several};
use super::progress::Steps;
use super::state::{self, Counts, Identity, State};
use super::{BuilderOptions, create, payload};
use crate::batch::keys::Keys;
use crate::batch::ring::{GROUP, Taken};
use crate::contract::{Build, Built, Entry, Progress, Records, Row, Structure, VALUE_BITS, check_value};
use crate::error::{Result, error};
use crate::handle::image::Image;
use crate::handle::map::Map;
use crate::hash::Hasher;
use crate::registry::DEFAULT_MAP_KIND;
use crate::spec::Spec;
use std::path::Path;

/// Collects keys with their values; [`MapBuilder::finish`] makes the map.
pub struct MapBuilder {
    spec: Spec,
    hasher: Hasher,
    entries: Entries,
    /// The greatest value that may be given.
    greatest: u64,
    threads: usize,
    progress: Option<Box<Progress>>,
}

impl MapBuilder {
    /// A builder of the map that `spec` describes. The default kind is [`DEFAULT_MAP_KIND`]. The map is sized for the
    /// keys that come, unless its kind is made empty and the spec gives its size.
    ///
    /// # Errors
    /// The errors of the spec; [`Status::Unsupported`](crate::Status::Unsupported) for a kind of filter; the errors of
    /// [`Builder::new`](crate::Builder::new) about options.
    pub fn new(spec: &Spec, options: BuilderOptions) -> Result<MapBuilder> {
        let spec = Spec { kind: Some(spec.kind.unwrap_or(DEFAULT_MAP_KIND)), ..*spec };
        // An error of the spec is reported now, and not when all keys have come.
        let row = create::row_of(&spec)?;
        if !row.is_map() {
            return Err(error!(Unsupported, "{} is a filter, not a map: give its keys to a builder", row.name));
        }
        row.geometry_of(&spec)?;
        let value_bits = row.parameter(VALUE_BITS.name).map_or(Ok(0), |parameter| spec.parameter(parameter))?;
        let greatest = match value_bits {
            0 => u64::MAX,
            bits => u64::MAX >> (64 - bits),
        };
        let BuilderOptions { memory_limit, temporary_directory, threads, progress } = options;
        let entries = Entries::new(row, CollectorOptions { memory_limit, temporary_directory, threads })?;
        Ok(MapBuilder { hasher: row.hasher(&spec)?, spec, entries, greatest, threads: threads.max(1), progress })
    }

    /// How many keys were put, with their values.
    pub fn key_count(&self) -> u64 {
        self.entries.added()
    }

    /// Gives a key a value. Giving the key the same value again changes nothing. If a key gets several values, a kind
    /// that is made empty keeps their join, and any other kind refuses two.
    ///
    /// # Errors
    /// [`Status::ExternalHash`](crate::Status::ExternalHash) or [`Status::SecretMissing`](crate::Status::SecretMissing)
    /// if the key cannot be hashed; [`Status::OutOfRange`](crate::Status::OutOfRange) for a value that `value_bits`
    /// cannot hold; [`Status::OutOfMemory`](crate::Status::OutOfMemory), and the system's errors about the temporary
    /// file. The [`Status::Contradiction`](crate::Status::Contradiction) of [`MapBuilder::finish`] may come up already
    /// here. The key is not added then.
    #[inline]
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: u64) -> Result<()> {
        self.put_bytes(key.as_ref(), value)
    }

    fn put_bytes(&mut self, key: &[u8], value: u64) -> Result<()> {
        self.put_id(self.hasher.identify(key)?, value)
    }

    /// Gives all of these keys their values.
    ///
    /// # Errors
    /// As [`MapBuilder::put`]. The keys before the one that is refused have their values then.
    pub fn put_all(&mut self, entries: impl IntoIterator<Item = (impl AsRef<[u8]>, u64)>) -> Result<()> {
        entries.into_iter().try_for_each(|(key, value)| self.put_bytes(key.as_ref(), value))
    }

    /// Gives a `u64` key a value; see [`MapBuilder::put`].
    ///
    /// # Errors
    /// As [`MapBuilder::put`].
    pub fn put_u64(&mut self, key: u64, value: u64) -> Result<()> {
        self.put_id(self.hasher.identify_u64(key)?, value)
    }

    /// Gives a value to a key that is known by a 64-bit hash from elsewhere; see [`MapBuilder::put`].
    ///
    /// # Errors
    /// The errors of [`MapBuilder::put`]; [`Status::Unsupported`](crate::Status::Unsupported) if the hash function is
    /// not the external one.
    pub fn put_hash(&mut self, hash: u64, value: u64) -> Result<()> {
        self.put_id(self.hasher.identify_hash(hash)?, value)
    }

    /// Gives a value to a key that is known by its 128-bit identity, as a hasher computes it
    /// ([`Hasher::identify`](crate::Hasher::identify)); see [`MapBuilder::put`].
    ///
    /// # Errors
    /// As [`MapBuilder::put`].
    pub fn put_id(&mut self, id: u128, value: u64) -> Result<()> {
        check_value(value, self.greatest)?;
        self.entries.add(Entry { id, value })
    }

    /// Gives many keys their values, in order. `values` has as many elements as there are keys. All keys are taken,
    /// unless there is an error: one of [`MapBuilder::put`], or [`Status::Offsets`](crate::Status::Offsets).
    pub fn put_batch(&mut self, keys: &Keys, values: &[u64]) -> Taken {
        let length = keys.len();
        if values.len() != length {
            return Taken::none(error!(BufferTooSmall, "{length} keys have {} values", values.len()));
        }
        if let Err(error) = keys.check_identities(&self.hasher) {
            return Taken::none(error);
        }
        let mut done = 0;
        let (mut ids, mut entries) = ([0; GROUP], [Entry::default(); GROUP]);
        for group in values.chunks(GROUP) {
            // How many values come before the first one that is too large.
            let fitting = group.iter().position(|value| *value > self.greatest).unwrap_or(group.len());
            keys.identify_range(done, &self.hasher, &mut ids[..fitting]);
            for (entry, (id, value)) in entries.iter_mut().zip(ids.iter().zip(&group[..fitting])) {
                *entry = Entry { id: *id, value: *value };
            }
            let taken = self.entries.add_all(&entries[..fitting]);
            done += taken.keys;
            let outcome = taken
                .outcome
                .and_then(|()| group.get(fitting).map_or(Ok(()), |value| check_value(*value, self.greatest)));
            if outcome.is_err() {
                return Taken { keys: done, outcome };
            }
        }
        Taken::all(done)
    }

    /// Makes the map and empties the builder, which can then be used again. On an error, or when the progress callback
    /// cancels, the keys stay. Linear in the keys.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction) if a key was given two values, naming them;
    /// [`Status::Cancelled`](crate::Status::Cancelled); [`Status::OutOfMemory`](crate::Status::OutOfMemory);
    /// [`Status::TooLarge`](crate::Status::TooLarge) and the other refusals of the kind; the system's errors about the
    /// temporary file.
    pub fn finish(&mut self) -> Result<Map> {
        let map = self.make()?;
        self.entries.clear();
        Ok(map)
    }

    /// Makes the map directly in a file, which replaces the file at the path in one step.
    ///
    /// # Errors
    /// The errors of [`MapBuilder::finish`] and [`Image::save`]; the old file and the keys stay.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.make()?.save(path)?;
        self.entries.clear();
        Ok(())
    }

    /// Gives the builder's keys and values to `write` as bytes, piece by piece. Another builder takes the bytes in
    /// ([`MapBuilder::merge`]). So several processes or machines collect the keys of one map, and one of them makes
    /// it. The keys stay in this builder.
    ///
    /// # Errors
    /// The errors of `write`; [`Status::Contradiction`](crate::Status::Contradiction) as [`MapBuilder::finish`];
    /// [`Status::Cancelled`](crate::Status::Cancelled) if the progress callback says so;
    /// [`Status::OutOfMemory`](crate::Status::OutOfMemory), and the system's errors about the temporary file.
    pub fn serialize_to(&mut self, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let identity = self.identity()?;
        let counts = Counts { added: self.entries.added(), ..Counts::default() };
        let steps = &mut Steps::new(self.progress.as_deref_mut(), self.entries.work());
        match &mut self.entries {
            Entries::One(entries) => {
                state::write(&identity, counts, &[], &entries.finish(0, steps)?, None, steps, write)
            }
            Entries::Several(entries) => {
                state::write(&identity, counts, &[], &entries.finish(0, steps)?, None, steps, write)
            }
        }
    }

    /// Takes in the keys and values of another builder ([`MapBuilder::serialize_to`]), as if they had been put here.
    /// Both builders have the same spec. The order in which keys and other builders' keys come makes no difference to
    /// the map.
    ///
    /// # Errors
    /// Those of [`Builder::merge`](crate::Builder::merge), and of [`MapBuilder::put`]. No key is taken in then.
    pub fn merge(&mut self, state: &[u8]) -> Result<()> {
        let State { counts, prefixes, members, frequent } = State::read(state, &self.identity()?)?;
        if counts.excluded > 0 || !prefixes.is_empty() || !frequent.is_empty() {
            return Err(error!(Corrupt, "the keys have parts that builders of maps do not have"));
        }
        let added = self.entries.added();
        if added.checked_add(counts.added).is_none() {
            return Err(error!(TooLarge, "{} keys more than {added} are more than can be counted", counts.added));
        }
        let greatest = self.greatest;
        let check = |entry: Entry| match check_value(entry.value, greatest) {
            Ok(()) => Ok(entry),
            Err(error) => Err(error!(Corrupt, "{error}")),
        };
        match &mut self.entries {
            Entries::One(entries) => {
                entries.merge(members, check)?;
                entries.count_added(counts.added);
            }
            Entries::Several(entries) => {
                entries.merge(members, |Several(entry)| check(entry).map(Several))?;
                entries.count_added(counts.added);
            }
        }
        Ok(())
    }

    /// What builders agree in whose keys this one takes in.
    fn identity(&self) -> Result<Identity> {
        Identity::of::<Entry>(create::row_of(&self.spec)?, &self.spec, &self.hasher)
    }

    fn make(&mut self) -> Result<Map> {
        let row = create::row_of(&self.spec)?;
        let mut steps = Steps::new(self.progress.as_deref_mut(), self.entries.work());
        match (&mut self.entries, &row.structure) {
            (Entries::One(entries), Structure::StaticMap { build, .. }) => {
                solve(&self.spec, row, *build, entries, self.threads, &mut steps)
            }
            (Entries::Several(entries), _) => put_all(&self.spec, row, entries, &mut steps),
            _ => Err(crate::Status::Internal.into()),
        }
    }
}

/// The entries that a builder was given.
enum Entries {
    /// The one value of each key, for a kind that is built.
    One(Collector<Entry>),
    /// All values of each key, for a kind that joins values.
    Several(Collector<Several>),
}

impl Entries {
    /// An empty collection that keeps what a kind needs to know.
    ///
    /// # Errors
    /// As [`Collector::new`].
    fn new(row: &Row, options: CollectorOptions) -> Result<Entries> {
        Ok(match row.is_made_empty() {
            true => Entries::Several(Collector::new(options)?),
            false => Entries::One(Collector::new(options)?),
        })
    }

    fn added(&self) -> u64 {
        match self {
            Entries::One(entries) => entries.added(),
            Entries::Several(entries) => entries.added(),
        }
    }

    /// How much work it is to sort the entries and to make a map from them.
    fn work(&self) -> u64 {
        match self {
            Entries::One(entries) => entries.work() + entries.kept(),
            Entries::Several(entries) => entries.work() + entries.kept(),
        }
    }

    fn add(&mut self, entry: Entry) -> Result<()> {
        match self {
            Entries::One(entries) => entries.add(entry),
            Entries::Several(entries) => entries.add(Several(entry)),
        }
    }

    /// Adds entries. All are added, unless there is an error of [`Collector::add`].
    fn add_all(&mut self, all: &[Entry]) -> Taken {
        let entries = match self {
            Entries::One(entries) => return entries.add_all(all),
            Entries::Several(entries) => entries,
        };
        for (i, entry) in all.iter().enumerate() {
            if let Err(error) = entries.add(Several(*entry)) {
                return Taken { keys: i, outcome: Err(error) };
            }
        }
        Taken::all(all.len())
    }

    fn clear(&mut self) {
        match self {
            Entries::One(entries) => entries.clear(),
            Entries::Several(entries) => entries.clear(),
        }
    }
}

/// A map of a kind that is built from all of its entries.
fn solve(
    spec: &Spec,
    row: &'static Row,
    build: fn(&mut Build<Entry>) -> Result<Built>,
    entries: &mut Collector<Entry>,
    threads: usize,
    steps: &mut Steps,
) -> Result<Map> {
    let added = entries.added();
    let entries = entries.finish(LEFT_FOR_BUILDING, steps)?;
    let spec = Spec { capacity: entries.count().max(1), ..*spec };
    let built = payload::build(build, row, &spec, &entries, None, threads, steps)?;
    let mut base = create::base(row, &spec, built.geometry, |_| Ok(built.words))?;
    let rate = (row.false_positive_rate)(&built.geometry, entries.count());
    if rate > base.header().false_positive_rate {
        // The spec said how many check bits there are, and these give the rate.
        base.promise(0.0);
    }
    base.add_count(added);
    Map::over(base)
}

/// A map of a kind that is made empty, into which all entries are put.
fn put_all(spec: &Spec, row: &'static Row, entries: &mut Collector<Several>, steps: &mut Steps) -> Result<Map> {
    let added = entries.added();
    let entries = entries.finish(0, steps)?;
    let (mut distinct, mut last) = (0, None);
    entries.for_each(&mut |entries| {
        for Several(Entry { id, .. }) in entries.iter().copied() {
            distinct += u64::from(last != Some(id));
            last = Some(id);
        }
        steps.stay(entries.len() as u64)
    })?;
    let capacity = if spec.capacity == 0 && spec.bits == 0 { distinct.max(1) } else { spec.capacity };
    let spec = Spec { capacity, ..*spec };
    let mut map: Map = create::create_sized(row, &spec, row.geometry_of(&spec)?)?;
    let (start, all, mut done) = (steps.done(), entries.count(), 0);
    entries.for_each(&mut |entries| {
        for Several(Entry { id, value }) in entries.iter().copied() {
            map.put_id(id, value)?;
        }
        done += entries.len() as u64;
        steps.advance_part(start, done, all)
    })?;
    steps.finish()?;
    map.base_mut().set_count(added);
    Ok(map)
}

/// How many bytes of a memory limit are kept for building, so that keys in memory do not use them up.
const LEFT_FOR_BUILDING: u64 = 48 << 20;
