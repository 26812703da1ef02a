//! Sessions over sets that are known.

use super::estimate::MOST_COUNTS;
use super::*;
use crate::bits::mix;
use crate::spec::{KindId, Spec};
use std::collections::BTreeSet;

mod turns;

/// A sketch of riblt with `symbols` symbols of these numbers, which keeps its keys if `keeps`.
fn sketch(numbers: &[u64], symbols: u64, keeps: bool) -> Sketch {
    let spec = Spec { kind: Some(KindId(257)), bits: 192 * symbols, ..Spec::default() };
    let mut sketch = Sketch::new(&spec).unwrap();
    if keeps {
        sketch.keep_keys().unwrap();
    }
    sketch.insert_batch(&crate::Keys::U64(numbers)).outcome.unwrap();
    sketch
}

/// Two sets: `common` common numbers, and `own` and `other` numbers that only one of them has.
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
    let only = |a: &BTreeSet<u64>, b: &BTreeSet<u64>, sign: i64| {
        a.difference(b).map(|number| Listed { sign, number: *number }).collect::<Vec<Listed>>()
    };
    let mut all = only(&theirs, &ours, -1);
    all.extend(only(&ours, &theirs, 1));
    all
}

/// What a session costs, according to its messages.
#[derive(Debug, Default, PartialEq)]
struct Costs {
    messages: u64,
    /// Bytes that each side sent.
    bytes: [u64; 2],
    symbols: u64,
    syndromes: u64,
    filter_bytes: u64,
    /// How often symbols were sent.
    times: u64,
}

impl Costs {
    /// Adds the message of a side.
    fn add(&mut self, side: usize, message: &[u8], of: &Elements) {
        let mut body = Cursor::new(&message[8..message.len() - 8]);
        self.messages += 1;
        self.bytes[side] += message.len() as u64;
        match message[5] {
            message::SYMBOLS => {
                wire::varint(&mut body).unwrap();
                self.symbols += wire::varint(&mut body).unwrap();
                self.times += 1;
            }
            message::SYNDROMES => {
                wire::word(&mut body).unwrap();
                self.syndromes = wire::varint(&mut body).unwrap();
            }
            message::FILTER => self.filter_bytes += body.rest().len() as u64,
            message::REST => {
                of.read(&mut body).unwrap();
                self.filter_bytes += body.rest().len() as u64;
            }
            message::RESIDUE => {
                of.read(&mut body).unwrap();
                wire::word(&mut body).unwrap();
                let [_, first, count] = [(); 3].map(|()| wire::varint(&mut body).unwrap());
                assert_eq!(first, 0);
                self.symbols += count;
                self.times += 1;
            }
            _ => {}
        }
    }
}

/// Carries messages until both sides are done, and compares both reports with what the messages cost.
fn carried(a: &mut Session, b: &mut Session) -> Result<Costs> {
    let (mut costs, of) = (Costs::default(), a.course.elements().clone());
    loop {
        match (a.turn(), b.turn()) {
            (Turn::Send, _) => {
                let message = a.send()?;
                costs.add(0, message, &of);
                b.receive(message)?;
            }
            (_, Turn::Send) => {
                let message = b.send()?;
                costs.add(1, message, &of);
                a.receive(message)?;
            }
            _ => break,
        }
    }
    for (report, own, other) in [(a.report(), 0, 1), (b.report(), 1, 0)] {
        let told = (report.messages, report.sent_bytes, report.received_bytes);
        assert_eq!(told, (costs.messages, costs.bytes[own], costs.bytes[other]));
        let told = (report.symbols, report.syndromes, report.filter_bytes);
        assert_eq!(told, (costs.symbols, costs.syndromes, costs.filter_bytes), "{report:?}");
    }
    assert_eq!([a.report().their_count, b.report().their_count], [b.course.set.count, a.course.set.count]);
    Ok(costs)
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

/// A session between two sketches. Checks what both sides found, and returns the initiator's report.
fn checked(ours: &[u64], theirs: &[u64], of: [(u64, bool); 2], kept_symbols: bool) -> Report {
    let (a, b) = (sketch(ours, of[0].0, of[0].1), sketch(theirs, of[1].0, of[1].1));
    let mut a = Session::new(&a, Role::Initiator, kept_symbols).unwrap();
    let mut b = Session::new(&b, Role::Responder, kept_symbols).unwrap();
    carried(&mut a, &mut b).unwrap_or_else(|error| panic!("{} {}: {error}", ours.len(), theirs.len()));
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
        let mut non_member = Session::new(&a, Role::Initiator, kept_symbols).unwrap();
        let mut earlier: Vec<Vec<u8>> = vec![non_member.send().unwrap().to_vec()];
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

/// Sketches with different seeds are refused, and the other side is told.
#[test]
fn other_seeds_are_refused() {
    let other = Spec { kind: Some(KindId(257)), bits: 1_920, seed: 1, ..Spec::default() };
    let (a, b) = (sketch(&[1], 10, true), Sketch::new(&other).unwrap());
    let mut a = Session::new(&a, Role::Initiator, false).unwrap();
    let mut b = Session::new(&b, Role::Responder, false).unwrap();
    assert_eq!(b.receive(a.send().unwrap()).unwrap_err().status(), Status::Incompatible);
    assert_eq!(a.receive(b.send().unwrap()).unwrap_err().status(), Status::Incompatible);
}

/// A side over these elements, whose part of the session's key is known.
fn side(key_bytes: usize, elements: &[u64], role: Role) -> Session {
    let hasher = Spec::default().hasher().unwrap();
    let of = Elements { key_bytes, hasher: hasher.clone() };
    let hello = Hello {
        key_bytes,
        number_bits: 64,
        hash: (hasher.function() as u32, hasher.identifier()),
        has_elements: true,
        asks_for_kept: false,
        symbols: 0,
        count: (elements.len() / of.words()) as u64,
        nonce: [role as u8; 16],
    };
    Session::over(Set::of_elements(of, elements.to_vec()), hello, role).unwrap()
}

/// Two sets of keys of `key_bytes` bytes.
fn key_sets(key_bytes: usize, common: u64, own: u64, other: u64) -> [Vec<u64>; 2] {
    let words = key_bytes.div_ceil(8) as u64;
    let mask = if key_bytes.is_multiple_of(8) { u64::MAX } else { (1 << (8 * (key_bytes % 8))) - 1 };
    let word = |key: u64, at: u64| mix(key << 8 | at) & if at == words - 1 { mask } else { u64::MAX };
    let keys = |keys: core::ops::Range<u64>| keys.flat_map(|key| (0..words).map(move |at| word(key, at)));
    let all = common + own + other;
    [keys(0..common + own).collect(), keys(0..common).chain(keys(common + own..all)).collect()]
}

/// Sessions over whole keys list them in the order of their bytes.
#[test]
fn whole_keys_are_told_apart() {
    for key_bytes in [9, 13, 16, 40, 64] {
        for (common, own, other) in [(0, 1, 0), (50, 3, 5), (300, 200, 1), (200, 1500, 800), (3000, 0, 900)] {
            let [ours, theirs] = key_sets(key_bytes, common, own, other);
            let mut sides = [side(key_bytes, &ours, Role::Initiator), side(key_bytes, &theirs, Role::Responder)];
            let [a, b] = &mut sides;
            carried(a, b).unwrap();
            let words = key_bytes.div_ceil(8);
            let bytes = |key: &[u64]| key.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
            let set = |keys: &[u64]| keys.chunks_exact(words).map(bytes).collect::<BTreeSet<_>>();
            let list = |keys: &[u64]| keys.chunks_exact(words).map(bytes).collect::<Vec<_>>();
            let only = |a: &[u64], b: &[u64]| set(a).difference(&set(b)).cloned().collect::<Vec<_>>();
            for side in &sides {
                let Found { ours: found, theirs: missed } = &side.course.found;
                let is_first = side.course.set.count == common + own && own != other || side.course.hello.nonce[0] == 0;
                let (one, two) = if is_first { (&ours, &theirs) } else { (&theirs, &ours) };
                assert_eq!(list(found), only(one, two), "{key_bytes} {common} {own} {other}");
                assert_eq!(list(missed), only(two, one), "{key_bytes} {common} {own} {other}");
            }
        }
    }
}

/// What is sent is about what the differences need, in few messages.
#[test]
fn sessions_cost_what_the_differences_need() {
    for (common, own, other) in [(20_000, 20, 30), (2_000, 500, 600), (0, 4_000, 3_000), (4_000, 4_000, 100)] {
        let (ours, theirs) = sets(common, own, other, 5);
        let (mut a, mut b) = (side(8, &ours, Role::Initiator), side(8, &theirs, Role::Responder));
        let costs = carried(&mut a, &mut b).unwrap();
        let (differ, report) = ((own + other) as f64, a.report());
        let deviations = (report.estimated_differences - differ).abs() / report.estimate_deviation.max(1.0);
        assert!(deviations < 4.5 && report.estimate_deviation < 0.2 * differ, "{report:?}");
        match report.method {
            Method::Pinsketch => assert!(costs.messages == 4 && costs.syndromes < 100, "{costs:?}"),
            Method::Riblt => assert!(costs.times <= 2 && (costs.symbols as f64) < 1.7 * differ + 40.0, "{costs:?}"),
            Method::FilterAndRiblt => {
                let passing = a.course.passing.as_ref().unwrap().count + b.course.passing.as_ref().unwrap().count;
                let passing = (passing - 2 * common) as f64;
                assert!(costs.times == 1 && (costs.symbols as f64) < 1.9 * passing + 60.0, "{passing}: {costs:?}");
                assert!(passing < 0.35 * differ, "{passing}: {costs:?}");
            }
            _ => panic!("{report:?}"),
        }
    }
    // Zero is a number like any other, although syndromes do not count it.
    let (ours, theirs): (Vec<u64>, Vec<u64>) = ((0..500).collect(), (1..500).collect());
    assert_eq!(checked(&ours, &theirs, [(300, true); 2], false).method, Method::Pinsketch);
}

/// The responder sends as many counts as there are, or as there is room for.
#[test]
fn counts_are_told_up_to_a_limit() {
    for (keys, least) in [(0, 256), (50, 256), (100_000, 130)] {
        let (ours, _) = sets(keys, 0, 0, 1);
        let (mut a, mut b) = (side(8, &[], Role::Initiator), side(8, &ours, Role::Responder));
        b.receive(a.send().unwrap()).unwrap();
        let message = b.send().unwrap();
        let mut body = Cursor::new(&message[8..message.len() - 8]);
        Hello::read(&mut body).unwrap();
        wire::word(&mut body).unwrap();
        let told = wire::varint(&mut body).unwrap();
        assert!((least..=MOST_COUNTS.0).contains(&told), "{told} counts");
        assert!(body.rest().len() <= MOST_COUNTS.1 + 10, "{} bytes", body.rest().len());
    }
}

/// Sets whose symbols have equal counts need not be equal.
#[test]
fn equal_counts_are_not_equal_sets() {
    let (a, b) = (sketch(&[1], 1, false), sketch(&[2], 1, false));
    let mut a = Session::new(&a, Role::Initiator, false).unwrap();
    let mut b = Session::new(&b, Role::Responder, false).unwrap();
    assert!(carry(&mut a, &mut b).is_err() && a.report().method != Method::Equal);
}
