//! Sessions over many pairs of sets, over channels that lose, repeat and reorder, and against forged messages.

use crate::common::{is_soak, mix};
use petal::session::{Method, Role, Session, Turn};
use petal::{KindId, Listed, Sketch, Spec, Status, registry};
use std::collections::{BTreeMap, BTreeSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// `few` cases, or in the soak `soak` cases.
fn cases(few: u64, soak: u64) -> u64 {
    if is_soak() { soak } else { few }
}

/// Random numbers, the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = mix(self.0.wrapping_add(1));
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

fn riblt() -> Option<KindId> {
    registry::find_name("riblt").map(|row| row.kind)
}

/// A sketch with `symbols` symbols of these numbers.
fn sketch(numbers: &[u64], symbols: u64, keeps_keys: bool) -> Sketch {
    let mut sketch = petal::Sketch::new(&Spec { kind: riblt(), bits: 192 * symbols, ..Spec::default() }).unwrap();
    if keeps_keys {
        sketch.keep_keys().unwrap();
    }
    sketch.insert_batch(&petal::Keys::U64(numbers)).outcome.unwrap();
    sketch
}

/// Two sets that share `common` numbers; the first has `own` others, and the second `other`.
fn sets(random: &mut Random, common: u64, own: u64, other: u64) -> [Vec<u64>; 2] {
    let seed = random.next();
    let number = |i: u64| mix(seed.wrapping_add(i));
    let shared = || (0..common).map(number);
    let ours = shared().chain((common..common + own).map(number)).collect();
    [ours, shared().chain((common + own..common + own + other).map(number)).collect()]
}

/// What a side lists, from the sets themselves.
fn expected(ours: &[u64], theirs: &[u64]) -> Vec<Listed> {
    let set = |numbers: &[u64]| numbers.iter().copied().collect::<BTreeSet<u64>>();
    let (ours, theirs) = (set(ours), set(theirs));
    let listed = |sign: i64| move |number: &u64| Listed { sign, number: *number };
    theirs.difference(&ours).map(listed(-1)).chain(ours.difference(&theirs).map(listed(1))).collect()
}

/// Whether a session that is done lists what differs.
fn is_right(session: &Session, ours: &[u64], theirs: &[u64]) -> bool {
    session.differences().unwrap() == expected(ours, theirs)
}

/// Sessions between pairs of sets of every likeness end with the right list on both sides.
#[test]
fn random_sets_are_told_apart() {
    let mut random = Random(28);
    let mut methods: BTreeMap<String, u64> = BTreeMap::new();
    for size in [0, 1, 10, 100, 1_000, 10_000] {
        for round in 0..cases(if size > 1_000 { 4 } else { 25 }, 1_000) {
            let most = if round % 2 == 0 { size + 1 } else { 12.min(size + 1) };
            let (own, other) = (random.below(most), random.below(most));
            let [ours, theirs] = sets(&mut random, size, own, other);
            let keeps = [round % 3 > 0, round % 5 > 0];
            let symbols = [1 + 2 * (own + other) + 30, 1 + 2 * (own + other) + 50];
            let of = [sketch(&ours, symbols[0], keeps[0]), sketch(&theirs, symbols[1], keeps[1])];
            let mut a = Session::new(&of[0], Role::Initiator, round % 7 == 0).unwrap();
            let mut b = Session::new(&of[1], Role::Responder, false).unwrap();
            loop {
                match (a.turn(), b.turn()) {
                    (Turn::Send, _) => b.receive(a.send().unwrap()).unwrap(),
                    (_, Turn::Send) => a.receive(b.send().unwrap()).unwrap(),
                    ends => break assert_eq!(ends, (Turn::Done, Turn::Done)),
                }
            }
            assert!(is_right(&a, &ours, &theirs) && is_right(&b, &theirs, &ours), "{size} {own} {other}");
            *methods.entry(format!("{:?}", a.report().method)).or_default() += 1;
        }
    }
    assert_eq!(
        methods.keys().map(|name| &**name).collect::<Vec<&str>>(),
        ["Equal", "FilterAndRiblt", "Pinsketch", "Riblt"]
    );
}

/// A channel that loses, repeats and reorders what it carries: no session ends with a wrong list. Each side sends its
/// last message again from time to time, so that most sessions end well.
#[test]
fn bad_channels_never_lead_to_a_wrong_list() {
    let mut random = Random(11);
    let mut ended = 0;
    let rounds = cases(2_000, 1_000_000);
    for round in 0..rounds {
        let (common, own, other) = (random.below(30), random.below(20), random.below(20));
        let [ours, theirs] = sets(&mut random, common, own, other);
        let keeps = [round % 2 == 0, round % 3 == 0];
        let of = [sketch(&ours, 120, keeps[0]), sketch(&theirs, 120, keeps[1])];
        let mut sides = [
            Session::new(&of[0], Role::Initiator, false).unwrap(),
            Session::new(&of[1], Role::Responder, false).unwrap(),
        ];
        // What is on its way to each side, and what each side sent last.
        let mut under_way: [Vec<Vec<u8>>; 2] = Default::default();
        let mut last: [Vec<u8>; 2] = Default::default();
        for _ in 0..60 {
            for side in 0..2 {
                if sides[side].turn() == Turn::Send {
                    last[side] = sides[side].send().unwrap().to_vec();
                }
                let copies = random.below(3);
                (0..copies).for_each(|_| under_way[1 - side].push(last[side].clone()));
                if !under_way[side].is_empty() {
                    let at = random.below(under_way[side].len() as u64) as usize;
                    let keep = random.below(4) == 0;
                    let message = if keep { under_way[side][at].clone() } else { under_way[side].swap_remove(at) };
                    let _ = sides[side].receive(&message);
                }
            }
        }
        for (side, (ours, theirs)) in sides.iter().zip([(&ours, &theirs), (&theirs, &ours)]) {
            if side.turn() == Turn::Done {
                ended += 1;
                assert!(is_right(side, ours, theirs), "round {round}");
            }
        }
    }
    assert!(ended > rounds * 3 / 2, "{ended}");
}

/// Somebody in the middle who changes what messages say, and makes their checksums right again.
struct Forger {
    chains: [u64; 2],
}

impl Forger {
    /// The message of a side as the other side gets it.
    fn pass(&mut self, from: usize, message: &[u8], forge: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let (content, checksum) = message.split_at(message.len() - 8);
        self.chains[from] = u64::from_le_bytes(checksum.try_into().unwrap());
        let mut content = content.to_vec();
        forge(&mut content);
        let checksum = xxh3_64_with_seed(&content, self.chains[1 - from]);
        self.chains[1 - from] = checksum;
        content.extend_from_slice(&checksum.to_le_bytes());
        content
    }
}

/// Forged messages end in an error, or change only what the forger could claim of its own set: a side that keeps its
/// keys never lists a key as its own that it does not have, or as the other's that it has.
#[test]
fn forged_messages_never_make_a_side_wrong_about_itself() {
    let mut random = Random(3);
    let (mut ended, mut failed) = (0, 0);
    let rounds = cases(3_000, 1_000_000);
    for round in 0..rounds {
        let (common, own, other) = (200 + random.below(200), random.below(60), random.below(60));
        let [ours, theirs] = sets(&mut random, common, own, other);
        let keeps = [round % 2 == 0, round % 3 > 0];
        let of = [sketch(&ours, 300, keeps[0]), sketch(&theirs, 300, keeps[1])];
        let mut sides = [
            Session::new(&of[0], Role::Initiator, round % 5 == 0).unwrap(),
            Session::new(&of[1], Role::Responder, false).unwrap(),
        ];
        let (mut forger, target, mut from) = (Forger { chains: [0; 2] }, random.below(6), 0);
        for number in 0.. {
            if sides[from].turn() != Turn::Send {
                break;
            }
            let sent = sides[from].send().unwrap().to_vec();
            let message = forger.pass(from, &sent, |content| {
                if number < target {
                    return;
                }
                match random.below(8) {
                    0 => content.truncate(8 + random.below(content.len() as u64 - 7) as usize),
                    1 => content.extend((0..random.below(40)).map(|i| i as u8)),
                    2 => content[5] = random.below(14) as u8,
                    _ => {}
                }
                for _ in 0..random.below(4) {
                    let at = 8 + random.below((content.len() as u64 - 8).max(1)) as usize;
                    if at < content.len() {
                        let mask = [1 << random.below(8), random.next() as u8][random.below(2) as usize];
                        content[at] ^= mask;
                    }
                }
            });
            from = 1 - from;
            if let Err(error) = sides[from].receive(&message) {
                assert_ne!(error.status(), Status::Internal, "{error}");
                failed += 1;
                if sides[from].turn() != Turn::Send {
                    break;
                }
            }
        }
        for (side, (own, keeps)) in sides.iter().zip([(&ours, keeps[0]), (&theirs, keeps[1])]) {
            if side.turn() == Turn::Done && side.report().method != Method::Equal && keeps {
                ended += 1;
                let own: BTreeSet<u64> = own.iter().copied().collect();
                let is_sound = |one: &Listed| own.contains(&one.number) == (one.sign == 1);
                assert!(side.differences().unwrap().iter().all(is_sound), "round {round}");
            }
        }
    }
    assert!(ended > rounds / 10 && failed > rounds / 3, "{ended} {failed}");
}

/// A message with a right frame.
fn frame(what: u8, number: u16, chain: u64, body: &[u8]) -> Vec<u8> {
    let mut message = [b"PTSN\x01", &[what][..], &number.to_le_bytes(), body].concat();
    let checksum = xxh3_64_with_seed(&message, chain);
    message.extend_from_slice(&checksum.to_le_bytes());
    message
}

/// The last 8 bytes of a message, with which the next one is chained.
fn chain(message: &[u8]) -> u64 {
    u64::from_le_bytes(message[message.len() - 8..].try_into().unwrap())
}

/// A number with seven bits in each byte.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The introduction of a side with `count` elements and 20 symbols, which keeps its keys or not.
fn hello(has_elements: bool, count: u64) -> Vec<u8> {
    let hasher = Spec::default().hasher().unwrap();
    let mut body = vec![8, u8::from(has_elements)];
    body.extend_from_slice(&(hasher.function() as u32).to_le_bytes());
    body.extend_from_slice(&hasher.identifier().to_le_bytes());
    body.extend([varint(20), varint(count), vec![7; 16]].concat());
    body
}

/// A responder that has welcomed a forged initiator of 5 elements, and the chain after that.
fn welcomed(keeps_keys: bool) -> (Session, u64) {
    let mut session = Session::new(&sketch(&[1, 2, 3, 4, 5], 50, keeps_keys), Role::Responder, false).unwrap();
    session.receive(&frame(1, 0, 0, &hello(keeps_keys, 5))).unwrap();
    let chain = chain(session.send().unwrap());
    (session, chain)
}

/// Messages that come at the right time and say something impossible.
#[test]
fn messages_that_no_side_sends_are_refused() {
    let corrupt = |session: &mut Session, message: &[u8], names: &str| {
        let error = session.receive(message).unwrap_err();
        assert_eq!(error.status(), Status::Corrupt, "{error}");
        assert!(error.message().contains(names), "{error}");
        assert_eq!(session.turn(), Turn::Send);
    };
    // More elements than a set can have, too many counts, and none.
    for (count, counts, names) in [(u64::MAX, 1, "elements"), (5, 257, "1 to 256"), (5, 0, "1 to 256")] {
        let mut session = Session::new(&sketch(&[1, 2, 3], 50, true), Role::Initiator, false).unwrap();
        let chain = chain(session.send().unwrap());
        let body = [hello(true, count), vec![0; 8], varint(counts), vec![0; counts as usize]].concat();
        corrupt(&mut session, &frame(2, 1, chain, &body), names);
    }
    // Sets of different sizes that are said to be equal.
    let mut session = Session::new(&sketch(&[1], 50, true), Role::Responder, false).unwrap();
    session.receive(&frame(1, 0, 0, &hello(true, 5))).unwrap();
    let last = chain(session.send().unwrap());
    corrupt(&mut session, &frame(3, 2, last, &[]), "different sizes");
    // Other symbols than those that were asked for. The first symbol may come alone.
    let (mut session, last) = welcomed(false);
    let symbol = [vec![9; 16], vec![0]].concat();
    let first = frame(4, 2, last, &[varint(0), varint(1), symbol.clone()].concat());
    session.receive(&first).unwrap();
    let last = chain(session.send().unwrap());
    corrupt(&mut session, &frame(4, 4, last, &[varint(1), varint(1), symbol].concat()), "symbols 1 to 2");
    // A filter of another kind.
    let (mut session, last) = welcomed(true);
    let filter =
        petal::Filter::new(&Spec { hash: petal::HashFunction::External, ..Spec::with_capacity(9, 0.1).unwrap() });
    let filter = filter.unwrap();
    let mut form = vec![0; filter.compact_size().unwrap()];
    filter.serialize_compact(&mut form).unwrap();
    let body = [0.1_f64.to_le_bytes().to_vec(), varint(form.len() as u64), form].concat();
    corrupt(&mut session, &frame(8, 2, last, &body), "in place of bloom");
    // Syndromes and filters of sides that do not keep their keys.
    for what in [6, 8] {
        let (mut session, last) = welcomed(false);
        corrupt(&mut session, &frame(what, 2, last, &[0; 40]), "no place here");
    }
}

/// A result that says that this side has a key which it does not have is refused, although counts and checksums agree.
/// A result that names a key of this side is accepted.
#[test]
fn results_are_held_against_the_kept_keys() {
    let hasher = Spec::default().hasher().unwrap();
    let hash = |number: u64| hasher.hash_u64(number).unwrap();
    for (claimed, is_own) in [(3, true), (99, false)] {
        let mut session = Session::new(&sketch(&[1, 2, 3], 50, true), Role::Initiator, true).unwrap();
        let last = chain(session.send().unwrap());
        let checksum = hash(1) ^ hash(2) ^ hash(3) ^ hash(claimed);
        let welcome = [hello(true, 2), checksum.to_le_bytes().to_vec(), varint(1), vec![0]].concat();
        session.receive(&frame(2, 1, last, &welcome)).unwrap();
        let last = chain(session.send().unwrap());
        let result = [varint(0), varint(1), claimed.to_le_bytes().to_vec()].concat();
        let taken = session.receive(&frame(7, 3, last, &result));
        assert_eq!(taken.is_ok(), is_own, "{claimed}");
        if is_own {
            assert_eq!(session.differences().unwrap(), [Listed { sign: 1, number: 3 }]);
        }
    }
}

/// Hashes of byte keys have as many bits as the numbers of a sketch, so both sides need numbers of as many bits.
#[test]
fn numbers_of_other_widths_are_refused() {
    let Some(row) = registry::find_name("pinsketch") else { return };
    let kept = |field_bits: u32| {
        let mut spec = Spec { kind: Some(row.kind), capacity: 20, ..Spec::default() };
        spec.set(row.parameter("field_bits").unwrap(), f64::from(field_bits)).unwrap();
        let mut sketch = petal::Sketch::new(&spec).unwrap();
        sketch.keep_keys().unwrap();
        [&b"apple"[..], b"pear"].iter().for_each(|key| sketch.insert(key).unwrap());
        sketch
    };
    for (ours, theirs) in [(16, 32), (32, 16), (32, 64), (8, 9), (64, 63)] {
        let mut a = Session::new(&kept(ours), Role::Initiator, false).unwrap();
        let mut b = Session::new(&kept(theirs), Role::Responder, false).unwrap();
        let error = b.receive(a.send().unwrap()).unwrap_err();
        assert_eq!(error.status(), Status::Incompatible);
        assert!(error.to_string().contains(&format!("{theirs} bits here, {ours} there")), "{error}");
        assert_eq!(a.receive(b.send().unwrap()).unwrap_err().status(), Status::Incompatible);
    }
    for (ours, theirs) in [(kept(16), kept(16)), (kept(64), sketch(&[], 30, true))] {
        let mut a = Session::new(&ours, Role::Initiator, false).unwrap();
        let mut b = Session::new(&theirs, Role::Responder, false).unwrap();
        while a.turn() == Turn::Send {
            b.receive(a.send().unwrap()).unwrap();
            if b.turn() == Turn::Send {
                a.receive(b.send().unwrap()).unwrap();
            }
        }
        assert_eq!(a.differences().unwrap().len(), ours.kept().unwrap().len() - theirs.kept().unwrap().len());
    }
}

/// A difference of two sets is no set, and a sketch of one that shows it begins no session. A set less a part of it
/// does.
#[test]
fn a_subtracted_sketch_is_no_set() {
    let mut random = Random(49);
    for (common, ours, theirs, symbols) in
        [(1_000, 5, 5, 60), (0, 0, 1, 10), (50, 300, 40, 600), (9, 400, 390, 100), (1, 3, 2_000, 70), (7, 1, 1, 40)]
    {
        let [a, b] = sets(&mut random, common, ours, theirs);
        let mut difference = sketch(&a, symbols, false);
        difference.subtract(&sketch(&b, symbols, false)).unwrap();
        let loaded: Sketch = petal::load_as(&crate::common::image(&difference), &Default::default()).unwrap();
        for sketch in [&difference, &loaded] {
            for role in [Role::Initiator, Role::Responder] {
                let error = Session::new(sketch, role, false).unwrap_err();
                assert!(error.status() == Status::Contradiction && error.to_string().contains("no set"), "{error}");
            }
        }
        let mut removed = sketch(&[], symbols, false);
        removed.remove_u64(7).unwrap();
        assert_eq!(Session::new(&removed, Role::Initiator, true).unwrap_err().status(), Status::Contradiction);
    }
    for size in [0, 1, 10, 5_000] {
        let [a, _] = sets(&mut random, size, size / 2, 0);
        let mut less = sketch(&a, 90, false);
        less.subtract(&sketch(&a[..size as usize / 2], 90, false)).unwrap();
        Session::new(&less, Role::Initiator, false).unwrap();
    }
}
