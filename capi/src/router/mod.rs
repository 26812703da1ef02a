//! petal_router.h: routers, which find keys in a network by attenuated Bloom filters. It is experimental: functions may
//! still change. petal.h has the conventions, which hold for routers too.
//!
//! Each node of a network has a router with the node's own keys and an edge for each neighbour. Neighbours exchange
//! messages, after which a router knows over which neighbour, and how many hops away, a key may be:
//!
//!     petal_spec spec = PETAL_SPEC_INIT;
//!     spec.capacity = 10;
//!     petal_router *here = NULL, *there = NULL;
//!     if (petal_router_new(&spec, 1, &here, NULL) != PETAL_OK) return 1;
//!     if (petal_router_new(&spec, 2, &there, NULL) != PETAL_OK) return 1;
//!     petal_router_add_edge(here, 2, 0, 0, NULL);
//!     petal_router_add_edge(there, 1, 0, 0, NULL);
//!     petal_router_insert(there, "song", 4);
//!     const void *message = NULL;
//!     size_t length = 0;
//!     petal_router_advertise(there, 1, &message, &length, NULL);
//!     petal_router_receive(here, 2, message, length, NULL, NULL);
//!     petal_router_route route = {0};
//!     petal_router_get_route(here, "song", 4, NULL, 16, &route);
//!
//! The route is then `PETAL_ROUTER_ROUTE_EDGE` to neighbour 2 at level 1. A router has no network: you carry its
//! messages and your queries. After a change, advertise to all neighbours. A neighbour whose `petal_router_receive()`
//! gives `PETAL_ROUTER_RECEIVED_CHANGED` advertises to its own neighbours, and so on, up to as many hops as there are
//! levels.
//!
//! A router uses these fields of its spec: capacity (keys of one node), false_positive_rate (that of the last level of
//! one edge), hash function, seed, secret and parameters. Instead of capacity and rate the spec may give bits, a
//! multiple of 64 (the bits of a level), and hashes. The parameters are levels, edges, fan_out, counter_bits and
//! max_fill; docs/router.md explains them. All routers of a network need the same levels, bits, hashes, hash function
//! and seed or secret. Keep the fill of the last level below 0.3: `petal_router_get_statistics()` reports it.
//!
//! Whatever a message says, memory and work are bounded by the size of one edge's levels. A message that is damaged,
//! repeated, or from another network, edge or link is refused and changes nothing. A level that is fuller than max_fill
//! is ignored, so a neighbour whose filter says yes to everything attracts no queries. A router does not know who sent
//! a message: take a channel that authenticates the neighbour. docs/router.md specifies the messages to the byte.

use crate::boundary::{NO_ERROR, answer, boundary, number};
use crate::filter::keys::{petal_answers, petal_keys, refuse_answers, taking};
use crate::handle::{self, Handle, owner};
use crate::spec::petal_spec;
use crate::status::{petal_error, petal_status};
use petal_core::{Image, Router};
use std::ffi::c_void;

pub mod edges;
pub mod route;
pub mod rates;
pub mod image;

/// The router of one node. Free it with `petal_router_free()`.
pub struct petal_router(Handle<Router>);

owner!(petal_router, Router);

/// Makes an empty router of the node with this number, which tells the nodes of a network apart. The kind of the spec
/// is `PETAL_KIND_ROUTER`, or 0 if you set no parameter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_new(
    spec: *const petal_spec,
    node: u64,
    router: *mut *mut petal_router,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [spec, give router, given spec], router.made(|| petal_core::Router::new(&spec, node)))
}

/// Frees a router. If you changed an image in place, this function brings the image up to date first. Call
/// `petal_router_sync()` before if you want to know whether that works. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_free(router: *mut petal_router) {
    // SAFETY: by the conventions NULL, or a handle that this library made and nobody uses any more.
    unsafe { handle::free(router) }
}

/// Returns the number of the node; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_get_node(router: *const petal_router) -> u64 {
    number!([read router], router.node())
}

/// Gives the node another number. Returns `PETAL_ERR_CONTRADICTION` if the router has edges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_set_node(
    router: *mut petal_router,
    node: u64,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [change router], router.by(|router| router.set_node(node)))
}

/// Inserts a key, which this node has from now on. A counter stays at its greatest value, 15 with counter_bits = 4.
/// Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_insert(
    router: *mut petal_router,
    key: *const c_void,
    length: usize,
) -> petal_status {
    boundary!(NO_ERROR, [change router, bytes(key, length)], router.by(|router| router.insert(key)))
}

/// Inserts the hash of a key, as `petal_router_insert()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_insert_hash(router: *mut petal_router, hash: u64) -> petal_status {
    boundary!(NO_ERROR, [change router], router.by(|router| router.insert_hash(hash)))
}

/// Inserts keys in order. `answers`, nullable, only tells how many keys the router took: the first `done`. A router
/// refuses every form of answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_insert_batch(
    router: *mut petal_router,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change router], {
        refuse_answers(answers)?;
        router.always(|router| router.insert_batch(keys))
    })
}

/// Removes a key that was inserted before. A key that the node certainly did not have changes nothing. Do not remove a
/// key that was never inserted: if the node's filter takes it for present, other keys may be lost. Returns
/// `PETAL_ERR_UNSUPPORTED` with counter_bits = 1: clear the router, and insert the keys that are left. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_remove(
    router: *mut petal_router,
    key: *const c_void,
    length: usize,
) -> petal_status {
    boundary!(NO_ERROR, [change router, bytes(key, length)], router.by(|router| router.remove(key).map(drop)))
}

/// Removes the hash of a key, as `petal_router_remove()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_remove_hash(router: *mut petal_router, hash: u64) -> petal_status {
    boundary!(NO_ERROR, [change router], router.by(|router| router.remove_hash(hash).map(drop)))
}

/// Removes keys in order, as `petal_router_insert_batch()` inserts them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_remove_batch(
    router: *mut petal_router,
    keys: *const petal_keys,
    answers: *mut petal_answers,
    error: *mut petal_error,
) -> petal_status {
    taking!(error, [keys, answers, change router], {
        refuse_answers(answers)?;
        router.always(|router| router.remove_batch(keys))
    })
}

/// Returns whether this node itself may have a key. Any failure returns true. Constant time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_contains(router: *const petal_router, key: *const c_void, length: usize) -> bool {
    answer!(true, [read router, bytes(key, length)], router.contains(key)?)
}

/// Returns whether this node itself may have the key with this hash, as `petal_router_contains()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_contains_hash(router: *const petal_router, hash: u64) -> bool {
    answer!(true, [read router], router.contains_hash(hash))
}

/// Forgets the node's own keys. Edges, and what came in over them, stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_clear(router: *mut petal_router, error: *mut petal_error) -> petal_status {
    boundary!(error, [change router], router.by(|router| router.clear()))
}

/// Returns what this router can do now: `PETAL_CAN_*`, ORed. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_capabilities(router: *const petal_router) -> u64 {
    number!([read router], router.capabilities().0)
}
