//! Images in and out, in chunks: what the command and the libraries read and write as files. The iterator of a chunk is
//! 1 more than the bytes up to its end, as RedisBloom counts those of its own.

use super::change::replace;
use super::stored::Stored;
use super::{Lent, NOT_FOUND, NOT_WHOLE, secret, value_to_change};
use crate::server::key::Key;
use crate::server::value::Value;
use crate::server::{Argument, Context, Refusal, memory};
use petal::format::{HEADER_LENGTH, Header};
use petal::storage::try_vec;

const NUMERIC: Refusal = Refusal::Said("ERR the iterator is not a whole number from 0 on");

/// `PETAL.EXPORT key iterator`: 0 begins, and is what the last chunk is followed by.
pub fn export(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, iterator] = arguments else { return Err(Refusal::Arity) };
    let iterator = iterator.integer().and_then(|iterator| usize::try_from(iterator).ok()).ok_or(NUMERIC)?;
    let start = iterator.saturating_sub(1);
    let Lent { values, bytes, busy, .. } = Lent::of(context, std::slice::from_ref(name))?;
    let [stored] = &values[..] else { return Err(NOT_FOUND) };
    // What is given as it lies there takes no time.
    let bytes = if stored.lies_there(start) { 0 } else { bytes };
    context.beside(arguments, bytes, busy, move || {
        let chunk = values[0].chunk(start);
        drop(values);
        Box::new(move |context, _| {
            let chunk = chunk?;
            context.reply_array(2);
            context.reply_count(if chunk.is_empty() { 0 } else { 1 + (start + chunk.len()) as u64 });
            context.reply_bytes(&chunk);
            Ok(())
        })
    })
}

/// `PETAL.IMPORT key iterator chunk [SECRET key]`: chunks in order. With the last of them, which the secret key of an
/// image that needs one comes with, the key is a filter or a map.
pub fn import(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let (name, iterator, chunk, key_of_image) = match arguments {
        [_, name, iterator, chunk] => (name, iterator, chunk, None),
        [_, name, iterator, chunk, word, digits] if word.is("SECRET") && !digits.is("NEW") => {
            (name, iterator, chunk, Some(secret::of(context, Some(digits))?))
        }
        _ => return Err(Refusal::Arity),
    };
    let iterator = iterator.integer().and_then(|iterator| usize::try_from(iterator).ok()).ok_or(NUMERIC)?;
    let chunk = chunk.bytes();
    let out_of_order = Refusal::Said("ERR the chunk is not the next one of this image");
    let start = iterator.checked_sub(1 + chunk.len()).filter(|_| !chunk.is_empty()).ok_or(out_of_order)?;
    let mut key = Key::write(context, name);
    let part: &[u8] = match key.value::<Stored>()? {
        Some(_) => match value_to_change(context, &mut key)?.get() {
            Stored::Part(part) if part.len() == start => part,
            Stored::Part(part) => {
                let message = format!("ERR the chunk starts at byte {start}, and {} are there", part.len());
                return Err(Refusal::Of(message));
            }
            _ => return Err(Refusal::Said("ERR item exists")),
        },
        None if start == 0 => &[],
        None => return Err(NOT_FOUND),
    };
    let length = length_of(part, chunk)?;
    if length.is_some_and(|length| !memory::has_room(context, length)) {
        return Err(petal::Error::from(petal::Status::OutOfMemory).into());
    }
    if length == Some((start + chunk.len()) as u64) {
        let chunk = joined(&[], chunk)?;
        return replace(context, arguments, 1, import, move |values| match values {
            [] => Ok(Stored::of_image(&chunk, key_of_image)?),
            [first, ..] => match &**first {
                Stored::Part(part) => Ok(Stored::of_image(&joined(part, &chunk)?, key_of_image)?),
                _ => Err(NOT_WHOLE),
            },
        });
    }
    match key.value::<Stored>()? {
        Some(stored) => stored.change(|stored| append(stored, chunk))?,
        None => key.set(Value::make(|| joined(&[], chunk).map(Stored::Part))?),
    }
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}

/// How many bytes the image has that starts with these, once they say it.
fn length_of(part: &[u8], chunk: &[u8]) -> Result<Option<u64>, Refusal> {
    if part.len() + chunk.len() < HEADER_LENGTH {
        return Ok(None);
    }
    let mut start = [0; HEADER_LENGTH];
    start.iter_mut().zip(part.iter().chain(chunk)).for_each(|(to, from)| *to = *from);
    let length = Header::decode(&start)?.image_bytes();
    if (part.len() + chunk.len()) as u64 > length {
        return Err(Refusal::Of(format!("ERR the image has {length} bytes, and this chunk goes beyond them")));
    }
    Ok(Some(length))
}

/// Appends a chunk to the part of an image.
fn append(stored: &mut Stored, chunk: &[u8]) -> Result<(), Refusal> {
    let Stored::Part(part) = stored else { return Err(Refusal::Said("ERR item exists")) };
    part.try_reserve(chunk.len()).map_err(|_| petal::Error::from(petal::Status::OutOfMemory))?;
    part.extend_from_slice(chunk);
    Ok(())
}

/// A part of an image and the chunk that follows it.
fn joined(part: &[u8], chunk: &[u8]) -> petal::Result<Vec<u8>> {
    let mut bytes = try_vec(part.len() + chunk.len())?;
    bytes.extend_from_slice(part);
    bytes.extend_from_slice(chunk);
    Ok(bytes)
}
