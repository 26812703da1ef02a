//! The kind `riblt`: a rateless invertible Bloom lookup table (Yang, Gilad and Alizadeh, "Practical Rateless Set
//! Reconciliation", 2024). The symbols of a set of 64-bit numbers are a stream without an end. A sketch keeps the first
//! symbols, and each insertion and removal updates them.
//!
//! Every number is in symbol 0; the later a symbol is, the fewer numbers are in it. A symbol holds the XOR of its
//! numbers, the XOR of their hashes, and the count of its numbers. If a symbol holds one number, and the symbol's
//! second word is the hash of that number, listing removes the number from all of its symbols. Other numbers may then
//! be alone in these symbols. The first symbols of a sketch, however many, are a sketch for fewer differences, so
//! nobody has to know the number of differences beforehand.

pub mod sizing;
pub mod symbols;

use crate::blocks::Measure;
use crate::contract::{
    Base, Capabilities, Listed, Listing, Payload, Row, Sizes, SketchKind, Structure, listing, over_base,
};
use crate::error::{Result, error};
use crate::format::{Geometry, PAYLOAD_UNIT};
use crate::hash::{HashFunction, Hasher};
use crate::sizing::ln;
use crate::spec::{KindId, Size, Spec};
use crate::storage::{try_box, try_vec};
use core::sync::atomic::{AtomicU64, Ordering};
use symbols::{Indices, SYMBOL, add};

/// Bits of a symbol.
const SYMBOL_BITS: u64 = 64 * SYMBOL as u64;
/// The most steps of a listing for each symbol. A step computes one index of a number. Listing as many numbers as there
/// are symbols, m, takes 4 ln m + 2 steps for each number on average: fewer than this limit if m is below 10^13.
const STEPS: usize = 128;

/// The registry's row.
pub const ROW: Row = Row {
    kind: KindId(257),
    name: "riblt",
    summary: "a rateless invertible Bloom lookup table: lists differences of two sets from a first part of its symbols",
    capabilities: Capabilities::INSERT
        .with(Capabilities::REMOVE)
        .with(Capabilities::CLEAR)
        .with(Capabilities::MERGE)
        .with(Capabilities::SUBTRACT)
        .with(Capabilities::LIST),
    structure: Structure::Sketch { open },
    sizes: Sizes::Multiples(SYMBOL_BITS),
    geometry,
    lines_per_lookup: |geometry| {
        let symbols = (geometry.bits / SYMBOL_BITS) as f64;
        (2.0 * ln(1.0 + symbols / 2.0) + 1.0).min((geometry.payload_bytes / PAYLOAD_UNIT) as f64)
    },
    false_positive_rate: |geometry, numbers| sizing::failure(numbers, geometry.bits / SYMBOL_BITS),
    ..Row::BASE
};

/// The geometry that a spec asks for. The spec's capacity is the number of differences, and the spec's rate is the
/// probability that listing so many fails.
fn geometry(spec: &Spec, size: Size) -> Result<Geometry> {
    if spec.hash == HashFunction::External {
        return Err(error!(Contradiction, "hash = external has no meaning for riblt, which hashes numbers by itself"));
    }
    let bits = match size {
        Size::Rate { capacity, false_positive_rate: rate } => {
            let symbols = sizing::size_for(capacity, rate);
            symbols.and_then(|symbols| symbols.checked_mul(SYMBOL_BITS)).ok_or_else(|| size.too_large())?
        }
        Size::Exact { bits, .. } => bits,
    };
    Geometry::of_bits(bits, 0, [0; 8])
}

/// The words of the symbols that a geometry describes, if it is one of this kind.
fn words_of(geometry: &Geometry) -> Option<usize> {
    let is_one = geometry.hashes == 0
        && geometry.bits > 0
        && geometry.bits.is_multiple_of(SYMBOL_BITS)
        && geometry.words == [0; 8]
        && geometry.is_of_bits();
    is_one.then_some((geometry.bits / 64) as usize)
}

fn open(base: Base) -> Result<Box<dyn SketchKind>> {
    match words_of(base.geometry()) {
        Some(words) if base.hasher().function() != HashFunction::External => Ok(try_box(Riblt { base, words })?),
        _ => Err(base.foreign_geometry()),
    }
}

/// A sketch, whose symbols take `words` words.
struct Riblt {
    base: Base,
    words: usize,
}

impl Payload for Riblt {
    over_base!();

    fn check_payload(&self) -> Result<()> {
        self.base.check_zero_from(self.base.geometry().bits)
    }
}

/// The hash, the number and the count of the number that is alone in a symbol, if the symbol's words say so.
fn alone(words: &[u64], symbol: usize, hasher: &Hasher) -> Option<(u64, u64, i64)> {
    let (number, check, count) =
        (words[SYMBOL * symbol], words[SYMBOL * symbol + 1], words[SYMBOL * symbol + 2] as i64);
    if count != 1 && count != -1 {
        return None;
    }
    let hash = hasher.hash_u64(number).ok()?;
    (hash == check).then_some((hash, number, count))
}

impl SketchKind for Riblt {
    fn symbols(&self) -> u64 {
        (self.words / SYMBOL) as u64
    }

    fn add_at_once(&mut self, hash: u64, number: u64, count: i64) -> Option<()> {
        add(&mut self.base.writable_at_once()?[..self.words], hash, number, count);
        Some(())
    }

    fn unmarked(&self, hash: u64) -> Option<usize> {
        let firsts = Indices::of(hash).map(|index| index.saturating_mul(SYMBOL as u64));
        // A symbol may lie across the border of two regions.
        let words = firsts.take_while(|first| *first < self.words as u64).flat_map(|first| [first, first + 2]);
        words.map(|word| word as usize).find_map(|word| self.base.unmarked(word))
    }

    fn combine_with(&mut self, other: &dyn SketchKind, subtract: bool) -> Result<()> {
        let others = other.base().words().shared();
        for (symbol, others) in self.base.writable()?[..self.words].chunks_exact_mut(SYMBOL).zip(others.chunks(SYMBOL))
        {
            let [number, check, count] = [0, 1, 2].map(|word: usize| others[word].load(Ordering::Relaxed));
            symbol[0] ^= number;
            symbol[1] ^= check;
            symbol[2] = if subtract { symbol[2].wrapping_sub(count) } else { symbol[2].wrapping_add(count) };
        }
        Ok(())
    }

    /// Each listed number empties a symbol. If distinct numbers made the symbols, that symbol stays empty, so there are
    /// at most as many listed numbers as symbols. With any other symbols the bounds end the loop.
    fn list(&self) -> Result<Listing> {
        let hasher = self.base.hasher();
        if let Some(refusal) = hasher.refusal() {
            return Err(refusal.into());
        }
        let count = self.words / SYMBOL;
        let mut words = try_vec(self.words)?;
        words.extend(self.base.words().shared()[..self.words].iter().map(|word| word.load(Ordering::Relaxed)));
        let (mut found, mut queue) = (listing(count)?, try_vec::<usize>(count)?);
        queue.extend((0..count).filter(|symbol| alone(&words, *symbol, hasher).is_some()));
        let mut steps = count.saturating_mul(STEPS);
        'steps: while let Some(symbol) = queue.pop() {
            let Some((hash, number, count_there)) = alone(&words, symbol, hasher) else { continue };
            // A symbol may say that it holds a number that does not belong there.
            let before = Indices::of(hash).take_while(|index| *index < symbol as u64).count();
            let is_own = Indices::of(hash).nth(before) == Some(symbol as u64);
            steps = steps.saturating_sub(before);
            if !is_own {
                continue;
            }
            if found.listed.len() == count || steps == 0 {
                break;
            }
            found.listed.push(Listed { count: count_there, number });
            steps = steps.saturating_sub(add(&mut words, hash, number, -count_there));
            for index in Indices::of(hash).take_while(|index| *index < count as u64) {
                if alone(&words, index as usize, hasher).is_some() {
                    if queue.len() == queue.capacity() {
                        // If distinct numbers made the symbols, each symbol comes into the queue at most once.
                        break 'steps;
                    }
                    queue.push(index as usize);
                }
            }
        }
        found.is_complete = words.iter().all(|word| *word == 0);
        found.listed.sort_unstable();
        Ok(found)
    }

    fn measure_with(&self, progress: &mut dyn FnMut(u64)) -> Measure {
        let words = &self.base.words().shared()[..self.words];
        let is_taken = |symbol: &&[AtomicU64]| symbol.iter().any(|word| word.load(Ordering::Relaxed) != 0);
        let taken = words.chunks_exact(SYMBOL).filter(is_taken).count() as u64;
        progress(self.base.geometry().payload_bytes);
        let fill = taken as f64 / (self.words / SYMBOL) as f64;
        Measure { taken, fill, saturated: 0, false_positive_rate: 0.0 }
    }
}
