//! Sends all keys of the inputs to their shards: many keys in a command, many commands before a reply, over several
//! connections.

use super::servers::{Request, Servers, pack};
use super::{Set, explained, said, unexpected};
use crate::args::redis::Type;
use crate::failure::{Failure, Outcome};
use crate::keys::Inputs;
use crate::output::Text;
use crate::progress::Progress;
use ::redis::Value;
use std::mem::take;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The most keys in a command. The server answers other clients between two commands, so the number is small.
const TOGETHER: usize = 1000;

/// Commands that are sent before the first reply is read.
const PIPELINE: usize = 16;

/// Connections to a server, each with a thread, so that one waits for replies while another one sends.
const CONNECTIONS: usize = 3;

/// The most bytes of keys that wait until their shard's command is full.
const WAITING: usize = 64 << 20;

/// The longest time that a key from a slow input waits.
const SOON: Duration = Duration::from_secs(1);

/// What the command does with the keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Adds the keys.
    Add,
    /// Looks the keys up.
    Ask,
}

impl Deed {
    /// The name of the command, and the words between the key and the items. With these words RedisBloom does not make
    /// a missing shard, as its shorter commands would.
    fn words(self, of: Type) -> (&'static str, &'static [&'static str]) {
        match (self, of) {
            (Deed::Add, Type::Petal) => ("PETAL.MADD", &[]),
            (Deed::Add, Type::Bf) => ("BF.INSERT", &["NOCREATE", "ITEMS"]),
            (Deed::Add, Type::Cf) => ("CF.INSERT", &["NOCREATE", "ITEMS"]),
            (Deed::Ask, Type::Petal) => ("PETAL.MEXISTS", &[]),
            (Deed::Ask, Type::Bf) => ("BF.MEXISTS", &[]),
            (Deed::Ask, Type::Cf) => ("CF.MEXISTS", &[]),
        }
    }
}

/// The servers' answers so far.
#[derive(Default)]
pub struct Tally {
    answered: AtomicU64,
    yes: AtomicU64,
}

impl Tally {
    /// Counts answers, of which `yes` were 1.
    fn add(&self, answered: u64, yes: u64) {
        self.answered.fetch_add(answered, Ordering::Relaxed);
        self.yes.fetch_add(yes, Ordering::Relaxed);
    }

    /// How many keys the servers have answered.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// How many answers were 1: the key is new, or may be there.
    pub fn yes(&self) -> u64 {
        self.yes.load(Ordering::Relaxed)
    }
}

/// Keys of a shard, in the protocol's form, that wait for more keys.
#[derive(Clone, Default)]
struct Waiting {
    bytes: Vec<u8>,
    keys: usize,
}

/// Sends all keys of the inputs to the shards of a set, and counts the answers. All shards must exist.
pub fn send(set: &Set, deed: Deed, inputs: &Inputs, progress: &mut Progress, tally: &Tally) -> Outcome<()> {
    let (sender, receiver) = sync_channel(CONNECTIONS);
    let (receiver, failed) = (Mutex::new(receiver), AtomicBool::new(false));
    thread::scope(|scope| {
        let work = || work(set, &receiver, &failed, tally);
        let workers: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(work)).collect();
        let read = read(set, deed, inputs, progress, &sender, &failed);
        drop(sender);
        let mut outcome = Ok(());
        for worker in workers {
            let ended = worker.join().unwrap_or_else(|_| Err(Failure::new("a connection's thread ended")));
            outcome = outcome.and(ended);
        }
        // If both failed, the server's failure is the cause.
        outcome.and(read)
    })
}

/// Reads the inputs, and hands pipelines of commands to the sending threads.
fn read(
    set: &Set,
    deed: Deed,
    inputs: &Inputs,
    progress: &mut Progress,
    sender: &SyncSender<Vec<Request>>,
    failed: &AtomicBool,
) -> Outcome<()> {
    let mut shards = vec![Waiting::default(); set.shards.count()];
    let (mut pipeline, mut waiting, mut sent) = (Vec::new(), 0, Instant::now());
    let give = |pipeline: &mut Vec<Request>| {
        // The receiving threads run until the sender is dropped.
        let _ = sender.send(take(pipeline));
    };
    let outcome = inputs.for_each(progress, |batch| {
        for i in 0..batch.len() {
            let key = batch.key(i);
            let shard = set.shards.of(key);
            let Waiting { bytes, keys } = &mut shards[shard];
            let before = bytes.len();
            pack(bytes, key);
            *keys += 1;
            waiting += bytes.len() - before;
            if *keys == TOGETHER {
                waiting -= bytes.len();
                pipeline.push(request(set, deed, shard, &mut shards[shard]));
            }
            if pipeline.len() >= PIPELINE {
                give(&mut pipeline);
                sent = Instant::now();
            }
        }
        if waiting > WAITING || (batch.last_of_block && sent.elapsed() > SOON) {
            rest(set, deed, &mut shards, &mut pipeline);
            give(&mut pipeline);
            (waiting, sent) = (0, Instant::now());
        }
        Ok(if failed.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    // After a failure to read, the keys before the failure are still sent.
    rest(set, deed, &mut shards, &mut pipeline);
    give(&mut pipeline);
    outcome
}

/// Makes commands of all waiting keys.
fn rest(set: &Set, deed: Deed, shards: &mut [Waiting], pipeline: &mut Vec<Request>) {
    for (shard, waiting) in shards.iter_mut().enumerate().filter(|(_, waiting)| waiting.keys > 0) {
        pipeline.push(request(set, deed, shard, waiting));
    }
}

/// The command for the waiting keys of a shard.
fn request(set: &Set, deed: Deed, shard: usize, waiting: &mut Waiting) -> Request {
    let Waiting { bytes: items, keys } = take(waiting);
    let (command, options) = deed.words(set.types[shard].unwrap_or(Type::Petal));
    let mut bytes = format!("*{}\r\n", 2 + options.len() + keys).into_bytes();
    bytes.reserve_exact(items.len() + 100);
    pack(&mut bytes, command.as_bytes());
    pack(&mut bytes, set.shards.key(shard).as_bytes());
    options.iter().for_each(|option| pack(&mut bytes, option.as_bytes()));
    bytes.extend_from_slice(&items);
    Request { shard, bytes }
}

/// Sends pipelines over its own connections until there are no more. After a failure of any thread it drops further
/// pipelines, so that the reader never blocks.
fn work(set: &Set, receiver: &Mutex<Receiver<Vec<Request>>>, failed: &AtomicBool, tally: &Tally) -> Outcome<()> {
    let mut servers: Servers = set.servers.again();
    let mut outcome = Ok(());
    loop {
        let received = match receiver.lock() {
            Ok(receiver) => receiver.recv(),
            Err(_) => return outcome,
        };
        let Ok(pipeline) = received else { return outcome };
        if failed.load(Ordering::Relaxed) {
            continue;
        }
        let done = servers.ask(&pipeline, |place, value| {
            let key = set.shards.key(pipeline[place].shard);
            count(&key, said(&key, value)?, tally)
        });
        if done.is_err() {
            failed.store(true, Ordering::Relaxed);
            outcome = done;
        }
    }
}

/// Counts the answers to the keys of a command.
fn count(key: &str, value: Value, tally: &Tally) -> Outcome<()> {
    let (mut taken, mut yes) = (0, 0);
    let outcome = for_each_answer(key, value, |answer| (taken, yes) = (taken + 1, yes + u64::from(answer)));
    tally.add(taken, yes);
    outcome
}

/// Calls `take` with the answer to each key of a command. If a key was not taken, the last answer is an error.
fn for_each_answer(key: &str, value: Value, mut take: impl FnMut(bool)) -> Outcome<()> {
    let Value::Array(answers) = value else { return Err(unexpected(key, &value)) };
    let mut outcome = Ok(());
    for answer in &answers {
        match answer {
            Value::Int(0) | Value::Boolean(false) => take(false),
            Value::Int(1) | Value::Boolean(true) => take(true),
            Value::Int(-1) => outcome = Err(Failure::new(format_args!("{key}: the filter is full"))),
            Value::ServerError(error) => outcome = Err(Failure::new(format_args!("{key}: {}", explained(error)))),
            other => outcome = Err(unexpected(key, other)),
        }
    }
    outcome
}

/// Records whose keys are asked for together, so that the answers come in the order of the records.
#[derive(Default)]
struct Window {
    records: Vec<u8>,
    /// The ends of the records.
    ends: Vec<usize>,
    /// The keys of each shard that are in no command yet, and the numbers of their records.
    waiting: Vec<(Waiting, Vec<usize>)>,
    commands: Vec<Request>,
    /// The numbers of the records that each command asks for.
    places: Vec<Vec<usize>>,
}

impl Window {
    fn add(&mut self, set: &Set, key: &[u8], record: &[u8]) {
        let shard = set.shards.of(key);
        let (waiting, places) = &mut self.waiting[shard];
        pack(&mut waiting.bytes, key);
        waiting.keys += 1;
        places.push(self.ends.len());
        self.records.extend_from_slice(record);
        self.ends.push(self.records.len());
        if waiting.keys == TOGETHER {
            self.commands.push(request(set, Deed::Ask, shard, waiting));
            self.places.push(take(places));
        }
    }

    /// Asks for the keys, and prints the records whose keys certainly are not there.
    fn print_missing(&mut self, set: &Set, servers: &mut Servers, tally: &Tally, text: &mut Text) -> Outcome<()> {
        for (shard, (waiting, places)) in self.waiting.iter_mut().enumerate().filter(|(_, (of, _))| of.keys > 0) {
            self.commands.push(request(set, Deed::Ask, shard, waiting));
            self.places.push(take(places));
        }
        let (commands, places) = (take(&mut self.commands), take(&mut self.places));
        let mut found = vec![false; self.ends.len()];
        servers.ask(&commands, |command, value| {
            let (key, mut places) = (set.shards.key(commands[command].shard), places[command].iter());
            let value = said(&key, value)?;
            let (mut taken, mut yes) = (0, 0);
            for_each_answer(&key, value, |answer| {
                if let Some(place) = places.next() {
                    found[*place] = answer;
                    (taken, yes) = (taken + 1, yes + u64::from(answer));
                }
            })?;
            tally.add(taken, yes);
            match places.next() {
                None => Ok(()),
                Some(_) => Err(Failure::new(format_args!("{key}: the server did not answer for all keys"))),
            }
        })?;
        let mut start = 0;
        for (end, found) in self.ends.drain(..).zip(found) {
            if !found {
                text.bytes(&self.records[start..end])?;
            }
            start = end;
        }
        self.records.clear();
        text.flush()
    }
}

/// Asks for all keys of the inputs, and prints the records whose keys certainly are not in the set, in their order. All
/// shards must exist.
pub fn print_missing(
    set: &Set,
    inputs: &Inputs,
    progress: &mut Progress,
    tally: &Tally,
    text: &mut Text,
) -> Outcome<()> {
    let mut servers: Servers = set.servers.again();
    let mut window = Window { waiting: vec![Default::default(); set.shards.count()], ..Window::default() };
    inputs.for_each(progress, |batch| {
        for i in 0..batch.len() {
            window.add(set, batch.key(i), batch.record(i));
        }
        // The user of a slow input gets the answers so far.
        if window.ends.len() >= PIPELINE * TOGETHER || window.records.len() >= WAITING || batch.last_of_block {
            window.print_missing(set, &mut servers, tally, text)?;
        }
        Ok(ControlFlow::Continue(()))
    })
}
