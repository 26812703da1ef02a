//! The kind `hash_compaction`: an open-addressed table of signatures, the state store of explicit-state model checkers
//! for state spaces of known size.
//!
//! Wolper and Leroy, "Reliable hashing without collision detection", 1993; Stern and Dill, "Improved probabilistic
//! verification by hash compaction", 1995. An insertion follows the key's slots until it meets either the key's
//! signature, and takes the key for known, or an empty slot, and puts the signature there. So the table knows which
//! keys are new, and counts keys exactly except for those that it took for known. A table whose slots are all taken
//! refuses further keys. [`sizing`] has the rate and the expected number of new keys that are taken for known.
//!
//! A table with a capacity takes no new key once that many slots are taken, so its rate stays the one that was asked
//! for. The taken slots are counted when a handle is about to take its first slot.
//!
//! Slots are probed by double hashing over a prime number of them, so a key has every slot on its way. A slot that is
//! taken never changes, and no key's way is longer than the taken slots before its own: readers need no lock.
//!
//! Header: word 0 is the number of bits of a signature, word 1 that of slots.

mod exact;
pub mod primes;
pub mod sizing;
mod probe_sequence;

use crate::batch::ring::{self, Batch, CHUNK, Chunk, GROUP, Taken};
use crate::blocks::Measure;
use crate::blocks::slots::Slots;
use crate::contract::{
    Base, Capabilities, Cardinality, InBytes, Insert, Kind, Losses, Overfill, Payload, Room, Row, Sizes, Structure,
    change_one, facets, one_by_one, over_base,
};
use crate::error::{Error, Result, Status, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::sizing::hash_floor;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use core::sync::atomic::Ordering;
use probe_sequence::{End, ProbeSequence};
use sizing::{SIGNATURE_BITS as RANGE, Table};

/// How long signatures are.
pub const SIGNATURE_BITS: Parameter = Parameter {
    name: "signature_bits",
    summary: "bits of a signature; 0 is the best for the rate, or for exact bits and a capacity",
    default: 0.0,
    domain: Domain::Automatic(RANGE.0 as u64, RANGE.1 as u64),
    word: Some(0),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::HASH_COMPACTION,
    name: "hash_compaction",
    summary: "a hash table of signatures: says what is new, and refuses keys when it is full; for model checkers",
    capabilities: Capabilities::INSERT.with(Capabilities::CLEAR).with(Capabilities::ESTIMATE),
    parameters: &[&SIGNATURE_BITS],
    structure: Structure::Filter { open },
    sizes: Sizes::Multiples(1),
    geometry,
    // For nine keys in ten slots: -10 ln(1/10) / 9.
    lines_per_lookup: |geometry| 2.6_f64.min((geometry.payload_bytes / PAYLOAD_UNIT) as f64),
    false_positive_rate: |geometry, keys| table(geometry).false_positive_rate(keys),
    rate_error: |_| 0.01,
    is_canonical: false,
    overfill: Overfill::Refuses,
    compact: |packing, geometry| {
        packing.bits(geometry, 0);
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], 48);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let slots = slots_of(&trailer.geometry(ROW.compact)?)?;
            Some(matches!(ProbeSequence::of(hash, slots).walk(slots, |word| bytes.word(word)), End::Found))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(slots) = trailer.geometry(ROW.compact).as_ref().and_then(slots_of) {
                bytes.fetch(slots.words_of(ProbeSequence::of(hash, slots).slot)[0]);
            }
        },
    }),
    room: Room { keeps_to_capacity: true, ..Room::BASE },
    losses: Losses { omissions: Some(|geometry, keys| table(geometry).omissions(keys as f64)), ..Losses::BASE },
    ..Row::BASE
};

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let asked = spec.parameter(&SIGNATURE_BITS)? as u32;
    let (bits, slots, width) = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let (slots, width) = sizing::size_for(capacity, rate, asked).ok_or_else(|| size.too_large())?;
            (slots * u64::from(width), slots, width)
        }
        Size::Exact { bits, .. } => {
            let best = |capacity| sizing::best_signature_bits(bits, capacity);
            let width = spec.set_or_best(bits, &SIGNATURE_BITS, best)?;
            let slots = primes::at_most(bits / u64::from(width)).ok_or_else(|| {
                error!(Contradiction, "bits = {bits} do not hold two slots of signature_bits = {width}")
            })?;
            (bits, slots, width)
        }
    };
    Geometry::of_bits(bits, 0, [width.into(), slots, 0, 0, 0, 0, 0, 0])
}

/// The slots that a geometry describes, if it is one of this kind.
fn slots_of(geometry: &Geometry) -> Option<Slots> {
    let [width, count, 0, 0, 0, 0, 0, 0] = geometry.words else { return None };
    let width = u32::try_from(width).ok().filter(|width| (RANGE.0..=RANGE.1).contains(width))?;
    let fits = count >= 2 && count <= geometry.bits / u64::from(width);
    (fits && geometry.hashes == 0 && geometry.is_of_bits()).then_some(Slots { count, width })
}

/// The table of a geometry, for its rates.
fn table(geometry: &Geometry) -> Table {
    Table::new(geometry.words[1], geometry.words[0] as u32)
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    match slots_of(base.geometry()) {
        Some(slots) => {
            let most = match base.header().capacity {
                0 => slots.count,
                capacity => capacity.min(slots.count),
            };
            Ok(try_box(HashCompaction { slots, base, most, taken: None })?)
        }
        None => Err(base.foreign_geometry()),
    }
}

/// A table over a payload.
struct HashCompaction {
    base: Base,
    slots: Slots,
    /// How many slots may be taken.
    most: u64,
    /// How many are taken, once counted.
    taken: Option<u64>,
}

impl HashCompaction {
    #[inline]
    fn find(&self, hash: u64) -> End {
        let words = self.base.words().shared();
        ProbeSequence::of(hash, self.slots).walk(self.slots, |word| words[word].load(Ordering::Relaxed))
    }

    /// Where the ways of keys end, as [`probe_sequence::walk_all`] reports it.
    fn find_all(&self, hashes: &[u64], end: impl FnMut(usize, End)) {
        let words = self.base.words().shared();
        let word = |word: usize| words[word].load(Ordering::Relaxed);
        probe_sequence::walk_all(hashes, self.slots, word, |word| ring::fetch_word(words, word), end);
    }

    /// Inserts a hash where [`Base::writable_at_once`] allows it.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<Result<bool>> {
        if !self.base.is_at_once() {
            return None;
        }
        let new = match self.find(hash) {
            End::Found => false,
            End::Empty(slot) => {
                let taken = self.taken.unwrap_or_else(|| self.count_taken());
                if taken >= self.most {
                    self.taken = Some(taken);
                    return Some(Err(self.full()));
                }
                let slots = self.slots;
                slots.put(self.base.writable_at_once()?, slot, ProbeSequence::of(hash, slots).signature);
                self.taken = Some(taken + 1);
                true
            }
            End::Full => return Some(Err(self.full())),
        };
        self.base.add_count(1);
        Some(Ok(new))
    }

    /// How many slots are taken: reads all of them.
    #[cold]
    fn count_taken(&self) -> u64 {
        self.slots.taken(self.base.words().shared(), &mut |_| {})
    }

    /// The error for a hash that is not found and has no free slot.
    #[cold]
    fn full(&self) -> Error {
        let (name, most, slots) = (ROW.name, self.most, self.slots.count);
        if most < slots {
            return error!(
                Full,
                "the {name} filter is full: it holds {most} keys, its capacity, and takes no key that it does not find"
            );
        }
        error!(Full, "the {name} filter is full: keys are in all of its {slots} slots")
    }
}

impl Payload for HashCompaction {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.slots.count * u64::from(self.slots.width))
    }
}

impl Kind for HashCompaction {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        // In a full table, as in a damaged one, a key that was not found is not there.
        matches!(self.find(hash), End::Found)
    }

    /// In a large table many keys walk their ways together, so each waits for its next line while others take their
    /// steps. In a table that the caches hold, one key after the other is faster.
    fn contains_many(&self, batch: &mut dyn Batch) {
        if !ring::is_far(self.base.words().shared().len()) {
            return ring::rolling(&mut (), 0, batch, ring::nothing, ring::nothing, |_, hash| self.contains_hash(hash));
        }
        let _ = Chunk::each(batch, |chunk| {
            let mut found = [0; CHUNK / GROUP];
            self.find_all(chunk.hashes(), |key, end| {
                found[key / GROUP] |= u64::from(matches!(end, End::Found)) << (key % GROUP);
            });
            for (group, answers) in found.into_iter().enumerate() {
                let keys = chunk.hashes().len().saturating_sub(group * GROUP).min(GROUP);
                if keys > 0 {
                    chunk.answer(answers, keys);
                }
            }
            Ok(())
        });
    }

    fn fetch(&self, hash: u64) {
        let [first, _] = self.slots.words_of(ProbeSequence::of(hash, self.slots).slot);
        ring::fetch_word(self.base.words().shared(), first);
    }

    /// The rate of a large table follows from how many slots are taken: which ones hardly matters.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let words = self.base.words().shared();
        let taken = self.slots.taken(words, progress);
        let rate = exact::rate(self.slots, words);
        let rate = rate.unwrap_or_else(|| table(self.base.geometry()).rate_of_taken(taken as f64));
        Measure {
            taken,
            fill: taken as f64 / self.slots.count as f64,
            saturated: 0,
            false_positive_rate: rate.max(hash_floor(taken, 64)),
        }
    }

    fn refusal(&self, _hash: u64) -> Error {
        self.full()
    }

    fn reset(&mut self) -> Result<()> {
        self.base.writable()?.fill(0);
        self.taken = Some(0);
        Ok(())
    }

    /// The words of the slot that the hash would take.
    fn unmarked(&self, hash: u64) -> Option<usize> {
        match self.find(hash) {
            End::Empty(slot) => self.slots.words_of(slot).into_iter().find_map(|word| self.base.unmarked(word)),
            End::Found | End::Full => None,
        }
    }

    facets!(Insert, Cardinality);
}

impl Insert for HashCompaction {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        match self.insert(hash) {
            Some(answer) => answer,
            None => change_one(self, hash, |filter| filter.insert(hash))?.unwrap_or(Err(Status::Internal.into())),
        }
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash)?.ok()
    }

    /// One after the other, because where a key goes depends on those before it. Before that, many keys walk their ways
    /// together, which brings the lines of these ways into the cache.
    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        // The second walk of a key costs as much as a line that comes from the next cache.
        if !ring::is_far(self.base.words().shared().len() / 2) {
            return one_by_one(batch, |hash| self.insert_one(hash));
        }
        Chunk::each(batch, |chunk| {
            self.find_all(chunk.hashes(), |_, _| {});
            let Taken { keys, outcome } = one_by_one(chunk, |hash| self.insert_one(hash));
            chunk.keep(keys);
            outcome
        })
    }
}

/// The taken slots, plus the keys that were taken for known while these slots filled.
impl Cardinality for HashCompaction {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(self.slots.taken(self.base.words().shared(), &mut |_| {}))
    }

    fn of_taken(&self, taken: u64) -> Option<f64> {
        // A full table may have refused any number.
        let known = taken < self.slots.count;
        known.then(|| taken as f64 + table(self.base.geometry()).omissions_of_taken(taken as f64))
    }

    fn standard_error(&self, keys: f64) -> f64 {
        table(self.base.geometry()).omissions(keys).sqrt()
    }
}
