//! The contract: the [`Filter`] trait through which the registry, the C API, the format and the command see every kind,
//! and its facets for what only some can do.

use crate::answers::Answers;
use crate::base::{Base, check_compatible};
use crate::bits::ring::{self, Batch, Chunk, Few, Taken};
#[cfg(doc)]
use crate::error::Status;
use crate::error::{Error, Result, error};
use crate::format::{self, Geometry, Header, Sink};
use crate::keys::Keys;
use crate::layouts::Probe;
use crate::spec::{MAX_PARAMETERS, Setting, Spec};
use crate::storage::{Access, Words};
use crate::{batch, registry};
use core::ops::BitOr;
use core::sync::atomic::{AtomicU64, Ordering, fence};
use std::path::Path;

/// What a kind, or a handle, can do: a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(pub u64);

impl Capabilities {
    /// Nothing but lookups.
    pub const NONE: Capabilities = Capabilities(0);
    /// Keys can be inserted one by one.
    pub const INSERT: Capabilities = Capabilities(1 << 0);
    /// All keys can be forgotten at once.
    pub const CLEAR: Capabilities = Capabilities(1 << 1);
    /// Becomes the union with another filter.
    pub const MERGE: Capabilities = Capabilities(1 << 2);
    /// Becomes a superset of the intersection with another filter.
    pub const INTERSECT: Capabilities = Capabilities(1 << 3);
    /// Can be made smaller by a whole factor.
    pub const FOLD: Capabilities = Capabilities(1 << 4);
    /// Estimates how many distinct keys it holds.
    pub const ESTIMATE: Capabilities = Capabilities(1 << 5);
    /// Keys can be removed one by one.
    pub const REMOVE: Capabilities = Capabilities(1 << 6);
    /// Counts how often a key was inserted.
    pub const COUNT: Capabilities = Capabilities(1 << 7);
    /// Grows past its capacity and keeps its false-positive rate.
    pub const GROW: Capabilities = Capabilities(1 << 8);

    /// Keys can be inserted by many threads at once, without locks.
    pub const INSERT_SHARED: Capabilities = Capabilities(1 << 9);

    /// What changes a filter, and what a handle for reading cannot do.
    pub const WRITING: Capabilities = Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::INTERSECT)
        .with(Capabilities::FOLD)
        .with(Capabilities::REMOVE)
        .with(Capabilities::GROW);

    /// What changes the size of a filter, and so cannot be done in place.
    pub const RESIZING: Capabilities = Capabilities::FOLD.with(Capabilities::GROW);

    /// Every capability with its name.
    pub const ALL: [(&'static str, Capabilities); 10] = [
        ("insert", Capabilities::INSERT),
        ("clear", Capabilities::CLEAR),
        ("merge", Capabilities::MERGE),
        ("intersect", Capabilities::INTERSECT),
        ("fold", Capabilities::FOLD),
        ("estimate", Capabilities::ESTIMATE),
        ("remove", Capabilities::REMOVE),
        ("count", Capabilities::COUNT),
        ("grow", Capabilities::GROW),
        ("insert_shared", Capabilities::INSERT_SHARED),
    ];

    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Capabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union.
    pub const fn with(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// This set without `other`.
    pub const fn without(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & !other.0)
    }
}

impl BitOr for Capabilities {
    type Output = Capabilities;

    fn bitor(self, other: Capabilities) -> Capabilities {
        self.with(other)
    }
}

/// Keys can be inserted one by one.
pub trait Insert {
    /// Inserts a hash. True if it certainly was not there; false if it may have been.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the filter is open for reading only.
    fn insert_one(&mut self, hash: u64) -> Result<bool>;

    /// Inserts a hash where that is possible without more ado: `None`, having done nothing, for an image in place or where
    /// it would be refused. What single calls try before [`Insert::insert_one`]: an answer of one byte comes back in a
    /// register.
    fn insert_at_once(&mut self, hash: u64) -> Option<bool>;

    /// Inserts few keys in order where that is possible without more ado, and says of each, if it is asked, whether it
    /// certainly was not there: bit i is that of the i-th, and bits after the last mean nothing. `None`, having done
    /// nothing, where [`Insert::insert_many`] has to.
    fn insert_few(&mut self, _few: &Few, _is_asked: bool) -> Option<u64> {
        None
    }

    /// Inserts the keys of a batch in order and says of each, if it is asked, whether it certainly was not there.
    /// All are taken unless there is an error, and then the first so many.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken;
}

/// Keys can be inserted by many threads at once, without locks: lookups and insertions run side by side.
///
/// What holds then: a key whose insertion happened before a lookup is found by it. Of several threads that insert the
/// same new key at the same time at least one is told that it was new; more than one may be. Keys are not counted: a
/// counter that all threads share would be what they wait for.
pub trait SharedInsert: Filter {
    /// Inserts a hash. True if it certainly was not there; false if it may have been.
    /// [`Filter::insert_hash_shared`] checked that the words may be written.
    fn insert_one_shared(&self, hash: u64) -> bool;

    /// Of an image in place: the place, in 64-bit words, of one of the words in which the hash sets bits and whose
    /// region is not marked yet (`Base::unmarked`); `None` once all are. A kind that does not say which words those are
    /// has to have all of them marked.
    fn unmarked(&self, _hash: u64) -> Option<usize> {
        self.base().first_unmarked()
    }

    /// Fetches the memory that a hash will need.
    fn fetch(&self, hash: u64);

    /// How many keys ahead fetching pays (see `bits::ring`).
    fn ahead(&self) -> usize;

    /// Inserts the keys of a batch in order and says of each whether it certainly was not there.
    fn insert_many_shared(&self, batch: &mut dyn Batch) {
        let insert = |_: &mut (), hash| self.insert_one_shared(hash);
        ring::inserting(&mut (), self.ahead(), batch, |_, hash| self.fetch(hash), insert);
    }
}

/// Becomes the union with a filter that has the same compatibility id.
pub trait Merge {
    /// See the trait. [`Filter::merge`] checked the other's compatibility id.
    fn merge_words(&mut self, other: &Words) -> Result<()>;
}

/// Becomes a superset of the intersection with a filter that has the same compatibility id.
pub trait Intersect {
    /// See the trait. [`Filter::intersect`] checked the other's compatibility id.
    fn intersect_words(&mut self, other: &Words) -> Result<()>;
}

/// Can be made smaller by a whole factor, without its keys.
pub trait Fold {
    /// How many units there are: bits, bits of a slice, or blocks.
    fn units(&self) -> u64;

    /// The geometry with a `factor`-th of the units.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if `factor` is below 2 or does not divide the number of units.
    fn folded_geometry(&self, factor: u64) -> Result<Geometry>;

    /// Divides the number of units by `factor`.
    ///
    /// # Errors
    /// As [`Fold::folded_geometry`], and [`Status::OutOfMemory`]; the filter is then as it was.
    fn fold_units(&mut self, factor: u64) -> Result<()>;
}

/// Can tell from its bits how many distinct keys were inserted.
pub trait Cardinality {
    /// The estimate; `None` when the filter is too full to tell. Reads the whole payload.
    fn of_payload(&self) -> Option<f64>;

    /// The estimate of [`Cardinality::of_payload`] from [`Measure::taken`], without reading the payload again.
    fn of_taken(&self, taken: u64) -> Option<f64>;

    /// The estimate for the union with another filter of the same compatibility id; `None` when it is too full to tell.
    fn of_union(&self, other: &Words) -> Option<f64>;

    /// The standard error of an estimate of so many keys.
    fn standard_error(&self, keys: f64) -> f64;
}

/// How a payload is laid out, where that has a name: then programs may compute on it for themselves. The numbers are
/// those of the C API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Layout {
    /// Blocks of 256 bits, a bit in each of eight lanes: version 1 of the kind `split_block`.
    SplitBlock = 1,
    /// Blocks of 512 bits, a bit in each of some of sixteen lanes: version 1 of the kind `blocked`.
    Blocked = 2,
}

/// A payload of a named layout.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The layout.
    pub layout: Layout,
    /// The words of the blocks, without what may follow them.
    pub words: &'a [AtomicU64],
    /// The bits that a key sets.
    pub hashes: u32,
}

/// What the payload of a filter tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// The bits, or other places, that are taken.
    pub taken: u64,
    /// Their share of all.
    pub fill: f64,
    /// The probability, over uniform hashes, of a lookup that says true, given exactly this payload.
    pub false_positive_rate: f64,
}

impl Measure {
    /// Of a kind whose places are bits.
    pub(crate) fn of_bits(ones: u64, bits: u64, false_positive_rate: f64) -> Measure {
        Measure { taken: ones, fill: ones as f64 / bits as f64, false_positive_rate }
    }
}

/// An approximate-membership filter. `contains` never says false of a key that was inserted; of other keys it says true
/// at the false-positive rate.
///
/// Shared references may be used from many threads at once.
pub trait Filter: Send + Sync {
    /// What lies beneath the kind.
    fn base(&self) -> &Base;

    /// What lies beneath the filter, to be changed.
    fn base_mut(&mut self) -> &mut Base;

    /// Whether a hash may have been inserted. Constant time.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Whether each key of a batch may have been inserted (see `bits::ring`).
    fn contains_many(&self, batch: &mut dyn Batch) {
        ring::rolling(&mut (), 0, batch, ring::nothing, ring::nothing, |_, hash| self.contains_hash(hash));
    }

    /// Whether each of few keys may have been inserted: bit i is that of the i-th, and bits after the last mean nothing.
    /// `None` where [`Filter::contains_many`] has to say it.
    fn contains_few(&self, _few: &Few) -> Option<u64> {
        None
    }

    /// What the payload tells. Reads all of it, once, and says to `progress` after every piece how many bytes that was.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure;

    /// Checks what the kind promises of its payload beyond the checksum.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    fn check_payload(&self) -> Result<()>;

    /// A filter like this one in memory of its own.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    fn copy(&self) -> Result<Box<dyn Filter>>;

    /// Insertion, for the kinds that can.
    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        None
    }

    /// Lock-free insertion, for the kinds that can.
    fn as_shared_insert(&self) -> Option<&dyn SharedInsert> {
        None
    }

    /// Union, for the kinds that can.
    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        None
    }

    /// Intersection, for the kinds that can.
    fn as_intersect(&mut self) -> Option<&mut dyn Intersect> {
        None
    }

    /// Folding, for the kinds that can.
    fn as_fold(&mut self) -> Option<&mut dyn Fold> {
        None
    }

    /// Estimation, for the kinds that can.
    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        None
    }

    /// The payload, for code that looks keys up by itself; `None` if its layout has no name.
    fn view(&self) -> Option<View<'_>> {
        None
    }

    /// What a single key needs of the filter, for the kinds whose keys go through a kernel.
    fn probe(&self) -> Option<Probe<'_>> {
        None
    }

    // ---- What follows is the same for every kind. ----

    /// The payload, to be written by a program that computes on it itself, until the next [`Filter::sync`] and with
    /// nobody else meanwhile. Keys that it inserts are not counted. An image in place is marked dirty first, and all of
    /// its regions, because nobody will say which ones change: that reads the whole payload, and so does the sync.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the layout has no name or the handle is not for a single writer; [`Status::Corrupt`]
    /// if an image does not match its checksums; what the system reports.
    fn writable_view(&mut self) -> Result<View<'_>> {
        self.readable_view()?;
        self.base_mut().writable()?;
        self.readable_view()
    }

    /// The payload, for code that looks keys up by itself.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the layout has no name.
    fn readable_view(&self) -> Result<View<'_>> {
        self.view().ok_or_else(|| {
            let kind = registry::find(self.base().header().kind).map_or("unknown", |row| row.name);
            error!(Unsupported, "kind = {kind} has no layout with a name, so there are no views of it")
        })
    }

    /// What the payload tells. Reads all of it, once.
    fn measure(&self) -> Measure {
        self.measure_with(&mut |_| {})
    }

    /// The false-positive rate now; see [`Measure`]. Reads the whole payload.
    fn false_positive_rate(&self) -> f64 {
        self.measure().false_positive_rate
    }

    /// How many distinct keys were inserted, judging by the fill; `None` when it is too full to tell, or the kind
    /// cannot. [`crate::estimate`] also gives the error.
    fn cardinality(&self) -> Option<f64> {
        self.as_cardinality()?.of_payload()
    }

    /// The exact false-positive rate to expect with `keys` distinct keys in a filter of this geometry.
    fn expected_false_positive_rate(&self, keys: u64) -> f64 {
        let header = self.base().header();
        registry::find(header.kind).map_or(1.0, |row| (row.false_positive_rate)(&header.geometry, keys))
    }

    /// What this filter can do: what its kind can, less what its memory does not allow.
    fn capabilities(&self) -> Capabilities {
        let all = registry::find(self.base().header().kind).map_or(Capabilities::NONE, |row| row.capabilities);
        match self.base().words().in_place() {
            None => all,
            Some(Access::Write) => all.without(Capabilities::RESIZING).without(Capabilities::INSERT_SHARED),
            Some(Access::Share) => all.without(Capabilities::WRITING),
            Some(Access::Read) => all.without(Capabilities::WRITING).without(Capabilities::INSERT_SHARED),
        }
    }

    /// Why it cannot do what [`Filter::capabilities`] lacks: because of its kind, or of how its image is open.
    #[doc(hidden)]
    fn refusal(&self, operation: &str, capability: Capabilities) -> Error {
        let row = registry::find(self.base().header().kind);
        if !row.is_some_and(|row| row.capabilities.contains(capability)) {
            return unsupported(operation);
        }
        if Capabilities::RESIZING.contains(capability) {
            return error!(
                Unsupported,
                "an image in place keeps its size; to {operation} it, open it as a copy (mode load)"
            );
        }
        self.base().refusal()
    }

    /// Whether a key may have been inserted; true also where the key cannot be hashed.
    fn contains(&self, key: &[u8]) -> bool {
        self.base().hasher().hash_bytes_at_once(key).is_none_or(|hash| self.contains_hash(hash))
    }

    /// Whether a `u64` key may have been inserted; true also where it cannot be hashed.
    fn contains_u64(&self, key: u64) -> bool {
        self.base().hasher().hash_u64_at_once(key).is_none_or(|hash| self.contains_hash(hash))
    }

    /// Inserts a hash where that is possible without more ado; see [`Insert::insert_at_once`]. After `None`
    /// [`Filter::insert_hash`] inserts it, or says why it cannot.
    fn insert_hash_at_once(&mut self, hash: u64) -> Option<bool> {
        self.as_insert()?.insert_at_once(hash)
    }

    /// Inserts few keys where that is possible without more ado; see [`Insert::insert_few`]. After `None`
    /// [`Filter::insert_batch`] inserts them, or says why it cannot.
    fn insert_few_at_once(&mut self, few: &Few, is_asked: bool) -> Option<u64> {
        self.as_insert()?.insert_few(few, is_asked)
    }

    /// Inserts a hash; true if it certainly was not there before.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind or the handle cannot insert.
    fn insert_hash(&mut self, hash: u64) -> Result<bool> {
        self.as_insert().ok_or_else(|| unsupported("insert"))?.insert_one(hash)
    }

    /// Inserts a key; true if it certainly was not there before.
    ///
    /// # Errors
    /// As [`Filter::insert_hash`], and [`Status::ExternalHash`] or [`Status::KeyMissing`] where it cannot be hashed.
    fn insert(&mut self, key: &[u8]) -> Result<bool> {
        let hash = self.base().hasher().hash_bytes(key)?;
        self.insert_hash(hash)
    }

    /// Inserts a `u64` key; true if it certainly was not there before.
    ///
    /// # Errors
    /// As [`Filter::insert`].
    fn insert_u64(&mut self, key: u64) -> Result<bool> {
        let hash = self.base().hasher().hash_u64(key)?;
        self.insert_hash(hash)
    }

    /// What inserts through a shared reference, if this filter's kind and memory allow it.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    fn shared(&self) -> Result<&dyn SharedInsert> {
        let insert = self.as_shared_insert().ok_or_else(|| unsupported("insert without locks"))?;
        self.base().check_shared()?;
        Ok(insert)
    }

    /// [`Filter::insert_hash_shared`] where that is possible without more ado: `None`, having done nothing, for an image
    /// in place or where it would refuse.
    fn insert_hash_shared_at_once(&self, hash: u64) -> Option<bool> {
        let insert = self.as_shared_insert()?;
        self.base().is_own().then(|| insert.insert_one_shared(hash))
    }

    /// Inserts a hash while others insert and look up; see [`SharedInsert`] for what holds.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the kind cannot, or the image was not opened to be shared; [`Status::Corrupt`] if the
    /// region of the image that it would change does not match its checksum.
    fn insert_hash_shared(&self, hash: u64) -> Result<bool> {
        let insert = self.shared()?;
        if !self.base().is_own() {
            mark_one(insert, hash)?;
        }
        Ok(insert.insert_one_shared(hash))
    }

    /// Inserts a key while others insert and look up; see [`SharedInsert`] for what holds.
    ///
    /// # Errors
    /// As [`Filter::insert_hash_shared`], and [`Status::ExternalHash`] or [`Status::KeyMissing`] where it cannot be
    /// hashed.
    fn insert_shared(&self, key: &[u8]) -> Result<bool> {
        self.insert_hash_shared(self.base().hasher().hash_bytes(key)?)
    }

    /// Inserts a `u64` key while others insert and look up; see [`SharedInsert`] for what holds.
    ///
    /// # Errors
    /// As [`Filter::insert_shared`].
    fn insert_u64_shared(&self, key: u64) -> Result<bool> {
        self.insert_hash_shared(self.base().hasher().hash_u64(key)?)
    }

    /// Inserts many keys in order while others insert and look up; `answers`, if wanted, say of each whether it
    /// certainly was not there. See [`SharedInsert`] for what holds. The outcome is that of [`Filter::insert_shared`], or
    /// [`Status::Offsets`]. All keys are taken, or none; only before [`Status::Corrupt`], when a key met a region of the
    /// image that does not match its checksum, those before it were.
    fn insert_batch_shared(&self, keys: &Keys, answers: Option<&mut Answers>) -> Taken {
        let base = self.base();
        let shared = match self.shared() {
            Ok(shared) => shared,
            Err(error) => return Taken::none(error),
        };
        batch::insert(base.hasher(), base.instructions(), keys, answers, |batch| {
            if base.is_own() {
                shared.insert_many_shared(batch);
                return Taken::all(batch.keys());
            }
            Chunk::each(batch, |chunk| {
                let Taken { keys: ready, outcome } = mark(shared, chunk.hashes());
                chunk.keep(ready);
                shared.insert_many_shared(chunk);
                outcome
            })
        })
    }

    /// Looks many keys up and fills `answers` as far as it has room for them.
    ///
    /// # Errors
    /// [`Status::Offsets`], [`Status::ExternalHash`], [`Status::KeyMissing`]. All answers then say true.
    fn contains_batch(&self, keys: &Keys, answers: &mut Answers) -> Result<()> {
        batch::contains(self.base(), keys, answers, |few| self.contains_few(few), |batch| self.contains_many(batch))
    }

    /// Inserts many keys in order; `answers` say of each whether it certainly was not there. Without them nobody finds
    /// out, which is faster. All are taken, unless there is an error: that of [`Filter::insert`], or
    /// [`Status::Offsets`].
    fn insert_batch(&mut self, keys: &Keys, mut answers: Option<&mut Answers>) -> Taken {
        if let Some(few) = keys.few(self.base().hasher()) {
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
        let (hasher, instructions) = (self.base().hasher().clone(), self.base().instructions());
        match self.as_insert() {
            Some(filter) => batch::insert(&hasher, instructions, keys, answers, |batch| filter.insert_many(batch)),
            None => Taken::none(unsupported("insert")),
        }
    }

    /// Adds to the count of keys that were offered, for keys that were inserted in a way that does not count. Threads
    /// may call it while others use the filter. An image in place has the sum when the handle is synced or dropped; of
    /// those who share it each adds its own.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the filter is open for reading only.
    fn add_count(&self, keys: u64) -> Result<()> {
        if self.base().words().in_place() == Some(Access::Read) {
            return Err(self.base().refusal());
        }
        self.base().add_count_shared(keys);
        Ok(())
    }

    /// Forgets all keys.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    fn clear(&mut self) -> Result<()> {
        if !self.capabilities().contains(Capabilities::CLEAR) {
            return Err(self.refusal("clear", Capabilities::CLEAR));
        }
        let base = self.base_mut();
        base.writable()?.fill(0);
        base.set_count(0);
        Ok(())
    }

    /// Becomes the union of both filters: the same bits as a filter into which the keys of both were inserted. If the
    /// other is dirty this one becomes so, until somebody vouches for it.
    ///
    /// # Errors
    /// [`Status::Incompatible`], naming the first difference; [`Status::Unsupported`]; [`Status::Corrupt`] if either
    /// lies in an image that does not match its checksums.
    fn merge(&mut self, other: &dyn Filter) -> Result<()> {
        check_compatible(self.base(), other.base())?;
        let unvouched = other.base().check_vouched()?;
        self.as_merge().ok_or_else(|| unsupported("merge"))?.merge_words(other.base().words())?;
        self.base_mut().add_count(other.base().count_now());
        if unvouched || other.base().is_unvouched() {
            self.base_mut().taint();
        }
        Ok(())
    }

    /// Becomes a filter that holds every key which both hold, and others at a rate no higher than either's now. The
    /// count becomes the smaller of both, which bounds the number of keys offered to both. If the other is dirty this
    /// one becomes so, until somebody vouches for it.
    ///
    /// # Errors
    /// As [`Filter::merge`].
    fn intersect(&mut self, other: &dyn Filter) -> Result<()> {
        check_compatible(self.base(), other.base())?;
        let unvouched = other.base().check_vouched()?;
        self.as_intersect().ok_or_else(|| unsupported("intersect"))?.intersect_words(other.base().words())?;
        let count = self.base().count().min(other.base().count_now());
        self.base_mut().set_count(count);
        if unvouched || other.base().is_unvouched() {
            self.base_mut().taint();
        }
        Ok(())
    }

    /// Makes the filter smaller by `factor`: the same bits as a filter that was made so small at once.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if `factor` does not divide the number of units; [`Status::Unsupported`].
    fn fold(&mut self, factor: u64) -> Result<()> {
        if !self.capabilities().contains(Capabilities::FOLD) {
            return Err(self.refusal("fold", Capabilities::FOLD));
        }
        self.as_fold().ok_or_else(|| unsupported("fold"))?.fold_units(factor)?;
        let Header { capacity, false_positive_rate, .. } = *self.base().header();
        if false_positive_rate != 0.0 {
            // What was promised is now what the smaller geometry gives.
            let expected = self.expected_false_positive_rate(capacity);
            self.base_mut().promise(expected);
        }
        Ok(())
    }

    /// Whether both filters are alike in all that [`Filter::merge`] asks and in every bit.
    fn equals(&self, other: &dyn Filter) -> bool {
        let (a, b) = (self.base(), other.base());
        let words = || a.words().shared().iter().zip(b.words().shared());
        a.header().compatibility_id() == b.header().compatibility_id()
            && words().all(|(a, b)| a.load(Ordering::Relaxed) == b.load(Ordering::Relaxed))
    }

    /// The spec that makes an empty filter compatible with this one; without the secret key, which is not kept.
    fn spec(&self) -> Spec {
        let header = self.base().header();
        let mut parameters = [Setting::default(); MAX_PARAMETERS];
        let rows = registry::find(header.kind).map_or(&[][..], |row| row.parameters);
        let stored = rows.iter().filter_map(|parameter| Some((parameter, header.geometry.parameter(parameter)?)));
        for (setting, (parameter, value)) in parameters.iter_mut().zip(stored) {
            *setting = Setting { id: parameter.id(), value: value as f64 };
        }
        Spec {
            kind: Some(header.kind),
            capacity: header.capacity,
            false_positive_rate: 0.0,
            bits: header.geometry.bits,
            hashes: header.geometry.hashes,
            hash: header.hash,
            seed: if header.hash == crate::HashFunction::SipHash13 { 0 } else { header.identifier },
            key: None,
            kernel: self.base().instructions().kernel(),
            parameters,
        }
    }

    /// Checks the bytes that are there now, by reading them: what the kind promises of its payload, and for an image in
    /// place every region that has a checksum, whatever this handle or another one has done since it was opened.
    ///
    /// # Errors
    /// [`Status::Corrupt`], naming the bytes that differ; [`Status::Dirty`] if nothing does, but nobody vouches for the
    /// payload, or not yet: it is being changed, or was when its process ended.
    fn verify(&self) -> Result<()> {
        self.verify_with(&mut |_| {})
    }

    /// [`Filter::verify`], which says to `progress` after every region how many bytes it read. They come to the
    /// payload's, or to more where a writer made it look again.
    ///
    /// # Errors
    /// As [`Filter::verify`].
    fn verify_with(&self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        self.check_payload()?;
        self.base().verify(progress)
    }

    /// Declares the payload as it is now to be right, and makes the filter clean: an image in place gets new checksums,
    /// on its disk too. For whoever knows that all keys are there, say because they were inserted again, or accepts
    /// that some are not. Reads the whole payload.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if an image is open for reading or to be shared; [`Status::Corrupt`] if the kind cannot
    /// have such a payload; what the system reports.
    fn vouch(&mut self) -> Result<()> {
        self.check_payload()?;
        self.base_mut().vouch()
    }

    /// The length of the image in bytes.
    fn serialized_size(&self) -> u64 {
        self.base().header().image_bytes()
    }

    /// Gives the image to `sink`, piece by piece and in order; see [`format::write`] for what holds while others
    /// insert.
    ///
    /// # Errors
    /// As [`format::write`].
    fn serialize(&self, sink: &mut Sink) -> Result<()> {
        format::write(self.base(), sink)
    }

    /// Gives the image to `put`, piece by piece with the offset of each, the header last; see [`format::write_at`].
    ///
    /// # Errors
    /// As [`format::write_at`].
    fn serialize_at(&self, put: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        format::write_at(self.base(), put)
    }

    /// Writes the image to a file, atomically.
    ///
    /// # Errors
    /// [`Status::MappedPath`] if the filter lies in that very file, and what the system reports.
    fn save(&self, path: &Path) -> Result<()> {
        format::save(self.base(), path)
    }

    /// Brings an image in place up to date; see [`Base::sync`].
    ///
    /// # Errors
    /// What the system reports.
    fn sync(&mut self) -> Result<()> {
        self.base_mut().sync()
    }
}

/// What a kind cannot do.
fn unsupported(operation: &str) -> Error {
    error!(Unsupported, "filters of this kind cannot {operation}")
}

/// Marks the regions of an image in place in which hashes set bits, in order: how many of them may be inserted now, and
/// what keeps the next one from it. See `Base::mark` for the order in which others see it.
pub(crate) fn mark<Kind: SharedInsert + ?Sized>(filter: &Kind, hashes: &[u64]) -> Taken {
    for (i, hash) in hashes.iter().enumerate() {
        while let Some(word) = filter.unmarked(*hash) {
            if let Err(error) = filter.base().mark(word) {
                return Taken { keys: i, outcome: Err(error) };
            }
        }
    }
    // Another thread of this handle may have marked the region that this one now changes.
    fence(Ordering::Release);
    Taken::all(hashes.len())
}

/// [`mark`] for one hash, which costs a test where its regions are marked already.
#[inline]
pub(crate) fn mark_one<Kind: SharedInsert + ?Sized>(filter: &Kind, hash: u64) -> Result<()> {
    if filter.unmarked(hash).is_some() {
        return mark(filter, &[hash]).outcome;
    }
    fence(Ordering::Release);
    Ok(())
}
