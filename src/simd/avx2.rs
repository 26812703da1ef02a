//! The kernels for AVX2. Block and lanes of a key are scalar arithmetic, for which the processor has other ports, so
//! keys go one by one; the bits and the block are vectors.

use super::fills::{self, Fills};
use super::layout::{BYTES_OF_BITS, SALTS, SPLIT_BLOCK_WORDS, block, block_mut, lanes, split_block_start};
use super::portable::{self, XXH3_MULTIPLIER, blocked_fetch, set_lacking, split_block_fetch};
use super::{BlockKernel, Kernel, Kernels};
use crate::bits::prefetch;
use crate::bits::ring::{self, Batch, Few, answer_few, inserting, nothing, rolling};
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
        insert_one_shared: |words, _, key| {
            // SAFETY: as above.
            unsafe { split_block_insert_one_shared(words, key) }
        },
        contains: split_block_contains,
        insert: split_block_insert,
        fills: split_block_fills,
        contains_few: split_block_contains_few,
        insert_few: split_block_insert_few,
    },
    blocked: BlockKernel {
        contains_one: |words, masks, key| {
            // SAFETY: as above.
            unsafe { blocked_contains_one(words, masks, key) }
        },
        insert_one: |words, masks, key| {
            // SAFETY: as above.
            unsafe { blocked_insert_one(words, masks, key) }
        },
        insert_one_shared: |words, masks, key| {
            // SAFETY: as above.
            unsafe { blocked_insert_one_shared(words, masks, key) }
        },
        contains: blocked_contains,
        insert: blocked_insert,
        fills: blocked_fills,
        contains_few: blocked_contains_few,
        insert_few: blocked_insert_few,
    },
};

/// These kernels, if the processor runs them.
pub fn kernels() -> Option<&'static Kernels> {
    is_x86_feature_detected!("avx2").then_some(&KERNELS)
}

// ---- XXH3 of eight bytes --------------------------------------------------------------------------------------------

/// The low halves of the products of four numbers with one, which is given as it is and shifted down by 32.
#[inline]
#[target_feature(enable = "avx2")]
fn multiply(x: __m256i, by: u64) -> __m256i {
    let (low, high) = (_mm256_set1_epi64x(by as i64), _mm256_set1_epi64x((by >> 32) as i64));
    let crossed = _mm256_add_epi64(_mm256_mul_epu32(x, high), _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), low));
    _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64::<32>(crossed))
}

/// [`portable::xxh3_u64`] of `GROUPS` times four keys, which take each step of it together: a step waits for the one
/// before.
#[inline]
#[target_feature(enable = "avx2")]
fn xxh3_u64<const GROUPS: usize>(flip: __m256i, keys: &[[u64; 4]], hashes: &mut [[u64; 4]]) {
    let rotated_49 = |x| _mm256_or_si256(_mm256_slli_epi64::<49>(x), _mm256_srli_epi64::<15>(x));
    let rotated_24 = |x| _mm256_or_si256(_mm256_slli_epi64::<24>(x), _mm256_srli_epi64::<40>(x));
    let mut x: [__m256i; GROUPS] = core::array::from_fn(|i| {
        // SAFETY: four numbers.
        let keys = unsafe { _mm256_loadu_si256(keys[i].as_ptr().cast()) };
        // Exchanges the halves of each number.
        let x = _mm256_xor_si256(_mm256_shuffle_epi32::<0b10_11_00_01>(keys), flip);
        _mm256_xor_si256(x, _mm256_xor_si256(rotated_49(x), rotated_24(x)))
    });
    for x in &mut x {
        *x = in_turn(multiply(*x, XXH3_MULTIPLIER));
    }
    for x in &mut x {
        *x = in_turn(_mm256_xor_si256(*x, _mm256_add_epi64(_mm256_srli_epi64::<35>(*x), _mm256_set1_epi64x(8))));
    }
    for x in &mut x {
        *x = in_turn(multiply(*x, XXH3_MULTIPLIER));
    }
    for (x, hashes) in x.into_iter().zip(hashes) {
        // SAFETY: four numbers.
        unsafe {
            _mm256_storeu_si256(hashes.as_mut_ptr().cast(), _mm256_xor_si256(x, _mm256_srli_epi64::<28>(x)));
        }
    }
}

/// Gives its argument back; the compiler must have the number at this place in the order of the program.
#[inline]
#[target_feature(enable = "avx2")]
fn in_turn(mut x: __m256i) -> __m256i {
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {} */", inout(ymm_reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

/// How many groups of keys take turns: as many as there are registers for.
const TURNS: usize = 4;

#[target_feature(enable = "avx2")]
fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    let flips = _mm256_set1_epi64x(flip as i64);
    let (groups, rest) = keys.as_chunks::<4>();
    let (to_groups, to_rest) = hashes.as_chunks_mut::<4>();
    let (rows, few) = groups.as_chunks::<TURNS>();
    let (to_rows, to_few) = to_groups.as_chunks_mut::<TURNS>();
    for (keys, hashes) in rows.iter().zip(to_rows) {
        xxh3_u64::<TURNS>(flips, keys, hashes);
    }
    for (keys, hashes) in few.chunks(1).zip(to_few.chunks_mut(1)) {
        xxh3_u64::<1>(flips, keys, hashes);
    }
    for (key, hash) in rest.iter().zip(to_rest) {
        *hash = portable::xxh3_u64(flip, *key);
    }
}

/// 32 bytes, so many bytes after an address, in which another thread may be setting bits.
///
/// Each aligned eight bytes of a vector load are read at once, so this is four relaxed loads. It is written in assembly
/// because the language knows no atomic load of a vector, and a plain one would be a data race.
///
/// # Safety
/// The bytes are readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_half_line<const AFTER: usize>(address: *const u64) -> __m256i {
    let line;
    // SAFETY: the caller's promise; nothing is written but the register.
    unsafe {
        core::arch::asm!("vmovdqu {}, [{} + {after}]", out(ymm_reg) line, in(reg) address, after = const AFTER,
            options(pure, readonly, nostack, preserves_flags));
    }
    line
}

// ---- The blocked layout ---------------------------------------------------------------------------------------------

/// The bits of a key in each half of a block: in the lanes of its mask, one each.
#[inline]
#[target_feature(enable = "avx2")]
fn blocked_bits(mask: u16, key: u64) -> [__m256i; 2] {
    let [a, b, c, d, e, f, g, h] = SALTS.map(i64::from);
    let key = _mm256_set1_epi64x(key as i64);
    let salts = [_mm256_setr_epi64x(a, b, c, d), _mm256_setr_epi64x(e, f, g, h)];
    core::array::from_fn(|half| {
        let product = _mm256_mul_epu32(key, salts[half]);
        // The even lanes take bits 27 to 31 of the products, the odd ones bits 32 to 36.
        let numbers = _mm256_and_si256(_mm256_srlv_epi32(product, _mm256_set1_epi64x(27)), _mm256_set1_epi32(31));
        // What is shifted is 1 in the lanes of the mask and 0 in the others.
        let ones = BYTES_OF_BITS[usize::from(mask.to_le_bytes()[half])];
        _mm256_sllv_epi32(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(ones as i64)), numbers)
    })
}

/// Whether a key may be there.
#[inline]
#[target_feature(enable = "avx2")]
fn blocked_contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key).as_ptr().cast::<u64>();
    // SAFETY: a block is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line::<0>(block), load_half_line::<32>(block)) };
    let [low_bits, high_bits] = blocked_bits(lanes(masks, key), key);
    let missing = _mm256_or_si256(_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits));
    _mm256_testz_si256(missing, missing) == 1
}

/// Inserts a key; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2")]
fn blocked_insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast::<__m256i>();
    let [low_bits, high_bits] = blocked_bits(lanes(masks, key), key);
    // SAFETY: a block is 64 bytes, which are ours alone.
    unsafe {
        let (low, high) = (_mm256_loadu_si256(block), _mm256_loadu_si256(block.add(1)));
        _mm256_storeu_si256(block, _mm256_or_si256(low, low_bits));
        _mm256_storeu_si256(block.add(1), _mm256_or_si256(high, high_bits));
        let missing = _mm256_or_si256(_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits));
        _mm256_testz_si256(missing, missing) == 0
    }
}

/// Those of four words that are not zero, a bit each.
#[inline]
#[target_feature(enable = "avx2")]
fn not_zero(words: __m256i) -> u8 {
    let zero = _mm256_castsi256_pd(_mm256_cmpeq_epi64(words, _mm256_setzero_si256()));
    _mm256_movemask_pd(zero) as u8 ^ 0b1111
}

/// The words of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn words_of(vector: __m256i) -> [u64; 4] {
    let mut words = [0; 4];
    // SAFETY: four words.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
    words
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2")]
fn blocked_insert_one_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    prefetch(block);
    let address = block.as_ptr().cast::<u64>();
    // SAFETY: a block is 64 readable bytes.
    let (low, high) = unsafe { (load_half_line::<0>(address), load_half_line::<32>(address)) };
    let [low_bits, high_bits] = blocked_bits(lanes(masks, key), key);
    let (low, high) = (_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits));
    let (low_half, high_half) = block.split_at(4);
    // Both halves, whatever was new in the first.
    set_lacking(low_half, &words_of(low), not_zero(low)) | set_lacking(high_half, &words_of(high), not_zero(high))
}

#[target_feature(enable = "avx2")]
fn blocked_contains(words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &&[AtomicU64], key| blocked_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| blocked_contains_one(words, masks, key);
    rolling(&mut { words }, ring::ahead(words.len(), 1), batch, fetch, nothing, answer);
}

#[target_feature(enable = "avx2")]
fn blocked_insert(words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &[u64], key| prefetch(block(words, key));
    inserting(words, ring::ahead(words.len(), 1), batch, fetch, |words, key| blocked_insert_one(words, masks, key));
}

#[target_feature(enable = "avx2")]
fn blocked_fills(words: &[AtomicU64], hashes: u32) -> Fills {
    fills::blocked(words, hashes)
}

#[target_feature(enable = "avx2")]
fn blocked_contains_few(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
    let fetch = |words: &&[AtomicU64], key| blocked_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| blocked_contains_one(words, masks, key);
    answer_few(
        &mut { words },
        words.len() >= ring::FETCH_FROM,
        few,
        |flip, keys, hashes| hash_u64s(flip, keys, hashes),
        fetch,
        answer,
    )
}

#[target_feature(enable = "avx2")]
fn blocked_insert_few(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
    let fetching = words.len() >= ring::FETCH_FROM;
    let fetch = |words: &[u64], key| prefetch(block(words, key));
    answer_few(
        words,
        fetching,
        few,
        |flip, keys, hashes| hash_u64s(flip, keys, hashes),
        fetch,
        |words, key| blocked_insert_one(words, masks, key) & is_asked,
    )
}

// ---- The split-block layout -----------------------------------------------------------------------------------------

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
    let block = unsafe { load_half_line::<0>(block.as_ptr().cast()) };
    _mm256_testc_si256(block, split_block_bits(key)) == 1
}

#[target_feature(enable = "avx2")]
fn split_block_contains(words: &[AtomicU64], _: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &&[AtomicU64], key| split_block_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| split_block_contains_one(words, key);
    rolling(&mut { words }, ring::ahead(words.len(), 1), batch, fetch, nothing, answer);
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

/// Inserts a key while others insert too; true if it certainly was not there.
#[inline]
#[target_feature(enable = "avx2")]
fn split_block_insert_one_shared(words: &[AtomicU64], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = &words[start..start + SPLIT_BLOCK_WORDS];
    prefetch(&block[0]);
    // SAFETY: a block is 32 readable bytes.
    let old = unsafe { load_half_line::<0>(block.as_ptr().cast()) };
    let lacking = _mm256_andnot_si256(old, split_block_bits(key));
    set_lacking(block, &words_of(lacking), not_zero(lacking))
}

#[target_feature(enable = "avx2")]
fn split_block_insert(words: &mut [u64], _: &[u16], batch: &mut dyn Batch) {
    let fetch = |words: &[u64], key| prefetch(&words[split_block_start(words.len(), key)]);
    inserting(words, ring::ahead(words.len(), 1), batch, fetch, |words, key| split_block_insert_one(words, key));
}

#[target_feature(enable = "avx2")]
fn split_block_fills(words: &[AtomicU64], _: u32) -> Fills {
    fills::split_block(words)
}

#[target_feature(enable = "avx2")]
fn split_block_contains_few(words: &[AtomicU64], _: &[u16], few: &Few) -> u64 {
    let fetch = |words: &&[AtomicU64], key| split_block_fetch(words, key);
    let answer = |words: &mut &[AtomicU64], key| split_block_contains_one(words, key);
    answer_few(
        &mut { words },
        words.len() >= ring::FETCH_FROM,
        few,
        |flip, keys, hashes| hash_u64s(flip, keys, hashes),
        fetch,
        answer,
    )
}

#[target_feature(enable = "avx2")]
fn split_block_insert_few(words: &mut [u64], _: &[u16], few: &Few, is_asked: bool) -> u64 {
    let fetching = words.len() >= ring::FETCH_FROM;
    let fetch = |words: &[u64], key| prefetch(&words[split_block_start(words.len(), key)]);
    answer_few(
        words,
        fetching,
        few,
        |flip, keys, hashes| hash_u64s(flip, keys, hashes),
        fetch,
        |words, key| split_block_insert_one(words, key) & is_asked,
    )
}
