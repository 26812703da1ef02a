//! Where a query goes.

use super::Router;
use crate::bits::mix;
use crate::error::{Result, error};
use crate::router::state::Slot;
use core::cmp::Ordering;

/// The most nodes that a walk visits.
pub const MAX_WALK: usize = 64;

/// Where a query goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// This node itself may have the key.
    Here,
    /// Over the edge to this neighbour, where the key may be `level` hops away.
    Edge {
        /// The neighbour.
        neighbour: u64,
        /// The least level that has the key; 1 is the neighbour itself.
        level: u32,
    },
    /// Back to this neighbour, from which the walk came: the key is not found over this node.
    Back {
        /// The neighbour.
        neighbour: u64,
    },
    /// The query has to use another way to find the key, such as a distributed hash table.
    FallBack,
}

/// The memory of one query on its way: a value of fixed size that travels with the query. It has no padding, and its
/// bytes in memory may be sent as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Walk {
    /// How many hops the query may still make.
    pub hops_left: u32,
    /// How many nodes the query has visited, at most [`MAX_WALK`].
    pub visited: u32,
    /// How many nodes are on the way back to where the query began, at most `visited`.
    pub depth: u32,
    /// 0.
    pub reserved: u32,
    /// The nodes that were visited, in order.
    pub nodes: [u64; MAX_WALK],
    /// The way back: places in `nodes`, the last being the node where the query is.
    pub way: [u8; MAX_WALK],
}

impl Walk {
    /// A query that may make `hops` hops.
    pub const fn new(hops: u32) -> Walk {
        Walk { hops_left: hops, visited: 0, depth: 0, reserved: 0, nodes: [0; MAX_WALK], way: [0; MAX_WALK] }
    }

    /// Refuses an impossible walk: the bytes of a walk may come from anywhere.
    fn check(&self) -> Result<()> {
        let (visited, depth) = (self.visited as usize, self.depth as usize);
        let is_one = visited <= MAX_WALK
            && depth <= visited
            && self.reserved == 0
            && self.way[..depth].iter().all(|place| usize::from(*place) < visited)
            && (1..depth).all(|step| !self.way[..step].contains(&self.way[step]));
        match is_one {
            true => Ok(()),
            false => Err(error!(OutOfRange, "the walk has {depth} nodes of {visited} on its way, which cannot be")),
        }
    }

    fn has_visited(&self, node: u64) -> bool {
        self.nodes[..self.visited as usize].contains(&node)
    }

    /// Notes that the query is at a node. Returns true if it is there for the first time, and `None` if there is no
    /// room for the node.
    fn enter(&mut self, node: u64) -> Option<bool> {
        let (visited, depth) = (self.visited as usize, self.depth as usize);
        if let Some(place) = self.nodes[..visited].iter().position(|visited| *visited == node) {
            // The node may be further back on the way, if the caller did not go where the router said.
            let step = self.way[..depth].iter().position(|step| usize::from(*step) == place);
            self.depth = step.map_or(self.depth, |step| step as u32 + 1);
            if step.is_none() {
                *self.way.get_mut(depth)? = place as u8;
                self.depth += 1;
            }
            return Some(false);
        }
        *self.nodes.get_mut(visited)? = node;
        *self.way.get_mut(depth)? = visited as u8;
        self.visited += 1;
        self.depth += 1;
        Some(true)
    }

    /// Goes a step back, and returns the node to which the query goes.
    fn go_back(&mut self) -> Option<u64> {
        let before = self.depth.checked_sub(2)?;
        self.depth -= 1;
        Some(self.nodes[usize::from(self.way[before as usize])])
    }
}

/// An edge that has a key, and how good it is.
#[derive(Clone, Copy)]
struct Candidate {
    neighbour: u64,
    /// The least level that has the key; the first is 0.
    level: usize,
    potential: f64,
    weight: f64,
    /// Breaks the remaining ties, differently for each key.
    lot: u64,
}

impl Candidate {
    /// The better edge is greater.
    fn order(&self, other: &Candidate) -> Ordering {
        let levels = other.level.cmp(&self.level);
        let potentials = self.potential.total_cmp(&other.potential);
        levels.then(potentials).then(self.weight.total_cmp(&other.weight)).then(self.lot.cmp(&other.lot))
    }
}

impl Router {
    /// Where a query for a byte key goes. `from` is the neighbour from which the query came, or `None` where the query
    /// began: a query never goes back over that edge. The result is [`Route::FallBack`] if `hops_left` is 0, or if no
    /// edge has the key. Otherwise the result is the edge with the least level that has the key. Ties are broken by the
    /// weights of the levels ([`Router::set_level_weights`]), then by the weights of the edges, then by a hash of the
    /// key and the neighbour. The caller counts the hops: pass one less at each node. A router does not remember
    /// queries, so a false positive can send a query round in a circle until its hops are used up; [`Router::walk`]
    /// prevents that. Linear in edges times levels.
    ///
    /// # Errors
    /// [`Status::ExternalHash`](crate::Status::ExternalHash) or [`Status::SecretMissing`](crate::Status::SecretMissing)
    /// if the key cannot be hashed.
    #[inline]
    pub fn route(&self, key: impl AsRef<[u8]>, from: Option<u64>, hops_left: u32) -> Result<Route> {
        Ok(self.route_hash(self.hash_of(key.as_ref())?, from, hops_left))
    }

    /// Where a query for the key with this hash goes; see [`Router::route`].
    pub fn route_hash(&self, hash: u64, from: Option<u64>, hops_left: u32) -> Route {
        if self.state.has_own(hash) {
            return Route::Here;
        }
        if hops_left == 0 {
            return Route::FallBack;
        }
        self.best(hash, |neighbour| Some(neighbour) != from).unwrap_or(Route::FallBack)
    }

    /// Where a query for a byte key goes that remembers the nodes it visited. Call this at each node where the query
    /// is, and send `walk` with the query. The query goes on only to nodes that it did not visit, and goes back the way
    /// it came where a node has no edge left to try ([`Route::Back`]). So the query never goes round in a circle, and
    /// finds its way out of false positives. A hop in either direction uses up one of the walk's hops. The result is
    /// [`Route::FallBack`] if no hops are left, or no node on the way has an edge to try, or [`MAX_WALK`] nodes were
    /// visited.
    ///
    /// If the result is [`Route::Here`] and the node does not have the key after all, call the function again: the
    /// query then goes on. Linear in edges times levels.
    ///
    /// # Errors
    /// [`Status::ExternalHash`](crate::Status::ExternalHash) or [`Status::SecretMissing`](crate::Status::SecretMissing)
    /// if the key cannot be hashed; [`Status::OutOfRange`](crate::Status::OutOfRange) for a walk that cannot be, which
    /// stays as it is.
    #[inline]
    pub fn walk(&self, key: impl AsRef<[u8]>, walk: &mut Walk) -> Result<Route> {
        self.walk_hash(self.hash_of(key.as_ref())?, walk)
    }

    /// Where a query for the key with this hash goes; see [`Router::walk`].
    ///
    /// # Errors
    /// As [`Router::walk`].
    pub fn walk_hash(&self, hash: u64, walk: &mut Walk) -> Result<Route> {
        walk.check()?;
        let Some(is_first) = walk.enter(self.node()) else { return Ok(Route::FallBack) };
        if is_first && self.state.has_own(hash) {
            return Ok(Route::Here);
        }
        if walk.hops_left == 0 {
            return Ok(Route::FallBack);
        }
        let next = self.best(hash, |neighbour| !walk.has_visited(neighbour));
        let next = next.or_else(|| walk.go_back().map(|neighbour| Route::Back { neighbour }));
        walk.hops_left -= u32::from(next.is_some());
        Ok(next.unwrap_or(Route::FallBack))
    }

    /// The best of the edges that have a hash, among those that `may_take` allows.
    fn best(&self, hash: u64, may_take: impl Fn(u64) -> bool) -> Option<Route> {
        let weights = self.state.weights();
        let candidates = self.state.slots().filter(|(_, slot)| may_take(slot.neighbour));
        let best = candidates.filter_map(|(place, slot)| self.candidate(hash, place, &slot, &weights));
        let best = best.max_by(Candidate::order)?;
        Some(Route::Edge { neighbour: best.neighbour, level: best.level as u32 + 1 })
    }

    /// How good an edge is for a hash; `None` if no level has it.
    fn candidate(&self, hash: u64, place: usize, slot: &Slot, weights: &[f64]) -> Option<Candidate> {
        let layout = self.state.layout;
        let mut found = (0..layout.levels).filter(|level| {
            let bits = self.state.received_level(place, *level);
            !layout.is_ignored(slot.ones[*level])
                && slot.ones[*level] > 0
                && layout.positions(hash).all(|position| crate::bits::test(bits, position))
        });
        let level = found.next()?;
        let potential = weights[level] + found.map(|level| weights[level]).sum::<f64>();
        let lot = mix(hash ^ mix(slot.neighbour));
        Some(Candidate { neighbour: slot.neighbour, level, potential, weight: slot.weight, lot })
    }
}
