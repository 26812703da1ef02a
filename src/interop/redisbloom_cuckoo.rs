//! RedisBloom's cuckoo filters: what `CF.SCANDUMP` gives, chunk after chunk, as one string of bytes. The first chunk is
//! a header of 38 bytes: keys, buckets of the first table, keys deleted, tables, slots of a bucket, the most kicks of
//! an insertion, expansion. The tables follow, with a byte for each slot, the oldest first. Such filters are only read
//! and written back.
//!
//! `CF.LOADCHUNK` wants them in pieces again: the header first, with iterator 1; then pieces of a table, none with
//! bytes of two. The iterator of a piece is 1 more than the bytes of all tables up to its end.

use super::payload::filter_of;
use super::{Cursor, Format, ImportOptions};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::kinds::foreign_cuckoo::{ROW, of};
use crate::spec::Spec;
use core::sync::atomic::Ordering;

/// The row of the format.
pub const FORMAT: Format = Format {
    name: "redisbloom_cuckoo",
    summary: "RedisBloom's cuckoo filters: the chunks of CF.SCANDUMP, one after the other",
    variants: &[],
    recognise: Some(|bytes| tables(bytes).is_ok()),
    import,
    export: Some(export),
    spec: None,
};

/// The header of a filter, which is the first chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Keys that are there.
    pub keys: u64,
    /// Buckets of the first table, a power of two.
    pub buckets: u64,
    /// Keys that were deleted since tables were last compacted.
    pub deleted: u64,
    /// How many tables there are.
    pub tables: u64,
    /// Slots of a bucket.
    pub slots: u64,
    /// The most kicks of an insertion.
    pub kicks: u64,
    /// The buckets of a table divided by those of the table before; 0 if no table is added.
    pub expansion: u64,
}

impl Header {
    /// The header that bytes start with; what follows it is left in the cursor.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for tables that cannot be,
    /// [`Status::Truncated`](crate::Status::Truncated).
    pub fn read(cursor: &mut Cursor) -> Result<Header> {
        let mut word = || cursor.array().map(u64::from_le_bytes);
        let [keys, buckets, deleted, tables] = [word()?, word()?, word()?, word()?];
        let mut small = || cursor.array().map(|bytes| u64::from(u16::from_le_bytes(bytes)));
        let [slots, kicks, expansion] = [small()?, small()?, small()?];
        let header = Header { keys, buckets, deleted, tables, slots, kicks, expansion };
        header.geometry()?;
        Ok(header)
    }

    /// Gives the bytes of the header to a sink.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn write(&self, sink: &mut Sink) -> Result<()> {
        let Header { keys, buckets, deleted, tables, slots, kicks, expansion } = *self;
        [keys, buckets, deleted, tables].iter().try_for_each(|word| sink(&word.to_le_bytes()))?;
        [slots, kicks, expansion].iter().try_for_each(|small| sink(&(*small as u16).to_le_bytes()))
    }

    /// The geometry of the tables, one after the other.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for tables that cannot be.
    pub fn geometry(&self) -> Result<Geometry> {
        let Header { keys, buckets, deleted, tables, slots, kicks, expansion } = *self;
        of([buckets, tables, slots, kicks, expansion, keys, deleted, 0]).ok_or_else(|| {
            error!(
                Corrupt,
                "{tables} tables from {buckets} buckets of {slots} slots on, {expansion} times as large each, with \
                 {keys} keys are not possible"
            )
        })
    }
}

/// The geometry that bytes describe, and the tables. All of the bytes must belong to them.
fn tables(bytes: &[u8]) -> Result<(Geometry, &[u8])> {
    let mut cursor = Cursor::new(bytes);
    let geometry = Header::read(&mut cursor)?.geometry()?;
    let table = cursor.take(geometry.bits / 8)?;
    cursor.finish(FORMAT.name)?;
    Ok((geometry, table))
}

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let (geometry, table) = tables(bytes)?;
    let spec = Spec { kind: Some(ROW.kind), bits: geometry.bits, hash: HashFunction::Format, ..Spec::default() };
    filter_of(&ROW, &spec, geometry, geometry.words[5], table)
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let base = filter.base();
    if base.row().kind != ROW.kind {
        let name = base.row().name;
        return Err(error!(Unsupported, "kind = {name} has no form in {}, which is only read", FORMAT.name));
    }
    let Geometry { bits, words: [buckets, tables, slots, kicks, expansion, keys, deleted, _], .. } = *base.geometry();
    Header { keys, buckets, deleted, tables, slots, kicks, expansion }.write(sink)?;
    let mut left = (bits / 8) as usize;
    base.words().shared().iter().try_for_each(|word| {
        let count = left.min(8);
        left -= count;
        sink(&word.load(Ordering::Relaxed).to_le_bytes()[..count])
    })
}
