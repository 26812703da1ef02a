//! `BF.*`: chains of Bloom filters.

pub mod chain;
mod insert;
mod kept;
mod tell;

use super::{BadChunk, Chunked, NOT_FOUND, of_first_chunk};
use crate::defaults;
use crate::server::command::commands;
use crate::server::key::Key;
use crate::server::value::Value;
use crate::server::{Argument, Context, Refusal, memory};
use chain::{Chain, Full, array_bytes};
use petal::interop::redisbloom::Header;

commands! {
    insert::reserve: c"BF.RESERVE", c"write deny-oom fast", -4, 1, Make,
        c"Makes an empty Bloom filter", c"O(1)";
    insert::add: c"BF.ADD", c"write deny-oom fast", 3, 1, Insert,
        c"Adds an item to a Bloom filter, which is made if it is not there", c"O(k), with k the hash functions";
    insert::add_many: c"BF.MADD", c"write deny-oom fast", -3, 1, Insert,
        c"Adds items to a Bloom filter, which is made if it is not there", c"O(k * n), with n the items";
    insert::insert: c"BF.INSERT", c"write deny-oom fast", -4, 1, Insert,
        c"Adds items to a Bloom filter, which is made as wanted if it is not there", c"O(k * n), with n the items";
    super::exists::<Chain>: c"BF.EXISTS", c"readonly fast", 3, 1, Read,
        c"Tells whether an item may have been added to a Bloom filter", c"O(k), with k the hash functions";
    super::exist::<Chain>: c"BF.MEXISTS", c"readonly fast", -3, 1, Read,
        c"Tells of items whether they may have been added to a Bloom filter", c"O(k * n), with n the items";
    tell::cardinality: c"BF.CARD", c"readonly fast", 2, 1, Read,
        c"Tells how many items were added to a Bloom filter", c"O(1)";
    tell::info: c"BF.INFO", c"readonly fast", -2, 1, Read,
        c"Tells how large a Bloom filter is", c"O(1)";
    tell::debug: c"BF.DEBUG", c"readonly fast", 2, 1, Read,
        c"Tells the links of a Bloom filter", c"O(n), with n the links";
    tell::dump: c"BF.SCANDUMP", c"readonly", 3, 1, Read,
        c"Gives a Bloom filter in chunks", c"O(n), with n the bytes of a chunk";
    load: c"BF.LOADCHUNK", c"write deny-oom", 4, 1, Insert,
        c"Puts a chunk of a Bloom filter back", c"O(n), with n the bytes of the chunk";
}

const BAD_DATA: Refusal = Refusal::Said("ERR received bad data");
const NO_MEMORY: Refusal = Refusal::Said("ERR Insufficient memory to create filter");

/// How an empty filter is made.
struct Wanted {
    rate: f64,
    capacity: u64,
    expansion: u32,
    scales: bool,
}

impl Wanted {
    /// Where the command says nothing.
    fn usual() -> Wanted {
        let (rate, capacity) = defaults::get();
        Wanted { rate, capacity, expansion: defaults::EXPANSION, scales: true }
    }

    /// A filter made so.
    fn make(&self, context: &Context) -> Result<Box<Value<Chain>>, Refusal> {
        let header = Header::sized(self.capacity, self.rate, self.expansion, self.scales).ok_or(NO_MEMORY)?;
        if !memory::has_room(context, array_bytes(&header)) {
            return Err(NO_MEMORY);
        }
        Value::make(|| Chain::of_header(&header)).map_err(|_| NO_MEMORY)
    }
}

/// The error of a key that was not added.
fn refusal(full: Full) -> Refusal {
    Refusal::Said(match full {
        Full::NonScaling => "ERR non scaling filter is full",
        Full::Last => "ERR Maximum expansions reached",
        Full::Memory => "ERR Insufficient memory to create filter",
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
            key.set(of_first_chunk::<Chain>(context, data, NO_MEMORY, BAD_DATA)?);
        }
        None => return Err(NOT_FOUND),
    }
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}
