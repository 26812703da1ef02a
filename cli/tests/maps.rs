//! Maps: `map build` from lines of keys and values, and `map get`.

mod common;

use common::{Place, info, lines, petal};
use petal::{BuilderOptions, MapBuilder, Spec, registry};
use std::fs;

/// Lines of a key, a tab and its value.
fn table(range: std::ops::Range<u64>) -> String {
    range.map(|i| format!("key {i}\t{}\n", value(i))).collect()
}

fn value(i: u64) -> u64 {
    i * i % 10_007
}

#[test]
fn every_kind_of_map_is_built_as_by_a_builder() {
    let place = Place::new();
    place.file("table", table(0..60_000) + &table(100..200));
    for row in registry::MAPS {
        let spec = Spec { kind: Some(row.kind), ..Spec::default() };
        let mut builder = MapBuilder::new(&spec, BuilderOptions::default()).unwrap();
        for i in (0..60_000).chain(100..200) {
            builder.put(format!("key {i}").as_bytes(), value(i)).unwrap();
        }
        builder.save(&place.path("expected")).unwrap();
        let expected = fs::read(place.path("expected")).unwrap();
        for options in ["", "--threads 3", "--memory-limit 1MiB -T .", "--threads 2 --memory-limit 2M"] {
            let line = format!("map build --kind {} {options} table", row.name);
            assert!(place.petal(&line).quiet() == expected, "{line}");
        }
        place.petal(&format!("map build --kind {} -o map table", row.name)).quiet();
        let of_map = info(&place.path("map"));
        assert_eq!((of_map["kind"].as_str(), of_map["capacity"].as_u64()), (Some(row.name), Some(60_000)));
        assert_eq!((of_map["offered"].as_u64(), &of_map["statistics"]["saturated"]), (Some(60_100), &().into()));
        assert!(place.petal("info map").text().contains("false_positive_rate"));
        assert_eq!(place.petal("verify map").text(), "map: OK\n");
        assert_eq!(place.petal("sync map").text(), "map: clean\n");
    }
    // Nothing of the builder's file stays.
    assert_eq!(place.names(), ["expected", "map", "table"]);
}

#[test]
fn get_prints_what_was_built() {
    let place = Place::new();
    place.file("table", table(0..20_000));
    place.petal("map build --fpr 0.001 -o map table").quiet();
    let keys: String = (0..20_000).map(|i| format!("key {i}\n")).collect();
    assert!(place.petal_on("map get map", keys.as_bytes()).quiet() == table(0..20_000).as_bytes());
    // Absent keys are left out, but for a share of 1 to 1000.
    let absent = lines(0..50_000);
    let run = place.petal_on("map get -c map", &absent);
    let rate = info(&place.path("map"))["statistics"]["false_positive_rate"].as_f64().unwrap();
    let (mean, found): (f64, f64) = (rate * 50_000.0, run.text().trim().parse().unwrap());
    assert!(rate <= 0.001 && (found - mean).abs() < 4.5 * mean.sqrt(), "{found} of {mean}");
    let rest = place.petal_on("map get -v map", &absent).quiet();
    assert_eq!(rest.iter().filter(|byte| **byte == b'\n').count() as f64, 50_000.0 - found);
    let counts = place.petal_on("map get -vc --json map", &absent).text();
    assert_eq!(
        counts,
        format!("{{\"file\":\"map\",\"records\":50000,\"selected\":{},\"invert\":true}}\n", 50_000.0 - found)
    );
    // As of check: 1 where nothing was selected.
    for (line, input, status, output) in [
        ("map get map", "key 1\n", 0, "key 1\t1\n"),
        ("map get -q map", "key 1\n", 0, ""),
        ("map get -v map", "key 1\n", 1, ""),
        ("map get -c map", "", 1, "0\n"),
        ("map get -f 2 -d , map", "a,key 2,b\n", 0, "key 2\t4\n"),
        ("map get --json map", "key 3\n", 0, "{\"key\":\"key 3\",\"value\":9}\n"),
    ] {
        let run = place.petal_on(line, input.as_bytes());
        assert_eq!((run.status, &*String::from_utf8_lossy(&run.stdout), &*run.stderr), (status, output, ""), "{line}");
    }
    assert_eq!(place.petal_on("map get -0 map", b"key 3\0key 4\0").quiet(), b"key 3\t9\0key 4\t16\0");
    place.petal_on("map get --json -v map", b"\xff\xfe\n").names(&["standard input: record 1", "UTF-8"]);
}

#[test]
fn keys_are_bytes_and_values_are_numbers() {
    let place = Place::new();
    let greatest = u64::MAX;
    let input = format!("\t0\na\tb\t1\n\u{e9}=\t007\nlong key\t{greatest}");
    place.petal_on("map build -o map", input.as_bytes()).quiet();
    let expected = format!("\t0\na\tb\t1\n\u{e9}=\t7\nlong key\t{greatest}\n");
    assert_eq!(place.petal_on("map get map", "\na\tb\n\u{e9}=\nlong key\n".as_bytes()).text(), expected);
    place.petal_on("map build -d = -o map", b"a=1\nb=c=2\n").quiet();
    assert_eq!(place.petal_on("map get map", b"a\nb=c\n").text(), "a\t1\nb=c\t2\n");
    place.petal_on("map build -0 -o map", b"two\nlines\t1\0").quiet();
    assert_eq!(place.petal_on("map get -0 map", b"two\nlines").text(), "two\nlines\t1\0");
    // Nothing at all is a map too.
    place.petal_on("map build -o map", b"").quiet();
    assert_eq!(place.petal_on("map get map", b"a\n").status, 1);
    for (record, things) in [
        ("no value", &["record 2", "\\t"][..]),
        ("key\t", &["record 2", "\"\"", "decimal number"]),
        ("key\t-1", &["record 2", "\"-1\""]),
        ("key\t+1", &["record 2", "\"+1\""]),
        ("key\t1\r", &["record 2", "\"1\\r\""]),
        ("key\t0x10", &["record 2", "0x10"]),
        ("key\t18446744073709551616", &["record 2", "18446744073709551615"]),
    ] {
        place.petal_on("map build -o other", format!("a\t1\n{record}\n").as_bytes()).names(things);
    }
    assert!(!place.path("other").exists());
}

#[test]
fn a_key_with_two_values_is_named() {
    let place = Place::new();
    place.file("first", table(0..3000));
    place.file("second", table(3000..4000) + "key 17\t1\n");
    place.petal("map build -o map first second").names(&[
        "second: record 1001",
        "\"key 17\"",
        "the value 1,",
        "first: record 18 gave it 289",
    ]);
    // What comes through a pipe is gone.
    let both = table(0..3000) + "key 17\t1\n";
    place.petal_on("map build -o map", both.as_bytes()).names(&["two values, 1 and 289"]);
    assert!(!place.path("map").exists());
}

#[test]
fn maps_are_no_filters_and_filters_no_maps() {
    let place = Place::new();
    place.file("table", table(0..100));
    place.file("keys", lines(0..100));
    place.petal("map build -o map table").quiet();
    place.petal("build -o filter keys").quiet();
    for row in registry::MAPS {
        place.petal(&format!("build --kind {} -o out keys", row.name)).names(&[row.name, "petal map build"]);
        place.petal(&format!("dedup --kind {} --capacity 10", row.name)).names(&[row.name]);
    }
    for row in registry::FILTERS {
        place.petal(&format!("map build --kind {} -o out table", row.name)).names(&[row.name, "petal build"]);
    }
    place.petal("map get filter keys").names(&["filter", "not a map"]);
    for line in ["check map keys", "insert map keys", "remove map keys", "count map keys", "merge map filter -o out"] {
        place.petal(line).names(&["map: is a map of the kind", "not a filter"]);
    }
    for line in ["fold map --fpr 0.5 -o out", "estimate map filter"] {
        place.petal(line).names(&["map: is a map of the kind"]);
    }
    assert!(!place.path("out").exists());
    let run = petal(["map"]);
    assert!(run.status == 2 && run.stderr.contains("build") && run.stderr.contains("get"), "{run:?}");
}

#[test]
fn maps_under_a_secret() {
    let place = Place::new();
    place.file("table", table(0..100));
    place.file("secret", b"0123456789abcdef");
    place.petal("map build --key-file secret -o map table").quiet();
    place.petal_on("map get map", b"key 3\n").names(&["map", "--key-file"]);
    assert_eq!(place.petal_on("map get --key-file secret map", b"key 3\n").text(), "key 3\t9\n");
}
