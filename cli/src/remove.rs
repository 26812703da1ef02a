//! `petal remove`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::{Inputs, RECORDS, Room};
use crate::output::Text;
use crate::progress::Progress;
use crate::{image_file, info, stdio};
use petal::{Answers, Capabilities, Image};
use std::ops::ControlFlow;

pub fn run(args: &args::Change, common: args::Common) -> Outcome {
    let args::Change { counts, of: args } = args;
    stdio::check_output().map_err(|error| Failure::io("standard output", &error))?;
    let inputs = Inputs::with_counts(&args.keys, counts, args.secret.secret_file.as_deref())?
        .with_hashes(args.hashes)
        .with_digests(args.hex_digests);
    let able = (Capabilities::REMOVE, "remove");
    let (mut filter, _lock) = image_file::open_to_change(&args.filter, &args.secret, &inputs, able, image_file::open)?;
    if counts.counts {
        image_file::require(&args.filter, &filter, (Capabilities::COUNT, "count"))?;
    }
    let hasher = filter.base().hasher().clone();
    let (mut insertions, mut removed) = (0_u64, 0);
    let (mut room, mut counts) = (Room::new(), [0; RECORDS]);
    let read = inputs.for_each(&mut Progress::new("removing", inputs.length()), |batch| {
        let keys = batch.keys(&hasher, &mut room)?;
        if inputs.have_counts() {
            // Each key is removed as often as its count says; a count may exceed the number of occurrences.
            let (counts, before) = (batch.counts(&mut counts)?, filter.base().count());
            let taken = filter.remove_times_batch(&keys, counts, None);
            insertions = counts[..taken.keys].iter().fold(insertions, |all, count| all.saturating_add(*count));
            removed += before - filter.base().count();
            taken.outcome?;
            return Ok(ControlFlow::Continue(()));
        }
        let mut answers = Answers::default();
        let taken = filter.remove_batch(&keys, Some(&mut answers));
        insertions += taken.keys as u64;
        removed += answers.true_count;
        taken.outcome?;
        Ok(ControlFlow::Continue(()))
    });
    // Keys that were removed before a failure stay removed, and the file is sound.
    image_file::keep(&args.filter, &mut filter).map_err(|error| Failure::at(&args.filter, &error))?;
    read.map_err(|failure| Failure::new(format_args!("{failure} (after {removed} keys were removed)")))?;
    let absent = insertions - removed;
    if common.json {
        let summary = info::Summary::of(&args.filter, &filter);
        info::print_json(&info::Summary { removed: Some(removed), absent: Some(absent), ..summary })?;
    } else if !common.quiet {
        let mut text = Text::new()?;
        // A filter that may lose keys may not find a key that was inserted.
        let certain = !filter.capabilities().contains(Capabilities::MAY_LOSE_KEYS);
        let absent_is = if certain { "certainly not there" } else { "not found" };
        text.line(format_args!("{removed} removed, {absent} {absent_is}"))?;
        text.flush()?;
    }
    Ok(0)
}
