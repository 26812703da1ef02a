//! Chains of links as other systems make them (`foreign_scalable`), and the cuckoo filters of RedisBloom: what their
//! own commands would have done, and which bytes are refused.

use crate::common::{Buffer, image};
use petal::interop::{self, ImportOptions};
use petal::{Answers, Filter, Image, Keys, Mode, OpenOptions, Spec, Status};

fn vector(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("formats");
    std::fs::read(folder.join(name)).expect(name)
}

fn import(format: &str, bytes: &[u8]) -> petal::Result<Filter> {
    interop::find(format).unwrap().import(bytes, &ImportOptions::default())
}

fn export(format: &str, filter: &Filter) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    interop::find(format).unwrap().export(filter, None, &mut sink).unwrap();
    bytes
}

fn reserve(capacity: u64, rate: f64, variant: &str, expansion: f64) -> Spec {
    let mut spec = interop::find("redisbloom").unwrap().spec(capacity, rate, Some(variant), 0).unwrap();
    let row = petal::row_of(&spec).unwrap();
    spec.set(row.parameter("expansion").unwrap(), expansion).unwrap();
    spec
}

fn key(i: u64) -> Vec<u8> {
    format!("key-{i}").into_bytes()
}

/// Inserts `key-0` to `key-(keys - 1)`, and returns how many were new.
fn add(filter: &mut Filter, keys: u64) -> u64 {
    (0..keys).map(|i| u64::from(filter.insert(&key(i)).unwrap())).sum()
}

/// RedisBloom itself said how many of the keys were new to it, and wrote the bytes.
#[test]
fn keys_are_added_as_redisbloom_adds_them() {
    for (name, capacity, rate, variant, expansion, keys, added) in [
        ("100-10", 100, 0.01, "scaling", 2.0, 10, 10),
        ("10-40", 10, 0.01, "scaling", 2.0, 40, 40),
        ("10-60", 10, 0.1, "scaling", 4.0, 60, 58),
        ("100-100", 100, 0.001, "nonscaling", 2.0, 100, 100),
        ("1000-1", 1000, 0.01, "scaling", 2.0, 1, 1),
    ] {
        let mut filter = petal::Filter::new(&reserve(capacity, rate, variant, expansion)).unwrap();
        let mut batched = filter.copy().unwrap();
        assert_eq!(add(&mut filter, keys), added, "{name}");
        let bytes: Vec<u8> = (0..keys).flat_map(key).collect();
        let ends = (0..keys).scan(0, |end, i| {
            *end += key(i).len() as u64;
            Some(*end)
        });
        let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let mut answers = Answers::default();
        let taken = batched.insert_batch(&Keys::Bytes { bytes: &bytes, offsets: &offsets }, Some(&mut answers));
        taken.outcome.unwrap();
        assert_eq!((answers.true_count, taken.keys), (added, keys as usize));
        let written = vector(&format!("redisbloom/{name}.bin"));
        assert!(export("redisbloom", &filter) == written, "{name}");
        // The imported filter is the same, and goes on as the one that was made.
        let mut imported = import("redisbloom", &written).unwrap();
        assert!(imported.equals(&filter) && imported.equals(&batched));
        for i in keys..keys + 200 {
            let (here, there) = (filter.insert(&key(i)), imported.insert(&key(i)));
            assert_eq!(here.as_ref().ok(), there.as_ref().ok());
            assert!(here.is_ok() || variant == "nonscaling");
        }
        assert!(imported.equals(&filter), "{name}");
    }
}

/// A full filter that does not scale takes no new key, knows the old ones, and is not changed.
#[test]
fn a_filter_that_does_not_scale_is_full() {
    let mut filter = import("redisbloom", &vector("redisbloom/100-100.bin")).unwrap();
    let before = export("redisbloom", &filter);
    assert_eq!(filter.insert(&key(7)).ok(), Some(false));
    let new = (0..).map(|i| format!("new-{i}")).find(|text| !filter.contains(text.as_bytes())).unwrap();
    assert_eq!(filter.insert(new.as_bytes()).unwrap_err().status(), Status::Full);
    let keys = [key(1), key(2), new.into_bytes(), key(3)];
    let ends = keys.iter().scan(0, |end, key| {
        *end += key.len() as u64;
        Some(*end)
    });
    let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
    let taken = filter.insert_batch(&Keys::Bytes { bytes: &keys.concat(), offsets: &offsets }, None);
    assert_eq!((taken.keys, taken.outcome.unwrap_err().status()), (2, Status::Full));
    assert!(export("redisbloom", &filter) == before && !filter.contains(&keys[2]));
}

/// In place a chain keeps its links: it takes keys until the newest is full, and a copy grows.
#[test]
fn an_image_in_place_does_not_grow() {
    let spec = reserve(50, 0.01, "scaling", 2.0);
    let mut filter = petal::Filter::new(&spec).unwrap();
    let mut buffer = Buffer::of(&image(&filter));
    buffer.open(Mode::Write, None, |open| {
        let open = open.unwrap();
        let taken = (0..).find(|i| open.insert(&key(*i)).is_err()).unwrap();
        assert!((50..60).contains(&taken), "{taken}");
        assert_eq!(open.insert(&key(taken)).unwrap_err().status(), Status::Full);
        assert!(open.insert(&key(0)).is_ok_and(|new| !new));
        open.sync().unwrap();
        add(&mut filter, taken);
        let mut copy = open.copy().unwrap();
        assert!(copy.equals(&filter));
        assert!(copy.insert(&key(taken)).unwrap() && copy.base().geometry().words[1] == 2);
    });
    let loaded: Filter = petal::load(&buffer.bytes(), &OpenOptions::default()).unwrap();
    assert!(loaded.equals(&filter));
    // In another buffer, with links that grew before.
    add(&mut filter, 200);
    let mut buffer = Buffer::of(&image(&filter));
    buffer.open(Mode::Read, None, |open| {
        let open = open.unwrap();
        assert!((0..200).all(|i| open.contains(&key(i))));
        assert_eq!(open.insert(b"key").unwrap_err().status(), Status::UnsupportedByHandle);
    });
}

/// Chains with the same links have a union, others have none.
#[test]
fn only_chains_of_the_same_links_are_merged() {
    let mut some = petal::Filter::new(&reserve(100, 0.01, "scaling", 2.0)).unwrap();
    let (mut others, mut grown) = (some.copy().unwrap(), some.copy().unwrap());
    add(&mut some, 60);
    (60..90).for_each(|i| assert!(others.insert(&key(i)).is_ok()));
    add(&mut grown, 150);
    let before = some.copy().unwrap();
    assert_eq!(some.merge(&grown).unwrap_err().status(), Status::Incompatible);
    assert!(some.equals(&before));
    some.merge(&others).unwrap();
    assert!((0..90).all(|i| some.contains(&key(i))));
    // The links count the keys of both.
    assert_eq!(export("redisbloom", &some)[..8], 90_u64.to_le_bytes());
    let elsewhere = petal::Filter::new(&reserve(100, 0.001, "scaling", 2.0)).unwrap();
    assert_eq!(some.merge(&elsewhere).unwrap_err().status(), Status::Incompatible);
    grown.clear().unwrap();
    assert_eq!((grown.statistics().taken, add(&mut grown, 150)), (0, 150));
}

/// The rates and estimates that a chain states are those that absent keys meet.
#[test]
fn rates_and_estimates_are_those_of_all_links() {
    let spec = reserve(500, 0.05, "scaling", 2.0);
    let mut filter = petal::Filter::new(&spec).unwrap();
    let keys = 20_000;
    add(&mut filter, keys);
    let absent = 100_000;
    let found = (0..absent).filter(|i| filter.contains(format!("absent-{i}").as_bytes())).count() as f64;
    let measured = filter.statistics().false_positive_rate;
    let sigma = (measured / absent as f64).sqrt();
    assert!((found / absent as f64 - measured).abs() < 4.5 * sigma, "{found} of {absent}, and not {measured}");
    let expected = filter.expected_false_positive_rate(keys);
    assert!((measured / expected - 1.0).abs() < 0.1 && expected < 0.05, "{measured} {expected}");
    let estimate = petal::estimate(&filter).unwrap().unwrap();
    let off = estimate.value - keys as f64;
    assert!(off.abs() < 4.5 * estimate.standard_error && estimate.standard_error < 200.0, "{estimate:?}");
    // The spec of a grown filter makes the filter that it was at first.
    let again = petal::Filter::new(&filter.base().spec()).unwrap();
    assert!(again.equals(&petal::Filter::new(&spec).unwrap()));
}

const LINK: usize = 20;

fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

/// What RedisBloom's loader refuses is refused, and so is what would read past an array.
#[test]
fn headers_that_redisbloom_would_not_load_are_refused() {
    let good = vector("redisbloom/10-40.bin");
    let refused: [(usize, &[u8]); 13] = [
        (0, &41_u64.to_le_bytes()),
        (8, &0_u32.to_le_bytes()),
        (8, &u32::MAX.to_le_bytes()),
        (12, &16_u32.to_le_bytes()),
        (LINK, &u64::MAX.to_le_bytes()),
        (LINK + 8, &120_u64.to_le_bytes()),
        (LINK + 24, &1.0_f64.to_le_bytes()),
        (LINK + 24, &0.0_f64.to_le_bytes()),
        (LINK + 24, &f64::NAN.to_le_bytes()),
        (LINK + 32, &12.0_f64.to_le_bytes()),
        (LINK + 40, &9_u32.to_le_bytes()),
        (LINK + 44, &0_u64.to_le_bytes()),
        (LINK + 52, &[8]),
    ];
    for (at, field) in refused {
        let mut bytes = good.clone();
        put(&mut bytes, at, field);
        assert!(import("redisbloom", &bytes).is_err(), "{field:x?} at {at}");
    }
    // A shorter modulus than bits are set.
    let mut bytes = good.clone();
    put(&mut bytes, LINK + 52, &[6]);
    assert_eq!(import("redisbloom", &bytes).unwrap_err().status(), Status::Corrupt);
}

/// Filters from before the options that all commands now give: places modulo a power of two, 32-bit hashes.
#[test]
fn older_filters_are_read_and_take_keys() {
    let mut bytes = vector("redisbloom/100-10.bin");
    // 1024 bits of 1152: 128 bytes of 144.
    bytes.truncate(LINK + 53 + 128);
    for (at, field) in [(0, 0_u64), (LINK, 128), (LINK + 8, 1024), (LINK + 16, 0)] {
        put(&mut bytes, at, &field.to_le_bytes());
    }
    bytes[LINK + 53..].fill(0);
    let plain = bytes.clone();
    for options in [0_u32, 4] {
        put(&mut bytes, 12, &options.to_le_bytes());
        bytes[LINK + 52] = 9;
        let (mut halved, mut whole) = (import("redisbloom", &bytes).unwrap(), {
            let mut plain = plain.clone();
            put(&mut plain, 12, &(options | 1).to_le_bytes());
            import("redisbloom", &plain).unwrap()
        });
        assert!(export("redisbloom", &halved) == bytes);
        add(&mut halved, 20);
        add(&mut whole, 20);
        let (halved, whole) = (export("redisbloom", &halved), export("redisbloom", &whole));
        let (a, b) = (&halved[LINK + 53..], &whole[LINK + 53..]);
        // 512 divides 1024: the upper half of the bits falls onto the lower one.
        let folded: Vec<u8> = b[..64].iter().zip(&b[64..]).map(|(low, high)| low | high).collect();
        assert!(a[..64] == folded && a[64..].iter().all(|byte| *byte == 0));
    }
    // Such links are not added.
    put(&mut bytes, LINK + 16, &100_u64.to_le_bytes());
    put(&mut bytes, 0, &100_u64.to_le_bytes());
    let mut full = import("redisbloom", &bytes).unwrap();
    assert_eq!(full.insert(b"new").unwrap_err().status(), Status::Full);
}

/// The next filter of an object is as large as the crate makes one for its capacity and rate.
#[test]
fn objects_of_valkey_grow() {
    let mut bytes = vector("valkey_chain/one.bin");
    put(&mut bytes, 1, &2_u32.to_le_bytes());
    let end = bytes.len() - 16;
    put(&mut bytes, end, &100_u64.to_le_bytes());
    let mut filter = import("valkey_chain", &bytes).unwrap();
    assert!(filter.insert(b"one more").unwrap() && filter.contains(b"abc"));
    let grown = export("valkey_chain", &filter);
    let second = &grown[bytes.len()..];
    // 200 keys at 0.005: 276 bytes, 8 hashes, under the secrets of the first.
    assert_eq!(
        second[..21],
        [&(45 + 276_u64).to_le_bytes()[..], &[1], &276_u64.to_le_bytes(), &8_u32.to_le_bytes()].concat()
    );
    assert_eq!(second[21..53], bytes[30 + 8 + 13..][..32]);
    assert_eq!(second[53 + 276..], [1_u64.to_le_bytes(), 200_u64.to_le_bytes()].concat());
    assert!(import("valkey_chain", &grown).unwrap().equals(&filter));
    // An object whose filters have different secrets is none.
    let mut other = grown.clone();
    other[bytes.len() + 30] ^= 1;
    assert_eq!(import("valkey_chain", &other).unwrap_err().status(), Status::Corrupt);
    // One that does not expand is full.
    put(&mut bytes, 1, &0_u32.to_le_bytes());
    assert_eq!(import("valkey_chain", &bytes).unwrap().insert(b"one more").unwrap_err().status(), Status::Full);
}

/// Cuckoo filters say their rate; impossible tables are refused.
#[test]
fn cuckoo_filters_are_read() {
    let good = vector("redisbloom_cuckoo/32-100.bin");
    let filter = import("redisbloom_cuckoo", &good).unwrap();
    assert_eq!(filter.statistics().taken, 100);
    let absent = 20_000;
    let found = (0..absent).filter(|i| filter.contains(format!("absent-{i}").as_bytes())).count() as f64;
    let rate = filter.statistics().false_positive_rate;
    assert!((found - rate * absent as f64).abs() < 4.5 * (rate * absent as f64).sqrt(), "{found} and not {rate}");
    let refused: [(usize, &[u8]); 6] = [
        (0, &500_u64.to_le_bytes()),
        (8, &7_u64.to_le_bytes()),
        (8, &(1_u64 << 63).to_le_bytes()),
        (24, &u64::MAX.to_le_bytes()),
        (32, &0_u16.to_le_bytes()),
        (36, &3_u16.to_le_bytes()),
    ];
    for (at, field) in refused {
        let mut bytes = good.clone();
        put(&mut bytes, at, field);
        assert!(import("redisbloom_cuckoo", &bytes).is_err(), "{field:x?} at {at}");
    }
}
