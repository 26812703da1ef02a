//! The header of a filter as 18 fields, which are numbers. A form has only the fields that differ from those of a base.

use crate::contract::Base;
use crate::error::{Error, Result, error};
use crate::format::{Geometry, Header, PAYLOAD_UNIT};
use crate::hash::HashFunction;
use crate::registry;
use crate::spec::KindId;

/// How many fields there are.
const COUNT: usize = 18;

/// Where the kind's words begin.
const WORDS: usize = COUNT - 8;

/// The most decimal digits after the point that a short rate has.
const DIGITS: u32 = 15;

/// The fields. Those that most filters have and most deltas change come first.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields([u64; COUNT]);

impl Fields {
    /// The base of a filter that is written whole: layout version 1, the default hash function, and zeros. The words
    /// follow from the kind and the capacity ([`Fields::with_usual_words`]).
    fn none() -> Fields {
        let mut fields = Fields([0; COUNT]);
        (fields.0[8], fields.0[9]) = (HashFunction::Xxh3 as u64, 1);
        fields
    }

    /// These fields with the words that most filters of this kind and capacity have.
    fn with_usual_words(mut self, kind: u64, capacity: u64) -> Fields {
        let row = u32::try_from(kind).ok().and_then(|kind| registry::find(KindId(kind)));
        if let Some(row) = row {
            self.0[WORDS..].copy_from_slice(&(row.form.usual_words)(capacity));
        }
        self
    }

    /// The fields of a header.
    pub fn of(header: &Header) -> Fields {
        let Geometry { bits, hashes, words, payload_bytes } = header.geometry;
        let mut fields = Fields([0; COUNT]);
        let (first, rest) = fields.0.split_at_mut(COUNT - words.len());
        first.copy_from_slice(&[
            header.kind.0.into(),
            hashes.into(),
            header.capacity,
            number_of_rate(header.false_positive_rate),
            payload_bytes / PAYLOAD_UNIT,
            payload_bytes.wrapping_mul(8).wrapping_sub(bits),
            header.count,
            header.identifier,
            header.hash as u64,
            header.layout_version.into(),
        ]);
        rest.copy_from_slice(&words);
        fields
    }

    /// The header that has these fields, checked as the header of an image is.
    ///
    /// # Errors
    /// As [`Header::decode`].
    pub fn header(&self) -> Result<Header> {
        let (first, rest) = self.0.split_at(10);
        let &[kind, hashes, capacity, rate, units, padding, count, identifier, hash, layout_version] = first else {
            return Err(crate::Status::Internal.into());
        };
        let impossible = || error!(Corrupt, "the form has a header that is not possible");
        let payload_bytes = units.checked_mul(PAYLOAD_UNIT).ok_or_else(impossible)?;
        let header = Header {
            kind: KindId(kind.try_into().map_err(|_| impossible())?),
            layout_version: layout_version.try_into().map_err(|_| impossible())?,
            hash: HashFunction::from_number(hash.try_into().map_err(|_| impossible())?)
                .map_err(|_| error!(NewerVersion, "hash function {hash} is not known to this version"))?,
            identifier,
            capacity,
            false_positive_rate: rate_of_number(rate),
            geometry: Geometry {
                bits: payload_bytes.wrapping_mul(8).wrapping_sub(padding),
                hashes: hashes.try_into().map_err(|_| impossible())?,
                words: core::array::from_fn(|i| rest[i]),
                payload_bytes,
            },
            count,
            unclean: false,
        };
        Header::decode(&header.encode())
    }

    /// Gives `put` the fields that differ from those of a base, or, for a filter without one, all that have to be said.
    pub fn write(&self, base: Option<&Fields>, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let whole = || Fields::none().with_usual_words(self.0[0], self.0[2]);
        let base = base.cloned().unwrap_or_else(whole);
        let changes = self.0.iter().zip(&base.0).map(|(new, old)| new ^ old);
        let which = changes.clone().enumerate().fold(0, |which, (i, change)| which | u64::from(change != 0) << i);
        write_varint(which, put)?;
        changes.filter(|change| *change != 0).try_for_each(|change| write_varint(change, put))
    }

    /// Takes the fields that [`Fields::write`] wrote from the start of `bytes`.
    ///
    /// # Errors
    /// [`Status::Truncated`](crate::Status::Truncated), [`Status::Corrupt`](crate::Status::Corrupt).
    pub fn read(base: Option<&Fields>, bytes: &mut &[u8]) -> Result<Fields> {
        let which = read_varint(bytes)?;
        if which >> COUNT != 0 {
            return Err(error!(Corrupt, "the form has {which:#x} for the fields that it has"));
        }
        let mut fields = base.cloned().unwrap_or_else(Fields::none);
        for i in 0..COUNT {
            if i == WORDS && base.is_none() {
                let (kind, capacity) = (fields.0[0], fields.0[2]);
                fields = fields.with_usual_words(kind, capacity);
            }
            if which >> i & 1 == 1 {
                fields.0[i] ^= read_varint(bytes)?;
            }
        }
        Ok(fields)
    }
}

/// The header that describes a filter at this moment.
///
/// # Errors
/// [`Status::Unclean`](crate::Status::Unclean) if nobody marked the filter clean.
pub fn described(base: &Base) -> Result<Header> {
    if base.stays_unclean() {
        return Err(stays_unclean());
    }
    Ok(Header { unclean: false, count: base.count_now(), ..base.header().clone() })
}

#[cold]
fn stays_unclean() -> Error {
    error!(
        Unclean,
        "nobody marked the filter clean, and neither a packed form nor a delta could say so: mark it clean first"
    )
}

/// A rate as a number: twice its bits, or, if the rate is a decimal `m / 10^e` of few digits, the odd number `m 2^5 + e
/// 2 + 1`. Rates are not above 1, so the two highest bits are 0.
fn number_of_rate(rate: f64) -> u64 {
    let decimal = (0..=DIGITS).find_map(|digits| {
        let whole = (rate * power_of_ten(digits)).round();
        let is_short = (1.0..1e6).contains(&whole) && whole / power_of_ten(digits) == rate;
        is_short.then(|| (whole as u64) << 5 | u64::from(digits) << 1 | 1)
    });
    decimal.unwrap_or(rate.to_bits() << 1)
}

fn rate_of_number(number: u64) -> f64 {
    match number & 1 {
        0 => f64::from_bits(number >> 1),
        _ => (number >> 5) as f64 / power_of_ten((number >> 1 & 15) as u32),
    }
}

/// The result is exact, because 10^15 is below 2^53.
fn power_of_ten(digits: u32) -> f64 {
    10_u64.pow(digits) as f64
}

/// Seven bits in each byte, the lowest first. The last byte is below 128.
fn write_varint(mut value: u64, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    while value >= 128 {
        put(&[value as u8 | 128])?;
        value >>= 7;
    }
    put(&[value as u8])
}

fn read_varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let Some((first, rest)) = bytes.split_first() else {
            return Err(error!(Truncated, "the form ends inside its header"));
        };
        *bytes = rest;
        value |= u64::from(first & 127) << shift;
        // Nine bytes have 63 bits, so the tenth is 1.
        if *first < 128 && (shift < 63 || *first == 1) {
            return Ok(value);
        }
    }
    Err(error!(Corrupt, "the form has a number of more than 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_come_back_to_the_bit() {
        let powers = (0..300).map(|i| 0.7_f64.powi(i));
        let decimals = (1..1000).map(|i| f64::from(i) / 1000.0).chain((1..15).map(|i| 1.0 / 10_f64.powi(i)));
        for rate in powers.chain(decimals).chain([0.0, f64::MIN_POSITIVE, 5e-324, 1.0]) {
            assert_eq!(rate_of_number(number_of_rate(rate)).to_bits(), rate.to_bits(), "{rate}");
        }
        assert_eq!(number_of_rate(0.01), 1 << 5 | 2 << 1 | 1);
    }

    #[test]
    fn numbers_come_back() {
        for value in (0..64).flat_map(|i| [1 << i, (1 << i) - 1, u64::MAX >> i]) {
            let mut bytes = Vec::new();
            write_varint(value, &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
            let mut rest = bytes.as_slice();
            assert_eq!((read_varint(&mut rest).unwrap(), rest.len()), (value, 0));
            assert!(read_varint(&mut &bytes[..bytes.len() - 1]).is_err());
        }
        assert!(read_varint(&mut [255; 11].as_slice()).is_err());
    }
}
