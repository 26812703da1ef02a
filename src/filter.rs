//! What every filter is: the [`Base`] that all kinds share and the [`Filter`] trait through which the registry, the C
//! API, the format and the command see them.

use crate::error::{Error, Result, Status, error};
use crate::format::{self, Geometry, Header, Sink};
use crate::hash::Hasher;
use crate::spec::{MAX_PARAMETERS, Setting, Spec};
use crate::storage::{Access, Words};
use crate::{batch, registry};
use core::ops::BitOr;
use core::sync::atomic::Ordering;
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

    /// Every capability with its name.
    pub const ALL: [(&'static str, Capabilities); 9] = [
        ("insert", Capabilities::INSERT),
        ("clear", Capabilities::CLEAR),
        ("merge", Capabilities::MERGE),
        ("intersect", Capabilities::INTERSECT),
        ("fold", Capabilities::FOLD),
        ("estimate", Capabilities::ESTIMATE),
        ("remove", Capabilities::REMOVE),
        ("count", Capabilities::COUNT),
        ("grow", Capabilities::GROW),
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

/// What all filters have beneath their kind: a header, a hasher, and the words of the payload.
pub struct Base {
    header: Header,
    hasher: Hasher,
    words: Words,
    /// Whether the words may be written without asking further: true at once for memory of the filter's own, and for
    /// a writable image once it is marked dirty.
    open_for_writing: bool,
}

impl Base {
    /// Puts the parts together. The header's `dirty` says what the image said when it was opened.
    pub(crate) fn new(header: Header, hasher: Hasher, words: Words) -> Base {
        let open_for_writing = words.image().is_none();
        Base { header, hasher, words, open_for_writing }
    }

    /// What the image says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The shape of the payload.
    pub fn geometry(&self) -> &Geometry {
        &self.header.geometry
    }

    /// The hash function with its seed or key.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// The payload.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The payload, to be changed. An image in place is marked dirty first, on its disk too.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if it is open for reading only, and what the system reports.
    #[inline]
    pub fn writable(&mut self) -> Result<&mut [u64]> {
        if !self.open_for_writing {
            self.begin_writing()?;
        }
        self.words.exclusive().ok_or_else(read_only)
    }

    #[cold]
    fn begin_writing(&mut self) -> Result<()> {
        let dirty = Header { dirty: true, ..self.header.clone() }.encode();
        let before = self.header.encode();
        let image = self.words.image_mut().filter(|image| image.access() == Access::Write).ok_or_else(read_only)?;
        let state = format::STATE_OFFSET..format::STATE_OFFSET + 8;
        if let Err(error) = image.write(state.start, &dirty[state.clone()]) {
            // Nothing was written, so nothing is dirty.
            image.store(state.start, &before[state]);
            return Err(error);
        }
        self.open_for_writing = true;
        Ok(())
    }

    /// Makes the bytes of a writable image in place the image of the empty filter that the header describes.
    pub(crate) fn initialise(&mut self) -> Result<()> {
        let header = self.header.encode();
        let image = self.words.image_mut().ok_or(Status::Internal)?;
        image.fill_zero();
        image.store(0, &header);
        // Gives the empty payload its checksum.
        self.writable()?;
        self.sync()
    }

    /// Counts keys that were offered.
    #[inline]
    pub fn add_count(&mut self, keys: u64) {
        self.header.count = self.header.count.saturating_add(keys);
    }

    /// Brings the image in place up to date and marks it clean: payload first, then count and checksum, then the state,
    /// each on the disk before the next. Memory of the filter's own needs nothing. An image that was dirty when it was
    /// opened is taken as it is: whoever asks for this vouches for its payload.
    ///
    /// # Errors
    /// What the system reports; the image then stays dirty.
    pub fn sync(&mut self) -> Result<()> {
        let writable = self.words.image().is_some_and(|image| image.access() == Access::Write);
        if !writable || !(self.open_for_writing || self.header.dirty) {
            return Ok(());
        }
        let header = format::sealed(self)?;
        let bytes = header.encode();
        let length = format::HEADER_LENGTH;
        if let Some(image) = self.words.image_mut() {
            image.flush(length, image.length())?;
            image.write(format::MUTABLE_OFFSET, &bytes[format::MUTABLE_OFFSET..])?;
            image.write(format::STATE_OFFSET, &bytes[format::STATE_OFFSET..format::STATE_OFFSET + 8])?;
        }
        self.header = header;
        self.open_for_writing = false;
        Ok(())
    }

    /// Leaves an image in place as it is, dirty if it was written: for a handle whose state is not to be trusted.
    pub fn abandon(&mut self) {
        self.open_for_writing = false;
    }

    /// A copy in memory of its own.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub fn copy(&self) -> Result<Base> {
        let header = Header { dirty: false, ..self.header.clone() };
        Ok(Base::new(header, self.hasher.clone(), self.words.copy()?))
    }

    /// Takes over the payload and the geometry of a smaller filter.
    pub(crate) fn replace(&mut self, geometry: Geometry, words: Words) {
        self.words = words;
        self.header.geometry = geometry;
    }
}

fn read_only() -> Error {
    error!(Unsupported, "the filter is open for reading only")
}

impl Drop for Base {
    fn drop(&mut self) {
        // A failure leaves the image dirty, which its next reader sees; `sync` reports it to whoever asks.
        if self.open_for_writing {
            let _ = self.sync();
        }
    }
}

/// Keys can be inserted one by one.
pub trait Insert {
    /// Inserts a hash. True if it certainly was not there; false if it may have been.
    ///
    /// # Errors
    /// [`Status::Unsupported`] if the filter is open for reading only.
    fn insert_one(&mut self, hash: u64) -> Result<bool>;

    /// Inserts hashes in order and says of each, in `new`, which is as long, whether it certainly was not there.
    /// Returns how many were inserted: all of them unless there is an error, and then the first so many.
    fn insert_many(&mut self, hashes: &[u64], new: &mut [bool]) -> (usize, Result<()>);
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

    /// The same for the union with another filter of the same compatibility id.
    fn of_union(&self, other: &Words) -> Option<f64>;

    /// The standard error of an estimate of so many keys.
    fn standard_error(&self, keys: f64) -> f64;
}

/// An approximate-membership filter. `contains` never says false of a key that was inserted; of other keys it says true
/// at the false-positive rate.
///
/// Shared references may be used from many threads at once.
pub trait Filter: Send + Sync {
    /// What lies beneath the kind.
    fn base(&self) -> &Base;

    /// The same, to be changed.
    fn base_mut(&mut self) -> &mut Base;

    /// Whether a hash may have been inserted. Constant time.
    fn contains_hash(&self, hash: u64) -> bool;

    /// The same of many hashes; `found` is as long as `hashes`.
    fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        for (hash, found) in hashes.iter().zip(found) {
            *found = self.contains_hash(*hash);
        }
    }

    /// Bits set in the payload. Reads all of it.
    fn ones(&self) -> u64;

    /// The false-positive rate now: the probability, over uniform hashes, of a lookup that says true, given exactly
    /// these bits. Reads the whole payload.
    fn false_positive_rate(&self) -> f64;

    /// The false-positive rate to expect with `keys` distinct keys in a filter of this geometry.
    fn expected_false_positive_rate(&self, keys: u64) -> f64;

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

    // ---- What follows is the same for every kind. ----

    /// How many distinct keys were inserted, judging by the fill; `None` when it is too full to tell, or the kind
    /// cannot. [`crate::estimate`] also gives the error.
    fn cardinality(&self) -> Option<f64> {
        self.as_cardinality()?.of_payload()
    }

    /// What this filter can do: what its kind can, less what its memory does not allow.
    fn capabilities(&self) -> Capabilities {
        let all = registry::find(self.base().header().kind).map_or(Capabilities::NONE, |row| row.capabilities);
        let writing = Capabilities::INSERT | Capabilities::CLEAR | Capabilities::MERGE | Capabilities::INTERSECT;
        match self.base().words().in_place() {
            None => all,
            Some(Access::Write) => all.without(Capabilities::FOLD),
            Some(Access::Read) => all.without(writing | Capabilities::FOLD),
        }
    }

    /// Whether a key may have been inserted; true also where the key cannot be hashed.
    fn contains(&self, key: &[u8]) -> bool {
        self.base().hasher.hash_bytes(key).map_or(true, |hash| self.contains_hash(hash))
    }

    /// Whether a `u64` key may have been inserted; true also where it cannot be hashed.
    fn contains_u64(&self, key: u64) -> bool {
        self.base().hasher.hash_u64(key).map_or(true, |hash| self.contains_hash(hash))
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
        let hash = self.base().hasher.hash_bytes(key)?;
        self.insert_hash(hash)
    }

    /// Inserts a `u64` key; true if it certainly was not there before.
    ///
    /// # Errors
    /// As [`Filter::insert`].
    fn insert_u64(&mut self, key: u64) -> Result<bool> {
        let hash = self.base().hasher.hash_u64(key)?;
        self.insert_hash(hash)
    }

    /// Looks many keys up and fills `answers` as far as it has room for them.
    ///
    /// # Errors
    /// [`Status::Offsets`], [`Status::ExternalHash`], [`Status::KeyMissing`]. All answers then say true.
    fn contains_batch(&self, keys: &batch::Keys, answers: &mut batch::Answers) -> Result<()> {
        batch::contains(self.base().hasher(), keys, answers, &mut |hashes, found| self.contains_hashes(hashes, found))
    }

    /// Inserts many keys in order; `answers` say of each whether it certainly was not there. Returns how many were
    /// inserted: all, unless there is an error.
    fn insert_batch(&mut self, keys: &batch::Keys, answers: &mut batch::Answers) -> (usize, Result<()>) {
        let hasher = self.base().hasher.clone();
        match self.as_insert() {
            Some(filter) => batch::insert(&hasher, keys, answers, filter),
            None => (0, Err(unsupported("insert"))),
        }
    }

    /// Forgets all keys.
    ///
    /// # Errors
    /// [`Status::Unsupported`].
    fn clear(&mut self) -> Result<()> {
        if !self.capabilities().contains(Capabilities::CLEAR) {
            return Err(unsupported("clear"));
        }
        let base = self.base_mut();
        base.writable()?.fill(0);
        base.header.count = 0;
        Ok(())
    }

    /// Becomes the union of both filters: the same bits as a filter into which the keys of both were inserted.
    ///
    /// # Errors
    /// [`Status::Incompatible`], naming the first difference; [`Status::Unsupported`].
    fn merge(&mut self, other: &dyn Filter) -> Result<()> {
        check_compatible(self.base(), other.base())?;
        self.as_merge().ok_or_else(|| unsupported("merge"))?.merge_words(&other.base().words)?;
        self.base_mut().add_count(other.base().header.count);
        Ok(())
    }

    /// Becomes a filter that holds every key which both hold, and others at a rate no higher than either's now. The
    /// count becomes the smaller of both, which bounds the number of keys offered to both.
    ///
    /// # Errors
    /// [`Status::Incompatible`], naming the first difference; [`Status::Unsupported`].
    fn intersect(&mut self, other: &dyn Filter) -> Result<()> {
        check_compatible(self.base(), other.base())?;
        self.as_intersect().ok_or_else(|| unsupported("intersect"))?.intersect_words(&other.base().words)?;
        let header = &mut self.base_mut().header;
        header.count = header.count.min(other.base().header.count);
        Ok(())
    }

    /// Makes the filter smaller by `factor`: the same bits as a filter that was made so small at once.
    ///
    /// # Errors
    /// [`Status::OutOfRange`] if `factor` does not divide the number of units; [`Status::Unsupported`].
    fn fold(&mut self, factor: u64) -> Result<()> {
        if !self.capabilities().contains(Capabilities::FOLD) {
            return Err(unsupported("fold"));
        }
        self.as_fold().ok_or_else(|| unsupported("fold"))?.fold_units(factor)?;
        let Header { capacity, false_positive_rate, .. } = *self.base().header();
        if false_positive_rate != 0.0 {
            // What was promised is now what the smaller geometry gives.
            self.base_mut().header.false_positive_rate = self.expected_false_positive_rate(capacity);
        }
        Ok(())
    }

    /// Whether both filters are alike in all that [`Filter::merge`] asks and in every bit.
    fn equals(&self, other: &dyn Filter) -> bool {
        let (a, b) = (self.base(), other.base());
        let words = || a.words.shared().iter().zip(b.words.shared());
        a.header.compatibility_id() == b.header.compatibility_id()
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
            parameters,
        }
    }

    /// Reads the whole image and checks it: the payload's checksum, and what the kind promises of its payload.
    ///
    /// # Errors
    /// [`Status::Corrupt`]; [`Status::Dirty`] if the image was not closed after writing and has no checksum.
    fn verify(&self) -> Result<()> {
        self.check_payload()?;
        let base = self.base();
        // Loading checked the checksum, and what was written since an image was opened has none yet.
        if base.words.image().is_none() || base.open_for_writing {
            return Ok(());
        }
        if base.header.dirty {
            return Err(Status::Dirty.into());
        }
        if format::sealed(base)?.payload_checksum == base.header.payload_checksum {
            return Ok(());
        }
        Err(error!(Corrupt, "the payload does not match its checksum"))
    }

    /// The length of the image in bytes.
    fn serialized_size(&self) -> u64 {
        self.base().header.image_bytes()
    }

    /// Gives the image to `sink`, piece by piece.
    ///
    /// # Errors
    /// Those of the sink.
    fn serialize(&self, sink: &mut Sink) -> Result<()> {
        format::write(self.base(), sink)
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

fn unsupported(operation: &str) -> Error {
    error!(Unsupported, "this filter cannot {operation}: its kind does not, or its memory does not allow it")
}

/// Names the first thing in which two filters differ, if they do.
pub(crate) fn check_compatible(a: &Base, b: &Base) -> Result<()> {
    let (a, b) = (&a.header, &b.header);
    if a.compatibility_id() == b.compatibility_id() {
        return Ok(());
    }
    let (ga, gb) = (&a.geometry, &b.geometry);
    let differ = |what: &str, a: u64, b: u64| error!(Incompatible, "the filters differ in {what}: {a} and {b}");
    Err(if a.kind != b.kind {
        differ("kind", a.kind.0.into(), b.kind.0.into())
    } else if a.layout_version != b.layout_version {
        differ("layout version", a.layout_version.into(), b.layout_version.into())
    } else if ga.bits != gb.bits {
        differ("bits", ga.bits, gb.bits)
    } else if ga.hashes != gb.hashes {
        differ("hashes", ga.hashes.into(), gb.hashes.into())
    } else if a.hash != b.hash {
        error!(Incompatible, "the filters differ in hash: {} and {}", a.hash, b.hash)
    } else if a.identifier != b.identifier {
        error!(Incompatible, "the filters differ in seed or key: {:#x} and {:#x}", a.identifier, b.identifier)
    } else {
        error!(Incompatible, "the filters differ in their kind's parameters: {:x?} and {:x?}", ga.words, gb.words)
    })
}
