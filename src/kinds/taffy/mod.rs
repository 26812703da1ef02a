//! The kind `taffy`, a cuckoo filter that grows: Apple, "Stretching Your Data With Taffy Filters", 2022. A lookup looks
//! at two buckets however large the filter has become. [`layout`] has a segment, [`sizing`] has rates and sizes, and
//! `table.rs` says how segments make a filter.
//!
//! The payload is segments of at most 2^14 slots, which grow as [`crate::blocks::segments`] says, and a last line whose
//! first word is how many keys were stored. The bits of a hash after its prefix name its segment. Bit 63 of a segment's
//! first word says that it was divided.
//!
//! A key that is found takes no room, so duplicates do not make the filter grow. No key can be removed, because a
//! lookup may find the entry of another key. The union of two filters has the entries of both, and their rates add up.
//!
//! Insertions move entries, and a reader of an image in place could miss an entry on its way. So images are read in
//! place, but changed in memory only.
//!
//! Header: word 0 is the bits of fingerprint and tail, and word 1 how many times the filter may double. Word 2 is the
//! base-2 logarithm of the number of buckets that a table had at first, over all segments. Word 3 is that of one
//! segment now, and word 4 is the d of [`crate::blocks::segments`]. Word 5 is 1 while segments are being divided. Word
//! 6 is 1 if there is room for more than one segment. `bits` is the bits of all slots.

pub mod layout;
pub mod sizing;
mod table;

use crate::contract::{Capabilities, Form, Overfill, Room, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::generic::grown::{self, Layout as _};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use sizing::Growing;
use table::{Layout, Table};

/// The parameter for the length of fingerprint and tail together.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits that the filter keeps of a key in addition to its place; 0 means the fewest that keep the rate",
    default: 0.0,
    domain: Domain::Automatic(sizing::BITS.0 as u64, sizing::BITS.1 as u64),
    word: Some(0),
};

/// The parameter for the number of growths through which the rate is kept.
pub const DOUBLINGS: Parameter = Parameter {
    name: "doublings",
    summary: "how many times the filter may double and keep its rate: each key takes the base-2 logarithm \
              of 1 + doublings / 2 bits for that",
    default: 32.0,
    domain: Domain::Integer(sizing::DOUBLINGS.0 as u64, sizing::DOUBLINGS.1 as u64),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::TAFFY,
    name: "taffy",
    summary: "a taffy filter: grows with its keys, keeps its false-positive rate, and looks at two lines at any size",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::GROW),
    parameters: &[&FINGERPRINT_BITS, &DOUBLINGS],
    structure: Structure::Filter { open: grown::open::<Table> },
    sizes: Sizes::ByKeys,
    geometry,
    identity: grown::identity::<Layout>,
    // A bucket begins where the bucket before it ends, so it lies in one line or across two.
    lines_per_lookup: |geometry| {
        let bits = 4.0 * (geometry.words[0] + 1) as f64;
        (2.0 + 2.0 * (bits - 1.0) / 512.0).min(geometry.payload_bytes as f64 / 64.0)
    },
    false_positive_rate: grown::false_positive_rate::<Layout>,
    least_rate: |spec, capacity| spec.least_rate(&FINGERPRINT_BITS, rate(spec, capacity)),
    is_canonical: false,
    overfill: Overfill::Grows,
    compact: |packing, geometry| {
        for (word, bits) in geometry.words.iter_mut().zip([5, 6, 6, 4, 6, 1]) {
            packing.field(word, bits);
        }
        // Whether there is more than one segment.
        geometry.words[6] = u64::from(geometry.words[4] > 0 || geometry.words[5] > 0);
        let layout = Layout::of_words(geometry.words).and_then(|layout| layout.geometry());
        geometry.bits = layout.map_or(0, |layout| layout.bits);
    },
    room: Room { is_power_of_two: true, ..Room::BASE },
    form: Form { moves_entries: true, ..Form::BASE },
    ..Row::BASE
};

/// How filters of a spec grow, by the bits of their fingerprints.
fn growing(spec: &Spec, capacity: u64) -> impl Fn(u64) -> Option<Growing> {
    move |bits| {
        let (bucket_bits, doublings) = (sizing::bucket_bits_for(capacity)?, spec.parameter(&DOUBLINGS).ok()? as u32);
        let growing = Growing { bucket_bits, bits: bits as u32, doublings };
        growing.most_doublings().map(|_| growing)
    }
}

/// The rate after all growths, by the bits of fingerprints.
fn rate(spec: &Spec, capacity: u64) -> impl Fn(u64) -> Option<f64> {
    move |bits| Some(growing(spec, capacity)(bits)?.false_positive_rate(u64::MAX))
}

/// The geometry that a spec asks for: that of a filter which has not grown.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (doublings, capacity) = (spec.parameter(&DOUBLINGS)? as u32, size.capacity());
    let geometry = |bits| Layout::new(growing(spec, capacity)(bits)?).geometry();
    let bits = spec.choose(size, &FINGERPRINT_BITS, rate(spec, capacity), |bits| Some(geometry(bits)?.bits))?;
    geometry(bits).ok_or_else(|| {
        error!(
            TooLarge,
            "fingerprint_bits = {bits} and doublings = {doublings} for capacity = {capacity} are more than can be, or \
             more than hashes of 64 bits have"
        )
    })
}
