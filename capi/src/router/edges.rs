//! ROUTERS: EDGES AND MESSAGES
//!
//! An edge leads to a neighbour, which has its own number. Both ends add the edge, and give it the same link number,
//! such as a random one that they agree on when they connect. A message of another link is refused, so nobody can
//! replay messages of an earlier connection.

use super::petal_router;
use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};
use petal_core::router::Received;
use std::ffi::c_void;

/// An edge to a neighbour.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_router_edge {
    /// sizeof(petal_router_edge), or 0 for its size in the first release.
    pub struct_size: usize,
    /// The number of the neighbour's node.
    pub neighbour: u64,
    /// The number of the link.
    pub link: u64,
    /// Of two edges that are otherwise equal, a query takes the one with the greater weight.
    pub weight: f64,
    /// The number of the last message to the neighbour; 0 if there was none.
    pub sent: u64,
    /// The number of the last message from the neighbour; 0 if there was none.
    pub received: u64,
    /// How many levels there are.
    pub levels: u32,
    /// Which levels are fuller than max_fill, and so neither asked nor passed on: bit 0 is the first level.
    pub ignored: u32,
    /// The share of set bits of each level that came from the neighbour.
    pub fill: [f64; 8],
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_router_edge {
    const FIRST_SIZE: usize = 120;
}

/// What became of a message that was taken: one of `PETAL_ROUTER_RECEIVED_*`.
pub type petal_router_received = u32;

/// The levels of the edge changed: other neighbours may have to hear of it.
pub const PETAL_ROUTER_RECEIVED_CHANGED: petal_router_received = 0;
/// The levels of the edge are what they were.
pub const PETAL_ROUTER_RECEIVED_UNCHANGED: petal_router_received = 1;
/// The message tells what changed since a message that did not come. The edge is as it was: ask the neighbour for
/// `petal_router_advertise()`.
pub const PETAL_ROUTER_RECEIVED_NEEDS_ALL: petal_router_received = 2;

/// Adds an edge to a neighbour. `link` is a number that both ends give to this connection. Of two edges that are
/// otherwise equal, a query takes the one with the greater weight. Returns `PETAL_ERR_CONTRADICTION` for an edge that
/// is there and for one to the node itself, and `PETAL_ERR_FULL` if there are as many edges as the parameter edges
/// allows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_add_edge(
    router: *mut petal_router,
    neighbour: u64,
    link: u64,
    weight: f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change router], router.by(|router| router.add_edge(neighbour, link, weight)))
}

/// Removes an edge, and what came in over it. Returns `PETAL_ERR_OUT_OF_RANGE` for an edge that is not there, as do the
/// other functions that take a neighbour.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_remove_edge(
    router: *mut petal_router,
    neighbour: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change router], router.by(|router| router.remove_edge(neighbour)))
}

/// Sets the weight of an edge, a finite number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_set_edge_weight(
    router: *mut petal_router,
    neighbour: u64,
    weight: f64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change router], router.by(|router| router.set_edge_weight(neighbour, weight)))
}

/// Sets the weight of each level, the first level first; `count` is the number of levels. All weights are 0 before.
/// Among edges that have a key at the same least level, a query takes the one with the greatest sum of the weights of
/// all levels that have the key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_set_level_weights(
    router: *mut petal_router,
    weights: *const f64,
    count: usize,
    error: *mut petal_error,
) -> petal_status {
    // No router has 9 levels, so that 9 weights are enough to be refused.
    boundary!(error, [change router, weights, elements(weights, count.min(9))], {
        router.by(|router| router.set_level_weights(weights))
    })
}

/// Lists the numbers of all neighbours. `count` becomes the number of all edges. The function writes the first `room`
/// of the numbers to `neighbours`, which may be NULL if `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_get_neighbours(
    router: *const petal_router,
    neighbours: *mut u64,
    room: usize,
    count: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read router, out count, room(neighbours, room)], {
        count.set(router.edge_count());
        neighbours.iter_mut().zip(router.edges()).for_each(|(place, edge)| *place = edge.neighbour);
        Ok(())
    })
}

/// Describes the edge to a neighbour.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_get_edge(
    router: *const petal_router,
    neighbour: u64,
    edge: *mut petal_router_edge,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read router, fill edge], {
        let told = router.edge(neighbour)?;
        edge.set(petal_router_edge {
            struct_size: 0,
            neighbour: told.neighbour,
            link: told.link,
            weight: told.weight,
            sent: told.sent,
            received: told.received,
            levels: told.levels as u32,
            ignored: told.ignored,
            fill: told.fill,
        });
        Ok(())
    })
}

/// Makes a message with all levels for a neighbour: the keys of this node, and what came in over all other edges, one
/// level deeper. `message` becomes a pointer to its bytes, which belong to the router and stay until the router makes
/// another message or ends. Linear in the size of all levels of all edges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_advertise(
    router: *mut petal_router,
    neighbour: u64,
    message: *mut *const c_void,
    length: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change router, out message, out length], {
        router.lend(message, length, |router| router.advertise(neighbour))
    })
}

/// Makes a message with what changed since the last message to a neighbour, as `petal_router_advertise()` does.
/// `length` becomes 0 if nothing changed, and there is nothing to send. The first message has all levels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_advertise_changes(
    router: *mut petal_router,
    neighbour: u64,
    message: *mut *const c_void,
    length: *mut usize,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change router, out message, out length], {
        router.lend(message, length, |router| router.advertise_changes(neighbour))
    })
}

/// Takes a message that came from a neighbour. `received`, nullable, becomes one of `PETAL_ROUTER_RECEIVED_*`. The
/// function checks the message as a whole before anything changes. Returns `PETAL_ERR_INCOMPATIBLE`, naming the first
/// difference, for a message of a router with other levels, bits, hashes, hash function, seed or secret, and for a
/// message of another edge or link. Returns `PETAL_ERR_CORRUPT` for a message that is damaged, repeated or late, and
/// `PETAL_ERR_FOREIGN`, `PETAL_ERR_TRUNCATED` or `PETAL_ERR_NEWER_VERSION` for bytes that are no message of this
/// version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_receive(
    router: *mut petal_router,
    neighbour: u64,
    message: *const c_void,
    length: usize,
    received: *mut petal_router_received,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change router, bytes(message, length), maybe received], {
        received.set(match router.by(|router| router.receive(neighbour, message))? {
            Received::Changed => PETAL_ROUTER_RECEIVED_CHANGED,
            Received::Unchanged => PETAL_ROUTER_RECEIVED_UNCHANGED,
            Received::NeedsAll => PETAL_ROUTER_RECEIVED_NEEDS_ALL,
        });
        Ok(())
    })
}
