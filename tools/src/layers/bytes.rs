//! The functions of C that take bytes, for Go.

use super::read;
use crate::Generated;
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "\
/*
 * Written by `make layers` from the headers: change those, not this.
 *
 * The functions that take bytes, with pointers to uint8_t instead of void. Memory behind a void pointer may hold Go
 * pointers, so at each call cgo would scan the whole object that a key is part of. It would also refuse a key that lies
 * in a struct next to a pointer.
 */
#ifndef PETAL_GO_BYTES_H
#define PETAL_GO_BYTES_H
";

/// A parameter of a function: its type, which ends in a star or a space, and its name.
struct Parameter<'a> {
    ty: &'a str,
    name: &'a str,
}

/// `bindings/go/bytes.h`: a function for each one of C that has a pointer to bytes.
pub fn file(root: &Path) -> Result<Generated, String> {
    let folder = root.join("include");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        // Functions that other headers inline, and the policies of LevelDB, are not Go's.
        .filter(|name| name.ends_with(".h") && !["petal_inline.h", "petal_policy.h"].contains(&name.as_str()))
        .collect();
    names.sort_unstable();
    let mut out = HEAD.to_owned();
    for name in names {
        let header = without_comments(&read(&folder.join(name))?);
        for statement in header.split(';') {
            if let Some(function) = wrapper(statement) {
                out.push('\n');
                out += &function;
            }
        }
    }
    out += "\n#endif\n";
    Ok(("bindings/go/bytes.h".into(), out))
}

/// The text of a header without comments and without lines of the preprocessor.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out += before;
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    out += rest;
    out.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

/// The function for a declaration with a pointer to bytes; `None` for all other statements.
fn wrapper(statement: &str) -> Option<String> {
    let text = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    // What stands before the first declaration is the opening of extern "C".
    let text = text.rsplit_once("{ ").map_or(&*text, |(_, text)| text);
    let (start, parameters) = text.strip_suffix(')')?.split_once('(')?;
    let at = start.rfind([' ', '*'])? + 1;
    let (returns, name) = start.split_at(at);
    let verb = name.strip_prefix("petal_")?;
    if returns.starts_with("typedef") {
        return None;
    }
    let parameters: Vec<_> = parameters.split(", ").map(parameter).collect::<Option<_>>()?;
    // A context is handed back to a callback as it came, and an array of pointers is no bytes.
    let is_bytes = |p: &Parameter| p.ty.ends_with("void *") && p.name != "context";
    if !parameters.iter().any(is_bytes) {
        return None;
    }
    let declared = parameters.iter().map(|p| {
        let ty = if is_bytes(p) { p.ty.replace("void", "uint8_t") } else { p.ty.to_owned() };
        format!("{ty}{}", p.name)
    });
    let mut out = String::new();
    let head = format!("static inline {returns}petal_go_{verb}(");
    wrap(&mut out, &head, &declared.collect::<Vec<_>>());
    let passed = parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "\treturn {name}({passed});\n}}");
    Some(out)
}

fn parameter(text: &str) -> Option<Parameter<'_>> {
    let at = text.rfind([' ', '*'])? + 1;
    let (ty, name) = text.split_at(at);
    Some(Parameter { ty, name })
}

/// Writes the head of a function, with as many parameters on a line as fit 120 columns.
fn wrap(out: &mut String, head: &str, parameters: &[String]) {
    *out += head;
    let mut column = head.len();
    for (i, parameter) in parameters.iter().enumerate() {
        let end = if i + 1 == parameters.len() { ") {" } else { "," };
        if i > 0 && column + 1 + parameter.len() + end.len() > 120 {
            *out += "\n\t\t";
            column = 8;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        *out += parameter;
        *out += end;
        column += parameter.len() + end.len();
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_bytes_and_the_rest_stays() {
        let text =
            "petal_status petal_filter_insert(petal_filter *filter, const void *key, size_t length,\n  bool *is_new)";
        let expected = "static inline petal_status petal_go_filter_insert(petal_filter *filter, const uint8_t *key, \
                        size_t length,\n\t\tbool *is_new) {\n\t\
                        return petal_filter_insert(filter, key, length, is_new);\n}\n";
        assert_eq!(wrapper(text).unwrap(), expected);
        assert!(wrapper("petal_status petal_filter_sync(petal_filter *filter, petal_error *error)").is_none());
        assert!(wrapper("petal_status petal_x(petal_write_callback write, void *context)").is_none());
    }
}
