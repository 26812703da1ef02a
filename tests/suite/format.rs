//! Images: golden files that hold for ever, and bytes that are damaged, hostile or somebody else's.

use crate::common::handle::Handle;
use crate::common::{
    Buffer, Case, SECRET, all_layouts, each, filled, golden, hashed, image, is_one_kind, is_soak, is_wanted, layouts,
    mix, share_of,
};
use crate::specification;
use petal::format::{HEADER_LENGTH, STATE_OFFSET};
use petal::registry::{self, FILTERS};
use petal::{
    Answers, Builder, BuilderOptions, Capabilities, Domain, Filter, HashFunction, Image, Keys, KindId, Map, Mode,
    OpenOptions, Overfill, Parameter, Result, Row, Spec, Status, load, load_as, open_as,
};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

const MODES: [Mode; 3] = [Mode::Read, Mode::Write, Mode::Load];

/// The modes in which an image is opened. Those of a kind that moves entries are not written in place, and maps not at
/// all.
fn modes(bytes: &[u8]) -> impl Iterator<Item = Mode> {
    let kind = bytes.get(KIND..KIND + 4).map(|kind| KindId(u32::from_le_bytes(kind.try_into().unwrap())));
    let is_written = kind.and_then(registry::find).is_none_or(|row| !row.form.moves_entries && !row.is_map());
    MODES.into_iter().filter(move |mode| *mode != Mode::Write || is_written)
}

// ---- Golden files ------------------------------------------------------------------------------------------------

/// Keys in a golden file: the byte strings of [`golden_key`], or the hashes of [`mix`] where the caller hashes.
const GOLDEN_KEYS: u64 = 100;

fn golden_key(i: u64) -> String {
    format!("key {i}")
}

/// The key of the keyed golden files: bytes 0 to 15.
fn golden_secret() -> [u8; 16] {
    std::array::from_fn(|i| i as u8)
}

fn golden_hash(hasher: &petal::Hasher, i: u64) -> u64 {
    match hasher.function() {
        HashFunction::External => mix(i + 1),
        HashFunction::Identity => 7 * i,
        _ => hasher.hash_bytes(golden_key(i).as_bytes()).unwrap(),
    }
}

/// The golden files that there must be, with their names: every layout with the default hash function, and every kind's
/// default layout with every other.
fn golden_specs() -> Vec<(&'static Row, String, Spec)> {
    let mut specs = Vec::new();
    for case in all_layouts().into_iter().filter(|case| !case.row.is_map()) {
        let all = case.row.hash_functions();
        for hash in all.iter().copied().filter(|hash| *hash == all[0] || case.is_default()) {
            let by_rate = Spec { capacity: GOLDEN_KEYS, ..hashed(&case.spec(), hash, 42) };
            let mut spec = Spec { bits: 1024, ..by_rate };
            // Not every kind can have an exact size, or room for the keys in it.
            let refuses = case.row.overfill == Overfill::Refuses && case.row.hashing.universe.is_none();
            if petal::geometry(&spec).is_err() || refuses {
                spec = by_rate;
            }
            // One of many small arrays has a line for each of them.
            if petal::image_size(&spec).is_ok_and(|size| size > 2048) {
                spec = Spec { bits: 8192, ..by_rate };
            }
            spec.secret = spec.secret.map(|_| golden_secret());
            let name = format!("{}-layout_{}-{hash}.petal", case.layout_name(), case.row.form.layout_version);
            specs.push((case.row, name, spec));
        }
    }
    specs
}

fn golden_image(spec: &Spec) -> Vec<u8> {
    let hasher = spec.hasher().unwrap();
    let mut builder = Builder::new(spec, BuilderOptions::default()).unwrap();
    for i in 0..GOLDEN_KEYS {
        builder.add_hash(golden_hash(&hasher, i)).unwrap();
    }
    image(&builder.finish().unwrap())
}

/// The union of two chains, of the even keys and the odd ones, each of which grew.
fn golden_union() -> (&'static Row, String, Vec<u8>) {
    let row = registry::find_name("scalable").unwrap();
    let spec = Spec { kind: Some(row.kind), bits: 512, capacity: 30, seed: 42, ..Spec::default() };
    let [mut union, odd] = [0, 1].map(|parity| {
        let mut filter = petal::Filter::new(&spec).unwrap();
        for i in (parity..GOLDEN_KEYS).step_by(2) {
            filter.insert(golden_key(i).as_bytes()).unwrap();
        }
        filter
    });
    union.merge(&odd).unwrap();
    (row, format!("{}-merged-layout_{}-{}.petal", row.name, row.form.layout_version, spec.hash), image(&union))
}

/// A filter of which the builder was given frequent non-members, so that it has several levels.
fn golden_levels() -> (&'static Row, String, Vec<u8>) {
    let row = registry::find_name("stacked").unwrap();
    let mut spec = Spec { kind: Some(row.kind), false_positive_rate: 1e-4, ..Spec::default() };
    spec.set(row.parameter("frequent_share").unwrap(), 0.99).unwrap();
    let hasher = spec.hasher().unwrap();
    let mut builder = Builder::new(&spec, BuilderOptions::default()).unwrap();
    for i in 0..GOLDEN_KEYS {
        builder.add_hash(golden_hash(&hasher, i)).unwrap();
    }
    for i in GOLDEN_KEYS..20 * GOLDEN_KEYS {
        builder.add_frequent_hash(golden_hash(&hasher, i), 1.0).unwrap();
    }
    let filter = builder.finish().unwrap();
    assert_ne!(filter.base().geometry().words[1] >> 6, 0, "there are no three levels");
    (row, format!("{}-frequent-layout_{}-{}.petal", row.name, row.form.layout_version, spec.hash), image(&filter))
}

/// Today's library writes the bytes that are committed.
#[test]
fn golden_files_are_what_is_written() {
    let images = golden_specs().into_iter().map(|(row, name, spec)| (row, name, golden_image(&spec)));
    let union = Some(golden_union()).filter(|(row, ..)| is_wanted(row));
    let levels = Some(golden_levels()).filter(|(row, ..)| is_wanted(row));
    each(
        images.chain(union).chain(levels),
        |(_, name, _)| name.clone(),
        |(row, name, written)| {
            assert!(written.len() <= 2048, "{name} has {} bytes", written.len());
            golden::check(row, name, written);
        },
    );
}

/// Every golden file, even of layouts that are not written any more, opens, verifies and holds its keys.
#[test]
fn golden_files_open_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let rows = FILTERS.iter().filter(|row| is_wanted(row));
    each(
        rows,
        |row| row.name.to_string(),
        |row| {
            let files = golden::files(row);
            let images = files.iter().filter(|(name, _)| name.ends_with(".petal"));
            assert_ne!(images.clone().count(), 0, "there is no golden file");
            for (name, bytes) in images {
                let path = folder.path().join(name);
                std::fs::write(&path, bytes).unwrap();
                let key = name.contains("siphash").then(golden_secret);
                for mode in [Mode::Read, Mode::Load] {
                    check_golden(
                        &petal::open(&path, &OpenOptions { mode, secret: key, ..OpenOptions::default() }).unwrap(),
                        row,
                        name,
                        bytes,
                    );
                }
            }
        },
    );
}

fn check_golden(filter: &Filter, row: &Row, name: &str, bytes: &[u8]) {
    filter.verify().unwrap();
    let hasher = filter.base().hasher();
    // The specification says which keys a kind may lose, and the bytes are compared with it.
    let may_lose = filter.capabilities().contains(Capabilities::MAY_LOSE_KEYS);
    for i in 0..GOLDEN_KEYS {
        // A hash has no prefix, which a filter in partitions needs.
        let found = hasher.takes_whole() || filter.contains_hash(golden_hash(hasher, i));
        assert!(found || may_lose, "{name} lost key {i}");
        assert!(filter.contains(golden_key(i).as_bytes()) || may_lose);
    }
    assert_eq!(filter.base().header().count, GOLDEN_KEYS);
    assert_eq!(filter.base().header().kind, row.kind);
    assert!(image(filter) == bytes, "{name} is written with other bytes");
}

/// The length of an image's payload, as its header says.
fn payload_bytes(bytes: &[u8]) -> usize {
    u64::from_le_bytes(bytes[PAYLOAD..PAYLOAD + 8].try_into().unwrap()) as usize
}

/// An image of several regions is as specified, the last of them a short one.
#[test]
fn regions_are_as_specified() {
    each(share_of(all_layouts(), 6, "regions_are_as_specified"), Case::name, |case| {
        let spec = case.sized(600_000, 0.01);
        // What is built is as large as its keys need.
        let keys = if case.row.is_made_empty() { 1000 } else { 600_000 };
        let bytes = image(&Handle::of(&spec, 0..keys));
        let payload = &bytes[HEADER_LENGTH..HEADER_LENGTH + payload_bytes(&bytes)];
        assert!(
            payload.len() > specification::REGION && !payload.len().is_multiple_of(specification::REGION),
            "{}",
            payload.len()
        );
        assert!(bytes[HEADER_LENGTH + payload.len()..] == specification::table(&bytes, payload), "{}", case.name());
        assert!(load_as::<Handle>(&bytes, &OpenOptions::default()).is_ok());
    });
}

/// Several segments, of which none, some or all were divided, are as specified: golden files have one.
#[test]
#[ignore = "slow: make test-all"]
fn segments_are_as_specified() {
    for (name, capacity) in [("taffy", 100_000), ("aleph", 50_000)] {
        let row = petal::registry::find_name(name).unwrap();
        let spec = Spec { kind: Some(row.kind), capacity, false_positive_rate: 0.01, ..Spec::default() };
        let (mut filter, mut hashes, mut states) = (petal::Filter::new(&spec).unwrap(), vec![], vec![]);
        for i in 0..4 * capacity {
            hashes.push(mix(i));
            filter.insert_hash(mix(i)).unwrap();
            let is_dividing = filter.base().geometry().words[5];
            if states.last() != Some(&is_dividing) {
                states.push(is_dividing);
                let some: Vec<u64> = hashes.iter().rev().step_by(8).copied().collect();
                specification::check(&format!("{name}, {} keys", hashes.len()), &image(&filter), &some);
            }
            if states == [0, 1, 0] {
                break;
            }
        }
        assert_eq!(states, [0, 1, 0], "{name}");
    }
}

/// Golden files are, to the bit, what `docs/format.md` says about their keys.
#[test]
fn golden_files_are_as_specified() {
    for (_, name, spec) in golden_specs() {
        let bytes = golden_image(&spec);
        let hasher = spec.hasher().unwrap();
        let payload = &bytes[HEADER_LENGTH..HEADER_LENGTH + payload_bytes(&bytes)];
        let hashes: Vec<u64> = (0..GOLDEN_KEYS).map(|i| golden_hash(&hasher, i)).collect();
        specification::check(&name, &bytes, &hashes);
        assert_eq!(bytes[..8], *b"\x89PETAL\r\n");
        assert_eq!(bytes[8..10], 1_u16.to_le_bytes());
        assert_eq!(bytes[224..232], GOLDEN_KEYS.to_le_bytes());
        assert_eq!(bytes[232..248], [0; 16]);
        assert_eq!(bytes[HEADER_LENGTH + payload.len()..], specification::table(&bytes, payload), "{name}");
        assert_eq!(bytes[208..216], xxh3_64(&bytes[..208]).to_le_bytes());
        assert_eq!(bytes[248..256], xxh3_64(&bytes[208..248]).to_le_bytes());
    }
}

// ---- Damage ------------------------------------------------------------------------------------------------------

/// A small image of each kind, maps too, with its default layout and some others.
#[track_caller]
fn images() -> Vec<(Case, Spec, Vec<u8>)> {
    let small = |case: Case| {
        let spec = case.sized(100, 0.01);
        let bytes = image(&Handle::of(&spec, 0..100));
        (case, spec, bytes)
    };
    share_of(all_layouts(), 6, "images").into_iter().map(small).collect()
}

/// Tests each of [`images`].
#[track_caller]
fn each_image(test: impl Fn(&Case, &Spec, &Vec<u8>)) {
    each(images(), |(case, ..)| case.name(), |(case, spec, bytes)| test(case, spec, bytes));
}

/// The status with which the bytes are refused, in memory and as a file; all modes agree.
#[track_caller]
fn refusal(bytes: &[u8]) -> Option<Status> {
    let statuses = modes(bytes).map(|mode| {
        let mut buffer = Buffer::of(bytes);
        let status = buffer.open_as(mode, None, |handle: Result<&mut Handle>| handle.err().map(|e| e.status()));
        assert!(buffer.bytes() == bytes, "refusing changes nothing");
        status
    });
    let statuses: Vec<_> = statuses.collect();
    let (loaded, in_place) = statuses.split_last().unwrap();
    assert!(in_place.iter().all(|status| *status == in_place[0]), "{statuses:?}");
    // Loading also reads the payload.
    assert!(*loaded == in_place[0] || *loaded == Some(Status::Corrupt), "{statuses:?}");
    in_place[0]
}

#[test]
#[ignore = "slow: make test-all"]
fn every_flipped_header_bit_is_noticed() {
    each_image(|case, _, bytes| {
        let mut bytes = bytes.clone();
        for bit in 0..8 * HEADER_LENGTH {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let expected = match bit / 8 {
                0..8 => Status::Foreign,
                // A greater version comes first, and is not ours to check.
                8..10 if u16::from_le_bytes([bytes[8], bytes[9]]) > 1 => Status::NewerVersion,
                _ => Status::Corrupt,
            };
            assert_eq!(refusal(&bytes), Some(expected), "{}: bit {bit}", case.name());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(refusal(&bytes), None);
    });
}

#[test]
fn every_flipped_payload_bit_is_noticed() {
    each_image(|case, _, bytes| {
        let mut bytes = bytes.clone();
        for bit in 8 * HEADER_LENGTH..8 * bytes.len() {
            // The soak flips all bits; otherwise one of each byte is flipped.
            if !is_soak() && bit % 8 != (bit / 8) % 8 {
                continue;
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
            let error = load_as::<Handle>(&bytes, &OpenOptions::default()).err().map(|error| error.status());
            assert_eq!(error, Some(Status::Corrupt), "{}: bit {bit}", case.name());
            Buffer::of(&bytes).open_as(Mode::Read, None, |handle: Result<&mut Handle>| {
                // State is looked at when an image is opened.
                let error = handle.and_then(|handle| handle.verify()).err().map(|error| error.status());
                assert_eq!(error, Some(Status::Corrupt), "{}: bit {bit}", case.name());
            });
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    });
}

#[test]
#[ignore = "slow: make test-all"]
fn every_truncation_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truncated");
    each_image(|case, _, bytes| {
        for length in 0..bytes.len() {
            assert_eq!(refusal(&bytes[..length]), Some(Status::Truncated), "{}: {length} bytes", case.name());
            if length % 37 > 1 && length + 2 < bytes.len() {
                continue;
            }
            std::fs::write(&path, &bytes[..length]).unwrap();
            for mode in modes(bytes) {
                let error = open_as::<Handle>(&path, &OpenOptions { mode, ..OpenOptions::default() }).err().unwrap();
                assert_eq!(error.status(), Status::Truncated, "{}: {length} bytes: {error}", case.name());
            }
        }
        // A buffer and a part of a file may go on; a file that is an image may not.
        let longer = [&bytes[..], &[0; 8]].concat();
        assert_eq!(refusal(&longer), None);
        std::fs::write(&path, &longer).unwrap();
        for mode in modes(bytes) {
            let error = open_as::<Handle>(&path, &OpenOptions { mode, ..OpenOptions::default() }).err().unwrap();
            assert_eq!(error.status(), Status::Corrupt, "{error}");
        }
    });
}

#[test]
fn misaligned_buffers_are_refused() {
    let (_, _, bytes) = images().swap_remove(0);
    let shifted = [&[0; 4][..], &bytes].concat();
    let words: Vec<u64> = shifted.chunks_exact(8).map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap())).collect();
    let start = std::ptr::NonNull::new(words.as_ptr().cast_mut()).unwrap().cast::<u8>();
    for mode in [Mode::Read, Mode::Write] {
        // SAFETY: 4 bytes into the words, which live on and are only read: misalignment is refused first.
        let opened = unsafe {
            petal::open_in_buffer(start.add(4), 8 * words.len() - 4, &OpenOptions { mode, ..OpenOptions::default() })
        };
        assert_eq!(opened.err().unwrap().status(), Status::Misaligned);
    }
    assert!(load(&bytes, &OpenOptions::default()).is_ok());
}

#[test]
fn other_bytes_are_foreign() {
    for bytes in
        [&b"PAR1"[..], b"\x7fELF\x02\x01\x01\0", b"PETAL\r\n\0", &[0; 4096], &[0xff; 4096], b"\x89PNG\r\n\x1a\n"]
    {
        assert_eq!(refusal(bytes), Some(Status::Foreign));
    }
    assert_eq!(refusal(b""), Some(Status::Truncated));
}

// ---- Hostile headers ---------------------------------------------------------------------------------------------

/// Makes the checksums of a changed image right again, those of its payload where it has all of it.
pub fn seal(bytes: &mut [u8]) {
    let checksum = xxh3_64(&bytes[..208]);
    bytes[208..216].copy_from_slice(&checksum.to_le_bytes());
    let (header, rest) = bytes.split_at(HEADER_LENGTH);
    if let Some(payload) = rest.get(..payload_bytes(header)) {
        let table = specification::table(header, payload);
        let start = HEADER_LENGTH + payload.len();
        if let Some(place) = bytes.get_mut(start..start + table.len()) {
            place.copy_from_slice(&table);
        }
    }
    let state: [u8; 8] = bytes[STATE_OFFSET..STATE_OFFSET + 8].try_into().unwrap();
    bytes[STATE_OFFSET..STATE_OFFSET + 8].fill(0);
    let seal = xxh3_64(&bytes[208..248]);
    bytes[248..256].copy_from_slice(&seal.to_le_bytes());
    bytes[STATE_OFFSET..STATE_OFFSET + 8].copy_from_slice(&state);
}

/// An offset in the header, and what to put there.
type Change<'a> = (usize, &'a [u8]);

/// The image with other bytes in its header, and right checksums.
fn forged(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (offset, change) in changes {
        bytes[*offset..*offset + change.len()].copy_from_slice(change);
    }
    seal(&mut bytes);
    bytes
}

const LAYOUT: usize = 10;
const KIND: usize = 12;
const HASH: usize = 16;
const HASHES: usize = 20;
const REQUIRED: usize = 24;
const OPTIONAL: usize = 32;
const RATE: usize = 56;
const BITS: usize = 64;
const WORDS: usize = 72;
const PAYLOAD: usize = 136;
const RESERVED: usize = 144;
const COUNT: usize = 224;
const LATE_RESERVED: usize = 240;
const SEAL: usize = 248;

#[test]
fn headers_that_lie_are_refused() {
    each_image(|case, _, bytes| {
        let huge = u64::MAX.to_le_bytes();
        let number = |value: u64| value.to_le_bytes();
        let small = |value: u32| value.to_le_bytes();
        let payload = payload_bytes(bytes) as u64;
        let refused: &[(&str, usize, &[u8], Status)] = &[
            ("bits", BITS, &huge, Status::Corrupt),
            ("bits", BITS, &number(0), Status::Corrupt),
            ("bits", BITS, &number(1 << 63), Status::Corrupt),
            ("bits", BITS, &number(8 * payload + 256), Status::Corrupt),
            ("payload_bytes", PAYLOAD, &number(0), Status::Corrupt),
            ("payload_bytes", PAYLOAD, &huge, Status::Corrupt),
            ("payload_bytes", PAYLOAD, &number(1 << 63), Status::Corrupt),
            ("payload_bytes", PAYLOAD, &number((1 << 63) - 256), Status::Corrupt),
            ("payload_bytes", PAYLOAD, &number(payload - 1), Status::Corrupt),
            ("payload_bytes", PAYLOAD, &number(payload + 8), Status::Corrupt),
            ("payload_bytes", PAYLOAD, &number(if payload == 64 { 0 } else { 64 }), Status::Corrupt),
            ("kind", KIND, &small(0), Status::NewerVersion),
            ("kind", KIND, &small(u32::MAX), Status::NewerVersion),
            ("layout", LAYOUT, &[0xff, 0xff], Status::NewerVersion),
            ("layout", LAYOUT, &[0, 0], Status::Corrupt),
            ("hash", HASH, &small(0), Status::NewerVersion),
            ("hash", HASH, &small(99), Status::NewerVersion),
            ("hash", HASH, &small(HashFunction::Format as u32), Status::Corrupt),
            ("required features", REQUIRED, &number(1), Status::NewerVersion),
            ("required features", REQUIRED, &number(1 << 63), Status::NewerVersion),
            ("reserved", RESERVED, &[1], Status::Corrupt),
            ("reserved", RESERVED + 63, &[0x80], Status::Corrupt),
            ("reserved", LATE_RESERVED, &[1], Status::Corrupt),
            ("sharing", LATE_RESERVED - 8, &[1], Status::Corrupt),
            ("rate", RATE, &f64::NAN.to_le_bytes(), Status::Corrupt),
            ("rate", RATE, &f64::INFINITY.to_le_bytes(), Status::Corrupt),
            ("rate", RATE, &1.5_f64.to_le_bytes(), Status::Corrupt),
            ("rate", RATE, &(-0.01_f64).to_le_bytes(), Status::Corrupt),
            ("state", STATE_OFFSET, &[1], Status::Corrupt),
            ("state", STATE_OFFSET, b"DIRTY\0\0\x01", Status::Corrupt),
        ];
        // For a payload of 64 bytes this number is the truth.
        let is_true = |offset: usize, change: &[u8]| offset == PAYLOAD && change == number(payload);
        for (what, offset, change, status) in refused.iter().filter(|(_, at, change, _)| !is_true(*at, change)) {
            let forged = forged(bytes, &[(*offset, change)]);
            assert_eq!(refusal(&forged), Some(*status), "{}: {what} = {change:x?}", case.name());
        }
        // What only these kinds refuse.
        let of_bit_arrays: &[(&str, usize, &[u8])] = &[
            ("hashes", HASHES, &small(0)),
            ("hashes", HASHES, &small(65)),
            ("hashes", HASHES, &small(u32::MAX)),
            ("words", WORDS, &huge),
            ("words", WORDS + 8, &huge),
            ("words", WORDS + 16, &number(65)),
            ("words", WORDS + 56, &number(1)),
        ];
        for (what, offset, change) in
            of_bit_arrays.iter().filter(|_| ["bloom", "split_block", "blocked"].contains(&case.row.name))
        {
            // An unknown choice is a later version's.
            let is_choice = |parameter: &&Parameter| {
                matches!(parameter.domain, Domain::Choice(_))
                    && parameter.word.map(|word| WORDS + 8 * word) == Some(*offset)
            };
            let is_later = case.row.parameters.iter().any(is_choice);
            let status = if is_later { Status::NewerVersion } else { Status::Corrupt };
            let forged = forged(bytes, &[(*offset, change)]);
            assert_eq!(refusal(&forged), Some(status), "{}: {what} = {change:x?}", case.name());
        }
        // What does not matter.
        for (what, offset) in [("count", COUNT), ("capacity", 48)] {
            assert_eq!(refusal(&forged(bytes, &[(offset, &huge)])), None, "{}: {what}", case.name());
        }
    });
}

/// What a later version may say besides what this one knows: readers ignore it, writing the image anew drops it, and
/// nobody writes it in place.
#[test]
fn optional_features_are_not_kept_up() {
    let huge = u64::MAX.to_le_bytes();
    let all: [&[Change]; 2] = [&[(OPTIONAL, &huge)], &[(OPTIONAL, &[1]), (RESERVED, &huge)]];
    each_image(|case, _, bytes| {
        for changes in all {
            let later = forged(bytes, changes);
            for mode in [Mode::Read, Mode::Load, Mode::Write, Mode::Share] {
                let mut buffer = Buffer::of(&later);
                let written = buffer.open_as(mode, None, |handle: Result<&mut Handle>| handle.map(|open| image(open)));
                match (mode, written) {
                    (Mode::Read | Mode::Load, Ok(written)) => assert!(written == *bytes, "{} {mode:?}", case.name()),
                    (Mode::Write | Mode::Share, Err(error)) if error.status() == Status::NewerVersion => {}
                    (_, outcome) => panic!("{} {mode:?}: {:?}", case.name(), outcome.err()),
                }
                assert!(buffer.bytes() == later, "{} {mode:?}", case.name());
            }
        }
    });
}

/// A payload has exactly the bytes that its bits need.
#[test]
fn payloads_have_no_slack() {
    each_image(|case, _, bytes| {
        let payload = payload_bytes(bytes) + 64;
        let mut longer = bytes[..HEADER_LENGTH + payload - 64].to_vec();
        longer.resize(HEADER_LENGTH + payload + 8 * 64, 0);
        let forged = forged(&longer, &[(PAYLOAD, &(payload as u64).to_le_bytes())]);
        assert_eq!(refusal(&forged), Some(Status::Corrupt), "{}", case.name());
    });
}

/// A huge image that is not there is not allocated first.
#[test]
fn huge_sizes_cost_nothing() {
    let (_, _, bytes) = images().swap_remove(0);
    let payload = 1_u64 << 60;
    let huge = forged(&bytes, &[(PAYLOAD, &payload.to_le_bytes()), (BITS, &(8 * payload).to_le_bytes())]);
    assert_eq!(refusal(&huge), Some(Status::Truncated));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge");
    std::fs::write(&path, &huge).unwrap();
    for mode in MODES {
        let error = petal::open(&path, &OpenOptions { mode, ..OpenOptions::default() }).err().unwrap();
        assert_eq!(error.status(), Status::Truncated, "{error}");
    }
}

#[test]
fn unclean_images_open_and_say_so() {
    each_image(|case, spec, bytes| {
        let mut unclean = bytes.clone();
        unclean[STATE_OFFSET..STATE_OFFSET + 8].copy_from_slice(b"DIRTY\0\0\0");
        // Half-written: neither the payload's checksum nor the seal fits.
        unclean[COUNT..COUNT + 16].fill(0x77);
        unclean[SEAL..SEAL + 8].fill(0x77);
        for mode in modes(bytes) {
            let mut buffer = Buffer::of(&unclean);
            buffer.open_as(mode, None, |handle: Result<&mut Handle>| {
                let handle = handle.unwrap();
                assert!(handle.base().header().unclean);
                assert!((0..100).all(|i| handle.holds(spec, i)));
                if mode == Mode::Read {
                    assert_eq!(handle.verify().unwrap_err().status(), Status::Unclean, "{}", case.name());
                }
                // What is made of an unclean image is as unclean.
                assert_eq!(refusal(&image(handle)), None);
                assert_eq!(image(handle)[STATE_OFFSET..STATE_OFFSET + 5], *b"DIRTY");
                assert!(handle.copy().unwrap().base().header().unclean);
            });
            assert!(buffer.bytes() == unclean, "an unclean image that is not written stays as it is");
        }
    });
}

#[test]
fn keys_are_asked_for_and_checked() {
    let spec = Spec { capacity: 10, ..hashed(&Spec::default(), HashFunction::SipHash13, 1) };
    let bytes = image(&filled(&spec, 0..10));
    let open = |key| {
        load(&bytes, &OpenOptions { mode: Mode::Load, secret: key, ..OpenOptions::default() })
            .map(|_| ())
            .map_err(|error| error.status())
    };
    assert_eq!(open(spec.secret), Ok(()));
    assert_eq!(open(None), Ok(()));
    assert_eq!(open(Some(SECRET)), Err(Status::SecretMismatch));
    let plain = image(&filled(&Spec { capacity: 10, ..Spec::default() }, 0..10));
    let opened = load(&plain, &OpenOptions { mode: Mode::Load, secret: Some(SECRET), ..OpenOptions::default() });
    assert_eq!(opened.err().unwrap().status(), Status::Contradiction);
}

// ---- Any bytes at all --------------------------------------------------------------------------------------------

/// Uses all of a filter that was opened without being verified: nothing may panic.
fn exercise(filter: &mut Filter) {
    let hashes: Vec<u64> = (0..200).map(mix).chain([0, u64::MAX]).collect();
    for hash in &hashes {
        filter.contains_hash(*hash);
    }
    filter.contains_batch(&Keys::Hashes(&hashes), &mut Answers::default()).unwrap();
    filter.contains(b"key");
    let _ = (
        filter.statistics(),
        filter.false_positive_rate(),
        filter.cardinality(),
        filter.base().spec(),
        filter.verify().is_ok(),
    );
    for keys in [0, 1, 1000, u64::MAX] {
        filter.expected_false_positive_rate(keys);
    }
    let _ = petal::estimate_overlap(filter, filter);
    let mut image = Vec::new();
    let serialized = filter.serialize_to(&mut |piece| {
        image.extend_from_slice(piece);
        Ok(())
    });
    let _ = load(&image, &OpenOptions::default()).is_ok();
    let Ok(copy) = filter.copy() else {
        // Only an image in place whose payload is damaged has no copy.
        let _ = filter.insert_hash(hashes[0]).is_ok() || filter.mark_clean().is_ok();
        return;
    };
    assert!(serialized.is_ok());
    for factor in [2, 3, 4, 5, 7, 64, filter.base().geometry().bits] {
        if let Ok(mut folded) = copy.copy() {
            let _ = folded.fold(factor);
            let _ = folded.contains_hash(hashes[1]);
        }
    }
    if let Ok(mut other) = petal::Filter::new(&filter.base().spec()) {
        let _ = other.merge(filter);
        let _ = other.intersect(filter);
    }
    let _ = filter.merge(&copy);
    for hash in hashes {
        let _ = filter.insert_hash(hash);
    }
    let _ = filter.clear();
}

/// Uses all of a map that was opened without being verified: nothing may panic.
fn exercise_map(map: &mut Map) {
    let keys: Vec<u64> = (0..200).map(mix).chain([0, u64::MAX]).collect();
    let is_external = map.base().hasher().function() == HashFunction::External;
    for key in &keys {
        let _ = if is_external { map.get_hash(*key) } else { map.get_u64(*key) };
    }
    let keys = if is_external { Keys::Hashes(&keys) } else { Keys::U64(&keys) };
    let _ = map.get_batch(&keys, &mut Answers::default());
    let _ = map.get(b"key");
    let _ = (map.statistics(), map.base().spec(), map.verify().is_ok());
    for keys in [0, 1, 1000, u64::MAX] {
        map.expected_false_positive_rate(keys);
    }
    let mut image = Vec::new();
    let serialized = map.serialize_to(&mut |piece| {
        image.extend_from_slice(piece);
        Ok(())
    });
    let _ = load_as::<Map>(&image, &OpenOptions::default()).is_ok();
    // A map that can be copied can be serialized. If its payload is damaged in place, it cannot be copied.
    assert!(map.copy().is_err() || serialized.is_ok());
    let _ = map.mark_clean();
}

fn open_all_ways(bytes: &[u8]) {
    for mode in MODES {
        Buffer::of(bytes).open_as(mode, None, |handle| match handle {
            Ok(Handle::Filter(filter)) => exercise(filter),
            Ok(Handle::Map(map)) => exercise_map(map),
            Ok(Handle::Other(_)) | Err(_) => {}
        });
    }
}

/// Bits in the padding, which no writer leaves there, are kept out of what is made from the payload: neither a copy nor
/// a union takes it. Many sizes, so that some have padding and can be folded.
#[test]
fn padding_does_no_harm() {
    let (mut folds, mut refusals) = (0, 0);
    for (case, capacity) in layouts().iter().flat_map(|case| (90..170).map(move |capacity| (case, capacity))) {
        let spec = Spec { capacity, ..case.spec() };
        if !case.capabilities().contains(Capabilities::FOLD) {
            continue;
        }
        let filter = filled(&spec, 0..90);
        let bits = filter.base().geometry().bits;
        let mut padded = image(&filter);
        for bit in bits..8 * payload_bytes(&padded) as u64 {
            padded[HEADER_LENGTH + (bit / 8) as usize] |= 1 << (bit % 8);
        }
        seal(&mut padded);
        if capacity % 10 == 0 {
            open_all_ways(&padded);
        }
        Buffer::of(&padded).open(Mode::Read, None, |padded| {
            let padded = padded.unwrap();
            let is_padded = bits % 512 != 0;
            let mut union = filter.copy().unwrap();
            let outcomes = [padded.copy().err(), union.merge(padded).err()];
            let statuses = outcomes.map(|error| error.map(|error| error.status()));
            assert_eq!(statuses, [is_padded.then_some(Status::Corrupt); 2], "{}: {capacity} keys", case.name());
            assert!(union.equals(&filter));
            refusals += u32::from(is_padded);
            for factor in 2..20 {
                let Ok(mut folded) = padded.copy() else { break };
                if folded.fold(factor).is_ok() {
                    let mut clean = filter.copy().unwrap();
                    clean.fold(factor).unwrap();
                    assert!(folded.equals(&clean), "{}: {capacity} keys folded by {factor}", case.name());
                    folds += 1;
                }
            }
        });
    }
    assert!(is_one_kind() || folds > 100 && refusals > 100, "{folds}, {refusals}");
}

/// Interesting values for a field of the header.
fn field_value() -> impl Strategy<Value = u64> {
    let near = (0_u32..64, -2_i64..3).prop_map(|(shift, add)| (1_u64 << shift).wrapping_add(add as u64));
    prop_oneof![Just(0), Just(u64::MAX), 0_u64..5000, near, any::<u64>()]
}

proptest! {
    #![proptest_config(crate::common::same_every_time(2000))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        open_all_ways(&bytes);
    }

    #[test]
    fn random_payloads_and_headers_never_panic(
        which in any::<prop::sample::Index>(),
        fields in proptest::collection::vec((0_usize..32, field_value()), 0..4),
        payload in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        payload_bytes in prop_oneof![Just(None), (1_u64..64).prop_map(|lines| Some(64 * lines))],
        keep_magic in prop::bool::weighted(0.95),
    ) {
        thread_local!(static IMAGES: Vec<(Case, Spec, Vec<u8>)> = images());
        let mut bytes = IMAGES.with(|images| images[which.index(images.len())].2.clone());
        for (place, byte) in payload {
            let place = HEADER_LENGTH + place.index(bytes.len() - HEADER_LENGTH);
            bytes[place] = byte;
        }
        for (word, value) in fields {
            bytes[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
        }
        if keep_magic {
            bytes[..8].copy_from_slice(b"\x89PETAL\r\n");
            bytes[8] = 1;
            bytes[9] = 0;
        }
        if let Some(payload_bytes) = payload_bytes {
            bytes[PAYLOAD..PAYLOAD + 8].copy_from_slice(&payload_bytes.to_le_bytes());
            bytes.resize(HEADER_LENGTH + payload_bytes as usize, 0xff);
            bytes.resize(bytes.len() + 64, 0);
        }
        seal(&mut bytes);
        open_all_ways(&bytes);
    }

    #[test]
    fn random_mutations_never_panic(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..10),
        length in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        thread_local!(static IMAGES: Vec<(Case, Spec, Vec<u8>)> = images());
        let mut bytes = IMAGES.with(|images| images[which.index(images.len())].2.clone());
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if cut {
            bytes.truncate(length.index(bytes.len() + 1));
        }
        open_all_ways(&bytes);
    }
}
