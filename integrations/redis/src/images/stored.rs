//! The value behind a key of `PETAL.*`: a filter or a map of any kind, or the received part of an image.

use petal::format::{HEADER_LENGTH, Header};
use petal::storage::try_vec;
use petal::{Filter, Image, Map, OpenOptions, Result, Secret, Status, image, load_as, registry};

use crate::server::words::bytes;

/// A value.
pub enum Stored {
    /// A filter.
    Filter(Filter),
    /// A map.
    Map(Map),
    /// The start of an image.
    Part(Vec<u8>),
}

impl Stored {
    /// The filter or map of an image, with its secret key if it has one and the key is known.
    ///
    /// # Errors
    /// The errors of opening the image.
    pub fn of_image(image: &[u8], key: Option<Secret>) -> Result<Stored> {
        let (header, _) = Header::read(|start| {
            let length = start.len().min(image.len());
            start[..length].copy_from_slice(&image[..length]);
            Ok(length)
        })?;
        let options = OpenOptions { secret: key, ..OpenOptions::default() };
        match registry::find(header.kind).is_some_and(|row| row.is_map()) {
            true => load_as(image, &options).map(Stored::Map),
            false => load_as(image, &options).map(Stored::Filter),
        }
    }

    /// The secret key, if the filter or map has one and the module knows it.
    pub fn secret(&self) -> Option<Secret> {
        match self {
            Stored::Filter(filter) => filter.base().hasher().secret().copied(),
            Stored::Map(map) => map.base().hasher().secret().copied(),
            Stored::Part(_) => None,
        }
    }

    /// A copy of the filter or map, with its own memory.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub fn copy(&self) -> Result<Stored> {
        match self {
            Stored::Filter(filter) => filter.copy().map(Stored::Filter),
            Stored::Map(map) => map.copy().map(Stored::Map),
            Stored::Part(part) => {
                let mut copy = try_vec(part.len())?;
                copy.extend_from_slice(part);
                Ok(Stored::Part(copy))
            }
        }
    }

    /// Passes all bytes to a sink, in order.
    ///
    /// # Errors
    /// The errors of the sink; [`Status::OutOfMemory`].
    pub fn write(&self, sink: &mut image::Sink) -> Result<()> {
        match self {
            Stored::Filter(filter) => filter.serialize_to(sink),
            Stored::Map(map) => map.serialize_to(sink),
            Stored::Part(part) => sink(part),
        }
    }

    /// The length in bytes of the image, or of the received part.
    pub fn length(&self) -> usize {
        match self {
            Stored::Filter(filter) => filter.serialized_size() as usize,
            Stored::Map(map) => map.serialized_size() as usize,
            Stored::Part(part) => part.len(),
        }
    }

    /// The payload's bytes that lie in memory in the order of the image.
    fn payload(&self) -> &[u8] {
        match self {
            Stored::Filter(filter) => bytes(filter.base().words()),
            Stored::Map(map) => bytes(map.base().words()),
            Stored::Part(part) => part.get(HEADER_LENGTH..).unwrap_or_default(),
        }
    }

    /// Whether the chunk that starts at byte `at` is a plain copy of memory.
    pub fn lies_there(&self, at: usize) -> bool {
        matches!(self, Stored::Part(_)) || at < HEADER_LENGTH + self.payload().len()
    }

    /// The chunk that starts at byte `at`, with at most `most` bytes; empty after the last chunk. The first chunk is
    /// the header. The last chunk has the checksums, and takes as long as all other chunks together. The chunks between
    /// are plain copies of memory.
    ///
    /// # Errors
    /// [`Status::OutOfMemory`].
    pub fn chunk(&self, at: usize, most: usize) -> Result<Vec<u8>> {
        if let Stored::Part(part) = self {
            return copied(part.get(at..).unwrap_or_default(), most);
        }
        match at.checked_sub(HEADER_LENGTH).and_then(|start| self.payload().get(start..)) {
            None if at < HEADER_LENGTH => self.skipping(at, HEADER_LENGTH, most),
            Some(rest) if !rest.is_empty() => copied(rest, most),
            _ => self.skipping(at, self.length(), most),
        }
    }

    /// The bytes from `at` to `end`, at most `most` of them.
    fn skipping(&self, at: usize, end: usize, most: usize) -> Result<Vec<u8>> {
        let wanted = end.saturating_sub(at).min(most);
        let mut chunk = try_vec(wanted)?;
        let mut start = 0;
        let outcome = self.write(&mut |bytes| {
            let from = at.saturating_sub(start).min(bytes.len());
            let count = (bytes.len() - from).min(wanted - chunk.len());
            chunk.extend_from_slice(&bytes[from..from + count]);
            start += bytes.len();
            // The chunk is complete.
            if chunk.len() == wanted { Err(Status::BufferTooSmall.into()) } else { Ok(()) }
        });
        if chunk.len() == wanted { Ok(chunk) } else { outcome.and(Err(Status::Internal.into())) }
    }
}

/// A chunk with the first of these bytes, at most `most` of them.
fn copied(bytes: &[u8], most: usize) -> Result<Vec<u8>> {
    let mut chunk = try_vec(bytes.len().min(most))?;
    chunk.extend_from_slice(&bytes[..bytes.len().min(most)]);
    Ok(chunk)
}
