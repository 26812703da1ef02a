//! XXH3 of `u64` keys for AVX2, four in a vector.

use super::{MULTIPLIER, portable};
use core::arch::x86_64::*;

/// The low halves of the products of four numbers with `by`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn multiply(x: __m256i, by: u64) -> __m256i {
    let (low, high) = (_mm256_set1_epi64x(by as i64), _mm256_set1_epi64x((by >> 32) as i64));
    let crossed = _mm256_add_epi64(_mm256_mul_epu32(x, high), _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), low));
    _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64::<32>(crossed))
}

/// [`portable::hash_u64`] of `GROUPS` times four keys. All keys take each step of it together, because a step waits for
/// the one before.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[allow(clippy::needless_range_loop, reason = "iterators that are not inlined would be compiled without AVX2")]
fn hash<const GROUPS: usize>(flip: __m256i, keys: &[[u64; 4]], hashes: &mut [[u64; 4]]) {
    let mut x = [flip; GROUPS];
    for i in 0..GROUPS {
        // SAFETY: four numbers.
        let keys = unsafe { _mm256_loadu_si256(keys[i].as_ptr().cast()) };
        // Exchanges the halves of each number.
        let mixed = _mm256_xor_si256(_mm256_shuffle_epi32::<0b10_11_00_01>(keys), flip);
        let rotated_49 = _mm256_or_si256(_mm256_slli_epi64::<49>(mixed), _mm256_srli_epi64::<15>(mixed));
        let rotated_24 = _mm256_or_si256(_mm256_slli_epi64::<24>(mixed), _mm256_srli_epi64::<40>(mixed));
        x[i] = _mm256_xor_si256(mixed, _mm256_xor_si256(rotated_49, rotated_24));
    }
    for x in &mut x {
        *x = in_turn(multiply(*x, MULTIPLIER));
    }
    for x in &mut x {
        *x = in_turn(_mm256_xor_si256(*x, _mm256_add_epi64(_mm256_srli_epi64::<35>(*x), _mm256_set1_epi64x(8))));
    }
    for x in &mut x {
        *x = in_turn(multiply(*x, MULTIPLIER));
    }
    for i in 0..GROUPS {
        let hash = _mm256_xor_si256(x[i], _mm256_srli_epi64::<28>(x[i]));
        // SAFETY: four numbers.
        unsafe { _mm256_storeu_si256(hashes[i].as_mut_ptr().cast(), hash) };
    }
}

/// Gives its argument back; the compiler must have the number ready at this place in the order of the program.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn in_turn(mut x: __m256i) -> __m256i {
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {} */", inout(ymm_reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

/// How many groups of keys take turns: as many as there are registers for.
const TURNS: usize = 4;

/// The hashes of many keys; `hashes` is as long as `keys`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    let flips = _mm256_set1_epi64x(flip as i64);
    let (groups, rest) = keys.as_chunks::<4>();
    let (to_groups, to_rest) = hashes.as_chunks_mut::<4>();
    let (rows, few) = groups.as_chunks::<TURNS>();
    let (to_rows, to_few) = to_groups.as_chunks_mut::<TURNS>();
    for (keys, hashes) in rows.iter().zip(to_rows) {
        hash::<TURNS>(flips, keys, hashes);
    }
    for (keys, hashes) in few.chunks(1).zip(to_few.chunks_mut(1)) {
        hash::<1>(flips, keys, hashes);
    }
    for (key, hash) in rest.iter().zip(to_rest) {
        *hash = portable::hash_u64(flip, *key);
    }
}
