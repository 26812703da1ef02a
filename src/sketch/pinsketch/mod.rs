//! The kind `pinsketch`: sums of powers in a finite field (Dodis, Ostrovsky, Reyzin and Smith, "Fuzzy Extractors",
//! 2008). The payload begins with the bytes of minisketch, the library of that name.
//!
//! A sketch of capacity c over a field of 2^b elements holds the sums of the powers 1, 3, 5, ..., 2 c - 1 of its
//! elements: b c bits. These are the syndromes of a BCH code, in which c errors are found with certainty. An element
//! that is added twice is gone, so adding and removing are the same, and the sum of two sketches is the sketch of what
//! only one of them has. The zero of the field is not an element.
//!
//! More than c elements may have the same sums as other, fewer ones. For consecutive elements that is the rule: the
//! powers of an aligned run of more than 2 c numbers add up to 0. So the last line of the payload has a checksum, the
//! sum of the mixed hashes of all elements, which a listing has to match. Bytes of minisketch and images of layout 1
//! have no checksum. A sketch that takes in such sums has none either, and says so in that line.

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
    Base, Capabilities, Form, Listed, Listing, Payload, Row, Sizes, SketchKind, Structure, listing, over_base,
};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::hash::HashFunction;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::{try_box, try_vec};
use carryless::Arithmetic;
use core::sync::atomic::{AtomicU64, Ordering};
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
    kind: KindId::PINSKETCH,
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
    false_positive_rate: |geometry, numbers| match Shape::of(geometry) {
        Some(shape) if numbers <= shape.capacity as u64 => 0.0,
        _ => 1.0,
    },
    form: Form { layout_version: 2, ..Form::BASE },
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
    let sums = Geometry::of_bits(capacity * field_bits, 0, words)?;
    Geometry::of_bytes(sums.bits, 0, words, sums.payload_bytes.checked_add(PAYLOAD_UNIT))
}

/// The place of the checksum in the last line.
const CHECKSUM: usize = 0;
/// The place in the last line of a 1 if the checksum is unknown; the checksum is 0 then.
const IS_UNKNOWN: usize = 1;

/// What a geometry says.
#[derive(Clone, Copy)]
struct Shape {
    field: Field,
    capacity: usize,
    /// The words of the sums, with those that pad them.
    sum_words: usize,
    /// Whether a line with a checksum follows the sums: from layout 2 on.
    has_line: bool,
}

impl Shape {
    /// The shape that a geometry describes, if it is one of this kind.
    fn of(geometry: &Geometry) -> Option<Shape> {
        let bits = geometry.words[FIELD_BITS];
        let field = Field::new(u32::try_from(bits).ok()?).ok()?;
        let capacity = geometry.bits / bits;
        let sums = Geometry::of_bits(geometry.bits, 0, geometry.words).ok()?.payload_bytes;
        let has_line = geometry.payload_bytes != sums;
        let is_one = geometry.hashes == 0
            && geometry.bits.is_multiple_of(bits)
            && (1..=MAX_CAPACITY as u64).contains(&capacity)
            && geometry.words[FIELD_BITS + 1..] == [0; 7]
            && geometry.payload_bytes == if has_line { sums + PAYLOAD_UNIT } else { sums };
        is_one.then_some(Shape { field, capacity: capacity as usize, sum_words: (sums / 8) as usize, has_line })
    }

    /// The checksum in these words of a payload; `None` if it is unknown.
    fn checksum(self, words: &[AtomicU64]) -> Option<u64> {
        let word = |place: usize| words[self.sum_words + place].load(Ordering::Relaxed);
        (self.has_line && word(IS_UNKNOWN) == 0).then(|| word(CHECKSUM))
    }

    /// Notes the checksum, or that it is unknown.
    fn set_checksum(self, words: &mut [u64], checksum: Option<u64>) {
        if self.has_line {
            words[self.sum_words + CHECKSUM] = checksum.unwrap_or(0);
            words[self.sum_words + IS_UNKNOWN] = u64::from(checksum.is_none());
        }
    }
}

/// What an element with this hash adds to the checksum.
fn checksum_of(hash: u64) -> u64 {
    bits::mix(hash)
}

fn open(base: Base) -> Result<Box<dyn SketchKind>> {
    match Shape::of(base.geometry()) {
        Some(shape)
            if base.hasher().function() != HashFunction::External
                && shape.has_line == (base.header().layout_version > 1) =>
        {
            let arithmetic = Arithmetic::new(shape.field, base.instructions());
            Ok(try_box(Pinsketch { base, arithmetic, shape })?)
        }
        _ => Err(base.foreign_geometry()),
    }
}

/// A sketch over a payload.
struct Pinsketch {
    base: Base,
    arithmetic: Arithmetic,
    shape: Shape,
}

impl Payload for Pinsketch {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        let (sums, line) = self.base.words().shared().split_at(self.shape.sum_words);
        let is_line = match line {
            [checksum, is_unknown, rest @ ..] => {
                let known = is_unknown.load(Ordering::Relaxed);
                bits::is_zero_from(rest, 0) && (known == 0 || known == 1 && checksum.load(Ordering::Relaxed) == 0)
            }
            _ => true,
        };
        if !bits::is_zero_from(sums, self.base.geometry().bits) || !is_line {
            return Err(error!(
                Corrupt,
                "the payload of the sketch has bits set that belong to no sum and no checksum"
            ));
        }
        Ok(())
    }
}

impl Pinsketch {
    /// The sums.
    fn sums(&self) -> impl Iterator<Item = u64> {
        let words = self.base.words().shared()[..self.shape.sum_words].iter();
        packed::sums(self.shape.field.bits(), words.map(|word| word.load(Ordering::Relaxed))).take(self.shape.capacity)
    }

    /// The checksum of a set of elements.
    ///
    /// # Errors
    /// [`Status::SecretMissing`](crate::Status::SecretMissing).
    fn checksum_of_all(&self, elements: &[u64]) -> Result<u64> {
        let hasher = self.base.hasher();
        elements.iter().try_fold(0, |sum, element| Ok(sum ^ checksum_of(hasher.hash_u64(*element)?)))
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
    /// Any element but 0, each as often as any other. With 64 bits, this is the hash itself unless that is 0.
    fn number_of_hash(&self, hash: u64) -> u64 {
        1 + bits::reduce(hash, self.arithmetic.field().max())
    }

    fn number_bits(&self) -> u32 {
        self.shape.field.bits()
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

    fn add_at_once(&mut self, hash: u64, number: u64, count: i64) -> Option<()> {
        let (words, shape) = (self.base.writable_at_once()?, self.shape);
        if count & 1 != 0 {
            toggle(&self.arithmetic, number, shape.capacity, &mut words[..shape.sum_words]);
            if shape.has_line && words[shape.sum_words + IS_UNKNOWN] == 0 {
                words[shape.sum_words + CHECKSUM] ^= checksum_of(hash);
            }
        }
        Some(())
    }

    fn unmarked(&self, _: u64) -> Option<usize> {
        self.base.first_unmarked()
    }

    fn combines_layouts(&self) -> bool {
        true
    }

    fn combine_with(&mut self, other: &dyn SketchKind, _: bool) -> Result<()> {
        let (shape, others) = (self.shape, other.base().words().shared());
        let theirs = Shape::of(other.base().geometry()).and_then(|shape| shape.checksum(others));
        let ours = shape.checksum(self.base.words().shared());
        let words = self.base.writable()?;
        for (word, other) in words[..shape.sum_words].iter_mut().zip(others) {
            *word ^= other.load(Ordering::Relaxed);
        }
        shape.set_checksum(words, ours.zip(theirs).map(|(ours, theirs)| ours ^ theirs));
        Ok(())
    }

    fn list(&self) -> Result<Listing> {
        let checksum = self.shape.checksum(self.base.words().shared());
        if let Some(refusal) = self.base.hasher().refusal().filter(|_| checksum.is_some()) {
            return Err(refusal.into());
        }
        let mut sums = try_vec(self.shape.capacity)?;
        sums.extend(self.sums());
        let Some(elements) = sums::decode(&self.arithmetic, &sums)? else { return listing(0) };
        if let Some(checksum) = checksum
            && self.checksum_of_all(&elements)? != checksum
        {
            return listing(0);
        }
        let mut found = listing(elements.len())?;
        found.listed.extend(elements.into_iter().map(|number| Listed { sign: 1, number }));
        found.is_complete = true;
        Ok(found)
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let taken = self.sums().filter(|sum| *sum != 0).count() as u64;
        progress(self.base.geometry().payload_bytes);
        Measure { taken, fill: taken as f64 / self.shape.capacity as f64, saturated: 0, false_positive_rate: 0.0 }
    }

    fn minisketch_bytes(&self) -> Option<usize> {
        Some(self.base.geometry().bits.div_ceil(8) as usize)
    }

    fn take_minisketch(&mut self, bytes: &[u8]) -> Result<()> {
        let (shape, words) = (self.shape, self.base.writable()?);
        words.fill(0);
        for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut little = [0; 8];
            little[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(little);
        }
        shape.set_checksum(words, None);
        Ok(())
    }
}
