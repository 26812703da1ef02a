//! Other systems' bytes: `petal import`, `export` and `formats`, and what the other subcommands do with them.

mod common;

use common::{Place, petal};
use petal::interop::FORMATS;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that another system wrote.
fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/formats").join(name)
}

/// A place with Guava's filter of key-0 to key-16, these keys, and others.
fn place() -> Place {
    let place = Place::new();
    place.file("guava", fs::read(vector("guava/mitz_64-17.bin")).expect("a vector"));
    place.file("keys", texts("key", 17));
    place.file("absent", texts("absent", 10_000));
    place
}

fn texts(name: &str, count: usize) -> Vec<u8> {
    (0..count).flat_map(|i| format!("{name}-{i}\n").into_bytes()).collect()
}

fn read(place: &Place, name: &str) -> Vec<u8> {
    fs::read(place.path(name)).expect("a file")
}

#[test]
fn bytes_come_in_and_go_out_as_they_were() {
    let place = place();
    place.petal("import guava guava -o image").quiet();
    place.petal("export image guava -o back").quiet();
    assert!(read(&place, "back") == read(&place, "guava"));
    // To standard output and from standard input.
    let image = place.petal("import guava guava").quiet();
    assert!(image == read(&place, "image"));
    assert!(place.petal("export --variant mitz_64 image guava").quiet() == read(&place, "guava"));
    assert!(place.petal_on("import guava -", &read(&place, "guava")).quiet() == image);
    let json: Value = serde_json::from_str(&place.petal("import --json guava guava -o image").text()).unwrap();
    assert_eq!(
        (json["kind"].as_str(), json["parameters"]["placement"].as_str()),
        (Some("foreign_bloom"), Some("guava_64"))
    );
}

/// All that the command does with keys, on an image whose filter takes keys whole.
#[test]
fn images_of_imported_filters_take_keys() {
    let place = place();
    place.petal("import guava guava -o image").quiet();
    assert_eq!(place.petal("check -c image keys").text(), "17\n");
    // Guava itself says of this many that they may be there.
    assert_eq!(place.petal("check -c image absent").text(), "55\n");
    assert_eq!(place.petal("check image keys").quiet(), read(&place, "keys"));
    place.file("more", b"7,one more\n8,and another\n");
    place.petal("insert --field 2 --delimiter , image more").quiet();
    assert_eq!(place.petal("check -c --field 2 --delimiter , image more").text(), "2\n");
    assert_eq!(place.petal("check -c image keys").text(), "17\n");
    place.petal("verify -q image").quiet();
    place.petal("import guava guava -o other").quiet();
    place.petal("merge -o all other image").quiet();
    assert_eq!(place.petal("check -c --field 2 --delimiter , all more").text(), "2\n");
    assert!(place.petal("info image").text().contains("placement              guava_64\n"));
    place.petal("estimate image other").quiet();
    place.petal("remove image keys").names(&["foreign_bloom", "remove"]);
    place.petal("build --kind foreign_bloom -o no keys").names(&["foreign_bloom"]);
}

/// Files of other systems are looked at where they are.
#[test]
fn foreign_files_are_recognised_or_named() {
    let place = place();
    assert_eq!(place.petal("check -c --format guava guava keys").text(), "17\n");
    assert!(place.petal("info --format guava guava").text().contains("foreign_bloom"));
    // Guava's bytes do not say what they are.
    place.petal("info guava").trouble();
    place.petal("check guava keys").trouble();
    for format in FORMATS.iter().filter(|format| format.recognise.is_some() && format.spec.is_some()) {
        let name = format.name;
        place.file("many", texts("key", 1000));
        place.petal(&format!("build --format {name} -o foreign many")).quiet();
        assert_eq!(place.petal("check -c foreign many").text(), "1000\n", "{name}");
        let said = place.petal("info --json foreign").text();
        let info: Value = serde_json::from_str(&said).unwrap();
        assert!(info["bits"].as_u64().unwrap() > 0, "{name}: {said}");
        // It is read and not changed.
        place.petal("insert foreign keys").trouble();
    }
}

/// Filters are made in every format, with the bytes that its owner would write.
#[test]
fn filters_are_built_in_formats() {
    let place = place();
    place.petal("build --format guava --fpr 0.001 -o made keys").quiet();
    assert!(read(&place, "made") == read(&place, "guava"));
    assert!(
        place.petal_on("build --format guava --fpr 0.001 --capacity 17 -", &read(&place, "keys")).quiet()
            == read(&place, "guava")
    );
    place.file("many", texts("key", 1000));
    place.file("secret", *b"0123456789abcdef");
    for format in FORMATS.iter().filter(|format| format.spec.is_some()) {
        let name = format.name;
        let key = if name == "bip158" { "--secret-file secret" } else { "" };
        place.petal(&format!("build --format {name} {key} --capacity 1000 -o foreign many")).quiet();
        for variant in format.variants {
            place.petal(&format!("build --format {name} --variant {variant} --capacity 1000 -o foreign many")).quiet();
        }
        let first = read(&place, "foreign");
        let imported = place.petal(&format!("import {name} {key} foreign -o image"));
        if imported.status == 0 {
            assert_eq!(place.petal(&format!("check {key} -c image many")).text(), "1000\n", "{name}");
            place.petal(&format!("export image {name} -o foreign")).quiet();
            assert!(read(&place, "foreign") == first, "{name}");
        } else {
            imported.names(&["options"]);
        }
    }
    // Options say what the bytes do not say.
    place.petal("build --format libbloom_1 --capacity 1000 -o foreign many").quiet();
    place.petal("import libbloom_1 --bits 9585 --hashes 7 foreign -o image").quiet();
    assert_eq!(place.petal("check -c image many").text(), "1000\n");
}

#[test]
fn formats_are_those_of_the_library() {
    let text = petal(["formats"]).text();
    let lines = petal(["formats", "--json"]).text();
    let values: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values.len(), FORMATS.len());
    for (format, value) in FORMATS.iter().zip(&values) {
        let line = text.lines().find(|line| line.split(' ').next() == Some(format.name)).expect(format.name);
        assert!(line.contains(format.summary) && line.contains('R'), "{line}");
        assert_eq!(line[20..24].contains('C'), format.spec.is_some(), "{line}");
        assert_eq!(line[20..24].contains('W'), format.export.is_some(), "{line}");
        assert_eq!(line[20..24].contains('?'), format.recognise.is_some(), "{line}");
        assert_eq!(
            (value["name"].as_str(), value["create"].as_bool()),
            (Some(format.name), Some(format.spec.is_some()))
        );
        assert_eq!(value["variants"].as_array().unwrap().len(), format.variants.len());
    }
}

#[test]
fn what_cannot_be_is_said() {
    let place = place();
    place.petal("build -o own keys").quiet();
    place.petal("export own guava -o no").names(&["own", "no form in guava"]);
    place.petal("import guava keys -o no").names(&["keys", "strategy"]);
    place.petal("import rose guava -o no").names(&["rose"]);
    place.petal("import --seed 7 guava guava -o no").names(&["seed"]);
    place.petal("import libbloom_1 guava -o no").names(&["bits"]);
    place.petal("import guava missing -o no").names(&["missing"]);
    place.petal("import guava guava -o image").quiet();
    place.petal("export image guava --variant rose -o no").names(&["rose", "mitz_64"]);
    place.petal("export image guava --variant mitz_32 -o no").names(&["guava_64"]);
    place.petal("export image guava -o no/such/folder").names(&["-o no/such/folder"]);
    place.petal("build --format guava --kind bloom -o no keys").names(&["--format"]);
    place.petal("build --format guava --variant rose -o no keys").names(&["rose"]);
    place.petal("build --format guava --seed 7 -o no keys").names(&["seed"]);
    place.petal("build --variant v1 -o no keys").names(&["--format"]);
    place.petal("check --format rose guava keys").names(&["rose"]);
    assert!(!place.path("no").exists());
    // A file that cannot be replaced as a whole stays as it was.
    assert!(read(&place, "guava") == fs::read(vector("guava/mitz_64-17.bin")).unwrap());
}
