//! The kind `exact_set`: a filter that makes no error for any key of a known universe, built once from all of its keys.
//!
//! The builder is given members and *excluded* keys, which together are the universe. One side is stored, the members
//! or the excluded keys. A first level is a ribbon filter of the stored side. It lets the keys of that side pass, and
//! some of the others by mistake. A second level has one bit for each key of the universe that passes, which says on
//! which side the key is. This is the partition of Hamilton and Larisch and others, "Clubcards for the WebPKI", 2025.
//! Keys outside the universe pass with the rate of the first level, and half of them meet the right bit, because the
//! bit that the second level stores is combined with a bit of the key's fingerprint. So `fingerprint_bits` counts the
//! bits of both levels, and the rate for non-members is 2^-bits, whatever the universe.
//!
//! Header: word 0 is the bits of both levels. Word 1 is 1 if the members are stored, and 2 if the excluded keys are.
//! `bits` is the payload's bits without those that fill its last line.

mod building;
mod layout;
pub mod parts;
mod plan;
pub mod sizing;

pub use layout::{EXCLUDED, order};

use crate::batch::ring::Batch;
use crate::blocks::Measure;
use crate::contract::{
    Base, Building, Hashing, Kind, OtherKeys, Overfill, Partitioning, Payload, Row, Sizes, Structure, over_base,
};
use crate::error::Result;
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::kinds::ribbon::sizing::{SHARD_KEYS, shards};
use crate::spec::{Domain, KindId, Parameter, Spec};
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;
use layout::{EXCLUDED_STORED, Levels, Shape};
use plan::{MAX_BITS, MIN_BITS};

/// The parameter for the bits of both levels.
pub const FINGERPRINT_BITS: Parameter = Parameter {
    name: "fingerprint_bits",
    summary: "bits of both levels: the rate for non-members is 2^-bits; 0 is the fewest bits, or what the rate needs",
    default: 0.0,
    domain: Domain::Automatic(MIN_BITS, MAX_BITS),
    word: Some(0),
};

/// The parameter for the bytes of a key that choose its partition.
pub const PARTITION_PREFIX_BYTES: Parameter = Parameter {
    name: "partition_prefix_bytes",
    summary: "the first bytes of a key are its partition, and each partition is stored as suits its share of members",
    default: 0.0,
    domain: Domain::Integer(0, parts::MAX_PREFIX),
    word: Some(parts::PREFIX_WORD),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::EXACT_SET,
    name: "exact_set",
    summary: "two levels, built once from members and excluded keys: no error for any of them, near the fewest bits",
    parameters: &[&FINGERPRINT_BITS, &PARTITION_PREFIX_BYTES],
    structure: Structure::StaticFilter {
        open: |base| match parts::has_parts(base.geometry()) {
            true => Ok(try_box(parts::ExactParts::new(base)?)?),
            false => Ok(try_box(ExactSet::new(base)?)?),
        },
        build: building::build,
        order,
    },
    identity: parts::building::identity,
    sizes: Sizes::ByKeys,
    hashes: (1, 1),
    geometry: |spec, size| {
        let keys = size.capacity();
        let rate = |bits: u64| Some(sizing::decisive_rate(bits, false, keys));
        let plan = |bits: u64| plan::Plan { bits, is_inverted: false, stored: keys, others: 0 };
        let bits = spec.choose(size, &FINGERPRINT_BITS, rate, |bits| plan(bits).expected_bits())?;
        let geometry = Shape::expected(&plan(bits)).and_then(|shape| shape.geometry());
        geometry.ok_or_else(|| size.too_large())
    },
    lines_per_lookup: |geometry| {
        if parts::has_parts(geometry) {
            // A line of the directory, and those of the sets.
            return 1.0 + 4.0 * (1 + geometry.words[parts::UPDATES_WORD]) as f64;
        }
        // A level takes a line of metadata and the lines of a row, which begins anywhere.
        let lines = |row_bytes: u64| 2.0 + row_bytes.saturating_sub(1) as f64 / PAYLOAD_UNIT as f64;
        let columns = geometry.words[0].saturating_sub(1);
        let first = if columns == 0 { 0.0 } else { lines(columns * (plan::width(columns) / 8 + 1)) };
        (first + lines(plan::width(1) / 8 + 1)).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    false_positive_rate: |geometry, keys| {
        if parts::has_parts(geometry) {
            return f64::from_bits(geometry.words[parts::RATE_WORD]).clamp(0.0, 1.0);
        }
        sizing::false_positive_rate(geometry.words[0], geometry.words[1] == EXCLUDED_STORED, keys)
    },
    least_rate: |spec, keys| spec.least_rate(&FINGERPRINT_BITS, |bits| Some(sizing::decisive_rate(bits, false, keys))),
    overfill: Overfill::IsBuilt,
    compact: |packing, geometry| {
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], 2);
        packing.bits(geometry, 0);
    },
    building: Building {
        // Building solves a shard at a time, as the ribbon does, and keeps the keys that pass.
        build_memory: |keys| 32 * keys.min(SHARD_KEYS + 6 * SHARD_KEYS.isqrt()) + 8 * keys,
        // As in the kind `ribbon`, for each level.
        most_bytes: Some(|geometry, keys| {
            let shards = shards(keys);
            let groups = 6 + shards + 3 * shards.isqrt() + (keys >> 14);
            let bytes = geometry.bits / 8 + groups * geometry.words[0] + 16 + 8 * shards;
            (bytes + 2 * PAYLOAD_UNIT).next_multiple_of(PAYLOAD_UNIT)
        }),
    },
    hashing: Hashing { takes_whole: |geometry| geometry.words[parts::PREFIX_WORD] != 0, ..Hashing::BASE },
    others: OtherKeys {
        excludes: Some(|geometry, words| match parts::has_parts(geometry) {
            true => parts::members(geometry, words),
            false => Shape::of(geometry, words).map_or(0, |shape| shape.members()),
        }),
        parts: Some(Partitioning {
            prefix_bytes: |spec| {
                let prefix_bytes = spec.parameter(&PARTITION_PREFIX_BYTES)?;
                parts::check_hash(prefix_bytes, spec.hash)?;
                Ok(prefix_bytes)
            },
            keeps: |geometry, spec| Ok(geometry.words[parts::PREFIX_WORD] == spec.parameter(&PARTITION_PREFIX_BYTES)?),
            build: |build, prefixes| parts::building::build(build, &asked(build.spec)?, prefixes),
            update: |build, old| parts::building::update(build, &asked(build.spec)?, old),
            update_placed: |build, prefixes, old| {
                parts::building::update_placed(build, &asked(build.spec)?, old, prefixes)
            },
        }),
        // No key of the universe gets a false answer, whatever rate or memory was asked for.
        knowing: Some(|spec, size, others| {
            let (members, allowed) = (size.capacity(), spec.allowed(&FINGERPRINT_BITS)?);
            let plan = sizing::smallest(members, others.keys, allowed, 1.0).ok_or_else(|| size.too_large())?;
            let geometry = Shape::expected(&plan).and_then(|shape| shape.geometry());
            Ok((geometry.ok_or_else(|| size.too_large())?, 0.0))
        }),
        ..OtherKeys::BASE
    },
    ..Row::BASE
};

/// Whether a payload of this kind can have this geometry and these words.
pub fn is_known(geometry: &Geometry, words: &[AtomicU64]) -> bool {
    match parts::has_parts(geometry) {
        true => parts::is_known(geometry, words),
        false => Shape::of(geometry, words).is_some(),
    }
}

/// What a spec asks for in sets of several parts.
fn asked(spec: &Spec) -> Result<parts::building::Limits> {
    let prefix_bytes = spec.parameter(&PARTITION_PREFIX_BYTES)?;
    Ok(parts::building::Limits { allowed: spec.allowed(&FINGERPRINT_BITS)?, prefix_bytes })
}

/// An exact set over a payload.
struct ExactSet {
    base: Base,
    shape: Shape,
    levels: Levels,
}

impl ExactSet {
    fn new(base: Base) -> Result<ExactSet> {
        let shape = Shape::of(base.geometry(), base.words().shared()).ok_or_else(|| base.foreign_geometry())?;
        Ok(ExactSet { levels: Levels::new(&shape, base.instructions()), shape, base })
    }
}

impl Payload for ExactSet {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.shape.check(self.base.words().shared())
    }
}

impl Kind for ExactSet {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.levels.contains(&self.shape, self.base.words().shared(), hash)
    }

    fn fetch(&self, hash: u64) {
        self.shape.fetch(self.base.words().shared(), hash);
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.levels.contains_many(&self.shape, self.base.words().shared(), batch);
    }

    /// The places that the measure counts are the slots of both levels.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        progress(self.base.words().bytes());
        let [keys, slots] = self.shape.places();
        let rate = (ROW.false_positive_rate)(self.base.geometry(), self.shape.members());
        Measure::of_cells(keys, slots, rate)
    }
}
