//! RedisBloom's Bloom filters: what `BF.SCANDUMP` gives, chunk after chunk, as one string of bytes. The first chunk is
//! the header: the number of keys, the number of links, options, the expansion, and 53 bytes for each link. The arrays
//! of the links follow, the oldest first.
//!
//! `BF.LOADCHUNK` wants them in pieces again: the header first, with iterator 1; then pieces of an array, none longer
//! than 16 MiB and none with bytes of two links. The iterator of a piece is 1 more than the bytes of all arrays up to
//! its end.

use super::{LinkBytes, Whole, Written, written};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::Sink;
use crate::hash::HashFunction;
use crate::interop::check_no_seed;
use crate::interop::{Cursor, Format, ImportOptions, Wanted};
use crate::kinds::foreign_bloom::{self, PLACEMENT, STATED_RATE};
use crate::kinds::foreign_scalable::links::{Link, redis_hashes, sized};
use crate::kinds::foreign_scalable::{ROW, SCALING};
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

/// The rate of a link divided by that of the link before, and of the first link by the rate that was asked for.
const TIGHTENING: f64 = 0.5;

/// Bytes of the header before those of the links, and for each link.
const HEADER: usize = 20;
const LINK: u64 = 53;

const PLACEMENTS: [&str; 2] = ["redisbloom", "libbloom_2"];

/// The row of the format.
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

/// What the first chunk says: the whole and its links, without their arrays.
pub struct Header {
    /// Options as the format numbers them.
    pub options: u32,
    /// The entries of a link divided by those of the link before.
    pub expansion: u32,
    /// The links, each with the number of keys that it has taken, the oldest first.
    pub links: Vec<(Link, u64)>,
}

/// Whether a chain with these options hashes to 64 bits. The others have an older placement.
#[inline]
pub fn has_wide_hashes(options: u32) -> bool {
    options & FORCE_64 != 0
}

impl Header {
    /// The header of an empty filter, as the owner makes it for `capacity` keys at this rate; `None` if no filter has
    /// that size.
    pub fn sized(capacity: u64, rate: f64, expansion: u32, scales: bool) -> Option<Header> {
        let options = NO_ROUND | FORCE_64 | if scales { 0 } else { NO_SCALING };
        let first = sized(
            foreign_bloom::placements::number(PLACEMENTS[0])?,
            capacity,
            if scales { rate * TIGHTENING } else { rate },
        )?;
        let mut links = try_vec(1).ok()?;
        links.push((first, 0));
        Some(Header { options, expansion, links })
    }

    /// The header that bytes start with; what follows it is left in the cursor.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt) for what the owner would refuse,
    /// [`Status::Truncated`](crate::Status::Truncated), [`Status::OutOfMemory`](crate::Status::OutOfMemory).
    pub fn read(cursor: &mut Cursor) -> Result<Header> {
        let keys = u64::from_le_bytes(cursor.array()?);
        let [count, options, expansion] = [cursor.array()?, cursor.array()?, cursor.array()?].map(u32::from_le_bytes);
        let lines = cursor.take(LINK * u64::from(count))?;
        let mut links = try_vec(count as usize)?;
        for line in lines.chunks_exact(LINK as usize) {
            links.push(link(&mut Cursor::new(line))?);
        }
        let header = Header { options, expansion, links };
        header.check(keys)?;
        Ok(header)
    }

    /// Refuses a header that no filter with `keys` keys has.
    ///
    /// # Errors
    /// [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn check(&self, keys: u64) -> Result<()> {
        let Header { options, links, .. } = self;
        if options & !KNOWN != 0 || links.is_empty() {
            return Err(error!(Corrupt, "options {options:#x} and {} links are not possible", links.len()));
        }
        for (link, _) in links {
            check_link(link)?;
        }
        match links.iter().try_fold(0_u64, |sum, (_, taken)| sum.checked_add(*taken)) {
            Some(sum) if sum == keys => Ok(()),
            Some(sum) => Err(error!(Corrupt, "the filter says that it holds {keys} keys, and its links {sum}")),
            None => Err(error!(Corrupt, "the links say that they hold more keys than there can be")),
        }
    }

    /// Gives the bytes of the header to a sink.
    ///
    /// # Errors
    /// [`Status::Unsupported`](crate::Status::Unsupported) for more links or keys than it has room for; the errors of
    /// the sink.
    pub fn write(&self, sink: &mut Sink) -> Result<()> {
        let keys = self.links.iter().try_fold(0_u64, |sum, (_, taken)| sum.checked_add(*taken));
        let (Ok(count), Some(keys)) = (u32::try_from(self.links.len()), keys) else {
            return Err(error!(Unsupported, "{} links have no form in redisbloom", self.links.len()));
        };
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&keys.to_le_bytes());
        let rest = [count, self.options, self.expansion];
        header[8..].as_chunks_mut().0.iter_mut().zip(rest).for_each(|(to, number)| *to = number.to_le_bytes());
        sink(&header)?;
        for (link, taken) in &self.links {
            for word in [link.bits / 8, link.bits, *taken, link.rate.to_bits(), link.bits_per_entry.to_bits()] {
                sink(&word.to_le_bytes())?;
            }
            sink(&link.hashes.to_le_bytes())?;
            sink(&link.entries.to_le_bytes())?;
            sink(&[link.log_modulus])?;
        }
        Ok(())
    }

    /// The placement of its links.
    pub fn placement(&self) -> &'static str {
        PLACEMENTS[usize::from(!has_wide_hashes(self.options))]
    }

    /// Whether links are added.
    pub fn scales(&self) -> bool {
        self.options & NO_SCALING == 0
    }

    /// The link that follows the newest, as the owner sizes it; `None` if none can follow.
    pub fn next_link(&self) -> Option<Link> {
        let (newest, _) = self.links.last().filter(|_| self.scales())?;
        newest.next(foreign_bloom::placements::number(self.placement())?, self.expansion.into(), TIGHTENING)
    }
}

/// The chain that bytes describe. All of the bytes must belong to it.
fn chain(bytes: &[u8]) -> Result<(Whole, Vec<LinkBytes<'_>>)> {
    let mut cursor = Cursor::new(bytes);
    let header = Header::read(&mut cursor)?;
    let mut parts = try_vec(header.links.len())?;
    for &(link, taken) in &header.links {
        parts.push(LinkBytes { link, taken, array: cursor.take(link.bits / 8)? });
    }
    cursor.finish(FORMAT.name)?;
    let whole = Whole {
        placement: header.placement(),
        expansion: header.expansion.into(),
        scales: header.scales(),
        tightening: TIGHTENING,
        key: [0; 4],
        note: note(header.options),
    };
    Ok((whole, parts))
}

/// What is kept of the options that nothing else says: 0 for those of every filter that a command makes. The function
/// is its own inverse.
fn note(options: u32) -> u64 {
    u64::from((options ^ NO_ROUND) & 3)
}

/// A link, and how many keys it has taken.
fn link(cursor: &mut Cursor) -> Result<(Link, u64)> {
    let mut word = || cursor.array().map(u64::from_le_bytes);
    let [bytes, bits, taken, rate, bits_per_entry] = [word()?, word()?, word()?, word()?, word()?];
    let hashes = u32::from_le_bytes(cursor.array()?);
    let entries = u64::from_le_bytes(cursor.array()?);
    let log_modulus = cursor.u8()?;
    if bytes.checked_mul(8) != Some(bits) {
        return Err(error!(Corrupt, "{bits} bits in {bytes} bytes are not possible"));
    }
    let (rate, bits_per_entry) = (f64::from_bits(rate), f64::from_bits(bits_per_entry));
    Ok((Link { bits, hashes, log_modulus, entries, rate, bits_per_entry }, taken))
}

/// What RedisBloom itself demands of a link; NaN is refused as well.
fn check_link(link: &Link) -> Result<()> {
    let Link { bits, hashes, log_modulus, entries, rate, bits_per_entry } = *link;
    if !(rate > 0.0 && rate < 1.0) || f64::from(hashes) != redis_hashes(bits_per_entry) {
        return Err(error!(Corrupt, "a link of the rate {rate} with {hashes} hashes is not possible"));
    }
    if bits == 0 || bits % 8 != 0 || entries == 0 || log_modulus > 63 {
        return Err(error!(Corrupt, "{bits} bits modulo 2^{log_modulus} for {entries} entries are not possible"));
    }
    Ok(())
}

fn export(filter: &Filter, variant: Option<usize>, sink: &mut Sink) -> Result<()> {
    let chain = written(filter, &PLACEMENTS, variant, FORMAT.name)?;
    let Written { whole, .. } = &chain;
    let count = chain.chain.links.len();
    let mut links = try_vec(count)?;
    links.extend(chain.chain.links.iter().enumerate().map(|(i, link)| (*link, chain.taken(i))));
    let force = if whole.placement == PLACEMENTS[0] { FORCE_64 } else { 0 };
    let scaling = if whole.scales { 0 } else { NO_SCALING };
    let options = note(whole.note as u32) as u32 | force | scaling;
    Header { options, expansion: whole.expansion as u32, links }.write(sink)?;
    (0..count).try_for_each(|i| chain.write_array(i, sink))
}

/// The first link that `BF.RESERVE` makes: for half the rate if the filter scales.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, variant, seed } = wanted;
    check_no_seed(seed, FORMAT.name)?;
    let number = foreign_bloom::placements::number(PLACEMENTS[0]).unwrap_or_default();
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
