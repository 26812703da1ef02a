//! The calls of a filter, whatever its kind.

mod across;
mod combine;
mod compact;
mod keyed;
mod rejuvenate;
mod remove;
mod stored;
mod times;

pub use across::{Asked, filters_contain, filters_contain_hash};

use crate::batch::answers::Answers;
use crate::batch::keys::Keys;
use crate::batch::ring::{Chunk, Few, GROUP, Taken};
use crate::blocks::{Measure, Probe, View};
use crate::contract::{Base, Capabilities, Handle, Kind, Payload, SharedInsert, Structure, mark, mark_one};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Error, Result, error};
use crate::handle::image::Image;
use crate::handle::many;
use crate::hash::Hasher;
use crate::storage::Access;
use core::sync::atomic::Ordering;

/// An approximate-membership filter of any kind. `contains` never says false for a key that was inserted. For other
/// keys it says true at the false-positive rate.
///
/// A key is a byte string: anything that lends its bytes, such as `"pear"`, a `String`, a `Vec<u8>` or a `[u8; 4]`,
/// borrowed or owned. The forms with `u64` take numbers, each of which is the key of its eight little-endian bytes, and
/// those with `hash` take hashes from elsewhere.
///
/// Many threads may use shared references at once. The calls about the bytes (verifying, serializing in pieces,
/// bringing up to date) are in [`Image`].
///
/// There is no [`Clone`], no [`Extend`] and no [`FromIterator`], because what they do can fail here, and they could not
/// say so: [`Filter::copy`], [`Filter::insert_all`] and [`Filter::from_keys`] can.
pub struct Filter {
    kind: Box<dyn Kind>,
    /// A copy of the kind's hasher, so that single keys are hashed without a call of the kind.
    hasher: Hasher,
}

impl core::fmt::Debug for Filter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Filter").field("header", self.base().header()).finish_non_exhaustive()
    }
}

impl Image for Filter {
    fn payload(&self) -> &dyn Payload {
        &*self.kind
    }

    fn payload_mut(&mut self) -> &mut dyn Payload {
        &mut *self.kind
    }

    #[inline]
    fn base(&self) -> &Base {
        self.kind.base()
    }

    fn over(base: Base) -> Result<Filter> {
        match base.row().structure {
            Structure::Filter { open } | Structure::StaticFilter { open, .. } => Ok(Filter::of_kind(open(base)?)),
            _ => Err(base.other_handle(Handle::Filter)),
        }
    }
}

impl Filter {
    // ---- What it is ----------------------------------------------------------------------------------------------

    /// The exact false-positive rate to expect with `keys` distinct keys in a filter of this geometry.
    pub fn expected_false_positive_rate(&self, keys: u64) -> f64 {
        let base = self.base();
        base.row().expected_false_positive_rate(base.geometry(), base.header().capacity, keys)
    }

    /// The probability that a key is not found after `age` other keys were inserted: 0 for kinds that lose and forget
    /// nothing. With a window the probability is 0 up to the window's end, and then the average over all places that
    /// the key may have in a step; it stays 0 if only [`Filter::advance`] moves time on. A key that comes several times
    /// is as old as its last insertion, or as its first, depending on the kind.
    ///
    /// In `rotating` with `touch` = 0 a key that is mistaken for an older one is forgotten with that one, so the
    /// probability is not 0 inside the window. If only time moves the window on, a step is assumed to come after as
    /// many keys as the capacity. `removed_set` loses keys when others are removed: there the result is the share of
    /// keys that the filter has lost by now, whatever the age, and the call reads a part of the payload.
    pub fn expected_false_negative_rate(&self, age: u64) -> f64 {
        self.kind.false_negative_rate(age)
    }

    /// How many of `keys` distinct keys are omitted on average when they are inserted, one after the other, into an
    /// empty filter of this geometry. A key is omitted if [`Filter::insert`] says false for it although it is new, or
    /// if the full filter refuses it. A model checker that explores only new states omits that many states.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot insert.
    pub fn expected_omissions(&self, keys: u64) -> Result<f64> {
        self.base().row().check_omits()?;
        Ok(self.base().row().expected_omissions(self.base().geometry(), self.base().header().capacity, keys))
    }

    /// Measures the payload. Reads all of it once.
    pub fn statistics(&self) -> Measure {
        self.statistics_with(&mut |_| {})
    }

    /// Measures the payload. Reads all of it once, and reports the bytes of every piece to `progress`.
    pub fn statistics_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.kind.measure_with(progress)
    }

    /// The false-positive rate now; see [`Measure`]. Reads the whole payload.
    pub fn false_positive_rate(&self) -> f64 {
        self.statistics().false_positive_rate
    }

    /// How many distinct keys the filter holds, estimated from its fill. `None` if the filter is too full for that, or
    /// the kind cannot estimate. [`crate::estimate`] also gives the error.
    pub fn cardinality(&self) -> Option<f64> {
        self.kind.as_cardinality()?.of_payload()
    }

    /// A handle over this kind: for tests, and for kinds that live outside the library.
    pub fn of_kind(kind: Box<dyn Kind>) -> Filter {
        Filter { hasher: kind.base().hasher().clone(), kind }
    }

    /// The kind behind the handle.
    pub fn kind(&self) -> &dyn Kind {
        &*self.kind
    }

    /// Whether [`Filter::merge`] would take the other filter, and all bits of both are the same.
    pub fn equals(&self, other: &Filter) -> bool {
        let (a, b) = (self.base(), other.base());
        let (x, y) = (a.words().shared(), b.words().shared());
        a.compatibility_id() == b.compatibility_id()
            && x.len() == y.len()
            && x.iter().zip(y).all(|(x, y)| x.load(Ordering::Relaxed) == y.load(Ordering::Relaxed))
    }

    // ---- Looking up ----------------------------------------------------------------------------------------------

    /// Whether a key may have been inserted. Also true if the key cannot be hashed.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        let key = key.as_ref();
        match self.hasher.hash_bytes_at_once(key) {
            Some(hash) => self.contains_hash(hash),
            None => self.contains_whole(key).unwrap_or(true),
        }
    }

    /// Whether a `u64` key may have been inserted. Also true if the key cannot be hashed.
    #[inline]
    pub fn contains_u64(&self, key: u64) -> bool {
        match self.hasher.hash_u64_at_once(key) {
            Some(hash) => self.contains_hash(hash),
            None => self.contains_whole(&key.to_le_bytes()).unwrap_or(true),
        }
    }

    /// Whether a hash may have been inserted. Takes constant time.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.kind.contains_hash(hash)
    }

    /// Looks up many keys, and fills as much of `answers` as has room.
    ///
    /// # Errors
    /// [`Status::Offsets`], [`Status::ExternalHash`], [`Status::SecretMissing`]. All answers then say true.
    pub fn contains_batch(&self, keys: &Keys, answers: &mut Answers) -> Result<()> {
        let kind = &*self.kind;
        if let Some(kind) = self.keyed() {
            return keyed::contains(kind, &self.hasher, keys, answers);
        }
        many::contains(self.base(), keys, answers, |few| kind.contains_few(few), |batch| kind.contains_many(batch))
    }

    /// Whether each of a few keys may have been inserted; see [`Kind::contains_few`].
    #[inline]
    pub fn contains_few(&self, few: &Few) -> Option<u64> {
        self.kind.contains_few(few)
    }

    // ---- Inserting -----------------------------------------------------------------------------------------------

    /// Inserts a key. Returns true if the key certainly was absent before.
    ///
    /// # Errors
    /// The errors of [`Filter::insert_hash`]; [`Status::ExternalHash`] or [`Status::SecretMissing`] if the key cannot
    /// be hashed.
    #[inline]
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        match self.hasher.hash_bytes(key) {
            Ok(hash) => self.insert_hash(hash),
            Err(refusal) => self.insert_whole(key, refusal),
        }
    }

    /// Inserts a `u64` key. Returns true if the key certainly was absent before.
    ///
    /// # Errors
    /// As [`Filter::insert`].
    #[inline]
    pub fn insert_u64(&mut self, key: u64) -> Result<bool> {
        match self.hasher.hash_u64(key) {
            Ok(hash) => self.insert_hash(hash),
            Err(refusal) => self.insert_whole(&key.to_le_bytes(), refusal),
        }
    }

    /// Inserts a hash. Returns true if the hash certainly was absent before.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot insert; [`Status::Full`] if the hash finds no
    /// room.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool> {
        match self.kind.insert_at_once(hash) {
            Some(new) => Ok(new),
            None => self.insert_in_place(hash),
        }
    }

    /// Inserts into an image in place, or inserts a hash that makes the filter grow or that it refuses. Kept out of
    /// line, so that the path of other insertions stays short.
    #[cold]
    #[inline(never)]
    fn insert_in_place(&mut self, hash: u64) -> Result<bool> {
        let is_keyed = self.hasher.takes_whole() && self.kind.as_keyed_mut().is_some();
        match self.kind.as_insert() {
            Some(kind) => kind.insert_one(hash),
            None if is_keyed => Err(keyed::needs_keys()),
            None => Err(self.unsupported("insert")),
        }
    }

    /// Inserts a hash if that takes no preparation; see [`crate::contract::Insert::insert_at_once`]. After `None`
    /// [`Filter::insert_hash`] inserts the hash, or says why it cannot.
    #[inline]
    pub fn insert_hash_at_once(&mut self, hash: u64) -> Option<bool> {
        self.kind.insert_at_once(hash)
    }

    /// Inserts a few keys if that takes no preparation; see [`crate::contract::Insert::insert_few`]. After `None`
    /// [`Filter::insert_batch`] inserts the keys, or says why it cannot.
    #[inline]
    pub fn insert_few_at_once(&mut self, few: &Few, is_asked: bool) -> Option<u64> {
        self.kind.as_insert()?.insert_few(few, is_asked)
    }

    /// Inserts all of these keys in order: borrowed or owned, of any type that lends its bytes. Returns how many
    /// certainly were absent before. Keys are hashed one by one and inserted in groups, whose memory is fetched ahead.
    ///
    /// This stands where other collections have [`Extend`], which cannot say that a kind takes no keys one by one, or
    /// that the filter is full.
    ///
    /// ```
    /// let mut seen = petal::Filter::with_capacity(1000, 0.01)?;
    /// assert_eq!(seen.insert_all(["apple", "pear", "apple"])?, 2);
    /// # Ok::<(), petal::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Filter::insert`]. The keys before the one that is refused are inserted then.
    pub fn insert_all(&mut self, keys: impl IntoIterator<Item: AsRef<[u8]>>) -> Result<u64> {
        let (mut new, mut waiting, mut hashes) = (0, 0, [0; GROUP]);
        for key in keys {
            let key = key.as_ref();
            match self.hasher.hash_bytes(key) {
                Ok(hash) => {
                    hashes[waiting] = hash;
                    waiting += 1;
                }
                Err(refusal) => {
                    new += self.insert_hashes(&hashes[..core::mem::take(&mut waiting)])?;
                    new += u64::from(self.insert_whole(key, refusal)?);
                }
            }
            if waiting == GROUP {
                new += self.insert_hashes(&hashes[..core::mem::take(&mut waiting)])?;
            }
        }
        Ok(new + self.insert_hashes(&hashes[..waiting])?)
    }

    /// Inserts hashes in order. Returns how many of them certainly were absent before.
    fn insert_hashes(&mut self, hashes: &[u64]) -> Result<u64> {
        let mut answers = Answers::default();
        if !hashes.is_empty() {
            self.insert_batch(&Keys::Hashes(hashes), Some(&mut answers)).outcome?;
        }
        Ok(answers.true_count)
    }

    /// Inserts many keys in order. `answers` say of each key whether it certainly was absent before; without them that
    /// is not found out, which is faster. All keys are inserted, unless there is an error: one of [`Filter::insert`],
    /// or [`Status::Offsets`].
    pub fn insert_batch(&mut self, keys: &Keys, mut answers: Option<&mut Answers>) -> Taken {
        if let Some(few) = keys.few(&self.hasher) {
            let is_asked = answers.is_some();
            let mut insert = || self.insert_few_at_once(&few, is_asked);
            let new = match &mut answers {
                Some(answers) => answers.of_few(&few, insert),
                None => insert(),
            };
            if let Some(new) = new {
                if let Some(answers) = answers {
                    answers.true_count = new.count_ones().into();
                    answers.done = few.keys.len();
                }
                return Taken::all(few.keys.len());
            }
        }
        if self.hasher.takes_whole() && self.kind.as_keyed_mut().is_some() {
            return keyed::insert(&mut *self.kind, &self.hasher, keys, answers);
        }
        let (hasher, instructions) = (self.base().hasher().clone(), self.base().instructions());
        match self.kind.as_insert() {
            Some(kind) => many::change(&hasher, instructions, keys, answers, |batch| kind.insert_many(batch)),
            None => Taken::none(self.unsupported("insert")),
        }
    }

    /// Adds to the count of insertions, for keys that were inserted in a way that does not count them. Threads may
    /// call this while others use the filter. An image in place has the sum after the handle is synced or dropped. Each
    /// handle that shares the image adds its own part.
    ///
    /// # Errors
    /// [`Status::UnsupportedByHandle`] if the filter is open for reading only.
    pub fn add_insertions(&self, keys: u64) -> Result<()> {
        if self.base().words().in_place() == Some(Access::Read) {
            return Err(self.base().refusal());
        }
        self.base().add_count_shared(keys);
        Ok(())
    }

    // ---- Inserting while others insert ---------------------------------------------------------------------------

    /// The facet that inserts through a shared reference, if this filter's kind and memory allow it.
    fn shared(&self) -> Result<&dyn SharedInsert> {
        let insert = self.kind.as_shared_insert().ok_or_else(|| self.unsupported("insert without locks"))?;
        self.base().check_shared()?;
        Ok(insert)
    }

    /// [`Filter::insert_shared_hash`] if that takes no preparation. `None`, with nothing done, for an image in place,
    /// or if the insertion would be refused.
    #[inline]
    pub fn insert_shared_hash_at_once(&self, hash: u64) -> Option<bool> {
        let insert = self.kind.as_shared_insert()?;
        if self.base().is_own() { insert.insert_one_shared(hash) } else { None }
    }

    /// Inserts a hash while others insert and look up. See [`SharedInsert`] for the guarantees.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot, or the image was not opened to be shared; [`Status::Corrupt`] if the
    /// region of the image that it would change does not match its checksum; [`Status::Full`].
    #[inline]
    pub fn insert_shared_hash(&self, hash: u64) -> Result<bool> {
        let insert = self.shared()?;
        if !self.base().is_own() {
            mark_one(&*self.kind, hash)?;
        }
        insert.insert_one_shared(hash).ok_or_else(|| self.kind.refusal(hash))
    }

    /// Inserts a key while others insert and look up. See [`SharedInsert`] for the guarantees.
    ///
    /// # Errors
    /// The errors of [`Filter::insert_shared_hash`], and [`Status::ExternalHash`] or [`Status::SecretMissing`] if the
    /// key cannot be hashed.
    #[inline]
    pub fn insert_shared(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.insert_shared_hash(self.hasher.hash_key(key.as_ref())?)
    }

    /// Inserts a `u64` key while others insert and look up. See [`SharedInsert`] for the guarantees.
    ///
    /// # Errors
    /// As [`Filter::insert_shared`].
    #[inline]
    pub fn insert_shared_u64(&self, key: u64) -> Result<bool> {
        self.insert_shared_hash(self.hasher.hash_u64(key)?)
    }

    /// Inserts many keys in order while others insert and look up. `answers`, if given, say of each key whether it
    /// certainly was absent before. See [`SharedInsert`] for the guarantees. The outcome is that of
    /// [`Filter::insert_shared`], or [`Status::Offsets`]. All keys are inserted, or none. Only [`Status::Full`], and
    /// [`Status::Corrupt`] for a region that does not match its checksum, come after earlier keys were inserted.
    pub fn insert_shared_batch(&self, keys: &Keys, answers: Option<&mut Answers>) -> Taken {
        let base = self.base();
        let shared = match self.shared() {
            Ok(shared) => shared,
            Err(error) => return Taken::none(error),
        };
        many::change(base.hasher(), base.instructions(), keys, answers, |batch| {
            if base.is_own() {
                return shared.insert_many_shared(batch);
            }
            Chunk::each(batch, |chunk| {
                let Taken { keys: ready, outcome } = mark(&*self.kind, chunk.hashes());
                chunk.keep(ready);
                let taken = shared.insert_many_shared(chunk);
                chunk.keep(taken.keys);
                taken.outcome.and(outcome)
            })
        })
    }

    // ---- For programs that compute on the payload ----------------------------------------------------------------

    /// The payload for inlined lookups.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the layout has no name.
    pub fn view(&self) -> Result<View<'_>> {
        self.kind.view().ok_or_else(|| {
            let name = self.base().row().name;
            error!(Unsupported, "kind = {name} has no layout with a name, so there are no views of it")
        })
    }

    /// The payload, for a program that itself computes on it and writes it, until the next [`Image::sync`]. Nobody else
    /// may use the filter meanwhile. Keys that the program inserts are not counted. An image in place is first marked
    /// unclean with all of its regions, because the library does not learn which ones change. That reads the whole
    /// payload, and so does the sync.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the layout has no name, if programs cannot insert into it, or if the handle is not
    /// for a single writer; [`Status::Corrupt`] if an image does not match its checksums; the system's errors.
    pub fn writable_view(&mut self) -> Result<View<'_>> {
        if !self.view()?.layout.is_insertable() {
            let name = self.base().row().name;
            return Err(error!(Unsupported, "kind = {name} has views for lookups only"));
        }
        self.base_mut().writable()?;
        self.view()
    }

    /// The kernel and words for a single key, for kinds whose keys go through a kernel.
    #[inline]
    pub fn probe(&self) -> Option<Probe<'_>> {
        self.kind.probe()
    }

    // ---- Refusing ------------------------------------------------------------------------------------------------

    /// Refuses an operation whose capability is lacking, because of the kind or of how the image is open.
    fn check_capability(&self, operation: &str, capability: Capabilities) -> Result<()> {
        self.base().check_capability(operation, capability)
    }

    /// Refuses an operation that no filter of the kind can do.
    fn check_kind(&self, operation: &str, capability: Capabilities) -> Result<()> {
        self.base().check_kind(operation, capability)
    }

    fn unsupported(&self, operation: &str) -> Error {
        self.base().unsupported(operation)
    }

    // ---- Hashing -------------------------------------------------------------------------------------------------

    /// The hash of a key, out of line for the calls that take longer than that.
    fn hash_of(&self, key: &[u8]) -> Result<u64> {
        self.hasher.hash_key(key)
    }
}
