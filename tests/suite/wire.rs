//! Packed forms and deltas of every kind: their sizes compared with the entropy, what comes back, and bytes that are
//! damaged.

use crate::common::{
    all_layouts, each, empty, filled, golden, hash_of, image, is_soak, is_wanted, mix, share_of, try_empty,
};
use petal::wire::sparse::{best, plan};
use petal::wire::{delta, pack, patch, unpack};
use petal::{Capabilities, Filter, HashFunction, Image, Map, OpenOptions, Result, Sketch, Spec, Status, registry};

/// The most bytes of an image that the tests allow.
const LIMIT: u64 = 1 << 26;

/// How many bytes a packed form may have beyond the entropy and a hundredth of it.
const BESIDE: f64 = 32.0;

/// What a function gives to its sink.
fn written(write: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&mut |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(bytes)
}

fn packed(image: &impl Image) -> Vec<u8> {
    written(|sink| pack(image, sink)).unwrap()
}

fn difference<H: Image>(old: &H, new: &H) -> Result<Vec<u8>> {
    written(|sink| delta(old, new, sink))
}

/// The payload of an image.
fn payload(image: &impl Image) -> Vec<u8> {
    let words = image.base().words().shared().iter();
    words.flat_map(|word| word.load(std::sync::atomic::Ordering::Relaxed).to_le_bytes()).collect()
}

/// The entropy of the fill of these bytes, in bytes.
fn entropy(bytes: &[u8]) -> f64 {
    let ones = bytes.iter().map(|byte| f64::from(byte.count_ones())).sum::<f64>();
    let bits = 8.0 * bytes.len() as f64;
    let share = ones / bits;
    if ones == 0.0 || ones == bits {
        return 0.0;
    }
    -bits * (share * share.log2() + (1.0 - share) * (1.0 - share).log2()) / 8.0
}

fn is_small(name: &str, packed: &[u8], bound: f64) {
    let length = packed.len() as f64;
    assert!(length <= 1.01 * bound + BESIDE, "{name}: {length} bytes for an entropy of {bound:.1}");
}

/// Keys that a filter of this spec holds.
fn some(spec: &Spec, keys: u64) -> Filter {
    filled(spec, 0..keys)
}

// ---- Sizes -------------------------------------------------------------------------------------------------------

/// Every fill of a bit array costs its entropy, and the array comes back.
#[test]
fn every_fill_costs_its_entropy() {
    for kind in ["bloom", "split_block", "blocked"] {
        let kind = registry::find_name(kind).unwrap();
        for (bits, fills) in [
            (1 << 26, [1e-6, 1e-5, 3e-4].as_slice()),
            (1 << 19, &[1e-3, 0.01, 0.1, 0.25, 0.4, 0.47, 0.5, 0.8, 0.97, 0.99]),
        ] {
            for fill in fills {
                let hashes = [("bloom", 1), ("split_block", 0), ("blocked", 4)];
                let hashes = hashes.iter().find(|(name, _)| *name == kind.name).unwrap().1;
                let spec =
                    Spec { kind: Some(kind.kind), bits, hashes, hash: HashFunction::External, ..Spec::default() };
                let mut filter = empty(&spec);
                let each = f64::from(filter.base().geometry().hashes);
                let keys = -(1.0_f64 - fill).ln() * bits as f64 / each;
                for i in 0..keys.round() as u64 {
                    filter.insert_hash(mix(i + 1)).unwrap();
                }
                let (form, bound) = (packed(&filter), entropy(&payload(&filter)));
                println!("{} {fill}: {} bytes, entropy {bound:.1}", kind.name, form.len());
                is_small(kind.name, &form, bound);
                let back: Filter = unpack(&form, LIMIT, None).unwrap();
                assert_eq!(image(&back), image(&filter), "{} {fill}", kind.name);
            }
        }
    }
}

/// The forms of all kinds are within the entropy of their fill, and all images come back.
#[test]
fn filters_of_every_kind_come_back() {
    let cases = share_of(all_layouts(), 3, "filters_of_every_kind_come_back");
    each(
        cases.into_iter().filter(|case| !case.row.is_map()),
        |case| case.name(),
        |case| {
            for keys in [0, 40, 1000] {
                let spec = case.sized(1000, 0.01);
                let filter = if keys == 0 {
                    let Ok(filter) = try_empty(&spec) else { continue };
                    filter
                } else {
                    some(&spec, case.room_for(keys, 1000))
                };
                let form = packed(&filter);
                // The header has the kind's words besides what all filters have.
                let words = filter.base().geometry().words.iter();
                let bits: u32 = words.map(|word| 8 * (u64::BITS - word.leading_zeros()).div_ceil(7)).sum();
                is_small(&case.name(), &form, entropy(&payload(&filter)) + f64::from(bits) / 8.0);
                let back: Filter = unpack(&form, filter.serialized_size(), None).unwrap();
                assert_eq!(image(&back), image(&filter), "{keys} keys");
                let error = unpack::<Filter>(&form, filter.serialized_size() - 1, None).err().unwrap();
                assert_eq!(error.status(), Status::TooLarge);
            }
        },
    );
}

/// A form takes less than 100 bytes more than the payload, whatever the payload is.
#[test]
fn golden_images_of_every_handle_come_back() {
    fn try_one<H: Image>(bytes: &[u8]) -> bool {
        let Ok(handle) = petal::load_as::<H>(bytes, &OpenOptions::default()) else { return false };
        let form = packed(&handle);
        assert!(form.len() < payload(&handle).len() + 100, "{} bytes", form.len());
        let again = image(&handle);
        assert_eq!(image(&unpack::<H>(&form, LIMIT, None).unwrap()), again);
        let same = difference(&handle, &handle).unwrap();
        assert!(same.len() < 40, "{} bytes say that nothing changed", same.len());
        assert_eq!(image(&patch(&handle, &same, LIMIT).unwrap()), again);
        true
    }
    let mut tried = 0;
    for row in registry::every().filter(|row| is_wanted(row)) {
        for (name, bytes) in golden::files(row) {
            let is_image = try_one::<Filter>(&bytes) || try_one::<Map>(&bytes) || try_one::<Sketch>(&bytes);
            tried += u32::from(is_image);
            println!("{} {name}: {is_image}", row.name);
        }
    }
    assert!(tried > 20 || crate::common::is_one_kind(), "{tried} golden images were tried");
}

/// Arrays of different fill in one payload have their own runs, so that they take less than their common entropy.
#[test]
fn levels_of_different_fill_take_less_than_one_fill() {
    let row = registry::find_name("scalable").unwrap();
    let spec = Spec { kind: Some(row.kind), capacity: 20_000, false_positive_rate: 0.001, ..Spec::default() };
    let mut filter = empty(&spec);
    for i in 0..70_000 {
        filter.insert_hash(hash_of(&spec, i)).unwrap();
    }
    let (form, bound) = (packed(&filter), entropy(&payload(&filter)));
    assert!((form.len() as f64) < 0.99 * bound, "{} bytes, entropy {bound:.1}", form.len());
}

/// A payload with most bits set is as small as one with most bits clear, up to one with a single bit that is clear.
#[test]
fn mostly_ones_are_small_too() {
    let row = registry::find_name("exact_bits").unwrap();
    let universe = 1 << 19;
    let spec = Spec { kind: Some(row.kind), bits: universe, ..Spec::default() };
    for clear in [1, 2, 5, 50, 500, 5000, 50_000] {
        let mut filter = empty(&spec);
        for i in (0..universe).filter(|i| !mix(i + 1).is_multiple_of(universe / clear)) {
            filter.insert_u64(i).unwrap();
        }
        is_small("exact_bits", &packed(&filter), entropy(&payload(&filter)));
        assert_eq!(image(&unpack::<Filter>(&packed(&filter), LIMIT, None).unwrap()), image(&filter), "{clear} clear");
    }
}

/// What a form takes besides the entropy is small at every capacity, for kinds that are made of bits and have their
/// default parameters.
#[test]
fn headers_are_small_at_every_capacity() {
    for name in
        ["bloom", "split_block", "blocked", "counting", "scalable", "stable", "rotating", "age_partitioned", "layered"]
    {
        let row = registry::find_name(name).unwrap();
        for capacity in [1, 10, 1000, 123_456, 1_000_000] {
            let spec = Spec { kind: Some(row.kind), capacity, false_positive_rate: 0.01, ..Spec::default() };
            for keys in [0, 1, 10.min(capacity), 1000.min(capacity)] {
                let filter = some(&spec, keys);
                let form = packed(&filter);
                is_small(&format!("{name} of {capacity} with {keys}"), &form, entropy(&payload(&filter)));
                assert_eq!(image(&unpack::<Filter>(&form, LIMIT, None).unwrap()), image(&filter));
            }
        }
    }
}

// ---- Sparser filters ---------------------------------------------------------------------------------------------

/// The table of docs/choosing.md: for the same bytes on the wire fewer hashes and more memory give lower rates.
#[test]
fn sparser_filters_are_those_of_the_table() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/choosing.md")).unwrap();
    let keys = 1_000_000;
    let mut cells = 0;
    for sent in [8, 12, 16] {
        let row = text.lines().find(|line| line.starts_with(&format!("| {sent} | "))).unwrap();
        // What the form takes besides the entropy is not in the table.
        let most = (1.01 * f64::from(sent) * keys as f64 / 8.0 + 32.0).ceil() as u64;
        let filters = plan(keys, most, u64::MAX).unwrap();
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        for (hashes, cell) in (1..=3).rev().zip(&columns[3..6]) {
            let Some((rate, memory)) = cell.split_once(" %, m = ") else { continue };
            let filter = filters.iter().find(|filter| filter.spec.hashes == hashes).unwrap();
            let (rate, memory): (f64, f64) = (rate.parse().unwrap(), memory.parse().unwrap());
            let found = (100.0 * filter.false_positive_rate, filter.spec.bits as f64 / keys as f64);
            println!("{sent} bits, k = {hashes}: {found:?}");
            assert!(
                (found.0 / rate - 1.0).abs() < 0.006 && (found.1 / memory - 1.0).abs() < 0.006,
                "{cell}: {found:?}"
            );
            cells += 1;
        }
    }
    assert_eq!(cells, 8);
}

/// Filters of a plan are made as planned, are as often wrong, and fit into their bytes.
#[test]
fn sparser_filters_fit() {
    let keys = 20_000;
    for (bytes, memory) in [(20_000, u64::MAX), (20_000, 40_000), (1000, u64::MAX), (100, 5000)] {
        let filters = plan(keys, bytes, memory).unwrap();
        let mut before = (0, 1.0);
        for planned in &filters {
            let filter = some(&planned.spec, keys);
            assert_eq!((filter.serialized_size(), filter.base().geometry().bits), (planned.bytes, planned.spec.bits));
            assert!(planned.bytes <= memory && planned.packed_bytes <= bytes);
            // The fill varies by chance.
            let form = packed(&filter);
            assert!(
                form.len() as f64 <= 1.02 * planned.packed_bytes as f64 + 20.0,
                "{planned:?}: {} bytes",
                form.len()
            );
            let spec = Spec { hash: HashFunction::External, ..planned.spec };
            assert_eq!(filter.expected_false_positive_rate(keys), planned.false_positive_rate, "{spec:?}");
            assert!(planned.bytes >= before.0, "fewer hashes take more memory");
            if memory == u64::MAX {
                assert!(planned.false_positive_rate < before.1, "{planned:?} is no better");
            }
            before = (planned.bytes, planned.false_positive_rate);
        }
        let lowest = filters.iter().map(|filter| filter.false_positive_rate).fold(1.0, f64::min);
        assert_eq!(best(keys, bytes, memory).unwrap().false_positive_rate, lowest);
    }
    for (bytes, memory) in [(10, u64::MAX), (1000, 100), (0, 0)] {
        assert_eq!(plan(keys, bytes, memory).err().unwrap().status(), Status::TooLarge);
    }
    assert!(plan(0, u64::MAX, 1000).is_ok() && plan(u64::MAX, u64::MAX, 10_000).is_ok());
}

// ---- Deltas ------------------------------------------------------------------------------------------------------

/// A delta makes the newer state from the older one, in every kind, and from no other state.
#[test]
fn deltas_of_every_kind_make_the_newer_state() {
    let cases = share_of(all_layouts(), 3, "deltas_of_every_kind_make_the_newer_state");
    each(
        cases.into_iter().filter(|case| !case.row.is_map()),
        |case| case.name(),
        |case| {
            let spec = case.sized(1000, 0.01);
            let mut old = some(&spec, case.room_for(200, 1000));
            let mut new = old.copy().unwrap();
            let grows = old.capabilities().contains(Capabilities::INSERT);
            if grows {
                for i in 200..205 {
                    new.insert_hash(hash_of(&spec, i)).unwrap();
                }
            }
            let bytes = difference(&old, &new).unwrap();
            assert!(bytes.len() as f64 <= 40.0 + packed(&new).len() as f64, "{} bytes", bytes.len());
            let before = image(&old);
            if grows {
                let error = new.patch(&bytes, LIMIT).err().unwrap();
                assert_eq!(error.status(), Status::Incompatible);
                assert_eq!(old.patch(&bytes[..bytes.len() - 1], LIMIT).err().unwrap().status(), Status::Corrupt);
                assert_eq!(old.patch(&bytes, 300).err().unwrap().status(), Status::TooLarge);
            }
            assert_eq!(image(&old), before);
            old.patch(&bytes, LIMIT).unwrap();
            assert_eq!(image(&old), image(&new));
        },
    );
}

/// A delta takes about as many bytes as the changed bits need.
#[test]
fn a_delta_is_as_large_as_the_changes() {
    let spec = Spec { capacity: 1_000_000, false_positive_rate: 0.01, hash: HashFunction::External, ..Spec::default() };
    let old = some(&spec, 500_000);
    for keys in [1, 100, 10_000] {
        let mut new = old.copy().unwrap();
        for i in 0..keys {
            new.insert_hash(hash_of(&spec, 500_000 + i)).unwrap();
        }
        let changed: Vec<u8> = payload(&old).iter().zip(payload(&new)).map(|(a, b)| a ^ b).collect();
        let (bytes, bound) = (difference(&old, &new).unwrap(), entropy(&changed));
        println!("{keys} keys: {} bytes, entropy {bound:.1}", bytes.len());
        is_small("a delta", &bytes, bound);
        assert_eq!(image(&patch(&old, &bytes, LIMIT).unwrap()), image(&new));
    }
    let other = Spec { seed: 1, ..spec };
    assert_eq!(difference(&old, &empty(&other)).err().unwrap().status(), Status::Incompatible);
}

/// A filter that grew is longer than it was, and a delta makes it so.
#[test]
fn a_delta_makes_a_filter_grow() {
    for kind in ["scalable", "taffy"] {
        let row = registry::find_name(kind).unwrap();
        let spec = Spec { kind: Some(row.kind), capacity: 100, false_positive_rate: 0.01, ..Spec::default() };
        let mut old = some(&spec, 100);
        let mut new = old.copy().unwrap();
        for i in 100..3000 {
            new.insert_hash(hash_of(&spec, i)).unwrap();
        }
        assert!(payload(&new).len() > payload(&old).len());
        let bytes = difference(&old, &new).unwrap();
        assert_eq!(old.patch(&bytes, new.serialized_size() - 1).err().unwrap().status(), Status::TooLarge);
        old.patch(&bytes, new.serialized_size()).unwrap();
        assert_eq!(image(&old), image(&new), "{kind}");
        old.insert_hash(hash_of(&spec, 3000)).unwrap();
        assert!((0..=3000).all(|i| old.contains_hash(hash_of(&spec, i))));
    }
}

// ---- Damage ------------------------------------------------------------------------------------------------------

/// Forms of kinds with different payloads, and a delta with its base.
fn forms() -> Vec<(Vec<u8>, Option<Filter>)> {
    let mut forms = Vec::new();
    for kind in ["bloom", "split_block", "scalable", "rotating", "quotient", "fuse"] {
        let row = registry::find_name(kind).unwrap();
        let spec = Spec { kind: Some(row.kind), capacity: 300, false_positive_rate: 0.01, ..Spec::default() };
        let filter = some(&spec, 60);
        forms.push((packed(&filter), None));
        if filter.capabilities().contains(Capabilities::INSERT) {
            let mut new = filter.copy().unwrap();
            new.insert_hash(hash_of(&spec, 60)).unwrap();
            forms.push((difference(&filter, &new).unwrap(), Some(filter)));
        }
    }
    forms
}

/// The status of opening a form, whose memory is bounded by the limit.
fn outcome(bytes: &[u8], base: Option<&Filter>) -> std::result::Result<(), Status> {
    let opened = match base {
        Some(base) => patch(base, bytes, 1 << 16),
        None => unpack::<Filter>(bytes, 1 << 16, None),
    };
    opened.map(|filter| assert!(filter.serialized_size() <= 1 << 16)).map_err(|error| error.status())
}

#[test]
fn damaged_forms_are_refused() {
    let expected = [
        Status::Foreign,
        Status::Truncated,
        Status::Corrupt,
        Status::NewerVersion,
        Status::TooLarge,
        Status::Incompatible,
        Status::Unsupported,
        Status::SecretMissing,
    ];
    for (form, base) in forms() {
        let refused = |bytes: &[u8], what: &str| {
            let status = outcome(bytes, base.as_ref()).expect_err(what);
            assert!(expected.contains(&status), "{what}: {status:?}");
            status
        };
        outcome(&form, base.as_ref()).unwrap();
        for end in 0..form.len() {
            refused(&form[..end], "cut");
        }
        for bit in 0..8 * form.len() {
            let mut bytes = form.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            refused(&bytes, "flipped");
        }
        for more in [0, 1, 255] {
            refused(&[form.as_slice(), &[more]].concat(), "extended");
            let (code, check) = form.split_at(form.len() - 8);
            refused(&[code, &[more], check].concat(), "extended inside");
        }
        let mut bytes = form.clone();
        bytes[3] = 2;
        assert_eq!(refused(&bytes, "later"), Status::NewerVersion);
        bytes[3] = 0;
        assert_eq!(refused(&bytes, "version 0"), Status::Corrupt);
        bytes[1] = b'X';
        assert_eq!(refused(&bytes, "foreign"), Status::Foreign);
    }
}

/// Random bytes in random places give a status, and never more memory than the limit.
#[test]
fn mutated_forms_are_refused() {
    let (forms, mut state) = (forms(), 1);
    let mut random = |below: usize| {
        state = mix(state + 0x9e37_79b9);
        (state % below as u64) as usize
    };
    for _ in 0..if is_soak() { 100_000 } else { 10_000 } {
        let (form, base) = &forms[random(forms.len())];
        let mut bytes = form.clone();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes[at] ^= 1 << random(8),
                2 => bytes.insert(at, random(256) as u8),
                _ => drop(bytes.remove(at)),
            }
        }
        if bytes != *form {
            outcome(&bytes, base.as_ref()).expect_err("a mutation is found");
        }
    }
}

/// Bytes whose check is right, but whose header says what no filter of the kind has.
#[test]
fn a_form_that_claims_much_is_refused_before_its_memory() {
    // The first field of this form, the kind, is `bloom`, and the fifth says 2^40 units.
    let header = [0x89, b'P', b'W', 1, 0b1_0011, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
    let form = [header.as_slice(), &[0; 16]].concat();
    assert_eq!(outcome(&form, None), Err(Status::TooLarge));
}
