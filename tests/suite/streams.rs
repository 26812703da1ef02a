//! Streams of coded symbols: what they list compared with exact sets, the number of symbols for a difference, and
//! hostile streams.

use crate::common::is_soak;
use crate::sketches::{Random, with};
use petal::sketch::riblt::ROW;
use petal::{HashFunction, Image, Listing, Sketch, Spec, Status, Stream};
use std::collections::BTreeSet;

/// A sketch with this number of symbols that keeps its keys.
fn keeping(spec: &Spec, numbers: impl IntoIterator<Item = u64>) -> Sketch {
    let mut sketch = Sketch::new(spec).unwrap();
    sketch.keep_keys().unwrap();
    numbers.into_iter().for_each(|number| sketch.insert_u64(number).unwrap());
    sketch
}

fn spec(symbols: u64) -> Spec {
    Spec { kind: Some(ROW.kind), bits: 192 * symbols, ..Spec::default() }
}

/// The next bytes of a sketch's stream.
fn written(stream: &mut Stream, sketch: &Sketch, symbols: u64) -> Vec<u8> {
    let mut bytes = vec![0; 16 + 82 * symbols as usize];
    let length = stream.write(sketch, symbols, &mut bytes).unwrap();
    bytes.truncate(length);
    bytes
}

/// The first bytes of a sketch's stream.
fn first(sketch: &Sketch, symbols: u64) -> Vec<u8> {
    written(&mut Stream::new(sketch).unwrap(), sketch, symbols)
}

fn is(listing: &Listing, ours: &BTreeSet<u64>, theirs: &BTreeSet<u64>) -> bool {
    listing.listed.len() == ours.len() + theirs.len() && with(listing, 1) == *ours && with(listing, -1) == *theirs
}

/// Random pairs of sets, streamed in pieces of any length. A stream is complete only if it lists all differences, and
/// the sketches need not have the same number of symbols.
#[test]
fn differences_come_through_streams() {
    let mut random = Random(51 << 32);
    for round in 0..300 {
        let (common, ours, theirs) = match round % 6 {
            0 => (500, random.next() % 40, random.next() % 40),
            1 => (10, random.next() % 300, random.next() % 300),
            2 => (300, 0, 0),
            3 => (200, random.next() % 40, 0),
            4 => (0, 0, random.next() % 40),
            _ => (3, 1, 1),
        };
        let mut draw = |count: u64| (0..count).map(|_| random.next()).collect::<BTreeSet<u64>>();
        let (common, ours, theirs) = (draw(common), draw(ours), draw(theirs));
        let receiver = keeping(&spec(1 + random.next() % 100), common.iter().chain(&ours).copied());
        let sender = keeping(&spec(1 + random.next() % 100), common.iter().chain(&theirs).copied());
        let (mut out, mut into) = (Stream::new(&sender).unwrap(), Stream::new(&receiver).unwrap());
        while !into.is_complete() {
            assert!(into.symbols_read() < 3000, "round {round}");
            let bytes = written(&mut out, &sender, 1 + random.next() % 30);
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at((1 + random.next() as usize % 200).min(rest.len()));
                let is_complete = into.read(&receiver, piece).unwrap();
                let listing = into.list(&receiver).unwrap();
                assert!(with(&listing, 1).is_subset(&ours) && with(&listing, -1).is_subset(&theirs), "round {round}");
                assert_eq!((listing.is_complete, into.is_complete()), (is_complete, is_complete));
                assert!(!is_complete || is(&listing, &ours, &theirs), "round {round}: {listing:?}");
                rest = after;
            }
            assert_eq!(into.symbols_read(), out.symbols_written());
        }
        // Later symbols change nothing.
        assert!(into.read(&receiver, &written(&mut out, &sender, 200)).unwrap());
        assert!(is(&into.list(&receiver).unwrap(), &ours, &theirs));
    }
}

/// The symbols of a stream are the same wherever they come from: a sketch that has them all, or few symbols and the
/// keys. The pieces in which they are written do not matter.
#[test]
fn streams_have_the_symbols_of_the_set() {
    let numbers: Vec<u64> = (0..500).map(crate::common::mix).collect();
    let all = first(&keeping(&spec(700), numbers.iter().copied()), 700);
    for symbols in [1, 2, 63, 64, 65, 699] {
        let sketch = keeping(&spec(symbols), numbers.iter().copied());
        let mut stream = Stream::new(&sketch).unwrap();
        let mut pieces = Vec::new();
        for i in 0.. {
            let length = pieces.len();
            pieces.resize(length + 34 + 7 * (i % 5), 0);
            let more = stream.write(&sketch, 1 + i as u64 % 4, &mut pieces[length..]).unwrap();
            pieces.truncate(length + more);
            if pieces.len() >= all.len() {
                break;
            }
        }
        assert_eq!(pieces[..all.len()], all[..], "{symbols} symbols");
        assert!(all.len() < 16 + 18 * 700, "{} bytes", all.len());
    }
}

/// The bytes that docs/format.md specifies, computed without the library's code.
#[test]
fn streams_are_what_the_format_says() {
    let numbers = [5_u64, 1 << 60, 77];
    let sketch = keeping(&Spec { seed: 42, ..spec(3) }, numbers);
    let mut bytes = b"PSTR\x01\x01\x00\x00".to_vec();
    bytes.extend_from_slice(&42_u64.to_le_bytes());
    for i in 0..100_u64 {
        let (mut key, mut check, mut count) = (0, 0, 0_i64);
        for number in numbers {
            let hash = xxhash_rust::xxh3::xxh3_64_with_seed(&number.to_le_bytes(), 42);
            let (mut state, mut index) = (hash, 0_u64);
            while index < i {
                state = state.wrapping_mul(0xda94_2042_e4dd_58b5);
                index += ((index as f64 + 1.5) * (2_f64.powi(32) / (state as f64 + 1.0).sqrt() - 1.0)).ceil() as u64;
            }
            if index == i {
                (key, check, count) = (key ^ number, check ^ hash, count + 1);
            }
        }
        bytes.extend_from_slice(&key.to_le_bytes());
        bytes.extend_from_slice(&check.to_le_bytes());
        let difference = if i == 0 { count } else { count - 6 / (i as i64 + 2) };
        bytes.push(if difference < 0 { -2 * difference - 1 } else { 2 * difference } as u8);
    }
    assert_eq!(first(&sketch, 100), bytes);
}

/// A sketch that keeps no keys writes and reads as many symbols as it has, and then says what it lacks.
#[test]
fn sketches_without_keys_stream_what_they_have() {
    let make = |numbers: std::ops::Range<u64>| crate::sketches::of(&spec(40), numbers);
    let (ours, theirs) = (make(0..500), make(3..505));
    let (mut out, mut into) = (Stream::new(&theirs).unwrap(), Stream::new(&ours).unwrap());
    assert!(into.read(&ours, &written(&mut out, &theirs, 100)).unwrap());
    assert!(is(&into.list(&ours).unwrap(), &(0..3).collect(), &(500..505).collect()));
    assert_eq!((out.symbols_written(), into.symbols_read()), (40, 40));
    let error = out.write(&theirs, 1, &mut [0; 100]).unwrap_err();
    assert!(error.status() == Status::Unsupported && error.to_string().contains("keep keys"), "{error}");
    assert_eq!(out.write(&theirs, 0, &mut []).unwrap(), 0);
    let more = keeping(&spec(40), 3..505);
    let error = into.read(&ours, &first(&more, 41)[first(&more, 40).len()..]).unwrap_err();
    assert!(error.status() == Status::Unsupported && error.to_string().contains("40 coded symbols"), "{error}");
    // What was found stays, but nobody knows any more whether that is all.
    let listing = into.list(&ours).unwrap();
    assert!(listing.listed.len() == 8 && !listing.is_complete);
    assert_eq!(into.read(&ours, &[]).unwrap_err().status(), Status::Contradiction);
}

/// Streams for other sketches, sketches that change, and buffers that are too small.
#[test]
fn what_cannot_be_streamed_is_refused() {
    let sketch = keeping(&spec(30), 0..100);
    let bytes = first(&sketch, 5);
    let key = Some([7; 16]);
    for (other, status, part) in [
        (Spec { seed: 1, ..spec(30) }, Status::Incompatible, "seed or secret"),
        (Spec { hash: HashFunction::Xxh64, ..spec(30) }, Status::Incompatible, "xxh3 and xxh64"),
        (Spec { hash: HashFunction::SipHash13, secret: key, ..spec(30) }, Status::Incompatible, "xxh3 and siphash13"),
    ] {
        let other = keeping(&other, []);
        let error = Stream::new(&other).unwrap().read(&other, &bytes).unwrap_err();
        assert!(error.status() == status && error.to_string().contains(part), "{error}");
    }
    for (at, value, status) in [
        (0, 0, Status::Foreign),
        (4, 2, Status::NewerVersion),
        (7, 1, Status::NewerVersion),
        (6, 8, Status::Incompatible),
    ] {
        let mut forged = bytes.clone();
        forged[at] = value;
        assert_eq!(Stream::new(&sketch).unwrap().read(&sketch, &forged).unwrap_err().status(), status, "byte {at}");
    }
    let mut stream = Stream::new(&sketch).unwrap();
    for room in [0, 15, 16, 32] {
        assert_eq!(stream.write(&sketch, 1, &mut vec![0; room]).unwrap_err().status(), Status::BufferTooSmall);
    }
    assert_eq!(written(&mut stream, &sketch, 5), bytes);
    let mut limited = Stream::new(&sketch).unwrap();
    limited.set_limit(4);
    let error = limited.read(&sketch, &bytes).unwrap_err();
    assert!(error.status() == Status::TooLarge && error.to_string().contains("more than 4"), "{error}");
    assert_eq!(limited.symbols_read(), 4);
    let iblt = Sketch::new(&Spec::with_capacity(10, 0.01).unwrap()).unwrap();
    assert_eq!(Stream::new(&iblt).unwrap_err().status(), Status::Unsupported);
    let mut changing = sketch.copy().unwrap();
    let mut stream = Stream::new(&changing).unwrap();
    changing.insert_u64(1000).unwrap();
    for error in [stream.write(&changing, 1, &mut [0; 100]).map(drop), stream.read(&changing, &bytes).map(drop)] {
        assert_eq!(error.unwrap_err().status(), Status::Contradiction);
    }
}

/// A hundred thousand mutated streams: none is complete with wrong numbers, none reads more symbols than its limit, and
/// none lists more keys than it read symbols.
///
/// The counts of symbols have no check. Two numbers, one of each side, may be in the same symbols but for one, which
/// has one of them alone. With another sign the count of that symbol makes the stream that of other sets, in which the
/// two have changed sides. That happens to few streams.
#[test]
fn mutated_streams_are_never_wrong() {
    const LIMIT: u64 = 60;
    let mut random = Random(52 << 32);
    let (mut right, mut refused, mut open, mut swapped) = (0, 0, 0, 0);
    for _ in 0..100 {
        let mut draw = |count: u64| (0..count).map(|_| random.next()).collect::<BTreeSet<u64>>();
        let (common, ours, theirs) = (draw(30), draw(4), draw(5));
        let receiver = keeping(&spec(20), common.iter().chain(&ours).copied());
        let sender = keeping(&spec(20), common.iter().chain(&theirs).copied());
        let bytes = first(&sender, 50);
        let hasher = sender.base().hasher();
        for _ in 0..1000 {
            let mut forged = bytes.clone();
            let at = |random: &mut Random, length: usize| random.next() as usize % length;
            for _ in 0..1 + random.next() % 3 {
                if forged.is_empty() {
                    break;
                }
                let place = at(&mut random, forged.len());
                match random.next() % 7 {
                    0 => forged[place] ^= 1 << (random.next() % 8),
                    1 => forged[place] = random.next() as u8,
                    2 => forged.truncate(place + 1),
                    3 => drop(forged.remove(place)),
                    4 => forged.insert(place, random.next() as u8),
                    5 => {
                        let piece = forged[place..].to_vec();
                        forged.extend(piece);
                    }
                    // The symbol seems to have a single key, which may belong elsewhere.
                    _ => {
                        let number = random.next() % 50;
                        let symbol = [number.to_le_bytes(), hasher.hash_u64(number).unwrap().to_le_bytes()].concat();
                        let start = 16 + 17 * at(&mut random, 30);
                        forged.splice(start.min(forged.len())..(start + 16).min(forged.len()), symbol);
                    }
                }
            }
            let mut stream = Stream::new(&receiver).unwrap();
            stream.set_limit(LIMIT);
            let pieces = forged.chunks(1 + at(&mut random, 400));
            let (mut outcome, mut is_right) = (Ok(false), true);
            for piece in pieces {
                outcome = stream.read(&receiver, piece);
                let listing = stream.list(&receiver).unwrap();
                assert!(stream.symbols_read() <= LIMIT && listing.listed.len() as u64 <= stream.symbols_read());
                match outcome {
                    Ok(true) => {
                        let numbers: Vec<u64> = listing.listed.iter().map(|listed| listed.number).collect();
                        let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
                        assert!(distinct.len() == numbers.len() && distinct == &ours | &theirs, "{listing:?}");
                        is_right &= is(&listing, &ours, &theirs);
                    }
                    Ok(false) => assert!(!listing.is_complete),
                    Err(_) => break,
                }
            }
            swapped += u32::from(!is_right);
            match outcome {
                Ok(true) => right += 1,
                Ok(false) => open += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(right > 1000 && refused > 1000 && open > 1000, "{right} {refused} {open}");
    assert!(swapped < 10, "{swapped}");
}

/// A peer that knows the hash function sends symbols that each seem to have a single key. Reading ends within its
/// bounds, and the keys that it lists belong to the symbols where it found them.
#[test]
fn forged_symbols_are_read_to_an_end() {
    let mut random = Random(53 << 32);
    let receiver = keeping(&spec(20), 0..30);
    let hasher = receiver.base().hasher();
    for round in 0..300 {
        let mut bytes = first(&receiver, 1)[..16].to_vec();
        for i in 0..400_u64 {
            let number = if round % 2 == 0 { random.next() % 40 } else { random.next() };
            bytes.extend_from_slice(&number.to_le_bytes());
            bytes.extend_from_slice(&hasher.hash_u64(number).unwrap().to_le_bytes());
            // With no keys in symbol 0 the other counts are as they are.
            bytes.push(if i == 0 { 0 } else { [1, 2, 4, 0][random.next() as usize % 4] });
        }
        let mut stream = Stream::new(&receiver).unwrap();
        let outcome = stream.read(&receiver, &bytes);
        let listing = stream.list(&receiver).unwrap();
        assert!(!matches!(outcome, Ok(true)) && !listing.is_complete, "round {round}");
        assert!(listing.listed.len() as u64 <= stream.symbols_read());
    }
}

/// The mean number of symbols that a difference takes is the published one, within 4.5 of its standard deviations. The
/// deviations are those of single runs.
#[test]
fn a_difference_takes_as_many_symbols_as_published() {
    let mut random = Random(31 << 32);
    let more = if is_soak() { 10 } else { 1 };
    let empty = keeping(&spec(1), []);
    for (numbers, mean, deviation, runs) in
        [(100, 1.455, 0.103, 300), (1000, 1.375, 0.030, 60), (10_000, 1.356, 0.009, 6), (100_000, 1.354, 0.003, 1)]
    {
        let runs = runs * more;
        let needed = (0..runs).map(|_| {
            let sender = keeping(&spec(1), (0..numbers).map(|_| random.next()));
            let (mut out, mut into) = (Stream::new(&sender).unwrap(), Stream::new(&empty).unwrap());
            let mut buffer = [0; 98];
            loop {
                let length = out.write(&sender, 1, &mut buffer).unwrap();
                if into.read(&empty, &buffer[..length]).unwrap() {
                    break into.symbols_read();
                }
            }
        });
        let found = needed.sum::<u64>() as f64 / numbers as f64 / f64::from(runs);
        let band = 4.5 * deviation / f64::from(runs).sqrt() + 0.0005;
        assert!((found - mean).abs() < band, "{numbers}: {found} symbols for each, not {mean}");
    }
}
