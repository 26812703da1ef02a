//! RedisBloom's Bloom filters: what `BF.SCANDUMP` gives, chunk after chunk, as one string of bytes. The first chunk is
//! the header: how many keys there are, how many links, options, the expansion, and 53 bytes for each link. The arrays
//! of the links follow, the oldest first.
//!
//! `BF.LOADCHUNK` wants them in pieces again: the header first, with iterator 1; then pieces of an array, none longer
//! than 16 MiB and none with bytes of two links. The iterator of a piece is 1 more than the bytes of all arrays up to
//! its end.

use super::array::check_no_seed;
use super::chain::{Part, Whole, Written, written};
use super::{Cursor, Format, ImportOptions, Wanted};
use crate::error::{Result, error};
use crate::filter::Filter;
use crate::filters::foreign_bloom::{PLACEMENT, STATED_RATE};
use crate::filters::foreign_scalable::links::{Link, redis_hashes, sized};
use crate::filters::foreign_scalable::{ROW, SCALING};
use crate::hash::HashFunction;
use crate::image::Sink;
use crate::layouts::foreign;
use crate::spec::{Setting, Spec};
use crate::storage::try_vec;

/// The sizes of links are not rounded up to a power of two.
const NO_ROUND: u32 = 1;
/// 64-bit hashes.
const FORCE_64: u32 = 4;
/// No links are added.
const NO_SCALING: u32 = 8;
/// All options that there are.
const KNOWN: u32 = 15;

/// The rate of a link over that of the one before, and of the first over what was asked for.
const TIGHTENING: f64 = 0.5;

/// Bytes of the header before those of the links, and for each link.
const HEADER: usize = 20;
const LINK: u64 = 53;

const PLACEMENTS: [&str; 2] = ["redisbloom", "libbloom_2"];

pub const FORMAT: Format = Format {
    name: "redisbloom",
    summary: "RedisBloom's Bloom filters: the chunks of BF.SCANDUMP, one after the other",
    variants: &["scaling", "nonscaling"],
    recognise: Some(|bytes| chain(bytes).is_ok()),
    import,
    export: Some(export),
    spec: Some(spec),
};

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let (whole, parts) = chain(bytes)?;
    whole.filter(&parts)
}

/// The chain that bytes describe, all of them.
fn chain(bytes: &[u8]) -> Result<(Whole, Vec<Part<'_>>)> {
    let mut cursor = Cursor::new(bytes);
    let keys = u64::from_le_bytes(cursor.array()?);
    let [count, options, expansion] = [cursor.array()?, cursor.array()?, cursor.array()?].map(u32::from_le_bytes);
    if options & !KNOWN != 0 || count == 0 {
        return Err(error!(Corrupt, "options {options:#x} and {count} links are not possible"));
    }
    let headers = cursor.take(LINK * u64::from(count))?;
    let mut parts = try_vec(count as usize)?;
    let mut sum = 0_u64;
    for header in headers.chunks_exact(LINK as usize) {
        let (link, taken, length) = link(&mut Cursor::new(header))?;
        sum = sum.saturating_add(taken);
        parts.push(Part { link, taken, array: cursor.take(length)? });
    }
    cursor.finish(FORMAT.name)?;
    if sum != keys {
        return Err(error!(Corrupt, "the filter says that it holds {keys} keys, and its links {sum}"));
    }
    let whole = Whole {
        placement: PLACEMENTS[usize::from(options & FORCE_64 == 0)],
        expansion: expansion.into(),
        scales: options & NO_SCALING == 0,
        tightening: TIGHTENING,
        key: [0; 4],
        note: note(options),
    };
    Ok((whole, parts))
}

/// What is kept of the options that nothing else says: 0 for those of every filter that a command makes. The function
/// is its own inverse.
fn note(options: u32) -> u64 {
    u64::from((options ^ NO_ROUND) & 3)
}

/// A link, how many keys it has taken, and how many bytes its array has.
fn link(cursor: &mut Cursor) -> Result<(Link, u64, u64)> {
    let mut word = || cursor.array().map(u64::from_le_bytes);
    let [bytes, bits, taken, rate, bits_per_entry] = [word()?, word()?, word()?, word()?, word()?];
    let hashes = u32::from_le_bytes(cursor.array()?);
    let entries = u64::from_le_bytes(cursor.array()?);
    let log_modulus = cursor.u8()?;
    let (rate, bits_per_entry) = (f64::from_bits(rate), f64::from_bits(bits_per_entry));
    // What RedisBloom itself asks of a header; a number that is none is refused as well.
    if !(rate > 0.0 && rate < 1.0) || f64::from(hashes) != redis_hashes(bits_per_entry) {
        return Err(error!(Corrupt, "a link of the rate {rate} with {hashes} hashes is not possible"));
    }
    if bytes.checked_mul(8) != Some(bits) || bits == 0 || entries == 0 || log_modulus > 63 {
        return Err(error!(Corrupt, "{bits} bits in {bytes} bytes for {entries} entries are not possible"));
    }
    Ok((Link { bits, hashes, log_modulus, entries, rate, bits_per_entry }, taken, bytes))
}

fn export(filter: &Filter, variant: Option<usize>, sink: &mut Sink) -> Result<()> {
    let chain = written(filter, &PLACEMENTS, variant, FORMAT.name)?;
    let Written { whole, .. } = &chain;
    let links = &chain.chain.links;
    let taken = (0..links.len()).map(|i| chain.taken(i));
    let (Ok(count), Some(keys)) = (u32::try_from(links.len()), taken.fold(Some(0), add)) else {
        return Err(error!(Unsupported, "{} links have no form in redisbloom", links.len()));
    };
    let force = if whole.placement == PLACEMENTS[0] { FORCE_64 } else { 0 };
    let scaling = if whole.scales { 0 } else { NO_SCALING };
    let options = note(whole.note as u32) as u32 | force | scaling;
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&keys.to_le_bytes());
    let rest = [count, options, whole.expansion as u32];
    header[8..].as_chunks_mut().0.iter_mut().zip(rest).for_each(|(to, number)| *to = number.to_le_bytes());
    sink(&header)?;
    for (i, link) in links.iter().enumerate() {
        for word in [link.bits / 8, link.bits, chain.taken(i), link.rate.to_bits(), link.bits_per_entry.to_bits()] {
            sink(&word.to_le_bytes())?;
        }
        sink(&link.hashes.to_le_bytes())?;
        sink(&link.entries.to_le_bytes())?;
        sink(&[link.log_modulus])?;
    }
    (0..links.len()).try_for_each(|i| chain.write_array(i, sink))
}

fn add(sum: Option<u64>, more: u64) -> Option<u64> {
    sum?.checked_add(more)
}

/// The first link that `BF.RESERVE` makes: of a filter that scales, for half the rate.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, variant, seed } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    let number = foreign::number(PLACEMENTS[0]).unwrap_or_default();
    let first = if variant == 0 { rate * TIGHTENING } else { rate };
    let Some(link) = sized(number, capacity, first) else {
        return Err(error!(OutOfRange, "capacity = {capacity} at the rate {rate} has no size in redisbloom"));
    };
    let mut spec = Spec {
        kind: Some(ROW.kind),
        capacity,
        bits: link.bits,
        hashes: link.hashes,
        hash: HashFunction::Format,
        ..Spec::default()
    };
    let settings = [(PLACEMENT, number as f64), (SCALING, variant as f64), (STATED_RATE, first)];
    for (to, (parameter, value)) in spec.parameters.iter_mut().zip(settings) {
        *to = Setting { id: parameter.id(), value };
    }
    crate::making::geometry(&spec)?;
    Ok(spec)
}
