//! `petal pack`, `petal unpack`, `petal delta` and `petal patch`: filters, maps and sketches on the wire.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file::{Handle, all_bytes, not_own, open_sound_any, refused, secret};
use crate::info::{self, Summary};
use crate::output::Destination;
use petal::{Mode, wire};

pub fn pack(args: &args::Pack, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let filter = open_sound_any(&args.filter, Mode::Read)?;
    destination.write_with(&filter, |sink| wire::pack(&filter, sink))?;
    reported(&destination, &filter, common)
}

pub fn unpack(args: &args::Unpack, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let (bytes, key) = (all_bytes(&args.file)?, secret(&args.secret)?);
    let filter: Handle =
        wire::unpack(&bytes, args.limit, key.as_ref()).map_err(|error| refused(&args.file, &bytes, &error))?;
    let filter = not_own(&args.file, filter)?;
    destination.write(&filter)?;
    reported(&destination, &filter, common)
}

pub fn delta(args: &args::Delta, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let (old, new) = (open_sound_any(&args.old, Mode::Read)?, open_sound_any(&args.new, Mode::Read)?);
    // Filters of which there is no delta are refused before a file is opened.
    let mut bytes = Vec::new();
    let made = wire::delta(&old, &new, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    made.map_err(|error| Failure::at(&args.new, &error))?;
    destination.write_bytes(&new, &bytes)?;
    reported(&destination, &new, common)
}

pub fn patch(args: &args::Patch, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let old = open_sound_any(&args.old, Mode::Load)?;
    let bytes = all_bytes(&args.delta)?;
    let new = wire::patch(&old, &bytes, args.limit).map_err(|error| refused(&args.delta, &bytes, &error))?;
    destination.write(&new)?;
    reported(&destination, &new, common)
}

/// Describes the image as JSON, if that is asked for.
fn reported(destination: &Destination, filter: &Handle, common: args::Common) -> Outcome {
    if common.json {
        info::print_json(&Summary::of(destination.path(), filter))?;
    }
    Ok(0)
}
