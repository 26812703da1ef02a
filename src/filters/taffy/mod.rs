//! The kind `taffy`, a cuckoo filter that grows: Apple, "Stretching Your Data With Taffy Filters", 2022. A lookup looks at
//! two buckets however large the filter has become. [`crate::layouts::taffy`] has a segment, [`crate::sizing::taffy`] rates
//! and sizes, `table.rs` how segments make a filter.
//!
//! The payload is segments, and a last line whose first word is how many keys were stored. At first there is one segment
//! with room for the capacity, or as many of 2^14 slots as have it. A segment below that size becomes twice as large;
//! 2^d segments of that size become 2^(d+1), one by one: the payload gets room for all of them at the first, and each
//! is divided in two when it is full. No insertion does more work than one segment is worth. The d bits of a hash after its
//! prefix are the number of its segment, or the d + 1 bits where that one was divided, which bit 63 of the segment's first
//! word says: its other part is 2^d segments further.
//!
//! Keys that are found take no room, so that the filter does not grow from duplicates. Nothing can be removed: what is
//! found may be the entry of another key. The union of two filters has the entries of both, and their rates add up.
//!
//! Hashes pass a bijection first, so that keys that come in the order of their hashes, as a builder gives them, fill all
//! segments alike.
//!
//! Insertions move entries, so that a reader of an image in place would miss them meanwhile: images are read in place,
//! and changed in memory.
//!
//! Header: word 0 is the number of bits of fingerprint and tail, word 1 how many times the filter may double, word 2 the
//! base-2 logarithm of the number of buckets of a table at first, of all segments, word 3 that of one segment now, word 4
//! is d, word 5 is 1 while segments are being divided, and word 6 where there is room for more than one. `bits` is those of
//! all slots.

mod filter;
mod table;

use crate::error::{Result, error};
use crate::format::Geometry;
use crate::kind::{Capabilities, Overfill, Row, Sizes, Structure};
use crate::sizing::taffy::{self as sizing, Growing};
use crate::spec::{Domain, KindId, Number, Parameter, Size, Spec};
use table::Layout;

/// How long fingerprints are, with the tail.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits that are kept of a key beside its place, from 10 on; 0 is the fewest that keep the rate",
    default: 0.0,
    domain: Domain::Integer(0, sizing::BITS.1 as u64),
    word: Some(0),
};

/// How many growths the rate is kept for.
pub const DOUBLINGS: Parameter = Parameter {
    name: "doublings",
    summary: "how many times the filter may double, for which it keeps its rate: each key takes the base-2 logarithm of \
              1 + doublings / 2 bits for that",
    default: 32.0,
    domain: Domain::Integer(sizing::DOUBLINGS.0 as u64, sizing::DOUBLINGS.1 as u64),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(30),
    name: "taffy",
    summary: "a taffy filter: grows with its keys, keeps its false-positive rate, and looks at two lines at any size",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::GROW),
    parameters: &[&FINGERPRINT_BITS, &DOUBLINGS],
    structure: Structure::Filter { open: filter::open },
    sizes: Sizes::ByKeys,
    geometry,
    identity: |geometry| {
        let first = Layout::of(geometry).and_then(|layout| Layout::new(layout.growing).geometry());
        first.unwrap_or(*geometry)
    },
    // A bucket begins where the one before it ends, in a line or across two.
    lines_per_lookup: |geometry| {
        let bits = 4.0 * (geometry.words[0] + 1) as f64;
        (2.0 + 2.0 * (bits - 1.0) / 512.0).min(geometry.payload_bytes as f64 / 64.0)
    },
    false_positive_rate: |geometry, keys| {
        Layout::of(geometry).map_or(1.0, |layout| layout.growing.false_positive_rate(keys))
    },
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
    moves_entries: true,
    is_power_of_two: true,
    ..Row::BASE
};

/// The geometry that a spec asks for: that of a filter which has not grown.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (least, most) = sizing::BITS;
    let asked = spec.parameter(&FINGERPRINT_BITS)? as u32;
    let doublings = spec.parameter(&DOUBLINGS)? as u32;
    if asked != 0 && asked < least {
        return Err(error!(OutOfRange, "fingerprint_bits = {asked} is not from {least} to {most}"));
    }
    let (Size::Rate { capacity, .. } | Size::Exact { capacity, .. }) = size;
    let Some(bucket_bits) = sizing::bucket_bits_for(capacity) else {
        return Err(error!(TooLarge, "capacity = {capacity} is more than a taffy filter can be made for"));
    };
    let with = |bits: u32| Growing { bucket_bits, bits, doublings };
    let growing = match size {
        Size::Rate { false_positive_rate: rate, .. } => match Growing::of_rate(bucket_bits, doublings, rate) {
            // What was asked for by its bits has the rate that they give.
            _ if asked != 0 && spec.false_positive_rate == 0.0 => with(asked),
            Some(growing) if asked <= growing.bits => {
                if asked != 0 && asked < growing.bits {
                    let rate = Number(rate);
                    return Err(error!(
                        Contradiction,
                        "fingerprint_bits = {asked} are too few for false_positive_rate = {rate} through {doublings} \
                         doublings"
                    ));
                }
                growing
            }
            Some(_) => with(asked),
            None => {
                let rate = Number(rate);
                return Err(error!(
                    TooLarge,
                    "false_positive_rate = {rate} for capacity = {capacity} and doublings = {doublings} needs more than \
                     {most} bits beside the place of a key"
                ));
            }
        },
        Size::Exact { bits, .. } => {
            let fits = |width: &u32| {
                let is_known = with(*width).most_doublings().is_some();
                is_known && Layout::new(with(*width)).geometry().is_some_and(|geometry| geometry.bits <= bits)
            };
            let widths = if asked == 0 { least..=most } else { asked..=asked };
            match widths.rev().find(fits) {
                Some(width) => with(width),
                None => {
                    let fewest = Layout::new(with(if asked == 0 { least } else { asked })).geometry();
                    let fewest = fewest.map_or(0, |geometry| geometry.bits);
                    return Err(error!(
                        Contradiction,
                        "bits = {bits} are too few for capacity = {capacity}, which takes {fewest} at least"
                    ));
                }
            }
        }
    };
    if growing.most_doublings().is_none() {
        let bits = growing.bits;
        return Err(error!(
            TooLarge,
            "fingerprint_bits = {bits} for capacity = {capacity} are more than hashes of 64 bits have"
        ));
    }
    Layout::new(growing)
        .geometry()
        .ok_or_else(|| error!(TooLarge, "capacity = {capacity} needs more bytes than the address space holds"))
}
