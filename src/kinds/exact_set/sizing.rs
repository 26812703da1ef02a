//! How many bits an exact set takes, and which of its sizes takes the fewest.
//!
//! For a universe of S stored and N other keys, a first level of k bits takes k S bits, and lets S + N 2^-k keys pass.
//! Each of these takes a bit of the second level. That makes k + 1 + 2^-k N / S bits for each stored key, and the best
//! k is near log2(N ln 2 / S). The entropy is log2(N / S) + 1.44 for large N / S, and half a bit below that.

use super::layout::Shape;
use super::plan::Plan;
use crate::sizing::{decisive, hash_floor, with_floor};
use core::ops::RangeInclusive;

/// The bits of a hash that distinguish keys: one of the 64 is the side that a record is on.
pub const HASH_BITS: u32 = 63;

/// The false-positive rate for keys outside the universe, with this many bits and members. `is_inverted` says that the
/// excluded keys are stored, so that all other keys count as members.
pub fn false_positive_rate(bits: u64, is_inverted: bool, members: u64) -> f64 {
    rate(bits, is_inverted, members, with_floor)
}

/// The rate by which the bits are chosen ([`decisive`]).
pub fn decisive_rate(bits: u64, is_inverted: bool, members: u64) -> f64 {
    rate(bits, is_inverted, members, decisive)
}

fn rate(bits: u64, is_inverted: bool, members: u64, both: fn(f64, f64) -> f64) -> f64 {
    let passes = (-(bits as f64)).exp2();
    if is_inverted {
        return 1.0 - passes;
    }
    if members == 0 { 0.0 } else { both(passes, hash_floor(members, HASH_BITS)) }
}

impl Plan {
    /// The expected bits of both levels. `None` if there is no such set.
    pub fn expected_bits(&self) -> Option<u64> {
        Some(Shape::expected(self)?.geometry()?.bits)
    }
}

/// The plan with the fewest bits for `members` members and `excluded` excluded keys, among those with the allowed bits
/// whose rate for non-members is at most `rate`. Of equal plans the one with the fewest bits of a fingerprint, with
/// members stored.
pub fn smallest(members: u64, excluded: u64, allowed: RangeInclusive<u64>, rate: f64) -> Option<Plan> {
    let plans = [(false, members, excluded), (true, excluded, members)].into_iter();
    let plans = plans.flat_map(|(is_inverted, stored, others)| {
        allowed.clone().map(move |bits| Plan { bits, is_inverted, stored, others })
    });
    // A plan that stores none of the excluded keys is no plan, and has no expected bits.
    let keeps = |plan: &Plan| decisive_rate(plan.bits, plan.is_inverted, members) <= rate;
    plans
        .filter(keeps)
        .filter_map(|plan| Some((plan.expected_bits()?, plan)))
        .min_by_key(|(bits, _)| *bits)
        .map(|(_, plan)| plan)
}

/// The plan with the lowest rate for non-members that is expected to take at most `most` bits.
pub fn most_accurate(members: u64, excluded: u64, allowed: RangeInclusive<u64>, most: u64) -> Option<Plan> {
    let plan = |bits| Plan { bits, is_inverted: false, stored: members, others: excluded };
    allowed.rev().map(plan).find(|plan| plan.expected_bits().is_some_and(|bits| bits <= most))
}

/// The fewest bits that any exact answer over a universe takes on average: the logarithm of the number of sets of
/// `members` members among `universe` keys, by the entropy of a share.
pub fn entropy(members: u64, universe: u64) -> f64 {
    let (members, universe) = (members as f64, universe as f64);
    let of = |part: f64| if part > 0.0 { part * (universe / part).log2() } else { 0.0 };
    of(members) + of(universe - members)
}

#[cfg(test)]
mod tests {
    use super::super::plan::{MAX_BITS, MIN_BITS};
    use super::*;

    #[test]
    fn plans_are_near_the_entropy() {
        for (one_in, most) in [(2.0, 1.12), (3.0, 1.12), (4.1, 1.12), (5.0, 1.12), (9.0, 1.12), (40.0, 1.12)]
            .into_iter()
            .chain([100.0, 128.0, 129.0, 300.0, 1024.0, 1e4, 1e6].map(|one_in| (one_in, 1.08)))
        {
            for members in [100_000_u64, 1_000_000] {
                let universe = (members as f64 * one_in) as u64;
                let sides = [(members, universe - members), (universe - members, members)];
                for (members, excluded) in sides {
                    let plan = smallest(members, excluded, MIN_BITS..=MAX_BITS, 1.0).unwrap();
                    let share = plan.expected_bits().unwrap() as f64 / entropy(members, universe);
                    assert!((0.999..=most).contains(&share), "{members} of {universe}: {share}, {plan:?}");
                    assert_eq!(plan.is_inverted, members > excluded);
                }
            }
        }
    }

    #[test]
    fn plans_keep_to_what_is_asked() {
        let all = MIN_BITS..=MAX_BITS;
        let plan = smallest(1000, 100_000, all.clone(), 0.001).unwrap();
        assert!(plan.bits == 10 && !plan.is_inverted);
        let plan = smallest(100_000, 1000, all.clone(), 0.4).unwrap();
        assert!(plan.bits == 2 && !plan.is_inverted);
        assert!(smallest(100_000, 1000, all.clone(), 1.0).unwrap().is_inverted);
        assert_eq!(smallest(10, 0, 5..=5, 0.5).unwrap().bits, 5);
        assert_eq!(smallest(10, 0, 5..=5, 0.01), None);
        let least = smallest(1000, 100_000, all.clone(), 1.0).unwrap().expected_bits().unwrap();
        assert_eq!(most_accurate(1000, 100_000, all.clone(), least - 1), None);
        assert!(most_accurate(1000, 100_000, all, 2 * least).unwrap().bits > 10);
        assert_eq!(smallest(0, 100, 1..=32, 1.0).unwrap().expected_bits(), Some(512));
        assert_eq!(entropy(0, 10), 0.0);
        assert!((entropy(5, 10) - 10.0).abs() < 1e-12);
    }
}
