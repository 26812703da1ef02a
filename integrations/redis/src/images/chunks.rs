//! Images in chunks, for export and import: the same bytes as in the files of the command `petal` and the libraries. As
//! in RedisBloom, the iterator of a chunk is 1 plus the number of bytes up to the chunk's end.

use super::stored::Stored;
use super::{NOT_FOUND, NOT_WHOLE, secret};
use crate::server::defaults;
use crate::server::key::Key;
use crate::server::lent::{Lent, replace};
use crate::server::shared::Shared;
use crate::server::value::Value;
use crate::server::{Argument, Context, Refusal, memory};
use petal::format::{HEADER_LENGTH, Header};
use petal::storage::try_vec;

const NUMERIC: Refusal = Refusal::Said("ERR the iterator is not a whole number from 0 on");

/// `PETAL.EXPORT key iterator`: the first iterator is 0, and 0 comes after the last chunk.
pub fn export(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, iterator] = arguments else { return Err(Refusal::Arity) };
    let iterator = iterator.integer().and_then(|iterator| usize::try_from(iterator).ok()).ok_or(NUMERIC)?;
    let start = iterator.saturating_sub(1);
    let Lent { values, bytes, busy, .. } = Lent::<Stored>::of(context, std::slice::from_ref(name))?;
    let [stored] = &values[..] else { return Err(NOT_FOUND) };
    // A chunk that is a copy of the payload's memory takes no time.
    let bytes = if stored.lies_there(start) { 0 } else { bytes };
    let most = defaults::chunk();
    context.beside(arguments, bytes, busy, move || {
        let chunk = values[0].chunk(start, most);
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

/// `PETAL.IMPORT key iterator chunk [SECRET key]`: takes chunks in order. After the last chunk the key is a filter or a
/// map. The secret key of an image that needs one comes with the last chunk.
pub fn import(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    secret::hide(context, arguments, 4);
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
        Some(value) => match value.get() {
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
        let chunk = joined(&[], chunk, chunk.len())?;
        if let Some(value) = key.value::<Stored>()? {
            value.check_free(context)?;
        }
        return replace(
            context,
            arguments,
            1,
            import,
            Context::reply_ok,
            move |values: &[Shared<Stored>]| match values {
                [] => Ok(Stored::of_image(&chunk, key_of_image)?),
                [first, ..] => match &**first {
                    Stored::Part(part) => {
                        Ok(Stored::of_image(&joined(part, &chunk, part.len() + chunk.len())?, key_of_image)?)
                    }
                    _ => Err(NOT_WHOLE),
                },
            },
        );
    }
    // Reserves all memory in one piece if the length is known, because growing would copy the image.
    let whole = length.map_or(start + chunk.len(), |length| length as usize);
    match key.to_change::<Stored>(context)? {
        Some(mut stored) => stored.change(|stored| append(stored, chunk, whole))?,
        None => key.set(Value::make(|| Ok::<_, Refusal>(Stored::Part(joined(&[], chunk, whole)?)))?),
    }
    context.replicate_verbatim();
    context.reply_ok();
    Ok(())
}

/// The length of the image that starts with these bytes, once they contain the length.
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

/// Appends a chunk to a part of an image of `whole` bytes.
fn append(stored: &mut Stored, chunk: &[u8], whole: usize) -> Result<(), Refusal> {
    let Stored::Part(part) = stored else { return Err(Refusal::Said("ERR item exists")) };
    let more = whole.saturating_sub(part.len()).max(chunk.len());
    part.try_reserve_exact(more).map_err(|_| petal::Error::from(petal::Status::OutOfMemory))?;
    part.extend_from_slice(chunk);
    Ok(())
}

/// A copy of a part of an image and the next chunk, with a capacity of `room` bytes.
fn joined(part: &[u8], chunk: &[u8], room: usize) -> petal::Result<Vec<u8>> {
    let mut bytes = try_vec(room)?;
    bytes.extend_from_slice(part);
    bytes.extend_from_slice(chunk);
    Ok(bytes)
}
