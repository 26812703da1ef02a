//! Petal's own bytes: a header of 256 bytes, the payload, and a table of the checksums of its regions.
//! `docs/format.md` specifies them to the bit.

pub mod compact;
mod header;
mod regions;

pub(crate) use header::{CHECKSUM_OFFSET, COUNT_OFFSET, SHARING_OFFSET, UNCLEAN};
pub use header::{Geometry, Header, LENGTH as HEADER_LENGTH, MAGIC, STATE_OFFSET, countable, image_bytes};
pub use regions::REGION_BYTES;
#[cfg(test)]
pub(crate) use regions::tests;
pub(crate) use regions::{REGION_WORDS, Table, differs, entry_of, entry_of_words, table_bytes};

/// The version of the header that this library writes, and the greatest that it reads.
pub const FORMAT_VERSION: u16 = 1;

/// Payloads are padded with zeros to whole cache lines.
pub const PAYLOAD_UNIT: u64 = 64;
