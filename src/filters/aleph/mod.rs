//! The kind `aleph`, a quotient filter that grows and removes: Dayan, Bercea and Pagh, "Aleph Filter: To Infinity in
//! Constant Time", 2024. A lookup looks at one run however large the filter has become. [`crate::layouts::aleph`] has a
//! segment, [`crate::sizing::aleph`] rates and sizes, `table.rs` how segments make a filter, `growth.rs` how they grow,
//! and `mothers.rs` what makes removal right.
//!
//! The payload is segments; the mothers of void entries; and a last line whose first word is how many places of these
//! are taken, and whose second is how many keys were new when they came. At first there is one segment with room for
//! the capacity, or as many of 2^13 slots as have it. A segment below that size becomes twice as large; 2^d segments of
//! that size become 2^(d+1), one by one: the payload gets room for all of them at the first, and each is divided in two
//! when it is full. No insertion does more work than one segment is worth, but that room is made by moving bytes. The
//! low bits of a hash are its slot, and the d bits after them the number of its segment, or d + 1 bits where that one
//! was divided: its other part is 2^d segments further. So the copies of a void entry lie in the same slot of as many
//! segments, and no segment has many more of them than others.
//!
//! Every insertion adds an entry, so that as many removals take them out again. A removal takes, of the entries that
//! the key finds, the one that knows most. Where the paper leaves a tombstone, for which the next growth looks up what
//! else there is of a void entry, the mother is taken away at once and the rest when its segment grows: until then it
//! is found, and can be removed by nobody.
//!
//! Rejuvenation gives a key that the caller knows to be there an entry which knows as much as a new one, in place of
//! the one that a removal would take, and takes the mother of a void one away: it is a removal and an insertion in one
//! step, which is refused as a whole or not at all.
//!
//! Hashes pass a bijection first, so that keys that come in the order of their hashes, as a builder gives them, fill
//! all segments alike.
//!
//! Header: word 0 is the number of bits of the shortest fingerprint, word 1 the growths that are expected, word 2 the
//! base-2 logarithm of the number of slots at first, of all segments, word 3 that of one segment now, word 4 is d, word
//! 5 is 1 while segments are being divided, word 6 the regime, and word 7 the base-2 logarithm of the places for
//! mothers, or 0 for none. `bits` is those of all segments.

mod filter;
mod growth;
mod layout;
mod mothers;
mod table;

use crate::error::{Result, error};
use crate::format::Geometry;
use crate::kind::{Capabilities, Overfill, Row, Sizes, Structure};
use crate::sizing::aleph::{self as sizing, Growing, Regime};
use crate::spec::{Domain, KindId, Number, Parameter, Size, Spec};
use layout::Layout;

/// The regimes in the order of their numbers.
const REGIMES: [Regime; 3] = [Regime::Fixed, Regime::Widening, Regime::Predictive];

/// How long fingerprints are.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits of the shortest fingerprint, from 2 on; 0 is the fewest that keep the rate",
    default: 0.0,
    domain: Domain::Integer(0, sizing::BITS.1 as u64),
    word: Some(0),
};

/// How many growths are expected.
pub const DOUBLINGS: Parameter = Parameter {
    name: "doublings",
    summary: "how many times the filter is expected to double: the regime says what it does after that",
    default: 20.0,
    domain: Domain::Integer(sizing::DOUBLINGS.0 as u64, sizing::DOUBLINGS.1 as u64),
    word: Some(1),
};

/// How fingerprints go on.
pub const REGIME: Parameter = Parameter {
    name: "regime",
    summary: "how long later fingerprints are: the same (fixed), longer (widening), or shorter up to the last doubling \
              that is expected, and then longer (predictive)",
    default: 1.0,
    domain: Domain::Choice(&["fixed", "widening", "predictive"]),
    word: Some(6),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(31),
    name: "aleph",
    summary: "an Aleph filter: grows with its keys, keeps its false-positive rate, and removes keys",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::REJUVENATE)
        .with(Capabilities::GROW),
    parameters: &[&FINGERPRINT_BITS, &DOUBLINGS, &REGIME],
    structure: Structure::Filter { open: filter::open },
    sizes: Sizes::ByKeys,
    geometry,
    identity: |geometry| {
        let first = Layout::of(geometry).and_then(|layout| Layout::new(layout.growing).geometry());
        first.unwrap_or(*geometry)
    },
    // The metadata of a block, and remainders that are a little further on; both may lie across two lines.
    lines_per_lookup: |geometry| (geometry.payload_bytes as f64 / 64.0 - 1.0).clamp(1.0, 2.5),
    false_positive_rate: |geometry, keys| {
        Layout::of(geometry).map_or(1.0, |layout| layout.growing.false_positive_rate(keys))
    },
    overfill: Overfill::Grows,
    compact: |packing, geometry| {
        for (word, bits) in geometry.words.iter_mut().zip([5, 6, 6, 4, 6, 1, 2, 6]) {
            packing.field(word, bits);
        }
        let layout = Layout::of_words(geometry.words).and_then(|layout| layout.geometry());
        geometry.bits = layout.map_or(0, |layout| layout.bits);
    },
    is_canonical: false,
    moves_entries: true,
    is_power_of_two: true,
    ..Row::BASE
};

/// The geometry that a spec asks for: that of a filter which has not grown.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (least, most) = sizing::BITS;
    let asked = spec.parameter(&FINGERPRINT_BITS)? as u32;
    let doublings = spec.parameter(&DOUBLINGS)? as u32;
    let regime = REGIMES[spec.parameter(&REGIME)? as usize % REGIMES.len()];
    if asked != 0 && asked < least {
        return Err(error!(OutOfRange, "fingerprint_bits = {asked} is not from {least} to {most}"));
    }
    let (Size::Rate { capacity, .. } | Size::Exact { capacity, .. }) = size;
    let Some(slot_bits) = sizing::slot_bits_for(capacity) else {
        return Err(error!(TooLarge, "capacity = {capacity} is more than an Aleph filter can be made for"));
    };
    let with = |bits: u32| Growing { slot_bits, bits, doublings, regime };
    let geometry = |growing: Growing| {
        growing.most_doublings().filter(|most| *most >= 1)?;
        Layout::new(growing).geometry()
    };
    let growing = match size {
        Size::Rate { false_positive_rate: rate, .. } => {
            let fewest = Growing::of_rate(slot_bits, doublings, regime, rate);
            match fewest {
                // What was asked for by its bits has the rate that they give.
                _ if asked != 0 && spec.false_positive_rate == 0.0 => with(asked),
                Some(growing) if asked == 0 => growing,
                Some(growing) if asked >= growing.bits => with(asked),
                Some(_) => {
                    let rate = Number(rate);
                    return Err(error!(
                        Contradiction,
                        "fingerprint_bits = {asked} are too few for false_positive_rate = {rate} through {doublings} \
                         doublings"
                    ));
                }
                None => {
                    let rate = Number(rate);
                    return Err(error!(
                        TooLarge,
                        "false_positive_rate = {rate} for capacity = {capacity} and doublings = {doublings} needs \
                         fingerprints of more than {most} bits"
                    ));
                }
            }
        }
        Size::Exact { bits, .. } => {
            let fits = |width: &u32| geometry(with(*width)).is_some_and(|geometry| geometry.bits <= bits);
            let widths = if asked == 0 { least..=most } else { asked..=asked };
            match widths.rev().find(fits) {
                Some(width) => with(width),
                None => {
                    let fewest = geometry(with(if asked == 0 { least } else { asked }));
                    let fewest = fewest.map_or(0, |geometry| geometry.bits);
                    return Err(error!(
                        Contradiction,
                        "bits = {bits} are too few for capacity = {capacity}, which takes {fewest} at least"
                    ));
                }
            }
        }
    };
    // It can grow once at least.
    if growing.most_doublings().is_none_or(|most| most < 1) {
        let bits = growing.bits;
        return Err(error!(
            Contradiction,
            "fingerprint_bits = {bits} for capacity = {capacity} and doublings = {doublings} are more than {most}, or \
             more than hashes of 64 bits have"
        ));
    }
    geometry(growing)
        .ok_or_else(|| error!(TooLarge, "capacity = {capacity} needs more bytes than the address space holds"))
}
