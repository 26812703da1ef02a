//! For processors with AVX-512, which also find a bit by its rank in an instruction.

use super::Shape;
use super::kernel::{self, Kernel};
use crate::layouts::quotient::Full;
use crate::layouts::quotient::select::Select;
use core::arch::x86_64::_pdep_u64;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel {
    // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT (`simd::Kernel::Avx512`).
    contains: |shape, words, slot, tail| unsafe { contains(shape, words, slot, tail) },
    // SAFETY: as above.
    insert: |shape, words, number, times| unsafe { insert(shape, words, number, times) },
};

/// By PDEP. Only for what is called where the processor has it: in this file.
#[derive(Clone, Copy)]
struct Pdep;

impl Select for Pdep {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        // SAFETY: nothing but the functions of this file's kernel has this type.
        unsafe { _pdep_u64(1 << rank, word) }.trailing_zeros()
    }
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn contains(shape: &Shape, words: &[AtomicU64], slot: u64, tail: u64) -> bool {
    kernel::contains::<Pdep>(shape, words, slot, tail)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn insert(shape: &Shape, words: &mut [u64], number: u64, times: u64) -> Result<bool, Full> {
    kernel::insert::<Pdep>(shape, words, number, times)
}
