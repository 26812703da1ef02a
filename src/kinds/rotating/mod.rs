//! The kind `rotating`: generations of bit arrays. The oldest generation is dropped as a whole.
//!
//! The window moves by rotation, as double-buffered Bloom filters have done since the first proxies that cached on
//! second sight. Keys go into the newest generation. When that has taken its share of the window, or when time is moved
//! on, the oldest generation is cleared and becomes the newest. A lookup asks all generations. With G generations of g
//! keys each, the last (G - 1) g keys are always found, and no key stays for longer than G g.
//!
//! A generation is a bit array of any kind that [`super::levels`] knows, all of one shape. A key has the same bits in
//! each of them, so that two filters merge generation by generation, however far each has rotated. A generation that
//! holds n keys says true of an absent key at its kind's rate f(n). All generations together say true at
//! `1 - prod(1 - f(n_i))`, which is largest when all are full. The size keeps this largest rate at or below the rate
//! that was asked for ([`shape`]).
//!
//! A key may come again while an older generation has it. With `touch` = 1 the key goes into the newest generation
//! too, so that it is found for as long as a new key. With `touch` = 0 the key stays where it is: each key is
//! forgotten in its turn however often it comes, and a program that drops duplicates sees the key once a window. With
//! `touch` = 0 a new key that is mistaken for an older one is not inserted and is forgotten with that one, inside the
//! window: keys are lost (`MAY_LOSE_KEYS`). Say that r of G full generations of rate f were dropped since a key came,
//! and the newest one has rate g. Then the key is lost with probability `(1 - f)^(G-1) (1 - (1 - f)^r) (1 - g)`
//! ([`shape::Rates::false_negative_rate`]).
//!
//! Many threads and processes insert at the same time, and move time on alongside each other (`shared.rs`).
//!
//! A generation counts the keys that are new to it; keys that it has already, or seems to have, change nothing. Hashes
//! pass a bijection first, because a builder gives them in ascending order, and the first generation would fill at one
//! end.

mod filter;
pub mod shape;
mod shared;
mod state;
#[cfg(test)]
mod tests;

use super::levels::{self, LEVEL_UNIT, LEVELS, MAX_HASHES};
use crate::contract::{Capabilities, Form, Losses, Overfill, Row, Sizes, Structure, Varying, Window};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::sizing::{ln_1p_minus, one_minus_exp};
use crate::spec::{DEFAULT_FALSE_POSITIVE_RATE, Domain, KindId, Parameter, Size, Spec};
use shape::Shape;

/// The parameter for the kind of the generations.
pub const LEVEL: Parameter = Parameter { summary: "the kind of the generations", ..levels::LEVEL };

/// The parameter for the number of generations.
pub const GENERATIONS: Parameter = Parameter {
    name: "generations",
    summary: "the number of generations: more generations take fewer bits and make lookups slower",
    default: 4.0,
    domain: Domain::Integer(2, 16),
    word: Some(1),
};

/// The parameter that says whether keys that come again become young again.
pub const TOUCH: Parameter = Parameter {
    name: "touch",
    summary: "1 counts a repeated key as young again; 0 forgets a key by its first insertion",
    default: 1.0,
    domain: Domain::Integer(0, 1),
    word: Some(2),
};

/// The parameter for what moves the window on.
pub const CLOCK: Parameter = Parameter { word: Some(3), ..crate::spec::CLOCK };

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::ROTATING,
    name: "rotating",
    summary: "a window of the last keys, or of time: generations of bit arrays, the oldest dropped as a whole",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::AGE)
        .with(Capabilities::INSERT_SHARED)
        .with(Capabilities::AGE_SHARED),
    parameters: &[&LEVEL, &GENERATIONS, &TOUCH, &CLOCK],
    structure: Structure::Filter { open: filter::open },
    sizes: Sizes::Multiples(LEVEL_UNIT),
    hashes: (1, MAX_HASHES),
    geometry,
    least_rate: |spec, capacity| match (spec.parameter(&LEVEL), spec.parameter(&GENERATIONS), spec.parameter(&CLOCK)) {
        (Ok(level), Ok(generations), Ok(clock)) => {
            let of_filter = |rate: f64| one_minus_exp(-ln_1p_minus(rate) * generations as f64);
            levels::least_rate(level, share(capacity, generations, clock), rate_of_one(generations), of_filter)
        }
        // The parameter is refused later.
        _ => 0.0,
    },
    lines_per_lookup: |geometry| Shape::of(geometry).map_or(1.0, |shape| shape.lines_per_lookup()),
    // With `touch` = 0 the error is that of a chain of levels.
    rate_error: |rate| 0.15 * rate,
    false_positive_rate: |geometry, keys| {
        Shape::of(geometry).map_or(1.0, |shape| shape.rates().false_positive_rate(keys))
    },
    is_canonical: false,
    overfill: Overfill::Forgets,
    compact: shape::compact,
    varying: Varying {
        // While a turn is held up, the newest generation fills. If it then seems to have every key, and keys that seem
        // to be there are not inserted, no key would ever turn the generations again.
        lacks: |geometry| match Shape::of(geometry) {
            Some(Shape { touch: 0, .. }) => Capabilities::INSERT_SHARED.with(Capabilities::AGE_SHARED),
            _ => Capabilities::NONE,
        },
        gains: |geometry| match Shape::of(geometry) {
            Some(Shape { touch: 0, .. }) => Capabilities::MAY_LOSE_KEYS,
            _ => Capabilities::NONE,
        },
        ..Varying::BASE
    },
    form: Form {
        // Levels of `blocked`, four generations, touched, and turned by keys.
        usual_words: |capacity| [2, 4, 1, 0, capacity.div_ceil(3), 0, 0, 0],
        ..Form::BASE
    },
    losses: Losses {
        omissions: Some(|geometry, keys| {
            Shape::of(geometry).map_or(keys as f64, |shape| shape.rates().omissions(keys))
        }),
        false_negative_rate: Some(|geometry, age| {
            Shape::of(geometry).map_or(1.0, |shape| shape.rates().false_negative_rate(age))
        }),
        window: Some(|geometry| Shape::of(geometry).map_or(Window { steps: 0, keys: None }, |shape| shape.window())),
    },
    ..Row::BASE
};

/// The keys of a generation.
fn share(capacity: u64, generations: u64, clock: u64) -> u64 {
    match clock {
        0 => capacity.div_ceil(generations - 1).max(1),
        _ => capacity.max(1),
    }
}

/// The rate of one generation with which all generations together have a rate.
fn rate_of_one(generations: u64) -> impl Fn(f64) -> f64 {
    move |rate| one_minus_exp(-ln_1p_minus(rate) / generations as f64)
}

/// The geometry that a spec asks for. Exact `bits` are those of all generations together. Each generation has whole
/// lines.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (level, generations) = (spec.parameter(&LEVEL)?, spec.parameter(&GENERATIONS)?);
    let (touch, clock) = (spec.parameter(&TOUCH)?, spec.parameter(&CLOCK)?);
    let kind = &LEVELS[level as usize];
    let (share, rate_of_one) = (|capacity| share(capacity, generations, clock), rate_of_one(generations));
    let (one, keys, bits) = match size {
        Size::Rate { capacity, false_positive_rate } => {
            let keys = share(capacity);
            let about = |error: crate::Error| error.about(format_args!("a generation of the kind {}", kind.row.name));
            let one = levels::level_for(kind, keys, rate_of_one(false_positive_rate)).map_err(about)?;
            (one, keys, one.bits.saturating_mul(generations))
        }
        Size::Exact { capacity, bits, hashes } => {
            let each = bits / generations / LEVEL_UNIT * LEVEL_UNIT;
            if each == 0 {
                return Err(error!(
                    Contradiction,
                    "bits = {bits} are not {LEVEL_UNIT} for each of generations = {generations}"
                ));
            }
            let one = kind.geometry(share(capacity), each, hashes)?;
            let rate = rate_of_one(DEFAULT_FALSE_POSITIVE_RATE);
            let keys = if capacity == 0 { levels::capacity_at(kind, &one, rate).max(1) } else { share(capacity) };
            (one, keys, bits)
        }
    };
    // With fewer keys than bits there is always a key that is new to a generation, and so brings the next generation.
    if clock == 0 && keys >= one.bits {
        let each = one.bits;
        return Err(error!(OutOfRange, "capacity = {keys} keys for each generation of {each} bits are too many"));
    }
    if clock == 0 && keys > state::MOST_KEYS {
        let most = state::MOST_KEYS;
        return Err(error!(TooLarge, "capacity = {keys} keys for each generation are more than {most}"));
    }
    Shape { level, generations, touch, clock, keys, one, bits }.geometry()
}
