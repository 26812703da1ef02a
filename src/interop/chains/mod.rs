//! Filters of the kind `foreign_scalable`, made from what a format's bytes say of their links, and written back.

pub mod redisbloom;
pub mod valkey_chain;

use crate::error::{Result, Status, error};
use crate::handle::filter::Filter;
use crate::handle::image::{Image, Sink};
use crate::hash::HashFunction;
use crate::interop::payload::little_endian;
use crate::kinds::foreign_bloom;
use crate::kinds::foreign_bloom::placements::NAMES;
use crate::kinds::foreign_scalable::links::{Chain, LINE, Link, TAKEN, directory};
use crate::kinds::foreign_scalable::{ROW, SCALING};
use crate::spec::Spec;
use crate::storage::{Words, try_vec};
use core::sync::atomic::Ordering;

/// A link as a format's bytes have it.
pub struct LinkBytes<'a> {
    pub link: Link,
    /// How many keys the link has taken.
    pub taken: u64,
    /// The link's bits, in as many bytes as they take.
    pub array: &'a [u8],
}

/// What a format's bytes say of a chain, besides its links.
pub struct Whole {
    pub placement: &'static str,
    pub expansion: u64,
    pub scales: bool,
    pub tightening: f64,
    /// What the placement hashes with in addition to the key.
    pub key: [u64; 4],
    /// What else the bytes say, kept to be given back.
    pub note: u64,
}

/// What a chain is written from, in the order of its links.
pub struct Written<'a> {
    pub whole: Whole,
    /// The rate of the first link.
    pub rate: f64,
    pub chain: Chain,
    filter: &'a Filter,
}

impl Whole {
    /// The filter with these links, at least one, the oldest first.
    ///
    /// # Errors
    /// [`Status::Corrupt`] if no filter has them; [`Status::OutOfMemory`].
    pub fn filter(&self, parts: &[LinkBytes]) -> Result<Filter> {
        let number = foreign_bloom::placements::number(self.placement).ok_or(Status::Internal)?;
        let scaling = u64::from(!self.scales);
        let mut links = try_vec(parts.len())?;
        links.extend(parts.iter().map(|part| part.link));
        let chain = Chain { links, key: self.key, note: self.note };
        let words = [number, 0, self.expansion, scaling, 0, self.tightening.to_bits(), 0, 0];
        let first = parts.first().ok_or(Status::Internal)?.link;
        let geometry = chain.geometry(words).ok_or_else(|| error!(Corrupt, "the bytes describe no chain of links"))?;
        let spec = Spec {
            kind: Some(ROW.kind),
            capacity: first.entries,
            bits: first.bits,
            hashes: first.hashes,
            hash: HashFunction::Format,
            ..Spec::default()
        };
        let mut base =
            crate::making::base(&ROW, &spec, geometry, |header| Words::zeroed(header.geometry.payload_bytes))?;
        let mut rest = base.writable()?;
        for LinkBytes { array, .. } in parts {
            let (here, after) = rest.split_at_mut(array.len().div_ceil(8));
            here.iter_mut().zip(little_endian(array)).for_each(|(to, word)| *to = word);
            rest = after;
        }
        let from = directory(rest.len(), parts.len()).ok_or(Status::Internal)?;
        let lines = chain.lines(&geometry.words, |i| parts[i].taken);
        for (to, line) in rest[from..].as_chunks_mut().0.iter_mut().zip(lines) {
            *to = line;
        }
        base.set_count(parts.iter().fold(0, |sum, part| sum.saturating_add(part.taken)));
        let filter = Filter::over(base).map_err(|error| match error.status() {
            Status::OutOfMemory => error,
            _ => error!(Corrupt, "the bytes describe links that no filter has"),
        })?;
        filter.payload().check_payload()?;
        Ok(filter)
    }
}

/// What a filter says that may be written in a format with one of these placements, in the variant that is asked for: 0
/// grows, 1 does not.
///
/// # Errors
/// [`Status::Unsupported`], naming what stands in the way.
pub fn written<'a>(
    filter: &'a Filter,
    placements: &[&str],
    variant: Option<usize>,
    format: &str,
) -> Result<Written<'a>> {
    let base = filter.base();
    let name = base.row().name;
    if base.row().kind != ROW.kind {
        return Err(error!(
            Unsupported,
            "kind = {name} has no form in {format}: make the filter with the format's spec"
        ));
    }
    let geometry = base.geometry();
    let [number, _, expansion, scaling, _, tightening, rate, _] = geometry.words;
    let placement = NAMES[number as usize];
    if !placements.contains(&placement) {
        return Err(error!(Unsupported, "placement = {placement} has no form in {format}"));
    }
    if variant.is_some_and(|variant| variant as u64 != scaling) {
        let own = SCALING.choices()[scaling as usize];
        return Err(error!(Unsupported, "a filter that is {own} has no form in another variant of {format}"));
    }
    let chain = Chain::of(geometry, base.words().shared()).ok_or(Status::Internal)?;
    let (tightening, rate) = (f64::from_bits(tightening), f64::from_bits(rate));
    let (key, note) = (chain.key, chain.note);
    let whole = Whole { placement, expansion, scales: scaling == 0, tightening, key, note };
    Ok(Written { whole, rate, chain, filter })
}

impl Written<'_> {
    /// How many keys a link has taken.
    pub fn taken(&self, link: usize) -> u64 {
        let words = self.filter.base().words().shared();
        let from = directory(words.len(), self.chain.links.len()).unwrap_or(0);
        words[from + LINE * (1 + link) + TAKEN].load(Ordering::Relaxed)
    }

    /// Gives the array of a link to a sink.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn write_array(&self, link: usize, sink: &mut Sink) -> Result<()> {
        let before: u64 = self.chain.links[..link].iter().map(Link::words).sum();
        let Link { bits, .. } = self.chain.links[link];
        let mut left = (bits / 8) as usize;
        let words = &self.filter.base().words().shared()[before as usize..][..bits.div_ceil(64) as usize];
        words.iter().try_for_each(|word| {
            let count = left.min(8);
            left -= count;
            sink(&word.load(Ordering::Relaxed).to_le_bytes()[..count])
        })
    }
}
