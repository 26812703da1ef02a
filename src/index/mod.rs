//! The kind `index`: rows of bits with ids, which are searched for rows that are similar to a query or contain it.
//!
//! [`layout`] says how rows, folds, counts, ids and columns lie; [`similarity`] has the measures, [`columns`] the
//! search for rows that contain a query, [`features`] the bits of features.

mod add;
mod block;
pub mod columns;
mod contains;
pub mod features;
mod handle;
mod hits;
pub mod layout;
pub mod query;
pub mod rows;
mod search;
pub mod similarity;

pub use features::{Fold, IndexFeatures, IndexSimilarityEstimate};
pub use handle::Index;
pub use hits::IndexHit;
pub use search::IndexSearchOptions;
pub use similarity::IndexSimilarity;

use crate::contract::{Capabilities, Handle, Room, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use layout::{FOLDS, MAX_FEATURE_BITS, MAX_WIDTH, MIN_WIDTH, Shape, Store, fold_for};
use rows::Rows;

/// The kind's number.
pub const KIND: KindId = KindId::INDEX;

/// The bits of a row.
pub static WIDTH: Parameter = Parameter {
    name: "width",
    summary: "the bits of a row",
    default: 1024.0,
    domain: Domain::Integer(MIN_WIDTH, MAX_WIDTH),
    word: Some(layout::WIDTH_WORD),
};

/// The length of folds.
pub static FOLD: Parameter = Parameter {
    name: "fold",
    summary: "the bits of the fold that is kept beside each row, so that few rows are read; auto is about width / 4",
    default: 0.0,
    domain: Domain::Choice(&FOLDS),
    word: Some(layout::FOLD_WORD),
};

/// What is stored of rows.
pub static STORE: Parameter = Parameter {
    name: "store",
    summary: "rows, for similarities; columns, for rows that contain all bits of a query; or both",
    default: 0.0,
    domain: Domain::Choice(&Store::NAMES),
    word: Some(layout::STORE_WORD),
};

/// Whether bits nest.
pub static NESTING: Parameter = Parameter {
    name: "nesting",
    summary: "whether what contains a thing has all of its bits; no for circular fingerprints",
    default: 0.0,
    domain: Domain::Choice(&["yes", "no"]),
    word: Some(layout::NESTING_WORD),
};

/// How many bits a feature sets.
pub static FEATURE_BITS: Parameter = Parameter {
    name: "feature_bits",
    summary: "how many bits of its row a feature sets, unless the caller says it of each",
    default: 2.0,
    domain: Domain::Integer(1, MAX_FEATURE_BITS),
    word: Some(layout::FEATURE_BITS_WORD),
};

/// The room for the caller's own bytes.
pub static ATTACHMENT_BYTES: Parameter = Parameter {
    name: "attachment_bytes",
    summary: "room for bytes of the caller's own, such as names of rows",
    default: 0.0,
    domain: Domain::Integer(0, 1 << 32),
    word: Some(layout::ATTACHMENT_WORD),
};

/// The bytes of an id.
pub static ID_BYTES: Parameter = Parameter {
    name: "id_bytes",
    summary: "the bytes of an id; 4 for ids below 2^32",
    default: 8.0,
    domain: Domain::OneOf(&layout::ID_BYTES),
    word: Some(layout::ID_BYTES_WORD),
};

/// The registry's row. A capacity is a number of rows.
pub const ROW: Row = Row {
    kind: KIND,
    name: "index",
    summary: "rows of bits with ids: finds the rows that are most similar to a query, or that contain all of its bits",
    capabilities: Capabilities::INSERT.with(Capabilities::REMOVE).with(Capabilities::CLEAR),
    parameters: &[&WIDTH, &FOLD, &STORE, &NESTING, &FEATURE_BITS, &ATTACHMENT_BYTES, &ID_BYTES],
    structure: Structure::Own { handle: Handle::Index, open: |base| Ok(try_box(Rows::over(base)?)?) },
    sizes: Sizes::Multiples(1),
    hashes: (1, 1),
    geometry,
    lines_per_lookup: |geometry| (geometry.payload_bytes / PAYLOAD_UNIT) as f64,
    false_positive_rate: |_, _| 0.0,
    // Rows keep the order in which they came.
    is_canonical: false,
    room: Room { made_for: Some(|geometry| Shape::of(geometry).map_or(0, |shape| shape.capacity)), ..Room::BASE },
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    if spec.false_positive_rate != 0.0 {
        return Err(error!(Contradiction, "false_positive_rate has no meaning for index, whose answers are exact"));
    }
    let width = spec.parameter(&WIDTH)?;
    let capacity = match size {
        Size::Rate { capacity, .. } => capacity,
        Size::Exact { bits, capacity, .. } if bits.is_multiple_of(width) && [0, bits / width].contains(&capacity) => {
            bits / width
        }
        Size::Exact { bits, capacity, .. } => {
            return Err(error!(
                OutOfRange,
                "bits = {bits} for capacity = {capacity} is not the capacity times width = {width}"
            ));
        }
    };
    let store = Store::of_number(spec.parameter(&STORE)?).unwrap_or(Store::Rows);
    let fold = match spec.parameter(&FOLD)? {
        0 if !store.has_rows() => 1,
        0 => fold_for(width),
        fold if fold > 1 && !store.has_rows() => {
            return Err(error!(
                Contradiction,
                "fold = {} beside store = columns: no fold is read", FOLDS[fold as usize]
            ));
        }
        fold => fold,
    };
    let shape = Shape {
        width,
        capacity,
        fold,
        store,
        nests: spec.parameter(&NESTING)? == 0,
        feature_bits: spec.parameter(&FEATURE_BITS)?,
        attachment_bytes: spec.parameter(&ATTACHMENT_BYTES)?,
        id_bytes: spec.parameter(&ID_BYTES)?,
    };
    shape.geometry()
}
