//! Chains of arrays in the blocked layout for AVX-512. The bits that a key has in the sixteen lanes do not depend on
//! the array, so they stay in a register while the key goes through the arrays.
//!
//! Many keys go through all arrays in one ring. The places of eight keys in an array are computed, and their lines are
//! fetched, just before eight earlier keys are tested in that array. Every array is asked, even if an earlier one has
//! the key, because the processor could not guess that.

use super::super::avx512::{bits_of, masks_of, multiply, places, rotate_all, salts, shift};
use crate::blocks::block_kernel::avx512::eight;
use crate::blocks::block_kernel::chain::{Chain, ChainKernel, Found, Keys, MAX_ARRAYS};
use crate::blocks::eight::{Eight, WIDTH, all, load, numbers, store};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub static KERNEL: ChainKernel = ChainKernel { contains_one, contains };

/// How many groups of eight keys ahead of their tests the lines are fetched.
const AHEAD: usize = 2;

/// One array, or two arrays in which keys choose from the same sets of lanes.
#[derive(Clone, Copy)]
struct Pair {
    /// The addresses of the arrays' first blocks.
    starts: [u64; 2],
    /// How many blocks the arrays have. 0 stands for no second array.
    blocks: [u64; 2],
    /// Whether the arrays' lines are fetched.
    fetches: [bool; 2],
    /// The address of the first set of lanes, and how many sets there are.
    masks: u64,
    choices: u64,
}

/// The places of eight keys in a pair: the addresses of their blocks in both arrays, and of their masks.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Prepared {
    blocks: [Eight; 2],
    masks: Eight,
}

/// For eight keys, the masks of the lanes that lack their bit, in both arrays of a pair.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Missing([[u16; WIDTH]; 2]);

/// The masks for keys that neither array has.
const ABSENT: Missing = Missing([[u16::MAX; WIDTH]; 2]);

/// Puts the arrays that are asked into pairs. Returns how many pairs there are.
fn pair_up(chain: &Chain, base: u64, written: usize, pairs: &mut [Pair; MAX_ARRAYS]) -> usize {
    let mut count = 0;
    for i in (0..chain.count()).filter(|i| *i != written) {
        let (start, blocks, fetches) = (base + chain.starts[i], chain.blocks[i], i >= chain.near);
        let (masks, choices) = (chain.masks[i], chain.choices[i]);
        match pairs[..count].last_mut() {
            Some(pair) if pair.masks == masks && pair.blocks[1] == 0 => {
                (pair.starts[1], pair.blocks[1], pair.fetches[1]) = (start, blocks, fetches);
            }
            _ => {
                let (starts, blocks, fetches) = ([start, 0], [blocks, 0], [fetches, false]);
                pairs[count] = Pair { starts, blocks, fetches, masks, choices };
                count += 1;
            }
        }
    }
    count
}

/// Prefetches the lines at eight addresses.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn fetch(blocks: &Eight) {
    for block in blocks {
        // A prefetch of an invalid address does nothing.
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::without_provenance(*block as usize));
    }
}

/// Computes the places of eight keys in a pair, and prefetches their lines.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn prepare(pair: &Pair, keys: __m512i, to: &mut Prepared) {
    store(&mut to.masks, masks_of(all(pair.masks), all(pair.choices), keys));
    store(&mut to.blocks[0], places(all(pair.starts[0]), all(pair.blocks[0]), keys));
    if pair.fetches[0] {
        fetch(&to.blocks[0]);
    }
    if pair.blocks[1] > 0 {
        store(&mut to.blocks[1], places(all(pair.starts[1]), all(pair.blocks[1]), keys));
        if pair.fetches[1] {
            fetch(&to.blocks[1]);
        }
    }
}

/// Assembly that finds which lanes of a key lack their bit in the first array.
macro_rules! test_first {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            concat!("mov {mask}, qword ptr [{prepared} + 128 + ", $d8, "]\n"),
            "kmovw k1, word ptr [{mask}]\n",
            concat!("mov {block}, qword ptr [{prepared} + ", $d8, "]\n"),
            concat!("vptestnmd k2{{k1}}, ", $bits, ", zmmword ptr [{block}]\n"),
            concat!("kmovw word ptr [{missing} + ", $d2, "], k2\n"),
        )
    };
}

/// Assembly that finds which lanes of a key lack their bit, in each of both arrays.
macro_rules! test_both {
    ($bits:expr, $d8:literal, $d2:literal) => {
        concat!(
            test_first!($bits, $d8, $d2),
            concat!("mov {block}, qword ptr [{prepared} + 64 + ", $d8, "]\n"),
            concat!("vptestnmd k3{{k1}}, ", $bits, ", zmmword ptr [{block}]\n"),
            concat!("kmovw word ptr [{missing} + 16 + ", $d2, "], k3\n"),
        )
    };
}

/// Tests eight keys in a pair. Each use of the macro argues its safety.
macro_rules! test {
    ($which:ident, $bits:ident, $prepared:ident, $missing:ident) => {
        core::arch::asm!(
            eight!($which, "zmm"),
            prepared = in(reg) core::ptr::from_ref($prepared), missing = in(reg) core::ptr::from_mut($missing),
            mask = out(reg) _, block = out(reg) _,
            in("zmm16") $bits[0], in("zmm17") $bits[1], in("zmm18") $bits[2], in("zmm19") $bits[3],
            in("zmm20") $bits[4], in("zmm21") $bits[5], in("zmm22") $bits[6], in("zmm23") $bits[7],
            out("k1") _, out("k2") _, out("k3") _, options(nostack, preserves_flags),
        )
    };
}

/// Tests eight keys, whose bits are given, in the arrays of a pair.
///
/// # Safety
/// `prepared` was made for this pair, whose words still exist. Meanwhile only other threads that set bits may change
/// the words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn test(pair: &Pair, bits: &[__m512i; WIDTH], prepared: &Prepared, missing: &mut Missing) {
    // SAFETY: each block is 64 readable bytes and each mask two, by the caller's promise, because the high half of a
    // product with the number of blocks, or sets, is less than that. Another thread may be setting bits in a block: see
    // `load_line`. What is written are the masks of 16 bits that `missing` has of eight keys for one array, or both.
    unsafe {
        if pair.blocks[1] > 0 {
            test!(test_both, bits, prepared, missing);
        } else {
            test!(test_first, bits, prepared, missing);
        }
    }
}

/// The bit of each of eight keys in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn bits_of_eight(keys: &Eight) -> [__m512i; WIDTH] {
    let (a, b, c, d, e, f, g, h);
    // SAFETY: eight numbers are read, and nothing is written but registers.
    unsafe {
        core::arch::asm!(
            eight!(multiply, "zmm"),
            eight!(shift, "zmm"),
            eight!(rotate_all, "zmm"),
            keys = in(reg) keys.as_ptr(), salts = in(zmm_reg) salts(), shifts = in(zmm_reg) all(27),
            ones = in(zmm_reg) _mm512_set1_epi32(1),
            out("zmm16") a, out("zmm17") b, out("zmm18") c, out("zmm19") d,
            out("zmm20") e, out("zmm21") f, out("zmm22") g, out("zmm23") h,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    [a, b, c, d, e, f, g, h]
}

/// Which of eight keys lack no bit in some array.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn any_whole(missing: &[Missing]) -> u8 {
    let mut any = 0;
    for two in missing.as_chunks::<2>().0 {
        // SAFETY: the masks of two pairs are 64 readable bytes.
        let masks = unsafe { _mm512_loadu_si512(two.as_ptr().cast()) };
        any |= _mm512_testn_epi16_mask(masks, masks);
    }
    any |= any >> 16;
    (any | any >> 8) as u8
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains(chain: &Chain, words: &[AtomicU64], written: usize, (keys, count): Keys) -> Found {
    let base = words.as_ptr().addr() as u64;
    let none = Pair { starts: [0; 2], blocks: [0; 2], fetches: [false; 2], masks: 0, choices: 0 };
    let mut room = [none; MAX_ARRAYS];
    let pairs = pair_up(chain, base, written, &mut room);
    let pairs = &room[..pairs];
    let fetch_written = |keys: &Eight| {
        if (chain.near..chain.count()).contains(&written) {
            let start = all(base + chain.starts[written]);
            fetch(&numbers(places(start, all(chain.blocks[written]), load(keys))));
        }
    };

    let mut room = [const { [const { MaybeUninit::uninit() }; MAX_ARRAYS] }; AHEAD + 1];
    let mut ring = room.each_mut().map(|room| {
        for place in &mut room[..pairs.len()] {
            place.write(Prepared { blocks: [[0; WIDTH]; 2], masks: [0; WIDTH] });
        }
        // SAFETY: the loop wrote `pairs.len()` elements.
        unsafe { core::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<Prepared>(), pairs.len()) }
    });
    // The masks of missing bits are looked at after the next eight keys have been tested, because a load waits for
    // stores that have not reached the cache. The last of an odd number of pairs gets a companion that misses
    // everything.
    let mut room = [[ABSENT; MAX_ARRAYS]; 2];
    let [mut missing, mut before] = room.each_mut().map(|room| &mut room[..pairs.len().next_multiple_of(2)]);

    let mut answers = Found::default();
    let mut answer = |i: usize, missing: &[Missing]| {
        answers[i / WIDTH] |= u64::from(any_whole(missing)) << (i % WIDTH * WIDTH);
    };
    let eights = &keys.as_chunks::<WIDTH>().0[..count.div_ceil(WIDTH)];
    for i in 0..AHEAD.min(eights.len()) {
        fetch_written(&eights[i]);
        for (p, pair) in pairs.iter().enumerate() {
            prepare(pair, load(&eights[i]), &mut ring[i][p]);
        }
    }
    for (i, eight) in eights.iter().enumerate() {
        let bits = bits_of_eight(eight);
        let [now, .., next] = &mut ring;
        let (now, next) = (&now[..pairs.len()], &mut next[..pairs.len()]);
        let missing_now = &mut missing[..pairs.len()];
        if let Some(later) = eights.get(i + AHEAD) {
            fetch_written(later);
            let later = load(later);
            for (p, pair) in pairs.iter().enumerate() {
                prepare(pair, later, &mut next[p]);
                // SAFETY: the places were prepared for this pair, whose arrays are in the words.
                unsafe { test(pair, &bits, &now[p], &mut missing_now[p]) };
            }
        } else {
            for (p, pair) in pairs.iter().enumerate() {
                // SAFETY: the places were prepared for this pair, whose arrays are in the words.
                unsafe { test(pair, &bits, &now[p], &mut missing_now[p]) };
            }
        }
        if i > 0 {
            answer(i - 1, before);
        }
        ring.rotate_left(1);
        (missing, before) = (before, missing);
    }
    if let Some(last) = eights.len().checked_sub(1) {
        answer(last, before);
    }
    answers
}

/// The places of the key are computed for eight arrays at a time, and their lines are prefetched. Then the arrays are
/// tested, the newest first.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_one(chain: &Chain, words: &[AtomicU64], written: usize, key: u64) -> bool {
    let (base, keys) = (all(words.as_ptr().addr() as u64), all(key));
    let mut places_of = [const { MaybeUninit::<[Eight; 2]>::uninit() }; MAX_ARRAYS / WIDTH];
    for (i, to) in places_of.iter_mut().enumerate().take(chain.count().div_ceil(WIDTH)) {
        let of = |numbers: &[u64; MAX_ARRAYS]| load(&numbers.as_chunks().0[i]);
        let blocks = places(_mm512_add_epi64(base, of(&chain.starts)), of(&chain.blocks), keys);
        let masks = masks_of(of(&chain.masks), of(&chain.choices), keys);
        let [blocks, _] = to.write([numbers(blocks), numbers(masks)]);
        let (near, end) = (chain.near.max(i * WIDTH), chain.count().min((i + 1) * WIDTH));
        for number in near..end {
            _mm_prefetch::<_MM_HINT_T0>(core::ptr::without_provenance(blocks[number % WIDTH] as usize));
        }
    }
    let bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), bits_of(key));
    for i in (0..chain.count()).rev() {
        if i == written {
            continue;
        }
        // SAFETY: the loop above wrote an element for every array.
        let [blocks, masks] = unsafe { places_of[i / WIDTH].assume_init_ref() };
        let missing: u32;
        // SAFETY: as in `test`, 64 bytes at the one address are a block of the array, and two bytes at the other are a
        // mask. The assembly writes to registers only.
        unsafe {
            core::arch::asm!(
                "kmovw {chosen}, word ptr [{mask}]",
                "vptestnmd {lanes}{{{chosen}}}, {bits}, zmmword ptr [{block}]",
                "kmovw {missing:e}, {lanes}",
                chosen = out(kreg) _, lanes = out(kreg) _, bits = in(zmm_reg) bits, missing = lateout(reg) missing,
                mask = in(reg) masks[i % WIDTH], block = in(reg) blocks[i % WIDTH],
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        if missing == 0 {
            return true;
        }
    }
    false
}
