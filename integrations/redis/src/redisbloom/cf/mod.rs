//! `CF.*`: chains of cuckoo tables.

mod change;
mod data_type;
pub mod tables;
mod read;

use crate::server::command::commands;
use crate::server::defaults;
use crate::server::value::Value;
use crate::server::{Context, Refusal, memory};
use std::ffi::CStr;
use tables::Tables;

/// The category of access-control lists that the commands are in.
pub const CATEGORY: &CStr = c"cuckoo";

commands! {
    change::reserve: c"cf.reserve", c"write deny-oom", -3, 1, Make, "write fast cuckoo", c"1.0.0",
        "key capacity:integer [BUCKETSIZE bucketsize:integer] [MAXITERATIONS maxiterations:integer] \
         [EXPANSION expansion:integer]",
        c"Creates a new Cuckoo Filter", c"O(1)";
    change::add: c"cf.add", c"write deny-oom", 3, 1, Insert, "write cuckoo", c"1.0.0", "key item",
        c"Adds an item to a Cuckoo Filter", c"O(k + i), where k is the number of sub-filters and i is maxIterations";
    change::add_new: c"cf.addnx", c"write deny-oom", 3, 1, Insert, "write cuckoo", c"1.0.0", "key item",
        c"Adds an item to a Cuckoo Filter if the item did not exist previously.",
        c"O(k + i), where k is the number of sub-filters and i is maxIterations";
    change::insert: c"cf.insert", c"write deny-oom", -4, 1, Insert, "write cuckoo", c"1.0.0",
        "key [CAPACITY capacity:integer] [NOCREATE] ITEMS item...",
        c"Adds one or more items to a Cuckoo Filter. A filter will be created if it does not exist",
        c"O(n * (k + i)), where n is the number of items, k is the number of sub-filters and i is maxIterations";
    change::insert_new: c"cf.insertnx", c"write deny-oom", -4, 1, Insert, "write cuckoo", c"1.0.0",
        "key [CAPACITY capacity:integer] [NOCREATE] ITEMS item...",
        c"Adds one or more items to a Cuckoo Filter if the items did not exist previously. A filter will be created if \
          it does not exist",
        c"O(n * (k + i)), where n is the number of items, k is the number of sub-filters and i is maxIterations";
    change::delete: c"cf.del", c"write fast", 3, 1, Update, "write cuckoo", c"1.0.0", "key item",
        c"Deletes an item from a Cuckoo Filter", c"O(k), where k is the number of sub-filters";
    change::compact: c"cf.compact", c"write fast", 2, 1, Update, "read cuckoo", c"1.0.0", "key",
        c"Moves the items of a Cuckoo Filter to its older sub-filters",
        c"O(n * k), where n is the number of slots and k is the number of sub-filters";
    super::exists::<Tables>: c"cf.exists", c"readonly fast", 3, 1, Read, "read cuckoo", c"1.0.0", "key item",
        c"Checks whether one or more items exist in a Cuckoo Filter", c"O(k), where k is the number of sub-filters";
    super::exist::<Tables>: c"cf.mexists", c"readonly fast", -3, 1, Read, "read cuckoo", c"1.0.0", "key item...",
        c"Checks whether one or more items exist in a Cuckoo Filter",
        c"O(k * n), where k is the number of sub-filters and n is the number of items";
    read::count: c"cf.count", c"readonly fast", 3, 1, Read, "read cuckoo", c"1.0.0", "key item",
        c"Return the number of times an item might be in a Cuckoo Filter",
        c"O(k), where k is the number of sub-filters";
    read::info: c"cf.info", c"readonly fast", 2, 1, Read, "read fast cuckoo", c"1.0.0", "key",
        c"Returns information about a Cuckoo Filter", c"O(1)";
    read::debug: c"cf.debug", c"readonly fast", 2, 1, Read, "read cuckoo", c"1.0.0", "key",
        c"Returns information about a Cuckoo Filter in a line", c"O(1)";
    read::dump: c"cf.scandump", c"readonly fast", 3, 1, Read, "read cuckoo", c"1.0.0", "key iterator:integer",
        c"Begins an incremental save of the bloom filter", c"O(n), where n is the capacity";
    change::load: c"cf.loadchunk", c"write deny-oom", 4, 1, Insert, "write cuckoo", c"1.0.0",
        "key iterator:integer data",
        c"Restores a filter previously saved using SCANDUMP", c"O(n), where n is the capacity";
}

const POSITION: Refusal = Refusal::Said("Invalid position");

/// The parameters of a new filter.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// The number of keys that the filter is for.
    pub capacity: u64,
    /// The slots of a bucket.
    pub slots: u64,
    /// The most kicks of an insertion.
    pub kicks: u64,
    /// The size of each table divided by the size of the table before it, rounded up to a power of two; 0 for one table
    /// only.
    pub expansion: u64,
}

impl Wanted {
    /// The parameters that a command without options takes.
    fn usual() -> Wanted {
        let [capacity, slots, kicks, expansion] = defaults::cuckoo();
        Wanted { capacity, slots, kicks, expansion }
    }

    /// The least capacity of a filter.
    fn least_capacity(&self) -> u64 {
        2 * self.slots
    }

    /// Makes an empty filter with these parameters.
    fn make(&self, context: &Context) -> Result<Box<Value<Tables>>, Refusal> {
        if self.capacity < self.least_capacity() {
            return Err(Refusal::Said("ERR Could not create filter"));
        }
        let made = Value::make(|| Tables::sized(self, |bytes| memory::has_room(context, bytes)));
        made.map_err(|_| Refusal::Said("ERR Insufficient memory to create filter"))
    }
}
