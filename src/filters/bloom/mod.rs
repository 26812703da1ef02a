//! The classic Bloom filter: an array of m bits, k of which each key sets.
//!
//! Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970. The probability that a lookup of a key
//! that was never inserted says true is E\[(X/m)^k\], where X is the number of bits that n keys with k independent
//! probes each have set; [`crate::sizing::bloom`] computes it exactly, and given the bits themselves it is (X/m)^k. Three
//! derivations have dependent probes, and rates of their own: [`crate::sizing::dependent`].
//!
//! Two layouts: *plain*, where every probe ranges over all m bits, and *partitioned*, where probe i has the i-th of k
//! slices of floor(m/k) bits to itself, so that no two probes of a key meet. How probes come from the 64-bit hash is
//! the [`Derivation`]. A key hashed with MD5 or SHA is inserted as a hash: take the digest's first eight bytes,
//! little-endian, and [`crate::Filter::insert_hash`] into a filter whose hash function is `external`.
//!
//! Payload: bit p is bit p mod 64 of the little-endian 64-bit word p / 64.

mod derivation;
mod present;

pub use derivation::Derivation;

use super::bitwise::{self, BitArray};
use crate::base::Base;
use crate::bits;
use crate::bits::ring::{self, Batch};
use crate::error::{Result, Status, error};
use crate::filter::{Cardinality, Filter, Fold, Insert, Intersect, Measure, Merge, SharedInsert};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::open;
use crate::registry::Row;
use crate::sizing::{self, dependent};
use crate::spec::{Domain, Kind, Number, Parameter, Size, Spec};
use crate::storage::{Words, try_box};
use core::sync::atomic::AtomicU64;

/// The kind's number.
pub const KIND: Kind = Kind(1);

/// The most probes a key has.
pub const MAX_HASHES: u32 = 64;

/// Whether each probe has a slice of its own.
pub const PARTITIONED: Parameter = Parameter {
    name: "partitioned",
    summary: "1 gives each of a key's probes a slice of the bits to itself",
    default: 0,
    domain: Domain::Integer(0, 1),
    word: Some(0),
};

/// How probes come from a hash.
pub const DERIVATION: Parameter = Parameter {
    name: "derivation",
    summary: "how a key's probes come from its hash",
    default: Derivation::Remix as u64,
    domain: Domain::Choice(&Derivation::NAMES),
    word: Some(1),
};

/// How wide the slices of [`Derivation::Slices`] are. Kept through folding, so that the positions scale.
pub const SLICE_WIDTH: Parameter = Parameter {
    name: "slice_width",
    summary: "bits of a slice with derivation = slices; 0 is what the size needs and 16 more",
    default: 0,
    domain: Domain::Integer(0, 64),
    word: Some(2),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KIND,
    name: "bloom",
    summary: "the classic Bloom filter: any size, the lowest false-positive rate of the insertable bit arrays",
    layout_version: 1,
    capabilities: bitwise::CAPABILITIES,
    parameters: &[&PARTITIONED, &DERIVATION, &SLICE_WIDTH, &bitwise::FOLDABLE],
    plan,
    open: |base| Ok(try_box(Bloom::from_base(base)?)?),
    bits_unit: 1,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| Shape::of(geometry).map_or(1.0, |shape| shape.false_positive_rate(keys)),
};

/// Where probes go.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Bits that a probe ranges over: all of them, or those of a slice.
    range: u64,
    /// Bits from one probe's range to the next one's: 0 in the plain layout.
    stride: u64,
    hashes: u32,
    derivation: Derivation,
    slice_width: u32,
}

impl Shape {
    /// The shape that a geometry describes, if it is one of this kind.
    fn of(geometry: &Geometry) -> Option<Shape> {
        let [partitioned, derivation, slice_width, rest @ ..] = geometry.words;
        let hashes = geometry.hashes;
        let derivation = Derivation::from_number(derivation)?;
        let widths = if derivation == Derivation::Slices { 1..=64 } else { 0..=0 };
        let known = partitioned <= 1
            && rest == [0; 5]
            && widths.contains(&slice_width)
            && (1..=MAX_HASHES).contains(&hashes)
            && geometry.bits > 0;
        if !known || (partitioned == 1 && !geometry.bits.is_multiple_of(hashes.into())) {
            return None;
        }
        let range = if partitioned == 1 { geometry.bits / u64::from(hashes) } else { geometry.bits };
        let stride = if partitioned == 1 { range } else { 0 };
        Some(Shape { range, stride, hashes, derivation, slice_width: slice_width as u32 })
    }

    /// Visits the positions of a hash in order, until `visit` says false; whether it never did.
    #[inline]
    fn all(&self, hash: u64, mut visit: impl FnMut(u64) -> bool) -> bool {
        if self.derivation != Derivation::Remix {
            return self.all_of_others(hash, &mut visit);
        }
        let (mut hash, mut start) = (hash, 0);
        for _ in 0..self.hashes {
            if !visit(start + bits::reduce(hash, self.range)) {
                return false;
            }
            hash = hash.wrapping_mul(bits::GOLDEN);
            start += self.stride;
        }
        true
    }

    /// Sets the bits of a hash; whether any was not set.
    #[inline]
    fn set(&self, words: &mut [u64], hash: u64) -> bool {
        let mut new = false;
        self.all(hash, |position| {
            new |= bits::set(words, position);
            true
        });
        new
    }

    /// Fetches the lines of the first probes of a hash.
    #[inline]
    fn fetch(&self, words: &[AtomicU64], hash: u64, probes: u32) {
        let mut probe = 0;
        self.all(hash, |position| {
            ring::fetch_word(words, (position / 64) as usize);
            probe += 1;
            probe < probes
        });
    }

    #[inline(never)]
    fn all_of_others(&self, hash: u64, visit: &mut dyn FnMut(u64) -> bool) -> bool {
        let mut probes = self.derivation.probes(hash, self.range, self.slice_width);
        (0..u64::from(self.hashes)).all(|i| visit(i * self.stride + probes.next_position()))
    }

    /// The keys that set so many bits. Each slice of the partitioned layout sees every key once, so that all of them
    /// together are one array in which a key has one probe for every k-th part.
    fn cardinality(&self, ones: u64) -> Option<f64> {
        match self.stride {
            0 => sizing::bloom::cardinality_exact_base(self.range, self.hashes, ones),
            slice => sizing::bloom::partitioned_cardinality(slice, self.hashes, ones),
        }
    }

    fn false_positive_rate(&self, keys: u64) -> f64 {
        let rate = match (self.derivation.scheme(), self.stride) {
            (Some(scheme), stride) => dependent::rate(scheme, stride != 0, self.range, self.hashes, keys),
            (None, 0) => sizing::bloom::exact(self.range, self.hashes, keys),
            (None, slice) => sizing::bloom::partitioned_exact(slice, self.hashes, keys),
        };
        rate.max(sizing::hash_floor(keys, 64))
    }

    /// The present rate, from the numbers of bits that are set in all and in each slice.
    fn present_rate(&self, words: &[AtomicU64], ones: u64, product: f64) -> f64 {
        let independent = match self.stride {
            0 => sizing::bloom::from_fill(self.range, self.hashes, ones),
            _ => product,
        };
        let Some(scheme) = self.derivation.scheme() else {
            return independent;
        };
        present::count_out(self, scheme, words).unwrap_or_else(|| {
            let fill = if self.stride == 0 { ones as f64 / self.range as f64 } else { product };
            match self.cardinality(ones) {
                Some(keys) => dependent::from_fill(scheme, self.stride != 0, self.range, self.hashes, keys, fill),
                None => independent,
            }
        })
    }
}

/// The geometry that a spec asks for.
fn plan(spec: &Spec) -> Result<Geometry> {
    let partitioned = spec.parameter(&PARTITIONED)?;
    let derivation = spec.parameter(&DERIVATION)?;
    let foldable = spec.parameter(&bitwise::FOLDABLE)? == 1;
    let (bits, hashes) = match spec.size()? {
        Size::Rate { capacity, false_positive_rate } => {
            let unreachable = || {
                let rate = Number(false_positive_rate);
                error!(TooLarge, "capacity = {capacity} at false_positive_rate = {rate} needs more bits than can be")
            };
            let scheme = Derivation::from_number(derivation).and_then(Derivation::scheme);
            // Units are what folding divides: all bits, or those of a slice.
            let (units, slices, hashes) = if let Some(scheme) = scheme {
                if foldable {
                    // These need a range without small factors, which cannot be folded.
                    let name = Derivation::NAMES[derivation as usize];
                    return Err(error!(
                        Contradiction,
                        "foldable = 1 keeps no false_positive_rate with derivation = {name}: give bits instead, or \
                         derivation = remix"
                    ));
                }
                let size = dependent::size_for(scheme, partitioned == 1, capacity, false_positive_rate, MAX_HASHES);
                let (range, hashes) = size.ok_or_else(unreachable)?;
                (range, if partitioned == 1 { u64::from(hashes) } else { 1 }, hashes)
            } else if partitioned == 1 {
                let size = sizing::bloom::partitioned_size_for(capacity, false_positive_rate, MAX_HASHES);
                let size = size.ok_or_else(unreachable)?;
                (size.slice_bits, u64::from(size.hashes), size.hashes)
            } else {
                let size = sizing::bloom::size_for(capacity, false_positive_rate, MAX_HASHES);
                let size = size.ok_or_else(unreachable)?;
                (size.bits, 1, size.hashes)
            };
            let units = if foldable { bitwise::foldable_units(units) } else { Some(units) };
            let bits = units.and_then(|units| units.checked_mul(slices)).ok_or_else(unreachable)?;
            (bits, hashes)
        }
        Size::Exact { bits, .. } if foldable => {
            return Err(error!(Contradiction, "foldable rounds a size, but bits = {bits} is exact"));
        }
        Size::Exact { bits, hashes, .. } if hashes > MAX_HASHES => {
            return Err(error!(OutOfRange, "hashes = {hashes} with bits = {bits} is not from 1 to {MAX_HASHES}"));
        }
        Size::Exact { capacity: 0, bits, hashes: 0 } => {
            return Err(error!(Contradiction, "bits = {bits} needs hashes, or a capacity to choose them for"));
        }
        Size::Exact { bits, .. } if bits >= 1 << 63 => {
            return Err(error!(TooLarge, "bits = {bits} are more than the address space holds"));
        }
        Size::Exact { capacity, bits, hashes: 0 } => (bits, sizing::bloom::optimal_hashes(bits, capacity, MAX_HASHES)),
        Size::Exact { bits, hashes, .. } => (bits, hashes),
    };
    let slices = if partitioned == 1 { u64::from(hashes) } else { 1 };
    let range = bits / slices;
    if range == 0 {
        return Err(error!(Contradiction, "bits = {bits} are fewer than the hashes = {hashes} slices"));
    }
    let slice_width = match (derivation == Derivation::Slices as u64, spec.parameter(&SLICE_WIDTH)?) {
        (true, 0) => derivation::slice_width(range),
        (true, width) if width < derivation::bits_of(range).into() => {
            return Err(error!(Contradiction, "slice_width = {width} is too few for positions below {range}"));
        }
        (true, width) => width as u32,
        (false, 0) => 0,
        (false, width) => {
            return Err(error!(Contradiction, "slice_width = {width} has no meaning without derivation = slices"));
        }
    };
    Geometry::of_bits(range * slices, hashes, [partitioned, derivation, slice_width.into(), 0, 0, 0, 0, 0])
}

/// Probes of a key that are fetched before any is looked at.
const FIRST_PROBES: u32 = 2;

/// A classic Bloom filter.
///
/// ```
/// use petal::{Filter, filters::Bloom};
/// let mut seen = Bloom::with_capacity(1000, 0.01)?;
/// assert!(seen.insert(b"apple")?);
/// assert!(seen.contains(b"apple"));
/// # Ok::<(), petal::Error>(())
/// ```
pub struct Bloom {
    base: Base,
    shape: Shape,
}

impl Bloom {
    /// A filter for `capacity` keys whose false-positive rate is at most `false_positive_rate` when it is full.
    ///
    /// # Errors
    /// As [`open::create`].
    pub fn with_capacity(capacity: u64, false_positive_rate: f64) -> Result<Bloom> {
        Bloom::new(&Spec::with_capacity(capacity, false_positive_rate)?)
    }

    /// The filter that a spec describes.
    ///
    /// # Errors
    /// As [`open::create`].
    pub fn new(spec: &Spec) -> Result<Bloom> {
        Bloom::from_base(open::create_base(&Spec { kind: Some(KIND), ..*spec })?)
    }

    fn from_base(base: Base) -> Result<Bloom> {
        let geometry = base.geometry();
        match Shape::of(geometry).filter(|_| geometry.is_of_bits()) {
            Some(shape) => Ok(Bloom { shape, base }),
            None => Err(error!(Corrupt, "the header's geometry is not one of a bloom filter: {geometry:?}")),
        }
    }

    /// The bits of each slice, or of the whole; `progress` hears how many bytes were read.
    fn slices(&self, progress: &mut dyn FnMut(u64)) -> impl Iterator<Item = u64> {
        let Shape { range, stride, hashes, .. } = self.shape;
        let slices = if stride == 0 { 1 } else { u64::from(hashes) };
        let words = self.base.words().shared();
        (0..slices).map(move |slice| {
            let (end, mut ones) = ((slice + 1) * range, 0);
            for from in (slice * range..end).step_by(64 * bits::PIECE_WORDS) {
                let to = end.min(from + 64 * bits::PIECE_WORDS as u64);
                ones += bits::count_ones_in(words, from, to);
                progress((to - from) / 8);
            }
            ones
        })
    }
}

impl Filter for Bloom {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let words = self.base.words().shared();
        self.shape.all(hash, |position| bits::test(words, position))
    }

    /// A key that is not there fails after two probes on average, and fetching all its lines would waste the most of
    /// them. So the ring has two stages: far ahead the first two lines of a key are fetched; when these have come, half
    /// way to the answer, the others, if both bits are set.
    fn contains_many(&self, batch: &mut dyn Batch) {
        let (words, shape) = (self.base.words().shared(), self.shape);
        let far = match ring::ahead(words.len(), shape.hashes as usize) {
            0 => 0,
            ahead => 2 * ahead.min(ring::AHEAD / 2),
        };
        let fetch = |words: &&[AtomicU64], hash| shape.fetch(words, hash, FIRST_PROBES);
        let fetch_rest = |words: &&[AtomicU64], hash| {
            let mut probe = 0;
            shape.all(hash, |position| {
                probe += 1;
                if probe <= FIRST_PROBES {
                    return bits::test(words, position);
                }
                ring::fetch_word(words, (position / 64) as usize);
                true
            });
        };
        let answer = |words: &mut &[AtomicU64], hash| shape.all(hash, |position| bits::test(words, position));
        ring::rolling(&mut { words }, ring::Stages { far, near: far / 2 }, batch, fetch, fetch_rest, answer);
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (mut ones, mut product) = (0, 1.0);
        for slice in self.slices(progress) {
            ones += slice;
            product *= slice as f64 / self.shape.range as f64;
        }
        let rate = self.shape.present_rate(self.base.words().shared(), ones, product);
        Measure::of_bits(ones, self.base.geometry().bits, rate)
    }

    fn check_payload(&self) -> Result<()> {
        if bits::is_zero_from(self.base.words().shared(), self.base.geometry().bits) {
            return Ok(());
        }
        Err(error!(Corrupt, "bits after the last one, {}, are set", self.base.geometry().bits))
    }

    fn copy(&self) -> Result<Box<dyn Filter>> {
        Ok(try_box(Bloom { base: self.base.copy()?, shape: self.shape })?)
    }

    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        Some(self)
    }

    fn as_shared_insert(&self) -> Option<&dyn SharedInsert> {
        Some(self)
    }

    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        Some(self)
    }

    fn as_intersect(&mut self) -> Option<&mut dyn Intersect> {
        Some(self)
    }

    fn as_fold(&mut self) -> Option<&mut dyn Fold> {
        Some(self)
    }

    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        Some(self)
    }
}

impl Cardinality for Bloom {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(self.slices(&mut |_| {}).sum())
    }

    fn of_taken(&self, ones: u64) -> Option<f64> {
        self.shape.cardinality(ones)
    }

    fn of_union(&self, other: &Words) -> Option<f64> {
        self.shape.cardinality(bits::count_ones_of_union(self.base.words().shared(), other.shared()))
    }

    /// One formula for both layouts: k independent slices of m/k bits err together as little as one array of m bits.
    fn standard_error(&self, keys: f64) -> f64 {
        sizing::bloom::cardinality_standard_error(self.base.geometry().bits, self.shape.hashes, keys.round() as u64)
    }
}

impl BitArray for Bloom {
    #[inline]
    fn set(&mut self, hash: u64) -> Option<bool> {
        Some(self.shape.set(self.base.writable_at_once()?, hash))
    }

    fn set_many(&mut self, batch: &mut dyn Batch) -> Option<()> {
        let shape = self.shape;
        let words = self.base.writable_at_once()?;
        let ahead = ring::ahead(words.len(), shape.hashes as usize);
        let fetch = |words: &[u64], hash| {
            shape.all(hash, |position| {
                bits::prefetch(&words[(position / 64) as usize]);
                true
            });
        };
        ring::inserting(words, ahead, batch, fetch, |words, hash| shape.set(words, hash));
        Some(())
    }
}

impl SharedInsert for Bloom {
    fn insert_one_shared(&self, hash: u64) -> bool {
        let words = self.base.words().shared();
        let mut new = false;
        self.shape.all(hash, |position| {
            new |= bits::set_shared(&words[(position / 64) as usize], 1 << (position % 64));
            true
        });
        new
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = None;
        self.shape.all(hash, |position| {
            found = self.base.unmarked((position / 64) as usize);
            found.is_none()
        });
        found
    }

    fn fetch(&self, hash: u64) {
        self.shape.fetch(self.base.words().shared(), hash, self.shape.hashes);
    }

    fn ahead(&self) -> usize {
        ring::ahead(self.base.words().shared().len(), self.shape.hashes as usize)
    }
}

impl Fold for Bloom {
    fn units(&self) -> u64 {
        self.shape.range
    }

    fn folded_geometry(&self, factor: u64) -> Result<Geometry> {
        bitwise::check_factor(factor, self.shape.range)?;
        let Geometry { bits, hashes, words, .. } = *self.base.geometry();
        Geometry::of_bits(bits / factor, hashes, words)
    }

    /// Positions that were scaled down from the hash by multiplication fold by neighbours: p becomes p / factor.
    /// Positions that are remainders fold by slices: p becomes p mod (range / factor).
    fn fold_units(&mut self, factor: u64) -> Result<()> {
        let Shape { range, stride, derivation, .. } = self.shape;
        let geometry = self.folded_geometry(factor)?;
        let small = range / factor;
        let shape = Shape::of(&geometry).ok_or(Status::Internal)?;
        let mut folded = Words::zeroed(geometry.payload_bytes)?;
        let words = folded.exclusive().ok_or(Status::Internal)?;
        // The padding of a payload that was not verified may hold anything.
        let bits = self.base.geometry().bits;
        for position in bits::ones(self.base.words().shared()).take_while(|position| *position < bits) {
            let (slice, place) = if stride == 0 { (0, position) } else { (position / range, position % range) };
            let place = if derivation.is_remainder() { place % small } else { place / factor };
            bits::set(words, slice * small + place);
        }
        self.base.replace(geometry, folded);
        self.shape = shape;
        Ok(())
    }
}
