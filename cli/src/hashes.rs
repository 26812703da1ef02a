//! `petal hashes`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file;
use crate::output::Text;
use petal::{Capabilities, Image};

/// How many numbers are read at a time.
const PIECE: usize = 4096;

pub fn run(args: &args::Hashes, common: args::Common) -> Outcome {
    if common.json {
        return Err(Failure::new("--json: numbers are printed as they are, one a line"));
    }
    let filter = image_file::open_or_import(&args.filter, None, args.format.as_deref())?;
    let filter = image_file::filter(&args.filter, filter)?;
    image_file::warn_if_unclean(&args.filter, &filter);
    // A corrupt filter would be listed without an error.
    filter.verify().map_err(|error| Failure::at(&args.filter, &error))?;
    if args.counts && !filter.capabilities().contains(Capabilities::COUNT) {
        let kind = filter.base().row().name;
        return Err(Failure::new(format_args!("--counts: filters of the kind {kind} cannot count")));
    }
    let (mut text, mut from, mut stored, mut counts) = (Text::new()?, 0, [0; PIECE], [0; PIECE]);
    loop {
        let failed = |error| Failure::at(&args.filter, &error);
        let count = filter.stored_hashes(from, &mut stored, Some(&mut counts)).map_err(failed)?;
        for (number, times) in stored[..count].iter().zip(&counts) {
            if args.counts {
                text.line(format_args!("{times}\t{number}"))?;
            } else {
                text.line(number)?;
            }
        }
        if count < PIECE {
            break;
        }
        from = stored[count - 1] + 1;
    }
    text.flush()?;
    Ok(0)
}
