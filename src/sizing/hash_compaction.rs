//! Hash compaction: an open-addressed table of `S` slots with signatures of `b` bits, probed by double hashing.
//!
//! Wolper and Leroy, "Reliable hashing without collision detection", 1993; Stern and Dill, "Improved probabilistic
//! verification by hash compaction", 1995. A signature is one of `2^b - 1` numbers, so a taken slot that is probed has
//! that of another key with probability `p = 1 / (2^b - 1)`. Where `m` slots are taken, a key that is not there meets on
//! average `m / (S - m + 1)` of them before an empty one ends the search. With a geometric number of this mean, and
//! `a = m / (S + 1)`, the rate is `a p / (1 - a + a p)`.
//!
//! A key that is taken for known takes no slot. It takes `1 / (1 - rate)` keys to fill the next one, so that `m` slots
//! are taken after `n = m + p ((S + 1) ln((S + 3/2) / (S + 3/2 - m)) - m)` keys: the omissions are the second term, the
//! estimate of the literature, `2^-b (S ln(1 / (1 - n/S)) - n)`, at `m` for `n`.

use super::{hash_floor, hit_at_least_once, is_rate, ln, primes};

/// The least and the greatest number of bits of a signature.
pub const SIGNATURE_BITS: (u32, u32) = (2, 63);

/// The most bits of a table.
const MAX_BITS: u64 = 1 << 62;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table {
    /// Slots.
    slots: f64,
    /// The probability that a signature is that of another key.
    same: f64,
}

impl Table {
    /// So many slots with signatures of so many bits, from 1 to 63.
    pub fn new(slots: u64, signature_bits: u32) -> Table {
        Table { slots: slots as f64, same: 1.0 / ((1_u64 << signature_bits.clamp(1, 63)) - 1) as f64 }
    }

    /// So many slots, and signatures of which two are the same with this probability: for comparisons of tables that
    /// cannot be made.
    pub fn with_probability(slots: f64, same: f64) -> Table {
        Table { slots, same }
    }

    /// The false-positive rate where so many slots are taken: 0 with none, and `1 - (1-p)^S` with all.
    pub fn rate_of_taken(&self, taken: f64) -> f64 {
        let Table { slots, same } = *self;
        if taken <= 0.0 {
            return 0.0;
        }
        if taken >= slots {
            return if same < 1.0 { hit_at_least_once(same, slots) } else { 1.0 };
        }
        let load = taken / (slots + 1.0);
        load * same / ((slots + 1.0 - taken) / (slots + 1.0) + load * same)
    }

    /// How many keys were omitted on average when so many slots came to be taken.
    pub fn omissions_of_taken(&self, taken: f64) -> f64 {
        let (end, taken) = (self.slots + 1.5, taken.clamp(0.0, self.slots));
        (self.same * ((self.slots + 1.0) * ln(end / (end - taken)) - taken)).max(0.0)
    }

    /// How many slots are taken on average once `keys` distinct keys were offered.
    pub fn taken(&self, keys: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.slots.min(keys));
        if high + self.omissions_of_taken(high) <= keys {
            return high;
        }
        while high - low > 1e-9 * high {
            let middle = 0.5 * (low + high);
            if middle + self.omissions_of_taken(middle) < keys { low = middle } else { high = middle }
        }
        high
    }

    /// The false-positive rate once `keys` distinct keys were offered.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        self.rate_of_taken(self.taken(keys as f64)).max(hash_floor(keys, 64))
    }

    /// How many of `keys` distinct keys are omitted on average: those that are taken for known, and, once all slots are
    /// taken, those that are refused.
    pub fn omissions(&self, keys: f64) -> f64 {
        let taken = self.taken(keys);
        if taken >= self.slots { keys - taken } else { self.omissions_of_taken(taken) }
    }
}

/// The slots and the signature bits of the smallest table whose rate is at most `rate` where `keys` keys have a slot
/// each, which is a little more than are needed where many are omitted. The number of slots is prime and greater than
/// `keys`. `signature_bits` = 0 leaves the bits open; where they are given and many, all slots but a few are taken, and
/// the search for a key that is not there goes through a large part of the table. `None` for a rate outside (0, 1) or
/// below what 64-bit hashes have, and past 2^62 bits.
pub fn size_for(keys: u64, rate: f64, signature_bits: u32) -> Option<(u64, u32)> {
    if !is_rate(rate) || hash_floor(keys, 64) > rate {
        return None;
    }
    let widths = match signature_bits {
        0 => SIGNATURE_BITS.0..=SIGNATURE_BITS.1,
        given => given..=given,
    };
    let all = widths.filter_map(|width| Some((slots_for(keys, rate, width)?, width)));
    all.min_by_key(|(slots, width)| (slots * u64::from(*width), *width))
}

/// The slots that keep the rate with signatures of so many bits.
fn slots_for(keys: u64, rate: f64, width: u32) -> Option<u64> {
    let Table { same, .. } = Table::new(1, width);
    let least = (keys as f64 * (same + rate * (1.0 - same)) / rate).ceil();
    if least >= (MAX_BITS / u64::from(width)) as f64 {
        return None;
    }
    // The keys, and an empty slot where a search ends.
    let mut slots = primes::at_least((least as u64).saturating_sub(2).max(keys.saturating_add(1)).max(2))?;
    while Table::new(slots, width).false_positive_rate(keys) > rate {
        slots = primes::at_least(slots + 1)?;
    }
    (slots <= MAX_BITS / u64::from(width)).then_some(slots)
}

/// The signature bits with which a table of `bits` bits has slots for `keys` keys and omits the fewest of them; the least
/// there are where none has so many slots.
pub fn best_signature_bits(bits: u64, keys: u64) -> u32 {
    let slots = |width: u32| primes::at_most(bits / u64::from(width)).unwrap_or(0);
    let omissions = |width: &u32| Table::new(slots(*width), *width).omissions(keys as f64);
    let all = (SIGNATURE_BITS.0..=SIGNATURE_BITS.1).filter(|width| slots(*width) > keys);
    all.min_by(|a, b| omissions(a).total_cmp(&omissions(b))).unwrap_or(SIGNATURE_BITS.0)
}
