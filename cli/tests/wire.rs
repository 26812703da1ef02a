//! `petal pack`, `petal unpack`, `petal delta` and `petal patch`.

mod common;

use common::Place;
use std::fs;

fn read(place: &Place, name: &str) -> Vec<u8> {
    fs::read(place.path(name)).expect("a file")
}

#[test]
fn filters_come_back_and_deltas_make_the_newer_state() {
    let place = Place::new();
    place.file("old.txt", b"one\ntwo\n");
    place.file("more.txt", b"three\n");
    place.petal("build --capacity 10k -o old old.txt").quiet();
    place.petal("pack old -o packed").quiet();
    assert!(read(&place, "packed").len() < 100);
    place.petal("unpack packed -o back").quiet();
    assert!(read(&place, "back") == read(&place, "old"));

    fs::copy(place.path("old"), place.path("new")).expect("a copy");
    place.petal("insert new more.txt").quiet();
    place.petal("delta old new -o delta").quiet();
    assert!(read(&place, "delta").len() < 100);
    place.petal("patch old delta -o patched").quiet();
    assert!(read(&place, "patched") == read(&place, "new"));
    // The delta is for no other state, and the file stays as it was.
    assert!(place.petal("patch new delta -o patched").trouble().contains("another state"));
    assert!(read(&place, "patched") == read(&place, "new"));
}

#[test]
fn maps_and_sketches_are_packed_too() {
    let place = Place::new();
    place.file("old.txt", b"one\t1\ntwo\t2\n");
    place.file("keys.txt", b"three\n");
    place.petal("map build --kind approximator --capacity 1k -o old old.txt").quiet();
    fs::copy(place.path("old"), place.path("new")).expect("a copy");
    place.file("more.txt", b"three\t3\n");
    place.petal("map put new more.txt");
    place.petal("pack new -o packed").quiet();
    assert!(read(&place, "packed").len() < 200);
    place.petal("unpack packed -o back").quiet();
    assert!(read(&place, "back") == read(&place, "new"));
    place.petal("delta old new -o delta").quiet();
    place.petal("patch old delta -o patched").quiet();
    assert!(read(&place, "patched") == read(&place, "new"));

    place.petal("sketch build --capacity 100 -o sketch keys.txt").quiet();
    place.petal("pack sketch -o packed").quiet();
    place.petal("unpack packed -o back").quiet();
    assert!(read(&place, "back") == read(&place, "sketch"));
    // A filter and a map are not two states of one filter.
    place.petal("build --capacity 1k -o filter keys.txt").quiet();
    place.petal("delta old filter -o delta").trouble();
}

#[test]
fn planned_filters_fit_onto_the_wire() {
    let place = Place::new();
    let keys: String = (0..20_000).map(|i| format!("key {i}\n")).collect();
    place.file("keys.txt", keys.as_bytes());
    let json: serde_json::Value =
        serde_json::from_str(&place.petal("plan --keys 20k --wire 20kB --memory 60kB --json").text()).expect("JSON");
    let filters = json["filters"].as_array().expect("filters");
    let rates: Vec<f64> = filters.iter().filter_map(|filter| filter["false_positive_rate"].as_f64()).collect();
    assert!(filters.len() > 2 && rates.len() == filters.len());
    for filter in filters {
        let (bits, hashes) = (&filter["bits"], &filter["hashes"]);
        place.petal(&format!("build --kind bloom --bits {bits} --hashes {hashes} -o filter keys.txt"));
        place.petal("pack filter -o packed").quiet();
        let (image, packed) = (read(&place, "filter").len(), read(&place, "packed").len());
        assert!(image <= 60_000 && packed <= 20_200, "{filter}: {image} and {packed} bytes");
        assert_eq!(filter["bytes"], image);
    }
    let text = place.petal("plan --keys 20k --wire 20kB --memory 60kB").text();
    assert_eq!(text.lines().count(), 1 + filters.len());
    assert_eq!(text.matches('*').count(), 1);
    assert!(place.petal("plan --keys 20k --wire 10B").trouble().contains("no filter of 20000 keys"));
    place.petal("plan --keys 20k --wire 10kB --fpr 0.1").trouble();
}
