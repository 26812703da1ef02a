//! Age-partitioned Bloom filters: `k + l` slices of s bits in the order of their age. A key sets a bit in each of the k
//! youngest slices.
//!
//! Shtul, Baquero and Almeida, "Age-Partitioned Bloom Filters", 2020. After every g keys a slice of zeros becomes the
//! youngest and the oldest slice is dropped. A lookup says true if k consecutive slices have the key's bits. So a key
//! is found until at least l g more keys have come.
//!
//! Each slice has its own hash function. Given the fills `r_0, r_1, ...`, a lookup of an absent key meets set bits
//! independently, and the rate is the probability of a run of k: [`run`], one pass over the slices. The rate is linear
//! in each fill, and the fills are independent, so the mean fills give the mean rate. A slice that n keys set bits in
//! has the mean fill `1 - (1 - 1/s)^n`. For slice i these are the keys of `min(i + 1, k)` generations, less those that
//! the youngest generation still lacks. The rate is largest when that generation is complete, by a tenth or more. So
//! the pairs (k, l) that the paper lists keep their rates on average only, while [`slice_bits`] keeps the largest rate.

use crate::sizing::omissions::sum_of_rates;
use crate::sizing::{hash_floor, hit_at_least_once, is_rate, search};

/// The most slices that a key sets a bit in.
pub const MAX_HASHES: u32 = 64;

/// The most older slices.
pub const MAX_OLD: u32 = 128;

/// The most slices.
pub const MAX_SLICES: usize = (MAX_HASHES + MAX_OLD) as usize;

/// The most bits of a slice.
const MAX_BITS: u64 = 1 << 56;

/// The probability of a run of `hashes` set bits in slices of these fills.
pub fn run(hashes: u32, fills: impl Iterator<Item = f64>) -> f64 {
    // For each length, the probability that there is no wanted run yet and that a run of that length is at the end.
    let mut ends = [0.0; MAX_HASHES as usize];
    let hashes = (hashes as usize).clamp(1, ends.len());
    ends[0] = 1.0;
    let mut found = 0.0;
    for fill in fills {
        found += ends[hashes - 1] * fill;
        let mut broken = 0.0;
        for end in (0..hashes).rev() {
            broken += ends[end] * (1.0 - fill);
            ends[end] = if end == 0 { broken } else { ends[end - 1] * fill };
        }
    }
    found
}

/// The shape of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// k, the number of slices that a key sets a bit in.
    pub hashes: u32,
    /// l, the number of older slices.
    pub old: u32,
    /// s, the bits of a slice.
    pub bits: u64,
    /// g, the number of keys after which a slice is dropped; `None` if all keys come in one generation.
    pub keys: Option<u64>,
}

impl Slices {
    /// How many slices there are.
    pub fn count(&self) -> u32 {
        self.hashes + self.old
    }

    /// The number of keys after which the filter's fills no longer change.
    fn ramp(&self) -> u64 {
        self.keys.map_or(u64::MAX, |keys| keys.saturating_mul(self.count().into()))
    }

    /// How many of `keys` distinct keys set a bit in the slice of this age.
    fn keys_of(&self, age: u32, keys: u64) -> u64 {
        let (age, hashes) = (u64::from(age), u64::from(self.hashes));
        let Some(each) = self.keys else { return if age < hashes { keys } else { 0 } };
        // The next slice is dropped by the first key after a generation, not by the generation's last key.
        let generation = keys.saturating_sub(1) / each;
        match age < hashes {
            true => age.min(generation) * each + (keys - generation * each),
            false => (age.min(generation) + hashes).saturating_sub(age) * each,
        }
    }

    /// The rate after `keys` distinct keys. Once the first of them are forgotten, this is the largest rate.
    pub fn false_positive_rate(&self, keys: u64) -> f64 {
        let keys = keys.min(self.ramp());
        self.rate_after(keys).max(hash_floor(keys, 64))
    }

    fn rate_after(&self, keys: u64) -> f64 {
        let same = 1.0 / self.bits.max(1) as f64;
        run(self.hashes, (0..self.count()).map(|age| hit(same, self.keys_of(age, keys))))
    }

    /// The rate just before a step, when every slice is as full as it becomes at its age.
    pub fn worst(&self) -> f64 {
        self.rate_after(self.ramp())
    }

    /// The probability that a key is not found `keys` keys later, wherever in its generation it came. For k steps after
    /// the window some of its bits are still there, and the others may be set by chance.
    pub fn false_negative_rate(&self, keys: u64) -> f64 {
        let Some(each) = self.keys else { return 0.0 };
        if keys <= each.saturating_mul(self.old.into()) {
            return 0.0;
        }
        let (steps, part) = (keys / each, (keys % each) as f64 / each as f64);
        // The result comes from a difference, so that a rate that no longer changes is the same number at every age.
        let (found, later) = (self.found_after(steps), self.found_after(steps.saturating_add(1)));
        1.0 - (found + part * (later - found))
    }

    /// The probability that a key is found after `steps` steps, in the middle of a generation.
    fn found_after(&self, steps: u64) -> f64 {
        let same = 1.0 / self.bits.max(1) as f64;
        let keys = self.ramp() - self.keys.unwrap_or(0) / 2;
        let own = steps..steps.saturating_add(self.hashes.into());
        let fill = |age: u32| if own.contains(&age.into()) { 1.0 } else { hit(same, self.keys_of(age, keys)) };
        run(self.hashes, (0..self.count()).map(fill))
    }

    /// How many of `keys` distinct keys are taken for known.
    pub fn omissions(&self, keys: u64) -> f64 {
        let Some(each) = self.keys else { return sum_of_rates(keys, |keys| self.rate_after(keys)) };
        let part = |first: u64, keys: u64| sum_of_rates(keys, |i| self.rate_after(first.saturating_add(i)));
        let generations = keys / each;
        let ramp = u64::from(self.count());
        let mut sum: f64 = (0..generations.min(ramp)).map(|i| part(i * each, each)).sum();
        if generations > ramp {
            sum += (generations - ramp) as f64 * part(ramp * each, each);
        }
        sum + part(generations.min(ramp) * each, keys - generations * each)
    }
}

/// The fill after `keys` keys, each of which sets a given bit with probability `same`.
fn hit(same: f64, keys: u64) -> f64 {
    if keys == 0 { 0.0 } else { hit_at_least_once(same, keys as f64) }
}

/// The least bits of a slice for which `slices` has at most this rate at its worst. `None` if no number of bits does.
pub fn slice_bits(slices: Slices, rate: f64) -> Option<u64> {
    let keys = slices.keys?;
    if !is_rate(rate) {
        return None;
    }
    let guess = f64::from(slices.hashes) * keys as f64 / load(slices.hashes, slices.old, rate);
    search::least(guess.min(MAX_BITS as f64) as u64, MAX_BITS, |bits| Slices { bits, ..slices }.worst() <= rate)
}

/// The number of slices for each key that takes the fewest bits in filters of this rate for many keys.
pub fn best_hashes(old: u32, rate: f64) -> u32 {
    if !is_rate(rate) {
        return 1;
    }
    let cost = |hashes| f64::from(hashes + old) * f64::from(hashes) / load(hashes, old, rate);
    let guess = (1.0 - rate.log2()).min(f64::from(MAX_HASHES)) as u32 + 3;
    search::valley(guess, MAX_HASHES, cost, f64::total_cmp)
}

/// The number of slices for each key that gives the lowest rate to filters of `bits` bits in all and `keys` keys in a
/// generation.
pub fn best_hashes_of_bits(old: u32, bits: u64, keys: u64) -> u32 {
    let worst = |hashes: u32| {
        let bits = bits / u64::from(hashes + old);
        Slices { hashes, old, bits: bits.max(1), keys: Some(keys.max(1)) }.worst()
    };
    search::valley(10, MAX_HASHES, worst, f64::total_cmp)
}

/// The number of keys for each bit of a slice at its fullest that gives large filters this rate at worst.
fn load(hashes: u32, old: u32, rate: f64) -> f64 {
    let worst = |load: f64| {
        let share = |age: u32| f64::from((age + 1).min(hashes)) / f64::from(hashes);
        run(hashes, (0..hashes + old).map(|age| -(-load * share(age)).exp_m1()))
    };
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if worst(middle) <= rate { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's pairs with half full slices: k, l, the rate at the worst moment, and the mean rate over a
    /// generation. Three digits of the mean are known.
    const PAIRS: [(u32, u32, f64, Option<f64>); 15] = [
        (4, 3, 0.1074, None),
        (5, 7, 0.1058, None),
        (6, 14, 0.1010, None),
        (7, 28, 0.1004, None),
        (7, 5, 0.01283, Some(0.01059)),
        (8, 8, 0.01105, Some(0.01003)),
        (9, 14, 0.01066, None),
        (10, 25, 0.01032, Some(0.01006)),
        (11, 46, 0.01008, None),
        (10, 7, 0.001_474, Some(0.00122)),
        (11, 9, 0.001_055, None),
        (12, 14, 0.001_050, Some(0.000_987)),
        (13, 23, 0.001_026, None),
        (14, 40, 0.001_008, None),
        (17, 36, 1.014e-4, None),
    ];

    fn paper(hashes: u32, old: u32, phase: f64) -> f64 {
        let k = f64::from(hashes);
        run(hashes, (0..hashes + old).map(|age| 1.0 - (-(f64::from(age) + phase).min(k) / k).exp2()))
    }

    #[test]
    fn rates_are_those_of_the_table() {
        for (hashes, old, worst, mean) in PAIRS {
            let is = paper(hashes, old, 1.0);
            assert!((is / worst - 1.0).abs() < 6e-4, "({hashes}, {old}): {is}, not {worst}");
            let average = (0..1000).map(|i| paper(hashes, old, (f64::from(i) + 0.5) / 1000.0)).sum::<f64>() / 1000.0;
            assert!(
                mean.is_none_or(|mean| (average / mean - 1.0).abs() < 4e-3),
                "({hashes}, {old}): {average} on average"
            );
            // A filter of many keys stands for large filters.
            let keys = 1_000_000;
            let bits = (f64::from(hashes) * keys as f64 / core::f64::consts::LN_2).round() as u64;
            let slices = Slices { hashes, old, bits, keys: Some(keys) };
            assert!((slices.worst() / worst - 1.0).abs() < 1e-3, "({hashes}, {old}): {}", slices.worst());
        }
    }

    /// Compares the probability of a run with a count over all patterns.
    #[test]
    fn runs_are_counted_out() {
        let fills = [0.1, 0.25, 0.3, 0.55, 0.5, 0.5, 0.9, 0.4];
        for hashes in 1..=8 {
            let probability = |pattern: u32| -> f64 {
                (0..8).map(|i| if pattern >> i & 1 == 1 { fills[i] } else { 1.0 - fills[i] }).product()
            };
            let has_run =
                |pattern: &u32| (0..=8 - hashes).any(|i| pattern >> i & ((1 << hashes) - 1) == (1 << hashes) - 1);
            let all: f64 = (0..256).filter(has_run).map(probability).sum();
            assert!((run(hashes, fills.into_iter()) - all).abs() < 1e-14, "{hashes}");
        }
    }

    #[test]
    fn sizes_are_the_least_that_keep_the_rate_at_its_worst() {
        for (old, rate, keys) in [(24, 0.01, 1000), (1, 0.1, 7), (7, 1e-4, 1), (128, 1e-3, 50_000)] {
            let hashes = best_hashes(old, rate);
            let slices = Slices { hashes, old, bits: 0, keys: Some(keys) };
            let bits = slice_bits(slices, rate).unwrap();
            assert!(Slices { bits, ..slices }.worst() <= rate && Slices { bits: bits - 1, ..slices }.worst() > rate);
            // In large filters one slice a key more or less takes more bits.
            for other in [hashes - 1, hashes + 1] {
                let other = Slices { hashes: other, old, bits: 0, keys: Some(1_000_000) };
                let best = Slices { hashes, ..other };
                let all = |slices: Slices| slice_bits(slices, rate).unwrap() * u64::from(slices.count());
                assert!(all(other) >= all(best), "{other:?}");
            }
        }
    }

    #[test]
    fn rates_rise_to_the_worst_and_omissions_are_their_sum() {
        let slices = Slices { hashes: 10, old: 25, bits: 5771, keys: Some(400) };
        assert_eq!(slices.false_positive_rate(0), 0.0);
        assert_eq!(slices.false_positive_rate(u64::MAX), slices.worst());
        assert!((slices.false_positive_rate(25 * 400) / slices.worst() - 1.0).abs() < 0.6);
        for keys in [0, 1, 400, 10_000, 14_000, 14_001, 30_123] {
            let sum: f64 = (0..keys).map(|i| slices.rate_after(if i > 14_000 { 14_000 + i % 400 } else { i })).sum();
            let omissions = slices.omissions(keys);
            assert!((omissions - sum).abs() <= 0.01 * sum + 1e-9, "{keys}: {omissions}, not {sum}");
        }
    }
}
