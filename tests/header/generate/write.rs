//! The text of the headers: cbindgen's declarations in the order of the Rust source, with its chapters between them,
//! the version, and the kinds of the registry.

use crate::source::{self, Section};
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

/// The kinds that a header lists, by families: petal.h has those of filters, in the order of `docs/kinds/README.md`,
/// and the header of another handle, or of other systems' formats, has its own.
fn families(header: &str, root: &Path) -> Vec<(String, Vec<&'static Row>)> {
    let one = |title: &str, rows: &'static [Row]| vec![(title.to_owned(), rows.iter().collect())];
    match header {
        "petal.h" => by_family(root),
        "petal_map.h" => one("Kinds of maps", registry::MAPS),
        "petal_sketch.h" => one("Kinds of sketches", registry::SKETCHES),
        "petal_formats.h" => one("Kinds of filters that other systems' bytes become", registry::FOREIGN),
        _ => match registry::OWN.iter().find(|row| header == format!("petal_{}.h", row.name)) {
            Some(row) => vec![("The only kind of its handle".to_owned(), vec![row])],
            None => Vec::new(),
        },
    }
}

/// The kinds of filters in the families of the page that lists them all.
fn by_family(root: &Path) -> Vec<(String, Vec<&'static Row>)> {
    let page = std::fs::read_to_string(root.join("docs/kinds/README.md")).expect("the page of kinds");
    let mut families: Vec<(String, Vec<&Row>)> = Vec::new();
    for line in page.lines() {
        if let Some((title, _)) = line.strip_prefix("| **").and_then(|rest| rest.split_once("**")) {
            families.push((title.to_owned(), Vec::new()));
        }
        let name = line.strip_prefix("| [`").and_then(|rest| Some(rest.split_once('`')?.0));
        let row = name.and_then(|name| registry::FILTERS.iter().find(|row| row.name == name));
        if let (Some(row), Some((_, rows))) = (row, families.last_mut()) {
            rows.push(row);
        }
    }
    families.retain(|(_, rows)| !rows.is_empty());
    let listed: usize = families.iter().map(|(_, rows)| rows.len()).sum();
    assert_eq!(listed, registry::FILTERS.len(), "kinds of filters in the table of docs/kinds/README.md");
    families
}

/// Writes the constants of kinds, family by family.
fn write_kinds(out: &mut String, families: &[(String, Vec<&Row>)]) {
    for (title, rows) in families {
        _ = writeln!(out, "\n/* {title}. */");
        for row in rows {
            let (name, value) = kind(row);
            let (first, rest) = row.summary.split_at(1);
            _ = writeln!(out, "/** {}{rest}. */\n#define {name} {value}", first.to_uppercase());
        }
    }
}

/// The constants that are written here and not by cbindgen: name and value.
pub fn macros() -> Vec<(String, String)> {
    version()
        .into_iter()
        .chain(registry::with_foreign().chain(registry::SKETCHES).chain(registry::OWN).map(kind))
        .collect()
}

/// What the macros that initialise structs are made of. C++17 has no designated initialisers.
const INIT: &str = "\
/* What `PETAL_SPEC_INIT` and its like are made of. */
#ifdef __cplusplus
#define PETAL_INIT(type) ([] { type it_{}; it_.struct_size = sizeof(type); return it_; }())
#else
#define PETAL_INIT(type) {.struct_size = sizeof(type)}
#endif

";

/// All headers: file name and text, petal.h first.
pub fn headers(root: &Path) -> Vec<(String, String)> {
    let config = cbindgen::Config::from_file(root.join("capi/cbindgen.toml")).expect("capi/cbindgen.toml is readable");
    let bindings = cbindgen::Builder::new().with_src(root.join("capi/src/lib.rs")).with_config(config).generate();
    let mut generated = Vec::new();
    bindings.expect("cbindgen understands capi/src").write(&mut generated);
    let generated = String::from_utf8(generated).expect("the source is UTF-8");

    // cbindgen leaves an empty line between items and none inside. Only the includes of a block that declares nothing
    // are used.
    let (mut declarations, mut includes) = (HashMap::new(), "");
    for block in generated.trim_end().split("\n\n") {
        match declared(block) {
            Some(name) => drop(declarations.insert(name, block)),
            None if block.starts_with("#include") => includes = block,
            None => {}
        }
    }

    let sections = source::read(root);
    let mut headers = Vec::new();
    for (i, name) in source::headers(&sections).into_iter().enumerate() {
        let own: Vec<_> = sections.iter().filter(|section| section.header == name).collect();
        let includes = if i == 0 { includes.to_owned() } else { used(name, &sections, &declarations) };
        let guard = name.to_uppercase().replace('.', "_");
        let mut out = comment(&own[0].text);
        _ = write!(out, "\n#ifndef {guard}\n#define {guard}\n\n{includes}\n\n");
        if i == 0 {
            out += "/** The version of this header; `petal_version_number()` tells the library's. */\n";
            for (name, value) in version() {
                _ = writeln!(out, "#define {name} {value}");
            }
            out.push('\n');
            out += INIT;
        }
        out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
        let kinds = families(name, root);
        if i > 0 {
            write_kinds(&mut out, &kinds);
        }
        for section in &own {
            write_section(&mut out, section, &sections, &kinds, &mut declarations);
        }
        out += "\n#ifdef __cplusplus\n}\n#endif\n";
        if i > 0 && !own[0].c.is_empty() {
            out.push('\n');
            out += &own[0].c;
        }
        _ = writeln!(out, "\n#endif  /* {guard} */");
        headers.push((name.to_owned(), out));
    }
    assert!(declarations.is_empty(), "not found in capi/src: {:?}", declarations.keys());
    headers
}

/// The lines that include the headers which a header uses: petal.h, and headers whose types it names.
fn used(header: &str, sections: &[Section], declarations: &HashMap<&str, &str>) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let own = sections.iter().filter(|section| section.header == header).flat_map(|section| &section.items);
    let blocks: Vec<&str> = own.filter_map(|item| declarations.get(item.name.as_str()).copied()).collect();
    let names = |name: &str| blocks.iter().any(|block| block.split(|c| !is_word(c)).any(|word| word == name));
    let mut all = vec!["petal.h"];
    for section in sections.iter().filter(|section| section.header != header) {
        if !all.contains(&section.header.as_str()) && section.items.iter().any(|item| names(&item.name)) {
            all.push(&section.header);
        }
    }
    all.iter().map(|name| format!("#include <{name}>")).collect::<Vec<_>>().join("\n")
}

/// Writes the declarations of a section, after its chapter unless that stands at the head of the file.
fn write_section(
    out: &mut String,
    section: &Section,
    all: &[Section],
    kinds: &[(String, Vec<&Row>)],
    declarations: &mut HashMap<&str, &str>,
) {
    if section.items.is_empty() {
        return;
    }
    let is_u64 =
        |ty: &str| ty == "u64" || all.iter().flat_map(|it| &it.items).any(|item| item.name == ty && item.ty == "u64");
    if !section.is_first {
        *out += "\n\n";
        *out += &comment(&section.text);
    }
    let mut list = None;
    for item in &section.items {
        let Some(block) = declarations.remove(item.name.as_str()) else {
            panic!("cbindgen leaves {} out: does [export] include in capi/cbindgen.toml name it?", item.name);
        };
        // Constants of one type are kept together.
        let here = item.name.starts_with("PETAL_").then_some(&item.ty);
        if here.is_none() || here != list {
            out.push('\n');
        }
        list = here;
        *out += &tidy(&item.name, block, is_u64(&item.ty));
        if block.contains("  size_t struct_size;") {
            let (name, macro_name) = (&item.name, item.name.to_uppercase());
            _ = writeln!(out, "/** A `{name}` of this header's size, all else 0. */");
            _ = writeln!(out, "#define {macro_name}_INIT PETAL_INIT({name})");
        }
        if item.name == "petal_kind" {
            write_kinds(out, kinds);
        }
    }
    // C of the first module stands after all declarations: it may include headers that are not to be inside extern "C".
    if !section.is_first && !section.c.is_empty() {
        out.push('\n');
        *out += &section.c;
    }
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

/// Rewrites a block as people would write it: short comments on one line, structs with a tag, operands in parentheses.
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
            // What cbindgen writes for an isize where a usize is a size_t.
            _ = writeln!(out, "{}", line.replace("ptrdiff_t", "intptr_t"));
        }
    }
    out
}

/// A chapter's text as a comment, its empty lines kept.
fn comment(text: &[String]) -> String {
    let lines: String = text.iter().map(|line| format!(" * {line}").trim_end().to_owned() + "\n").collect();
    format!("/*\n{lines} */\n")
}
