//! The commands that make filters and add to them.

use super::super::{reserve as reserve_key, value_or_made};
use super::{Wanted, refusal};
use crate::server::key::Key;
use crate::server::{Argument, Context, Refusal, memory};

/// The largest expansion.
const MOST_EXPANSION: i64 = 1 << 15;

/// What BF.RESERVE and BF.INSERT both say, the one without and the other with a reason of its own.
const CANNOT_EXPAND: Refusal = Refusal::Said("Nonscaling filters cannot expand");

/// `BF.RESERVE key rate capacity [EXPANSION expansion] [NONSCALING]`
pub fn reserve(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, rate, capacity, options @ ..] = arguments else { return Err(Refusal::Arity) };
    let rate = rate.real().ok_or(Refusal::Said("ERR bad error rate"))?;
    if !(rate > 0.0 && rate < 1.0) {
        return Err(Refusal::Said("ERR (0 < error rate range < 1)"));
    }
    let capacity = capacity.integer().ok_or(Refusal::Said("ERR bad capacity"))?;
    if capacity <= 0 {
        return Err(Refusal::Said("ERR (capacity should be larger than 0)"));
    }
    let mut wanted = Wanted { rate, capacity: capacity as u64, ..Wanted::usual() };
    let mut options = options.iter();
    let mut expansion = None;
    // What is neither is ignored, as RedisBloom ignores it.
    while let Some(option) = options.next() {
        if option.is("EXPANSION") {
            let value = options.next().ok_or(Refusal::Said("ERR no expansion"))?;
            expansion = Some(value.integer().ok_or(Refusal::Said("ERR bad expansion"))?);
        } else if option.is("NONSCALING") {
            wanted.scales = false;
        }
    }
    if let Some(expansion) = expansion {
        if !wanted.scales {
            return Err(CANNOT_EXPAND);
        }
        if !(0..=MOST_EXPANSION).contains(&expansion) {
            return Err(Refusal::Said("ERR expansion must be in the range [0, 32768]"));
        }
        wanted.expansion = expansion as u32;
        wanted.scales = expansion > 0;
    }
    reserve_key(context, name, || wanted.make(context))
}

/// `BF.ADD key item`
pub fn add(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let mut key = Key::write(context, name);
    let has_room = |bytes| memory::has_room(context, bytes);
    let mut chain = value_or_made(context, &mut key, name, Some(|| Wanted::usual().make(context)))?;
    let is_new = chain.change(|chain| chain.add(item.bytes(), &has_room)).map_err(refusal)?;
    if is_new {
        context.replicate_verbatim();
    }
    context.reply_boolean(is_new);
    Ok(())
}

/// `BF.MADD key item [item ...]`
pub fn add_many(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    if context.in_pieces(arguments, 2, 1, add_many) {
        return Ok(());
    }
    add_items(context, name, items, Some(&Wanted::usual()))
}

/// `BF.INSERT key [CAPACITY capacity] [ERROR rate] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS item [item ...]`
pub fn insert(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, rest @ ..] = arguments else { return Err(Refusal::Arity) };
    let (mut wanted, mut creates) = (Wanted::usual(), true);
    let mut left = rest.iter();
    while let Some(option) = left.next() {
        if option.is("ITEMS") {
            if context.in_pieces(arguments, arguments.len() - left.len(), 1, insert) {
                return Ok(());
            }
            return add_items(context, name, left.as_slice(), creates.then_some(&wanted));
        } else if option.is("CAPACITY") {
            let value = left.next().and_then(Argument::integer).filter(|capacity| *capacity > 0);
            wanted.capacity = value.ok_or(Refusal::Said("Bad capacity"))? as u64;
        } else if option.is("ERROR") {
            let value = left.next().and_then(Argument::real).filter(|rate| *rate > 0.0 && *rate < 1.0);
            wanted.rate = value.ok_or(Refusal::Said("Bad error rate"))?;
        } else if option.is("EXPANSION") {
            let value = left.next().and_then(Argument::integer);
            let value = value.filter(|expansion| (0..=MOST_EXPANSION).contains(expansion));
            wanted.expansion = value.ok_or(Refusal::Said("Bad expansion"))? as u32;
            wanted.scales &= wanted.expansion > 0;
        } else if option.is("NOCREATE") {
            creates = false;
        } else if option.is("NONSCALING") {
            wanted.scales = false;
        } else {
            return Err(Refusal::Said("Unknown argument received"));
        }
    }
    Err(Refusal::Arity)
}

/// Adds items to the filter of a key, which is made if it is wanted and not there.
fn add_items(context: &Context, name: &Argument, items: &[Argument], wanted: Option<&Wanted>) -> Result<(), Refusal> {
    if items.is_empty() {
        return Err(Refusal::Arity);
    }
    let mut key = Key::write(context, name);
    let has_room = |bytes| memory::has_room(context, bytes);
    let mut chain = value_or_made(context, &mut key, name, wanted.map(|wanted| || wanted.make(context)))?;
    let items: Vec<&[u8]> = items.iter().map(Argument::bytes).collect();
    // All of their room at once: what is allocated while a value changes is taken for the value's.
    let mut answers = Vec::with_capacity(items.len());
    let outcome = chain.change(|chain| chain.add_many(&items, &has_room, &mut answers));
    if answers.contains(&true) {
        context.replicate_verbatim();
    }
    context.reply_array(answers.len() + usize::from(outcome.is_err()));
    answers.iter().for_each(|is_new| context.reply_boolean(*is_new));
    if let Err(full) = outcome {
        context.reply_last(&refusal(full));
    }
    Ok(())
}
