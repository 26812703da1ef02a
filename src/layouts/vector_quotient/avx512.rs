//! With AVX-512: all tags of a block are compared at once, and the place of a bit is found by its rank in an instruction:
//! PDEP puts a single bit where the bit of that rank is.

use super::Blocks;
use super::block::{Instructed, Line, Run};
use super::kernel::{self, Kernel};
use crate::bits::ring::{Batch, Few};
use crate::layouts::block_kernel::avx512::load_line;
use crate::simd::Instructions;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernels for tags of 8 and of 16 bits.
pub(super) static KERNELS: [Kernel; 2] = [kernel::<8>(), kernel::<16>()];

const fn kernel<const BITS: u32>() -> Kernel {
    Kernel {
        // SAFETY: this kernel is given out for processors that have AVX-512 F, BW, DQ and VL, BMI1,
        // BMI2, LZCNT and POPCNT (`simd::Kernel::Avx512`).
        contains: |blocks, words, hash| unsafe { contains::<BITS>(blocks, words, hash) },
        // SAFETY: as above.
        contains_many: |blocks, words, batch| unsafe { contains_many::<BITS>(blocks, words, batch) },
        // SAFETY: as above.
        contains_few: |blocks, words, instructions, few| unsafe {
            contains_few::<BITS>(blocks, words, instructions, few)
        },
        // SAFETY: as above.
        copies: |blocks, words, hash| unsafe { copies::<BITS>(blocks, words, hash) },
        // SAFETY: as above.
        insert: |blocks, words, hash| unsafe { insert::<BITS>(blocks, words, hash) },
    }
}

/// By vectors of 64 bytes. Only for what is called where the processor has all that: in this file.
#[derive(Clone, Copy)]
struct Lines;

impl Instructed for Lines {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        // SAFETY: nothing but the functions of this file's kernels has this type.
        unsafe { _pdep_u64(1 << rank, word) }.trailing_zeros()
    }

    #[inline(always)]
    fn matches<const BITS: u32>(line: &impl Line, run: Run, tag: u64) -> u64 {
        // SAFETY: nothing but the functions of this file's kernels has this type.
        let equal = unsafe { equal::<BITS>(line, tag) };
        equal >> (run.start & 63) & run.mask()
    }
}

/// The slots that have a tag, a bit each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn equal<const BITS: u32>(line: &impl Line, tag: u64) -> u64 {
    // SAFETY: a line is 64 readable bytes.
    let line = unsafe { load_line(line.start()) };
    match BITS {
        8 => _mm512_cmpeq_epi8_mask(line, _mm512_set1_epi8(tag as i8)) >> 16,
        _ => u64::from(_mm512_cmpeq_epi16_mask(line, _mm512_set1_epi16(tag as i16))) >> 4,
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> bool {
    kernel::contains::<BITS, Lines>(blocks, words, hash)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_many<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], batch: &mut dyn Batch) {
    kernel::contains_many::<BITS, Lines>(blocks, words, batch);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_few<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], instructions: Instructions, few: &Few) -> u64 {
    kernel::contains_few::<BITS, Lines>(blocks, words, instructions, few)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn copies<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> u64 {
    super::copies::<BITS, Lines>(blocks, words, hash)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert<const BITS: u32>(blocks: &Blocks, words: &mut [u64], hash: u64) -> Option<bool> {
    kernel::insert::<BITS, Lines>(blocks, words, hash)
}
