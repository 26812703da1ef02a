//! The commands that only read.

use super::super::{Chunked, NOT_FOUND, reply_fields};
use super::POSITION;
use super::tables::Tables;
use crate::server::defaults;
use crate::server::key::Key;
use crate::server::{Argument, Context, Refusal};
use petal::interop::redisbloom_cuckoo::Header;

/// `CF.COUNT key item`: 0 for a missing key, and for a value of another type.
pub fn count(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    let value = key.value::<Tables>().ok().flatten();
    context.reply_count(value.map_or(0, |value| value.get().count(item.bytes())));
    Ok(())
}

/// `CF.INFO key`
pub fn info(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    let filter = key.value::<Tables>()?.ok_or(NOT_FOUND)?.get();
    let Header { keys, buckets, deleted, tables, slots, kicks, expansion } = filter.header();
    let fields = [
        ("Size", filter.stated_bytes()),
        ("Number of buckets", buckets),
        ("Number of filters", tables),
        ("Number of items inserted", keys),
        ("Number of items deleted", deleted),
        ("Bucket size", slots),
        ("Expansion rate", expansion),
        ("Max iterations", kicks),
    ];
    reply_fields(context, fields.into_iter().map(|(name, value)| (name, Some(value))));
    Ok(())
}

/// `CF.DEBUG key`
pub fn debug(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    let header = key.value::<Tables>()?.ok_or(NOT_FOUND)?.get().header();
    let Header { keys, buckets, deleted, tables, slots, kicks, expansion } = header;
    let line = format!(
        "bktsize:{slots} buckets:{buckets} items:{keys} deletes:{deleted} filters:{tables} max_iterations:{kicks} \
         expansion:{expansion}"
    );
    context.reply_bytes(line.as_bytes());
    Ok(())
}

/// `CF.SCANDUMP key iterator`: no chunk for an empty filter.
pub fn dump(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, iterator] = arguments else { return Err(Refusal::Arity) };
    let iterator = iterator.integer().and_then(|iterator| u64::try_from(iterator).ok()).ok_or(POSITION)?;
    let key = Key::read(context, name);
    let filter = key.value::<Tables>()?.ok_or(NOT_FOUND)?.get();
    let header = filter.header_bytes()?;
    let chunk = match iterator {
        _ if filter.header().keys == 0 => None,
        0 => Some((0, &header[..])),
        at => filter.chunk(at - 1, defaults::chunk()),
    };
    context.reply_array(2);
    match chunk {
        Some((end, bytes)) => {
            context.reply_count(end + 1);
            context.reply_bytes(bytes);
        }
        None => {
            context.reply_integer(0);
            context.reply_null();
        }
    }
    Ok(())
}
