//! The edges of a router, which can be added and removed, and the weights that break ties.

use super::Router;
use crate::error::{Result, error};
use crate::router::MAX_LEVELS;
use crate::router::layout::WEIGHTS;
use crate::router::state::Slot;

/// An edge to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The number of the neighbour's node.
    pub neighbour: u64,
    /// The number of the link.
    pub link: u64,
    /// The weight: of two edges that are otherwise equal, a query takes the one with the greater weight.
    pub weight: f64,
    /// The number of the last message to the neighbour; 0 if there was none.
    pub sent: u64,
    /// The number of the last message from the neighbour; 0 if there was none.
    pub received: u64,
    /// How many levels there are.
    pub levels: usize,
    /// For each level, the share of bits that the level from the neighbour has set.
    pub fill: [f64; MAX_LEVELS],
    /// Which levels are too full to be asked or passed on (`max_fill`): bit 0 is the first level.
    pub ignored: u32,
}

impl Router {
    /// Adds an edge to a neighbour, which has levels only when its first message comes. `link` is a number that both
    /// sides give to this connection, such as a random one that they agree on when they connect. Messages of another
    /// link are refused, so nobody can replay those of an earlier connection. `weight` breaks ties ([`Edge::weight`]).
    /// Linear in the number of edges.
    ///
    /// # Errors
    /// [`Status::Contradiction`](crate::Status::Contradiction) for an edge that is there, or one to the node itself;
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for a weight that is not finite;
    /// [`Status::Full`](crate::Status::Full) if there are as many edges as the parameter `edges` allows.
    pub fn add_edge(&mut self, neighbour: u64, link: u64, weight: f64) -> Result<()> {
        self.check_writable("add edges")?;
        check_weight(weight)?;
        if neighbour == self.node() {
            return Err(error!(Contradiction, "neighbour = {neighbour} is the number of the node itself"));
        }
        if self.state.slots().any(|(_, slot)| slot.neighbour == neighbour) {
            return Err(error!(Contradiction, "the router has an edge to node {neighbour} already"));
        }
        let (layout, edges) = (self.state.layout, self.state.layout.edges);
        let free = (0..edges).find(|slot| self.state.slot(*slot).is_none());
        let free = free.ok_or_else(|| error!(Full, "the router has as many edges as it may have: edges = {edges}"))?;
        let head = Slot {
            neighbour,
            link,
            weight,
            sent: 0,
            sent_checksum: 0,
            received: 0,
            received_checksum: 0,
            ones: [0; MAX_LEVELS],
        };
        let payload = self.state.base.writable()?;
        // In a forged image the levels of a slot without an edge may hold anything.
        payload[layout.whole_slot(free)].fill(0);
        self.state.set_head(free, &head);
        Ok(())
    }

    /// Removes an edge, and what came in over it. Linear in the size of the edge's levels.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for an edge that is not there.
    pub fn remove_edge(&mut self, neighbour: u64) -> Result<()> {
        self.check_writable("remove edges")?;
        let (slot, _) = self.slot_of(neighbour)?;
        let words = self.state.layout.whole_slot(slot);
        self.state.base.writable()?;
        self.state.set_unused(slot);
        self.state.base.writable()?[words].fill(0);
        Ok(())
    }

    /// Sets the weight of an edge ([`Edge::weight`]).
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for an edge that is not there, and a weight that is not
    /// finite.
    pub fn set_edge_weight(&mut self, neighbour: u64, weight: f64) -> Result<()> {
        self.check_writable("set weights")?;
        check_weight(weight)?;
        let (slot, head) = self.slot_of(neighbour)?;
        self.state.base.writable()?;
        self.state.set_head(slot, &Slot { weight, ..head });
        Ok(())
    }

    /// Sets the weight of each level, the first level first. All weights are 0 at first. Among edges that have a key at
    /// the same least level, a query takes the one whose levels with the key have the greatest sum of weights.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) unless there is one finite weight for each level.
    pub fn set_level_weights(&mut self, weights: &[f64]) -> Result<()> {
        self.check_writable("set weights")?;
        let levels = self.state.layout.levels;
        if weights.len() != levels {
            let given = weights.len();
            return Err(error!(
                OutOfRange,
                "{given} weights of levels were given, and the router has levels = {levels}"
            ));
        }
        weights.iter().try_for_each(|weight| check_weight(*weight))?;
        let words = &mut self.state.base.writable()?[WEIGHTS][..levels];
        words.iter_mut().zip(weights).for_each(|(word, weight)| *word = weight.to_bits());
        Ok(())
    }

    /// How many edges there are. Linear in the parameter `edges`.
    pub fn edge_count(&self) -> usize {
        self.state.slots().count()
    }

    /// The edges, in no particular order.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        self.state.slots().map(|(_, slot)| self.describe(&slot))
    }

    /// The edge to a neighbour.
    ///
    /// # Errors
    /// [`Status::OutOfRange`](crate::Status::OutOfRange) for an edge that is not there.
    pub fn edge(&self, neighbour: u64) -> Result<Edge> {
        self.slot_of(neighbour).map(|(_, slot)| self.describe(&slot))
    }

    fn describe(&self, slot: &Slot) -> Edge {
        let layout = self.state.layout;
        let ignored = slot.ones.iter().enumerate().map(|(level, ones)| u32::from(layout.is_ignored(*ones)) << level);
        Edge {
            neighbour: slot.neighbour,
            link: slot.link,
            weight: slot.weight,
            sent: slot.sent,
            received: slot.received,
            levels: layout.levels,
            fill: slot.ones.map(|ones| ones as f64 / layout.bits as f64),
            ignored: ignored.sum(),
        }
    }
}

/// Refuses a weight that is not finite.
fn check_weight(weight: f64) -> Result<()> {
    match weight.is_finite() {
        true => Ok(()),
        false => Err(error!(OutOfRange, "weight = {weight} is not a finite number")),
    }
}
