//! `CF.*`: chains of cuckoo tables.

mod change;
mod kept;
pub mod tables;
mod tell;

use crate::server::command::commands;
use crate::server::value::Value;
use crate::server::{Context, Refusal, memory};
use tables::Tables;

commands! {
    change::reserve: c"CF.RESERVE", c"write deny-oom fast", -3, 1, Make,
        c"Makes an empty cuckoo filter", c"O(1)";
    change::add: c"CF.ADD", c"write deny-oom fast", 3, 1, Insert,
        c"Adds an item to a cuckoo filter, which is made if it is not there",
        c"O(k + i), with k the tables and i the kicks";
    change::add_new: c"CF.ADDNX", c"write deny-oom fast", 3, 1, Insert,
        c"Adds an item to a cuckoo filter unless it may be there", c"O(k + i), with k the tables and i the kicks";
    change::insert: c"CF.INSERT", c"write deny-oom fast", -4, 1, Insert,
        c"Adds items to a cuckoo filter, which is made as wanted if it is not there",
        c"O(n * (k + i)), with n the items, k the tables and i the kicks";
    change::insert_new: c"CF.INSERTNX", c"write deny-oom fast", -4, 1, Insert,
        c"Adds those of items to a cuckoo filter that cannot be there yet",
        c"O(n * (k + i)), with n the items, k the tables and i the kicks";
    change::delete: c"CF.DEL", c"write fast", 3, 1, Update,
        c"Takes an item out of a cuckoo filter once", c"O(k), with k the tables; O(n) where n slots are compacted";
    change::compact: c"CF.COMPACT", c"write", 2, 1, Update,
        c"Moves the items of a cuckoo filter to its older tables", c"O(n * k), with n the slots and k the tables";
    super::exists::<Tables>: c"CF.EXISTS", c"readonly fast", 3, 1, Read,
        c"Tells whether an item may have been added to a cuckoo filter", c"O(k), with k the tables";
    super::exist::<Tables>: c"CF.MEXISTS", c"readonly fast", -3, 1, Read,
        c"Tells of items whether they may have been added to a cuckoo filter",
        c"O(n * k), with n the items and k the tables";
    tell::count: c"CF.COUNT", c"readonly fast", 3, 1, Read,
        c"Tells how often an item may have been added to a cuckoo filter", c"O(k), with k the tables";
    tell::info: c"CF.INFO", c"readonly fast", 2, 1, Read,
        c"Tells how large a cuckoo filter is", c"O(1)";
    tell::debug: c"CF.DEBUG", c"readonly fast", 2, 1, Read,
        c"Tells how large a cuckoo filter is, in a line", c"O(1)";
    tell::dump: c"CF.SCANDUMP", c"readonly", 3, 1, Read,
        c"Gives a cuckoo filter in chunks", c"O(n), with n the bytes of a chunk";
    change::load: c"CF.LOADCHUNK", c"write deny-oom", 4, 1, Insert,
        c"Puts a chunk of a cuckoo filter back", c"O(n), with n the bytes of the chunk";
}

const POSITION: Refusal = Refusal::Said("Invalid position");

/// How an empty filter is made.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// How many keys it is for.
    pub capacity: u64,
    /// The slots of a bucket.
    pub slots: u64,
    /// The most kicks of an insertion.
    pub kicks: u64,
    /// How many times as large each table is as the one before, rounded up to a power of two; 0 for one table only.
    pub expansion: u64,
}

impl Wanted {
    /// Where the command says nothing.
    const USUAL: Wanted = Wanted { capacity: 1024, slots: 2, kicks: 20, expansion: 1 };

    /// The fewest keys that a filter can be for.
    fn least_capacity(&self) -> u64 {
        2 * self.slots
    }

    /// A filter made so.
    fn make(&self, context: &Context, no_memory: Refusal) -> Result<Box<Value<Tables>>, Refusal> {
        Value::make(|| Tables::sized(self, |bytes| memory::has_room(context, bytes))).map_err(|_| no_memory)
    }
}
