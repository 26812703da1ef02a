//! A refused call leaves every byte as it was, for every kind and every verb that may refuse.

use crate::common::{Case, at_rate, cases, each, hash_of, image, is_one_kind, is_soak, mix, share_of, try_empty};
use petal::{Capabilities, Filter, Spec};

/// The number of calls of each round.
const CALLS: u64 = 600;

/// A filter, and its bytes after the last call that was not refused.
struct Watched<'a> {
    case: &'a Case,
    filter: Filter,
    before: Vec<u8>,
    refusals: u32,
}

impl<'a> Watched<'a> {
    fn new(case: &'a Case, spec: &Spec) -> Option<Watched<'a>> {
        let filter = try_empty(spec).ok()?;
        let before = image(&filter);
        Some(Watched { case, filter, before, refusals: 0 })
    }

    fn call<T>(&mut self, what: &str, call: impl FnOnce(&mut Filter) -> petal::Result<T>) -> bool {
        match call(&mut self.filter) {
            Ok(_) => self.before = image(&self.filter),
            Err(error) => {
                let after = image(&self.filter);
                let same = after == self.before;
                assert!(same, "{}: {what} is refused, and changes bytes: {error}", self.case.name());
                self.refusals += 1;
                return false;
            }
        }
        true
    }
}

fn filters() -> Vec<Case> {
    share_of(cases(), 12, "refused_calls_change_nothing")
        .into_iter()
        .filter(|case| case.capabilities().contains(Capabilities::INSERT))
        .collect()
}

#[test]
fn refused_calls_change_nothing() {
    let mut refusing = std::collections::BTreeSet::new();
    each(filters(), Case::name, |case| {
        for (round, (capacity, rate)) in [(20, 0.01), (60, 0.2), (1, 0.5), (250, 0.01)].into_iter().enumerate() {
            let spec = at_rate(&Spec { capacity, ..case.external() }, rate);
            let Some(mut watched) = Watched::new(case, &spec) else { continue };
            let counts = case.capabilities().contains(Capabilities::COUNT);
            let removes = case.capabilities().contains(Capabilities::REMOVE);
            let calls = if is_soak() { 20 * CALLS } else { CALLS };
            for i in 0..calls {
                // Half of the calls are for four keys, and the other half for many keys.
                let random = mix(i ^ (round as u64) << 40);
                let key = if random & 1 == 0 { random >> 8 & 3 } else { random >> 8 & 0xffff };
                let hash = hash_of(&spec, key);
                match random >> 1 & 7 {
                    0..=2 if counts => {
                        let times = 1 + (random >> 32) % if random & 16 == 0 { 3 } else { 130 };
                        watched.call("insert_times", |filter| filter.insert_times_hash(hash, times));
                    }
                    3 if removes => {
                        watched.call("remove", |filter| filter.remove_hash(hash));
                    }
                    4 if random >> 20 & 15 == 0 => {
                        watched.call("resize", |filter| filter.resize(1 + (random >> 32) % 200));
                    }
                    5 if random >> 20 & 15 == 0 => {
                        let mut other = try_empty(&spec).unwrap();
                        (0..capacity).for_each(|j| drop(other.insert_hash(hash_of(&spec, j + i))));
                        watched.call("merge", |filter| filter.merge(&other));
                    }
                    6 if case.row.capabilities.contains(Capabilities::REJUVENATE) => {
                        watched.call("rejuvenate", |filter| filter.rejuvenate_hash(hash));
                    }
                    _ => {
                        watched.call("insert", |filter| filter.insert_hash(hash));
                    }
                }
            }
            if watched.refusals > 0 {
                refusing.insert(case.row.name);
            }
            watched.filter.verify().unwrap();
        }
    });
    for name in ["cuckoo", "vector_quotient", "d_left", "quotient", "hash_compaction"] {
        assert!(is_one_kind() || refusing.contains(name), "{name} refused nothing: {refusing:?}");
    }
}
