//! The kernels for AVX-512 (F, BW, DQ, VL).
//!
//! Keys are taken eight at once as long as there is arithmetic on 64-bit numbers to do: hash, block and lanes. What
//! comes of it for 64 keys lies in memory, and then each key's block is one vector: a multiplication, a shift, a
//! rotation and a masked test. While these 64 are answered the lines of the next 64 are fetched, one for each answer.
//!
//! Such a step of eight keys is written in assembly, for two reasons. The block is read while other threads may
//! set bits in it, for which the language has no load; and the compiler likes to take vectors apart in registers, and
//! to broadcast from them, on the two ports that all other vector instructions need, where memory operands cost
//! nothing. The answers stay masks in memory until all 64 are there, because a load across stores that have not reached
//! the cache waits.

use super::layout::{BLOCK_WORDS, SALTS, SPLIT_BLOCK_WORDS, block, block_mut, block_start, lanes, split_block_start};
use super::portable::{self, XXH3_MULTIPLIER};
use super::{BlockKernel, Kernel, Kernels};
use crate::bits::ring;
use core::arch::x86_64::*;
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::sync::atomic::AtomicU64;

static KERNELS: Kernels = Kernels {
    kernel: Kernel::Avx512,
    hash_u64s,
    split_block: BlockKernel {
        contains_one: split_block_contains_one,
        insert_one: split_block_insert_one,
        contains: split_block_contains,
        insert: split_block_insert,
    },
    blocked: BlockKernel {
        contains_one: blocked_contains_one,
        insert_one: blocked_insert_one,
        contains: blocked_contains,
        insert: blocked_insert,
    },
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
const BATCH: usize = 64;

// ---- XXH3 of eight bytes --------------------------------------------------------------------------------------------

/// [`portable::xxh3_u64`] of `GROUPS` times eight keys.
///
/// It is a chain of steps that wait for each other, some for 15 cycles. So all groups take a step before any takes the
/// next: the processor looks no more than a few dozen instructions ahead for one that need not wait.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn xxh3_u64<const GROUPS: usize>(flip: __m512i, keys: &[[u64; GROUP]], hashes: &mut [[u64; GROUP]]) {
    let multiplier = _mm512_set1_epi64(XXH3_MULTIPLIER as i64);
    let mut x: [__m512i; GROUPS] = core::array::from_fn(|i| load(&keys[i]));
    for x in &mut x {
        let mixed = _mm512_xor_si512(_mm512_rol_epi64::<32>(*x), flip);
        // 0x96 is the exclusive or of three.
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
    for (x, hashes) in x.into_iter().zip(hashes) {
        // SAFETY: eight numbers.
        unsafe {
            _mm512_storeu_si512(hashes.as_mut_ptr().cast(), _mm512_xor_si512(x, _mm512_srli_epi64::<28>(x)));
        }
    }
}

/// The same number, which the compiler must have at this place in the order of the program.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn in_turn(mut x: __m512i) -> __m512i {
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {} */", inout(zmm_reg) x, options(nomem, nostack, preserves_flags)) };
    x
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn hash_u64s(flip: u64, keys: &[u64], hashes: &mut [u64]) {
    let flips = _mm512_set1_epi64(flip as i64);
    let (groups, rest) = keys.as_chunks::<GROUP>();
    let (to_groups, to_rest) = hashes.as_chunks_mut::<GROUP>();
    let (rows, few) = groups.as_chunks::<8>();
    let (to_rows, to_few) = to_groups.as_chunks_mut::<8>();
    for (keys, hashes) in rows.iter().zip(to_rows) {
        xxh3_u64::<8>(flips, keys, hashes);
    }
    for (keys, hashes) in few.chunks(1).zip(to_few.chunks_mut(1)) {
        xxh3_u64::<1>(flips, keys, hashes);
    }
    for (key, hash) in rest.iter().zip(to_rest) {
        *hash = portable::xxh3_u64(flip, *key);
    }
}

// ---- What both layouts share ----------------------------------------------------------------------------------------

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn load(group: &[u64; GROUP]) -> __m512i {
    // SAFETY: eight numbers.
    unsafe { _mm512_loadu_si512(group.as_ptr().cast()) }
}

/// The products of the low halves of eight numbers. The compiler would make a full 64-bit multiplication of it where it
/// has lost sight of what the upper halves are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn multiply_low_halves(a: __m512i, b: __m512i) -> __m512i {
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
/// Each aligned eight bytes of a vector load are read at once, so this is eight relaxed loads. It is written in
/// assembly because the language knows no atomic load of a vector, and a plain one would be a data race.
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

/// Whether the number of blocks suits the vector arithmetic here: not none, and below 2^32.
fn is_vectorised(words: usize, words_of_block: usize) -> bool {
    (1..1 << 32).contains(&((words / words_of_block) as u64))
}

/// Turns the masks of the lanes in which a bit was missing into answers: whether any of the key's lanes is among them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn answer(missing: &Masks, lanes: &Masks, answers: &mut [bool; BATCH], any_is: bool) {
    for half in 0..2 {
        // SAFETY: 32 masks of 16 bits are a vector, 32 answers half of one; the answers are written as 0 and 1.
        unsafe {
            let [missing, lanes] =
                [missing, lanes].map(|masks| _mm512_load_si512(masks.0.as_ptr().add(32 * half).cast()));
            let any = _mm512_test_epi16_mask(missing, lanes);
            let answer = _mm256_maskz_set1_epi8(if any_is { any } else { !any }, 1);
            _mm256_storeu_si256(answers.as_mut_ptr().add(32 * half).cast(), answer);
        }
    }
}

/// What is computed of keys eight at once.
#[repr(align(64))]
struct Prepared {
    /// The addresses of their blocks.
    blocks: [u64; BATCH],
    /// The addresses of their masks, where the layout has some.
    masks: [u64; BATCH],
}

impl Prepared {
    /// Where the first block's address is and the first mask's.
    fn places(prepared: &mut MaybeUninit<Prepared>) -> (*mut u64, *mut u64) {
        let place = prepared.as_mut_ptr();
        // SAFETY: places in memory, of which nothing is read.
        unsafe { ((&raw mut (*place).blocks).cast(), (&raw mut (*place).masks).cast()) }
    }
}

/// A mask of lanes for each key.
#[repr(align(64))]
struct Masks([u16; BATCH]);

/// Addresses for one step of eight keys.
struct Step {
    keys: *const u64,
    blocks: *const u64,
    masks: *const u64,
    /// Where the masks of the lanes go that miss a bit.
    missing: *mut u16,
    /// Where the masks of the keys' own lanes go, if those are not all that can be in `missing`.
    lanes: *mut u16,
    /// The blocks of eight later keys, to be fetched.
    next: *const u64,
}

/// The loop of all kernels here. `prepare` gives the addresses of the blocks and masks of eight keys and `place` that
/// of one block; `step` writes of each of eight keys the mask of the lanes that miss a bit, `fetching_step` fetches
/// eight lines as well; `one` answers a single key. The answer for a key of which any bit is missing is `any_is`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn run(
    (fetching, any_is): (bool, bool),
    keys: &[u64],
    answers: &mut [bool],
    prepare: impl Fn(__m512i) -> (__m512i, __m512i),
    place: impl Fn(u64) -> usize,
    (step, fetching_step): (impl Fn(Step), impl Fn(Step)),
    one: impl Fn(u64) -> bool,
) {
    // A prefetch of an address that is none does nothing.
    let fetch = |block: usize| _mm_prefetch::<_MM_HINT_T0>(core::ptr::without_provenance(block));
    // Prepares the eight keys from `i` on.
    let prepare_group = |keys: &[u64; BATCH], i: usize, prepared: &mut MaybeUninit<Prepared>| {
        debug_assert!(i + GROUP <= BATCH);
        // SAFETY: there are eight numbers from `i` on, which is a multiple of eight below 64.
        unsafe {
            let (block, mask) = prepare(_mm512_loadu_si512(keys.as_ptr().add(i).cast()));
            let (blocks, masks) = Prepared::places(prepared);
            _mm512_store_si512(blocks.add(i).cast(), block);
            _mm512_store_si512(masks.add(i).cast(), mask);
        }
    };
    if fetching && answers.is_empty() {
        keys.iter().take(ring::AHEAD).for_each(|key| fetch(place(*key)));
    }
    let (batches, rest) = answers.as_chunks_mut::<BATCH>();
    let in_batches = batches.len() * BATCH;
    let (mut now, mut next) = (&mut MaybeUninit::uninit(), &mut MaybeUninit::uninit());
    let (mut missing, mut lanes) = (Masks([0; BATCH]), Masks([!0; BATCH]));
    // Not the compiler's to unroll, which would only make loops of eight steps larger.
    let groups = || (0..core::hint::black_box(BATCH)).step_by(GROUP);
    if in_batches > 0
        && let Some(first) = keys.first_chunk()
    {
        groups().for_each(|i| prepare_group(first, i, now));
    }
    for (answers, start) in batches.iter_mut().zip((0..).step_by(BATCH)) {
        let (keys, following) = keys[start..].split_at(BATCH);
        let mut addresses = |i: usize, now: &mut MaybeUninit<Prepared>, next: &mut MaybeUninit<Prepared>| {
            let ((blocks, masks), (next, _)) = (Prepared::places(now), Prepared::places(next));
            Step {
                keys: keys.as_ptr().wrapping_add(i),
                blocks: blocks.wrapping_add(i),
                masks: masks.wrapping_add(i),
                missing: missing.0.as_mut_ptr().wrapping_add(i),
                lanes: lanes.0.as_mut_ptr().wrapping_add(i),
                next: next.wrapping_add(i),
            }
        };
        match following.first_chunk() {
            // The last batch of a call has no use for the next one's places, unless it is to fetch them.
            Some(following) if fetching || start + BATCH < in_batches => {
                for i in groups() {
                    // Between the steps, so that the arithmetic for the next keys does not hold up their fetches.
                    prepare_group(following, i, next);
                    if fetching { fetching_step(addresses(i, now, next)) } else { step(addresses(i, now, next)) }
                }
            }
            _ => {
                following.iter().filter(|_| fetching).for_each(|key| fetch(place(*key)));
                groups().for_each(|i| step(addresses(i, now, next)));
            }
        }
        answer(&missing, &lanes, answers, any_is);
        (now, next) = (next, now);
    }
    for (i, answer) in (in_batches..).zip(rest) {
        if let Some(ahead) = keys.get(i + ring::AHEAD).filter(|_| fetching) {
            fetch(place(*ahead));
        }
        *answer = one(keys[i]);
    }
}

const _: () = assert!(BATCH == ring::AHEAD, "the next batch is what is fetched");

/// Eight times a piece of assembly, which is given the register of its key's bits, the 16th vector and so on, and the
/// places of the key in arrays of 8 and of 2 bytes an element.
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

/// Fetches the line of a later key.
macro_rules! fetch {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("mov {block}, qword ptr [{next} + ", $d8, "]\n", "prefetcht0 byte ptr [{block}]\n")
    };
}

// ---- The blocked layout ---------------------------------------------------------------------------------------------

/// The addresses of the blocks of eight keys: the first plus 64 times the high halves of the keys' products with the
/// number of blocks, which is below 2^32.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_places(first: __m512i, blocks: __m512i, keys: __m512i) -> __m512i {
    let high = multiply_low_halves(_mm512_srli_epi64::<32>(keys), blocks);
    let low = _mm512_srli_epi64::<32>(multiply_low_halves(keys, blocks));
    let sixty_four_times = _mm512_srli_epi64::<26>(_mm512_add_epi64(high, low));
    _mm512_add_epi64(first, _mm512_and_si512(sixty_four_times, _mm512_set1_epi64(-64)))
}

/// The addresses of the masks of eight keys: the first plus twice their places in the list.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_masks(first: __m512i, masks: __m512i, keys: __m512i) -> __m512i {
    let product = multiply_low_halves(keys, masks);
    let twice = _mm512_and_si512(_mm512_srli_epi64::<31>(product), _mm512_set1_epi64(-2));
    _mm512_add_epi64(first, twice)
}

/// The multipliers, one a pair of lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn salts() -> __m512i {
    let [a, b, c, d, e, f, g, h] = SALTS.map(i64::from);
    _mm512_setr_epi64(a, b, c, d, e, f, g, h)
}

/// The numbers of a key's bits in the sixteen lanes, modulo 32.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_bits(key: u64) -> __m512i {
    let product = _mm512_mul_epu32(_mm512_set1_epi64(key as i64), salts());
    // The even lanes take bits 27 to 31 of the products, the odd ones bits 32 to 36.
    _mm512_srlv_epi32(product, _mm512_set1_epi64(27))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_contains_one(words: &[AtomicU64], masks: &[u16], key: u64) -> bool {
    // SAFETY: a block is 64 readable bytes.
    let block = unsafe { load_line(block(words, key).as_ptr().cast()) };
    let bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), blocked_bits(key));
    _mm512_mask_testn_epi32_mask(lanes(masks, key), bits, block) == 0
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_insert_one(words: &mut [u64], masks: &[u16], key: u64) -> bool {
    let block = block_mut(words, key).as_mut_ptr().cast();
    let bits = _mm512_maskz_rolv_epi32(lanes(masks, key), _mm512_set1_epi32(1), blocked_bits(key));
    // SAFETY: a block is 64 bytes, which are ours alone.
    unsafe {
        let old = _mm512_loadu_si512(block);
        _mm512_storeu_si512(block, _mm512_or_si512(old, bits));
        // Had it all of them, nothing is left of the bits without those that it has.
        _mm512_test_epi32_mask(bits, _mm512_andnot_si512(old, bits)) != 0
    }
}

/// The numbers of a key's bits, modulo 32.
macro_rules! blocked_multiply {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpmuludq ", $bits, ", {salts}, qword ptr [{keys} + ", $d8, "]{{1to8}}\n")
    };
}

macro_rules! blocked_shift {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpsrlvd ", $bits, ", ", $bits, ", {shifts}\n")
    };
}

/// A bit in every lane, and which lanes are the key's.
macro_rules! blocked_rotate_all {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            "vprolvd ",
            $bits,
            ", {ones}, ",
            $bits,
            "\n",
            "mov {mask}, qword ptr [{masks} + ",
            $d8,
            "]\n",
            "movzx {mask:e}, word ptr [{mask}]\n",
            "mov word ptr [{lanes} + ",
            $d2,
            "], {mask:x}\n"
        )
    };
}

/// The key's bits.
macro_rules! blocked_rotate_chosen {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            "mov {mask}, qword ptr [{masks} + ",
            $d8,
            "]\n",
            "kmovw k1, word ptr [{mask}]\n",
            "vprolvd ",
            $bits,
            "{{k1}}{{z}}, {ones}, ",
            $bits,
            "\n"
        )
    };
}

/// Which lanes of the block do not have the bit.
macro_rules! blocked_test {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            "mov {block}, qword ptr [{blocks} + ",
            $d8,
            "]\n",
            "vptestnmd k2, ",
            $bits,
            ", zmmword ptr [{block}]\n",
            "kmovw word ptr [{missing} + ",
            $d2,
            "], k2\n"
        )
    };
}

/// Sets the bits, and says which lanes that changes.
macro_rules! blocked_set {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            "mov {block}, qword ptr [{blocks} + ",
            $d8,
            "]\n",
            "vmovdqu64 {old}, zmmword ptr [{block}]\n",
            "vporq ",
            $bits,
            ", ",
            $bits,
            ", {old}\n",
            "vpcmpneqd k2, ",
            $bits,
            ", {old}\n",
            "vmovdqu64 zmmword ptr [{block}], ",
            $bits,
            "\n",
            "kmovw word ptr [{missing} + ",
            $d2,
            "], k2\n"
        )
    };
}

macro_rules! blocked_fetch_and_test {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(fetch!($bits, $d8, $d2), blocked_test!($bits, $d8, $d2))
    };
}

macro_rules! blocked_fetch_and_set {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(fetch!($bits, $d8, $d2), blocked_set!($bits, $d8, $d2))
    };
}

/// A step of the blocked layout. Its safety is argued where it is used.
macro_rules! blocked_step {
    ($rotate:ident, $finish:ident, $step:ident) => {
        core::arch::asm!(
            eight!(blocked_multiply, "zmm"),
            eight!(blocked_shift, "zmm"),
            eight!($rotate, "zmm"),
            eight!($finish, "zmm"),
            "/* {next} {lanes} {old} */",
            keys = in(reg) $step.keys, blocks = in(reg) $step.blocks, masks = in(reg) $step.masks,
            missing = in(reg) $step.missing, lanes = in(reg) $step.lanes, next = in(reg) $step.next,
            mask = out(reg) _, block = out(reg) _,
            salts = in(zmm_reg) salts(), shifts = in(zmm_reg) _mm512_set1_epi64(27),
            ones = in(zmm_reg) _mm512_set1_epi32(1), old = out(zmm_reg) _,
            out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
            out("k1") _, out("k2") _, options(nostack, preserves_flags),
        )
    };
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_contains(words: &[AtomicU64], masks: &[u16], keys: &[u64], found: &mut [bool]) {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) || masks.is_empty() {
        return (portable::KERNELS.blocked).contains(words, masks, keys, found);
    }
    let first = words.as_ptr().cast::<u64>();
    run(
        (length >= ring::FETCH_FROM, false),
        keys,
        found,
        blocked_preparation(first, length, masks),
        |key| first.wrapping_add(block_start(length, key)).addr(),
        (
            // SAFETY: the high half of a product with the number of blocks, or masks, is less than that, so that 64
            // bytes at the first address are a block and two at the second a mask; the others are those of arrays with
            // eight more elements. Another thread may be setting bits in the block: see `load_line`.
            |step: Step| unsafe { blocked_step!(blocked_rotate_all, blocked_test, step) },
            // SAFETY: as above.
            |step: Step| unsafe { blocked_step!(blocked_rotate_all, blocked_fetch_and_test, step) },
        ),
        |key| blocked_contains_one(words, masks, key),
    );
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_insert(words: &mut [u64], masks: &[u16], keys: &[u64], new: &mut [bool]) {
    let length = words.len();
    if !is_vectorised(length, BLOCK_WORDS) || masks.is_empty() {
        return (portable::KERNELS.blocked).insert(words, masks, keys, new);
    }
    let words = Cell::from_mut(words);
    let first = words.as_ptr().cast::<u64>();
    run(
        (length >= ring::FETCH_FROM, true),
        keys,
        new,
        blocked_preparation(first, length, masks),
        |key| first.wrapping_add(block_start(length, key)).addr(),
        (
            // SAFETY: as in `blocked_contains`; the words are ours alone.
            |step: Step| unsafe { blocked_step!(blocked_rotate_chosen, blocked_set, step) },
            // SAFETY: as above.
            |step: Step| unsafe { blocked_step!(blocked_rotate_chosen, blocked_fetch_and_set, step) },
        ),
        |key| {
            // SAFETY: the words are ours alone, and nothing else borrows them during the call.
            blocked_insert_one(unsafe { &mut *words.as_ptr() }, masks, key)
        },
    );
}

/// What [`run`] is to prepare for the blocked layout.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn blocked_preparation(words: *const u64, length: usize, masks: &[u16]) -> impl Fn(__m512i) -> (__m512i, __m512i) {
    let [first, blocks] = [words.addr(), length / BLOCK_WORDS].map(|number| _mm512_set1_epi64(number as i64));
    let [first_mask, all] = [masks.as_ptr().addr(), masks.len()].map(|number| _mm512_set1_epi64(number as i64));
    move |keys| (blocked_places(first, blocks, keys), blocked_masks(first_mask, all, keys))
}

// ---- The split-block layout -----------------------------------------------------------------------------------------

/// The addresses of the blocks of eight keys: the first plus 32 times the high halves of the products of the keys'
/// upper halves with the number of blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_places(first: __m512i, blocks: __m512i, keys: __m512i) -> __m512i {
    let product = multiply_low_halves(_mm512_srli_epi64::<32>(keys), blocks);
    _mm512_add_epi64(first, _mm512_and_si512(_mm512_srli_epi64::<27>(product), _mm512_set1_epi64(-32)))
}

/// The multipliers, one a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_salts() -> __m256i {
    let [a, b, c, d, e, f, g, h] = SALTS.map(|salt| salt as i32);
    _mm256_setr_epi32(a, b, c, d, e, f, g, h)
}

/// The bits of a key in the eight lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_bits(key: u64) -> __m256i {
    let product = _mm256_mullo_epi32(_mm256_set1_epi32(key as i32), split_salts());
    _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(product))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_contains_one(words: &[AtomicU64], _: &[u16], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = &words[start..start + SPLIT_BLOCK_WORDS];
    // SAFETY: a block is 32 readable bytes.
    let block = unsafe { load_half_line(block.as_ptr().cast()) };
    _mm256_testn_epi32_mask(block, split_block_bits(key)) == 0
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_insert_one(words: &mut [u64], _: &[u16], key: u64) -> bool {
    let start = split_block_start(words.len(), key);
    let block = words[start..start + SPLIT_BLOCK_WORDS].as_mut_ptr().cast();
    let bits = split_block_bits(key);
    // SAFETY: a block is 32 bytes, which are ours alone.
    unsafe {
        let old = _mm256_loadu_si256(block);
        _mm256_storeu_si256(block, _mm256_or_si256(old, bits));
        _mm256_testn_epi32_mask(old, bits) != 0
    }
}

/// The products whose high five bits are the numbers of a key's bits.
macro_rules! split_block_multiply {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpmulld ", $bits, ", {salts}, dword ptr [{keys} + ", $d8, "]{{1to8}}\n")
    };
}

macro_rules! split_block_shift {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpsrld ", $bits, ", ", $bits, ", 27\n")
    };
}

macro_rules! split_block_bit {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!("vpsllvd ", $bits, ", {ones}, ", $bits, "\n")
    };
}

/// Which lanes of the block do not have the bit.
macro_rules! split_block_test {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            "mov {block}, qword ptr [{blocks} + ",
            $d8,
            "]\n",
            "vptestnmd k2, ",
            $bits,
            ", ymmword ptr [{block}]\n",
            "kmovw word ptr [{missing} + ",
            $d2,
            "], k2\n"
        )
    };
}

/// Sets the bits, and says which lanes that changes.
macro_rules! split_block_set {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            "mov {block}, qword ptr [{blocks} + ",
            $d8,
            "]\n",
            "vmovdqu64 {old}, ymmword ptr [{block}]\n",
            "vptestnmd k2, ",
            $bits,
            ", {old}\n",
            "vporq ",
            $bits,
            ", ",
            $bits,
            ", {old}\n",
            "vmovdqu64 ymmword ptr [{block}], ",
            $bits,
            "\n",
            "kmovw word ptr [{missing} + ",
            $d2,
            "], k2\n"
        )
    };
}

macro_rules! split_block_fetch_and_test {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(fetch!($bits, $d8, $d2), split_block_test!($bits, $d8, $d2))
    };
}

macro_rules! split_block_fetch_and_set {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(fetch!($bits, $d8, $d2), split_block_set!($bits, $d8, $d2))
    };
}

/// A step of the split-block layout. Its safety is argued where it is used.
macro_rules! split_block_step {
    ($finish:ident, $step:ident) => {
        core::arch::asm!(
            eight!(split_block_multiply, "ymm"),
            eight!(split_block_shift, "ymm"),
            eight!(split_block_bit, "ymm"),
            eight!($finish, "ymm"),
            "/* {next} {old} */",
            keys = in(reg) $step.keys, blocks = in(reg) $step.blocks, missing = in(reg) $step.missing,
            next = in(reg) $step.next, block = out(reg) _, salts = in(ymm_reg) split_salts(),
            ones = in(ymm_reg) _mm256_set1_epi32(1), old = out(ymm_reg) _,
            out("ymm16") _, out("ymm17") _, out("ymm18") _, out("ymm19") _,
            out("ymm20") _, out("ymm21") _, out("ymm22") _, out("ymm23") _,
            out("k2") _, options(nostack, preserves_flags),
        )
    };
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_contains(words: &[AtomicU64], masks: &[u16], keys: &[u64], found: &mut [bool]) {
    let length = words.len();
    if !is_vectorised(length, SPLIT_BLOCK_WORDS) {
        return (portable::KERNELS.split_block).contains(words, masks, keys, found);
    }
    let first = words.as_ptr().cast::<u64>();
    run(
        (length >= ring::FETCH_FROM, false),
        keys,
        found,
        split_block_preparation(first, length),
        |key| first.wrapping_add(split_block_start(length, key)).addr(),
        (
            // SAFETY: as in `blocked_contains`, of 32 bytes and no masks.
            |step: Step| unsafe { split_block_step!(split_block_test, step) },
            // SAFETY: as above.
            |step: Step| unsafe { split_block_step!(split_block_fetch_and_test, step) },
        ),
        |key| split_block_contains_one(words, masks, key),
    );
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_insert(words: &mut [u64], masks: &[u16], keys: &[u64], new: &mut [bool]) {
    let length = words.len();
    if !is_vectorised(length, SPLIT_BLOCK_WORDS) {
        return (portable::KERNELS.split_block).insert(words, masks, keys, new);
    }
    let words = Cell::from_mut(words);
    let first = words.as_ptr().cast::<u64>();
    run(
        (length >= ring::FETCH_FROM, true),
        keys,
        new,
        split_block_preparation(first, length),
        |key| first.wrapping_add(split_block_start(length, key)).addr(),
        (
            // SAFETY: as in `blocked_contains`, of 32 bytes and no masks; the words are ours alone.
            |step: Step| unsafe { split_block_step!(split_block_set, step) },
            // SAFETY: as above.
            |step: Step| unsafe { split_block_step!(split_block_fetch_and_set, step) },
        ),
        |key| {
            // SAFETY: the words are ours alone, and nothing else borrows them during the call.
            split_block_insert_one(unsafe { &mut *words.as_ptr() }, masks, key)
        },
    );
}

/// What [`run`] is to prepare for the split-block layout.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn split_block_preparation(words: *const u64, length: usize) -> impl Fn(__m512i) -> (__m512i, __m512i) {
    let [first, blocks] = [words.addr(), length / SPLIT_BLOCK_WORDS].map(|number| _mm512_set1_epi64(number as i64));
    move |keys| (split_block_places(first, blocks, keys), keys)
}
