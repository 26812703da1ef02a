//! The commands that make filters and change them.

use super::stored::Stored;
use super::{Items, NO_MAP, NO_VALUE, NOT_FOUND, NOT_WHOLE, filter, filter_mut, map, number, secret, to_change, value};
use crate::server::command::Handler;
use crate::server::key::Key;
use crate::server::lent::replace;
use crate::server::shared::Shared;
use crate::server::value::{Changing, Value};
use crate::server::{Argument, Context, Refusal, memory};
use petal::{Answers, Filter, HashFunction, Image, Keys, Map, Spec, Taken, image_size, parameter_of, registry};

/// `PETAL.RESERVE key kind capacity rate [SEED seed] [SECRET key] [SET parameter value]...`
pub fn reserve(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    secret::hide(context, arguments, 5);
    let [_, name, kind, capacity, rate, options @ ..] = arguments else { return Err(Refusal::Arity) };
    let spec = spec(context, kind, capacity, rate, options)?;
    let mut key = Key::write(context, name);
    if key.value::<Stored>()?.is_some() {
        return Err(Refusal::Said("ERR item exists"));
    }
    if !memory::has_room(context, image_size(&spec)?) {
        return Err(petal::Error::from(petal::Status::OutOfMemory).into());
    }
    let is_map = petal::row_of(&spec)?.is_map();
    key.set(Value::make(|| match is_map {
        true => petal::create_as(&spec).map(Stored::Map),
        false => petal::Filter::new(&spec).map(Stored::Filter),
    })?);
    match spec.secret {
        None => context.replicate_verbatim(),
        // Replicas get the digits of the secret key, so a key made for NEW is the same everywhere. The last of several
        // equal options counts.
        Some(key) => {
            let digits = secret::digits(&key);
            let mut words: Vec<&[u8]> = arguments[2..].iter().map(Argument::bytes).collect();
            words.extend([c"SECRET".to_bytes(), digits.as_bytes()]);
            context.replicate(c"PETAL.RESERVE", name, &words);
        }
    }
    context.reply_ok();
    Ok(())
}

/// The spec of the arguments.
fn spec(
    context: &Context,
    kind: &Argument,
    capacity: &Argument,
    rate: &Argument,
    options: &[Argument],
) -> Result<Spec, Refusal> {
    let text = |argument: &Argument| String::from_utf8_lossy(argument.bytes()).into_owned();
    let kind = text(kind);
    let row = registry::find_name(&kind)
        .ok_or_else(|| Refusal::Of(format!("ERR kind = {kind} is not a kind: PETAL.KINDS tells what there are")))?;
    if !row.is_made_empty() {
        return Err(Refusal::Of(format!(
            "ERR kind = {kind} is built from all of its items at once, and comes as an image: `petal build` makes a file \
             of items, and `petal redis import` a key of the file, or PETAL.IMPORT key iterator chunk of its bytes in \
             order, the iterator 1 more than the bytes up to the chunk's end"
        )));
    }
    let capacity = capacity.integer().filter(|capacity| *capacity > 0);
    let capacity = capacity.ok_or(Refusal::Said("ERR capacity is not a whole number from 1 on"))? as u64;
    let rate = rate.real().ok_or(Refusal::Said("ERR the rate is not a number"))?;
    let mut spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(capacity, rate)? };
    // A kind with its own hash function has no other.
    if let [only] = row.hash_functions() {
        spec.hash = *only;
    }
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if option.is("SET") {
            let [parameter, value] = [options.next(), options.next()].map(|word| word.map(text).unwrap_or_default());
            let parameter = parameter_of(&spec, &parameter)?;
            spec.set(parameter, parameter.parse(&value)?)?;
        } else if option.is("SEED") {
            let seed = options.next().and_then(Argument::integer).filter(|seed| *seed >= 0);
            spec.seed = seed.ok_or(Refusal::Said("ERR the seed is not a whole number from 0 on"))? as u64;
        } else if option.is("SECRET") {
            spec.secret = Some(secret::of(context, options.next())?);
            spec.hash = HashFunction::SipHash13;
        } else {
            let option = text(option);
            return Err(Refusal::Of(format!("ERR the option {option} is not one of SET, SEED and SECRET")));
        }
    }
    Ok(spec)
}

/// `PETAL.ADD key item`
pub fn add(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let mut key = Key::write(context, name);
    let is_new = to_change(context, &mut key)?.change(|stored| {
        let filter = filter_mut(stored)?;
        match filter.base().header().hash {
            HashFunction::Identity => Ok::<_, Refusal>(filter.insert_u64(number(item)?)?),
            _ => Ok(filter.insert(item.bytes())?),
        }
    })?;
    context.replicate_verbatim();
    context.reply_boolean(is_new);
    Ok(())
}

/// `PETAL.MADD key item [item ...]`
pub fn add_many(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    if context.in_pieces(arguments, 2, 1, add_many) {
        return Ok(());
    }
    let mut items = Items::of(items.iter())?;
    let mut key = Key::write(context, name);
    let mut value = to_change(context, &mut key)?;
    let count = items.len();
    let keys = items.keys_of_filter(filter(value.get())?.base())?;
    change_many(
        context,
        &mut value,
        count,
        |stored, answers| Ok(filter_mut(stored)?.insert_batch(&keys, Some(answers))),
    )
}

/// `PETAL.REMOVE key item [item ...]`
pub fn remove(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    change_counted(context, arguments, remove, Filter::remove_batch)
}

/// `PETAL.REJUVENATE key item [item ...]`
pub fn rejuvenate(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    change_counted(context, arguments, rejuvenate, Filter::rejuvenate_batch)
}

/// Changes a filter by items, and replies with the number of items that changed it.
fn change_counted(
    context: &Context,
    arguments: &[Argument],
    command: Handler,
    change: fn(&mut Filter, &Keys, Option<&mut Answers>) -> Taken,
) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    if context.in_pieces(arguments, 2, 1, command) {
        return Ok(());
    }
    let mut items = Items::of(items.iter())?;
    let mut key = Key::write(context, name);
    let mut value = to_change(context, &mut key)?;
    let keys = items.keys_of_filter(filter(value.get())?.base())?;
    let (changed, outcome) = value.change(|stored| {
        let mut answers = Answers::default();
        let taken = change(filter_mut(stored)?, &keys, Some(&mut answers));
        Ok::<_, Refusal>((answers.true_count, taken.outcome))
    })?;
    if changed > 0 {
        context.replicate_verbatim();
    }
    outcome?;
    context.reply_sum(changed);
    Ok(())
}

/// `PETAL.MAPPUT key item value [item value ...]`
pub fn map_put(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    put(context, arguments, map_put, Map::put_batch)
}

/// `PETAL.MAPREPLACE key item value [item value ...]`
pub fn map_replace(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    put(context, arguments, map_replace, Map::replace_batch)
}

/// Gives items their values in a map, and replies the result of `give` for each.
fn put(
    context: &Context,
    arguments: &[Argument],
    command: Handler,
    give: fn(&mut Map, &Keys, &[u64], Option<&mut Answers>) -> Taken,
) -> Result<(), Refusal> {
    let [_, name, pairs @ ..] = arguments else { return Err(Refusal::Arity) };
    let (pairs, []) = pairs.as_chunks::<2>() else { return Err(Refusal::Arity) };
    if context.in_pieces(arguments, 2, 2, command) {
        return Ok(());
    }
    let values = pairs.iter().map(|[_, value]| value.parse::<u64>().ok_or(NO_VALUE)).collect::<Result<Vec<_>, _>>()?;
    let mut items = Items::of(pairs.iter().map(|[item, _]| item))?;
    let mut key = Key::write(context, name);
    let mut value = to_change(context, &mut key)?;
    let keys = items.keys(map(value.get())?.base())?;
    change_many(context, &mut value, values.len(), |stored, answers| match stored {
        Stored::Map(map) => Ok(give(map, &keys, &values, Some(answers))),
        _ => Err(NO_MAP),
    })
}

/// Changes a value by many items, and replies the answer for each. If an item is refused, the replies end with an
/// error.
fn change_many(
    context: &Context,
    value: &mut Changing<Stored>,
    count: usize,
    change: impl FnOnce(&mut Stored, &mut Answers) -> Result<Taken, Refusal>,
) -> Result<(), Refusal> {
    let mut answered = vec![0; count];
    let mut answers = Answers { bytes: Some(&mut answered), ..Answers::default() };
    let taken = value.change(|stored| change(stored, &mut answers))?;
    if taken.keys == 0
        && let Err(error) = taken.outcome
    {
        return Err(error.into());
    }
    context.replicate_verbatim();
    context.reply_array(taken.keys + usize::from(taken.outcome.is_err()));
    answered[..taken.keys].iter().for_each(|answer| context.reply_boolean(*answer != 0));
    if let Err(error) = taken.outcome {
        context.reply_last(&error.into());
    }
    Ok(())
}

/// `PETAL.CLEAR key`
pub fn clear(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name] = arguments else { return Err(Refusal::Arity) };
    changed_whole(context, arguments, name, clear, |stored| match stored {
        Stored::Filter(filter) => Ok(filter.clear()?),
        Stored::Map(map) => Ok(map.clear()?),
        Stored::Part(_) => Err(NOT_WHOLE),
    })
}

/// Changes the first key's value as a whole. The change is in place if it is fast. Otherwise the module's thread
/// changes a copy, which then replaces the value.
fn changed_whole(
    context: &Context,
    arguments: &[Argument],
    name: &Argument,
    command: Handler,
    change: impl FnOnce(&mut Stored) -> Result<(), Refusal> + Send + 'static,
) -> Result<(), Refusal> {
    let mut key = Key::write(context, name);
    let whole = value(&key)?;
    if context.goes_beside(whole.bytes()) {
        whole.check_free(context)?;
        return replace(context, arguments, 1, command, Context::reply_ok, |values: &[Shared<Stored>]| {
            let [value] = values else { return Err(NOT_FOUND) };
            let mut whole = value.copy()?;
            change(&mut whole)?;
            Ok(whole)
        });
    }
    to_change(context, &mut key)?.change(change)?;
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}

/// `PETAL.ADVANCE key [steps]`
pub fn advance(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let (name, steps) = match arguments {
        [_, name] => (name, Some(1)),
        [_, name, steps] => (name, steps.integer().filter(|steps| *steps >= 0)),
        _ => return Err(Refusal::Arity),
    };
    let steps = steps.ok_or(Refusal::Said("ERR the steps are not a whole number from 0 on"))? as u64;
    changed_whole(context, arguments, name, advance, move |stored| Ok(filter_mut(stored)?.advance(steps)?))
}

/// `PETAL.MERGE key other [other ...]`
pub fn merge(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    combine(context, arguments, merge, Filter::merge, Map::merge)
}

/// `PETAL.INTERSECT key other [other ...]`
pub fn intersect(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    combine(context, arguments, intersect, Filter::intersect, |map, _| {
        let name = map.base().row().name;
        Err(petal::Error::new(petal::Status::Unsupported, format_args!("maps of the kind {name} cannot intersect")))
    })
}

/// Combines the first key's value with each of the others, and stores the result in the first key.
fn combine(
    context: &Context,
    arguments: &[Argument],
    command: Handler,
    filters: fn(&mut Filter, &Filter) -> petal::Result<()>,
    maps: fn(&mut Map, &Map) -> petal::Result<()>,
) -> Result<(), Refusal> {
    let [_, name, others @ ..] = arguments else { return Err(Refusal::Arity) };
    if others.is_empty() {
        return Err(Refusal::Arity);
    }
    for other in others {
        value(&Key::read(context, other))?;
    }
    if let Some(value) = Key::write(context, name).value::<Stored>()? {
        value.check_free(context)?;
    }
    replace(context, arguments, 1 + others.len(), command, Context::reply_ok, move |values: &[Shared<Stored>]| {
        let [first, others @ ..] = values else { return Err(NOT_FOUND) };
        let mut whole = first.copy()?;
        for other in others {
            match (&mut whole, &**other) {
                (Stored::Filter(filter), Stored::Filter(other)) => filters(filter, other)?,
                (Stored::Map(map), Stored::Map(other)) => maps(map, other)?,
                (Stored::Part(_), _) | (_, Stored::Part(_)) => return Err(NOT_WHOLE),
                _ => return Err(Refusal::Said("ERR a filter and a map have nothing in common")),
            }
        }
        match whole {
            Stored::Part(_) => Err(NOT_WHOLE),
            whole => Ok(whole),
        }
    })
}
