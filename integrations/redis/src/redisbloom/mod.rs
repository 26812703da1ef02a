//! The commands of RedisBloom: the same arguments, replies and errors, and the same bytes. This file has the common
//! parts of both types: headers and arrays in chunks, and lookups of items.

pub mod bf;
pub mod cf;

use crate::server::defaults::{self, CHUNK};
use crate::server::key::Key;
use crate::server::persistence::{Commands, Digest};
use crate::server::value::{Changing, DataType, Value};
use crate::server::{Argument, Context, Refusal, memory};
use std::ffi::CStr;

const NOT_FOUND: Refusal = Refusal::Said("ERR not found");
const EXISTS: Refusal = Refusal::Said("ERR item exists");

/// Why a chunk was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BadChunk {
    /// The chunk would start before the first array.
    Data,
    /// The chunk starts after the last array.
    Offset,
    /// The chunk goes beyond its array.
    Length,
}

/// A value of RedisBloom: a header, and arrays, the oldest first.
trait Chunked: DataType {
    /// The command that takes chunks.
    const LOAD: &'static CStr;

    /// The first chunk.
    ///
    /// # Errors
    /// [`petal::Status::Unsupported`] for a value that the header cannot describe.
    fn header_bytes(&self) -> petal::Result<Vec<u8>>;

    /// The value that a first chunk describes, with empty arrays, if `has_room` allows their bytes.
    ///
    /// # Errors
    /// [`petal::Status::Corrupt`], [`petal::Status::Truncated`], [`petal::Status::OutOfMemory`].
    fn of_header_bytes(bytes: &[u8], has_room: impl FnOnce(u64) -> bool) -> petal::Result<Self>;

    /// The arrays.
    fn arrays(&self) -> impl Iterator<Item = &[u8]>;

    /// The arrays, to be changed.
    fn arrays_mut(&mut self) -> impl Iterator<Item = &mut [u8]>;

    /// Whether a key may have been added.
    fn contains(&self, key: &[u8]) -> bool;

    /// Whether each of the keys may have been added.
    fn contains_many(&self, keys: &[&[u8]]) -> Vec<bool> {
        keys.iter().map(|key| self.contains(key)).collect()
    }

    /// The chunk that starts `at` bytes into the arrays, with at most `most` bytes, and the number of bytes of all
    /// arrays up to its end. `None` after the last chunk.
    fn chunk(&self, at: u64, most: usize) -> Option<(u64, &[u8])> {
        let mut start = 0;
        for array in self.arrays() {
            let end = start + array.len() as u64;
            if at < end {
                let until = end.min(at.saturating_add(most as u64));
                return Some((until, &array[(at - start) as usize..(until - start) as usize]));
            }
            start = end;
        }
        None
    }

    /// Stores the bytes of a chunk at the place of this iterator.
    ///
    /// # Errors
    /// [`BadChunk`]; then nothing has changed.
    fn load(&mut self, iterator: i64, chunk: &[u8]) -> Result<(), BadChunk> {
        let end = u64::try_from(iterator).ok().and_then(|iterator| iterator.checked_sub(1)).ok_or(BadChunk::Data)?;
        let mut at = end.checked_sub(chunk.len() as u64).ok_or(BadChunk::Data)?;
        for array in self.arrays_mut() {
            let bytes = array.len() as u64;
            if at < bytes {
                array[at as usize..].get_mut(..chunk.len()).ok_or(BadChunk::Length)?.copy_from_slice(chunk);
                return Ok(());
            }
            at -= bytes;
        }
        Err(BadChunk::Offset)
    }

    /// The commands that make the value, for the append-only file.
    fn rewrite_chunks(&self, to: &mut Commands) {
        let Ok(header) = self.header_bytes() else { return };
        to.chunk(Self::LOAD, 1, &header);
        let mut at = 0;
        while let Some((until, bytes)) = self.chunk(at, CHUNK) {
            to.chunk(Self::LOAD, until + 1, bytes);
            at = until;
        }
    }

    /// Adds the bytes of the value to a digest: equal values have equal bytes.
    fn digest_chunks(&self, to: &mut Digest) {
        if let Ok(header) = self.header_bytes() {
            to.bytes(&header);
            self.arrays().for_each(|array| to.bytes(array));
        }
        to.end();
    }
}

/// The bytes that `write` gives to a sink.
fn written(write: impl FnOnce(&mut petal::image::Sink) -> petal::Result<()>) -> petal::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&mut |more| {
        bytes.extend_from_slice(more);
        Ok(())
    })?;
    Ok(bytes)
}

/// The value of a key. A missing key gets the value that `wanted` makes, and a header replicates it: replicas would
/// make another value if their settings differ.
fn value_or_made<'k, T: Chunked>(
    context: &Context,
    key: &'k mut Key,
    name: &Argument,
    wanted: Option<impl FnOnce() -> Result<Box<Value<T>>, Refusal>>,
) -> Result<Changing<'k, T>, Refusal> {
    key.to_change_or::<T>(context, |key| {
        let made = wanted.ok_or(NOT_FOUND)?()?;
        let header = made.get().header_bytes()?;
        key.set(made);
        context.replicate(T::LOAD, name, &[b"1", &header]);
        Ok(())
    })
}

/// Does `RESERVE` with known options: makes the value of a key that does not exist.
fn reserve<T: Chunked>(
    context: &Context,
    name: &Argument,
    make: impl FnOnce() -> Result<Box<Value<T>>, Refusal>,
) -> Result<(), Refusal> {
    let mut key = Key::write(context, name);
    if key.value::<T>()?.is_some() {
        return Err(EXISTS);
    }
    let made = make()?;
    // With settings other than the defaults, replicas get the header of the new value instead of the command.
    let header = (!defaults::are_usual()).then(|| made.get().header_bytes()).transpose()?;
    key.set(made);
    match header {
        Some(header) => context.replicate(T::LOAD, name, &[b"1", &header]),
        None => context.replicate_verbatim(),
    }
    context.reply_ok();
    Ok(())
}

/// `EXISTS key item`: false for a missing key, and for a value of another type.
fn exists<T: Chunked>(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, item] = arguments else { return Err(Refusal::Arity) };
    exists_in::<T>(context, &Key::read(context, name), item);
    Ok(())
}

/// Replies whether a key has an item.
fn exists_in<T: Chunked>(context: &Context, key: &Key, item: &Argument) {
    let found = key.value::<T>().ok().flatten().is_some_and(|value| value.get().contains(item.bytes()));
    context.reply_boolean(found);
}

/// `MEXISTS key item [item ...]`: all false for a missing key, and for a value of another type.
fn exist<T: Chunked>(context: &Context, arguments: &[Argument]) -> Result<(), Refusal> {
    let [_, name, items @ ..] = arguments else { return Err(Refusal::Arity) };
    if items.is_empty() {
        return Err(Refusal::Arity);
    }
    if context.in_pieces(arguments, 2, 1, exist::<T>) {
        return Ok(());
    }
    exist_in::<T>(context, &Key::read(context, name), items);
    Ok(())
}

/// Replies which items a key has.
fn exist_in<T: Chunked>(context: &Context, key: &Key, items: &[Argument]) {
    let answers = match key.value::<T>().ok().flatten() {
        Some(value) => value.get().contains_many(&items.iter().map(Argument::bytes).collect::<Vec<_>>()),
        None => vec![false; items.len()],
    };
    context.reply_array(answers.len());
    answers.iter().for_each(|found| context.reply_boolean(*found));
}

/// The value that a first chunk describes.
///
/// # Errors
/// `no_memory` if the value would be too large, otherwise `bad`.
fn of_first_chunk<T: Chunked>(
    context: &Context,
    chunk: &Argument,
    no_memory: Refusal,
    bad: Refusal,
) -> Result<Box<Value<T>>, Refusal> {
    let has_room = |bytes| memory::has_room(context, bytes);
    Value::make(|| T::of_header_bytes(chunk.bytes(), has_room)).map_err(|error| match error.status() {
        petal::Status::OutOfMemory => no_memory,
        _ => bad,
    })
}

/// Replies names with their values; the value of a field that the filter lacks is null.
fn reply_fields<'a>(context: &Context, fields: impl ExactSizeIterator<Item = (&'a str, Option<u64>)>) {
    context.reply_map(fields.len());
    for (name, value) in fields {
        context.reply_word(name);
        context.reply_field(value);
    }
}
