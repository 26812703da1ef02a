//! `petal map build` and `petal map get`.

use crate::args;
use crate::check::Counts;
use crate::failure::{Failure, Outcome};
use crate::file_name::FileName;
use crate::image_file;
use crate::keys::{Batch, Inputs, RECORDS};
use crate::output::{Destination, Text};
use crate::progress::Progress;
use crate::{build, info, spec};
use memchr::memmem::FinderRev;
use petal::{Answers, Error, Hasher, Keys, Map, MapBuilder, Mode, Status};
use serde::Serialize;
use std::ops::ControlFlow;

pub fn build(args: &args::map::Build, common: args::Common) -> Outcome {
    let inputs = Inputs::of_entries(&args.entries, args.hashing.secret.secret_file.as_deref())?;
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    destination.check_apart_from(&inputs)?;
    let spec = spec::of_map(args)?;
    let delimiter = FinderRev::new(&args.entries.delimiter);
    let mut builder = MapBuilder::new(&spec, build::options(&args.resources))?;
    let hasher = spec.hasher()?;
    let twice = |error: Error| name_both(error, &inputs, &delimiter, &hasher);
    inputs.for_each(&mut Progress::new("reading", inputs.length()), |batch| {
        for i in 0..batch.len() {
            let (key, value) = entry(batch, i, &delimiter)?;
            builder.put(key, value).map_err(|error| match error.status() {
                Status::Contradiction => twice(error),
                _ => Failure::new(format_args!("{}: {error}", batch.place(i))),
            })?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let map = builder.finish().map_err(|error| match error.status() {
        Status::Contradiction => twice(error),
        _ => error.into(),
    })?;
    destination.write(&map)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &map))?;
    }
    Ok(0)
}

/// The key and the value of record `i`.
pub fn entry<'a>(batch: &Batch<'a>, i: usize, delimiter: &FinderRev) -> Outcome<(&'a [u8], u64)> {
    let record = batch.key(i);
    let place = delimiter.rfind(record).ok_or_else(|| {
        let delimiter = String::from_utf8_lossy(delimiter.needle()).escape_debug().to_string();
        Failure::new(format_args!("{}: has no \"{delimiter}\" between a key and its value", batch.place(i)))
    })?;
    let (key, digits) = (&record[..place], &record[place + delimiter.needle().len()..]);
    let value = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let value = value.and_then(|text| text.parse().ok()).ok_or_else(|| {
        let (place, digits) = (batch.place(i), String::from_utf8_lossy(digits).escape_debug().to_string());
        Failure::new(format_args!("{place}: the value \"{digits}\" is not a decimal number from 0 to {}", u64::MAX))
    })?;
    Ok((key, value))
}

/// The builder's error about a key with two values, with the first two records that differ, if the input can be read
/// again. The builder keeps only the identities of keys, so it cannot name the key.
fn name_both(error: Error, inputs: &Inputs, delimiter: &FinderRev, hasher: &Hasher) -> Failure {
    let message = error.to_string();
    let digits = message.rsplit("0x").next().unwrap_or_default();
    let Ok(id) = u128::from_str_radix(digits, 16) else { return error.into() };
    if inputs.only_once().is_some() {
        return error.into();
    }
    let mut first = None;
    let mut found = None;
    let again = inputs.for_each(&mut Progress::new("reading again", inputs.length()), |batch| {
        for i in 0..batch.len() {
            let (key, value) = entry(batch, i, delimiter)?;
            if hasher.identify(key) != Ok(id) {
                continue;
            }
            let (place, other) = first.get_or_insert_with(|| (batch.place(i), value));
            if *other != value {
                let key = String::from_utf8_lossy(key).escape_debug().to_string();
                let here = batch.place(i);
                found = Some(format!("{here}: gives the key \"{key}\" the value {value}, but {place} gave it {other}"));
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    });
    match (again, found) {
        (Ok(()), Some(message)) => Failure::new(message),
        _ => error.into(),
    }
}

/// The value of a key as JSON; null for a missing key.
#[derive(Serialize)]
struct Valued<'a> {
    key: &'a str,
    value: Option<u64>,
}

pub fn get(args: &args::map::Get, common: args::Common) -> Outcome {
    let secret = args.secret.secret_file.as_deref();
    let inputs = Inputs::new(&args.keys, secret.into_iter().chain([&*args.map]))?;
    let map = image_file::open_map(&args.map, Mode::Read, image_file::secret(&args.secret)?)?;
    image_file::refuse_keys(&args.map, &map, &inputs)?;
    image_file::warn_if_unclean(&args.map, &map);
    let shows = !args.count && (common.json || !common.quiet);
    let mut progress = Progress::new("looking up", inputs.length());
    if shows {
        progress = progress.beside_output();
    }
    let mut text = Text::new()?;
    let mut lookups = Lookups::default();
    let (mut records, mut selected) = (0, 0);
    inputs.for_each(&mut progress, |batch| {
        records += batch.len() as u64;
        for (i, value) in lookups.values(&map, batch)?.enumerate().filter(|(_, value)| value.is_none() == args.invert) {
            selected += 1;
            if shows && common.json {
                text.json(&Valued { key: batch.text(i)?, value })?;
            } else if shows {
                text.bytes(batch.key(i))?;
                if let Some(value) = value {
                    text.write(format_args!("\t{value}"))?;
                }
                text.bytes(batch.separator())?;
            }
        }
        // The exit status is known now, so the command ends, as grep does.
        if !shows && !args.count && selected > 0 {
            return Ok(ControlFlow::Break(()));
        }
        if batch.last_of_block {
            text.flush()?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    drop(progress);
    if args.count && common.json {
        let file = FileName::of(&args.map);
        text.json(&Counts { file, records, selected, invert: args.invert })?;
    } else if args.count {
        text.line(selected)?;
    }
    text.flush()?;
    Ok(u8::from(selected == 0))
}

/// Looks the keys of batches up, many in one call.
#[derive(Default)]
struct Lookups {
    bytes: Vec<u8>,
    offsets: Vec<u64>,
    found: Vec<u8>,
    values: Vec<u64>,
}

impl Lookups {
    /// The value of each key of a batch.
    fn values(&mut self, map: &Map, batch: &Batch) -> Outcome<impl Iterator<Item = Option<u64>>> {
        let Lookups { bytes, offsets, found, values } = self;
        bytes.clear();
        offsets.clear();
        offsets.push(0);
        for i in 0..batch.len() {
            bytes.extend_from_slice(batch.key(i));
            offsets.push(bytes.len() as u64);
        }
        found.resize(RECORDS, 0);
        values.resize(RECORDS, 0);
        let (found, values) = (&mut found[..batch.len()], &mut values[..batch.len()]);
        let mut answers = Answers { bytes: Some(&mut *found), values: Some(&mut *values), ..Answers::default() };
        map.get_batch(&Keys::Bytes { bytes, offsets }, &mut answers)?;
        Ok(found.iter().zip(values).map(|(found, value)| (*found != 0).then_some(*value)))
    }
}
