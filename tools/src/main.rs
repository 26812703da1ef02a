//! Writes the committed files that are made by a program: the drawings of the documents, the layers above the core that
//! follow from a table, and the licences of the crates that are linked in. `make figures`, `make layers` and
//! `make licences` run it; its tests hold what is committed to what it makes.

mod figures;
mod go_kinds;
mod layers;
mod licences;
mod pages;
mod uses;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A file: its path below the root of the tree, and its text.
type Generated = (String, String);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let made = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["licences"] => licences::file(&root()).map(|file| vec![file]),
        ["figures"] => drawn(),
        ["layers"] => layers::files(&root()),
        _ => Err("usage: petal-tools figures|layers|licences".to_owned()),
    };
    let written = made.and_then(|files| {
        files.iter().try_for_each(|(path, text)| {
            println!("{path}");
            fs::write(root().join(path), text).map_err(|error| format!("{path}: {error}"))
        })
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("petal-tools: {why}");
            ExitCode::FAILURE
        }
    }
}

/// What `make figures` writes: the drawings, the tables of the kinds' pages, and the names of kinds for pure Go.
fn drawn() -> Result<Vec<Generated>, String> {
    let mut files = figures::files()?;
    files.push(go_kinds::file());
    Ok(files)
}

/// The folder of the whole tree.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in a folder of the tree").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is committed is what would be written today; `command` mends it.
    fn committed((path, text): &Generated, command: &str) {
        let found = fs::read_to_string(root().join(path)).unwrap_or_default();
        assert!(found == *text, "{path} is not up to date: run `{command}` and commit it");
    }

    #[test]
    fn figures_are_up_to_date() {
        drawn().unwrap().iter().for_each(|file| committed(file, "make figures"));
    }

    #[test]
    fn layers_are_up_to_date() {
        layers::files(&root()).unwrap().iter().for_each(|file| committed(file, "make layers"));
    }

    #[test]
    fn licences_are_up_to_date() {
        committed(&licences::file(&root()).unwrap(), "make licences");
    }
}
