//! Calls of the C functions with NULL in each place, for `ctest/null.c`.
//!
//! What may be NULL stands in the comments of the headers: "`options` is nullable", "`listed`, which may be NULL if
//! `room` is 0". The words mean the parameters that are named last before them. A form of a function (`_u64`, `_hash`)
//! and a function that refers to another one say nothing and mean the same. `tools/layers/null.txt` has what the calls
//! are given, where the type alone does not tell.

use super::headers::{self, Function, Parameter};
use super::read;
use crate::Generated;
use std::cell::Cell;
use std::path::Path;

const HEAD: &str = "\
/*
 * Written by `make layers` from the headers and tools/layers/null.txt: change those, not this.
 *
 * Calls of each function that takes a pointer: one with everything, then those with NULL in each place. null.c has the
 * macros, and makes what the calls are given.
 */
";

/// Whether a pointer may be NULL.
#[derive(Clone, Debug, PartialEq)]
enum Null {
    Refused,
    Allowed,
    /// Only if the parameter of that name has that value.
    AllowedIf(String, &'static str),
}

/// What parameters of some name, or of some type, are given in some functions.
struct Row<'a> {
    /// A pattern of names of functions, of which one part may be a star; empty for all.
    functions: &'a str,
    /// The name or the type of the parameter, or both; the name of a pointer and `#` for the number that follows it.
    parameter: &'a str,
    /// An expression of C, in which `{noun}` is the first word of the function's name.
    value: &'a str,
    used: Cell<bool>,
}

struct Calls<'a> {
    functions: Vec<Function>,
    texts: Vec<(String, String)>,
    rows: Vec<Row<'a>>,
}

/// `ctest/null_calls.h`.
pub fn file(root: &Path) -> Result<Generated, String> {
    let (texts, table) = (headers::texts(root)?, read(&root.join("tools/layers/null.txt"))?);
    let functions = texts.iter().flat_map(|(_, text)| headers::functions(text)).collect();
    let calls = Calls { functions, texts, rows: rows(&table)? };
    let (mut out, mut list) = (HEAD.to_owned(), String::new());
    for (name, text) in &calls.texts {
        let name = name.replace('.', "_");
        out += &format!("\nstatic void {name}(void) {{\n");
        headers::functions(text).iter().try_for_each(|function| calls.write(&mut out, function))?;
        out += "}\n";
        list += &format!("  {name}();\n");
    }
    out += &format!("\nstatic void all_calls(void) {{\n{list}}}\n");
    match calls.rows.iter().find(|row| !row.used.get()) {
        Some(row) => Err(format!("tools/layers/null.txt: nothing uses {}: {}", row.functions, row.parameter)),
        None => Ok(("ctest/null_calls.h".into(), out)),
    }
}

/// The rows of the table, the first of which counts where several match.
fn rows(table: &str) -> Result<Vec<Row<'_>>, String> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
    let row = |line| {
        let (left, value) = str::split_once(line, " = ")?;
        let (functions, parameter) = left.split_once(": ").unwrap_or(("", left));
        Some(Row { functions, parameter, value, used: Cell::new(false) })
    };
    lines.map(|line| row(line).ok_or_else(|| format!("tools/layers/null.txt: what is {line:?}?"))).collect()
}

impl Row<'_> {
    fn matches(&self, function: &str, parameter: &[&str]) -> bool {
        let named = match self.functions.split_once('*') {
            Some((start, end)) => function.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
            None => self.functions.is_empty() || self.functions == function,
        };
        named && parameter.contains(&self.parameter)
    }
}

impl Calls<'_> {
    /// Writes the calls of a function, if it takes a pointer.
    fn write(&self, out: &mut String, function: &Function) -> Result<(), String> {
        let parameters = &function.parameters;
        let pointers: Vec<usize> = (0..parameters.len()).filter(|&i| parameters[i].is_pointer()).collect();
        if pointers.is_empty() {
            return Ok(());
        }
        let whole: Vec<_> = (0..parameters.len()).map(|i| self.argument(function, i)).collect::<Result<_, _>>()?;
        let with = |changes: &[(usize, &str)]| {
            let mut arguments = whole.clone();
            changes.iter().for_each(|&(i, value)| arguments[i] = value.to_owned());
            arguments
        };
        let mut call = |check: &str, arguments: &[String]| {
            headers::wrap(out, &format!("  {check}{}(", function.name), arguments, "));", "      ", 1);
        };
        let is_status = function.returns == "petal_status ";
        if is_status {
            call("ACCEPTED(", &whole);
        }
        for &i in &pointers {
            let parameter = &parameters[i];
            let refused = match &*function.returns {
                "petal_status " => format!("REFUSED(\"{}\", ", parameter.name),
                "void " => "CALLED(".to_owned(),
                _ => format!("GIVES({}, ", answer(function)?),
            };
            let null = self.null(function, i, 3);
            if null != Null::Allowed {
                call(&refused, &with(&[(i, "NULL")]));
            }
            match null {
                Null::Allowed => call(if is_status { "ACCEPTED(" } else { "CALLED(" }, &with(&[(i, "NULL")])),
                Null::AllowedIf(name, value) if is_status => {
                    let at = parameters.iter().position(|p| p.name == name);
                    let at = at.ok_or_else(|| format!("{}: there is no {name}", function.name))?;
                    call("ACCEPTED(", &with(&[(i, "NULL"), (at, value)]));
                }
                _ => {}
            }
        }
        if is_status && pointers.len() > 1 {
            call("REFUSED(NULL, ", &with(&pointers.iter().map(|&i| (i, "NULL")).collect::<Vec<_>>()));
        }
        Ok(())
    }

    /// What a function is given for a parameter.
    fn argument(&self, function: &Function, i: usize) -> Result<String, String> {
        let Parameter { ty, name } = &function.parameters[i];
        let before = i.checked_sub(1).map(|i| &function.parameters[i]);
        let before = before.filter(|p| p.is_pointer() && ty == "size_t ");
        let after = before.map(|p| format!("{}#", p.name)).unwrap_or_default();
        let names = [name, &after, ty.trim_end(), &format!("{ty}{name}")];
        if let Some(row) = self.rows.iter().find(|row| row.matches(&function.name, &names)) {
            row.used.set(true);
            let noun = function.name.split('_').nth(1).unwrap_or_default();
            return Ok(row.value.replace("{noun}", noun));
        }
        let pointed = ty.strip_suffix(" *").unwrap_or_default();
        let (is_const, pointed) = pointed.strip_prefix("const ").map_or((false, pointed), |pointed| (true, pointed));
        let noun = |ty: &str| {
            let noun = ty.strip_prefix("petal_")?.to_owned();
            self.function(&format!("petal_{noun}_free")).map(|_| noun)
        };
        let is_sized = || {
            let start = format!("typedef struct {pointed} {{");
            let bodies = self.texts.iter().filter_map(|(_, text)| text.split_once(&start));
            bodies.filter_map(|(_, body)| body.split_once("} ")).any(|(body, _)| body.contains(" struct_size;"))
        };
        Ok(match &**ty {
            "petal_error *" => "error()".to_owned(),
            "const void *" => "\"abc\"".to_owned(),
            "void *" | "char *" => "room()".to_owned(),
            "const void **" => "OUT(const void *)".to_owned(),
            _ if !ty.ends_with('*') => match before.map(|p| &*p.ty) {
                Some("const void *") => "3".to_owned(),
                Some("void *") => "ROOM".to_owned(),
                _ => "1".to_owned(),
            },
            _ => match (ty.strip_suffix(" **").and_then(noun), noun(pointed)) {
                (Some(noun), _) => format!("NEW({noun})"),
                (_, Some(noun)) => format!("a_{noun}()"),
                _ if is_const && is_sized() => format!("GIVEN({pointed})"),
                _ if is_sized() => format!("FILLED({pointed})"),
                _ if !is_const && !pointed.is_empty() => format!("OUT({pointed})"),
                _ => return Err(format!("tools/layers/null.txt: {} needs a row for {name}", function.name)),
            },
        })
    }

    fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Whether a pointer may be NULL. `depth` is how many functions may refer to each other.
    fn null(&self, function: &Function, i: usize, depth: usize) -> Null {
        let Parameter { ty, name } = &function.parameters[i];
        if name == "error" {
            return Null::Allowed;
        }
        // The convention of keys: NULL with length 0 is the empty key.
        if ty == "const void *" && (name == "key" || name == "id") {
            return Null::AllowedIf(function.parameters[i + 1].name.clone(), "0");
        }
        if let Some(null) = said(function, name) {
            return null;
        }
        if depth == 0 {
            return Null::Refused;
        }
        let form = ["_u64", "_hash"].iter().find_map(|form| function.name.strip_suffix(form));
        let named = function.comment.split('`').skip(1).step_by(2).filter_map(|name| name.strip_suffix("()"));
        let others = form.into_iter().chain(named).filter_map(|name| self.function(name));
        let nulls = others.filter(|other| other.name != function.name).filter_map(|other| {
            let at = other.parameters.iter().position(|p| p.name == *name && p.ty == *ty)?;
            Some(self.null(other, at, depth - 1)).filter(|null| *null != Null::Refused)
        });
        nulls.into_iter().next().unwrap_or(Null::Refused)
    }
}

/// What a function's comment says of NULL for a parameter, if anything.
fn said(function: &Function, parameter: &str) -> Option<Null> {
    let is_pointer = |name: &str| function.parameters.iter().any(|p| p.name == name && p.is_pointer());
    function.comment.split(". ").find_map(|sentence| {
        let words = ["nullable", " NULL"].iter().flat_map(|word| sentence.match_indices(word));
        words.into_iter().find_map(|(at, word)| {
            // What stands in backticks is every second piece.
            let pieces: Vec<&str> = sentence[..at].split('`').collect();
            let last = (1..pieces.len()).step_by(2).rfind(|&i| is_pointer(pieces[i]))?;
            let joined = |&i: &usize| i == last || [", ", " and "].contains(&pieces[i + 1]);
            if !(1..=last).rev().step_by(2).take_while(joined).any(|i| pieces[i] == parameter) {
                return None;
            }
            let condition = sentence[at + word.len()..].strip_prefix(" if ");
            let zero = condition.and_then(|text| text.strip_prefix('`')?.split_once("` is 0"));
            Some(match (zero, condition) {
                (Some((count, _)), _) => Null::AllowedIf(count.to_owned(), "0"),
                (_, Some(text)) if text.starts_with("there are no keys") => {
                    Null::AllowedIf("keys".to_owned(), "no_keys()")
                }
                _ => Null::Allowed,
            })
        })
    })
}

/// What a function without a status returns for NULL, as its comment says: "0 for NULL". By the conventions a lookup
/// says true.
fn answer(function: &Function) -> Result<String, String> {
    let said = function.comment.split(['.', ';']).find(|part| part.contains(" for NULL"));
    match said.and_then(|part| part.split_whitespace().next()) {
        Some(word) => Ok(word.trim_matches('`').replace("False", "false")),
        None if function.returns == "bool " => Ok("true".to_owned()),
        None => Err(format!("the comment of {} does not say what it returns for NULL", function.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_what_may_be_null() {
        let text = "/** Lists to `listed`, which may be NULL if `room` is 0. `a` and\n * `b` are nullable, \
        `count` is not. \
                    Gives `context`, which may be NULL, to `each`. */\n\
                    petal_status petal_list(petal_sketch_listed *listed, size_t room, bool *a, bool *b,\n  \
                    size_t *count, petal_list_callback each, void *context, petal_error *error);\n\
                    /** As `petal_list()`. */\n\
                    petal_status petal_other(bool *b, size_t *count, petal_error *error);\n";
        let calls = Calls { functions: headers::functions(text), texts: Vec::new(), rows: Vec::new() };
        let null = |function: usize| {
            let function = &calls.functions[function];
            (0..function.parameters.len()).map(|i| calls.null(function, i, 3)).collect::<Vec<_>>()
        };
        let (no, yes) = (Null::Refused, Null::Allowed);
        let list = Null::AllowedIf("room".to_owned(), "0");
        assert_eq!(null(0)[..4], [list, no.clone(), yes.clone(), yes.clone()]);
        assert_eq!(null(0)[4..], [no.clone(), no.clone(), yes.clone(), yes.clone()]);
        assert_eq!(null(1), [yes.clone(), no, yes]);
    }
}
