//! Tests of the kind `rotating` alone: a process dies in the middle of a turn of the generations.

use crate::common::{Buffer, empty, image, mix};
use core::sync::atomic::Ordering;
use petal::{Filter, HashFunction, Image, Keys, Mode, OpenOptions, Spec, Status};

/// The bit of the state which says that the oldest generation is being dropped.
const TURNING: u64 = 1 << 40;
const GENERATIONS: usize = 4;

fn spec(clock: &str) -> Spec {
    let row = petal::registry::find_name("rotating").unwrap();
    let capacity = 3000;
    // The rate is so low that no key is mistaken for another, and a generation is full after 1000 keys.
    let mut spec = Spec { kind: Some(row.kind), capacity, false_positive_rate: 1e-8, ..Spec::default() };
    spec.hash = HashFunction::External;
    spec.set(row.parameter("clock").unwrap(), f64::from(clock == "steps")).unwrap();
    spec
}

fn keys(generation: u64) -> Vec<u64> {
    (0..1000).map(|i| mix(generation << 32 | i)).collect()
}

/// A filter with four full generations: the oldest has the keys of number 2, and the newest those of number 5.
fn filled(clock: &str) -> Filter {
    let mut filter = empty(&spec(clock));
    for generation in 0..6 {
        for key in keys(generation) {
            filter.insert_hash(key).unwrap();
        }
        if clock == "steps" && generation < 5 {
            filter.advance(1).unwrap();
        }
    }
    filter
}

/// Leaves the payload like a process that dies while it drops the oldest generation: half of the generation is zero.
fn dies(filter: &Filter) {
    let words = filter.base().words().shared();
    let newest = words[words.len() - 8].load(Ordering::Relaxed) as usize;
    words[words.len() - 7].fetch_or(TURNING, Ordering::Relaxed);
    let each = (words.len() - 8) / GENERATIONS;
    let oldest = (newest + 1) % GENERATIONS * each;
    words[oldest..oldest + each / 2].iter().for_each(|word| word.store(0, Ordering::Relaxed));
}

/// Asserts that the filter has the window after the turn: the keys of numbers 3 to 5, and the later keys.
fn holds_the_window(filter: &Filter, later: &[u64]) {
    for generation in 3..6 {
        assert!(keys(generation).iter().all(|key| filter.contains_hash(*key)), "keys {generation}");
    }
    assert!(later.iter().all(|key| filter.contains_hash(*key)));
    let forgotten = keys(2).iter().filter(|key| filter.contains_hash(**key)).count();
    assert!(forgotten == 0, "{forgotten} keys of the generation that was dropped");
}

/// The next call ends the turn, in any kind of memory. The filter then equals one that was moved on by one step.
#[test]
fn a_turn_that_somebody_died_in_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("filter.petal");
    for clock in ["keys", "steps"] {
        let mut expected = filled(clock);
        expected.advance(1).unwrap();
        expected.insert_hash(7).unwrap();
        let is_ended = |filter: &Filter| {
            holds_the_window(filter, &[7]);
            assert_eq!(filter.statistics(), expected.statistics());
        };
        let own = filled(clock);
        dies(&own);
        assert!(keys(5).iter().chain(&keys(3)).all(|key| own.contains_hash(*key)), "it is read as it is");
        let mut alone = own.copy().unwrap();
        assert!(alone.insert_hash(7).unwrap());
        is_ended(&alone);
        assert!(own.insert_shared_hash(7).unwrap());
        is_ended(&own);

        for mode in [Mode::Share, Mode::Write] {
            filled(clock).save(&path).unwrap();
            let options = OpenOptions { mode, ..OpenOptions::default() };
            let share = OpenOptions { mode: Mode::Share, ..OpenOptions::default() };
            let mut dying: Filter = petal::open(&path, &share).unwrap();
            dying.insert_shared_hash(keys(5)[0]).unwrap();
            dies(&dying);
            dying.base_mut().abandon();
            drop(dying);
            let mut filter: Filter = petal::open(&path, &options).unwrap();
            match mode {
                Mode::Share => assert!(filter.insert_shared_hash(7).unwrap()),
                _ => assert!(filter.insert_hash(7).unwrap()),
            }
            is_ended(&filter);
        }
    }
}

/// Steps come after the turn that was begun. A union takes the ages that generations have after that turn.
#[test]
fn what_comes_after_a_turn_that_somebody_died_in() {
    for clock in ["keys", "steps"] {
        let (dead, mut expected) = (filled(clock), filled(clock));
        dies(&dead);
        expected.advance(2).unwrap();
        let mut alone = dead.copy().unwrap();
        alone.advance(1).unwrap();
        assert_eq!(alone.statistics(), expected.statistics());
        assert!(keys(4).iter().chain(&keys(5)).all(|key| alone.contains_hash(*key)));
        let shared = dead.copy().unwrap();
        shared.advance_shared(1).unwrap();
        assert_eq!(shared.statistics(), expected.statistics());

        let mut whole = filled(clock);
        whole.advance(1).unwrap();
        let mut other = empty(&spec(clock));
        other.insert_batch(&Keys::Hashes(&keys(9)), None).outcome.unwrap();
        let mut expected = whole.copy().unwrap();
        expected.merge(&other).unwrap();
        let mut into_dead = dead.copy().unwrap();
        into_dead.merge(&other).unwrap();
        let mut of_dead = other.copy().unwrap();
        of_dead.merge(&dead).unwrap();
        for mut united in [into_dead, of_dead] {
            assert_eq!(united.statistics().taken, expected.statistics().taken);
            let mut model = expected.copy().unwrap();
            for _ in 0..GENERATIONS {
                united.advance(1).unwrap();
                model.advance(1).unwrap();
                assert_eq!(united.statistics().taken, model.statistics().taken);
            }
        }
    }
}

/// In a buffer no handle knows who died. Keys are taken and found, but no step is made until one handle has the buffer
/// to itself.
#[test]
fn a_buffer_has_no_locks() {
    for clock in ["keys", "steps"] {
        let mut buffer = Buffer::of(&image(&filled(clock)));
        buffer.open(Mode::Share, None, |filter| {
            let filter: &mut Filter = filter.unwrap();
            filter.insert_shared_hash(keys(5)[0]).unwrap();
            dies(filter);
            assert_eq!(filter.advance_shared(1).unwrap_err().status(), Status::Locked);
            assert!(keys(7).iter().all(|key| filter.insert_shared_hash(*key).is_ok()));
            assert!(
                [3, 4, 5, 7].iter().all(|generation| keys(*generation).iter().all(|key| filter.contains_hash(*key)))
            );
        });
        buffer.open(Mode::Write, None, |filter| {
            let filter = filter.unwrap();
            filter.insert_hash(7).unwrap();
            holds_the_window(filter, &keys(7));
            filter.mark_clean().unwrap();
        });
        buffer.open(Mode::Load, None, |filter| filter.unwrap().verify().unwrap());
    }
}

/// The state has bounds, and values beyond these are refused.
#[test]
fn states_have_bounds() {
    let with = |word: usize, value: u64| {
        let filter = filled("keys");
        let words = filter.base().words().shared();
        words[words.len() - 8 + word].store(value, Ordering::Relaxed);
        filter.payload().check_payload().map_err(|error| error.status())
    };
    let rounds = (1 << 23) / GENERATIONS as u64 * GENERATIONS as u64;
    for (word, value) in [(0, 3), (1, (rounds - 1) << 41 | TURNING | 900)] {
        assert_eq!(with(word, value), Ok(()), "{word} {value}");
    }
    for (word, value) in [(0, 4), (1, (1 << 40) - 1), (2, 1), (7, 1)] {
        assert_eq!(with(word, value), Err(Status::Corrupt), "{word} {value}");
    }
}

/// A generation with a share of all of its bits would never be full.
#[test]
fn shares_are_fewer_than_bits() {
    let row = petal::registry::find_name("rotating").unwrap();
    for generations in [2, 4] {
        let mut spec = Spec { kind: Some(row.kind), bits: 512 * generations, hashes: 1, ..Spec::default() };
        spec.set(row.parameter("generations").unwrap(), generations as f64).unwrap();
        spec.capacity = 512 * (generations - 1);
        let error = petal::Filter::new(&spec).unwrap_err();
        assert_eq!(error.status(), Status::OutOfRange);
        spec.capacity = 511 * (generations - 1);
        let filter = petal::Filter::new(&spec).unwrap();
        assert_eq!(filter.base().geometry().words[4], 511);
    }
}

/// The count of turns wraps at a multiple of the number of generations, and no image has a greater count.
#[test]
fn turns_and_generations_have_bounds() {
    let generations = GENERATIONS as u64;
    let bytes = image(&empty(&spec("keys")));
    let state = 256 + empty(&spec("keys")).base().geometry().payload_bytes as usize - 64;
    let rounds = (1_u64 << 23) / generations * generations;
    for (word, value, is_one) in [
        (0, generations - 1, true),
        (0, generations, false),
        (1, (rounds - 1) << 41, true),
        (1, rounds << 41, rounds >= 1 << 23),
    ] {
        let mut forged = bytes.clone();
        forged[state + 8 * word..state + 8 * word + 8].copy_from_slice(&value.to_le_bytes());
        crate::format::seal(&mut forged);
        let loaded = petal::load(&forged, &OpenOptions::default());
        assert_eq!(loaded.is_ok(), is_one, "word {word} is {value:#x}");
    }
}
