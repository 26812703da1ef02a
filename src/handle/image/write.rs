//! Gives an image to anything that takes bytes. The bytes always match their checksums, even if somebody changes the
//! payload meanwhile: each region is copied, and both its bytes and its table entry come from the copy.

use crate::contract::Base;
use crate::error::{Result, error};
use crate::format::{CHECKSUM_OFFSET, HEADER_LENGTH as LENGTH, Header, Table, table_bytes};
use crate::storage::{Words, for_each_chunk};
use core::sync::atomic::Ordering;

/// A function that takes the bytes of an image, piece by piece and in order.
pub type Sink<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// Gives the whole image to `sink`, in order. Threads and processes may insert meanwhile: the image has all keys whose
/// insertion happened before.
///
/// # Errors
/// The errors of the sink; [`Status::OutOfMemory`](crate::Status::OutOfMemory);
/// [`Status::Corrupt`](crate::Status::Corrupt) if an image in place does not match its checksums;
/// [`Status::Unclean`](crate::Status::Unclean) if an image is open for reading and another process begins to change it
/// meanwhile.
pub fn write(base: &Base, sink: &mut Sink) -> Result<()> {
    let header = described(base, base.stays_unclean());
    let bytes = header.encode();
    sink(&bytes)?;
    let (table, stays_unclean) = write_payload(base, header.unclean, checksum_of(&bytes), sink)?;
    if stays_unclean != header.unclean {
        return Err(error!(Unclean, "another process began to change the image while it was copied"));
    }
    for_each_chunk(table.shared(), sink)
}

/// Gives the whole image to `put`, piece by piece with the offset of each: payload, table, and then the header.
///
/// # Errors
/// The errors of `put` and of [`write()`]. But an image that another process begins to change meanwhile is given as a
/// unclean one.
pub fn write_at(base: &Base, put: &mut dyn FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
    let mut offset = LENGTH as u64;
    let mut put_next = |bytes: &[u8]| {
        put(offset, bytes)?;
        offset += bytes.len() as u64;
        Ok(())
    };
    let stays_unclean = base.stays_unclean();
    let checksum = checksum_of(&described(base, stays_unclean).encode());
    let (table, stays_unclean) = write_payload(base, stays_unclean, checksum, &mut put_next)?;
    for_each_chunk(table.shared(), &mut put_next)?;
    put(0, &described(base, stays_unclean).encode())
}

/// The header that describes the image at this moment.
fn described(base: &Base, unclean: bool) -> Header {
    Header { unclean, count: base.count_now(), ..base.header().clone() }
}

/// The checksum of a header's first part.
fn checksum_of(header: &[u8; LENGTH]) -> u64 {
    u64::from_le_bytes(core::array::from_fn(|i| header[CHECKSUM_OFFSET + i]))
}

/// Gives the payload to `sink`. Returns the payload's table, and whether the bytes that were given are unclean.
fn write_payload(base: &Base, stays_unclean: bool, header_checksum: u64, sink: &mut Sink) -> Result<(Words, bool)> {
    let payload_bytes = base.geometry().payload_bytes;
    let words = Words::zeroed(table_bytes(payload_bytes))?;
    let table = Table::new(words.shared(), payload_bytes);
    let mut entries = table.entries().iter();
    let stays_unclean = base.for_each_region(stays_unclean, |bytes, found| {
        found.iter().zip(entries.by_ref()).for_each(|(entry, to)| to.store(*entry, Ordering::Relaxed));
        sink(bytes)
    })?;
    table.seal(header_checksum);
    Ok((words, stays_unclean))
}
