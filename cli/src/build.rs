//! `petal build`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::{Inputs, RECORDS, Room};
use crate::output::Destination;
use crate::progress::Progress;
use crate::{image_file, info, spec, spool};
use petal::{
    Builder, BuilderOptions, DEFAULT_FALSE_POSITIVE_RATE, Filter, Hasher, Image, Mode, Overfill, Row, Spec, Status,
    interop,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The kind of a filter of which keys are excluded.
const EXCLUDING_KIND: &str = "exact_set";

/// The kind of a filter that knows keys which are asked for often.
const FREQUENT_KIND: &str = "stacked";

/// Keys that are no members, which a builder is given too.
enum Others {
    Excluded(Inputs),
    /// Keys that are asked for often, and whether they come with weights.
    Frequent(Inputs, bool),
}

impl Others {
    /// The inputs that the arguments name, if there are any. Their records have the form of the members'.
    fn of(args: &args::Build) -> Outcome<Option<Others>> {
        let excluded = if args.exclude.is_empty() { &args.universe } else { &args.exclude };
        Ok(match (inputs_beside(args, excluded)?, inputs_beside(args, &args.frequent)?) {
            (Some(excluded), _) => Some(Others::Excluded(excluded)),
            (None, Some(frequent)) => Some(Others::Frequent(frequent.with_weights(args.weights), args.weights)),
            (None, None) => None,
        })
    }

    fn inputs(&self) -> &Inputs {
        let (Others::Excluded(inputs) | Others::Frequent(inputs, _)) = self;
        inputs
    }

    /// The kind if none is given.
    fn kind(&self) -> &'static str {
        match self {
            Others::Excluded(_) => EXCLUDING_KIND,
            Others::Frequent(..) => FREQUENT_KIND,
        }
    }

    /// Refuses kinds that take no such keys.
    fn check(&self, row: &Row, args: &args::Build) -> Outcome<()> {
        let (option, what, takes) = match self {
            Others::Excluded(_) if args.exclude.is_empty() => {
                ("--universe", "excluded keys", row.others.excludes.is_some())
            }
            Others::Excluded(_) => ("--exclude", "excluded keys", row.others.excludes.is_some()),
            Others::Frequent(..) => ("--frequent", "frequent non-members", row.others.takes_frequent),
        };
        if takes {
            return Ok(());
        }
        let (name, kind) = (row.name, self.kind());
        Err(Failure::new(format_args!("{option}: {name} takes no {what}; a kind that does is {kind}")))
    }

    /// Gives the keys to a builder.
    fn give(&self, builder: &mut Builder, hasher: &Hasher) -> Outcome<()> {
        let (inputs, mut room, mut weights) = (self.inputs(), Room::new(), [0.0; RECORDS]);
        inputs.for_each(&mut Progress::new("reading", inputs.length()), |batch| {
            let keys = batch.keys(hasher, &mut room)?;
            match self {
                Others::Excluded(_) => builder.exclude_batch(&keys).outcome?,
                Others::Frequent(_, false) => builder.add_frequent_batch(&keys, None).outcome?,
                Others::Frequent(_, true) => {
                    builder.add_frequent_batch(&keys, Some(batch.weights(&mut weights)?)).outcome?
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

pub fn run(args: &args::Build, common: args::Common) -> Outcome {
    let secret_file = args.hashing.secret.secret_file.as_deref();
    let beside = args.exclude.iter().chain(&args.universe).chain(&args.frequent).map(PathBuf::as_path);
    let others = secret_file.into_iter().chain(beside);
    let inputs = Inputs::with_counts(&args.keys, &args.counts, others)?.with_digests(args.hex_digests);
    let others = Others::of(args)?;
    let destination = Destination::new(args.output.output.as_deref(), common.json)?;
    destination.check_apart_from(&inputs)?;
    others.iter().try_for_each(|others| destination.check_apart_from(others.inputs()))?;
    if let Some(name) = &args.format {
        let filter = of_format(args, name, &inputs)?;
        image_file::warn_if_overfull(&filter);
        destination.write_in(&filter, name, args.variant.as_deref())?;
        if common.json {
            info::print_json(&info::Summary::of(destination.path(), &filter))?;
        }
        return Ok(0);
    }
    // The number of keys is unknown.
    let is_unknown = args.capacity.is_none() && args.bits.is_none() && args.bits_per_key.is_none();
    let is_pipe = inputs.only_once().is_some();
    let grows = args.kind.is_none()
        && is_unknown
        && is_pipe
        && !inputs.have_counts()
        && !args.hex_digests
        && others.is_none()
        && args.partition_prefix.is_none()
        && args.update.is_none();
    let digest_bits = args.hex_digests.then(|| digest_bits(args, &inputs)).transpose()?;
    let is_exact = args.partition_prefix.is_some() || args.update.is_some();
    let default = match &others {
        _ if is_exact => Some(EXCLUDING_KIND),
        Some(others) => Some(others.kind()),
        None => grows.then_some(spec::GROWING_KIND),
    };
    let mut spec = spec::of_build(args, default, digest_bits)?;
    if let Some(bytes) = args.partition_prefix {
        let failed = |error: petal::Error| Failure::new(format_args!("--partition-prefix: {error}"));
        let parameter = petal::parameter_of(&spec, "partition_prefix_bytes").map_err(failed)?;
        spec.set(parameter, bytes as f64).map_err(failed)?;
    }
    let spec = spec;
    let row = petal::row_of(&spec)?;
    others.iter().try_for_each(|others| others.check(row, args))?;
    if args.update.is_some() && row.others.parts.is_none() {
        return Err(Failure::new(format_args!(
            "--update: {} is not brought up to date; a kind that is is {EXCLUDING_KIND}",
            row.name
        )));
    }
    if row.is_map() {
        return Err(Failure::new(format_args!(
            "--kind {}: is a map, whose keys have values: petal map build",
            row.name
        )));
    }
    if row.handle() == petal::Handle::Sketch {
        return Err(Failure::new(format_args!("--kind {}: is a sketch of a set: petal sketch build", row.name)));
    }
    if row.hashing.universe.is_some() && args.bits.is_none() && args.capacity.is_none() {
        return Err(Failure::new(format_args!(
            "--kind {}: its keys are the integers below a bound: --bits N says which",
            row.name
        )));
    }
    let filter = match () {
        () if grows => filled(&Spec { capacity: spec::FIRST_CAPACITY, ..spec }, &inputs)?,
        () if goes_by(row) && !inputs.have_counts() => stream(args, row, spec, &inputs)?,
        () => collect(args, row, spec, &inputs, others.as_ref())?,
    };
    image_file::warn_if_overfull(&filter);
    destination.write(&filter)?;
    if common.json {
        info::print_json(&info::Summary::of(destination.path(), &filter))?;
    }
    Ok(0)
}

/// How many bits the digests of the inputs have.
fn digest_bits(args: &args::Build, inputs: &Inputs) -> Outcome<u64> {
    if let Some(seed) = args.hashing.seed {
        return Ok(seed);
    }
    if let Some(name) = inputs.only_once() {
        return Err(Failure::new(format_args!(
            "{name}: --hex-digests needs --seed BITS for an input that can be read only once, such as --seed 256"
        )));
    }
    let bits = inputs.digest_bits(&mut Progress::new("looking", inputs.length()))?;
    bits.ok_or_else(|| Failure::new("--hex-digests: there are no digests: --seed BITS says how many bits they have"))
}

/// The inputs of these files, if there are any, besides those of the members.
fn inputs_beside(args: &args::Build, files: &[PathBuf]) -> Outcome<Option<Inputs>> {
    if files.is_empty() {
        return Ok(None);
    }
    let keys = args::Keys { files: files.to_vec(), delimiter: args.keys.delimiter.clone(), ..args.keys };
    let others = args.hashing.secret.secret_file.iter().chain(&args.keys.files).map(PathBuf::as_path);
    let members = if args.keys.files.is_empty() { Some(Path::new("-")) } else { None };
    Ok(Some(Inputs::new(&keys, others.chain(members))?.with_digests(args.hex_digests)))
}

/// Whether keys are inserted as they are read, without a builder. If the order of keys does not matter, the filter is
/// the same as a builder's. If the filter remembers the last keys, their order matters, and a builder would not keep
/// it.
fn goes_by(row: &Row) -> bool {
    row.is_made_empty() && (row.is_canonical || row.overfill == Overfill::Forgets)
}

/// The filter of all keys of the inputs, inserted as they are read.
fn stream(args: &args::Build, row: &Row, mut spec: Spec, inputs: &Inputs) -> Outcome<Filter> {
    let by_count = spec.bits == 0 || (spec.hashes == 0 && inputs.only_once().is_none());
    if args.capacity.is_none() && by_count {
        // A spec that is invalid at any capacity is refused before the input is read.
        if spec.bits == 0 && args.bits_per_key.is_none() {
            petal::image_size(&Spec { capacity: 1, ..spec })?;
        }
        spec.capacity = count(inputs, &args.resources)?.max(1);
    }
    filled(&spec::sized(args, row, spec)?, inputs)
}

/// The filter of all keys of the inputs, in a form that another system's format can have.
fn of_format(args: &args::Build, name: &str, inputs: &Inputs) -> Outcome<Filter> {
    let format = interop::find(name)?;
    let rate = args.fpr.unwrap_or(DEFAULT_FALSE_POSITIVE_RATE);
    let key = image_file::secret(&args.hashing.secret)?;
    let spec = |capacity| {
        let spec = format.spec(capacity, rate, args.variant.as_deref(), args.hashing.seed.unwrap_or(0))?;
        Ok::<Spec, petal::Error>(Spec { secret: key, ..spec })
    };
    let capacity = match args.capacity {
        Some(capacity) => capacity,
        None => {
            // A spec that is invalid at any capacity is refused before the input is read.
            let any = spec(1_000_000)?;
            let row = petal::row_of(&any)?;
            row.hasher(&any)?;
            // A kind that is built from its keys counts the keys itself.
            if row.is_made_empty() { count(inputs, &args.resources)?.max(1) } else { 1 }
        }
    };
    let spec = spec(capacity)?;
    if petal::row_of(&spec)?.is_made_empty() { filled(&spec, inputs) } else { built(args, &spec, inputs, None) }
}

/// A filter that is made empty, with all keys of the inputs.
fn filled(spec: &Spec, inputs: &Inputs) -> Outcome<Filter> {
    let mut filter = petal::Filter::new(spec)?;
    let hasher = filter.base().hasher().clone();
    let mut room = Room::new();
    let mut taken = 0;
    inputs.for_each(&mut Progress::new("building", inputs.length()), |batch| {
        let outcome = filter.insert_batch(&batch.keys(&hasher, &mut room)?, None);
        taken += outcome.keys as u64;
        outcome.outcome.map_err(|error| match error.status() {
            Status::Full => too_many(spec, &format!("after {taken} keys of the input no other fits"), &error),
            _ => error.into(),
        })?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(filter)
}

/// The filter of all keys of the inputs. The builder keeps the hashes until all keys are known.
fn collect(args: &args::Build, row: &Row, mut spec: Spec, inputs: &Inputs, others: Option<&Others>) -> Outcome<Filter> {
    let by_count = args.bits_per_key.is_some() || (spec.bits != 0 && inputs.only_once().is_none());
    if args.capacity.is_none() && by_count {
        spec.capacity = count(inputs, &args.resources)?.max(1);
    }
    built(args, &spec::sized(args, row, spec)?, inputs, others)
}

/// The filter that a builder makes of all keys of the inputs.
fn built(args: &args::Build, spec: &Spec, inputs: &Inputs, others: Option<&Others>) -> Outcome<Filter> {
    let mut builder = Builder::new(spec, options(&args.resources))?;
    let hasher = builder.hasher();
    if let Some(old) = &args.update {
        let filter = image_file::open(old, Mode::Read, spec.secret)?;
        builder.update(&filter).map_err(|error| Failure::at(old, &error))?;
    }
    if !args.universe.is_empty() {
        builder.exclude_all_but_members();
    }
    let (mut room, mut counts) = (Room::new(), [0; RECORDS]);
    inputs.for_each(&mut Progress::new("reading", inputs.length()), |batch| {
        let keys = batch.keys(&hasher, &mut room)?;
        match inputs.have_counts() {
            true => builder.add_times_batch(&keys, batch.counts(&mut counts)?).outcome?,
            false => builder.add_batch(&keys).outcome?,
        }
        Ok(ControlFlow::Continue(()))
    })?;
    others.map_or(Ok(()), |others| others.give(&mut builder, &hasher))?;
    let given = builder.key_count();
    builder.finish().map_err(|error| match (error.status(), others) {
        (Status::Full, _) => too_many(spec, &format!("the {given} keys of the input do not fit"), &error),
        (Status::Contradiction, Some(others)) => on_both_sides(&hasher, others, &error).unwrap_or(error.into()),
        _ => error.into(),
    })
}

/// The failure that names the key which the builder found among the members and the others. `None` if the others
/// cannot be read again, or none has such a hash.
fn on_both_sides(hasher: &Hasher, others: &Others, error: &petal::Error) -> Option<Failure> {
    let (mut room, mut found, inputs) = (Room::new(), None, others.inputs());
    let is_meant = |hash: u64| error.message().contains(&format!("{hash:#018x}"));
    if inputs.only_once().is_some() {
        return None;
    }
    let read = inputs.for_each(&mut Progress::new("searching", inputs.length()), |batch| {
        let keys = batch.keys(hasher, &mut room)?;
        let mut hashes = vec![0; batch.len()];
        petal::hash_keys(&keys, &hasher.of_parts(), &mut hashes)?;
        Ok(match hashes.iter().position(|hash| is_meant(*hash)) {
            Some(i) => {
                found = Some(String::from_utf8_lossy(batch.key(i)).into_owned());
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        })
    });
    read.ok()?;
    let what = match others {
        Others::Excluded(_) => "excluded",
        Others::Frequent(..) => "a frequent non-member",
    };
    Some(Failure::new(format_args!("a key is a member and {what} too: {}", found?)))
}

/// The failure for keys that do not fit into the requested size.
fn too_many(spec: &Spec, what: &str, error: &petal::Error) -> Failure {
    match (spec.capacity, spec.bits) {
        (0, 0) => Failure::new(format_args!("{what}: {error}")),
        (0, bits) => Failure::new(format_args!("--bits {bits}: {what}: {error}")),
        (capacity, _) => Failure::new(format_args!("--capacity {capacity}: {what}: {error}")),
    }
}

/// The options of a builder that keeps these limits.
pub fn options(args: &args::Resources) -> BuilderOptions {
    let folder = || args.temporary_directory.clone().unwrap_or_else(spool::temporary_folder);
    BuilderOptions {
        memory_limit: args.memory_limit,
        temporary_directory: args.memory_limit.map(|_| folder()),
        threads: args.threads as usize,
        progress: Some(Progress::of_builder()),
    }
}

/// The number of records in the inputs, which can be read again afterwards.
pub fn count(inputs: &Inputs, resources: &args::Resources) -> Outcome<u64> {
    let place = spool::Place::new(resources.memory_limit, resources.temporary_directory.as_deref());
    inputs.count(&place, &mut Progress::new("counting", inputs.length()))
}
