//! The kind `variable_increment`, the counting Bloom filter with variable increments. Keys can be removed, and the
//! value of a cell rules out many absent keys. [`layout::Increments`] has the structure.
//!
//! The kind takes less memory than `counting` for the same rate, because a cell says more than that it is not empty. It
//! does not count keys, because sums of increments do not say how often a key is there.
//!
//! A removal of an absent key changes nothing if a lookup says that the key is absent. If a lookup says "maybe", at the
//! false-positive rate, the removal subtracts increments of other keys. Keys that share a cell with the removed key may
//! be lost, and are lost if the cell has few keys. A cell that has reached its greatest value, after 16 keys and more,
//! says "maybe" for ever, and removals leave it alone.
//!
//! Header: word 0 is the number of the sequence, and word 1 is the number of increments.

mod bytes;
pub mod layout;
pub mod sizing;

use crate::batch::ring::{self, Batch, Taken};
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Cardinality, InBytes, Insert, Kind, Merge, Overlap, Payload, Remove, Row, Sizes, Structure,
    change_many, facets, insert_of_words, over_base, remove_of_words,
};
use crate::error::{Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::kinds::counting::layout::CounterLayout;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use layout::{Increments, Sequence};
use sizing::MAX_HASHES;

/// The parameter for the sequence of increments.
pub const SEQUENCE: Parameter = Parameter {
    name: "sequence",
    summary: "the increments: an interval L to 2 L - 1 (d_l), or all sums of two or three of them differ (b_2, b_3)",
    default: 0.0,
    domain: Domain::Choice(&["d_l", "b_2", "b_3"]),
    word: Some(0),
};

/// The parameter for the number of increments.
pub const INCREMENTS: Parameter = Parameter {
    name: "increments",
    summary: "how many increments a key chooses from; 16 with sequence d_l only",
    default: 8.0,
    domain: Domain::OneOf(&[2, 4, 8, 16]),
    word: Some(1),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::VARIABLE_INCREMENT,
    name: "variable_increment",
    summary: "the counting Bloom filter with variable increments: removes keys in less memory than counting",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE),
    parameters: &[&SEQUENCE, &INCREMENTS],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(1),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| f64::from(geometry.hashes).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    // The formula is exact for one key, and nearly exact for many.
    rate_error: |_| 0.08,
    false_positive_rate: |geometry, keys| {
        Increments::of(geometry).map_or(1.0, |cells| {
            let count = cells.cells().slots.count;
            sizing::false_positive_rate(count, geometry.hashes, keys, &cells.refusals())
        })
    },
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        // The default is left out: eight increments of an interval need no word.
        let mut increments = geometry.words[1] ^ INCREMENTS.default as u64;
        packing.field(&mut increments, 5);
        geometry.words[1] = increments ^ INCREMENTS.default as u64;
        packing.field(&mut geometry.words[0], 2);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let cells = Increments::of(&trailer.geometry(ROW.compact)?)?;
            Some(cells.contains(hash, |word| bytes.word(word)))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(cells) = trailer.geometry(ROW.compact).and_then(|geometry| Increments::of(&geometry)) {
                cells.places().visit_first_words(hash, &mut |word| bytes.fetch(word));
            }
        },
    }),
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let words = [spec.parameter(&SEQUENCE)?, spec.parameter(&INCREMENTS)?, 0, 0, 0, 0, 0, 0];
    let Some(sequence) = Sequence::of(words[0], words[1]) else {
        return Err(error!(Contradiction, "increments = {} goes with sequence = d_l only", words[1]));
    };
    let (width, refusals) = (u64::from(sequence.width()), sequence.refusals());
    let (bits, hashes) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let least = sizing::size_for(capacity, rate, &refusals);
            let bits = least.and_then(|(cells, _)| cells.checked_mul(width));
            (crate::generic::bit_filter::units_for(bits, false, size)?, least.map_or(1, |(_, hashes)| hashes))
        }
        Size::Exact { bits, .. } if bits < width => {
            return Err(error!(Contradiction, "bits = {bits} hold no cell of these increments, which has {width}"));
        }
        Size::Exact { capacity, bits, hashes: 0 } => (bits, sizing::optimal_hashes(bits / width, capacity, &refusals)),
        Size::Exact { bits, hashes, .. } => (bits, hashes),
    };
    Geometry::of_bits(bits, hashes, words)
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let geometry = base.geometry();
    let cells =
        base.known(Increments::of(geometry).filter(|_| geometry.is_of_bits() && geometry.hashes <= MAX_HASHES))?;
    Ok(try_box(VariableIncrement { words: cells.cells().words(), cells, base })?)
}

/// A filter of cells to which keys add increments.
struct VariableIncrement {
    base: Base,
    cells: Increments,
    /// How many words the cells have; the payload may have padding after them.
    words: usize,
}

impl VariableIncrement {
    /// The words of the cells.
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.words]
    }

    /// Inserts a hash if [`Base::writable_at_once`] allows it.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<bool> {
        let words = &mut self.base.writable_at_once()?[..self.words];
        self.cells.places().fetch_together(words, hash);
        let new = self.cells.add(words, hash);
        self.base.add_count(1);
        Some(new)
    }

    /// Removes a hash if [`Base::writable_at_once`] allows it.
    #[inline]
    fn remove(&mut self, hash: u64) -> Option<bool> {
        let words = &mut self.base.writable_at_once()?[..self.words];
        self.cells.places().fetch_together(words, hash);
        let removed = self.cells.subtract(words, hash);
        self.base.subtract_count(removed.into());
        Some(removed)
    }

    /// Applies `change` to each hash of a batch, whose cells are fetched ahead.
    fn each(&mut self, batch: &mut dyn Batch, change: impl Fn(&Increments, &mut [u64], u64) -> bool) -> Taken {
        let cells = self.cells;
        let Some(words) = self.base.writable_at_once() else { return Taken::none(Status::Internal.into()) };
        let fetch = |words: &[u64], hash| cells.places().fetch(words, hash, MAX_HASHES);
        let ahead = cells.places().ahead(self.words);
        ring::rolling(&mut words[..self.words], ahead, batch, fetch, ring::nothing, |words, hash| {
            change(&cells, words, hash)
        });
        Taken::all(batch.keys())
    }
}

impl Payload for VariableIncrement {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        let cells = self.cells.cells().slots;
        self.base.check_zero_from(cells.count * u64::from(cells.width))
    }
}

impl Kind for VariableIncrement {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let words = self.words();
        self.cells.contains(hash, |word| words[word].load(Ordering::Relaxed))
    }

    fn fetch(&self, hash: u64) {
        self.cells.places().visit_first_words(hash, &mut |word| ring::fetch_word(self.words(), word));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        let (places, words) = (self.cells.places(), self.words());
        let ahead = places.ahead(self.words);
        let fetch = |_: &(), hash| places.fetch(words, hash, MAX_HASHES);
        ring::rolling(&mut (), ahead, batch, fetch, ring::nothing, |_, hash| self.contains_hash(hash));
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.cells.measure(self.words(), progress)
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = None;
        self.cells.places().visit_words(hash, &mut |word| {
            found = self.base.unmarked(word);
            found.is_none()
        });
        found
    }

    facets!(Insert, Remove, Merge, Cardinality, Overlap);
}

impl Insert for VariableIncrement {
    insert_of_words!();

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let taken = filter.each(batch, Increments::add);
            filter.base.add_count(taken.keys as u64);
            taken
        })
    }
}

impl Remove for VariableIncrement {
    remove_of_words!();

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let removed = Cell::new(0);
            let taken = filter.each(batch, |cells, words, hash| {
                let is_removed = cells.subtract(words, hash);
                removed.set(removed.get() + u64::from(is_removed));
                is_removed
            });
            filter.base.subtract_count(removed.get());
            taken
        })
    }
}

impl Merge for VariableIncrement {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.cells.add_all(&mut self.base.writable()?[..self.words], other.base().words().shared());
        Ok(())
    }
}

impl Cardinality for VariableIncrement {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(self.cells.cells().tally(self.words(), &mut |_| {}).0)
    }

    fn of_taken(&self, taken: u64) -> Option<f64> {
        self.cells.places().keys_of(taken)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        self.cells.places().standard_error(keys)
    }
}

impl Overlap for VariableIncrement {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        let others = &other.base().words().shared()[..self.words];
        self.of_taken(self.cells.cells().taken_of_union(self.words(), others))
    }
}
