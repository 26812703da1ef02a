//! Filters whose payload is one bit array, whatever its layout.

use crate::batch::ring::{self, Batch, Few, Taken};
use crate::blocks::{BitLayout, Measure, Probe, View, check_factor};
use crate::contract::{
    Base, Capabilities, Cardinality, Fold, InBytes, Insert, Intersect, Kind, Merge, Overlap, Payload, SharedInsert,
    change_many, facets, insert_of_words, over_base,
};
use crate::error::{Result, Status, error};
use crate::format::Geometry;
use crate::sizing::bloom;
use crate::spec::{Parameter, Size, Spec};
use crate::storage::{Words, try_box};
use crate::{bits, simd};
use core::sync::atomic::{AtomicU64, Ordering};

/// The parameter that says whether the size may later be divided without the keys.
pub const FOLDABLE: Parameter = Parameter {
    name: "foldable",
    summary: "1 rounds the size up, by less than 0.8 %, so that the filter can be folded by many powers of two",
    default: 0.0,
    domain: crate::spec::Domain::Integer(0, 1),
    word: None,
};

/// Whether a spec asks for a foldable size.
///
/// # Errors
/// [`Status::OutOfRange`]; [`Status::Contradiction`] if the spec's size is exact.
pub fn is_foldable(spec: &Spec, size: &Size) -> Result<bool> {
    let foldable = spec.parameter(&FOLDABLE)? == 1;
    match size {
        Size::Exact { bits, .. } if foldable => {
            Err(error!(Contradiction, "foldable rounds a size, but bits = {bits} is exact"))
        }
        _ => Ok(foldable),
    }
}

/// `units`, if there can be that many. If `foldable`, they are rounded up to a multiple of a power of two: the greatest
/// one that is at most a 128th of them.
///
/// # Errors
/// [`Status::TooLarge`] if there are no such units.
pub fn units_for(units: Option<u64>, foldable: bool, size: Size) -> Result<u64> {
    let rounded = units.and_then(|units| match foldable {
        true => units.checked_next_multiple_of(1 << (units / 128).max(1).ilog2()),
        false => Some(units),
    });
    rounded.ok_or_else(|| size.too_large())
}

/// The bits that a spec asks for, and the places of a key, for a filter that has a counter or cell wherever a Bloom
/// filter has a bit. `bits` gives the bits of a number of places, and `places` the places in a number of bits. A filter
/// has at least `least` bits, and a key has at most `most_hashes` places.
///
/// # Errors
/// [`Status::TooLarge`]; [`Status::Contradiction`] for exact bits below the least ones.
pub fn bits_for(
    size: Size,
    most_hashes: u32,
    least: u64,
    bits: impl Fn(u64) -> Option<u64>,
    places: impl Fn(u64) -> u64,
) -> Result<(u64, u32)> {
    match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let found = bloom::size_for(capacity, rate, most_hashes);
            let bits = units_for(found.and_then(|found| bits(found.bits)), false, size)?;
            Ok((bits, found.map_or(1, |found| found.hashes)))
        }
        Size::Exact { bits, .. } if bits < least => {
            Err(error!(Contradiction, "bits = {bits} are fewer than {least}, the fewest with these parameters"))
        }
        Size::Exact { capacity, bits, hashes: 0 } => {
            Ok((bits, bloom::optimal_hashes(places(bits), capacity, most_hashes)))
        }
        Size::Exact { bits, hashes, .. } => Ok((bits, hashes)),
    }
}

/// What a kind can do whose keys only ever set bits.
pub const CAPABILITIES: Capabilities = Capabilities::INSERT
    .with(Capabilities::CLEAR)
    .with(Capabilities::MERGE)
    .with(Capabilities::INTERSECT)
    .with(Capabilities::FOLD)
    .with(Capabilities::ESTIMATE)
    .with(Capabilities::INSERT_SHARED);

/// A filter whose payload is one bit array.
pub struct BitFilter<L> {
    base: Base,
    layout: L,
}

/// A filter of this layout over a payload.
///
/// # Errors
/// [`Status::Corrupt`] for a geometry that the layout cannot have.
pub fn open<L: BitLayout + 'static>(base: Base) -> Result<Box<dyn Kind>> {
    Ok(try_box(BitFilter::<L>::over(base)?)?)
}

/// How a hash is looked up in an array of this layout at any address.
pub const fn in_bytes<L: BitLayout>() -> InBytes {
    InBytes {
        contains: |trailer, bytes, hash| Some(L::of_trailer(trailer, simd::best())?.contains_in(bytes, hash)),
        fetch: |trailer, bytes, hash| {
            if let Some(layout) = L::of_trailer(trailer, simd::best()) {
                layout.fetch(hash, &mut |word| bytes.fetch(word));
            }
        },
    }
}

impl<L: BitLayout> BitFilter<L> {
    /// The filter of this layout over a payload.
    ///
    /// # Errors
    /// As [`open`].
    pub fn over(base: Base) -> Result<BitFilter<L>> {
        let geometry = base.geometry();
        match L::of(geometry, base.instructions()).filter(|_| geometry.is_of_bits()) {
            Some(layout) => Ok(BitFilter { layout, base }),
            None => Err(base.foreign_geometry()),
        }
    }

    /// The layout of the array.
    pub fn layout(&self) -> &L {
        &self.layout
    }

    /// The words of the array; the payload may have padding after them.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        &self.base.words().shared()[..self.layout.words()]
    }

    /// Layout and words, if the words may be changed without preparation.
    #[inline]
    fn parts(&mut self) -> Option<(&L, &mut [u64])> {
        let words = &mut self.base.writable_at_once()?[..self.layout.words()];
        Some((&self.layout, words))
    }

    /// Inserts a hash if [`Base::writable_at_once`] allows it.
    #[inline]
    fn insert(&mut self, hash: u64) -> Option<bool> {
        let (layout, words) = self.parts()?;
        let new = layout.insert(words, hash);
        self.base.add_count(1);
        Some(new)
    }
}

impl<L: BitLayout> Payload for BitFilter<L> {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

impl<L: BitLayout> Kind for BitFilter<L> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.layout.contains(self.words(), hash)
    }

    fn contains_many(&self, batch: &mut dyn Batch) {
        self.layout.contains_many(self.words(), batch);
    }

    fn contains_few(&self, few: &Few) -> Option<u64> {
        self.layout.contains_few(self.words(), few)
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        self.layout.measure(self.words(), progress)
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let mut found = None;
        self.layout.visit_words(hash, &mut |word| {
            found = self.base.unmarked(word);
            found.is_none()
        });
        found
    }

    facets!(Insert, SharedInsert, Merge, Intersect, Fold, Cardinality, Overlap);

    fn fetch(&self, hash: u64) {
        self.layout.fetch(hash, &mut |word| ring::fetch_word(self.words(), word));
    }

    fn view(&self) -> Option<View<'_>> {
        self.layout.view(self.words())
    }

    fn probe(&self) -> Option<Probe<'_>> {
        Some(self.base.probe(self.layout.probe_kernel()?, self.words()))
    }
}

impl<L: BitLayout> Insert for BitFilter<L> {
    insert_of_words!();

    fn insert_few(&mut self, few: &Few, is_asked: bool) -> Option<u64> {
        let (layout, words) = self.parts()?;
        let new = layout.insert_few(words, few, is_asked)?;
        self.base.add_count(few.keys.len() as u64);
        Some(new)
    }

    fn insert_many(&mut self, batch: &mut dyn Batch) -> Taken {
        change_many(self, batch, |filter, batch| {
            let Some((layout, words)) = filter.parts() else { return Taken::none(Status::Internal.into()) };
            layout.insert_many(words, batch);
            filter.base.add_count(batch.keys() as u64);
            Taken::all(batch.keys())
        })
    }
}

impl<L: BitLayout> SharedInsert for BitFilter<L> {
    fn insert_one_shared(&self, hash: u64) -> Option<bool> {
        Some(self.layout.insert_shared(self.words(), hash))
    }

    fn insert_many_shared(&self, batch: &mut dyn Batch) -> Taken {
        self.layout.insert_many_shared(self.words(), batch);
        Taken::all(batch.keys())
    }
}

impl<L: BitLayout> Merge for BitFilter<L> {
    fn merge_with(&mut self, other: &dyn Kind) -> Result<()> {
        bits::unite(self.base.writable()?, other.base().words().shared());
        Ok(())
    }
}

impl<L: BitLayout> Intersect for BitFilter<L> {
    fn intersect_with(&mut self, other: &dyn Kind) -> Result<()> {
        for (word, other) in self.base.writable()?.iter_mut().zip(other.base().words().shared()) {
            *word &= other.load(Ordering::Relaxed);
        }
        Ok(())
    }
}

impl<L: BitLayout> Fold for BitFilter<L> {
    fn units(&self) -> u64 {
        self.layout.units()
    }

    fn folded_geometry(&self, factor: u64) -> Result<Geometry> {
        check_factor(factor, self.layout.units())?;
        self.layout.folded(factor)
    }

    fn fold_units(&mut self, factor: u64) -> Result<()> {
        let geometry = self.folded_geometry(factor)?;
        let layout = L::of(&geometry, self.base.instructions()).ok_or(Status::Internal)?;
        let mut folded = Words::zeroed(geometry.payload_bytes)?;
        self.layout.fold_into(self.words(), factor, folded.exclusive().ok_or(Status::Internal)?);
        self.base.replace(geometry, folded);
        self.layout = layout;
        Ok(())
    }
}

impl<L: BitLayout> Cardinality for BitFilter<L> {
    fn of_payload(&self) -> Option<f64> {
        self.of_taken(bits::count_ones_in(self.words(), 0, self.base.geometry().bits))
    }

    fn of_taken(&self, ones: u64) -> Option<f64> {
        self.layout.cardinality(ones)
    }

    fn standard_error(&self, keys: f64) -> f64 {
        self.layout.standard_error(keys)
    }
}

impl<L: BitLayout> Overlap for BitFilter<L> {
    fn of_union(&self, other: &dyn Kind) -> Option<f64> {
        self.layout.cardinality(bits::count_ones_of_union(self.words(), other.base().words().shared()))
    }
}
