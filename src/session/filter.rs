//! The filters that sets with little in common exchange before their symbols.

use super::set::Elements;
use super::wire::{self, Writer};
use crate::batch::keys::Keys;
use crate::error::{Result, error};
use crate::handle::filter::Filter;
use crate::handle::image::Image;
use crate::hash::HashFunction;
use crate::interop::Cursor;
use crate::making::{CompactOptions, load_compact};
use crate::spec::{KindId, Spec};
use crate::storage::try_vec;

/// At this rate and above there is no filter, and everything passes.
const HIGHEST_RATE: f64 = 0.7;

/// The elements that a filter lets pass, and those that it stops.
pub struct Parted {
    /// The filter's set may have these.
    pub passing: Vec<u64>,
    /// The filter's set has none of these.
    pub stopped: Vec<u64>,
}

/// Writes a filter of elements: its rate, its length, and its compact form. Returns the rate, 1 if everything passes.
///
/// # Errors
/// The errors of [`Filter::new`] and of inserting.
pub fn write(to: &mut Writer, of: &Elements, elements: &[u64], rate: f64) -> Result<f64> {
    if rate > HIGHEST_RATE {
        to.words(&[1_f64.to_bits()])?;
        to.varint(0)?;
        return Ok(1.0);
    }
    let capacity = (elements.len() / of.words()).max(1) as u64;
    let spec = Spec { kind: Some(KindId::BLOOM), hash: HashFunction::External, ..Spec::with_capacity(capacity, rate)? };
    let mut filter = Filter::new(&spec)?;
    let mut hashes = [0; 256];
    for some in elements.chunks(hashes.len() * of.words()) {
        let count = some.len() / of.words();
        for (hash, element) in hashes.iter_mut().zip(some.chunks_exact(of.words())) {
            *hash = of.hash(element)?;
        }
        filter.insert_batch(&Keys::Hashes(&hashes[..count]), None).outcome?;
    }
    let length = filter.compact_size()?;
    let mut form = try_vec(length)?;
    form.resize(length, 0);
    let length = filter.serialize_compact(&mut form)?;
    to.words(&[rate.to_bits()])?;
    to.varint(length as u64)?;
    to.raw(&form[..length])?;
    Ok(rate)
}

/// Reads a filter that [`write`] wrote: its rate, and the filter unless everything passes.
///
/// # Errors
/// [`Status::Truncated`](crate::Status::Truncated), [`Status::Corrupt`](crate::Status::Corrupt), and the errors of
/// [`load_compact`].
pub fn read(from: &mut Cursor) -> Result<(f64, Option<Filter>)> {
    let rate = f64::from_bits(wire::word(from)?);
    let length = wire::varint(from)?;
    if !(rate > 0.0 && rate <= 1.0) || (length == 0) != (rate == 1.0) {
        return Err(error!(Corrupt, "a filter of {length} bytes has the rate {rate}"));
    }
    if length == 0 {
        return Ok((rate, None));
    }
    let options = CompactOptions { hash: HashFunction::External, ..CompactOptions::default() };
    let filter = load_compact(from.take(length)?, &options)?;
    let kind = filter.base().row();
    if kind.kind != KindId::BLOOM {
        return Err(error!(Corrupt, "a filter of the kind {} came in place of bloom", kind.name));
    }
    Ok((rate, Some(filter)))
}

/// Divides elements by a filter.
///
/// # Errors
/// [`Status::OutOfMemory`](crate::Status::OutOfMemory); [`Status::SecretMissing`](crate::Status::SecretMissing).
pub fn part(of: &Elements, elements: &[u64], filter: Option<&Filter>) -> Result<Parted> {
    let mut parted = Parted { passing: try_vec(elements.len())?, stopped: Vec::new() };
    for element in elements.chunks_exact(of.words()) {
        if filter.is_none_or(|filter| element_passes(of, element, filter)) {
            parted.passing.extend_from_slice(element);
        } else {
            let room = parted.stopped.try_reserve(element.len());
            room.map_err(|_| error!(OutOfMemory, "{} elements could not be had", elements.len() / of.words()))?;
            parted.stopped.extend_from_slice(element);
        }
    }
    Ok(parted)
}

/// An element that cannot be hashed passes.
fn element_passes(of: &Elements, element: &[u64], filter: &Filter) -> bool {
    of.hash(element).map_or(true, |hash| filter.contains_hash(hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::mix;

    /// A filter of whole keys stops all but about its rate of other keys, and has the bytes of a Bloom filter of as
    /// many keys. Rates above the highest have no filter.
    #[test]
    fn filters_part_elements() {
        let of = Elements { key_bytes: 40, hasher: Spec::default().hasher().unwrap() };
        let own: Vec<u64> = (0..5 * 2000).map(mix).collect();
        for (rate, written) in [(0.01, 0.01), (HIGHEST_RATE, HIGHEST_RATE), (0.71, 1.0)] {
            let mut writer = Writer::new(0).unwrap();
            assert_eq!(write(&mut writer, &of, &own, rate).unwrap(), written);
            let bytes = if rate > HIGHEST_RATE { 0.0 } else { 2000.0 * 1.44 / 8.0 * -rate.log2() };
            assert!((writer.len() as f64 - bytes).abs() < 0.1 * bytes + 200.0, "{rate}: {} bytes", writer.len());
            let (read, filter) = read(&mut Cursor::new(writer.bytes())).unwrap();
            assert_eq!(read, written);
            assert!(part(&of, &own, filter.as_ref()).unwrap().stopped.is_empty());
            let others: Vec<u64> = (0..5 * 2000).map(|i| mix(!i)).collect();
            let passing = part(&of, &others, filter.as_ref()).unwrap().passing.len() as f64 / 5.0;
            let expected = 2000.0 * written;
            assert!((passing - expected).abs() <= 4.5 * (expected * (1.0 - written)).sqrt() * 1.1, "{rate}: {passing}");
        }
    }

    /// A filter has a rate, and a filter of the rate 1 has no bytes.
    #[test]
    fn rates_that_no_filter_has_are_refused() {
        for (rate, length) in [(0.0, 9), (-0.1, 9), (1.5, 9), (f64::NAN, 9), (1.0, 9), (0.5, 0)] {
            let mut writer = Writer::new(0).unwrap();
            writer.words(&[rate.to_bits()]).unwrap();
            writer.varint(length).unwrap();
            writer.raw(&[0; 9]).unwrap();
            let refused = read(&mut Cursor::new(writer.bytes())).unwrap_err();
            assert!(refused.message().contains("has the rate"), "{rate}: {refused}");
        }
    }
}
