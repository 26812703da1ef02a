//! The kind `exact_bits`, a plain bit array over the integers below a bound. If the bound is small and many of the
//! integers are there, it is the smallest set of all. It has no false positives.
//!
//! Keys are integers and are not hashed: key p is bit p, and `bits` of a spec is the universe, the number of integers
//! that can be keys (a spec without it has the universe of its capacity). A byte string of 8 bytes is a little-endian
//! integer; others are refused. An integer past the universe is refused by an insertion, and absent for a lookup.
//!
//! A key is there or not: a second insertion adds nothing that a removal would have to take away.

use crate::batch::ring::{self, Batch, Taken};
use crate::bits::{self, PIECE_WORDS};
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Cardinality, Count, Hashing, InBytes, Insert, Intersect, Kind, Merge, Overfill, Overlap,
    Payload, Remove, Row, SharedInsert, Sizes, Structure, change_many, change_one, facets, over_base,
};
use crate::error::{Error, Result, error};
use crate::format::Geometry;
use crate::spec::{KindId, Size};
use crate::storage::try_box;
use core::sync::atomic::{AtomicU64, Ordering};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::EXACT_BITS,
    name: "exact_bits",
    summary: "a bit for each integer below a bound: no false positives; for keys that are dense integers",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::INTERSECT)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT)
        .with(Capabilities::INSERT_SHARED),
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(1),
    hashes: (1, 1),
    geometry: |_, size| match size {
        Size::Rate { capacity: universe, .. } | Size::Exact { bits: universe, .. } => {
            Geometry::of_bits(universe, 1, [0; 8])
        }
    },
    false_positive_rate: |_, _| 0.0,
    overfill: Overfill::Refuses,
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, key| {
            let universe = universe_of(&trailer.geometry(ROW.compact)?)?;
            Some(key < universe && bytes.word((key / 64) as usize) >> (key % 64) & 1 == 1)
        },
        fetch: |_, bytes, key| bytes.fetch((key / 64) as usize),
    }),
    hashing: Hashing { universe: Some(|geometry| geometry.bits), ..Hashing::BASE },
    ..Row::BASE
};

/// The universe of a payload with this geometry, if it is one of this kind.
fn universe_of(geometry: &Geometry) -> Option<u64> {
    let is_one = geometry.hashes == 1 && geometry.words == [0; 8] && geometry.bits > 0 && geometry.is_of_bits();
    is_one.then_some(geometry.bits)
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let universe = base.known(universe_of(base.geometry()))?;
    Ok(try_box(ExactBits { universe, base })?)
}

/// A bit array.
struct ExactBits {
    base: Base,
    universe: u64,
}

impl ExactBits {
    /// The words with the bits; the payload may have padding after them.
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.universe.div_ceil(64) as usize]
    }

    /// Inserts a key if [`Base::writable_at_once`] allows it and the key is in the universe.
    #[inline]
    fn insert(&mut self, key: u64) -> Option<bool> {
        if key >= self.universe {
            return None;
        }
        let new = bits::set(self.base.writable_at_once()?, key);
        self.base.add_count(1);
        Some(new)
    }

    /// Removes a key if [`Base::writable_at_once`] allows it.
    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        let words = self.base.writable_at_once()?;
        if key >= self.universe {
            return Some(false);
        }
        let (word, mask) = (&mut words[(key / 64) as usize], 1 << (key % 64));
        let removed = *word & mask != 0;
        *word &= !mask;
        self.base.subtract_count(removed.into());
        Some(removed)
    }
}

impl Payload for ExactBits {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.universe)
    }
}

impl Kind for ExactBits {
    #[inline]
    fn contains_hash(&self, key: u64) -> bool {
        key < self.universe && bits::test(self.words(), key)
    }

    fn fetch(&self, key: u64) {
        ring::fetch_word(self.words(), (key / 64) as usize);
    }

    /// The rate is 0, because there are no false positives.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let mut ones = 0;
        for piece in self.words().chunks(PIECE_WORDS) {
            ones += bits::count_ones(piece);
            progress(size_of_val(piece) as u64);
        }
        // An unverified payload may hold anything after the last bit.
        let last = self.words().len() as u64 * 64;
        Measure::of_bits(ones - bits::count_ones_in(self.words(), self.universe, last), self.universe, 0.0)
    }

    fn unmarked(&self, key: u64) -> Option<usize> {
        if key < self.universe { self.base.unmarked((key / 64) as usize) } else { None }
    }

    fn refusal(&self, key: u64) -> Error {
        error!(OutOfRange, "key = {key} is not less than {}, the universe of the exact_bits filter", self.universe)
    }

    facets!(Insert, SharedInsert, Remove, Count, Merge, Intersect, Cardinality, Overlap);
}

impl Insert for ExactBits {
    #[inline]
    fn insert_one(&mut self, key: u64) -> Result<bool> {
        match self.insert(key) {
            Some(new) => Ok(new),
            None => change_one(self, key, |filter| filter.insert(key))?.ok_or_else(|| self.refusal(key)),
        }
    }

    #[inline]
    fn insert_at_once(&mut self, key: u64) -> Option<bool> {
        self.insert(key)
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            crate::contract::one_by_one(batch, |key| filter.insert(key).ok_or_else(|| filter.refusal(key)))
        })
    }
}

impl SharedInsert for ExactBits {
    fn insert_one_shared(&self, key: u64) -> Option<bool> {
        let word = self.words().get((key / 64) as usize).filter(|_| key < self.universe)?;
        Some(bits::set_shared(word, 1 << (key % 64)))
    }

    fn insert_many_shared(&self, batch: &mut dyn Batch) -> Taken {
        crate::contract::one_by_one(batch, |key| self.insert_one_shared(key).ok_or_else(|| self.refusal(key)))
    }
}

impl Remove for ExactBits {
    #[inline]
    fn remove_one(&mut self, key: u64) -> Result<bool> {
        match self.remove(key) {
            Some(removed) => Ok(removed),
            None => change_one(self, key, |filter| filter.remove(key))?.ok_or_else(|| crate::Status::Internal.into()),
        }
    }

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            crate::contract::one_by_one(batch, |key| filter.remove(key).ok_or_else(|| crate::Status::Internal.into()))
        })
    }
}

impl Count for ExactBits {
    fn greatest_count(&self) -> u64 {
        1
    }

    fn count_one(&self, key: u64) -> u64 {
        self.contains_hash(key).into()
    }
}

impl Merge for ExactBits {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        bits::unite(self.base.writable()?, other.base().words().shared());
        Ok(())
    }
}

impl Intersect for ExactBits {
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()> {
        for (word, other) in self.base.writable()?.iter_mut().zip(other.base().words().shared()) {
            *word &= other.load(Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Exact: no errors.
impl Cardinality for ExactBits {
    fn of_payload(&self) -> Option<f64> {
        Some(self.measure_with(&mut |_| {}).taken as f64)
    }

    fn of_taken(&self, taken: u64) -> Option<f64> {
        Some(taken as f64)
    }

    fn standard_error(&self, _keys: f64) -> f64 {
        0.0
    }
}

impl Overlap for ExactBits {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        Some(bits::count_ones_of_union(self.words(), other.base().words().shared()) as f64)
    }
}
