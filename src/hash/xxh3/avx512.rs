//! XXH3 of `u64` keys, eight in a vector.

use super::{MULTIPLIER, portable};
use core::arch::x86_64::*;

/// Keys in a vector.
const WIDTH: usize = 8;

/// [`portable::hash_u64`] of `GROUPS` times eight keys.
///
/// It is a chain of steps that wait for each other, some for 15 cycles. So all groups take a step before any of them
/// takes the next: the processor looks only a few dozen instructions ahead for one that need not wait.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn hash<const GROUPS: usize>(flip: __m512i, mut x: [__m512i; GROUPS]) -> [__m512i; GROUPS] {
    let multiplier = _mm512_set1_epi64(MULTIPLIER as i64);
    for x in &mut x {
        let mixed = _mm512_xor_si512(_mm512_rol_epi64::<32>(*x), flip);
        // 0x96 is the exclusive or of three numbers.
        *x = _mm512_ternarylogic_epi64::<0x96>(mixed, _mm512_rol_epi64::<49>(mixed), _mm512_rol_epi64::<24>(mixed));
    }
    for x in &mut x {
        *x = in_turn(_mm512_mullo_epi64(*x, multiplier));
    }
    for x in &mut x {
        let shifted = _mm512_add_epi64(_mm512_srli_epi64::<35>(*x), _mm512_set1_epi64(8));
        *x = in_turn(_mm512_xor_si512(*x, shifted));
    }
    for x in &mut x {
        *x = in_turn(_mm512_mullo_epi64(*x, multiplier));
    }
    for x in &mut x {
        *x = _mm512_xor_si512(*x, _mm512_srli_epi64::<28>(*x));
    }
    x
}

/// [`hash`] from memory to memory.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
#[allow(clippy::needless_range_loop, reason = "iterators that are not inlined would be compiled without AVX-512")]
fn hash_in_memory<const GROUPS: usize>(flip: __m512i, keys: &[[u64; WIDTH]], hashes: &mut [[u64; WIDTH]]) {
    let mut x = [flip; GROUPS];
    for i in 0..GROUPS {
        x[i] = load_up_to_eight(&keys[i]);
    }
    let x = hash::<GROUPS>(flip, x);
    for i in 0..GROUPS {
        // SAFETY: eight numbers.
        unsafe { _mm512_storeu_si512(hashes[i].as_mut_ptr().cast(), x[i]) };
    }
}

/// Gives its argument back; the compiler must have the number ready at this place in the order of the program.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn in_turn(mut x: __m512i) -> __m512i {
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {} */", inout(zmm_reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

/// The hashes of many keys; `hashes` is as long as `keys`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    let flips = _mm512_set1_epi64(flip as i64);
    let (groups, rest) = keys.as_chunks::<WIDTH>();
    let (to_groups, to_rest) = hashes.as_chunks_mut::<WIDTH>();
    let (rows, few) = groups.as_chunks::<8>();
    let (to_rows, to_few) = to_groups.as_chunks_mut::<8>();
    for (keys, hashes) in rows.iter().zip(to_rows) {
        hash_in_memory::<8>(flips, keys, hashes);
    }
    for (keys, hashes) in few.chunks(1).zip(to_few.chunks_mut(1)) {
        hash_in_memory::<1>(flips, keys, hashes);
    }
    for (key, hash) in rest.iter().zip(to_rest) {
        *hash = portable::hash_u64(flip, *key);
    }
}

/// The first eight numbers. If there are fewer, at least one, copies of the last one follow.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn load_up_to_eight(keys: &[u64]) -> __m512i {
    if let Some(eight) = keys.first_chunk::<WIDTH>() {
        // SAFETY: eight numbers.
        return unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
    }
    let last = _mm512_set1_epi64(keys.last().map_or(0, |key| *key as i64));
    let there = (1_u8 << keys.len()) - 1;
    // SAFETY: only numbers that are there are read.
    unsafe { _mm512_mask_loadu_epi64(last, there, keys.as_ptr().cast()) }
}
