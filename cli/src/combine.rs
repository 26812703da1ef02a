//! `petal merge` and `petal intersect`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file::{check_standard_input, name, open_sound};
use crate::info;
use crate::output::Destination;
use petal::{Filter, Mode};
use std::path::PathBuf;

/// Combines the first filter with each of the others by `with`.
pub fn run(
    args: &args::Combine,
    common: args::Common,
    with: impl Fn(&mut Filter, &Filter) -> petal::Result<()>,
) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    check_standard_input(args.filters.iter().map(PathBuf::as_path))?;
    let Some((first, others)) = args.filters.split_first() else {
        return Err(Failure::new("no filter was given"));
    };
    let mut filter = open_sound(first, Mode::Load)?;
    for path in others {
        // Mapped, so that only one filter is in memory however many there are.
        let other = open_sound(path, Mode::Read)?;
        with(&mut filter, &other)
            .map_err(|error| Failure::new(format_args!("{} and {}: {error}", name(first), name(path))))?;
    }
    destination.write(&filter)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &filter))?;
    }
    Ok(0)
}
