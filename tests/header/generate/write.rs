//! The text of `include/petal.h`: cbindgen's declarations in the order of the Rust source, with its chapters between
//! them, the version, and the kinds of the registry.

use crate::source;
use petal_core::Row;
use petal_core::registry;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// The macros that come from Cargo's version.
fn version() -> Vec<(String, String)> {
    let [major, minor, patch] =
        [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")];
    let part = |digits: &str| digits.parse::<u32>().expect("a number");
    let number = part(major) * 10_000 + part(minor) * 100 + part(patch);
    let text = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    [("MAJOR", major), ("MINOR", minor), ("PATCH", patch), ("NUMBER", &number.to_string()), ("STRING", &text)]
        .map(|(name, value)| (format!("PETAL_VERSION_{name}"), value.to_owned()))
        .to_vec()
}

/// The constant of a kind, and its number.
fn kind(row: &Row) -> (String, String) {
    (format!("PETAL_KIND_{}", row.name.to_uppercase()), row.kind.0.to_string())
}

/// The constants that are written here and not by cbindgen: name and value.
pub fn macros() -> Vec<(String, String)> {
    version().into_iter().chain(registry::with_foreign().map(kind)).collect()
}

/// The whole header.
pub fn header(root: &Path) -> String {
    let config = cbindgen::Config::from_file(root.join("capi/cbindgen.toml")).expect("capi/cbindgen.toml is readable");
    let bindings = cbindgen::Builder::new().with_src(root.join("capi/src/lib.rs")).with_config(config).generate();
    let mut generated = Vec::new();
    bindings.expect("cbindgen understands capi/src").write(&mut generated);
    let generated = String::from_utf8(generated).expect("the source is UTF-8");

    // cbindgen leaves an empty line between items and none inside; what declares nothing is the frame around them.
    let (mut declarations, mut before, mut after) = (HashMap::new(), String::new(), String::new());
    for block in generated.trim_end().split("\n\n") {
        match declared(block) {
            Some(name) => drop(declarations.insert(name, block)),
            None if after.is_empty() && !block.contains("}  // extern") => _ = write!(before, "{block}\n\n"),
            None => _ = write!(after, "\n{block}\n"),
        }
    }
    let (includes, extern_c) = before.split_once("#ifdef __cplusplus").expect("cpp_compat = true");

    let sections = source::read(root);
    let items = || sections.iter().flat_map(|section| &section.items);
    let is_u64 = |ty: &str| ty == "u64" || items().any(|item| item.name == ty && item.ty == "u64");
    let mut out = comment(&sections[0].text) + "\n" + includes;
    out += "/** The version of this header; `petal_version_number()` tells the library's. */\n";
    for (name, value) in version() {
        _ = writeln!(out, "#define {name} {value}");
    }
    out += "\n#ifdef __cplusplus";
    out += extern_c.trim_end();
    out.push('\n');
    for (i, section) in sections.iter().enumerate().filter(|(_, section)| !section.items.is_empty()) {
        if i > 0 {
            out += "\n\n";
            out += &comment(&section.text);
        }
        let mut list = None;
        for item in &section.items {
            let Some(block) = declarations.remove(item.name.as_str()) else {
                panic!("cbindgen leaves {} out: does [export] include in capi/cbindgen.toml name it?", item.name);
            };
            // Constants of one type stand together.
            let here = item.name.starts_with("PETAL_").then_some(&item.ty);
            if here.is_none() || here != list {
                out.push('\n');
            }
            list = here;
            out += &tidy(&item.name, block, is_u64(&item.ty));
            if item.name == "petal_kind" {
                out.push('\n');
                for row in registry::with_foreign() {
                    let (name, value) = kind(row);
                    let (first, rest) = row.summary.split_at(1);
                    _ = writeln!(out, "/** {}{rest}. */\n#define {name} {value}", first.to_uppercase());
                }
            }
        }
        if !section.c.is_empty() {
            out.push('\n');
            out += &section.c;
        }
    }
    assert!(declarations.is_empty(), "not found in capi/src: {:?}", declarations.keys());
    out + &after
}

/// The name that a block of cbindgen's output declares, if it is not part of the frame.
fn declared(block: &str) -> Option<&str> {
    let is_comment = |line: &&str| ["/*", " *"].iter().any(|start| line.starts_with(start));
    let code = &block[block.lines().take_while(is_comment).map(|line| line.len() + 1).sum::<usize>()..];
    let before = match code.strip_prefix("#define ") {
        Some(rest) => return rest.split_whitespace().next(),
        None if code.starts_with('#') => return None,
        None if code.starts_with("typedef") && (code.contains('{') || !code.contains("(*")) => {
            code.trim_end_matches(';')
        }
        None if code.starts_with("typedef") => code.split_once("(*")?.1.split_once(')')?.0,
        None => code.split_once('(')?.0,
    };
    before.rsplit([' ', '*']).next()
}

/// Says the same in the way people would: short comments on one line, structs with a tag, operands in parentheses.
fn tidy(name: &str, block: &str, is_u64: bool) -> String {
    let mut out = String::new();
    let mut lines = block.lines();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let rest: Vec<&str> = lines.clone().take(2).collect();
        if line.trim() == "/**" && rest.len() == 2 && rest[1].trim() == "*/" && rest[0].len() < 115 {
            _ = writeln!(out, "{indent}/** {} */", rest[0].trim_start().trim_start_matches("* "));
            lines.nth(1);
        } else if let Some((_, value)) = line.strip_prefix("#define ").and_then(|rest| rest.split_once(' ')) {
            let value = if is_u64 { value.replace("(1 <<", "(1ull <<") } else { value.to_owned() };
            let value = if value.starts_with('-') { format!("({value})") } else { value };
            _ = writeln!(out, "#define {name} {value}");
        } else if line == "typedef struct {" {
            _ = writeln!(out, "typedef struct {name} {{");
        } else {
            _ = writeln!(out, "{line}");
        }
    }
    out
}

/// A chapter's text as a comment, its empty lines kept.
fn comment(text: &[String]) -> String {
    let lines: String = text.iter().map(|line| format!(" * {line}").trim_end().to_owned() + "\n").collect();
    format!("/*\n{lines} */\n")
}
