//! `petal map put` and `petal map replace`.

use crate::args;
use crate::failure::{Failure, Outcome};
use crate::keys::{Batch, Inputs};
use crate::map::entry;
use crate::output::Text;
use crate::progress::Progress;
use crate::{image_file, info, stdio};
use memchr::memmem::FinderRev;
use petal::{Answers, Capabilities, Keys, Map, Taken};
use std::ops::ControlFlow;

/// Gives keys values; only the kind `approximator` takes values at any time.
pub fn put(args: &args::map::Change, common: args::Common) -> Outcome {
    if common.json {
        stdio::check_output().map_err(|error| Failure::io("standard output", &error))?;
    }
    let change = Change { able: (Capabilities::PUT, "put"), doing: "putting", done: "put", give: Map::put_batch };
    let (map, Done { given, .. }) = change.run(args)?;
    if common.json {
        info::print_json(&info::Summary { put: Some(given), ..info::Summary::of(&args.map, &map) })?;
    }
    Ok(0)
}

/// Replaces the values of keys that are there.
pub fn replace(args: &args::map::Change, common: args::Common) -> Outcome {
    stdio::check_output().map_err(|error| Failure::io("standard output", &error))?;
    let able = (Capabilities::REPLACE, "replace");
    let change = Change { able, doing: "replacing", done: "replaced", give: Map::replace_batch };
    let (map, Done { given, found }) = change.run(args)?;
    let absent = given - found;
    if common.json {
        let summary = info::Summary::of(&args.map, &map);
        info::print_json(&info::Summary { replaced: Some(found), absent: Some(absent), ..summary })?;
    } else if !common.quiet {
        let mut text = Text::new()?;
        text.line(format_args!("{found} replaced, {absent} certainly not there"))?;
        text.flush()?;
    }
    Ok(0)
}

/// How values of a map change.
struct Change {
    able: (Capabilities, &'static str),
    doing: &'static str,
    done: &'static str,
    give: fn(&mut Map, &Keys, &[u64], Option<&mut Answers>) -> Taken,
}

/// How many keys got values, and how many of them were there, or new.
#[derive(Clone, Copy, Default)]
struct Done {
    given: u64,
    found: u64,
}

impl Change {
    /// Changes the map in its file. Changes before a failure stay, and the file is sound.
    fn run(&self, args: &args::map::Change) -> Outcome<(Map, Done)> {
        let inputs = Inputs::of_entries(&args.entries, args.secret.secret_file.as_deref())?;
        let (mut map, _lock) =
            image_file::open_to_change(&args.map, &args.secret, &inputs, self.able, image_file::open_map)?;
        let mut done = Done::default();
        let read = self.give_all(&mut map, args, &inputs, &mut done);
        image_file::keep(&args.map, &mut map).map_err(|error| Failure::at(&args.map, &error))?;
        let given = |failure| Failure::new(format_args!("{failure} (after {} values were {})", done.given, self.done));
        read.map_err(given)?;
        Ok((map, done))
    }

    fn give_all(&self, map: &mut Map, args: &args::map::Change, inputs: &Inputs, done: &mut Done) -> Outcome<()> {
        let delimiter = FinderRev::new(&args.entries.delimiter);
        let mut entries = Entries::default();
        inputs.for_each(&mut Progress::new(self.doing, inputs.length()), |batch| {
            // The keys before a malformed record still get their values.
            let whole = entries.fill(batch, &delimiter);
            let mut answers = Answers::default();
            let taken = (self.give)(map, &entries.keys(), &entries.values, Some(&mut answers));
            done.given += taken.keys as u64;
            done.found += answers.true_count;
            taken.outcome.map_err(|error| Failure::new(format_args!("{}: {error}", batch.place(taken.keys))))?;
            whole?;
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// The keys and the values of a batch.
#[derive(Default)]
struct Entries {
    bytes: Vec<u8>,
    offsets: Vec<u64>,
    values: Vec<u64>,
}

impl Entries {
    /// Takes the records of a batch, up to the first record that is not a key with a value.
    fn fill(&mut self, batch: &Batch, delimiter: &FinderRev) -> Outcome<()> {
        self.bytes.clear();
        self.offsets.clear();
        self.values.clear();
        self.offsets.push(0);
        for i in 0..batch.len() {
            let (key, value) = entry(batch, i, delimiter)?;
            self.bytes.extend_from_slice(key);
            self.offsets.push(self.bytes.len() as u64);
            self.values.push(value);
        }
        Ok(())
    }

    fn keys(&self) -> Keys<'_> {
        Keys::Bytes { bytes: &self.bytes, offsets: &self.offsets }
    }
}
