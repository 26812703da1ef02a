//! The kind `scalable`: a chain of bit arrays that grows and keeps its false-positive rate.
//!
//! After Almeida, Baquero, Preguica and Hutchison, "Scalable Bloom filters", 2007. A level is a bit array of any kind
//! that [`super::levels`] knows. A key that no level seems to have goes into the last level. When that level has its
//! capacity, another level follows, which is `growth` times as large and `tightening` times as often wrong.
//! [`crate::sizing::levels`] says why the chain then keeps the wanted rate for ever, and [`schedule`] says how large
//! each level is.
//!
//! Another level needs a larger payload. If the system can move pages (Linux), large payloads in the filter's own
//! memory become longer without being copied, so that no insertion takes long. Elsewhere the insertion that grows the
//! filter copies the payload. An image in place cannot grow: it refuses keys ([`crate::Status::Full`]) when its last
//! level has its capacity. A chain also refuses keys if its rate is so low that a further level would hold hardly more
//! keys than the last level, for many more bits ([`schedule`]).
//!
//! A key that is found in any level takes no room, so duplicates do not make a filter grow. A key's level depends on
//! when the key came, so filters of the same keys in another order are as good, but not equal.
//!
//! Chains that were made alike can be merged, however far each has grown. The union has the levels of both chains side
//! by side, and its rate is at most twice the rate that each chain keeps to (`merge`).
//!
//! Hashes pass a bijection before they go to the levels. Without it, keys that come in the order of their hashes, as a
//! builder gives them, would fill only one end of the first level.

mod filter;
mod lookup;
mod merge;
pub mod schedule;

use super::levels::{self, LEVEL, LEVEL_UNIT, LEVELS, MAX_HASHES};
use crate::contract::{Capabilities, Form, Losses, Overfill, Room, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::sizing::omissions::sum_of_rates;
use crate::spec::{DEFAULT_FALSE_POSITIVE_RATE, Domain, KindId, Parameter, Size, Spec};
use schedule::Schedule;

/// The parameter for how much lower the rate of each further level is.
pub const TIGHTENING: Parameter = Parameter {
    name: "tightening",
    summary: "the rate of a level divided by that of the previous level: a low value suits filters that grow little, a \
              high value filters that grow much",
    default: 0.7,
    domain: Domain::Real(0.5, 0.9),
    word: Some(1),
};

/// The parameter for how much larger each further level is.
pub const GROWTH: Parameter = Parameter {
    name: "growth",
    summary: "the bits of a level divided by those of the previous level: more makes fewer levels and faster lookups",
    default: 2.0,
    domain: Domain::Integer(2, 4),
    word: Some(2),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::SCALABLE,
    name: "scalable",
    summary: "the scalable Bloom filter: grows with its keys and keeps its false-positive rate",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::GROW),
    parameters: &[&LEVEL, &TIGHTENING, &GROWTH],
    structure: Structure::Filter { open: filter::open },
    sizes: Sizes::Multiples(LEVEL_UNIT),
    hashes: (1, MAX_HASHES),
    geometry,
    least_rate: |spec, keys| match (spec.parameter(&LEVEL), spec.real_parameter(&TIGHTENING)) {
        (Ok(level), Ok(tightening)) => {
            levels::least_rate(level, keys, |rate| (1.0 - tightening) * rate, |rate| rate / (1.0 - tightening))
        }
        // The parameter is refused later.
        _ => 0.0,
    },
    identity: |geometry| {
        let first = Schedule::of(geometry).and_then(|schedule| schedule.first().geometry().ok());
        first.unwrap_or(*geometry)
    },
    lines_per_lookup: |geometry| Schedule::of(geometry).map_or(1.0, |schedule| schedule.lines_per_lookup()),
    // A level takes those keys that earlier levels do not seem to have, and the bits of such keys are like those of the
    // earlier levels' keys.
    rate_error: |rate| 0.15 * rate,
    false_positive_rate: |geometry, keys| {
        Schedule::of(geometry).map_or(1.0, |schedule| schedule.false_positive_rate(keys))
    },
    is_canonical: false,
    overfill: Overfill::Grows,
    compact: schedule::compact,
    in_bytes: Some(lookup::IN_BYTES),
    room: Room {
        // Whole lines may hold more keys than the spec asked for.
        made_for: Some(|geometry| Schedule::of(geometry).map_or(0, |schedule| schedule.first_capacity)),
        ..Room::BASE
    },
    form: Form {
        // Levels of `blocked`, a tightening of 0.7, growth by 2, one level, and the step for that tightening.
        usual_words: |capacity| [2, 0x3fe6_6666_6666_6666, 2, 1, capacity, 33, 0, 0],
        ..Form::BASE
    },
    losses: Losses {
        omissions: Some(|geometry, keys| {
            Schedule::of(geometry).map_or(keys as f64, |schedule| sum_of_rates(keys, schedule.rates(keys)))
        }),
        ..Losses::BASE
    },
    ..Row::BASE
};

/// The geometry that a spec asks for: a single level. Exact `bits` and `hashes` are those of this level. The rate of
/// this level at `capacity` keys then decides the rates of the levels that follow.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (level, tightening) = (spec.parameter(&LEVEL)?, spec.real_parameter(&TIGHTENING)?);
    let growth = spec.parameter(&GROWTH)?;
    let kind = &LEVELS[level as usize];
    let (first, first_capacity) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let rate = (1.0 - tightening) * rate;
            let about = |error: crate::Error| error.about(format_args!("a first level of the kind {}", kind.row.name));
            let first = levels::level_for(kind, capacity, rate).map_err(about)?;
            // Whole lines may hold far more than a few keys. If the level took only those few, its rate would be too
            // low for the levels that follow: they would take a key each, or none.
            let most = levels::capacity_at(kind, &first, rate);
            (first, if most / 2 >= capacity { most } else { capacity })
        }
        Size::Exact { capacity, bits, hashes } => {
            let first = kind.geometry(capacity, bits, hashes)?;
            let rate = (1.0 - tightening) * DEFAULT_FALSE_POSITIVE_RATE;
            (first, if capacity == 0 { levels::capacity_at(kind, &first, rate).max(1) } else { capacity })
        }
    };
    if first_capacity > first.bits {
        let bits = first.bits;
        return Err(error!(
            OutOfRange,
            "capacity = {first_capacity} keys of which each sets one of bits = {bits} are too many"
        ));
    }
    // A rate multiplied by r takes lg(1/r) more bits of a key, if the kind leaves that number open.
    let step = if kind.row.hashes.0 < kind.row.hashes.1 { (-64.0 * tightening.log2()).round() as u64 } else { 0 };
    let hashes = first.hashes;
    let first_bits = first.bits;
    Schedule { level, tightening, growth, levels: 1, more: [0; 2], first_bits, hashes, step, first_capacity }.geometry()
}
