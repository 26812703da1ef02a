//! What the kernels for AVX-512 (F, BW, DQ, VL) have in common: the loop over the keys of a batch.
//!
//! Keys are taken eight at a time as long as there is arithmetic on 64-bit numbers to do: hash, block and lanes. The
//! results for 64 keys lie in memory. Then each key's block is one vector, which takes a few instructions. While these
//! 64 are answered, the next 64 are hashed and their lines are fetched, eight for every eight answers.
//!
//! A step of eight keys is written in assembly, for two reasons. The block is read while other threads may set bits
//! in it, and the language has no load for that. And the compiler likes to take vectors apart in registers, and to
//! broadcast from registers, on the two ports that all other vector instructions need; memory operands cost nothing
//! there. What is missing stays in memory until all 64 are there, because a load across stores that have not reached
//! the cache waits.
//!
//! Up to 64 keys that come without a batch are all prepared first and then answered ([`run_few`]).
//!
//! The last keys of a batch, if they do not fill a vector, are followed by copies of the last one: looking a key up
//! again, or inserting it again, changes nothing.

use crate::batch::ring::{Batch, Few, GROUP};
use crate::hash::xxh3::avx512 as xxh3;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

/// Keys whose arithmetic is done together.
const WIDTH: usize = 8;

/// The products of the low halves of eight numbers. The compiler would use a full 64-bit multiplication where it has
/// lost sight of what the upper halves are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn multiply_low_halves(a: __m512i, b: __m512i) -> __m512i {
    let product;
    // SAFETY: arithmetic on registers.
    unsafe {
        core::arch::asm!("vpmuludq {}, {}, {}", out(zmm_reg) product, in(zmm_reg) a, in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    product
}

/// The 64 bytes at an address, in which another thread may be setting bits.
///
/// Each aligned eight bytes of a vector load are read in one piece, so this is eight relaxed loads. It is written in
/// assembly because the language knows no atomic load of a vector, and a plain one would be a data race.
///
/// # Safety
/// The bytes are readable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn load_line(address: *const u64) -> __m512i {
    let line;
    // SAFETY: the caller promises that the bytes are readable; nothing is written but the register.
    unsafe {
        core::arch::asm!("vmovdqu64 {}, [{}]", out(zmm_reg) line, in(reg) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    line
}

/// Whether the number of blocks suits the vector arithmetic here: at least 1, and below 2^32.
pub fn is_vectorised(words: usize, words_of_block: usize) -> bool {
    (1..1 << 32).contains(&((words / words_of_block) as u64))
}

/// What is computed of a group of keys, eight at a time.
#[repr(align(64))]
struct Prepared {
    /// The keys' hashes.
    keys: [u64; GROUP],
    /// The addresses of their blocks.
    blocks: [u64; GROUP],
    /// The addresses of their masks, where the layout has some.
    masks: [u64; GROUP],
}

impl Prepared {
    /// Where the hashes of the keys from `i` on are, and the addresses of their blocks and masks.
    #[inline]
    fn places(prepared: &mut MaybeUninit<Prepared>, i: usize) -> [*mut u64; 3] {
        debug_assert!(i + WIDTH <= GROUP);
        let place = prepared.as_mut_ptr();
        // SAFETY: only addresses of places in memory are taken; nothing is read.
        let [keys, blocks, masks] =
            unsafe { [&raw mut (*place).keys, &raw mut (*place).blocks, &raw mut (*place).masks] };
        let at = |array: *mut [u64; GROUP]| array.cast::<u64>().wrapping_add(i);
        [at(keys), at(blocks), at(masks)]
    }

    /// Pulls the hashes of the next group, and fills the vector up in which they end. Returns how many hashes came.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn pull(prepared: &mut MaybeUninit<Prepared>, batch: &mut dyn Batch) -> usize {
        // SAFETY: the first array, to which zeros are written before anybody sees it. (To clear all three would take as
        // long as eight keys.)
        let keys = unsafe {
            let keys = &raw mut (*prepared.as_mut_ptr()).keys;
            keys.write([0; GROUP]);
            &mut *keys
        };
        let count = batch.next(keys);
        if !count.is_multiple_of(WIDTH) {
            let last = keys[count - 1];
            keys[count..count.next_multiple_of(WIDTH)].fill(last);
        }
        count
    }
}

/// For each key of a group the mask of the lanes that miss one of its bits.
#[repr(align(64))]
struct Missing([u16; GROUP]);

impl Missing {
    /// Which keys miss a bit: bit i of the result is that of key i.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    fn any(&self) -> u64 {
        let masks = self.0.as_ptr().cast::<__m512i>();
        // SAFETY: 32 masks of 16 bits are a vector, there are two of them, and the array is aligned as one.
        let (low, high) = unsafe { (_mm512_load_si512(masks), _mm512_load_si512(masks.add(1))) };
        u64::from(_mm512_test_epi16_mask(low, low)) | u64::from(_mm512_test_epi16_mask(high, high)) << (GROUP / 2)
    }
}

/// Addresses for one step of eight keys.
pub struct Step {
    /// The hashes of the keys.
    pub keys: *const u64,
    /// The addresses of their blocks.
    pub blocks: *const u64,
    /// The addresses of their masks, where the layout has some.
    pub masks: *const u64,
    /// Where the masks of the lanes go that miss a bit.
    pub missing: *mut u16,
}

/// What is to be answered for each key: whether none of its bits is missing, whether any is, or nothing.
#[derive(Clone, Copy, PartialEq)]
pub enum Answer {
    Found,
    New,
    Nothing,
}

/// Prepares the eight keys from `i` on, which have these hashes, and fetches their blocks where that pays.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn prepare_eight(
    hashes: __m512i,
    (prepared, i): (&mut MaybeUninit<Prepared>, usize),
    fetching: bool,
    prepare: &impl Fn(__m512i) -> (__m512i, __m512i),
) {
    let [_, blocks, masks] = Prepared::places(prepared, i);
    let (block, mask) = prepare(hashes);
    // SAFETY: there are eight numbers from `i` on in each array, which begins with a vector.
    unsafe {
        _mm512_store_si512(blocks.cast(), block);
        _mm512_store_si512(masks.cast(), mask);
    }
    if fetching {
        for i in 0..WIDTH {
            // SAFETY: written above. A prefetch of an address that is not readable does nothing.
            let block = unsafe { blocks.add(i).read() } as usize;
            _mm_prefetch::<_MM_HINT_T0>(core::ptr::without_provenance(block));
        }
    }
}

/// Prepares the eight keys from number `i` on, whose hashes were pulled into `prepared`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn prepare_from(
    i: usize,
    prepared: &mut MaybeUninit<Prepared>,
    fetching: bool,
    prepare: &impl Fn(__m512i) -> (__m512i, __m512i),
) {
    let [keys, ..] = Prepared::places(prepared, i);
    // SAFETY: there are eight numbers from `i` on in the array, which begins with a vector.
    let hashes = unsafe { _mm512_load_si512(keys.cast()) };
    prepare_eight(hashes, (prepared, i), fetching, prepare);
}

/// Gives the eight keys from `i` on, which were prepared, to `step`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn step_from(i: usize, prepared: &mut MaybeUninit<Prepared>, missing: &mut Missing, step: &impl Fn(Step)) {
    let [keys, blocks, masks] = Prepared::places(prepared, i);
    step(Step { keys, blocks, masks, missing: missing.0[i..].as_mut_ptr() });
}

/// Where the steps for `keys` keys start. The compiler must not unroll this, which would only make loops of eight steps
/// larger.
#[inline]
fn steps(keys: usize) -> impl Iterator<Item = usize> {
    (0..core::hint::black_box(keys)).step_by(WIDTH)
}

/// The loop of all kernels here. `prepare` gives the addresses of the blocks and masks of eight keys. If anything is to
/// be answered, `step` writes for each of eight keys the mask of the lanes that miss a bit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(
    batch: &mut dyn Batch,
    (fetching, answer): (bool, Answer),
    prepare: impl Fn(__m512i) -> (__m512i, __m512i),
    step: impl Fn(Step),
) {
    let (mut now, mut next) = (&mut MaybeUninit::uninit(), &mut MaybeUninit::uninit());
    let mut missing = Missing([0; GROUP]);

    let mut count = Prepared::pull(now, batch);
    for i in steps(count) {
        prepare_from(i, now, fetching, &prepare);
    }
    while count > 0 {
        let more = if count == GROUP { Prepared::pull(next, batch) } else { 0 };
        if more == GROUP {
            for i in steps(GROUP) {
                // Between the steps, so that the arithmetic for the next keys does not hold up their fetches.
                prepare_from(i, next, fetching, &prepare);
                step_from(i, now, &mut missing, &step);
            }
        } else {
            for i in steps(more) {
                prepare_from(i, next, fetching, &prepare);
            }
            for i in steps(count) {
                step_from(i, now, &mut missing, &step);
            }
        }
        match answer {
            Answer::Found => batch.answer(!missing.any(), count),
            Answer::New => batch.answer(missing.any(), count),
            Answer::Nothing => (),
        }
        (now, next) = (next, now);
        count = more;
    }
}

/// The loop for few keys, which come without a batch: all are hashed and fetched, and then all are answered.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
pub fn run_few(
    few: &Few,
    (fetching, answer): (bool, Answer),
    prepare: impl Fn(__m512i) -> (__m512i, __m512i),
    step: impl Fn(Step),
) -> u64 {
    let count = few.keys.len();
    let flip = few.flip.map(|flip| _mm512_set1_epi64(flip as i64));
    let prepared = &mut MaybeUninit::uninit();
    let mut missing = Missing([0; GROUP]);
    for i in (0..count.min(GROUP)).step_by(WIDTH) {
        let keys = xxh3::load_up_to_eight(&few.keys[i..count]);
        let hashes = match flip {
            Some(flip) => xxh3::hash(flip, [keys])[0],
            None => keys,
        };
        let [to, ..] = Prepared::places(prepared, i);
        // SAFETY: there are eight numbers from `i` on in the array, which begins with a vector.
        unsafe { _mm512_store_si512(to.cast(), hashes) };
        prepare_eight(hashes, (prepared, i), fetching, &prepare);
    }
    for i in (0..count.min(GROUP)).step_by(WIDTH) {
        step_from(i, prepared, &mut missing, &step);
    }
    match answer {
        Answer::Found => !missing.any(),
        Answer::New => missing.any(),
        Answer::Nothing => 0,
    }
}

/// A piece of assembly eight times. The piece is given the register of its key's bits, the 16th vector and so on, and
/// the places of the key in arrays of 8 and of 2 bytes an element.
macro_rules! eight {
    ($piece:ident, $vector:literal) => {
        concat!(
            $piece!(concat!($vector, "16"), "0", "0"),
            $piece!(concat!($vector, "17"), "8", "2"),
            $piece!(concat!($vector, "18"), "16", "4"),
            $piece!(concat!($vector, "19"), "24", "6"),
            $piece!(concat!($vector, "20"), "32", "8"),
            $piece!(concat!($vector, "21"), "40", "10"),
            $piece!(concat!($vector, "22"), "48", "12"),
            $piece!(concat!($vector, "23"), "56", "14")
        )
    };
}

pub(crate) use eight;
