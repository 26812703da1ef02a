//! The kind `bloom`: the classic Bloom filter, of any size. [`layout`] has the structure and its mathematics.
//!
//! A key that was hashed with MD5 or SHA is inserted as a hash. Take the digest's first eight bytes, little-endian, and
//! [`crate::Filter::insert_hash`] into a filter whose hash function is `external`.

pub mod layout;

use crate::contract::{Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::generic::bit_filter::{self, FOLDABLE};
use crate::sizing::{self, dependent};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use layout::{Bloom, Derivation, MAX_HASHES, bits_of, slice_width};

/// The parameter that says whether each probe has a slice of its own.
pub const PARTITIONED: Parameter = Parameter {
    name: "partitioned",
    summary: "1 gives each probe of a key a slice of the bits of its own",
    default: 0.0,
    domain: Domain::Integer(0, 1),
    word: Some(0),
};

/// The parameter for the derivation of probes from a hash.
pub const DERIVATION: Parameter = Parameter {
    name: "derivation",
    summary: "how a key's probes come from its hash",
    default: Derivation::Remix as u64 as f64,
    domain: Domain::Choice(&Derivation::NAMES),
    word: Some(1),
};

/// The parameter for the width of the slices of [`Derivation::Slices`]. Folding keeps the width, so that the positions
/// scale.
pub const SLICE_WIDTH: Parameter = Parameter {
    name: "slice_width",
    summary: "bits of a slice with derivation = slices; 0 is what the size needs and 16 more",
    default: 0.0,
    domain: Domain::Integer(0, 64),
    word: Some(2),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(1),
    name: "bloom",
    summary: "the classic Bloom filter: any size, the lowest false-positive rate of the insertable bit arrays",
    capabilities: bit_filter::CAPABILITIES,
    parameters: &[&PARTITIONED, &DERIVATION, &SLICE_WIDTH, &FOLDABLE],
    structure: Structure::Filter { open: bit_filter::open::<Bloom> },
    sizes: Sizes::Multiples(1),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| {
        Bloom::of_geometry(geometry).map_or(1.0, |layout| layout.false_positive_rate(keys))
    },
    compact: Bloom::COMPACT,
    in_bytes: Some(bit_filter::in_bytes::<Bloom>()),
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let is_partitioned = spec.parameter(&PARTITIONED)? == 1;
    let derivation = spec.parameter(&DERIVATION)?;
    let foldable = bit_filter::is_foldable(spec, &size)?;
    let (bits, hashes) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let scheme = Derivation::from_number(derivation).and_then(Derivation::scheme);
            if scheme.is_some() && foldable {
                // These schemes need a range without small factors, and such a range cannot be folded.
                let name = Derivation::NAMES[derivation as usize];
                return Err(error!(
                    Contradiction,
                    "foldable = 1 keeps no false_positive_rate with derivation = {name}: give bits instead, or \
                     derivation = remix"
                ));
            }
            // Folding divides units: all bits, or the bits of a slice.
            let least = match (scheme, is_partitioned) {
                (Some(scheme), _) => dependent::size_for(scheme, is_partitioned, capacity, rate, MAX_HASHES),
                (None, true) => sizing::bloom::partitioned_size_for(capacity, rate, MAX_HASHES)
                    .map(|size| (size.slice_bits, size.hashes)),
                (None, false) => {
                    sizing::bloom::size_for(capacity, rate, MAX_HASHES).map(|size| (size.bits, size.hashes))
                }
            };
            let hashes = least.map_or(1, |(_, hashes)| hashes);
            let units = bit_filter::units_for(least.map(|(units, _)| units), foldable, size)?;
            let bits = units.checked_mul(if is_partitioned { hashes.into() } else { 1 });
            (bit_filter::units_for(bits, false, size)?, hashes)
        }
        Size::Exact { capacity, bits, hashes: 0 } => (bits, sizing::bloom::optimal_hashes(bits, capacity, MAX_HASHES)),
        Size::Exact { bits, hashes, .. } => (bits, hashes),
    };
    let slices = if is_partitioned { u64::from(hashes) } else { 1 };
    let range = bits / slices;
    if range == 0 {
        return Err(error!(Contradiction, "bits = {bits} are fewer than the hashes = {hashes} slices"));
    }
    let slice_width = match (derivation == Derivation::Slices as u64, spec.parameter(&SLICE_WIDTH)?) {
        (true, 0) => slice_width(range),
        (true, width) if width < bits_of(range).into() => {
            return Err(error!(Contradiction, "slice_width = {width} is too few for positions below {range}"));
        }
        (true, width) => width as u32,
        (false, 0) => 0,
        (false, width) => {
            return Err(error!(Contradiction, "slice_width = {width} has no meaning without derivation = slices"));
        }
    };
    let words = [is_partitioned.into(), derivation, slice_width.into(), 0, 0, 0, 0, 0];
    Geometry::of_bits(range * slices, hashes, words)
}
