//! What false positives cost an aggregate.
//!
//! With f(n) for the false-positive rate of a memory of n entries ([`Layout::rate`]):
//!
//! - Of N participants, the i-th to come seems known with probability f(i - 1), and is then refused at each meeting. A
//!   refused participant would have changed none of the memory's zeros, so it counts as well as one that is accepted.
//!   So `f(0) + ... + f(N - 1)` participants are missing on average. If values do not depend on ids, sum and count are
//!   too low by this number divided by N; the mean has no bias.
//! - The new state of an aggregated participant may seem aggregated already. The change is then taken for a duplicate
//!   at each meeting, until changes of others free the counters. The entries that changes leave are those that did not
//!   seem to be there, and such entries have more counters for themselves. So the memory of states is fuller than one
//!   with the same number of random entries, and more changes are missed than f(n).

use super::layout::Layout;
use crate::kinds::counting::layout::CounterLayout;
use crate::sizing::bloom;
use crate::sizing::omissions::sum_of_rates;

/// The most participants that an estimate reports, which is also the most meetings.
const MOST: f64 = (1_u64 << 62) as f64;

/// How many of `participants` are refused on average when they come, one after the other.
pub fn refused_firsts(layout: &Layout, participants: u64) -> f64 {
    sum_of_rates(participants, |before| layout.rate(before))
}

/// How many participants have come, on average, when `aggregated` of them are aggregated: the number of participants of
/// whom that many are not refused ([`refused_firsts`]). AggregateStatistics are asked for often, so f is the asymptotic
/// rate here, which takes some nanoseconds and is right up to a share of about one counter in all.
pub fn participants(layout: &Layout, aggregated: u64) -> f64 {
    let (counters, hashes) = (layout.cells.cells().slots.count, layout.cells.hashes());
    let rate = |before| bloom::asymptotic(counters, hashes, before);
    let wanted = aggregated as f64;
    let mut come = wanted;
    // Newton's method from below: the more came, the more are refused.
    for _ in 0..64 {
        let (whole, next) = (come as u64, rate(come as u64));
        let refused = sum_of_rates(whole, rate) + come.fract() * next;
        let step = (wanted - (come - refused)) / (1.0 - next).max(1e-12);
        come = (come + step.max(0.0)).min(MOST);
        if step <= 1e-7 * come {
            break;
        }
    }
    come
}

/// The share of changes that are taken for duplicates when all participants came and changed many times.
///
/// A counter of the memory of states gains 1 from a change that is not missed: from 0 with probability k / m / (1 - f),
/// because no entry with a counter of 0 is missed, and from above 0 with (k / m) (1 - q^(k - 1)) / (1 - f), where q is
/// the share of counters above 0. Each of the n entries leaves with probability 1 / n. In equilibrium the counters have
/// values j with probabilities in proportion to 1, a, a b / 2, a b^2 / 6, ..., where a and b are n times these
/// probabilities. This gives an equation for q, and f is q^k.
pub fn missed_changes(layout: &Layout, participants: u64) -> f64 {
    let (counters, hashes) = (layout.cells.cells().slots.count as f64, f64::from(layout.cells.hashes()));
    let aggregated = (participants as f64 - refused_firsts(layout, participants)).max(0.0);
    let load = hashes * aggregated / counters;
    // The q that follows from this q, less q.
    let excess = |q: f64| {
        let passed = (1.0 - q.powf(hashes)).max(1e-300);
        let (from_zero, from_more) = (load / passed, load * (1.0 - q.powf(hashes - 1.0)) / passed);
        let others = if from_more < 1e-12 { 1.0 } else { from_more.exp_m1() / from_more };
        1.0 - 1.0 / (1.0 + from_zero * others) - q
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    (0.5 * (low + high)).powf(hashes)
}
