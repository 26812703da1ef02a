//! The kind `bloom`: the classic Bloom filter, of any size. [`layout`] has the structure and its mathematics.
//!
//! Keys that were hashed with MD5, SHA or BLAKE3 have a special hash function, `digest`: [`fields`] cuts the positions
//! of such a key out of the whole digest.

pub mod fields;
pub mod layout;

use crate::contract::{Base, Capabilities, Hashing, Kind, Row, Sizes, Structure, Varying};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::generic::bit_filter::{self, FOLDABLE};
use crate::hash::HashFunction;
use crate::sizing::{self, dependent};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use layout::{Bloom, Derivation, MAX_HASHES, bits_of, slice_width};

/// The parameter that says whether each probe has its own slice.
pub const PARTITIONED: Parameter = Parameter {
    name: "partitioned",
    summary: "1 gives each probe of a key its own slice of the bits",
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
    kind: KindId::BLOOM,
    name: "bloom",
    summary: "the classic Bloom filter: any size, the lowest false-positive rate of the insertable bit arrays",
    capabilities: bit_filter::CAPABILITIES,
    parameters: &[&PARTITIONED, &DERIVATION, &SLICE_WIDTH, &FOLDABLE],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(1),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| {
        Bloom::of_geometry(geometry).map_or(1.0, |layout| layout.false_positive_rate(keys))
    },
    compact: Bloom::COMPACT,
    in_bytes: Some(bit_filter::in_bytes::<Bloom>()),
    varying: Varying {
        lacks: |geometry| match geometry.words[FIELD_WIDTH] {
            0 => Capabilities::NONE,
            _ => Capabilities::INSERT_SHARED,
        },
        ..Varying::BASE
    },
    hashing: Hashing { takes_digests: true, ..Hashing::BASE },
    ..Row::BASE
};

/// The word of the geometry that has the number of bits of a digest's field, or 0.
const FIELD_WIDTH: usize = 3;

fn open(base: Base) -> Result<Box<dyn Kind>> {
    match (base.hasher().function() == HashFunction::Digest, base.geometry().words[FIELD_WIDTH]) {
        (true, _) => fields::open(base),
        (false, 0) => bit_filter::open::<Bloom>(base),
        (false, _) => Err(base.foreign_geometry()),
    }
}

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let is_partitioned = spec.parameter(&PARTITIONED)? == 1;
    let derivation = spec.parameter(&DERIVATION)?;
    let foldable = bit_filter::is_foldable(spec, &size)?;
    let digest_bits = (spec.hash == HashFunction::Digest).then_some(spec.seed);
    if digest_bits.is_some() {
        spec.hasher()?;
    }
    if digest_bits.is_some() && derivation != Derivation::Remix as u64 {
        let name = Derivation::NAMES[derivation as usize];
        return Err(error!(
            Contradiction,
            "derivation = {name} has no meaning with hash = digest, whose fields are the positions"
        ));
    }
    let range_of = |bits: u64, hashes: u32| if is_partitioned { bits / u64::from(hashes) } else { bits };
    let too_short = |digest_bits: u64, bits: u64, hashes: u32| {
        let least = fields::least_width(range_of(bits, hashes).max(1));
        error!(
            Contradiction,
            "seed = {digest_bits} is too few bits for a digest: bits = {bits} with hashes = {hashes} need {least} bits for \
             each hash"
        )
    };
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
            let size_with = |most: u32| {
                let least = match (scheme, is_partitioned) {
                    (Some(scheme), _) => dependent::size_for(scheme, is_partitioned, capacity, rate, most),
                    (None, true) => sizing::bloom::partitioned_size_for(capacity, rate, most)
                        .map(|size| (size.slice_bits, size.hashes)),
                    (None, false) => sizing::bloom::size_for(capacity, rate, most).map(|size| (size.bits, size.hashes)),
                };
                let hashes = least.map_or(1, |(_, hashes)| hashes);
                let units = bit_filter::units_for(least.map(|(units, _)| units), foldable, size)?;
                let bits = units.checked_mul(if is_partitioned { hashes.into() } else { 1 });
                Ok((bit_filter::units_for(bits, false, size)?, hashes))
            };
            match digest_bits {
                None => size_with(MAX_HASHES)?,
                Some(digest_bits) => match fields::size_for(digest_bits, range_of, size_with)? {
                    Some(size) => size,
                    None => {
                        let (bits, hashes) = size_with(MAX_HASHES)?;
                        return Err(too_short(digest_bits, bits, hashes));
                    }
                },
            }
        }
        Size::Exact { capacity, bits, hashes: 0 } => {
            let best = sizing::bloom::optimal_hashes(bits, capacity, MAX_HASHES);
            let has_fields = |hashes: &u32| {
                digest_bits.is_none_or(|digest_bits| fields::are_there(digest_bits, *hashes, range_of(bits, *hashes)))
            };
            (bits, (1..=best).rev().find(has_fields).unwrap_or(1))
        }
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
    let field_width = match digest_bits {
        Some(digest_bits) if !fields::are_there(digest_bits, hashes, range) => {
            return Err(too_short(digest_bits, bits, hashes));
        }
        Some(digest_bits) => fields::width(digest_bits, hashes),
        None => 0,
    };
    let words = [is_partitioned.into(), derivation, slice_width.into(), field_width.into(), 0, 0, 0, 0];
    Geometry::of_bits(range * slices, hashes, words)
}
