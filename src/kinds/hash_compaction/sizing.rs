//! Hash compaction: an open-addressed table of `S` slots with signatures of `b` bits, probed by double hashing.
//!
//! Wolper and Leroy, "Reliable hashing without collision detection", 1993; Stern and Dill, "Improved probabilistic
//! verification by hash compaction", 1995. A signature is one of `N = 2^b - 1` numbers. A key that is not there goes on
//! until it meets an empty slot or its signature. Of E empty slots and c with its signature the first that it meets is
//! one of the c with probability `c / (c + E)`: so the rate is the mean of that over the signatures. A key that an
//! insertion takes for known takes no slot, so signatures that already have many slots gain fewer.
//!
//! *Up to 256 slots* (`Table::few`) the distribution of c is followed from one taken slot to the next: with m taken the
//! next one has a certain signature with probability `(1 - c/(c+E)) / N (1 - rate)`. The same rates give the number of
//! slots taken after n keys. This takes the rate for its mean over all states with m taken slots, and probes for
//! independent; it is within .5 % of simulated tables.
//!
//! *Beyond that* c has the binomial distribution of m slots and N signatures, within 1 % as well. With `p = 1 / N`, m
//! slots are taken after `n = m + p ((S + 1) ln((S + 3/2) / (S + 3/2 - m)) - m)` keys. The second term is the
//! omissions: the estimate of the literature, `2^-b (S ln(1 / (1 - n/S)) - n)`, at `m` for `n`. The rate to expect is
//! that at this m, within 1 % where a hundredth of the slots stays empty; with a handful of empty slots it is within a
//! twentieth.

use super::primes;
use crate::sizing::{hash_floor, hit_at_least_once, is_rate, ln, mixture};

/// The least and the greatest number of bits of a signature.
pub const SIGNATURE_BITS: (u32, u32) = (2, 63);

/// The most bits of a table.
const MAX_BITS: u64 = 1 << 62;

/// Up to this many slots the rate follows each state.
const FEW: usize = 256;

/// From this many slots with one signature on, their number is taken for its mean.
const MANY: f64 = 1e6;

/// A probability that changes no rate.
const NOTHING: f64 = 1e-18;

/// After this many keys all of a few slots are taken, or as many as ever will be.
const MOST_STEPS: f64 = 1e6;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table {
    /// Slots.
    slots: f64,
    /// The probability that a signature is that of another key.
    same: f64,
}

impl Table {
    /// A table of `slots` slots with signatures of `signature_bits` bits, from 1 to 63.
    pub fn new(slots: u64, signature_bits: u32) -> Table {
        Table { slots: slots as f64, same: 1.0 / ((1_u64 << signature_bits.clamp(1, 63)) - 1) as f64 }
    }

    /// A table of `slots` slots in which two signatures are the same with probability `same`: for comparisons with
    /// tables that cannot be made.
    pub fn with_probability(slots: f64, same: f64) -> Table {
        Table { slots, same }
    }

    /// The slots, if they are few enough for each state to be followed.
    fn few(&self) -> Option<usize> {
        (self.slots <= FEW as f64 && self.slots.fract() == 0.0).then_some(self.slots as usize)
    }

    /// The rates of a table of a few slots, for every number of taken ones.
    fn rates(&self, slots: usize) -> [f64; FEW + 1] {
        // The probability that a signature has c slots, and where that is not 0.
        let (mut of_count, mut rates, mut range) = ([0.0; FEW + 2], [0.0; FEW + 1], 0..=0);
        of_count[0] = 1.0;
        for (taken, rate) in rates.iter_mut().enumerate().take(slots + 1) {
            let empty = (slots - taken) as f64;
            let found = |count: usize| if count == 0 { 0.0 } else { count as f64 / (count as f64 + empty) };
            *rate = range.clone().map(|count| of_count[count] * found(count)).sum::<f64>().min(1.0);
            let next = self.same / (1.0 - *rate).max(f64::MIN_POSITIVE);
            for count in range.clone().rev() {
                let more = of_count[count] * ((1.0 - found(count)) * next).min(1.0);
                of_count[count] -= more;
                of_count[count + 1] += more;
            }
            let (mut first, mut last) = (*range.start(), range.end() + 1);
            while last > first && of_count[last] < NOTHING {
                last -= 1;
            }
            while last > first && of_count[first] < NOTHING {
                first += 1;
            }
            range = first..=last;
        }
        rates
    }

    /// What becomes of a few slots when `keys` distinct keys come: how many are taken, and the rate, on average.
    fn after(&self, slots: usize, keys: f64) -> (f64, f64) {
        let rates = self.rates(slots);
        // The probability that m slots are taken, and where that is not 0.
        let (mut of_taken, mut first, mut last, mut key) = ([0.0; FEW + 2], 0, 0, 0.0);
        of_taken[0] = 1.0;
        // Once all slots are taken nothing changes.
        while key + 0.5 <= keys && first < slots && key < MOST_STEPS {
            key += 1.0;
            for taken in (first..=last.min(slots - 1)).rev() {
                let more = of_taken[taken] * (1.0 - rates[taken]);
                of_taken[taken] -= more;
                of_taken[taken + 1] += more;
            }
            last = (last + 1).min(slots);
            while first < last && of_taken[first] < NOTHING {
                first += 1;
            }
        }
        let mean = |of: &dyn Fn(usize) -> f64| (first..=last).map(|taken| of_taken[taken] * of(taken)).sum::<f64>();
        (mean(&|taken| taken as f64), mean(&|taken| rates[taken]).min(1.0))
    }

    /// The false-positive rate with `taken` slots taken: 0 with none, and 1 with all, except where there are more
    /// signatures than slots.
    pub fn rate_of_taken(&self, taken: f64) -> f64 {
        let Table { slots, same } = *self;
        if taken <= 0.0 {
            return 0.0;
        }
        if let Some(few) = self.few() {
            return self.rates(few)[(taken.round() as usize).min(few)];
        }
        if taken >= slots {
            return if same < 1.0 { hit_at_least_once(same, slots) } else { 1.0 };
        }
        // If very many slots have one signature, their number hardly varies.
        if taken * same < MANY {
            let empty = slots - taken;
            return mixture::binomial(taken.round() as u64, same, |count| count as f64 / (count as f64 + empty));
        }
        let mean = taken * same;
        mean / (slots + 1.0 - taken + mean)
    }

    /// How many keys were omitted on average by the time `taken` slots were taken.
    pub fn omissions_of_taken(&self, taken: f64) -> f64 {
        if let Some(few) = self.few() {
            let taken = (taken.round().max(0.0) as usize).min(few);
            return self.rates(few)[..taken].iter().map(|rate| rate / (1.0 - rate).max(f64::EPSILON)).sum();
        }
        let (end, taken) = (self.slots + 1.5, taken.clamp(0.0, self.slots));
        (self.same * ((self.slots + 1.0) * ln(end / (end - taken)) - taken)).max(0.0)
    }

    /// How many slots are taken on average once `keys` distinct keys were inserted.
    pub fn taken(&self, keys: f64) -> f64 {
        if let Some(few) = self.few() {
            return self.after(few, keys).0;
        }
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

    /// The false-positive rate once `keys` distinct keys were inserted.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        if let Some(few) = self.few() {
            return self.after(few, keys as f64).1.max(hash_floor(keys, 64));
        }
        self.rate_of_taken(self.taken(keys as f64)).max(hash_floor(keys, 64))
    }

    /// How many of `keys` distinct keys are omitted on average: those that are taken for known, and, once all slots are
    /// taken, those that are refused.
    pub fn omissions(&self, keys: f64) -> f64 {
        let taken = self.taken(keys);
        if self.few().is_some() {
            return (keys.round() - taken).max(0.0);
        }
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
    let bits = |(slots, width): (u64, u32)| slots.saturating_mul(u64::from(width));
    let mut best: Option<(u64, u32)> = None;
    for width in widths {
        let least = first_slots(keys, rate, width);
        if best.is_some_and(|best| bits((least, width)) >= bits(best)) {
            continue;
        }
        let Some(slots) = slots_for(keys, rate, width) else { continue };
        if best.is_none_or(|best| bits((slots, width)) < bits(best)) {
            best = Some((slots, width));
        }
    }
    best
}

/// The slots that keep the rate with signatures of `width` bits, by the formula for many slots.
fn least_slots(keys: u64, rate: f64, width: u32) -> f64 {
    let Table { same, .. } = Table::new(1, width);
    (keys as f64 * (same + rate * (1.0 - same)) / rate).ceil()
}

/// The slots to try first: no fewer keep the rate. The asymptotic number is up to two above what a few keys need, and
/// there must be room for the keys and for an empty slot where a search ends.
fn first_slots(keys: u64, rate: f64, width: u32) -> u64 {
    (least_slots(keys, rate, width) as u64).saturating_sub(2).max(keys.saturating_add(1)).max(2)
}

/// The slots that keep the rate with signatures of `width` bits.
fn slots_for(keys: u64, rate: f64, width: u32) -> Option<u64> {
    let least = first_slots(keys, rate, width);
    if least >= MAX_BITS / u64::from(width) {
        return None;
    }
    let mut slots = primes::at_least(least)?;
    // At most as many slots are taken as there are keys.
    while Table::new(slots, width).rate_of_taken(keys as f64).max(hash_floor(keys, 64)) > rate {
        slots = primes::at_least(slots + 1)?;
    }
    (slots <= MAX_BITS / u64::from(width)).then_some(slots)
}

/// The signature bits with which a table of `bits` bits has slots for `keys` keys and omits the fewest of them; the
/// fewest bits possible if no width leaves that many slots.
pub fn best_signature_bits(bits: u64, keys: u64) -> u32 {
    let slots = |width: u32| primes::at_most(bits / u64::from(width)).unwrap_or(0);
    let omissions = |width: &u32| Table::new(slots(*width), *width).omissions(keys as f64);
    let all = (SIGNATURE_BITS.0..=SIGNATURE_BITS.1).filter(|width| slots(*width) > keys);
    all.min_by(|a, b| omissions(a).total_cmp(&omissions(b))).unwrap_or(SIGNATURE_BITS.0)
}
