//! `petal sketch`.

use crate::args;
use crate::failure::{self, Failure, Outcome};
use crate::file_name::name;
use crate::image_file::{self, open_sketch};
use crate::keys::{Inputs, RECORDS, Room};
use crate::output::{Destination, Text};
use crate::progress::Progress;
use crate::stdio::check_standard_input;
use crate::{info, spec, stdio};
use petal::{Capabilities, Image, Keys, Mode, Sketch, Taken};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::PathBuf;

pub fn build(args: &args::sketch::Build, common: args::Common) -> Outcome {
    let secret = args.hashing.secret.secret_file.as_deref();
    let inputs = Inputs::new(&args.keys, secret)?.with_hashes(args.numbers.numbers).with_values(args.values.values);
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    destination.check_apart_from(&inputs)?;
    let mut sketch = petal::Sketch::new(&spec::of_sketch(args)?)?;
    change(&mut sketch, &inputs, "reading", INSERT)?;
    destination.write(&sketch)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &sketch))?;
    }
    Ok(0)
}

/// What changes a sketch: by keys, and by keys with their values.
type Give = (fn(&mut Sketch, &Keys) -> Taken, fn(&mut Sketch, &Keys, &[u64]) -> Taken);
const INSERT: Give = (Sketch::insert_batch, Sketch::insert_value_batch);
const REMOVE: Give = (Sketch::remove_batch, Sketch::remove_value_batch);

/// Applies `change` to all keys of the inputs, and returns the number of keys.
fn change(sketch: &mut Sketch, inputs: &Inputs, doing: &'static str, give: Give) -> Outcome<u64> {
    let hasher = sketch.base().hasher().clone();
    let (mut room, mut values, mut keys) = (Room::new(), [0; RECORDS], 0);
    inputs.for_each(&mut Progress::new(doing, inputs.length()), |batch| {
        let given = if sketch.key_bytes() > 0 && !inputs.have_hashes() {
            batch.whole(&mut room)?
        } else {
            match batch.keys(&hasher, &mut room)? {
                // A number is the key itself, and no hash that a kind could reduce.
                Keys::Hashes(numbers) if inputs.have_hashes() => Keys::U64(numbers),
                keys => keys,
            }
        };
        let taken = match inputs.have_values() {
            true => give.1(sketch, &given, batch.values(&mut values)?),
            false => give.0(sketch, &given),
        };
        keys += taken.keys as u64;
        taken.outcome?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(keys)
}

pub fn insert(args: &args::sketch::Change, common: args::Common) -> Outcome {
    change_file(args, common, (Capabilities::INSERT, "insert"), "inserting", INSERT)
}

pub fn remove(args: &args::sketch::Change, common: args::Common) -> Outcome {
    change_file(args, common, (Capabilities::REMOVE, "remove"), "removing", REMOVE)
}

/// Changes the sketch in its file. Changes before a failure stay, and the file is sound.
fn change_file(
    args: &args::sketch::Change,
    common: args::Common,
    able: (Capabilities, &'static str),
    doing: &'static str,
    give: Give,
) -> Outcome {
    if common.json {
        stdio::check_output().map_err(|error| Failure::io("standard output", &error))?;
    }
    let inputs = Inputs::new(&args.keys, args.secret.secret_file.as_deref())?.with_hashes(args.numbers.numbers);
    let inputs = inputs.with_values(args.values.values);
    let (mut sketch, _lock) = image_file::open_to_change(&args.sketch, &args.secret, &inputs, able, open_sketch)?;
    let changed = change(&mut sketch, &inputs, doing, give);
    image_file::keep(&args.sketch, &mut sketch).map_err(|error| Failure::at(&args.sketch, &error))?;
    changed?;
    if common.json {
        info::print_json(&info::Summary::of(&args.sketch, &sketch))?;
    }
    Ok(0)
}

/// Combines the first sketch with each of the others by `with`.
pub fn combine(
    args: &args::sketch::Combine,
    common: args::Common,
    with: fn(&mut Sketch, &Sketch) -> petal::Result<()>,
) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    check_standard_input(args.sketches.iter().map(PathBuf::as_path))?;
    let Some((first, others)) = args.sketches.split_first() else {
        return Err(Failure::new("no sketch was given"));
    };
    let mut sketch = open_sketch(first, Mode::Load, None)?;
    image_file::refuse_unclean(first, &sketch)?;
    for path in others {
        let other = open_sketch(path, Mode::Read, None)?;
        image_file::refuse_unclean(path, &other)?;
        with(&mut sketch, &other)
            .map_err(|error| Failure::new(format_args!("{} and {}: {error}", name(first), name(path))))?;
    }
    destination.write(&sketch)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &sketch))?;
    }
    Ok(0)
}

/// A listed number as JSON.
#[derive(Serialize)]
struct Listed {
    number: u64,
    sign: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
}

/// A listed whole key as JSON.
#[derive(Serialize)]
struct ListedKey {
    key: String,
    sign: i64,
}

pub fn list(args: &args::sketch::List, common: args::Common) -> Outcome {
    let sketch = open_sketch(&args.sketch, Mode::Read, image_file::secret(&args.secret)?)?;
    image_file::warn_if_unclean(&args.sketch, &sketch);
    let mut text = Text::new()?;
    let (found, is_complete) = match sketch.key_bytes() {
        0 => list_numbers(args, common, &sketch, &mut text)?,
        bytes => list_keys(args, common, &sketch, bytes, &mut text)?,
    };
    text.flush()?;
    if !is_complete {
        let (file, capacity) = (name(&args.sketch), sketch.base().header().capacity);
        let what = if sketch.key_bytes() == 0 { "numbers" } else { "keys" };
        failure::warn(format_args!(
            "{file}: only {found} {what} are listed: the sketch holds more than the {capacity} that it was made for, or \
             a key was inserted more than once (sort -u removes repeated keys)"
        ));
    }
    Ok(u8::from(!is_complete))
}

/// A sign as a character.
fn character(sign: i64) -> char {
    if sign < 0 { '-' } else { '+' }
}

/// Lists numbers. Returns how many, and whether these are all.
fn list_numbers(
    args: &args::sketch::List,
    common: args::Common,
    sketch: &Sketch,
    text: &mut Text,
) -> Outcome<(usize, bool)> {
    let failed = |error| Failure::at(&args.sketch, &error);
    let mut tell = |number: u64, sign: i64, value: Option<u64>| match (common.json, value) {
        (true, value) => text.json(&Listed { number, sign, value }),
        (false, Some(value)) => text.line(format_args!("{}{number}\t{value}", character(sign))),
        (false, None) => text.line(format_args!("{}{number}", character(sign))),
    };
    if sketch.value_bits() > 0 {
        let listing = sketch.list_values().map_err(failed)?;
        listing.listed.iter().try_for_each(|one| tell(one.number, one.sign, Some(one.value)))?;
        return Ok((listing.listed.len(), listing.is_complete));
    }
    let listing = sketch.list().map_err(failed)?;
    listing.listed.iter().try_for_each(|one| tell(one.number, one.sign, None))?;
    Ok((listing.listed.len(), listing.is_complete))
}

/// Lists whole keys, in hexadecimal. Returns how many, and whether these are all.
fn list_keys(
    args: &args::sketch::List,
    common: args::Common,
    sketch: &Sketch,
    key_bytes: usize,
    text: &mut Text,
) -> Outcome<(usize, bool)> {
    let listing = sketch.list_keys().map_err(|error| Failure::at(&args.sketch, &error))?;
    for (key, sign) in listing.keys.chunks_exact(key_bytes).zip(&listing.signs) {
        let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        match common.json {
            true => text.json(&ListedKey { key, sign: *sign })?,
            false => text.line(format_args!("{}{key}", character(*sign)))?,
        }
    }
    Ok((listing.signs.len(), listing.is_complete))
}

pub fn import(args: &args::sketch::Import, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let bytes = image_file::all_bytes(&args.file)?;
    let failed = |error| Failure::at(&args.file, &error);
    let mut sketch = petal::Sketch::new(&spec::of_minisketch(args, bytes.len())?).map_err(failed)?;
    sketch.import_minisketch(&bytes).map_err(failed)?;
    destination.write(&sketch)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &sketch))?;
    }
    Ok(0)
}

pub fn export(args: &args::sketch::Export, common: args::Common) -> Outcome {
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    let sketch = open_sketch(&args.sketch, Mode::Read, None)?;
    image_file::refuse_unclean(&args.sketch, &sketch)?;
    let bytes = sketch.export_minisketch().map_err(|error| Failure::at(&args.sketch, &error))?;
    destination.write_bytes(&sketch, &bytes)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &sketch))?;
    }
    Ok(0)
}
