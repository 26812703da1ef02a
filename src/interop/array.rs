//! Filters of the kind `foreign_bloom`, out of what a format's bytes say and back.

use crate::error::{Result, Status, error};
use crate::filter::Filter;
use crate::filters::foreign_bloom::{self, KEY_WORDS};
use crate::format::Geometry;
use crate::hash::HashFunction;
use crate::image::Image;
use crate::kind::Base;
use crate::layouts::foreign;
use crate::spec::{Setting, Spec};
use crate::storage::Words;
use core::sync::atomic::Ordering;

/// What a format's bytes say of a filter, beside its bits.
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
    /// Keys offered so far; 0 if the bytes do not say it.
    pub count: u64,
    /// What the bytes say beyond this, to be given back.
    pub attachment: &'a [u8],
}

impl Parts<'_> {
    /// The filter with these parts. `words` gives the words of its bits, bit p being bit p mod 64 of word p / 64: as many
    /// as there are, which the caller made sure of, so that nobody allocates what is not there.
    ///
    /// # Errors
    /// [`Status::Corrupt`] where no filter has these parts, or bits after the last are set; [`Status::OutOfMemory`].
    pub fn filter(&self, words: impl Iterator<Item = u64>) -> Result<Filter> {
        let number = foreign::number(self.placement).ok_or(Status::Internal)?;
        let mut settings = [0; 8];
        settings[0] = number;
        settings[KEY_WORDS].copy_from_slice(&self.key);
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
            for (to, bytes) in rest[1..].iter_mut().zip(self.attachment.chunks(8)) {
                *to = u64::from_le_bytes(core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0)));
            }
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
    let placement = foreign::NAMES[words[0] as usize];
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
        false_positive_rate: header.false_positive_rate,
        count: base.count_now(),
        attachment: &[],
    })
}

/// The words of the bits, of a filter of the kind `foreign_bloom`.
pub fn words_of(base: &Base) -> impl Iterator<Item = u64> {
    let count = base.geometry().bits.div_ceil(64) as usize;
    base.words().shared()[..count].iter().map(|word| word.load(Ordering::Relaxed))
}

#[allow(dead_code, reason = "for the formats that keep one")]
/// Writes the attachment of a filter of the kind `foreign_bloom` to the front of `room` and returns its length; `None`
/// if it has none, or one of another length than `room`.
pub fn attachment_of(base: &Base, room: &mut [u8]) -> Option<()> {
    let at = base.geometry().bits.div_ceil(64) as usize;
    let words = base.words().shared().get(at..)?;
    (base.geometry().words[1] > 0 && words.first()?.load(Ordering::Relaxed) == room.len() as u64).then_some(())?;
    for (to, word) in room.chunks_mut(8).zip(&words[1..]) {
        to.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes()[..to.len()]);
    }
    Some(())
}

/// A spec of the kind `foreign_bloom` with exactly this array.
pub fn spec_of(placement: &'static str, capacity: u64, bits: u64, hashes: u32, seed: u64) -> Result<Spec> {
    let number = foreign::number(placement).ok_or(Status::Internal)?;
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
