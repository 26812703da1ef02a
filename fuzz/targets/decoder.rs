//! The input is an image, of which nothing is believed: it is opened as it is, with its checksums made right, and with
//! its length made right too; in every way that there is; and what opens is used in every way that there is. Nothing
//! may panic or read past the image, and all ways of opening must agree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use petal::format::Header;
use petal::router::Walk;
use petal::storage::AnyBytes;
use petal::{
    Aggregate, AggregateAnswer, AggregateStateValue, Answers, Capabilities, CompactOptions, Digest, DigestFindOptions,
    Error, Filter, HashFunction, Image, Index, IndexSearchOptions, Keys, Map, Mode, OpenOptions, Overfill, Result,
    Router, Sketch, Status,
};
use petal_fuzz::digests;
use petal_fuzz::exercise::{self, image};
use petal_fuzz::guarded::Guarded;
use petal_fuzz::image::{as_compact, with_checksums, with_length};
use petal_fuzz::specs::opens;
use std::cell::RefCell;
use std::os::fd::RawFd;

const MODES: [Mode; 4] = [Mode::Load, Mode::Read, Mode::Write, Mode::Share];

struct Places {
    memory: Guarded,
    file: RawFd,
}

thread_local! {
    static PLACES: RefCell<Places> = RefCell::new(Places {
        memory: Guarded::new(),
        // SAFETY: a name and flags; the file lives as long as the process.
        file: unsafe { libc::memfd_create(c"image".as_ptr(), 0) },
    });
}

fuzz_target!(|bytes: &[u8]| {
    PLACES.with_borrow_mut(|places| {
        open_all(bytes, places);
        if let Some(image) = with_checksums(bytes) {
            open_all(&image, places);
        }
        if let Some(image) = with_length(bytes) {
            open_all(&image, places);
        }
        open_compact(bytes, &mut places.memory);
        if let Some(form) = as_compact(bytes) {
            open_compact(&form, &mut places.memory);
        }
    });
});

/// The input as a compact form, as it is and with its checksum made right: opened, asked without a handle at any
/// address, and copied, all of which must agree.
fn open_compact(bytes: &[u8], memory: &mut Guarded) {
    let options = CompactOptions { hash: HashFunction::External, ..CompactOptions::default() };
    let loaded = petal::load_compact(bytes, &options);
    assert!(loaded.is_err() || petal::verify_compact(bytes).is_ok());
    let hashes = || (0..100_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let odd = [&[0], bytes].concat();
    if let Some(place) = memory.place(bytes) {
        // SAFETY: the bytes were just put at `place`, nobody writes to them, and all that looks there goes before they
        // do.
        let (form, opened) =
            unsafe { (AnyBytes::new(place, bytes.len()), petal::open_compact(place, bytes.len(), &options)) };
        for hash in hashes() {
            let answer = petal::compact_contains_hash(form, hash);
            if let Ok(opened) = &opened {
                assert_eq!(answer.as_ref().ok(), Some(&opened.contains_hash(hash)));
            }
            if let Ok(loaded) = &loaded {
                assert_eq!(answer.as_ref().ok(), Some(&loaded.contains_hash(hash)));
            }
            if let Ok(at_any) = petal::compact_contains_hash(AnyBytes::of(&odd[1..]), hash) {
                assert_eq!(answer.ok(), Some(at_any));
            }
        }
        if let Ok(opened) = opened {
            let _ = opened.verify();
            exercise::look(&opened);
        }
    }
    if let Ok(filter) = loaded {
        let mut again = vec![0; bytes.len()];
        assert_eq!(filter.serialize_compact(&mut again).ok(), Some(bytes.len()));
        assert!(again == bytes, "a form is written with other bytes than it was read from");
    }
}

/// What opens as a map does not open as a filter, and is looked at in every way that there is.
fn open_map(bytes: &[u8], memory: &mut Guarded) {
    let options = OpenOptions::default();
    let loaded = petal::load_as::<Map>(bytes, &options);
    assert!(loaded.is_err() || petal::load(bytes, &options).is_err());
    if let Ok(map) = loaded {
        // One that was unclean still is.
        assert!(map.verify().is_ok() || map.base().header().unclean);
        look_up(&map);
    }
    for mode in MODES {
        let Some(place) = memory.place(bytes) else { return };
        // SAFETY: the bytes were just put at `place`, nobody else uses them, and the map goes before they do.
        let opened = unsafe {
            petal::open_in_buffer_as::<Map>(place, bytes.len(), &OpenOptions { mode, ..OpenOptions::default() })
        };
        let Ok(mut map) = opened else { continue };
        assert!(opens(map.base().row(), map.base().geometry(), mode));
        let _ = map.verify();
        look_up(&map);
        if let Ok(copy) = map.copy() {
            assert!(image(&copy).len() == bytes.len().min(copy.serialized_size() as usize));
        }
        let _ = map.mark_clean();
        let _ = map.sync();
    }
}

/// What opens as a sketch opens as nothing else, and listing it ends.
fn open_sketch(bytes: &[u8], memory: &mut Guarded) {
    let options = OpenOptions::default();
    let loaded = petal::load_as::<Sketch>(bytes, &options);
    if let Ok(sketch) = loaded {
        assert!(petal::load(bytes, &options).is_err() && petal::load_as::<Map>(bytes, &options).is_err());
        list(&sketch);
    }
    for mode in MODES {
        let Some(place) = memory.place(bytes) else { return };
        // SAFETY: the bytes were just put at `place`, nobody else uses them, and the sketch goes before they do.
        let opened = unsafe {
            petal::open_in_buffer_as::<Sketch>(place, bytes.len(), &OpenOptions { mode, ..OpenOptions::default() })
        };
        let Ok(mut sketch) = opened else { continue };
        let _ = sketch.verify();
        list(&sketch);
        let _ = sketch.insert_u64(1);
        if let Ok(copy) = sketch.copy() {
            let _ = sketch.subtract(&copy);
        }
        let _ = sketch.mark_clean();
        let _ = sketch.sync();
    }
}

/// What opens as a router opens as nothing else, routes keys, and makes and takes messages.
fn open_router(bytes: &[u8], memory: &mut Guarded) {
    let options = OpenOptions::default();
    if let Ok(mut router) = petal::load_as::<Router>(bytes, &options) {
        assert!(petal::load(bytes, &options).is_err() && petal::load_as::<Map>(bytes, &options).is_err());
        use_router(&mut router);
    }
    for mode in MODES {
        let Some(place) = memory.place(bytes) else { return };
        // SAFETY: the bytes were just put at `place`, nobody else uses them, and the router goes before they do.
        let opened = unsafe {
            petal::open_in_buffer_as::<Router>(place, bytes.len(), &OpenOptions { mode, ..OpenOptions::default() })
        };
        let Ok(mut router) = opened else { continue };
        use_router(&mut router);
        let _ = router.mark_clean();
        let _ = router.sync();
    }
}

fn use_router(router: &mut Router) {
    let _ = (
        router.verify(),
        router.statistics(),
        router.contains(u64::to_le_bytes(1)),
        router.route(u64::to_le_bytes(1), None, 1),
    );
    let _ = router.walk(u64::to_le_bytes(1), &mut Walk::new(2));
    let neighbours: Vec<u64> = router.edges().map(|edge| edge.neighbour).collect();
    for neighbour in neighbours {
        let message = router.advertise(neighbour).map(<[u8]>::to_vec);
        // A node never takes its own message.
        assert!(message.is_err() || router.receive(neighbour, &message.unwrap_or_default()).is_err());
        let _ = router.advertise_changes(neighbour).map(drop);
        let _ = router.remove_edge(neighbour);
    }
    let _ = (router.insert(u64::to_le_bytes(1)), router.remove(u64::to_le_bytes(1)), router.clear());
}

/// What opens as an aggregate opens as nothing else, and takes meetings whatever its words are.
fn open_aggregate(bytes: &[u8], memory: &mut Guarded) {
    let options = OpenOptions::default();
    if let Ok(mut aggregate) = petal::load_as::<Aggregate>(bytes, &options) {
        assert!(petal::load(bytes, &options).is_err() && petal::load_as::<Sketch>(bytes, &options).is_err());
        assert!(aggregate.verify().is_ok() || aggregate.base().header().unclean);
        meet(&mut aggregate);
    }
    for mode in MODES {
        let Some(place) = memory.place(bytes) else { return };
        // SAFETY: the bytes were just put at `place`, nobody else uses them, and the aggregate goes before they do.
        let opened = unsafe {
            petal::open_in_buffer_as::<Aggregate>(place, bytes.len(), &OpenOptions { mode, ..OpenOptions::default() })
        };
        let Ok(mut aggregate) = opened else { continue };
        let _ = aggregate.verify();
        meet(&mut aggregate);
        let _ = aggregate.copy();
        let _ = aggregate.mark_clean();
        let _ = aggregate.sync();
    }
}

fn meet(aggregate: &mut Aggregate) {
    let results = aggregate.statistics();
    assert!(results.count == 0 || !results.is_maximum_exact || results.maximum >= results.minimum);
    let at = |state: u32| AggregateStateValue { state, value: f64::from(state) };
    for id in 0..4_u64 {
        let _ = aggregate.add_hash(id, at(id as u32), &[at(0), at(1)]);
        let _ = (aggregate.list_sent_hash(id), aggregate.record_sent_hash(id, 1, Some(AggregateAnswer::First)));
        let _ =
            (aggregate.remove_hash(id, at(0)), aggregate.forget_sent_hash(id, 1), aggregate.count_in_state(id as u32));
    }
    let _ = (aggregate.statistics(), aggregate.expected_errors(1000));
}

/// What opens as a digest opens as nothing else. A search ends at its bounds, whatever table and state say.
fn open_digest(bytes: &[u8], memory: &mut Guarded) {
    let options = OpenOptions::default();
    if let Ok(digest) = petal::load_as::<Digest>(bytes, &options) {
        assert!(petal::load(bytes, &options).is_err() && petal::load_as::<Sketch>(bytes, &options).is_err());
        search(&digest);
    }
    for mode in MODES {
        let Some(place) = memory.place(bytes) else { return };
        // SAFETY: the bytes were just put at `place`, nobody else uses them, and the digest goes before they do.
        let opened = unsafe {
            petal::open_in_buffer_as::<Digest>(place, bytes.len(), &OpenOptions { mode, ..OpenOptions::default() })
        };
        let Ok(mut digest) = opened else { continue };
        let _ = digest.verify();
        search(&digest);
        let _ = digest.add(1, &[7; 3000]);
        let _ = digest.attach(b"name");
        search(&digest);
        let _ = digest.copy();
        let _ = digest.mark_clean();
        let _ = digest.sync();
    }
}

fn search(digest: &Digest) {
    let excerpt: Vec<u8> = (0..5000_u32).map(|i| ((i * i) >> 5) as u8).collect();
    let options = DigestFindOptions { max_lookups: 10_000, max_matches: 10, ..DigestFindOptions::default() };
    if let Ok(found) = digest.find(&excerpt, &options) {
        assert!(found.matches.len() <= 10 && found.lookups <= 10_000);
    }
    let _ = (digest.attachment(), digest.payload_at(0), digest.expected_rate(200), digest.fill());
}

/// What opens as an index opens as nothing else, and answers whatever its words say.
fn open_index(bytes: &[u8], memory: &mut Guarded) {
    let options = OpenOptions::default();
    if let Ok(index) = petal::load_as::<Index>(bytes, &options) {
        assert!(petal::load(bytes, &options).is_err() && petal::load_as::<Sketch>(bytes, &options).is_err());
        search_rows(&index);
    }
    for mode in MODES {
        let Some(place) = memory.place(bytes) else { return };
        // SAFETY: the bytes were just put at `place`, nobody else uses them, and the index goes before they do.
        let opened = unsafe {
            petal::open_in_buffer_as::<Index>(place, bytes.len(), &OpenOptions { mode, ..OpenOptions::default() })
        };
        let Ok(mut index) = opened else { continue };
        let _ = index.verify();
        search_rows(&index);
        let _ = index.add(1, &vec![0x55; index.row_bytes()]);
        let _ = (index.remove(1), index.remove_row(0), index.attach(b"name"));
        search_rows(&index);
        let _ = (index.copy(), index.arrange(index.next_row() + 1));
        let _ = index.mark_clean();
        let _ = index.sync();
    }
}

fn search_rows(index: &Index) {
    let query: Vec<u8> = vec![0x11; index.row_bytes()];
    let mut options = IndexSearchOptions::default();
    if let Ok(hits) = index.find_top(&query, 3, &mut options) {
        assert!(hits.len() <= 3);
    }
    if let Ok(hits) = index.find_similar(&query, 0.5, &mut options) {
        assert!(hits.len() as u64 <= index.next_row() && hits.iter().all(|hit| hit.similarity >= 0.5));
    }
    let _ = (index.attachment(), index.row_at(0), index.find_row(1, 0), index.row_count());
}

fn list(sketch: &Sketch) {
    sketch.statistics();
    let geometry = sketch.base().geometry();
    // The bits that a number takes at least: those of a cell, or of an element of pinsketch.
    let each = if sketch.has_signs() { 192 } else { geometry.words[0].max(8) };
    if let Ok(listing) = sketch.list() {
        assert!(listing.listed.len() as u64 <= geometry.bits / each && listing.listed.is_sorted());
    }
    if let Ok(listing) = sketch.list_keys() {
        assert!(listing.signs.len() as u64 <= geometry.bits / each);
    }
    if let Ok(listing) = sketch.list_values() {
        assert!(listing.listed.len() as u64 <= geometry.bits / each);
    }
    let _ = sketch.get_u64(1);
}

fn look_up(map: &Map) {
    let keys: Vec<u64> = (0..200).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let one = |key: &u64| map.get_u64(*key).or_else(|_| map.get_hash(*key)).unwrap_or(None);
    let expected: Vec<u64> = keys.iter().map(|key| one(key).unwrap_or(0)).collect();
    let mut values = vec![1; keys.len()];
    let form = match map.base().hasher().function() {
        HashFunction::External => Keys::Hashes(&keys),
        _ => Keys::U64(&keys),
    };
    let _ = map.get_batch(&form, &mut Answers { values: Some(&mut values), ..Answers::default() });
    // Nothing is promised for a payload that the kind cannot have.
    assert!(values == expected || map.payload().check_payload().is_err());
    map.statistics();
}

fn open_all(bytes: &[u8], places: &mut Places) {
    let Places { memory, file } = places;
    open_map(bytes, memory);
    open_sketch(bytes, memory);
    open_router(bytes, memory);
    open_aggregate(bytes, memory);
    open_digest(bytes, memory);
    open_index(bytes, memory);
    let loaded = petal::load(bytes, &OpenOptions::default());
    let loaded_status = loaded.as_ref().err().map(Error::status);
    if let Ok(filter) = loaded {
        exercise::look(&filter);
        exercise::change(&filter);
    }
    // What looks damaged in place is looked at several times, with pauses; one way to come there is enough.
    let header = Header::decode(bytes);
    let damaged = header.as_ref().is_err_and(|error| error.status() == Status::Corrupt);
    let header = header.ok();
    let modes = if damaged { &[Mode::Read] } else { &MODES[..] };
    for mode in modes.iter().copied() {
        let options = OpenOptions { mode, ..OpenOptions::default() };
        let Some(place) = memory.place(bytes) else { return };
        // SAFETY: the bytes were just put at `place`, nobody else uses them, and the filter goes before they do.
        let opened = unsafe { petal::open_in_buffer(place, bytes.len(), &options) };
        let status = opened.as_ref().err().map(Error::status);
        agree(header.as_ref(), mode, loaded_status, status);
        used(opened, mode);
        if status.is_none() && mode == Mode::Write {
            // SAFETY: the filter that wrote there is gone.
            written(&unsafe { memory.bytes(place, bytes.len()) });
        }
        if damaged {
            continue;
        }

        put(*file, bytes);
        let opened = petal::open_descriptor(*file, 0, &options);
        agree(header.as_ref(), mode, loaded_status, opened.as_ref().err().map(Error::status));
        used(opened, mode);
    }
}

/// Opening in place does not read the payload; all else that is wrong it finds as loading does. If several things are
/// wrong, any of them may be named. A mode that the kind does not have is refused.
fn agree(header: Option<&Header>, mode: Mode, loaded: Option<Status>, opened: Option<Status>) {
    let can_open =
        |header: &Header| petal::registry::find(header.kind).is_none_or(|row| opens(row, &header.geometry, mode));
    if opened == Some(Status::Unsupported) && !header.is_none_or(can_open) {
        return;
    }
    let payload_only = mode != Mode::Load && loaded == Some(Status::Corrupt) && opened.is_none();
    let foreign = |status| status == Some(Status::Foreign);
    let same = loaded.is_some() == opened.is_some() && foreign(loaded) == foreign(opened);
    assert!(same || payload_only, "loading gives {loaded:?}, opening to {mode:?} {opened:?}");
}

fn used(opened: Result<Filter>, mode: Mode) {
    let Ok(mut filter) = opened else { return };
    if let Err(error) = filter.copy() {
        // An image in place that does not match its checksums: it can be looked at, and nothing is made of it.
        assert_eq!(error.status(), Status::Corrupt);
        exercise::look(&filter);
        let _ = filter.insert_hash(7).is_ok() || filter.insert_shared_hash(7).is_ok();
        return;
    }
    if mode != Mode::Load {
        exercise::look(&filter);
        exercise::change(&filter);
    }
    if digests::are_keys(&filter) {
        assert_eq!(filter.insert_hash(7).unwrap_err().status(), Status::Unsupported);
        let digest = vec![7; filter.base().hasher().identifier() as usize / 8];
        if filter.insert(&digest).is_ok() {
            assert!(mode != Mode::Read && filter.contains(&digest));
        }
        return;
    }
    match mode {
        Mode::Load => {}
        Mode::Read => {
            let before = image(&filter);
            let refused = [filter.insert_hash(7).err(), filter.clear().err(), filter.fold(2).err()];
            for (refused, of) in
                refused.into_iter().zip([Capabilities::INSERT, Capabilities::CLEAR, Capabilities::FOLD])
            {
                assert_eq!(refused.map(|error| error.status()), Some(refusal(&filter, of)));
            }
            assert!(image(&filter) == before, "what is open for reading changed");
        }
        Mode::Write => {
            // A payload that does not match its checksums is not changed.
            match filter.insert_hash(7) {
                Ok(_) => assert!(filter.contains_hash(7)),
                Err(error) => assert!(is_refusal(&filter, &error, Capabilities::INSERT), "{error}"),
            }
            let found = filter.contains_hash(8);
            match filter.remove_hash(8) {
                Ok(removed) => assert_eq!(removed, found),
                Err(error) => assert!(is_refusal(&filter, &error, Capabilities::REMOVE), "{error}"),
            }
            // What was removed may have seemed to be there because of this one.
            if found {
                let _ = filter.insert_hash(7);
            }
            assert_eq!(filter.fold(2).unwrap_err().status(), refusal(&filter, Capabilities::FOLD));
        }
        Mode::Share => {
            match filter.insert_shared_hash(7) {
                Ok(_) => assert!(filter.contains_hash(7)),
                Err(error) => assert!(is_refusal(&filter, &error, Capabilities::INSERT_SHARED), "{error}"),
            }
            assert_eq!(filter.insert_hash(8).unwrap_err().status(), refusal(&filter, Capabilities::INSERT));
        }
    }
}

/// Whether an image in place may refuse a change in this way: the kind cannot, the image is full, or it is damaged.
fn is_refusal(filter: &Filter, error: &Error, capability: Capabilities) -> bool {
    match error.status() {
        status @ (Status::Unsupported | Status::UnsupportedByHandle) => {
            !filter.capabilities().contains(capability) && status == refusal(filter, capability)
        }
        // An integer may be past the universe.
        Status::OutOfRange => filter.base().row().hashing.universe.is_some(),
        status => matches!(status, Status::Corrupt | Status::Full),
    }
}

/// What a filter says that cannot do something: its kind cannot, or only this handle may not.
fn refusal(filter: &Filter, capability: Capabilities) -> Status {
    match filter.base().capabilities_in_memory().contains(capability) {
        true => Status::UnsupportedByHandle,
        false => Status::Unsupported,
    }
}

/// What a writer leaves is clean and has the key, if it took it.
fn written(bytes: &[u8]) {
    match petal::load(bytes, &OpenOptions::default()) {
        Ok(filter) => {
            let row = filter.base().row();
            let takes_all = row.capabilities.contains(Capabilities::INSERT)
                && !row.capabilities.contains(Capabilities::MAY_LOSE_KEYS)
                && row.overfill == Overfill::RateRises;
            assert!(!takes_all || filter.contains_hash(7) || filter.base().header().unclean);
        }
        // Damage, or bits after the last one, which opening in place did not look for.
        Err(error) => assert_eq!(error.status(), Status::Corrupt),
    }
}

fn put(file: RawFd, bytes: &[u8]) {
    // SAFETY: a file of this process and a buffer of this length; no filter maps the file now.
    let done = unsafe {
        libc::ftruncate(file, 0);
        libc::ftruncate(file, bytes.len() as i64);
        libc::pwrite(file, bytes.as_ptr().cast(), bytes.len(), 0)
    };
    assert_eq!(done, bytes.len() as isize);
}
