//! The kind `riblt`: a rateless invertible Bloom lookup table (Yang, Gilad and Alizadeh, "Practical Rateless Set
//! Reconciliation", 2024). The symbols of a set of 64-bit numbers are an endless stream. A sketch keeps the first
//! symbols, and each insertion and removal updates them.
//!
//! Every number is in symbol 0; the later a symbol is, the fewer numbers are in it. A symbol holds the XOR of its
//! numbers, the XOR of their hashes, and the count of its numbers. If a symbol holds one number, and the symbol's
//! second word is the hash of that number, listing removes the number from all of its symbols. Other numbers may then
//! be alone in these symbols. The first symbols of a sketch, however many, are a sketch for fewer differences, so
//! nobody has to know the number of differences beforehand.
//!
//! With the parameter `key_bytes` the symbols have whole keys instead of numbers.

pub mod peeler;
pub mod sizing;
pub mod symbols;
pub mod wire;

use crate::blocks::Measure;
use crate::contract::key_shape::{KeyShape, MAX_KEY_BYTES};
use crate::contract::{Base, Capabilities, KeyListing, Listing, Payload, Row, Sizes, SketchKind, Structure, over_base};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::hash::HashFunction;
use crate::sizing::ln;
use crate::spec::{Domain, KindId, Parameter, Size, Spec};
use crate::storage::try_box;
use core::sync::atomic::{AtomicU64, Ordering};
use peeler::Peeler;
use symbols::{BESIDE_KEY, Indices, add, add_all};

/// How many bytes a key has.
static KEY_BYTES: Parameter = Parameter {
    name: "key_bytes",
    summary: "the bytes of a key, which is listed whole; 0: keys are 64-bit numbers, or the hashes of byte keys",
    default: 0.0,
    domain: Domain::Automatic(8, MAX_KEY_BYTES as u64),
    word: Some(0),
};

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId::RIBLT,
    name: "riblt",
    summary: "a rateless invertible Bloom lookup table: lists differences of two sets from a first part of its symbols",
    capabilities: Capabilities::INSERT
        .with(Capabilities::REMOVE)
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::SUBTRACT)
        .with(Capabilities::LIST),
    structure: Structure::Sketch { open },
    parameters: &[&KEY_BYTES],
    sizes: Sizes::Multiples(64),
    geometry,
    lines_per_lookup: |geometry| {
        let symbols = symbols_of(geometry) as f64;
        (2.0 * ln(1.0 + symbols / 2.0) + 1.0).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    false_positive_rate: |geometry, numbers| sizing::failure(numbers, symbols_of(geometry)),
    ..Row::BASE
};

/// The geometry that a spec asks for. The spec's capacity is the number of differences, and the spec's rate is the
/// probability that listing that many fails.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    if spec.hash == HashFunction::External {
        return Err(error!(Contradiction, "hash = external has no meaning for riblt, which hashes numbers by itself"));
    }
    let key_bytes = spec.parameter(&KEY_BYTES)?;
    let symbol_bits = shape_of(key_bytes).map_or(0, symbol_bits);
    let bits = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let symbols = sizing::size_for(capacity, rate);
            symbols.and_then(|symbols| symbols.checked_mul(symbol_bits)).ok_or_else(|| size.too_large())?
        }
        Size::Exact { bits, .. } if bits.is_multiple_of(symbol_bits) => bits,
        Size::Exact { bits, .. } => {
            let of = if key_bytes == 0 { format_args!("") } else { format_args!(" with key_bytes = {key_bytes}") };
            return Err(error!(OutOfRange, "bits = {bits} is not a multiple of {symbol_bits}{of}"));
        }
    };
    Geometry::of_bits(bits, 0, [key_bytes, 0, 0, 0, 0, 0, 0, 0])
}

/// The shape of keys that the parameter asks for.
fn shape_of(key_bytes: u64) -> Option<KeyShape> {
    if key_bytes == 0 { Some(KeyShape::NUMBERS) } else { KeyShape::whole(key_bytes) }
}

/// Bits of a symbol.
fn symbol_bits(shape: KeyShape) -> u64 {
    64 * (shape.words() + BESIDE_KEY) as u64
}

/// How many symbols a geometry has; 0 if it is not one of this kind.
fn symbols_of(geometry: &Geometry) -> u64 {
    shape_of(geometry.words[0]).map_or(0, |shape| geometry.bits / symbol_bits(shape))
}

/// The shape of the keys and the words of the symbols that a geometry describes, if it is one of this kind.
fn layout_of(geometry: &Geometry) -> Option<(KeyShape, usize)> {
    let shape = shape_of(geometry.words[0])?;
    let is_one = geometry.hashes == 0
        && geometry.bits > 0
        && geometry.bits.is_multiple_of(symbol_bits(shape))
        && geometry.words[1..] == [0; 7]
        && geometry.is_of_bits();
    is_one.then_some((shape, (geometry.bits / 64) as usize))
}

fn open(base: Base) -> Result<Box<dyn SketchKind>> {
    match layout_of(base.geometry()) {
        Some((shape, words)) if base.hasher().function() != HashFunction::External => {
            Ok(try_box(Riblt { base, shape, words })?)
        }
        _ => Err(base.foreign_geometry()),
    }
}

/// A sketch, whose symbols take `words` words.
struct Riblt {
    base: Base,
    shape: KeyShape,
    words: usize,
}

impl Riblt {
    fn symbol_words(&self) -> usize {
        self.shape.words() + BESIDE_KEY
    }

    /// Finds the keys that are there.
    fn peel(&self) -> Result<Peeler> {
        let hasher = self.base.hasher();
        if let Some(refusal) = hasher.refusal() {
            return Err(refusal.into());
        }
        let mut peeler = Peeler::new(self.shape);
        peeler.extend(self.words / self.symbol_words(), |words| {
            let ours = self.base.words().shared();
            words.iter_mut().zip(ours).for_each(|(word, ours)| *word = ours.load(Ordering::Relaxed));
            Ok(())
        })?;
        peeler.admit_all(hasher);
        Ok(peeler)
    }
}

impl Payload for Riblt {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

impl SketchKind for Riblt {
    fn key_shape(&self) -> KeyShape {
        self.shape
    }

    fn symbols(&self) -> u64 {
        (self.words / self.symbol_words()) as u64
    }

    fn add_at_once(&mut self, hash: u64, number: u64, count: i64) -> Option<()> {
        add(&mut self.base.writable_at_once()?[..self.words], hash, &[number], count);
        Some(())
    }

    fn add_keys_at_once(&mut self, hashes: &[u64], keys: &[u64], count: i64) -> Option<()> {
        add_all(&mut self.base.writable_at_once()?[..self.words], 0, hashes, keys, count);
        Some(())
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let length = self.symbol_words() as u64;
        let firsts = Indices::of(hash).map(|index| index.saturating_mul(length));
        // A symbol may lie across the border of two regions.
        let ends = firsts.take_while(|first| *first < self.words as u64).flat_map(|first| [first, first + length - 1]);
        ends.map(|word| word as usize).find_map(|word| self.base.unmarked(word))
    }

    fn combine_with(&mut self, other: &dyn SketchKind, subtract: bool) -> Result<()> {
        let (others, length) = (other.base().words().shared(), self.symbol_words());
        let words = &mut self.base.writable()?[..self.words];
        for (symbol, others) in words.chunks_exact_mut(length).zip(others.chunks_exact(length)) {
            let ours = symbol[length - 1];
            for (word, other) in symbol.iter_mut().zip(others) {
                *word ^= other.load(Ordering::Relaxed);
            }
            let count = others[length - 1].load(Ordering::Relaxed);
            symbol[length - 1] = if subtract { ours.wrapping_sub(count) } else { ours.wrapping_add(count) };
        }
        Ok(())
    }

    fn list(&self) -> Result<Listing> {
        self.peel()?.listing()
    }

    fn list_keys(&self) -> Result<KeyListing> {
        self.peel()?.key_listing()
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let words = &self.base.words().shared()[..self.words];
        let is_taken = |symbol: &&[AtomicU64]| symbol.iter().any(|word| word.load(Ordering::Relaxed) != 0);
        let taken = words.chunks_exact(self.symbol_words()).filter(is_taken).count() as u64;
        progress(self.base.geometry().payload_bytes);
        let fill = taken as f64 / self.symbols() as f64;
        Measure { taken, fill, saturated: 0, false_positive_rate: 0.0 }
    }
}
