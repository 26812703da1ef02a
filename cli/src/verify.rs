//! `petal verify`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::filter_file;
use crate::output::Text;
use petal::Mode;

pub fn run(args: &args::Verify) -> Outcome {
    let filter = filter_file::open(&args.filter, Mode::Read, None)?;
    filter.verify().map_err(|error| Failure::at(&args.filter, &error))?;
    let mut text = Text::new();
    text.line(format_args!("{}: OK", args.filter.display()))?;
    text.flush()?;
    Ok(0)
}
