//! The kind `foreign_scalable`: links of classic Bloom filters, chained as another system chains them, so that their
//! bits are that system's. [`crate::kinds::foreign_bloom::placements`] has the placements; [`crate::interop`] reads and
//! writes the bytes; [`super::scalable`] is Petal's own kind.
//!
//! A key is looked up in every link, the newest first. A key that no link seems to have goes into the newest. When that
//! link has taken its entries, another follows for `expansion` times as many at a rate `tightening` times as high
//! ([`links`]). Growing copies the links into a larger payload. An image in place cannot grow: it refuses keys when its
//! newest link is full, as does a filter that does not scale.
//!
//! The payload is the arrays of the links, the oldest first, each from a new word on. After them, from a new line on,
//! comes the directory: a line for what the format's bytes say about the whole, and a line for each link.
//!
//! Which link a key is in depends on when it came. Filters whose links have the same shapes have a union, link by link,
//! but no intersection, because a key may be in different links of the two.

mod filter;
pub mod links;

use super::foreign_bloom::{PLACEMENT, STATED_RATE, placement};
use crate::contract::{Capabilities, Hashing, Overfill, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::kinds::foreign_bloom::placements::MAX_HASHES;
use crate::sizing::levels::either;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use links::Link;

/// How much larger each link is.
pub const EXPANSION: Parameter = Parameter {
    name: "expansion",
    summary: "the capacity of a link divided by that of the previous link",
    default: 2.0,
    domain: Domain::Integer(0, u32::MAX as u64),
    word: Some(2),
};

/// Whether links are added.
pub const SCALING: Parameter = Parameter {
    name: "scaling",
    summary: "whether a full filter grows, or refuses keys",
    default: 0.0,
    domain: Domain::Choice(&["scaling", "nonscaling"]),
    word: Some(3),
};

/// How much lower the rate of each link is.
pub const TIGHTENING: Parameter = Parameter {
    name: "tightening",
    summary: "the false-positive rate of a link divided by that of the previous link",
    default: 0.5,
    domain: Domain::Real(0.0, 1.0),
    word: Some(5),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::FOREIGN_SCALABLE,
    name: "foreign_scalable",
    summary: "a chain of Bloom filters that another system places, for exchanging its bytes: grows with its keys",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::GROW),
    parameters: &[&PLACEMENT, &EXPANSION, &SCALING, &TIGHTENING, &STATED_RATE],
    structure: Structure::Filter { open: filter::open },
    sizes: Sizes::Multiples(8),
    hashes: (1, MAX_HASHES),
    geometry,
    identity: |geometry| links::of_one(geometry.hashes, geometry.words).unwrap_or(*geometry),
    lines_per_lookup: |geometry| f64::from(geometry.hashes),
    false_positive_rate: expected_rate,
    is_canonical: false,
    overfill: Overfill::Grows,
    hashing: Hashing { hashes_keys_itself: true, ..Hashing::BASE },
    ..Row::BASE
};

/// The geometry that a spec asks for: a single link. The given rate is that of the whole chain. With exact sizes
/// `stated_rate` is that of the first link, which decides how large the others become.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let number = spec.parameter(&PLACEMENT)?;
    let (expansion, scaling) = (spec.parameter(&EXPANSION)?, spec.parameter(&SCALING)?);
    let tightening = spec.real_parameter(&TIGHTENING)?;
    let link = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let first = if scaling == 0 { (1.0 - tightening) * rate } else { rate };
            links::sized(number, capacity.max(1), first).ok_or_else(|| {
                error!(OutOfRange, "false_positive_rate = {rate} for capacity = {capacity} is no first link's")
            })?
        }
        Size::Exact { capacity, bits, hashes } => {
            let rate = spec.real_parameter(&STATED_RATE)?;
            if !(rate > 0.0 && rate < 1.0) || capacity == 0 {
                return Err(error!(
                    Contradiction,
                    "a chain of links needs a capacity and a stated_rate inside (0, 1), not {capacity} and {rate}"
                ));
            }
            let hashes =
                if hashes == 0 { crate::sizing::bloom::optimal_hashes(bits, capacity, MAX_HASHES) } else { hashes };
            Link { bits, hashes, entries: capacity, rate, ..Link::default() }
        }
    };
    let Link { bits, hashes, entries, rate, .. } = link;
    let words = [number, 1, expansion, scaling, bits, tightening.to_bits(), rate.to_bits(), entries];
    links::of_one(hashes, words)
        .ok_or_else(|| error!(OutOfRange, "bits = {bits} with hashes = {hashes} are no link's that can be placed"))
}

/// The rate with `keys` distinct keys in as many links as they need, those after the first as the format sizes them.
fn expected_rate(geometry: &Geometry, keys: u64) -> f64 {
    let [number, _, expansion, scaling, _, tightening, ..] = geometry.words;
    let (Some(row), tightening) = (placement(number), f64::from_bits(tightening)) else { return 1.0 };
    let mut link = Link::first(geometry.hashes, &geometry.words);
    let (mut left, mut rate) = (keys, 0.0);
    // Rates fall from link to link, so more links than this would add nothing.
    for _ in 0..64 {
        let next = if scaling == 0 { link.next(number, expansion, tightening) } else { None };
        let here = if next.is_some() { left.min(link.entries) } else { left };
        rate = either(rate, row.rate(link.modulus(), link.hashes, here));
        left -= here;
        match next {
            Some(next) if left > 0 => link = next,
            _ => break,
        }
    }
    row.with_floor(rate, keys as f64)
}
