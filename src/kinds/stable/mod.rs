//! The kind `stable`: cells that count down. Before each key sets its own cells to the maximum, some cells are
//! decremented.
//!
//! Deng and Rafiei, "Approximately Detecting Duplicates for Streaming Data using Stable Bloom Filters", 2006. However
//! many keys come, the share of cells above 0 stays below its stable point, and the false-positive rate below the one
//! that was asked for. Old keys fade: a key is lost when one of its cells was counted down to 0, the more likely the
//! longer ago it came. Now and then a recent key is lost too. The kinds `rotating` and `age_partitioned` keep the keys
//! of their window for certain, in less memory. This kind forgets without steps, and is never full.
//!
//! `capacity` is an age. The filter is so large that a key which came that many insertions ago is lost with a
//! probability of at most `loss` ([`sizing`] has that probability at every age). Each insertion decrements the
//! formula's number of cells rounded up, because rounded down the rate would be exceeded; then the number is raised as
//! far as `loss` allows. So bits, capacity and `loss` determine this number, and a spec with exact bits makes the same
//! filter.
//!
//! A key has a cell in each of k slices of equal length, found as in `age_partitioned`. The cells that are decremented
//! follow each other from a pseudo-random one on. Their bits lie in planes, so a few operations on whole words count 64
//! cells down (`cells`). The seed and the number of insertions decide which cells these are, so the same operations
//! make the same bytes.

pub mod sizing;
mod cells;
mod filter;

use crate::contract::{Capabilities, Form, Losses, Overfill, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::spec::{DEFAULT_FALSE_POSITIVE_RATE, Domain, KindId, Number, Parameter, Size, Spec};
use cells::Shape;
use sizing::MAX_HASHES;

/// The parameter for the bits of a cell, and so for how far it counts.
pub const CELL_BITS: Parameter = Parameter {
    name: "cell_bits",
    summary: "bits of a cell: wider ones forget more sharply at a certain age, narrower ones from the first key on",
    default: 4.0,
    domain: Domain::OneOf(&[1, 2, 3, 4]),
    word: Some(0),
};

/// The parameter for the share of keys that may be lost at the age that is the capacity.
pub const LOSS: Parameter = Parameter {
    name: "loss",
    summary: "the share of keys that may be forgotten capacity insertions after they came",
    default: 0.01,
    domain: Domain::Real(0.01, 0.9),
    word: Some(2),
};

/// How many 64-bit words the state has, which is the payload's last line.
const STATE_WORDS: usize = 8;

/// How many cells have their planes next to each other.
const GROUP: u64 = 64;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::STABLE,
    name: "stable",
    summary: "cells that count down: old keys fade, the rate stays for ever, and recent keys may be lost as well",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::AGE)
        .with(Capabilities::MAY_LOSE_KEYS),
    parameters: &[&CELL_BITS, &LOSS],
    structure: Structure::Filter { open: filter::open },
    sizes: Sizes::Multiples(1),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| {
        Shape::of(geometry).map_or(1.0, |shape| shape.cells.false_positive_rate(keys))
    },
    is_canonical: false,
    overfill: Overfill::Forgets,
    compact: |packing, geometry| {
        packing.bits(geometry, 8 * PAYLOAD_UNIT);
        packing.field(&mut geometry.words[0], 3);
        packing.field(&mut geometry.words[1], 38);
        let mut thousandths = (f64::from_bits(geometry.words[2]) * 1000.0).round() as u64;
        packing.field(&mut thousandths, 10);
        geometry.words[2] = (thousandths as f64 / 1000.0).to_bits();
    },
    form: Form {
        // Cells of four bits, and a loss of 0.01.
        usual_words: |_| [4, 0, 0x3f84_7ae1_47ae_147b, 0, 0, 0, 0, 0],
        ..Form::BASE
    },
    losses: Losses {
        false_negative_rate: Some(|geometry, age| {
            Shape::of(geometry).map_or(1.0, |shape| shape.cells.false_negative_rate(age))
        }),
        ..Losses::BASE
    },
    ..Row::BASE
};

/// The fewest cells of a slice.
const LEAST_CELLS: u64 = 2;

/// The geometry that a spec asks for. Exact `bits` are those of all cells. As many cells are decremented as keep `loss`
/// at `capacity`. If no number does, or there is no capacity, the number is the one that keeps the default rate.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (cell_bits, loss) = (spec.parameter(&CELL_BITS)?, spec.real_parameter(&LOSS)?);
    let greatest = (1 << cell_bits) - 1;
    let (bits, cells) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let hashes = sizing::best_hashes(greatest, capacity, rate, loss);
            let cells = sizing::cells_for(hashes, greatest, capacity, rate, loss).ok_or_else(|| {
                let (rate, loss) = (Number(rate), Number(loss));
                error!(
                    TooLarge,
                    "capacity = {capacity} at false_positive_rate = {rate} and loss = {loss} needs more cells than \
                     can be"
                )
            })?;
            let decrements = sizing::most_decrements(cells, capacity, loss).unwrap_or(0).max(cells.decrements);
            (cells.count().saturating_mul(cell_bits), sizing::Cells { decrements, ..cells })
        }
        Size::Exact { capacity, bits, hashes } => {
            let (rate, count) = (DEFAULT_FALSE_POSITIVE_RATE, bits / cell_bits);
            let hashes = match hashes {
                0 => sizing::best_hashes_of_cells(count, greatest, capacity, rate),
                hashes => hashes,
            };
            let cells = sizing::Cells { hashes, each: count / u64::from(hashes), greatest, decrements: 0 };
            if cells.each < LEAST_CELLS {
                return Err(error!(
                    OutOfRange,
                    "bits = {bits} are fewer than {LEAST_CELLS} cells of cell_bits = {cell_bits} for each of \
                     hashes = {hashes}"
                ));
            }
            let most = if capacity == 0 { None } else { sizing::most_decrements(cells, capacity, loss) };
            match most.or_else(|| sizing::decrements(cells, rate)) {
                Some(decrements) => (bits, sizing::Cells { decrements, ..cells }),
                None => {
                    let rate = Number(rate);
                    return Err(error!(
                        Contradiction,
                        "bits = {bits} are too few cells of cell_bits = {cell_bits} for a false_positive_rate of {rate}"
                    ));
                }
            }
        }
    };
    of_shape(bits, cells.hashes, [cell_bits, cells.decrements, loss.to_bits()])
}

/// The geometry of cells. Bits that are too few for one more cell in each slice stay unused.
///
/// # Errors
/// [`Status::TooLarge`](crate::Status::TooLarge) past the address space.
fn of_shape(bits: u64, hashes: u32, [cell_bits, decrements, loss]: [u64; 3]) -> Result<Geometry> {
    let bytes = bits.div_ceil(GROUP * cell_bits).checked_mul(8 * cell_bits);
    let padded = bytes.and_then(|bytes| bytes.checked_next_multiple_of(PAYLOAD_UNIT)).map(|bytes| bytes + PAYLOAD_UNIT);
    let words = [cell_bits, decrements, loss, 0, 0, 0, 0, 0];
    Geometry::of_bytes(bits, hashes, words, padded.filter(|_| bits < 1 << 63))
}
