//! What `WriteTo` and `MarshalBinary` of the Go package holiman/bloomfilter/v2 write: eight zeros and `v02\n`; k, the
//! number of insertions and the number m of bits, as little-endian `u64`; k keys of the filter, all different; the bits
//! in little-endian `u64`; and the SHA-384 of all of this. Callers bring hashes.

use super::static_filter;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::hash::sha2::{self, Sha384};
use crate::interop::{Cursor, Format, ImportOptions};
use crate::kinds::foreign_static;
use crate::kinds::foreign_static::tables::{self, MAX_HOLIMAN_HASHES as MAX_HASHES, MIN_HOLIMAN_BITS as MIN_BITS};
use crate::storage::for_each_chunk;

const NAME: &str = "holiman";

pub const FORMAT: Format = Format {
    name: NAME,
    summary: "the Go package holiman/bloomfilter/v2, as geth and Erigon use it; callers hash",
    variants: &[],
    recognise: Some(|bytes| bytes.starts_with(MAGIC)),
    import,
    export: Some(export),
    spec: None,
};

const MAGIC: &[u8] = b"\0\0\0\0\0\0\0\0v02\n";

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(NAME)?;
    let mut cursor = Cursor::new(bytes);
    if !bytes.starts_with(MAGIC) {
        return Err(error!(Foreign, "the bytes do not begin with eight zeros and v02"));
    }
    cursor.take(MAGIC.len() as u64)?;
    let mut number = || -> Result<u64> { Ok(u64::from_le_bytes(cursor.array()?)) };
    let [hashes, count, bits] = [number()?, number()?, number()?];
    if !(1..=MAX_HASHES).contains(&hashes) {
        return Err(error!(
            OutOfRange,
            "k = {hashes} is not in 1 to {MAX_HASHES}: each lookup would take as many steps"
        ));
    }
    if bits < MIN_BITS {
        return Err(error!(Corrupt, "m = {bits} is below {MIN_BITS}"));
    }
    let words = bits.div_ceil(64);
    let table = cursor.take((hashes + words).saturating_mul(8))?;
    let sum: [u8; sha2::BYTES] = cursor.array()?;
    cursor.finish(NAME)?;
    let mut right = Sha384::new();
    right.update(&bytes[..bytes.len() - sha2::BYTES]);
    if right.finish() != sum {
        return Err(error!(Corrupt, "the SHA-384 at the end is not that of the bytes before it"));
    }
    if !bits.is_multiple_of(64)
        && table[table.len() - 8..].as_chunks().0.iter().any(|last| u64::from_le_bytes(*last) >> (bits % 64) != 0)
    {
        return Err(error!(Corrupt, "bits after the last one, {bits}, are set"));
    }
    static_filter(NAME, [hashes, bits, 0, 0, 0], count, HashFunction::External, table)
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let base = filter.base();
    let (name, geometry) = (base.row().name, base.geometry());
    if base.row().kind != foreign_static::ROW.kind || Some(geometry.words[0]) != tables::number(NAME) {
        return Err(error!(Unsupported, "kind = {name} has no form in {NAME}, only filters that came from it have"));
    }
    let [_, hashes, bits, ..] = geometry.words;
    let mut sum = Sha384::new();
    let mut give = |bytes: &[u8]| {
        sum.update(bytes);
        sink(bytes)
    };
    give(MAGIC)?;
    for number in [hashes, base.count_now(), bits] {
        give(&number.to_le_bytes())?;
    }
    for_each_chunk(&base.words().shared()[..(hashes + bits.div_ceil(64)) as usize], &mut give)?;
    sink(&sum.finish())
}
