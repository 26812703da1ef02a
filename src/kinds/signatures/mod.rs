//! The kind `signatures`, a static table of cuckoo signatures: built from all of its keys, with few bits for lookups
//! that may touch only two cache lines. [`layout`] has the structure.
//!
//! A cuckoo hash table is filled with the keys at hand, near the load that such tables can have at all (Fountoulakis,
//! Khosla and Panagiotou, 2011). Then each key is replaced by a signature of r bits. A table with d choices and b slots
//! a bucket at load a has the rate d b a / (2^r - 1), whatever the keys ([`sizing`]). The kinds `fuse` and `ribbon` are
//! smaller.
//!
//! Header: `bits` is the number of slots times r. Word 0 is r, word 1 the shape of buckets, and word 2 the number of
//! shards.

pub mod layout;
pub mod sizing;

use crate::batch::ring::{self, Batch};
use crate::blocks::Measure;
use crate::contract::{
    Base, Build, Building, Built, InBytes, Kind, Overfill, Payload, Row, Sizes, Structure, ahead, over_base,
};
use crate::error::Result;
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::sizing::hash_floor;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use core::sync::atomic::Ordering;
use layout::{MAX_BITS, MIN_BITS, Shape, order};
use sizing::{NAMES, SHAPES};

/// The parameter for the length of signatures.
pub const SIGNATURE_BITS: Parameter = Parameter {
    name: "signature_bits",
    summary: "bits of a signature; 0 is what the rate needs",
    default: 0.0,
    domain: Domain::Automatic(MIN_BITS as u64, MAX_BITS as u64),
    word: Some(0),
};

/// The parameter for how many buckets a key chooses from, and how many slots a bucket has.
pub const BUCKETS: Parameter = Parameter {
    name: "buckets",
    summary: "the buckets that a key chooses from, times the slots of a bucket",
    default: 0.0,
    domain: Domain::Choice(&NAMES),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::SIGNATURES,
    name: "signatures",
    summary: "a static table of cuckoo signatures: built once from all keys, two cache lines a lookup",
    parameters: &[&SIGNATURE_BITS, &BUCKETS],
    structure: Structure::StaticFilter { open: |base| Ok(try_box(Signatures::new(base)?)?), build, order },
    sizes: Sizes::ByKeys,
    geometry: |spec, size| geometry_of(&shape_for(spec, size)?),
    lines_per_lookup: |geometry| {
        let choices = SHAPES.get(geometry.words[1] as usize).map_or(1, |buckets| buckets.choices);
        f64::from(choices).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    false_positive_rate: |geometry, keys| shape_of(geometry).map_or(1.0, |shape| rate_of(&shape, keys)),
    rate_error: |_| 0.005,
    least_rate: |spec, keys| spec.least_rate(&SIGNATURE_BITS, rate(spec, keys)),
    overfill: Overfill::IsBuilt,
    compact: |packing, geometry| {
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], 3);
        packing.field(&mut geometry.words[2], 32);
        let directory = 64 * geometry.words[2];
        packing.bits(geometry, directory);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let shape = shape_of(&trailer.geometry(ROW.compact)?)?;
            Some(shape.contains(hash, &bytes))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(shape) = trailer.geometry(ROW.compact).as_ref().and_then(shape_of) {
                shape.fetch(hash, |word| bytes.word(word), |word| bytes.fetch(word));
            }
        },
    }),
    building: Building { build_memory: sizing::build_memory, ..Building::BASE },
    ..Row::BASE
};

/// The geometry of a payload of this shape.
fn geometry_of(shape: &Shape) -> Result<Geometry> {
    let place = SHAPES.iter().position(|buckets| *buckets == shape.buckets()).unwrap_or(0);
    let words = [shape.width().into(), place as u64, shape.shards(), 0, 0, 0, 0, 0];
    Geometry::of_bytes(shape.bits(), 0, words, shape.words().checked_mul(8))
}

/// The shape that a geometry describes, if it is one of this kind.
fn shape_of(geometry: &Geometry) -> Option<Shape> {
    let [width, buckets, shards, ..] = geometry.words;
    let width = u32::try_from(width).ok().filter(|width| (MIN_BITS..=MAX_BITS).contains(width))?;
    let slots = SHAPES.get(usize::try_from(buckets).ok()?)?.slots;
    let shape = Shape::new(width, buckets, shards, geometry.bits / u64::from(width * slots))?;
    (geometry_of(&shape).ok()? == *geometry).then_some(shape)
}

/// The rate of a table of this shape with `keys` keys.
fn rate_of(shape: &Shape, keys: u64) -> f64 {
    let shards = shape.shards() as f64;
    shape.buckets().false_positive_rate(shape.width(), shards, shape.length() as f64 / shards, keys)
}

/// The expected shape for `keys` keys with signatures of `width` bits.
fn expected(spec: &Spec, width: u64, keys: u64) -> Option<Shape> {
    let (buckets, shards) = (spec.parameter(&BUCKETS).ok()?, sizing::shards(keys));
    let each = SHAPES[buckets as usize].length(keys.div_ceil(shards));
    Shape::new(width as u32, buckets, shards, shards.saturating_mul(each))
}

/// The rate of `keys` keys, by the bits of their signatures.
fn rate(spec: &Spec, keys: u64) -> impl Fn(u64) -> Option<f64> {
    move |bits| Some(rate_of(&expected(spec, bits, keys)?, keys))
}

/// The shape to expect for a spec.
fn shape_for(spec: &Spec, size: Size) -> Result<Shape> {
    let keys = size.capacity();
    spec.parameter(&BUCKETS)?;
    let bits = |width| expected(spec, width, keys)?.slots().count.checked_mul(width);
    let width = spec.choose(size, &SIGNATURE_BITS, rate(spec, keys), bits)?;
    expected(spec, width, keys).ok_or_else(|| size.too_large())
}

/// Makes the payload, which may come out larger than expected. If a spec's bits do not hold that, signatures become a
/// bit shorter.
fn build(build: &mut Build<u64>) -> Result<Built> {
    let size = build.size;
    let mut shape = shape_for(build.spec, size)?;
    loop {
        let (built, words) = layout::build(build.records, shape, &mut *build.progress)?;
        match size {
            Size::Exact { bits, .. } if built.bits() > bits && shape.width() > MIN_BITS => {
                shape = shape.with_width(shape.width() - 1)
            }
            _ => return Ok(Built { geometry: geometry_of(&built)?, words }),
        }
    }
}

/// A table over a payload.
struct Signatures {
    base: Base,
    shape: Shape,
}

impl Signatures {
    fn new(base: Base) -> Result<Signatures> {
        let shape = base.known(shape_of(base.geometry()))?;
        Ok(Signatures { shape, base })
    }

    /// The word of the payload at a place.
    #[inline]
    fn word(&self) -> impl Fn(usize) -> u64 {
        let words = self.base.words().shared();
        |place| words[place].load(Ordering::Relaxed)
    }
}

impl Payload for Signatures {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.shape.check(self.base.words().shared())
    }
}

impl Kind for Signatures {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.shape.contains(hash, self.base.words().shared())
    }

    fn fetch(&self, hash: u64) {
        self.shape.fetch(hash, self.word(), |word| ring::fetch_word(self.base.words().shared(), word));
    }

    /// Finding the lines of a key takes most of the steps of a lookup, so they are fetched in very large tables only.
    fn contains_many(&self, batch: &mut dyn Batch) {
        let far = if ring::is_very_far(self.base.words().shared().len()) { ahead(self) } else { 0 };
        let fetch = |_: &(), hash| self.fetch(hash);
        ring::rolling(&mut (), far, batch, fetch, ring::nothing, |_, hash| self.contains_hash(hash));
    }

    /// Every key has a slot, so the taken slots say how many keys there are.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (shape, words) = (self.shape, self.base.words().shared());
        let taken = shape.slots().taken(shape.slot_words(words), progress);
        let rate = layout::exact::rate(&shape, words).unwrap_or_else(|| rate_of(&shape, taken));
        Measure::of_cells(taken, shape.slots().count, rate.max(hash_floor(taken, 64)))
    }
}
