//! `petal insert`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::Inputs;
use crate::progress::Progress;
use crate::{build, image_file, info, stdio};
use petal::{Capabilities, Image};

pub fn run(args: &args::Insert, common: args::Common) -> Outcome {
    if common.json {
        stdio::check_output().map_err(|error| Failure::io("standard output", &error))?;
    }
    let inputs = Inputs::new(&args.keys, args.secret.key_file.as_deref())?;
    let able = (Capabilities::INSERT, "insert");
    let mut filter = image_file::open_to_change(&args.filter, &args.secret, &inputs, able)?;
    let mut progress = Progress::new("inserting", inputs.length());
    let before = filter.base().count();
    let inserted = build::insert(&mut filter, &inputs, &mut progress);
    drop(progress);
    // What was inserted before a failure stays, and the file is sound.
    filter.sync().map_err(|error| Failure::at(&args.filter, &error))?;
    let count = filter.base().count() - before;
    inserted.map_err(|failure| Failure::new(format_args!("{failure} (after {count} keys were inserted)")))?;
    image_file::warn_if_overfull(&filter);
    if common.json {
        info::print_json(&info::Summary { inserted: Some(count), ..info::Summary::of(&args.filter, &filter) })?;
    }
    Ok(0)
}
