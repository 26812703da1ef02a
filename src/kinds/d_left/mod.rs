//! The kind `d_left`, a d-left counting Bloom filter. Keys can be removed and counted, and no operation moves what
//! another key left. [`layout`] has the buckets, and [`sizing`] has sizes and rates.
//!
//! The filter holds the multiset of fingerprints exactly, so a removal of an inserted key never touches another key's
//! count. A count is that of all keys with the same fingerprint: never too low, and too high with the probability of a
//! false positive. A removal of an absent key is refused if a lookup says that the key is absent. If a lookup says
//! "maybe", at the false-positive rate, the removal takes 1 from the key that has the same fingerprint, and from no
//! other key.
//!
//! A key takes a cell when it is inserted, and another cell for every three copies: up to 96 copies if no other key is
//! in its four buckets. If all four buckets are full, insertions are refused, and nothing is lost. That happens to no
//! key while less than three quarters of the cells are taken.
//!
//! Header: word 0 is the number of bits of a remainder, and word 1 is the number of buckets of a subtable.

pub mod layout;
pub mod sizing;

use crate::blocks::fingerprint_table::FingerprintTable;
use crate::contract::{self, Capabilities, Enumerate, InBytes, Overfill, Resize, Room, Row, Sizes, Structure};
use crate::error::{Result, error};
use crate::format::Geometry;
use crate::generic::fingerprint_filter::{self, FingerprintFilter, TableKind};
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::Words;
use layout::{DLeft, Table, list};

/// The parameter for the length of remainders.
pub const REMAINDER_BITS: Parameter = Parameter {
    name: "remainder_bits",
    summary: "bits of a remainder; 0 is what the rate needs, or exact bits allow",
    default: 0.0,
    domain: Domain::Automatic(sizing::REMAINDER_BITS.0 as u64, sizing::REMAINDER_BITS.1 as u64),
    word: Some(0),
};

/// The parameter for how often a key may come.
pub const TIMES: Parameter = contract::times(3 * sizing::cells(1) / 2 - 1);

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::D_LEFT,
    name: "d_left",
    summary: "the d-left counting filter: removes and counts keys, in place too, lists them and is resized",
    capabilities: Capabilities::INSERT
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::ESTIMATE)
        .with(Capabilities::REMOVE)
        .with(Capabilities::COUNT)
        .with(Capabilities::ENUMERATE)
        .with(Capabilities::RESIZE),
    parameters: &[&REMAINDER_BITS, &TIMES],
    structure: Structure::Filter { open: fingerprint_filter::open::<DLeft> },
    sizes: Sizes::ByKeys,
    geometry,
    // Tables of one range hold the same fingerprints.
    identity: |geometry| {
        let range = Table::of_geometry(geometry).map_or(0, |table| table.range());
        Geometry { words: [0, range, 0, 0, 0, 0, 0, 0], ..Geometry::default() }
    },
    // A bucket may begin anywhere in a line.
    lines_per_lookup: |geometry| {
        let bytes = (geometry.words[0] + 2) as f64;
        (4.0 + 4.0 * (bytes - 1.0) / 64.0).min(geometry.payload_bytes as f64 / 64.0)
    },
    false_positive_rate: |geometry, keys| {
        let rate = |table: Table| sizing::false_positive_rate(table.buckets(), table.remainder_bits(), keys);
        Table::of_geometry(geometry).map_or(1.0, rate)
    },
    least_rate: |spec, keys| spec.least_rate(&REMAINDER_BITS, rate(keys)),
    is_canonical: false,
    overfill: Overfill::Refuses,
    compact: |packing, geometry| {
        packing.field(&mut geometry.words[0], 6);
        packing.field(&mut geometry.words[1], 57);
        let bits = sizing::bits(geometry.words[1], u32::try_from(geometry.words[0]).unwrap_or(0));
        geometry.bits = bits.unwrap_or(0);
    },
    in_bytes: Some(InBytes {
        contains: |trailer, bytes, hash| {
            let table = Table::of_geometry(&trailer.geometry(ROW.compact)?)?;
            Some(table.has(&bytes, table.fingerprint(hash)))
        },
        fetch: |trailer, bytes, hash| {
            if let Some(table) = trailer.geometry(ROW.compact).as_ref().and_then(Table::of_geometry) {
                table.first_words(hash).into_iter().for_each(|word| bytes.fetch(word));
            }
        },
    }),
    room: Room { copies: Some(|_| 3 * sizing::cells(1)), ..Room::BASE },
    ..Row::BASE
};

/// The geometry of a table.
fn geometry_of(table: &Table) -> Result<Geometry> {
    Geometry::of_bits(table.bits(), 0, [table.remainder_bits().into(), table.buckets(), 0, 0, 0, 0, 0, 0])
}

/// The rate with `keys` keys, by the bits of a remainder.
fn rate(keys: u64) -> impl Fn(u64) -> Option<f64> {
    move |bits| {
        let table = Table::new(sizing::buckets_for(keys)?, bits as u32)?;
        Some(sizing::false_positive_rate(table.buckets(), table.remainder_bits(), keys))
    }
}

/// The geometry that a spec asks for.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    let table = |bits| Table::new(sizing::buckets_for(size.capacity())?, bits as u32);
    let bits = spec.choose(size, &REMAINDER_BITS, rate(size.capacity()), |bits| Some(table(bits)?.bits()))?;
    geometry_of(&table(bits).ok_or_else(|| size.too_large())?)
}

impl TableKind for DLeft {
    fn as_enumerate(filter: &FingerprintFilter<DLeft>) -> Option<&dyn Enumerate> {
        Some(filter)
    }

    fn as_resize(filter: &mut FingerprintFilter<DLeft>) -> Option<&mut dyn Resize> {
        Some(filter)
    }

    fn unmarked(filter: &FingerprintFilter<DLeft>, hash: u64) -> Option<usize> {
        let mut found = None;
        filter.table.table.visit_words(hash, &mut |word| {
            found = filter.base.unmarked(word);
            found.is_none()
        });
        found
    }
}

impl Enumerate for FingerprintFilter<DLeft> {
    fn range(&self) -> u64 {
        self.table.table.range()
    }

    fn stored(&self, hash: u64) -> u64 {
        self.table.table.fingerprint(hash)
    }

    fn stored_from(&self, from: u64, stored: &mut [u64], counts: Option<&mut [u64]>) -> usize {
        list::stored_from(&self.table.table, self.words(), from, stored, counts)
    }
}

impl Resize for FingerprintFilter<DLeft> {
    /// Resizes by moving bits between quotients and remainders: the number of buckets is doubled or halved.
    fn resize_for(&mut self, capacity: u64) -> Result<u64> {
        self.base.writable()?;
        let table = self.table.table;
        let none = || error!(OutOfRange, "capacity = {capacity} is more than a table can hold");
        let needed = sizing::buckets_for(capacity).ok_or_else(none)?;
        let mut buckets = table.buckets();
        while buckets < needed {
            buckets = buckets.checked_mul(2).ok_or_else(none)?;
        }
        while buckets.is_multiple_of(2) && buckets / 2 >= needed && table.with_buckets(buckets / 2).is_some() {
            buckets /= 2;
        }
        // Takes the least of the possible sizes that holds the entries.
        while buckets < table.buckets() {
            if self.rebuild(buckets)? {
                return Ok(buckets * sizing::LOAD);
            }
            buckets *= 2;
        }
        if buckets > table.buckets() && !self.rebuild(buckets)? {
            return Err(self.base.full());
        }
        Ok(buckets * sizing::LOAD)
    }
}

impl FingerprintFilter<DLeft> {
    /// Becomes a table with `buckets` buckets in each subtable and the same entries. Returns false, with nothing
    /// changed, if the entries do not fit there.
    fn rebuild(&mut self, buckets: u64) -> Result<bool> {
        let table = self.table.table;
        let Some(larger) = table.with_buckets(buckets) else {
            let (least, width) = (sizing::REMAINDER_BITS.0, table.remainder_bits());
            let capacity = buckets.saturating_mul(sizing::LOAD);
            return Err(error!(
                OutOfRange,
                "capacity = {capacity} would leave less than {least} of remainder_bits = {width}"
            ));
        };
        let geometry = geometry_of(&larger)?;
        let Some(mut made) = DLeft::of(&geometry, self.base.instructions())? else { return Ok(false) };
        let mut words = Words::zeroed(geometry.payload_bytes)?;
        if !made.insert_all(words.exclusive().unwrap_or_default(), &self.table, self.words()) {
            return Ok(false);
        }
        self.base.replace(geometry, words);
        self.table = made;
        Ok(true)
    }
}
