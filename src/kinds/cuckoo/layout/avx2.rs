//! The inner loops for processors with AVX2. In lookups of batches four keys are one vector, from their hashes to their
//! answers. That needs buckets that lie within eight bytes wherever they begin. The places of a group of keys are found
//! when its hashes come, and its lines are fetched while the previous group is answered.

use super::kernel::{self, Any, Kernel, Shape};
use super::{Buckets, Search, portable};
use crate::batch::groups::{EIGHTS, hashes_of, in_one_turn, in_turns};
use crate::batch::ring::{self, Batch, Few, GROUP};
use crate::bits::GOLDEN;
use crate::blocks::fingerprint_table::Inserted;
use crate::blocks::four::{
    Four, WIDTH, all, load, multiply, multiply_small, numbers, other, read_each, reduce, signs, store,
};
use crate::simd::Instructions;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernels: for any buckets, and for those of four fingerprints of 8, 12 and 16 bits.
pub(super) static KERNELS: [Kernel; 4] =
    [kernel::<Any>(), kernel::<kernel::Four<8>>(), kernel::<kernel::Four<12>>(), kernel::<kernel::Four<16>>()];

const fn kernel<S: Shape>() -> Kernel {
    Kernel {
        // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT
        // (`simd::Kernel::Avx2`).
        contains: |buckets, words, hash| unsafe { contains::<S>(buckets, words, hash) },
        contains_many: contains_many::<S>,
        contains_few: contains_few::<S>,
        // SAFETY: as above.
        insert: |buckets, words, hash, search| unsafe { insert::<S>(buckets, words, hash, search) },
        // SAFETY: as above.
        insert_many: |buckets, words, batch, search| unsafe { insert_many::<S>(buckets, words, batch, search) },
    }
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn contains<S: Shape>(buckets: &Buckets, words: &[AtomicU64], hash: u64) -> bool {
    kernel::contains::<S>(buckets, words, hash)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn insert<S: Shape>(buckets: &Buckets, words: &mut [u64], hash: u64, search: &mut Search) -> Option<bool> {
    kernel::insert::<S>(buckets, words, hash, search)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn insert_many<S: Shape>(buckets: &Buckets, words: &mut [u64], batch: &mut dyn Batch, search: &mut Search) -> Inserted {
    kernel::insert_many::<S>(buckets, words, batch, search)
}

/// Vectors of a group.
const FOURS: usize = GROUP / WIDTH;

/// Where to find the keys of a group.
#[repr(align(64))]
struct Group {
    fingerprints: [Four; FOURS],
    /// The first bits of both buckets.
    buckets: [[Four; 2]; FOURS],
}

impl Group {
    const NONE: Group = Group { fingerprints: [[0; WIDTH]; FOURS], buckets: [[[0; WIDTH]; 2]; FOURS] };
}

/// Whether the kernel can read these buckets: a bucket's number has 32 bits, and all of a bucket lies in the eight
/// bytes from the byte in which it begins.
fn suits(buckets: &Buckets, words: &[AtomicU64]) -> bool {
    buckets.is_narrow && buckets.count < 1 << 32 && buckets.bits() <= words.len() as u64 * 64
}

fn contains_many<S: Shape>(buckets: &Buckets, words: &[AtomicU64], batch: &mut dyn Batch) {
    match suits(buckets, words) {
        // SAFETY: this kernel is given out for processors that have AVX2, and the buckets suit.
        true => unsafe { many(buckets, words, batch) },
        false => portable::contains_many::<S>(buckets, words, batch),
    }
}

fn contains_few<S: Shape>(buckets: &Buckets, words: &[AtomicU64], instructions: Instructions, few: &Few) -> u64 {
    if !suits(buckets, words) {
        return portable::contains_few::<S>(buckets, words, instructions, few);
    }
    let (hashes, count) = hashes_of(few, instructions);
    // SAFETY: as in `contains_many`.
    unsafe { one_turn(buckets, words, &hashes, count) }
}

/// # Safety
/// The buckets suit.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn many(buckets: &Buckets, words: &[AtomicU64], batch: &mut dyn Batch) {
    let find = |hashes: &_, group: &mut _| find(buckets, hashes, group);
    // SAFETY: the caller promises that the buckets suit.
    let answer = |group: &Group, i| [unsafe { answer(buckets, words, group, i) }, 0];
    let alone = |_: &Group, _| false;
    match ring::is_far(words.len()) {
        true => in_turns([Group::NONE; 2], batch, find, |group, i| fetch(words, group, i), answer, alone),
        false => in_turns([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
    }
}

/// # Safety
/// The buckets suit.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn one_turn(buckets: &Buckets, words: &[AtomicU64], hashes: &[u64; GROUP], count: usize) -> u64 {
    let find = |hashes: &_, group: &mut _| find(buckets, hashes, group);
    let fetch = |group: &Group, i: usize| {
        if ring::is_far(words.len()) {
            fetch(words, group, i);
        }
    };
    // SAFETY: the caller promises that the buckets suit.
    let answer = |group: &Group, i| [unsafe { answer(buckets, words, group, i) }, 0];
    let alone = |_: &Group, _| false;
    in_one_turn(Group::NONE, hashes, count, find, fetch, answer, alone)
}

/// Prefetches the lines of the `i`-th eight keys of a group.
#[inline]
fn fetch(words: &[AtomicU64], group: &Group, i: usize) {
    let buckets = &group.buckets[i * FOURS / EIGHTS..(i + 1) * FOURS / EIGHTS];
    buckets.as_flattened().as_flattened().iter().for_each(|bit| ring::fetch_word(words, (*bit / 64) as usize));
}

/// Finds the places of the keys of a group ([`Buckets::place`]).
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn find(buckets: &Buckets, hashes: &[u64; GROUP], group: &mut Group) {
    let (count, size) = (all(buckets.count), all(buckets.size));
    let (one, greatest, golden) = (all(1), all(buckets.greatest), all(GOLDEN));
    let fours = hashes.as_chunks::<WIDTH>().0.iter();
    for ((hashes, fingerprints), places) in fours.zip(&mut group.fingerprints).zip(&mut group.buckets) {
        let hash = load(hashes);
        let fingerprint = _mm256_add_epi64(reduce(multiply(hash, golden), greatest), one);
        let first = reduce(hash, count);
        let second = other(first, fingerprint, count);
        store(fingerprints, fingerprint);
        store(&mut places[0], _mm256_mul_epu32(first, size));
        store(&mut places[1], _mm256_mul_epu32(second, size));
    }
}

/// Whether each of eight keys of a group, the `i`-th eight, is there.
///
/// # Safety
/// The buckets suit.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn answer(buckets: &Buckets, words: &[AtomicU64], asked: &Group, i: usize) -> u8 {
    // SAFETY: the buckets suit, as the safety section asks.
    let [low, high] = [0, 1].map(|half| unsafe { answer_four(buckets, words, asked, 2 * i + half) });
    low | high << WIDTH
}

/// Whether each of four keys of a group, the `i`-th four, is there.
///
/// # Safety
/// The buckets suit.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn answer_four(buckets: &Buckets, words: &[AtomicU64], asked: &Group, i: usize) -> u8 {
    let start = words.as_ptr().cast::<u8>();
    let last = all((words.len() as u64 * 8).saturating_sub(8));
    let (lows, highs) = (all(buckets.lows), all(buckets.highs));
    // A fingerprint has at most 32 bits.
    let pattern = multiply_small(load(&asked.fingerprints[i]), all(buckets.ones));
    let mut found = _mm256_setzero_si256();
    for bit in &asked.buckets[i] {
        let bit = load(bit);
        // Bytes are far below 2^63, so a signed comparison is right.
        let byte = _mm256_srli_epi64::<3>(bit);
        let byte = _mm256_blendv_epi8(byte, last, _mm256_cmpgt_epi64(byte, last));
        // SAFETY: the buckets suit, so the words are not empty. Eight bytes are readable from any byte up to `last`.
        let eight = unsafe { read_each(start, &numbers(byte)) };
        let window = _mm256_srlv_epi64(eight, _mm256_sub_epi64(bit, _mm256_slli_epi64::<3>(byte)));
        // `Buckets::zeros`
        let window = _mm256_xor_si256(window, pattern);
        let carried = _mm256_add_epi64(_mm256_and_si256(window, lows), lows);
        found = _mm256_or_si256(found, _mm256_andnot_si256(_mm256_or_si256(carried, window), highs));
    }
    !signs(_mm256_cmpeq_epi64(found, _mm256_setzero_si256())) & 0xf
}
