//! The headers in `include` are what cbindgen and the Rust source make; `make header` writes them anew.

#![allow(missing_docs)]

#[allow(dead_code)]
#[path = "../generate/source.rs"]
mod source;
#[allow(dead_code)]
#[path = "../generate/write.rs"]
mod write;

use std::path::Path;

/// The most functions that petal.h declares, forms of keys and inline ones included: the first page stays one that
/// people read. What does not fit belongs in another header.
const FIRST_PAGE: usize = 90;

/// The most functions that the library exports.
const ALL: usize = 410;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

#[test]
fn committed_headers_are_generated() {
    let is_update = std::env::var_os("PETAL_UPDATE").is_some_and(|value| value == "1");
    let generated = write::headers(root());
    let mut wrong = String::new();
    for (name, generated) in &generated {
        let path = root().join("include").join(name);
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        if *generated == committed {
            continue;
        }
        if is_update {
            std::fs::write(&path, generated).unwrap();
            continue;
        }
        let same = generated.lines().zip(committed.lines()).take_while(|(new, old)| new == old).count();
        let show = |text: &str| text.lines().skip(same).take(5).map(|line| format!("    {line}\n")).collect::<String>();
        wrong += &format!(
            "include/{name} is not what the source says, from line {} on.\n  committed:\n{}  generated:\n{}",
            same + 1,
            show(&committed),
            show(generated)
        );
    }
    for file in std::fs::read_dir(root().join("include")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if generated.iter().all(|(known, _)| *known != name) {
            wrong += &format!("include/{name} comes from no module of capi/src\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}`make header` writes them anew.");
}

/// The names of the functions that the text of a header declares or defines.
fn functions(text: &str) -> Vec<&str> {
    let starts = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase()) && !line.starts_with("typedef");
    let before = text.lines().filter(starts).filter_map(|line| Some(line.split_once('(')?.0));
    before.filter_map(|line| line.rsplit([' ', '*']).next()).filter(|name| name.starts_with("petal_")).collect()
}

#[test]
fn the_first_page_has_no_more_functions_than_one_reads() {
    let text = std::fs::read_to_string(root().join("include/petal.h")).unwrap();
    let functions = functions(&text);
    assert!(functions.contains(&"petal_filter_new") && functions.contains(&"petal_keys_bytes"), "{functions:?}");
    assert!(
        functions.len() <= FIRST_PAGE,
        "petal.h has {} functions, more than {FIRST_PAGE}: {functions:?}",
        functions.len()
    );
}

#[test]
fn the_library_exports_no_more_functions_than_it_may() {
    let map = std::fs::read_to_string(root().join("capi/petal.map")).unwrap();
    let all = map.lines().filter(|line| line.starts_with("    petal_")).count();
    assert!(all > 300 && all <= ALL, "capi/petal.map lists {all} functions, and may list {ALL}");
}

/// No line of a header is longer than the tree allows, and no comment repeats what the first page says about versions.
#[test]
fn headers_are_tidy() {
    for (name, text) in write::headers(root()) {
        for (i, line) in text.lines().enumerate() {
            assert!(line.chars().count() <= 120, "include/{name}:{}: more than 120 columns", i + 1);
            assert!(!line.contains("Since 0.1"), "include/{name}:{}: what says nothing came with 0.1", i + 1);
        }
    }
}
