//! The kind `ribbon`, the bumped ribbon filter. The kind is static: a filter is built from all of its keys, within half
//! a per cent of the fewest bits that any filter of its rate can have.
//!
//! Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast Succinct Retrieval and Approximate Membership Using
//! Ribbon", 2022. Every key has a run of coefficients, which pick the slots whose exclusive or is the key's fingerprint
//! ([`layout`]). Fingerprints of r bits give a false-positive rate of 2^-r, whatever the keys.
//!
//! Header: `bits` is the payload's bits without those that fill its last line. Word 0 is r, word 1 the number of
//! coefficients, and word 2 the number of distinct keys.

pub mod layout;
pub mod sizing;

use crate::batch::ring::Batch;
use crate::batch::workers::Work;
use crate::blocks::mixing::order;
use crate::blocks::{Measure, View};
use crate::contract::{
    Base, Build, Building, Built, InBytes, Kind, Overfill, Payload, Row, Sizes, Structure, over_base,
};
use crate::error::Result;
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::sizing::{decisive_fingerprint_rate, fingerprint_rate};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use layout::{Fingerprints, Lookup, MAX_BITS, MIN_BITS, Shape};

/// The parameter for the length of fingerprints.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits of a fingerprint: the rate is 2^-bits; 0 is what the rate needs",
    default: 0.0,
    domain: Domain::Automatic(MIN_BITS as u64, MAX_BITS as u64),
    word: Some(0),
};

/// The parameter for the number of coefficients of a key. 128 coefficients need a quarter of the metadata of 64, 0.004
/// bits a key instead of 0.016, but take twice as long to build and a little longer to look up. With 128 coefficients,
/// fingerprints of 1 to 4 bits take 0.005 to 0.008 bits a key more than their own bits. With 64, longer fingerprints
/// take 0.02 more.
pub const RIBBON_WIDTH: Parameter = Parameter {
    name: "ribbon_width",
    summary: "coefficients of a key: 64, or 128 for a smaller and slower filter; 0 is 128 for fingerprints of at most 4 \
              bits, else 64",
    default: 0.0,
    domain: Domain::OneOf(&[0, 64, 128]),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::RIBBON,
    name: "ribbon",
    summary: "the bumped ribbon filter: built once from all keys, 1.003 bits a key for each halving of the rate",
    parameters: &[&FINGERPRINT_BITS, &RIBBON_WIDTH],
    structure: Structure::StaticFilter { open: |base| Ok(try_box(Ribbon::new(base)?)?), build, order },
    sizes: Sizes::ByKeys,
    hashes: (1, 1),
    geometry: |spec, size| Ok(geometry_of(&shape_for(spec, size)?)),
    lines_per_lookup: |geometry| {
        let [columns, width, ..] = geometry.words;
        // A lookup reads a line of metadata, and the lines of a row, which begins anywhere.
        let lines = 2.0 + (columns * (width / 8 + 1)).saturating_sub(1) as f64 / PAYLOAD_UNIT as f64;
        lines.min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    false_positive_rate: |geometry, keys| fingerprint_rate(geometry.words[0] as u32, keys),
    least_rate: |spec, keys| spec.least_rate(&FINGERPRINT_BITS, rate(keys)),
    overfill: Overfill::IsBuilt,
    compact: |packing, geometry| {
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], 8);
        packing.field(&mut geometry.words[2], 40);
        packing.bits(geometry, 0);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let shape = shape_of(&trailer.geometry(ROW.compact)?)?;
            Some(Fingerprints::new(shape, bytes.words()?).contains(hash))
        },
        fetch: |trailer, bytes, hash| {
            let shape = trailer.geometry(ROW.compact).as_ref().and_then(shape_of);
            if let (Some(shape), Some(words)) = (shape, bytes.words()) {
                Fingerprints::new(shape, words).fetch(hash);
            }
        },
    }),
    building: Building {
        // Building keeps, for each key of the largest shard, a row of coefficients, a value, the key's hash and its
        // slot.
        build_memory: |keys| 32 * keys.min(sizing::SHARD_KEYS + 6 * sizing::SHARD_KEYS.isqrt()),
        // A payload has a few more groups of slots than expected, in each shard the rest of a group that is not full,
        // and a group for 16,384 keys, because the number of slots that layers leave free varies.
        most_bytes: Some(|geometry, keys| {
            let shards = sizing::shards(keys);
            let groups = 6 + shards + 3 * shards.isqrt() + (keys >> 14);
            let bytes = geometry.bits / 8 + groups * geometry.words[0] + 16 + 4 * shards;
            bytes.next_multiple_of(PAYLOAD_UNIT)
        }),
    },
    ..Row::BASE
};

/// The geometry of a payload of this shape.
fn geometry_of(shape: &Shape) -> Geometry {
    let words = [shape.columns().into(), shape.width().into(), shape.keys(), 0, 0, 0, 0, 0];
    Geometry { bits: shape.bits(), hashes: 1, words, payload_bytes: shape.words() * 8 }
}

/// The shape that a geometry describes, if it is one of this kind.
fn shape_of(geometry: &Geometry) -> Option<Shape> {
    let [bits, width, keys, ..] = geometry.words;
    let bits = u32::try_from(bits).ok().filter(|bits| (MIN_BITS..=MAX_BITS).contains(bits))?;
    let shape = Shape::new(bits, u32::try_from(width).ok()?, keys, geometry.bits)?;
    (geometry_of(&shape) == *geometry).then_some(shape)
}

/// How many coefficients a key has, with fingerprints of `bits` bits.
fn width_of(spec: &Spec, bits: u32) -> Result<u32> {
    match spec.parameter(&RIBBON_WIDTH)? as u32 {
        0 => Ok(sizing::width(bits).bits),
        width => Ok(width),
    }
}

/// The rate by which the bits of fingerprints are chosen, for `keys` keys.
fn rate(keys: u64) -> impl Fn(u64) -> Option<f64> {
    move |bits| Some(decisive_fingerprint_rate(bits as u32, keys))
}

/// The shape to expect for a spec.
fn shape_for(spec: &Spec, size: Size) -> Result<Shape> {
    let keys = size.capacity();
    spec.parameter(&RIBBON_WIDTH)?;
    let shape = |bits: u64| Shape::expected(bits as u32, width_of(spec, bits as u32).ok()?, keys);
    let bits = spec.choose(size, &FINGERPRINT_BITS, rate(keys), |bits| Some(shape(bits)?.bits()))?;
    shape(bits).ok_or_else(|| size.too_large())
}

/// Makes the payload. Only when the keys are there is it known exactly how many slots they need. If a spec's bits do
/// not hold that many, fingerprints become a bit shorter.
fn build(build: &mut Build<u64>) -> Result<Built> {
    let size = build.size;
    let mut bits = shape_for(build.spec, size)?.columns();
    loop {
        let mut work = Work { memory: build.memory, threads: build.threads, progress: &mut *build.progress };
        let width = width_of(build.spec, bits)?;
        let (shape, words) = Fingerprints::build(build.records, bits, width, &mut work)?;
        match size {
            Size::Exact { bits: most, .. } if shape.bits() > most && bits > MIN_BITS => bits -= 1,
            _ => return Ok(Built { geometry: geometry_of(&shape), words }),
        }
    }
}

/// A ribbon filter over a payload.
struct Ribbon {
    base: Base,
    shape: Shape,
    lookup: Lookup,
}

impl Ribbon {
    fn new(base: Base) -> Result<Ribbon> {
        let shape = base.known(shape_of(base.geometry()))?;
        Ok(Ribbon { shape, lookup: Lookup::new(shape.width(), base.instructions()), base })
    }

    #[inline]
    fn fingerprints(&self) -> Fingerprints<'_> {
        Fingerprints::new(self.shape, self.base.words().shared())
    }
}

impl Payload for Ribbon {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.shape.check(self.base.words().shared())
    }
}

impl Kind for Ribbon {
    fn contains_hash(&self, hash: u64) -> bool {
        self.fingerprints().contains_with(&self.lookup, hash)
    }

    fn fetch(&self, hash: u64) {
        self.fingerprints().fetch(hash);
    }

    fn view(&self) -> Option<View<'_>> {
        Some(self.fingerprints().view())
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.fingerprints().contains_many(&self.lookup, batch);
    }

    /// The places that the measure counts are slots, and every key has one to itself.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        progress(self.base.words().bytes());
        let (keys, slots) = (self.shape.keys(), self.shape.bits() / u64::from(self.shape.columns()));
        Measure::of_cells(keys, slots, fingerprint_rate(self.shape.columns(), keys))
    }
}
