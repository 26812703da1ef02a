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
