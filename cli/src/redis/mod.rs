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

/// The address of the server if neither `--url` nor the environment names one.
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

/// A set: its keys, their types, and the servers that have them.
struct Set {
    shards: Shards,
    servers: Servers,
    /// The type of each shard; `None` for a missing shard.
    types: Vec<Option<Type>>,
}

impl Set {
    /// Connects, and asks for the type of each shard.
    fn open(args: &args::redis::Set) -> Outcome<Set> {
        let shards = Shards::new(args);
        let url = args.url.clone().or_else(|| env::var("REDIS_URL").ok()).unwrap_or_else(|| String::from(HERE));
        let servers = Servers::connect(&url, shards.count() + 1)?;
        let mut set = Set { shards, servers, types: Vec::new() };
        // Asks for one more shard: with too small a number of shards, keys would be looked up in the wrong shards.
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

    /// Opens a set that must have all of its shards.
    fn open_whole(args: &args::redis::Set) -> Outcome<Set> {
        let mut set = Set::open(args)?;
        let Some(missing) = set.types.iter().position(Option::is_none) else { return Ok(set) };
        let key = set.shards.key(missing);
        let there = set.types.iter().flatten().count();
        // If no shard is there, the server may lack the module.
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

    /// Sends a command for each of the first `count` shards, and returns the replies in order. Fails if a reply is an
    /// error.
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

    /// Sends a command to the node of a shard.
    fn command(&mut self, shard: usize, words: &[&[u8]]) -> Outcome<Value> {
        let value = self.servers.ask_one(&Request { shard, bytes: packed(words) })?;
        said(&self.shards.key(shard), value)
    }
}

/// The start of the error of a server without the module.
const UNKNOWN: &str = "unknown command";

/// The type of a key, from the server's name of the type.
fn type_of(key: &str, name: &str) -> Outcome<Option<Type>> {
    match name {
        "none" => Ok(None),
        "petal-img" => Ok(Some(Type::Petal)),
        "MBbloom--" | "bloomfltr" => Ok(Some(Type::Bf)),
        "MBbloomCF" => Ok(Some(Type::Cf)),
        other => Err(Failure::new(format_args!("{key}: is a {other}, not a filter or map"))),
    }
}

/// The reply, or a failure if the reply is an error.
fn said(key: &str, value: Value) -> Outcome<Value> {
    match value {
        Value::ServerError(error) => Err(Failure::new(format_args!("{key}: {}", explained(&error)))),
        value => Ok(value),
    }
}

/// A server's error, explained if the text alone is not clear.
fn explained(error: &::redis::ServerError) -> String {
    let message = servers::message(error);
    match &*message {
        _ if message.starts_with(UNKNOWN) => format!("{message}: the server has not loaded Petal's module"),
        _ if message.starts_with("not found") => String::from("is not there any more"),
        _ => message,
    }
}

/// The failure for a reply that a server with the module never gives.
fn unexpected(key: &str, value: &Value) -> Failure {
    Failure::new(format_args!("{key}: a reply that the module does not give: {value:.200?}"))
}
