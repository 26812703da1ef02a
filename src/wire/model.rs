//! The probabilities of arrays of independent bits, and how words are coded with them.
//!
//! A node of level i is 2^i bits. The code of a node says whether the node is zero, and if it is not, which of its
//! halves are. All probabilities follow from that of a single bit, by integer arithmetic alone, so every machine has
//! the same probabilities.

use super::coder::{Decoder, Encoder};
use crate::error::Result;

/// The level of a word.
const WORD: usize = 6;

/// The level of the largest node: 512 words.
pub const TOP: usize = 15;

/// How many words the largest node has.
pub const NODE_WORDS: usize = 1 << (TOP - WORD);

/// The probability that a bit is set, as a number of 11 bits. The low 10 bits are a probability up to a half: `(16 +
/// mantissa) / 16 * 2^-exponent`, with the exponent in the high 6 of these bits. The highest bit says that this is the
/// probability of a clear bit. All zeros mean that the words are not coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill(pub u16);

impl Fill {
    /// How many bits a fill is written with.
    pub const BITS: u32 = 11;
    /// The fill of uncoded words.
    pub const UNCODED: Fill = Fill(0);
    /// The bit for "set bits and clear bits have changed places".
    const INVERTED: u16 = 1 << 10;

    /// Whether the model is that of the complement of the words, because most bits are set.
    pub fn is_inverted(self) -> bool {
        self.0 & Fill::INVERTED != 0
    }

    /// Whether the fill has a meaning.
    pub fn is_valid(self) -> bool {
        self == Fill::UNCODED || self.0 & (Fill::INVERTED - 1) >= 16
    }

    /// The fill for `ones` ones among `bits` bits. The fill is never zero, because other threads may set bits while the
    /// ones are counted.
    pub fn of(ones: u64, bits: u64) -> Fill {
        if ones.abs_diff(bits - ones) < bits / 16 {
            return Fill::UNCODED;
        }
        if ones > bits / 2 {
            return Fill(Fill::of(bits - ones, bits).0 | Fill::INVERTED);
        }
        // The share of ones in units of 2^-63. The halves keep the share away from 0 and 1.
        let share = ((2 * u128::from(ones) + 1) << 62) / (u128::from(bits) + 1);
        let share = (share as u64).clamp(1, (1 << 63) - 1);
        let exponent = share.leading_zeros();
        // The nearest of the mantissas with this exponent.
        let mantissa = ((share << exponent).saturating_add(1 << 58) >> 59) - 16;
        Fill((exponent as u16) << 4 | mantissa as u16)
    }
}

/// The probabilities for one fill.
pub struct Model {
    /// For each level, the probability that a node is zero.
    zero: [u16; TOP + 1],
    /// For each level, the probability that the first half of a node is zero, if the node is not zero and its halves
    /// have this level.
    first: [u16; TOP],
}

/// A fraction in units of `2^-63` as a probability.
fn probability(fraction: u64) -> u16 {
    ((fraction + (1 << 46)) >> 47).clamp(1, u64::from(u16::MAX)) as u16
}

impl Model {
    /// The probabilities for a fill that is not [`Fill::UNCODED`].
    pub fn new(fill: Fill) -> Model {
        const ONE: u64 = 1 << 63;
        let (exponent, mantissa) = (fill.0 >> 4 & 63, u64::from(fill.0 & 15));
        let mut clear = ONE - ((16 + mantissa) << 59 >> exponent).min(ONE);
        let mut model = Model { zero: [0; TOP + 1], first: [0; TOP] };
        for level in 0..=TOP {
            model.zero[level] = probability(clear);
            if let Some(first) = model.first.get_mut(level) {
                // A half is zero with probability q. Both halves are zero with q q, and only the first one with q (1 -
                // q).
                let quotient = (u128::from(clear) << 63) / (u128::from(clear) + u128::from(ONE));
                *first = probability(quotient as u64);
            }
            clear = ((u128::from(clear) * u128::from(clear)) >> 63) as u64;
        }
        model
    }

    /// Writes a node of this level, of `2^level / 64` words.
    pub fn encode(&self, words: &[u64], level: usize, encoder: &mut Encoder) -> Result<()> {
        let is_zero = is_zero(words);
        encoder.choice(is_zero, self.zero[level])?;
        if is_zero { Ok(()) } else { self.encode_words(words, level, encoder) }
    }

    fn encode_words(&self, words: &[u64], level: usize, encoder: &mut Encoder) -> Result<()> {
        if let [word] = words {
            return self.encode_bits(*word, WORD, encoder);
        }
        let half = level - 1;
        let (first, second) = words.split_at(words.len() / 2);
        if is_zero(first) {
            encoder.choice(true, self.first[half])?;
            return self.encode_words(second, half, encoder);
        }
        encoder.choice(false, self.first[half])?;
        self.encode_words(first, half, encoder)?;
        self.encode(second, half, encoder)
    }

    /// Writes the low `2^level` bits of a word, which are not zero.
    fn encode_bits(&self, bits: u64, level: usize, encoder: &mut Encoder) -> Result<()> {
        let Some(half) = level.checked_sub(1) else { return Ok(()) };
        let width = 1 << half;
        let (first, second) = (bits & ((1 << width) - 1), bits >> width);
        if first == 0 {
            encoder.choice(true, self.first[half])?;
            return self.encode_bits(second, half, encoder);
        }
        encoder.choice(false, self.first[half])?;
        self.encode_bits(first, half, encoder)?;
        encoder.choice(second == 0, self.zero[half])?;
        if second == 0 { Ok(()) } else { self.encode_bits(second, half, encoder) }
    }

    /// Reads a node of this level, and flips in `words` the bits that are set in it.
    pub fn decode(&self, words: &mut [u64], level: usize, decoder: &mut Decoder) {
        if !decoder.choice(self.zero[level]) {
            self.decode_words(words, level, decoder);
        }
    }

    fn decode_words(&self, words: &mut [u64], level: usize, decoder: &mut Decoder) {
        if let [word] = words {
            *word ^= self.decode_bits(WORD, decoder);
            return;
        }
        let half = level - 1;
        let (first, second) = words.split_at_mut(words.len() / 2);
        if decoder.choice(self.first[half]) {
            return self.decode_words(second, half, decoder);
        }
        self.decode_words(first, half, decoder);
        self.decode(second, half, decoder);
    }

    fn decode_bits(&self, level: usize, decoder: &mut Decoder) -> u64 {
        let Some(half) = level.checked_sub(1) else { return 1 };
        let width = 1 << half;
        if decoder.choice(self.first[half]) {
            return self.decode_bits(half, decoder) << width;
        }
        let first = self.decode_bits(half, decoder);
        if decoder.choice(self.zero[half]) { first } else { first | self.decode_bits(half, decoder) << width }
    }
}

fn is_zero(words: &[u64]) -> bool {
    words.iter().all(|word| *word == 0)
}
