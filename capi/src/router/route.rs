//! ROUTERS: QUERIES
//!
//! `petal_router_get_route()` remembers nothing: a false positive can send a query round in a circle until its hops are
//! used up. `petal_router_walk()` has a petal_router_walk_state that travels with the query: the query goes on only to
//! nodes that it did not visit, and goes back where it finds no way on.

use super::petal_router;
use crate::arguments::Out;
use crate::boundary::{NO_ERROR, boundary};
use crate::status::petal_status;
use petal_core::Result;
use petal_core::router::{Route, Walk};
use std::ffi::c_void;

/// Where a query goes: one of `PETAL_ROUTER_ROUTE_*`.
pub type petal_router_route_kind = u32;

/// This node itself may have the key.
pub const PETAL_ROUTER_ROUTE_HERE: petal_router_route_kind = 0;
/// Over the edge to a neighbour.
pub const PETAL_ROUTER_ROUTE_EDGE: petal_router_route_kind = 1;
/// Back to the neighbour from which the walk came.
pub const PETAL_ROUTER_ROUTE_BACK: petal_router_route_kind = 2;
/// The query has to use another way to find the key, such as a distributed hash table.
pub const PETAL_ROUTER_ROUTE_FALL_BACK: petal_router_route_kind = 3;

/// Where a query goes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_router_route {
    /// One of `PETAL_ROUTER_ROUTE_*`.
    pub kind: petal_router_route_kind,
    /// The least level that has the key, for `PETAL_ROUTER_ROUTE_EDGE`: 1 is the neighbour itself. Otherwise 0.
    pub level: u32,
    /// The neighbour, for `PETAL_ROUTER_ROUTE_EDGE` and `PETAL_ROUTER_ROUTE_BACK`. Otherwise 0.
    pub neighbour: u64,
}

/// The memory of one query on its way. It has no padding, and its bytes may be sent as they are. A query begins with
/// all fields 0 but `hops_left`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_router_walk_state {
    /// How many hops the query may still make.
    pub hops_left: u32,
    /// How many nodes the query has visited, at most 64.
    pub visited: u32,
    /// How many nodes are on the way back to where the query began.
    pub depth: u32,
    /// 0.
    pub reserved: u32,
    /// The nodes that were visited, in order.
    pub nodes: [u64; 64],
    /// The way back: places in `nodes`, the last being the node where the query is.
    pub way: [u8; 64],
}

const _: () = assert!(size_of::<petal_router_walk_state>() == size_of::<Walk>() && size_of::<Walk>() == 592);

impl From<Route> for petal_router_route {
    fn from(route: Route) -> petal_router_route {
        let (kind, level, neighbour) = match route {
            Route::Here => (PETAL_ROUTER_ROUTE_HERE, 0, 0),
            Route::Edge { neighbour, level } => (PETAL_ROUTER_ROUTE_EDGE, level, neighbour),
            Route::Back { neighbour } => (PETAL_ROUTER_ROUTE_BACK, 0, neighbour),
            Route::FallBack => (PETAL_ROUTER_ROUTE_FALL_BACK, 0, 0),
        };
        petal_router_route { kind, level, neighbour }
    }
}

/// Tells where a query for a key goes. `from` points to the number of the neighbour from which the query came, and is
/// NULL where the query begins: a query never goes back over that edge. The route is `PETAL_ROUTER_ROUTE_HERE` if this
/// node itself may have the key, and `PETAL_ROUTER_ROUTE_FALL_BACK` if `hops_left` is 0 or no edge has the key.
/// Otherwise the route is the edge with the least level that has the key. Ties are broken by the weights of levels,
/// then by the weights of edges, then by a hash of the key and the neighbour. You count the hops: pass one less at each
/// node. Linear in edges times levels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_get_route(
    router: *const petal_router,
    key: *const c_void,
    length: usize,
    from: *const u64,
    hops_left: u32,
    route: *mut petal_router_route,
) -> petal_status {
    boundary!(NO_ERROR, [read router, out route, bytes(key, length), optional from], {
        route.set(router.route(key, from, hops_left)?.into());
        Ok(())
    })
}

/// Tells where a query for the key with this hash goes, as `petal_router_get_route()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_get_route_hash(
    router: *const petal_router,
    hash: u64,
    from: *const u64,
    hops_left: u32,
    route: *mut petal_router_route,
) -> petal_status {
    boundary!(NO_ERROR, [read router, out route, optional from], {
        route.set(router.route_hash(hash, from, hops_left).into());
        Ok(())
    })
}

/// Routes a key on a walk.
fn go(
    walk: &mut petal_router_walk_state,
    route: Out<petal_router_route>,
    go: impl FnOnce(&mut Walk) -> Result<Route>,
) -> Result<()> {
    let petal_router_walk_state { hops_left, visited, depth, reserved, nodes, way } = *walk;
    let mut after = Walk { hops_left, visited, depth, reserved, nodes, way };
    let next = go(&mut after)?;
    let Walk { hops_left, visited, depth, reserved, nodes, way } = after;
    *walk = petal_router_walk_state { hops_left, visited, depth, reserved, nodes, way };
    route.set(next.into());
    Ok(())
}

/// Tells where a query for a key goes that remembers the nodes it visited. Call this at each node where the query is,
/// and send `walk` with the query. The query goes on only to nodes that it did not visit, and goes back the way it came
/// where a node has no edge that is left to try (`PETAL_ROUTER_ROUTE_BACK`). So the query never goes round in a circle,
/// and finds its way out of false positives. A hop in either direction takes 1 from the walk's hops that are left. The
/// route is `PETAL_ROUTER_ROUTE_FALL_BACK` if no hops are left, no node on the way has an edge to try, or 64 nodes were
/// visited. If it is `PETAL_ROUTER_ROUTE_HERE` and the node does not have the key after all, call the function again:
/// the query then goes on. Returns `PETAL_ERR_OUT_OF_RANGE` for a walk that cannot be. Linear in edges times levels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_walk(
    router: *const petal_router,
    key: *const c_void,
    length: usize,
    walk: *mut petal_router_walk_state,
    route: *mut petal_router_route,
) -> petal_status {
    boundary!(NO_ERROR, [read router, update walk, out route, bytes(key, length)], {
        go(walk, route, |walk| router.walk(key, walk))
    })
}

/// Tells where a query for the key with this hash goes, as `petal_router_walk()` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_walk_hash(
    router: *const petal_router,
    hash: u64,
    walk: *mut petal_router_walk_state,
    route: *mut petal_router_route,
) -> petal_status {
    boundary!(NO_ERROR, [read router, update walk, out route], go(walk, route, |walk| router.walk_hash(hash, walk)))
}
