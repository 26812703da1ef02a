//! A payload as a code: runs of pieces, where the pieces of a run have one fill. If a payload has several arrays, such
//! as levels, each array gets its own runs.

use super::coder::{Decoder, Encoder, PROBABILITY_BITS, Put};
use super::model::{Fill, Model, NODE_WORDS, TOP};
use crate::error::{Result, error};
use crate::sizing::{ln, ln_1p_minus};
use crate::storage::try_vec;
use core::ops::Range;

/// A new run pays if it saves more bits than its beginning takes: a flag, a fill, and the number of pieces in two
/// parts.
const RUN_BITS: f64 = 32.0;

/// How many bits are used to write the length of a run's number of pieces.
const LENGTH_BITS: u32 = 6;

/// Pieces of one fill, by their ones and bits.
#[derive(Clone, Copy, Default)]
struct Run {
    pieces: u64,
    ones: u64,
    bits: u64,
}

impl Run {
    fn and(&self, other: &Run) -> Run {
        Run { pieces: self.pieces + other.pieces, ones: self.ones + other.ones, bits: self.bits + other.bits }
    }

    /// The entropy of the fill, in bits.
    fn entropy(&self) -> f64 {
        if self.ones == 0 || self.ones == self.bits {
            return 0.0;
        }
        let (ones, bits) = (self.ones as f64, self.bits as f64);
        let share = ones / bits;
        -(ones * ln(share) + (bits - ones) * ln_1p_minus(share)) * core::f64::consts::LOG2_E
    }
}

/// Joins the last runs while their beginnings cost more than they save. A piece that was worth a separate run may no
/// longer be so when the pieces after it have joined it.
fn join(runs: &mut Vec<Run>) {
    while let [.., first, last] = runs.as_slice() {
        let both = first.and(last);
        if both.entropy() - first.entropy() - last.entropy() > RUN_BITS {
            return;
        }
        runs.pop();
        if let Some(first) = runs.last_mut() {
            *first = both;
        }
    }
}

/// Cuts a payload of `count` words into runs.
fn plan(count: usize, word: impl Fn(usize) -> u64) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for start in (0..count).step_by(NODE_WORDS) {
        let words = start..count.min(start + NODE_WORDS);
        let bits = 64 * words.len() as u64;
        let ones: u64 = words.map(|i| u64::from(word(i).count_ones())).sum();
        let piece = Run { pieces: 1, ones, bits };
        if let Some(last) = runs.last_mut() {
            let both = last.and(&piece);
            if both.entropy() - last.entropy() - piece.entropy() <= RUN_BITS {
                *last = both;
                join(&mut runs);
                continue;
            }
        }
        runs.try_reserve(1).map_err(|_| crate::Status::OutOfMemory)?;
        runs.push(piece);
    }
    Ok(runs)
}

/// Codes a payload of `count` words. `word` gives a single word, to plan the runs. `take` appends the words of a range,
/// each once and in order, and these are coded. They may differ from the words that `word` gave.
///
/// # Errors
/// The errors of `put`; [`Status::OutOfMemory`](crate::Status::OutOfMemory).
pub fn encode(
    count: usize,
    word: impl Fn(usize) -> u64,
    mut take: impl FnMut(Range<usize>, &mut Vec<u64>),
    put: &mut Put,
) -> Result<()> {
    let runs = plan(count, word)?;
    let mut encoder = Encoder::new(put)?;
    let mut piece: Vec<u64> = try_vec(NODE_WORDS)?;
    let mut at = 0;
    for (i, run) in runs.iter().enumerate() {
        let fill = Fill::of(run.ones, run.bits);
        let is_last = i + 1 == runs.len();
        encoder.even(u16::from(is_last), 1)?;
        if !is_last {
            write_number(run.pieces, &mut encoder)?;
        }
        encoder.even(fill.0, Fill::BITS)?;
        let model = Model::new(fill);
        for _ in 0..run.pieces {
            piece.clear();
            let end = count.min(at + NODE_WORDS);
            // The vector has room for a piece.
            take(at..end, &mut piece);
            at = end;
            if fill.is_inverted() {
                invert(&mut piece);
            }
            encode_piece(&piece, fill, &model, &mut encoder)?;
        }
    }
    encoder.finish()
}

fn invert(words: &mut [u64]) {
    words.iter_mut().for_each(|word| *word = !*word);
}

fn encode_piece(mut words: &[u64], fill: Fill, model: &Model, encoder: &mut Encoder) -> Result<()> {
    if fill == Fill::UNCODED {
        for word in words {
            for shift in (0..64).step_by(PROBABILITY_BITS as usize) {
                encoder.even((word >> shift) as u16, PROBABILITY_BITS)?;
            }
        }
        return Ok(());
    }
    while let Some(level) = level_of(words.len()) {
        let (node, rest) = words.split_at(1 << level);
        model.encode(node, level + WORD_LEVEL, encoder)?;
        words = rest;
    }
    Ok(())
}

/// The level of a node of one word.
const WORD_LEVEL: usize = TOP - NODE_WORDS.ilog2() as usize;

/// The largest node that `words` words hold, as the logarithm of its words.
fn level_of(words: usize) -> Option<usize> {
    Some(words.checked_ilog2()? as usize)
}

fn write_number(number: u64, encoder: &mut Encoder) -> Result<()> {
    let length = u64::BITS - number.leading_zeros();
    // A payload is no longer than an address space, so the number of its pieces has fewer than 63 bits.
    encoder.even(length as u16, LENGTH_BITS)?;
    for shift in (0..length).step_by(PROBABILITY_BITS as usize) {
        encoder.even((number >> shift) as u16 & mask(length - shift), PROBABILITY_BITS.min(length - shift))?;
    }
    Ok(())
}

fn read_number(decoder: &mut Decoder) -> u64 {
    let length = u32::from(decoder.even(LENGTH_BITS));
    let shifts = (0..length).step_by(PROBABILITY_BITS as usize);
    shifts.fold(0, |number, shift| number | u64::from(decoder.even(PROBABILITY_BITS.min(length - shift))) << shift)
}

/// The low bits of a field.
fn mask(bits: u32) -> u16 {
    if bits < PROBABILITY_BITS { (1 << bits) - 1 } else { u16::MAX }
}

/// Flips the bits of `words` that are set in the payload of a code.
///
/// # Errors
/// [`Status::Corrupt`](crate::Status::Corrupt) if the code is not one of that many words. `words` then have arbitrary
/// values.
pub fn decode(bytes: &[u8], mut words: &mut [u64]) -> Result<()> {
    let mut decoder = Decoder::new(bytes);
    while !words.is_empty() {
        let is_last = decoder.even(1) == 1;
        let left = words.len().div_ceil(NODE_WORDS) as u64;
        let pieces = if is_last { left } else { read_number(&mut decoder) };
        // Only the last run has all that is left, and no run is empty.
        if pieces == 0 || pieces > left || (pieces == left) != is_last {
            return Err(error!(Corrupt, "the code has a run of {pieces} pieces where {left} are left"));
        }
        let fill = Fill(decoder.even(Fill::BITS));
        if !fill.is_valid() {
            return Err(error!(Corrupt, "the code has the fill {:#x}, which has no meaning", fill.0));
        }
        let model = Model::new(fill);
        for _ in 0..pieces {
            let length = words.len().min(NODE_WORDS);
            let (piece, rest) = core::mem::take(&mut words).split_at_mut(length);
            words = rest;
            if fill.is_inverted() {
                invert(piece);
            }
            decode_piece(piece, fill, &model, &mut decoder);
        }
    }
    match decoder.is_at_end() {
        true => Ok(()),
        false => Err(error!(Corrupt, "the code goes on after the payload")),
    }
}

fn decode_piece(mut words: &mut [u64], fill: Fill, model: &Model, decoder: &mut Decoder) {
    if fill == Fill::UNCODED {
        for word in words {
            for shift in (0..64).step_by(PROBABILITY_BITS as usize) {
                *word ^= u64::from(decoder.even(PROBABILITY_BITS)) << shift;
            }
        }
        return;
    }
    while let Some(level) = level_of(words.len()) {
        let (node, rest) = words.split_at_mut(1 << level);
        model.decode(node, level + WORD_LEVEL, decoder);
        words = rest;
    }
}
