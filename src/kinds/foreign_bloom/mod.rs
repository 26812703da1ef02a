//! The kind `foreign_bloom`: a classic Bloom filter that places its keys as another system does, so that its bits are
//! that system's. [`placements`] has the placements; [`crate::interop`] reads and writes the bytes.
//!
//! The payload is the bit array followed by the attachment: what the foreign bytes contained besides the bits and has
//! no name in Petal, kept so that it can be given back unchanged.

pub mod placements;

use crate::batch::answers::Answers;
use crate::batch::keys::WholeKeys;
use crate::batch::ring::Taken;
use crate::bits;
use crate::blocks::Measure;
use crate::blocks::placed::PlacedArray;
use crate::contract::{
    Base, Capabilities, Cardinality, Hashing, Intersect, KeyedKind, Kind, Merge, Overlap, Payload, Row, Sizes,
    Structure, facets, over_base,
};
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::sizing::{self, dependent};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use core::sync::atomic::{AtomicU64, Ordering};
use placements::{MAX_HASHES, NAMES, PLACEMENTS, PlacementRow};

/// The system whose placement it is.
pub const PLACEMENT: Parameter = Parameter {
    name: "placement",
    summary: "the system whose placement of keys the filter uses",
    default: 0.0,
    domain: Domain::Choice(&NAMES),
    word: Some(0),
};

/// The rate that a format's bytes state, for the formats that have to state one.
pub const STATED_RATE: Parameter = Parameter {
    name: "stated_rate",
    summary: "the false-positive rate for which the format's bytes say they were sized; 0 if they do not say",
    default: 0.0,
    domain: Domain::Real(0.0, 1.0),
    word: Some(6),
};

/// The word of the geometry that says how many words the attachment has.
const ATTACHMENT_WORD: usize = 1;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::FOREIGN_BLOOM,
    name: "foreign_bloom",
    summary: "a classic Bloom filter placed as another system places it, for exchanging its bytes",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::INTERSECT)
        .with(Capabilities::ESTIMATE),
    parameters: &[&PLACEMENT, &STATED_RATE],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(1),
    hashes: (1, MAX_HASHES),
    geometry,
    identity: |geometry| {
        let mut words = geometry.words;
        words[ATTACHMENT_WORD] = 0;
        Geometry { words, ..*geometry }
    },
    lines_per_lookup: |geometry| f64::from(geometry.hashes),
    false_positive_rate: expected_rate,
    hashing: Hashing { hashes_keys_itself: true, ..Hashing::BASE },
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let number = spec.parameter(&PLACEMENT)?;
    let row = placement(number).ok_or(Status::Internal)?;
    let most = row.max_hashes;
    let (bits, hashes) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let least = match row.scheme {
                Some(scheme) => dependent::size_for(scheme, false, capacity, rate, most),
                None => sizing::bloom::size_for(capacity, rate, most).map(|size| (size.bits, size.hashes)),
            };
            let units = crate::generic::bit_filter::units_for(least.map(|size| size.0), false, size)?;
            (units, least.map_or(1, |size| size.1))
        }
        Size::Exact { capacity, bits, hashes: 0 } => (bits, sizing::bloom::optimal_hashes(bits, capacity, most)),
        Size::Exact { bits, hashes, .. } => (bits, hashes),
    };
    let mut words = [0; 8];
    words[0] = number;
    words[6] = spec.real_parameter(&STATED_RATE)?.to_bits();
    of(bits, hashes, words, 0)
}

/// The geometry of `bits` bits, of which a key sets `hashes`, with a placement and its key in `words`, and an
/// attachment of `attachment` words.
///
/// # Errors
/// [`Status::OutOfRange`] if the placement has no such array; [`Status::TooLarge`].
pub fn of(bits: u64, hashes: u32, mut words: [u64; 8], attachment: u64) -> Result<Geometry> {
    let row = placement(words[0]).ok_or(Status::Internal)?;
    if !(1..=row.max_bits).contains(&bits) {
        return Err(error!(OutOfRange, "bits = {bits} is not from 1 to {} of {}", row.max_bits, row.name));
    }
    let most = row.most_hashes(bits);
    if !(1..=most).contains(&hashes) {
        return Err(error!(OutOfRange, "hashes = {hashes} is not from 1 to {most} of {} with {bits} bits", row.name));
    }
    words[ATTACHMENT_WORD] = attachment;
    let bytes = attachment
        .checked_add(bits.div_ceil(64))
        .and_then(|words| words.checked_mul(8)?.checked_next_multiple_of(crate::format::PAYLOAD_UNIT));
    Geometry::of_bytes(bits, hashes, words, bytes)
}

/// The placement with this number.
pub fn placement(number: u64) -> Option<&'static PlacementRow> {
    PLACEMENTS.get(usize::try_from(number).ok()?)
}

/// The expected rate: that of the dependent probes, or that the hash of a fresh key is that of another.
fn expected_rate(geometry: &Geometry, keys: u64) -> f64 {
    let Some(row) = placement(geometry.words[0]) else { return 1.0 };
    let rate = match row.lines_rate {
        Some(rate) => rate(geometry, keys),
        None => row.rate(geometry.bits, geometry.hashes, keys),
    };
    row.with_floor(rate, keys as f64)
}

/// A filter that places its keys as another system does.
pub struct ForeignBloom {
    base: Base,
    row: &'static PlacementRow,
    array: Box<dyn PlacedArray>,
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let geometry = *base.geometry();
    let sound = of(geometry.bits, geometry.hashes, geometry.words, geometry.words[ATTACHMENT_WORD]);
    let opened = placement(geometry.words[0])
        .filter(|_| {
            sound.is_ok_and(|sound| sound == geometry) && STATED_RATE.check(f64::from_bits(geometry.words[6])).is_ok()
        })
        .filter(|_| geometry.words[7] == 0)
        .and_then(|row| Some((row, (row.open)(&geometry, base.hasher().identifier())?)));
    match opened {
        Some((row, array)) => Ok(try_box(ForeignBloom { base, row, array })?),
        None => Err(base.foreign_geometry()),
    }
}

impl ForeignBloom {
    /// The system whose placement it is.
    pub fn placement(&self) -> &'static str {
        self.row.name
    }

    /// How many words the bits take.
    fn bit_words(&self) -> usize {
        self.base.geometry().bits.div_ceil(64) as usize
    }

    /// The words of the bits.
    pub fn words(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.bit_words()]
    }

    /// The words of the attachment.
    pub fn attachment(&self) -> &[AtomicU64] {
        let length = self.base.geometry().words[ATTACHMENT_WORD] as usize;
        &self.base.words().shared()[self.bit_words()..][..length]
    }

    fn words_mut(&mut self) -> Result<&mut [u64]> {
        let words = self.bit_words();
        Ok(&mut self.base.writable()?[..words])
    }

    /// Combines the bits with those of another filter.
    fn combine(&mut self, other: &dyn Kind, combine: impl Fn(&mut u64, u64)) -> Result<()> {
        for (word, other) in self.words_mut()?.iter_mut().zip(other.base().words().shared()) {
            combine(word, other.load(Ordering::Relaxed));
        }
        Ok(())
    }

    /// The share of random keys that are found, if these are enough to tell, where no formula knows how the probes of a
    /// key depend on each other.
    fn tried(&self) -> Option<f64> {
        const TRIED: u64 = 1 << 18;
        const ENOUGH: usize = 1000;
        let is_found = |i: &u64| self.array.contains(self.words(), &bits::mix(!bits::mix(*i)).to_le_bytes());
        let found = self.row.third.is_finite().then(|| (0..TRIED).filter(is_found).count())?;
        (found >= ENOUGH).then(|| found as f64 / TRIED as f64)
    }

    fn ones(&self) -> u64 {
        bits::count_ones_in(self.words(), 0, self.base.geometry().bits)
    }
}

impl Payload for ForeignBloom {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        let bits = self.base.geometry().bits;
        let padding = self.base.words().shared()[self.bit_words() + self.attachment().len()..].iter();
        if !bits::is_zero_from(self.words(), bits) || padding.into_iter().any(|word| word.load(Ordering::Relaxed) != 0)
        {
            return Err(error!(Corrupt, "bits after the last one, {bits}, are set"));
        }
        Ok(())
    }
}

impl Kind for ForeignBloom {
    /// A hash says nothing about a key's places, so any hash may have been inserted.
    fn contains_hash(&self, _hash: u64) -> bool {
        true
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let Geometry { bits, hashes, payload_bytes, .. } = *self.base.geometry();
        let ones = self.ones();
        progress(payload_bytes);
        let rate = match self.row.lines_rate_now {
            Some(rate) => rate(self.base.geometry(), self.words()),
            None => self.row.rate_from_fill(bits, hashes, ones),
        };
        // Without zero bits nothing says how many keys there are, and the rate is 1.
        let rate = || self.row.with_floor(rate, self.of_taken(ones).unwrap_or_default());
        Measure::of_bits(ones, bits, self.tried().unwrap_or_else(rate))
    }

    fn reset(&mut self) -> Result<()> {
        self.words_mut()?.fill(0);
        Ok(())
    }

    facets!(KeyedKind, Merge, Intersect, Cardinality, Overlap);
}

impl KeyedKind for ForeignBloom {
    fn contains_key(&self, key: &[u8]) -> bool {
        self.array.contains(self.words(), key)
    }

    fn contains_keys(&self, keys: &WholeKeys, answers: &mut Answers) {
        self.array.contains_many(self.words(), keys, answers);
    }

    fn insert_key(&mut self, key: &[u8]) -> Result<bool> {
        let length = self.bit_words();
        let new = self.array.insert(&mut self.base.writable()?[..length], key);
        if new || !self.row.counts_new {
            self.base.add_count(1);
        }
        Ok(new)
    }

    fn insert_keys(&mut self, keys: &WholeKeys, answers: Option<&mut Answers>) -> Taken {
        let length = self.bit_words();
        let new = match self.base.writable() {
            Ok(words) => self.array.insert_many(&mut words[..length], keys, answers),
            Err(error) => return Taken::none(error),
        };
        self.base.add_count(if self.row.counts_new { new } else { keys.len() as u64 });
        Taken::all(keys.len())
    }
}

impl Merge for ForeignBloom {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.combine(other, |word, other| *word |= other)
    }
}

impl Intersect for ForeignBloom {
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.combine(other, |word, other| *word &= other)
    }
}

impl Cardinality for ForeignBloom {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(self.ones())
    }

    fn of_taken(&self, ones: u64) -> Option<f64> {
        let Geometry { bits, hashes, .. } = *self.base.geometry();
        self.row.keys_from_fill(bits, hashes, ones)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        let Geometry { bits, hashes, .. } = *self.base.geometry();
        sizing::bloom::cardinality_standard_error(bits, hashes, keys.round() as u64)
    }
}

impl Overlap for ForeignBloom {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        let words = &other.base().words().shared()[..self.bit_words()];
        self.of_taken(bits::count_ones_of_union(self.words(), words))
    }
}
