//! The commands that make filters and change them.

use super::super::{Chunked, EXISTS, NOT_FOUND, of_first_chunk, reserve as reserve_key, value_or_made};
use super::tables::{Full, Tables};
use super::{POSITION, Wanted};
use crate::defaults;
use crate::server::key::Key;
use crate::server::lent::replace;
use crate::server::value::DataType;
use crate::server::{Argument, Context, Refusal, memory};
use std::sync::Arc;

const TOO_SMALL: Refusal = Refusal::Said("Capacity must be at least (BucketSize * 2)");

/// The options of `CF.RESERVE`: name, smallest and largest value, and what is said of one that is no number, and of one
/// that is out of its range.
const OPTIONS: [(&str, i64, i64, Refusal, Refusal); 3] = [
    (
        "MAXITERATIONS",
        1,
        65535,
        Refusal::Said("Couldn't parse MAXITERATIONS"),
        Refusal::Said("MAXITERATIONS: value must be an integer between 1 and 65535, inclusive."),
    ),
    (
        "BUCKETSIZE",
        1,
        255,
        Refusal::Said("Couldn't parse BUCKETSIZE"),
        Refusal::Said("BUCKETSIZE: value must be an integer between 1 and 255, inclusive."),
    ),
    (
        "EXPANSION",
        0,
        32768,
        Refusal::Said("Couldn't parse EXPANSION"),
        Refusal::Said("EXPANSION: value must be an integer between 0 and 32768, inclusive."),
    ),
];

/// `CF.RESERVE key capacity [BUCKETSIZE slots] [MAXITERATIONS kicks] [EXPANSION expansion]`
pub fn reserve(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, capacity, options @ ..] = arguments else { return Err(Refusal::Arity) };
    if options.len() % 2 != 0 {
        return Err(Refusal::Arity);
    }
    let capacity = capacity.integer().ok_or(Refusal::Said("Bad capacity"))?;
    let mut wanted = Wanted::USUAL;
    let fields = [&mut wanted.kicks, &mut wanted.slots, &mut wanted.expansion];
    // What is none of them is ignored, as RedisBloom ignores it.
    for ((word, least, most, no_number, out_of_range), field) in OPTIONS.into_iter().zip(fields) {
        let Some(place) = options.iter().position(|option| option.is(word)) else { continue };
        let value = options.get(place + 1).and_then(Argument::integer).ok_or(no_number)?;
        *field = if (least..=most).contains(&value) { value as u64 } else { return Err(out_of_range) };
    }
    wanted.capacity = u64::try_from(capacity).ok().filter(|keys| *keys >= wanted.least_capacity()).ok_or(TOO_SMALL)?;
    reserve_key(context, name, || wanted.make(context, Refusal::Said("Couldn't create Cuckoo Filter")))
}

/// `CF.ADD key item`
pub fn add(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    add_one(context, arguments, false)
}

/// `CF.ADDNX key item`
pub fn add_new(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    add_one(context, arguments, true)
}

fn add_one(context: &Context, arguments: &[Argument], only_new: bool) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    let [_] = items else { return Err(Refusal::Arity) };
    for outcome in add_items(context, name, items, Some(&Wanted::USUAL), only_new)? {
        context.reply_boolean(outcome.map_err(refusal)?);
    }
    Ok(())
}

/// `CF.INSERT key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]`
pub fn insert(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    insert_items(context, arguments, false)
}

/// `CF.INSERTNX key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]`
pub fn insert_new(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    insert_items(context, arguments, true)
}

fn insert_items(context: &Context, arguments: &[Argument], only_new: bool) -> Result<(), Refusal> {
    let [_, name, rest @ ..] = arguments else { return Err(Refusal::Arity) };
    let (mut wanted, mut creates) = (Wanted::USUAL, true);
    let mut left = rest.iter();
    let items = loop {
        let option = left.next().ok_or(Refusal::Arity)?;
        if option.is("ITEMS") {
            break left.as_slice();
        } else if option.is("CAPACITY") {
            let value = left.next().ok_or(Refusal::Arity)?.integer().ok_or(Refusal::Said("Bad capacity"))?;
            let value = u64::try_from(value).ok().filter(|keys| *keys >= wanted.least_capacity());
            wanted.capacity = value.ok_or(TOO_SMALL)?;
        } else if option.is("NOCREATE") {
            creates = false;
        } else {
            return Err(Refusal::Said("Unknown argument received"));
        }
    };
    if items.is_empty() {
        return Err(Refusal::Arity);
    }
    let command = if only_new { insert_new } else { insert };
    if context.in_pieces(arguments, arguments.len() - items.len(), 1, command) {
        return Ok(());
    }
    let outcomes = add_items(context, name, items, creates.then_some(&wanted), only_new)?;
    context.reply_array(outcomes.len());
    for outcome in outcomes {
        match outcome {
            // RedisBloom replies numbers where there are three answers, in RESP3 as well.
            Ok(is_new) if only_new => context.reply_integer(is_new.into()),
            Ok(is_new) => context.reply_boolean(is_new),
            Err(Full::NonScaling) if context.is_resp3() && !only_new => context.reply_boolean(false),
            Err(Full::NonScaling) => context.reply_integer(-1),
            Err(full) => context.reply_refusal(&refusal(full)),
        }
    }
    Ok(())
}

/// Adds items to the filter of a key, which is made if it is wanted and not there: of each whether it was added, or why
/// it could not be. An item that may be there is not, if `only_new` ones are wanted.
fn add_items(
    context: &Context,
    name: &Argument,
    items: &[Argument],
    wanted: Option<&Wanted>,
    only_new: bool,
) -> Result<Vec<Result<bool, Full>>, Refusal> {
    let mut key = Key::write(context, name);
    let no_memory = Refusal::Said("Could not create filter");
    let make = wanted.map(|wanted| || wanted.make(context, no_memory));
    let mut value = value_or_made::<Tables>(context, &mut key, name, make)?;
    if value.get().len() as u64 >= defaults::most_tables() {
        return Err(Refusal::Said("Maximum expansions reached"));
    }
    let has_room = |bytes| memory::has_room(context, bytes);
    // All of their room at once: what is allocated while a value changes is taken for the value's.
    let mut outcomes = Vec::with_capacity(items.len());
    value.change(|tables| {
        outcomes.extend(items.iter().map(Argument::bytes).map(|item| match only_new && tables.contains(item) {
            true => Ok(false),
            false => tables.add(item, &has_room).map(|()| true),
        }));
    });
    if outcomes.contains(&Ok(true)) {
        context.replicate_verbatim();
    }
    Ok(outcomes)
}

/// The error of a key that was not added.
fn refusal(full: Full) -> Refusal {
    Refusal::Said(match full {
        Full::NonScaling => "Filter is full",
        Full::Memory => "Memory allocation failure",
    })
}

/// `CF.DEL key item`
pub fn delete(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let mut key = Key::write(context, name);
    let value = key.value::<Tables>().ok().flatten().ok_or(Refusal::Said("Not found"))?;
    if !value.get().contains(item.bytes()) {
        context.reply_boolean(false);
        return Ok(());
    }
    if value.get().is_compacted_next() && context.goes_beside(value.bytes()) {
        value.check_free(context)?;
        let item = item.bytes().to_vec();
        return replace(
            context,
            arguments,
            1,
            delete,
            |context| context.reply_boolean(true),
            move |values| changed(values, |tables| tables.delete(&item)),
        );
    }
    let was_there =
        key.to_change::<Tables>(context)?.is_some_and(|mut value| value.change(|tables| tables.delete(item.bytes())));
    context.replicate_verbatim();
    context.reply_boolean(was_there);
    Ok(())
}

/// `CF.COMPACT key`
pub fn compact(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name] = arguments else { return Err(Refusal::Arity) };
    let mut key = Key::write(context, name);
    let value = key.value::<Tables>().ok().flatten().ok_or(NO_FILTER)?;
    if context.goes_beside(value.bytes()) {
        value.check_free(context)?;
        return replace(context, arguments, 1, compact, Context::reply_ok, |values| {
            changed(values, |tables| tables.compact(true))
        });
    }
    key.to_change::<Tables>(context)?.ok_or(NO_FILTER)?.change(|tables| tables.compact(true));
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}

/// A changed copy of a value that was lent.
fn changed<R>(values: &[Arc<Tables>], change: impl FnOnce(&mut Tables) -> R) -> Result<Tables, Refusal> {
    let [value] = values else { return Err(NO_FILTER) };
    let mut copy = value.copy()?;
    change(&mut copy);
    Ok(copy)
}

const NO_FILTER: Refusal = Refusal::Said("Cuckoo filter was not found");

/// `CF.LOADCHUNK key iterator data`
pub fn load(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, iterator, data] = arguments else { return Err(Refusal::Arity) };
    let iterator = iterator.integer().filter(|iterator| *iterator > 0).ok_or(POSITION)?;
    let mut key = Key::write(context, name);
    match key.to_change::<Tables>(context)? {
        Some(_) if iterator == 1 => return Err(EXISTS),
        Some(_) if data.bytes().is_empty() => return Err(BAD_CHUNK),
        Some(mut value) => value.change(|tables| tables.load(iterator, data.bytes())).map_err(|_| BAD_CHUNK)?,
        None if iterator > 1 => return Err(NOT_FOUND),
        None if data.bytes().len() != HEADER_BYTES => return Err(Refusal::Said("Invalid header")),
        None => key.set(of_first_chunk::<Tables>(context, data, NOT_CREATED, NOT_CREATED)?),
    }
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}

/// The bytes of the first chunk.
const HEADER_BYTES: usize = 38;

const NOT_CREATED: Refusal = Refusal::Said("Couldn't create filter!");
const BAD_CHUNK: Refusal = Refusal::Said("Couldn't load chunk!");
