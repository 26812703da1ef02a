//! Apache Cassandra's `Filter.db`: k and the number of 64-bit words as big-endian `int`s, then the bits. The version of
//! the tables that wrote it stands in the file's name, not in its bytes, so there is a format for each way.

use super::{Parts, big_endian};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::interop::payload::little_endian;
use crate::interop::{Cursor, Format, ImportOptions};

/// Version `na` (4.0) and later: the bits as bytes.
pub const V4: Format = Format {
    name: "cassandra",
    summary: "Apache Cassandra's Filter.db of version na (4.0) and later",
    variants: &[],
    recognise: None,
    import: |bytes, options| import(false, bytes, options),
    export: None,
    spec: None,
};

/// Versions `ma` to `me` (3.0 to 3.11): the bits as words, each with its bytes in reverse.
pub const V3: Format = Format {
    name: "cassandra_3",
    summary: "Apache Cassandra's Filter.db of versions ma to me (3.0 to 3.11)",
    import: |bytes, options| import(true, bytes, options),
    ..V4
};

fn import(is_reversed: bool, bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused("cassandra")?;
    let mut cursor = Cursor::new(bytes);
    let hashes = i32::from_be_bytes(cursor.array()?);
    let count = i32::from_be_bytes(cursor.array()?);
    if hashes <= 0 || count <= 0 {
        return Err(error!(Corrupt, "a filter of {hashes} hashes and {count} words is not possible"));
    }
    let words = cursor.take(8 * count as u64)?;
    cursor.finish("cassandra")?;
    let parts = Parts { placement: "cassandra", bits: 64 * count as u64, hashes: hashes as u32, ..Parts::default() };
    if is_reversed { parts.filter(big_endian(words)) } else { parts.filter(little_endian(words)) }
}
