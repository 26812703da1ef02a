//! `BF.*`: chains of Bloom filters. The commands also take keys of valkey-bloom's type, and make them if the module's
//! commands are valkey-bloom's.

mod as_valkey_bloom;
pub mod chain;
mod insert;
mod data_type;
mod read;

use super::{BadChunk, Chunked, NOT_FOUND, of_first_chunk};
use crate::server::command::{Command, commands};
use crate::server::defaults;
use crate::server::key::Key;
use crate::server::value::Value;
use crate::server::{Argument, Context, Refusal, memory};
use crate::valkey_bloom::insert::load as load_object;
use crate::valkey_bloom::object::Object;
use chain::{Chain, Full, array_bytes};
use petal::interop::redisbloom::Header;
use std::ffi::CStr;

/// The category of access-control lists that the commands are in.
pub const CATEGORY: &CStr = c"bloom";

commands! {
    insert::reserve: c"bf.reserve", c"write deny-oom", -4, 1, Make, "write fast bloom", c"1.0.0",
        "key error_rate:double capacity:integer [EXPANSION expansion:integer] [NONSCALING]",
        c"Creates a new Bloom Filter", c"O(1)";
    insert::add: c"bf.add", c"write deny-oom", 3, 1, Insert, "write bloom", c"1.0.0", "key item",
        c"Adds an item to a Bloom Filter",
        c"O(k), where k is the number of hash functions used by the last sub-filter";
    insert::add_many: c"bf.madd", c"write deny-oom", -3, 1, Insert, "write bloom", c"1.0.0", "key item...",
        c"Adds one or more items to a Bloom Filter. A filter will be created if it does not exist",
        c"O(k * n), where k is the number of hash functions and n is the number of items";
    insert::insert: c"bf.insert", c"write deny-oom", -4, 1, Insert, "write bloom", c"1.0.0",
        "key [CAPACITY capacity:integer] [ERROR error:double] [EXPANSION expansion:integer] [NOCREATE] [NONSCALING] \
         ITEMS item...",
        c"Adds one or more items to a Bloom Filter. A filter will be created if it does not exist",
        c"O(k * n), where k is the number of hash functions and n is the number of items";
    read::exists: c"bf.exists", c"readonly fast", 3, 1, Read, "read bloom", c"1.0.0", "key item",
        c"Checks whether an item exists in a Bloom Filter",
        c"O(k), where k is the number of hash functions used by the last sub-filter";
    read::exist: c"bf.mexists", c"readonly fast", -3, 1, Read, "read bloom", c"1.0.0", "key item...",
        c"Checks whether one or more items exist in a Bloom Filter",
        c"O(k * n), where k is the number of hash functions and n is the number of items";
    read::cardinality: c"bf.card", c"readonly fast", 2, 1, Read, "read fast bloom", c"2.4.4", "key",
        c"Returns the cardinality of a Bloom filter", c"O(1)";
    read::info: c"bf.info", c"readonly fast", -2, 1, Read, "read fast bloom", c"1.0.0",
        "key [single_value:CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION]",
        c"Returns information about a Bloom Filter", c"O(1)";
    read::debug: c"bf.debug", c"readonly fast", 2, 1, Read, "read bloom", c"1.0.0", "key",
        c"Returns the sub-filters of a Bloom Filter", c"O(n), where n is the number of sub-filters";
    read::dump: c"bf.scandump", c"readonly fast", 3, 1, Read, "read bloom", c"1.0.0", "key iterator:integer",
        c"Begins an incremental save of the bloom filter", c"O(n), where n is the capacity";
    load: c"bf.loadchunk", c"write deny-oom", 4, 1, Insert, "write bloom", c"1.0.0", "key iterator:integer data",
        c"Restores a filter previously saved using SCANDUMP", c"O(n), where n is the capacity";
    load_object: c"bf.load", c"write deny-oom", 3, 1, Insert, "write bloom", c"1.0.0", "key data",
        c"Restores a filter of valkey-bloom that the append-only file has", c"O(n), where n is the capacity";
}

/// The commands, as the module of their owner has them.
pub fn commands() -> Vec<&'static Command> {
    let as_owner = |command: &'static Command| match defaults::is_valkey_bloom() {
        true => as_valkey_bloom::COMMANDS.iter().find(|own| own.name == command.name).unwrap_or(command),
        false => command,
    };
    COMMANDS.iter().map(as_owner).collect()
}

/// Whether a command on this key is valkey-bloom's: by the type of its value, and otherwise by the module's own.
#[inline]
fn is_valkey_blooms(key: &Key) -> bool {
    match defaults::is_valkey_bloom() {
        true => !key.holds::<Chain>(),
        false => key.holds::<Object>(),
    }
}

const BAD_DATA: Refusal = Refusal::Said("ERR received bad data");
const NO_MEMORY: Refusal = Refusal::Said("ERR Insufficient memory to create filter");

/// The parameters of a new filter.
struct Wanted {
    rate: f64,
    capacity: u64,
    expansion: u32,
    scales: bool,
}

impl Wanted {
    /// The parameters that a command without options takes.
    fn usual() -> Wanted {
        let (rate, capacity, expansion) = defaults::bloom();
        Wanted { rate, capacity, expansion, scales: expansion > 0 }
    }

    /// Makes an empty filter with these parameters.
    fn make(&self, context: &Context) -> Result<Box<Value<Chain>>, Refusal> {
        // New filters have at most this rate; only loaded filters may have a greater one.
        let rate = self.rate.min(defaults::GREATEST_RATE);
        let header = Header::sized(self.capacity, rate, self.expansion, self.scales).ok_or(NO_MEMORY)?;
        if !memory::has_room(context, array_bytes(&header)) {
            return Err(NO_MEMORY);
        }
        Value::make(|| Chain::of_header(&header)).map_err(|_| NO_MEMORY)
    }
}

/// The error for a key that was not added.
fn refusal(full: Full) -> Refusal {
    Refusal::Said(match full {
        Full::NonScaling => "ERR non scaling filter is full",
        Full::Last | Full::Memory => "ERR problem inserting into filter",
    })
}

/// `BF.LOADCHUNK key iterator data`
fn load(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, iterator, data] = arguments else { return Err(Refusal::Arity) };
    let iterator = iterator.integer().ok_or(Refusal::Said("ERR Second argument must be numeric"))?;
    let mut key = Key::write(context, name);
    match key.to_change::<Chain>(context)? {
        Some(mut chain) => chain.change(|chain| chain.load(iterator, data.bytes())).map_err(|bad| {
            Refusal::Said(match bad {
                BadChunk::Data => return BAD_DATA,
                BadChunk::Offset => "ERR invalid offset - no link found",
                BadChunk::Length => "ERR invalid chunk - Too big for current filter",
            })
        })?,
        None if iterator == 1 => {
            key.set(of_first_chunk::<Chain>(context, data, BAD_DATA, BAD_DATA)?);
        }
        None => return Err(NOT_FOUND),
    }
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}
