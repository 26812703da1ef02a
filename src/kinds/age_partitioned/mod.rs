//! The kind `age_partitioned`: a ring of slices of bits. A key sets a bit in each of the k youngest slices, and is
//! found in any k consecutive slices.
//!
//! Shtul, Baquero and Almeida, "Age-Partitioned Bloom Filters", 2020. There are k + l slices, each with its own hash
//! function, which never changes. When g keys have come, or time is moved on, the oldest slice is cleared and becomes
//! the youngest. So a slice takes keys for k generations, is about half full then, and stays for l more generations. A
//! key is found until at least l generations have passed, and a window of N keys has g = N / l. That takes (k + l) k /
//! (l ln 2) bits for each key of the window, and fewer the finer the window is divided.
//!
//! [`sizing`] has the exact rate. The size keeps the rate at or below the wanted one even at its largest, just before a
//! step.
//!
//! A generation counts the keys that change something. A key whose bits are in all young slices already is as young as
//! possible; any other key that comes again becomes young again.
//!
//! Hashes pass a bijection first, as in all kinds that divide a hash by its high bits and get hashes from builders in
//! ascending order. [`layout`] says where a key has its bits, and how it is found.

pub mod layout;
pub mod sizing;
mod filter;
mod shape;

use crate::contract::{Capabilities, Form, Losses, Overfill, Row, Sizes, Structure, Window};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use shape::Shape;
use sizing::{MAX_HASHES, MAX_OLD};

/// The parameter for how finely the window is divided.
pub const SLICES: Parameter = Parameter {
    name: "slices",
    summary: "the number of steps in the window: more steps take fewer bits and more cache lines a lookup",
    default: 24.0,
    domain: Domain::Integer(1, MAX_OLD as u64),
    word: Some(0),
};

/// The parameter for what moves the window on.
pub const CLOCK: Parameter = Parameter { word: Some(1), ..crate::spec::CLOCK };

/// How many 64-bit words the state has, the payload's last line.
const STATE_WORDS: usize = 8;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::AGE_PARTITIONED,
    name: "age_partitioned",
    summary: "a window of the last keys, or of time, in slices of bits by age: finer and smaller than rotating",
    capabilities: Capabilities::INSERT.with(Capabilities::CLEAR).with(Capabilities::AGE),
    parameters: &[&SLICES, &CLOCK],
    structure: Structure::Filter { open: filter::open },
    sizes: Sizes::Multiples(1),
    hashes: (1, MAX_HASHES),
    geometry,
    // A scan of the l older slices looks at half of them, two for each k that it leaves out. Then come the k slices of
    // the key.
    lines_per_lookup: |geometry| {
        let lines = f64::from(geometry.hashes) + geometry.words[0] as f64 / f64::from(geometry.hashes.max(1));
        lines.min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    rate_error: |rate| 0.03 * rate,
    false_positive_rate: |geometry, keys| {
        Shape::of(geometry).map_or(1.0, |shape| shape.slices().false_positive_rate(keys))
    },
    is_canonical: false,
    overfill: Overfill::Forgets,
    compact: |packing, geometry| {
        packing.bits(geometry, 8 * PAYLOAD_UNIT);
        packing.field(&mut geometry.words[0], 8);
        packing.field(&mut geometry.words[1], 1);
        packing.field(&mut geometry.words[2], 40);
    },
    form: Form {
        // 24 older slices, and keys move the window on.
        usual_words: |capacity| [24, 0, capacity.div_ceil(24), 0, 0, 0, 0, 0],
        ..Form::BASE
    },
    losses: Losses {
        omissions: Some(|geometry, keys| {
            Shape::of(geometry).map_or(keys as f64, |shape| shape.slices().omissions(keys))
        }),
        false_negative_rate: Some(|geometry, age| {
            Shape::of(geometry).map_or(1.0, |shape| shape.slices().false_negative_rate(age))
        }),
        window: Some(|geometry| Shape::of(geometry).map_or(Window { steps: 0, keys: None }, |shape| shape.window())),
    },
    ..Row::BASE
};

/// The geometry that a spec asks for. Exact `bits` are the total of all slices.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (old, clock) = (spec.parameter(&SLICES)?, spec.parameter(&CLOCK)?);
    let slices = |hashes: u32, keys: u64| sizing::Slices { hashes, old: old as u32, bits: 0, keys: Some(keys) };
    let share = |capacity: u64| if clock == 0 { capacity.div_ceil(old).max(1) } else { capacity.max(1) };
    let (bits, hashes, keys) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let (hashes, keys) = (sizing::best_hashes(old as u32, rate), share(capacity));
            let slices = slices(hashes, keys);
            let each = sizing::slice_bits(slices, rate).ok_or_else(|| size.too_large())?;
            (each.saturating_mul(slices.count().into()), hashes, keys)
        }
        Size::Exact { capacity, bits, hashes } => {
            let keys = share(capacity);
            let hashes = match hashes {
                0 => sizing::best_hashes_of_bits(old as u32, bits, keys),
                hashes => hashes,
            };
            let each = bits / u64::from(slices(hashes, keys).count());
            if each == 0 {
                return Err(error!(
                    Contradiction,
                    "bits = {bits} are not one for each slice: hashes = {hashes}, and slices = {old} besides"
                ));
            }
            // This many keys make the slices half full.
            let fitting = (each as f64 * core::f64::consts::LN_2 / f64::from(hashes)) as u64;
            (bits, hashes, if capacity == 0 { fitting.max(1) } else { keys })
        }
    };
    let each = bits / u64::from(slices(hashes, keys).count());
    // With fewer keys than bits there is always a key that sets a bit in the youngest slice, and so brings the next
    // slice.
    if clock == 0 && keys >= each {
        return Err(error!(
            OutOfRange,
            "capacity = {keys} keys for each of slices = {old} are too many for slices of {each} bits"
        ));
    }
    of_shape(bits, hashes, [old, clock, keys])
}

/// The geometry of slices. Bits left over after dividing them among the slices stay unused.
///
/// # Errors
/// [`Status::TooLarge`](crate::Status::TooLarge) past the address space.
fn of_shape(bits: u64, hashes: u32, [old, clock, keys]: [u64; 3]) -> Result<Geometry> {
    let padded = bits.div_ceil(8).checked_next_multiple_of(PAYLOAD_UNIT).map(|bytes| bytes + PAYLOAD_UNIT);
    Geometry::of_bytes(bits, hashes, [old, clock, keys, 0, 0, 0, 0, 0], padded.filter(|_| bits < 1 << 63))
}
