//! `petal redis`: sets that Petal's module keeps in Redis and Valkey, each over one key or many.

mod build;
mod check;
mod images;
mod send;
mod servers;
mod shards;

use crate::args;
use crate::args::redis::{Command, Type};
use crate::failure::{Failure, Outcome};
use ::redis::Value;
use servers::{Request, Servers, packed};
use shards::Shards;
use std::env;

/// The address of the server, if neither `--url` nor the environment says it.
const HERE: &str = "redis://127.0.0.1:6379";

pub fn run(args: &args::redis::Redis, common: args::Common) -> Outcome {
    match &args.command {
        Command::Build(args) => build::run(args, common),
        Command::Check(args) => check::run(args, common),
        Command::Merge(args) => images::merge(args, common),
        Command::Export(args) => images::export(args, common),
        Command::Import(args) => images::import(args, common),
    }
}

/// A set: its keys, what they are, and the servers that have them.
struct Set {
    shards: Shards,
    servers: Servers,
    /// The type of each shard; `None` for a shard that is not there.
    types: Vec<Option<Type>>,
}

impl Set {
    /// Connects, and asks what is there.
    fn open(args: &args::redis::Set) -> Outcome<Set> {
        let shards = Shards::new(args);
        let url = args.url.clone().or_else(|| env::var("REDIS_URL").ok()).unwrap_or_else(|| String::from(HERE));
        let servers = Servers::connect(&url, shards.count() + 1)?;
        let mut set = Set { shards, servers, types: Vec::new() };
        // One more: who says too small a number would look for keys where they are not.
        let asked = set.shards.count() + usize::from(!set.shards.is_plain());
        let types = set.of_each(asked, |key| vec![String::from("TYPE"), key])?;
        for (shard, name) in types.iter().enumerate() {
            let key = set.shards.key(shard);
            set.types.push(match name {
                Value::SimpleString(name) => type_of(&key, name)?,
                other => return Err(unexpected(&key, other)),
            });
        }
        if !set.shards.is_plain() && set.types.pop().flatten().is_some() {
            let (count, key) = (set.shards.count(), set.shards.key(set.shards.count()));
            return Err(Failure::new(format_args!("--shards {count}: the set has more, because {key} is there")));
        }
        Ok(set)
    }

    /// A set that has to be there, whole.
    fn open_whole(args: &args::redis::Set) -> Outcome<Set> {
        let mut set = Set::open(args)?;
        let Some(missing) = set.types.iter().position(Option::is_none) else { return Ok(set) };
        let key = set.shards.key(missing);
        let there = set.types.iter().flatten().count();
        // Where no filter can be, it is the module that is not there.
        if there == 0
            && let Value::ServerError(error) =
                set.servers.ask_one(&Request { shard: missing, bytes: packed(&["PETAL.INFO", &key]) })?
            && servers::message(&error).starts_with(UNKNOWN)
        {
            return Err(Failure::new(format_args!("{key}: is not there: {}", explained(&error))));
        }
        Err(Failure::new(match set.shards.count() {
            1 => format!("{key}: is not there"),
            count => format!("{key}: is not there: the set has {there} of {count} shards"),
        }))
    }

    /// Sends a command for each of the first shards, and returns the replies in their order. An error is told.
    fn of_each(&mut self, count: usize, words: impl Fn(String) -> Vec<String>) -> Outcome<Vec<Value>> {
        let request = |shard| Request { shard, bytes: packed(&words(self.shards.key(shard))) };
        let requests: Vec<Request> = (0..count).map(request).collect();
        let mut replies = vec![Value::Nil; count];
        self.servers.ask(&requests, |place, value| {
            replies[place] = said(&self.shards.key(place), value)?;
            Ok(())
        })?;
        Ok(replies)
    }

    /// Sends a command about a shard.
    fn command(&mut self, shard: usize, words: &[&[u8]]) -> Outcome<Value> {
        let value = self.servers.ask_one(&Request { shard, bytes: packed(words) })?;
        said(&self.shards.key(shard), value)
    }
}

/// The error of a server without the module.
const UNKNOWN: &str = "unknown command";

/// What a key is, by the server's name of its type.
fn type_of(key: &str, name: &str) -> Outcome<Option<Type>> {
    match name {
        "none" => Ok(None),
        "petal-img" => Ok(Some(Type::Petal)),
        "MBbloom--" => Ok(Some(Type::Bf)),
        "MBbloomCF" => Ok(Some(Type::Cf)),
        other => Err(Failure::new(format_args!("{key}: is a {other}, not a filter or map"))),
    }
}

/// A reply that is no error.
fn said(key: &str, value: Value) -> Outcome<Value> {
    match value {
        Value::ServerError(error) => Err(Failure::new(format_args!("{key}: {}", explained(&error)))),
        value => Ok(value),
    }
}

/// What the server said, and what it means where that is not plain.
fn explained(error: &::redis::ServerError) -> String {
    let message = servers::message(error);
    match &*message {
        _ if message.starts_with(UNKNOWN) => format!("{message}: the server has not loaded Petal's module"),
        _ if message.starts_with("not found") => String::from("is not there any more"),
        _ => message,
    }
}

/// A reply that no server with the module gives.
fn unexpected(key: &str, value: &Value) -> Failure {
    Failure::new(format_args!("{key}: a reply that the module does not give: {value:.200?}"))
}
