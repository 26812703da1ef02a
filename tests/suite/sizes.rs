//! Sizes at the borders of what lies side by side: words, blocks, lines, pieces of batches and regions of checksums.
//! Every kind of every handle is filled to its capacity there, and has what went in: one by one and together, in memory
//! and in place, copied, saved and merged. No kind is named where the registry has the kinds.

use crate::common::handle::Handle;
use crate::common::{
    Buffer, Case, all_layouts, each, empty, filled, hash_of, image, is_one_kind, is_wanted, layouts, mix, share_of,
};
use crate::conformance::{can, holds};
use petal::format::REGION_BYTES;
use petal::registry::{self, SKETCHES};
use petal::router::{Received, Route, Router};
use petal::{
    Aggregate, AggregateAnswer, AggregateStateValue, Answers, Capabilities, Digest, DigestFindOptions, Filter, Image,
    Index, Keys, Mode, OpenOptions, Overfill, Row, Sizes, Sketch, Spec, Status, create_as, load_as,
};
use std::cell::Cell;

/// What lies side by side: numbers in a word, keys of a batch, rows of a block or of a line, entries of a page.
const UNITS: [u64; 4] = [8, 64, 512, 4096];

/// The sizes around these units, and a few that are next to none of them.
fn sizes() -> impl Iterator<Item = u64> {
    UNITS.into_iter().flat_map(|unit| [unit - 1, unit, unit + 1, 2 * unit])
}

/// The sizes for filters of a layout: the larger ones are for the default parameters.
fn sizes_of(case: &Case) -> impl Iterator<Item = u64> {
    let most = if case.is_default() { u64::MAX } else { 1024 };
    sizes().filter(move |size| *size <= most)
}

/// An image that is loaded again has the same bytes, and they are sound.
#[track_caller]
fn is_kept<H: Image>(handle: &H) {
    let bytes = image(handle);
    let loaded: H = load_as(&bytes, &OpenOptions::default()).unwrap();
    loaded.verify().unwrap();
    assert!(image(&loaded) == bytes && image(&loaded.copy().unwrap()) == bytes);
}

/// What a change in place leaves is what it leaves in memory.
#[track_caller]
fn is_same_in_place<H: Image>(before: &H, after: &H, change: impl FnOnce(&mut H)) {
    let mut buffer = Buffer::of(&image(before));
    buffer.open_as(Mode::Write, None, |opened: petal::Result<&mut H>| {
        let opened = opened.unwrap();
        change(opened);
        opened.sync().unwrap();
    });
    buffer.open_as(Mode::Read, None, |opened: petal::Result<&mut H>| opened.unwrap().verify().unwrap());
    assert!(buffer.bytes() == image(after), "other bytes in place");
}

/// Filters that are made empty are filled to their capacity.
#[test]
fn filters_are_filled() {
    let cases: Vec<Case> = layouts().into_iter().filter(|case| case.row.is_made_empty()).collect();
    each(share_of(cases, 7, "filters_are_filled"), Case::name, |case| {
        for size in sizes_of(case) {
            let spec = case.sized(size, 0.01);
            let keys: Vec<u64> = (0..size).map(|i| hash_of(&spec, i)).collect();
            let mut at_once = empty(&spec);
            if !can(case, Capabilities::INSERT) {
                continue;
            }
            at_once.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
            let mut one_by_one = empty(&spec);
            for (i, key) in keys.iter().enumerate() {
                one_by_one.insert_hash(*key).unwrap_or_else(|error| panic!("key {i} of {size}: {error}"));
            }
            for filter in [&at_once, &one_by_one] {
                holds(filter, &spec, 0..size);
                assert_eq!(filter.base().header().count, size);
                if !can(case, Capabilities::MAY_LOSE_KEYS) {
                    let mut answers = Answers::default();
                    filter.contains_batch(&Keys::Hashes(&keys), &mut answers).unwrap();
                    assert_eq!(answers.true_count, size, "a batch of {size}");
                }
                is_kept(filter);
            }
            if case.row.is_canonical {
                assert!(image(&at_once) == image(&one_by_one), "{size} keys at once");
            }
            if case.row.is_changed_in_place() && case.row.overfill != Overfill::Grows {
                is_same_in_place(&empty(&spec), &at_once, |filter: &mut Filter| {
                    filter.insert_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
                });
            }
            // One key more is taken or refused, and takes nothing from the others.
            if let Err(error) = at_once.insert_hash(hash_of(&spec, size)) {
                // Where keys are integers, this is the first one past the universe.
                let is_past = case.spec().hash == petal::HashFunction::Identity && error.status() == Status::OutOfRange;
                let is_full = error.status() == Status::Full && case.row.overfill == Overfill::Refuses;
                assert!(is_past || is_full, "{error}");
            }
            if case.row.overfill != Overfill::Forgets {
                holds(&at_once, &spec, 0..size);
            }
            if can(case, Capabilities::MERGE) && case.row.overfill != Overfill::Refuses {
                let half = size / 2;
                let mut merged = filled(&spec, 0..half);
                merged.merge(&filled(&spec, half..size)).unwrap();
                holds(&merged, &spec, 0..size);
                is_kept(&merged);
            }
            if can(case, Capabilities::REMOVE) && case.is_multiset() {
                one_by_one.remove_batch(&Keys::Hashes(&keys), None).outcome.unwrap();
                assert_eq!(one_by_one.statistics().fill, 0.0, "{size} keys were removed");
            }
        }
    });
}

/// Filters and maps of each size that builders fill, with values in maps.
#[test]
fn builders_fill() {
    each(share_of(all_layouts(), 9, "builders_fill"), Case::name, |case| {
        for size in sizes_of(case) {
            let spec = case.sized(size, 0.01);
            let handle = Handle::of(&spec, 0..size);
            for i in 0..size {
                assert!(handle.holds(&spec, i), "key {i} of {size}");
            }
            is_kept(&handle);
        }
    });
}

/// Specs of the sizes nearest to `bits` that the kind takes, one not above it and one above it. Some kinds also need to
/// know how many keys are to come.
fn sizes_at(row: &Row, unit: u64, bits: u64) -> impl Iterator<Item = Spec> {
    let hash = row.hash_functions()[0];
    let is_one = |spec: &Spec| petal::geometry(spec).is_ok();
    let next = move |down: bool| {
        (0..64).find_map(|steps| {
            let first = bits / unit * unit;
            let bits = if down { first - steps * unit } else { first + unit + steps * unit };
            let of = |capacity| Spec { kind: Some(row.kind), hash, bits, capacity, ..Spec::default() };
            [of(0), of(1000)].into_iter().find(is_one)
        })
    };
    [next(true), next(false)].into_iter().flatten()
}

/// Payloads of about one and two regions of checksums, of every kind whose size is chosen.
#[test]
fn payloads_end_beside_a_region() {
    let rows = registry::FILTERS.iter().chain(SKETCHES).filter(|row| row.is_made_empty() && is_wanted(row));
    let tried = Cell::new(0);
    each(
        rows,
        |row| row.name.to_string(),
        |row| {
            let Sizes::Multiples(unit) = row.sizes else { return };
            let region = 8 * REGION_BYTES as u64;
            for spec in [region, region + 512, 2 * region].into_iter().flat_map(|bits| sizes_at(row, unit, bits)) {
                tried.set(tried.get() + 1);
                if row.handle() == petal::Handle::Sketch {
                    let fill = |sketch: &mut Sketch| (1..20).for_each(|i| sketch.insert_hash(mix(i)).unwrap());
                    let (before, mut sketch) = (Sketch::new(&spec).unwrap(), Sketch::new(&spec).unwrap());
                    fill(&mut sketch);
                    is_kept(&sketch);
                    is_same_in_place(&before, &sketch, fill);
                    continue;
                }
                let filter = filled(&spec, 0..200);
                holds(&filter, &spec, 0..200);
                is_kept(&filter);
                if row.is_changed_in_place() && row.is_canonical && row.capabilities.contains(Capabilities::INSERT) {
                    is_same_in_place(&empty(&spec), &filter, |filter: &mut Filter| {
                        for i in 0..200 {
                            filter.insert_hash(hash_of(&spec, i)).unwrap();
                        }
                    });
                }
            }
        },
    );
    assert!(is_one_kind() || tried.get() > 15, "{} sizes", tried.get());
}

/// Sketches list as many differences as they are for, and say that they cannot list more.
#[test]
fn sketches_list_their_capacity() {
    each(
        SKETCHES,
        |row| row.name.to_string(),
        |row| {
            for size in sizes().filter(|size| *size <= 1024) {
                let spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(size, 1e-9).unwrap() };
                let keys: Vec<u64> = (0..size).map(|i| mix(i + 1)).collect();
                let mut sketch = Sketch::new(&spec).unwrap();
                sketch.insert_batch(&Keys::U64(&keys)).outcome.unwrap();
                let mut one_by_one = Sketch::new(&spec).unwrap();
                keys.iter().for_each(|key| one_by_one.insert_u64(*key).unwrap());
                assert!(image(&sketch) == image(&one_by_one));
                is_kept(&sketch);
                is_same_in_place(&Sketch::new(&spec).unwrap(), &sketch, |sketch: &mut Sketch| {
                    sketch.insert_batch(&Keys::U64(&keys)).outcome.unwrap();
                });
                let listed = sketch.list().unwrap();
                assert!(listed.is_complete && listed.listed.len() as u64 == size, "{size} numbers");
                assert!(listed.listed.iter().all(|one| keys.contains(&one.number)));
                sketch.subtract(&one_by_one).unwrap();
                assert!(sketch.list().unwrap().listed.is_empty() && sketch.list().unwrap().is_complete);
                // Far more than there is room for.
                let most = (20 * size).max(image(&sketch).len() as u64 / 8);
                let more: Vec<u64> = (size..most).map(|i| mix(i + 1)).collect();
                one_by_one.insert_batch(&Keys::U64(&more)).outcome.unwrap();
                assert!(!one_by_one.list().unwrap().is_complete, "{size} and {} numbers", more.len());
            }
        },
    );
}

/// A spec of a kind that is alone in its handle.
fn own(row: &Row, settings: &[(&str, f64)]) -> Spec {
    let mut spec = Spec { kind: Some(row.kind), ..Spec::default() };
    settings.iter().for_each(|(name, value)| spec.set(row.parameter(name).unwrap(), *value).unwrap());
    spec
}

/// Indexes of every store take as many rows as their capacity, also in place. The columns of `columns.rs` are made of
/// them anew.
#[test]
fn indexes_are_filled() {
    for store in 0..petal::index::layout::Store::NAMES.len() {
        for size in sizes() {
            let settings = [("width", 70.0), ("store", store as f64)];
            let spec = Spec { capacity: size, ..own(&petal::index::ROW, &settings) };
            let row = |id: u64| -> Vec<u8> {
                let low = mix(id).to_le_bytes();
                low.into_iter().chain([mix(!id) as u8 & 0x3f]).collect()
            };
            let fill = |index: &mut Index| {
                for id in 0..size {
                    index.add(id, &row(id)).unwrap();
                }
            };
            let mut index = Index::new(&spec).unwrap();
            fill(&mut index);
            assert_eq!(index.add(size, &row(size)).unwrap_err().status(), Status::Full);
            let mut copy = [0; 9];
            for id in 0..size {
                assert_eq!(index.row_at(id).unwrap().map(|(id, _)| id), Some(id));
                index.copy_row(id, &mut copy).unwrap();
                assert_eq!(copy[..], row(id), "row {id} of {size}");
            }
            is_kept(&index);
            // An image in place marks the regions of each row, which takes its time.
            if size <= 1024 {
                is_same_in_place(&Index::new(&spec).unwrap(), &index, fill);
            }
        }
    }
}

/// Aggregates meet as many participants as they are for.
#[test]
fn aggregates_are_filled() {
    let row = &petal::aggregate::ROW;
    for size in sizes() {
        let spec = Spec { capacity: size, false_positive_rate: 1e-9, ..own(row, &[("states", 3.0)]) };
        let meet = |aggregate: &mut Aggregate| {
            for id in 0..size {
                let now = AggregateStateValue { state: (id % 3) as u32, value: id as f64 };
                assert_eq!(
                    aggregate.add(u64::to_le_bytes(id), now, &[]).unwrap(),
                    AggregateAnswer::First,
                    "{id} of {size}"
                );
            }
        };
        let mut aggregate: Aggregate = create_as(&spec).unwrap();
        meet(&mut aggregate);
        let results = aggregate.statistics();
        assert_eq!((results.count, results.sum), (size, (size * (size - 1) / 2) as f64));
        is_kept(&aggregate);
        is_same_in_place(&create_as(&spec).unwrap(), &aggregate, meet);
    }
}

/// Digests take as many payloads as they name, whose lengths lie around blocks and segments.
#[test]
fn digests_are_filled() {
    let row = &petal::digest::ROW;
    for cut in [0.0, 1.0] {
        for payloads in sizes().filter(|size| *size <= 1024) {
            let bytes = |id: u64| -> Vec<u8> {
                let length = [31, 32, 33, 2047, 2048, 2049, 4096, 64][id as usize % 8];
                (0..length).map(|i: u64| mix(mix(id) ^ (i / 8)).to_le_bytes()[i as usize % 8]).collect()
            };
            let all = (0..payloads).map(|id| bytes(id).len() as u64).sum::<u64>();
            let settings = [("cut", cut), ("payloads", payloads as f64), ("bytes_per_byte", 0.5)];
            let spec = Spec { capacity: all, ..own(row, &settings) };
            let fill = |digest: &mut Digest| (0..payloads).for_each(|id| digest.add(id, &bytes(id)).unwrap());
            let mut digest = Digest::new(&spec).unwrap();
            fill(&mut digest);
            assert_eq!(digest.add(payloads, b"one more").unwrap_err().status(), Status::Full);
            assert_eq!((digest.payloads(), digest.insertions()), (payloads, all));
            for id in (0..payloads).filter(|id| bytes(*id).len() > 2000).step_by(payloads as usize / 40 + 1) {
                let found = digest.find(&bytes(id), &DigestFindOptions::default()).unwrap();
                let is_it = |found: &petal::DigestMatch| found.payload == Some(id) && found.offset == 0;
                assert!(found.matches.iter().any(is_it), "payload {id} of {payloads}, cut {cut}");
            }
            is_kept(&digest);
            if payloads <= 128 {
                is_same_in_place(&Digest::new(&spec).unwrap(), &digest, fill);
            }
        }
    }
}

/// Routers hold as many keys and have as many edges as they are for, with levels of every length, and advertise them.
#[test]
fn routers_are_filled() {
    let row = &petal::router::ROW;
    for size in sizes().filter(|size| *size <= 1024) {
        // As many edges as can be, or levels of many words.
        let edges = if size < 100 { size.min(64) } else { 2 };
        let settings = [("levels", 2.0), ("edges", edges as f64)];
        let specs = [
            Spec { capacity: size, false_positive_rate: 0.01, ..own(row, &settings) },
            Spec { bits: 64 * size, hashes: 3, ..own(row, &settings) },
        ];
        for spec in specs {
            let keys = if spec.bits == 0 { size } else { 2 * size };
            let keys: Vec<u64> = (0..keys).collect();
            let fill = |router: &mut Router| {
                (1..=edges).for_each(|neighbour| router.add_edge(neighbour, mix(neighbour), 0.0).unwrap());
                router.insert_batch(&Keys::U64(&keys)).outcome.unwrap();
            };
            let mut router = Router::new(&spec, 0).unwrap();
            fill(&mut router);
            assert_eq!(router.add_edge(edges + 1, 1, 0.0).unwrap_err().status(), Status::Full);
            assert!(keys.iter().all(|key| router.contains(u64::to_le_bytes(*key)).unwrap()), "{size}");
            is_kept(&router);
            is_same_in_place(&Router::new(&spec, 0).unwrap(), &router, fill);
            let mut other = Router::new(&spec, edges).unwrap();
            other.add_edge(0, mix(edges), 0.0).unwrap();
            let message = router.advertise(edges).unwrap().to_vec();
            assert_eq!(other.receive(0, &message).unwrap(), Received::Changed);
            for key in &keys {
                let route = other.route(u64::to_le_bytes(*key), None, 5).unwrap();
                assert!(matches!(route, Route::Edge { neighbour: 0, .. }), "{key} of {size}: {route:?}");
            }
        }
    }
}
