//! The kind `digest`: which blocks of bytes the payloads of a digest had, and where (Shanmugasundaram, Brönnimann and
//! Memon, "Payload Attribution via Hierarchical Bloom Filters", 2004; Ponec, Giura, Brönnimann and Wein, "Highly
//! Efficient Techniques for Network Forensics", 2007).
//!
//! A payload is cut into blocks ([`cut`]). One Bloom filter takes an entry for each block and for each group of 2^level
//! consecutive blocks ([`entries`]). If the digest keeps the ids of payloads, each block has one more entry, with the
//! number of the *segment* in which the block begins. Segments are parts of payloads, all of one length, and numbered
//! through all payloads, so a payload may have any length. [`layout`] says how filter, table of payloads and attachment
//! lie; [`sizing`] has the rates.

mod add;
pub mod cut;
pub mod entries;
mod find;
mod handle;
pub mod layout;
pub mod sizing;

pub use find::{DigestFindOptions, DigestFindResult, DigestMatch};
pub use handle::{Digest, DigestStatistics};

use crate::contract::{Base, Capabilities, Handle, Payload, Row, Sizes, Structure, over_base};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::hash::HashFunction;
use crate::sizing::bloom;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use layout::{Cut, MAX_HASHES, Shape};

/// The kind's number.
pub const KIND: KindId = KindId::DIGEST;

/// The bytes of a block.
pub static BLOCK_BYTES: Parameter = Parameter {
    name: "block_bytes",
    summary: "the bytes of a block; with cut = content the bytes that a block has on average",
    default: 32.0,
    domain: Domain::Integer(8, 1024),
    word: Some(layout::BLOCK_WORD),
};

/// The levels of the hierarchy.
pub static LEVELS: Parameter = Parameter {
    name: "levels",
    summary: "level j has groups of 2^j blocks; 0 is 1 with payloads, which guard against stitching, and 2 without",
    default: 0.0,
    domain: Domain::Automatic(1, 4),
    word: Some(layout::LEVELS_WORD),
};

/// How payloads are cut into blocks.
pub static CUT: Parameter = Parameter {
    name: "cut",
    summary: "how payloads are cut: fixed, into blocks of one length, or content, where a hash of the bytes is least",
    default: 0.0,
    domain: Domain::Choice(&Cut::NAMES),
    word: Some(layout::CUT_WORD),
};

/// The length of a segment, in blocks.
pub static SEGMENT_BLOCKS: Parameter = Parameter {
    name: "segment_blocks",
    summary: "the blocks of a segment, a multiple of 8; 0 is 64 with cut = fixed and 8 with cut = content",
    default: 0.0,
    domain: Domain::Automatic(8, 1 << 16),
    word: Some(layout::SEGMENT_WORD),
};

/// How many ids of payloads the digest keeps.
pub static PAYLOADS: Parameter = Parameter {
    name: "payloads",
    summary: "how many payloads at most, so that answers name them; 0 keeps no ids, and answers say only that it is there",
    default: 1024.0,
    domain: Domain::Integer(0, 1 << 32),
    word: Some(layout::PAYLOADS_WORD),
};

/// The room for the caller's bytes.
pub static ATTACHMENT_BYTES: Parameter = Parameter {
    name: "attachment_bytes",
    summary: "room for bytes of the caller's own, such as names of payloads",
    default: 0.0,
    domain: Domain::Integer(0, 1 << 32),
    word: Some(layout::ATTACHMENT_WORD),
};

/// The memory of the filter for each byte of data.
pub static BYTES_PER_BYTE: Parameter = Parameter {
    name: "bytes_per_byte",
    summary: "bytes of the filter for each byte of data at capacity, unless bits or false_positive_rate say the size",
    default: 0.05,
    domain: Domain::Real(0.0001, 8.0),
    word: None,
};

/// The registry's row. A capacity is a number of bytes of data, and a rate is that of an entry.
pub const ROW: Row = Row {
    kind: KIND,
    name: "digest",
    summary: "which blocks of bytes payloads had, and where: finds the payload and the offset of an excerpt",
    capabilities: Capabilities::INSERT.with(Capabilities::CLEAR),
    parameters: &[&BLOCK_BYTES, &LEVELS, &CUT, &SEGMENT_BLOCKS, &PAYLOADS, &ATTACHMENT_BYTES, &BYTES_PER_BYTE],
    structure: Structure::Own { handle: Handle::Digest, open: |base| Ok(try_box(Blocks::over(base)?)?) },
    sizes: Sizes::Multiples(1),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, bytes| {
        Shape::of(geometry).map_or(1.0, |shape| bloom::exact(shape.bits, shape.hashes, sizing::entries(&shape, bytes)))
    },
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    if spec.hash == HashFunction::External {
        return Err(error!(Contradiction, "hash = external has no meaning for digest, which hashes blocks itself"));
    }
    let payloads = spec.parameter(&PAYLOADS)?;
    let cut = Cut::of_number(spec.parameter(&CUT)?).unwrap_or(Cut::Fixed);
    let levels = match spec.parameter(&LEVELS)? {
        0 if payloads == 0 => 2,
        0 => 1,
        levels => levels,
    };
    let segment_blocks = match (spec.parameter(&SEGMENT_BLOCKS)?, cut) {
        (0, Cut::Fixed) => 64,
        (0, Cut::Content) => 8,
        (blocks, _) if !blocks.is_multiple_of(8) => {
            return Err(error!(OutOfRange, "segment_blocks = {blocks} is not a multiple of 8"));
        }
        (blocks, _) => blocks,
    };
    let mut shape = Shape {
        bits: 0,
        hashes: 0,
        block_bytes: spec.parameter(&BLOCK_BYTES)?,
        levels: levels as u32,
        cut,
        segment_blocks,
        payloads,
        attachment_bytes: spec.parameter(&ATTACHMENT_BYTES)?,
    };
    let is_set = spec.parameters.iter().any(|setting| setting.id == BYTES_PER_BYTE.id());
    let bytes_per_byte = spec.real_parameter(&BYTES_PER_BYTE)?;
    if is_set && (spec.bits != 0 || spec.false_positive_rate != 0.0) {
        return Err(error!(
            Contradiction,
            "bytes_per_byte = {bytes_per_byte} together with bits or false_positive_rate: give only one of them"
        ));
    }
    let entries = sizing::entries(&shape, size.capacity());
    (shape.bits, shape.hashes) = match size {
        Size::Exact { bits, hashes: 0, .. } => (bits, bloom::optimal_hashes(bits, entries, MAX_HASHES)),
        Size::Exact { bits, hashes, .. } => (bits, hashes),
        Size::Rate { false_positive_rate: rate, .. } if spec.false_positive_rate != 0.0 => {
            let found = bloom::size_for(entries, rate, MAX_HASHES).ok_or_else(|| size.too_large())?;
            (found.bits, found.hashes)
        }
        Size::Rate { capacity, .. } => {
            let bits = (8.0 * bytes_per_byte * capacity as f64).ceil();
            if bits >= (1_u64 << 62) as f64 {
                return Err(error!(
                    TooLarge,
                    "capacity = {capacity} at bytes_per_byte = {bytes_per_byte} needs more bits than can be"
                ));
            }
            let bits = (bits as u64).max(64);
            (bits, bloom::optimal_hashes(bits, entries, MAX_HASHES))
        }
    };
    shape.geometry()
}

/// The payload of a digest: filter, table of payloads, attachment and state.
pub struct Blocks {
    base: Base,
    shape: Shape,
}

impl Payload for Blocks {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.check_state()?;
        self.base.unless_unmended(self.shape.check(self.base.words().shared()))
    }

    fn check_state(&self) -> Result<()> {
        self.shape.check_state(self.base.words().shared())
    }

    /// Counts the state anew, and makes the words 0 that it does not use. Reads the whole payload.
    fn mend(&mut self) -> Result<()> {
        let (shape, words) = (self.shape, self.base.words().shared());
        let state = shape.counted_state(words);
        if state != shape.state(words) || shape.clear_unused(words, &state, false) {
            self.base.writable_to_mend()?;
            let words = self.base.words().shared();
            shape.clear_unused(words, &state, true);
            shape.set_state(words, &state);
        }
        Ok(())
    }
}

impl Blocks {
    /// The kind over a payload.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for a geometry or a hash function that the kind cannot have.
    pub fn over(base: Base) -> Result<Blocks> {
        let shape = base.known(Shape::of(base.geometry()))?;
        match base.hasher().function() {
            HashFunction::External => Err(base.foreign_geometry()),
            _ => Ok(Blocks { base, shape }),
        }
    }

    /// How the payload lies.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}
