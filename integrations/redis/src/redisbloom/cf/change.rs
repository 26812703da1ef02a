//! The commands that make filters and change them.

use super::super::{Chunked, EXISTS, NOT_FOUND, of_first_chunk, reserve as reserve_key, value_or_made};
use super::tables::{Full, Tables};
use super::{POSITION, Wanted};
use crate::server::defaults::{self, MOST_KEYS};
use crate::server::key::Key;
use crate::server::lent::replace;
use crate::server::shared::Shared;
use crate::server::value::DataType;
use crate::server::{Argument, Context, Refusal, memory};

/// An option of `CF.RESERVE`, with its smallest and largest value.
type Choice = (&'static str, (u64, u64));

/// `CF.RESERVE key capacity [BUCKETSIZE slots] [MAXITERATIONS kicks] [EXPANSION expansion]`
pub fn reserve(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, capacity, options @ ..] = arguments else { return Err(Refusal::Arity) };
    if options.len() % 2 != 0 {
        return Err(Refusal::Arity);
    }
    let capacity = capacity.integer().ok_or(Refusal::Said("Bad capacity"))?;
    let mut wanted = Wanted::usual();
    let fields: [(Choice, &mut u64); 3] = [
        (("MAXITERATIONS", (1, 65535)), &mut wanted.kicks),
        (("BUCKETSIZE", defaults::slots()), &mut wanted.slots),
        (("EXPANSION", (0, 32768)), &mut wanted.expansion),
    ];
    // RedisBloom ignores unknown options, and takes the first of two equal options; so does this loop.
    for ((word, (least, most)), field) in fields {
        let Some(place) = options.iter().position(|option| option.is(word)) else { continue };
        let value = options.get(place + 1).and_then(Argument::integer);
        let value = value.ok_or_else(|| Refusal::Of(format!("Couldn't parse {word}")))?;
        let value = u64::try_from(value).ok().filter(|value| (least..=most).contains(value));
        *field = value.ok_or_else(|| Refusal::Of(format!("{word}: value must be in the range [{least}, {most}]")))?;
    }
    let capacity = u64::try_from(capacity).ok().filter(|keys| is_capacity(context, *keys, wanted.least_capacity()));
    wanted.capacity =
        capacity.ok_or_else(|| Refusal::Of(format!("Capacity must be in the range [2 * BUCKETSIZE, {MOST_KEYS}]")))?;
    reserve_key(context, name, || wanted.make(context))
}

/// Whether a filter may have this capacity. A replicated command may ask for more: a module without this bound accepted
/// it.
fn is_capacity(context: &Context, keys: u64, least: u64) -> bool {
    keys >= least && (keys <= MOST_KEYS || context.is_repetition())
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
    let mut outcome = Ok(false);
    add_items(context, name, items, Some(&Wanted::usual()), only_new, |one| outcome = one)?;
    context.reply_boolean(outcome.map_err(refusal)?);
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
    let (mut wanted, mut creates) = (Wanted::usual(), true);
    let mut left = rest.iter();
    let items = loop {
        let option = left.next().ok_or(Refusal::Arity)?;
        if option.is("ITEMS") {
            break left.as_slice();
        } else if option.is("CAPACITY") {
            let value = left.next().ok_or(Refusal::Arity)?.integer().ok_or(Refusal::Said("Bad capacity"))?;
            let value = u64::try_from(value).ok();
            let value = value.filter(|keys| is_capacity(context, *keys, wanted.least_capacity()));
            wanted.capacity = value.ok_or_else(|| {
                Refusal::Of(format!("Capacity must be in the range [cf-bucket-size * 2, {MOST_KEYS}]"))
            })?;
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

    let mut outcomes = Vec::with_capacity(items.len());
    add_items(context, name, items, creates.then_some(&wanted), only_new, |outcome| outcomes.push(outcome))?;
    context.reply_array(outcomes.len());
    for outcome in outcomes {
        match outcome {
            // Insertion of new items has three answers, for which RedisBloom replies numbers, in RESP3 too.
            Ok(is_new) if only_new => context.reply_integer(is_new.into()),
            Ok(is_new) => context.reply_boolean(is_new),
            Err(_) if context.is_resp3() && !only_new => context.reply_boolean(false),
            Err(_) => context.reply_integer(-1),
        }
    }
    Ok(())
}

/// Adds items to the filter of a key, and makes a missing filter if `wanted` says how. Calls `take` for each item:
/// whether the item was added, or why not. With `only_new`, an item that may already be there is not added.
fn add_items(
    context: &Context,
    name: &Argument,
    items: &[Argument],
    wanted: Option<&Wanted>,
    only_new: bool,
    mut take: impl FnMut(Result<bool, Full>),
) -> Result<(), Refusal> {
    let mut key = Key::write(context, name);
    let make = wanted.map(|wanted| || wanted.make(context));
    let mut value = value_or_made::<Tables>(context, &mut key, name, make)?;
    if value.get().len() as u64 >= defaults::most_tables() {
        return Err(Refusal::Said("Maximum expansions reached"));
    }
    let has_room = |bytes| memory::has_room(context, bytes);
    let mut is_changed = false;
    value.change(|tables| {
        for item in items.iter().map(Argument::bytes) {
            let outcome = match only_new && tables.contains(item) {
                true => Ok(false),
                false => tables.add(item, &has_room).map(|()| true),
            };
            is_changed |= outcome == Ok(true);
            take(outcome);
        }
    });
    if is_changed {
        context.replicate_verbatim();
    }
    Ok(())
}

/// The error for a key that was not added.
fn refusal(full: Full) -> Refusal {
    Refusal::Said(match full {
        Full::NonScaling => "Filter is full",
        Full::Memory => "ERR Insufficient memory",
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

/// A changed copy of a lent value.
fn changed<R>(values: &[Shared<Tables>], change: impl FnOnce(&mut Tables) -> R) -> Result<Tables, Refusal> {
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

/// The length of the first chunk in bytes.
const HEADER_BYTES: usize = 38;

const NOT_CREATED: Refusal = Refusal::Said("Couldn't create filter!");
const BAD_CHUNK: Refusal = Refusal::Said("Couldn't load chunk!");
