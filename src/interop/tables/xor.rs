//! Xor filters as the C header of their authors writes them: the seed, the number of cells in a third of the table as a
//! `u64`, and the fingerprints, three thirds of them, of 8 or 16 bits; 32 bits are read as well. Keys are numbers of 64
//! bits, and are given as hashes here.

use super::static_filter;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::hash::HashFunction;
use crate::interop::{Cursor, Format, ImportOptions};

pub const FORMAT: Format = Format {
    name: "xor",
    summary: "xor filters of the C library; keys are given as hashes",
    variants: &[],
    recognise: None,
    import,
    export: None,
    spec: None,
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let [seed, third] = [u64::from_le_bytes(cursor.array()?), u64::from_le_bytes(cursor.array()?)];
    let table = cursor.rest();
    let fits = |width: &u64| third.checked_mul(3 * width / 8) == Some(table.len() as u64);
    let width = [8, 16, 32].into_iter().find(fits).ok_or_else(|| {
        let length = table.len();
        error!(Foreign, "{length} bytes are not three times {third} fingerprints of 8, 16 or 32 bits")
    })?;
    static_filter("xor", [seed, third, width, 0, 0], 0, HashFunction::External, table)
}
