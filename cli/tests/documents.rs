//! Every console block of a document is run as it stands, and must print what the document says.
//!
//! It finds the fences ```` ```console ```` of all Markdown files outside `target` and `build`. Those of one file run
//! one after the other in one folder, which is empty at first. A line that starts with `$ ` is a command (with the next
//! ones where it ends with a backslash), and the lines up to the next command are what it prints on standard output and
//! error. A fence can say more in an HTML comment in the line before it:
//!
//! - `<!-- console: needs TOOL -->`: it is run where that program is.
//! - `<!-- console: no_run REASON -->`: it is not run, but its commands must be ones that `petal` takes.
//! - `<!-- console: redis-cli REASON -->`: these are commands for a server.
//!
//! With `PETAL_UPDATE=1` in the environment the documents get what the commands print.

#![cfg(unix)]

use clap::Parser;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What is done with a block.
#[derive(Debug, PartialEq)]
enum Use {
    Run,
    Needs(String),
    NoRun,
    Server,
}

/// A command of a block, with what it prints: lines of the file.
#[derive(Debug)]
struct Step {
    line: usize,
    command: String,
    /// The lines of the output, from this one up to that.
    output: (usize, usize),
}

#[derive(Debug)]
struct Block {
    line: usize,
    usage: Use,
    steps: Vec<Step>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder above")
}

/// All Markdown files of the tree.
fn documents() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root().to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let left_out = name.starts_with('.') || ["target", "build", "corpus", "node_modules"].contains(&name);
            match () {
                () if left_out || path.is_symlink() => {}
                () if path.is_dir() => folders.push(path),
                () if name.ends_with(".md") => found.push(path),
                () => {}
            }
        }
    }
    found.sort();
    found
}

/// What the line before a fence says.
fn usage(before: &str, place: &str) -> Use {
    let Some(words) = before.trim().strip_prefix("<!-- console: ") else { return Use::Run };
    let words = words.strip_suffix(" -->").unwrap_or_else(|| panic!("{place}: the comment does not end"));
    let (how, why) = words.split_once(' ').unwrap_or((words, ""));
    assert!(!why.trim().is_empty(), "{place}: {how} has no reason");
    match how {
        "needs" => Use::Needs(why.to_owned()),
        "no_run" => Use::NoRun,
        "redis-cli" => Use::Server,
        _ => panic!("{place}: {how} is not known"),
    }
}

fn blocks(name: &str, lines: &[String]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].starts_with("```console") {
            at += 1;
            continue;
        }
        let place = format!("{name}:{}", at + 1);
        assert_eq!(lines[at], "```console", "{place}: what is said of a block stands in a comment before it");
        let usage = usage(at.checked_sub(1).map_or("", |before| &lines[before]), &place);
        let prompt = if usage == Use::Server { "127.0.0.1:6379> " } else { "$ " };
        let end = at + 1 + lines[at + 1..].iter().position(|line| line == "```").expect("an end");
        let (start, mut steps) = (at + 1, Vec::<Step>::new());
        at += 1;
        while at < end {
            match lines[at].strip_prefix(prompt) {
                Some(command) => {
                    let (line, mut command) = (at, command.to_owned());
                    while command.ends_with('\\') && at + 1 < end {
                        at += 1;
                        command = format!("{command}\n{}", lines[at]);
                    }
                    steps.push(Step { line, command, output: (at + 1, at + 1) });
                }
                None => steps.last_mut().unwrap_or_else(|| panic!("{place}: no command comes first")).output.1 = at + 1,
            }
            at += 1;
        }
        assert!(!steps.is_empty(), "{place}: is empty");
        blocks.push(Block { line: start, usage, steps });
    }
    blocks
}

/// Whether the program is on the path.
fn is_there(tool: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

/// Runs a command here; returns what it prints, and its status.
fn run(command: &str, folder: &Path, path: &str) -> (String, i32) {
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

/// Checks that the parts of a command line that call `petal` use only options that it takes.
fn check_options(command: &str, place: &str) {
    let mut calls = 0;
    for part in command.split(['|', ';', '&']) {
        let words: Vec<&str> = part.split_whitespace().take_while(|word| !word.starts_with(['<', '>'])).collect();
        if words.first() == Some(&"petal") {
            calls += 1;
            if words.get(1) == Some(&"redis") && !cfg!(feature = "redis") {
                continue;
            }
            let parsed = petal_cli::args::Cli::try_parse_from(&words);
            assert!(parsed.is_ok(), "{place}: {part}: {}", parsed.err().map_or_else(String::new, |e| e.to_string()));
        }
    }
    assert!(calls > 0, "{place}: {command} does not call petal");
}

#[test]
fn console_blocks_print_what_they_say() {
    let update = env::var_os("PETAL_UPDATE").is_some();
    let bin = TempDir::new().expect("a folder");
    symlink(env!("CARGO_BIN_EXE_petal"), bin.path().join("petal")).expect("a link");
    let path = format!("{}:{}", bin.path().display(), env::var("PATH").unwrap_or_default());
    let (mut ran, mut wrong) = (0, Vec::new());
    for document in documents() {
        let text = fs::read_to_string(&document).expect("text");
        let name = document.strip_prefix(root()).unwrap_or(&document).display().to_string();
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        let folder = TempDir::new().expect("a folder");
        let mut printed = Vec::new();
        for block in blocks(&name, &lines) {
            let place = format!("{name}:{}", block.line);
            match &block.usage {
                Use::Needs(tool) if !is_there(tool) => {
                    eprintln!("{place}: there is no {tool} here; the block was not run");
                    continue;
                }
                Use::NoRun => {
                    block.steps.iter().for_each(|step| check_options(&step.command, &place));
                    continue;
                }
                Use::Server => continue,
                Use::Run | Use::Needs(_) => {}
            }
            for step in block.steps {
                let place = format!("{name}:{}", step.line + 1);
                let (output, status) = run(&step.command, folder.path(), &path);
                let expected: String =
                    lines[step.output.0..step.output.1].iter().map(|line| format!("{line}\n")).collect();
                ran += 1;
                // An error of `petal` is shown only where the document means it.
                if status > 1 && !expected.contains("petal: ") {
                    wrong.push(format!("{place}: {}: status {status}\n{output}", step.command));
                } else if output != expected && !update {
                    wrong
                        .push(format!("{place}: {}\nprints:\n{output}and the document has:\n{expected}", step.command));
                }
                printed.push((step.output, output));
            }
        }
        if update {
            for ((from, to), output) in printed.into_iter().rev() {
                lines.splice(from..to, output.lines().map(String::from));
            }
            let new: String = lines.iter().map(|line| format!("{line}\n")).collect();
            if new != text {
                fs::write(&document, new).expect("writing");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // If the extraction were broken, nothing would be tested.
    assert!(ran > 50, "{ran} commands only");
}

#[test]
fn blocks_are_found_with_their_marks() {
    let text = "a\n```console\n$ petal kinds | \\\n  wc\n1\n2\n$ x\n```\n\
                <!-- console: no_run it is far -->\n```console\n$ petal kinds\n```\n";
    let lines: Vec<String> = text.lines().map(String::from).collect();
    let found = blocks("here", &lines);
    assert_eq!(found.len(), 2);
    assert_eq!((&found[0].usage, found[0].steps.len(), found[0].steps[0].output), (&Use::Run, 2, (4, 6)));
    assert_eq!(found[0].steps[0].command, "petal kinds | \\\n  wc");
    assert_eq!((&found[1].usage, found[1].steps[0].output), (&Use::NoRun, (11, 11)));
    let refused = |comment: &str| std::panic::catch_unwind(|| usage(comment, "here")).is_err();
    assert!(refused("<!-- console: no_run -->") && refused("<!-- console: skip it is far -->"));
    assert!(std::panic::catch_unwind(|| check_options("petal plan --nonsense", "here")).is_err());
}

/// The tables of kinds say how many bits a key takes at 1 %, in as many digits as they show: those of a million keys.
#[test]
fn the_tables_of_kinds_have_their_bits() {
    let folder = TempDir::new().expect("a folder");
    let keys: String = (0..1_000_000).map(|key| format!("{key}\n")).collect();
    fs::write(folder.path().join("keys"), keys).expect("writing");
    // A filter of each kind is made once, though both tables may have the kind.
    let mut found: BTreeMap<&str, f64> = BTreeMap::new();
    for (document, least) in [("README.md", 8), ("docs/kinds/README.md", 16)] {
        let text = fs::read_to_string(root().join(document)).expect("text");
        let mut held = 0;
        for line in text.lines().filter(|line| line.starts_with("| [`")) {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let Some(row) = cells[0].split('`').nth(1).and_then(petal::registry::find_name) else { continue };
            let Some(said) = cells.get(2).filter(|said| !row.is_map() && said.parse::<f64>().is_ok()) else { continue };
            let bits = *found.entry(row.name).or_insert_with(|| {
                let input = if row.is_made_empty() { "/dev/null --capacity 1M" } else { "keys" };
                let output = Command::new("bash")
                    .args(["-c", "\"$0\" build --kind $1 -o filter $2 && \"$0\" info --json --no-statistics filter"])
                    .args([env!("CARGO_BIN_EXE_petal"), row.name, input])
                    .current_dir(folder.path())
                    .output()
                    .expect("bash");
                let info: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
                info["bits_per_key"].as_f64().expect("bits per key")
            });
            let digits = said.split_once('.').map_or(0, |(_, digits)| digits.len());
            assert_eq!(format!("{bits:.digits$}"), **said, "{document}: {}", row.name);
            held += 1;
        }
        assert!(held >= least, "{document}: {held}");
    }
}

/// No sentence of a document has more words than this.
const MOST_WORDS: usize = 35;

/// Documents whose sentences are not held to that: what changed in a version is not rewritten later.
const FREE: &[&str] = &["CHANGELOG.md"];

/// A document without code, as paragraphs, items of lists and cells of tables, each with the line in which it begins.
fn blocks_of_prose(text: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    // Whether the line continues the last block; whether it is in a fence; whether it is in indented code.
    let (mut continues, mut fenced, mut indented, mut after_blank) = (false, false, false, true);
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            (continues, fenced) = (false, !fenced);
            continue;
        }
        if fenced {
            continue;
        }
        indented = line.starts_with("    ") && (after_blank || indented);
        after_blank = trimmed.is_empty();
        if indented || trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with("<!--") {
            continues = false;
            continue;
        }
        if trimmed.starts_with('|') {
            blocks.extend(trimmed.trim_matches('|').split(" | ").map(|cell| (number, String::from(cell))));
            continues = false;
            continue;
        }
        let digits = trimmed.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_item = trimmed.starts_with("- ") || digits.len() < trimmed.len() && digits.starts_with(". ");
        match blocks.last_mut().filter(|_| continues && !is_item) {
            Some((_, block)) => block.extend([" ", trimmed]),
            None => blocks
                .push((number, String::from(if is_item { digits.trim_start_matches(['-', '.']) } else { trimmed }))),
        }
        continues = true;
    }
    blocks
}

/// The sentences of a block with how many words each has. What stands between backticks is one word.
fn sentences(block: &str) -> Vec<(usize, String)> {
    let quoted = |(i, part)| if i % 2 == 0 { String::from(part) } else { String::from("code") };
    let text: String = block.split('`').enumerate().map(quoted).collect();
    let (mut found, mut words) = (Vec::new(), Vec::new());
    for word in text.split_whitespace() {
        words.push(word);
        if word.trim_end_matches([')', '"', '*']).ends_with(['.', '?', '!']) {
            found.push(core::mem::take(&mut words));
        }
    }
    found.push(words);
    let is_word = |word: &&&str| word.contains(char::is_alphanumeric);
    found.iter().map(|words| (words.iter().filter(is_word).count(), words.join(" "))).collect()
}

#[test]
fn sentences_are_short() {
    let mut wrong = Vec::new();
    let mut held = 0;
    for path in documents() {
        let name = path.strip_prefix(root()).expect("a file of the tree").display().to_string();
        if FREE.contains(&name.as_str()) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        for (line, block) in blocks_of_prose(&text) {
            let all = sentences(&block);
            held += all.len();
            let long = all.into_iter().filter(|(words, _)| *words > MOST_WORDS);
            wrong.extend(long.map(|(words, sentence)| format!("{name}:{line}: {words} words: {sentence}")));
        }
    }
    assert!(wrong.is_empty(), "sentences of more than {MOST_WORDS} words:\n{}", wrong.join("\n"));
    // If no sentences were found, nothing would be checked.
    assert!(held > 3000, "{held} sentences only");
}

#[test]
fn sentences_are_found() {
    let text = "# a b\n\none two\nthree. four (`a b. c`.) five\n\n    not this\n\n\
                - six\n1. seven\n   eight\n| nine ten | eleven |\n```\nno\n```\n";
    let counted: Vec<(usize, usize)> = blocks_of_prose(text)
        .iter()
        .flat_map(|(line, block)| sentences(block).into_iter().map(move |(words, _)| (*line, words)))
        .filter(|(_, words)| *words > 0)
        .collect();
    assert_eq!(counted, [(3, 3), (3, 2), (3, 1), (8, 1), (9, 2), (11, 2), (11, 1)]);
}
