//! `petal check`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::file_name::FileName;
use crate::image_file;
use crate::keys::{Inputs, RECORDS, Room};
use crate::output::Text;
use crate::progress::Progress;
use petal::{Answers, Image};
use serde::Serialize;
use std::ops::ControlFlow;

/// The report of `--count` as JSON.
#[derive(Serialize)]
pub struct Counts {
    #[serde(flatten)]
    pub file: FileName,
    pub records: u64,
    pub selected: u64,
    pub invert: bool,
}

pub fn run(args: &args::Check, common: args::Common) -> Outcome {
    if common.json && !args.count {
        return Err(Failure::new("--json: keys are printed as they are; --count prints how many, also as JSON"));
    }
    let secret = args.secret.secret_file.as_deref();
    let inputs = Inputs::new(&args.keys, secret.into_iter().chain([&*args.filter]))?
        .with_hashes(args.hashes)
        .with_digests(args.hex_digests);
    let filter = image_file::open_or_import(&args.filter, image_file::secret(&args.secret)?, args.format.as_deref())?;
    let filter = image_file::filter(&args.filter, filter)?;
    image_file::refuse_keys(&args.filter, &filter, &inputs)?;
    image_file::warn_if_unclean(&args.filter, &filter);
    let mut progress = Progress::new("checking", inputs.length());
    let shows_records = !args.count && !common.quiet;
    if shows_records {
        progress = progress.beside_output();
    }
    let hasher = filter.base().hasher();
    let mut text = Text::new()?;
    let (mut records, mut selected) = (0_u64, 0_u64);
    let mut room = Room::new();
    let mut found = [0; RECORDS];
    inputs.for_each(&mut progress, |batch| {
        let keys = batch.keys(hasher, &mut room)?;
        let found = &mut found[..keys.len()];
        let answers = &mut Answers { bytes: Some(&mut found[..]), ..Answers::default() };
        filter.contains_batch(&keys, answers)?;
        records += keys.len() as u64;
        for (i, _) in found.iter().enumerate().filter(|(_, found)| (**found != 0) != args.invert) {
            selected += 1;
            if shows_records {
                text.bytes(batch.record(i))?;
            }
        }
        // The exit status is known now, so the command ends, as grep does.
        if common.quiet && !args.count && selected > 0 {
            return Ok(ControlFlow::Break(()));
        }
        // The user of a slow input gets the answers so far.
        if batch.last_of_block {
            text.flush()?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    drop(progress);
    if common.json {
        let file = FileName::of(&args.filter);
        text.json(&Counts { file, records, selected, invert: args.invert })?;
    } else if args.count {
        text.line(selected)?;
    }
    text.flush()?;
    Ok(u8::from(selected == 0))
}
