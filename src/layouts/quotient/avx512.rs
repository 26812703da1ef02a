//! Lookups on processors with AVX-512, which also count bits, and find one by its rank, in an instruction each: PDEP puts
//! a single bit where the bit of that rank is. (Older processors have PDEP too, but for some of them it is dozens of
//! steps.)

use super::kernel::{self, Kernel};
use super::select::Select;
use super::{Full, Table};
use crate::bits::ring::Batch;
use core::arch::x86_64::_pdep_u64;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel {
    // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT (`simd::Kernel::Avx512`).
    contains: |table, words, hash| unsafe { contains(table, words, hash) },
    // SAFETY: as above.
    contains_many: |table, words, batch| unsafe { contains_many(table, words, batch) },
    // SAFETY: as above.
    count_many: |table, words, hashes, counts| unsafe { count_many(table, words, hashes, counts) },
    // SAFETY: as above.
    insert: |table, words, hash, times| unsafe { insert(table, words, hash, times) },
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
fn contains(table: Table, words: &[AtomicU64], hash: u64) -> bool {
    kernel::contains::<Pdep>(table, words, hash)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn contains_many(table: Table, words: &[AtomicU64], batch: &mut dyn Batch) {
    kernel::contains_many::<Pdep>(table, words, batch);
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn count_many(table: Table, words: &[AtomicU64], hashes: &[u64], counts: &mut [u64]) {
    kernel::count_many::<Pdep>(table, words, hashes, counts);
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn insert(table: Table, words: &mut [u64], hash: u64, times: u64) -> Result<bool, Full> {
    kernel::insert::<Pdep>(table, words, hash, times)
}
