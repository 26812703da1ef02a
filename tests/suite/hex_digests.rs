//! Filters of `bloom` whose keys are digests: their positions are fields of the digests, taken here from hexadecimal
//! digits.

use crate::common::{Buffer, image, mix};
use crate::format::seal;
use petal::{
    Answers, Capabilities, Filter, HashFunction, Image, Keys, KindId, Mode, OpenOptions, Setting, Spec, Status, load,
};

/// A filter of digests of `digest_bits` bits.
fn spec(digest_bits: u64, bits: u64, hashes: u32, partitioned: bool) -> Spec {
    let spec = Spec { kind: Some(KindId(1)), bits, hashes, capacity: 100, ..Spec::default() };
    of_digests(digest_bits, partitioned, spec)
}

fn of_digests(digest_bits: u64, partitioned: bool, spec: Spec) -> Spec {
    let mut spec = Spec { kind: Some(KindId(1)), hash: HashFunction::Digest, seed: digest_bits, ..spec };
    if partitioned {
        spec.parameters[0] = Setting { id: petal::kinds::bloom::PARTITIONED.id(), value: 1.0 };
    }
    spec
}

/// Digest `i` of a set: as good as the digests of a cryptographic hash.
fn digest(set: u64, i: u64, digest_bits: u64) -> Vec<u8> {
    let word = |j: u64| mix(mix(set ^ i << 8).wrapping_add(mix(j))).to_be_bytes();
    (0..8).flat_map(word).take(digest_bits as usize / 8).collect()
}

/// Digests one after the other.
fn digests(set: u64, count: u64, digest_bits: u64) -> Vec<u8> {
    (0..count).flat_map(|i| digest(set, i, digest_bits)).collect()
}

/// The positions of a digest by the description: from its text of binary digits.
fn positions(digest: &[u8], bits: u64, hashes: u64, partitioned: bool) -> Vec<u64> {
    let text: String = digest.iter().map(|byte| format!("{byte:08b}")).collect();
    let width = (text.len() / hashes as usize).min(64);
    let range = if partitioned { bits / hashes } else { bits };
    (0..hashes)
        .map(|i| {
            let field = u64::from_str_radix(&text[i as usize * width..][..width], 2).unwrap();
            let place = (u128::from(field) * u128::from(range)) >> width;
            place as u64 + if partitioned { i * range } else { 0 }
        })
        .collect()
}

fn set_bits(filter: &Filter) -> Vec<u64> {
    let bytes = image(filter);
    let payload = &bytes[256..][..filter.base().geometry().payload_bytes as usize];
    (0..8 * payload.len() as u64).filter(|bit| payload[*bit as usize / 8] >> (bit % 8) & 1 == 1).collect()
}

/// The digests of a batch that a filter finds; single lookups agree.
fn found(filter: &Filter, digests: &[u8], each: usize) -> u64 {
    let count = digests.len() / each;
    let mut bytes = vec![0; count];
    let mut answers = Answers { bytes: Some(&mut bytes), ..Answers::default() };
    filter.contains_batch(&Keys::Digests { bytes: digests, each }, &mut answers).unwrap();
    let found = answers.true_count;
    for (digest, answer) in digests.chunks(each).zip(&bytes) {
        assert_eq!(filter.contains(digest), *answer == 1);
        assert_eq!(filter.contains_checked(digest).unwrap(), *answer == 1);
    }
    assert_eq!(bytes.iter().map(|answer| u64::from(*answer)).sum::<u64>(), found);
    found
}

/// Single digests, a batch of digests and a batch of byte strings set the bits that the description says, and no
/// others, whatever the length of the digests and the number of fields.
#[test]
fn the_bits_of_a_digest_are_its_fields() {
    let shapes = [
        (128, 1024, 4, false),
        (128, 1000, 7, false),
        (128, 4096, 10, false),
        (160, 1023, 5, true),
        (224, 65_536, 14, false),
        (256, 100_001, 9, false),
        (256, 7 * 12_345, 7, true),
        (384, 512, 40, false),
        (512, 1_000_003, 8, false),
        (512, 64, 64, true),
        (136, 1, 1, false),
    ];
    for (digest_bits, bits, hashes, partitioned) in shapes {
        let spec = spec(digest_bits, bits, hashes, partitioned);
        let each = digest_bits as usize / 8;
        let keys = digests(1, 150, digest_bits);
        let mut filter = petal::Filter::new(&spec).unwrap();
        let (mut by_digests, mut by_bytes) = (filter.copy().unwrap(), filter.copy().unwrap());
        let mut expected = std::collections::BTreeSet::new();
        let mut news = Vec::new();
        for key in keys.chunks(each) {
            let of_key = positions(key, bits, hashes.into(), partitioned);
            let before = expected.len();
            expected.extend(of_key);
            let is_new = expected.len() > before;
            assert_eq!(filter.insert(key).unwrap(), is_new);
            news.push(u8::from(is_new));
        }
        assert_eq!(set_bits(&filter), expected.into_iter().collect::<Vec<_>>(), "{digest_bits} bits, {hashes} fields");
        let mut said = vec![0; news.len()];
        let mut answers = Answers { bytes: Some(&mut said), ..Answers::default() };
        by_digests.insert_batch(&Keys::Digests { bytes: &keys, each }, Some(&mut answers)).outcome.unwrap();
        assert_eq!(said, news);
        let offsets: Vec<u64> = (0..=150).map(|i| i * each as u64).collect();
        by_bytes.insert_batch(&Keys::Bytes { bytes: &keys, offsets: &offsets[..=75] }, None).outcome.unwrap();
        let offsets: Vec<i32> = offsets[75..].iter().map(|offset| *offset as i32).collect();
        by_bytes.insert_batch(&Keys::Bytes32 { bytes: &keys, offsets: &offsets }, None).outcome.unwrap();
        assert!(filter.equals(&by_digests) && filter.equals(&by_bytes));
        assert_eq!(filter.base().count(), 150);
        assert_eq!(by_digests.base().count(), 150);
        assert_eq!(found(&filter, &keys, each), 150);
    }
}

/// The digests of MD5, SHA-1 and SHA-256 of `abc`, as their standards print them, set the bits that their digits say.
#[test]
fn published_digests_have_published_positions() {
    let bytes = |text: &str| -> Vec<u8> {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    };
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let cases: [(&str, u64, u32, &[u64]); 3] = [
        // Four fields of eight digits, scaled to 2^16: the first four digits of each.
        ("900150983cd24fb0d6963f7d28e17f72", 1 << 16, 4, &[0x28e1, 0x3cd2, 0x9001, 0xd696]),
        // Five fields of eight digits, of which 2^12 takes the first three.
        ("a9993e364706816aba3e25717850c26c9cd0d89d", 1 << 12, 5, &[0x470, 0x785, 0x9cd, 0xa99, 0xba3]),
        (sha256, 1 << 16, 8, &[0x4141, 0x5dae, 0x8f01, 0x9617, 0xb003, 0xb410, 0xba78, 0xf200]),
    ];
    for (text, bits, hashes, positions) in cases {
        let mut filter = petal::Filter::new(&spec(4 * text.len() as u64, bits, hashes, false)).unwrap();
        filter.insert(&bytes(text)).unwrap();
        assert_eq!(set_bits(&filter), positions);
    }
}

/// False answers are as many as the formula says, within 4.5 standard deviations. A filter that was asked for a rate
/// keeps the rate.
#[test]
fn the_rate_is_that_of_the_formula() {
    const ABSENT: u64 = 100_000;
    for (digest_bits, rate, partitioned) in
        [(128, 0.02, false), (160, 0.01, true), (256, 0.01, false), (256, 0.002, true), (512, 0.004, false)]
    {
        let sized = Spec { capacity: 5000, false_positive_rate: rate, ..Spec::default() };
        let mut filter = petal::Filter::new(&of_digests(digest_bits, partitioned, sized)).unwrap();
        let each = digest_bits as usize / 8;
        let keys = digests(2, 5000, digest_bits);
        filter.insert_batch(&Keys::Digests { bytes: &keys, each }, None).outcome.unwrap();
        let expected = filter.expected_false_positive_rate(5000);
        assert!(expected <= rate, "{expected} of {rate}");
        let now = filter.statistics().false_positive_rate;
        // The fill of one filter differs a little from the mean that the formula has.
        assert!((now / expected - 1.0).abs() < 0.1, "{now} and {expected}");
        let positives = found(&filter, &digests(3, ABSENT, digest_bits), each) as f64;
        let mean = ABSENT as f64 * now;
        assert!((positives - mean).abs() <= 4.5 * mean.sqrt(), "{digest_bits} bits: {positives}, expected {mean}");
        let keys = filter.cardinality().unwrap();
        assert!((keys - 5000.0).abs() < 4.5 * 60.0, "{keys}");
    }
}

/// Short digests have fewer fields, for which the filter takes more bits. Where that is no longer worth it the digest
/// is refused.
#[test]
fn digests_that_are_too_short_are_refused() {
    let sized = |digest_bits, capacity, false_positive_rate| {
        petal::geometry(&of_digests(digest_bits, false, Spec { capacity, false_positive_rate, ..Spec::default() }))
    };
    let best = sized(512, 1_000_000, 0.01).unwrap();
    assert_eq!((best.bits, best.hashes), {
        let plain = Spec { capacity: 1_000_000, false_positive_rate: 0.01, kind: Some(KindId(1)), ..Spec::default() };
        let plain = petal::geometry(&plain).unwrap();
        (plain.bits, plain.hashes)
    });
    let short = sized(128, 1_000_000, 0.01).unwrap();
    assert!(short.hashes == 4 && short.bits > best.bits && short.bits < best.bits * 3 / 2, "{short:?}");
    let refused = sized(128, 1_000_000, 1e-6).unwrap_err();
    assert_eq!(refused.status(), Status::Contradiction);
    assert!(refused.to_string().contains("too few bits"), "{refused}");
    // 18 bits are enough for 2^18 places, and for 2^10 places if these are no power of two.
    assert!(petal::Filter::new(&spec(128, 1 << 18, 7, false)).is_ok());
    assert!(petal::Filter::new(&spec(128, 1 << 10, 7, false)).is_ok());
    assert!(petal::Filter::new(&spec(128, 1023, 7, false)).is_ok());
    let refused = petal::Filter::new(&spec(128, 1025, 7, false)).err().unwrap();
    assert_eq!(refused.status(), Status::Contradiction);
    assert!(petal::Filter::new(&spec(128, 1 << 19, 7, false)).is_err());
    // The best number for the capacity, with as many fields as there are.
    assert_eq!(petal::geometry(&spec(128, 1025, 0, false)).unwrap().hashes, 6);
}

/// Lengths that no digest has are refused, and so are keys of other lengths, numbers and hashes. Lookups that cannot be
/// answered say maybe. Nothing changes.
#[test]
fn what_is_no_digest_is_refused() {
    for digest_bits in [0, 64, 120, 127, 129, 252, 513, 520, u64::MAX] {
        let refused = petal::Filter::new(&spec(digest_bits, 1024, 4, false)).err().unwrap();
        assert_eq!(refused.status(), Status::OutOfRange, "{digest_bits}: {refused}");
    }
    let mut filter = petal::Filter::new(&spec(256, 1 << 14, 7, false)).unwrap();
    filter.insert(&digest(1, 1, 256)).unwrap();
    let before = image(&filter);
    for length in [0, 1, 8, 16, 31, 33, 64] {
        let key = vec![7; length];
        let refused = filter.insert(&key).unwrap_err();
        assert_eq!(refused.status(), Status::OutOfRange);
        assert!(refused.to_string().contains(&format!("{length} bytes")), "{refused}");
        assert!(filter.contains(&key));
        assert_eq!(filter.contains_checked(&key).unwrap_err().status(), Status::OutOfRange);
    }
    let mut answers = Answers::default();
    let good = digests(1, 3, 256);
    for (keys, status) in [
        (Keys::Hashes(&[1, 2, 3]), Status::Unsupported),
        (Keys::U64(&[1, 2, 3]), Status::OutOfRange),
        (Keys::Bytes { bytes: &good, offsets: &[0, 32, 64, 95] }, Status::OutOfRange),
        (Keys::Bytes { bytes: &good, offsets: &[0, 32, 16, 48] }, Status::Offsets),
        (Keys::Bytes32 { bytes: &good, offsets: &[0, 32, 64, 95] }, Status::OutOfRange),
        (Keys::Bytes32 { bytes: &good, offsets: &[-32, 0, 32] }, Status::Offsets),
        (Keys::Digests { bytes: &good, each: 24 }, Status::OutOfRange),
    ] {
        assert_eq!(filter.insert_batch(&keys, None).outcome.unwrap_err().status(), status);
        assert_eq!(filter.contains_batch(&keys, &mut answers).unwrap_err().status(), status);
        assert_eq!(answers.true_count, keys.len() as u64);
    }
    let uneven = Keys::Digests { bytes: &good[..95], each: 32 };
    assert_eq!(filter.insert_batch(&uneven, None).outcome.unwrap_err().status(), Status::OutOfRange);
    filter.insert_batch(&Keys::Digests { bytes: &[], each: 32 }, None).outcome.unwrap();
    filter.insert_batch(&Keys::U64(&[]), None).outcome.unwrap();
    assert_eq!(filter.insert_hash(7).unwrap_err().status(), Status::Unsupported);
    assert_eq!(filter.insert_u64(7).unwrap_err().status(), Status::OutOfRange);
    assert!(filter.contains_hash(7) && filter.contains_u64(7));
    assert!(filter.insert_shared(&digest(1, 2, 256)).is_err());
    assert!(!filter.capabilities().contains(Capabilities::INSERT_SHARED));
    assert!(image(&filter) == before);
    let builder = petal::Builder::new(&filter.base().spec(), petal::BuilderOptions::default());
    assert_eq!(builder.err().unwrap().status(), Status::Unsupported);
    assert!(filter.compact_size().is_err());
}

/// Filters of other hash functions, maps and sketches do not take digests, and other kinds have no such hash function.
#[test]
fn others_take_no_digests() {
    let keys = digests(1, 3, 128);
    let keys = Keys::Digests { bytes: &keys, each: 16 };
    let mut answers = Answers::default();
    for hash in [HashFunction::Xxh3, HashFunction::External] {
        let mut filter = petal::Filter::new(&Spec { hash, ..Spec::with_capacity(100, 0.01).unwrap() }).unwrap();
        let refused = filter.insert_batch(&keys, None).outcome.unwrap_err();
        assert_eq!(refused.status(), Status::Contradiction);
        assert!(refused.to_string().contains(hash.name()), "{refused}");
        let refused = filter.contains_batch(&keys, &mut answers).unwrap_err();
        assert_eq!((refused.status(), answers.true_count), (Status::Contradiction, 3));
    }
    let guava = petal::interop::find("guava").unwrap().spec(100, 0.01, None, 0).unwrap();
    let refused = petal::Filter::new(&guava).unwrap().insert_batch(&keys, None).outcome.unwrap_err();
    assert_eq!(refused.status(), Status::Contradiction);
    for row in petal::registry::every().filter(|row| !row.hashing.takes_digests) {
        let spec = of_digests(256, false, Spec { capacity: 100, ..Spec::default() });
        let spec = Spec { kind: Some(row.kind), ..spec };
        assert!(row.hasher(&spec).is_err(), "{}", row.name);
    }
    let mut slices = spec(256, 1024, 4, false);
    slices.parameters[0] = Setting { id: petal::kinds::bloom::DERIVATION.id(), value: 2.0 };
    assert_eq!(petal::Filter::new(&slices).err().unwrap().status(), Status::Contradiction);
    let keyed = Spec { secret: Some([7; 16]), ..spec(256, 1024, 4, false) };
    assert_eq!(petal::Filter::new(&keyed).err().unwrap().status(), Status::Contradiction);
}

/// Merged, intersected and folded filters are those of the same digests. Filters of other lengths do not merge.
#[test]
fn filters_of_digests_are_combined_and_folded() {
    for partitioned in [false, true] {
        let spec = spec(256, 6 * 1024, 6, partitioned);
        let of = |from: u64, to: u64, spec: &Spec| {
            let mut filter = petal::Filter::new(spec).unwrap();
            (from..to).for_each(|i| assert!(filter.insert(&digest(1, i, 256)).is_ok()));
            filter
        };
        let (mut left, right, both) = (of(0, 60, &spec), of(40, 100, &spec), of(0, 100, &spec));
        let estimate = petal::estimate_overlap(&left, &right).unwrap();
        assert!((estimate.union.unwrap().value - 100.0).abs() < 20.0);
        left.merge(&right).unwrap();
        assert!(left.equals(&both));
        left.intersect(&right).unwrap();
        assert_eq!(found(&left, &digests(1, 100, 256)[40 * 32..], 32), 60);
        let mut folded = both.copy().unwrap();
        folded.fold(4).unwrap();
        assert!(folded.equals(&of(0, 100, &Spec { bits: 6 * 256, ..spec })));
        assert_eq!(found(&folded, &digests(1, 100, 256), 32), 100);
        folded.insert(&digest(1, 100, 256)).unwrap();
        assert!(folded.equals(&of(0, 101, &Spec { bits: 6 * 256, ..spec })));
        let other = petal::Filter::new(&Spec { seed: 384, ..spec }).unwrap();
        assert_eq!(left.merge(&other).unwrap_err().status(), Status::Incompatible);
    }
}

/// Images keep the hash function and the length. They are changed in place, and an image of each length is committed.
#[test]
fn images_of_digests_are_opened_again() {
    for (name, digest_bits, bits, hashes, partitioned) in [
        ("bloom-digest_128.petal", 128, 1024, 7, false),
        ("bloom-digest_160-partitioned.petal", 160, 1020, 6, true),
        ("bloom-digest_256.petal", 256, 1023, 7, false),
        ("bloom-digest_512.petal", 512, 1023, 7, false),
    ] {
        let spec = spec(digest_bits, bits, hashes, partitioned);
        let each = digest_bits as usize / 8;
        let mut filter = petal::Filter::new(&spec).unwrap();
        let keys = digests(0, 100, digest_bits);
        filter.insert_batch(&Keys::Digests { bytes: &keys, each }, None).outcome.unwrap();
        let bytes = image(&filter);
        let committed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/digests").join(name);
        if std::env::var_os("PETAL_UPDATE").is_some() && !committed.exists() {
            std::fs::write(&committed, &bytes).unwrap();
        }
        assert!(std::fs::read(&committed).expect(name) == bytes, "{name} is written with other bytes now");
        let again: Filter = load(&bytes, &OpenOptions::default()).unwrap();
        assert!(again.equals(&filter));
        assert_eq!(again.base().header().hash, HashFunction::Digest);
        assert_eq!(again.base().header().identifier, digest_bits);
        assert_eq!(found(&again, &keys, each), 100);
        assert!(petal::Filter::new(&again.base().spec()).unwrap().base().geometry() == filter.base().geometry());
        let mut packed = Vec::new();
        let take = &mut |piece: &[u8]| {
            packed.extend_from_slice(piece);
            Ok(())
        };
        petal::wire::pack(&filter, take).unwrap();
        assert!(image(&petal::wire::unpack::<Filter>(&packed, 1 << 20, None).unwrap()) == bytes, "{name} packed");
        let mut buffer = Buffer::of(&bytes);
        buffer.open(Mode::Write, None, |opened| {
            let opened = opened.unwrap();
            opened.insert(&digest(9, 1, digest_bits)).unwrap();
            opened.sync().unwrap();
        });
        filter.insert(&digest(9, 1, digest_bits)).unwrap();
        assert!(buffer.bytes() == image(&filter), "{name} in place");
    }
}

/// Words of the header that no filter of digests has are refused, even with right checksums: a width of fields that is
/// not that of the digests, a length that digests do not have, another hash function with fields, and fields that are
/// too narrow.
#[test]
fn forged_words_are_refused() {
    let filter = petal::Filter::new(&spec(256, 4095, 7, false)).unwrap();
    let good = image(&filter);
    let (hash, hashes, identifier, bits, words) = (16, 20, 40, 64, 72);
    let number = |at: usize| u64::from_le_bytes(good[at..at + 8].try_into().unwrap());
    let word = |at: usize| u32::from_le_bytes(good[at..at + 4].try_into().unwrap());
    assert_eq!((word(hash), word(hashes), number(identifier), number(bits)), (9, 7, 256, 4095));
    assert_eq!([0, 1, 2, 3].map(|i| number(words + 8 * i)), [0, 0, 0, 36]);
    let forged = |changes: &[(usize, u64, usize)]| {
        let mut bytes = good.clone();
        for (at, value, length) in changes {
            bytes[*at..at + length].copy_from_slice(&value.to_le_bytes()[..*length]);
        }
        seal(&mut bytes);
        load(&bytes, &OpenOptions::default()).map(drop).map_err(|error| error.status())
    };
    assert_eq!(forged(&[]), Ok(()));
    for width in [0, 1, 20, 35, 37, 64, 65, u64::MAX] {
        assert_eq!(forged(&[(words + 24, width, 8)]), Err(Status::Corrupt), "fields of {width} bits");
    }
    for digest_bits in [0, 8, 120, 248, 250, 264, 512, 520, 1 << 32 | 256, u64::MAX] {
        assert_eq!(forged(&[(identifier, digest_bits, 8)]), Err(Status::Corrupt), "digests of {digest_bits} bits");
    }
    for function in [1, 2, 4] {
        assert_eq!(forged(&[(hash, function, 4)]), Err(Status::Corrupt), "hash {function} with fields");
        assert_eq!(forged(&[(hash, function, 4), (words + 24, 0, 8)]), Ok(()));
    }
    for count in [1, 6, 8, 64, 65] {
        assert_eq!(forged(&[(hashes, count, 4)]), Err(Status::Corrupt), "{count} fields");
    }
    for (derivation, slice_width) in [(1, 0), (2, 28), (3, 0), (0, 28)] {
        let changes = [(words + 8, derivation, 8), (words + 16, slice_width, 8)];
        assert_eq!(forged(&changes), Err(Status::Corrupt), "derivation {derivation}");
    }
    // 21 fields of 12 bits are too narrow for 4095 places, and just right for 4096.
    assert_eq!(forged(&[(hashes, 21, 4), (words + 24, 12, 8)]), Err(Status::Corrupt));
    assert_eq!(forged(&[(hashes, 21, 4), (words + 24, 12, 8), (bits, 4096, 8)]), Ok(()));
    assert_eq!(forged(&[(hashes, 22, 4), (words + 24, 11, 8), (bits, 4096, 8)]), Err(Status::Corrupt));
}
