//! The commands that only read.

use super::super::{Chunked, NOT_FOUND, exist_in, exists_in, reply_fields};
use super::chain::Chain;
use super::is_valkey_blooms;
use crate::server::defaults;
use crate::server::key::Key;
use crate::server::value::Value;
use crate::server::{Argument, Context, Refusal};
use crate::valkey_bloom::object::Object;
use crate::valkey_bloom::read;

/// The object of valkey-bloom that a key holds.
fn object(key: &Key) -> Result<Option<&Object>, Refusal> {
    Ok(key.value::<Object>()?.map(Value::get))
}

/// `BF.EXISTS key item`
pub fn exists(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    match is_valkey_blooms(&key) {
        true => read::exists(context, object(&key)?, item),
        false => exists_in::<Chain>(context, &key, item),
    }
    Ok(())
}

/// `BF.MEXISTS key item [item ...]`
pub fn exist(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    if items.is_empty() {
        return Err(Refusal::Arity);
    }
    if context.in_pieces(arguments, 2, 1, exist) {
        return Ok(());
    }
    let key = Key::read(context, name);
    match is_valkey_blooms(&key) {
        true => read::exist(context, object(&key)?, items),
        false => exist_in::<Chain>(context, &key, items),
    }
    Ok(())
}

/// `BF.CARD key`
pub fn cardinality(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    context.reply_count(match is_valkey_blooms(&key) {
        true => object(&key)?.map_or(0, |object| object.keys()),
        false => key.value::<Chain>()?.map_or(0, |chain| chain.get().keys()),
    });
    Ok(())
}

/// The fields of BF.INFO: the argument that asks for a field, and the field's name in the reply.
const FIELDS: [(&str, &str); 5] = [
    ("CAPACITY", "Capacity"),
    ("SIZE", "Size"),
    ("FILTERS", "Number of filters"),
    ("ITEMS", "Number of items inserted"),
    ("EXPANSION", "Expansion rate"),
];

/// `BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]`
pub fn info(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let (name, field) = match arguments {
        [_, name] => (name, None),
        [_, name, field] => (name, Some(field)),
        _ => return Err(Refusal::Arity),
    };
    let key = Key::read(context, name);
    if is_valkey_blooms(&key) {
        return read::info(context, object(&key)?, field);
    }
    let chain = key.value::<Chain>()?.ok_or(NOT_FOUND)?.get();
    let values = [
        Some(chain.capacity()),
        Some(chain.stated_bytes()),
        Some(chain.all().len() as u64),
        Some(chain.keys()),
        chain.expansion().map(u64::from),
    ];
    let Some(field) = field else {
        reply_fields(context, FIELDS.iter().zip(values).map(|((_, name), value)| (*name, value)));
        return Ok(());
    };
    let place = FIELDS.iter().position(|(word, _)| field.is(word));
    let place = place.ok_or(Refusal::Said("Invalid information value"))?;
    // Only a RESP3 reply names the field.
    if context.is_resp3() {
        context.reply_map(1);
        context.reply_word(FIELDS[place].1);
    } else {
        context.reply_array(1);
    }
    context.reply_field(values[place]);
    Ok(())
}

/// `BF.DEBUG key`
pub fn debug(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    let chain = key.value::<Chain>()?.ok_or(NOT_FOUND)?.get();
    context.reply_array(1 + chain.all().len());
    context.reply_bytes(format!("size:{}", chain.keys()).as_bytes());
    for (bits, hashes, width, capacity, keys, rate) in chain.descriptions() {
        let (bytes, rate) = (bits / 8, six_digits(rate));
        let line = format!(
            "bytes:{bytes} bits:{bits} hashes:{hashes} hashwidth:{width} capacity:{capacity} size:{keys} ratio:{rate}"
        );
        context.reply_bytes(line.as_bytes());
    }
    Ok(())
}

/// A number below 1 in the form of C's `%g`: six digits without trailing zeros, and an exponent below 0.0001.
fn six_digits(number: f64) -> String {
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let short = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    if exponent >= -4 {
        return short(&format!("{number:.*}", (5 - exponent).max(0) as usize));
    }
    format!("{}e-{:02}", short(digits), -exponent)
}

/// `BF.SCANDUMP key iterator`
pub fn dump(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, iterator] = arguments else { return Err(Refusal::Arity) };
    let key = Key::read(context, name);
    const NOT_NUMERIC: Refusal = Refusal::Said("Second argument must be numeric");
    if key.holds::<Object>() {
        let object = object(&key)?.ok_or(NOT_FOUND)?;
        return read::dump(context, object, iterator.integer().ok_or(NOT_NUMERIC)?);
    }
    let chain = key.value::<Chain>()?.ok_or(NOT_FOUND)?.get();
    let iterator = iterator.integer().ok_or(NOT_NUMERIC)?;
    if iterator == 0 {
        let header = chain.header_bytes()?;
        context.reply_array(2);
        context.reply_integer(1);
        context.reply_bytes(&header);
        return Ok(());
    }
    let chunk = u64::try_from(iterator).ok().and_then(|iterator| chain.chunk(iterator - 1, defaults::chunk()));
    let (next, bytes) = chunk.map_or((0, &[][..]), |(end, bytes)| (end + 1, bytes));
    context.reply_array(2);
    context.reply_count(next);
    context.reply_bytes(bytes);
    Ok(())
}
