//! Reads the headers in `include` with clang and writes what `tests/read_back.rs` compiles.

#[path = "generate/read_back.rs"]
mod read_back;
#[allow(dead_code)]
#[path = "generate/source.rs"]
mod source;

use std::path::{Path, PathBuf};

fn main() {
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let root = folder.ancestors().nth(2).expect("two folders below the root");
    let includes = root.join("include");
    for path in [&root.join("capi/src"), &includes, Path::new("generate")] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rerun-if-env-changed=LIBCLANG_PATH");
    // A header that cannot be read must not keep the other test, which rewrites it, from being built.
    let sections = source::read(root);
    let all: String = source::headers(&sections).iter().map(|name| format!("#include <{name}>\n")).collect();
    let checks = read_back::checks(&all, &includes, &sections)
        .and_then(|text| Ok(text + &samples(&includes)?))
        .unwrap_or_else(|why| {
            // What is missing, libclang for one, may be installed before the next run. A file that never exists makes
            // cargo run this again each time, so that a failure is not remembered.
            println!("cargo::rerun-if-changed=generate/never");
            format!("compile_error!({:?});", format!("the headers cannot be read back: {why}"))
        });
    std::fs::write(Path::new(&std::env::var_os("OUT_DIR").unwrap()).join("checks.rs"), checks).unwrap();
}

/// What is generated from one structure written in three ways, to test that the results differ.
fn samples(includes: &Path) -> Result<String, String> {
    let checks = |fields| {
        let text = format!("#include <stdint.h>\ntypedef struct petal_sketch_pair {{ {fields} }} petal_sketch_pair;");
        read_back::checks(&text, includes, &[])
    };
    Ok(format!(
        "pub const SAMPLE: &str = {:?};\npub const EXCHANGED: &str = {:?};\npub const WIDER: &str = {:?};",
        checks("uint32_t a; uint32_t b;")?,
        checks("uint32_t b; uint32_t a;")?,
        checks("uint32_t a; uint64_t b;")?
    ))
}
