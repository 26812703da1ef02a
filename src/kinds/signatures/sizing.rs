//! The loads, sizes and false-positive rate of static tables of cuckoo signatures.
//!
//! A table of buckets with `b` slots, in which a key chooses from `d` buckets, can hold all of its keys up to a certain
//! load. That load is the threshold of orienting a random hypergraph: Fernholz and Ramachandran, "The k-orientability
//! thresholds for G(n,p)", 2007; Fountoulakis, Khosla and Panagiotou, "The multiple-orientability thresholds for random
//! hypergraphs", 2011. Tables are given 0.98 of that load, so that few moves find a slot for every key.

use crate::sizing::hash_floor;

/// The shape of buckets, and how many of them a key chooses from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buckets {
    /// How many buckets a key chooses from.
    pub choices: u32,
    /// How many slots a bucket has.
    pub slots: u32,
    /// The share of the slots that can be taken if there are many slots.
    pub threshold: f64,
}

/// All shapes, in the order of [`NAMES`].
pub const SHAPES: [Buckets; 6] = [
    Buckets { choices: 2, slots: 4, threshold: 0.980 },
    Buckets { choices: 2, slots: 3, threshold: 0.959 },
    Buckets { choices: 2, slots: 2, threshold: 0.897 },
    Buckets { choices: 2, slots: 1, threshold: 0.5 },
    Buckets { choices: 3, slots: 1, threshold: 0.917 },
    Buckets { choices: 4, slots: 1, threshold: 0.976 },
];

/// The names of the shapes: the choices of a key times the slots of a bucket.
pub const NAMES: [&str; 6] = ["2x4", "2x3", "2x2", "2x1", "3x1", "4x1"];

/// The share of the threshold that a table is loaded to.
const LOAD: f64 = 0.98;

/// The most keys of an average shard.
const SHARD_KEYS: u64 = 1 << 20;

/// How many shards `keys` keys are divided into.
pub fn shards(keys: u64) -> u64 {
    keys.div_ceil(SHARD_KEYS).max(1)
}

/// The most keys that the largest of some thousand shards has, nearly always.
pub fn largest_shard(keys: u64) -> u64 {
    let mean = keys.div_ceil(shards(keys));
    if shards(keys) == 1 { keys } else { mean + 6 * mean.isqrt() }
}

/// The memory that building takes besides the payload: for each key of a shard the key, and four bytes for each slot. A
/// key has a little more than two slots at most.
pub fn build_memory(keys: u64) -> u64 {
    17 * largest_shard(keys)
}

impl Buckets {
    /// How many buckets a table for `keys` keys has. A few sets of keys need more.
    pub fn length(&self, keys: u64) -> u64 {
        let load = LOAD * self.threshold * f64::from(self.slots);
        (keys as f64 / load).ceil().max(1.0) as u64
    }

    /// The probability that one of the slots of an absent key has the key's signature of `bits` bits, if each of
    /// `shards` shards has `buckets` buckets. The result is at least the probability that two keys have one hash.
    ///
    /// A bucket with c taken slots says "no" with probability `x = (1 - 1/(2^r - 1))^c`, and a bucket that is chosen
    /// twice says so once: the rate of [`Buckets::rate_of_buckets`]. Buckets of one slot are taken or free, and their
    /// rate is exact. Larger buckets fill as if each key came to a bucket drawn from those with room, because a key
    /// whose buckets are full moves others until one of them finds such a bucket. That model is within half a per cent
    /// of the tables that are built.
    pub fn false_positive_rate(&self, bits: u32, shards: f64, buckets: f64, keys: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        let (count, each) = (buckets.max(1.0), keys as f64 / shards);
        let refuses = |taken: usize| (1.0 - same(bits)).powi(taken as i32);
        let of_taken = self.buckets_by_taken(count, each);
        let sum = |power: i32| -> f64 {
            of_taken.iter().enumerate().map(|(taken, share)| count * share * refuses(taken).powi(power)).sum()
        };
        self.rate_of_buckets(count, sum(1), sum(2), refuses(1)).max(hash_floor(keys, 64))
    }

    /// The rate of `buckets` buckets. `sum` is the sum of their chances to say "no", and `squares` is the sum of the
    /// squares of these chances. `one` is the chance of a bucket with one key.
    pub fn rate_of_buckets(&self, buckets: f64, sum: f64, squares: f64, one: f64) -> f64 {
        if self.slots > 1 {
            // The two choices are different buckets, or the same bucket.
            let refused = (sum * sum - squares + sum) / (buckets * buckets);
            return (1.0 - refused).clamp(0.0, 1.0);
        }
        // The loop finds how many different taken buckets the choices come to.
        let taken = if one < 1.0 { (buckets - sum) / (1.0 - one) } else { 0.0 };
        let mut met = [0.0; MOST_CHOICES + 1];
        met[0] = 1.0;
        for _ in 0..self.choices {
            for j in (0..met.len()).rev() {
                let stays = ((buckets - taken + j as f64) / buckets).clamp(0.0, 1.0);
                let comes = if j > 0 { met[j - 1] * ((taken - (j - 1) as f64) / buckets).max(0.0) } else { 0.0 };
                met[j] = met[j] * stays + comes;
            }
        }
        let refused: f64 = met.iter().enumerate().map(|(j, chance)| chance * one.powi(j as i32)).sum();
        (1.0 - refused).clamp(0.0, 1.0)
    }

    /// The share of buckets with each number of taken slots, if keys come to buckets that have room.
    fn buckets_by_taken(&self, buckets: f64, keys: f64) -> [f64; MOST_SLOTS + 1] {
        let slots = self.slots as usize;
        let mut shares = [0.0; MOST_SLOTS + 1];
        shares[0] = 1.0;
        let mut left = keys.min(buckets * slots as f64);
        // Keys are followed one by one. If there are very many keys, they are followed in steps too small to change the
        // result.
        let step = (left / STEPS).max(1.0);
        while left > 1e-9 {
            let with_room = (1.0 - shares[slots]) * buckets;
            let come = step.min(left);
            let moved = if with_room > 0.0 { (come / with_room).min(1.0) } else { 0.0 };
            for taken in (0..slots).rev() {
                let more = shares[taken] * moved;
                shares[taken] -= more;
                shares[taken + 1] += more;
            }
            left -= come;
        }
        shares
    }
}

/// The most slots of a bucket.
const MOST_SLOTS: usize = 4;
const MOST_CHOICES: usize = 4;

/// Up to this many keys are followed one by one.
const STEPS: f64 = 4096.0;

/// The probability that two signatures of `bits` bits are the same.
pub fn same(bits: u32) -> f64 {
    1.0 / ((1_u64 << bits.clamp(1, 63)) - 1) as f64
}
