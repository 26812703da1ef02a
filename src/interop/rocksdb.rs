//! Filter blocks of RocksDB's tables: full ones, and each partition of partitioned ones. They come without the block's
//! own trailer (compression type and checksum): the filter's data, and five bytes that say what it is.
//!
//! - `ff 00 k 00 00`: the Bloom filter of format version 5 and later, lines of 64 bytes, k bits a key
//!   ([`crate::kinds::rocksdb_bloom`]). New filters are written like this.
//! - `fe`, a seed, and the number of blocks in three bytes: the Ribbon filter
//!   ([`crate::kinds::foreign_static::tables`]), which can be looked up and written back.
//! - `k` from 1 to 30, and the number of lines as a `u32`: the Bloom filter of earlier format versions. Its lines are
//!   as long as those of the cache of the machine that wrote it ([`crate::kinds::foreign_bloom::placements`]).
//!
//! Either all keys of a table are hashed whole, or their prefixes are; the bytes do not say which.

use super::arrays::{Parts, parts_of, words_of};
use super::payload::{filter_of, little_endian};
use super::tables::static_filter;
use super::{Cursor, Format, ImportOptions, Wanted};
use crate::error::{Result, Status, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::kinds::rocksdb_bloom::layout::MAX_HASHES;
use crate::kinds::{foreign_static, rocksdb_bloom};
use crate::spec::{KindId, Spec};
use core::sync::atomic::Ordering;

pub const FORMAT: Format = Format {
    name: "rocksdb",
    summary: "filter blocks of RocksDB's tables: Bloom, Ribbon, and Bloom of before format version 5",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

/// Bytes after the data.
const TRAILER: usize = 5;

/// The placement of filters before format version 5.
const LEGACY: &str = "rocksdb_legacy";

/// The form of the Ribbon filter.
const RIBBON: &str = "rocksdb_ribbon";

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let data = cursor.take((bytes.len().saturating_sub(TRAILER)) as u64)?;
    let trailer: [u8; TRAILER] = cursor.array()?;
    if data.is_empty() {
        return Err(error!(Unsupported, "a filter block without data is of no keys: RocksDB says no to every key"));
    }
    match trailer {
        [0xff, 0, probes, 0, 0] if (1..=MAX_HASHES).contains(&probes.into()) => bloom(data, probes.into()),
        [0xfe, seed, blocks @ ..] => {
            let [a, b, c] = blocks;
            ribbon(data, seed, u32::from_le_bytes([a, b, c, 0]))
        }
        [probes @ 1..=30, lines @ ..] => legacy(data, probes.into(), u32::from_le_bytes(lines)),
        _ => Err(error!(
            Unsupported,
            "a filter block with the trailer {trailer:02x?} is one to which RocksDB says yes to every key"
        )),
    }
}

fn bloom(data: &[u8], hashes: u32) -> Result<Filter> {
    let spec = Spec { bits: 8 * data.len() as u64, hashes, ..of_kind(rocksdb_bloom::ROW.kind) };
    let geometry = rocksdb_bloom::ROW.geometry_of(&spec);
    let geometry = geometry.map_err(|error| error!(Corrupt, "the bytes describe no filter: {error}"))?;
    filter_of(&rocksdb_bloom::ROW, &spec, geometry, 0, data)
}

fn ribbon(data: &[u8], seed: u8, blocks: u32) -> Result<Filter> {
    static_filter(RIBBON, [seed.into(), blocks.into(), 0, 0, 0], 0, HashFunction::Xxph3, data)
}

fn of_kind(kind: KindId) -> Spec {
    Spec { kind: Some(kind), hash: HashFunction::Xxph3, ..Spec::default() }
}

fn legacy(data: &[u8], hashes: u32, lines: u32) -> Result<Filter> {
    let (length, lines) = (data.len() as u64, u64::from(lines));
    if lines == 0 || !length.is_multiple_of(lines) || !(length / lines).is_power_of_two() {
        return Err(error!(Corrupt, "{length} bytes are not {lines} lines of a power of two of bytes"));
    }
    let line_bits = 3 + (length / lines).ilog2();
    let parts =
        Parts { placement: LEGACY, bits: 8 * length, hashes, key: [line_bits.into(), 0, 0, 0], ..Parts::default() };
    parts.filter(little_endian(data))
}

fn export(filter: &Filter, _variant: Option<usize>, sink: &mut Sink) -> Result<()> {
    let base = filter.base();
    let geometry = base.geometry();
    let is_ribbon = base.row().kind == foreign_static::ROW.kind
        && Some(geometry.words[0]) == crate::kinds::foreign_static::tables::number(RIBBON);
    if is_ribbon || base.row().kind == rocksdb_bloom::ROW.kind {
        let hash = base.hasher().function();
        if hash != HashFunction::Xxph3 {
            return Err(error!(Unsupported, "hash = {hash} has no form in {}, which has xxph3", FORMAT.name));
        }
        let words = &base.words().shared()[..(geometry.bits / 64) as usize];
        words.iter().try_for_each(|word| sink(&word.load(Ordering::Relaxed).to_le_bytes()))?;
        let [seed, blocks] = [geometry.words[1], geometry.words[2]];
        let [a, b, c, ..] = blocks.to_le_bytes();
        return sink(&if is_ribbon { [0xfe, seed as u8, a, b, c] } else { [0xff, 0, geometry.hashes as u8, 0, 0] });
    }
    let parts = parts_of(filter, &[LEGACY], FORMAT.name)?;
    let mut left = parts.bits / 8;
    words_of(base).try_for_each(|word| {
        let length = left.min(8);
        left -= length;
        sink(&word.to_le_bytes()[..length as usize])
    })?;
    let lines = u32::try_from(parts.bits >> parts.key[0]).map_err(|_| Status::Internal)?;
    let [a, b, c, d] = lines.to_le_bytes();
    sink(&[parts.hashes as u8, a, b, c, d])
}

/// The least number of lines for which the exact rate is at most the wanted one, if a key sets as many bits as RocksDB
/// chooses for that size. RocksDB itself takes the number of bits per key: for 10 of these ask for about 0.0095.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate, seed, .. } = wanted;
    if seed != 0 {
        return Err(error!(Contradiction, "seed = {seed}: RocksDB's filters have none"));
    }
    let spec = Spec { capacity, false_positive_rate, ..of_kind(rocksdb_bloom::ROW.kind) };
    crate::making::geometry(&spec)?;
    Ok(spec)
}
