//! The inner loops for AVX-512: all tags of a block are compared at once, and one instruction finds a bit by its rank.
//! PDEP puts a single bit where the bit of that rank is.

use super::block::{Instructed, Line, Run, WORDS};
use super::kernel::{self, Kernel};
use super::{Blocks, Place};
use crate::batch::ring::{self, Batch, Few, GROUP};
use crate::bits::GOLDEN;
use crate::blocks::block_kernel::avx512::load_line;
use crate::blocks::eight::{EIGHTS, Eight, WIDTH, all, in_turns, load, other, reduce, store};
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
    }
}

/// Comparison by vectors of 64 bytes. Only this file uses it, because only this file's kernels know that the processor
/// has the instructions.
#[derive(Clone, Copy)]
struct Lines;

impl Instructed for Lines {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        // SAFETY: nothing but the functions of this file's kernels has this type.
        unsafe { _pdep_u64(1 << rank, word) }.trailing_zeros()
    }

    #[inline(always)]
    fn matches<const BITS: u32>(line: &impl Line, run: Run, tag: u64) -> u64 {
        // SAFETY: nothing but the functions of this file's kernels has this type.
        let equal = unsafe { equal::<BITS>(line, tag) };
        equal >> (run.start & 63) & run.mask()
    }
}

/// A bit for each slot: whether it has the tag.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
    match words.len() >= ring::FETCH_FROM {
        true => in_turns([Group::NONE; 2], batch, find, |group, i| fetch(words, &group.blocks[i]), answer, alone),
        false => in_turns([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
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
