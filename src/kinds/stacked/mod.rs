//! The kind `stacked`: a filter that is built once from its members and from *frequent non-members*, keys that are not
//! members but are asked for often. It takes these for members far more rarely than other keys.
//!
//! Deeds, Hentschel and Idreos, "Stacked Filters: Learning to Filter by Structure", 2020. A first level is a ribbon
//! filter of the members. A second level is one of the frequent non-members that pass the first, a third one of the
//! members that pass the second, and so on. A lookup ends with the first level that the key does not pass: a level of
//! members rejects it, and a level of non-members accepts it. A key that passes all levels gets the answer of the last.
//! Every member passes all levels of members, so it is always found.
//!
//! The rate of a spec is the expected share of false answers among all lookups of absent keys. The parameter
//! `frequent_share` says which share of these lookups asks for frequent non-members.
//!
//! Header: word 0 is the bits of the first level. Word 1 has the bits of up to six more levels, six bits each, from the
//! lowest on. `bits` is the payload's bits without those that fill its last line.

mod building;
mod layout;
pub mod plan;
pub mod sizing;

use crate::batch::ring::Batch;
use crate::blocks::Measure;
use crate::blocks::mixing::order;
use crate::contract::{Base, Building, Kind, OtherKeys, Overfill, Payload, Row, Sizes, Structure, over_base};
use crate::error::Result;
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::kinds::ribbon::sizing::{SHARD_KEYS, shards};
use crate::spec::{Domain, KindId, Parameter, Size};
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;
use layout::{Lookups, Shape};
use plan::{FIELDS, MAX_BITS, MAX_LEVELS, Stack};
use sizing::Known;

/// The parameter for the share of lookups that ask for frequent non-members.
pub const FREQUENT_SHARE: Parameter = Parameter {
    name: "frequent_share",
    summary: "which share of all lookups of absent keys asks for the frequent non-members that the builder is given",
    default: 0.5,
    domain: Domain::Real(0.0, 1.0),
    word: None,
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::STACKED,
    name: "stacked",
    summary: "levels, built once from members and frequent non-members: few false answers for non-members that are known",
    parameters: &[&FREQUENT_SHARE],
    structure: Structure::StaticFilter {
        open: |base| Ok(try_box(Stacked::new(base)?)?),
        build: building::build,
        order,
    },
    sizes: Sizes::ByKeys,
    hashes: (1, 1),
    geometry: |spec, size| {
        spec.real_parameter(&FREQUENT_SHARE)?;
        planned(size, &Known::NONE).map(|(geometry, _)| geometry)
    },
    lines_per_lookup: |geometry| {
        // A level is a line of metadata, and the lines of a row, which begins anywhere. A member is asked for in all
        // levels that it passes.
        let Some(stack) = stack_of(geometry) else { return 1.0 };
        let (mut lines, mut passing) = (0.0, 1.0);
        for (i, bits) in stack.0[..stack.levels()].iter().enumerate() {
            lines += passing * (2.0 + (bits * (plan::width(*bits) / 8 + 1)).saturating_sub(1) as f64 / 64.0);
            passing *= if i % 2 == 1 { (-(*bits as f64)).exp2() } else { 1.0 };
        }
        lines.min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    false_positive_rate: |geometry, keys| stack_of(geometry).map_or(1.0, |stack| stack.rate_with(keys)),
    least_rate: |_, keys| Stack::single(MAX_BITS).decisive_rate(0.0, keys),
    overfill: Overfill::IsBuilt,
    compact: |packing, geometry| {
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], FIELDS);
        packing.bits(geometry, 0);
    },
    building: Building {
        // Building solves a shard at a time, as the ribbon does, and keeps the members that pass the second level, at
        // most half of them.
        build_memory: |keys| 32 * keys.min(SHARD_KEYS + 6 * SHARD_KEYS.isqrt()) + 4 * keys,
        // As in the kind `ribbon`, for each level.
        most_bytes: Some(|geometry, keys| {
            let shards = shards(keys);
            let groups = 6 + shards + 3 * shards.isqrt() + (keys >> 14);
            let levels = stack_of(geometry).map_or([0; MAX_LEVELS], |stack| stack.0);
            let bytes = geometry.bits / 8 + groups * levels.iter().sum::<u64>() + 16 + 4 * shards;
            bytes.next_multiple_of(PAYLOAD_UNIT)
        }),
    },
    others: OtherKeys {
        takes_frequent: true,
        knowing: Some(|_, size, others| planned(size, &Known { non_members: others.keys, share: others.share })),
        ..OtherKeys::BASE
    },
    ..Row::BASE
};

/// The geometry to expect for a size with some frequent non-members, and the share of false answers.
///
/// # Errors
/// [`Status::Contradiction`](crate::Status::Contradiction) for too few bits.
fn planned(size: Size, known: &Known) -> Result<(Geometry, f64)> {
    let members = size.capacity();
    let plan = sizing::plan(members, core::slice::from_ref(known), size, u64::MAX)?;
    let shape = Shape::expected(&plan.stack, plan.known.non_members, &plan.keys(members));
    let geometry = shape.and_then(|shape| shape.geometry()).ok_or_else(|| size.too_large())?;
    Ok((geometry, plan.rate()))
}

/// The bits of the levels of a geometry.
fn stack_of(geometry: &Geometry) -> Option<Stack> {
    let [first, rest, ..] = geometry.words;
    Stack::of_words([first, rest])
}

/// Whether a payload of this kind can have this geometry and these words.
pub fn is_known(geometry: &Geometry, words: &[AtomicU64]) -> bool {
    Shape::of(geometry, words).is_some()
}

/// The bits of the levels of a payload with this geometry and these words, if it is one of this kind.
pub fn levels(geometry: &Geometry, words: &[AtomicU64]) -> Option<Stack> {
    Shape::of(geometry, words).map(|shape| *shape.stack())
}

/// A stacked filter over a payload.
struct Stacked {
    base: Base,
    shape: Shape,
    lookups: Lookups,
}

impl Stacked {
    fn new(base: Base) -> Result<Stacked> {
        let shape = Shape::of(base.geometry(), base.words().shared()).ok_or_else(|| base.foreign_geometry())?;
        Ok(Stacked { lookups: Lookups::new(base.instructions()), shape, base })
    }
}

impl Payload for Stacked {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.shape.check(self.base.words().shared())
    }
}

impl Kind for Stacked {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.lookups.contains(&self.shape, self.base.words().shared(), hash)
    }

    fn fetch(&self, hash: u64) {
        self.shape.fetch(self.base.words().shared(), hash);
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.lookups.contains_many(&self.shape, self.base.words().shared(), batch);
    }

    /// The places that the measure counts are the slots of all levels.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        progress(self.base.words().bytes());
        let [keys, slots] = self.shape.places();
        let rate = (ROW.false_positive_rate)(self.base.geometry(), self.shape.members());
        Measure::of_cells(keys, slots, rate)
    }
}
