//! A filter of the lines of a file: made, saved, opened mapped as another program would, and asked.
//!
//! ```text
//! words FILE WORD...        FILE has one key a line; each WORD is looked up
//! ```

use petal::{Builder, BuilderOptions, Filter, Spec};
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("words: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("usage: words FILE WORD...")?);
    let text = fs::read(&file)?;
    let lines = || text.split(|byte| *byte == b'\n');

    // The builder counts the distinct lines, so that the filter is as large as they need.
    let mut builder = Builder::new(&Spec { false_positive_rate: 0.001, ..Spec::default() }, BuilderOptions::default())?;
    builder.add_all(lines())?;
    let image = file.with_extension("petal");
    builder.save(&image)?;

    let seen = Filter::open(&image)?;
    if let Some(lost) = lines().find(|line| !seen.contains(line)) {
        return Err(format!("{} was inserted, and is not found", String::from_utf8_lossy(lost)).into());
    }
    let length = fs::metadata(&image)?.len();
    println!("{} lines in {length} bytes: {}", lines().count(), image.display());
    for word in arguments {
        let answer = if seen.contains(word.as_encoded_bytes()) { "maybe" } else { "no" };
        println!("{}: {answer}", word.display());
    }
    Ok(())
}
