//! A whole object of valkey-bloom: what `BF.LOAD` takes. A chain starts with a 1, the expansion as 32 bits, rate and
//! tightening as doubles, whether the secrets were chosen at random, and the number of filters as 64 bits. Then each
//! filter follows: its length, the bytes that [`valkey`](crate::interop::arrays::valkey) describes, how many keys it
//! has taken, and for how many it was sized. All filters of an object have the same secrets. An object with an
//! expansion of 0 does not grow.

use super::{LinkBytes, Whole, Written, written};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::Sink;
use crate::interop::arrays::valkey::{Blob, HEADER, blob, write_header};
use crate::interop::{Cursor, Format, ImportOptions};
use crate::kinds::foreign_scalable::links::Link;
use crate::storage::try_vec;

pub const FORMAT: Format = Format {
    name: "valkey_chain",
    summary: "an object of valkey-bloom, several filters as one: what BF.LOAD takes",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: None,
};

/// The fewest bytes of a filter in an object.
const LEAST: usize = 8 + HEADER as usize + 1 + 16;

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    options.check_unused(FORMAT.name)?;
    let mut cursor = Cursor::new(bytes);
    let version = cursor.u8()?;
    if version != 1 {
        return Err(error!(Foreign, "version {version} is not 1"));
    }
    let expansion = u32::from_le_bytes(cursor.array()?);
    let [rate, tightening] = [cursor.array()?, cursor.array()?].map(f64::from_le_bytes);
    let is_random = cursor.u8()?;
    let count = u64::from_le_bytes(cursor.array()?);
    let inside = |number: f64| (f64::MIN_POSITIVE..1.0).contains(&number);
    if !inside(rate) || !inside(tightening) || is_random > 1 {
        return Err(error!(Corrupt, "rate {rate}, tightening {tightening} and random {is_random} are not possible"));
    }
    let most = cursor.rest().len() / LEAST;
    let Some(count) = usize::try_from(count).ok().filter(|count| (1..=most).contains(count)) else {
        return Err(error!(Corrupt, "{count} filters are not possible in {} bytes", bytes.len()));
    };
    let mut parts: Vec<LinkBytes> = try_vec(count)?;
    let mut secrets = None;
    for i in 0..count {
        let length = u64::from_le_bytes(cursor.array()?);
        let Blob { hashes, key, bits } = blob(cursor.take(length)?)?;
        let [taken, entries] = [cursor.array()?, cursor.array()?].map(i64::from_le_bytes);
        if *secrets.get_or_insert(key) != key || taken < 0 || entries <= 0 {
            return Err(error!(Corrupt, "filter {i} for {entries} keys holds {taken}, or has other secrets"));
        }
        // Beyond the range of doubles no filter is made.
        let rate = (rate * tightening.powi(i as i32)).max(f64::MIN_POSITIVE);
        let link = Link { bits: 8 * bits.len() as u64, hashes, entries: entries as u64, rate, ..Link::default() };
        parts.push(LinkBytes { link, taken: taken as u64, array: bits });
    }
    cursor.finish(FORMAT.name)?;
    let whole = Whole {
        placement: "valkey",
        expansion: expansion.into(),
        scales: expansion != 0,
        tightening,
        key: secrets.unwrap_or_default(),
        note: is_random.into(),
    };
    whole.filter(&parts)
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let chain = written(filter, &["valkey"], None, FORMAT.name)?;
    let Written { whole, rate, .. } = &chain;
    sink(&[1])?;
    sink(&(whole.expansion as u32).to_le_bytes())?;
    sink(&rate.to_le_bytes())?;
    sink(&whole.tightening.to_le_bytes())?;
    sink(&[u8::from(whole.note != 0)])?;
    sink(&(chain.chain.links.len() as u64).to_le_bytes())?;
    for (i, link) in chain.chain.links.iter().enumerate() {
        let bytes = link.bits / 8;
        sink(&(HEADER + bytes).to_le_bytes())?;
        write_header(bytes, link.hashes, &whole.key, sink)?;
        chain.write_array(i, sink)?;
        let [taken, entries] = [chain.taken(i), link.entries].map(|number| number.min(i64::MAX as u64));
        sink(&taken.to_le_bytes())?;
        sink(&entries.to_le_bytes())?;
    }
    Ok(())
}
