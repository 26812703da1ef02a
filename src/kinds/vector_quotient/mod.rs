//! The kind `vector_quotient`, a vector quotient filter. Keys can be removed, and insertions take as long in a nearly
//! full filter as in an empty one. [`layout`] has the blocks, and [`sizing`] has sizes and rates.
//!
//! An insertion puts one tag into one of two blocks. If both are full, one entry whose other block has room moves
//! there. If there is no such entry, the key is refused, with nothing changed. So every inserted key is found until it
//! is removed. As many distinct keys as the capacity fit for certain. Copies of one key are in its two blocks, which
//! have 96 slots together, or 56 with tags of 16 bits.
//!
//! The filter cannot tell keys apart that have bucket, tag and pair of blocks in common. A removal of a key that was
//! never inserted, or not so often, is refused if a lookup says no. If a lookup says "maybe", at the false-positive
//! rate, the removal takes a tag of another key, and that key is lost. Counts are those of all keys with the same
//! fingerprint and blocks: never too small, as long as no key was removed more often than it was inserted.
//!
//! Bucket, tag and blocks are all that is known of a key, and all come from its hash. Under a secret key nobody can
//! choose keys that have these in common. Without one, anybody can compute the hash function and choose such keys.
//!
//! Insertions move the entries of other keys, and a reader of an image in place could miss an entry on its way. So
//! images are read in place, but changed in memory only.
//!
//! Header: word 0 is the number of bits of a tag.

pub mod layout;
pub mod sizing;

use crate::contract::{self, Capabilities, Form, InBytes, Overfill, Room, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::generic::fingerprint_filter::{self, TableKind};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use layout::block::WORDS;
use layout::{Blocks, VectorQuotient};

/// The parameter for the length of tags.
pub const TAG_BITS: Parameter = Parameter {
    name: "tag_bits",
    summary: "bits of a tag, 8 or 16; 0 is the best for the rate, or for exact bits and a capacity",
    default: 0.0,
    domain: Domain::OneOf(&[0, 8, 16]),
    word: Some(0),
};

/// The parameter for how often a key may come.
pub const TIMES: Parameter = contract::times(sizing::block(8).0 - 1);

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::VECTOR_QUOTIENT,
    name: "vector_quotient",
    summary: "a vector quotient filter: removes keys, and takes them as fast when it is nearly full as when it is empty",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT),
    parameters: &[&TAG_BITS, &TIMES],
    structure: Structure::Filter { open: fingerprint_filter::open::<VectorQuotient> },
    sizes: Sizes::Multiples(sizing::BLOCK_BITS),
    geometry,
    lines_per_lookup: |_| 2.0,
    false_positive_rate: |geometry, keys| {
        let rate = |blocks: Blocks| sizing::false_positive_rate(blocks.count(), blocks.tag_bits(), keys);
        Blocks::of_geometry(geometry).map_or(1.0, rate)
    },
    is_canonical: false,
    overfill: Overfill::Refuses,
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        packing.field(&mut geometry.words[0], 5);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let blocks = Blocks::of_geometry(&trailer.geometry(ROW.compact)?)?;
            Some(blocks.contains_in(bytes, hash))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(blocks) = trailer.geometry(ROW.compact).as_ref().and_then(Blocks::of_geometry) {
                let place = blocks.place(hash);
                [place.block, place.other].into_iter().for_each(|block| bytes.fetch(block as usize * WORDS));
            }
        },
    }),
    room: Room { copies: Some(|geometry| 2 * sizing::block(geometry.words[0] as u32).0), ..Room::BASE },
    form: Form { moves_entries: true, ..Form::BASE },
    ..Row::BASE
};

impl TableKind for VectorQuotient {}

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let asked = spec.parameter(&TAG_BITS)? as u32;
    let (bits, tag_bits) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let found = sizing::size_for(capacity, rate, asked);
            let found = found.ok_or_else(|| spec.unreachable(size, &TAG_BITS))?;
            (found.blocks * sizing::BLOCK_BITS, found.tag_bits)
        }
        Size::Exact { bits, .. } if bits < sizing::PAIR_BITS => {
            return Err(error!(Contradiction, "bits = {bits} do not hold two blocks of {}", sizing::BLOCK_BITS));
        }
        Size::Exact { bits, .. } => {
            let best = |capacity| sizing::best_tag_bits(bits / sizing::BLOCK_BITS, capacity);
            (bits, spec.set_or_best(bits, &TAG_BITS, best)?)
        }
    };
    Geometry::of_bits(bits, 0, [tag_bits.into(), 0, 0, 0, 0, 0, 0, 0])
}
