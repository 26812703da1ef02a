//! The attacks of Gerbet, Kumar and Lauradoux, "The power of evil choices in Bloom filters", 2015: an attacker who
//! knows the hash function chooses the keys. Under a public hash function the attacks have exactly the effect that
//! theory predicts. Under a secret key the same attacker does no better than chance.
//!
//! The attacker works from `docs/format.md`: whoever has the hash function can compute positions easily.

use crate::common::mix;
use petal::{Filter, HashFunction, Hasher, Image, Secret, Spec};

/// The number of bits that are set.
fn ones(filter: &Filter) -> u64 {
    (filter.statistics().fill * filter.base().geometry().bits as f64).round() as u64
}

/// How far from its expectation a count may lie, in standard deviations.
const SIGMAS: f64 = 4.5;

const SECRET: Secret = *b"nobody knows it.";
const GUESS: Secret = *b"everybody tries.";

/// A size of filters with two known rates: the rate under attack, (n k / m)^k, and the ordinary rate.
struct Size {
    keys: u64,
    bits: u64,
    hashes: u32,
    attacked: f64,
    ordinary: f64,
}

const SIZES: [Size; 2] = [
    Size { keys: 2000, bits: 20_000, hashes: 7, attacked: 0.0824, ordinary: 0.0082 },
    Size { keys: 1000, bits: 14_430, hashes: 10, attacked: 0.0256, ordinary: 9.8e-4 },
];

impl Size {
    fn filter(&self, spec: &Spec) -> Filter {
        let Size { bits, hashes, keys, .. } = *self;
        let kind = Some(petal::kinds::bloom::ROW.kind);
        petal::Filter::new(&Spec { kind, bits, hashes, capacity: keys, ..*spec }).unwrap()
    }
}

/// A spec with XXH3, whose seed is public.
fn public() -> Spec {
    Spec { seed: 42, ..Spec::default() }
}

/// A spec with SipHash under a secret key.
fn keyed(key: Secret) -> Spec {
    Spec { hash: HashFunction::SipHash13, secret: Some(key), ..Spec::default() }
}

/// The state of an attacker: a copy of the filter under the hash function that the attacker believes in.
struct Attacker {
    hasher: Hasher,
    bits: Vec<bool>,
    hashes: u32,
    /// The number of keys that were hashed so far, which is the price of the attack.
    evaluations: u64,
}

impl Attacker {
    fn new(size: &Size, believed: &Spec) -> Attacker {
        let bits = vec![false; size.bits as usize];
        Attacker { hasher: believed.hasher().unwrap(), bits, hashes: size.hashes, evaluations: 0 }
    }

    /// The positions of a key. Position i is the high bits of the hash times the golden ratio to the i, scaled to the
    /// bits.
    fn positions(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let (mut hash, bits) = (self.hasher.hash_u64(key).unwrap(), self.bits.len() as u128);
        (0..self.hashes).map(move |_| {
            let position = (u128::from(hash) * bits) >> 64;
            hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            position as usize
        })
    }

    fn insert(&mut self, key: u64) {
        self.positions(key).for_each(|position| self.bits[position] = true);
    }

    /// The next candidate that sets as many fresh bits as a key can.
    fn pollute(&mut self, candidates: &mut impl Iterator<Item = u64>) -> u64 {
        loop {
            let key = candidates.next().unwrap();
            self.evaluations += 1;
            let mut positions: Vec<usize> = self.positions(key).collect();
            if positions.iter().all(|position| !self.bits[*position]) {
                positions.sort_unstable();
                positions.dedup();
                if positions.len() == self.hashes as usize {
                    self.insert(key);
                    return key;
                }
            }
        }
    }

    /// The next candidate that the copy of the filter says yes to.
    fn forge(&mut self, candidates: &mut impl Iterator<Item = u64>) -> u64 {
        loop {
            let key = candidates.next().unwrap();
            self.evaluations += 1;
            if self.positions(key).all(|position| self.bits[position]) {
                return key;
            }
        }
    }
}

/// Distinct keys, which differ between series.
fn keys(series: u64) -> impl Iterator<Item = u64> {
    (series << 40..).map(mix)
}

/// Asserts that a count is within the band of a binomial distribution.
fn assert_binomial(count: u64, trials: u64, probability: f64, what: &str) {
    let expected = trials as f64 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt();
    let off = (count as f64 - expected) / deviation;
    assert!(
        off.abs() < SIGMAS,
        "{what}: {count} of {trials}, expected {expected:.1}, {off:.1} standard deviations off"
    );
}

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!((value / expected - 1.0).abs() < 0.01, "{what}: {value}, expected {expected}");
}

/// Asserts that absent keys are found at the rate.
fn assert_measured(filter: &Filter, rate: f64, what: &str) {
    let trials = 2_000_000;
    let found = keys(9).take(trials).filter(|key| filter.contains_u64(*key)).count();
    assert_binomial(found as u64, trials as u64, rate, what);
}

#[test]
fn chosen_keys_pollute_a_filter_under_a_public_hash_function() {
    for size in SIZES {
        let mut filter = size.filter(&public());
        let mut attacker = Attacker::new(&size, &public());
        let mut candidates = keys(1);
        for _ in 0..size.keys {
            filter.insert_u64(attacker.pollute(&mut candidates)).unwrap();
        }
        assert_eq!(ones(&filter), size.keys * u64::from(size.hashes), "every key sets as many fresh bits as it can");
        let rate = filter.false_positive_rate();
        assert_close(rate, size.attacked, "the polluted rate");
        assert_measured(&filter, rate, "the polluted rate");
        let promised = filter.expected_false_positive_rate(size.keys);
        assert_close(promised, size.ordinary, "the promised rate");
        assert!(rate > 10.0 * promised, "ten times worse than promised: {rate} for {promised}");
    }
}

#[test]
fn a_secret_key_reduces_chosen_keys_to_ordinary_ones() {
    for size in SIZES {
        let mut filter = size.filter(&keyed(SECRET));
        let mut attacker = Attacker::new(&size, &keyed(GUESS));
        let mut candidates = keys(2);
        for _ in 0..size.keys {
            filter.insert_u64(attacker.pollute(&mut candidates)).unwrap();
        }
        let Size { keys, bits, hashes, .. } = size;
        let expected = bits as f64 - petal::sizing::bloom::expected_zeros(bits, hashes, keys);
        let deviation = petal::sizing::bloom::zeros_sd(bits, hashes, keys);
        let off = (ones(&filter) as f64 - expected) / deviation;
        assert!(off.abs() < SIGMAS, "{} bits set, expected {expected:.0}: {off:.1}", ones(&filter));
        // A relative change of the fill changes the rate by k times as much.
        let rate = filter.false_positive_rate();
        let factor = (1.0 + SIGMAS * deviation / expected).powi(hashes as i32);
        assert!(rate < size.ordinary * factor && rate > size.ordinary / factor, "{rate} for {}", size.ordinary);
        assert_measured(&filter, rate, "the rate");
    }
}

/// Keys go into the filter and into the attacker's copy. Then the attacker looks for other keys that the copy says yes
/// to.
fn forged(size: &Size, truth: &Spec, believed: &Spec, queries: u64) -> (Filter, Attacker, Vec<u64>) {
    let mut filter = size.filter(truth);
    let mut attacker = Attacker::new(size, believed);
    for key in keys(3).take(size.keys as usize) {
        filter.insert_u64(key).unwrap();
        attacker.insert(key);
    }
    let mut candidates = keys(4);
    let queries = (0..queries).map(|_| attacker.forge(&mut candidates)).collect();
    (filter, attacker, queries)
}

#[test]
fn queries_are_forged_at_one_over_the_rate_under_a_public_hash_function() {
    for size in SIZES {
        let (filter, attacker, queries) = forged(&size, &public(), &public(), 2000);
        assert!(queries.iter().all(|key| filter.contains_u64(*key)), "a forged query always succeeds");
        // At the rate of the bits, this many evaluations have 2000 successes.
        assert_binomial(2000, attacker.evaluations, filter.false_positive_rate(), "the price of forged queries");
    }
}

#[test]
fn forged_queries_are_ordinary_ones_under_a_secret_key() {
    for size in SIZES {
        let (filter, _, queries) = forged(&size, &keyed(SECRET), &keyed(GUESS), 20_000);
        let found = queries.iter().filter(|key| filter.contains_u64(**key)).count();
        assert_binomial(found as u64, queries.len() as u64, filter.false_positive_rate(), "forged queries");
    }
}
