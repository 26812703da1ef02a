//! Clubcards of certificates, and Erigon's shards: formats that are read as tables of a static filter with parts that
//! say where others lie. `tests/formats` has what their owners wrote.

use crate::common::{Buffer, image};
use crate::format::seal;
use petal::interop::{self, ImportOptions};
use petal::{Answers, Filter, HashFunction, Image, Keys, Mode, OpenOptions, Status, load};

const HEADER: usize = 256;
const ISSUERS: [&[u8]; 2] =
    [include_bytes!("../formats/clubcard/issuers-v3.bin"), include_bytes!("../formats/clubcard/issuers-v4.bin")];
const EXCEPTIONS: [&[u8]; 2] =
    [include_bytes!("../formats/clubcard/exceptions-v3.bin"), include_bytes!("../formats/clubcard/exceptions-v4.bin")];
const SHARDS: &[u8] = include_bytes!("../formats/erigon_shards/17.bin");

fn import(format: &str, bytes: &[u8]) -> petal::Result<Filter> {
    interop::find(format).unwrap().import(bytes, &ImportOptions::default())
}

fn clubcard(bytes: &[u8]) -> Filter {
    import("clubcard", bytes).unwrap()
}

/// The serial numbers of the owner's program.
fn serial(i: usize) -> String {
    format!("{:x}", i as u64 * 0x9e37_79b9 + 1).repeat(1 + i % 2)
}

/// The keys of a list of the owner's answers, each with its answer.
fn answers(list: &str) -> Vec<(String, bool)> {
    let mut all = Vec::new();
    for line in list.lines() {
        let [what, key, digits] = line.split(' ').collect::<Vec<_>>().try_into().expect(line);
        match what {
            "serials" => {
                all.extend(digits.bytes().enumerate().map(|(i, digit)| (key.to_string() + &serial(i), digit == b'1')))
            }
            "key" => all.push((key.to_string(), digits == "1")),
            _ => panic!("{line}"),
        }
    }
    all
}

fn ask(filter: &Filter, keys: &[&[u8]]) -> Vec<bool> {
    let ends = keys.iter().scan(0, |end, key| {
        *end += key.len() as u64;
        Some(*end)
    });
    let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
    let mut each = vec![0; keys.len()];
    let mut answers = Answers { bytes: Some(&mut each), ..Answers::default() };
    filter.contains_batch(&Keys::Bytes { bytes: &keys.concat(), offsets: &offsets }, &mut answers).unwrap();
    let one: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
    assert!(one.iter().zip(&each).all(|(one, each)| u8::from(*one) == *each));
    one
}

/// Every answer is the owner's: for all certificates, also those that the clubcard does not cover, for issuers that
/// take part or not, and for times at both ends of what a log has.
#[test]
fn clubcards_answer_as_their_owner_does() {
    let lists =
        [include_str!("../formats/clubcard/issuers.answers"), include_str!("../formats/clubcard/exceptions.answers")];
    for (list, versions) in lists.into_iter().zip([ISSUERS, EXCEPTIONS]) {
        let answers = answers(list);
        assert!(answers.len() > 200 && answers.iter().any(|(_, answer)| *answer));
        let keys: Vec<&[u8]> = answers.iter().map(|(key, _)| key.as_bytes()).collect();
        for bytes in versions {
            let filter = clubcard(bytes);
            for ((key, expected), answer) in answers.iter().zip(ask(&filter, &keys)) {
                assert_eq!(answer, *expected, "{key}");
            }
        }
        // Both versions make the same filter.
        assert!(clubcard(versions[0]).equals(&clubcard(versions[1])));
    }
}

/// What a clubcard is as a filter: it takes keys whole, has no hash of its own, and never changes.
#[test]
fn clubcards_are_only_read() {
    let mut filter = clubcard(ISSUERS[1]);
    assert_eq!(filter.base().row().name, "foreign_static");
    assert_eq!((filter.base().header().hash, filter.base().hasher().takes_whole()), (HashFunction::Format, true));
    assert_eq!((filter.false_positive_rate(), filter.base().count_now()), (0.0, 0));
    assert_eq!(filter.insert(b"key").unwrap_err().status(), Status::Unsupported);
    assert_eq!(filter.insert_hash(1).unwrap_err().status(), Status::Unsupported);
    assert!(petal::Builder::new(&filter.base().spec(), petal::BuilderOptions::default()).is_err());
    assert!(filter.compact_size().is_err());
    // Short keys, and a log with what is no time.
    for key in [&b""[..], b"first-log", b"first-log-----------------------", b"first-log-----------------------mmmmmmm"]
    {
        assert!(!filter.contains(key));
    }
    // The other forms of the kind take hashes, and no image mixes the two.
    for (mut bytes, hash) in [(image(&filter), 4_u32), (image(&import("erigon_shards", SHARDS).unwrap()), 5)] {
        bytes[16..20].copy_from_slice(&hash.to_le_bytes());
        seal(&mut bytes);
        assert!(load(&bytes, &OpenOptions::default()).is_err(), "hash = {hash}");
    }
}

/// The bytes of version 4 without logs and issuers: three counts of 2, 4 and 1 bytes, and that of the last column.
const NOTHING: [u8; 13] = [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn bytes_that_no_owner_writes_are_refused() {
    let empty = clubcard(&NOTHING);
    assert!(!empty.contains(&[7; 40]) && empty.verify().is_ok());
    let refused = |bytes: &[u8], status| {
        let error = import("clubcard", bytes).unwrap_err();
        assert_eq!(error.status(), status, "{error}");
    };
    for start in [[0, 0], [1, 0], [2, 0], [5, 0], [4, 1]] {
        refused(&[&start, &NOTHING[2..]].concat(), Status::Foreign);
    }
    refused(&[&NOTHING[..], &[0]].concat(), Status::Corrupt);
    // Counts of what is not there: logs, issuers, columns, words.
    for (at, count) in [(2, 1), (4, 1), (4, 0xff), (8, 1), (9, 1), (9, 0xff)] {
        let mut bytes = NOTHING;
        bytes[at] = count;
        refused(&bytes, Status::Truncated);
    }
    for bytes in ISSUERS.into_iter().chain(EXCEPTIONS) {
        (0..bytes.len()).for_each(|end| refused(&bytes[..end], Status::Truncated));
        refused(&[bytes, &[0]].concat(), Status::Corrupt);
    }
    // One log takes 48 bytes in both versions, and then come the issuers.
    let old = EXCEPTIONS[0];
    let issuers = 2 + 8 + 48;
    let changed = |at: usize, number: u64| {
        let mut bytes = old.to_vec();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        bytes
    };
    assert!(import("clubcard", &changed(issuers, 2)).is_ok());
    let entry = issuers + 8;
    for (at, number) in [
        (2, 1 << 16),
        (issuers, 1 << 32),
        // The length of a hash; the rows of both systems, the columns, and the first rows of both.
        (entry, 31),
        (entry + 40, 1 << 32),
        (entry + 48, 1 << 32),
        (entry + 56, 256),
        (entry + 56, 255),
        (entry + 64, 1 << 32),
        (entry + 72, u64::MAX),
    ] {
        refused(&changed(at, number), Status::Corrupt);
    }
    for (at, byte) in [(entry + 80, 2), (entry + 8, 0xff)] {
        // Neither a truth value, nor an issuer before the next.
        let mut bytes = old.to_vec();
        bytes[at] = byte;
        refused(&bytes, Status::Corrupt);
    }
}

#[test]
fn shards_that_no_owner_writes_are_refused() {
    let status = |bytes: &[u8]| import("erigon_shards", bytes).err().map(|error| error.status());
    assert_eq!(status(SHARDS), None);
    assert_eq!(status(&SHARDS[..3]), Some(Status::Truncated));
    assert_eq!(status(&[&[1], &SHARDS[1..]].concat()), Some(Status::Foreign));
    for end in [4, 100, 6155, 6156, SHARDS.len() - 1] {
        assert_eq!(status(&SHARDS[..end]), Some(Status::Corrupt), "{end}");
    }
    assert_eq!(status(&[SHARDS, &[0]].concat()), Some(Status::Corrupt));
    // All numbers but the seeds of shards with keys follow from each other.
    let has_keys = |shard: usize| SHARDS[4 + 16 * shard..][..8] != [0; 8];
    for at in 4..6156 {
        let is_seed = at < 4100 && (at - 4) % 16 >= 8;
        let mut bytes = SHARDS.to_vec();
        bytes[at] ^= 1;
        let expected = if is_seed && has_keys((at - 4) / 16) { None } else { Some(Status::Corrupt) };
        assert_eq!(status(&bytes), expected, "byte {at}");
    }
    assert_eq!((0..256).filter(|shard| has_keys(*shard)).count(), 17);
}

/// Each word of the payload is replaced, and the filter that is opened in place, which reads no payload, is asked for
/// everything.
#[test]
fn forged_tables_are_looked_up() {
    let list = answers(include_str!("../formats/clubcard/exceptions.answers"));
    let keys: Vec<&[u8]> = list.iter().map(|(key, _)| key.as_bytes()).collect();
    let filters = [clubcard(EXCEPTIONS[1]), import("erigon_shards", SHARDS).unwrap()];
    let mut differ = [0; 2];
    for (i, filter) in filters.iter().enumerate() {
        let bytes = image(filter);
        let end = HEADER + u64::from_le_bytes(bytes[136..144].try_into().unwrap()) as usize;
        let look = |filter: &Filter| {
            let hashed = (0..600_u64).map(|i| filter.contains_hash(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) << 8 | i));
            let all: Vec<bool> = hashed.chain(ask_if_keyed(filter, &keys)).collect();
            let rate = filter.statistics().false_positive_rate;
            assert!((0.0..=1.0).contains(&rate));
            let _ = filter.verify();
            all
        };
        let own = look(filter);
        for at in (HEADER..end).step_by(8) {
            let word = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            for other in [0, u64::MAX, !word, word ^ 1, word ^ 1 << 63, word ^ 1 << 32, 1 << 31, word.swap_bytes()] {
                let mut forged = bytes.clone();
                forged[at..at + 8].copy_from_slice(&other.to_le_bytes());
                seal(&mut forged);
                let opened =
                    Buffer::of(&forged).open(Mode::Read, None, |filter| filter.ok().map(|filter| look(filter)));
                differ[i] += u32::from(opened.is_some_and(|all| all != own));
            }
        }
    }
    assert!(differ.iter().all(|differ| *differ > 50), "{differ:?}");
}

fn ask_if_keyed(filter: &Filter, keys: &[&[u8]]) -> Vec<bool> {
    if filter.base().hasher().takes_whole() { ask(filter, keys) } else { Vec::new() }
}
