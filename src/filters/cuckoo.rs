//! The kind `cuckoo`, a cuckoo filter: keys can be removed and counted in a fraction of the bits of counters.
//! [`crate::layouts::cuckoo`] has the structure, [`crate::sizing::cuckoo`] rates and sizes.
//!
//! It holds a multiset. Each insertion takes a slot, those of a key that is there too, and a removal gives one back. Its
//! two buckets hold at most 2b copies of a key together, b being the slots of a bucket: one more is refused, as is every
//! insertion for which there is no place. A refused insertion changes nothing.
//!
//! A key whose lookup says no is not removed, and the caller is told. One that was never inserted but whose lookup says
//! yes, at the false-positive rate, has the fingerprint and the buckets of another key, and its removal takes that
//! key's away: at most one key is lost by each such removal. Counts are those of all keys with the same fingerprint and
//! buckets: never too small, as long as no key was removed more often than it was inserted.
//!
//! Bucket and fingerprint are all that is known of a key, and both come from its hash. Under a secret key nobody can
//! choose keys whose fingerprints and buckets are the same; other keys are spread by a hash function that anybody can
//! compute, and 2b + 1 chosen ones fill a pair of buckets.
//!
//! Insertions move entries, so that a reader of an image in place would miss them meanwhile: images are read in place,
//! and changed in memory.
//!
//! Header: word 0 is the number of bits of a fingerprint, word 1 that of slots of a bucket, word 2 is 1 if buckets are
//! semi-sorted.

use crate::bits;
use crate::bits::ring::{self, Batch, Few, Taken};
use crate::error::{Error, Result, Status, error};
use crate::format::Geometry;
use crate::kind::{
    Base, Capabilities, Cardinality, Count, InBytes, Insert, Kind, Merge, Overfill, Overlap, Payload, Remove, Row,
    Sizes, Structure,
};
use crate::layouts::Measure;
use crate::layouts::cuckoo::{self as layout, Buckets, Held, Search};
use crate::sizing::{bloom, cuckoo as sizing, hash_floor};
use crate::spec::{Domain, KindId, Number, Parameter, Size, Spec};
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;

/// How long fingerprints are.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits of a fingerprint, from 4 on; 0 is the best for the rate, or for exact bits and a capacity",
    default: 0.0,
    domain: Domain::Integer(0, sizing::FINGERPRINT_BITS.1 as u64),
    word: Some(0),
};

/// How many slots a bucket has.
pub const BUCKET_SLOTS: Parameter = Parameter {
    name: "bucket_slots",
    summary: "slots of a bucket: more fill a larger share of the table, and cost a higher rate or longer fingerprints",
    default: 4.0,
    domain: Domain::OneOf(&[2, 4, 8]),
    word: Some(1),
};

/// Whether buckets are semi-sorted.
pub const SEMI_SORT: Parameter = Parameter {
    name: "semi_sort",
    summary: "1 keeps buckets of four slots sorted, which saves a bit for each slot and costs time",
    default: 0.0,
    domain: Domain::Integer(0, 1),
    word: Some(2),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(22),
    name: "cuckoo",
    summary: "a cuckoo filter: removes keys, and counts a few copies of each; refuses keys when it is full",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT),
    parameters: &[&FINGERPRINT_BITS, &BUCKET_SLOTS, &SEMI_SORT],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(1),
    geometry,
    // A bucket begins where the one before it ends, in a line or across two.
    lines_per_lookup: |geometry| {
        let [width, slots, semi_sort, ..] = geometry.words;
        let bits = (slots * (width - semi_sort)) as f64;
        (2.0 + 2.0 * (bits - 1.0) / 512.0).min(geometry.payload_bytes as f64 / 64.0)
    },
    false_positive_rate: |geometry, keys| {
        let rate = |buckets: Buckets| {
            sizing::false_positive_rate(buckets.count(), buckets.slots(), geometry.words[0] as u32, keys)
        };
        buckets_of(geometry).map_or(1.0, rate)
    },
    is_canonical: false,
    overfill: Overfill::Refuses,
    copies: Some(|geometry| 2 * geometry.words[1]),
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], 4);
        packing.field(&mut geometry.words[2], 1);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let buckets = buckets_of(&trailer.geometry(ROW.compact)?)?;
            Some(buckets.contains(&bytes, hash))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(buckets) = trailer.geometry(ROW.compact).as_ref().and_then(buckets_of) {
                let place = buckets.place(hash);
                [place.bucket, place.other].into_iter().for_each(|bucket| bytes.fetch(buckets.first_word(bucket)));
            }
        },
    }),
    moves_entries: true,
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (least, most) = sizing::FINGERPRINT_BITS;
    let asked = spec.parameter(&FINGERPRINT_BITS)? as u32;
    let slots = spec.parameter(&BUCKET_SLOTS)? as u32;
    let is_sorted = spec.parameter(&SEMI_SORT)? == 1;
    if asked != 0 && asked < least {
        return Err(error!(OutOfRange, "fingerprint_bits = {asked} is not from {least} to {most}"));
    }
    if is_sorted && slots != 4 {
        return Err(error!(Contradiction, "semi_sort = 1 is for bucket_slots = 4, not {slots}"));
    }
    let (bits, width) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let size = sizing::size_for(capacity, rate, slots, asked, is_sorted).ok_or_else(|| {
                let rate = Number(rate);
                if asked != 0 {
                    return error!(
                        Contradiction,
                        "fingerprint_bits = {asked} are too few for false_positive_rate = {rate} of {capacity} keys"
                    );
                }
                error!(
                    TooLarge,
                    "false_positive_rate = {rate} for capacity = {capacity} needs fingerprints of more than {most} \
                     bits, or more bits than can be"
                )
            })?;
            (size.buckets * sizing::bucket_bits(slots, size.fingerprint_bits, is_sorted), size.fingerprint_bits)
        }
        Size::Exact { capacity, bits, .. } => {
            let width = match (asked, capacity) {
                (0, 0) => return Err(error!(Contradiction, "bits = {bits} need fingerprint_bits, or a capacity")),
                (0, _) => sizing::best_fingerprint_bits(bits, capacity, slots, is_sorted),
                (asked, _) => asked,
            };
            let pair = 2 * sizing::bucket_bits(slots, width, is_sorted);
            if bits < pair {
                return Err(error!(
                    Contradiction,
                    "bits = {bits} do not hold two buckets of {slots} fingerprints of {width} bits, which take {pair}"
                ));
            }
            (bits, width)
        }
    };
    Geometry::of_bits(bits, 0, [width.into(), slots.into(), is_sorted.into(), 0, 0, 0, 0, 0])
}

/// The buckets that a geometry describes, if it is one of this kind.
fn buckets_of(geometry: &Geometry) -> Option<Buckets> {
    let [width, slots, is_sorted @ (0 | 1), 0, 0, 0, 0, 0] = geometry.words else { return None };
    let [width, slots] = [width, slots].map(|word| u32::try_from(word).unwrap_or(0));
    let pair = Buckets::new(2, slots, width, is_sorted == 1)?;
    let buckets = Buckets::new(2 * (geometry.bits / pair.bits()), slots, width, is_sorted == 1)?;
    (geometry.hashes == 0 && geometry.is_of_bits()).then_some(buckets)
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    match buckets_of(base.geometry()) {
        Some(buckets) => Ok(try_box(Cuckoo { base, buckets, search: Search::new()? })?),
        None => Err(base.foreign_geometry()),
    }
}

/// A cuckoo filter over a payload.
struct Cuckoo {
    base: Base,
    buckets: Buckets,
    search: Search,
}

impl Cuckoo {
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        self.base.words().shared()
    }

    /// How far ahead of a key its two lines are fetched.
    fn ahead(&self) -> usize {
        ring::ahead(self.words().len(), 2)
    }

    /// Inserts a hash where [`Base::writable_at_once`] allows it; `Some(None)` if it is refused.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<Option<bool>> {
        let new = self.buckets.insert(self.base.writable_at_once()?, hash, &mut self.search);
        self.base.add_count(new.is_some().into());
        Some(new)
    }

    /// Why a hash is refused.
    #[cold]
    fn refuse(&self, hash: u64) -> Error {
        let most = self.buckets.most_copies();
        if self.buckets.copies(self.words(), hash) < most {
            return self.base.full();
        }
        error!(
            Full,
            "the key, or others with its fingerprint, is there {most} times, the most that a cuckoo filter \
            with buckets of {} slots holds",
            self.buckets.slots()
        )
    }

    /// How many distinct keys have left entries of so many classes.
    fn keys_of(&self, classes: u64) -> Option<f64> {
        bloom::cardinality_exact_base(self.buckets.classes(), 1, classes)
    }

    fn held(&self) -> Held {
        layout::held(&self.buckets, self.words(), &mut |_| {})
    }
}

impl Payload for Cuckoo {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check_payload(&self) -> Result<()> {
        if !bits::is_zero_from(self.words(), self.buckets.bits()) {
            return Err(error!(Corrupt, "bits after the last bucket, {}, are set", self.buckets.count()));
        }
        match self.buckets.is_clean(self.words()) {
            true => Ok(()),
            false => Err(error!(Corrupt, "a bucket is not semi-sorted")),
        }
    }
}

impl Kind for Cuckoo {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.buckets.contains(self.words(), hash)
    }

    fn fetch(&self, hash: u64) {
        self.buckets.fetch(self.words(), hash);
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.buckets.contains_many(self.words(), self.base.instructions(), batch);
    }

    fn contains_few(&self, few: &Few) -> Option<u64> {
        Some(self.buckets.contains_few(self.words(), self.base.instructions(), few))
    }

    /// Exact: of each bucket and each fingerprint it is known whether a key with both is found.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let Held { entries, classes } = layout::held(&self.buckets, self.words(), progress);
        let rate = classes as f64 / self.buckets.classes() as f64;
        Measure {
            taken: entries,
            fill: entries as f64 / self.buckets.all_slots() as f64,
            saturated: 0,
            false_positive_rate: rate.min(1.0).max(hash_floor(classes, 64)),
        }
    }

    fn refusal(&self, hash: u64) -> Error {
        self.refuse(hash)
    }

    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        Some(self)
    }

    fn as_remove(&mut self) -> Option<&mut dyn Remove> {
        Some(self)
    }

    fn as_count(&self) -> Option<&dyn Count> {
        Some(self)
    }

    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        Some(self)
    }

    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        Some(self)
    }

    fn as_overlap(&self) -> Option<&dyn Overlap> {
        Some(self)
    }
}

impl Insert for Cuckoo {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        // Words that may not be written say why.
        self.base.writable()?;
        match self.insert(hash) {
            Some(Some(new)) => Ok(new),
            Some(None) => Err(self.refuse(hash)),
            None => Err(Status::Internal.into()),
        }
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash)?
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if let Err(error) = self.base.writable() {
            return Taken::none(error);
        }
        let ahead = self.ahead();
        let fetch = |filter: &Cuckoo, hash| filter.buckets.fetch(filter.words(), hash);
        ring::trying(self, ahead, batch, fetch, |filter, hash| match filter.insert(hash) {
            Some(Some(new)) => Ok(new),
            _ => Err(filter.refuse(hash)),
        })
    }
}

impl Remove for Cuckoo {
    fn remove_one(&mut self, hash: u64) -> Result<bool> {
        let removed = self.buckets.remove(self.base.writable()?, hash);
        self.base.subtract_count(removed.into());
        Ok(removed)
    }

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        let ahead = self.ahead();
        let fetch = |filter: &Cuckoo, hash| filter.buckets.fetch(filter.words(), hash);
        ring::trying(self, ahead, batch, fetch, |filter, hash| filter.remove_one(hash))
    }
}

impl Count for Cuckoo {
    fn greatest_count(&self) -> u64 {
        self.buckets.most_copies()
    }

    #[inline]
    fn count_one(&self, hash: u64) -> u64 {
        self.buckets.copies(self.words(), hash)
    }

    fn count_many(&self, hashes: &[u64], counts: &mut [u64]) {
        let (words, ahead) = (self.words(), self.ahead());
        hashes.iter().take(ahead).for_each(|hash| self.buckets.fetch(words, *hash));
        for (i, (hash, count)) in hashes.iter().zip(counts).enumerate() {
            if let Some(later) = hashes.get(i + ahead).filter(|_| ahead > 0) {
                self.buckets.fetch(words, *later);
            }
            *count = self.buckets.copies(words, *hash);
        }
    }
}

impl Merge for Cuckoo {
    /// Into a copy first: if one of the entries has no place there, nothing has changed.
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.base.writable()?;
        let mut words = self.base.words().copy()?;
        let target = words.exclusive().ok_or(Status::Internal)?;
        let buckets = &self.buckets;
        if !layout::insert_all(buckets, target, other.base().words().shared(), &mut self.search) {
            return Err(error!(
                Full,
                "the cuckoo filter, which has {} slots, has no places for all keys of the other: it is as it was",
                buckets.all_slots()
            ));
        }
        let geometry = *self.base.geometry();
        self.base.replace(geometry, words);
        Ok(())
    }
}

/// Of distinct keys, judging by the fingerprints and buckets that are there.
impl Cardinality for Cuckoo {
    fn of_payload(&self) -> Option<f64> {
        self.keys_of(self.held().classes)
    }

    /// Which of the entries are copies the payload tells.
    fn of_taken(&self, _taken: u64) -> Option<f64> {
        self.of_payload()
    }

    fn standard_error(&self, keys: f64) -> f64 {
        bloom::cardinality_standard_error(self.buckets.classes(), 1, keys.round() as u64)
    }
}

impl Overlap for Cuckoo {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        self.keys_of(layout::classes_of_union(&self.buckets, self.words(), other.base().words().shared()))
    }
}
