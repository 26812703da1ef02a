//! The commands that make objects and add to them.

use super::object::{FIXED_SEED, Full, Head, Object, is_allowed, scaled};
use super::{NOT_FOUND, Wanted, refusal};
use crate::server::key::Key;
use crate::server::value::Value;
use crate::server::{Argument, Context, Refusal, memory};
use petal::interop::valkey_chain::Header;

const RATES: Refusal = Refusal::Said("ERR (0 < error rate range < 1)");

/// A number inside (0, 1).
fn rate(word: &Argument, range: Refusal, bad: Refusal) -> Result<f64, Refusal> {
    let number: f64 = word.parse().ok_or(bad)?;
    if number > 0.0 && number < 1.0 { Ok(number) } else { Err(range) }
}

fn capacity(word: &Argument) -> Result<u64, Refusal> {
    match word.parse::<i64>() {
        Some(0) => Err(Refusal::Said("ERR (capacity should be larger than 0)")),
        number => number.and_then(|number| u64::try_from(number).ok()).ok_or(Refusal::Said("ERR bad capacity")),
    }
}

fn expansion(word: &Argument) -> Result<u32, Refusal> {
    word.parse().filter(|expansion| *expansion > 0).ok_or(Refusal::Said("ERR bad expansion"))
}

impl Wanted {
    fn header(&self) -> Header {
        let Wanted { rate, tightening, expansion, seed, .. } = *self;
        Header { expansion, rate, tightening, is_random: seed != Some(FIXED_SEED) }
    }

    /// Makes an empty object.
    fn make(&self, context: &Context) -> Result<Box<Value<Object>>, Refusal> {
        let seed = self.seed.unwrap_or_else(|| context.random());
        let has_room = |bytes| memory::has_room(context, bytes);
        let make = || Object::sized(Head::new(self.header(), seed), self.capacity, !context.is_repetition(), &has_room);
        Value::make(make).map_err(refusal)
    }
}

/// `BF.RESERVE key rate capacity [EXPANSION expansion | NONSCALING]`
pub fn reserve(context: &Context, mut key: Key, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, rate_word, capacity_word, options @ ..] = arguments else { return Err(Refusal::Arity) };
    let mut wanted = Wanted::usual();
    wanted.rate = rate(rate_word, RATES, Refusal::Said("ERR bad error rate"))?;
    wanted.capacity = capacity(capacity_word)?;
    match options {
        [] => (),
        [word] if word.is("NONSCALING") => wanted.expansion = 0,
        [word, number] if word.is("EXPANSION") => wanted.expansion = expansion(number)?,
        [_] | [_, _] => return Err(Refusal::Said("ERROR")),
        _ => return Err(Refusal::Arity),
    }
    if key.value::<Object>()?.is_some() {
        return Err(Refusal::Said("ERR item exists"));
    }
    let made = wanted.make(context)?;
    replicate_made(context, name, made.get(), &[]);
    key.set(made);
    context.notify(c"bloom.reserve", name);
    context.reply_ok();
    Ok(())
}

/// Sends replicas and the append-only file the command that makes this object, whose first filter is its only one, and
/// adds these items.
fn replicate_made(context: &Context, name: &Argument, object: &Object, items: &[Argument]) {
    let Header { expansion, rate, tightening, .. } = object.head.header;
    let (capacity, rate, tightening) = (object.capacity().to_string(), rate.to_string(), tightening.to_string());
    let expansion_text = expansion.to_string();
    let mut words: Vec<&[u8]> = vec![b"CAPACITY", capacity.as_bytes(), b"ERROR", rate.as_bytes()];
    words.extend([&b"TIGHTENING"[..], tightening.as_bytes(), b"SEED", &object.head.seed]);
    match expansion {
        0 => words.push(b"NONSCALING"),
        _ => words.extend([&b"EXPANSION"[..], expansion_text.as_bytes()]),
    }
    if !items.is_empty() {
        words.push(b"ITEMS");
        words.extend(items.iter().map(Argument::bytes));
    }
    context.replicate(c"BF.INSERT", name, &words);
}

/// What the words of `BF.INSERT` before its items say.
pub struct Insertion<'a> {
    wanted: Wanted,
    creates: bool,
    /// The items; empty if there is no word `ITEMS`.
    pub items: &'a [Argument],
}

/// Whether one of the words before the items is one that only valkey-bloom knows. Primaries send such commands.
pub fn is_own(words: &[Argument]) -> bool {
    let own = ["SEED", "TIGHTENING", "VALIDATESCALETO"];
    words.iter().take_while(|word| !word.is("ITEMS")).any(|word| own.iter().any(|own| word.is(own)))
}

/// Reads the words after the key of `BF.INSERT key [CAPACITY capacity] [ERROR rate] [EXPANSION expansion] [SEED seed]
/// [TIGHTENING ratio] [VALIDATESCALETO capacity] [NOCREATE] [NONSCALING] [ITEMS item [item ...]]`.
pub fn insertion<'a>(context: &Context, words: &'a [Argument]) -> Result<Insertion<'a>, Refusal> {
    let (mut wanted, mut creates, mut scale_to, mut items) = (Wanted::usual(), true, None, &[][..]);
    let mut left = words.iter();
    while let Some(word) = left.next() {
        let mut value = || left.next().ok_or(Refusal::Arity);
        if word.is("ERROR") {
            wanted.rate = rate(value()?, RATES, Refusal::Said("ERR bad error rate"))?;
        } else if word.is("TIGHTENING") {
            let range = Refusal::Said("ERR (0 < tightening ratio range < 1)");
            wanted.tightening = rate(value()?, range, Refusal::Said("ERR bad tightening ratio"))?;
        } else if word.is("CAPACITY") {
            wanted.capacity = capacity(value()?)?;
        } else if word.is("SEED") {
            wanted.seed = Some(value()?.bytes().try_into().map_err(|_| Refusal::Said("ERR invalid seed"))?);
        } else if word.is("EXPANSION") {
            wanted.expansion = expansion(value()?)?;
        } else if word.is("VALIDATESCALETO") {
            scale_to = Some(capacity(value()?)?);
        } else if word.is("NOCREATE") {
            creates = false;
        } else if word.is("NONSCALING") {
            wanted.expansion = 0;
        } else if word.is("ITEMS") {
            items = left.as_slice();
            if items.is_empty() {
                return Err(Refusal::Arity);
            }
            break;
        } else {
            return Err(Refusal::Said("ERR unknown argument received"));
        }
    }
    if let Some(scale_to) = scale_to {
        if wanted.expansion == 0 {
            return Err(Refusal::Said("ERR cannot use NONSCALING and VALIDATESCALETO options together"));
        }
        if !context.is_repetition() {
            scaled(&wanted.header(), wanted.capacity, scale_to).map_err(|(_, full)| match full {
                Full::Limit => Refusal::Said("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit"),
                Full::Rate => Refusal::Said("ERR provided VALIDATESCALETO causes false positive to degrade to 0"),
                full => refusal(full),
            })?;
        }
    }
    Ok(Insertion { wanted, creates, items })
}

/// `BF.INSERT`
pub fn insert(context: &Context, key: Key, name: &Argument, insertion: &Insertion) -> Result<(), Refusal> {
    add_items(context, key, name, insertion.items, insertion.creates.then_some(&insertion.wanted), true)
}

/// `BF.ADD key item`, or `BF.MADD key item [item ...]` with `many`.
pub fn add(context: &Context, key: Key, name: &Argument, items: &[Argument], many: bool) -> Result<(), Refusal> {
    add_items(context, key, name, items, Some(&Wanted::usual()), many)
}

/// Adds items to the object of a key, and makes a missing object if `wanted` says how.
fn add_items(
    context: &Context,
    mut key: Key,
    name: &Argument,
    items: &[Argument],
    wanted: Option<&Wanted>,
    many: bool,
) -> Result<(), Refusal> {
    let mut is_new = false;
    let mut object = key.to_change_or::<Object>(context, |key| {
        key.set(wanted.ok_or(NOT_FOUND)?.make(context)?);
        is_new = true;
        Ok(())
    })?;
    if is_new {
        replicate_made(context, name, object.get(), items);
    }
    let (is_bound, has_room) = (!context.is_repetition(), |bytes| memory::has_room(context, bytes));
    let grow = |object: &mut Object| object.grow(is_bound, &has_room);
    let has_changed = |has_added: bool| {
        if has_added && !is_new {
            context.replicate_verbatim();
        }
        if has_added {
            context.notify(c"bloom.add", name);
        }
        if is_new {
            context.notify(c"bloom.reserve", name);
        }
    };
    if let ([item], false) = (items, many) {
        let outcome = object.change(|object| {
            let outcome = object.add(item.bytes(), &grow);
            if outcome == Ok(true) {
                object.count();
            }
            outcome
        });
        has_changed(outcome == Ok(true));
        context.reply_integer(outcome.map_err(refusal)?.into());
        return Ok(());
    }
    let items: Vec<&[u8]> = items.iter().map(Argument::bytes).collect();
    let mut answers = Vec::with_capacity(items.len());
    let outcome = object.change(|object| {
        let outcome = object.add_many(&items, &grow, &mut answers);
        object.count();
        outcome
    });
    has_changed(answers.contains(&true));
    context.reply_array(answers.len() + usize::from(outcome.is_err()));
    answers.iter().for_each(|is_new| context.reply_integer((*is_new).into()));
    if let Err(full) = outcome {
        context.reply_last(&refusal(full));
    }
    Ok(())
}

/// `BF.LOAD key data`
pub fn load(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, data] = arguments else { return Err(Refusal::Arity) };
    let mut key = Key::write(context, name);
    if key.value::<Object>()?.is_some() {
        return Err(Refusal::Said("BUSYKEY Target key name already exists."));
    }
    let object = Value::make(|| Object::of_bytes(data.bytes())).map_err(|error| match error.status() {
        petal::Status::Foreign => Refusal::Said("ERR bloom object decoding failed. Unsupported version"),
        _ => Refusal::Said("ERR bloom object decoding failed"),
    })?;
    if !context.is_repetition() && !is_allowed(object.get().stated_bytes()) {
        return Err(refusal(Full::Limit));
    }
    key.set(object);
    context.replicate_verbatim();
    context.notify(c"bloom.reserve", name);
    context.reply_ok();
    Ok(())
}
