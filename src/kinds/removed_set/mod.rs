//! The kind `removed_set`: two Bloom filters, one for the keys that were inserted and one for those that were removed.
//!
//! A key may be there if the first has it and the second does not. So a key is removed once and for all, with the
//! memory of bits rather than of counters. The kind is right where few keys leave and none come back. Its costs:
//!
//! - *Keys may be lost* (the capability `MAY_LOSE_KEYS`): the second filter seems to have some of the keys that are
//!   there, at its false-positive rate. It is sized for a share of the capacity, the parameter `removals`, and after
//!   that many removals has the rate of the first; after more it loses more. Before the first removal nothing is lost.
//! - *No key comes back.* An insertion of a key that the second filter has, because it was removed or seems to be, is
//!   refused ([`Status::Full`]) and changes nothing: it would not be found. Clearing forgets both.
//! - *A removal takes all copies*: a key that was inserted twice is gone after one.
//!
//! A removal of an absent key is refused where the filter says that the key is absent. Where the filter says "maybe",
//! at the false-positive rate, that key and no other is removed: no more other keys are lost than by any removal.
//!
//! Header: word 0 is the number of removals that the second filter is sized for, in hundredths of the capacity.

use crate::batch::ring::{self, Batch, Taken};
use crate::bits::mix;
use crate::blocks::{BitLayout, Measure};
use crate::contract::{
    self, Base, Capabilities, InBytes, Insert, Kind, Losses, Payload, Remove, Row, Sizes, Structure, change_one,
    facets, over_base, remove_of_words,
};
use crate::error::{Error, Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::generic::bit_filter::bits_for;
use crate::kinds::bloom::layout::{Bloom, MAX_HASHES};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use core::sync::atomic::AtomicU64;

/// For how many removals there is room.
pub const REMOVALS: Parameter = Parameter {
    name: "removals",
    summary: "removals, in per cent of the capacity, after which keys are lost at the false-positive rate",
    default: 10.0,
    domain: Domain::Integer(1, 100),
    word: Some(0),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::REMOVED_SET,
    name: "removed_set",
    summary: "a Bloom filter with a second one for removed keys: each is removed once, and some others may be lost",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::REMOVE)
        .with(Capabilities::MAY_LOSE_KEYS),
    parameters: &[&REMOVALS],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(UNIT),
    hashes: (1, MAX_HASHES),
    geometry,
    lines_per_lookup: |geometry| {
        // For a key that is there the second filter says "no" after two probes on average.
        (f64::from(geometry.hashes) + 2.0).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    false_positive_rate: |geometry, keys| Both::of(geometry).map_or(1.0, |both| both.added.false_positive_rate(keys)),
    // A removed key keeps its bits in both filters.
    is_canonical: false,
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        let mut removals = geometry.words[0] ^ REMOVALS.default as u64;
        packing.field(&mut removals, 7);
        geometry.words[0] = removals ^ REMOVALS.default as u64;
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let both = Both::of(&trailer.geometry(ROW.compact)?)?;
            Some(both.contains(hash, |word| bytes.word(word)))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(both) = trailer.geometry(ROW.compact).and_then(|geometry| Both::of(&geometry)) {
                both.added.fetch(hash, &mut |word| bytes.fetch(word));
            }
        },
    }),
    losses: Losses { false_negative_rate: Some(false_negative_rate), ..Losses::BASE },
    ..Row::BASE
};

/// Both filters are whole words.
const UNIT: u64 = 64;

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let removals = spec.parameter(&REMOVALS)?;
    let all = |bits: u64| {
        let added = bits.div_ceil(UNIT);
        added.checked_add(added.checked_mul(removals)?.div_ceil(100))?.checked_mul(UNIT)
    };
    let (bits, hashes) = bits_for(size, MAX_HASHES, 2 * UNIT, all, |bits| added_words(bits / UNIT, removals) * UNIT)?;
    Geometry::of_bits(bits, hashes, [removals, 0, 0, 0, 0, 0, 0, 0])
}

/// How many of the words the first filter has: the most that leave `removals` hundredths of their number for the
/// second.
fn added_words(all: u64, removals: u64) -> u64 {
    (u128::from(all) * 100 / u128::from(100 + removals)) as u64
}

/// The probability that a key which is there is lost, in a filter of this geometry from which `removals` keys were
/// removed. No geometry of this kind gives 1.
pub fn false_negative_rate(geometry: &Geometry, removals: u64) -> f64 {
    Both::of(geometry).map_or(1.0, |both| both.removed.false_positive_rate(removals))
}

/// The filters of a payload, the second of which begins at word `split`.
#[derive(Clone, Copy)]
struct Both {
    added: Bloom,
    removed: Bloom,
    split: usize,
    words: usize,
}

/// The hash of a key in the second filter: keys that collide in one filter do not in the other.
#[inline]
fn second(hash: u64) -> u64 {
    mix(hash)
}

impl Both {
    fn of(geometry: &Geometry) -> Option<Both> {
        let [removals @ 1..=100, 0, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
        if !geometry.is_of_bits() || !geometry.bits.is_multiple_of(UNIT) {
            return None;
        }
        let all = geometry.bits / UNIT;
        let split = added_words(all, removals);
        let filter = |words: u64| Bloom::of_geometry(&Geometry { bits: words * UNIT, words: [0; 8], ..*geometry });
        Some(Both { added: filter(split)?, removed: filter(all - split)?, split: split as usize, words: all as usize })
    }

    /// Whether a hash was removed, or seems so, by words that are given by their places.
    #[inline]
    fn has_removed(&self, hash: u64, word: impl Fn(usize) -> u64) -> bool {
        self.removed.all(second(hash), |bit| word(self.split + (bit / 64) as usize) >> (bit % 64) & 1 == 1)
    }

    #[inline]
    fn contains(&self, hash: u64, word: impl Fn(usize) -> u64) -> bool {
        self.added.all(hash, |bit| word((bit / 64) as usize) >> (bit % 64) & 1 == 1) && !self.has_removed(hash, word)
    }
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let both = base.known(Both::of(base.geometry()))?;
    Ok(try_box(RemovedSet { base, both })?)
}

/// A filter, and one of what was removed from it.
struct RemovedSet {
    base: Base,
    both: Both,
}

impl RemovedSet {
    /// The words of both; the payload may have padding after them.
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.both.words]
    }

    /// The words of the second filter.
    #[inline]
    fn removed(&self) -> &[AtomicU64] {
        &self.words()[self.both.split..]
    }

    /// Fetches the lines by which the second filter says "no" for most keys.
    #[inline]
    fn fetch_removed(&self, hash: u64) {
        self.both.removed.fetch_first(self.removed(), second(hash));
    }

    /// Inserts a hash where [`Base::writable_at_once`] allows it.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<Result<bool>> {
        let both = self.both;
        let words = &mut self.base.writable_at_once()?[..both.words];
        if both.has_removed(hash, |word| words[word]) {
            return Some(Err(self.refusal(hash)));
        }
        let new = both.added.insert(&mut words[..both.split], hash);
        self.base.add_count(1);
        Some(Ok(new))
    }

    /// Removes a hash where [`Base::writable_at_once`] allows it.
    #[inline]
    fn remove(&mut self, hash: u64) -> Option<bool> {
        let both = self.both;
        let words = &mut self.base.writable_at_once()?[..both.words];
        let is_there = both.contains(hash, |word| words[word]);
        if is_there {
            both.removed.insert(&mut words[both.split..], second(hash));
        }
        self.base.subtract_count(is_there.into());
        Some(is_there)
    }
}

impl Payload for RemovedSet {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

impl Kind for RemovedSet {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let words = self.words();
        self.both.contains(hash, |word| words[word].load(core::sync::atomic::Ordering::Relaxed))
    }

    fn fetch(&self, hash: u64) {
        self.both.added.fetch(hash, &mut |word| ring::fetch_word(self.words(), word));
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        let (added, words) = (&self.both.added, self.words());
        let fetch_rest = |_: &(), hash| {
            if added.fetch_rest(words, hash) {
                self.fetch_removed(hash);
            }
        };
        let fetch = |_: &(), hash| added.fetch_first(words, hash);
        let stages = added.stages(self.both.words);
        ring::rolling(&mut (), stages, batch, fetch, fetch_rest, |_, hash| self.contains_hash(hash));
    }

    /// Places are those of both filters; a key that was not inserted seems to be there if the first has it and the
    /// second does not.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let (added, removed) = self.words().split_at(self.both.split);
        let [added, removed] = [(&self.both.added, added), (&self.both.removed, removed)]
            .map(|(filter, words)| filter.measure(words, progress));
        let rate = added.false_positive_rate * (1.0 - removed.false_positive_rate);
        Measure::of_bits(added.taken + removed.taken, self.base.geometry().bits, rate)
    }

    /// What is lost depends on what was removed, which the second filter's bits show, and not on age.
    fn false_negative_rate(&self, _age: u64) -> f64 {
        let (_, removed) = self.words().split_at(self.both.split);
        self.both.removed.measure(removed, &mut |_| {}).false_positive_rate
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = None;
        self.both.added.visit_words(hash, &mut |word| {
            found = self.base.unmarked(word);
            found.is_none()
        });
        if found.is_none() {
            self.both.removed.visit_words(second(hash), &mut |word| {
                found = self.base.unmarked(self.both.split + word);
                found.is_none()
            });
        }
        found
    }

    fn refusal(&self, _hash: u64) -> Error {
        error!(Full, "the key was removed, or seems so, and {} takes no key twice before it is cleared", ROW.name)
    }

    facets!(Insert, Remove);
}

impl Insert for RemovedSet {
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        match self.insert(hash) {
            Some(outcome) => outcome,
            None => change_one(self, hash, |filter| filter.insert(hash))?.ok_or(Status::Internal)?,
        }
    }

    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash)?.ok()
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        let fetch = |filter: &RemovedSet, hash| {
            filter.both.added.fetch_all(filter.words(), hash);
            filter.fetch_removed(hash);
        };
        let ahead = contract::ahead(self);
        ring::trying(self, ahead, batch, fetch, |filter, hash| filter.insert_one(hash))
    }
}

impl Remove for RemovedSet {
    remove_of_words!();

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        let fetch = |filter: &RemovedSet, hash| {
            filter.both.added.fetch_all(filter.words(), hash);
            filter.both.removed.fetch_all(filter.removed(), second(hash));
        };
        let ahead = contract::ahead(self) / 2;
        ring::trying(self, ahead, batch, fetch, |filter, hash| filter.remove_one(hash))
    }
}
