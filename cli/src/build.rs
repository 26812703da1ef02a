//! `petal build`.

use crate::args;
use crate::failure::{Failure, Outcome, warn};
use crate::keys::{Inputs, RECORDS};
use crate::output::Destination;
use crate::progress::Progress;
use crate::{filter_file, info};
use petal::registry;
use petal::{Builder, BuilderOptions, Capabilities, Filter, HashFunction, Image, Keys, Row, Spec, Status};
use std::ops::ControlFlow;

pub fn run(args: &args::Build, common: args::Common) -> Outcome {
    let inputs = Inputs::new(&args.keys, args.secret.key_file.as_deref())?;
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    destination.check_apart_from(&inputs)?;
    let mut spec = spec(args)?;
    let row = petal::row_of(&spec)?;
    let by_count = spec.bits == 0 || (spec.hashes == 0 && inputs.only_once().is_none());
    let counted = args.capacity.is_none() && by_count;
    if counted {
        // What is wrong at any capacity is refused before the input is read.
        if spec.bits == 0 && args.bits_per_key.is_none() {
            petal::image_size(&Spec { capacity: 1, ..spec })?;
        }
        spec.capacity = count(&inputs)?.max(1);
    }
    let filter = fill(&sized(args, row, spec)?, row, &inputs)?;
    if counted && filter.base().count() > spec.capacity {
        warn(format_args!("the input grew after its {} records were counted", spec.capacity));
    }
    filter_file::warn_if_overfull(&filter);
    destination.write(&filter)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &filter))?;
    }
    Ok(0)
}

/// What the options say, but for the capacity where the input is to tell it.
fn spec(args: &args::Build) -> Outcome<Spec> {
    let key = filter_file::secret(&args.secret)?;
    let default_hash = if key.is_some() { HashFunction::SipHash13 } else { Spec::default().hash };
    let mut spec = Spec {
        kind: args.kind.as_deref().and_then(registry::find_name).map(|row| row.kind),
        capacity: args.capacity.unwrap_or(0),
        false_positive_rate: args.fpr.unwrap_or(0.0),
        bits: args.bits.unwrap_or(0),
        hashes: args.hashes.unwrap_or(0),
        hash: args.hash.as_deref().and_then(HashFunction::from_name).unwrap_or(default_hash),
        seed: args.seed.unwrap_or(0),
        key,
        ..Spec::default()
    };
    for text in &args.set {
        let failed = |error: petal::Error| Failure::new(format_args!("--set {text}: {error}"));
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| Failure::new(format_args!("--set {text}: give NAME=VALUE; petal kinds lists the names")))?;
        let parameter = petal::parameter_of(&spec, name).map_err(failed)?;
        if spec.parameters.iter().any(|setting| setting.id == parameter.id()) {
            return Err(Failure::new(format_args!("--set {text}: {name} is set twice")));
        }
        let value = parameter.parse(value).map_err(failed)?;
        spec.set(parameter, value).map_err(failed)?;
    }
    let hasher = spec.hasher().map_err(|error| match error.status() {
        Status::KeyMissing => Failure::new(format_args!("--hash {} needs a secret key: --key-file FILE", spec.hash)),
        Status::Contradiction if key.is_some() => Failure::new(format_args!("--key-file: {error}")),
        Status::Contradiction => Failure::new(format_args!("--seed: {error}")),
        _ => error.into(),
    })?;
    match hasher.refusal() {
        None => Ok(spec),
        Some(status) => Err(Failure::new(format_args!("--hash {}: {status}, and keys here are bytes", spec.hash))),
    }
}

/// Turns bits per key into bits, now that the capacity is known.
fn sized(args: &args::Build, row: &Row, spec: Spec) -> Outcome<Spec> {
    let Some(bits_per_key) = args.bits_per_key else { return Ok(spec) };
    let bits = bits_per_key * spec.capacity as f64;
    // 2^63 bits are more than any kind can have.
    if bits >= 9.2e18 {
        return Err(Failure::new(format_args!(
            "--bits-per-key {bits_per_key} for {} keys is more than the address space holds",
            spec.capacity
        )));
    }
    let unit = row.bits_unit();
    Ok(Spec { bits: (bits as u64 / unit).max(1) * unit, ..spec })
}

/// The number of records in inputs that can be read twice.
fn count(inputs: &Inputs) -> Outcome<u64> {
    if let Some(name) = inputs.only_once() {
        return Err(Failure::new(format_args!(
            "{name} can be read only once, so its keys cannot be counted first: --capacity N says how many to make \
             room for"
        )));
    }
    inputs.count(&mut Progress::new("counting", inputs.length()))
}

/// The filter of all keys of the inputs.
fn fill(spec: &Spec, row: &Row, inputs: &Inputs) -> Outcome<Filter> {
    let mut progress = Progress::new("building", inputs.length());
    if row.capabilities.contains(Capabilities::INSERT) {
        let mut filter = petal::create(spec)?;
        insert(&mut filter, inputs, &mut progress)?;
        return Ok(filter);
    }
    // A kind that needs all keys at once: the builder keeps their hashes.
    let mut builder = Builder::new(spec, BuilderOptions::default())?;
    let hasher = spec.hasher()?;
    let mut room = [0; RECORDS];
    inputs.for_each(&mut progress, |batch| {
        batch.hash(&hasher, &mut room)?.iter().try_for_each(|hash| builder.add_hash(*hash))?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(builder.finish()?)
}

/// Inserts all keys of the inputs.
pub fn insert(filter: &mut Filter, inputs: &Inputs, progress: &mut Progress) -> Outcome<()> {
    let hasher = filter.base().hasher().clone();
    let mut room = [0; RECORDS];
    inputs.for_each(progress, |batch| {
        let hashes = batch.hash(&hasher, &mut room)?;
        filter.insert_batch(&Keys::Hashes(hashes), None).outcome?;
        Ok(ControlFlow::Continue(()))
    })
}
