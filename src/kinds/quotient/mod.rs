//! The kind `quotient`, the rank-and-select quotient filter with counters. Keys can be removed and counted, without a
//! limit to counts. Filters are merged, resized and listed without their keys, in the order of hashes. [`runs`] has
//! the structure, and [`sizing`] has sizes and rates.
//!
//! The kind stands for the space-optimal replacement of Bloom filters by Pagh, Pagh and Rao (2005), a dictionary of the
//! multiset of fingerprints by quotienting, in `n lg(1/e) + O(n)` bits. Here a key takes `(lg(1/e) + 2.25) / 0.95` bits
//! at a rate of `0.95 2^-r`.
//!
//! The filter holds the multiset of fingerprints exactly, so a removal of an inserted key never touches another key's
//! count. A count is that of all keys with the same fingerprint: never too low, and too high with the probability of a
//! false positive. A removal of an absent key is refused if a lookup says that the key is absent. If a lookup says
//! "maybe", at the false-positive rate, the removal takes 1 from the key that has the same fingerprint.
//!
//! A key takes a slot when it is inserted, and each further copy takes at most one more slot: a key that is there c
//! times takes about `lg(c) / r + 2` slots. When no more slots may be taken, insertions are refused, and nothing is
//! lost.
//!
//! Header: word 0 is the number of bits of a remainder, and word 1 is the number of slots.

pub mod sizing;

use crate::batch::ring::{self, Batch, Few, Taken};
use crate::blocks::Measure;
use crate::blocks::runs::{
    self, Combine, Entries, Full, Kernel, LINES, Reader, Table, Writer, code, combined, kernel, needs,
};
use crate::contract::{
    self, Base, Capabilities, Cardinality, Count, Enumerate, Form, InBytes, Insert, Intersect, Kind, Losses, Merge,
    Overfill, Overlap, Payload, Remove, Resize, Room, Row, Sizes, Structure, facets, over_base,
};
use crate::error::{Error, Result, error};
use crate::format::Geometry;
use crate::sizing::{bloom, omissions::sum_of_rates};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::{Words, try_box};
use core::sync::atomic::AtomicU64;

/// The parameter for the length of remainders.
pub const REMAINDER_BITS: Parameter = Parameter {
    name: "remainder_bits",
    summary: "bits of a remainder; 0 is what the rate needs, or exact bits allow",
    default: 0.0,
    domain: Domain::Automatic(runs::REMAINDER_BITS.0 as u64, runs::REMAINDER_BITS.1 as u64),
    word: Some(0),
};

/// The parameter for how often a key may come.
pub const TIMES: Parameter = contract::times(1 << 32);

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::QUOTIENT,
    name: "quotient",
    summary: "the counting quotient filter: removes and counts keys (copies take room), merges, lists and resizes",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::INTERSECT)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT)
        .with(Capabilities::ENUMERATE)
        .with(Capabilities::RESIZE),
    parameters: &[&REMAINDER_BITS, &TIMES],
    structure: Structure::Filter { open },
    sizes: Sizes::ByKeys,
    geometry,
    // Tables of one range hold the same fingerprints.
    identity: |geometry| {
        let range = table_of(geometry).map_or(0, |table| table.range());
        Geometry { words: [0, range, 0, 0, 0, 0, 0, 0], ..Geometry::default() }
    },
    // A lookup reads the metadata of a block and, a little further on, remainders; both may lie across two lines.
    lines_per_lookup: |geometry| (geometry.payload_bytes as f64 / 64.0 - 1.0).clamp(1.0, 2.5),
    false_positive_rate: |geometry, keys| {
        table_of(geometry).map_or(1.0, |table| sizing::false_positive_rate(table.slots(), table.remainder_bits(), keys))
    },
    least_rate: |spec, keys| spec.least_rate(&REMAINDER_BITS, rate(keys)),
    overfill: Overfill::Refuses,
    compact: |packing, geometry| {
        let mut blocks = geometry.words[1] / runs::BLOCK;
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut blocks, 56);
        geometry.words[1] = blocks.saturating_mul(runs::BLOCK);
        let table = Table::new(geometry.words[1], geometry.words[0] as u32);
        geometry.bits = table.map_or(0, |table| table.bits());
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let table = table_of(&trailer.geometry(ROW.compact)?)?;
            Some(Reader::new(table, &bytes).contains(table.fingerprint(hash)))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(table) = trailer.geometry(ROW.compact).as_ref().and_then(table_of) {
                bytes.fetch(table.first_word(table.fingerprint(hash)));
            }
        },
    }),
    room: Room {
        places: Some(|geometry, times| {
            // The remainder decides whether a count takes one slot more. With most remainders it does, so remainder 1
            // stands for all.
            table_of(geometry).map_or(times, |table| code::length(1, times, table.remainder_bits()))
        }),
        ..Room::BASE
    },
    form: Form { moves_entries: true, ..Form::BASE },
    losses: Losses {
        omissions: Some(|geometry, keys| {
            let taken = table_of(geometry).map_or(0, |table| table.limit()).min(keys);
            let rate = |before| (ROW.false_positive_rate)(geometry, before);
            sum_of_rates(taken, rate) + (keys - taken) as f64
        }),
        ..Losses::BASE
    },
    ..Row::BASE
};

/// The geometry of a table.
fn geometry_of(table: Table) -> Result<Geometry> {
    let words = [table.remainder_bits().into(), table.slots(), 0, 0, 0, 0, 0, 0];
    Geometry::of_bytes(table.bits(), 0, words, Some(table.payload_bytes()))
}

/// The table that a geometry describes, if it is one of this kind.
fn table_of(geometry: &Geometry) -> Option<Table> {
    let [remainder_bits, slots, ..] = geometry.words;
    let table = Table::new(slots, u32::try_from(remainder_bits).ok()?)?;
    geometry_of(table).is_ok_and(|expected| expected == *geometry).then_some(table)
}

/// The rate of `keys` keys, by the bits of a remainder.
fn rate(keys: u64) -> impl Fn(u64) -> Option<f64> {
    move |bits| {
        let table = Table::new(sizing::slots_for(keys)?, bits as u32)?;
        Some(sizing::false_positive_rate(table.slots(), table.remainder_bits(), keys))
    }
}

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let table = |bits| Table::new(sizing::slots_for(size.capacity())?, bits as u32);
    let bits = spec.choose(size, &REMAINDER_BITS, rate(size.capacity()), |bits| Some(table(bits)?.bits()))?;
    geometry_of(table(bits).ok_or_else(|| size.too_large())?)
}

fn open(base: Base) -> Result<Box<dyn Kind>> {
    let table = base.known(table_of(base.geometry()))?;
    Ok(try_box(Quotient { table, kernel: kernel(base.instructions()), base })?)
}

/// A table over a payload.
struct Quotient {
    base: Base,
    table: Table,
    /// The inner loops.
    kernel: &'static Kernel,
}

impl Quotient {
    #[inline]
    fn reader(&self) -> Reader<'_, [AtomicU64]> {
        Reader::new(self.table, self.base.words().shared())
    }

    /// A reader of another filter, which has to have the same range.
    fn reader_of(base: &Base) -> Result<Reader<'_, [AtomicU64]>> {
        let table = base.known(table_of(base.geometry()))?;
        Ok(Reader::new(table, base.words().shared()))
    }

    /// Inserts a hash if [`Base::writable_at_once`] allows it and there is room.
    #[inline]
    fn insert(&mut self, hash: u64, times: u64) -> Option<core::result::Result<bool, Full>> {
        let (table, kernel) = (self.table, self.kernel);
        let new = (kernel.insert)(table, self.base.writable_at_once()?, hash, times);
        if new.is_ok() {
            self.base.add_count(times);
        }
        Some(new)
    }

    /// Removes a hash up to `times` times if [`Base::writable_at_once`] allows it. Returns how often it was removed.
    #[inline]
    fn remove(&mut self, hash: u64, times: u64) -> Option<u64> {
        let (table, kernel) = (self.table, self.kernel);
        let removed = (kernel.remove)(table, self.base.writable_at_once()?, hash, times);
        self.base.subtract_count(removed);
        Some(removed)
    }

    /// The error for a filter without room.
    #[cold]
    fn full(&self) -> Error {
        let ([taken, _], limit) = (self.reader().state(), self.table.limit());
        error!(Full, "the quotient filter is full: {taken} of {limit} slots that may be taken are")
    }

    /// The reason why nothing may be written: images in place are only read.
    #[cold]
    fn refuse(&mut self) -> Error {
        self.base.writable().err().unwrap_or_else(|| crate::Status::Internal.into())
    }

    /// Replaces the filter's multiset by what `combine` makes of this multiset and another.
    fn become_of(&mut self, other: &dyn Kind, combine: Combine) -> Result<()> {
        self.base.writable()?;
        let both = [self.reader(), Quotient::reader_of(other.base())?].map(|reader| Entries::new(reader, 0));
        let words = written(self.table, |writer| combined(both, combine, |item| writer.push(item)))?;
        let words = words.ok_or_else(|| self.full())?;
        self.base.replace(*self.base.geometry(), words);
        Ok(())
    }
}

/// The words of a table that `write` writes. `None` if the table has too little room.
fn written(table: Table, write: impl FnOnce(&mut Writer) -> core::result::Result<(), Full>) -> Result<Option<Words>> {
    let mut words = Words::zeroed(table.payload_bytes())?;
    let mut writer = Writer::new(table, words.exclusive().unwrap_or_default());
    if write(&mut writer).is_err() {
        return Ok(None);
    }
    writer.finish();
    Ok(Some(words))
}

impl Payload for Quotient {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.reader().check()
    }
}

impl Kind for Quotient {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        (self.kernel.contains)(self.table, self.base.words().shared(), hash)
    }

    #[inline]
    fn fetch(&self, hash: u64) {
        self.table.fetch(self.base.words().shared(), hash);
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        (self.kernel.contains_many)(self.table, self.base.words().shared(), batch);
    }

    fn contains_few(&self, few: &Few) -> Option<u64> {
        Some((self.kernel.contains_few)(self.table, self.base.words().shared(), self.base.instructions(), few))
    }

    /// The places that the measure counts are slots. The payload itself says how many are taken and how many
    /// fingerprints there are, and a forged one may say more.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        progress(self.base.words().bytes());
        let [taken, fingerprints] = self.reader().state();
        let rate = fingerprints.min(self.table.slots()) as f64 / self.table.range() as f64;
        Measure::of_cells(taken, self.table.slots(), rate)
    }

    fn refusal(&self, _hash: u64) -> Error {
        self.full()
    }

    facets!(Insert, Remove, Count, Merge, Intersect, Resize, Cardinality, Overlap, Enumerate);
}

impl Insert for Quotient {
    #[inline]
    fn insert_one(&mut self, hash: u64) -> Result<bool> {
        self.insert_times(hash, 1)
    }

    #[inline]
    fn insert_at_once(&mut self, hash: u64) -> Option<bool> {
        self.insert(hash, 1)?.ok()
    }

    fn insert_times(&mut self, hash: u64, times: u64) -> Result<bool> {
        match self.insert(hash, times) {
            Some(Ok(new)) => Ok(new),
            Some(Err(Full)) => Err(self.full()),
            None => Err(self.refuse()),
        }
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        if let Err(error) = self.base.writable() {
            return Taken::none(error);
        }
        let ahead = ring::ahead(self.base.words().shared().len(), LINES);
        ring::trying(self, ahead, batch, Quotient::fetch, |filter, hash| filter.insert_one(hash))
    }
}

impl Remove for Quotient {
    #[inline]
    fn remove_one(&mut self, hash: u64) -> Result<bool> {
        Ok(self.remove_times(hash, 1)? > 0)
    }

    fn remove_times(&mut self, hash: u64, times: u64) -> Result<u64> {
        match self.remove(hash, times) {
            Some(removed) => Ok(removed),
            None => Err(self.refuse()),
        }
    }

    fn remove_many(&mut self, batch: &mut dyn Batch) -> Taken {
        let ahead = ring::ahead(self.base.words().shared().len(), LINES);
        ring::trying(self, ahead, batch, Quotient::fetch, |filter, hash| filter.remove_one(hash))
    }
}

impl Count for Quotient {
    fn greatest_count(&self) -> u64 {
        u64::MAX
    }

    #[inline]
    fn count_one(&self, hash: u64) -> u64 {
        (self.kernel.count)(self.table, self.base.words().shared(), hash)
    }

    fn count_many(&self, hashes: &[u64], counts: &mut [u64]) {
        (self.kernel.count_many)(self.table, self.base.words().shared(), hashes, counts);
    }
}

impl Merge for Quotient {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.become_of(other, Combine::Sum)
    }
}

impl Intersect for Quotient {
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()> {
        self.become_of(other, Combine::Intersection)
    }
}

impl Resize for Quotient {
    /// Resizes by moving bits between quotients and remainders: the number of slots is doubled or halved.
    fn resize_for(&mut self, capacity: u64) -> Result<u64> {
        self.base.writable()?;
        let none = |what: &str| error!(OutOfRange, "capacity = {capacity} is more than {what}");
        let needed = sizing::slots_for(capacity).ok_or_else(|| none("a table can hold"))?;
        let mut slots = self.table.slots();
        while slots < needed {
            slots = slots.checked_mul(2).ok_or_else(|| none("a table can hold"))?;
        }
        while slots.is_multiple_of(2 * runs::BLOCK) && slots / 2 >= needed {
            slots /= 2;
        }
        // Takes the least possible size that holds the entries.
        let (least, most) = runs::REMAINDER_BITS;
        while self.table.with_slots(slots).is_none() && slots < self.table.slots() {
            slots *= 2;
        }
        let Some(mut table) = self.table.with_slots(slots) else {
            let bits = self.table.remainder_bits();
            return Err(error!(
                OutOfRange,
                "capacity = {capacity} would leave less than {least} of remainder_bits = {bits} (at most {most})"
            ));
        };
        while table.slots() < self.table.slots() && needs(table, Entries::new(self.reader(), 0)) > table.limit() {
            table = self.table.with_slots(2 * table.slots()).unwrap_or(self.table);
        }
        if table != self.table {
            let all = |writer: &mut Writer| Entries::new(self.reader(), 0).try_for_each(|item| writer.push(item));
            let words = written(table, all)?.ok_or_else(|| self.full())?;
            self.base.replace(geometry_of(table)?, words);
            self.table = table;
        }
        Ok(table.limit())
    }
}

/// Estimates the number of keys from the fingerprints. There are as many fingerprints as keys, except that two keys may
/// share one.
impl Cardinality for Quotient {
    fn of_payload(&self) -> Option<f64> {
        let [_, fingerprints] = self.reader().state();
        bloom::cardinality_exact_base(self.table.range(), 1, fingerprints.min(self.table.slots()))
    }

    fn of_taken(&self, _taken: u64) -> Option<f64> {
        self.of_payload()
    }

    fn standard_error(&self, keys: f64) -> f64 {
        bloom::cardinality_standard_error(self.table.range(), 1, keys as u64)
    }
}

impl Overlap for Quotient {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        let both = [self.reader(), Quotient::reader_of(other.base()).ok()?].map(|reader| Entries::new(reader, 0));
        let mut fingerprints = 0;
        // Neither the union nor the closure refuses anything.
        let _ = combined(both, Combine::Union, |_| {
            fingerprints += 1;
            Ok(())
        });
        bloom::cardinality_exact_base(self.table.range(), 1, fingerprints)
    }
}

impl Enumerate for Quotient {
    fn range(&self) -> u64 {
        self.table.range()
    }

    fn stored(&self, hash: u64) -> u64 {
        self.table.fingerprint(hash)
    }

    fn stored_from(&self, from: u64, stored: &mut [u64], mut counts: Option<&mut [u64]>) -> usize {
        let mut written = 0;
        for (to, (number, count)) in stored.iter_mut().zip(Entries::new(self.reader(), from)) {
            *to = number;
            if let Some(counts) = &mut counts {
                counts[written] = count;
            }
            written += 1;
        }
        written
    }
}
