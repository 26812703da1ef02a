//! The snippets of documents and headers, and the programs that they stand for.

use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
}

/// What is done with a snippet, and the reason if that is not everything.
pub enum Use {
    Run,
    Compiled(String),
    Nothing(String),
}

pub struct Snippet {
    /// The file and the line in it where the code begins.
    pub place: String,
    pub language: Language,
    pub used: Use,
    pub code: String,
    /// The output that the text shows.
    pub output: Option<String>,
}

impl Snippet {
    /// The whole program: the code itself, or a prelude with the code in its middle.
    pub fn program(&self) -> String {
        if self.code.contains("int main(") {
            return self.code.clone();
        }
        let prelude = match self.language {
            Language::C => include_str!("prelude.c"),
            Language::Cpp => include_str!("prelude.cpp"),
        };
        // What cannot stand in a function is put before it.
        let is_outer = ["namespace ", "struct ", "class ", "template", "static ", "inline "]
            .iter()
            .any(|start| self.code.starts_with(start) && self.code.contains('{') && !self.code.contains(" = {"));
        let (outer, inner) = if is_outer { (&self.code[..], "") } else { ("", &self.code[..]) };
        prelude.replace("/* OUTER */", outer).replace("/* FRAGMENT */", inner)
    }
}

/// The snippets of all documents and headers.
pub fn all(root: &Path) -> Vec<Snippet> {
    let mut snippets = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap().to_str().unwrap_or("").to_string();
            let is_made = folder == root && (name == "target" || name == "build" || name == "vendor");
            if path.is_symlink() || is_made || name.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let place = path.strip_prefix(root).unwrap().display().to_string();
            let text = || std::fs::read_to_string(&path).unwrap();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("md") => snippets.extend(of_markdown(&place, &text())),
                // Only what users include: the tests have headers too.
                Some("h") if place.starts_with("include/") => snippets.extend(of_header(&place, &text(), Language::C)),
                Some("hpp") if place.starts_with("bindings/cpp/") && !place.contains("/tests/") => {
                    snippets.extend(of_header(&place, &text(), Language::Cpp));
                }
                _ => {}
            }
        }
    }
    snippets.sort_by(|a, b| a.place.cmp(&b.place));
    snippets
}

/// The snippets in the fences of a document.
fn of_markdown(place: &str, text: &str) -> Vec<Snippet> {
    let mut snippets: Vec<Snippet> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut before = "";
    // Where the last snippet ended.
    let mut end = None;
    let mut i = 0;
    while i < lines.len() {
        let Some(language) = lines[i].strip_prefix("```") else {
            if !lines[i].trim().is_empty() {
                before = lines[i];
            }
            i += 1;
            continue;
        };
        let start = i + 1;
        let length = lines[start..].iter().position(|line| *line == "```").expect("a fence ends");
        let code: String = lines[start..start + length].iter().flat_map(|line| [*line, "\n"]).collect();
        match language {
            "c" | "cpp" => {
                let language = if language == "c" { Language::C } else { Language::Cpp };
                let place = format!("{place}:{}", start + 1);
                snippets.push(Snippet { used: used(before, &place), place, language, code, output: None });
                end = Some(start + length);
            }
            // An empty line, one of prose, an empty line.
            "text" if end.is_some_and(|end| start - end <= 5) => {
                snippets.last_mut().expect("one ended").output = Some(code);
                end = None;
            }
            _ => {}
        }
        before = "";
        i = start + length + 1;
    }
    snippets
}

/// What an HTML comment says about the fence that follows.
fn used(before: &str, place: &str) -> Use {
    let Some(words) = before.strip_prefix("<!-- snippet: ").and_then(|rest| rest.strip_suffix(" -->")) else {
        return Use::Run;
    };
    match words.split_once(' ') {
        Some(("no_run", reason)) => Use::Compiled(reason.to_string()),
        Some(("no_compile", reason)) => Use::Nothing(reason.to_string()),
        _ => panic!("{place}: not `no_run REASON` or `no_compile REASON`: {before}"),
    }
}

/// Snippets in comments: what is indented by four or more beyond the text around it, after an empty line.
fn of_header(place: &str, text: &str, language: Language) -> Vec<Snippet> {
    let mut snippets = Vec::new();
    let mut code: Option<(usize, String)> = None;
    // The column of the text of the list item, or of the paragraph, that is being read.
    let mut column = 0;
    let mut after_empty = false;
    for (number, line) in text.lines().chain([""]).enumerate() {
        let inside = [" * ", "/// ", "//! "].iter().find_map(|prefix| line.strip_prefix(prefix));
        let is_empty = [" *", "///", "//!"].contains(&line.trim_end());
        if is_empty {
            after_empty = true;
            if let Some((_, code)) = &mut code {
                code.push('\n');
            }
            continue;
        }
        let content = inside.unwrap_or("");
        let indent = content.len() - content.trim_start().len();
        let is_code = inside.is_some() && indent >= column + 4 && (after_empty || code.is_some());
        if is_code {
            let (_, code) = code.get_or_insert((number + 1, String::new()));
            code.push_str(content);
            code.push('\n');
        } else {
            if let Some((line, code)) = code.take() {
                let place = format!("{place}:{line}");
                snippets.push(Snippet { place, language, used: Use::Run, code: unindented(&code), output: None });
            }
            let marker = content.trim_start();
            let item = ["- ", "* "].iter().any(|bullet| marker.starts_with(bullet));
            if item {
                column = indent + 2;
            } else if indent < column || inside.is_none() {
                column = 0;
            }
        }
        after_empty = false;
    }
    snippets
}

fn unindented(code: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least = code.lines().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let lines = code.trim_end().lines().map(|line| line.get(least..).unwrap_or(""));
    lines.flat_map(|line| [line, "\n"]).collect()
}
