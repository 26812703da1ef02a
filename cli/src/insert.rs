//! `petal insert`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::{self, Inputs, RECORDS, Room};
use crate::progress::Progress;
use crate::{image_file, info, stdio};
use petal::{Capabilities, Filter, Image, Status};
use std::ops::ControlFlow;

pub fn run(args: &args::Change, common: args::Common) -> Outcome {
    let args::Change { counts, of: args } = args;
    if common.json {
        stdio::check_output().map_err(|error| Failure::io("standard output", &error))?;
    }
    let inputs = Inputs::with_counts(&args.keys, counts, args.secret.secret_file.as_deref())?
        .with_hashes(args.hashes)
        .with_digests(args.hex_digests);
    let able = (Capabilities::INSERT, "insert");
    let (mut filter, _lock) = image_file::open_to_change(&args.filter, &args.secret, &inputs, able, image_file::open)?;
    if counts.counts {
        image_file::require(&args.filter, &filter, (Capabilities::COUNT, "count"))?;
    }
    let before = filter.base().count();
    let mut larger = None;
    let inserted = insert(&mut filter, &mut larger, &inputs);
    // Keys that were inserted before a failure stay, and the file is sound.
    let saved = match larger {
        Some(larger) => {
            // The old filter still holds the writer's lock on the file.
            let saved = larger.save(&args.filter);
            filter = larger;
            match saved {
                // Windows may refuse while the file is mapped. Now only the lock file keeps others out, and only
                // commands look at that.
                Err(error) if cfg!(windows) && error.status() == Status::AccessDenied => filter.save(&args.filter),
                saved => saved,
            }
        }
        None => image_file::keep(&args.filter, &mut filter),
    };
    saved.map_err(|error| Failure::at(&args.filter, &error))?;
    let count = filter.base().count() - before;
    inserted.map_err(|failure| Failure::new(format_args!("{failure} (after {count} keys were inserted)")))?;
    image_file::warn_if_overfull(&filter);
    if common.json {
        info::print_json(&info::Summary { inserted: Some(count), ..info::Summary::of(&args.filter, &filter) })?;
    }
    Ok(0)
}

/// Inserts all keys of the inputs. A filter cannot grow in place: when the filter is full, a copy takes the remaining
/// keys.
fn insert(filter: &mut Filter, larger: &mut Option<Filter>, inputs: &Inputs) -> Outcome<()> {
    let hasher = filter.base().hasher().clone();
    let grows = filter.base().row().capabilities.contains(Capabilities::GROW);
    let (mut room, mut counts) = (Room::new(), [0; RECORDS]);
    inputs.for_each(&mut Progress::new("inserting", inputs.length()), |batch| {
        let keys = batch.keys(&hasher, &mut room)?;
        if inputs.have_counts() {
            filter.insert_times_batch(&keys, batch.counts(&mut counts)?, None).outcome?;
            return Ok(ControlFlow::Continue(()));
        }
        let taken = larger.as_mut().unwrap_or(filter).insert_batch(&keys, None);
        match taken.outcome {
            Err(error) if error.status() == Status::Full && grows && larger.is_none() => {
                filter.sync()?;
                let copy = larger.insert(filter.copy()?);
                copy.insert_batch(&keys::from(keys, taken.keys), None).outcome?;
            }
            outcome => outcome?,
        }
        Ok(ControlFlow::Continue(()))
    })
}
