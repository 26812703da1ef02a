//! Every kind of every handle that changes in place.

use crate::subject::{Of, Seen, Subject};
use petal::registry::{FILTERS, MAPS, SKETCHES, find_name};
use petal::router::{Received, Router};
use petal::{
    Aggregate, AggregateAnswer, AggregateStateValue, Capabilities, Digest, DigestFindOptions, Filter, Image, Index,
    Map, MapBuilder, Mode, Row, Sketch, Spec, Status, create_as,
};

/// Keys of a filter, each of which is a step.
const KEYS: u64 = 2000;

pub fn all() -> Vec<Box<dyn Subject>> {
    let mut all: Vec<Box<dyn Subject>> = Vec::new();
    for row in FILTERS.iter().filter(|row| !row.form.moves_entries && row.capabilities.contains(Capabilities::INSERT)) {
        all.push(Box::new(filter(row, Mode::Write)));
        if row.capabilities.contains(Capabilities::INSERT_SHARED) {
            all.push(Box::new(filter(row, Mode::Share)));
        }
    }
    for row in MAPS.iter().filter(|row| row.capabilities.contains(Capabilities::PUT)) {
        all.push(Box::new(map_of_joins(row)));
    }
    for row in MAPS.iter().filter(|row| row.capabilities.contains(Capabilities::REPLACE)) {
        all.push(Box::new(map_of_values(row)));
    }
    for row in SKETCHES.iter().filter(|row| !row.form.moves_entries) {
        all.push(Box::new(sketch(row)));
    }
    for roles in ["both", "aggregator", "disseminator"] {
        all.push(Box::new(aggregate(roles)));
    }
    all.push(Box::new(digest("digest_of_ids", &[("payloads", 512.0), ("attachment_bytes", 100.0)])));
    all.push(Box::new(digest("digest_by_content", &[("payloads", 512.0), ("cut", 1.0), ("block_bytes", 16.0)])));
    all.push(Box::new(digest("digest_without_ids", &[("payloads", 0.0), ("block_bytes", 16.0)])));
    for counter_bits in [4.0, 1.0] {
        all.push(Box::new(router(counter_bits)));
    }
    for store in ["rows", "columns", "both"] {
        all.push(Box::new(index(store)));
    }
    all
}

/// A spec of a kind with these parameters, by name.
fn spec(row: &'static Row, capacity: u64, settings: &[(&str, f64)]) -> Spec {
    let mut spec = Spec { kind: Some(row.kind), capacity, ..Spec::default() };
    for (name, value) in settings {
        spec.set(row.parameter(name).unwrap(), *value).unwrap();
    }
    spec
}

fn row(name: &str) -> &'static Row {
    find_name(name).unwrap()
}

/// A well mixed number (SplitMix64).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What is lost if an answer is neither the one before a step nor the one after it.
fn either<T: PartialEq + core::fmt::Debug>(what: &str, image: T, before: T, after: T) -> Option<String> {
    (image != before && image != after).then(|| format!("{what} is {image:?}, and was {before:?} or {after:?}"))
}

// ---- Filters --------------------------------------------------------------------------------------------------------

/// Three steps of four insert a key, and the fourth removes one if the kind can.
fn filter(row: &'static Row, mode: Mode) -> Of<Filter, ()> {
    let spec = spec(row, KEYS, &[]);
    let least = (row.least_rate)(&spec, KEYS);
    let spec = Spec { false_positive_rate: if least < 1.0 { least.max(1e-6) } else { 0.0 }, ..spec };
    Of {
        name: format!("{}{}", row.name, if mode == Mode::Share { "_shared" } else { "" }),
        mode,
        steps: KEYS - 1,
        watched: 4,
        new: Box::new(move || (Filter::new(&spec).unwrap(), ())),
        step: match mode {
            Mode::Share => |filter, (), step| {
                // The same step in the filter's own memory, and in an image that is shared.
                filter.insert_shared_u64(step).map(drop)
            },
            _ => |filter, (), step| match removed(filter, step) {
                Some(key) => filter.remove_u64(key).map(drop),
                // A kind that removes each key once refuses a key that seems to have been removed, and changes nothing.
                None => match filter.insert_u64(step) {
                    Err(error) if error.status() == petal::Status::Full && removed(filter, 3).is_some() => Ok(()),
                    outcome => outcome.map(drop),
                },
            },
        },
        // A half-done removal must not be repeated: it could take what belongs to other keys.
        is_repeated: |filter, step| removed(filter, step).is_none(),
        reads_whole: true,
        lost: |Seen { image, before, after, done }| {
            if image.base().row().capabilities.contains(Capabilities::MAY_LOSE_KEYS) {
                return None;
            }
            let is_there = |key: &u64| before.contains_u64(*key) && after.contains_u64(*key);
            let missing = (0..*done).filter(is_there).find(|key| !image.contains_u64(*key))?;
            Some(format!("the key {missing} is missing"))
        },
    }
}

fn removed(filter: &Filter, step: u64) -> Option<u64> {
    let row = filter.base().row();
    let can_remove = row.capabilities.contains(Capabilities::REMOVE);
    (can_remove && !row.capabilities.contains(Capabilities::INSERT_SHARED) && step % 4 == 3).then(|| step - 2)
}

// ---- Maps -----------------------------------------------------------------------------------------------------------

fn map_of_joins(row: &'static Row) -> Of<Map, ()> {
    let spec = spec(row, KEYS, &[("value_bits", 8.0)]);
    Of {
        name: row.name.into(),
        mode: Mode::Write,
        steps: KEYS - 1,
        watched: 2,
        new: Box::new(move || (Map::new(&spec).unwrap(), ())),
        step: |map, (), step| map.put_u64(step, mix(step) >> 56).map(drop),
        is_repeated: |_, _| true,
        reads_whole: true,
        lost: |Seen { image, done, .. }| {
            let (joined, geometry) = (image.base().row().joined().unwrap(), image.base().geometry());
            let missing = (0..*done).find(|key| {
                let read = image.get_u64(*key).unwrap();
                joined(geometry, read, mix(*key) >> 56) != read
            })?;
            Some(format!("the value of {missing} is missing"))
        },
    }
}

fn map_of_values(row: &'static Row) -> Of<Map, ()> {
    const PUT: u64 = 200;
    let spec = spec(row, PUT, &[("value_bits", 16.0)]);
    Of {
        name: row.name.into(),
        mode: Mode::Write,
        steps: KEYS,
        watched: 2,
        new: Box::new(move || {
            let mut builder = MapBuilder::new(&spec, petal::BuilderOptions::default()).unwrap();
            (0..PUT).for_each(|key| builder.put_u64(key, key).unwrap());
            (builder.finish().unwrap(), ())
        }),
        step: |map, (), step| map.replace(u64::to_le_bytes(step * 7 % PUT), mix(step) >> 48).map(drop),
        is_repeated: |_, _| true,
        reads_whole: true,
        lost: |Seen { image, before, after, .. }| {
            let get = |map: &Map, key| map.get_u64(key).unwrap();
            (0..PUT).find_map(|key| {
                either(&format!("the value of {key}"), get(image, key), get(before, key), get(after, key))
            })
        },
    }
}

// ---- Sketches -------------------------------------------------------------------------------------------------------

/// Sixteen steps insert a number each, and the next sixteen remove these.
fn sketch(row: &'static Row) -> Of<Sketch, ()> {
    let spec = spec(row, 40, &[]);
    Of {
        name: row.name.into(),
        mode: Mode::Write,
        steps: KEYS,
        watched: 2,
        new: Box::new(move || (Sketch::new(&spec).unwrap(), ())),
        step: |sketch, (), step| match step / 16 % 2 {
            0 => sketch.insert_u64(1 + mix(step) % 0xffff_fffe),
            _ => sketch.remove_u64(1 + mix(step - 16) % 0xffff_fffe),
        },
        is_repeated: |_, _| false,
        reads_whole: true,
        // A number is spread over many words. What a sketch lists when some of them are missing cannot be relied on.
        lost: |_| None,
    }
}

// ---- Aggregates -----------------------------------------------------------------------------------------------------

const PARTICIPANTS: u64 = 12;

/// The participant of a step, and which of its turns this is.
fn turn(step: u64) -> (u64, u64) {
    (step / 2 % PARTICIPANTS, step / 2 / PARTICIPANTS)
}

fn state_of(participant: u64, turn: u64) -> AggregateStateValue {
    AggregateStateValue { state: (turn % 16) as u32, value: (mix(participant * 1000 + turn) % 1_000_003) as f64 - 5e5 }
}

/// Whether a participant leaves at a turn, to come back at the next one.
fn leaves(participant: u64, turn: u64) -> bool {
    (participant + turn) % 5 == 4
}

/// Participants come, change and leave, turn by turn; and at every other step the aggregate tells a participant its
/// state.
fn aggregate(roles: &str) -> Of<Aggregate, ()> {
    let row = row("aggregate");
    let number = row.parameter("roles").unwrap().choices().iter().position(|name| *name == roles).unwrap();
    let spec = Spec { false_positive_rate: 1e-9, ..spec(row, 200, &[("roles", number as f64)]) };
    Of {
        name: format!("aggregate_{roles}"),
        mode: Mode::Write,
        steps: KEYS,
        watched: 24,
        new: Box::new(move || (create_as(&spec).unwrap(), ())),
        step: |aggregate, (), step| {
            let (id, turn) = turn(step);
            let now = state_of(id, turn);
            let was = turn.checked_sub(1).filter(|turn| !leaves(id, *turn)).map(|turn| state_of(id, turn));
            let outcome = if step % 2 == 0 {
                match was {
                    Some(was) if leaves(id, turn) => aggregate.remove(u64::to_le_bytes(id), was).map(drop),
                    None if leaves(id, turn) => Ok(()),
                    was => aggregate.add(u64::to_le_bytes(id), now, was.as_slice()).map(drop),
                }
            } else if leaves(id, turn) {
                was.map_or(Ok(()), |was| aggregate.forget_sent(u64::to_le_bytes(id), was.state).map(drop))
            } else {
                let first = AggregateAnswer::First;
                let answer = was.map_or(first, |was| AggregateAnswer::Changed { replaced: was.state });
                // A state that was told already is not told again.
                match aggregate.list_sent(u64::to_le_bytes(id)) {
                    Ok(told) if told == [now.state] => Ok(()),
                    _ => aggregate.record_sent(u64::to_le_bytes(id), now.state, Some(answer)),
                }
            };
            // The aggregate may lack the role that a step needs.
            outcome.or_else(|error| if error.status() == Status::Unsupported { Ok(()) } else { Err(error) })
        },
        is_repeated: |_, _| true,
        reads_whole: false,
        lost: |Seen { image, before, after, .. }| {
            let results = |aggregate: &Aggregate| {
                let counts: Vec<_> = (0..16).map(|state| aggregate.count_in_state(state).unwrap_or(0)).collect();
                let mut results = aggregate.statistics();
                // A meeting that is repeated is counted as a duplicate.
                results.tallies.duplicates = 0;
                format!("{results:?} {counts:?} {}", aggregate.base().count())
            };
            let all = |aggregate: &Aggregate| {
                let told = (0..PARTICIPANTS).map(|id| aggregate.list_sent(u64::to_le_bytes(id)).unwrap_or_default());
                told.collect::<Vec<_>>()
            };
            either("the aggregate", results(image), results(before), results(after))
                .or_else(|| either("what was told", all(image), all(before), all(after)))
        },
    }
}

// ---- Digests --------------------------------------------------------------------------------------------------------

fn payload(step: u64) -> Vec<u8> {
    (0..90).flat_map(|i| mix(step * 1000 + i).to_le_bytes()).collect()
}

/// Payloads come whole or in pieces, and every eighth step attaches something.
fn digest(name: &str, settings: &[(&str, f64)]) -> Of<Digest, ()> {
    let row = row("digest");
    let spec = Spec { ..spec(row, 300_000, &[settings, &[("bytes_per_byte", 0.2)]].concat()) };
    Of {
        name: name.into(),
        mode: Mode::Write,
        steps: 300,
        watched: 8,
        new: Box::new(move || (petal::Digest::new(&spec).unwrap(), ())),
        step: |digest, (), step| {
            let bytes = payload(step);
            if step % 8 == 7 && digest.shape().attachment_bytes > 0 {
                return digest.attach(&bytes[..(mix(step) % 100) as usize]);
            }
            if step % 2 == 0 {
                return digest.add(step, &bytes);
            }
            digest.begin(step)?;
            bytes.chunks(100).try_for_each(|piece| digest.write(piece))?;
            digest.end()
        },
        is_repeated: |_, _| true,
        reads_whole: true,
        lost: |Seen { image, before, after, done }| {
            let attached = |digest: &Digest| digest.attachment().unwrap();
            let now = attached(image);
            if let Some(lost) = either("the attachment", now.clone(), attached(before), attached(after)) {
                // While an attachment is replaced, there is none.
                if !now.is_empty() {
                    return Some(lost);
                }
            }
            let is_sample = |step: &u64| *step + 8 >= *done || step.is_multiple_of(16);
            let has = |digest: &Digest, step: u64| {
                let found = digest.find(&payload(step)[50..650], &DigestFindOptions::default()).unwrap();
                found.matches.iter().any(|found| found.payload.is_none_or(|payload| payload == step))
            };
            let missing = (0..*done).filter(is_sample).find(|step| has(before, *step) && !has(image, *step))?;
            Some(format!("the payload {missing} is missing"))
        },
    }
}

// ---- Routers --------------------------------------------------------------------------------------------------------

/// A neighbour that tells the router its keys, and hears of the router's.
fn router(counter_bits: f64) -> Of<Router, Router> {
    let settings = [("levels", 2.0), ("edges", 4.0), ("counter_bits", counter_bits), ("max_fill", 1.0)];
    let spec = Spec { bits: 512, hashes: 4, capacity: 0, ..spec(row("router"), 0, &settings) };
    Of {
        name: format!("router_with_{counter_bits}_bits"),
        mode: Mode::Write,
        steps: 300,
        watched: 12,
        new: Box::new(move || {
            let (mut router, mut peer) = (Router::new(&spec, 1).unwrap(), Router::new(&spec, 2).unwrap());
            router.add_edge(2, 77, 0.0).unwrap();
            router.add_edge(3, 78, 1.0).unwrap();
            peer.add_edge(1, 77, 0.0).unwrap();
            (router, peer)
        }),
        step: |router, peer, step| match step % 8 {
            0 | 1 => router.insert(u64::to_le_bytes(step)),
            2 if router.capabilities().contains(Capabilities::REMOVE) => {
                router.remove(u64::to_le_bytes(step - 1)).map(drop)
            }
            2 => Ok(()),
            3 | 4 => {
                peer.insert(u64::to_le_bytes(1_000_000 + step))?;
                carry(peer, 1, router, 2)
            }
            5 => carry(router, 2, peer, 1),
            6 => router.advertise(3).map(drop),
            _ => {
                let has_edge = router.edge(9).is_ok();
                match step % 16 < 8 {
                    true if !has_edge => router.add_edge(9, step, 2.0),
                    false if has_edge => router.remove_edge(9),
                    _ => Ok(()),
                }
            }
        },
        is_repeated: |_, step| step % 8 > 2,
        reads_whole: true,
        lost: |Seen { image, before, after, done }| {
            let keys = (0..*done).chain(1_000_000..1_000_000 + *done);
            let route = |router: &Router, key| router.route(u64::to_le_bytes(key), None, 5).unwrap();
            let of_keys = |key: u64| {
                let (before, after) = (route(before, key), route(after, key));
                let lost = before == after && route(image, key) != before && before != petal::router::Route::FallBack;
                lost.then(|| format!("the key {key} goes {:?} and not {before:?}", route(image, key)))
            };
            let edges = |router: &Router| router.edges().map(|edge| (edge.neighbour, edge.link)).collect::<Vec<_>>();
            let numbers = |router: &Router, edge| router.edge(edge).map_or((0, 0), |edge| (edge.sent, edge.received));
            let of_edges = |edge: u64| {
                let (image, before) = (numbers(image, edge), numbers(before, edge));
                let lost = image.0 < before.0 || image.1 < before.1;
                lost.then(|| format!("edge {edge} had messages {image:?} and not {before:?}"))
            };
            keys.filter(|key| key % 1_000_000 < *done)
                .find_map(of_keys)
                .or_else(|| either("the edges", edges(image), edges(before), edges(after)))
                .or_else(|| [2, 3].into_iter().find_map(of_edges))
        },
    }
}

/// Carries what changed from one router to its neighbour, and everything if that is needed.
fn carry(from: &mut Router, to: u64, neighbour: &mut Router, back: u64) -> petal::Result<()> {
    let message = from.advertise_changes(to)?.to_vec();
    let taken = if message.is_empty() { Ok(Received::Unchanged) } else { neighbour.receive(back, &message) };
    if !matches!(taken, Ok(Received::Changed | Received::Unchanged)) {
        let message = from.advertise(to)?.to_vec();
        assert_ne!(neighbour.receive(back, &message)?, Received::NeedsAll);
    }
    Ok(())
}

// ---- Indexes --------------------------------------------------------------------------------------------------------

const WIDTH: u64 = 128;

/// Rows come, some are removed, and some steps attach something.
fn index(store: &str) -> Of<Index, ()> {
    let row = row("index");
    let number = row.parameter("store").unwrap().choices().iter().position(|name| *name == store).unwrap();
    let settings = [("width", WIDTH as f64), ("store", number as f64), ("attachment_bytes", 100.0)];
    let spec = spec(row, 700, &settings);
    Of {
        name: format!("index_of_{store}"),
        mode: Mode::Write,
        steps: 600,
        watched: 8,
        new: Box::new(move || (Index::new(&spec).unwrap(), ())),
        step: |index, (), step| {
            let bytes: Vec<u8> = (0..WIDTH / 64).flat_map(|i| mix(step * 100 + i).to_le_bytes()).collect();
            match step % 8 {
                3 => index.remove(step - 2).map(drop),
                7 => index.attach(&payload(step)[..(mix(step) % 100) as usize]),
                _ => index.add(step, &bytes).map(drop),
            }
        },
        is_repeated: |index, step| {
            index
                .next_row()
                .checked_sub(1)
                .is_none_or(|last| index.row_at(last).unwrap().is_none_or(|(id, _)| id != step))
        },
        reads_whole: true,
        lost: |Seen { image, before, after, .. }| {
            let attached = |index: &Index| index.attachment().unwrap();
            let now = attached(image);
            let lost = either("the attachment", now.clone(), attached(before), attached(after));
            if lost.is_some() && !now.is_empty() {
                return lost;
            }
            let of_row = |number: u64| {
                let row = |index: &Index| {
                    let mut row = vec![0; index.row_bytes()];
                    index.copy_row(number, &mut row).map(|()| (row, index.row_at(number).unwrap())).ok()
                };
                either(&format!("row {number}"), row(image), row(before), row(after))
            };
            either("the number of rows", image.next_row(), before.next_row(), after.next_row())
                .or_else(|| (0..after.next_row()).find_map(of_row))
        },
    }
}
