//! `petal import`, `petal export` and `petal formats`: the bytes of other systems.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::image_file;
use crate::info::{self, Summary};
use crate::output::{Destination, Text};
use petal::Mode;
use petal::interop::{FORMATS, ImportOptions};
use serde::Serialize;

/// A format, as JSON.
#[derive(Serialize)]
struct Description {
    name: &'static str,
    summary: &'static str,
    read: bool,
    write: bool,
    create: bool,
    /// Whether the command recognises the format by its bytes.
    recognise: bool,
    /// The variants that the format's owners write, the default first.
    variants: &'static [&'static str],
}

pub fn list(common: args::Common) -> Outcome {
    let mut text = Text::new()?;
    for format in FORMATS {
        let (name, summary, variants) = (format.name, format.summary, format.variants);
        let (write, create, recognise) = (format.export.is_some(), format.spec.is_some(), format.recognise.is_some());
        if common.json {
            text.json(&Description { name, summary, read: true, write, create, recognise, variants })?;
            continue;
        }
        let letters: String = [(true, 'R'), (write, 'W'), (create, 'C'), (recognise, '?')]
            .map(|(can, letter)| if can { letter } else { '-' })
            .iter()
            .collect();
        text.line(format_args!("{name:<20}{letters}  {summary}"))?;
        if !variants.is_empty() {
            text.line(format_args!("{:<20}      --variant {}", "", variants.join(", ")))?;
        }
    }
    text.flush()?;
    Ok(0)
}

pub fn import(args: &args::Import, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let options = ImportOptions {
        bits: args.bits.unwrap_or(0),
        hashes: args.hashes.unwrap_or(0),
        seed: args.seed.unwrap_or(0),
        secret: image_file::secret(&args.secret)?,
        rice_bits: args.rice_bits.unwrap_or(0),
        multiplier: args.multiplier.unwrap_or(0),
    };
    let filter = image_file::import(&args.file, &args.format, &options)?;
    destination.write(&filter)?;
    if common.json {
        info::print_json(&Summary::of(destination.path(), &filter))?;
    }
    Ok(0)
}

pub fn export(args: &args::Export, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let filter = image_file::open(&args.filter, Mode::Read, None)?;
    image_file::refuse_unclean(&args.filter, &filter)?;
    let written = destination.write_in(&filter, &args.format, args.variant.as_deref());
    written.map_err(|failure| match failure {
        Failure::Message(message) => Failure::new(format_args!("{}: {message}", crate::file_name::name(&args.filter))),
        Failure::Quiet => Failure::Quiet,
    })?;
    if common.json {
        info::print_json(&Summary::of(destination.path(), &filter))?;
    }
    Ok(0)
}
