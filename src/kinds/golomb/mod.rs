//! The kind `golomb`, a Golomb-coded set with a sampled index. The kind is static: a filter is built from all of its
//! keys, and is near the bound of information for any rate. A lookup reads an index and part of a bucket.
//!
//! Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009. A key is stored as one number:
//! its hash, reduced to the numbers below a range F ([`layout`]). With n keys a lookup of another key says true with
//! probability 1 - (1 - 1/F)^n. The set is a coded form of a Bloom filter with F bits and one hash, so filters of one
//! range can be merged, intersected and compared, and their numbers can be enumerated.
//!
//! Header: `bits` is the bits of head, index and codes. Word 0 is the range.

pub mod layout;
pub mod sizing;

use crate::batch::ring::{self, Batch, Few};
use crate::bits::{mix, reduce};
use crate::blocks::Measure;
use crate::contract::{
    Base, Build, Building, Built, Capabilities, Cardinality, Enumerate, Form, InBytes, Intersect, Kind, Merge,
    Overfill, Overlap, Payload, Row, Sizes, Structure, facets, over_base,
};
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::format::compact::Packing;
use crate::sizing::{bloom, rate_in_range};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::{Words, try_box};
use layout::{Combine, Reader, Shape};

/// The parameter for the range: how many numbers a key may be stored as.
pub const RANGE: Parameter = Parameter {
    name: "range",
    summary: "the range: hashes are stored as numbers below it; 0 is what capacity and rate need",
    default: 0.0,
    domain: Domain::Integer(0, sizing::MAX_RANGE),
    word: Some(0),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::GOLOMB,
    name: "golomb",
    summary: "a Golomb-coded set: built once from all keys, 1.5 to 2.1 bits a key over the bound, merged and listed",
    capabilities: Capabilities::MERGE
        .with(Capabilities::INTERSECT)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::ENUMERATE),
    parameters: &[&RANGE],
    structure: Structure::StaticFilter { open: |base| Ok(try_box(Golomb::new(base)?)?), build, order: mix },
    sizes: Sizes::ByKeys,
    hashes: (1, 1),
    geometry: |spec, size| {
        let (range, keys) = (range_of(spec, size)?, size.capacity());
        let bits = sizing::payload_bits(range, keys);
        let geometry = (bits < (1_u64 << 62) as f64).then(|| geometry_of(range, bits.ceil() as u64)).flatten();
        geometry.ok_or_else(|| size.too_large())
    },
    // Filters of one range can be merged, whatever they hold.
    identity: |geometry| Geometry { words: geometry.words, ..Geometry::default() },
    lines_per_lookup: |geometry| (geometry.payload_bytes as f64 / 64.0 - 1.0).clamp(1.0, 2.5),
    false_positive_rate: |geometry, keys| rate_in_range(geometry.words[0], keys),
    least_rate: |spec, keys| match spec.parameter(&RANGE) {
        Ok(0) | Err(_) => rate_in_range(sizing::MAX_RANGE, keys),
        Ok(range) => rate_in_range(range, keys),
    },
    overfill: Overfill::IsBuilt,
    compact: |packing, geometry| {
        let surplus = (u64::BITS - geometry.words[0].leading_zeros()).saturating_sub(sizing::RANGE_BITS);
        let (mut mantissa, mut surplus) = (geometry.words[0] >> surplus, u64::from(surplus));
        packing.field(&mut mantissa, sizing::RANGE_BITS);
        packing.field(&mut surplus, 4);
        geometry.words[0] = mantissa << surplus;
        Packing::PADDING(packing, geometry);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let (geometry, words) = (trailer.geometry(ROW.compact).filter(is_known)?, bytes.words()?);
            let shape = Shape::read(&geometry, words);
            Some(shape.is_none_or(|shape| Reader::new(&shape, words).contains(hash)))
        },
        fetch: |trailer, bytes, hash| {
            let geometry = trailer.geometry(ROW.compact).filter(is_known);
            if let (Some(geometry), Some(words)) = (geometry, bytes.words())
                && let Some(shape) = Shape::read(&geometry, words)
            {
                Reader::new(&shape, words).fetch_index(hash);
            }
        },
    }),
    building: Building {
        // Building keeps the gaps of the largest bucket, which has fewer than 128.
        build_memory: |_| 1024,
        // The lengths of codes may add up to six standard deviations more than expected, and the index has one bit more
        // for each entry.
        most_bytes: Some(|geometry, keys| {
            let range = geometry.words[0];
            let groups = sizing::buckets(range, sizing::rice_bits(range, keys.min(range))).div_ceil(sizing::GROUP);
            let bits = geometry.bits.saturating_add(64 + sizing::GROUP * groups + 6 * keys.isqrt());
            layout::payload_bytes(bits).unwrap_or(u64::MAX)
        }),
    },
    form: Form { moves_entries: true, ..Form::BASE },
    ..Row::BASE
};

/// The geometry of a payload of `bits` bits in this range; `None` past the address space.
fn geometry_of(range: u64, bits: u64) -> Option<Geometry> {
    let payload_bytes = layout::payload_bytes(bits)?;
    Some(Geometry { bits, hashes: 1, words: [range, 0, 0, 0, 0, 0, 0, 0], payload_bytes })
}

fn is_known(geometry: &Geometry) -> bool {
    let [range, ..] = geometry.words;
    sizing::is_range(range)
        && geometry.bits >= layout::HEAD_BITS
        && geometry_of(range, geometry.bits).as_ref() == Some(geometry)
}

/// The range that a spec asks for.
fn range_of(spec: &Spec, size: Size) -> Result<u64> {
    let asked = spec.parameter(&RANGE)?;
    if asked != 0 && !sizing::is_range(asked) {
        let (most, bits) = (sizing::MAX_RANGE, sizing::RANGE_BITS);
        return Err(error!(OutOfRange, "range = {asked} is not from 1 to {most} with {bits} significant bits"));
    }
    match size {
        // [`Row::least_rate`] has refused rates that this range does not reach.
        Size::Rate { .. } if asked != 0 => Ok(asked),
        Size::Rate { capacity, false_positive_rate } => {
            sizing::range_for(capacity, false_positive_rate).ok_or_else(|| size.too_large())
        }
        Size::Exact { capacity, bits, .. } => {
            let least = if asked == 0 { 1 } else { asked };
            let needed = sizing::payload_bits(least, capacity);
            if needed > bits as f64 {
                return Err(error!(
                    Contradiction,
                    "bits = {bits} are too few for capacity = {capacity}: range = {least} takes {}",
                    needed.ceil() as u64
                ));
            }
            Ok(if asked != 0 { asked } else { sizing::range_within(capacity, bits).unwrap_or(least) })
        }
    }
}

/// Makes the payload. How many bits the keys take is known only when they are coded. If a spec's bits do not hold the
/// codes, the range becomes a bit smaller.
fn build(build: &mut Build<u64>) -> Result<Built> {
    let size = build.size;
    let mut range = range_of(build.spec, size)?;
    let is_fixed = build.spec.parameter(&RANGE)? != 0;
    let mut passes = 0;
    loop {
        let (geometry, words) = coded(build, range, passes)?;
        passes = 3;
        match size {
            Size::Exact { bits, .. } if geometry.bits > bits && range > 1 && !is_fixed => {
                let surplus = (geometry.bits - bits) as f64 / build.records.count().max(1) as f64;
                let less = (range as f64 * (-surplus - 1e-3).exp2()) as u64;
                range = sizing::round_down(less.max(1));
            }
            _ => return Ok(Built { geometry, words }),
        }
    }
}

/// The payload for a range. Each payload takes three passes, and progress is counted on from `passes`.
fn coded(build: &mut Build<u64>, range: u64, mut passes: u64) -> Result<(Geometry, Words)> {
    let Build { records, progress, .. } = build;
    let all = records.count();
    layout::write(range, &mut |take| {
        let (mut done, mut last) = (passes * all, None);
        passes += 1;
        records.for_each(&mut |hashes| {
            for hash in hashes {
                let number = reduce(*hash, range);
                if last != Some(number) {
                    take(number)?;
                    last = Some(number);
                }
            }
            done += hashes.len() as u64;
            if progress((done / 3).min(all), all) { Ok(()) } else { Err(Status::Cancelled.into()) }
        })
    })
}

/// A Golomb-coded set over a payload.
struct Golomb {
    base: Base,
    /// The shape that the head of the payload says; `None` if the head does not fit this geometry.
    shape: Option<Shape>,
}

impl Golomb {
    fn new(base: Base) -> Result<Golomb> {
        if !is_known(base.geometry()) {
            return Err(base.foreign_geometry());
        }
        Ok(Golomb { shape: Shape::read(base.geometry(), base.words().shared()), base })
    }

    /// A reader of the payload; `None` if the payload's head does not fit this geometry.
    #[inline]
    fn reader(&self) -> Option<Reader<'_>> {
        Some(Reader::new(self.shape.as_ref()?, self.base.words().shared()))
    }

    /// The shape of the payload of this filter or of another.
    fn shape_of(base: &Base) -> Result<Shape> {
        Shape::read(base.geometry(), base.words().shared())
            .ok_or_else(|| error!(Corrupt, "the payload does not begin as one of a {} filter", ROW.name))
    }

    fn range(&self) -> u64 {
        self.base.geometry().words[0]
    }

    /// Replaces the filter's set by what `combine` makes of this set and another.
    fn become_of(&mut self, other: &dyn Kind, combine: Combine) -> Result<()> {
        self.base.writable()?;
        let (first, second) = (Golomb::shape_of(&self.base)?, Golomb::shape_of(other.base())?);
        let a = Reader::new(&first, self.base.words().shared());
        let b = Reader::new(&second, other.base().words().shared());
        let (geometry, words) = layout::write(self.range(), &mut |take| layout::combined(&a, &b, combine, take))?;
        self.base.replace(geometry, words);
        self.shape = Some(Golomb::shape_of(&self.base)?);
        Ok(())
    }
}

impl Payload for Golomb {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        Reader::new(&Golomb::shape_of(&self.base)?, self.base.words().shared()).check()
    }
}

impl Kind for Golomb {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.reader().is_none_or(|reader| reader.contains(hash))
    }

    fn fetch(&self, hash: u64) {
        if let Some(reader) = self.reader() {
            reader.fetch_index(hash);
        }
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        let Some(reader) = self.reader() else {
            return ring::rolling(&mut (), 0, batch, ring::nothing, ring::nothing, |_, _| true);
        };
        reader.contains_many(self.base.instructions(), batch);
    }

    fn contains_few(&self, few: &Few) -> Option<u64> {
        Some(self.reader()?.contains_few(self.base.instructions(), few))
    }

    /// The places that the measure counts are the numbers below the range. The payload itself says how many are taken,
    /// and a forged one may say more.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        progress(self.base.words().bytes());
        let values = self.shape.map_or(0, |shape| shape.values()).min(self.range());
        Measure::of_cells(values, self.range(), values as f64 / self.range() as f64)
    }

    facets!(Merge, Intersect, Cardinality, Overlap, Enumerate);
}

impl Merge for Golomb {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.become_of(other, Combine::Union)
    }
}

impl Intersect for Golomb {
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.become_of(other, Combine::Intersection)
    }
}

impl Cardinality for Golomb {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(self.shape?.values())
    }

    fn of_taken(&self, taken: u64) -> Option<f64> {
        bloom::cardinality_exact_base(self.range(), 1, taken)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        bloom::cardinality_standard_error(self.range(), 1, keys as u64)
    }
}

impl Overlap for Golomb {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        let shape = Golomb::shape_of(other.base()).ok()?;
        let (a, b) = (self.reader()?, Reader::new(&shape, other.base().words().shared()));
        let mut taken = 0;
        let counted = layout::combined(&a, &b, Combine::Union, &mut |_| {
            taken += 1;
            Ok(())
        });
        counted.ok().and_then(|()| self.of_taken(taken))
    }
}

impl Enumerate for Golomb {
    fn range(&self) -> u64 {
        Golomb::range(self)
    }

    fn stored(&self, hash: u64) -> u64 {
        reduce(mix(hash), Golomb::range(self))
    }

    fn stored_from(&self, from: u64, stored: &mut [u64], counts: Option<&mut [u64]>) -> usize {
        let Some(reader) = self.reader() else { return 0 };
        let mut count = 0;
        for (to, number) in stored.iter_mut().zip(reader.from(from)) {
            *to = number;
            count += 1;
        }
        if let Some(counts) = counts {
            counts[..count].fill(1);
        }
        count
    }
}
