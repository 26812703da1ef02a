//! What false positives cost an aggregate.
//!
//! With f(n) for the false-positive rate of a memory of n entries ([`Layout::rate`]):
//!
//! - Of N participants, the i-th to come seems known with probability f(i - 1), and is refused at each meeting then. So
//!   `f(0) + ... + f(N - 1)` of them are missing on average. If values do not depend on ids, sum and count are too low
//!   by this number divided by N; the mean has no bias.
//! - The new state of an aggregated participant seems aggregated already with probability f(n), where n is the number
//!   of aggregated participants. The change is then taken for a duplicate at each meeting, until changes of others free
//!   the counters.

use super::layout::Layout;
use crate::kinds::counting::layout::CounterLayout;
use crate::sizing::bloom;
use crate::sizing::omissions::sum_of_rates;

/// How many of so many participants are refused on average when they come, one after the other.
pub fn refused_firsts(layout: &Layout, participants: u64) -> f64 {
    sum_of_rates(participants, |before| layout.rate(before))
}

/// How many participants have come, on average, when so many of them are aggregated: the next one after i takes
/// `1 / (1 - f(i))` of them. Results are asked for often, so f is the asymptotic rate here, which takes some
/// nanoseconds and is right to a share of about one counter in all.
pub fn participants(layout: &Layout, aggregated: u64) -> f64 {
    let (counters, hashes) = (layout.cells.cells().slots.count, layout.cells.hashes());
    let rate = |before| bloom::asymptotic(counters, hashes, before);
    sum_of_rates(aggregated, |before| 1.0 / (1.0 - rate(before)).max(1e-12))
}
