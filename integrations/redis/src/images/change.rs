//! The commands that make filters and change them.

use super::stored::Stored;
use super::{Items, NOT_FOUND, NOT_WHOLE, filter, filter_mut, number, value};
use crate::server::key::Key;
use crate::server::value::Value;
use crate::server::{Argument, Context, Refusal, memory};
use petal::{Answers, Filter, HashFunction, Image, Map, Spec, image_size, parameter_of, registry};

/// `PETAL.RESERVE key kind capacity rate [SEED seed] [SET parameter value]...`
pub fn reserve(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, kind, capacity, rate, options @ ..] = arguments else { return Err(Refusal::Arity) };
    let spec = spec(kind, capacity, rate, options)?;
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
        false => petal::create(&spec).map(Stored::Filter),
    })?);
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}

/// What is asked for.
fn spec(kind: &Argument, capacity: &Argument, rate: &Argument, options: &[Argument]) -> Result<Spec, Refusal> {
    let text = |argument: &Argument| String::from_utf8_lossy(argument.bytes()).into_owned();
    let kind = text(kind);
    let row = registry::find_name(&kind)
        .ok_or_else(|| Refusal::Of(format!("ERR kind = {kind} is not a kind: PETAL.KINDS tells what there are")))?;
    let capacity = capacity.integer().filter(|capacity| *capacity > 0);
    let capacity = capacity.ok_or(Refusal::Said("ERR capacity is not a whole number from 1 on"))? as u64;
    let rate = rate.real().ok_or(Refusal::Said("ERR the rate is not a number"))?;
    let mut spec = Spec { kind: Some(row.kind), ..Spec::with_capacity(capacity, rate)? };
    // Where a kind has a hash function of its own there is no other.
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
        } else {
            let option = text(option);
            return Err(Refusal::Of(format!("ERR the option {option} is not one of SET and SEED")));
        }
    }
    Ok(spec)
}

/// `PETAL.ADD key item`
pub fn add(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let mut key = Key::write(context, name);
    let is_new = value(&mut key)?.change(|stored| {
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
    let mut items = Items::of(items)?;
    let mut new = vec![0; items.len()];
    let mut key = Key::write(context, name);
    let value = value(&mut key)?;
    let keys = items.keys(filter(value.get())?.base())?;
    let taken = value.change(|stored| {
        let mut answers = Answers { bytes: Some(&mut new), ..Answers::default() };
        Ok::<_, Refusal>(filter_mut(stored)?.insert_batch(&keys, Some(&mut answers)))
    })?;
    if taken.keys == 0
        && let Err(error) = taken.outcome
    {
        return Err(error.into());
    }
    context.replicate_verbatim();
    context.reply_array(taken.keys + usize::from(taken.outcome.is_err()));
    new[..taken.keys].iter().for_each(|new| context.reply_boolean(*new != 0));
    if let Err(error) = taken.outcome {
        context.reply_refusal(&error.into());
    }
    Ok(())
}

/// `PETAL.REMOVE key item [item ...]`
pub fn remove(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    let mut items = Items::of(items)?;
    let mut key = Key::write(context, name);
    let value = value(&mut key)?;
    let keys = items.keys(filter(value.get())?.base())?;
    let (removed, outcome) = value.change(|stored| {
        let mut answers = Answers::default();
        let taken = filter_mut(stored)?.remove_batch(&keys, Some(&mut answers));
        Ok::<_, Refusal>((answers.true_count, taken.outcome))
    })?;
    if removed > 0 {
        context.replicate_verbatim();
    }
    outcome?;
    context.reply_count(removed);
    Ok(())
}

/// `PETAL.CLEAR key`
pub fn clear(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name] = arguments else { return Err(Refusal::Arity) };
    let mut key = Key::write(context, name);
    value(&mut key)?.change(|stored| {
        Ok::<_, Refusal>(match stored {
            Stored::Filter(filter) => filter.clear()?,
            Stored::Map(map) => map.clear()?,
            Stored::Part(_) => return Err(NOT_WHOLE),
        })
    })?;
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
    let mut key = Key::write(context, name);
    value(&mut key)?.change(|stored| Ok::<_, Refusal>(filter_mut(stored)?.advance(steps)?))?;
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}

/// `PETAL.MERGE key other [other ...]`
pub fn merge(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    combine(context, arguments, Filter::merge, |map, other| map.merge(other))
}

/// `PETAL.INTERSECT key other [other ...]`
pub fn intersect(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let no_map = |map: &mut Map, _: &Map| -> petal::Result<()> {
        let name = map.base().row().name;
        Err(petal::Error::new(petal::Status::Unsupported, format_args!("maps of the kind {name} cannot intersect")))
    };
    combine(context, arguments, Filter::intersect, no_map)
}

/// Changes a copy of the first by each of the others, and then puts it into the place of the first: all or nothing.
fn combine(
    context: &Context,
    arguments: &[Argument],
    filters: impl Fn(&mut Filter, &Filter) -> petal::Result<()>,
    maps: impl Fn(&mut Map, &Map) -> petal::Result<()>,
) -> Result<(), Refusal> {
    let [_, name, others @ ..] = arguments else { return Err(Refusal::Arity) };
    let mut keys: Vec<Key> = others.iter().map(|other| Key::read(context, other)).collect();
    let mut others = Vec::with_capacity(keys.len());
    for key in &mut keys {
        others.push(key.value::<Stored>()?.ok_or(NOT_FOUND)?.get());
    }
    let mut key = Key::write(context, name);
    let (start, others) = match (key.value::<Stored>()?, &others[..]) {
        (Some(value), others) => (value.get(), others),
        (None, [first, others @ ..]) => (*first, others),
        (None, []) => return Err(Refusal::Arity),
    };
    let whole = Value::make(|| {
        let mut whole = start.copy()?;
        for other in others {
            match (&mut whole, other) {
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
    })?;
    // Before the old value goes, nothing looks at it any more.
    drop(keys);
    key.set(whole);
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}
