//! The kind `pinsketch`: sums of powers in a finite field (Dodis, Ostrovsky, Reyzin and Smith, "Fuzzy Extractors",
//! 2008). The payload begins with the bytes of minisketch, the library of that name.
//!
//! A sketch of capacity c over a field of 2^b elements holds the sums of the powers 1, 3, 5, ..., 2 c - 1 of its
//! elements: b c bits. These are the syndromes of a BCH code, in which c errors are found with certainty. An element
//! that is added twice is gone, so that adding and removing are the same, and the sum of two sketches is the sketch of
//! what only one of them has. The zero of the field is no element.

pub mod carryless;
pub mod field;
mod locator;
mod packed;
mod roots;
pub(crate) mod sums;
#[cfg(test)]
mod tests;

use crate::bits;
use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Listed, Listing, Payload, Row, Sizes, SketchKind, Structure, listing, over_base,
};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::hash::HashFunction;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::{try_box, try_vec};
use carryless::Arithmetic;
use core::sync::atomic::Ordering;
use field::{Field, MAX_BITS, MIN_BITS};
use packed::GROUP;
pub use sums::MAX_CAPACITY;

/// The word of the geometry that has the bits of an element.
const FIELD_BITS: usize = 0;

/// The bits of an element.
static BITS: Parameter = Parameter {
    name: "field_bits",
    summary: "the bits of an element: numbers are from 1 to 2^field_bits - 1",
    default: MAX_BITS as f64,
    domain: Domain::Integer(MIN_BITS as u64, MAX_BITS as u64),
    word: Some(FIELD_BITS),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(258),
    name: "pinsketch",
    summary: "sums of powers in a finite field, the bytes of minisketch: lists differences in the least memory",
    capabilities: Capabilities::INSERT
        .with(Capabilities::REMOVE)
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::SUBTRACT)
        .with(Capabilities::LIST),
    parameters: &[&BITS],
    structure: Structure::Sketch { open },
    sizes: Sizes::Multiples(1),
    geometry,
    lines_per_lookup: |geometry| (geometry.payload_bytes / PAYLOAD_UNIT) as f64,
    false_positive_rate: |geometry, numbers| match shape(geometry) {
        Some((_, capacity)) if numbers <= capacity as u64 => 0.0,
        _ => 1.0,
    },
    ..Row::BASE
};

/// The geometry that a spec asks for. The spec's capacity is the number of differences, all of which are listed
/// whatever the spec's rate is.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    if spec.hash == HashFunction::External {
        return Err(error!(
            Contradiction,
            "hash = external has no meaning for pinsketch, which sums numbers themselves"
        ));
    }
    let field_bits = spec.parameter(&BITS)?;
    let capacity = match size {
        Size::Rate { capacity, .. } => capacity,
        Size::Exact { bits, .. } if bits.is_multiple_of(field_bits) => bits / field_bits,
        Size::Exact { bits, .. } => {
            return Err(error!(OutOfRange, "bits = {bits} is not a multiple of field_bits = {field_bits}"));
        }
    };
    if capacity > MAX_CAPACITY as u64 {
        return Err(error!(TooLarge, "capacity = {capacity} is more than the {MAX_CAPACITY} differences of pinsketch"));
    }
    let mut words = [0; 8];
    words[FIELD_BITS] = field_bits;
    Geometry::of_bits(capacity * field_bits, 0, words)
}

/// The field and the capacity that a geometry describes, if it is one of this kind.
fn shape(geometry: &Geometry) -> Option<(Field, usize)> {
    let bits = geometry.words[FIELD_BITS];
    let field = Field::new(u32::try_from(bits).ok()?).ok()?;
    let capacity = geometry.bits / bits;
    let is_one = geometry.hashes == 0
        && geometry.bits.is_multiple_of(bits)
        && (1..=MAX_CAPACITY as u64).contains(&capacity)
        && geometry.words[FIELD_BITS + 1..] == [0; 7]
        && geometry.is_of_bits();
    is_one.then_some((field, capacity as usize))
}

fn open(base: Base) -> Result<Box<dyn SketchKind>> {
    match shape(base.geometry()) {
        Some((field, capacity)) if base.hasher().function() != HashFunction::External => {
            let arithmetic = Arithmetic::new(field, base.instructions());
            Ok(try_box(Pinsketch { base, arithmetic, capacity })?)
        }
        _ => Err(base.foreign_geometry()),
    }
}

/// A sketch of so many sums.
struct Pinsketch {
    base: Base,
    arithmetic: Arithmetic,
    capacity: usize,
}

impl Payload for Pinsketch {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

impl Pinsketch {
    /// The sums.
    fn sums(&self) -> impl Iterator<Item = u64> {
        let words = self.base.words().shared().iter().map(|word| word.load(Ordering::Relaxed));
        packed::sums(self.arithmetic.field().bits(), words).take(self.capacity)
    }
}

/// Adds an element to packed sums, or takes it away.
fn toggle(arithmetic: &Arithmetic, element: u64, capacity: usize, words: &mut [u64]) {
    let field = arithmetic.field();
    if field.bits() == u64::BITS {
        return sums::toggle(arithmetic, element, &mut words[..capacity]);
    }
    let mut powers = arithmetic.powers(field.raised(element));
    for (group, words) in words.chunks_mut(field.bits() as usize).enumerate().take(capacity.div_ceil(GROUP)) {
        let mut sums = [0; GROUP];
        let sums = &mut sums[..GROUP.min(capacity - GROUP * group)];
        powers.add_next(sums);
        packed::add(sums, field.bits(), words);
    }
}

impl SketchKind for Pinsketch {
    /// One of all elements but 0, each as often as any other. Of 64 bits, this is the hash itself if it is not 0.
    fn number_of_hash(&self, hash: u64) -> u64 {
        1 + bits::reduce(hash, self.arithmetic.field().max())
    }

    fn has_signs(&self) -> bool {
        false
    }

    fn check_number(&self, number: u64) -> Result<()> {
        let max = self.arithmetic.field().max();
        match (1..=max).contains(&number) {
            true => Ok(()),
            false => Err(error!(OutOfRange, "number = {number} is not 1 to {max}, the elements of the sketch")),
        }
    }

    fn add_at_once(&mut self, _: u64, number: u64, count: i64) -> Option<()> {
        let words = self.base.writable_at_once()?;
        if count & 1 != 0 {
            toggle(&self.arithmetic, number, self.capacity, words);
        }
        Some(())
    }

    fn unmarked(&self, _: u64) -> Option<usize> {
        self.base.first_unmarked()
    }

    fn combine_with(&mut self, other: &dyn SketchKind, _: bool) -> Result<()> {
        let others = other.base().words().shared();
        for (word, other) in self.base.writable()?.iter_mut().zip(others) {
            *word ^= other.load(Ordering::Relaxed);
        }
        Ok(())
    }

    fn list(&self) -> Result<Listing> {
        let mut sums = try_vec(self.capacity)?;
        sums.extend(self.sums());
        let Some(elements) = sums::decode(&self.arithmetic, &sums)? else { return listing(0) };
        let mut found = listing(elements.len())?;
        found.listed.extend(elements.into_iter().map(|number| Listed { count: 1, number }));
        found.is_complete = true;
        Ok(found)
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let taken = self.sums().filter(|sum| *sum != 0).count() as u64;
        progress(self.base.geometry().payload_bytes);
        Measure { taken, fill: taken as f64 / self.capacity as f64, saturated: 0, false_positive_rate: 0.0 }
    }

    fn minisketch_bytes(&self) -> Option<usize> {
        Some(self.base.geometry().bits.div_ceil(8) as usize)
    }
}
