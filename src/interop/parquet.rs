//! Apache Parquet's Bloom filter: a header in Thrift's compact protocol that says the number of bytes and three
//! choices, each of which has only one value, then the blocks. It is exactly a filter of the kind `split_block` with
//! XXH64 and seed 0. Systems that keep the blocks elsewhere than in a Parquet file leave out the header.

use super::check_no_seed;
use super::{Cursor, Format, ImportOptions, Wanted};
use crate::contract::Base;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::kinds::split_block;
use crate::kinds::split_block::sizing::BLOCK_BITS;
use crate::spec::Spec;
use crate::storage::{Words, for_each_chunk};

/// Fields 2 to 4 of the header: the block algorithm, XXH64 and no compression, each a union with an empty struct; and
/// the end of the header.
const CHOICES: [u8; 13] = [0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0];

/// Field 1, a 32-bit number.
const LENGTH: u8 = 0x15;

/// The bounds that Parquet's writers keep to.
const BYTES: core::ops::RangeInclusive<u64> = 32..=128 << 20;

pub const FORMAT: Format = Format {
    name: "parquet",
    summary: "Apache Parquet's split-block Bloom filter with its Thrift header",
    variants: &[],
    recognise: Some(|bytes| header(&mut Cursor::new(bytes)).is_ok()),
    import,
    export: Some(export),
    spec: Some(|wanted| spec(wanted, FORMAT.name)),
};

/// The blocks without a header.
pub const BLOCKS: Format = Format {
    name: "split_blocks",
    summary: "the blocks of Parquet's Bloom filter without a header, as Lance and Polars keep them",
    variants: &[],
    recognise: None,
    import: import_blocks,
    export: Some(export_blocks),
    spec: Some(|wanted| spec(wanted, BLOCKS.name)),
};

/// The number of bytes that the header says.
fn header(cursor: &mut Cursor) -> Result<u64> {
    let foreign = || error!(Foreign, "the bytes do not start with the header of a Parquet Bloom filter");
    if cursor.u8()? != LENGTH {
        return Err(foreign());
    }
    // A 32-bit number in zigzag, with seven bits in each byte, the lowest first.
    let mut zigzag = 0_u64;
    for shift in (0..35).step_by(7) {
        let byte = cursor.u8()?;
        zigzag |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            if cursor.array()? != CHOICES {
                return Err(error!(
                    NewerVersion,
                    "the header asks for another algorithm, hash function or compression"
                ));
            }
            let bytes = zigzag >> 1;
            if zigzag & 1 == 1 || bytes == 0 || !bytes.is_multiple_of(BLOCK_BITS / 8) || bytes > i32::MAX as u64 {
                return Err(error!(Corrupt, "{bytes} bytes are not a number of blocks of 32 bytes"));
            }
            return Ok(bytes);
        }
    }
    Err(foreign())
}

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let length = header(&mut cursor)?;
    let blocks = cursor.take(length)?;
    cursor.finish(FORMAT.name)?;
    filter_of(blocks)
}

fn import_blocks(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(BLOCKS.name)?;
    let length = bytes.len() as u64;
    if length == 0 || !length.is_multiple_of(BLOCK_BITS / 8) {
        return Err(error!(Corrupt, "{length} bytes are not a number of blocks of 32 bytes"));
    }
    filter_of(bytes)
}

/// The filter of these blocks, at least one and all whole.
fn filter_of(blocks: &[u8]) -> Result<Filter> {
    let spec = spec_of(8 * blocks.len() as u64, 0);
    let geometry = split_block::ROW.geometry_of(&spec)?;
    let mut base =
        crate::making::base(&split_block::ROW, &spec, geometry, |header| Words::zeroed(header.geometry.payload_bytes))?;
    let words = super::payload::little_endian(blocks);
    base.writable()?.iter_mut().zip(words).for_each(|(to, word)| *to = word);
    Filter::over(base)
}

fn spec_of(bits: u64, capacity: u64) -> Spec {
    Spec { kind: Some(split_block::ROW.kind), hash: HashFunction::Xxh64, bits, capacity, ..Spec::default() }
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let base = base_of(filter, FORMAT.name)?;
    let bits = base.geometry().bits;
    let bytes = bits / 8;
    if bytes > i32::MAX as u64 {
        return Err(error!(Unsupported, "bits = {bits} has no form in parquet: more than 2^31 bytes"));
    }
    sink(&[LENGTH])?;
    let mut zigzag = bytes << 1;
    while zigzag >= 0x80 {
        sink(&[zigzag as u8 | 0x80])?;
        zigzag >>= 7;
    }
    sink(&[zigzag as u8])?;
    sink(&CHOICES)?;
    write_blocks(base, sink)
}

fn export_blocks(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    write_blocks(base_of(filter, BLOCKS.name)?, sink)
}

/// The filter, if it places keys as Parquet does.
fn base_of<'a>(filter: &'a Filter, format: &str) -> Result<&'a Base> {
    let base = filter.base();
    let (name, header) = (base.row().name, base.header());
    if base.row().kind != split_block::ROW.kind {
        return Err(error!(Unsupported, "kind = {name} has no form in {format}, only split_block has"));
    }
    if header.hash != HashFunction::Xxh64 || header.identifier != 0 {
        let (hash, seed) = (header.hash, header.identifier);
        return Err(error!(
            Unsupported,
            "hash = {hash} with seed = {seed} has no form in {format}, only xxh64 with 0 has"
        ));
    }
    Ok(base)
}

fn write_blocks(base: &Base, sink: &mut Sink) -> Result<()> {
    for_each_chunk(&base.words().shared()[..(base.geometry().bits / 64) as usize], sink)
}

/// The sizes of Arrow's writer: a power of two. Writers may fold them later.
fn spec(wanted: &Wanted, format: &str) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    check_no_seed(seed, format)?;
    let bits = -8.0 * capacity as f64 / (-rate.powf(1.0 / 8.0)).ln_1p();
    let bytes = ((bits as u64).div_ceil(8)).clamp(*BYTES.start(), *BYTES.end());
    Ok(spec_of(8 * bytes.next_power_of_two().min(*BYTES.end()), capacity))
}
