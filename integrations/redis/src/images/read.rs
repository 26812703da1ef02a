//! The commands that only read.

use super::stored::Stored;
use super::{Items, NOT_FOUND, NOT_WHOLE, filter, map, number, value};
use crate::server::key::Key;
use crate::server::lent::Lent;
use crate::server::{Argument, Context, Refusal};
use petal::{Answers, Base, Capabilities, Estimate, HashFunction, Image, Overlap, estimate_overlap, registry};

/// `PETAL.EXISTS key item`
pub fn exists(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    let filter = filter(value(&key)?.get())?;
    context.reply_boolean(match filter.base().header().hash {
        HashFunction::Identity => filter.contains_u64(number(item)?),
        _ => filter.contains_checked(item.bytes())?,
    });
    Ok(())
}

/// `PETAL.MEXISTS key item [item ...]`
pub fn exist(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    if context.in_pieces(arguments, 2, 1, exist) {
        return Ok(());
    }
    let mut items = Items::of(items.iter())?;
    let mut found = vec![0; items.len()];
    let key = Key::read(context, name);
    let mut answers = Answers { bytes: Some(&mut found), ..Answers::default() };
    let filter = filter(value(&key)?.get())?;
    filter.contains_batch(&items.keys_of_filter(filter.base())?, &mut answers)?;
    context.reply_array(found.len());
    found.iter().for_each(|found| context.reply_boolean(*found != 0));
    Ok(())
}

/// `PETAL.COUNT key item`
pub fn count(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    let filter = filter(value(&key)?.get())?;
    context.reply_count(match filter.base().header().hash {
        HashFunction::Identity => filter.count_u64(number(item)?)?,
        _ => filter.count(item.bytes())?,
    });
    Ok(())
}

/// `PETAL.MCOUNT key item [item ...]`
pub fn counts(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    if context.in_pieces(arguments, 2, 1, counts) {
        return Ok(());
    }
    let mut items = Items::of(items.iter())?;
    let mut counts = vec![0; items.len()];
    let key = Key::read(context, name);
    let mut answers = Answers { counts: Some(&mut counts), ..Answers::default() };
    let filter = filter(value(&key)?.get())?;
    filter.count_batch(&items.keys_of_filter(filter.base())?, &mut answers)?;
    context.reply_array(counts.len());
    counts.iter().for_each(|count| context.reply_count(*count));
    Ok(())
}

/// `PETAL.MAPGET key item [item ...]`: the value is null for an item that is certainly not there.
pub fn values(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    if context.in_pieces(arguments, 2, 1, values) {
        return Ok(());
    }
    let mut items = Items::of(items.iter())?;
    let (mut values, mut found) = (vec![0; items.len()], vec![0; items.len()]);
    let key = Key::read(context, name);
    let map = map(value(&key)?.get())?;
    let mut answers = Answers { bytes: Some(&mut found), values: Some(&mut values), ..Answers::default() };
    map.get_batch(&items.keys(map.base())?, &mut answers)?;
    context.reply_array(values.len());
    for (value, found) in values.iter().zip(found) {
        match (found, i64::try_from(*value)) {
            (0, _) => context.reply_null(),
            (_, Ok(value)) => context.reply_integer(value),
            // A value beyond the protocol's integers is replied as its digits.
            (_, Err(_)) => context.reply_bytes(value.to_string().as_bytes()),
        }
    }
    Ok(())
}

/// `PETAL.ESTIMATE key [other]`: each estimate with the ends of its 95 % interval; null if a filter is too full.
pub fn estimate(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let names = match arguments {
        [_, names @ ..] if matches!(names.len(), 1 | 2) => names,
        _ => return Err(Refusal::Arity),
    };
    let Lent { values, bytes, busy, .. } = Lent::of(context, names)?;
    if values.len() < names.len() {
        return Err(NOT_FOUND);
    }
    context.beside(arguments, bytes, busy, move || {
        let of_two = |other: &Stored| Ok::<_, Refusal>(estimate_overlap(filter(&values[0])?, filter(other)?)?);
        let of_one = || Ok::<_, Refusal>(petal::estimate(filter(&values[0])?)?);
        let found = match values.get(1) {
            Some(other) => of_two(other).map(Ok),
            None => of_one().map(Err),
        };
        drop(values);
        Box::new(move |context, _| {
            match found? {
                Ok(comparison) => reply_comparison(context, &comparison),
                Err(estimate) => reply_estimate(context, estimate, f64::INFINITY),
            }
            Ok(())
        })
    })
}

fn reply_comparison(context: &Context, comparison: &Overlap) {
    let estimates = [
        ("first", comparison.first),
        ("second", comparison.second),
        ("union", comparison.union),
        ("intersection", comparison.intersection),
        ("jaccard", comparison.jaccard),
        ("differences", comparison.differences),
    ];
    context.reply_map(estimates.len());
    for (name, estimate) in estimates {
        context.reply_word(name);
        // A share of all items is not above 1.
        reply_estimate(context, estimate, if name == "jaccard" { 1.0 } else { f64::INFINITY });
    }
}

/// Replies an estimate between 0 and `most`. The formulas go beyond both by chance, as for an intersection of filters
/// that hold no item in common.
fn reply_estimate(context: &Context, estimate: Option<Estimate>, most: f64) {
    match estimate {
        Some(estimate) => {
            context.reply_array(3);
            for end in [estimate.value, estimate.low(), estimate.high()] {
                // The comparison makes -0 a 0, too.
                context.reply_real(if end > 0.0 { end.min(most) } else { 0.0 });
            }
        }
        None => context.reply_null(),
    }
}

/// `PETAL.INFO key`
pub fn info(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    let (base, capabilities): (&Base, Capabilities) = match value(&key)?.get() {
        Stored::Filter(filter) => (filter.base(), filter.capabilities()),
        Stored::Map(map) => (map.base(), map.capabilities()),
        Stored::Part(_) => return Err(NOT_WHOLE),
    };
    let (header, row, geometry) = (base.header(), base.row(), base.geometry());
    let parameters: Vec<_> = row.parameters.iter().filter(|parameter| parameter.word.is_some()).collect();
    context.reply_map(10);
    context.reply_word("kind");
    context.reply_word(row.name);
    context.reply_word("capacity");
    context.reply_count(header.capacity);
    context.reply_word("rate");
    context.reply_real((row.false_positive_rate)(geometry, header.capacity));
    context.reply_word("insertions");
    context.reply_count(base.count());
    context.reply_word("bits");
    context.reply_count(geometry.bits);
    context.reply_word("hashes");
    context.reply_count(geometry.hashes.into());
    context.reply_word("bytes");
    context.reply_count(header.image_bytes());
    context.reply_word("hash");
    context.reply_word(&header.hash.to_string());
    context.reply_word("parameters");
    context.reply_map(parameters.len());
    for parameter in parameters {
        context.reply_word(parameter.name);
        let value = parameter.word.map_or(0.0, |word| parameter.value_of_word(geometry.words[word]));
        match parameter.choices().get(value as usize) {
            Some(choice) => context.reply_word(choice),
            None => context.reply_word(&value.to_string()),
        }
    }
    context.reply_word("can");
    reply_capabilities(context, capabilities);
    Ok(())
}

/// `PETAL.HELP`
pub fn help(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_] = arguments else { return Err(Refusal::Arity) };
    context.reply_array(2 * super::COMMANDS.len());
    for command in super::COMMANDS {
        context.reply_word(&command.usage());
        context.reply_word(&format!("    {}.", command.summary.to_string_lossy()));
    }
    Ok(())
}

/// `PETAL.KINDS`
pub fn kinds(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_] = arguments else { return Err(Refusal::Arity) };
    let rows: Vec<_> = registry::all().collect();
    context.reply_map(rows.len());
    for row in rows {
        context.reply_word(row.name);
        context.reply_map(5);
        context.reply_word("summary");
        context.reply_bytes(row.summary.as_bytes());
        context.reply_word("made");
        context.reply_word(if row.is_made_empty() { "empty" } else { "from all items" });
        context.reply_word("keys");
        context.reply_word(match row.hash_functions() {
            [HashFunction::Identity] => "numbers",
            _ => "bytes",
        });
        context.reply_word("parameters");
        context.reply_array(row.parameters.len());
        row.parameters.iter().for_each(|parameter| context.reply_word(parameter.name));
        context.reply_word("can");
        reply_capabilities(context, row.capabilities);
    }
    Ok(())
}

fn reply_capabilities(context: &Context, capabilities: Capabilities) {
    let names = Capabilities::ALL.iter().filter(|(_, one)| capabilities.contains(*one));
    context.reply_array(names.clone().count());
    names.for_each(|(name, _)| context.reply_word(name));
}
