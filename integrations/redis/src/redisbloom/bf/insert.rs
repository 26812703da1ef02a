//! The commands that make filters and add to them.

use super::super::{reserve as reserve_key, value_or_made};
use super::chain::{Chain, Full};
use super::{Wanted, is_valkey_blooms, refusal};
use crate::server::defaults::MOST_KEYS;
use crate::server::key::Key;
use crate::server::{Argument, Context, Refusal, memory};
use crate::valkey_bloom::insert as valkey_bloom;

/// The largest expansion.
const MOST_EXPANSION: i64 = 1 << 15;

/// `BF.RESERVE key rate capacity [EXPANSION expansion] [NONSCALING]`
pub fn reserve(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, rate, capacity, options @ ..] = arguments else { return Err(Refusal::Arity) };
    let key = Key::write(context, name);
    if is_valkey_blooms(&key) {
        return valkey_bloom::reserve(context, key, arguments);
    }
    if options.len() > 3 {
        return Err(Refusal::Arity);
    }
    let rate = rate.real().ok_or(Refusal::Said("ERR bad error rate"))?;
    if !is_rate(rate) {
        return Err(Refusal::Said("ERR error rate must be in the range (0.000000, 1.000000)"));
    }
    let capacity = capacity.integer().ok_or(Refusal::Said("ERR bad capacity"))?;
    if !is_capacity(context, capacity) {
        return Err(Refusal::Of(format!("ERR capacity must be in the range [1, {MOST_KEYS}]")));
    }
    let mut wanted = Wanted { rate, capacity: capacity as u64, ..Wanted::usual() };
    // RedisBloom ignores unknown options, and takes the first of two equal options; so does this function.
    wanted.scales &= !options.iter().any(|option| option.is("NONSCALING"));
    if let Some(place) = options.iter().position(|option| option.is("EXPANSION")) {
        let value = options.get(place + 1).ok_or(Refusal::Said("ERR no expansion"))?;
        let expansion = value.integer().ok_or(Refusal::Said("ERR bad expansion"))?;
        if expansion != 0 && !wanted.scales {
            return Err(Refusal::Said("Nonscaling filters cannot expand"));
        }
        if !(0..=MOST_EXPANSION).contains(&expansion) {
            return Err(Refusal::Said("ERR expansion must be in the range [0, 32768]"));
        }
        wanted.expansion = expansion as u32;
        wanted.scales = expansion > 0;
    }
    reserve_key(context, name, || wanted.make(context))
}

/// Whether a filter can have this rate.
fn is_rate(rate: f64) -> bool {
    rate > 0.0 && rate < 1.0
}

/// Whether a filter may have this capacity. A replicated command may ask for more: a module without this bound accepted
/// it.
fn is_capacity(context: &Context, capacity: i64) -> bool {
    capacity > 0 && (capacity as u64 <= MOST_KEYS || context.is_repetition())
}

/// `BF.ADD key item`
pub fn add(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    let mut key = Key::write(context, name);
    if is_valkey_blooms(&key) {
        return valkey_bloom::add(context, key, name, std::slice::from_ref(item), false);
    }
    let has_room = |bytes| memory::has_room(context, bytes);
    let mut chain = value_or_made(context, &mut key, name, Some(|| Wanted::usual().make(context)))?;
    let is_new = chain.change(|chain| chain.add(item.bytes(), &|chain| chain.grow(&has_room))).map_err(refusal)?;
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
    let key = Key::write(context, name);
    match is_valkey_blooms(&key) {
        true => valkey_bloom::add(context, key, name, items, true),
        false => add_items(context, key, name, items, Some(&Wanted::usual())),
    }
}

/// `BF.INSERT key [CAPACITY capacity] [ERROR rate] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS item [item ...]`
pub fn insert(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, rest @ ..] = arguments else { return Err(Refusal::Arity) };
    let open = || Key::write(context, name);
    // Pieces open the key themselves.
    let is_valkey_blooms = {
        let key = open();
        is_valkey_blooms(&key) || valkey_bloom::is_own(rest) && !key.holds::<Chain>()
    };
    if is_valkey_blooms {
        let insertion = valkey_bloom::insertion(context, rest)?;
        if context.in_pieces(arguments, arguments.len() - insertion.items.len(), 1, insert) {
            return Ok(());
        }
        return valkey_bloom::insert(context, open(), name, &insertion);
    }
    let (mut wanted, mut creates) = (Wanted::usual(), true);
    let mut left = rest.iter();
    while let Some(option) = left.next() {
        if option.is("ITEMS") {
            wanted.scales &= wanted.expansion > 0;
            if context.in_pieces(arguments, arguments.len() - left.len(), 1, insert) {
                return Ok(());
            }
            return add_items(context, open(), name, left.as_slice(), creates.then_some(&wanted));
        } else if option.is("CAPACITY") {
            let value = left.next().ok_or(Refusal::Arity)?.integer().filter(|value| is_capacity(context, *value));
            wanted.capacity = value.ok_or(Refusal::Said("Bad capacity"))? as u64;
        } else if option.is("ERROR") {
            let value = left.next().ok_or(Refusal::Arity)?.real().filter(|rate| is_rate(*rate));
            wanted.rate = value.ok_or(Refusal::Said("Bad error rate"))?;
        } else if option.is("EXPANSION") {
            let value = left.next().ok_or(Refusal::Arity)?.integer();
            let value = value.filter(|expansion| (0..=MOST_EXPANSION).contains(expansion));
            wanted.expansion = value.ok_or(Refusal::Said("Bad expansion"))? as u32;
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

/// Adds items to the filter of a key, and makes a missing filter if `wanted` says how.
fn add_items(
    context: &Context,
    mut key: Key,
    name: &Argument,
    items: &[Argument],
    wanted: Option<&Wanted>,
) -> Result<(), Refusal> {
    if items.is_empty() {
        return Err(Refusal::Arity);
    }
    let has_room = |bytes| memory::has_room(context, bytes);
    let mut chain = value_or_made(context, &mut key, name, wanted.map(|wanted| || wanted.make(context)))?;
    let items: Vec<&[u8]> = items.iter().map(Argument::bytes).collect();
    // Reserves all memory of the answers first: memory allocated during a change would count as the value's.
    let (mut answers, mut outcomes) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
    chain.change(|chain| {
        while outcomes.len() < items.len() {
            let outcome = chain.add_many(&items[outcomes.len()..], &|chain| chain.grow(&has_room), &mut answers);
            outcomes.extend(answers.drain(..).map(Ok));
            if let Err(full) = outcome {
                outcomes.push(Err(full));
                // A filter that does not scale is full for all further items. If only a link could not be added,
                // further items may still be there already.
                if full == Full::NonScaling {
                    break;
                }
            }
        }
    });
    if outcomes.contains(&Ok(true)) {
        context.replicate_verbatim();
    }
    context.reply_array(outcomes.len());
    for outcome in outcomes {
        match outcome {
            Ok(is_new) => context.reply_boolean(is_new),
            Err(Full::NonScaling) => context.reply_last(&refusal(Full::NonScaling)),
            Err(full) => context.reply_refusal(&refusal(full)),
        }
    }
    Ok(())
}
