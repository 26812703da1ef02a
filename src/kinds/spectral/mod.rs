//! The kind `spectral`, the spectral Bloom filter: wide counters that say how often keys came, and three methods to
//! keep them.
//!
//! Cohen and Matias, "Spectral Bloom filters", 2003. With every method a key may be there if all of its counters are
//! above 0.
//!
//! *Minimum selection*: an insertion adds to all counters of the key, and the key's count is the least of them. That is
//! the kind `counting` with wider counters. A count is too high exactly if all counters of the key are shared, at about
//! the false-positive rate, and never too low.
//!
//! *Minimal increase*: an insertion raises those counters of the key that are below its new count, and no others.
//! Counts are never too low either; fewer counts are too high, and by less. But a counter does not say whose insertions
//! it counts, so nothing can be removed. Merging adds counters, as with minimum selection, and counts stay upper
//! bounds, because each is the sum of two upper bounds.
//!
//! *Recurring minimum*: as minimum selection, but a third of the counters is a second array. If only one counter of a
//! key has the least value, another key may share that counter and have raised it. If two counters have the least
//! value, both would have to be shared. So a key whose minimum is single when it is inserted goes to the second array
//! with that value. From then on it is also counted there, among few other keys. The count of a key is that of the
//! second array if the minimum is single and the second array has the key. Such a count may be too low, for a key that
//! only seems to be in the second array: counts are estimates. There is no union, because a union would have to know
//! which keys are there.
//!
//! A removal of an absent key is refused if a lookup says that the key is absent. Otherwise the removal takes from
//! other keys, as with the kind `counting`.
//!
//! Header: word 0 is the number of bits of a counter, and word 1 is the method.

mod arrays;

use crate::batch::ring::{self, Batch, Taken};
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Cardinality, Count, InBytes, Insert, Intersect, Kind, Merge, Overlap, Payload, Remove, Row,
    Sizes, Structure, Varying, change_many, change_one, facets, over_base,
};
use crate::error::{Result, Status};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::generic::bit_filter::bits_for;
use crate::kinds::bloom::layout::MAX_HASHES;
use crate::kinds::counting::layout::CounterLayout;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use arrays::{Arrays, Method, primary_words, second};
use core::sync::atomic::AtomicU64;

/// The parameter for the width of counters.
pub const COUNTER_BITS: Parameter = Parameter {
    name: "counter_bits",
    summary: "bits of a counter; a counter that reaches 2^counter_bits - 1 stays there",
    default: 16.0,
    domain: Domain::OneOf(&[8, 16, 32]),
    word: Some(0),
};

/// The parameter for the method.
pub const METHOD: Parameter = Parameter {
    name: "method",
    summary: "how insertions change the counters of a key: decides how exact counts are and whether keys can be removed",
    default: Method::MinimumSelection as u64 as f64,
    domain: Domain::Choice(&["minimum_selection", "minimal_increase", "recurring_minimum"]),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::SPECTRAL,
    name: "spectral",
    summary: "the spectral Bloom filter: wide counters that tell how often keys came, kept by one of three methods",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::INTERSECT)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT),
    parameters: &[&COUNTER_BITS, &METHOD],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(UNIT),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| {
        Arrays::of(geometry).map_or(1.0, |arrays| arrays.primary.false_positive_rate(keys))
    },
    // Two of the methods make counters that depend on the order of keys.
    is_canonical: false,
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        // The default is left out: counters of sixteen bits, kept by minimum selection, need no word.
        let [mut width, method] = [geometry.words[0] ^ COUNTER_BITS.default as u64, geometry.words[1]];
        packing.field(&mut width, 6);
        geometry.words[0] = width ^ COUNTER_BITS.default as u64;
        geometry.words[1] = method;
        packing.field(&mut geometry.words[1], 2);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let arrays = Arrays::of(&trailer.geometry(ROW.compact)?)?;
            Some(arrays.primary.contains_in(bytes, hash))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(arrays) = trailer.geometry(ROW.compact).and_then(|geometry| Arrays::of(&geometry)) {
                arrays.primary.visit_first_words(hash, &mut |word| bytes.fetch(word));
            }
        },
    }),
    varying: Varying {
        lacks: |geometry| match Method::of(geometry) {
            Some(Method::MinimalIncrease) => Capabilities::REMOVE,
            Some(Method::RecurringMinimum) => Capabilities::MERGE.with(Capabilities::INTERSECT),
            _ => Capabilities::NONE,
        },
        ..Varying::BASE
    },
    ..Row::BASE
};

/// The unit of exact sizes: a word, so that no counter lies in two words and each array ends with a word.
const UNIT: u64 = 64;

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let words = [spec.parameter(&COUNTER_BITS)?, spec.parameter(&METHOD)?, 0, 0, 0, 0, 0, 0];
    let (width, is_recurring) = (words[0], words[1] == Method::RecurringMinimum as u64);
    let all = |counters: u64| {
        let primary = counters.checked_mul(width)?.div_ceil(UNIT);
        // The least number of words whose primary part, two thirds of them, has `primary` words.
        let words = if is_recurring { (primary + primary.div_ceil(2) - 1).max(3) } else { primary };
        words.checked_mul(UNIT)
    };
    let counters = |bits| primary_words(bits / UNIT, is_recurring) * UNIT / width;
    let least = if is_recurring { 3 * UNIT } else { 1 };
    let (bits, hashes) = bits_for(size, MAX_HASHES, least, all, counters)?;
    Geometry::of_bits(bits, hashes, words)
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let arrays = base.known(Arrays::of(base.geometry()))?;
    Ok(try_box(Spectral { base, arrays })?)
}

/// A filter of counters.
struct Spectral {
    base: Base,
    arrays: Arrays,
}

impl Spectral {
    /// The words of the counters; the payload may have padding after them.
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.arrays.words]
    }

    /// The words of the primary counters, which say which keys there are.
    #[inline]
    fn primary(&self) -> &[AtomicU64] {
        &self.words()[..self.arrays.split]
    }

    /// Inserts a hash `times` times if [`Base::writable_at_once`] allows it.
    #[inline]
    fn insert(&mut self, hash: u64, times: u64) -> Option<bool> {
        let new = self.arrays.insert(&mut self.base.writable_at_once()?[..self.arrays.words], hash, times);
        self.base.add_count(times);
        Some(new)
    }

    /// Removes a hash up to `times` times if [`Base::writable_at_once`] allows it. Returns how often it was removed.
    #[inline]
    fn remove(&mut self, hash: u64, times: u64) -> Option<u64> {
        let removed = self.arrays.remove(&mut self.base.writable_at_once()?[..self.arrays.words], hash, times);
        self.base.subtract_count(removed);
        Some(removed)
    }

    /// Applies `change` to each hash of a batch, whose counters are fetched ahead.
    fn each(&mut self, batch: &mut dyn Batch, change: impl Fn(&Arrays, &mut [u64], u64) -> bool) -> Taken {
        let arrays = self.arrays;
        let Some(words) = self.base.writable_at_once() else { return Taken::none(Status::Internal.into()) };
        let fetch = |words: &[u64], hash| arrays.primary.fetch(&words[..arrays.split], hash, MAX_HASHES);
        let ahead = arrays.primary.ahead(arrays.words);
        ring::rolling(&mut words[..arrays.words], ahead, batch, fetch, ring::nothing, |words, hash| {
            change(&arrays, words, hash)
        });
        Taken::all(batch.keys())
    }
}

impl Payload for Spectral {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

impl Kind for Spectral {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.arrays.primary.contains(self.primary(), hash)
    }

    fn fetch(&self, hash: u64) {
        self.arrays.primary.visit_first_words(hash, &mut |word| ring::fetch_word(self.primary(), word));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.arrays.primary.contains_many(self.primary(), batch);
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let mut measure = self.arrays.primary.measure(self.primary(), progress);
        if let Some(array) = &self.arrays.secondary {
            measure.saturated += array.cells().tally(&self.words()[self.arrays.split..], progress).1;
        }
        measure
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = None;
        self.arrays.primary.visit_words(hash, &mut |word| {
            found = self.base.unmarked(word);
            found.is_none()
        });
        if let (None, Some(array)) = (found, &self.arrays.secondary) {
            array.visit_words(second(hash), &mut |word| {
                found = self.base.unmarked(self.arrays.split + word);
                found.is_none()
            });
        }
        found
    }

    facets!(Insert, Count, Cardinality, Overlap);

    fn as_remove(&mut self) -> Option<&mut dyn Remove> {
        (self.arrays.method != Method::MinimalIncrease).then_some(self)
    }

    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        (self.arrays.method != Method::RecurringMinimum).then_some(self)
    }

    fn as_intersect(&mut self) -> Option<&mut dyn Intersect> {
        (self.arrays.method != Method::RecurringMinimum).then_some(self)
    }
}

impl Insert for Spectral {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        self.insert_times(hash, 1)
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash, 1)
    }

    fn insert_times(&mut self, hash: u64, times: u64) -> Result<bool> {
        match self.insert(hash, times) {
            Some(new) => Ok(new),
            None => change_one(self, hash, |filter| filter.insert(hash, times))?.ok_or_else(|| Status::Internal.into()),
        }
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let taken = filter.each(batch, |arrays, words, hash| arrays.insert(words, hash, 1));
            filter.base.add_count(taken.keys as u64);
            taken
        })
    }
}

impl Remove for Spectral {
    #[inline]
    fn remove_one(&mut self, hash: u64) -> Result<bool> {
        self.remove_times(hash, 1).map(|removed| removed > 0)
    }

    fn remove_times(&mut self, hash: u64, times: u64) -> Result<u64> {
        match self.remove(hash, times) {
            Some(removed) => Ok(removed),
            None => change_one(self, hash, |filter| filter.remove(hash, times))?.ok_or_else(|| Status::Internal.into()),
        }
    }

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let removed = core::cell::Cell::new(0);
            let taken = filter.each(batch, |arrays, words, hash| {
                let is_removed = arrays.remove(words, hash, 1) > 0;
                removed.set(removed.get() + u64::from(is_removed));
                is_removed
            });
            filter.base.subtract_count(removed.get());
            taken
        })
    }
}

impl Count for Spectral {
    fn greatest_count(&self) -> u64 {
        self.arrays.cells().greatest()
    }

    fn is_upper_bound(&self) -> bool {
        self.arrays.method != Method::RecurringMinimum
    }

    #[inline]
    fn count_one(&self, hash: u64) -> u64 {
        self.arrays.count(self.words(), hash)
    }

    fn count_many(&self, hashes: &[u64], counts: &mut [u64]) {
        if self.arrays.secondary.is_none() {
            return self.arrays.primary.least_of_many(self.primary(), hashes, counts);
        }
        for (hash, count) in hashes.iter().zip(counts) {
            *count = self.count_one(*hash);
        }
    }
}

impl Merge for Spectral {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        let Arrays { words, .. } = self.arrays;
        let cells = self.arrays.cells();
        cells.add_all(&mut self.base.writable()?[..words], other.base().words().shared());
        Ok(())
    }
}

impl Intersect for Spectral {
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()> {
        let Arrays { words, .. } = self.arrays;
        let cells = self.arrays.cells();
        cells.keep_smaller(&mut self.base.writable()?[..words], other.base().words().shared());
        Ok(())
    }
}

impl Cardinality for Spectral {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(self.arrays.primary.cells().tally(self.primary(), &mut |_| {}).0)
    }

    fn of_taken(&self, taken: u64) -> Option<f64> {
        self.arrays.primary.keys_of(taken)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        self.arrays.primary.standard_error(keys)
    }
}

impl Overlap for Spectral {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        let others = &other.base().words().shared()[..self.arrays.split];
        self.of_taken(self.arrays.primary.cells().taken_of_union(self.primary(), others))
    }
}
