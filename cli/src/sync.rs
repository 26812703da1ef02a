//! `petal sync`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::filter_file::open;
use crate::verify::each;
use petal::{Image, Mode, Status};

pub fn run(args: &args::Sync, common: args::Common) -> Outcome {
    each(&args.filters, common, "clean", |path| {
        let mut filter = open(path, Mode::Write, None)?;
        let at = |error| Failure::at(path, &error);
        match filter.verify() {
            Err(error) if error.status() == Status::Dirty => filter.vouch().map_err(at),
            // Clean already, or damaged: nobody vouches for bytes that differ from what was vouched for.
            verified => verified.map_err(at),
        }
    })
}
