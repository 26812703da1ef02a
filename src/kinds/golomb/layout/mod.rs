//! A Golomb-coded set with a sampled index: distinct whole numbers below a range, in ascending order, written as Rice
//! codes of their gaps. The index says where each bucket of numbers begins.
//!
//! Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009. [`super::sizing`] says which
//! parameter is best, and how many bits a set takes with it.
//!
//! **Buckets.** With Rice parameter P the numbers of bucket b are those from `b 2^(P+5)` up to the first number of the
//! next bucket. The gap of a bucket's first number is its distance from the bucket's beginning; that of any other
//! number is its distance from the number before it, less 1. A gap has a quotient by 2^P, which is less than 32, and a
//! remainder.
//!
//! **Codes.** The quotients of a bucket come first, a quotient q as q zeros and a one. The remainders follow, P bits
//! each, beginning with the remainder of the *last* number. A lookup goes through the ones of the quotients from the
//! bucket's start and through the remainders from its end, so it need not know how many numbers there are, and neither
//! walk waits for the other, as quotients and remainders in turn would. Bits are counted from the lowest bit of the
//! payload's first word.
//!
//! **Index.** Eight buckets are a group. A group's entry says where its codes begin, and how long the codes of its
//! first seven buckets are. The beginning is stored less a straight line through all groups, and a length less the
//! least length, each in as few bits as the largest needs ([`Head`]). After the last entry comes the end of all codes,
//! as if another group followed.
//!
//! **Payload.** The head is in the first line. The index, the codes, at least 64 zeros, and more zeros up to whole
//! lines follow. The range and the numbers determine the payload; without numbers all of it is zero.
//!
//! Positions come from the payload, which opening does not check, so every access to words is checked instead. A forged
//! payload gives wrong answers after at most as much work as its bits, and [`Reader::check`] finds it.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod cursor;
mod lookups;
mod numbers;
mod reader;
mod stream;
mod writer;

pub use cursor::{Combine, Cursor, combined};
pub use numbers::Numbers;
pub use reader::{Reader, Shape, payload_bytes};
pub use stream::{MAX_STREAM_RICE_BITS, Stream, StreamWriter, code_bits};
pub use writer::{Source, write};

use super::sizing;
use crate::bits::read_unaligned;
use crate::simd::Instructions;
use core::sync::atomic::{AtomicU64, Ordering};
use lookups::Kernel;
pub use sizing::{BUCKET_BITS, GROUP, HEAD_BITS, MAX_RICE_BITS};

/// The inner loops of lookups for an instruction set.
fn kernel(instructions: Instructions) -> &'static Kernel {
    match instructions.kernel() {
        #[cfg(all(target_arch = "x86_64", feature = "avx512"))]
        crate::simd::Kernel::Avx512 => &avx512::KERNEL,
        _ => &lookups::PORTABLE,
    }
}

/// The widest field: as many bits as eight bytes have from any bit of their first byte on.
const MAX_FIELD: u32 = 57;

/// The fraction bits of the line's slope.
const SLOPE_BITS: u32 = 16;

/// Zeros after the last code, so that eight bytes can be read from any bit of a code on.
pub const SLACK_BITS: u64 = 64;

/// What the first line of a payload says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// How many numbers there are.
    pub values: u64,
    /// The bits of all codes.
    code_bits: u64,
    /// The Rice parameter.
    rice_bits: u32,
    /// The width of the lengths in the index.
    length_width: u32,
    /// The width of the beginnings in the index.
    start_width: u32,
    /// The length of the shortest bucket.
    least_length: u64,
    /// By how much the line rises from group to group, in 2^-16.
    slope: u64,
    /// The least difference between a beginning and the line, as a number with a sign.
    least_start: u64,
}

impl Head {
    /// The words of the payload's first line.
    fn encode(&self) -> [u64; 6] {
        let widths = u64::from(self.rice_bits) | u64::from(self.length_width) << 8 | u64::from(self.start_width) << 16;
        [self.values, self.code_bits, widths, self.least_length, self.slope, self.least_start]
    }

    fn decode(words: [u64; 6]) -> Option<Head> {
        let [values, code_bits, widths, least_length, slope, least_start] = words;
        let byte = |i: u32| (widths >> (8 * i)) as u32 & 0xff;
        let [rice_bits, length_width, start_width] = [byte(0), byte(1), byte(2)];
        let is_known = widths >> 24 == 0
            && rice_bits <= MAX_RICE_BITS
            && length_width <= MAX_FIELD
            && start_width <= MAX_FIELD
            && (values > 0 || words == [0; 6]);
        let head = Head { values, code_bits, rice_bits, length_width, start_width, least_length, slope, least_start };
        is_known.then_some(head)
    }

    /// The head of a payload; `None` if the words do not hold one.
    fn read(words: &[AtomicU64]) -> Option<Head> {
        let words = words.first_chunk::<6>()?;
        Head::decode(words.each_ref().map(|word| word.load(Ordering::Relaxed)))
    }

    /// The binary logarithm of the numbers of a bucket.
    fn bucket_bits(&self) -> u32 {
        self.rice_bits + BUCKET_BITS
    }

    /// How many buckets there are.
    fn buckets(&self, range: u64) -> u64 {
        if self.values == 0 { 0 } else { sizing::buckets(range, self.rice_bits) }
    }

    /// Whether there is at most one bucket more than numbers, and at least a bit of code for each number. The parameter
    /// that codes numbers best puts 12 or more into a bucket. With another one, an index whose fields have no bits may
    /// claim 2^57 buckets, and no walk through them would end.
    fn has_its_buckets(&self, range: u64) -> bool {
        self.values <= self.code_bits && self.buckets(range).saturating_sub(1) <= self.values
    }

    /// The bits of an entry of the index.
    fn entry_bits(&self) -> u64 {
        u64::from(self.start_width) + (GROUP - 1) * u64::from(self.length_width)
    }

    /// Where the codes begin; `None` past 2^63.
    fn codes(&self, range: u64) -> Option<u64> {
        let groups = self.buckets(range).div_ceil(GROUP);
        let index = groups.checked_mul(self.entry_bits())?.checked_add(self.start_width.into())?;
        index.checked_add(HEAD_BITS).filter(|bits| *bits < 1 << 63)
    }

    /// The bits of the payload up to the end of the last code; `None` past 2^63.
    fn bits(&self, range: u64) -> Option<u64> {
        self.codes(range)?.checked_add(self.code_bits).filter(|bits| *bits < 1 << 63)
    }

    /// Where the codes of a group would begin if all groups were alike.
    #[inline(always)]
    fn line(&self, group: u64) -> u64 {
        group.wrapping_mul(self.slope) >> SLOPE_BITS
    }
}

/// The `width` bits from a bit on, at most [`MAX_FIELD`]; zero if the eight bytes with them are not among the words.
#[inline(always)]
fn field(words: &[AtomicU64], bit: u64, width: u32) -> u64 {
    read_unaligned(words, bit / 8) >> (bit % 8) & ((1 << width) - 1)
}

/// The 64 bits from a bit on. Bits of eight bytes that are not all among the words read as zeros.
#[inline(always)]
fn window(words: &[AtomicU64], bit: u64) -> u64 {
    let (low, high) = (read_unaligned(words, bit / 8), read_unaligned(words, bit / 8 + 8));
    // The shift goes in two steps, because a shift by 64 bits is not allowed.
    low >> (bit % 8) | high << 1 << (63 - bit % 8)
}
