//! The input is a packed form, a delta, or an image, of which nothing is believed. As a form the input is unpacked as
//! each handle, and as a delta it patches filters of several kinds. An image that opens is packed, unpacked, changed,
//! and brought up to date by a delta. Nothing may panic, no result may be larger than allowed, and what comes back must
//! be what was sent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use petal::wire::{delta, pack, patch, unpack};
use petal::{Capabilities, Filter, Image, Map, OpenOptions, Result, Sketch, Spec, registry};
use petal_fuzz::exercise::{self, image};
use petal_fuzz::image::{with_checksums, with_length};

/// The most bytes of an image. Bytes may claim any size.
const LIMIT: u64 = 1 << 20;

thread_local! {
    /// Filters in the older states of the deltas in the corpus: `corpus.sh` says how the corpus is made.
    static BASES: Vec<Filter> = ["bloom", "split_block", "scalable", "rotating", "quotient", "cuckoo"]
        .iter()
        .filter_map(|name| registry::find_name(name))
        .map(|row| {
            let spec = Spec { kind: Some(row.kind), capacity: 300, false_positive_rate: 0.01, ..Spec::default() };
            let mut base = petal::Filter::new(&spec).expect("a filter");
            for key in 0..60 {
                base.insert_u64(key).expect("room");
            }
            base
        })
        .collect();
}

fuzz_target!(|bytes: &[u8]| {
    received::<Filter>(bytes);
    received::<Map>(bytes);
    received::<Sketch>(bytes);
    BASES.with(|bases| bases.iter().for_each(|base| patched(base, bytes)));
    let made_right = [Some(bytes.to_vec()), with_checksums(bytes), with_length(bytes)];
    for image in made_right.into_iter().flatten() {
        sent::<Filter>(&image);
        sent::<Map>(&image);
        sent::<Sketch>(&image);
        if let Ok(filter) = petal::load_as::<Filter>(&image, &OpenOptions::default()) {
            changed(&filter);
        }
    }
});

/// What a function gives to its sink.
fn written(write: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&mut |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(bytes)
}

/// Takes the input as a packed form.
fn received<H: Image>(bytes: &[u8]) {
    if let Ok(handle) = unpack::<H>(bytes, LIMIT, None) {
        assert!(handle.serialized_size() <= LIMIT);
        let again = written(|sink| pack(&handle, sink)).expect("what came can be sent");
        let back: H = unpack(&again, LIMIT, None).expect("what is sent comes");
        assert_eq!(image(&back), image(&handle));
    }
}

/// Takes the input as a delta for a filter.
fn patched(base: &Filter, bytes: &[u8]) {
    if let Ok(filter) = patch(base, bytes, LIMIT) {
        assert!(filter.serialized_size() <= LIMIT);
        assert!(filter.payload().check_payload().is_ok());
        exercise::look(&filter);
        let again = written(|sink| delta(base, &filter, sink)).expect("the states are of one filter");
        assert_eq!(image(&patch(base, &again, LIMIT).expect("the base is right")), image(&filter));
    }
}

/// Packs an image that opens, and unpacks it.
fn sent<H: Image>(bytes: &[u8]) {
    let Ok(handle) = petal::load_as::<H>(bytes, &OpenOptions::default()) else { return };
    let Ok(form) = written(|sink| pack(&handle, sink)) else { return };
    let size = handle.serialized_size();
    assert!(form.len() as u64 <= size + 100, "{} bytes of {size}", form.len());
    assert!(unpack::<H>(&form, size - 1, None).is_err());
    // An image may have a payload that its kind cannot have. Its form is then refused.
    let Ok(back) = unpack::<H>(&form, size, None) else {
        assert!(handle.payload().check_payload().is_err());
        return;
    };
    assert_eq!(image(&back), image(&handle));
    let cut = &form[..form.len() - 1];
    assert!(unpack::<H>(cut, size, None).is_err());
}

/// Changes a filter, and brings the older state up to date.
fn changed(older: &Filter) {
    if !older.capabilities().contains(Capabilities::INSERT) || older.payload().check_payload().is_err() {
        return;
    }
    let Ok(mut newer) = older.copy() else { return };
    for hash in [0, 1 << 63, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
        let _ = newer.insert_hash(hash);
    }
    let Ok(form) = written(|sink| delta(older, &newer, sink)) else { return };
    let size = newer.serialized_size();
    let back = patch(older, &form, size).expect("the older state is right");
    assert_eq!(image(&back), image(&newer));
    assert!(patch(older, &form, size - 1).is_err());
    assert!(image(&newer) == image(older) || patch(&newer, &form, size).is_err());
}
