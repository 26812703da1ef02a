//! The links of a chain: what the geometry and the directory say about them, and how large the next one is.
//!
//! The geometry's words are the placement, the number of links, expansion, scaling, the bits of the first link,
//! tightening, the rate of the first link and its entries. The geometry's `bits` are those of all links, and its
//! `hashes` those of the first. If the first link's line in the directory says no more than how many keys it has taken,
//! the geometry says the rest, so an empty filter is all zeros.

use super::{EXPANSION, SCALING, TIGHTENING};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::kinds::foreign_bloom::placements::NAMES;
use crate::kinds::foreign_bloom::{PLACEMENT, placement};
use crate::storage::try_vec;
use core::f64::consts::LN_2;
use core::sync::atomic::{AtomicU64, Ordering};

/// The words of a line.
pub const LINE: usize = 8;

/// The word of a link's line that says how many keys it has taken.
pub const TAKEN: usize = 0;

/// The largest expansion with which links are added: RedisBloom's own limit.
const MOST_EXPANSION: u64 = 1 << 15;

/// ln(2)^2 and ln(2) with RedisBloom's digits, which decide about the last bit of a size.
const REDIS_LN_2_SQUARED: f64 = 0.480_453_013_918_201;
#[expect(clippy::approx_constant, reason = "the last digit is missing there as well")]
const REDIS_LN_2: f64 = 0.693_147_180_559_945;

/// The shape of a link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// The bits of its array, whole bytes.
    pub bits: u64,
    /// Bits that a key sets.
    pub hashes: u32,
    /// The exponent if a link's places are taken modulo a power of two, perhaps less than its bits; otherwise 0.
    pub log_modulus: u8,
    /// How many new keys it takes.
    pub entries: u64,
    /// The rate it was sized for.
    pub rate: f64,
    /// The bits for an entry that it was sized with, if the format's bytes state them; otherwise 0.
    pub bits_per_entry: f64,
}

/// What the directory says.
pub struct Chain {
    /// The links, the oldest first: at least one.
    pub links: Vec<Link>,
    /// What the placement hashes with besides the key.
    pub key: [u64; 4],
    /// What else the format's bytes say about the whole chain.
    pub note: u64,
}

impl Link {
    /// The first link that a geometry with these words describes.
    pub fn first(hashes: u32, words: &[u64; 8]) -> Link {
        let rate = f64::from_bits(words[6]);
        Link {
            bits: words[4],
            hashes,
            log_modulus: 0,
            entries: words[7],
            rate,
            bits_per_entry: bits_per_entry(words[0], rate),
        }
    }

    /// The link that follows this one. `None` if none can, or if this one has fewer bits than its owner would have
    /// given it, so that foreign bytes cannot demand memory out of all proportion.
    pub fn next(&self, placement: u64, expansion: u64, tightening: f64) -> Option<Link> {
        let bits = (-self.rate.ln() / (LN_2 * LN_2)).max(1.0) * self.entries as f64;
        // Arrays of a power of two of bits are from a time when RedisBloom counted their entries differently.
        let is_known = bits <= self.bits as f64 * 1.01 + 64.0 && self.log_modulus == 0 && expansion <= MOST_EXPANSION;
        let entries = self.entries.checked_mul(expansion).filter(|_| is_known)?;
        sized(placement, entries, self.rate * tightening)
    }

    /// The modulus of the places.
    pub fn modulus(&self) -> u64 {
        if self.log_modulus == 0 { self.bits } else { 1 << (self.log_modulus & 63) }
    }

    /// The 64-bit words of its array.
    pub fn words(&self) -> u64 {
        self.bits.div_ceil(64)
    }

    /// The link's line in the directory, with no key taken.
    pub fn line(&self) -> [u64; LINE] {
        let hashes = u64::from(self.hashes) | u64::from(self.log_modulus) << 32;
        [0, self.bits, hashes, self.entries, self.rate.to_bits(), self.bits_per_entry.to_bits(), 0, 0]
    }

    /// The link of a line, if it is one of this placement.
    fn of_line(line: [u64; LINE], placement_number: u64) -> Option<Link> {
        let [_, bits, hashes, entries, rate, bits_per_entry, ..] = line;
        let link = Link {
            bits,
            hashes: hashes as u32,
            log_modulus: u8::try_from(hashes >> 32).ok()?,
            entries,
            rate: f64::from_bits(rate),
            bits_per_entry: f64::from_bits(bits_per_entry),
        };
        let row = placement(placement_number)?;
        let is_sound = bits > 0
            && bits.is_multiple_of(8)
            && link.log_modulus < 64
            && link.modulus() <= bits.min(row.max_bits)
            && (1..=row.most_hashes(link.modulus())).contains(&link.hashes)
            && entries > 0
            && link.rate > 0.0
            && link.rate < 1.0
            && line[1..] == link.line()[1..];
        is_sound.then_some(link)
    }

    /// Whether this placement can have such a link.
    pub fn is_of(&self, placement: u64) -> bool {
        Link::of_line(self.line(), placement).is_some()
    }

    /// Whether two links are alike.
    pub fn is_same(&self, other: &Link) -> bool {
        self.line() == other.line()
    }
}

impl Chain {
    /// The chain that a payload of this geometry holds; `None` if it holds none.
    pub fn of(geometry: &Geometry, words: &[AtomicU64]) -> Option<Chain> {
        let [number, count, ..] = geometry.words;
        let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
        let from = directory(words.len(), count)?;
        let line =
            |i: usize| -> [u64; LINE] { core::array::from_fn(|j| words[from + LINE * i + j].load(Ordering::Relaxed)) };
        let [a, b, c, d, note, 0, 0, 0] = line(0) else { return None };
        let mut links = try_vec(count).ok()?;
        for i in 1..=count {
            let mut line = line(i);
            if i == 1 && line[1..] == [0; LINE - 1] {
                line = Link::first(geometry.hashes, &geometry.words).line();
            }
            links.push(Link::of_line(line, number)?);
        }
        let chain = Chain { links, key: [a, b, c, d], note };
        (chain.geometry(geometry.words)? == *geometry).then_some(chain)
    }

    /// The geometry of these links, with those words of the geometry that are not about the links.
    pub fn geometry(&self, mut words: [u64; 8]) -> Option<Geometry> {
        let first = self.links.first()?;
        (words[1], words[4]) = (self.links.len() as u64, first.bits);
        (words[6], words[7]) = (first.rate.to_bits(), first.entries);
        let add = |sum: u64, more: u64| sum.checked_add(more);
        let bits = self.links.iter().try_fold(0, |sum, link| add(sum, link.bits))?;
        let arrays = self.links.iter().try_fold(0, |sum, link| add(sum, link.words()))?;
        geometry(bits, arrays, first.hashes, words)
    }

    /// The lines of the directory, with these numbers of keys taken.
    pub fn lines(&self, words: &[u64; 8], taken: impl Fn(usize) -> u64) -> impl Iterator<Item = [u64; LINE]> {
        let [a, b, c, d] = self.key;
        let first = self.links.first().map(|link| Link::first(link.hashes, words));
        let of_link = move |(i, link): (usize, &Link)| {
            let mut line = match &first {
                Some(first) if i == 0 && link.is_same(first) => [0; LINE],
                _ => link.line(),
            };
            line[TAKEN] = taken(i);
            line
        };
        core::iter::once([a, b, c, d, self.note, 0, 0, 0]).chain(self.links.iter().enumerate().map(of_link))
    }
}

/// The place of the directory in a payload of `words` words with `links` links.
pub fn directory(words: usize, links: usize) -> Option<usize> {
    links.checked_add(1)?.checked_mul(LINE).and_then(|lines| words.checked_sub(lines))
}

/// The geometry of a chain with a single link that these words describe; `None` if there is none.
pub fn of_one(hashes: u32, mut words: [u64; 8]) -> Option<Geometry> {
    words[1] = 1;
    let link = Link::of_line(Link::first(hashes, &words).line(), words[0])?;
    geometry(link.bits, link.words(), hashes, words)
}

/// The geometry of links with `bits` bits in `arrays` words.
fn geometry(bits: u64, arrays: u64, hashes: u32, words: [u64; 8]) -> Option<Geometry> {
    let [number, links, expansion, scaling, _, tightening, ..] = words;
    let is_known = PLACEMENT.check(number as f64).is_ok()
        && EXPANSION.check(expansion as f64).is_ok()
        && SCALING.check(scaling as f64).is_ok()
        && TIGHTENING.check(f64::from_bits(tightening)).is_ok();
    let arrays = arrays.checked_mul(8)?.checked_next_multiple_of(PAYLOAD_UNIT)?;
    let directory = links.checked_add(1)?.checked_mul(8 * LINE as u64)?;
    let payload_bytes = arrays.checked_add(directory).filter(|bytes| is_known && image_bytes(*bytes).is_some())?;
    Some(Geometry { bits, hashes, words, payload_bytes })
}

/// Whether a placement is that of valkey-bloom; all others are sized as RedisBloom does.
fn is_valkey(placement: u64) -> bool {
    NAMES.get(placement as usize) == Some(&"valkey")
}

/// The bits for an entry that links of this rate are sized with, if the format's bytes state them.
fn bits_per_entry(placement: u64, rate: f64) -> f64 {
    if is_valkey(placement) { 0.0 } else { -(rate.ln() / REDIS_LN_2_SQUARED) }
}

/// The link that the owner of a placement makes for `entries` entries at this rate; `None` if it makes none.
pub fn sized(placement: u64, entries: u64, rate: f64) -> Option<Link> {
    if entries == 0 || !(rate > 0.0 && rate < 1.0) {
        return None;
    }
    let bits_per_entry = bits_per_entry(placement, rate);
    let (bits, hashes) = if is_valkey(placement) {
        let bytes = (entries as f64 * rate.ln() / (-8.0 * LN_2 * LN_2)).ceil() as u64;
        let bits = bytes.checked_mul(8)?;
        (bits, (bits as f64 / entries as f64 * LN_2).round().max(1.0))
    } else {
        let bits = (entries as f64 * bits_per_entry) as u64;
        (bits.max(1).checked_next_multiple_of(64)?, redis_hashes(bits_per_entry))
    };
    let link = Link { bits, hashes: hashes as u32, log_modulus: 0, entries, rate, bits_per_entry };
    Link::of_line(link.line(), placement)
}

/// RedisBloom's number of bits that a key sets, for links sized with this many bits for an entry.
pub fn redis_hashes(bits_per_entry: f64) -> f64 {
    (REDIS_LN_2 * bits_per_entry).ceil()
}
