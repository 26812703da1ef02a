//! The value behind a key of `BF.*` that is valkey-bloom's: its bytes, what it counts, and how it grows.

use crate::links::{Hashing, Links};
use crate::server::defaults;
use petal::Result;
use petal::blocks::placed::{Array, PlacedArray, Placement, Shape};
use petal::interop::valkey_chain::{self, Header, PLACEMENT, write_after, write_before, write_header};
use petal::kinds::foreign_bloom::placements::valkey::Places;
use petal::kinds::foreign_scalable::links::Link;
use std::sync::atomic::{AtomicU64, Ordering};

/// The sizes that valkey-bloom reports for its structures: the object, a place in its list, and each filter without its
/// array.
const OBJECT_BYTES: u64 = 48;
const PLACE_BYTES: u64 = 8;
const FILTER_BYTES: u64 = 208;

/// The most filters of an object. With valkey-bloom's own bound, 2^31, a lookup would take seconds.
pub const MOST_FILTERS: usize = 1 << 20;

/// The seed of objects whose seed is not random.
pub const FIXED_SEED: [u8; 32] = [
    0x59, 0x0f, 0xf5, 0x22, 0xea, 0x78, 0x11, 0xda, 0xa7, 0x14, 0xd8, 0x09, 0x3b, 0x3e, 0x7b, 0xd9, 0x1d, 0x89, 0x8a,
    0x73, 0x3e, 0x98, 0x88, 0x87, 0x30, 0x7f, 0x97, 0xcd, 0x28, 0x07, 0x33, 0x83,
];

/// What is the same for all filters of an object.
pub struct Head {
    pub header: Header,
    /// The seed, which is the secrets of the hash functions.
    pub seed: [u8; 32],
    places: Places,
    counted: Counted,
}

/// An object of at least one Bloom filter.
pub type Object = Links<Head>;

/// Why an item was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The object does not grow.
    NonScaling,
    /// The object has as many filters as it can have.
    Last,
    /// The next filter's rate would be 0.
    Rate,
    /// No filter has the next one's capacity.
    Capacity,
    /// The object would be larger than the setting allows.
    Limit,
    /// There is no memory.
    Memory,
}

/// The words of a seed.
fn words(seed: &[u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    let bytes = seed.as_chunks().0.iter();
    words.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    words
}

/// The seed with these words.
pub fn seed_of(words: &[u64; 4]) -> [u8; 32] {
    let mut seed = [0; 32];
    seed.as_chunks_mut().0.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    seed
}

impl Head {
    /// What an object says with no filters.
    pub fn new(header: Header, seed: [u8; 32]) -> Head {
        Head { header, seed, places: Places::under(&words(&seed)), counted: Counted::default() }
    }
}

impl Clone for Head {
    fn clone(&self) -> Head {
        Head::new(self.header, self.seed)
    }
}

impl Hashing for Head {
    type Digest = [u64; 2];

    fn placement(&self) -> &'static str {
        PLACEMENT
    }

    #[inline]
    fn digest(&self, key: &[u8]) -> [u64; 2] {
        self.places.digest(key)
    }

    #[inline]
    fn is_in(&self, digest: &[u64; 2], words: &[AtomicU64], shape: Shape) -> bool {
        Array::of(shape, self.places).has(words, digest, &[])
    }

    #[inline]
    fn set_in(&self, digest: &[u64; 2], words: &mut [u64], shape: Shape) {
        Array::of(shape, self.places).set(words, digest, &[]);
    }

    fn with_array<R>(&self, shape: Shape, ask: impl FnOnce(&dyn PlacedArray) -> R) -> R {
        ask(&Array::of(shape, self.places))
    }
}

/// The size that valkey-bloom would report of an object whose list has room for this many filters, without the filters.
fn list_bytes(filters: usize) -> u64 {
    let room = if filters <= 1 { 1 } else { filters.max(4).next_power_of_two() };
    OBJECT_BYTES + PLACE_BYTES * room as u64
}

/// The size that valkey-bloom would report of a filter.
fn filter_bytes(link: &Link) -> u64 {
    FILTER_BYTES.saturating_add(link.bits / 8)
}

/// Whether an object may be this large.
pub fn is_allowed(bytes: u64) -> bool {
    bytes <= defaults::most_object_bytes()
}

/// The next filter after `newest`, which is the object's filter `i`.
fn sized_after(header: &Header, i: usize, newest: u64) -> core::result::Result<Link, Full> {
    if i >= MOST_FILTERS {
        return Err(Full::Last);
    }
    let entries = newest.checked_mul(header.expansion.into()).filter(|entries| i64::try_from(*entries).is_ok());
    header.sized(i, entries.ok_or(Full::Capacity)?).ok_or(match header.makes(i) {
        true => Full::Limit,
        false => Full::Rate,
    })
}

impl Object {
    /// An empty object whose first filter is for `capacity` items.
    ///
    /// # Errors
    /// [`Full::Limit`] if no filter has that size, or if `is_bound` and the setting allows no object of that size;
    /// [`Full::Memory`].
    pub fn sized(
        head: Head,
        capacity: u64,
        is_bound: bool,
        has_room: &dyn Fn(u64) -> bool,
    ) -> core::result::Result<Object, Full> {
        let link = head.header.sized(0, capacity).ok_or(Full::Limit)?;
        if is_bound && !is_allowed(list_bytes(1).saturating_add(filter_bytes(&link))) {
            return Err(Full::Limit);
        }
        if !has_room(link.bits / 8) {
            return Err(Full::Memory);
        }
        let mut object = Links::new(head);
        object.push(link).map_err(|_| Full::Memory)?;
        object.count();
        Ok(object)
    }

    /// The object that the bytes of `BF.LOAD` describe.
    ///
    /// # Errors
    /// [`petal::Status::Foreign`] for another version, [`petal::Status::Corrupt`], [`petal::Status::Truncated`],
    /// [`petal::Status::OutOfMemory`].
    pub fn of_bytes(bytes: &[u8]) -> Result<Object> {
        let (header, key, parts) = valkey_chain::object(bytes)?;
        let mut object = Links::new(Head::new(header, seed_of(&key)));
        for part in parts {
            object.push_with(part.link, part.array)?;
            object.set_newest_taken(part.taken);
        }
        object.count();
        Ok(object)
    }

    /// The bytes that `BF.LOAD` takes.
    ///
    /// # Errors
    /// [`petal::Status::OutOfMemory`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.some_bytes(0, usize::MAX)
    }

    /// The bytes that `BF.LOAD` takes, from byte `at` on, and at most this many.
    ///
    /// # Errors
    /// [`petal::Status::OutOfMemory`].
    pub fn some_bytes(&self, mut at: usize, most: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut sink = |more: &[u8]| {
            let skipped = at.min(more.len());
            at -= skipped;
            let more = &more[skipped..];
            let more = &more[..more.len().min(most - bytes.len())];
            bytes.try_reserve(more.len()).map_err(|_| petal::Status::OutOfMemory)?;
            bytes.extend_from_slice(more);
            Ok(())
        };
        self.head.header.write(self.all().len(), &mut sink)?;
        for placed in self.all() {
            write_before(&placed.link, &words(&self.head.seed), &mut sink)?;
            sink(placed.bytes())?;
            write_after(&placed.link, placed.taken, &mut sink)?;
        }
        Ok(bytes)
    }

    /// The bytes of each filter, as the crate `bloomfilter` writes them.
    pub fn blobs(&self) -> impl Iterator<Item = Vec<u8>> {
        self.all().iter().map(|placed| {
            let mut blob = Vec::with_capacity(placed.bytes().len() + valkey_chain::BLOB_HEADER as usize);
            let written =
                write_header(placed.array_bytes(), placed.link.hashes, &words(&self.head.seed), &mut |more| {
                    blob.extend_from_slice(more);
                    Ok(())
                });
            debug_assert!(written.is_ok());
            blob.extend_from_slice(placed.bytes());
            blob
        })
    }

    /// Adds the filter that follows the newest.
    ///
    /// # Errors
    /// [`Full`]; then nothing has changed.
    #[cold]
    pub fn grow(&mut self, is_bound: bool, has_room: &dyn Fn(u64) -> bool) -> core::result::Result<(), Full> {
        let (header, count) = (&self.head.header, self.all().len());
        if header.expansion == 0 {
            return Err(Full::NonScaling);
        }
        let newest = self.all().last().map_or(0, |placed| placed.link.entries);
        let link = sized_after(header, count, newest)?;
        // valkey-bloom leaves out that its list of filters may grow as well.
        if is_bound && !is_allowed(self.stated_bytes().saturating_add(filter_bytes(&link))) {
            return Err(Full::Limit);
        }
        if !has_room(link.bits / 8) {
            return Err(Full::Memory);
        }
        self.push(link).map_err(|_| Full::Memory)
    }

    /// The size in bytes that valkey-bloom would report.
    pub fn stated_bytes(&self) -> u64 {
        let filters = self.all().iter().map(|placed| filter_bytes(&placed.link));
        list_bytes(self.all().len()) + filters.sum::<u64>()
    }

    /// How many items the object will hold when it can grow no more.
    pub fn most_items(&self) -> u64 {
        let first = self.all().first().map_or(0, |placed| placed.link.entries);
        scaled(&self.head.header, first, u64::MAX).unwrap_or_else(|(most, _)| most)
    }

    /// Brings what the module counts of all objects up to date.
    pub fn count(&mut self) {
        let now = [1, self.stated_bytes(), self.all().len() as u64, self.keys(), self.capacity()];
        self.head.counted.set(now);
    }
}

/// The capacity from which on an object of this header, whose first filter is for `first` items, is enough for `wanted`
/// items.
///
/// # Errors
/// The capacity beyond which it does not grow, and why.
pub fn scaled(header: &Header, first: u64, wanted: u64) -> core::result::Result<u64, (u64, Full)> {
    let (mut entries, mut capacity, mut bytes) = (first, 0_u64, 0_u64);
    let mut filters = 0;
    while capacity < wanted {
        let link = match filters {
            0 => header.sized(0, first).ok_or(Full::Limit),
            _ => sized_after(header, filters, entries),
        };
        let link = link.map_err(|full| (capacity, full))?;
        bytes = bytes.saturating_add(filter_bytes(&link));
        filters += 1;
        if !is_allowed(bytes.saturating_add(list_bytes(filters))) {
            return Err((capacity, Full::Limit));
        }
        entries = link.entries;
        capacity = capacity.saturating_add(entries);
    }
    Ok(capacity)
}

/// What the module counts of all objects: objects, bytes, filters, items and capacity.
static COUNTS: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];

/// The counts of all objects.
pub fn counts() -> [u64; 5] {
    [0, 1, 2, 3, 4].map(|i: usize| COUNTS[i].load(Ordering::Relaxed))
}

/// What [`COUNTS`] has of one object.
#[derive(Default)]
struct Counted([u64; 5]);

impl Counted {
    fn set(&mut self, now: [u64; 5]) {
        for ((all, before), now) in COUNTS.iter().zip(&mut self.0).zip(now) {
            all.fetch_add(now.wrapping_sub(*before), Ordering::Relaxed);
            *before = now;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.set([0; 5]);
    }
}
