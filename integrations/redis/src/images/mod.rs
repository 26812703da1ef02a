//! `PETAL.*`: filters and maps of every kind, by the kind's name. The library knows the kinds and what each can do.

mod change;
mod chunks;
mod data_type;
mod secret;
pub mod stored;
mod read;

use crate::server::command::commands;
use crate::server::key::Key;
use crate::server::value::{Changing, Value};
use crate::server::{Argument, Context, Refusal};
use petal::{Base, Filter, HashFunction, Keys, Map};
use std::ffi::CStr;
use stored::Stored;

/// The category of access-control lists that the commands are in.
pub const CATEGORY: &CStr = c"petal";

commands! {
    change::reserve: c"petal.reserve", c"write deny-oom", -5, 1, Make, "write slow petal", c"0.1.0",
        "key kind capacity:integer rate:double [SEED seed:integer] [SECRET secret] [SET parameter value]...",
        c"Makes an empty filter of a kind", c"O(1)";
    change::add: c"petal.add", c"write deny-oom fast", 3, 1, Insert, "write fast petal", c"0.1.0",
        "key item",
        c"Adds an item to a filter", c"O(1), or what the kind says";
    change::add_many: c"petal.madd", c"write deny-oom", -3, 1, Insert, "write slow petal", c"0.1.0",
        "key item...",
        c"Adds items to a filter", c"O(n), with n the items";
    change::remove: c"petal.remove", c"write", -3, 1, Update, "write slow petal", c"0.1.0",
        "key item...",
        c"Removes items from a filter, once each", c"O(n), with n the items";
    change::rejuvenate: c"petal.rejuvenate", c"write deny-oom", -3, 1, Update, "write slow petal", c"0.1.0",
        "key item...",
        c"Gives items that are in a filter entries as long as those of new items", c"O(n), with n the items";
    change::map_put: c"petal.mapput", c"write deny-oom", -4, 1, Insert, "write slow petal", c"0.1.0",
        "key (item value:integer)...",
        c"Gives items values in a map that is made empty, joined to those that they had", c"O(n), with n the items";
    change::map_replace: c"petal.mapreplace", c"write", -4, 1, Update, "write slow petal", c"0.1.0",
        "key (item value:integer)...",
        c"Gives items of a map other values in place of their own", c"O(n), with n the items";
    change::clear: c"petal.clear", c"write", 2, 1, Update, "write slow petal", c"0.1.0",
        "key",
        c"Removes all items from a filter", c"O(n), with n the bytes of the filter";
    change::advance: c"petal.advance", c"write fast", -2, 1, Update, "write fast petal", c"0.1.0",
        "key [steps:integer]",
        c"Moves the time of a filter on that forgets its oldest items", c"O(n), with n the bytes of what is forgotten";
    change::merge: c"petal.merge", c"write deny-oom", -3, -1, Insert, "write slow petal", c"0.1.0",
        "key other:key...",
        c"Unites filters, or maps, with the first, which is made if it is not there", c"O(n), with n the bytes of all";
    change::intersect: c"petal.intersect", c"write deny-oom", -3, -1, Update, "write slow petal", c"0.1.0",
        "key other:key...",
        c"Intersects filters with the first, which is made if it is not there", c"O(n), with n the bytes of all";
    read::exists: c"petal.exists", c"readonly fast", 3, 1, Read, "read fast petal", c"0.1.0",
        "key item",
        c"Tells whether an item may have been added to a filter", c"O(1), or what the kind says";
    read::exist: c"petal.mexists", c"readonly", -3, 1, Read, "read slow petal", c"0.1.0",
        "key item...",
        c"Tells of items whether they may have been added to a filter", c"O(n), with n the items";
    read::count: c"petal.count", c"readonly fast", 3, 1, Read, "read fast petal", c"0.1.0",
        "key item",
        c"Tells how often an item was added to a filter", c"O(1), or what the kind says";
    read::counts: c"petal.mcount", c"readonly", -3, 1, Read, "read slow petal", c"0.1.0",
        "key item...",
        c"Tells of items how often they were added to a filter", c"O(n), with n the items";
    read::values: c"petal.mapget", c"readonly", -3, 1, Read, "read slow petal", c"0.1.0",
        "key item...",
        c"Tells the values of items in a map", c"O(n), with n the items";
    read::estimate: c"petal.estimate", c"readonly", -2, -1, Read, "read slow petal", c"0.1.0",
        "key [other:key]",
        c"Estimates how many distinct items a filter holds, or two hold in common", c"O(n), with n the bytes";
    read::info: c"petal.info", c"readonly fast", 2, 1, Read, "read fast petal", c"0.1.0",
        "key",
        c"Tells what a filter or map is, how large, and what it can do", c"O(1)";
    read::kinds: c"petal.kinds", c"readonly fast", 1, 0, Read, "read fast petal", c"0.1.0",
        "",
        c"Tells what kinds there are, and what each can do", c"O(1)";
    read::help: c"petal.help", c"readonly fast", 1, 0, Read, "read fast petal", c"0.1.0",
        "",
        c"Tells the commands", c"O(1)";
    chunks::export: c"petal.export", c"readonly", 3, 1, Read, "read slow petal", c"0.1.0",
        "key iterator:integer",
        c"Gives the image of a filter or map in chunks", c"O(n), with n the bytes, of all for the last chunk";
    chunks::import: c"petal.import", c"write deny-oom", -4, 1, Insert, "write slow petal", c"0.1.0",
        "key iterator:integer chunk [SECRET secret]",
        c"Makes a filter or map of the chunks of an image", c"O(n), with n the bytes, of all for the last chunk";
}

const NOT_FOUND: Refusal = Refusal::Said(
    "ERR not found: PETAL.RESERVE makes a filter, and PETAL.IMPORT a filter or map of an image; PETAL.HELP tells how",
);
const NO_FILTER: Refusal = Refusal::Said("ERR the key holds a map, not a filter: PETAL.MAPGET tells its values");
const NO_MAP: Refusal = Refusal::Said("ERR the key holds a filter, not a map");
const NO_VALUE: Refusal = Refusal::Said("ERR the value of an item is not a whole number from 0 on");
const NOT_WHOLE: Refusal = Refusal::Said("ERR chunks of the key's image are missing: PETAL.IMPORT takes them");

/// The value of a key that must exist.
fn value(key: &Key) -> Result<&Value<Stored>, Refusal> {
    key.value::<Stored>()?.ok_or(NOT_FOUND)
}

/// The value of a key that must exist, ready for a change.
fn to_change<'k>(context: &Context, key: &'k mut Key) -> Result<Changing<'k, Stored>, Refusal> {
    key.to_change::<Stored>(context)?.ok_or(NOT_FOUND)
}

/// The value as a filter.
fn filter(stored: &Stored) -> Result<&Filter, Refusal> {
    match stored {
        Stored::Filter(filter) => Ok(filter),
        Stored::Map(_) => Err(NO_FILTER),
        Stored::Part(_) => Err(NOT_WHOLE),
    }
}

/// The value as a filter, for a change.
fn filter_mut(stored: &mut Stored) -> Result<&mut Filter, Refusal> {
    match stored {
        Stored::Filter(filter) => Ok(filter),
        Stored::Map(_) => Err(NO_FILTER),
        Stored::Part(_) => Err(NOT_WHOLE),
    }
}

/// The value as a map.
fn map(stored: &Stored) -> Result<&Map, Refusal> {
    match stored {
        Stored::Map(map) => Ok(map),
        Stored::Filter(_) => Err(NO_MAP),
        Stored::Part(_) => Err(NOT_WHOLE),
    }
}

/// Items in one buffer, in the library's form of many keys.
struct Items<'a> {
    items: Vec<&'a Argument>,
    bytes: Vec<u8>,
    offsets: Vec<u64>,
    /// The items as numbers, or the hashes of the items.
    numbers: Vec<u64>,
}

impl<'a> Items<'a> {
    /// Collects the items.
    ///
    /// # Errors
    /// [`Refusal::Arity`] for none.
    fn of(items: impl Iterator<Item = &'a Argument>) -> Result<Items<'a>, Refusal> {
        let items: Vec<_> = items.collect();
        match items[..] {
            [] => Err(Refusal::Arity),
            _ => Ok(Items { items, bytes: Vec::new(), offsets: Vec::new(), numbers: Vec::new() }),
        }
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    /// The items as keys of this filter. The items are hashed here, unless the filter takes whole keys.
    ///
    /// # Errors
    /// The errors of [`Items::keys`].
    fn keys_of_filter(&mut self, of: &Base) -> Result<Keys<'_>, Refusal> {
        if of.header().hash != HashFunction::Identity {
            let hash = |item: &&Argument| of.hasher().hash_bytes_at_once(item.bytes());
            self.numbers.reserve_exact(self.items.len());
            self.numbers.extend(self.items.iter().map_while(hash));
            if self.numbers.len() == self.items.len() {
                return Ok(Keys::Hashes(&self.numbers));
            }
        }
        self.keys(of)
    }

    /// The items as keys of this filter or map: bytes, or, if its keys are integers, numbers in digits.
    ///
    /// # Errors
    /// An error for an item that is not a number if the keys are integers.
    fn keys(&mut self, of: &Base) -> Result<Keys<'_>, Refusal> {
        if of.header().hash == HashFunction::Identity {
            self.numbers = self.items.iter().map(|item| number(item)).collect::<Result<_, _>>()?;
            return Ok(Keys::U64(&self.numbers));
        }
        self.offsets.reserve_exact(1 + self.items.len());
        self.offsets.push(0);
        for item in &self.items {
            self.bytes.extend_from_slice(item.bytes());
            self.offsets.push(self.bytes.len() as u64);
        }
        Ok(Keys::Bytes { bytes: &self.bytes, offsets: &self.offsets })
    }
}

/// The number of an item in digits.
fn number(item: &Argument) -> Result<u64, Refusal> {
    item.parse::<u64>().ok_or_else(|| {
        let item = String::from_utf8_lossy(item.bytes());
        Refusal::Of(format!("ERR the item {item} is not a whole number, as all keys of this kind are"))
    })
}
