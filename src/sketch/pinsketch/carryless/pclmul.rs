//! x86-64 with PCLMULQDQ.

use std::arch::x86_64::*;

/// Products by PCLMULQDQ.
pub(super) struct Pclmul;

// SAFETY: each function needs PCLMULQDQ, as the trait says; SSE2 is part of x86-64.
unsafe impl super::Carryless for Pclmul {
    type Wide = __m128i;
    type Factor = __m128i;

    #[inline(always)]
    unsafe fn factor(a: u64) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_cvtsi64_si128(a as i64) }
    }

    #[inline(always)]
    unsafe fn times(a: &__m128i, b: u64) -> __m128i {
        // SAFETY: the caller has PCLMULQDQ.
        unsafe { _mm_clmulepi64_si128(*a, _mm_cvtsi64_si128(b as i64), 0) }
    }

    #[inline(always)]
    unsafe fn sum(a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_xor_si128(a, b) }
    }

    #[inline(always)]
    unsafe fn reduced(product: __m128i, modulus: u64) -> u64 {
        // SAFETY: the caller has PCLMULQDQ.
        unsafe {
            let modulus = _mm_cvtsi64_si128(modulus as i64);
            let once = _mm_clmulepi64_si128(product, modulus, 1);
            let twice = _mm_clmulepi64_si128(once, modulus, 1);
            _mm_cvtsi128_si64(_mm_xor_si128(product, _mm_xor_si128(once, twice))) as u64
        }
    }
}

super::loops!(Pclmul, #[target_feature(enable = "pclmulqdq")]);
