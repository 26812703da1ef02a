//! The kernels for AVX2. Block and lanes of a key are scalar arithmetic, for which the processor has other ports, so keys go
//! one by one; the bits and the block are vectors.

use super::layout::{BLOCK_WORDS, SALTS, SPLIT_BLOCK_WORDS, block_start, lanes, masks, split_block_start};
use super::portable::{self, XXH3_MULTIPLIER, blocked_fetch, split_block_fetch};
use super::{BlockKernel, Kernel, Kernels};
use crate::bits::prefetch;
use crate::bits::ring::{self, rolling};
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

static KERNELS: Kernels = Kernels {
    kernel: Kernel::Avx2,
    hash_u64s,
    split_block: BlockKernel {
        contains_one: |words, _, key| {
            // SAFETY: this kernel is given out only where the processor has AVX2.
            unsafe { split_block_contains_one(words, key) }
        },
        insert_one: |words, _, key| {
            // SAFETY: as above.
            unsafe { split_block_insert_one(words, key) }
        },
        contains: split_block_contains,
        insert: split_block_insert,
    },
    blocked: BlockKernel {
        contains_one: |words, hashes, key| {
            // SAFETY: as above.
            unsafe { blocked_contains_one(words, masks(hashes), key) }
        },
        insert_one: |words, hashes, key| {
            // SAFETY: as above.
            unsafe { blocked_insert_one(words, masks(hashes), key) }
        },
        contains: blocked_contains,
        insert: blocked_insert,
    },
};

/// These kernels, if the processor runs them.
pub fn kernels() -> Option<&'static Kernels> {
    is_x86_feature_detected!("avx2").then_some(&KERNELS)
}

// ---- XXH3 of eight bytes ---------------------------------------------------------------------------------------------

/// The low halves of the products of four numbers with one, which is given as it is and shifted down by 32.
#[inline]
#[target_feature(enable = "avx2")]
fn multiply(x: __m256i, by: u64) -> __m256i {
    let (low, high) = (_mm256_set1_epi64x(by as i64), _mm256_set1_epi64x((by >> 32) as i64));
    let crossed = _mm256_add_epi64(_mm256_mul_epu32(x, high), _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), low));
    _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64::<32>(crossed))
}

/// [`portable::xxh3_u64`] of four keys.
#[inline]
#[target_feature(enable = "avx2")]
fn xxh3_u64(flip: __m256i, keys: __m256i) -> __m256i {
    let rotated_49 = |x| _mm256_or_si256(_mm256_slli_epi64::<49>(x), _mm256_srli_epi64::<15>(x));
    let rotated_24 = |x| _mm256_or_si256(_mm256_slli_epi64::<24>(x), _mm256_srli_epi64::<40>(x));
    // Exchanges the halves of each number.
    let x = _mm256_xor_si256(_mm256_shuffle_epi32::<0b10_11_00_01>(keys), flip);
    let x = _mm256_xor_si256(x, _mm256_xor_si256(rotated_49(x), rotated_24(x)));
    let x = multiply(x, XXH3_MULTIPLIER);
    let x = _mm256_xor_si256(x, _mm256_add_epi64(_mm256_srli_epi64::<35>(x), _mm256_set1_epi64x(8)));
    let x = multiply(x, XXH3_MULTIPLIER);
    _mm256_xor_si256(x, _mm256_srli_epi64::<28>(x))
}

#[target_feature(enable = "avx2")]
fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    let flips = _mm256_set1_epi64x(flip as i64);
    let (groups, rest) = keys.as_chunks::<4>();
    let (to_groups, to_rest) = hashes.as_chunks_mut::<4>();
    for (keys, hashes) in groups.iter().zip(to_groups) {
        // SAFETY: four numbers each.
        unsafe {
            let keys = _mm256_loadu_si256(keys.as_ptr().cast());
            _mm256_storeu_si256(hashes.as_mut_ptr().cast(), xxh3_u64(flips, keys));
        }
    }
    for (key, hash) in rest.iter().zip(to_rest) {
        *hash = portable::xxh3_u64(flip, *key);
    }
}

/// The 32 bytes at an address, in which another thread may be setting bits.
///
/// Each aligned eight bytes of a vector load are read at once, so this is four relaxed loads. It is written in assembly
/// because the language knows no atomic load of a vector, and a plain one would be a data race.
///
/// # Safety
/// The bytes are readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_half_line(address: *const u64) -> __m256i {
    let line;
    // SAFETY: the caller's promise; nothing is written but the register.
    unsafe {
        core::arch::asm!("vmovdqu {}, [{}]", out(ymm_reg) line, in(reg) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    line
}

// ---- The blocked layout ----------------------------------------------------------------------------------------------

/// The bits of a key in the lanes of each half of a block.
#[inline]
#[target_feature(enable = "avx2")]
fn blocked_bits(key: u64) -> [__m256i; 2] {
    let [a, b, c, d, e, f, g, h] = SALTS.map(i64::from);
    let key = _mm256_set1_epi64x(key as i64);
    [_mm256_setr_epi64x(a, b, c, d), _mm256_setr_epi64x(e, f, g, h)].map(|salts| {
        let product = _mm256_mul_epu32(key, salts);
        // The even lanes take bits 27 to 31 of the products, the odd ones bits 32 to 36.
        let numbers = _mm256_and_si256(_mm256_srlv_epi32(product, _mm256_set1_epi64x(27)), _mm256_set1_epi32(31));
        _mm256_sllv_epi32(_mm256_set1_epi32(1), numbers)
    })
}

/// All ones in the lanes of a mask, zero in the others, for each half of a block.
#[inline]
#[target_feature(enable = "avx2")]
fn chosen_lanes(mask: u16) -> [__m256i; 2] {
    let mask = _mm256_set1_epi16(mask as i16);
    [
        _mm256_setr_epi32(1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7),
        _mm256_setr_epi32(1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15),
    ]
    .map(|lane| _mm256_cmpeq_epi32(_mm256_and_si256(mask, lane), lane))
}

/// Whether a key may be there.
#[inline]
#[target_feature(enable = "avx2")]
fn blocked_contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let start = block_start(words.len(), key);
    let block = words[start..start + BLOCK_WORDS].as_ptr().cast::<u64>();
    // SAFETY: a block is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line(block), load_half_line(block.add(BLOCK_WORDS / 2))) };
    let ([low_bits, high_bits], [low_lanes, high_lanes]) = (blocked_bits(key), chosen_lanes(lanes(masks, key)));
    let missing = _mm256_or_si256(
        _mm256_and_si256(_mm256_andnot_si256(low, low_bits), low_lanes),
        _mm256_and_si256(_mm256_andnot_si256(high, high_bits), high_lanes),
    );
    _mm256_testz_si256(missing, missing) == 1
}

/// Inserts a key; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2")]
fn blocked_insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let start = block_start(words.len(), key);
    let block = words[start..start + BLOCK_WORDS].as_mut_ptr().cast::<__m256i>();
    let ([low_bits, high_bits], [low_lanes, high_lanes]) = (blocked_bits(key), chosen_lanes(lanes(masks, key)));
    let (low_bits, high_bits) = (_mm256_and_si256(low_bits, low_lanes), _mm256_and_si256(high_bits, high_lanes));
    // SAFETY: a block is 64 bytes, which are ours alone.
    unsafe {
        let (low, high) = (_mm256_loadu_si256(block), _mm256_loadu_si256(block.add(1)));
        _mm256_storeu_si256(block, _mm256_or_si256(low, low_bits));
        _mm256_storeu_si256(block.add(1), _mm256_or_si256(high, high_bits));
        let missing = _mm256_or_si256(_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits));
        _mm256_testz_si256(missing, missing) == 0
    }
}

#[target_feature(enable = "avx2")]
fn blocked_contains(words: &[AtomicU64], hashes: u32, keys: &[u64], found: &mut [bool]) {
    let masks = masks(hashes);
    let fetch = |words: &&[AtomicU64], key| blocked_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| blocked_contains_one(words, masks, key);
    rolling(&mut { words }, ring::ahead(words.len(), 1), keys, found, fetch, answer);
}

#[target_feature(enable = "avx2")]
fn blocked_insert(words: &mut [u64], hashes: u32, keys: &[u64], new: &mut [bool]) {
    let masks = masks(hashes);
    let fetch = |words: &[u64], key| prefetch(&words[block_start(words.len(), key)]);
    rolling(words, ring::ahead(words.len(), 1), keys, new, fetch, |words, key| blocked_insert_one(words, masks, key));
}

// ---- The split-block layout ------------------------------------------------------------------------------------------

/// The bits of a key in the eight lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn split_block_bits(key: u64) -> __m256i {
    let [a, b, c, d, e, f, g, h] = SALTS.map(|salt| salt as i32);
    let product = _mm256_mullo_epi32(_mm256_set1_epi32(key as i32), _mm256_setr_epi32(a, b, c, d, e, f, g, h));
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(product))
}

/// Whether a key may be there.
#[inline]
#[target_feature(enable = "avx2")]
fn split_block_contains_one(words: &[AtomicU64], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = &words[start..start + SPLIT_BLOCK_WORDS];
    // SAFETY: a block is 32 readable bytes.
    let block = unsafe { load_half_line(block.as_ptr().cast()) };
    _mm256_testc_si256(block, split_block_bits(key)) == 1
}

#[target_feature(enable = "avx2")]
fn split_block_contains(words: &[AtomicU64], _: u32, keys: &[u64], found: &mut [bool]) {
    let fetch = |words: &&[AtomicU64], key| split_block_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| split_block_contains_one(words, key);
    rolling(&mut { words }, ring::ahead(words.len(), 1), keys, found, fetch, answer);
}

/// Inserts a key; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2")]
fn split_block_insert_one(words: &mut [u64], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = words[start..start + SPLIT_BLOCK_WORDS].as_mut_ptr().cast::<__m256i>();
    let bits = split_block_bits(key);
    // SAFETY: a block is 32 bytes, which are ours alone.
    unsafe {
        let old = _mm256_loadu_si256(block);
        _mm256_storeu_si256(block, _mm256_or_si256(old, bits));
        _mm256_testc_si256(old, bits) == 0
    }
}

#[target_feature(enable = "avx2")]
fn split_block_insert(words: &mut [u64], _: u32, keys: &[u64], new: &mut [bool]) {
    let fetch = |words: &[u64], key| prefetch(&words[split_block_start(words.len(), key)]);
    rolling(words, ring::ahead(words.len(), 1), keys, new, fetch, |words, key| split_block_insert_one(words, key));
}
