//! The kind `counting`, the counting Bloom filter: keys can be removed, and counted up to what a counter holds.
//! [`layout`] has the structure.
//!
//! The filter refuses the removal of a key if a lookup says that the key is absent; then nothing changes. If a lookup
//! of an absent key says "maybe", at the false-positive rate, the removal subtracts 1 from counters of other keys. With
//! k counters a key, w such removals lose at most k w keys, and make counts at most w too low. A key is lost when one
//! of its counters becomes 0. A counter from which 1 was wrongly subtracted x times becomes 0 only if it counts at most
//! x keys.
//!
//! The kind has no lock-free insertion, which would need a compare-exchange at every counter, even for known keys.
//! Threads that insert the same keys would then wait for each other's lines, while in a bit array they only read these
//! lines. And a removal would have to exclude all other calls. The kind cannot fold either: if two counters of a key
//! became one, it would count the key twice, while an insertion counts it once and a removal takes it away once.
//!
//! Header: word 0 is the number of bits of a counter, and word 1 says where the counters of a key are.

pub mod layout;
pub mod sizing;

use crate::batch::ring::{self, Batch, Taken};
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Cardinality, Count, InBytes, Insert, Intersect, Kind, Merge, Overlap, Payload, Remove, Row,
    Sizes, Structure, change_many, facets, insert_of_words, over_base, remove_of_words,
};
use crate::error::{Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::generic::bit_filter::{bits_for, units_for};
use crate::kinds::bloom::layout::MAX_HASHES;
use crate::simd::{self, Instructions};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;
use layout::{BLOCK_BITS, Blocked, CounterLayout, Scattered, WIDTHS};

/// The parameter for the width of counters.
pub const COUNTER_BITS: Parameter = Parameter {
    name: "counter_bits",
    summary: "bits of a counter; a counter that reaches 2^counter_bits - 1 stays there",
    default: 4.0,
    domain: Domain::Integer(*WIDTHS.start() as u64, *WIDTHS.end() as u64),
    word: Some(0),
};

/// The parameter that says where the counters of a key are.
pub const LAYOUT: Parameter = Parameter {
    name: "layout",
    summary: "where the counters of a key are: anywhere, or all in one cache line (counter_bits 2, 4, 8 or 16)",
    default: 0.0,
    domain: Domain::Choice(&["classic", "blocked"]),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::COUNTING,
    name: "counting",
    summary: "the counting Bloom filter: removes keys and counts them; a counter wherever bloom or blocked has a bit",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::INTERSECT)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT),
    parameters: &[&COUNTER_BITS, &LAYOUT],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(UNIT),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| match is_blocked(geometry) {
        true => 1.0,
        false => f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    },
    false_positive_rate: |geometry, keys| {
        with_layout(geometry, |counters| counters.false_positive_rate(keys)).unwrap_or(1.0)
    },
    least_rate: |spec, _| if spec.parameter(&LAYOUT).is_ok_and(|layout| layout == 1) { sizing::MIN_RATE } else { 0.0 },
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        // The default is left out: counters of four bits, anywhere, need no word.
        let [mut width, layout] = [geometry.words[0] ^ COUNTER_BITS.default as u64, geometry.words[1]];
        packing.field(&mut width, 5);
        geometry.words[0] = width ^ COUNTER_BITS.default as u64;
        geometry.words[1] = layout;
        packing.field(&mut geometry.words[1], 1);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            with_layout(&trailer.geometry(ROW.compact)?, |counters| counters.contains_in(bytes, hash))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(geometry) = trailer.geometry(ROW.compact) {
                let mut left = FETCHED_WORDS;
                with_layout(&geometry, |counters| {
                    counters.visit_words(hash, &mut |word| {
                        bytes.fetch(word);
                        left -= 1;
                        left > 0
                    });
                });
            }
        },
    }),
    ..Row::BASE
};

/// The unit of exact sizes: a counter of the default width. Bits that fill no counter and no block stay 0.
const UNIT: u64 = COUNTER_BITS.default as u64;

/// Whether all counters of a key are in one line.
fn is_blocked(geometry: &Geometry) -> bool {
    geometry.words[1] == 1
}

/// How many words of a key are fetched before its counters are read.
const FETCHED_WORDS: u32 = 4;

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let width = spec.parameter(&COUNTER_BITS)?;
    let words = [width, spec.parameter(&LAYOUT)?, 0, 0, 0, 0, 0, 0];
    let (bits, hashes) = if words[1] == 1 { blocked(width, size)? } else { classic(width, size)? };
    Geometry::of_bits(bits, hashes, words)
}

/// Bits, and counters a key, for counters that are anywhere.
fn classic(width: u64, size: Size) -> Result<(u64, u32)> {
    let bits = |counters: u64| counters.checked_mul(width)?.checked_next_multiple_of(UNIT);
    bits_for(size, MAX_HASHES, width, bits, |bits| bits / width)
}

/// Bits, and counters a key, for counters in blocks.
fn blocked(width: u64, size: Size) -> Result<(u64, u32)> {
    const LANES: u32 = crate::kinds::blocked::sizing::MAX_HASHES;
    if !width.is_power_of_two() {
        return Err(error!(Contradiction, "counter_bits = {width} is not 2, 4, 8 or 16, as layout = blocked has them"));
    }
    let places = 32 / width as u32;
    let (blocks, hashes) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let least = sizing::size_for(capacity, rate, places);
            (units_for(least.map(|size| size.blocks), false, size)?, least.map_or(1, |size| size.hashes))
        }
        Size::Exact { bits, .. } if bits < BLOCK_BITS => {
            return Err(error!(
                Contradiction,
                "bits = {bits} are no block of {BLOCK_BITS}, as layout = blocked has them"
            ));
        }
        Size::Exact { hashes, .. } if hashes > LANES => {
            return Err(error!(OutOfRange, "hashes = {hashes} is above {LANES}, the most of layout = blocked"));
        }
        Size::Exact { capacity, bits, hashes: 0 } => {
            let blocks = bits / BLOCK_BITS;
            (blocks, sizing::optimal_hashes(blocks, places, capacity))
        }
        Size::Exact { bits, hashes, .. } => return Ok((bits, hashes)),
    };
    // A saturated product is refused later as too large.
    Ok((blocks.saturating_mul(BLOCK_BITS), hashes))
}

/// The result of `work` for the counters of a payload with this geometry, if the geometry is one of this kind.
fn with_layout<R>(geometry: &Geometry, work: impl FnOnce(&dyn CounterLayout) -> R) -> Option<R> {
    match is_blocked(geometry) {
        true => Some(work(&layout_of::<Blocked>(geometry, simd::best())?)),
        false => Some(work(&layout_of::<Scattered>(geometry, simd::best())?)),
    }
}

/// The layout that a geometry describes, if the geometry is one of this kind with this layout.
fn layout_of<L: CounterLayout>(geometry: &Geometry, instructions: Instructions) -> Option<L> {
    L::of(geometry, instructions).filter(|_| geometry.is_of_bits() && geometry.bits.is_multiple_of(UNIT))
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    if is_blocked(base.geometry()) { open_as::<Blocked>(base) } else { open_as::<Scattered>(base) }
}

fn open_as<L: CounterLayout>(base: Base) -> Result<Box<dyn Kind>> {
    let counters = base.known(layout_of::<L>(base.geometry(), base.instructions()))?;
    Ok(try_box(Counting { base, words: counters.cells().words(), counters })?)
}

/// A filter of counters.
struct Counting<L> {
    base: Base,
    counters: L,
    /// How many words the counters have; the payload may have padding after them.
    words: usize,
}

impl<L: CounterLayout> Counting<L> {
    /// The words of the counters.
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.words]
    }

    /// Counters and words, if [`Base::writable_at_once`] allows it.
    #[inline]
    fn parts(&mut self) -> Option<(&L, &mut [u64])> {
        let words = &mut self.base.writable_at_once()?[..self.words];
        Some((&self.counters, words))
    }

    /// Inserts a hash if [`Base::writable_at_once`] allows it.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<bool> {
        let (counters, words) = self.parts()?;
        let new = counters.add(words, hash);
        self.base.add_count(1);
        Some(new)
    }

    /// Removes a hash if [`Base::writable_at_once`] allows it.
    #[inline]
    fn remove(&mut self, hash: u64) -> Option<bool> {
        let (counters, words) = self.parts()?;
        let removed = counters.subtract(words, hash);
        self.base.subtract_count(removed.into());
        Some(removed)
    }
}

impl<L: CounterLayout> Payload for Counting<L> {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        let cells = self.counters.cells().slots;
        self.base.check_zero_from(cells.count * u64::from(cells.width))
    }
}

impl<L: CounterLayout> Kind for Counting<L> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.counters.contains(self.words(), hash)
    }

    fn fetch(&self, hash: u64) {
        let mut left = FETCHED_WORDS;
        self.counters.visit_words(hash, &mut |word| {
            ring::fetch_word(self.words(), word);
            left -= 1;
            left > 0
        });
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.counters.contains_many(self.words(), batch);
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.counters.measure(self.words(), progress)
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = None;
        self.counters.visit_words(hash, &mut |word| {
            found = self.base.unmarked(word);
            found.is_none()
        });
        found
    }

    facets!(Insert, Remove, Count, Merge, Intersect, Cardinality, Overlap);
}

impl<L: CounterLayout> Insert for Counting<L> {
    insert_of_words!();

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let Some((counters, words)) = filter.parts() else { return Taken::none(Status::Internal.into()) };
            counters.add_many(words, batch);
            filter.base.add_count(batch.keys() as u64);
            Taken::all(batch.keys())
        })
    }
}

impl<L: CounterLayout> Remove for Counting<L> {
    remove_of_words!();

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let Some((counters, words)) = filter.parts() else { return Taken::none(Status::Internal.into()) };
            let removed = counters.subtract_many(words, batch);
            filter.base.subtract_count(removed);
            Taken::all(batch.keys())
        })
    }
}

impl<L: CounterLayout> Count for Counting<L> {
    fn greatest_count(&self) -> u64 {
        self.counters.cells().greatest()
    }

    #[inline]
    fn count_one(&self, hash: u64) -> u64 {
        self.counters.least(self.words(), hash)
    }

    fn count_many(&self, hashes: &[u64], counts: &mut [u64]) {
        self.counters.least_of_many(self.words(), hashes, counts);
    }
}

impl<L: CounterLayout> Merge for Counting<L> {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        let (cells, words) = (self.counters.cells(), self.words);
        cells.add_all(&mut self.base.writable()?[..words], other.base().words().shared());
        Ok(())
    }
}

impl<L: CounterLayout> Intersect for Counting<L> {
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()> {
        let (cells, words) = (self.counters.cells(), self.words);
        cells.keep_smaller(&mut self.base.writable()?[..words], other.base().words().shared());
        Ok(())
    }
}

impl<L: CounterLayout> Cardinality for Counting<L> {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(self.counters.cells().tally(self.words(), &mut |_| {}).0)
    }

    fn of_taken(&self, taken: u64) -> Option<f64> {
        self.counters.keys_of(taken)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        self.counters.standard_error(keys)
    }
}

impl<L: CounterLayout> Overlap for Counting<L> {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        let others = &other.base().words().shared()[..self.words];
        self.counters.keys_of(self.counters.cells().taken_of_union(self.words(), others))
    }
}
