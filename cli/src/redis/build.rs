//! `petal redis build`.

use super::send::{Deed, Tally, send};
use super::{Set, unexpected};
use crate::args;
use crate::args::redis::Type;
use crate::failure::{Failure, Outcome, warn};
use crate::image_file;
use crate::info::print_json;
use crate::keys::Inputs;
use crate::progress::Progress;
use crate::spool;
use ::redis::Value;
use petal::{Capabilities, DEFAULT_FALSE_POSITIVE_RATE, Overfill, Row, Spec, registry};
use serde::Serialize;

/// The report as JSON.
#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    shards: usize,
    /// How many of the shards were made.
    made: usize,
    records: u64,
    /// How many of the records have keys that certainly were not there.
    new: u64,
}

pub fn run(args: &args::redis::Build, common: args::Common) -> Outcome {
    let inputs = Inputs::new(&args.keys, args.secret.secret_file.as_deref())?;
    let maker = Maker::of(args)?;
    let mut set = Set::open(&args.to)?;
    let made = set.types.iter().filter(|of| of.is_none()).count();
    let mut capacity = None;
    if made > 0 {
        let room = match args.capacity {
            Some(capacity) => capacity,
            None => {
                maker.check_countable()?;
                let mut progress = Progress::new("counting", inputs.length());
                inputs.count(&spool::Place::new(None, None), &mut progress)?.max(1)
            }
        };
        capacity = Some(room).filter(|_| made == set.types.len());
        maker.make(args, &mut set, room)?;
    }
    let repeats = check_alike(&mut set, args)?;
    let tally = Tally::default();
    let sent = send(&set, Deed::Add, &inputs, &mut Progress::new("building", inputs.length()), &tally);
    sent.map_err(|failure| {
        let answered = tally.answered();
        let hint = match repeats {
            true => "the same command again adds the others",
            false => "the same command again adds these keys twice: delete the set first",
        };
        Failure::new(format_args!("{failure} (after {answered} keys were added; {hint})"))
    })?;
    let (records, new) = (tally.answered(), tally.yes());
    if let Some(capacity) = capacity.filter(|capacity| new > *capacity && maker.rate_rises()) {
        warn(format_args!(
            "{new} keys were new, more than --capacity {capacity}: the false-positive rate is higher now"
        ));
    }
    if common.json {
        print_json(&Report { name: &args.to.name, shards: set.types.len(), made, records, new })?;
    }
    Ok(0)
}

/// How the command makes shards that do not exist.
struct Maker {
    of: Type,
    row: &'static Row,
    /// The words after the rate.
    options: Vec<String>,
}

impl Maker {
    /// The maker that the options ask for. Reports errors in the options before it asks a server.
    fn of(args: &args::redis::Build) -> Outcome<Maker> {
        let row = match &args.kind {
            Some(name) => registry::find_name(name),
            None => Some(petal::row_of(&Spec::default())?),
        };
        let row = row.ok_or_else(|| Failure::new("there is no such kind"))?;
        let of = args.of.unwrap_or(Type::Petal);
        let foreign = [
            ("--kind", args.kind.is_some()),
            ("--seed", args.seed.is_some()),
            ("--secret-file", args.secret.secret_file.is_some()),
            ("--set", !args.set.is_empty()),
            ("--mergeable", args.mergeable),
            ("--fpr", args.fpr.is_some() && of == Type::Cf),
        ];
        if of != Type::Petal
            && let Some((option, _)) = foreign.iter().find(|(_, given)| *given)
        {
            let of = if of == Type::Bf { "bf" } else { "cf" };
            return Err(Failure::new(format_args!("{option}: is not for filters of --type {of}")));
        }
        if row.is_map() {
            return Err(Failure::new(format_args!("--kind {}: is a map, whose keys have values", row.name)));
        }
        if row.handle() == petal::Handle::Sketch {
            return Err(Failure::new(format_args!("--kind {}: is a sketch of a set, not a filter", row.name)));
        }
        if !row.is_made_empty() {
            return Err(Failure::new(format_args!(
                "--kind {}: is built from all of its keys at once: petal build makes a file, and petal redis import \
                 a key of it",
                row.name
            )));
        }
        let mut options = Vec::new();
        if let Some(seed) = args.seed {
            options.extend([String::from("SEED"), seed.to_string()]);
        }
        if let Some(key) = image_file::secret(&args.secret)? {
            options.extend([String::from("SECRET"), hexadecimal(&key)]);
        }
        for text in &args.set {
            let (name, value) = text.split_once('=').ok_or_else(|| {
                Failure::new(format_args!("--set {text}: give NAME=VALUE; petal kinds lists the names"))
            })?;
            options.extend(["SET", name, value].map(String::from));
        }
        Ok(Maker { of, row, options })
    }

    /// Refuses a kind whose size does not come from the number of its keys.
    fn check_countable(&self) -> Outcome<()> {
        if self.of == Type::Petal && self.row.hashing.universe.is_some() {
            return Err(Failure::new(format_args!(
                "--kind {}: its keys are the integers below a bound: --capacity N says which",
                self.row.name
            )));
        }
        Ok(())
    }

    /// Whether the rate rises when a filter gets more keys than its capacity.
    fn rate_rises(&self) -> bool {
        self.of == Type::Petal && self.row.overfill == Overfill::RateRises
    }

    /// Makes the shards that do not exist.
    fn make(&self, args: &args::redis::Build, set: &mut Set, capacity: u64) -> Outcome<()> {
        // A kind over integers needs its whole range in each shard, because any shard may get any integer.
        let whole = args.mergeable || self.row.hashing.universe.is_some();
        let share = if whole { capacity } else { set.shards.share(capacity) };
        let rate = args.fpr.unwrap_or(DEFAULT_FALSE_POSITIVE_RATE).to_string();
        for shard in 0..set.types.len() {
            if set.types[shard].is_some() {
                continue;
            }
            let (key, share) = (set.shards.key(shard), share.to_string());
            let mut words = match self.of {
                Type::Petal => vec!["PETAL.RESERVE", &key, self.row.name, &share, &rate],
                Type::Bf => vec!["BF.RESERVE", &key, &rate, &share],
                Type::Cf => vec!["CF.RESERVE", &key, &share],
            };
            words.extend(self.options.iter().map(String::as_str));
            let words: Vec<&[u8]> = words.into_iter().map(str::as_bytes).collect();
            set.command(shard, &words)?;
            set.types[shard] = Some(self.of);
        }
        Ok(())
    }
}

/// The digits of a secret key.
pub fn hexadecimal(key: &petal::Secret) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses a set whose shards are of several kinds, or of other kinds than the options name. Returns whether a key may
/// be added again without a second entry.
fn check_alike(set: &mut Set, args: &args::redis::Build) -> Outcome<bool> {
    let first = set.types[0];
    if let Some(other) = set.types.iter().position(|of| *of != first) {
        let [first, other] = [0, other].map(|shard| set.shards.key(shard));
        return Err(Failure::new(format_args!("{first} and {other}: are not of one type")));
    }
    if args.of.is_some_and(|of| Some(of) != first) {
        return Err(Failure::new(format_args!("{}: is there, and not of this --type", set.shards.key(0))));
    }
    if first != Some(Type::Petal) {
        return Ok(first == Some(Type::Bf));
    }
    let mut kinds = Vec::new();
    for (shard, info) in set.of_each(set.types.len(), |key| vec![String::from("PETAL.INFO"), key])?.iter().enumerate() {
        let key = set.shards.key(shard);
        let name = kind(info).ok_or_else(|| unexpected(&key, info))?;
        let wanted = args.kind.as_ref().or(kinds.first()).unwrap_or(&name);
        if *wanted != name {
            return Err(Failure::new(format_args!("{key}: is there, of the kind {name}, and not {wanted}")));
        }
        kinds.push(name);
    }
    let row = kinds.first().and_then(|name| registry::find_name(name));
    Ok(row.is_some_and(|row| {
        let capabilities = row.capabilities;
        !capabilities.contains(Capabilities::COUNT) && !capabilities.contains(Capabilities::REMOVE)
    }))
}

/// The kind in a reply of `PETAL.INFO`.
fn kind(info: &Value) -> Option<String> {
    let Value::Array(words) = info else { return None };
    let text = |value: &Value| match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        _ => None,
    };
    let pairs = words.as_chunks::<2>().0;
    pairs.iter().find(|[name, _]| text(name).as_deref() == Some("kind")).and_then(|[_, kind]| text(kind))
}
