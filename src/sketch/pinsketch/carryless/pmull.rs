//! aarch64 with PMULL.

use std::arch::aarch64::vmull_p64;

/// Products by PMULL.
pub(super) struct Pmull;

// SAFETY: each product needs PMULL, as the trait says.
unsafe impl super::Carryless for Pmull {
    type Wide = u128;
    type Factor = u64;

    #[inline(always)]
    unsafe fn factor(a: u64) -> u64 {
        a
    }

    #[inline]
    #[target_feature(enable = "aes")]
    unsafe fn times(a: &u64, b: u64) -> u128 {
        vmull_p64(*a, b)
    }

    #[inline(always)]
    unsafe fn sum(a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline]
    #[target_feature(enable = "aes")]
    unsafe fn reduced(product: u128, modulus: u64) -> u64 {
        // SAFETY: the caller has PMULL.
        let (once, twice) = unsafe {
            let once = Self::product((product >> 64) as u64, modulus);
            (once, Self::product((once >> 64) as u64, modulus))
        };
        (product ^ once ^ twice) as u64
    }
}

super::loops!(Pmull, #[target_feature(enable = "aes")]);
