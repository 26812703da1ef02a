//! petal_wire.h: filters and maps on the wire, in few bytes. It is experimental: functions may still change. petal.h
//! has the conventions.
//!
//! The packed form of a filter has everything that its image has, in few bytes. The payload is arithmetic-coded, and
//! takes at most 1 % and 32 bytes more than the entropy of its fill. So a bit array of which few bits are set becomes
//! small. A filter at its capacity has about half of its bits set, and does not become smaller. With more bits and
//! fewer hashes a filter has the same rate, fewer bits set, and a smaller packed form: `petal_wire_get_spec()`. Every
//! kind of filter and map can be packed.
//!
//! A delta is what changed from an older state of a filter to a newer one, and takes as many bytes as the changed bits
//! need. The receiver's filter must be in the older state to the byte, its count included.
//!
//!     petal_filter *theirs = petal_filter_with_capacity(1000, 0.01), *ours = petal_filter_with_capacity(1000, 0.01);
//!     if (!theirs || !ours) return 1;
//!     petal_filter_insert_u64(ours, 7, NULL);
//!     char delta[200];
//!     size_t length = 0;
//!     if (petal_filter_delta(theirs, ours, delta, sizeof delta, &length, NULL) != PETAL_OK) return 1;
//!     if (petal_filter_patch(theirs, delta, length, 1 << 20, NULL) != PETAL_OK) return 1;
//!
//! Both forms have a checksum of 64 bits. Bytes that were cut or damaged are refused, and change no filter. The
//! checksum has no secret, and does not say who made the bytes: take a channel that authenticates the sender. A form
//! may claim a large filter in few bytes, so you say how many bytes an image may have. docs/format.md specifies both
//! forms to the byte.

use crate::arguments::Out;
use crate::boundary;
use petal_core::{Result, Status};

pub mod filter;
#[cfg(feature = "map")]
pub mod map;
pub mod sparse;

/// Gives bytes to a sink: a packed form or a delta of given filters.
type Write<'a> = dyn Fn(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'a;

/// How many bytes are written.
fn size_of(write: &Write) -> Result<u64> {
    let mut size = 0;
    write(&mut |bytes| {
        size += bytes.len() as u64;
        Ok(())
    })?;
    Ok(size)
}

/// Writes into a buffer.
fn write_into(write: &Write, buffer: &mut [u8], written: Out<usize>) -> Result<()> {
    let (length, mut done) = (buffer.len(), 0);
    write(&mut |bytes| {
        let message = format_args!("the buffer has {length} bytes, and there are more");
        let end = done + bytes.len();
        let to = buffer.get_mut(done..end).ok_or_else(|| boundary::error(Status::BufferTooSmall, message))?;
        to.copy_from_slice(bytes);
        done = end;
        Ok(())
    })?;
    written.set(done);
    Ok(())
}
