//! `petal verify`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::file_name::FileName;
use crate::image_file::open_any;
use crate::output::Text;
use crate::progress::Progress;
use crate::stdio::check_standard_input;
use petal::{Image, Mode};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The verdict on a file as JSON.
#[derive(Serialize)]
struct Verdict {
    #[serde(flatten)]
    file: FileName,
    ok: bool,
    error: Option<String>,
}

pub fn run(args: &args::Filters, common: args::Common) -> Outcome {
    each(&args.filters, common, "OK", |path| {
        let image = open_any(path, Mode::Read, None)?;
        let mut progress = Progress::new("verifying", Some(image.serialized_size()));
        image.verify_with(&mut |bytes| progress.add(bytes)).map_err(|error| Failure::at(path, &error))
    })
}

/// Runs `with` for each file, and reports `done` or the failure. The exit status is for all files together.
pub fn each(paths: &[PathBuf], common: args::Common, done: &str, with: impl Fn(&Path) -> Outcome<()>) -> Outcome {
    check_standard_input(paths.iter().map(PathBuf::as_path))?;
    let mut text = Text::new()?;
    let mut status = 0;
    for path in paths {
        let error = with(path).err();
        if let Some(failure) = &error {
            text.flush()?;
            failure.tell();
            status = crate::TROUBLE;
        }
        if common.json {
            let error = error.map(|failure| failure.to_string());
            text.json(&Verdict { file: FileName::of(path), ok: error.is_none(), error })?;
        } else if error.is_none() && !common.quiet {
            text.name(path)?;
            text.line(format_args!(": {done}"))?;
        }
    }
    text.flush()?;
    Ok(status)
}
