//! `petal redis check`.

use super::Set;
use super::send::{Deed, Tally, print_missing, send};
use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::Inputs;
use crate::output::Text;
use crate::progress::Progress;
use serde::Serialize;

/// The report as JSON.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    records: u64,
    found: u64,
    missing: u64,
}

pub fn run(args: &args::redis::Check, common: args::Common) -> Outcome {
    if common.json && args.invert {
        return Err(Failure::new(
            "--json: keys are printed as they are; without --invert the numbers are printed as JSON",
        ));
    }
    let inputs = Inputs::new(&args.keys, None)?;
    let mut text = Text::new()?;
    let set = Set::open_whole(&args.of)?;
    let tally = Tally::default();
    let mut progress = Progress::new("checking", inputs.length());
    if args.invert {
        progress = progress.beside_output();
    }
    let sent = match args.invert && !common.quiet {
        true => print_missing(&set, &inputs, &mut progress, &tally, &mut text),
        false => send(&set, Deed::Ask, &inputs, &mut progress, &tally),
    };
    drop(progress);
    let (records, found) = (tally.answered(), tally.yes());
    sent.map_err(|failure| Failure::new(format_args!("{failure} (after {records} keys, {found} found)")))?;
    let missing = records - found;
    if common.json {
        text.json(&Report { name: &args.of.name, records, found, missing })?;
    } else if !common.quiet && !args.invert {
        text.line(format_args!("{found} found, {missing} certainly not there"))?;
    }
    text.flush()?;
    Ok(u8::from(missing > 0))
}
