//! The rows of the table of commands that are others in valkey-bloom.

use super::{insert, read};
use crate::server::command::commands;

commands! {
    insert::reserve: c"bf.reserve", c"write deny-oom fast", -4, 1, Make, "write fast bloom", c"1.0.0",
        "key error_rate:double capacity:integer [EXPANSION expansion:integer] [NONSCALING]",
        c"Creates an empty filter", c"O(1)";
    insert::add: c"bf.add", c"write deny-oom fast", 3, 1, Insert, "write fast bloom", c"1.0.0", "key item",
        c"Adds an item to a filter, which it creates if there is none",
        c"O(k), where k is the number of hash functions of all sub-filters";
    insert::add_many: c"bf.madd", c"write deny-oom fast", -3, 1, Insert, "write fast bloom", c"1.0.0", "key item...",
        c"Adds items to a filter, which it creates if there is none",
        c"O(k * n), where k is the number of hash functions of all sub-filters and n is the number of items";
    insert::insert: c"bf.insert", c"write deny-oom fast", -2, 1, Insert, "write fast bloom", c"1.0.0",
        "key [CAPACITY capacity:integer] [ERROR error:double] [EXPANSION expansion:integer] [SEED seed] \
         [TIGHTENING tightening:double] [VALIDATESCALETO validatescaleto:integer] [NOCREATE] [NONSCALING] \
         [ITEMS item...]",
        c"Creates a filter with these parameters if there is none, and adds the items to it",
        c"O(k * n), where k is the number of hash functions of all sub-filters and n is the number of items";
    read::exists: c"bf.exists", c"readonly fast", 3, 1, Read, "read fast bloom", c"1.0.0", "key item",
        c"Says whether a filter may have an item",
        c"O(k), where k is the number of hash functions of all sub-filters";
    read::exist: c"bf.mexists", c"readonly fast", -3, 1, Read, "read fast bloom", c"1.0.0", "key item...",
        c"Says which items a filter may have",
        c"O(k * n), where k is the number of hash functions of all sub-filters and n is the number of items";
    read::info: c"bf.info", c"readonly fast", -2, 1, Read, "read fast bloom", c"1.0.0",
        "key [single_value:CAPACITY|SIZE|FILTERS|ITEMS|ERROR|EXPANSION|TIGHTENING|MAXSCALEDCAPACITY]",
        c"Returns the parameters and the contents of a filter", c"O(n), where n is the number of sub-filters";
}
