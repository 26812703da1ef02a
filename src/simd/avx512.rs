//! The kernels for AVX-512 (F, BW, DQ, VL).
//!
//! Keys are taken eight at once as long as there is arithmetic on 64-bit numbers to do: block, lanes and hash. Their
//! places then go through a few words on the stack, and each block is one vector: a multiplication, a shift, a rotation and
//! a masked test. The answers of 64 keys stay masks in memory until all are there, because a load that spans stores which
//! have not reached the cache waits for them.

use super::layout::{BLOCK_WORDS, LANES_MULTIPLIER, SALTS, SPLIT_BLOCK_WORDS, block_start, masks, split_block_start};
use super::portable::{self, XXH3_MULTIPLIER};
use super::{BlockKernel, Kernel, Kernels};
use crate::bits::ring;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

static KERNELS: Kernels = Kernels {
    kernel: Kernel::Avx512,
    hash_u64s,
    split_block: BlockKernel {
        contains_one: split_block_contains_one,
        contains: split_block_contains,
        insert: split_block_insert,
    },
    blocked: BlockKernel { contains_one: blocked_contains_one, contains: blocked_contains, insert: blocked_insert },
};

/// These kernels, if the processor runs them.
pub fn kernels() -> Option<&'static Kernels> {
    let has = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    has.then_some(&KERNELS)
}

/// Keys whose arithmetic is done at once.
const GROUP: usize = 8;

/// Keys whose answers are made at once.
const ANSWERS: usize = 64;

// ---- XXH3 of eight bytes ---------------------------------------------------------------------------------------------

/// [`portable::xxh3_u64`] of eight keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn xxh3_u64(flip: __m512i, keys: __m512i) -> __m512i {
    let multiplier = _mm512_set1_epi64(XXH3_MULTIPLIER as i64);
    let x = _mm512_xor_si512(_mm512_rol_epi64::<32>(keys), flip);
    // 0x96 is the exclusive or of three.
    let x = _mm512_ternarylogic_epi64::<0x96>(x, _mm512_rol_epi64::<49>(x), _mm512_rol_epi64::<24>(x));
    let x = _mm512_mullo_epi64(x, multiplier);
    let x = _mm512_xor_si512(x, _mm512_add_epi64(_mm512_srli_epi64::<35>(x), _mm512_set1_epi64(8)));
    let x = _mm512_mullo_epi64(x, multiplier);
    _mm512_xor_si512(x, _mm512_srli_epi64::<28>(x))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    let flips = _mm512_set1_epi64(flip as i64);
    let (groups, rest) = keys.as_chunks::<GROUP>();
    let (to_groups, to_rest) = hashes.as_chunks_mut::<GROUP>();
    for (keys, hashes) in groups.iter().zip(to_groups) {
        // SAFETY: eight numbers each.
        unsafe { _mm512_storeu_si512(hashes.as_mut_ptr().cast(), xxh3_u64(flips, load(keys))) };
    }
    for (key, hash) in rest.iter().zip(to_rest) {
        *hash = portable::xxh3_u64(flip, *key);
    }
}

// ---- What both layouts share -----------------------------------------------------------------------------------------

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn load(group: &[u64; GROUP]) -> __m512i {
    // SAFETY: eight numbers.
    unsafe { _mm512_loadu_si512(group.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn store(numbers: __m512i) -> [u64; GROUP] {
    // SAFETY: both are eight numbers of 64 bits, of which every pattern is one.
    unsafe { core::mem::transmute(numbers) }
}

/// The 64 bytes at an address, in which another thread may be setting bits.
///
/// Each aligned eight bytes of a vector load are read at once, so this is eight relaxed loads. It is written in assembly
/// because the language knows no atomic load of a vector, and a plain one would be a data race.
///
/// # Safety
/// The bytes are readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn load_line(address: *const u64) -> __m512i {
    let line;
    // SAFETY: the caller's promise; nothing is written but the register.
    unsafe {
        core::arch::asm!("vmovdqu64 {}, [{}]", out(zmm_reg) line, in(reg) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    line
}

/// The same of 32 bytes.
///
/// # Safety
/// The bytes are readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn load_half_line(address: *const u64) -> __m256i {
    let line;
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("vmovdqu {}, [{}]", out(ymm_reg) line, in(reg) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    line
}

/// The group of keys from `start` on, as far as there are keys; places past the end repeat the first one.
#[inline]
fn group(keys: &[u64], start: usize) -> Option<[u64; GROUP]> {
    let rest = keys.get(start..)?;
    match rest.first_chunk() {
        Some(group) => Some(*group),
        None if rest.is_empty() => None,
        None => Some(core::array::from_fn(|i| *rest.get(i).unwrap_or(&rest[0]))),
    }
}

/// Turns the masks of the bits that were missing into answers: whether any was.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn answer(missing: &[u16; ANSWERS], answers: &mut [bool; ANSWERS], any_is: bool) {
    for half in 0..2 {
        // SAFETY: 32 masks of 16 bits are a vector, 32 answers half of one; the answers are written as 0 and 1.
        unsafe {
            let masks = _mm512_loadu_si512(missing.as_ptr().add(32 * half).cast());
            let any = _mm512_test_epi16_mask(masks, masks);
            let answer = _mm256_maskz_set1_epi8(if any_is { any } else { !any }, 1);
            _mm256_storeu_si256(answers.as_mut_ptr().add(32 * half).cast(), answer);
        }
    }
}

/// What a kernel is called with.
struct Batch<'a> {
    /// The first word.
    words: *const u64,
    /// Whether the filter is so large that fetching ahead pays.
    fetching: bool,
    keys: &'a [u64],
    /// The answer for a key of which any bit is missing.
    any_is: bool,
}

/// The loop of all kernels here. `place` gives the first bytes of the blocks of eight keys, `choose` whatever else is
/// computed of eight keys at once, and `one` the bits that one key misses, from its place, its hash and what was chosen.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn run(
    Batch { words, fetching, keys, any_is }: Batch,
    answers: &mut [bool],
    place: impl Fn(__m512i) -> __m512i,
    choose: impl Fn(__m512i) -> __m512i,
    one: impl Fn(usize, u64, u64) -> u16,
) {
    // A prefetch of an address that is none does nothing.
    let fetch = |place: u64| _mm_prefetch::<_MM_HINT_T0>(words.wrapping_byte_add(place as usize).cast());
    if fetching && answers.is_empty() {
        for start in (0..keys.len().min(ring::AHEAD)).step_by(GROUP) {
            group(keys, start).iter().flat_map(|keys| store(place(load(keys)))).for_each(fetch);
        }
    }
    for (batch, answers) in answers.chunks_mut(ANSWERS).enumerate() {
        let mut missing = [0; ANSWERS];
        for start in (0..answers.len()).step_by(GROUP) {
            let first = batch * ANSWERS + start;
            let Some(now) = group(keys, first) else { break };
            let (places, chosen) = (store(place(load(&now))), store(choose(load(&now))));
            let count = GROUP.min(answers.len() - start);
            let missing = &mut missing[start..start + GROUP];
            match if fetching { group(keys, first + ring::AHEAD) } else { None } {
                Some(ahead) => {
                    let ahead = store(place(load(&ahead)));
                    for i in 0..count {
                        fetch(ahead[i]);
                        missing[i] = one(places[i] as usize, now[i], chosen[i]);
                    }
                }
                None => {
                    for i in 0..count {
                        missing[i] = one(places[i] as usize, now[i], chosen[i]);
                    }
                }
            }
        }
        match <&mut [bool; ANSWERS]>::try_from(&mut *answers) {
            Ok(answers) => answer(&missing, answers, any_is),
            Err(_) => {
                let mut all = [false; ANSWERS];
                answer(&missing, &mut all, any_is);
                answers.copy_from_slice(&all[..answers.len()]);
            }
        }
    }
}

// ---- The blocked layout ----------------------------------------------------------------------------------------------

/// The first bytes of the blocks of eight keys: the high halves of their products with the number of blocks, which is below
/// 2^32, times the 64 bytes of a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_places(blocks: __m512i, keys: __m512i) -> __m512i {
    let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(keys), blocks);
    let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(keys, blocks));
    let sixty_four_times = _mm512_srli_epi64::<26>(_mm512_add_epi64(high, low));
    _mm512_and_si512(sixty_four_times, _mm512_set1_epi64(-64))
}

/// The places in the list of masks of eight keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_choices(masks: __m512i, keys: __m512i) -> __m512i {
    let product = _mm512_mullo_epi64(keys, _mm512_set1_epi64(LANES_MULTIPLIER as i64));
    _mm512_srli_epi64::<32>(_mm512_mul_epu32(_mm512_srli_epi64::<32>(product), masks))
}

/// The numbers of a key's bits in the sixteen lanes, modulo 32.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_bits(key: u64) -> __m512i {
    let salts = SALTS.map(i64::from);
    let [a, b, c, d, e, f, g, h] = salts;
    let product = _mm512_mul_epu32(_mm512_set1_epi64(key as i64), _mm512_setr_epi64(a, b, c, d, e, f, g, h));
    // The even lanes take bits 27 to 31 of the products, the odd ones bits 32 to 36.
    _mm512_srlv_epi32(product, _mm512_set1_epi64(27))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_contains_one(words: &[AtomicU64], hashes: u32, key: u64) -> bool {
    let start = block_start(words.len(), key);
    let block = &words[start..start + BLOCK_WORDS];
    // SAFETY: a block is 64 readable bytes.
    let block = unsafe { load_line(block.as_ptr().cast()) };
    let bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), blocked_bits(key));
    _mm512_mask_testn_epi32_mask(super::layout::lanes(masks(hashes), key), bits, block) == 0
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_contains(words: &[AtomicU64], hashes: u32, keys: &[u64], found: &mut [bool]) {
    let (base, blocks, masks) = (words.as_ptr().cast::<u64>(), words.len() / BLOCK_WORDS, masks(hashes));
    if blocks == 0 || blocks as u64 >> 32 != 0 {
        return (portable::KERNELS.blocked).contains(words, hashes, keys, found);
    }
    let (all_blocks, all_masks) = (_mm512_set1_epi64(blocks as i64), _mm512_set1_epi64(masks.len() as i64));
    run(
        Batch { words: base, fetching: words.len() >= ring::FETCH_FROM, keys, any_is: false },
        found,
        |keys| blocked_places(all_blocks, keys),
        |keys| blocked_choices(all_masks, keys),
        |place, key, choice| {
            // SAFETY: the high half of a product with the number of blocks, or masks, is less than that, so that the 64
            // bytes at `place` are a block and there is such a mask.
            let (block, mask) = unsafe { (load_line(base.byte_add(place)), *masks.get_unchecked(choice as usize)) };
            let bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), blocked_bits(key));
            _mm512_mask_testn_epi32_mask(mask, bits, block)
        },
    );
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_insert(words: &mut [u64], hashes: u32, keys: &[u64], new: &mut [bool]) {
    let (fetching, blocks, masks) = (words.len() >= ring::FETCH_FROM, words.len() / BLOCK_WORDS, masks(hashes));
    if blocks == 0 || blocks as u64 >> 32 != 0 {
        return (portable::KERNELS.blocked).insert(words, hashes, keys, new);
    }
    let base = words.as_mut_ptr();
    let (all_blocks, all_masks) = (_mm512_set1_epi64(blocks as i64), _mm512_set1_epi64(masks.len() as i64));
    run(
        Batch { words: base, fetching, keys, any_is: true },
        new,
        |keys| blocked_places(all_blocks, keys),
        |keys| blocked_choices(all_masks, keys),
        |place, key, choice| {
            // SAFETY: as in `blocked_contains`; the words are ours alone.
            unsafe {
                let mask = *masks.get_unchecked(choice as usize);
                let bits = _mm512_maskz_rolv_epi32(mask, _mm512_set1_epi32(1), blocked_bits(key));
                let block = base.byte_add(place).cast();
                let old = _mm512_loadu_si512(block);
                _mm512_storeu_si512(block, _mm512_or_si512(old, bits));
                _mm512_mask_testn_epi32_mask(mask, bits, old)
            }
        },
    );
}

// ---- The split-block layout ------------------------------------------------------------------------------------------

/// The first bytes of the blocks of eight keys: the high halves of the products of their upper halves with the number of
/// blocks, times the 32 bytes of a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_places(blocks: __m512i, keys: __m512i) -> __m512i {
    let product = _mm512_mul_epu32(_mm512_srli_epi64::<32>(keys), blocks);
    _mm512_and_si512(_mm512_srli_epi64::<27>(product), _mm512_set1_epi64(-32))
}

/// The bits of a key in the eight lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_bits(key: u64) -> __m256i {
    let [a, b, c, d, e, f, g, h] = SALTS.map(|salt| salt as i32);
    let product = _mm256_mullo_epi32(_mm256_set1_epi32(key as i32), _mm256_setr_epi32(a, b, c, d, e, f, g, h));
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(product))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_contains_one(words: &[AtomicU64], _: u32, key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = &words[start..start + SPLIT_BLOCK_WORDS];
    // SAFETY: a block is 32 readable bytes.
    let block = unsafe { load_half_line(block.as_ptr().cast()) };
    _mm256_testn_epi32_mask(block, split_block_bits(key)) == 0
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_contains(words: &[AtomicU64], hashes: u32, keys: &[u64], found: &mut [bool]) {
    let (base, blocks) = (words.as_ptr().cast::<u64>(), words.len() / SPLIT_BLOCK_WORDS);
    if blocks == 0 || blocks as u64 >> 32 != 0 {
        return (portable::KERNELS.split_block).contains(words, hashes, keys, found);
    }
    let all_blocks = _mm512_set1_epi64(blocks as i64);
    run(
        Batch { words: base, fetching: words.len() >= ring::FETCH_FROM, keys, any_is: false },
        found,
        |keys| split_block_places(all_blocks, keys),
        |keys| keys,
        |place, key, _| {
            // SAFETY: as in `blocked_contains`, of 32 bytes.
            let block = unsafe { load_half_line(base.byte_add(place)) };
            _mm256_testn_epi32_mask(block, split_block_bits(key)).into()
        },
    );
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_insert(words: &mut [u64], hashes: u32, keys: &[u64], new: &mut [bool]) {
    let (fetching, blocks) = (words.len() >= ring::FETCH_FROM, words.len() / SPLIT_BLOCK_WORDS);
    if blocks == 0 || blocks as u64 >> 32 != 0 {
        return (portable::KERNELS.split_block).insert(words, hashes, keys, new);
    }
    let base = words.as_mut_ptr();
    let all_blocks = _mm512_set1_epi64(blocks as i64);
    run(
        Batch { words: base, fetching, keys, any_is: true },
        new,
        |keys| split_block_places(all_blocks, keys),
        |keys| keys,
        |place, key, _| {
            let bits = split_block_bits(key);
            // SAFETY: as in `blocked_contains`, of 32 bytes; the words are ours alone.
            unsafe {
                let block = base.byte_add(place).cast();
                let old = _mm256_loadu_si256(block);
                _mm256_storeu_si256(block, _mm256_or_si256(old, bits));
                _mm256_testn_epi32_mask(old, bits).into()
            }
        },
    );
}
