//! Maps: `map build` from lines of keys and values, `map get`, `map put` and `map replace`.

mod common;

use common::{Place, info, lines, petal};
use petal::{BuilderOptions, Capabilities, MapBuilder, Spec, registry};
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
        assert_eq!((of_map["insertions"].as_u64(), &of_map["statistics"]["saturated"]), (Some(60_100), &().into()));
        assert!(place.petal("info map").text().contains("false_positive_rate"));
        assert_eq!(place.petal("verify map").text(), "map: OK\n");
        assert_eq!(place.petal("mark-clean map").text(), "map: clean\n");
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
    for line in ["fold map --fpr 0.5 -o out", "resize map --capacity 1k -o out", "estimate map filter"] {
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
    place.petal("map build --secret-file secret -o map table").quiet();
    place.petal_on("map get map", b"key 3\n").names(&["map", "--secret-file"]);
    assert_eq!(place.petal_on("map get --secret-file secret map", b"key 3\n").text(), "key 3\t9\n");
}

/// The kinds of map that can do this.
fn that_can(capability: Capabilities) -> impl Iterator<Item = &'static petal::Row> {
    registry::MAPS.iter().filter(move |row| row.capabilities.contains(capability))
}

#[test]
fn values_are_put_in_place() {
    let place = Place::new();
    place.file("first", table(0..2000));
    place.file("more", table(2000..20_000) + "key 5\t0\n");
    let all = table(0..20_000) + "key 5\t0\n";
    for row in that_can(Capabilities::PUT) {
        let build = format!("map build --kind {} --capacity 20000 --fpr 0.001 --set value_bits=14", row.name);
        place.petal_on(&format!("{build} -o expected"), all.as_bytes()).quiet();
        place.petal(&format!("{build} -o map first")).quiet();
        place.petal("map put map more").quiet();
        assert_eq!(fs::read(place.path("map")).unwrap(), fs::read(place.path("expected")).unwrap(), "{}", row.name);
        let run = place.petal_on("map put --json map -d =", b"key 7=16383\nkey 8=1\n").text();
        let summary: serde_json::Value = serde_json::from_str(&run).unwrap();
        assert_eq!((&summary["put"], &summary["insertions"]), (&2.into(), &20_003.into()), "{run}");
        assert_eq!(place.petal_on("map get map", b"key 7\nkey 8\n").text(), "key 7\t16383\nkey 8\t64\n");
        // Records before an invalid one are there, and the file is sound.
        let input = "key 9\t16000\nkey 10\t16384\nkey 11\t16001\n";
        place.petal_on("map put map", input.as_bytes()).names(&["record 2", "16384", "after 1 values were put"]);
        place.petal_on("map put map", b"key 11\t16002\nkey 12\n").names(&["record 2", "after 1 values were put"]);
        assert_eq!(place.petal("verify map").text(), "map: OK\n");
        let read = place.petal_on("map get map", b"key 9\nkey 10\nkey 11\n").text();
        assert_eq!(read, "key 9\t16000\nkey 10\t100\nkey 11\t16002\n");
        // An empty one is filled as well.
        place.petal_on(&format!("{build} -o empty"), b"").quiet();
        place.petal_on("map put empty", all.as_bytes()).quiet();
        assert_eq!(fs::read(place.path("empty")).unwrap(), fs::read(place.path("expected")).unwrap());
    }
}

#[test]
fn values_are_replaced_in_place() {
    let place = Place::new();
    place.file("table", table(0..20_000));
    place.file("others", (0..20_000).map(|i| format!("key {i}\t{}\n", value(i) ^ 1)).collect::<String>());
    for row in that_can(Capabilities::REPLACE) {
        place.petal(&format!("map build --kind {} --fpr 1e-6 -o map table", row.name)).quiet();
        assert_eq!(place.petal("map replace map others").text(), "20000 replaced, 0 certainly not there\n");
        place.file("keys", (0..20_000).map(|i| format!("key {i}\n")).collect::<String>());
        let others = fs::read(place.path("others")).unwrap();
        assert!(place.petal("map get map keys").quiet() == others);
        assert_eq!(place.petal("verify map").text(), "map: OK\n");
        let run = place.petal_on("map replace --json map", b"key 7\t1\nother\t2\n").text();
        let summary: serde_json::Value = serde_json::from_str(&run).unwrap();
        assert_eq!((&summary["replaced"], &summary["absent"]), (&1.into(), &1.into()), "{run}");
        let input = format!("key 8\t3\nkey 9\t{}\n", u64::MAX);
        let names = ["record 2", "18446744073709551615", "after 1 values were replaced"];
        place.petal_on("map replace map", input.as_bytes()).names(&names);
        assert_eq!(place.petal_on("map get map", b"key 7\nkey 8\nkey 9\n").text(), "key 7\t1\nkey 8\t3\nkey 9\t80\n");
        assert_eq!(place.petal_on("map replace -q map", b"key 7\t2\n").quiet(), b"");
    }
}

/// Maps that cannot, filters, and files that are not there are refused, and stay as they were.
#[test]
fn what_cannot_be_put_or_replaced_is_refused() {
    let place = Place::new();
    place.file("table", table(0..100));
    place.file("keys", lines(0..100));
    place.file("secret", b"0123456789abcdef");
    place.petal("build -o filter keys").quiet();
    for row in registry::MAPS {
        place.petal(&format!("map build --kind {} -o map table", row.name)).quiet();
        let before = fs::read(place.path("map")).unwrap();
        for (verb, capability) in [("put", Capabilities::PUT), ("replace", Capabilities::REPLACE)] {
            let line = format!("map {verb} map table");
            if !row.capabilities.contains(capability) {
                place.petal(&line).names(&["map: maps of the kind", row.name, &format!("cannot {verb}")]);
            }
            place.petal(&format!("map {verb} filter table")).names(&["filter", "not a map"]);
            place.petal(&format!("map {verb} nothing table")).names(&["nothing"]);
            place.petal_on(&format!("map {verb} -"), b"").names(&["standard input"]);
        }
        assert_eq!(fs::read(place.path("map")).unwrap(), before);
        let Some((verb, _)) = [("put", Capabilities::PUT), ("replace", Capabilities::REPLACE)]
            .into_iter()
            .find(|(_, capability)| row.capabilities.contains(*capability))
        else {
            continue;
        };
        place.petal(&format!("map {verb} map map")).names(&["map: is one of the files to read too"]);
        place.petal(&format!("map build --kind {} --secret-file secret -o map table", row.name)).quiet();
        place.petal(&format!("map {verb} map table")).names(&["--secret-file"]);
        assert_eq!(place.petal(&format!("map {verb} --secret-file secret map table")).status, 0);
        place.petal_on(&format!("map {verb} --secret-file - map -"), b"").names(&["only once"]);
        // A file whose writer did not come to its end: mark-clean makes it clean.
        place.petal(&format!("map build --kind {} -o map table", row.name)).quiet();
        let clean = fs::read(place.path("map")).unwrap();
        let mut image = clean.clone();
        image[petal::format::STATE_OFFSET..][..5].copy_from_slice(b"DIRTY");
        place.file("map", &image);
        place.petal(&format!("map {verb} map table")).names(&["map", "not closed", "petal help mark-clean"]);
        assert_eq!(place.petal("mark-clean map").text(), "map: clean\n");
        assert_eq!(fs::read(place.path("map")).unwrap(), clean);
        assert_eq!(place.petal(&format!("map {verb} map table")).status, 0);
    }
}
