//! Clubcards of Mozilla's crate clubcard-crlite, in versions 3 and 4: the version and a byte 0, the times that CT logs
//! were read, the issuers, the columns of the first linear system, and the column of the second. Version 3 has all
//! numbers in 64 bits, little-endian, and version 4 in fewer bytes, big-endian.
//! [`crate::kinds::foreign_static::tables::clubcard`] has the table that is made of this, in which lookups find an
//! issuer without reading those before.

use super::static_filter;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::hash::HashFunction;
use crate::interop::{Cursor, Format, ImportOptions};
use crate::kinds::foreign_static::tables::clubcard::{ID, NEGATED};
use crate::storage::try_vec;

const NAME: &str = "clubcard";

pub const FORMAT: Format = Format {
    name: NAME,
    summary: "the revoked certificates of CRLite, in Mozilla's clubcards; keys are an issuer's hash and a serial number",
    variants: &[],
    recognise: None,
    import,
    export: None,
    spec: None,
};

/// The most columns of the first system.
const MAX_COLUMNS: u64 = u8::MAX as u64;

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// Whether the version is 3.
    is_old: bool,
}

impl Reader<'_> {
    /// A number that version 4 has in `width` bytes, and which is no greater than these hold in version 3 either.
    fn number(&mut self, width: u32) -> Result<u64> {
        let number = match self.is_old {
            true => u64::from_le_bytes(self.cursor.array()?),
            false => self.cursor.take(width.into())?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        };
        match number >> (8 * width - 1) >> 1 {
            0 => Ok(number),
            _ => Err(error!(Corrupt, "{number} is more than {width} bytes of a {NAME} hold")),
        }
    }
}

/// Appends a line of the table.
fn put(table: &mut Vec<u8>, id: &[u8; ID], numbers: [u64; 4]) {
    table.extend_from_slice(id);
    numbers.iter().for_each(|number| table.extend_from_slice(&number.to_le_bytes()));
}

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(NAME)?;
    let mut cursor = Cursor::new(bytes);
    let start: [u8; 2] = cursor.array()?;
    if !matches!(start, [3 | 4, 0]) {
        return Err(error!(Foreign, "the bytes begin with {start:02x?}, and a {NAME} with [03, 00] or [04, 00]"));
    }
    let mut reader = Reader { cursor, is_old: start[0] == 3 };
    // Logs and issuers take more room in the table than here, by a third at most, and columns may be empty.
    let mut table: Vec<u8> = try_vec(bytes.len() / 3 * 4 + 8 * MAX_COLUMNS as usize + 16)?;
    let mut exceptions: Vec<u8> = try_vec(bytes.len())?;
    let logs = reader.number(2)?;
    for _ in 0..logs {
        let id: [u8; ID] = reader.cursor.array()?;
        let times = [reader.number(8)?, reader.number(8)?];
        put(&mut table, &id, [times[0], times[1], 0, 0]);
    }
    let issuers = reader.number(4)?;
    for _ in 0..issuers {
        if reader.is_old && reader.number(8)? != ID as u64 {
            return Err(error!(Corrupt, "an issuer's hash has not {ID} bytes"));
        }
        let id = reader.cursor.array()?;
        // Version 3 has the rows of both systems first.
        let rows = reader.number(4)?;
        let early = if reader.is_old { reader.number(4)? } else { 0 };
        let columns = reader.number(1)?;
        let first = reader.number(4)? << 32 | rows;
        let rows = if reader.is_old { early } else { reader.number(4)? };
        let second = reader.number(4)? << 32 | rows;
        let negated = match reader.cursor.u8()? {
            0 => 0,
            1 => NEGATED,
            other => return Err(error!(Corrupt, "{other} does not say whether an issuer's answers are negated")),
        };
        let count = reader.number(2)?;
        put(&mut table, &id, [first, second, count << 32 | negated | columns, exceptions.len() as u64]);
        for _ in 0..count {
            let length = reader.number(1)?;
            exceptions.push(length as u8);
            exceptions.extend_from_slice(reader.cursor.take(length)?);
        }
    }
    let columns = reader.number(1)? + 1;
    let ends = table.len();
    table.resize(ends + 8 * columns as usize, 0);
    for i in 0..columns as usize {
        let count = reader.number(4)?;
        for word in reader.cursor.take(8 * count)?.as_chunks::<8>().0 {
            let mut word = *word;
            if !reader.is_old {
                word.reverse();
            }
            table.extend_from_slice(&word);
        }
        let end = (table.len() - ends) as u64 / 8 - columns;
        table[ends + 8 * i..][..8].copy_from_slice(&end.to_le_bytes());
    }
    reader.cursor.finish(NAME)?;
    table.extend_from_slice(&exceptions);
    static_filter(NAME, [logs, issuers, columns, 0, 0], 0, HashFunction::Format, &table)
}
