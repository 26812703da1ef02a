//! Digests of payloads: the table of the simulation, excerpts of random and real payloads, and forged images.

use crate::common::{golden, image, is_soak, mix};
use crate::format::seal;
use petal::digest::ROW;
use petal::digest::layout::{Cut, Shape};
use petal::{Digest, DigestFindOptions, DigestFindResult, Image, Mode, OpenOptions, Spec, Status, load_as, open_as};
use std::path::Path;
use std::sync::atomic::Ordering;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Random numbers, the same every time: `mix` of 1, 2, 3 and so on from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).take(length).collect()
    }
}

fn spec(capacity: u64, settings: &[(&str, f64)]) -> Spec {
    let mut spec = Spec { kind: Some(ROW.kind), capacity, ..Spec::default() };
    for (name, value) in settings {
        spec.set(ROW.parameter(name).unwrap(), *value).unwrap();
    }
    spec
}

fn digest(capacity: u64, settings: &[(&str, f64)]) -> Digest {
    Digest::new(&spec(capacity, settings)).unwrap()
}

fn find(digest: &Digest, excerpt: &[u8]) -> DigestFindResult {
    digest.find(excerpt, &DigestFindOptions::default()).unwrap()
}

/// Whether an excerpt is found in this payload at this offset.
fn has(found: &DigestFindResult, payload: u64, offset: u64) -> bool {
    found
        .matches
        .iter()
        .any(|one| one.payload.is_none_or(|id| id == payload) && (one.offset..one.offset + one.span).contains(&offset))
}

/// How far two shares, of `runs` and of `others` runs, may lie apart if both have the probability `p`.
fn band(p: f64, runs: f64, others: f64) -> f64 {
    // A share of 0 or 1 in `runs` runs stands for less than one run.
    let p = p.clamp(1.0 / runs, 1.0 - 1.0 / runs);
    4.5 * (p * (1.0 - p) * (1.0 / runs + 1.0 / others)).sqrt()
}

/// 4,000 random payloads of 1,500 bytes, blocks of 32 bytes, excerpts of unknown alignment: the shares of false answers
/// come out as in the reference simulation of 300 runs, and as the formula says. True excerpts are always found.
#[test]
fn the_table_of_the_simulation() {
    const REFERENCE: [[f64; 3]; 3] = [[0.160, 0.913, 1.000], [0.260, 1.000, 0.010], [0.347, 1.000, 0.010]];
    const PAYLOADS: u64 = 4_000;
    let runs = if is_soak() { 3_000 } else { 300 };
    let mut random = Random(2004);
    let payloads: Vec<Vec<u8>> = (0..PAYLOADS).map(|_| random.bytes(1_500)).collect();
    for (levels, row) in (1..=3).zip(REFERENCE) {
        let columns = [(0.01, 256, false), (0.05, 64, false), (0.05, 128, true)];
        for ((memory, length, is_stitched), reference) in columns.into_iter().zip(row) {
            let settings = [("levels", f64::from(levels)), ("payloads", 0.0), ("bytes_per_byte", memory)];
            let mut digest = digest(PAYLOADS * 1_500, &settings);
            (0..).zip(&payloads).for_each(|(id, payload)| digest.add(id, payload).unwrap());
            let mut found = 0.0;
            for _ in 0..runs {
                let excerpt = if is_stitched {
                    let first = random.below(43) as usize;
                    let mut block =
                        |at: usize| payloads[random.below(PAYLOADS) as usize][32 * at..32 * at + 32].to_vec();
                    (first..first + 4).flat_map(&mut block).collect()
                } else {
                    random.bytes(length)
                };
                let one = find(&digest, &excerpt);
                assert!(one.is_complete || one.is_found());
                found += f64::from(u8::from(one.is_found()));
                let (payload, at) = (random.below(PAYLOADS), random.below(1_473 - length as u64) as usize);
                let all = DigestFindOptions { max_matches: usize::MAX, ..DigestFindOptions::default() };
                let one = digest.find(&payloads[payload as usize][at..at + length], &all).unwrap();
                assert!(has(&one, payload, at as u64), "levels {levels}: {length} bytes of {payload} at {at}");
            }
            let (share, expected, runs) =
                (found / f64::from(runs), digest.expected_rate(length as u64), f64::from(runs));
            println!(
                "levels {levels}, {memory}, {length} bytes, stitched {is_stitched}: {share:.3}, {expected:.4} \
                expected, {reference} in the reference"
            );
            assert!((share - reference).abs() <= band((share + reference) / 2.0, runs, 300.0), "{share} {reference}");
            let off = (share - expected).abs();
            assert!(is_stitched || off <= band(expected, runs, f64::INFINITY), "{share} {expected}");
        }
    }
}

/// With ids an answer names the payload and the offset, levels guard no better than ids do, and the rates are the
/// formula's: for non-members, and for wrong payloads besides the right one.
#[test]
fn ids_guard_against_stitching() {
    const PAYLOADS: u64 = 2_000;
    let runs = if is_soak() { 4_000 } else { 400 };
    let mut random = Random(7);
    let payloads: Vec<Vec<u8>> = (0..PAYLOADS).map(|_| random.bytes(1_500)).collect();
    let settings = [("payloads", PAYLOADS as f64), ("bytes_per_byte", 0.05)];
    let mut digest = digest(PAYLOADS * 1_500, &settings);
    assert_eq!(digest.shape().levels, 1);
    (0..).zip(&payloads).for_each(|(id, payload)| digest.add(1_000 + id, payload).unwrap());
    let rate = digest.entry_rate();
    let (mut stitched, mut non_members, mut wrong) = (0.0, 0.0, 0.0);
    for _ in 0..runs {
        let first = random.below(43) as usize;
        let mut block = |at: usize| payloads[random.below(PAYLOADS) as usize][32 * at..32 * at + 32].to_vec();
        let excerpt: Vec<u8> = (first..first + 4).flat_map(&mut block).collect();
        stitched += f64::from(u8::from(find(&digest, &excerpt).is_found()));
        non_members += f64::from(u8::from(find(&digest, &random.bytes(110)).is_found()));
        let (payload, at) = (random.below(PAYLOADS), 32 * random.below(42) as usize);
        let all = DigestFindOptions { max_matches: usize::MAX, ..DigestFindOptions::default() };
        let found = digest.find(&payloads[payload as usize][at..at + 96], &all).unwrap();
        assert!(has(&found, 1_000 + payload, at as u64));
        // The excerpt is three whole blocks at this place, and two anywhere else.
        wrong += found.matches.iter().filter(|one| one.offset == at as u64).count() as f64 - 1.0;
    }
    let runs = f64::from(runs);
    // Four payloads have one block each, and need the other three by chance; all others need four. Elsewhere the
    // excerpt is a non-member.
    let named = 1.0 - (1.0 - rate.powi(3)).powi(4) * (1.0 - rate.powi(4)).powi(PAYLOADS as i32 - 4);
    let expected = 1.0 - (1.0 - named) * (1.0 - digest.expected_rate(128));
    assert!((stitched / runs - expected).abs() <= band(expected, runs, f64::INFINITY), "{stitched} {expected}");
    let expected = digest.expected_rate(110);
    assert!((non_members / runs - expected).abs() <= band(expected, runs, f64::INFINITY), "{non_members} {expected}");
    let expected = digest.statistics().segments as f64 * rate.powi(3);
    assert!((wrong / runs - expected).abs() <= 4.5 * (expected / runs).sqrt() + 0.02, "{wrong} {expected}");
}

/// Payloads of any length, in pieces of any length, in both cuts, with and without ids: every excerpt that has a block
/// is found where it was, and pieces make the same digest as whole payloads.
#[test]
fn every_excerpt_is_found_where_it_was() {
    let mut random = Random(11);
    for round in 0..if is_soak() { 400 } else { 40 } {
        let (cut, ids) = (f64::from(round & 1), if round & 2 == 0 { 20.0 } else { 0.0 });
        let block_bytes = [8, 16, 31, 32, 100][random.below(5) as usize];
        let (levels, segment_blocks) = (1 + random.below(4), 8 * (1 + random.below(12)));
        let settings = [
            ("cut", cut),
            ("payloads", ids),
            ("block_bytes", block_bytes as f64),
            ("levels", levels as f64),
            ("segment_blocks", segment_blocks as f64),
            ("bytes_per_byte", 1.0),
        ];
        let [mut whole, mut pieces] = [(); 2].map(|()| digest(100_000, &settings));
        let payloads: Vec<Vec<u8>> = (0..20).map(|i| random.bytes([0, 1, 5, 40, 700, 4_000, 20_000][i % 7])).collect();
        for (id, payload) in (100..).zip(&payloads) {
            whole.add(id, payload).unwrap();
            pieces.begin(id).unwrap();
            let mut rest = &payload[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(1 + random.below(rest.len() as u64) as usize);
                pieces.write(piece).unwrap();
                rest = after;
            }
            assert!(pieces.is_open() && pieces.add(1, b"x").unwrap_err().status() == Status::Contradiction);
            pieces.end().unwrap();
        }
        assert!(image(&whole) == image(&pieces), "{settings:?}");
        whole.verify().unwrap();
        let mut without_block = 0;
        for _ in 0..60 {
            let index = random.below(20);
            let payload = &payloads[index as usize];
            let least = whole.shortest_excerpt();
            if (payload.len() as u64) < 2 * least {
                continue;
            }
            let length = least + random.below(payload.len() as u64 / 2 - least + 1);
            // Bytes after the last whole block are not in the digest.
            let at = random.below((payload.len() as u64).saturating_sub(length + block_bytes) + 1);
            let excerpt = &payload[at as usize..(at + length) as usize];
            let all = DigestFindOptions { max_matches: usize::MAX, ..DigestFindOptions::default() };
            match whole.find(excerpt, &all) {
                Ok(found) => {
                    // Without ids the offset is that in a segment.
                    let segment = segment_blocks * block_bytes;
                    let is_there = has(&found, 100 + index, at) || ids == 0.0 && has(&found, 0, at % segment);
                    assert!(
                        is_there && found.is_complete,
                        "{settings:?}: {length} bytes of {index} at {at}: {found:?}"
                    );
                }
                Err(error) => {
                    assert!(cut == 1.0 && length < 8 * block_bytes, "{error}");
                    without_block += 1;
                }
            }
        }
        assert!(without_block < 30);
    }
}

/// The rates by the length of an excerpt are those of random excerpts, even where blocks are cut by content.
#[test]
fn rates_by_length_are_those_of_random_excerpts() {
    let runs = if is_soak() { 20_000 } else { 2_000 };
    let mut random = Random(13);
    for (cut, ids, memory) in [(0.0, 0.0, 0.02), (1.0, 0.0, 0.01), (0.0, 500.0, 0.02), (1.0, 500.0, 0.01)] {
        let settings = [("cut", cut), ("payloads", ids), ("bytes_per_byte", memory), ("levels", 2.0)];
        let mut digest = digest(500 * 1_500, &settings);
        (0..500).for_each(|id| digest.add(id, &random.bytes(1_500)).unwrap());
        for length in [100, 160, 230] {
            let (mut asked, mut found, mut reported) = (0.0, 0.0, 0.0);
            for _ in 0..runs {
                let Ok(one) = digest.find(&random.bytes(length), &DigestFindOptions::default()) else { continue };
                asked += 1.0;
                found += f64::from(u8::from(one.is_found()));
                reported += one.rate;
            }
            let (share, expected, reported) = (found / asked, digest.expected_rate(length as u64), reported / asked);
            println!(
                "cut {cut}, ids {ids}, {length} bytes: {share:.4}, {reported:.4} reported, {expected:.4} expected"
            );
            assert!((share - reported).abs() <= band(reported, asked, f64::INFINITY), "{share} {reported}");
            // The distribution of the number of blocks that are cut by content is an approximation.
            let near = if cut == 1.0 { 0.25 * expected } else { 1e-9 };
            assert!((reported - expected).abs() <= near + 1e-4, "{reported} {expected}");
        }
    }
    let digest = digest(1_000_000, &[]);
    assert_eq!((digest.expected_rate(62), digest.expected_rate(63)), (1.0, 0.0));
}

/// What a digest says about itself is what it was given.
#[test]
fn a_digest_describes_itself() {
    for payloads in [0.0, 3.0] {
        let mut digest = digest(10_000, &[("payloads", payloads)]);
        assert_eq!((digest.names_payloads(), digest.insertions(), digest.fill()), (payloads > 0.0, 0, 0.0));
        digest.add(1, &Random(3).bytes(3_000)).unwrap();
        assert_eq!(digest.insertions(), 3_000);
        let (filter, words) = (digest.shape().filter_words(), digest.base().words().shared());
        let ones: u32 = words[..filter].iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum();
        assert_eq!(digest.fill(), f64::from(ones) / digest.shape().bits as f64);
        assert!(format!("{digest:?}").contains("header"), "{digest:?}");
    }
}

#[test]
fn the_shortest_excerpt_of_a_rate() {
    let mut random = Random(17);
    for cut in [0.0, 1.0] {
        let mut digest = digest(150_000, &[("cut", cut), ("bytes_per_byte", 0.05)]);
        (0..100).for_each(|id| digest.add(id, &random.bytes(1_500)).unwrap());
        let mut last = digest.shortest_excerpt();
        for rate in [0.5, 0.01, 1e-4, 1e-9] {
            let length = digest.shortest_excerpt_at(rate).unwrap().unwrap();
            assert!(length >= last && digest.expected_rate(length) <= rate && digest.expected_rate(length - 1) > rate);
            last = length;
        }
        assert_eq!(digest.shortest_excerpt_at(0.0).unwrap_err().status(), Status::FalsePositiveRate);
        // With a full filter no length is enough.
        for id in 100..1_024 {
            digest.add(id, &random.bytes(15_000)).unwrap();
        }
        assert!(digest.fill() > 0.999 && digest.shortest_excerpt_at(1e-9).unwrap().is_none());
    }
}

/// Blocks in another order, or at another place, are not taken for an excerpt, if blocks are fixed.
#[test]
fn other_orders_are_not_found() {
    let mut random = Random(19);
    for ids in [0.0, 10.0] {
        let mut digest = digest(1_500, &[("payloads", ids), ("bytes_per_byte", 1.0), ("levels", 1.0)]);
        let payload = random.bytes(1_500);
        digest.add(3, &payload).unwrap();
        let mut swapped = payload[320..640].to_vec();
        assert!(has(&find(&digest, &swapped), 3, 320));
        swapped[..64].rotate_left(32);
        assert!(!find(&digest, &swapped).is_found());
        assert!(!find(&digest, &[&payload[320..384], &payload[352..416]].concat()).is_found());
    }
}

/// Excerpts that repeat, are too short or too long, and searches with bounds: each ends soon, or says why not.
#[test]
fn searches_are_bounded() {
    for (cut, ids) in [(0.0, 0.0), (0.0, 100.0), (1.0, 0.0), (1.0, 100.0)] {
        let mut digest = digest(1 << 20, &[("cut", cut), ("payloads", ids), ("bytes_per_byte", 0.5)]);
        digest.add(1, &vec![0; 1 << 20]).unwrap();
        digest.add(2, &Random(23).bytes(1 << 16)).unwrap();
        let zeros = vec![0; 4_096];
        let few = DigestFindOptions { max_lookups: 100_000, max_matches: 16, ..DigestFindOptions::default() };
        match digest.find(&zeros, &few) {
            Ok(found) => {
                assert!(cut == 0.0 && found.is_found() && !found.is_complete && found.lookups <= few.max_lookups);
                assert!(found.matches.len() <= 16);
            }
            Err(error) => {
                assert!(cut == 1.0 && error.status() == Status::OutOfRange);
                assert!(error.to_string().contains("has no block that is cut by content"), "{error}");
            }
        }
        let none = DigestFindOptions { max_lookups: 0, ..DigestFindOptions::default() };
        let found = digest.find(&Random(29).bytes(500), &none).unwrap();
        assert!(!found.is_complete && !found.is_found() && found.lookups == 0);
        let known = &Random(23).bytes(1 << 16)[99..999];
        let all = digest.find(known, &DigestFindOptions::default()).unwrap();
        assert!(all.is_complete && all.lookups > if cut == 0.0 { 1000 } else { 20 }, "{cut}, {ids}: {}", all.lookups);
        for max_lookups in (1..300).filter(|most| *most < all.lookups) {
            let found = digest.find(known, &DigestFindOptions { max_lookups, ..few }).unwrap();
            assert!(!found.is_complete && found.lookups == max_lookups, "{cut}, {ids}: {max_lookups}");
        }
        let error = digest.find(&[1; 40], &DigestFindOptions::default()).unwrap_err();
        assert!(
            error.status() == Status::OutOfRange && error.to_string().contains("an excerpt of 40 bytes"),
            "{error}"
        );
        let error = digest.find(&vec![1; (1 << 20) + 1], &DigestFindOptions::default()).unwrap_err();
        assert!(error.to_string().contains("longer than max_excerpt = 1048576"), "{error}");
        assert!(digest.find(&vec![1; 1 << 20], &few).is_ok_and(|found| !found.is_found()) == (cut == 0.0));
    }
}

/// Every way to ask for the wrong thing gets an error that names it.
#[test]
fn refusals_name_the_parameter() {
    let refused = |settings: &[(&str, f64)], status: Status, words: &str| {
        let error = Digest::new(&spec(1_000, settings)).unwrap_err();
        assert!(error.status() == status && error.to_string().contains(words), "{error}");
    };
    refused(&[("block_bytes", 7.0)], Status::OutOfRange, "block_bytes = 7");
    refused(&[("levels", 5.0)], Status::OutOfRange, "levels = 5");
    refused(&[("segment_blocks", 12.0)], Status::OutOfRange, "segment_blocks = 12 is not a multiple of 8");
    refused(&[("bytes_per_byte", 0.0)], Status::OutOfRange, "bytes_per_byte = 0");
    refused(&[("payloads", 5e9)], Status::OutOfRange, "payloads = 5");
    let both = Spec { false_positive_rate: 0.1, ..spec(1_000, &[("bytes_per_byte", 0.1)]) };
    assert!(Digest::new(&both).unwrap_err().to_string().contains("give only one of them"));
    let external = Spec { hash: petal::HashFunction::External, ..spec(1_000, &[]) };
    assert_eq!(Digest::new(&external).unwrap_err().status(), Status::Contradiction);
    let huge = Digest::new(&spec(1 << 57, &[("bytes_per_byte", 8.0)])).unwrap_err();
    assert_eq!(huge.status(), Status::TooLarge);
    let larger = Digest::new(&Spec { kind: None, bits: 1 << 62, capacity: 1, ..spec(1, &[]) }).unwrap_err();
    assert!([Status::TooLarge, Status::OutOfMemory].contains(&larger.status()), "{larger}");

    let mut digest = digest(1_000, &[("payloads", 1.0), ("attachment_bytes", 5.0)]);
    assert_eq!(digest.write(b"x").unwrap_err().status(), Status::Contradiction);
    assert_eq!(digest.end().unwrap_err().status(), Status::Contradiction);
    digest.add(9, &[1; 100]).unwrap();
    let before = image(&digest);
    let full = digest.add(10, &[2; 100]).unwrap_err();
    assert!(full.status() == Status::Full && full.to_string().contains("the 1 payloads"), "{full}");
    assert_eq!(digest.attach(b"sixsix").unwrap_err().status(), Status::TooLarge);
    assert_eq!(digest.payload_at(1).unwrap_err().status(), Status::OutOfRange);
    assert_eq!((digest.payload_at(0).unwrap(), image(&digest)), ((9, 100), before));
    digest.attach(b"five!").unwrap();
    assert_eq!(digest.attachment().unwrap(), b"five!");
    digest.attach(b"1").unwrap();
    assert_eq!((digest.attachment().unwrap(), digest.verify().is_ok()), (b"1".to_vec(), true));
    digest.clear().unwrap();
    assert_eq!((digest.payloads(), digest.insertions(), digest.attachment().unwrap().len()), (0, 0, 0));
    assert_eq!(
        image(&digest),
        image(&Digest::new(&spec(1_000, &[("payloads", 1.0), ("attachment_bytes", 5.0)])).unwrap())
    );
    let filter = petal::Filter::new(&Spec { kind: Some(ROW.kind), ..Spec::default() }).unwrap_err();
    assert!(filter.to_string().contains("digest is a kind of digest"), "{filter}");
}

/// Images open in each way that they can, and change in place.
#[test]
fn images_open_and_change_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("digest");
    let mut random = Random(31);
    let payloads: Vec<Vec<u8>> = (0..6).map(|_| random.bytes(9_000)).collect();
    let key = [7_u8; 16];
    for (cut, key) in [(0.0, None), (1.0, Some(key))] {
        let hash = if key.is_some() { petal::HashFunction::SipHash13 } else { petal::HashFunction::Xxh3 };
        let spec =
            Spec { hash, secret: key, ..spec(54_000, &[("cut", cut), ("payloads", 6.0), ("bytes_per_byte", 0.4)]) };
        let mut whole = Digest::new(&spec).unwrap();
        (0..).zip(&payloads).for_each(|(id, payload)| whole.add(id, payload).unwrap());
        Digest::new(&spec).unwrap().save(&path).unwrap();
        for (id, payload) in (0..).zip(&payloads) {
            let mut digest: Digest =
                open_as(&path, &OpenOptions { mode: Mode::Write, secret: key, ..OpenOptions::default() }).unwrap();
            digest.begin(id).unwrap();
            digest.write(&payload[..5_000]).unwrap();
            digest.write(&payload[5_000..]).unwrap();
            digest.end().unwrap();
            digest.sync().unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == image(&whole));
        for mode in [Mode::Read, Mode::Load] {
            let digest: Digest = open_as(&path, &OpenOptions { mode, secret: key, ..OpenOptions::default() }).unwrap();
            digest.verify().unwrap();
            assert!(has(&find(&digest, &payloads[4][777..1_200]), 4, 777));
            assert_eq!(image(&digest.copy().unwrap()), image(&whole));
        }
        let mut read: Digest = open_as(&path, &OpenOptions { mode: Mode::Read, ..OpenOptions::default() }).unwrap();
        assert_eq!(read.add(1, b"x").unwrap_err().status(), Status::UnsupportedByHandle);
        if key.is_some() {
            assert_eq!(
                read.find(&[1; 300], &DigestFindOptions::default()).unwrap_err().status(),
                Status::SecretMissing
            );
        }
        assert!(
            open_as::<Digest>(&path, &OpenOptions { mode: Mode::Share, secret: key, ..OpenOptions::default() })
                .is_err()
        );
    }
}

/// A payload that cannot be taken is not open afterwards.
#[test]
fn a_refused_payload_is_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("digest");
    for payloads in [0.0, 3.0] {
        digest(54_000, &[("payloads", payloads)]).save(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let mut damaged: Digest = open_as(&path, &OpenOptions { mode: Mode::Write, ..OpenOptions::default() }).unwrap();
        for _ in 0..2 {
            assert_eq!(damaged.add(1, &[7; 1000]).unwrap_err().status(), Status::Corrupt, "{payloads}");
        }
    }
}

/// The payload that docs/format.md specifies, computed without the library's code. `settings` are block_bytes, levels,
/// whether the cut is by content, segment_blocks, payloads, attachment_bytes.
fn specified(bits: u64, hashes: u32, settings: [u64; 6], seed: u64, payloads: &[&[u8]], attachment: &[u8]) -> Vec<u8> {
    let [block_bytes, levels, by_content, segment_blocks, room, attachment_bytes] = settings;
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let (mut state, filter) = ([0_u64; 8], bits.div_ceil(512) * 64);
    let mut payload = vec![0_u8; filter as usize];
    let mut table = vec![0_u8; (16 * room).next_multiple_of(64) as usize];
    for (index, bytes) in payloads.iter().enumerate() {
        // Where blocks begin and end, and the bytes that their keys cover.
        let mut blocks: Vec<(usize, u64)> = Vec::new();
        if by_content == 0 {
            let whole = bytes.chunks_exact(block_bytes as usize).enumerate();
            blocks.extend(whole.map(|(i, block)| (i * block_bytes as usize, xxh3_64_with_seed(block, seed))));
        } else {
            let reach = (block_bytes as usize - 1) / 2;
            let hash = |at: usize| mix(u64::from_le_bytes(bytes[at - 7..=at].try_into().unwrap()));
            let mut last: Option<usize> = None;
            for at in 7 + reach..bytes.len().saturating_sub(reach) {
                let around = (at - reach..=at + reach).filter(|other| *other != at);
                let is_least = around.map(hash).all(|other| hash(at) < other);
                let is_cut = is_least || last.is_some_and(|last| at + 1 - last == 4 * block_bytes as usize);
                if let Some(start) = last.filter(|_| is_cut) {
                    blocks.push((start, xxh3_64_with_seed(&bytes[start - 8..=at], seed)));
                }
                last = if is_cut { Some(at + 1) } else { last };
            }
        }
        let mut insert = |state: &mut [u64; 8], entry: u64| {
            state[3] += 1;
            let mut probe = entry;
            for _ in 0..hashes {
                let bit = ((u128::from(probe) * u128::from(bits)) >> 64) as usize;
                state[4] += u64::from(payload[bit / 8] >> (bit % 8) & 1 == 0);
                payload[bit / 8] |= 1 << (bit % 8);
                probe = probe.wrapping_mul(GOLDEN);
            }
        };
        fn joined(keys: &[u64]) -> u64 {
            match keys {
                [key] => *key,
                _ => {
                    let (first, second) = keys.split_at(keys.len() / 2);
                    mix(joined(first).wrapping_mul(GOLDEN) ^ joined(second))
                }
            }
        }
        let place = |start: usize| if by_content == 0 { start as u64 / block_bytes % segment_blocks } else { 0 };
        for level in 0..levels {
            for group in blocks.windows(1 << level) {
                let (start, key) = group[0];
                let number = if by_content == 0 { start as u64 / block_bytes } else { key };
                if number % (1 << level) == 0 {
                    let keys: Vec<u64> = group.iter().map(|block| block.1).collect();
                    let sum = joined(&keys).wrapping_add(place(start).wrapping_mul(GOLDEN));
                    insert(&mut state, mix(sum.wrapping_add(level.wrapping_mul(0x94d0_49bb_1331_11eb))));
                }
            }
        }
        state[2] = state[2].max(bytes.len() as u64);
        if room == 0 {
            continue;
        }
        for (start, key) in &blocks {
            let segment = state[1] + *start as u64 / (segment_blocks * block_bytes);
            let sum = key.wrapping_add(place(*start).wrapping_mul(GOLDEN));
            insert(&mut state, mix(sum.wrapping_add((segment + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9))));
        }
        state[0] += 1;
        state[1] += (bytes.len() as u64).div_ceil(segment_blocks * block_bytes);
        table[16 * index..][..8].copy_from_slice(&(70 + index as u64).to_le_bytes());
        table[16 * index + 8..][..8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    }
    state[5] = attachment.len() as u64;
    payload.extend(table);
    let end = payload.len() + attachment_bytes.next_multiple_of(64) as usize;
    payload.extend(attachment);
    payload.resize(end, 0);
    payload.extend(state.iter().flat_map(|word| word.to_le_bytes()));
    payload
}

/// Golden images have the bytes of the specification, are written the same today, and open for ever.
#[test]
fn golden_images_are_what_the_format_says() {
    let mut random = Random(37);
    let (first, mut second) = (random.bytes(1_000), random.bytes(3_000));
    second[1_000..1_700].fill(b'a');
    let payloads: [&[u8]; 4] = [&first, &second, b"short", &[b'x'; 500]];
    let cases = [[32, 1, 0, 64, 5, 20], [16, 4, 0, 8, 0, 0], [32, 3, 1, 8, 4, 0], [9, 2, 1, 16, 0, 64]];
    for settings in cases {
        let names = ["block_bytes", "levels", "cut", "segment_blocks", "payloads", "attachment_bytes"];
        let parameters: Vec<_> = names.into_iter().zip(settings.map(|setting| setting as f64)).collect();
        let mut digest = Digest::new(&Spec { seed: 42, bits: 9_000, hashes: 3, ..spec(0, &parameters) }).unwrap();
        (70..).zip(payloads).for_each(|(id, payload)| digest.add(id, payload).unwrap());
        let attachment: &[u8] = if settings[5] > 0 { b"an attachment" } else { b"" };
        digest.attach(attachment).unwrap();
        let image = image(&digest);
        let payload = specified(9_000, 3, settings, 42, &payloads, attachment);
        assert!(image[256..256 + payload.len()] == payload[..], "{settings:?}");
        assert_eq!(image[12..16], 1_280_u32.to_le_bytes());
        let words: Vec<u8> = settings.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!((&image[64..72], &image[72..120]), (&9_000_u64.to_le_bytes()[..], &words[..]));
        let [block, levels, cut, segment, ids, _] = settings;
        let name = format!(
            "digest-{}-block_{block}-levels_{levels}-segment_{segment}-payloads_{ids}-layout_1-xxh3.petal",
            ["fixed", "content"][cut as usize]
        );
        golden::check(&ROW, &name, &image);
    }
    let files = golden::files(&ROW);
    assert_eq!(files.len(), cases.len());
    for file in files.values() {
        let digest: Digest = load_as(file, &OpenOptions::default()).unwrap();
        digest.verify().unwrap();
        assert!(find(&digest, &second[2_000..2_900]).is_found() && find(&digest, &first[100..900]).is_found());
    }
}

/// Damaged images are refused, or answer something within the bounds of a search. Words of the state and of the table
/// are forged under right checksums.
#[test]
fn forged_images_are_harmless() {
    let mut random = Random(41);
    let bounds = DigestFindOptions { max_lookups: 20_000, max_matches: 8, ..DigestFindOptions::default() };
    for cut in [0.0, 1.0] {
        let settings = [("cut", cut), ("payloads", 4.0), ("attachment_bytes", 30.0), ("bytes_per_byte", 0.1)];
        let mut digest = digest(9_000, &settings);
        (0..3).for_each(|id| digest.add(id, &random.bytes(3_000)).unwrap());
        digest.attach(b"names").unwrap();
        let image = image(&digest);
        let excerpt = random.bytes(400);
        let try_out = |bytes: &[u8]| {
            let Ok(mut opened) = load_as::<Digest>(bytes, &OpenOptions::default()) else { return false };
            let _ = (opened.find(&excerpt, &bounds), opened.attachment(), opened.expected_rate(500));
            let _ = (opened.verify(), opened.shortest_excerpt_at(0.01), opened.payload_at(2));
            let _ = (opened.add(9, &excerpt), opened.attach(b"x"), opened.find(&excerpt, &bounds));
            true
        };
        assert!(try_out(&image));
        for at in 0..image.len() {
            let mut forged = image.clone();
            forged[at] ^= 1 << random.below(8);
            // Only in an unclean image is a flip of the count alone not covered by a checksum.
            assert!(!try_out(&forged), "a flip at {at} was not noticed");
        }
        for length in 0..image.len() {
            assert!(!try_out(&image[..length]));
        }
        assert!(load_as::<Digest>(&[&image[..], &[0; 64]].concat(), &OpenOptions::default()).is_ok());
        for _ in 0..if is_soak() { 100_000 } else { 5_000 } {
            let mut forged = image.clone();
            for _ in 0..1 + random.below(8) {
                let at = random.below(forged.len() as u64) as usize;
                forged[at] = random.next() as u8;
            }
            try_out(&forged);
        }
        // The words themselves, in a handle that is opened without its checksums: an image that is read in place.
        let shape = *digest.shape();
        let (table, state) = (256 + 8 * shape.filter_words(), 256 + 8 * shape.state_start());
        for at in (table..table + 64).chain(state..state + 64).step_by(8) {
            for value in [1, 5, 1 << 20, 1 << 40, 1 << 61, 1 << 62, (1 << 62) + 1, u64::MAX] {
                let mut forged: Vec<u64> =
                    image.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
                forged[at / 8] = value;
                let start = std::ptr::NonNull::new(forged.as_mut_ptr().cast::<u8>()).unwrap();
                // SAFETY: the words outlive the handle, and nobody else uses them.
                let opened = unsafe { petal::open_in_buffer_as::<Digest>(start, image.len(), &OpenOptions::default()) };
                let Ok(opened) = opened else { continue };
                assert!(opened.verify().is_err() || forged[at / 8].to_le_bytes() == image[at..at + 8]);
                let _ = (opened.find(&excerpt, &bounds), opened.attachment(), opened.payload_at(0));
                let _ = (opened.expected_rate(500), opened.shortest_excerpt_at(0.5), opened.copy().is_err());
            }
        }
    }
}

/// The last bytes of a payload are found where they were, and nothing is found past its end.
#[test]
fn the_end_of_a_payload_is_found() {
    for length in [320, 640, 6400] {
        let mut digest = digest(100_000, &[("payloads", 9.0), ("bytes_per_byte", 0.2)]);
        let payload = Random(8).bytes(length);
        digest.add(7, &payload).unwrap();
        digest.add(8, &Random(9).bytes(300)).unwrap();
        let found = find(&digest, &payload[length - 320..]);
        assert!(has(&found, 7, length as u64 - 320) && found.matches.len() == 1, "{length}: {found:?}");
        // These blocks may lie in the segment at places that are too near to the end.
        let longer = [&payload[length - 320..], &[1; 31]].concat();
        assert!(!find(&digest, &longer).is_found(), "{length}");
    }
}

/// What the head of `src/digest/sizing.rs` says, worked out place by place: the probability that a random excerpt
/// of `length` bytes is found.
fn formula(digest: &Digest, length: u64) -> f64 {
    let (shape, state, rate) = (*digest.shape(), digest.statistics(), digest.entry_rate());
    let place_rate = |segments: u64, entries: f64, blocks: f64| {
        let of_no_segment = (1.0 - rate.powf(blocks)).powf(segments as f64);
        rate.powf(entries) * if shape.payloads > 0 { 1.0 - of_no_segment } else { 1.0 }
    };
    let (block, levels) = (shape.block_bytes, 0..shape.levels);
    if shape.cut == Cut::Fixed {
        let mut none = 0.0;
        for lead in 0..block.min(length) {
            let blocks = (length - lead) / block;
            for first in 0..shape.segment_blocks {
                let fits = first * block >= lead && first * block - lead + length <= state.longest;
                if blocks > 0 && (fits || state.longest > block * shape.segment_blocks) {
                    let of_level = |level: u32| {
                        (first..=first + blocks - blocks.min(1 << level))
                            .filter(move |at| blocks >= 1 << level && at % (1 << level) == 0)
                    };
                    let entries: usize = levels.clone().map(|level| of_level(level).count()).sum();
                    // All payloads have one length, and as many segments in which the excerpt fits at this place.
                    let begins = (0..state.segments).map(|part| (part * shape.segment_blocks + first) * block);
                    let is_in = |begin: &u64| *begin >= lead && *begin - lead + length <= state.longest;
                    let segments = state.payloads * begins.filter(is_in).count() as u64;
                    none += (-place_rate(segments, entries as f64, blocks as f64)).ln_1p();
                }
            }
        }
        return -none.exp_m1();
    }
    let reach = (block - 1) / 2;
    let positions = length.saturating_sub(7 + 2 * reach);
    let of_blocks = |blocks: f64| {
        let sizes = levels.clone().map(|level| f64::from(1 << level));
        let groups = sizes.map(|size| (blocks - size + 1.0).max(0.0) / size).sum();
        place_rate(state.segments, groups, blocks)
    };
    let mean = positions as f64 / (2 * reach + 1) as f64 - 1.0;
    if mean > 64.0 {
        return of_blocks(mean);
    }
    // At least `blocks` gaps end in the positions that are free: a binomial distribution, trial by trial.
    let at_least = |blocks: u64| {
        let free = positions as f64 - (blocks * (reach + 1)) as f64 - 1.25 * reach as f64;
        if blocks == 0 || free < 0.0 {
            return f64::from(blocks == 0);
        }
        let (stop, mut shares) = (1.0 / (reach + 1) as f64, vec![0.0; blocks as usize]);
        shares[0] = 1.0;
        let mut reached = 0.0;
        for _ in 0..free as u64 + blocks {
            reached += shares[blocks as usize - 1] * stop;
            for i in (0..blocks as usize).rev() {
                let before = if i > 0 { shares[i - 1] } else { 0.0 };
                shares[i] = shares[i] * (1.0 - stop) + before * stop;
            }
        }
        reached
    };
    let shares: Vec<f64> = (1..128).map(|blocks| at_least(blocks) - at_least(blocks + 1)).collect();
    let found: f64 = shares.iter().zip(1..).map(|(share, blocks)| share * of_blocks(f64::from(blocks))).sum();
    let all: f64 = shares.iter().sum();
    if all > 0.0 { found / all } else { 1.0 }
}

/// The rates that a digest states are those of the formula, for every length, cut and level, with ids and without; and
/// searches report the rates of the excerpt's own blocks.
#[test]
fn rates_are_those_of_the_formula() {
    let mut random = Random(53);
    for (cut, ids, levels, block, segment, payload) in [
        (0.0, 0.0, 1.0, 32.0, 64.0, 1500),
        (0.0, 0.0, 3.0, 16.0, 8.0, 1500),
        (0.0, 40.0, 2.0, 16.0, 8.0, 1500),
        (0.0, 40.0, 1.0, 32.0, 64.0, 700),
        (1.0, 0.0, 1.0, 16.0, 8.0, 1500),
        (1.0, 40.0, 1.0, 32.0, 8.0, 1500),
        (1.0, 40.0, 3.0, 9.0, 16.0, 1500),
    ] {
        let settings = [("cut", cut), ("payloads", ids), ("levels", levels), ("block_bytes", block)];
        let settings = [&settings[..], &[("segment_blocks", segment), ("bytes_per_byte", 0.01)]].concat();
        let mut digest = digest(20 * payload, &settings);
        (0..20).for_each(|id| digest.add(id, &random.bytes(payload as usize)).unwrap());
        let reach = (block as u64 - 1) / 2;
        let least = if cut == 0.0 { 2 * block as u64 - 1 } else { 9 + 3 * reach };
        assert_eq!((digest.shortest_excerpt(), digest.expected_rate(least - 1)), (least, 1.0));
        // The last two have just no more blocks than a distribution is computed for, and just more.
        let most = 7 + 2 * reach + 65 * (2 * reach + 1);
        for length in [least, least + 1, least + 7, 100, 163, 400, 690, 700, 701, most, most + 1]
            .into_iter()
            .filter(|of| *of >= least)
        {
            let (told, expected) = (digest.expected_rate(length), formula(&digest, length));
            // The tail of a distribution is what is left of 1.
            let near = if cut == 0.0 { 1e-9 * expected } else { 1e-5 * expected + 1e-15 };
            assert!((told - expected).abs() <= near, "{settings:?}, {length}: {told}, {expected}");
        }
        let (rate, segments) = (digest.entry_rate(), digest.statistics().segments as f64);
        for length in [least, least + 60, 200, 400] {
            let excerpt = random.bytes(length as usize);
            let Ok(found) = digest.find(&excerpt, &DigestFindOptions::default()) else { continue };
            let blocks = if cut == 0.0 { (length + 1) / block as u64 - 1 } else { cuts(&excerpt, reach) - 1 };
            let wrong = segments * rate.powi(blocks as i32);
            assert!((found.wrong_segments - wrong).abs() <= 1e-9 * wrong, "{settings:?}: {blocks} blocks");
            if cut == 0.0 {
                assert_eq!(found.rate, digest.expected_rate(length));
            } else if levels == 1.0 {
                let named = if ids > 0.0 { 1.0 - (1.0 - rate.powi(blocks as i32)).powf(segments) } else { 1.0 };
                let expected = rate.powi(blocks as i32) * named;
                assert!((found.rate - expected).abs() <= 1e-9, "{settings:?}: {blocks} blocks, {}", found.rate);
            }
        }
    }
}

/// How many content cuts these bytes have, if cuts are far less than four blocks apart.
fn cuts(bytes: &[u8], reach: u64) -> u64 {
    let (reach, hash) = (reach as usize, |at: usize| mix(u64::from_le_bytes(bytes[at - 7..=at].try_into().unwrap())));
    let is_least =
        |at: &usize| (at - reach..=at + reach).filter(|other| other != at).all(|other| hash(*at) < hash(other));
    (7 + reach..bytes.len() - reach).filter(is_least).count() as u64
}

/// Excerpts with as many cuts as possible: a pattern as long as two cuts are apart. All of their blocks count, and the
/// offsets where the pattern may lie are one range.
#[test]
fn patterns_are_cut_as_often_as_can_be() {
    for ids in [0.0, 9.0] {
        let mut digest = digest(30_000, &[("cut", 1.0), ("payloads", ids), ("bytes_per_byte", 0.02), ("levels", 1.0)]);
        let pattern = Random(5).bytes(16).repeat(600);
        digest.add(3, &pattern).unwrap();
        digest.add(4, &Random(6).bytes(12_000)).unwrap();
        let excerpt = &pattern[160..960];
        let found = find(&digest, excerpt);
        let blocks = cuts(excerpt, 15) - 1;
        assert!(blocks > 800 / 16 - 6);
        let wrong = digest.statistics().segments as f64 * digest.entry_rate().powi(blocks as i32);
        assert!((found.wrong_segments - wrong).abs() <= 1e-9 * wrong, "{blocks} blocks, {wrong}");
        assert!(ids == 0.0 || wrong > 0.0);
        // All blocks have one key, so that another payload may seem to have them too.
        assert_eq!(found.matches.iter().filter(|one| one.payload != Some(4)).count(), 1, "{found:?}");
        assert!((160..8000).step_by(16).all(|at| has(&found, 3, at)), "{found:?}");
        assert!(found.matches[0].offset + found.matches[0].span <= if ids > 0.0 { 9600 } else { 12_000 } - 800 + 1);
    }
}

/// With cuts by content an excerpt is found at each of its places, even at the end of a payload, in ranges that no
/// search can make shorter. Blocks that no payload has together are not found with ids.
#[test]
fn places_of_cut_excerpts() {
    let settings = |ids| [("cut", 1.0), ("payloads", ids), ("bytes_per_byte", 1.0), ("levels", 1.0)];
    let mut random = Random(59);
    let (twice, mut payload) = (random.bytes(600), random.bytes(8_000));
    payload[1_000..1_600].copy_from_slice(&twice);
    payload[5_003..5_603].copy_from_slice(&twice);
    let [first, second] = [random.bytes(2_000), random.bytes(2_000)];
    let junction = [&first[700..1_000], &second[..300]].concat();
    let excerpt = [&first[400..1_000], &second[..600]].concat();
    let [mut with, mut without] = [9.0, 0.0].map(|ids| digest(20_000, &settings(ids)));
    for digest in [&mut with, &mut without] {
        for (id, bytes) in (7..).zip([&payload, &first, &second, &junction]) {
            digest.add(id, bytes).unwrap();
        }
    }
    let found = find(&with, &twice);
    assert!(found.matches.len() == 2 && has(&found, 7, 1_000) && has(&found, 7, 5_003), "{found:?}");
    let is_in_bounds = |one: &petal::DigestMatch| one.span <= 256 && one.offset + one.span <= 8_000 - 600 + 1;
    assert!(found.matches.iter().all(is_in_bounds), "{found:?}");
    assert!(has(&find(&with, &payload[7_400..]), 7, 7_400));
    assert!(has(&find(&with, &payload[..600]), 7, 0));
    assert!(!find(&with, &excerpt).is_found());
    // Without ids nobody knows which blocks came together, and where.
    let found = find(&without, &excerpt);
    assert_eq!(found.matches, [petal::DigestMatch { payload: None, offset: 0, span: 8_000 - 1_200 + 1 }]);
    for digest in [&with, &without] {
        let most = DigestFindOptions { max_excerpt: 600, ..DigestFindOptions::default() };
        assert!(digest.find(&twice, &most).is_ok());
        assert_eq!(digest.find(&payload[..601], &most).unwrap_err().status(), Status::OutOfRange);
    }
    for cut in [0.0, 1.0] {
        let digest = digest(1_000, &[("cut", cut)]);
        let least = digest.shortest_excerpt() as usize;
        assert!(
            digest
                .find(&payload[..least - 1], &DigestFindOptions::default())
                .unwrap_err()
                .to_string()
                .contains("shorter")
        );
        if let Err(error) = digest.find(&payload[..least], &DigestFindOptions::default()) {
            assert!(cut == 1.0 && error.to_string().contains("has no block"), "{error}");
        }
    }
}

/// Blocks are cut where the format says, in short payloads and where patterns of a few bytes begin and end.
#[test]
fn short_payloads_are_cut_as_the_format_says() {
    let mut random = Random(61);
    for block_bytes in [8, 9, 16] {
        let names = ["block_bytes", "levels", "cut", "segment_blocks", "payloads", "attachment_bytes"];
        let settings = [block_bytes, 2, 1, 8, 60, 0];
        let parameters: Vec<_> = names.into_iter().zip(settings.map(|setting| setting as f64)).collect();
        let mut digest = Digest::new(&Spec { seed: 42, bits: 90_000, hashes: 3, ..spec(0, &parameters) }).unwrap();
        let payloads: Vec<Vec<u8>> = (0..60)
            .map(|i| {
                let pattern = random.bytes(1 + i % 11).repeat(if i % 3 == 0 { 0 } else { 70 / (1 + i % 11) });
                [random.bytes(20 + i), pattern, random.bytes(40)].concat()
            })
            .collect();
        (70..).zip(&payloads).for_each(|(id, payload)| digest.add(id, payload).unwrap());
        let payloads: Vec<&[u8]> = payloads.iter().map(|payload| &payload[..]).collect();
        let payload = specified(90_000, 3, settings, 42, &payloads, b"");
        assert!(image(&digest)[256..256 + payload.len()] == payload[..], "{block_bytes}");
    }
}

/// A digest without ids has two levels unless the spec says how many, and one with ids has one.
#[test]
fn levels_suit_what_a_digest_keeps() {
    for (payloads, levels, expected) in [(0.0, 0.0, 2), (5.0, 0.0, 1), (0.0, 1.0, 1), (5.0, 3.0, 3)] {
        assert_eq!(digest(1_000, &[("payloads", payloads), ("levels", levels)]).shape().levels, expected);
    }
    // A digest plans for the groups and the ids of blocks of 32 bytes, or of 31 on average if content cuts them.
    for (cut, ids, of_block) in [(0.0, 0.0, 1.75_f64 / 32.0), (1.0, 0.0, 1.75 / 31.0), (1.0, 5.0, 2.75 / 31.0)] {
        let spec = spec(1_000_000, &[("cut", cut), ("payloads", ids), ("levels", 3.0), ("bytes_per_byte", 0.05)]);
        let (geometry, entries) = (petal::geometry(&spec).unwrap(), (1_000_000.0 * of_block).ceil());
        let fill = 1.0 - (1.0 - 1.0 / geometry.bits as f64).powf(f64::from(geometry.hashes) * entries);
        let told = (ROW.false_positive_rate)(&geometry, 1_000_000);
        assert!((told / fill.powi(geometry.hashes as i32) - 1.0).abs() < 1e-3, "{cut}, {ids}: {told}");
    }
    let mut digest = digest(1_000, &[]);
    let geometry = digest.base().geometry();
    for (hashes, payload_bytes, lines) in [(7, 1 << 20, 7.0), (7, 256, 4.0)] {
        let geometry = petal::format::Geometry { hashes, payload_bytes, ..*geometry };
        assert_eq!((ROW.lines_per_lookup)(&geometry), lines);
    }
    digest.begin(1).unwrap();
    assert!(digest.is_open());
    digest.end().unwrap();
    assert!(!digest.is_open());
}

/// A shape has what a digest can have, and nothing else.
#[test]
fn shapes_have_bounds() {
    let shape = *digest(9_000, &[("payloads", 4.0)]).shape();
    let is_one = |shape: Shape| shape.geometry().is_ok_and(|geometry| Shape::of(&geometry).is_some());
    assert!(is_one(shape));
    for (block_bytes, allowed) in [(7, false), (8, true), (1024, true), (1025, false)] {
        assert_eq!(is_one(Shape { block_bytes, ..shape }), allowed, "{block_bytes}");
    }
    for (levels, allowed) in [(0, false), (1, true), (4, true), (5, false)] {
        assert_eq!(is_one(Shape { levels, ..shape }), allowed, "{levels}");
    }
    for (segment_blocks, allowed) in [(0, false), (8, true), (12, false), (1 << 16, true), ((1 << 16) + 8, false)] {
        assert_eq!(is_one(Shape { segment_blocks, ..shape }), allowed, "{segment_blocks}");
    }
    for (most, allowed) in [(1 << 32, true), ((1 << 32) + 1, false)] {
        assert_eq!(is_one(Shape { payloads: most, ..shape }), allowed, "{most}");
        assert_eq!(is_one(Shape { attachment_bytes: most, ..shape }), allowed, "{most}");
    }
    assert!(!is_one(Shape { bits: 0, ..shape }) && !is_one(Shape { hashes: 0, ..shape }));
    assert!(!is_one(Shape { hashes: 65, ..shape }) && is_one(Shape { hashes: 64, ..shape }));
}

/// A digest that has as much data as its capacity has the rate of an entry that was asked for.
#[test]
fn a_full_digest_has_its_rate() {
    for (ids, levels) in [(0.0, 1.0), (100.0, 1.0), (0.0, 3.0), (100.0, 2.0)] {
        let spec = Spec { false_positive_rate: 0.01, ..spec(64 * 3200, &[("payloads", ids), ("levels", levels)]) };
        let mut digest = Digest::new(&spec).unwrap();
        let mut random = Random(51);
        (0..64).for_each(|id| digest.add(id, &random.bytes(3200)).unwrap());
        assert!((0.0085..0.0115).contains(&digest.entry_rate()), "{ids}, {levels}: {}", digest.entry_rate());
    }
}

/// A digest that contradicts itself is refused when it is loaded, under right checksums too.
#[test]
fn contradicting_words_are_refused() {
    let mut digest = digest(9_000, &[("payloads", 4.0), ("attachment_bytes", 30.0)]);
    digest.add(1, &Random(3).bytes(3000)).unwrap();
    digest.attach(b"names").unwrap();
    let (image, shape) = (image(&digest), *digest.shape());
    let (state, table, attachment) = (shape.state_start(), shape.entry_start(0), shape.attachment_start());
    let bits_set = (digest.fill() * shape.bits as f64).round() as u64;
    for (word, value) in [
        (state + 4, bits_set - 1),
        (state + 1, 3),
        (state + 2, 2999),
        (table + 1, 3001),
        (table + 2, 1),
        (state + 6, 1),
        (state + 7, 1),
        (attachment + 1, 1),
        (0, u64::MAX),
    ] {
        let mut forged = image.clone();
        forged[256 + 8 * word..][..8].copy_from_slice(&value.to_le_bytes());
        seal(&mut forged);
        let status = load_as::<Digest>(&forged, &OpenOptions::default()).map(drop).map_err(|error| error.status());
        assert_eq!(status, Err(Status::Corrupt), "word {word}: {value}");
    }
    // Blocks are never hashed by the caller.
    let mut external = image.clone();
    external[16] = 4;
    seal(&mut external);
    assert_eq!(load_as::<Digest>(&external, &OpenOptions::default()).unwrap_err().status(), Status::Corrupt);
}

/// Without ids a match says where in a segment the excerpt begins, even if its first block begins the next segment.
/// Attachments keep their length, and only excerpts that are too short have the rate 1.
#[test]
fn places_without_ids_attachments_and_short_lengths() {
    let settings = [("payloads", 0.0), ("block_bytes", 16.0), ("segment_blocks", 8.0), ("attachment_bytes", 70.0)];
    let mut digest = digest(1 << 16, &settings);
    let payload = Random(71).bytes(3_000);
    digest.add(1, &payload).unwrap();
    for start in 0..300 {
        let found = find(&digest, &payload[start..start + 200]);
        let offset = start as u64 % digest.shape().segment_bytes();
        assert!(found.matches.iter().any(|found| (found.offset, found.span) == (offset, 1)), "{start}: {found:?}");
        assert!(found.matches.iter().all(|found| found.offset < digest.shape().segment_bytes()));
    }
    for length in [0, 1, 8, 9, 17, 40, 64, 70] {
        digest.attach(&vec![length as u8; length]).unwrap();
        assert_eq!(digest.attachment().unwrap(), vec![length as u8; length]);
    }
    let least = digest.shortest_excerpt();
    assert_eq!([0, 1, least - 1].map(|length| digest.expected_rate(length)), [1.0; 3]);
    assert!(digest.expected_rate(least) < 1.0);
}

/// A digest counts thousands of segments; one without ids has none, and keeps its attachment.
#[test]
fn many_segments_have_room() {
    let mut many = digest(1 << 19, &[("payloads", 3.0), ("block_bytes", 8.0), ("segment_blocks", 8.0)]);
    let payload = Random(67).bytes(300_000);
    many.add(1, &payload).unwrap();
    many.add(2, &payload[..1_000]).unwrap();
    assert_eq!(many.statistics().segments, 4_688 + 16);
    let mut without = digest(1 << 19, &[("payloads", 0.0), ("attachment_bytes", 30.0)]);
    without.attach(b"names").unwrap();
    without.add(9, &payload).unwrap();
    assert_eq!((without.attachment().unwrap(), without.statistics().segments), (b"names".to_vec(), 0));
    let mut forged = image(&without);
    forged[256 + 8 * (without.shape().state_start() + 1)] = 1;
    seal(&mut forged);
    assert_eq!(load_as::<Digest>(&forged, &OpenOptions::default()).unwrap_err().status(), Status::Corrupt);
}

/// Counters at their greatest values make an image that opens, and so does the image after further additions.
#[test]
fn counters_at_their_greatest_stay_there() {
    let mut digest = digest(9_000, &[("payloads", 90.0), ("block_bytes", 8.0), ("segment_blocks", 8.0)]);
    digest.add(1, &[7; 300]).unwrap();
    let (shape, most) = (*digest.shape(), 1 << 62);
    let load = |image: &[u8]| load_as::<Digest>(image, &OpenOptions::default());
    let forged = |words: &[(usize, u64)]| {
        let mut forged = image(&digest);
        words.iter().for_each(|(word, value)| forged[256 + 8 * word..][..8].copy_from_slice(&value.to_le_bytes()));
        seal(&mut forged);
        load(&forged)
    };
    let state = shape.state_start();
    let mut entries = forged(&[(state + 3, most)]).unwrap();
    entries.add(2, &[9; 300]).unwrap();
    load(&image(&entries)).unwrap().verify().unwrap();
    // 64 payloads that take all segments: the next one would have no number.
    let words: Vec<_> = (1..65).map(|payload| (shape.entry_start(payload) + 1, most)).collect();
    let segments = shape.segments_of(300) + 64 * shape.segments_of(most);
    let counts = [(state, 65), (state + 1, segments), (state + 2, most)];
    assert!(forged(&[&words[..], &counts].concat()).is_err());
    let words: Vec<_> = (1..64).map(|payload| (shape.entry_start(payload) + 1, most)).collect();
    let segments = shape.segments_of(300) + 63 * shape.segments_of(most);
    let last = (shape.entry_start(64) + 1, most - 1024);
    let counts = [(state, 65), (state + 1, segments + shape.segments_of(most - 1024)), (state + 2, most)];
    let mut full = forged(&[&words[..], &[last], &counts].concat()).unwrap();
    let before = image(&full);
    assert_eq!(full.add(2, &[9; 3000]).unwrap_err().status(), Status::Full);
    assert!(image(&full) == before && !full.is_open());
}

/// A digest over a real tree, the sources of the core: excerpts are found in their file at their offset, and those of
/// other files are not.
#[test]
fn a_tree_of_files() {
    let mut files: Vec<std::path::PathBuf> = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let contents: Vec<Vec<u8>> = files.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let bytes: usize = contents.iter().map(Vec::len).sum();
    for cut in [0.0, 1.0] {
        let settings = [("cut", cut), ("payloads", files.len() as f64), ("bytes_per_byte", 0.1)];
        let mut digest = digest(bytes as u64, &settings);
        (0..).zip(&contents).for_each(|(id, content)| digest.add(id, content).unwrap());
        let mut random = Random(43);
        let (mut asked, mut non_members) = (0, 0);
        while asked < 300 {
            let index = random.below(files.len() as u64);
            let content = &contents[index as usize];
            if content.len() < 1_000 {
                continue;
            }
            let at = random.below(content.len() as u64 - 500) as usize;
            let found = find(&digest, &content[at..at + 400]);
            // Files repeat lines, so that there may be other matches as well.
            assert!(has(&found, index, at as u64) || !found.is_complete, "{:?} at {at}", files[index as usize]);
            asked += 1;
            // A non-member: the same bytes with every fifth one changed.
            let mut non_member = content[at..at + 400].to_vec();
            non_member.iter_mut().step_by(5).for_each(|byte| *byte ^= 1);
            non_members += u32::from(find(&digest, &non_member).is_found());
        }
        assert_eq!(non_members, 0, "cut {cut}");
    }
}
