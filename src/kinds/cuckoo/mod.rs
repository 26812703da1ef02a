//! The kind `cuckoo`, a cuckoo filter: keys can be removed and counted in a fraction of the bits of counters.
//! [`layout`] has the structure, [`sizing`] rates and sizes.
//!
//! The filter holds a multiset. Each insertion takes a slot, even if the key is there already, and a removal gives one
//! back. The two buckets of a key together hold at most 2b copies of it, where b is the number of slots of a bucket.
//! One more copy is refused, as is every insertion that finds no place. A refused insertion changes nothing.
//!
//! A key whose lookup says no is not removed, and the caller learns that. A key that was never inserted may be found,
//! at the false-positive rate, because it has the fingerprint and the buckets of another key. Its removal takes the
//! other key's entry, so each such removal loses at most one key. Counts are those of all keys with the same
//! fingerprint and buckets: never too small, as long as no key was removed more often than it was inserted.
//!
//! Bucket and fingerprint are all that is known of a key, and both come from its hash. Under a secret key nobody can
//! choose keys whose fingerprints and buckets are the same. Without one, anybody can compute the hash function, and
//! 2b + 1 chosen keys overfill a pair of buckets.
//!
//! Insertions move entries, so a reader of an image in place could miss an entry on its way. Therefore images are read
//! in place, but changed in memory only.
//!
//! Header: word 0 is the number of bits of a fingerprint, and word 1 the number of slots of a bucket. Word 2 is 1 if
//! buckets are semi-sorted.

pub mod layout;
pub mod sizing;

use crate::contract::{self, Capabilities, Form, InBytes, Overfill, Room, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::generic::fingerprint_filter::{self, TableKind};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use layout::{Buckets, Cuckoo};

/// The parameter for the length of fingerprints.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits of a fingerprint; 0 is the best for the rate, or for exact bits and a capacity",
    default: 0.0,
    domain: Domain::Automatic(sizing::FINGERPRINT_BITS.0 as u64, sizing::FINGERPRINT_BITS.1 as u64),
    word: Some(0),
};

/// The parameter for the number of slots of a bucket.
pub const BUCKET_SLOTS: Parameter = Parameter {
    name: "bucket_slots",
    summary: "slots of a bucket: more fill a larger share of the table, and cost a higher rate or longer fingerprints",
    default: 4.0,
    domain: Domain::OneOf(&[2, 4, 8]),
    word: Some(1),
};

/// The parameter that says whether buckets are semi-sorted.
pub const SEMI_SORT: Parameter = Parameter {
    name: "semi_sort",
    summary: "1 keeps buckets of four slots sorted, which saves a bit for each slot and costs time",
    default: 0.0,
    domain: Domain::Integer(0, 1),
    word: Some(2),
};

/// The parameter for how often a key may come.
pub const TIMES: Parameter = contract::times(7);

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::CUCKOO,
    name: "cuckoo",
    summary: "a cuckoo filter: removes keys, and counts a few copies of each; refuses keys when it is full",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT),
    parameters: &[&FINGERPRINT_BITS, &BUCKET_SLOTS, &SEMI_SORT, &TIMES],
    structure: Structure::Filter { open: fingerprint_filter::open::<Cuckoo> },
    sizes: Sizes::Multiples(1),
    geometry,
    // A bucket begins where the one before it ends, so it lies in one line or across two.
    lines_per_lookup: |geometry| {
        let [width, slots, semi_sort, ..] = geometry.words;
        let bits = (slots * (width - semi_sort)) as f64;
        (2.0 + 2.0 * (bits - 1.0) / 512.0).min(geometry.payload_bytes as f64 / 64.0)
    },
    false_positive_rate: |geometry, keys| {
        let rate = |buckets: Buckets| {
            sizing::false_positive_rate(buckets.count(), buckets.slots(), geometry.words[0] as u32, keys)
        };
        Buckets::of_geometry(geometry).map_or(1.0, rate)
    },
    is_canonical: false,
    overfill: Overfill::Refuses,
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], 4);
        packing.field(&mut geometry.words[2], 1);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let buckets = Buckets::of_geometry(&trailer.geometry(ROW.compact)?)?;
            Some(buckets.contains(&bytes, hash))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(buckets) = trailer.geometry(ROW.compact).as_ref().and_then(Buckets::of_geometry) {
                let place = buckets.place(hash);
                [place.bucket, place.other].into_iter().for_each(|bucket| bytes.fetch(buckets.first_word(bucket)));
            }
        },
    }),
    room: Room { copies: Some(|geometry| 2 * geometry.words[1]), ..Room::BASE },
    form: Form { moves_entries: true, ..Form::BASE },
    ..Row::BASE
};

impl TableKind for Cuckoo {}

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let asked = spec.parameter(&FINGERPRINT_BITS)? as u32;
    let slots = spec.parameter(&BUCKET_SLOTS)? as u32;
    let is_sorted = spec.parameter(&SEMI_SORT)? == 1;
    if is_sorted && slots != 4 {
        return Err(error!(Contradiction, "semi_sort = 1 is for bucket_slots = 4, not {slots}"));
    }
    let (bits, width) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let found = sizing::size_for(capacity, rate, slots, asked, is_sorted);
            let found = found.ok_or_else(|| spec.unreachable(size, &FINGERPRINT_BITS))?;
            (found.buckets * sizing::bucket_bits(slots, found.fingerprint_bits, is_sorted), found.fingerprint_bits)
        }
        Size::Exact { bits, .. } => {
            let best = |capacity| sizing::best_fingerprint_bits(bits, capacity, slots, is_sorted);
            let width = spec.set_or_best(bits, &FINGERPRINT_BITS, best)?;
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
