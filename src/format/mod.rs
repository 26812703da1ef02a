//! Petal's own bytes: a header of 256 bytes and the payload. `docs/format.md` specifies them to the bit.

mod header;
mod save;

pub use header::{Geometry, Header, LENGTH as HEADER_LENGTH, MUTABLE_OFFSET, STATE_OFFSET};
pub(crate) use save::sealed;
pub use save::{Sink, save, write, write_at};

/// The version of the header that this library writes, and the greatest that it reads.
pub const FORMAT_VERSION: u16 = 1;

/// Payloads are padded with zeros to whole cache lines.
pub const PAYLOAD_UNIT: u64 = 64;
