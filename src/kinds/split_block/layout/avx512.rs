//! The split-block layout for AVX-512: a block is half a vector.

use super::{BLOCK_WORDS, SIGNED_SALTS, block, block_mut, portable};
use crate::batch::ring::{self, Batch, Few};
use crate::bits::prefetch;
use crate::blocks::block_kernel::avx512::{Answer, Step, eight, is_vectorised, multiply_low_halves, run, run_few};
use crate::blocks::block_kernel::{BlockKernel, Fills, set_lacking};
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub static KERNEL: BlockKernel =
    BlockKernel { contains_one, insert_one, insert_one_shared, contains, insert, fills, contains_few, insert_few };

/// The 32 bytes at an address, in which another thread may be setting bits: four relaxed loads, in assembly for the
/// reasons that [`load_line`] gives.
///
/// # Safety
/// The bytes are readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load_half_line(address: *const u64) -> __m256i {
    let line;
    // SAFETY: the caller promises that the bytes are readable; nothing is written but the register.
    unsafe {
        core::arch::asm!("vmovdqu {}, [{}]", out(ymm_reg) line, in(reg) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    line
}

/// The addresses of the blocks of eight keys: the first plus 32 times the high halves of the products of the keys'
/// upper halves with the number of blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn places(first: __m512i, blocks: __m512i, keys: __m512i) -> __m512i {
    let product = multiply_low_halves(_mm512_srli_epi64::<32>(keys), blocks);
    _mm512_add_epi64(first, _mm512_and_si512(_mm512_srli_epi64::<27>(product), _mm512_set1_epi64(-32)))
}

/// The multipliers, one a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn salts() -> __m256i {
    let [a, b, c, d, e, f, g, h] = SIGNED_SALTS;
    _mm256_setr_epi32(a, b, c, d, e, f, g, h)
}

/// The bits of a key in the eight lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn bits_of(key: u64) -> __m256i {
    let product = _mm256_mullo_epi32(_mm256_set1_epi32(key as i32), salts());
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(product))
}

/// Whether a key may be there.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(words: &[AtomicU64], _: &[u16], key: u64) -> bool {
    let block = block(words, key);
    // SAFETY: a block is 32 readable bytes.
    let block = unsafe { load_half_line(block.as_ptr().cast()) };
    _mm256_testn_epi32_mask(block, bits_of(key)) == 0
}

/// Inserts a key; true if it certainly was not there.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one(words: &mut [u64], _: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast();
    let bits = bits_of(key);
    // SAFETY: a block is 32 bytes, which are ours alone.
    unsafe {
        let old = _mm256_loadu_si256(block);
        _mm256_storeu_si256(block, _mm256_or_si256(old, bits));
        _mm256_testn_epi32_mask(old, bits) != 0
    }
}

/// Inserts a key while others insert too; true if it certainly was not there.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert_one_shared(words: &[AtomicU64], _: &[u16], key: u64) -> bool {
    let block = block(words, key);
    // A fetch does not wait, as a load does, for the words that the insertion before has locked.
    prefetch(block);
    // SAFETY: a block is 32 readable bytes.
    let lacking = _mm256_andnot_si256(unsafe { load_half_line(block.as_ptr().cast()) }, bits_of(key));
    let mut lacking_bits = [0; BLOCK_WORDS];
    // SAFETY: four words.
    unsafe { _mm256_storeu_si256(lacking_bits.as_mut_ptr().cast(), lacking) };
    set_lacking(block, &lacking_bits, _mm256_test_epi64_mask(lacking, lacking))
}

/// The products whose high five bits are the numbers of a key's bits.
macro_rules! multiply {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpmulld ", $bits, ", {salts}, dword ptr [{keys} + ", $d8, "]{{1to8}}\n")
    };
}

macro_rules! shift {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpsrld ", $bits, ", ", $bits, ", 27\n")
    };
}

/// The key's bits.
macro_rules! bit {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpsllvd ", $bits, ", {ones}, ", $bits, "\n")
    };
}

/// Which lanes of the block do not have the bit.
macro_rules! test {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            concat!("mov {block}, qword ptr [{blocks} + ", $d8, "]\n"),
            concat!("vptestnmd k2, ", $bits, ", ymmword ptr [{block}]\n"),
            concat!("kmovw word ptr [{missing} + ", $d2, "], k2\n"),
        )
    };
}

/// Sets the bits, and says which lanes that changes.
macro_rules! set_and_tell {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            concat!("mov {block}, qword ptr [{blocks} + ", $d8, "]\n"),
            "vmovdqu64 {old}, ymmword ptr [{block}]\n",
            concat!("vptestnmd k2, ", $bits, ", {old}\n"),
            concat!("vporq ", $bits, ", ", $bits, ", {old}\n"),
            concat!("vmovdqu64 ymmword ptr [{block}], ", $bits, "\n"),
            concat!("kmovw word ptr [{missing} + ", $d2, "], k2\n"),
        )
    };
}

/// Sets the bits.
macro_rules! set {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            concat!("mov {block}, qword ptr [{blocks} + ", $d8, "]\n"),
            concat!("vporq ", $bits, ", ", $bits, ", ymmword ptr [{block}]\n"),
            concat!("vmovdqu64 ymmword ptr [{block}], ", $bits, "\n"),
        )
    };
}

/// A step of eight keys. Its safety is argued where it is used.
macro_rules! step {
    ($finish:ident, $step:ident) => {
        core::arch::asm!(
            eight!(multiply, "ymm"),
            eight!(shift, "ymm"),
            eight!(bit, "ymm"),
            eight!($finish, "ymm"),
            "/* {missing} {old} */",
            keys = in(reg) $step.keys, blocks = in(reg) $step.blocks, missing = in(reg) $step.missing,
            block = out(reg) _, salts = in(ymm_reg) salts(), ones = in(ymm_reg) _mm256_set1_epi32(1),
            old = out(ymm_reg) _, out("ymm16") _, out("ymm17") _, out("ymm18") _, out("ymm19") _,
            out("ymm20") _, out("ymm21") _, out("ymm22") _, out("ymm23") _,
            out("k2") _, options(nostack, preserves_flags),
        )
    };
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains(words: &[AtomicU64], masks: &[u16], batch: &mut dyn Batch) {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) {
        return portable::KERNEL.contains(words, masks, batch);
    }
    // SAFETY: the high half of a product with the number of blocks is less than that, so that 32 bytes at the address
    // are a block; the other addresses are those of arrays with eight elements more. Another thread may be setting bits
    // in the block: see `load_half_line`.
    let step = |step: Step| unsafe { step!(test, step) };
    run(batch, (ring::is_far(length), Answer::Found), preparation(words.as_ptr().cast(), length), step);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert(words: &mut [u64], masks: &[u16], batch: &mut dyn Batch) {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) {
        return portable::KERNEL.insert(words, masks, batch);
    }
    let fetching = ring::is_far(length);
    let preparation = preparation(words.as_mut_ptr(), length);
    if batch.is_asked() {
        // SAFETY: as in `contains`; the words are ours alone, and nothing else refers to them meanwhile.
        let step = |step: Step| unsafe { step!(set_and_tell, step) };
        run(batch, (fetching, Answer::New), preparation, step);
    } else {
        // SAFETY: as in `contains`; the words are ours alone, and nothing else refers to them meanwhile.
        let step = |step: Step| unsafe { step!(set, step) };
        run(batch, (fetching, Answer::Nothing), preparation, step);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_few(words: &[AtomicU64], masks: &[u16], few: &Few) -> u64 {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) {
        return portable::KERNEL.contains_few(words, masks, few);
    }
    // SAFETY: as in `contains`.
    let step = |step: Step| unsafe { step!(test, step) };
    let how = (ring::is_far(length), Answer::Found);
    run_few(few, how, preparation(words.as_ptr().cast(), length), step)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert_few(words: &mut [u64], masks: &[u16], few: &Few, is_asked: bool) -> u64 {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) {
        return portable::KERNEL.insert_few(words, masks, few, is_asked);
    }
    let fetching = ring::is_far(length);
    let preparation = preparation(words.as_mut_ptr(), length);
    if is_asked {
        // SAFETY: as in `contains`; the words are ours alone, and nothing else refers to them meanwhile.
        let step = |step: Step| unsafe { step!(set_and_tell, step) };
        run_few(few, (fetching, Answer::New), preparation, step)
    } else {
        // SAFETY: as in `contains`; the words are ours alone, and nothing else refers to them meanwhile.
        let step = |step: Step| unsafe { step!(set, step) };
        run_few(few, (fetching, Answer::Nothing), preparation, step)
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn fills(words: &[AtomicU64], _: u32) -> Fills {
    if !is_x86_feature_detected!("avx512vpopcntdq") {
        return portable::fills(words);
    }
    // SAFETY: the processor has the instruction.
    unsafe { fills_counted(words) }
}

/// [`fills`] with the instruction that counts bits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn fills_counted(words: &[AtomicU64]) -> Fills {
    portable::fills(words)
}

/// What [`run`] is to prepare.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn preparation(words: *const u64, length: usize) -> impl Fn(__m512i) -> (__m512i, __m512i) {
    let first = _mm512_set1_epi64(words.addr() as i64);
    let blocks = _mm512_set1_epi64((length / BLOCK_WORDS) as i64);
    move |keys| (places(first, blocks, keys), keys)
}
