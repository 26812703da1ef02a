//! Formats whose filters are of the kind `foreign_bloom`: these are made from what a format's bytes say, and written
//! back.

pub mod bip37;
pub mod bits_and_blooms;
pub mod cassandra;
pub mod datasketches;
pub mod dcso;
pub mod guava;
pub mod hbase;
pub mod leveldb;
pub mod libbloom;
pub mod orc;
pub mod spark;
pub mod squid;
pub mod valkey;

use super::payload::little_endian;
use crate::contract::Base;
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::kinds::foreign_bloom;
use crate::kinds::foreign_bloom::placements::KEY_WORDS;
use crate::spec::{Setting, Spec};
use crate::storage::{Words, try_vec};
use core::f64::consts::LN_2;
use core::sync::atomic::Ordering;

/// What a format's bytes say of a filter, besides its bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'a> {
    /// The name of the placement.
    pub placement: &'static str,
    /// The number of bits that places are taken modulo.
    pub bits: u64,
    /// Bits that a key sets.
    pub hashes: u32,
    /// The seed of the hash function, if the placement has one.
    pub seed: u64,
    /// What else the placement hashes with.
    pub key: [u64; 4],
    /// The distinct keys that the filter was sized for; 0 if the bytes do not say it.
    pub capacity: u64,
    /// The rate that was asked for at capacity; 0 if the bytes do not say it.
    pub false_positive_rate: f64,
    /// Keys inserted so far; 0 if the bytes do not say it.
    pub count: u64,
    /// What else the bytes say, kept to be given back.
    pub attachment: &'a [u8],
}

impl Parts<'_> {
    /// The filter with these parts. `words` gives the words of the filter's bits; bit p is bit p mod 64 of word p / 64.
    /// The caller has made sure that all words are there, so that no memory is allocated for words that are not.
    ///
    /// # Errors
    /// [`Status::Corrupt`] where no filter has these parts, or bits after the last are set; [`Status::OutOfMemory`].
    pub fn filter(&self, words: impl Iterator<Item = u64>) -> Result<Filter> {
        let number = foreign_bloom::placements::number(self.placement).ok_or(Status::Internal)?;
        let mut settings = [0; 8];
        settings[0] = number;
        settings[KEY_WORDS].copy_from_slice(&self.key);
        settings[6] = self.false_positive_rate.to_bits();
        let length = self.attachment.len();
        let attachment_words = if length == 0 { 0 } else { 1 + length.div_ceil(8) as u64 };
        let geometry = foreign_bloom::of(self.bits, self.hashes, settings, attachment_words)
            .map_err(|error| error!(Corrupt, "the bytes describe no filter: {error}"))?;
        let spec = Spec {
            kind: Some(foreign_bloom::ROW.kind),
            capacity: self.capacity,
            bits: self.bits,
            hashes: self.hashes,
            hash: HashFunction::Format,
            seed: self.seed,
            ..Spec::default()
        };
        let mut base = crate::making::base(&foreign_bloom::ROW, &spec, geometry, |header| {
            Words::zeroed(header.geometry.payload_bytes)
        })?;
        let (bits, rest) = base.writable()?.split_at_mut(self.bits.div_ceil(64) as usize);
        let mut words = words;
        for (to, word) in bits.iter_mut().zip(&mut words) {
            *to = word;
        }
        if length > 0 {
            rest[0] = length as u64;
            rest[1..].iter_mut().zip(little_endian(self.attachment)).for_each(|(to, word)| *to = word);
        }
        base.set_count(self.count);
        base.promise(self.false_positive_rate);
        let filter = Filter::over(base)?;
        filter.payload().check_payload()?;
        Ok(filter)
    }
}

/// The parts of a filter whose bytes may be written in a format with one of these placements, without an attachment.
///
/// # Errors
/// [`Status::Unsupported`], naming what stands in the way.
pub fn parts_of(filter: &Filter, placements: &[&str], format: &str) -> Result<Parts<'static>> {
    let base = filter.base();
    let name = base.row().name;
    if base.row().kind != foreign_bloom::ROW.kind {
        return Err(error!(
            Unsupported,
            "kind = {name} has no form in {format}: make the filter with the format's spec"
        ));
    }
    let Geometry { bits, hashes, words, .. } = *base.geometry();
    let placement = foreign_bloom::placements::NAMES[words[0] as usize];
    if !placements.contains(&placement) {
        return Err(error!(Unsupported, "placement = {placement} has no form in {format}"));
    }
    let header = base.header();
    Ok(Parts {
        placement,
        bits,
        hashes,
        seed: header.identifier,
        key: core::array::from_fn(|i| words[KEY_WORDS.start + i]),
        capacity: header.capacity,
        false_positive_rate: f64::from_bits(words[6]),
        count: base.count_now(),
        attachment: &[],
    })
}

/// Big-endian bytes, eight to a word, as words.
pub fn big_endian(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_be_bytes(*word))
}

/// Gives the bits of a filter of the kind `foreign_bloom` to a sink as `bytes` little-endian bytes, at most those of
/// its words.
pub fn write_little_endian(base: &Base, bytes: u64, sink: &mut Sink) -> Result<()> {
    let mut left = bytes;
    words_of(base).try_for_each(|word| {
        let count = left.min(8);
        left -= count;
        sink(&word.to_le_bytes()[..count as usize])
    })
}

/// Gives the bits of a filter of the kind `foreign_bloom` to a sink as big-endian words.
pub fn write_big_endian(base: &Base, sink: &mut Sink) -> Result<()> {
    words_of(base).try_for_each(|word| sink(&word.to_be_bytes()))
}

/// The size in bits that most libraries start from: -n ln p / ln(2)^2.
pub fn classical_bits(capacity: u64, false_positive_rate: f64) -> f64 {
    -(capacity as f64) * false_positive_rate.ln() / (LN_2 * LN_2)
}

/// The words of the bits of a filter of the kind `foreign_bloom`.
pub fn words_of(base: &Base) -> impl Iterator<Item = u64> {
    let count = base.geometry().bits.div_ceil(64) as usize;
    base.words().shared()[..count].iter().map(|word| word.load(Ordering::Relaxed))
}

/// The attachment of a filter of the kind `foreign_bloom`; empty if it has none.
///
/// # Errors
/// [`Status::OutOfMemory`].
pub fn attachment_of(base: &Base) -> Result<Vec<u8>> {
    let from = base.geometry().bits.div_ceil(64) as usize;
    let count = base.geometry().words[1] as usize;
    let Some([length, words @ ..]) = base.words().shared().get(from..from + count) else { return Ok(Vec::new()) };
    let length = (length.load(Ordering::Relaxed) as usize).min(8 * words.len());
    let mut bytes = try_vec(8 * words.len())?;
    words.iter().for_each(|word| bytes.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes()));
    bytes.truncate(length);
    Ok(bytes)
}

/// A spec of the kind `foreign_bloom` with exactly this array.
pub fn spec_of(placement: &'static str, capacity: u64, bits: u64, hashes: u32, seed: u64) -> Result<Spec> {
    let number = foreign_bloom::placements::number(placement).ok_or(Status::Internal)?;
    let mut spec = Spec {
        kind: Some(foreign_bloom::ROW.kind),
        capacity,
        bits,
        hashes,
        hash: HashFunction::Format,
        seed,
        ..Spec::default()
    };
    spec.parameters[0] = Setting { id: foreign_bloom::PLACEMENT.id(), value: number as f64 };
    crate::making::geometry(&spec)?;
    Ok(spec)
}

/// A spec like that of [`spec_of`], for a format whose bytes also say the rate.
pub fn spec_with_rate(rate: f64, mut spec: Spec) -> Spec {
    spec.parameters[1] = Setting { id: foreign_bloom::STATED_RATE.id(), value: rate };
    spec
}
