//! Static tables of cuckoo signatures: loads, sizes and rate.
//!
//! A table of buckets with `b` slots, of which a key chooses from `d`, can hold all of its keys up to a load that is the
//! threshold of orienting a random hypergraph: Fernholz and Ramachandran, "The k-orientability thresholds for G(n,p)",
//! 2007; Fountoulakis, Khosla and Panagiotou, "The multiple-orientability thresholds for random hypergraphs", 2011. Tables
//! are given 0.98 of it, so that few moves find a slot for every key.

use super::{hash_floor, hit_at_least_once};

/// Buckets and what a key chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buckets {
    /// How many buckets a key chooses from.
    pub choices: u32,
    /// How many slots one has.
    pub slots: u32,
    /// The share of the slots that can be taken, where these are many.
    pub threshold: f64,
}

/// Those that there are, in the order of [`NAMES`].
pub const SHAPES: [Buckets; 6] = [
    Buckets { choices: 2, slots: 4, threshold: 0.980 },
    Buckets { choices: 2, slots: 3, threshold: 0.959 },
    Buckets { choices: 2, slots: 2, threshold: 0.897 },
    Buckets { choices: 2, slots: 1, threshold: 0.5 },
    Buckets { choices: 3, slots: 1, threshold: 0.917 },
    Buckets { choices: 4, slots: 1, threshold: 0.976 },
];

/// Their names: the choices of a key times the slots of a bucket.
pub const NAMES: [&str; 6] = ["2x4", "2x3", "2x2", "2x1", "3x1", "4x1"];

/// The share of the threshold that a table is loaded to.
const LOAD: f64 = 0.98;

/// The keys of an average shard, at most.
const SHARD_KEYS: u64 = 1 << 20;

/// How many shards so many keys are divided into.
pub fn shards(keys: u64) -> u64 {
    keys.div_ceil(SHARD_KEYS).max(1)
}

/// The keys of the largest of some thousand shards, nearly always.
pub fn largest_shard(keys: u64) -> u64 {
    let mean = keys.div_ceil(shards(keys));
    if shards(keys) == 1 { keys } else { mean + 6 * mean.isqrt() }
}

/// The memory that building takes beside the payload: for each key of a shard the key, and four bytes for each of its
/// slots, of which there are a little more than two at most.
pub fn build_memory(keys: u64) -> u64 {
    17 * largest_shard(keys)
}

impl Buckets {
    /// How many buckets a table for so many keys has, unless these are among the few sets that need more.
    pub fn length(&self, keys: u64) -> u64 {
        let load = LOAD * self.threshold * f64::from(self.slots);
        (keys as f64 / load).ceil().max(1.0) as u64
    }

    /// The probability that one of the slots of a key that is not there has its signature of `bits` bits, where each of
    /// `shards` shards has so many buckets.
    ///
    /// Whichever slots are taken, a key that is not there meets `n / shards (1 - (1 - 1 / B)^d)` of them on average,
    /// which is `d b load` but where buckets are few. At least the probability that two keys have one hash.
    pub fn false_positive_rate(&self, bits: u32, shards: f64, buckets: f64, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        let same = 1.0 / ((1_u64 << bits.clamp(1, 63)) - 1) as f64;
        let slots = f64::from(self.choices * self.slots);
        let chosen = hit_at_least_once(1.0 / buckets.max(1.0), self.choices.into());
        let taken = (keys as f64 / shards * chosen / slots).clamp(0.0, 1.0);
        hit_at_least_once(taken * same, slots).max(hash_floor(keys, 64))
    }
}
