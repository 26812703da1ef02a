//! Images of every kind with forged headers, counts and payloads. Statistics and estimates of such images may be wrong,
//! but they are valid shares, rates and numbers of keys.

use crate::common::handle::Handle;
use crate::common::{Buffer, all_layouts, each, golden, image, is_one_kind, is_soak, is_wanted, mix};
use crate::format::seal;
use crate::interop;
use petal::format::compact::{Packing, Trailer};
use petal::registry::{self, FOREIGN};
use petal::{
    CompactOptions, Domain, Filter, Image, Map, Mode, OpenOptions, Overfill, Row, Sizes, Spec, Status, load_as,
    load_compact,
};
use std::collections::{BTreeMap, BTreeSet};

const HEADER: usize = 256;
/// The offsets of the header's numbers: hashes, capacity, rate, bits, the words of the kind, the counts.
const NUMBERS: [usize; 14] = [20, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 224, 232];
/// Hashes that go to the first place, the last, and others.
const HASHES: [u64; 6] = [0, u64::MAX, 1 << 63, 7, 0x9e37_79b9_7f4a_7c15, 0xffff_ffff];

/// An image of each kind with each of its layouts, and of each filter of another system.
fn images() -> Vec<(String, Vec<u8>)> {
    let of_layout = |case: crate::common::Case| {
        let spec = Spec { capacity: 100, ..case.spec() };
        (case.name(), image(&Handle::of(&spec, 0..100)))
    };
    let mut images: Vec<_> = all_layouts().into_iter().map(of_layout).collect();
    images.extend(interop::filters().into_iter().map(|(name, filter)| (name, image(&filter))));
    // Golden images of sketches, and of kinds that are alone in their handle.
    let others = registry::SKETCHES.iter().chain(registry::OWN).filter(|row| is_wanted(row));
    images.extend(others.flat_map(golden::files).filter(|(_, bytes)| bytes.starts_with(&petal::format::MAGIC)));
    images.retain(|(_, bytes)| bytes.len() <= 16 << 10);
    let there: BTreeSet<u32> =
        images.iter().map(|(_, bytes)| u32::from_le_bytes(bytes[12..16].try_into().unwrap())).collect();
    let all: BTreeSet<u32> = registry::every().chain(registry::OWN).map(|row| row.kind.0).collect();
    assert!(is_one_kind() || there == all, "the kinds that are tried: {there:?}");
    images
}

/// Values that replace a number.
fn others(number: u64) -> [u64; 11] {
    let (before, after, twice) = (number.wrapping_sub(1), number.wrapping_add(1), number.wrapping_mul(2));
    [0, 1, number ^ 1, before, after, twice, 1 << 32, 1 << 53, !0, 0.999_f64.to_bits(), 1e-300_f64.to_bits()]
}

/// Payloads that keys did not make.
fn payloads(bytes: &[u8]) -> [Vec<u8>; 3] {
    let end = HEADER + u64::from_le_bytes(bytes[136..144].try_into().unwrap()) as usize;
    let with = |byte: &dyn Fn(usize) -> u8| {
        let mut bytes = bytes.to_vec();
        (HEADER..end).for_each(|i| bytes[i] = byte(i));
        bytes
    };
    [bytes.to_vec(), with(&|_| 0xff), with(&|i| mix(i as u64) as u8)]
}

/// Opens an image in each way that trusts its header, and examines the result.
fn look_at(what: &str, bytes: &[u8]) {
    if let Ok(handle) = load_as::<Handle>(bytes, &OpenOptions::default()) {
        look(what, &handle);
    }
    // Opening an image in place does not read the payload.
    Buffer::of(bytes).open_as(Mode::Read, None, |handle: petal::Result<&mut Handle>| {
        if let Ok(handle) = handle {
            look(what, handle);
        }
    });
}

fn look(what: &str, handle: &Handle) {
    let header = handle.base().header();
    let is_share = |share: f64, name: &str| assert!((0.0..=1.0).contains(&share), "{what}: {name} is {share}");
    for keys in [0, 1, 100, header.count, header.capacity, u64::MAX] {
        is_share((handle.base().row().false_positive_rate)(handle.base().geometry(), keys), "a rate to expect");
    }
    let lines = (handle.base().row().lines_per_lookup)(handle.base().geometry());
    assert!(lines >= 0.0, "{what}: {lines} lines a lookup");
    let measure = match handle {
        Handle::Filter(filter) => look_up(what, filter),
        Handle::Map(map) => get(map),
        Handle::Other(_) => {
            let _ = handle.verify();
            return;
        }
    };
    is_share(measure.fill, "fill");
    is_share(measure.false_positive_rate, "the rate");
    let _ = handle.verify();
}

fn look_up(what: &str, filter: &Filter) -> petal::Measure {
    HASHES.iter().for_each(|hash| {
        let _ = (filter.contains_hash(*hash), filter.contains_u64(*hash));
    });
    if let Ok(Some(estimate)) = petal::estimate(filter) {
        assert!(estimate.value >= 0.0 && estimate.standard_error >= 0.0, "{what}: {estimate:?}");
    }
    assert_eq!(petal::estimate_overlap(filter, filter).is_ok(), filter.kind().as_overlap().is_some(), "{what}");
    assert!(filter.equals(filter), "{what}");
    filter.statistics()
}

fn get(map: &Map) -> petal::Measure {
    HASHES.iter().for_each(|hash| {
        let _ = (map.get_hash(*hash), map.get_u64(*hash));
    });
    map.statistics()
}

/// The test replaces each number of a header, over the payload of the keys and over two other payloads. In the first
/// image of each kind the test tries a third of the replacements, and in the others one in 24. The soak tries all.
#[test]
#[ignore = "slow: make test-all"]
fn what_is_measured_of_forged_images_are_shares() {
    let mut kinds = BTreeSet::new();
    let mut try_number = 0;
    for (name, bytes) in images() {
        let payloads = payloads(&bytes);
        let is_first = kinds.insert(bytes[12..16].to_vec());
        for offset in NUMBERS {
            let number = u64::from_le_bytes(bytes[offset..offset + 8].try_into().unwrap());
            for other in others(number) {
                for (i, payload) in payloads.iter().enumerate() {
                    try_number += 1;
                    if !is_soak() && !mix(try_number).is_multiple_of(if is_first { 3 } else { 24 }) {
                        continue;
                    }
                    let mut forged = payload.clone();
                    let length = if offset == 20 { 4 } else { 8 };
                    forged[offset..offset + length].copy_from_slice(&other.to_le_bytes()[..length]);
                    seal(&mut forged);
                    look_at(&format!("{name}, payload {i}, {other:#x} at {offset}"), &forged);
                }
            }
        }
        payloads.iter().for_each(|payload| look_at(&name, payload));
    }
}

/// An image with a choice that this version does not know was made by a later version, and the error says so. The kind
/// of a level is such a choice. The test takes every kind, and the compact form too.
#[test]
fn unknown_choices_are_those_of_a_later_version() {
    let mut tried = BTreeSet::new();
    for (name, bytes) in images() {
        let row = registry::find(petal::KindId(u32::from_le_bytes(bytes[12..16].try_into().unwrap()))).unwrap();
        for parameter in row.parameters {
            let (Domain::Choice(choices), Some(word)) = (parameter.domain, parameter.word) else { continue };
            for number in [choices.len() as u64, choices.len() as u64 + 1, u64::MAX] {
                let what = format!("{name}, {} = {number}", parameter.name);
                let mut forged = bytes.clone();
                forged[72 + 8 * word..80 + 8 * word].copy_from_slice(&number.to_le_bytes());
                seal(&mut forged);
                let error = load_as::<Handle>(&forged, &OpenOptions::default()).err().unwrap();
                assert_eq!(error.status(), Status::NewerVersion, "{what}: {error}");
                assert!(error.message().contains(&format!("{} = {number}", parameter.name)), "{what}: {error}");
                Buffer::of(&forged).open_as(Mode::Read, None, |handle: petal::Result<&mut Handle>| {
                    assert_eq!(handle.err().unwrap().status(), Status::NewerVersion, "{what} in place");
                });
                let Ok(Handle::Filter(filter)) = load_as::<Handle>(&bytes, &OpenOptions::default()) else { continue };
                let mut geometry = *filter.base().geometry();
                geometry.words[word] = number;
                if row.hashing.hashes_keys_itself || filter.compact_size().is_err() {
                    continue;
                }
                let Some(shape) = Packing::pack(&geometry, row.compact) else { continue };
                let mut payload: Vec<u8> = bytes[HEADER..HEADER + geometry.payload_bytes as usize].to_vec();
                let trailer = Trailer {
                    kind: row.kind,
                    layout_version: row.form.layout_version as u8,
                    hashes: geometry.hashes as u8,
                    shape,
                    payload_bytes: payload.len(),
                };
                payload.resize(trailer.length(), 0);
                trailer.write(&mut payload);
                let error = load_compact(&payload, &CompactOptions::default()).err().unwrap();
                assert_eq!(error.status(), Status::NewerVersion, "the compact form of {what}: {error}");
                tried.insert(format!("{} {}", row.name, parameter.name));
            }
        }
    }
    assert!(is_one_kind() || tried.len() >= 4, "{tried:?}");
}

/// A word of the geometry that a kind does not use is 0, and images with another value are refused. So each filter has
/// one header, and a later version may use the word. A chain says in such words what was merged into it.
#[test]
fn words_that_nothing_uses_are_zero() {
    let mut of_kind: BTreeMap<Vec<u8>, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    for (name, bytes) in images() {
        of_kind.entry(bytes[12..16].to_vec()).or_default().push((name, bytes));
    }
    for images in of_kind.values() {
        let row = row_of(&images[0].1);
        if row.overfill == Overfill::Grows || FOREIGN.iter().any(|other| other.kind == row.kind) {
            continue;
        }
        for word in (0..8).filter(|word| row.parameters.iter().all(|parameter| parameter.word != Some(*word))) {
            let at = 72 + 8 * word;
            if images.iter().any(|(_, bytes)| bytes[at..at + 8] != [0; 8]) {
                continue;
            }
            for (name, bytes) in images {
                for value in [1, 1 << 63] {
                    is_refused(bytes, at, &u64::to_le_bytes(value), &format!("{name}, word {word} is {value:#x}"));
                }
            }
        }
    }
}

/// Images refuse what specs refuse: parameters beyond their bounds, and numbers of hashes beyond theirs.
#[test]
fn what_no_spec_takes_no_image_says() {
    for (name, bytes) in images() {
        let row = row_of(&bytes);
        if FOREIGN.iter().any(|other| other.kind == row.kind) {
            continue;
        }
        let geometry = *load_as::<Handle>(&bytes, &OpenOptions::default()).unwrap().base().geometry();
        for parameter in row.parameters {
            let Some(word) = parameter.word else { continue };
            for value in others(geometry.words[word]) {
                if parameter.check(parameter.value_of_word(value)).is_err() {
                    let what = format!("{name}, {} is the word {value:#x}", parameter.name);
                    is_refused(&bytes, 72 + 8 * word, &value.to_le_bytes(), &what);
                }
            }
        }
        let (least, most) = row.hashes;
        for hashes in [0, least.wrapping_sub(1), most.saturating_add(1), u32::MAX] {
            if hashes != geometry.hashes && !(least..=most).contains(&hashes) && most > 1 {
                is_refused(&bytes, 20, &hashes.to_le_bytes(), &format!("{name}, {hashes} hashes"));
            }
        }
    }
}

/// The header's `bits` and the payload's length belong together, and a kind without a number of hashes has 0 of them.
/// Images that say otherwise are refused.
#[test]
fn numbers_that_contradict_each_other_are_refused() {
    for (name, bytes) in images() {
        let row = row_of(&bytes);
        let bits = u64::from_le_bytes(bytes[64..72].try_into().unwrap());
        // Which sizes filters with levels have depends on the kind of the level.
        let has_levels = row.parameters.iter().any(|parameter| parameter.name == "level");
        if let (Sizes::Multiples(unit), false) = (row.sizes, has_levels) {
            let others = [0, bits + 1, bits - 1, bits + unit / 2, bits + 2048, 2 * bits, bits | 1 << 63];
            // The payload of some kinds has room for almost 2048 more bits.
            let is_other = |other: &u64| *other == 0 || !other.is_multiple_of(unit) || other.abs_diff(bits) >= 2048;
            for other in others.into_iter().filter(is_other) {
                is_refused(&bytes, 64, &other.to_le_bytes(), &format!("{name}, {other} bits and not {bits}"));
            }
        }
        is_refused(&bytes, 56, &(-0.0_f64).to_le_bytes(), &format!("{name}, a rate of -0"));
        if row.hashes == (0, 0) && FOREIGN.iter().all(|other| other.kind != row.kind) {
            for hashes in [1, 4, u32::MAX] {
                is_refused(&bytes, 20, &u32::to_le_bytes(hashes), &format!("{name}, {hashes} hashes"));
            }
        }
    }
}

/// The payload has nothing after its last bit. An image in which such a bit is set is neither verified nor loaded.
#[test]
fn nothing_follows_the_last_bit() {
    let mut tried = BTreeSet::new();
    for case in all_layouts() {
        for capacity in [20, 33, 100] {
            let filter = Handle::of(&Spec { capacity, ..case.spec() }, 0..20);
            let geometry = *filter.base().geometry();
            if !matches!(case.row.sizes, Sizes::Multiples(_)) || !geometry.is_of_bits() {
                continue;
            }
            let all = geometry.bits..8 * geometry.payload_bytes;
            for bit in [all.start, (all.start + all.end) / 2, all.end - 1].into_iter().filter(|bit| all.contains(bit)) {
                let mut forged = image(&filter);
                forged[HEADER + bit as usize / 8] |= 1 << (bit % 8);
                seal(&mut forged);
                let what = format!("{} of {capacity} keys, bit {bit} of {}", case.name(), geometry.bits);
                let error = load_as::<Handle>(&forged, &OpenOptions::default()).err();
                assert_eq!(error.map(|error| error.status()), Some(Status::Corrupt), "{what}");
                Buffer::of(&forged).open_as(Mode::Read, None, |handle: petal::Result<&mut Handle>| {
                    let outcome = handle.and_then(|handle| handle.verify());
                    assert_eq!(outcome.unwrap_err().status(), Status::Corrupt, "{what}");
                });
                tried.insert(case.row.name);
            }
        }
    }
    assert!(is_one_kind() || tried.len() > 8, "{tried:?}");
}

fn row_of(bytes: &[u8]) -> &'static Row {
    registry::find(petal::KindId(u32::from_le_bytes(bytes[12..16].try_into().unwrap()))).unwrap()
}

/// Asserts that an image with these bytes at this place neither loads nor opens in place.
#[track_caller]
fn is_refused(bytes: &[u8], at: usize, forged: &[u8], what: &str) {
    let mut bytes = bytes.to_vec();
    bytes[at..at + forged.len()].copy_from_slice(forged);
    seal(&mut bytes);
    assert!(load_as::<Handle>(&bytes, &OpenOptions::default()).is_err(), "{what}: it is loaded");
    Buffer::of(&bytes).open_as(Mode::Read, None, |handle: petal::Result<&mut Handle>| {
        assert!(handle.is_err(), "{what}: it is opened in place");
    });
}

/// A lookup touches at least some part of a line, and at most all lines of the payload.
#[test]
fn lookups_touch_lines_that_are_there() {
    let mut specs: Vec<(String, Spec)> = Vec::new();
    for case in all_layouts() {
        for capacity in [1, 2, 20, 100, 10_000] {
            specs.push((case.name(), Spec { capacity, ..case.spec() }));
        }
    }
    if !is_one_kind() {
        for row in registry::SKETCHES.iter().chain(registry::OWN) {
            let of = |capacity| Spec { kind: Some(row.kind), capacity, ..Spec::default() };
            specs.extend([1, 2, 20, 1000].map(|capacity| (row.name.to_string(), of(capacity))));
        }
    }
    each(
        specs,
        |(name, spec)| format!("{name} for {}", spec.capacity),
        |(_, spec)| {
            let Ok(geometry) = petal::geometry(spec) else { return };
            let lines = (petal::row_of(spec).unwrap().lines_per_lookup)(&geometry);
            let most = geometry.payload_bytes.div_ceil(64) as f64;
            assert!(lines > 0.0 && lines <= most, "{lines} of {most} lines");
        },
    );
}
