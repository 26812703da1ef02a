//! `petal merge` and `petal intersect`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::file_name::name;
use crate::image_file::open_sound;
use crate::info;
use crate::output::Destination;
use crate::stdio::check_standard_input;
use petal::{Filter, Image, Mode};
use std::path::{Path, PathBuf};

/// The failure for two filters that cannot be combined or compared. If their sizes differ, the message says how to make
/// filters of one size.
pub fn unlike(
    (path, filter): (&Path, &Filter),
    (other_path, other): (&Path, &Filter),
    error: &petal::Error,
) -> Failure {
    let [(name, header), (other_name, other_header)] =
        [(name(path), filter.base().header()), (name(other_path), other.base().header())];
    let (geometry, other_geometry) = (&header.geometry, &other_header.geometry);
    let alike = filter.base().row().kind == other.base().row().kind;
    let sizes_differ = (geometry.bits, geometry.hashes) != (other_geometry.bits, other_geometry.hashes);
    let (capacity, other_capacity) = (header.capacity, other_header.capacity);
    if !alike || !sizes_differ || capacity == 0 || other_capacity == 0 {
        return Failure::new(format_args!("{name} and {other_name}: {error}"));
    }
    // The library's message names the capacities.
    Failure::new(format_args!(
        "{name} and {other_name}: {error}; petal build --capacity {} for both gives them one size",
        capacity.max(other_capacity)
    ))
}

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
        // The other filters are mapped, so only one filter is in memory at a time.
        let other = open_sound(path, Mode::Read)?;
        with(&mut filter, &other).map_err(|error| unlike((first, &filter), (path, &other), &error))?;
    }
    destination.write(&filter)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &filter))?;
    }
    Ok(0)
}
