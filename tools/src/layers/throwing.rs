//! The forms of C++'s operations that throw: `name()` of each `try_name()`.

use super::{headers, prose, read};
use crate::Generated;
use std::path::Path;

/// `bindings/cpp/petal/throwing`: a file for each class that has operations `try_name()`, which the class includes
/// among its members, and one for each header that has such functions. An operation whose throwing form is written by
/// hand, with the same parameters, is left out, and so are those that make an object, which constructors stand for.
pub fn files(root: &Path) -> Result<Vec<Generated>, String> {
    let folder = root.join("bindings/cpp/petal");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".hpp"))
        .collect();
    names.sort_unstable();
    let mut files = Vec::new();
    for name in names {
        let text = read(&folder.join(&name))?;
        for (scope, text) in scopes(&text, name.trim_end_matches(".hpp")) {
            let include = format!("throwing/{scope}.hpp");
            if text.contains(&format!("#include \"{include}\"")) {
                let head = format!(
                    "// Written by `make layers` from {name}: change that, not this. Part of petal.hpp: what \
                    stands there \
                     as `try_name()`, as `name()`, which throws `petal::error`.\n\n"
                );
                let forms = operations(&text).iter().map(Operation::throwing).collect::<String>();
                files.push((format!("bindings/cpp/petal/{include}"), prose::wrapped(&head, 120) + &forms));
            }
        }
    }
    Ok(files)
}

/// The classes of a header with their names, and under the header's own name what stands outside of them.
fn scopes(text: &str, header: &str) -> Vec<(String, String)> {
    let (mut scopes, mut outside) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\nclass ") {
        let (class, after) = after.split_once("\n};\n").unwrap_or((after, ""));
        let name = class.split_whitespace().next().unwrap_or_default();
        scopes.push((name.to_owned(), class.to_owned()));
        outside += before;
        outside.push('\n');
        rest = after;
    }
    scopes.push((header.to_owned(), outside + rest));
    scopes
}

/// An operation `try_name()`, up to its body, in pieces without line breaks.
struct Operation {
    /// The parameters of its template, if it is one.
    template: Option<String>,
    /// What stands before the type of the result: the indentation, and perhaps `static` or `inline`.
    start: String,
    result: String,
    name: String,
    parameters: Vec<String>,
    is_const: bool,
}

/// The operations of a scope that have no throwing form there.
fn operations(text: &str) -> Vec<Operation> {
    let all: Vec<Operation> = text.match_indices("result<").filter_map(|(at, _)| operation(text, at)).collect();
    let is_made = |operation: &Operation| {
        operation.name == "make" || declares(text, &operation.name, &operation.parameters.join(", "))
    };
    all.into_iter().filter(|operation| !is_made(operation)).collect()
}

/// The operation whose result stands at `at`.
fn operation(text: &str, at: usize) -> Option<Operation> {
    let (before, rest) = text.split_at(at);
    let (lines, start) = before.rsplit_once('\n')?;
    if !matches!(start.trim(), "" | "static" | "inline") || start.len() > "  static ".len() {
        return None;
    }
    let (result, rest) = enclosed(rest.strip_prefix("result")?)?;
    let (name, rest) = rest.strip_prefix(" try_")?.split_at(rest.find('(')? - " try_".len());
    let (parameters, rest) = enclosed(rest)?;
    let last = lines.lines().last()?.trim();
    Some(Operation {
        template: last.starts_with("template <").then(|| last.to_owned()),
        start: start.to_owned(),
        result: result.to_owned(),
        name: name.to_owned(),
        parameters: split(&one_line(parameters)),
        is_const: rest.starts_with(" const"),
    })
}

/// Whether a function with this name and these parameters is declared.
fn declares(text: &str, name: &str, parameters: &str) -> bool {
    let start = format!(" {name}(");
    let found = text.match_indices(&start).map(|(at, _)| &text[at + start.len() - 1..]);
    found.filter_map(enclosed).any(|(inside, _)| one_line(inside) == parameters)
}

/// What a bracket at the start of a text encloses, and what follows it.
fn enclosed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(matches!(c, '(' | '<' | '{')) - i32::from(matches!(c, ')' | '>' | '}'));
        if depth == 0 {
            return Some((text.get(1..at)?, &text[at + 1..]));
        }
    }
    None
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The elements of a list, which commas divide.
fn split(list: &str) -> Vec<String> {
    let (mut elements, mut depth) = (vec![String::new()], 0);
    for c in list.chars() {
        depth += i32::from(matches!(c, '(' | '<' | '{')) - i32::from(matches!(c, ')' | '>' | '}'));
        match elements.last_mut() {
            Some(_) if c == ',' && depth == 0 => elements.push(String::new()),
            Some(last) => last.push(c),
            None => {}
        }
    }
    elements.iter().map(|element| element.trim().to_owned()).filter(|element| !element.is_empty()).collect()
}

impl Operation {
    /// The form that throws.
    fn throwing(&self) -> String {
        let Operation { template, start, result, name, parameters, is_const } = self;
        let indent = &start[..start.len() - start.trim_start().len()];
        let given = parameters.iter().filter_map(|parameter| {
            let parameter = parameter.split(" = ").next()?;
            parameter.rsplit([' ', '*', '&']).next()
        });
        let give = if result == "void" { "" } else { "return " };
        let body = format!("{give}try_{name}({}).value();", given.collect::<Vec<_>>().join(", "));
        let mut out = template.as_ref().map_or(String::new(), |template| format!("{indent}{template}\n"));
        let (head, end) = (format!("{start}{result} {name}("), if *is_const { ") const {" } else { ") {" });
        let short = format!("{head}{}{end} {body} }}", parameters.join(", "));
        if template.is_none() && short.len() <= 120 {
            return out + &short + "\n";
        }
        match parameters.is_empty() {
            true => out += &format!("{head}{end}\n"),
            false => headers::wrap(&mut out, &head, parameters, end, &format!("{indent}    "), 1),
        }
        out + &format!("{indent}  {body}\n{indent}}}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_throw_where_none_is_written_by_hand() {
        let text = "\nclass x : y<z> {\n\
                    \x20 static result<x> try_open(c_string path, const o &options = {}) noexcept {\n  }\n\
                    \x20 template <class Key>\n  result<void> try_add(const Key &key,\n    list<int, 2> *of) \
                    noexcept(a<Key>()) {\n  }\n\
                    \x20 result<std::pair<int, int>> try_get() const noexcept {\n    \
                    return result<int>(try_other());\n  }\n\
                    \x20 result<void> try_save(c_string path) noexcept {\n  }\n  void save(c_string path) {\n  }\n};\n";
        let expected = "  static x open(c_string path, const o &options = {}) { return try_open(path, \
        options).value(); }\n\
                        \x20 template <class Key>\n  void add(const Key &key, list<int, 2> *of) {\n\
                        \x20   try_add(key, of).value();\n  }\n\
                        \x20 std::pair<int, int> get() const { return try_get().value(); }\n";
        let scopes = scopes(text, "xs");
        assert_eq!((&*scopes[0].0, &*scopes[1].0), ("x", "xs"));
        assert_eq!(operations(&scopes[0].1).iter().map(Operation::throwing).collect::<String>(), expected);
    }
}
