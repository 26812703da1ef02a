//! The kind `router`: attenuated Bloom filters (Rhea and Kubiatowicz 2002) of one node of a network. For each edge the
//! node keeps a filter for each distance: level i has the keys of the nodes that are i hops away over that edge. A
//! query follows the edge whose filter has the key at the least level.
//!
//! All levels of all nodes have one size, because level i of a node becomes part of level i + 1 of its neighbours by
//! OR. The size is what the last level needs, and messages code each level in as few bytes as its fill needs.

pub mod coding;
mod edges;
mod exchange;
mod handle;
pub mod layout;
pub mod message;
mod rates;
mod route;
pub mod sizing;
pub mod state;

pub use edges::Edge;
pub use exchange::Received;
pub use handle::Router;
pub use rates::{LevelStatistics, Statistics};
pub use route::{MAX_WALK, Route, Walk};

use crate::contract::{Base, Capabilities, Handle, Payload, Row, Sizes, Structure, Varying};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use layout::Layout;
use state::RouterState;

/// The most levels of a router.
pub const MAX_LEVELS: usize = 8;
/// The most neighbours of a router.
pub const MAX_EDGES: u64 = 64;
/// The most bits that a key sets.
pub const MAX_HASHES: u32 = 32;

/// The parameter for the number of levels.
pub const LEVELS: Parameter = Parameter {
    name: "levels",
    summary: "how many hops away keys are known; all routers of a network have the same number",
    default: 3.0,
    domain: Domain::Integer(1, MAX_LEVELS as u64),
    word: Some(0),
};

/// The parameter for the number of edges.
pub const EDGES: Parameter = Parameter {
    name: "edges",
    summary: "the most neighbours at once; the memory of a router is proportional to it",
    default: 16.0,
    domain: Domain::Integer(1, MAX_EDGES),
    word: Some(1),
};

/// The parameter for the growth of levels.
pub const FAN_OUT: Parameter = Parameter {
    name: "fan_out",
    summary: "how many times more nodes are one hop further away: the size of the last level rests on it",
    default: 3.0,
    domain: Domain::Real(1.0, 1e6),
    word: Some(2),
};

/// The parameter for the cells of the node's own keys.
pub const COUNTER_BITS: Parameter = Parameter {
    name: "counter_bits",
    summary: "bits of a counter of own keys, which stays at its greatest value; with 1 no key can be removed",
    default: 4.0,
    domain: Domain::OneOf(&[1, 4, 8]),
    word: Some(3),
};

/// The parameter for the fill above which a level is ignored.
pub const MAX_FILL: Parameter = Parameter {
    name: "max_fill",
    summary: "a level of a neighbour that is fuller is neither asked nor passed on; 1 asks every level",
    default: 0.5,
    domain: Domain::Real(0.01, 1.0),
    word: Some(4),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::ROUTER,
    name: "router",
    summary: "attenuated Bloom filters: over which neighbour, and how many hops away, a key can be found",
    capabilities: Capabilities::INSERT.with(Capabilities::REMOVE).with(Capabilities::CLEAR),
    parameters: &[&LEVELS, &EDGES, &FAN_OUT, &COUNTER_BITS, &MAX_FILL],
    structure: Structure::Own { handle: Handle::Router, open },
    sizes: Sizes::Multiples(64),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| {
        let asked = |layout: Layout| f64::from(layout.hashes) * (layout.edges * layout.levels + 1) as f64;
        Layout::of(geometry).map_or(1.0, asked).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    false_positive_rate: |geometry, keys| match Layout::of(geometry) {
        Some(layout) => sizing::rate(layout.bits, layout.hashes, sizing::keys_at(keys, layout.fan_out, layout.levels)),
        None => 1.0,
    },
    varying: Varying {
        lacks: |geometry| match Layout::of(geometry) {
            Some(layout) if layout.counter_bits > 1 => Capabilities::NONE,
            _ => Capabilities::REMOVE,
        },
        ..Varying::BASE
    },
    ..Row::BASE
};

/// A router over a base, for callers that need only what all payloads have.
fn open(base: Base) -> Result<Box<dyn Payload>> {
    Ok(try_box(RouterState::over(base)?)?)
}

/// The geometry that a spec asks for. The capacity is the number of keys of one node, and the rate that of the last
/// level of one edge.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let (levels, edges) = (spec.parameter(&LEVELS)?, spec.parameter(&EDGES)?);
    let (fan_out, max_fill) = (spec.real_parameter(&FAN_OUT)?, spec.real_parameter(&MAX_FILL)?);
    let counter_bits = spec.parameter(&COUNTER_BITS)?;
    let (bits, hashes) = match size {
        Size::Rate { capacity, false_positive_rate } => {
            let keys = sizing::keys_at(capacity, fan_out, levels as usize);
            sizing::size_for(keys, false_positive_rate).ok_or_else(|| size.too_large())?
        }
        Size::Exact { bits, hashes, .. } if hashes > 0 => (bits, hashes),
        Size::Exact { capacity, bits, .. } => {
            (bits, sizing::hashes_for(bits, sizing::keys_at(capacity, fan_out, levels as usize)))
        }
    };
    let mut words = [0; 8];
    words[..5].copy_from_slice(&[levels, edges, fan_out.to_bits(), counter_bits, max_fill.to_bits()]);
    let bytes = Layout::payload_bytes(bits, levels, edges, counter_bits);
    if bytes.is_none() {
        return Err(error!(
            TooLarge,
            "bits = {bits} for each of {levels} levels and {edges} edges are more than can be"
        ));
    }
    Geometry::of_bytes(bits, hashes, words, bytes)
}
