//! Filters that are so large that batches fetch lines ahead: batches are many single calls there too. No test names a
//! kind, except the last one.

use crate::common::{Case, cases, each, empty, hash_of};
use crate::conformance::can;
use petal::kinds::hash_compaction;
use petal::{Answers, Capabilities, Filter, HashFunction, Keys, Spec, Status, Taken};

/// Payloads larger than this are fetched ahead.
const LARGE: u64 = 5 << 20;

/// A spec of a kind for a large filter, if the kind takes keys one by one and has its size from the beginning.
fn large(case: &Case) -> Option<Spec> {
    let size = |spec: &Spec| petal::geometry(spec).map_or(0, |geometry| geometry.payload_bytes);
    let spec = (16..24).map(|bits| case.sized(1 << bits, 0.01)).find(|spec| size(spec) > LARGE)?;
    (case.is_default() && can(case, Capabilities::INSERT)).then_some(spec)
}

/// Runs a batch, and compares the answers with `expected`.
fn answers_are<T>(expected: &[bool], run: impl FnOnce(&mut Answers) -> T) -> T {
    let mut bytes = vec![7; expected.len()];
    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
    let result = run(&mut answers);
    assert_eq!((answers.done, bytes), (expected.len(), expected.iter().map(|is| u8::from(*is)).collect()));
    result
}

#[test]
fn batches_are_single_calls() {
    let all = cases().into_iter().filter_map(|case| large(&case).map(|spec| (case, spec)));
    each(
        all,
        |(case, _)| case.name(),
        |(case, spec)| {
            let hashes = |of: &mut dyn Iterator<Item = u64>| of.map(|i| hash_of(spec, i)).collect::<Vec<_>>();
            let (mut single, mut batch) = (empty(spec), empty(spec));
            // Every seventh number brings the key of half that number again.
            let given = hashes(&mut (0..3000).flat_map(|i| [i, if i % 7 == 0 { i / 2 } else { i + 5000 }]));
            let new: Vec<bool> = given.iter().map(|hash| single.insert_hash(*hash).unwrap()).collect();
            answers_are(&new, |answers| batch.insert_batch(&Keys::Hashes(&given), Some(answers)).outcome.unwrap());
            assert!(single.equals(&batch), "after insertions");

            let asked = hashes(&mut (0..4001).rev());
            let found: Vec<bool> = asked.iter().map(|hash| single.contains_hash(*hash)).collect();
            assert!(found.iter().any(|is| *is) && found.iter().any(|is| !is));
            answers_are(&found, |answers| batch.contains_batch(&Keys::Hashes(&asked), answers).unwrap());
            if can(case, Capabilities::COUNT) {
                let expected: Vec<u64> = asked.iter().map(|hash| single.count_hash(*hash).unwrap()).collect();
                let mut counts = vec![7; asked.len()];
                let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
                batch.count_batch(&Keys::Hashes(&asked), &mut answers).unwrap();
                assert_eq!(counts, expected);
            }
            if can(case, Capabilities::REMOVE) {
                let removed: Vec<bool> = asked.iter().map(|hash| single.remove_hash(*hash).unwrap()).collect();
                answers_are(&removed, |answers| {
                    batch.remove_batch(&Keys::Hashes(&asked), Some(answers)).outcome.unwrap()
                });
                assert!(single.equals(&batch), "after removals");
            }
        },
    );
}

/// A batch with more keys than a table takes ends at the first key that is refused, and keeps what came before.
#[test]
fn a_batch_ends_where_a_table_is_full() {
    let mut spec = Spec { kind: Some(hash_compaction::ROW.kind), hash: HashFunction::External, ..Spec::default() };
    (spec.bits, spec.capacity) = (8 * LARGE, 1000);
    let mut filter: Filter = Filter::new(&spec).unwrap();
    let hashes: Vec<u64> = (0..1500).map(crate::common::mix).collect();
    let mut bytes = vec![7; hashes.len()];
    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
    let Taken { keys, outcome } = filter.insert_batch(&Keys::Hashes(&hashes), Some(&mut answers));
    assert_eq!((keys, answers.done, outcome.unwrap_err().status()), (1000, 1000, Status::Full));
    assert!((0..1500).all(|i| filter.contains_hash(hashes[i]) == (i < 1000)));
    assert!(bytes[..1000].iter().all(|new| *new == 1));
}
