//! `petal sync`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::filter_file::open;
use crate::verify::each;
use petal::Mode;

pub fn run(args: &args::Sync, common: args::Common) -> Outcome {
    each(&args.filters, common, "clean", |path| {
        let mut filter = open(path, Mode::Write, None)?;
        // Nobody vouches for what is known to be damaged.
        let synced = if filter.base().header().dirty { filter.sync() } else { filter.verify() };
        synced.map_err(|error| Failure::at(path, &error))
    })
}
