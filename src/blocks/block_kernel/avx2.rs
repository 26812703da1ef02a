//! What the kernels for AVX2 have in common: reading a block in which others set bits, and words out of vectors.

use core::arch::x86_64::*;

/// The 32 bytes that begin `AFTER` bytes after an address. Another thread may be setting bits in them.
///
/// Each aligned eight bytes of a vector load are read in one piece, so this is four relaxed loads. It is written in
/// assembly because the language knows no atomic load of a vector, and a plain one would be a data race.
///
/// # Safety
/// The bytes are readable.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn load_half_line<const AFTER: usize>(address: *const u64) -> __m256i {
    let line;
    // SAFETY: the caller promises that the bytes are readable; nothing is written but the register.
    unsafe {
        core::arch::asm!("vmovdqu {}, [{} + {after}]", out(ymm_reg) line, in(reg) address, after = const AFTER,
            options(pure, readonly, nostack, preserves_flags));
    }
    line
}

/// Which of four words are not zero, a bit for each word.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn not_zero(words: __m256i) -> u8 {
    let zero = _mm256_castsi256_pd(_mm256_cmpeq_epi64(words, _mm256_setzero_si256()));
    _mm256_movemask_pd(zero) as u8 ^ 0b1111
}

/// The words of a vector.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn words_of(vector: __m256i) -> [u64; 4] {
    let mut words = [0; 4];
    // SAFETY: four words.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
    words
}
