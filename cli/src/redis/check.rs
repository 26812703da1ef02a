//! `petal redis check`.

use super::Set;
use super::send::{Deed, Tally, send};
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
    let inputs = Inputs::new(&args.keys, None)?;
    let mut text = Text::new()?;
    let set = Set::open_whole(&args.of)?;
    let tally = Tally::default();
    let sent = send(&set, Deed::Ask, &inputs, &mut Progress::new("checking", inputs.length()), &tally);
    let (records, found) = (tally.answered(), tally.yes());
    sent.map_err(|failure| Failure::new(format_args!("{failure} (after {records} keys, {found} found)")))?;
    let missing = records - found;
    if common.json {
        text.json(&Report { name: &args.of.name, records, found, missing })?;
    } else if !common.quiet {
        text.line(format_args!("{found} found, {missing} certainly not there"))?;
    }
    text.flush()?;
    Ok(u8::from(missing > 0))
}
