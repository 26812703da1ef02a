//! Compact filters of Bitcoin's blocks (BIP 158): the number of keys as a CompactSize, and the Golomb-coded set. The
//! bytes do not contain the SipHash-2-4 key, which is the first 16 bytes of the block's hash in the order of the wire;
//! without it lookups take hashes. P and M are those of the basic filter unless the options give others.

use super::payload::filter_of;
use super::{Cursor, Format, ImportOptions, Wanted};
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::kinds::golomb_stream::{MULTIPLIER, RICE_BITS, ROW, of};
use crate::spec::{Number, Setting, Spec};
use core::sync::atomic::Ordering;

pub const FORMAT: Format = Format {
    name: "bip158",
    summary: "the compact filters of Bitcoin's blocks (BIP 158), under a SipHash-2-4 key",
    variants: &[],
    recognise: None,
    import,
    export: Some(export),
    spec: Some(spec),
};

/// A CompactSize, in the only form that it may have.
fn compact_size(cursor: &mut Cursor) -> Result<u64> {
    let (number, least) = match cursor.u8()? {
        253 => (u16::from_le_bytes(cursor.array()?).into(), 253),
        254 => (u32::from_le_bytes(cursor.array()?).into(), 1 << 16),
        255 => (u64::from_le_bytes(cursor.array()?), 1 << 32),
        number => (number.into(), 0),
    };
    if number < least {
        return Err(error!(Corrupt, "the CompactSize of {number} is longer than it may be"));
    }
    Ok(number)
}

fn import(bytes: &[u8], options: &ImportOptions) -> Result<Filter> {
    let &ImportOptions { secret, rice_bits, multiplier, .. } = options;
    ImportOptions { secret: None, rice_bits: 0, multiplier: 0, ..*options }.check_unused(FORMAT.name)?;
    let said = |said: u64, parameter: &crate::Parameter| if said == 0 { parameter.default as u64 } else { said };
    let (rice_bits, multiplier) = (said(rice_bits.into(), &RICE_BITS), said(multiplier, &MULTIPLIER));
    RICE_BITS.check(rice_bits as f64)?;
    MULTIPLIER.check(multiplier as f64)?;
    let mut cursor = Cursor::new(bytes);
    let keys = compact_size(&mut cursor)?;
    let stream = cursor.rest();
    let geometry = of(rice_bits as u32, multiplier, keys, stream.len() as u64).ok_or_else(|| {
        let length = stream.len();
        error!(Corrupt, "{length} bytes are no stream of {keys} keys with P = {rice_bits} and M = {multiplier}")
    })?;
    let hash = if secret.is_some() { HashFunction::SipHash24 } else { HashFunction::External };
    let mut spec = Spec { kind: Some(ROW.kind), capacity: keys, hash, secret, ..Spec::default() };
    spec.parameters[0] = Setting { id: RICE_BITS.id(), value: rice_bits as f64 };
    spec.parameters[1] = Setting { id: MULTIPLIER.id(), value: multiplier as f64 };
    let mut filter = filter_of(&ROW, &spec, geometry, keys, stream)?;
    let rate = crate::sizing::rate_in_range(keys * multiplier, keys);
    filter.base_mut().promise(rate);
    Ok(filter)
}

fn export(filter: &Filter, _: Option<usize>, sink: &mut Sink) -> Result<()> {
    let base = filter.base();
    if base.row().kind != ROW.kind {
        return Err(error!(Unsupported, "kind = {} has no form in bip158", base.row().name));
    }
    let hash = base.hasher().function();
    if ![HashFunction::SipHash24, HashFunction::External].contains(&hash) {
        return Err(error!(Unsupported, "hash = {hash} has no form in bip158"));
    }
    let [_, _, keys, ..] = base.geometry().words;
    match keys {
        0..253 => sink(&[keys as u8])?,
        253..0x1_0000 => sink(&[&[253], &(keys as u16).to_le_bytes()[..]].concat())?,
        0x1_0000..0x1_0000_0000 => sink(&[&[254], &(keys as u32).to_le_bytes()[..]].concat())?,
        _ => sink(&[&[255], &keys.to_le_bytes()[..]].concat())?,
    }
    let mut left = base.geometry().bits / 8;
    for word in base.words().shared() {
        let count = left.min(8);
        left -= count;
        sink(&word.load(Ordering::Relaxed).to_le_bytes()[..count as usize])?;
    }
    Ok(())
}

/// The spec of the basic filter, for any rate above its own. The secret is for the caller to set.
fn spec(wanted: &Wanted) -> Result<Spec> {
    let &Wanted { capacity, false_positive_rate: rate, seed, .. } = wanted;
    super::check_no_seed(seed, FORMAT.name)?;
    let own = 1.0 / MULTIPLIER.default;
    if rate < own {
        let (rate, own) = (Number(rate), Number(own));
        return Err(error!(OutOfRange, "false_positive_rate = {rate} is below {own}, that of BIP 158"));
    }
    Ok(Spec { kind: Some(ROW.kind), capacity, hash: HashFunction::SipHash24, ..Spec::default() })
}
