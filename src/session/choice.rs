//! Which way to the differences costs the fewest bytes, given what is known of both sets.

use crate::sizing::ln;
use crate::sketch::riblt::sizing;

/// A way to the differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// Nothing differs.
    Equal,
    /// The syndromes of this many numbers, as the kind `pinsketch` has them.
    Syndromes(u64),
    /// This many coded symbols first, and more if they do not suffice.
    Symbols(u64),
    /// A filter of each side's set, the first one with this rate. Coded symbols of what passes the filters follow.
    Filter(f64),
}

/// What is known when the way is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Elements of the initiator's set.
    pub ours: u64,
    /// Elements of the responder's set.
    pub theirs: u64,
    /// The estimated number of differences.
    pub differences: f64,
    /// The standard deviation of that estimate.
    pub deviation: f64,
    /// Bytes of an element.
    pub key_bytes: usize,
    /// Whether both sides have their elements at hand.
    pub have_elements: bool,
}

/// The most syndromes that are computed: decoding takes time that grows with their square.
const MOST_SYNDROMES: u64 = 512;

/// The most products for the syndromes of one set: a few tenths of a second.
const MOST_PRODUCTS: f64 = 2e8;

/// The most syndromes for sets where the larger one has `keys` keys.
pub fn most_syndromes(keys: u64) -> u64 {
    MOST_SYNDROMES.min((MOST_PRODUCTS / keys.max(1) as f64) as u64)
}

/// Bits of a filter for each key, divided by log2(1 / rate).
const FILTER_BITS: f64 = 1.44;

/// Bytes of a symbol: element, hash and count.
fn symbol_bytes(key_bytes: usize) -> f64 {
    8.0 * key_bytes.div_ceil(8) as f64 + 9.5
}

/// How many symbols to send first for `differences` differences.
pub fn symbols_for(differences: f64, deviation: f64) -> u64 {
    let likely = (differences + deviation).ceil() as u64;
    sizing::size_for(likely.max(1), 0.1).unwrap_or(u64::MAX)
}

/// The rate of a filter of `filtered` keys that costs the fewest bytes if `non_members` other keys are looked up, and
/// each one that passes costs a difference of coded symbols. With f filtered keys, s non-members and c bytes for a
/// difference, the bytes f log2(1 / e) 1.44 / 8 + e s c are least at the rate e = 0.26 f / (s c).
pub fn filter_rate(filtered: f64, non_members: f64, key_bytes: usize) -> f64 {
    let each = 1.36 * symbol_bytes(key_bytes);
    (FILTER_BITS / (8.0 * core::f64::consts::LN_2) * filtered / (non_members.max(1.0) * each)).clamp(1e-6, 1.0)
}

/// Bytes of a filter.
fn filter_bytes(keys: f64, rate: f64) -> f64 {
    FILTER_BITS / 8.0 / core::f64::consts::LN_2 * keys * -ln(rate)
}

/// The way that costs the fewest bytes.
pub fn choose(known: &Known) -> Choice {
    let &Known { ours, theirs, differences, deviation, key_bytes, have_elements } = known;
    let (a, b) = (ours as f64, theirs as f64);
    let first = symbols_for(differences, deviation);
    let symbols = Choice::Symbols(first);
    if !have_elements {
        return symbols;
    }
    // The elements that only one side has, at least 0.
    let (only_ours, only_theirs) = ((differences + a - b).max(0.0) / 2.0, (differences - a + b).max(0.0) / 2.0);
    let rates = (filter_rate(a, only_theirs, key_bytes), filter_rate(b - only_theirs, only_ours, key_bytes));
    let passing = rates.0 * only_theirs + rates.1 * only_ours;
    let filters = filter_bytes(a, rates.0) + filter_bytes((b - only_theirs).max(0.0), rates.1);
    let by_symbols = symbol_bytes(key_bytes) * first as f64;
    // Filters take two more messages, which have to be worth their time.
    let by_filters = match cfg!(feature = "bloom") {
        true => 1.25 * (filters + 1.4 * symbol_bytes(key_bytes) * passing + 200.0),
        false => f64::INFINITY,
    };
    let capacity = (differences + 2.5 * deviation).ceil() + 2.0;
    let is_cheap = capacity <= most_syndromes(ours.max(theirs)) as f64;
    let by_syndromes = if key_bytes == 8 && is_cheap { 8.0 * capacity } else { f64::INFINITY };
    if by_syndromes <= by_symbols.min(by_filters) {
        Choice::Syndromes(capacity as u64)
    } else if by_filters < by_symbols {
        Choice::Filter(rates.0)
    } else {
        symbols
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a filter and of the non-members that pass it, where each costs 1.36 symbols of `symbol` bytes.
    fn bytes(filtered: f64, non_members: f64, symbol: f64, rate: f64) -> f64 {
        filtered * 0.18 * -rate.log2() + rate * non_members * 1.36 * symbol
    }

    #[test]
    fn filters_have_the_cheapest_rate() {
        assert!((filter_bytes(1000.0, 0.01) - 1195.9).abs() < 0.1);
        for (key_bytes, symbol) in [(8, 17.5), (16, 25.5), (13, 25.5), (64, 73.5)] {
            for (filtered, non_members) in [(1e5, 1e5), (1e4, 3e5), (2e6, 5e5)] {
                let best = filter_rate(filtered, non_members, key_bytes);
                let cost = |rate: f64| bytes(filtered, non_members, symbol, rate);
                assert!(cost(best) < cost(0.99 * best) && cost(best) < cost(1.01 * best), "{filtered} {non_members}");
            }
        }
        assert_eq!((filter_rate(1e6, 0.0, 8), filter_rate(1.0, 1e9, 8)), (1.0, 1e-6));
    }

    /// No other way costs clearly less than the chosen one, going by the bytes of each.
    #[test]
    fn no_other_way_costs_less() {
        let mut chosen = [0; 3];
        for (ours, theirs) in [(1e4, 1e4), (1e6, 1e6), (1e6, 1.1e6), (2e5, 1e5), (1e5, 2e5), (3e6, 3e6)] {
            for part in [1e-5, 1e-4, 1e-3, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8] {
                for (key_bytes, symbol) in [(8, 17.5), (32, 41.5)] {
                    let differences = f64::max(part * ours, f64::abs(ours - theirs));
                    let deviation = differences / 10.0;
                    let only_ours = (differences + ours - theirs) / 2.0;
                    let only_theirs = differences - only_ours;
                    let common = theirs - only_theirs;
                    let rate = filter_rate(ours, only_theirs, key_bytes);
                    let back = filter_rate(common, only_ours, key_bytes);
                    let filters = bytes(ours, only_theirs, symbol, rate) + bytes(common, only_ours, symbol, back);
                    let filters = 1.25 * (filters + 0.04 * symbol * (rate * only_theirs + back * only_ours) + 200.0);
                    let capacity = (differences + 2.5 * deviation).ceil() + 2.0;
                    let is_cheap = key_bytes == 8 && capacity <= 512.0 && capacity * ours.max(theirs) <= 2e8;
                    let syndromes = if is_cheap { 8.0 * capacity } else { f64::INFINITY };
                    let symbols = symbol * symbols_for(differences, deviation) as f64;
                    let costs = [syndromes, symbols, filters];
                    let known = Known {
                        ours: ours as u64,
                        theirs: theirs as u64,
                        differences,
                        deviation,
                        key_bytes,
                        have_elements: true,
                    };
                    let way = match choose(&known) {
                        Choice::Syndromes(_) => 0,
                        Choice::Symbols(_) => 1,
                        Choice::Filter(found) => {
                            assert!((found / rate - 1.0).abs() < 1e-9);
                            2
                        }
                        Choice::Equal => unreachable!("{known:?}"),
                    };
                    chosen[way] += 1;
                    assert!(costs.iter().all(|cost| costs[way] <= cost * 1.01), "{known:?}: {way} of {costs:?}");
                }
            }
        }
        assert!(chosen.iter().all(|count| *count > 5), "{chosen:?}");
    }

    /// Few differences take syndromes where these are cheap, more take symbols, and sets that have little in common
    /// take filters.
    #[test]
    fn the_cheapest_way_is_chosen() {
        let known = Known {
            ours: 1_000_000,
            theirs: 1_000_000,
            differences: 100.0,
            deviation: 12.0,
            key_bytes: 8,
            have_elements: true,
        };
        assert!(matches!(choose(&known), Choice::Syndromes(132)));
        assert!(matches!(choose(&Known { have_elements: false, ..known }), Choice::Symbols(170..200)));
        assert!(matches!(choose(&Known { key_bytes: 16, ..known }), Choice::Symbols(_)));
        assert!(matches!(choose(&Known { ours: 100_000_000, ..known }), Choice::Symbols(_)));
        let more = Known { differences: 10_000.0, deviation: 1_100.0, ..known };
        assert!(matches!(choose(&more), Choice::Symbols(15_000..16_000)));
        let unlike = Known { differences: 400_000.0, deviation: 40_000.0, ..known };
        assert!(matches!(choose(&unlike), Choice::Filter(rate) if rate > 0.01 && rate < 0.1));
        let nothing = Known { theirs: 0, differences: 1_000_000.0, deviation: 0.0, ..known };
        assert!(matches!(choose(&nothing), Choice::Filter(_)));
    }
}
