//! The kind `fuse`, the binary fuse filter. The kind is static: a filter is built from all of its keys, and is smaller
//! than any filter that takes keys one by one at the same rate.
//!
//! Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022. Every key has three or four cells,
//! whose exclusive or is the key's fingerprint ([`layout`]). Fingerprints of r bits give a false-positive rate of 2^-r,
//! whatever the keys. With many keys they take 1.125 r bits a key ([`sizing`]).
//!
//! Header: `bits` is the number of cells times r, and `hashes` is how many cells a key has. Word 0 is r, word 1 the
//! number of shards, word 2 the number of distinct keys, and word 3 the same as `hashes`.

pub mod layout;
pub mod sizing;

use crate::batch::ring::Batch;
use crate::batch::workers::Work;
use crate::blocks::mixing::order;
use crate::blocks::{Measure, Probe, View};
use crate::contract::{
    Base, Build, Building, Built, InBytes, Kind, Overfill, Payload, Row, Sizes, Structure, over_base,
};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::sizing::{decisive_fingerprint_rate, fingerprint_rate};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use layout::{ARITIES, Cells, Fingerprints, MAX_BITS, MIN_BITS, Shape};

/// The parameter for the length of fingerprints.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits of a fingerprint: the rate is 2^-bits; 0 is what the rate needs",
    default: 0.0,
    domain: Domain::Automatic(MIN_BITS as u64, MAX_BITS as u64),
    word: Some(0),
};

/// The parameter for the number of cells of a key. A fourth cell saves a twentieth of the memory, but costs each lookup
/// another cache line, which is what lookups in a large filter wait for. So the default is three cells.
pub const ARITY: Parameter = Parameter {
    name: "arity",
    summary: "cells of a key: 3, or 4 for a smaller filter whose lookups read one line more",
    default: *ARITIES.start() as f64,
    domain: Domain::Integer(*ARITIES.start() as u64, *ARITIES.end() as u64),
    word: Some(3),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::FUSE,
    name: "fuse",
    summary: "the binary fuse filter: built once from all keys, 1.13 bits a key for each halving of the rate",
    parameters: &[&FINGERPRINT_BITS, &ARITY],
    structure: Structure::StaticFilter { open: |base| Ok(try_box(Fuse::new(base)?)?), build, order },
    sizes: Sizes::ByKeys,
    hashes: (*ARITIES.start(), *ARITIES.end()),
    geometry: |spec, size| Ok(geometry_of(&shape_for(spec, size)?, size.capacity())),
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| fingerprint_rate(geometry.words[0] as u32, keys),
    least_rate: |spec, keys| spec.least_rate(&FINGERPRINT_BITS, rate(keys)),
    overfill: Overfill::IsBuilt,
    compact: |packing, geometry| {
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], 15);
        packing.field(&mut geometry.words[2], 33);
        geometry.words[3] = geometry.hashes.into();
        let directory = 128 * geometry.words[1];
        packing.bits(geometry, directory);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let shape = shape_of(&trailer.geometry(ROW.compact)?)?;
            Some(Fingerprints::contains_in(&shape, bytes.words()?, hash))
        },
        fetch: |trailer, bytes, hash| {
            let shape = trailer.geometry(ROW.compact).as_ref().and_then(shape_of);
            if let (Some(shape), Some(words)) = (shape, bytes.words()) {
                Fingerprints::new(shape, words).fetch(hash);
            }
        },
    }),
    building: Building { build_memory: sizing::build_memory, ..Building::BASE },
    ..Row::BASE
};

/// The geometry of a payload of this shape with `keys` distinct keys.
fn geometry_of(shape: &Shape, keys: u64) -> Geometry {
    let bits = shape.cells() * u64::from(shape.width());
    let words = [shape.width().into(), shape.shards(), keys, shape.arity().into(), 0, 0, 0, 0];
    Geometry { bits, hashes: shape.arity(), words, payload_bytes: shape.words() * 8 }
}

/// The shape that a geometry describes, if it is one of this kind.
fn shape_of(geometry: &Geometry) -> Option<Shape> {
    let [width, shards, keys, ..] = geometry.words;
    let width = u32::try_from(width).ok().filter(|width| (MIN_BITS..=MAX_BITS).contains(width))?;
    let shape = Shape::new(geometry.hashes, width, shards, geometry.bits / u64::from(width))?;
    // Every key has a cell to itself, so there are no more keys than cells.
    let known = (keys == 0) == (shards == 0) && keys <= shape.cells() && geometry_of(&shape, keys) == *geometry;
    known.then_some(shape)
}

/// How many cells a key gets.
fn arity_of(spec: &Spec, size: Size) -> Result<u32> {
    let arity = spec.parameter(&ARITY)? as u32;
    match size {
        Size::Exact { hashes, .. } if hashes != 0 && hashes != arity => {
            Err(error!(Contradiction, "hashes = {hashes} are not arity = {arity}, which they are of fuse: set arity"))
        }
        _ => Ok(arity),
    }
}

/// The rate by which the bits of fingerprints are chosen, for `keys` keys.
fn rate(keys: u64) -> impl Fn(u64) -> Option<f64> {
    move |bits| Some(decisive_fingerprint_rate(bits as u32, keys))
}

/// The expected shape for a spec.
fn shape_for(spec: &Spec, size: Size) -> Result<Shape> {
    let (arity, keys) = (arity_of(spec, size)?, size.capacity());
    let shape = |width: u64| Shape::expected(arity, width as u32, keys);
    let bits = |width: u64| Some(shape(width)?.cells().max(1) * width);
    let width = spec.choose(size, &FINGERPRINT_BITS, rate(keys), bits)?;
    shape(width).ok_or_else(|| size.too_large())
}

/// Makes the payload. How many cells the keys need is known exactly only when they are divided into shards. If a spec's
/// bits do not hold that many, fingerprints become a bit shorter.
fn build(build: &mut Build<u64>) -> Result<Built> {
    let keys = build.records.count();
    let size = build.size;
    let expected = shape_for(build.spec, size)?;
    let (arity, mut bits) = (expected.arity(), expected.width());
    loop {
        let mut work = Work { memory: build.memory, threads: build.threads, progress: &mut *build.progress };
        let (shape, words) = Fingerprints::build(build.records, Cells::fewest(arity, bits), &mut work)?;
        let geometry = geometry_of(&shape, keys);
        match size {
            Size::Exact { bits: most, .. } if geometry.bits > most && bits > MIN_BITS => bits -= 1,
            _ => return Ok(Built { geometry, words }),
        }
    }
}

/// A binary fuse filter over a payload.
struct Fuse {
    base: Base,
    shape: Shape,
}

impl Fuse {
    fn new(base: Base) -> Result<Fuse> {
        let shape = base.known(shape_of(base.geometry()))?;
        Ok(Fuse { shape, base })
    }

    #[inline]
    fn fingerprints(&self) -> Fingerprints<'_> {
        Fingerprints::new(self.shape, self.base.words().shared())
    }
}

impl Payload for Fuse {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.shape.check(self.base.words().shared())
    }
}

impl Kind for Fuse {
    fn contains_hash(&self, hash: u64) -> bool {
        Fingerprints::contains_in(&self.shape, self.base.words().shared(), hash)
    }

    fn fetch(&self, hash: u64) {
        self.fingerprints().fetch(hash);
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.fingerprints().contains_many(self.base.instructions(), batch);
    }

    fn view(&self) -> Option<View<'_>> {
        Some(self.fingerprints().view())
    }

    fn probe(&self) -> Option<Probe<'_>> {
        self.fingerprints().probe()
    }

    /// The places that the measure counts are cells, and every key has a cell to itself.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        progress(self.base.words().bytes());
        let keys = self.base.geometry().words[2];
        Measure::of_cells(keys, self.shape.cells(), fingerprint_rate(self.shape.width(), keys))
    }
}
