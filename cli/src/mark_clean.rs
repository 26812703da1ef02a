//! `petal mark-clean`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file::open_any;
use crate::verify::each;
use petal::{Image, Mode, Status};

pub fn run(args: &args::Filters, common: args::Common) -> Outcome {
    each(&args.filters, common, "clean", |path| {
        let mut image = open_any(path, Mode::Write, None)?;
        let at = |error| Failure::at(path, &error);
        match image.verify() {
            Err(error) if error.status() == Status::Unclean => image.mark_clean().map_err(at),
            // The file is clean already, or damaged: the command takes no bytes that differ from their checksums.
            verified => verified.map_err(at),
        }
    })
}
