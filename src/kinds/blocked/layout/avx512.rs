//! The blocked layout for AVX-512: a block is one vector.

use super::two_blocks::in_two_blocks;
use super::{BLOCK_WORDS, block, block_mut, lanes, portable};
use crate::batch::ring::{self, Batch, Few};
use crate::bits::prefetch;
use crate::blocks::block_kernel::WIDE_SALTS;
use crate::blocks::block_kernel::avx512::{
    Answer, Step, eight, is_vectorised, load_line, multiply_low_halves, run, run_few,
};
use crate::blocks::block_kernel::{BlockKernel, Fills, set_lacking};
use crate::hash::xxh3::avx512::hash_u64s;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub static KERNEL: BlockKernel =
    BlockKernel { contains_one, insert_one, insert_one_shared, contains, insert, fills, contains_few, insert_few };

/// The addresses of the blocks of eight keys: the first address, plus 64 times the high half of each key's product with
/// the number of blocks, which is below 2^32.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn places(first: __m512i, blocks: __m512i, keys: __m512i) -> __m512i {
    let high = multiply_low_halves(_mm512_srli_epi64::<32>(keys), blocks);
    let low = _mm512_srli_epi64::<32>(multiply_low_halves(keys, blocks));
    let sixty_four_times = _mm512_srli_epi64::<26>(_mm512_add_epi64(high, low));
    _mm512_add_epi64(first, _mm512_and_si512(sixty_four_times, _mm512_set1_epi64(-64)))
}

/// The addresses of the masks of eight keys: the first address, plus twice each mask's place in the list.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn masks_of(first: __m512i, masks: __m512i, keys: __m512i) -> __m512i {
    let product = multiply_low_halves(keys, masks);
    let twice = _mm512_and_si512(_mm512_srli_epi64::<31>(product), _mm512_set1_epi64(-2));
    _mm512_add_epi64(first, twice)
}

/// The multipliers, one for each pair of lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn salts() -> __m512i {
    let [a, b, c, d, e, f, g, h] = WIDE_SALTS;
    _mm512_setr_epi64(a, b, c, d, e, f, g, h)
}

/// The numbers of a key's bits in the sixteen lanes, modulo 32.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn bits_of(key: u64) -> __m512i {
    let product = _mm512_mul_epu32(_mm512_set1_epi64(key as i64), salts());
    // Even lanes take bits 27 to 31 of the products, and odd lanes take bits 32 to 36.
    _mm512_srlv_epi32(product, _mm512_set1_epi64(27))
}

/// Whether a key may be there.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    // SAFETY: a block is 64 readable bytes.
    let block = unsafe { load_line(block(words, key).as_ptr().cast()) };
    let bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), bits_of(key));
    _mm512_mask_testn_epi32_mask(lanes(masks, key), bits, block) == 0
}

/// Inserts a key. Returns true if it certainly was absent before.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast();
    let bits = _mm512_maskz_rolv_epi32(lanes(masks, key), _mm512_set1_epi32(1), bits_of(key));
    // SAFETY: a block is 64 bytes, which this call alone uses.
    unsafe {
        let old = _mm512_loadu_si512(block);
        _mm512_storeu_si512(block, _mm512_or_si512(old, bits));
        // The bits that the block lacks are all zero if the block had all of the key's bits.
        _mm512_test_epi32_mask(bits, _mm512_andnot_si512(old, bits)) != 0
    }
}

/// Inserts a key while others insert too. Returns true if it certainly was absent before.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one_shared(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    let block = block(words, key);
    // Unlike a load, a prefetch does not wait for the words that the previous insertion has locked.
    prefetch(block);
    let bits = _mm512_maskz_rolv_epi32(lanes(masks, key), _mm512_set1_epi32(1), bits_of(key));
    // SAFETY: a block is 64 readable bytes.
    let lacking = _mm512_andnot_si512(unsafe { load_line(block.as_ptr().cast()) }, bits);
    let mut lacking_bits = [0; BLOCK_WORDS];
    // SAFETY: eight words.
    unsafe { _mm512_storeu_si512(lacking_bits.as_mut_ptr().cast(), lacking) };
    set_lacking(block, &lacking_bits, _mm512_test_epi64_mask(lacking, lacking))
}

/// Assembly that multiplies: the numbers of a key's bits, modulo 32.
macro_rules! multiply {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpmuludq ", $bits, ", {salts}, qword ptr [{keys} + ", $d8, "]{{1to8}}\n")
    };
}

/// Assembly that moves these numbers to the lowest bits of the lanes.
macro_rules! shift {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpsrlvd ", $bits, ", ", $bits, ", {shifts}\n")
    };
}

/// Assembly that makes a bit in every lane.
macro_rules! rotate_all {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vprolvd ", $bits, ", {ones}, ", $bits, "\n")
    };
}

/// Assembly that makes the key's bits.
macro_rules! rotate_chosen {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            concat!("mov {mask}, qword ptr [{masks} + ", $d8, "]\n"),
            "kmovw k1, word ptr [{mask}]\n",
            concat!("vprolvd ", $bits, "{{k1}}{{z}}, {ones}, ", $bits, "\n"),
        )
    };
}

/// Assembly that finds which of the key's lanes lack their bit.
macro_rules! test {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            concat!("mov {mask}, qword ptr [{masks} + ", $d8, "]\n"),
            "kmovw k1, word ptr [{mask}]\n",
            concat!("mov {block}, qword ptr [{blocks} + ", $d8, "]\n"),
            concat!("vptestnmd k2{{k1}}, ", $bits, ", zmmword ptr [{block}]\n"),
            concat!("kmovw word ptr [{missing} + ", $d2, "], k2\n"),
        )
    };
}

/// Assembly that sets the bits, and says which lanes change.
macro_rules! set_and_tell {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            concat!("mov {block}, qword ptr [{blocks} + ", $d8, "]\n"),
            "vmovdqu64 {old}, zmmword ptr [{block}]\n",
            concat!("vporq ", $bits, ", ", $bits, ", {old}\n"),
            concat!("vpcmpneqd k2, ", $bits, ", {old}\n"),
            concat!("vmovdqu64 zmmword ptr [{block}], ", $bits, "\n"),
            concat!("kmovw word ptr [{missing} + ", $d2, "], k2\n"),
        )
    };
}

/// Assembly that sets the bits.
macro_rules! set {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            concat!("mov {block}, qword ptr [{blocks} + ", $d8, "]\n"),
            concat!("vporq ", $bits, ", ", $bits, ", zmmword ptr [{block}]\n"),
            concat!("vmovdqu64 zmmword ptr [{block}], ", $bits, "\n"),
        )
    };
}

/// A step of eight keys. Each use of the macro argues its safety.
macro_rules! step {
    ($rotate:ident, $finish:ident, $step:ident) => {
        core::arch::asm!(
            eight!(multiply, "zmm"),
            eight!(shift, "zmm"),
            eight!($rotate, "zmm"),
            eight!($finish, "zmm"),
            "/* {missing} {old} */",
            keys = in(reg) $step.keys, blocks = in(reg) $step.blocks, masks = in(reg) $step.masks,
            missing = in(reg) $step.missing, mask = out(reg) _, block = out(reg) _,
            salts = in(zmm_reg) salts(), shifts = in(zmm_reg) _mm512_set1_epi64(27),
            ones = in(zmm_reg) _mm512_set1_epi32(1), old = out(zmm_reg) _,
            out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
            out("k1") _, out("k2") _, options(nostack, preserves_flags),
        )
    };
}

pub(super) use {multiply, rotate_all, shift};

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains(words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) || masks.is_empty() {
        return portable::KERNEL.contains(words, masks, batch);
    }
    // SAFETY: the high half of a product with the number of blocks, or masks, is less than that number. So 64 bytes at
    // the first address are a block, and two bytes at the second are a mask. The other addresses are those of arrays
    // with room for eight more elements. Another thread may be setting bits in the block: see `load_line`.
    let step = |step: Step| unsafe { step!(rotate_all, test, step) };
    run(batch, (ring::is_far(length), Answer::Found), preparation(words.as_ptr().cast(), length, masks), step);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert(words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) || masks.is_empty() {
        return portable::KERNEL.insert(words, masks, batch);
    }
    let fetching = ring::is_far(length);
    let preparation = preparation(words.as_mut_ptr(), length, masks);
    if batch.is_asked() {
        // SAFETY: as in `contains`; this call alone uses the words, and nothing else refers to them meanwhile.
        let step = |step: Step| unsafe { step!(rotate_chosen, set_and_tell, step) };
        run(batch, (fetching, Answer::New), preparation, step);
    } else {
        // SAFETY: as in `contains`; this call alone uses the words, and nothing else refers to them meanwhile.
        let step = |step: Step| unsafe { step!(rotate_chosen, set, step) };
        run(batch, (fetching, Answer::Nothing), preparation, step);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_few(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) || masks.is_empty() {
        return portable::KERNEL.contains_few(words, masks, few);
    }
    // SAFETY: as in `contains`.
    let step = |step: Step| unsafe { step!(rotate_all, test, step) };
    let how = (ring::is_far(length), Answer::Found);
    run_few(few, how, preparation(words.as_ptr().cast(), length, masks), step)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert_few(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) || masks.is_empty() {
        return portable::KERNEL.insert_few(words, masks, few, is_asked);
    }
    let fetching = ring::is_far(length);
    let preparation = preparation(words.as_mut_ptr(), length, masks);
    if is_asked {
        // SAFETY: as in `contains`; this call alone uses the words, and nothing else refers to them meanwhile.
        let step = |step: Step| unsafe { step!(rotate_chosen, set_and_tell, step) };
        run_few(few, (fetching, Answer::New), preparation, step)
    } else {
        // SAFETY: as in `contains`; this call alone uses the words, and nothing else refers to them meanwhile.
        let step = |step: Step| unsafe { step!(rotate_chosen, set, step) };
        run_few(few, (fetching, Answer::Nothing), preparation, step)
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn fills(words: &[AtomicU64], hashes: u32) -> Fills {
    if !is_x86_feature_detected!("avx512vpopcntdq") {
        return super::fills::fills(words, hashes);
    }
    // SAFETY: the processor has the instruction.
    unsafe { fills_counted(words, hashes) }
}

/// [`fills`] with the instruction that counts bits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn fills_counted(words: &[AtomicU64], hashes: u32) -> Fills {
    super::fills::fills(words, hashes)
}

/// The preparation of eight keys for [`run`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn preparation(words: *const u64, length: usize, masks: &[u16]) -> impl Fn(__m512i) -> (__m512i, __m512i) {
    let first = _mm512_set1_epi64(words.addr() as i64);
    let blocks = _mm512_set1_epi64((length / BLOCK_WORDS) as i64);
    let first_mask = _mm512_set1_epi64(masks.as_ptr().addr() as i64);
    let all = _mm512_set1_epi64(masks.len() as i64);
    move |keys| (places(first, blocks, keys), masks_of(first_mask, all, keys))
}

in_two_blocks!(#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]);
