//! Images in and out, in chunks: what the command and the libraries read and write as files. The iterator of a chunk is
//! 1 more than the bytes up to its end, as RedisBloom counts those of its own.

use super::stored::Stored;
use super::{NOT_FOUND, value};
use crate::server::key::Key;
use crate::server::value::Value;
use crate::server::{Argument, Context, Refusal, memory};
use petal::format::{HEADER_LENGTH, Header};

const NUMERIC: Refusal = Refusal::Said("ERR the iterator is not a whole number from 0 on");

/// `PETAL.EXPORT key iterator`: 0 begins, and is what the last chunk is followed by.
pub fn export(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, iterator] = arguments else { return Err(Refusal::Arity) };
    let iterator = iterator.integer().and_then(|iterator| usize::try_from(iterator).ok()).ok_or(NUMERIC)?;
    let mut key = Key::read(context, name);
    let start = iterator.saturating_sub(1);
    let chunk = value(&mut key)?.get().chunk(start)?;
    context.reply_array(2);
    context.reply_count(if chunk.is_empty() { 0 } else { 1 + (start + chunk.len()) as u64 });
    context.reply_bytes(&chunk);
    Ok(())
}

/// `PETAL.IMPORT key iterator chunk`: chunks in order. With the last of them the key is a filter or a map.
pub fn import(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, iterator, chunk] = arguments else { return Err(Refusal::Arity) };
    let iterator = iterator.integer().and_then(|iterator| usize::try_from(iterator).ok()).ok_or(NUMERIC)?;
    let chunk = chunk.bytes();
    let out_of_order = Refusal::Said("ERR the chunk is not the next one of this image");
    let start = iterator.checked_sub(1 + chunk.len()).filter(|_| !chunk.is_empty()).ok_or(out_of_order)?;
    let mut key = Key::write(context, name);
    match key.value::<Stored>()? {
        Some(stored) => {
            let Stored::Part(part) = stored.get() else { return Err(Refusal::Said("ERR item exists")) };
            if part.len() != start {
                return Err(Refusal::Of(format!("ERR the chunk starts at byte {start}, and {} are there", part.len())));
            }
            let length = length_of(part, chunk)?;
            if length.is_some_and(|length| !memory::has_room(context, length)) {
                return Err(petal::Error::from(petal::Status::OutOfMemory).into());
            }
            stored.change(|stored| append(stored, chunk, length))?;
        }
        None if start == 0 => {
            let length = length_of(&[], chunk)?;
            key.set(Value::make(|| {
                let mut stored = Stored::Part(Vec::new());
                append(&mut stored, chunk, length).map(|()| stored)
            })?);
        }
        None => return Err(NOT_FOUND),
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

/// Appends a chunk to the part of an image, or makes what the image is if none is missing.
fn append(stored: &mut Stored, chunk: &[u8], length: Option<u64>) -> Result<(), Refusal> {
    let Stored::Part(part) = stored else { return Err(Refusal::Said("ERR item exists")) };
    let before = part.len();
    part.try_reserve(chunk.len()).map_err(|_| petal::Error::from(petal::Status::OutOfMemory))?;
    part.extend_from_slice(chunk);
    if length != Some(part.len() as u64) {
        return Ok(());
    }
    match Stored::of_image(part) {
        Ok(whole) => {
            *stored = whole;
            Ok(())
        }
        Err(error) => {
            part.truncate(before);
            Err(error.into())
        }
    }
}
