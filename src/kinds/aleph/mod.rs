//! The kind `aleph`, a quotient filter that grows and removes: Dayan, Bercea and Pagh, "Aleph Filter: To Infinity in
//! Constant Time", 2024. A lookup looks at one run however large the filter has become. [`layout`] has a segment,
//! [`sizing`] rates and sizes, `table.rs` how segments make a filter, `growth.rs` how they grow, and `mothers.rs` what
//! makes removal right.
//!
//! The payload has segments, the mothers of void entries, and a last line. The first word of that line is how many
//! places for mothers are taken, and the second is how many keys were new when they came. Segments have at most 2^13
//! slots, and grow as [`crate::blocks::segments`] says. The low bits of a hash are its slot, and the bits after these
//! its segment. So the copies of a void entry lie in the same slot of different segments, and no segment has many more
//! of them than others.
//!
//! Every insertion adds an entry, so the same number of removals takes them out again. Of the entries that the key
//! finds, a removal takes the one that knows most. The paper leaves a tombstone, and the next growth looks up the other
//! copies of a void entry. Here the mother is taken away immediately, and the other copies when their segments grow.
//! Until then the copies are found, and no removal takes them.
//!
//! Rejuvenation gives a key that the caller knows to be there an entry of full length instead of the entry that a
//! removal would take. The mother of a void entry is taken away. Rejuvenation is a removal and an insertion in one
//! step, which is refused as a whole or not at all.
//!
//! Header: word 0 is the bits of the shortest fingerprint, and word 1 the number of expected growths. Word 2 is the
//! base-2 logarithm of the slots of all segments at first, word 3 that of the slots of one segment now, and word 4 is
//! d. Word 5 is 1 while segments are being divided, word 6 is the regime, and word 7 the base-2 logarithm of the places
//! for mothers, or 0 for none. `bits` counts those of all segments.

pub mod layout;
mod payload;
pub mod sizing;
mod filter;
mod growth;
mod mothers;
mod table;

use crate::contract::{Capabilities, Form, Overfill, Room, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::generic::grown::{self, Layout as _};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use payload::Layout;
use sizing::{Growing, Regime};
use table::Table;

/// The regimes in the order of their numbers.
const REGIMES: [Regime; 3] = [Regime::Fixed, Regime::Widening, Regime::Predictive];

/// The parameter for the length of fingerprints.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits of the shortest fingerprint; 0 is the fewest that keep the rate",
    default: 0.0,
    domain: Domain::Automatic(sizing::BITS.0 as u64, sizing::BITS.1 as u64),
    word: Some(0),
};

/// The parameter for the number of expected growths.
pub const DOUBLINGS: Parameter = Parameter {
    name: "doublings",
    summary: "how many times the filter is expected to double: the regime says what it does after that",
    default: 20.0,
    domain: Domain::Integer(sizing::DOUBLINGS.0 as u64, sizing::DOUBLINGS.1 as u64),
    word: Some(1),
};

/// The parameter for how the length of fingerprints goes on after growths.
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
    kind: KindId::ALEPH,
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
    structure: Structure::Filter { open: grown::open::<Table> },
    sizes: Sizes::ByKeys,
    geometry,
    identity: grown::identity::<Layout>,
    // A lookup reads the metadata of a block and, a little further on, remainders; both may lie across two lines.
    lines_per_lookup: |geometry| (geometry.payload_bytes as f64 / 64.0 - 1.0).clamp(1.0, 2.5),
    false_positive_rate: grown::false_positive_rate::<Layout>,
    least_rate: |spec, capacity| spec.least_rate(&FINGERPRINT_BITS, rate(spec, capacity)),
    overfill: Overfill::Grows,
    compact: |packing, geometry| {
        for (word, bits) in geometry.words.iter_mut().zip([5, 6, 6, 4, 6, 1, 2, 6]) {
            packing.field(word, bits);
        }
        let layout = Layout::of_words(geometry.words).and_then(|layout| layout.geometry());
        geometry.bits = layout.map_or(0, |layout| layout.bits);
    },
    is_canonical: false,
    room: Room { is_power_of_two: true, ..Room::BASE },
    form: Form { moves_entries: true, ..Form::BASE },
    ..Row::BASE
};

/// How filters of a spec grow, by the bits of fingerprints. Filters grow at least once.
fn growing(spec: &Spec, capacity: u64) -> impl Fn(u64) -> Option<Growing> {
    move |bits| {
        let (slot_bits, doublings) = (sizing::slot_bits_for(capacity)?, spec.parameter(&DOUBLINGS).ok()? as u32);
        let regime = REGIMES[spec.parameter(&REGIME).ok()? as usize % REGIMES.len()];
        let growing = Growing { slot_bits, bits: bits as u32, doublings, regime };
        growing.most_doublings().filter(|most| *most >= 1).map(|_| growing)
    }
}

/// The rate after all expected growths, by the bits of fingerprints.
fn rate(spec: &Spec, capacity: u64) -> impl Fn(u64) -> Option<f64> {
    move |bits| Some(growing(spec, capacity)(bits)?.false_positive_rate(u64::MAX))
}

/// The geometry that a spec asks for, of a filter that has not grown.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (doublings, capacity) = (spec.parameter(&DOUBLINGS)? as u32, size.capacity());
    spec.parameter(&REGIME)?;
    let geometry = |bits| Layout::new(growing(spec, capacity)(bits)?).geometry();
    let bits = spec.choose(size, &FINGERPRINT_BITS, rate(spec, capacity), |bits| Some(geometry(bits)?.bits))?;
    geometry(bits).ok_or_else(|| match sizing::slot_bits_for(capacity) {
        None => error!(TooLarge, "capacity = {capacity} is more than an Aleph filter can be made for"),
        Some(_) => error!(
            Contradiction,
            "fingerprint_bits = {bits} for capacity = {capacity} and doublings = {doublings} are more than {}, or \
             more than hashes of 64 bits have",
            sizing::BITS.1
        ),
    })
}
