//! The commands that only read.

use super::object::{Object, counts};
use crate::server::defaults;
use crate::server::info::Info;
use crate::server::mover;
use crate::server::{Argument, Context, Refusal};

/// `BF.EXISTS key item`
pub fn exists(context: &Context, object: Option<&Object>, item: &Argument) {
    context.reply_integer(object.is_some_and(|object| object.contains(item.bytes())).into());
}

/// `BF.MEXISTS key item [item ...]`
pub fn exist(context: &Context, object: Option<&Object>, items: &[Argument]) {
    let answers = match object {
        Some(object) => object.contains_many(&items.iter().map(Argument::bytes).collect::<Vec<_>>()),
        None => vec![false; items.len()],
    };
    context.reply_array(answers.len());
    answers.into_iter().for_each(|found| context.reply_integer(found.into()));
}

/// A value of BF.INFO.
#[derive(Clone, Copy)]
enum Value {
    Count(u64),
    Real(f64),
    Null,
}

/// `BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | ERROR | EXPANSION | TIGHTENING | MAXSCALEDCAPACITY]`
pub fn info(context: &Context, object: Option<&Object>, field: Option<&Argument>) -> Result<(), Refusal> {
    let object = object.ok_or(super::NOT_FOUND)?;
    let header = &object.head.header;
    let expansion = match header.expansion {
        0 => Value::Null,
        expansion => Value::Count(expansion.into()),
    };
    let fields = [
        ("CAPACITY", "Capacity", Value::Count(object.capacity())),
        ("SIZE", "Size", Value::Count(object.stated_bytes())),
        ("FILTERS", "Number of filters", Value::Count(object.all().len() as u64)),
        ("ITEMS", "Number of items inserted", Value::Count(object.keys())),
        ("ERROR", "Error rate", Value::Real(header.rate)),
        ("EXPANSION", "Expansion rate", expansion),
        ("TIGHTENING", "Tightening ratio", Value::Real(header.tightening)),
        ("MAXSCALEDCAPACITY", "Max scaled capacity", Value::Null),
    ];
    // Only an object that grows has the last two.
    let fields = if header.expansion == 0 { &fields[..6] } else { &fields[..] };
    let reply = |(word, _, value): &(&str, &str, Value)| match value {
        _ if *word == "MAXSCALEDCAPACITY" => context.reply_count(object.most_items()),
        Value::Count(count) => context.reply_count(*count),
        Value::Real(number) => context.reply_real(*number),
        Value::Null => context.reply_null(),
    };
    if let Some(field) = field {
        let found = fields.iter().find(|(word, ..)| field.is(word));
        reply(found.ok_or(Refusal::Said("ERR invalid information value"))?);
        return Ok(());
    }
    context.reply_array(2 * fields.len());
    for field in fields {
        context.reply_word(field.1);
        reply(field);
    }
    Ok(())
}

/// `BF.SCANDUMP key iterator`, which valkey-bloom does not have: what BF.LOAD takes, in chunks. An iterator is 1 more
/// than the number of bytes before the chunk, and 0 begins.
pub fn dump(context: &Context, object: &Object, iterator: i64) -> Result<(), Refusal> {
    let bytes = match usize::try_from(iterator) {
        Ok(iterator) => object.some_bytes(iterator.saturating_sub(1), defaults::chunk())?,
        Err(_) => Vec::new(),
    };
    context.reply_array(2);
    context.reply_integer(if bytes.is_empty() {
        0
    } else {
        iterator.max(1).saturating_add_unsigned(bytes.len() as u64)
    });
    context.reply_bytes(&bytes);
    Ok(())
}

/// The module's part of INFO.
pub fn report(info: &Info) {
    let [objects, bytes, filters, items, capacity] = counts();
    info.section(c"bloom_core_metrics");
    info.field(c"bloom_total_memory_bytes", bytes);
    info.field(c"bloom_num_objects", objects);
    info.field(c"bloom_num_filters_across_objects", filters);
    info.field(c"bloom_num_items_across_objects", items);
    info.field(c"bloom_capacity_across_objects", capacity);
    let [moved, stayed] = mover::counts();
    info.section(c"bloom_defrag_metrics");
    info.field(c"bloom_defrag_hits", moved);
    info.field(c"bloom_defrag_misses", stayed);
}
