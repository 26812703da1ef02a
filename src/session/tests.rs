//! Sessions over sets that are known.

use super::*;
use crate::bits::mix;
use crate::making::create_sketch;
use crate::spec::{KindId, Spec};
use std::collections::BTreeSet;

/// A sketch of riblt with so many symbols of these numbers, which keeps its keys if that is asked for.
fn sketch(numbers: &[u64], symbols: u64, keeps: bool) -> Sketch {
    let spec = Spec { kind: Some(KindId(257)), bits: 192 * symbols, ..Spec::default() };
    let mut sketch = create_sketch(&spec).unwrap();
    if keeps {
        sketch.keep_keys().unwrap();
    }
    sketch.insert_batch(&crate::Keys::U64(numbers)).outcome.unwrap();
    sketch
}

/// Two sets: so many common numbers, and so many that each has alone.
fn sets(common: u64, own: u64, other: u64, seed: u64) -> (Vec<u64>, Vec<u64>) {
    let number = |i: u64| mix(mix(seed ^ 0x5e55_1011).wrapping_add(i));
    let shared = || (0..common).map(number);
    let ours = shared().chain((common..common + own).map(number)).collect();
    let theirs = shared().chain((common + own..common + own + other).map(number)).collect();
    (ours, theirs)
}

/// What one side should list.
fn expected(ours: &[u64], theirs: &[u64]) -> Vec<Listed> {
    let (ours, theirs): (BTreeSet<u64>, BTreeSet<u64>) =
        (ours.iter().copied().collect(), theirs.iter().copied().collect());
    let only = |a: &BTreeSet<u64>, b: &BTreeSet<u64>, count: i64| {
        a.difference(b).map(|number| Listed { count, number: *number }).collect::<Vec<Listed>>()
    };
    let mut all = only(&theirs, &ours, -1);
    all.extend(only(&ours, &theirs, 1));
    all
}

/// Carries messages until both are done, or one fails.
fn carry(a: &mut Session, b: &mut Session) -> Result<()> {
    loop {
        match (a.turn(), b.turn()) {
            (Turn::Send, _) => b.receive(a.send()?)?,
            (_, Turn::Send) => a.receive(b.send()?)?,
            _ => return Ok(()),
        }
    }
}

/// A session between two sketches, with what both sides found checked. Returns the initiator's report.
fn checked(ours: &[u64], theirs: &[u64], of: [(u64, bool); 2], kept_symbols: bool) -> Report {
    let (a, b) = (sketch(ours, of[0].0, of[0].1), sketch(theirs, of[1].0, of[1].1));
    let mut a = Session::new(&a, Role::Initiator, kept_symbols).unwrap();
    let mut b = Session::new(&b, Role::Responder, kept_symbols).unwrap();
    carry(&mut a, &mut b).unwrap_or_else(|error| panic!("{} {}: {error}", ours.len(), theirs.len()));
    assert_eq!((a.turn(), b.turn()), (Turn::Done, Turn::Done));
    if a.report().method == Method::Equal {
        assert!(
            a.differences().unwrap().is_empty() && b.differences().unwrap().is_empty() && ours.len() == theirs.len()
        );
        return a.report();
    }
    assert_eq!(a.differences().unwrap(), expected(ours, theirs));
    assert_eq!(b.differences().unwrap(), expected(theirs, ours));
    let (of_a, of_b) = (a.report(), b.report());
    assert_eq!((of_a.method, of_a.sent_bytes, of_a.messages), (of_b.method, of_b.received_bytes, of_b.messages));
    assert_eq!((of_a.symbols, of_a.filter_bytes), (of_b.symbols, of_b.filter_bytes));
    assert!(of_a.method == Method::Riblt || !of_a.used_kept_symbols, "{of_a:?}");
    of_a
}

#[test]
fn sets_of_every_likeness_are_told_apart() {
    let sizes = [0, 1, 2, 10, 100, 1_000];
    let both = [(300, true); 2];
    for common in [0, 1, 50, 5_000] {
        for own in sizes {
            for other in sizes {
                let (ours, theirs) = sets(common, own, other, own * 7 + other);
                checked(&ours, &theirs, both, false);
                checked(&ours, &theirs, both, true);
                checked(&ours, &theirs, [(20, true), (3_500, false)], false);
                checked(&ours, &theirs, [(3_500, false), (1, true)], false);
                checked(&ours, &theirs, [(3_500, false); 2], false);
            }
        }
    }
}

/// A message that was lost, repeated, overtaken, cut, extended or changed is refused, and the right one still serves.
#[test]
fn wrong_messages_are_refused_and_change_nothing() {
    let (ours, theirs) = sets(2_000, 300, 40, 9);
    for kept_symbols in [false, true] {
        let (a, b) = (sketch(&ours, 700, true), sketch(&theirs, 700, true));
        let mut sides = [
            Session::new(&a, Role::Initiator, kept_symbols).unwrap(),
            Session::new(&b, Role::Responder, kept_symbols).unwrap(),
        ];
        let mut stranger = Session::new(&a, Role::Initiator, kept_symbols).unwrap();
        let mut earlier: Vec<Vec<u8>> = vec![stranger.send().unwrap().to_vec()];
        let mut sender = 0;
        while sides[sender].turn() == Turn::Send {
            let message = sides[sender].send().unwrap().to_vec();
            let receiver = &mut sides[1 - sender];
            if earlier.len() > 1 {
                for old in &earlier {
                    assert!(receiver.receive(old).is_err());
                }
            }
            for length in (0..message.len()).step_by(1 + message.len() / 50) {
                assert!(receiver.receive(&message[..length]).is_err());
                let mut changed = message.clone();
                changed[length] ^= 0x10;
                assert!(receiver.receive(&changed).is_err());
            }
            assert!(receiver.receive(&[&message[..], &[0]].concat()).is_err());
            assert!(receiver.send().is_err() && receiver.turn() == Turn::Receive);
            receiver.receive(&message).unwrap();
            earlier.push(message);
            sender = 1 - sender;
        }
        assert_eq!(sides[0].differences().unwrap(), expected(&ours, &theirs));
        assert_eq!(sides[1].differences().unwrap(), expected(&theirs, &ours));
    }
}

/// Symbols that do not suffice end in an error on both sides, which says what is missing.
#[test]
fn too_few_symbols_fail_on_both_sides() {
    let (ours, theirs) = sets(1_000, 500, 500, 3);
    let (a, b) = (sketch(&ours, 300, false), sketch(&theirs, 300, false));
    let mut a = Session::new(&a, Role::Initiator, false).unwrap();
    let mut b = Session::new(&b, Role::Responder, false).unwrap();
    assert_eq!(carry(&mut a, &mut b).unwrap_err().status(), Status::UnsupportedByHandle);
    let (mut one, mut other) = if a.turn() == Turn::Send { (a, b) } else { (b, a) };
    let failure = one.send().unwrap().to_vec();
    assert_eq!(other.receive(&failure).unwrap_err().status(), Status::UnsupportedByHandle);
    assert_eq!((one.turn(), other.turn()), (Turn::Failed, Turn::Failed));
    assert!(one.differences().is_err() && other.differences().is_err() && one.send().is_err());
}

/// Sketches with another seed are refused, and the other side is told.
#[test]
fn other_seeds_are_refused() {
    let other = Spec { kind: Some(KindId(257)), bits: 1_920, seed: 1, ..Spec::default() };
    let (a, b) = (sketch(&[1], 10, true), create_sketch(&other).unwrap());
    let mut a = Session::new(&a, Role::Initiator, false).unwrap();
    let mut b = Session::new(&b, Role::Responder, false).unwrap();
    assert_eq!(b.receive(a.send().unwrap()).unwrap_err().status(), Status::Incompatible);
    assert_eq!(a.receive(b.send().unwrap()).unwrap_err().status(), Status::Incompatible);
}
