//! What others do in the middle of an insertion, and in the middle of a turn.

use super::shared::Moment;
use super::{CLOCK, GENERATIONS, ROW, TOUCH};
use crate::bits::mix;
use crate::handle::image::Image;
use crate::{Filter, HashFunction, Spec};
use std::cell::RefCell;

type Others = Box<dyn FnOnce()>;

thread_local! {
    /// What others do when this thread next reaches the given moment.
    static OTHERS: RefCell<Option<(Moment, Others)>> = const { RefCell::new(None) };
}

pub(super) fn interrupt(moment: Moment) {
    let others = OTHERS.with_borrow_mut(|others| others.take_if(|(at, _)| *at == moment));
    if let Some((_, act)) = others {
        act();
    }
}

/// How many keys a generation takes.
const KEYS: u64 = 50;

fn filter(generations: u64, touch: u64, clock: u64) -> &'static Filter {
    let (kind, hash) = (Some(ROW.kind), HashFunction::External);
    let capacity = if clock == 0 { KEYS * (generations - 1) } else { KEYS };
    let mut spec = Spec { kind, capacity, false_positive_rate: 1e-8, hash, ..Spec::default() };
    for (parameter, value) in [(&GENERATIONS, generations), (&TOUCH, touch), (&CLOCK, clock)] {
        spec.set(parameter, value as f64).unwrap();
    }
    Box::leak(Box::new(Filter::new(&spec).unwrap()))
}

fn for_each_filter(test: impl Fn(&'static Filter, u64, bool)) {
    for generations in [2, 3, 5] {
        for (touch, clock) in [(1, 0), (1, 1)] {
            println!("{generations} generations, touch {touch}, clock {clock}");
            test(filter(generations, touch, clock), generations, clock == 0);
        }
    }
}

/// Moves the window on by `generations` generations, with keys that belong to `number`.
fn move_on(filter: &Filter, counts_keys: bool, number: u64, generations: u64) {
    for i in 0..generations {
        if !counts_keys {
            filter.advance_shared(1).unwrap();
        }
        for key in 0..KEYS {
            assert!(filter.insert_shared_hash(mix(number << 32 | i << 16 | key)).is_ok());
        }
    }
}

/// However far the generations turn in the middle of an insertion, its key is found for the whole window afterwards.
#[test]
fn others_turn_in_the_middle_of_an_insertion() {
    for moment in [Moment::Read, Moment::Set] {
        for turns in 1..11 {
            for_each_filter(|filter, generations, counts_keys| {
                move_on(filter, counts_keys, 1, generations + 1);
                // The second time the newest generation has the key.
                for (i, again) in [1, 1, 2].into_iter().zip([false, true, false]) {
                    let key = mix(7 << 32 | i);
                    let act = move |number| move || move_on(filter, counts_keys, 10 * turns + number, turns);
                    let number = i + 4 * u64::from(again);
                    if again {
                        filter.insert_shared_hash(key).unwrap();
                    }
                    OTHERS.set(Some((moment, Box::new(act(number)))));
                    assert!(again || filter.insert_shared_hash(key).unwrap());
                    assert!(!again || filter.insert_shared_hash(key).is_ok());
                    assert!(OTHERS.take().is_none(), "{moment:?} came");
                    let touches = filter.base().geometry().words[2] == 1;
                    if again && !touches {
                        continue;
                    }
                    // The generation of the key may be full already, except for this key.
                    move_on(filter, counts_keys, 1000 + 10 * turns + number, generations - 1);
                    assert!(filter.contains_hash(key), "{moment:?}, {turns} turns, key {i}");
                }
            });
        }
    }
}

/// Keys that others insert while the oldest generation is dropped are found for the whole window afterwards.
#[test]
fn others_insert_in_the_middle_of_a_turn() {
    for_each_filter(|filter, generations, counts_keys| {
        move_on(filter, counts_keys, 1, generations + 1);
        let during: Vec<u64> = (0..3 * KEYS).map(|i| mix(8 << 32 | i)).collect();
        let keys = during.clone();
        OTHERS.set(Some((
            Moment::Turning,
            Box::new(move || keys.iter().for_each(|key| assert!(filter.insert_shared_hash(*key).unwrap()))),
        )));
        move_on(filter, counts_keys, 2, 1);
        assert!(OTHERS.take().is_none(), "there was a turn");
        // One of these generations came with the turn.
        move_on(filter, counts_keys, 3, generations - 2);
        assert!(during.iter().all(|key| filter.contains_hash(*key)));
    });
}

/// A thread has the lock for turning, and will find that there is nothing to turn. Meanwhile others put so many keys
/// into the newest generation that it seems to have every key. The next key turns that generation on all the same,
/// alongside others and alone.
#[test]
fn a_generation_that_seems_to_have_every_key_is_turned_on() {
    for alone in [false, true] {
        for_each_filter(|filter, generations, counts_keys| {
            if !counts_keys {
                return;
            }
            move_on(filter, true, 1, generations);
            let crowd = move || (0..100 * KEYS).for_each(|i| _ = filter.insert_shared_hash(mix(8 << 32 | i)).unwrap());
            OTHERS.set(Some((
                Moment::Read,
                Box::new(move || {
                    move_on(filter, true, 2, 1);
                    OTHERS.set(Some((Moment::Locked, Box::new(crowd))));
                }),
            )));
            filter.insert_shared_hash(mix(9 << 32)).unwrap();
            assert!(OTHERS.take().is_none(), "both moments came");
            assert!(filter.false_positive_rate() > 0.99);
            if alone {
                let mut copy = filter.copy().unwrap();
                (0..KEYS * generations).for_each(|i| _ = copy.insert_hash(mix(10 << 32 | i)).unwrap());
                assert!(copy.false_positive_rate() < 1e-6);
            } else {
                move_on(filter, true, 3, generations);
                assert!(filter.false_positive_rate() < 1e-6);
            }
        });
    }
}
