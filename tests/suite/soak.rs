//! Endurance: twenty million lookups of distinct keys, each of which was inserted. `make soak` looks up more keys, even
//! in filters past 2^32 bits.

use crate::common::soak::{self, Outcome};

const LOOKUPS: u64 = 20_000_000;

#[test]
#[ignore = "slow: make test-all"]
fn no_key_is_missing_in_twenty_million_lookups() {
    let tasks = soak::tasks(LOOKUPS);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes = soak::run(&tasks, threads, &|_| {});
    for (task, Outcome { lookups, missing, .. }) in tasks.iter().zip(&outcomes) {
        let what = format!("{} with {} and {} keys", task.layout, task.spec.hash, task.keys);
        assert_eq!((*lookups, *missing), (task.keys, 0), "{what}: keys are missing");
    }
    assert!(outcomes.iter().map(|outcome| outcome.lookups).sum::<u64>() >= LOOKUPS);
}
