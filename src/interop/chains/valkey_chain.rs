//! A whole object of valkey-bloom: what `BF.LOAD` takes. A chain starts with a 1, the expansion as 32 bits, rate and
//! tightening as doubles, whether the secrets were chosen at random, and the number of filters as 64 bits. Then each
//! filter follows: its length, the bytes that `interop/arrays/valkey.rs` describes, how many keys it has taken, and for
//! how many it was sized. All filters of an object have the same secrets. An object with an expansion of 0 does not
//! grow.

use super::{LinkBytes, Whole, Written, written};
use crate::error::{Result, Status, error};
use crate::handle::filter::Filter;
use crate::handle::image::Sink;
pub use crate::interop::arrays::valkey::{Blob, HEADER as BLOB_HEADER, blob, write_header};
use crate::interop::{Cursor, Format, ImportOptions};
use crate::kinds::foreign_bloom;
use crate::kinds::foreign_scalable::links::{Link, sized};
use crate::storage::try_vec;

/// The row of the format.
pub const FORMAT: Format = Format {
    name: "valkey_chain",
    summary: "an object of valkey-bloom, several filters as one: what BF.LOAD takes",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: None,
};

/// The placement of its filters.
pub const PLACEMENT: &str = "valkey";

/// The fewest bytes of a filter in an object.
const LEAST: usize = 8 + BLOB_HEADER as usize + 1 + 16;

/// What an object says besides its filters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// The entries of a filter divided by those of the filter before; 0 if none is added.
    pub expansion: u32,
    /// The rate of the first filter.
    pub rate: f64,
    /// The rate of a filter divided by that of the filter before.
    pub tightening: f64,
    /// Whether the secrets were chosen at random.
    pub is_random: bool,
}

impl Header {
    /// Refuses what no object says.
    ///
    /// # Errors
    /// [`Status::Corrupt`].
    pub fn check(&self) -> Result<()> {
        let Header { rate, tightening, .. } = *self;
        let inside = |number: f64| number > 0.0 && number < 1.0;
        match inside(rate) && inside(tightening) {
            true => Ok(()),
            false => Err(error!(Corrupt, "rate {rate} and tightening {tightening} are not possible")),
        }
    }

    /// The rate of filter `i`, counted from 0.
    fn rate_of(&self, i: usize) -> f64 {
        self.rate * self.tightening.powi(i32::try_from(i).unwrap_or(i32::MAX))
    }

    /// The link that filter `i` of an object is, with these bytes and for `entries` keys.
    pub fn link(&self, i: usize, blob: &Blob, entries: u64) -> Link {
        // The bytes may say rates below the range of doubles, for which the owner makes no filter.
        let rate = self.rate_of(i).max(f64::from_bits(1));
        Link { bits: 8 * blob.bits.len() as u64, hashes: blob.hashes, entries, rate, ..Link::default() }
    }

    /// Whether the owner makes filter `i`. It takes any rate for the first one.
    pub fn makes(&self, i: usize) -> bool {
        i == 0 || self.rate_of(i) > f64::MIN_POSITIVE
    }

    /// Filter `i` as the owner sizes it for `entries` keys; `None` if it makes none.
    pub fn sized(&self, i: usize, entries: u64) -> Option<Link> {
        let number = foreign_bloom::placements::number(PLACEMENT).filter(|_| self.makes(i))?;
        sized(number, entries, self.rate_of(i))
    }

    /// Gives the bytes before the filters to a sink.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn write(&self, count: usize, sink: &mut Sink) -> Result<()> {
        sink(&[1])?;
        sink(&self.expansion.to_le_bytes())?;
        sink(&self.rate.to_le_bytes())?;
        sink(&self.tightening.to_le_bytes())?;
        sink(&[u8::from(self.is_random)])?;
        sink(&(count as u64).to_le_bytes())
    }
}

/// Refuses a filter for `entries` keys that holds `taken`, if no object has one.
///
/// # Errors
/// [`Status::Corrupt`].
pub fn check_keys(entries: u64, taken: u64) -> Result<()> {
    match (1..=i64::MAX as u64).contains(&entries) && i64::try_from(taken).is_ok() {
        true => Ok(()),
        false => Err(error!(Corrupt, "a filter for {entries} keys that holds {taken} is not possible")),
    }
}

/// The object that bytes describe: what it says, the secrets of its filters, and the filters, the oldest first. All of
/// the bytes belong to it.
///
/// # Errors
/// As [`Format::import`].
pub fn object(bytes: &[u8]) -> Result<(Header, [u64; 4], Vec<LinkBytes<'_>>)> {
    let mut cursor = Cursor::new(bytes);
    let version = cursor.u8()?;
    if version != 1 {
        return Err(error!(Foreign, "version {version} is not 1"));
    }
    let expansion = u32::from_le_bytes(cursor.array()?);
    let [rate, tightening] = [cursor.array()?, cursor.array()?].map(f64::from_le_bytes);
    let random = cursor.u8()?;
    let header = Header { expansion, rate, tightening, is_random: random == 1 };
    header.check()?;
    let count = u64::from_le_bytes(cursor.array()?);
    let most = cursor.rest().len() / LEAST;
    let Some(count) = usize::try_from(count).ok().filter(|count| (1..=most).contains(count) && random <= 1) else {
        return Err(error!(Corrupt, "{count} filters and random {random} are not possible in {} bytes", bytes.len()));
    };
    let mut parts: Vec<LinkBytes> = try_vec(count)?;
    let mut secrets = None;
    for i in 0..count {
        let length = u64::from_le_bytes(cursor.array()?);
        let blob = blob(cursor.take(length)?)?;
        let [taken, entries] = [cursor.array()?, cursor.array()?].map(u64::from_le_bytes);
        if *secrets.get_or_insert(blob.key) != blob.key {
            return Err(error!(Corrupt, "filter {i} has other secrets than the first"));
        }
        check_keys(entries, taken)?;
        parts.push(LinkBytes { link: header.link(i, &blob, entries), taken, array: blob.bits });
    }
    cursor.finish(FORMAT.name)?;
    Ok((header, secrets.ok_or(Status::Internal)?, parts))
}

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let (header, key, parts) = object(bytes)?;
    let whole = Whole {
        placement: PLACEMENT,
        expansion: header.expansion.into(),
        scales: header.expansion != 0,
        tightening: header.tightening,
        key,
        note: header.is_random.into(),
    };
    whole.filter(&parts)
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let chain = written(filter, &[PLACEMENT], None, FORMAT.name)?;
    let Written { whole, rate, .. } = &chain;
    let (expansion, tightening) = (whole.expansion as u32, whole.tightening);
    let header = Header { expansion, rate: *rate, tightening, is_random: whole.note != 0 };
    header.write(chain.chain.links.len(), sink)?;
    for (i, link) in chain.chain.links.iter().enumerate() {
        write_before(link, &whole.key, sink)?;
        chain.write_array(i, sink)?;
        write_after(link, chain.taken(i), sink)?;
    }
    Ok(())
}

/// Gives the bytes before a filter's array to a sink.
///
/// # Errors
/// The errors of the sink.
pub fn write_before(link: &Link, key: &[u64; 4], sink: &mut Sink) -> Result<()> {
    let bytes = link.bits / 8;
    sink(&(BLOB_HEADER + bytes).to_le_bytes())?;
    write_header(bytes, link.hashes, key, sink)
}

/// Gives the bytes after a filter's array to a sink.
///
/// # Errors
/// The errors of the sink.
pub fn write_after(link: &Link, taken: u64, sink: &mut Sink) -> Result<()> {
    [taken, link.entries].iter().try_for_each(|number| sink(&(*number).min(i64::MAX as u64).to_le_bytes()))
}
