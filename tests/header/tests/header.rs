//! `include/petal.h` is what cbindgen and the Rust source make; `make header` writes it anew.

#![allow(missing_docs)]

#[allow(dead_code)]
#[path = "../generate/source.rs"]
mod source;
#[allow(dead_code)]
#[path = "../generate/write.rs"]
mod write;

use std::path::Path;

#[test]
fn committed_header_is_generated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let path = root.join("include/petal.h");
    let generated = write::header(root);
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if generated == committed {
        return;
    }
    if std::env::var_os("PETAL_UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, generated).unwrap();
        return;
    }
    let same = generated.lines().zip(committed.lines()).take_while(|(new, old)| new == old).count();
    let show = |text: &str| text.lines().skip(same).take(5).map(|line| format!("    {line}\n")).collect::<String>();
    panic!(
        "include/petal.h is not what the source says, from line {} on.\n  committed:\n{}  generated:\n{}\
         `make header` writes it anew.",
        same + 1,
        show(&committed),
        show(&generated)
    );
}
