//! The headers, read back by clang, say what the Rust source says.
//!
//! Sizes, alignments, offsets, field types, constants and signatures are compared by the compiler: this file builds
//! only if they agree. The tests compare what is left: that neither side has something that the other lacks.

#![allow(missing_docs)]

#[allow(dead_code)]
#[path = "../generate/source.rs"]
mod source;
#[allow(dead_code)]
#[path = "../generate/write.rs"]
mod write;

mod checks {
    include!(concat!(env!("OUT_DIR"), "/checks.rs"));
}

#[test]
fn both_sides_have_the_same_names() {
    let lacks = |one: &[&'static str], other: &[&'static str]| -> Vec<&str> {
        other.iter().filter(|name| !one.contains(name)).copied().collect()
    };
    assert_eq!(lacks(checks::HEADER, checks::SOURCE), [""; 0], "in the source only");
    assert_eq!(lacks(checks::SOURCE, checks::HEADER), [""; 0], "in the header only");
}

#[test]
fn macros_of_the_version_and_the_kinds_are_right() {
    let mut header: Vec<_> = checks::MACROS.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let mut source = write::macros();
    // The headers list kinds by family, the registry by number.
    header.sort();
    source.sort();
    assert_eq!(header, source);
}

/// The compared numbers come from the header: they change if two fields are exchanged or one is wider.
#[test]
fn a_changed_header_gives_other_numbers() {
    use checks::{EXCHANGED, SAMPLE, WIDER};
    let offset = |field, at| format!("offset_of ! (petal_sketch_pair , {field}) - {at}usize");
    assert!(SAMPLE.contains(&offset("a", 0)) && SAMPLE.contains(&offset("b", 4)), "{SAMPLE}");
    assert!(EXCHANGED.contains(&offset("a", 4)) && EXCHANGED.contains(&offset("b", 0)), "{EXCHANGED}");
    assert!(WIDER.contains(&offset("b", 8)), "{WIDER}");
}
