//! ROUTERS: RATES

use super::petal_router;
use crate::boundary::{self, boundary};
use crate::status::{petal_error, petal_status};

/// The rates of one level. The first level has the neighbours themselves.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_router_level_statistics {
    /// The expected number of keys at this level of one edge, by the capacity and fan_out of the spec; 0 without a
    /// capacity.
    pub expected_keys: f64,
    /// The share of bits that this many keys set.
    pub expected_fill: f64,
    /// The probability that this level of one edge, with this many keys, seems to have an absent key.
    pub expected_rate: f64,
    /// The mean share of set bits over the edges that had a message; 0 if none had one.
    pub mean_fill: f64,
    /// The greatest share of set bits over these edges.
    pub greatest_fill: f64,
    /// The probability that some edge seems to have an absent key at this level.
    pub false_route_rate: f64,
}

/// How often a router misleads queries.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct petal_router_statistics {
    /// sizeof(petal_router_statistics), or 0 for its size in the first release.
    pub struct_size: usize,
    /// How many levels there are.
    pub levels: u32,
    /// 1 if the fill of the last level is above 0.3 over some edge: make the levels larger, or fewer. Otherwise 0.
    pub is_overfull: u32,
    /// How many levels of edges are fuller than max_fill, and so ignored.
    pub ignored: u64,
    /// The share of bits that the node's own keys set.
    pub own_fill: f64,
    /// The probability that a query for a key that no node has goes over some edge.
    pub false_route_rate: f64,
    /// The rates of each level; 0 for those that the router does not have.
    pub level: [petal_router_level_statistics; 8],
}

// SAFETY: numbers, without padding, its size first.
unsafe impl boundary::SizedStruct for petal_router_statistics {
    const FIRST_SIZE: usize = 424;
}

/// Tells how often a router misleads queries, as expected and as it is now. Reads the counters of the node's own keys,
/// and some words of each edge.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn petal_router_get_statistics(
    router: *const petal_router,
    rates: *mut petal_router_statistics,
    error: *mut petal_error,
) -> petal_status {
    boundary!(error, [read router, fill rates], {
        let told = router.statistics();
        rates.set(petal_router_statistics {
            struct_size: 0,
            levels: told.levels as u32,
            is_overfull: u32::from(told.is_overfull),
            ignored: told.ignored,
            own_fill: told.own_fill,
            false_route_rate: told.false_route_rate,
            level: told.level.map(|level| petal_router_level_statistics {
                expected_keys: level.expected_keys,
                expected_fill: level.expected_fill,
                expected_rate: level.expected_rate,
                mean_fill: level.mean_fill,
                greatest_fill: level.greatest_fill,
                false_route_rate: level.false_route_rate,
            }),
        });
        Ok(())
    })
}
