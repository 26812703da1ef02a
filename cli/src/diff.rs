//! `petal diff`: what only one of two sets has.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::file_name::{is_standard, name};
use crate::image_file::{self, open_sketch};
use crate::keys::{Batch, Inputs, RECORDS, Room};
use crate::output::{Key, Text};
use crate::progress::Progress;
use crate::records::{Digester, Records, digest_of, for_each_of, keys_of, number_of, random_key};
use crate::spool::Place;
use petal::format::MAGIC;
use petal::{Image, Keys, Mode, Sketch};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

/// A difference as JSON.
#[derive(Serialize)]
struct Difference<'a> {
    /// `left`, `right`, or `unknown` if a sketch does not say.
    side: &'static str,
    #[serde(flatten)]
    key: Option<Key<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
}

/// Which side has a difference.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
    /// The kind of sketch has no signs.
    Unknown,
}

/// Prints differences.
struct Printer {
    text: Text,
    json: bool,
    separator: u8,
    differ: bool,
}

impl Printer {
    fn key(&mut self, side: Side, key: &[u8]) -> Outcome<()> {
        self.differ = true;
        if self.json {
            return self.text.json(&Difference { side: side_name(side), key: Some(Key::of(key)), number: None });
        }
        self.text.bytes(mark(side))?;
        self.text.bytes(key)?;
        self.text.bytes(&[self.separator])
    }

    fn number(&mut self, side: Side, number: u64) -> Outcome<()> {
        self.differ = true;
        if self.json {
            return self.text.json(&Difference { side: side_name(side), key: None, number: Some(number) });
        }
        self.text.bytes(mark(side))?;
        self.text.line(number)
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Right => "right",
        Side::Unknown => "unknown",
    }
}

fn mark(side: Side) -> &'static [u8] {
    match side {
        Side::Left => b"< ",
        Side::Right => b"> ",
        Side::Unknown => b"? ",
    }
}

pub fn run(args: &args::sync::Diff, common: args::Common) -> Outcome {
    if is_standard(&args.left) && is_standard(&args.right) {
        return Err(Failure::new("standard input (-) can be read only once"));
    }
    let separator = if args.records.null { 0 } else { b'\n' };
    let mut printer = Printer { text: Text::new()?, json: common.json, separator, differ: false };
    let is_complete = match (is_image(&args.left)?, is_image(&args.right)?) {
        (false, false) => files(args, &mut printer)?,
        (true, true) => sketches(args, &mut printer)?,
        (true, false) => mixed(args, (&args.left, Side::Left), (&args.right, Side::Right), &mut printer)?,
        (false, true) => mixed(args, (&args.right, Side::Right), (&args.left, Side::Left), &mut printer)?,
    };
    printer.text.flush()?;
    if !is_complete {
        let (left, right) = (name(&args.left), name(&args.right));
        return Err(Failure::new(format_args!(
            "{left} and {right}: more keys differ than the sketches tell apart; make them with a larger --capacity"
        )));
    }
    Ok(u8::from(printer.differ))
}

/// Whether a file begins as an image. Standard input and pipes are keys.
fn is_image(path: &Path) -> Outcome<bool> {
    if is_standard(path) || !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(false);
    }
    let mut start = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    Ok(read.is_ok() && start == MAGIC)
}

/// The keys in a file, which are read twice.
fn inputs_of(args: &args::sync::Diff, path: &Path) -> Outcome<Inputs> {
    let keys = keys_of(args.records, path);
    let inputs = Inputs::new(&keys, None)?.with_hashes(args.numbers);
    if inputs.only_once().is_some() {
        inputs.count(&Place::new(None, None), &mut Progress::new("reading", inputs.length()))?;
    }
    Ok(inputs)
}

fn files(args: &args::sync::Diff, printer: &mut Printer) -> Outcome<bool> {
    if args.numbers {
        return Err(Failure::new("--numbers is for sketches, and both sides are keys"));
    }
    let digester = Digester::new(&random_key())?;
    let sides = [(Side::Left, inputs_of(args, &args.left)?), (Side::Right, inputs_of(args, &args.right)?)];
    let [left, right] = [&sides[0].1, &sides[1].1].map(|inputs| Records::read(inputs, &digester, "reading"));
    let (left, right) = (left?, right?);
    let only = [left.minus(&right)?, right.minus(&left)?];
    drop((left, right));
    for ((side, inputs), only) in sides.iter().zip(&only) {
        let digest = |batch: &Batch, i: usize| digester.digest(batch.key(i));
        for_each_of(only, inputs, "comparing", digest, |key| printer.key(*side, key))?;
    }
    Ok(true)
}

fn sketches(args: &args::sync::Diff, printer: &mut Printer) -> Outcome<bool> {
    let secret = image_file::secret(&args.secret)?;
    let mut left = open_sketch(&args.left, Mode::Load, secret)?;
    let right = open_sketch(&args.right, Mode::Read, secret)?;
    image_file::refuse_unclean(&args.left, &left)?;
    refuse_whole(&args.left, &left)?;
    image_file::refuse_unclean(&args.right, &right)?;
    subtract(args, &mut left, &right)?;
    let listing = left.list().map_err(|error| Failure::at(&args.left, &error))?;
    for listed in &listing.listed {
        printer.number(side_of(&left, listed.sign, Side::Left), listed.number)?;
    }
    Ok(listing.is_complete)
}

/// Refuses a sketch of whole keys, whose differences `petal sketch list` prints.
fn refuse_whole(path: &Path, sketch: &Sketch) -> Outcome<()> {
    match sketch.key_bytes() {
        0 => Ok(()),
        _ => Err(Failure::new(format_args!(
            "{}: has whole keys: petal sketch subtract and petal sketch list compare these",
            name(path)
        ))),
    }
}

/// Which side has a number with this sign, if the other sketch was subtracted from that of `first`.
fn side_of(sketch: &Sketch, sign: i64, first: Side) -> Side {
    match (sketch.has_signs(), first, sign > 0) {
        (false, ..) => Side::Unknown,
        (true, Side::Left, true) | (true, Side::Right, false) => Side::Left,
        _ => Side::Right,
    }
}

fn subtract(args: &args::sync::Diff, from: &mut Sketch, other: &Sketch) -> Outcome<()> {
    let (left, right) = (name(&args.left), name(&args.right));
    from.subtract(other).map_err(|error| Failure::new(format_args!("{left} and {right}: {error}")))
}

/// Compares a sketch with keys, which go into a second sketch of the same spec, each once.
fn mixed(
    args: &args::sync::Diff,
    (path, sketch_side): (&Path, Side),
    (keys, keys_side): (&Path, Side),
    printer: &mut Printer,
) -> Outcome<bool> {
    let secret = image_file::secret(&args.secret)?;
    let mut sketch = open_sketch(path, Mode::Load, secret)?;
    image_file::refuse_unclean(path, &sketch)?;
    refuse_whole(path, &sketch)?;
    let mut other = petal::Sketch::new(&petal::Spec { secret, ..sketch.base().spec() })?;
    other.keep_keys()?;
    let inputs = inputs_of(args, keys)?;
    let hasher = other.base().hasher().clone();
    let mut room = Room::new();
    inputs.for_each(&mut Progress::new("reading", inputs.length()).beside_output(), |batch| {
        other.insert_batch(&in_form(args, batch.keys(&hasher, &mut room)?)).outcome?;
        Ok(ControlFlow::Continue(()))
    })?;
    subtract(args, &mut sketch, &other)?;
    let listing = sketch.list().map_err(|error| Failure::at(path, &error))?;
    // A sketch without signs does not say which side a number is on, but the keys do.
    let all: Records = listing.listed.iter().map(|listed| digest_of(listed.number)).collect();
    let mut is_key = vec![false; all.digests().len()];
    inputs.for_each(&mut Progress::new("comparing", inputs.length()).beside_output(), |batch| {
        let mut numbers = [0; RECORDS];
        let numbers = &mut numbers[..batch.len()];
        match in_form(args, batch.keys(&hasher, &mut room)?) {
            Keys::Hashes(hashes) => {
                for (number, hash) in numbers.iter_mut().zip(hashes) {
                    *number = other.number_of_hash(*hash)?;
                }
            }
            Keys::U64(keys) => numbers.copy_from_slice(keys),
            Keys::Bytes { .. } | Keys::Bytes32 { .. } | Keys::Digests { .. } => {
                return Err(Failure::new("the sketch takes no hashes of keys"));
            }
        }
        for (i, number) in numbers.iter().enumerate() {
            if let Some(place) = all.find(&digest_of(*number))
                && !std::mem::replace(&mut is_key[place], true)
            {
                printer.key(keys_side, batch.key(i))?;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for (digest, _) in all.digests().iter().zip(&is_key).filter(|(_, is_key)| !**is_key) {
        printer.number(sketch_side, number_of(*digest))?;
    }
    Ok(listing.is_complete)
}

/// The keys of the inputs as numbers instead of hashes, if the arguments ask for that.
fn in_form<'a>(args: &args::sync::Diff, keys: Keys<'a>) -> Keys<'a> {
    match keys {
        Keys::Hashes(numbers) if args.numbers => Keys::U64(numbers),
        keys => keys,
    }
}
