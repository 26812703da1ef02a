//! `petal sketch`: what two sets do not have in common.

mod common;

use common::{Place, info, lines};

#[test]
fn differences_are_listed() {
    let place = Place::new();
    place.file("a", lines(0..50_000));
    place.file("b", lines(7..50_005));
    for name in ["a", "b"] {
        place.petal(&format!("sketch build --numbers --capacity 20 --fpr 1e-6 -o {name}.petal {name}")).quiet();
        place.petal(&format!("verify {name}.petal")).text();
    }
    assert_eq!(place.petal("sketch list a.petal").status, 1);
    place.petal("sketch subtract -o d.petal a.petal b.petal").quiet();
    let ours: String = (0..7).map(|number| format!("+{number}\n")).collect();
    let theirs: String = (50_000..50_005).map(|number| format!("-{number}\n")).collect();
    assert_eq!(place.petal("sketch list d.petal").text(), format!("{theirs}{ours}"));
    let json = place.petal("sketch list --json d.petal").text();
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((&first["number"], &first["sign"]), (&50_000.into(), &(-1).into()));
    assert_eq!(json.lines().count(), 12);
    // Inserting what is missing, and removing what is too many, leaves nothing.
    place.file("theirs", lines(50_000..50_005));
    place.file("ours", lines(0..7));
    place.petal("sketch insert --numbers d.petal theirs").quiet();
    place.petal("sketch remove --numbers d.petal ours").quiet();
    assert_eq!(place.petal("sketch list d.petal").text(), "");
    place.petal("sketch merge -o both.petal d.petal d.petal").quiet();
    assert_eq!(place.petal("sketch list both.petal").text(), "");
    let said = info(&place.path("d.petal"));
    assert_eq!((&said["kind"], &said["capacity"]), (&"iblt".into(), &20.into()));
    assert!(said["statistics"].is_null());
}

/// A key is listed as its hash.
#[test]
fn keys_are_listed_as_their_hashes() {
    let place = Place::new();
    place.petal_on("sketch build --capacity 5 -o s.petal", b"ann\n").quiet();
    let hash = petal::Spec::default().hasher().unwrap().hash_key(b"ann").unwrap();
    assert_eq!(place.petal("sketch list s.petal").text(), format!("+{hash}\n"));
}

/// Whole keys are listed in hexadecimal.
#[test]
fn whole_keys_are_listed() {
    let place = Place::new();
    place.file("a", b"sixteen bytes: a\nsixteen bytes: b\n");
    place.file("b", b"sixteen bytes: b\nsixteen bytes: c\n");
    for name in ["a", "b"] {
        place
            .petal(&format!("sketch build --kind riblt --set key_bytes=16 --capacity 9 -o {name}.petal {name}"))
            .quiet();
    }
    place.petal("sketch subtract -o d.petal a.petal b.petal").quiet();
    let (ours, theirs) = ("7369787465656e2062797465733a2061", "7369787465656e2062797465733a2063");
    assert_eq!(place.petal("sketch list d.petal").text(), format!("-{theirs}\n+{ours}\n"));
    let json = place.petal("sketch list --json d.petal").text();
    assert_eq!(json.lines().next(), Some(format!("{{\"key\":\"{theirs}\",\"sign\":-1}}").as_str()));
    assert_eq!(info(&place.path("d.petal"))["parameters"]["key_bytes"], 16);
    place.file("short", b"short\n");
    let run = place.petal("sketch insert d.petal short");
    assert!(run.status == 2 && run.stderr.contains("a key of 5 bytes"), "{}", run.stderr);
    // Numbers are keys of eight bytes.
    place.file("numbers", lines(1..2));
    place.petal("sketch build --kind riblt --set key_bytes=8 --capacity 9 --numbers -o n.petal numbers").quiet();
    assert_eq!(place.petal("sketch list n.petal").text(), "+0100000000000000\n");
}

/// Too many numbers to list give a message, and those that can be listed are listed.
#[test]
fn too_many_differences_are_told() {
    let place = Place::new();
    place.file("keys", lines(0..1000));
    place.petal("sketch build --numbers --capacity 10 -o s.petal keys").quiet();
    let run = place.petal("sketch list s.petal");
    assert_eq!(run.status, 1);
    assert!(run.stderr.starts_with("petal: warning: s.petal: only ") && run.stderr.contains("the 10 that"), "{run:?}");
    assert_eq!(place.petal("sketch list -q s.petal").stderr, "");
}

/// minisketch's bytes come in and go out, and the capacity comes from their length.
#[test]
fn bytes_of_minisketch_go_both_ways() {
    let place = Place::new();
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/formats/minisketch/sketches.txt");
    let text = std::fs::read_to_string(text).unwrap();
    let line: Vec<&str> = text.lines().find(|line| line.starts_with("12 4 ")).unwrap().split(' ').collect();
    let bytes: Vec<u8> = line[2]
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let elements = line[3..].iter().map(|one| format!("0x{one}\n"));
    std::fs::write(place.path("theirs"), &bytes).unwrap();
    place.file("keys", elements.collect::<String>());
    place.petal("sketch import minisketch --set field_bits=12 -o theirs.petal theirs").quiet();
    assert_eq!(info(&place.path("theirs.petal"))["capacity"], 4);
    place.petal("sketch build --kind pinsketch --set field_bits=12 --capacity 4 --numbers -o ours.petal keys").quiet();
    place.petal("sketch export -o ours ours.petal minisketch").quiet();
    assert_eq!(std::fs::read(place.path("ours")).unwrap(), bytes);
    // The difference is empty; then it has one element.
    place.petal("sketch subtract -o d.petal ours.petal theirs.petal").quiet();
    assert_eq!(place.petal("sketch list d.petal").text(), "");
    place.petal_on("sketch insert --numbers d.petal", b"77\n").quiet();
    assert_eq!(place.petal("sketch list d.petal").text(), "+77\n");
    place.petal_on("sketch insert --numbers d.petal", b"4096\n").names(&["number = 4096", "1 to 4095"]);
    place.petal("sketch import minisketch -o out theirs").names(&["theirs"]);
    place.petal("sketch import minisketch --set field_bits=7 -o out theirs").names(&["field_bits = 7"]);
    place.petal("sketch build --capacity 4 -o iblt.petal keys").quiet();
    place.petal("sketch export -o out iblt.petal minisketch").names(&["iblt.petal", "minisketch"]);
    assert!(!place.path("out").exists());
}

/// Ids in a row that a sketch of sums has no room for are not mistaken for an empty set: neither in one sketch nor in
/// two, nor in a sketch and keys.
#[test]
fn ids_in_a_row_are_not_lost() {
    let place = Place::new();
    for (all, missing, capacity) in [(1..32, 1..32, 10), (1..1001, 64..96, 12), (1..5000, 2048..3072, 100)] {
        place.file("all", lines(all.clone()));
        place.file("some", [lines(all.start..missing.start), lines(missing.end..all.end)].concat());
        for name in ["all", "some"] {
            let build = format!("sketch build --kind pinsketch --numbers --capacity {capacity}");
            place.petal(&format!("{build} -o {name}.petal {name}")).quiet();
        }
        place.petal("sketch subtract -o d.petal all.petal some.petal").quiet();
        let listed = place.petal("sketch list d.petal");
        assert_eq!((listed.status, &listed.stdout[..]), (1, &b""[..]));
        for diff in ["diff all.petal some.petal", "diff --numbers some.petal all"] {
            place.petal(diff).names(&["more keys differ than the sketches tell apart"]);
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::new();
    place.file("keys", lines(0..100));
    place.petal("build -o filter keys").quiet();
    place.petal("sketch build --capacity 10 -o s.petal keys").quiet();
    place.petal("sketch build --capacity 11 --fpr 1e-5 -o t.petal keys").quiet();
    place.petal("sketch subtract -o out s.petal t.petal").names(&["s.petal", "t.petal", "differ"]);
    place.petal("sketch subtract -o out s.petal filter").names(&["filter", "not a sketch", "petal help check"]);
    place.petal("check s.petal keys").names(&[
        "s.petal",
        "is a sketch of the kind iblt",
        "not a filter",
        "petal help sketch",
    ]);
    place.petal("map get s.petal keys").names(&["is a sketch of the kind iblt", "not a map"]);
    place.petal("sketch build -o out keys").names(&["--capacity"]);
    place.petal("sketch build --capacity 10 --fpr 2 -o out keys").names(&["--fpr", "less than 1"]);
    place.petal_on("sketch build --numbers --capacity 10 -o out", b"x\n").names(&["is not a hash", "--numbers"]);
    assert!(!place.path("out").exists());
}

/// A sketch of few keys says which they are, and says where it cannot.
#[test]
fn single_keys_are_looked_up() {
    let place = Place::new();
    place.petal_on("sketch build --capacity 20 --fpr 1e-9 -o s.petal", b"ann\nbob\n").quiet();
    place.petal_on("sketch remove s.petal", b"eve\n").quiet();
    let run = place.petal_on("sketch get s.petal", b"ann\ncid\neve\n");
    assert_eq!(run.text(), "ann\t+1\ncid\t0\neve\t-1\n");
    let run = place.petal_on("sketch get --json s.petal", b"ann\ncid\n");
    assert_eq!(
        run.text(),
        "{\"key\":\"ann\",\"presence\":\"present\",\"sign\":1}\n{\"key\":\"cid\",\"presence\":\"absent\"}\n"
    );
    place.file("keys", lines(0..1000));
    place.petal("sketch build --numbers --capacity 10 -o n.petal keys").quiet();
    let run = place.petal_on("sketch get --numbers n.petal", b"0x7\n");
    assert_eq!((run.status, &*run.stdout), (1, &b"0x7\t?\n"[..]));
    place.petal("sketch build --kind riblt --numbers --capacity 10 -o r.petal keys").quiet();
    place.petal("sketch get r.petal keys").names(&["r.petal", "riblt cannot get"]);
}

/// A key whose value differs is listed with both values.
#[test]
fn values_are_listed() {
    let place = Place::new();
    let ours: String = (0..1000).map(|i| format!("{i}\t{}\n", 2 * i)).collect();
    place.file("ours", ours.clone());
    place.file("theirs", ours.replace("\n7\t14\n", "\n7\t0xf\n"));
    for name in ["ours", "theirs"] {
        place.petal(&format!("sketch build --numbers --values --capacity 10 -o {name}.petal {name}")).quiet();
    }
    assert_eq!(info(&place.path("ours.petal"))["parameters"]["value_bits"], 64);
    place.petal("sketch subtract -o d.petal ours.petal theirs.petal").quiet();
    assert_eq!(place.petal("sketch list d.petal").text(), "-7\t15\n+7\t14\n");
    let json = place.petal("sketch list --json d.petal").text();
    assert!(json.starts_with("{\"number\":7,\"sign\":-1,\"value\":15}\n"), "{json}");
    place.petal_on("sketch insert --values --numbers d.petal", b"5\t50\n7\t15\n").quiet();
    place.petal_on("sketch remove --values --numbers d.petal", b"7\t14\n").quiet();
    assert_eq!(place.petal("sketch list d.petal").text(), "+5\t50\n");
    assert_eq!(place.petal_on("sketch get --numbers d.petal", b"5\n7\n").text(), "5\t+1\t50\n7\t0\n");
    // Keys are bytes without --numbers, and the last tab counts.
    place.petal_on("sketch build --values --capacity 10 -o s.petal", b"a\tb\t1\n").quiet();
    assert_eq!(place.petal_on("sketch get s.petal", b"a\tb\n").text(), "a\tb\t+1\t1\n");
    place.petal_on("sketch build --values --capacity 10 -o s.petal", b"a\n").names(&["record 1", "key and value"]);
    place.petal_on("sketch build --values --capacity 10 -o s.petal", b"a\tb\n").names(&["\"b\" is not a value"]);
    place.petal_on("sketch build --capacity 10 -o plain.petal", b"a\n").quiet();
    place.petal_on("sketch insert --values plain.petal", b"b\t1\n").names(&["no values", "value_bits = 64"]);
    place.petal_on("sketch build --kind riblt --values --capacity 9 -o s.petal", b"a\t1\n").names(&["--values"]);
}

/// A key that comes twice belongs to no set, and a message says what removes it.
#[test]
fn repeated_keys_are_named_as_a_cause() {
    let place = Place::new();
    for kind in ["iblt", "riblt"] {
        place.petal_on(&format!("sketch build --kind {kind} --capacity 20 -o twice.petal"), b"ann\nbob\nann\n").quiet();
        let run = place.petal("sketch list twice.petal");
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.stderr.contains("sort -u"), "{run:?}");
    }
}
