//! Maps that are solved: a system of linear equations over the keys, which gives each key its value and its check bits.
//! `bloomier` and `retrieval` are such maps, and differ in their check bits only.
//!
//! The solver is a parameter, in `words[5]`. The bumped ribbon ([`crate::kinds::ribbon::layout`]) takes less than a
//! hundredth more than the bits of the values. The fuse structure ([`crate::kinds::fuse::layout`]) takes an eighth
//! more, and its lookups take less time.

use crate::batch::ring::{GROUP, Lookups};
use crate::batch::workers::Work;
use crate::blocks::{Measure, View};
use crate::contract::{Base, Build, Built, Entry, MapKind, Payload, Records, VALUE_BITS, over_base};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT, image_bytes};
use crate::kinds::{fuse, ribbon};
use crate::spec::{Domain, Parameter, Size, Spec};
use crate::storage::{Words, try_box};
use core::ops::RangeInclusive;
use core::sync::atomic::AtomicU64;

/// What solves the equations.
pub const SOLVER: Parameter = Parameter {
    name: "solver",
    summary: "ribbon takes the least memory; fuse an eighth more, and is built and looked up in less time",
    default: RIBBON as f64,
    domain: Domain::Choice(&["fuse", "ribbon"]),
    word: Some(5),
};

/// The numbers of [`SOLVER`].
const FUSE: u64 = 0;
const RIBBON: u64 = 1;

/// Cells of a key in the fuse structure.
const CELLS: u32 = 3;

/// Coefficients of a key in the ribbon.
const WIDTH: u32 = 64;

/// How many check bits a spec asks for. The last parameter gives the bits of a map for a number of check bits.
pub type CheckBits = fn(&Spec, Size, &dyn Fn(u64) -> Option<u64>) -> Result<u64>;

/// The shape of a payload.
#[derive(Clone, Copy)]
enum Shape {
    Ribbon(ribbon::layout::ValueShape),
    Fuse(fuse::layout::ValueShape),
}

impl Shape {
    /// The shape to expect for `keys` keys.
    fn expected(solver: u64, value_bits: u32, check_bits: u32, keys: u64) -> Option<Shape> {
        Some(match solver {
            FUSE => Shape::Fuse(fuse::layout::ValueShape::expected(CELLS, value_bits, check_bits, keys)?),
            _ => Shape::Ribbon(ribbon::layout::ValueShape::expected(value_bits, check_bits, WIDTH, keys)?),
        })
    }

    /// The shape that a geometry describes, if it is one of these.
    fn of(geometry: &Geometry) -> Option<Shape> {
        let [value_bits, check_bits, shards, cells, keys, solver, 0, 0] = geometry.words else { return None };
        let (value_bits, check_bits) = (u32::try_from(value_bits).ok()?, u32::try_from(check_bits).ok()?);
        let shape = match solver {
            RIBBON => {
                Shape::Ribbon(ribbon::layout::ValueShape::new(value_bits, check_bits, WIDTH, keys, geometry.bits)?)
            }
            FUSE if keys <= cells && (keys == 0) == (shards == 0) => {
                Shape::Fuse(fuse::layout::ValueShape::new(CELLS, value_bits, check_bits, shards, cells)?)
            }
            _ => return None,
        };
        (shape.geometry(keys).as_ref() == Some(geometry)).then_some(shape)
    }

    /// The geometry of this shape with `keys` keys.
    fn geometry(&self, keys: u64) -> Option<Geometry> {
        let (value_bits, check_bits) = (u64::from(self.value_bits()), u64::from(self.check_bits()));
        let payload_bytes = self.words().checked_mul(8).filter(|bytes| image_bytes(*bytes).is_some())?;
        let (hashes, places) = match self {
            Shape::Ribbon(_) => (0, [0, 0, keys, RIBBON]),
            Shape::Fuse(shape) => (CELLS, [shape.shards(), shape.cells(), keys, FUSE]),
        };
        let [a, b, c, d] = places;
        let words = [value_bits, check_bits, a, b, c, d, 0, 0];
        Some(Geometry { bits: self.bits()?, hashes, words, payload_bytes })
    }

    fn value_bits(&self) -> u32 {
        match self {
            Shape::Ribbon(shape) => shape.value_bits(),
            Shape::Fuse(shape) => shape.value_bits(),
        }
    }

    fn check_bits(&self) -> u32 {
        match self {
            Shape::Ribbon(shape) => shape.check_bits(),
            Shape::Fuse(shape) => shape.check_bits(),
        }
    }

    /// How many words a payload has.
    fn words(&self) -> u64 {
        match self {
            Shape::Ribbon(shape) => shape.words(),
            Shape::Fuse(shape) => shape.words(),
        }
    }

    /// The bits that hold values and check bits.
    fn bits(&self) -> Option<u64> {
        match self {
            Shape::Ribbon(shape) => Some(shape.bits()),
            Shape::Fuse(shape) => shape.cells().checked_mul(u64::from(shape.value_bits() + shape.check_bits())),
        }
    }

    /// The share of its places that `keys` keys have taken.
    fn fill(&self, keys: u64) -> f64 {
        match self {
            Shape::Ribbon(shape) => {
                let each = f64::from((shape.value_bits() + shape.check_bits()).max(1));
                (keys as f64 * each / shape.bits().max(1) as f64).min(1.0)
            }
            Shape::Fuse(shape) => (keys as f64 / shape.cells().max(1) as f64).min(1.0),
        }
    }

    fn check(&self, words: &[AtomicU64]) -> Result<()> {
        match self {
            Shape::Ribbon(shape) => shape.check(words),
            Shape::Fuse(shape) => shape.check(words),
        }
    }

    /// The answer for every key if the map has no keys.
    fn of_none(&self) -> Option<u64> {
        (self.check_bits() == 0).then_some(0)
    }
}

/// Cache lines that a lookup touches.
pub fn lines_per_lookup(geometry: &Geometry) -> f64 {
    let lines = match Shape::of(geometry) {
        Some(Shape::Fuse(shape)) if shape.is_apart() => f64::from(2 * CELLS),
        Some(Shape::Fuse(_)) => f64::from(CELLS),
        // The metadata, and for each eight of a key's 64 slots, which need not be aligned, as many bytes as there are
        // columns.
        Some(Shape::Ribbon(shape)) => {
            let columns = f64::from((shape.value_bits() + shape.check_bits()).max(1));
            2.0 + (f64::from(WIDTH / 8 + 1) * columns - 1.0) / 64.0
        }
        None => 1.0,
    };
    lines.min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
}

/// The expected bits of a value: those that a spec sets. If the spec sets none, the result is 64, the most that a
/// builder may choose.
///
/// # Errors
/// [`Status::Contradiction`](crate::Status::Contradiction) for exact bits without bits of a value.
pub fn expected_value_bits(spec: &Spec, size: Size) -> Result<u32> {
    match (spec.parameter(&VALUE_BITS)? as u32, size) {
        (0, Size::Exact { bits, .. }) => {
            Err(error!(Contradiction, "bits = {bits} of a map needs value_bits, which its size depends on"))
        }
        (0, Size::Rate { .. }) => Ok(64),
        (value_bits, _) => Ok(value_bits),
    }
}

/// The expected geometry for a spec.
pub fn geometry(spec: &Spec, size: Size, check_bits: CheckBits) -> Result<Geometry> {
    let (capacity, value_bits) = (size.capacity(), expected_value_bits(spec, size)?);
    let solver = spec.parameter(&SOLVER)?;
    let expected = |check_bits| Shape::expected(solver, value_bits, check_bits as u32, capacity);
    let check_bits = check_bits(spec, size, &|check_bits| expected(check_bits)?.bits())?;
    expected(check_bits).and_then(|shape| shape.geometry(capacity)).ok_or_else(|| size.too_large())
}

/// The bits of a value: those that a spec says, or as many as the largest value has.
///
/// # Errors
/// [`Status::OutOfRange`](crate::Status::OutOfRange) if the largest value has more than a spec says.
pub fn bits_of_values(spec: &Spec, entries: &dyn Records<Entry>) -> Result<u32> {
    let mut all = 0;
    entries.for_each(&mut |entries| {
        all |= entries.iter().fold(0, |all, entry| all | entry.value);
        Ok(())
    })?;
    let needed = 64 - all.leading_zeros();
    match spec.parameter(&VALUE_BITS)? as u32 {
        0 => Ok(needed),
        given if given < needed => Err(error!(OutOfRange, "a value has {needed} bits, more than value_bits = {given}")),
        given => Ok(given),
    }
}

/// Makes the payload of a map that has as many check bits as `wanted` says.
pub fn build(build: &mut Build<Entry>, wanted: CheckBits) -> Result<Built> {
    let (size, keys, solver) = (build.size, build.records.count(), build.spec.parameter(&SOLVER)?);
    let value_bits = bits_of_values(build.spec, build.records)?;
    let expected = |check_bits| Shape::expected(solver, value_bits, check_bits as u32, keys)?.bits();
    let mut check_bits = wanted(build.spec, size, &expected)? as u32;
    loop {
        // A place has a bit at least.
        let value_bits = value_bits.max(u32::from(check_bits == 0));
        let (shape, words) = solve(build, solver, value_bits, check_bits)?;
        let bits = shape.bits().ok_or(crate::Status::TooLarge)?;
        // Keys that are spread unevenly may have taken more than was expected. Then there is one check bit less.
        match size {
            Size::Exact { bits: most, .. } if bits > most && check_bits > 1 => check_bits -= 1,
            Size::Exact { bits: most, .. } if bits > most => {
                return Err(error!(OutOfRange, "bits = {most} are less than the {bits} that these keys take"));
            }
            _ => {
                let geometry = shape.geometry(keys).ok_or(crate::Status::TooLarge)?;
                return Ok(Built { geometry, words });
            }
        }
    }
}

fn solve(build: &mut Build<Entry>, solver: u64, value_bits: u32, check_bits: u32) -> Result<(Shape, Words)> {
    let Build { records, memory, threads, ref mut progress, .. } = *build;
    let progress = &mut **progress;
    Ok(match solver {
        FUSE => {
            let mut work = Work { memory, threads, progress };
            let (shape, words) = fuse::layout::Values::build(records, CELLS, value_bits, check_bits, &mut work)?;
            (Shape::Fuse(shape), words)
        }
        _ => {
            let mut work = Work { memory, threads, progress };
            let (shape, words) = ribbon::layout::Values::build(records, value_bits, check_bits, WIDTH, &mut work)?;
            (Shape::Ribbon(shape), words)
        }
    })
}

/// A map over a payload.
struct Solved {
    base: Base,
    shape: Shape,
    /// How ribbons are looked up.
    lookup: ribbon::layout::Lookup,
}

/// The map over a payload that was solved, with a number of check bits in this range.
///
/// # Errors
/// [`Status::Corrupt`](crate::Status::Corrupt) for a geometry that no such map has.
pub fn open(base: Base, check_bits: RangeInclusive<u32>) -> Result<Box<dyn MapKind>> {
    let shape = base.known(Shape::of(base.geometry()).filter(|shape| check_bits.contains(&shape.check_bits())))?;
    Ok(try_box(Solved { lookup: ribbon::layout::Lookup::new(WIDTH, base.instructions()), shape, base })?)
}

impl Solved {
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        self.base.words().shared()
    }

    /// Answers every key of a batch as a map without keys does.
    fn say_of_none(&self, batch: &mut dyn Lookups) {
        let (mut ids, found) = ([0; GROUP], [self.shape.of_none(); GROUP]);
        loop {
            match batch.next(&mut ids) {
                0 => return,
                count => batch.give(&found[..count]),
            }
        }
    }

    /// Whether there is a key.
    #[inline]
    fn has_keys(&self) -> bool {
        self.base.geometry().words[4] > 0
    }
}

impl Payload for Solved {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.shape.check(self.words())
    }
}

impl MapKind for Solved {
    #[inline]
    fn get_one(&self, id: u128) -> Option<u64> {
        match self.shape {
            _ if !self.has_keys() => self.shape.of_none(),
            Shape::Ribbon(shape) => ribbon::layout::Values::new(shape, self.words()).get(&self.lookup, id),
            Shape::Fuse(shape) => fuse::layout::Values::new(shape, self.words()).get(id),
        }
    }

    fn get_many(&self, batch: &mut dyn Lookups) {
        match self.shape {
            _ if !self.has_keys() => self.say_of_none(batch),
            Shape::Ribbon(shape) => ribbon::layout::Values::new(shape, self.words()).get_many(&self.lookup, batch),
            Shape::Fuse(shape) => fuse::layout::Values::new(shape, self.words()).get_many(batch),
        }
    }

    fn view(&self) -> Option<View<'_>> {
        let view = match self.shape {
            Shape::Ribbon(shape) => ribbon::layout::Values::new(shape, self.words()).view()?,
            Shape::Fuse(shape) => fuse::layout::Values::new(shape, self.words()).view()?,
        };
        // A forged geometry may say that a map has shards and no keys.
        (self.has_keys() == (view.words[0] > 0)).then_some(view)
    }

    fn greatest_value(&self) -> u64 {
        u64::MAX.checked_shr(64 - self.shape.value_bits()).unwrap_or(0)
    }

    /// Each key took a place when the array was solved.
    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let geometry = self.base.geometry();
        let keys = geometry.words[4];
        progress(geometry.payload_bytes);
        let false_positive_rate = (self.base.row().false_positive_rate)(geometry, keys);
        Measure { taken: keys, fill: self.shape.fill(keys), saturated: 0, false_positive_rate }
    }
}
