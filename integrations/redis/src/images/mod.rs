//! `PETAL.*`: filters and maps of every kind, by the kind's name. What kinds there are, and what each can do, is the
//! library's to say.

mod change;
mod chunks;
mod kept;
mod secret;
pub mod stored;
mod tell;

use crate::server::command::commands;
use crate::server::key::Key;
use crate::server::value::{Changing, Value};
use crate::server::{Argument, Context, Refusal};
use petal::{Base, Filter, HashFunction, Keys, Map};
use stored::Stored;

commands! {
    change::reserve: c"PETAL.RESERVE", c"write deny-oom", -5, 1, Make,
        c"Makes an empty filter of a kind", c"O(1)";
    change::add: c"PETAL.ADD", c"write deny-oom fast", 3, 1, Insert,
        c"Adds an item to a filter", c"O(1), or what the kind says";
    change::add_many: c"PETAL.MADD", c"write deny-oom", -3, 1, Insert,
        c"Adds items to a filter", c"O(n), with n the items";
    change::remove: c"PETAL.REMOVE", c"write", -3, 1, Update,
        c"Removes items from a filter, once each", c"O(n), with n the items";
    change::map_put: c"PETAL.MAPPUT", c"write deny-oom", -4, 1, Insert,
        c"Gives items values in a map that is made empty, joined to those that they had", c"O(n), with n the items";
    change::map_replace: c"PETAL.MAPREPLACE", c"write", -4, 1, Update,
        c"Gives items of a map other values in place of their own", c"O(n), with n the items";
    change::clear: c"PETAL.CLEAR", c"write", 2, 1, Update,
        c"Removes all items from a filter", c"O(n), with n the bytes of the filter";
    change::advance: c"PETAL.ADVANCE", c"write fast", -2, 1, Update,
        c"Moves the time of a filter on that forgets its oldest items", c"O(n), with n the bytes of what is forgotten";
    change::merge: c"PETAL.MERGE", c"write deny-oom", -3, -1, Insert,
        c"Unites filters, or maps, with the first, which is made if it is not there", c"O(n), with n the bytes of all";
    change::intersect: c"PETAL.INTERSECT", c"write deny-oom", -3, -1, Update,
        c"Intersects filters with the first, which is made if it is not there", c"O(n), with n the bytes of all";
    tell::exists: c"PETAL.EXISTS", c"readonly fast", 3, 1, Read,
        c"Tells whether an item may have been added to a filter", c"O(1), or what the kind says";
    tell::exist: c"PETAL.MEXISTS", c"readonly", -3, 1, Read,
        c"Tells of items whether they may have been added to a filter", c"O(n), with n the items";
    tell::count: c"PETAL.COUNT", c"readonly fast", 3, 1, Read,
        c"Tells how often an item was added to a filter", c"O(1), or what the kind says";
    tell::counts: c"PETAL.MCOUNT", c"readonly", -3, 1, Read,
        c"Tells of items how often they were added to a filter", c"O(n), with n the items";
    tell::values: c"PETAL.MAPGET", c"readonly", -3, 1, Read,
        c"Tells the values of items in a map", c"O(n), with n the items";
    tell::estimate: c"PETAL.ESTIMATE", c"readonly", -2, -1, Read,
        c"Estimates how many distinct items a filter holds, or two hold in common", c"O(n), with n the bytes";
    tell::info: c"PETAL.INFO", c"readonly fast", 2, 1, Read,
        c"Tells what a filter or map is, how large, and what it can do", c"O(1)";
    tell::kinds: c"PETAL.KINDS", c"readonly fast", 1, 0, Read,
        c"Tells what kinds there are, and what each can do", c"O(1)";
    chunks::export: c"PETAL.EXPORT", c"readonly", 3, 1, Read,
        c"Gives the image of a filter or map in chunks", c"O(n), with n the bytes, of all for the last chunk";
    chunks::import: c"PETAL.IMPORT", c"write deny-oom", -4, 1, Insert,
        c"Makes a filter or map of the chunks of an image", c"O(n), with n the bytes, of all for the last chunk";
}

const NOT_FOUND: Refusal = Refusal::Said("ERR not found");
const NO_FILTER: Refusal = Refusal::Said("ERR the key holds a map, not a filter: PETAL.MAPGET tells its values");
const NO_MAP: Refusal = Refusal::Said("ERR the key holds a filter, not a map");
const NO_VALUE: Refusal = Refusal::Said("ERR the value of an item is not a whole number from 0 on");
const NOT_WHOLE: Refusal = Refusal::Said("ERR chunks of the key's image are missing: PETAL.IMPORT takes them");

/// The value of a key that has to be there.
fn value(key: &Key) -> Result<&Value<Stored>, Refusal> {
    key.value::<Stored>()?.ok_or(NOT_FOUND)
}

/// The value of a key that has to be there, to be changed.
fn to_change<'k>(context: &Context, key: &'k mut Key) -> Result<Changing<'k, Stored>, Refusal> {
    key.to_change::<Stored>(context)?.ok_or(NOT_FOUND)
}

/// The filter that a value is.
fn filter(stored: &Stored) -> Result<&Filter, Refusal> {
    match stored {
        Stored::Filter(filter) => Ok(filter),
        Stored::Map(_) => Err(NO_FILTER),
        Stored::Part(_) => Err(NOT_WHOLE),
    }
}

/// The filter that a value is, to be changed.
fn filter_mut(stored: &mut Stored) -> Result<&mut Filter, Refusal> {
    match stored {
        Stored::Filter(filter) => Ok(filter),
        Stored::Map(_) => Err(NO_FILTER),
        Stored::Part(_) => Err(NOT_WHOLE),
    }
}

/// The map that a value is.
fn map(stored: &Stored) -> Result<&Map, Refusal> {
    match stored {
        Stored::Map(map) => Ok(map),
        Stored::Filter(_) => Err(NO_MAP),
        Stored::Part(_) => Err(NOT_WHOLE),
    }
}

/// Items one after the other, as the library takes many keys.
struct Items<'a> {
    items: Vec<&'a Argument>,
    bytes: Vec<u8>,
    offsets: Vec<u64>,
    /// Items that are numbers, or the hashes of items.
    numbers: Vec<u64>,
}

impl<'a> Items<'a> {
    /// These items.
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

    /// The items as keys of this filter: hashed where they lie, if it hashes keys by themselves.
    ///
    /// # Errors
    /// As [`Items::keys`].
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

    /// The items as keys of this filter or map: numbers in digits where its keys are integers, and otherwise bytes.
    ///
    /// # Errors
    /// An item that is no number where only numbers are keys.
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

/// The number that an item is.
fn number(item: &Argument) -> Result<u64, Refusal> {
    item.unsigned().ok_or_else(|| {
        let item = String::from_utf8_lossy(item.bytes());
        Refusal::Of(format!("ERR the item {item} is not a whole number, as all keys of this kind are"))
    })
}
