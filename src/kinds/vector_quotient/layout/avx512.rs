//! The inner loops for AVX-512: all tags of a block are compared together, and one instruction finds a bit by its rank.
//! PDEP puts a single bit where the bit of that rank is.

use super::block::{Instructed, Line, Run, WORDS};
use super::kernel::{self, Kernel};
use super::{Blocks, Place};
use crate::batch::groups::{EIGHTS, in_turns};
use crate::batch::ring::{self, Batch, Few, GROUP};
use crate::bits::GOLDEN;
use crate::blocks::block_kernel::avx512::load_line;
use crate::blocks::eight::{Eight, WIDTH, all, load, other, reduce, store};
use crate::simd::Instructions;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernels for tags of 8 and of 16 bits.
pub(super) static KERNELS: [Kernel; 2] = [kernel::<8>(), kernel::<16>()];

const fn kernel<const BITS: u32>() -> Kernel {
    Kernel {
        // SAFETY: this kernel is given out for processors that have AVX-512 F, BW, DQ and VL, BMI1,
        // BMI2, LZCNT and POPCNT (`simd::Kernel::Avx512`).
        contains: |blocks, words, hash| unsafe { contains::<BITS>(blocks, words, hash) },
        // SAFETY: as above.
        contains_many: |blocks, words, batch| unsafe { contains_many::<BITS>(blocks, words, batch) },
        // SAFETY: as above.
        contains_few: |blocks, words, instructions, few| unsafe {
            contains_few::<BITS>(blocks, words, instructions, few)
        },
        // SAFETY: as above.
        copies: |blocks, words, hash| unsafe { copies::<BITS>(blocks, words, hash) },
        // SAFETY: as above.
        insert: |blocks, words, hash| unsafe { insert::<BITS>(blocks, words, hash) },
        // SAFETY: as above.
        remove: |blocks, words, hash| unsafe { remove::<BITS>(blocks, words, hash) },
    }
}

/// Comparison by vectors of 64 bytes. Only this file uses it, because only its kernels know that the processor has the
/// instructions.
#[derive(Clone, Copy)]
struct Lines;

impl Instructed for Lines {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        // SAFETY: only the functions of this file's kernels have this type.
        unsafe { _pdep_u64(1 << rank, word) }.trailing_zeros()
    }

    #[inline(always)]
    fn matches<const BITS: u32>(line: &impl Line, run: Run, tag: u64) -> u64 {
        // SAFETY: only the functions of this file's kernels have this type.
        let equal = unsafe { equal::<BITS>(line, tag) };
        equal >> (run.start & 63) & run.mask()
    }

    #[inline(always)]
    fn open<const BITS: u32>(line: &mut [u64; WORDS], slot: u32, tag: u64) {
        // SAFETY: only the functions of this file's kernels have this type.
        unsafe { open::<BITS>(line, slot, tag) }
    }

    #[inline(always)]
    fn close<const BITS: u32>(line: &mut [u64; WORDS], slot: u32) {
        // SAFETY: only the functions of this file's kernels have this type.
        unsafe { close::<BITS>(line, slot) }
    }
}

/// The lanes of a line from a slot on, and the lane of the slot. Only damaged metadata lead to a slot after the line's
/// end, and then both masks are 0.
#[inline]
fn lanes<const BITS: u32>(slot: u32) -> [u64; 2] {
    let first = slot + if BITS == 8 { 16 } else { 4 };
    [u64::MAX.unbounded_shl(first), 1_u64.unbounded_shl(first)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn open<const BITS: u32>(line: &mut [u64; WORDS], slot: u32, tag: u64) {
    let all = load(line);
    // The quarter of the line that comes before each quarter. The first quarter begins with metadata, so no tag moves
    // into its start.
    let before = _mm512_shuffle_i64x2::<0b10_01_00_00>(all, all);
    let [from, own] = lanes::<BITS>(slot);
    let opened = match BITS {
        8 => {
            let moved = _mm512_mask_blend_epi8(from, all, _mm512_alignr_epi8::<15>(all, before));
            _mm512_mask_set1_epi8(moved, own, tag as i8)
        }
        _ => {
            let moved = _mm512_mask_blend_epi16(from as u32, all, _mm512_alignr_epi8::<14>(all, before));
            _mm512_mask_set1_epi16(moved, own as u32, tag as i16)
        }
    };
    store(line, opened);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn close<const BITS: u32>(line: &mut [u64; WORDS], slot: u32) {
    let all = load(line);
    // The quarter of the line that comes after each quarter; zeros come after the last.
    let after = _mm512_maskz_shuffle_i64x2::<0b11_11_10_01>(0b0011_1111, all, all);
    let [from, _] = lanes::<BITS>(slot);
    let closed = match BITS {
        8 => _mm512_mask_blend_epi8(from, all, _mm512_alignr_epi8::<1>(after, all)),
        _ => _mm512_mask_blend_epi16(from as u32, all, _mm512_alignr_epi8::<2>(after, all)),
    };
    store(line, closed);
}

/// A bit for each slot: whether it has the tag.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn equal<const BITS: u32>(line: &impl Line, tag: u64) -> u64 {
    // SAFETY: a line is 64 readable bytes.
    let line = unsafe { load_line(line.start()) };
    match BITS {
        8 => _mm512_cmpeq_epi8_mask(line, _mm512_set1_epi8(tag as i8)) >> 16,
        _ => u64::from(_mm512_cmpeq_epi16_mask(line, _mm512_set1_epi16(tag as i16))) >> 4,
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> bool {
    kernel::contains::<BITS, Lines>(blocks, words, hash)
}

/// Where to look for the keys of a group.
#[repr(align(64))]
struct Group {
    fingerprints: [Eight; EIGHTS],
    blocks: [[Eight; 2]; EIGHTS],
}

impl Group {
    const NONE: Group = Group { fingerprints: [[0; WIDTH]; EIGHTS], blocks: [[[0; WIDTH]; 2]; EIGHTS] };
}

/// Finds the places of the keys of a group ([`Blocks::place`]), among blocks whose numbers have 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn find(blocks: &Blocks, hashes: &[u64; GROUP], group: &mut Group) {
    let (count, fingerprints) = (all(blocks.count), all(blocks.fingerprints));
    let eights = hashes.as_chunks::<WIDTH>().0.iter();
    for ((hashes, to), places) in eights.zip(&mut group.fingerprints).zip(&mut group.blocks) {
        let hash = load(hashes);
        let fingerprint = reduce(hash, fingerprints);
        let first = reduce(_mm512_mullo_epi64(hash, all(GOLDEN)), count);
        store(to, fingerprint);
        store(&mut places[0], first);
        store(&mut places[1], other(first, fingerprint, count));
    }
}

/// Asks for the lines of eight keys.
#[inline]
fn fetch(words: &[AtomicU64], blocks: &[Eight; 2]) {
    blocks.as_flattened().iter().for_each(|block| ring::fetch_word(words, *block as usize * WORDS));
}

/// Whether each of eight keys of a group, the `i`-th eight, is there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn answer<const BITS: u32>(words: &[AtomicU64], group: &Group, i: usize) -> u8 {
    let [firsts, others] = &group.blocks[i];
    let mut found = 0;
    for (key, fingerprint) in group.fingerprints[i].iter().enumerate() {
        let place = Place { fingerprint: *fingerprint, block: firsts[key], other: others[key] };
        found |= u8::from(kernel::contains_at::<BITS, Lines>(words, place)) << key;
    }
    found
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_many<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], batch: &mut dyn Batch) {
    if blocks.count >= 1 << 32 {
        return kernel::contains_many::<BITS, Lines>(blocks, words, batch);
    }
    let find = |hashes: &_, group: &mut _| find(blocks, hashes, group);
    let answer = |group: &Group, i| [answer::<BITS>(words, group, i), 0];
    let alone = |_: &Group, _| false;
    let fetch = |group: &Group, i| fetch(words, &group.blocks[i]);
    match ring::is_far(words.len()) {
        true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, fetch, answer, alone),
        false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn contains_few<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], instructions: Instructions, few: &Few) -> u64 {
    kernel::contains_few::<BITS, Lines>(blocks, words, instructions, few)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn copies<const BITS: u32>(blocks: &Blocks, words: &[AtomicU64], hash: u64) -> u64 {
    super::copies::<BITS, Lines>(blocks, words, hash)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn insert<const BITS: u32>(blocks: &Blocks, words: &mut [u64], hash: u64) -> Option<bool> {
    kernel::insert::<BITS, Lines>(blocks, words, hash)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn remove<const BITS: u32>(blocks: &Blocks, words: &mut [u64], hash: u64) -> bool {
    kernel::remove::<BITS, Lines>(blocks, words, hash)
}
