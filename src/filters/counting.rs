//! The kind `counting`, the counting Bloom filter: keys can be removed, and counted up to 15.
//! [`crate::layouts::counters`] has the structure.
//!
//! A removal of a key that is not there is refused where the filter says so: nothing changes then. Where it says
//! "maybe", at the false-positive rate, it cannot know, and takes one from counters of other keys. With k counters a
//! key, w such removals lose at most k w keys, and make counts at most w too low: keys are lost with a counter that
//! comes to 0, and one from which too much was taken x times does so only if it counts at most x keys.
//!
//! There is no lock-free insertion. It would need a compare-exchange at every counter, known keys included, so that
//! threads which insert the same keys wait for each other's lines, where in a bit array they only read them; and a
//! removal would have to keep the others out. And no folding: two counters of a key that become one would count it
//! twice there, where an insertion counts it once and a removal takes it away once.

use super::bit_filter::units_for;
use crate::bits;
use crate::bits::ring::{self, Batch, Taken};
use crate::error::{Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::kind::{
    Base, Capabilities, Cardinality, Count, InBytes, Insert, Intersect, Kind, Merge, Overlap, Payload, Remove, Row,
    Sizes, Structure, change_many, change_one,
};
use crate::layouts::Measure;
use crate::layouts::classic::MAX_HASHES;
use crate::layouts::counters::{self, BITS, Counters, GREATEST};
use crate::sizing;
use crate::spec::{KindId, Size, Spec};
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(5),
    name: "counting",
    summary: "the counting Bloom filter: removes keys, and counts each up to 15; four times the bits of bloom",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::INTERSECT)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT),
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(BITS),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| {
        Counters::of(geometry).map_or(1.0, |counters| counters.false_positive_rate(keys))
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| Some(counters_of(&trailer.geometry(ROW.compact)?)?.contains_in(bytes, hash)),
        fetch: |trailer, bytes, hash| {
            if let Some(counters) = trailer.geometry(ROW.compact).as_ref().and_then(counters_of) {
                counters.fetch_first(hash, |word| bytes.fetch(word));
            }
        },
    }),
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(_: &Spec, size: Size) -> Result<Geometry> {
    let (bits, hashes) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let size = sizing::bloom::size_for(capacity, rate, MAX_HASHES);
            let bits = size.and_then(|size| size.bits.checked_mul(BITS));
            (units_for(bits, false, capacity, rate)?, size.map_or(1, |size| size.hashes))
        }
        Size::Exact { capacity, bits, hashes: 0 } => {
            (bits, sizing::bloom::optimal_hashes(bits / BITS, capacity, MAX_HASHES))
        }
        Size::Exact { bits, hashes, .. } => (bits, hashes),
    };
    Geometry::of_bits(bits, hashes, [0; 8])
}

/// The counters of a payload with this geometry, if it is one of this kind.
fn counters_of(geometry: &Geometry) -> Option<Counters> {
    Counters::of(geometry).filter(|_| geometry.is_of_bits())
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    match counters_of(base.geometry()) {
        Some(counters) => Ok(try_box(Counting { base, counters })?),
        None => Err(base.foreign_geometry()),
    }
}

/// A filter of counters.
struct Counting {
    base: Base,
    counters: Counters,
}

impl Counting {
    /// The words of the counters; the payload may have padding after them.
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.counters.words()]
    }

    /// Counters and words, for a change.
    #[inline]
    fn parts(&mut self) -> Option<(&Counters, &mut [u64])> {
        let words = &mut self.base.writable_at_once()?[..self.counters.words()];
        Some((&self.counters, words))
    }

    /// Inserts a hash where [`Base::writable_at_once`] allows it.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<bool> {
        let (counters, words) = self.parts()?;
        let new = counters.add(words, hash);
        self.base.add_count(1);
        Some(new)
    }

    /// Removes a hash where [`Base::writable_at_once`] allows it.
    #[inline]
    fn remove(&mut self, hash: u64) -> Option<bool> {
        let (counters, words) = self.parts()?;
        let removed = counters.subtract(words, hash);
        self.base.subtract_count(removed.into());
        Some(removed)
    }
}

impl Payload for Counting {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check_payload(&self) -> Result<()> {
        let bits = self.base.geometry().bits;
        if bits::is_zero_from(self.base.words().shared(), bits) {
            return Ok(());
        }
        Err(error!(Corrupt, "counters after the last one, {}, are not 0", bits / BITS))
    }
}

impl Kind for Counting {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.counters.contains(self.words(), hash)
    }

    fn fetch(&self, hash: u64) {
        self.counters.fetch_first(hash, |word| ring::fetch_word(self.words(), word));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.counters.contains_many(self.words(), batch);
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.counters.measure(self.words(), progress)
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = None;
        self.counters.visit_words(hash, |word| {
            found = self.base.unmarked(word);
            found.is_none()
        });
        found
    }

    fn as_insert(&mut self) -> Option<&mut dyn Insert> {
        Some(self)
    }

    fn as_remove(&mut self) -> Option<&mut dyn Remove> {
        Some(self)
    }

    fn as_count(&self) -> Option<&dyn Count> {
        Some(self)
    }

    fn as_merge(&mut self) -> Option<&mut dyn Merge> {
        Some(self)
    }

    fn as_intersect(&mut self) -> Option<&mut dyn Intersect> {
        Some(self)
    }

    fn as_cardinality(&self) -> Option<&dyn Cardinality> {
        Some(self)
    }

    fn as_overlap(&self) -> Option<&dyn Overlap> {
        Some(self)
    }
}

impl Insert for Counting {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        match self.insert(hash) {
            Some(new) => Ok(new),
            None => change_one(self, hash, |filter| filter.insert(hash))?.ok_or_else(|| Status::Internal.into()),
        }
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash)
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let Some((counters, words)) = filter.parts() else { return Taken::none(Status::Internal.into()) };
            counters.add_many(words, batch);
            filter.base.add_count(batch.keys() as u64);
            Taken::all(batch.keys())
        })
    }
}

impl Remove for Counting {
    #[inline]
    fn remove_one(&mut self, hash: u64) -> Result<bool> {
        match self.remove(hash) {
            Some(removed) => Ok(removed),
            None => change_one(self, hash, |filter| filter.remove(hash))?.ok_or_else(|| Status::Internal.into()),
        }
    }

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let Some((counters, words)) = filter.parts() else { return Taken::none(Status::Internal.into()) };
            let removed = counters.subtract_many(words, batch);
            filter.base.subtract_count(removed);
            Taken::all(batch.keys())
        })
    }
}

impl Count for Counting {
    fn greatest_count(&self) -> u64 {
        GREATEST
    }

    #[inline]
    fn count_one(&self, hash: u64) -> u64 {
        self.counters.least(self.words(), hash)
    }

    fn count_many(&self, hashes: &[u64], counts: &mut [u64]) {
        self.counters.least_of_many(self.words(), hashes, counts);
    }
}

impl Merge for Counting {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        counters::add_all(self.base.writable()?, other.base().words().shared());
        Ok(())
    }
}

impl Intersect for Counting {
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()> {
        counters::keep_smaller(self.base.writable()?, other.base().words().shared());
        Ok(())
    }
}

impl Cardinality for Counting {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(self.counters.taken(self.words()))
    }

    fn of_taken(&self, taken: u64) -> Option<f64> {
        self.counters.keys_of(taken)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        self.counters.standard_error(keys)
    }
}

impl Overlap for Counting {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        self.counters.keys_of(self.counters.taken_of_union(self.words(), other.base().words().shared()))
    }
}
