//! When messages come, and how those are answered that come at the wrong time or ask for too much.

use super::super::set::most_symbols;
use super::*;

/// The next message of a side, given as what it is and its body.
fn take(session: &mut Session, what: u8, body: &[u8]) -> Result<()> {
    session.step.receive(&mut session.course, what, &mut Cursor::new(body))
}

/// Which messages are accepted at this time; the others are refused because of their type alone.
fn placed(make: &dyn Fn() -> Session) -> Vec<u8> {
    let refusal = |what: u8| take(&mut make(), what, &[]).err().map_or(String::new(), |error| error.message().into());
    (0..=message::FAILURE).filter(|what| !refusal(*what).contains("no place here")).collect()
}

/// Each message has its time.
#[test]
fn messages_have_their_time() {
    let (ours, theirs) = sets(2_000, 300, 40, 9);
    let initiator = |method: Option<Method>, has_parted: bool| {
        let (mut a, mut b) = (side(8, &ours, Role::Initiator), side(8, &theirs, Role::Responder));
        b.receive(a.send().unwrap()).unwrap();
        if let Some(method) = method {
            a.receive(b.send().unwrap()).unwrap();
            a.course.report.method = method;
        }
        let of = a.course.elements().clone();
        a.course.passing = has_parted.then(|| Set::of_elements(of, Vec::new()));
        a
    };
    assert_eq!(placed(&|| initiator(None, false)), [message::WELCOME]);
    assert_eq!(placed(&|| initiator(Some(Method::Riblt), false)), [message::MORE, message::RESULT]);
    let parting = [message::MORE, message::RESULT, message::REST];
    assert_eq!(placed(&|| initiator(Some(Method::FilterAndRiblt), false)), parting);
    assert_eq!(placed(&|| initiator(Some(Method::FilterAndRiblt), true)), parting[..2]);

    let responder = |keeps: bool, is_welcome: bool, method: Method, has_parted: bool| {
        let (a, b) = (sketch(&ours, 700, true), sketch(&theirs, 700, keeps));
        let mut a = Session::new(&a, Role::Initiator, false).unwrap();
        let mut b = Session::new(&b, Role::Responder, false).unwrap();
        if is_welcome {
            b.receive(a.send().unwrap()).unwrap();
            b.send().unwrap();
        }
        b.course.report.method = method;
        let of = b.course.elements().clone();
        b.course.passing = has_parted.then(|| Set::of_elements(of, Vec::new()));
        b
    };
    assert_eq!(placed(&|| responder(true, false, Method::None, false)), [message::HELLO]);
    let first = [message::EQUAL, message::SYMBOLS, message::SYNDROMES, message::FILTER];
    assert_eq!(placed(&|| responder(true, true, Method::None, false)), first);
    assert_eq!(placed(&|| responder(false, true, Method::None, false)), first[..2]);
    assert_eq!(placed(&|| responder(true, true, Method::Riblt, false)), [message::SYMBOLS]);
    let parted = [message::SYMBOLS, message::RESIDUE];
    assert_eq!(placed(&|| responder(true, true, Method::FilterAndRiblt, true)), parted);
    // Kept symbols avoid the passes over the elements, even if these are at hand.
    let kept = || {
        let mut b = responder(true, true, Method::None, false);
        b.course.report.used_kept_symbols = true;
        b
    };
    assert_eq!(placed(&kept), first[..2]);
}

/// The body of a message of symbols that make no sense, of a set of `elements` elements.
fn noise(elements: u64, first: u64, count: u64) -> Vec<u8> {
    let mut writer = Writer::new(0).unwrap();
    writer.varint(first).unwrap();
    writer.varint(count).unwrap();
    for symbol in first..first + count {
        let sum = if symbol == 0 { 0 } else { (mix(symbol) % elements) as i64 };
        writer.words(&[mix(symbol), mix(!symbol)]).unwrap();
        writer.signed(sum).unwrap();
    }
    writer.into_bytes()
}

/// What a responder asks for.
fn asked(session: &mut Session) -> u64 {
    let message = session.send().unwrap();
    assert_eq!(message[5], message::MORE);
    wire::varint(&mut Cursor::new(&message[8..])).unwrap()
}

/// If symbols do not suffice, an eighth more follows, then a quarter, then half as many each time, and never more than
/// both sides have.
#[test]
fn more_symbols_are_asked_for_in_growing_steps() {
    let (ours, _) = sets(5_000, 0, 0, 2);
    for (keeps, steps) in [(true, [1_800, 2_250, 3_375]), (false, [1_700, 2_125, 0])] {
        let (a, b) = (sketch(&ours, 1_700, keeps), sketch(&ours, 1_700, keeps));
        let mut a = Session::new(&a, Role::Initiator, false).unwrap();
        let mut b = Session::new(&b, Role::Responder, false).unwrap();
        b.receive(a.send().unwrap()).unwrap();
        b.send().unwrap();
        let mut have = 0;
        for next in [&[1_600][..], &steps].concat().windows(2) {
            let taken = take(&mut b, message::SYMBOLS, &noise(5_000, have, next[0] - have));
            have = next[0];
            if next[0] > 1_700 && !keeps || next[1] == 0 {
                assert_eq!(taken.unwrap_err().status(), Status::UnsupportedByHandle);
                break;
            }
            taken.unwrap();
            assert_eq!(asked(&mut b), next[1]);
        }
    }
    // If syndromes do not suffice, symbols for twice as many differences follow.
    let mut b = side(8, &ours, Role::Responder);
    b.receive(side(8, &ours[5..], Role::Initiator).send().unwrap()).unwrap();
    b.send().unwrap();
    let mut body = Writer::new(0).unwrap();
    body.words(&[1]).unwrap();
    body.varint(30).unwrap();
    body.raw(&[0]).unwrap();
    body.words(&(0..30).map(mix).collect::<Vec<u64>>()).unwrap();
    take(&mut b, message::SYNDROMES, body.bytes()).unwrap();
    assert_eq!(asked(&mut b), choice::symbols_for(60.0, 0.0));
}

/// No side is asked for more than twice what it sent, nor sent more symbols than there can be.
#[test]
fn symbols_that_are_asked_for_have_bounds() {
    let (ours, theirs) = sets(3_000, 1_500, 1_500, 4);
    let (a, b) = (sketch(&ours, 9_000, true), sketch(&theirs, 9_000, true));
    let after_symbols = || {
        let mut a = Session::new(&a, Role::Initiator, true).unwrap();
        let mut b = Session::new(&b, Role::Responder, true).unwrap();
        b.receive(a.send().unwrap()).unwrap();
        a.receive(b.send().unwrap()).unwrap();
        a.send().unwrap();
        a
    };
    let sent = after_symbols().report().symbols;
    assert!(sent > 3_000, "{sent}");
    for (wanted, is_taken) in [(sent, false), (sent + 1, true), (2 * sent, true), (2 * sent + 1, false)] {
        let mut body = Writer::new(0).unwrap();
        body.varint(wanted).unwrap();
        assert_eq!(take(&mut after_symbols(), message::MORE, body.bytes()).is_ok(), is_taken, "{wanted} after {sent}");
    }
    let welcomed = || {
        let mut b = side(8, &theirs, Role::Responder);
        b.receive(side(8, &ours, Role::Initiator).send().unwrap()).unwrap();
        b.send().unwrap();
        b
    };
    let most = most_symbols(3);
    for (first, count, status) in [
        (0, most, Status::Truncated),
        (0, most + 1, Status::Corrupt),
        (0, most + 9, Status::Corrupt),
        (1, 5, Status::Corrupt),
        (0, 0, Status::Corrupt),
    ] {
        let mut body = Writer::new(0).unwrap();
        body.varint(first).unwrap();
        body.varint(count).unwrap();
        let taken = take(&mut welcomed(), message::SYMBOLS, body.bytes());
        assert_eq!(taken.unwrap_err().status(), status, "{first} {count}");
    }
}

/// A session that cannot send fails for good, one that waits for its turn does not, and both say so.
#[test]
fn calls_out_of_turn_and_failures_are_told() {
    let mut a = side(8, &[1, 2], Role::Initiator);
    assert_eq!(a.receive(b"PTSN").unwrap_err().status(), Status::UnsupportedByHandle);
    assert_eq!(a.differences().unwrap_err().status(), Status::UnsupportedByHandle);
    assert!(a.turn() == Turn::Send && format!("{a:?}").contains("report: Report"));
    a.link.messages = link::MOST_MESSAGES;
    for _ in 0..2 {
        assert_eq!(a.send().unwrap_err().status(), Status::TooLarge);
        assert_eq!(a.turn(), Turn::Failed);
    }
    assert_eq!(a.differences().unwrap_err().status(), Status::TooLarge);
}
