//! `petal rejuvenate`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::{Inputs, Room};
use crate::output::Text;
use crate::progress::Progress;
use crate::{image_file, info, stdio};
use petal::{Answers, Capabilities, Image};
use std::ops::ControlFlow;

pub fn run(args: &args::KeysOfFilter, common: args::Common) -> Outcome {
    stdio::check_output().map_err(|error| Failure::io("standard output", &error))?;
    let inputs = Inputs::new(&args.keys, args.secret.secret_file.as_deref())?
        .with_hashes(args.hashes)
        .with_digests(args.hex_digests);
    let able = (Capabilities::REJUVENATE, "rejuvenate");
    let (mut filter, _lock) = image_file::open_to_change(&args.filter, &args.secret, &inputs, able, image_file::open)?;
    let hasher = filter.base().hasher().clone();
    let (mut insertions, mut rejuvenated) = (0_u64, 0);
    let mut room = Room::new();
    let read = inputs.for_each(&mut Progress::new("rejuvenating", inputs.length()), |batch| {
        let mut answers = Answers::default();
        let taken = filter.rejuvenate_batch(&batch.keys(&hasher, &mut room)?, Some(&mut answers));
        insertions += taken.keys as u64;
        rejuvenated += answers.true_count;
        taken.outcome?;
        Ok(ControlFlow::Continue(()))
    });
    // Keys that were rejuvenated before a failure stay so, and the file is sound.
    image_file::keep(&args.filter, &mut filter).map_err(|error| Failure::at(&args.filter, &error))?;
    read.map_err(|failure| Failure::new(format_args!("{failure} (after {rejuvenated} keys were rejuvenated)")))?;
    let unchanged = insertions - rejuvenated;
    if common.json {
        let summary = info::Summary::of(&args.filter, &filter);
        let (rejuvenated, unchanged) = (Some(rejuvenated), Some(unchanged));
        info::print_json(&info::Summary { rejuvenated, unchanged, ..summary })?;
    } else if !common.quiet {
        let mut text = Text::new()?;
        text.line(format_args!("{rejuvenated} rejuvenated, {unchanged} unchanged"))?;
        text.flush()?;
    }
    Ok(0)
}
