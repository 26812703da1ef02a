//! The functions that the headers declare, each with its comment.

use super::read;
use std::path::Path;

/// A function of C.
pub struct Function {
    /// The comment above it, on one line.
    pub comment: String,
    /// What it returns, with a space or a star at the end.
    pub returns: String,
    pub name: String,
    pub parameters: Vec<Parameter>,
}

/// A parameter of a function: its type, which ends in a star or a space, and its name.
pub struct Parameter {
    pub ty: String,
    pub name: String,
}

impl Parameter {
    pub fn is_pointer(&self) -> bool {
        self.ty.ends_with('*') || self.ty.ends_with("_callback ")
    }
}

/// The headers whose functions have the conventions of petal.h, in the order of their names: file name and
/// declarations. petal_policy.h has the signatures of LevelDB.
pub fn texts(root: &Path) -> Result<Vec<(String, String)>, String> {
    let folder = root.join("include");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".h") && name != "petal_policy.h")
        .collect();
    names.sort_unstable();
    // What follows the declarations is code that programs compile in.
    let declarations = |text: String| text.split("#ifdef __cplusplus\n}").next().unwrap_or_default().to_owned();
    names.into_iter().map(|name| read(&folder.join(&name)).map(|text| (name, declarations(text)))).collect()
}

/// The functions of a header, in its order.
pub fn functions(text: &str) -> Vec<Function> {
    let (mut functions, mut statement, mut comment) = (Vec::new(), String::new(), String::new());
    let mut rest = text;
    while !rest.is_empty() {
        let (code, after) = rest.split_once("/*").unwrap_or((rest, ""));
        // A line of the preprocessor is no part of a statement.
        for line in code.lines().filter(|line| !line.starts_with('#')) {
            for part in line.split_inclusive(';') {
                statement += part;
                statement.push(' ');
                if part.ends_with(';') || part == "}" {
                    functions.extend(declared(&statement, &comment));
                    statement.clear();
                    comment.clear();
                }
            }
        }
        let (inside, after) = after.split_once("*/").unwrap_or_default();
        if statement.trim().is_empty() {
            let words = inside.lines().flat_map(|line| line.trim_start_matches([' ', '*']).split_whitespace());
            comment = words.collect::<Vec<_>>().join(" ");
        }
        rest = after;
    }
    functions
}

/// The function that a statement declares; `None` for all other statements.
fn declared(statement: &str, comment: &str) -> Option<Function> {
    let text = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    // What stands before the first declaration is the opening of extern "C".
    let text = text.rsplit_once("{ ").map_or(&*text, |(_, text)| text);
    let (start, parameters) = text.strip_suffix(");")?.split_once('(')?;
    let Parameter { ty: returns, name } = parameter(start)?;
    if returns.starts_with("typedef") || !name.starts_with("petal_") {
        return None;
    }
    let parameters = match parameters {
        "void" => Vec::new(),
        list => list.split(", ").map(parameter).collect::<Option<_>>()?,
    };
    Some(Function { comment: comment.to_owned(), returns, name, parameters })
}

fn parameter(text: &str) -> Option<Parameter> {
    let (ty, name) = text.split_at(text.rfind([' ', '*'])? + 1);
    Some(Parameter { ty: ty.to_owned(), name: name.to_owned() })
}

/// Writes what starts with `head` and goes on with a list in parentheses, as much on a line as fits 120 columns; `tab`
/// is how wide a tab counts.
pub fn wrap(out: &mut String, head: &str, list: &[String], end: &str, indent: &str, tab: usize) {
    *out += head;
    let width = |text: &str| text.chars().map(|c| if c == '\t' { tab } else { 1 }).sum::<usize>();
    let mut column = width(head);
    for (i, item) in list.iter().enumerate() {
        let after = if i + 1 == list.len() { end } else { "," };
        if i > 0 && column + 1 + item.len() + after.len() > 120 {
            out.push('\n');
            *out += indent;
            column = width(indent);
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        *out += item;
        *out += after;
        column += item.len() + after.len();
    }
    out.push('\n');
}
