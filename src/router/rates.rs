//! How often a router misleads queries: what is expected, and what it is now.

use super::Router;
use crate::contract::Payload;
use crate::router::MAX_LEVELS;
use crate::router::sizing::{FILL, fill, keys_at, rate_of_fill};

/// The rates of one level. The first level is the neighbours themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelStatistics {
    /// The expected number of keys at this level of one edge, from the capacity and the fan-out of the spec; 0 without
    /// a capacity.
    pub expected_keys: f64,
    /// The share of bits that this many keys set.
    pub expected_fill: f64,
    /// The probability that this level of one edge, with this many keys, seems to have an absent key.
    pub expected_rate: f64,
    /// The mean share of set bits, over the edges that had a message; 0 if none had one.
    pub mean_fill: f64,
    /// The greatest share of set bits over these edges.
    pub greatest_fill: f64,
    /// The probability that some edge seems to have an absent key at this level.
    pub false_route_rate: f64,
}

/// The rates of a router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// How many levels there are.
    pub levels: usize,
    /// The rates of each level.
    pub level: [LevelStatistics; MAX_LEVELS],
    /// The share of bits that the node's own keys set.
    pub own_fill: f64,
    /// The probability that a query for a key that no node has goes over some edge.
    pub false_route_rate: f64,
    /// How many levels of edges are too full to be asked (`max_fill`).
    pub ignored: u64,
    /// Whether the fill of the last level is above 0.3 over some edge: make the levels larger, or fewer.
    pub is_overfull: bool,
}

impl Router {
    /// Says how often this router misleads queries. Reads the counters of the node's own keys, and some words of each
    /// edge.
    pub fn statistics(&self) -> Statistics {
        let layout = self.state.layout;
        let mut rates = Statistics {
            levels: layout.levels,
            level: [LevelStatistics::default(); MAX_LEVELS],
            own_fill: self.own_fill(),
            false_route_rate: 0.0,
            ignored: 0,
            is_overfull: false,
        };
        let mut no_edge_has = 1.0;
        let heard = || self.state.slots().map(|(_, slot)| slot).filter(|slot| slot.received > 0);
        for (i, level) in rates.level[..layout.levels].iter_mut().enumerate() {
            level.expected_keys = keys_at(self.state.base().header().capacity, layout.fan_out, i + 1);
            level.expected_fill = fill(layout.bits, layout.hashes, level.expected_keys);
            level.expected_rate = rate_of_fill(level.expected_fill, layout.hashes);
            let (mut count, mut no_edge_has_here) = (0, 1.0);
            for slot in heard() {
                let fill = slot.ones[i] as f64 / layout.bits as f64;
                level.mean_fill += fill;
                level.greatest_fill = level.greatest_fill.max(fill);
                count += 1;
                if layout.is_ignored(slot.ones[i]) {
                    rates.ignored += 1;
                } else {
                    no_edge_has_here *= 1.0 - rate_of_fill(fill, layout.hashes);
                }
            }
            level.mean_fill /= f64::from(count.max(1));
            level.false_route_rate = 1.0 - no_edge_has_here;
            no_edge_has *= no_edge_has_here;
        }
        rates.false_route_rate = 1.0 - no_edge_has;
        rates.is_overfull = rates.level[layout.levels - 1].greatest_fill > FILL;
        rates
    }

    /// The share of bits that the node's own keys set.
    fn own_fill(&self) -> f64 {
        let (layout, cells) = (self.state.layout, self.state.shared(self.state.layout.cells()));
        let each = 64 / layout.counter_bits;
        let set =
            |word: u64| (0..each).filter(|cell| word >> (cell * layout.counter_bits) & layout.most() != 0).count();
        let words = cells.iter().map(|word| word.load(core::sync::atomic::Ordering::Relaxed));
        let ones: u64 = words.filter(|word| *word != 0).map(|word| set(word) as u64).sum();
        ones as f64 / layout.bits as f64
    }
}
