//! `petal resize`.

use crate::args;
use crate::failure::{Failure, Outcome, note};
use crate::image_file::{open_sound, require};
use crate::info::{self, Summary};
use crate::numbers::short;
use crate::output::Destination;
use petal::{Capabilities, Image, Mode};

pub fn run(args: &args::Resize, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let mut filter = open_sound(&args.filter, Mode::Load)?;
    require(&args.filter, &filter, (Capabilities::RESIZE, "resize"))?;
    filter.resize(args.capacity).map_err(|error| Failure::at(&args.filter, &error))?;
    destination.write(&filter)?;
    if common.json {
        info::print_json(&Summary::of(destination.path(), &filter))?;
    } else {
        let (capacity, bytes) = (filter.base().header().capacity, filter.serialized_size());
        let rate = short(filter.expected_false_positive_rate(capacity));
        note(format_args!("room for {capacity} keys in {bytes} bytes; the false-positive rate is {rate} then"));
    }
    Ok(0)
}
