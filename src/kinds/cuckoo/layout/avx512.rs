//! The inner loops for processors with AVX-512. In lookups of batches eight keys are one vector, from their hashes to
//! their answers. That needs buckets that lie within eight bytes wherever they begin. The places of a group of keys are
//! found when its hashes come, and its lines are fetched while the previous group is answered.

use super::kernel::{self, Any, Four, Kernel, Shape};
use super::{Buckets, Search, portable};
use crate::batch::groups::{EIGHTS, hashes_of, in_one_turn, in_turns};
use crate::batch::ring::{self, Batch, Few, GROUP};
use crate::bits::GOLDEN;
use crate::blocks::eight::{Eight, WIDTH, all, load, numbers, other, read_each, reduce, store};
use crate::blocks::fingerprint_table::Inserted;
use crate::simd::Instructions;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernels: for any buckets, and for those of four fingerprints of 8, 12 and 16 bits.
pub(super) static KERNELS: [Kernel; 4] =
    [kernel::<Any>(), kernel::<Four<8>>(), kernel::<Four<12>>(), kernel::<Four<16>>()];

const fn kernel<S: Shape>() -> Kernel {
    Kernel {
        // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT
        // (`simd::Kernel::Avx512`).
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

/// Where to find the keys of a group.
#[repr(align(64))]
struct Group {
    fingerprints: [Eight; EIGHTS],
    /// The first bits of both buckets.
    buckets: [[Eight; 2]; EIGHTS],
}

impl Group {
    const NONE: Group = Group { fingerprints: [[0; WIDTH]; EIGHTS], buckets: [[[0; WIDTH]; 2]; EIGHTS] };
}

/// Whether the kernel can read these buckets: a bucket's number has 32 bits, and all of a bucket lies in the eight
/// bytes from the byte in which it begins.
fn suits(buckets: &Buckets, words: &[AtomicU64]) -> bool {
    buckets.is_narrow && buckets.count < 1 << 32 && buckets.bits() <= words.len() as u64 * 64
}

fn contains_many<S: Shape>(buckets: &Buckets, words: &[AtomicU64], batch: &mut dyn Batch) {
    match suits(buckets, words) {
        // SAFETY: this kernel is given out for processors that have AVX-512 F, BW, DQ and VL, and the buckets suit.
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn many(buckets: &Buckets, words: &[AtomicU64], batch: &mut dyn Batch) {
    let find = |hashes: &_, group: &mut _| find(buckets, hashes, group);
    // SAFETY: the caller promises that the buckets suit.
    let answer = |group: &Group, i| [unsafe { answer(buckets, words, group, i) }, 0];
    let alone = |_: &Group, _| false;
    match ring::is_far(words.len()) {
        true => in_turns([Group::NONE; 2], batch, find, |group, i| fetch(words, &group.buckets[i]), answer, alone),
        false => in_turns([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
    }
}

/// # Safety
/// The buckets suit.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn one_turn(buckets: &Buckets, words: &[AtomicU64], hashes: &[u64; GROUP], count: usize) -> u64 {
    let find = |hashes: &_, group: &mut _| find(buckets, hashes, group);
    let fetch = |group: &Group, i: usize| {
        if ring::is_far(words.len()) {
            fetch(words, &group.buckets[i]);
        }
    };
    // SAFETY: the caller promises that the buckets suit.
    let answer = |group: &Group, i| [unsafe { answer(buckets, words, group, i) }, 0];
    let alone = |_: &Group, _| false;
    in_one_turn(Group::NONE, hashes, count, find, fetch, answer, alone)
}

/// Prefetches the lines of eight keys.
#[inline]
fn fetch(words: &[AtomicU64], buckets: &[Eight; 2]) {
    buckets.as_flattened().iter().for_each(|bit| ring::fetch_word(words, (*bit / 64) as usize));
}

/// Finds the places of the keys of a group ([`Buckets::place`]).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn find(buckets: &Buckets, hashes: &[u64; GROUP], group: &mut Group) {
    let (count, size) = (all(buckets.count), all(buckets.size));
    let (one, greatest) = (all(1), all(buckets.greatest));
    let eights = hashes.as_chunks::<WIDTH>().0.iter();
    for ((hashes, fingerprints), places) in eights.zip(&mut group.fingerprints).zip(&mut group.buckets) {
        let hash = load(hashes);
        let fingerprint = _mm512_add_epi64(reduce(_mm512_mullo_epi64(hash, all(GOLDEN)), greatest), one);
        let first = reduce(hash, count);
        let second = other(first, fingerprint, count);
        store(fingerprints, fingerprint);
        store(&mut places[0], _mm512_mul_epu32(first, size));
        store(&mut places[1], _mm512_mul_epu32(second, size));
    }
}

/// Whether each of eight keys of a group, the `i`-th eight, is there.
///
/// # Safety
/// The buckets suit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn answer(buckets: &Buckets, words: &[AtomicU64], asked: &Group, i: usize) -> u8 {
    let start = words.as_ptr().cast::<u8>();
    let last = all((words.len() as u64 * 8).saturating_sub(8));
    let (lows, highs) = (all(buckets.lows), all(buckets.highs));
    let pattern = _mm512_mullo_epi64(load(&asked.fingerprints[i]), all(buckets.ones));
    let mut found = 0;
    for bit in &asked.buckets[i] {
        let bit = load(bit);
        let byte = _mm512_min_epu64(_mm512_srli_epi64::<3>(bit), last);
        // SAFETY: the buckets suit, so the words are not empty. Eight bytes are readable from any byte up to `last`.
        let eight = unsafe { read_each(start, &numbers(byte)) };
        let window = _mm512_srlv_epi64(eight, _mm512_sub_epi64(bit, _mm512_slli_epi64::<3>(byte)));
        // `Buckets::zeros`
        let window = _mm512_xor_si512(window, pattern);
        let carried = _mm512_add_epi64(_mm512_and_si512(window, lows), lows);
        let taken = _mm512_or_si512(carried, window);
        found |= _mm512_test_epi64_mask(_mm512_andnot_si512(taken, highs), highs);
    }
    found
}
