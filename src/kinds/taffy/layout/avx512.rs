//! The inner loops for AVX-512: a vector holds eight keys, from their hashes to their answers. The places of a group of
//! keys are found when its hashes come, and the group's lines are fetched while the group before it is answered.

use super::kernel::{self, Kernel};
use super::lanes::Lanes;
use super::{BUCKET, Full, MULTIPLIERS, Search, Segments, Shape, ones};
use crate::batch::groups::{EIGHTS, in_turns};
use crate::batch::ring::{self, Batch, GROUP};
use crate::blocks::eight::{Eight, WIDTH, all, load, mix, numbers, read_each, store};
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel {
    contains_many,
    // SAFETY: this kernel is given out for processors that have all of it.
    insert_new: |segments, words, hash, limit, search| unsafe { insert_new(segments, words, hash, limit, search) },
    // SAFETY: as above.
    insert_group: |segments, words, hashes, limit, search| unsafe {
        insert_group(segments, words, hashes, limit, search)
    },
    // SAFETY: as above.
    divide: |shape, segment, parts| unsafe { divide(shape, segment, parts) },
};

/// Plain code for one key, compiled with the instructions that find and count bits.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn insert_new(
    segments: &Segments,
    words: &mut [u64],
    hash: u64,
    limit: u64,
    search: &mut Search,
) -> Result<bool, Full> {
    segments.insert_new(words, hash, limit, search)
}

/// Plain code for a group of keys.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn insert_group(
    segments: &Segments,
    words: &mut [u64],
    hashes: &[u64],
    limit: u64,
    search: &mut Search,
) -> (usize, u64) {
    segments.insert_group(words, hashes, limit, search)
}

/// Plain code for a division.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn divide(shape: &Shape, segment: &[AtomicU64], parts: &mut [u64]) {
    shape.divide(segment, parts);
}

/// From this many words on (256 KiB) lines are fetched ahead: eight keys have sixteen lines, and would wait for all of
/// them.
const FETCH_FROM: usize = 1 << 15;

/// Where to look for the keys of a group.
#[repr(align(64))]
struct Group {
    /// Each key's fingerprint and tail, as a slot of either table has them.
    wanted: [[Eight; 2]; EIGHTS],
    /// The first bits of both buckets.
    buckets: [[Eight; 2]; EIGHTS],
}

impl Group {
    const NONE: Group = Group { wanted: [[[0; WIDTH]; 2]; EIGHTS], buckets: [[[0; WIDTH]; 2]; EIGHTS] };
}

/// Whether the kernel can read these segments: the number of a segment, its offset in words and a prefix have 32 bits,
/// and the words hold all segments and eight bytes more.
fn suits(segments: &Segments, words: &[AtomicU64]) -> bool {
    let Segments { shape, ref division, size } = *segments;
    let (depth, divided) = (division.extent.depth, division.marks());
    let is_dividing = !divided.is_empty();
    let most = if is_dividing { 2_usize } else { 1 };
    shape.prefix_bits() <= 32
        && depth < 31
        && size < 1 << 32
        && divided.len() == if is_dividing { (1_usize << depth).div_ceil(64) } else { 0 }
        && size.checked_mul(most << depth).is_some_and(|all| all < words.len())
}

fn contains_many(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
    match suits(segments, words) {
        // SAFETY: this kernel is given out for processors that have AVX-512 F, BW, DQ and VL, and the segments suit.
        true => unsafe { many(segments, words, batch) },
        false => kernel::contains_many(segments, words, batch),
    }
}

/// # Safety
/// The segments suit.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn many(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
    // SAFETY: the caller promises that the segments suit.
    let find = |hashes: &_, group: &mut _| unsafe { find(segments, hashes, group) };
    // SAFETY: the caller promises that the segments suit.
    let answer = |group: &Group, i| [unsafe { answer(segments, words, group, i) }, 0];
    let alone = |_: &Group, _| false;
    let size = BUCKET * u64::from(segments.shape.width());
    match words.len() >= FETCH_FROM {
        true => {
            in_turns([Group::NONE; 2], batch, find, |group, i| fetch(words, &group.buckets[i], size), answer, alone)
        }
        false => in_turns([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
    }
}

/// Asks for the lines of eight keys: those in which their buckets of `size` bits begin and end. One bucket in eight
/// ends in another line than it begins in, and all eight keys would wait for that line.
#[inline]
fn fetch(words: &[AtomicU64], buckets: &[Eight; 2], size: u64) {
    for bit in buckets.as_flattened() {
        [*bit, *bit + size - 1].into_iter().for_each(|bit| ring::fetch_word(words, (bit / 64) as usize));
    }
}

/// Finds the places of the keys of a group ([`Segments::place`]).
///
/// # Safety
/// The segments suit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn find(segments: &Segments, hashes: &[u64; GROUP], group: &mut Group) {
    let Segments { shape, ref division, size } = *segments;
    let (depth, divided) = (division.extent.depth, division.marks());
    let (prefix_bits, prefixes) = (shape.prefix_bits(), all(ones(shape.prefix_bits())));
    let (tails, buckets) = (all(ones(shape.tail_bits)), all(ones(shape.bucket_bits)));
    let shift = |x, bits: u32| _mm512_srlv_epi64(x, all(bits.into()));
    let bucket_size = all(BUCKET * u64::from(shape.width()));
    for (i, hashes) in hashes.as_chunks::<WIDTH>().0.iter().enumerate() {
        let hash = mix(load(hashes));
        let rest = shift(hash, prefix_bits);
        let mut segment = _mm512_and_si512(rest, all(ones(depth)));
        let mut tail = shift(rest, depth);
        if !divided.is_empty() {
            let at = _mm512_srli_epi64::<6>(segment);
            // SAFETY: as the segments suit, there is a mark for each.
            let marks = unsafe { _mm512_i64gather_epi64::<8>(at, divided.as_ptr().cast()) };
            let mark = _mm512_srlv_epi64(marks, _mm512_and_si512(segment, all(63)));
            let is_divided = _mm512_test_epi64_mask(mark, all(1));
            segment = _mm512_mask_and_epi64(segment, is_divided, rest, all(ones(depth + 1)));
            tail = _mm512_mask_srli_epi64::<1>(tail, is_divided, tail);
        }
        // `Shape::place`
        let prefix = _mm512_and_si512(hash, prefixes);
        let tail = _mm512_and_si512(tail, tails);
        let tail = _mm512_sllv_epi64(tail, all(shape.fingerprint_bits.into()));
        let mut permuted = prefix;
        for multiplier in MULTIPLIERS {
            permuted = _mm512_and_si512(_mm512_mul_epu32(permuted, all(multiplier)), prefixes);
            permuted = _mm512_xor_si512(permuted, shift(permuted, prefix_bits.div_ceil(2)));
        }
        let start = _mm512_slli_epi64::<6>(_mm512_add_epi64(_mm512_mul_epu32(segment, all(size as u64)), all(1)));
        let second = _mm512_mullo_epi64(bucket_size, all(1 << shape.bucket_bits));
        for (table, (prefix, start)) in
            [(prefix, start), (permuted, _mm512_add_epi64(start, second))].into_iter().enumerate()
        {
            let bucket = _mm512_mul_epu32(_mm512_and_si512(prefix, buckets), bucket_size);
            store(&mut group.buckets[i][table], _mm512_add_epi64(start, bucket));
            store(&mut group.wanted[i][table], _mm512_or_si512(shift(prefix, shape.bucket_bits), tail));
        }
    }
}

/// Whether each of eight keys of a group, the `i`-th eight, is there.
///
/// # Safety
/// The segments suit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn answer(segments: &Segments, words: &[AtomicU64], asked: &Group, i: usize) -> u8 {
    let start = words.as_ptr().cast::<u8>();
    let lanes = Lanes::new(segments.shape.width());
    let (ones, highs) = (all(lanes.ones), all(lanes.highs));
    let lows = _mm512_sub_epi64(highs, ones);
    let any = |x: __m512i| _mm512_or_si512(_mm512_add_epi64(_mm512_and_si512(x, lows), lows), x);
    let mut found = 0;
    for (bit, wanted) in asked.buckets[i].iter().zip(&asked.wanted[i]) {
        let (first, pattern) = (load(bit), _mm512_mullo_epi64(load(wanted), ones));
        for window in 0..u64::from(lanes.windows) {
            let bit = _mm512_add_epi64(first, all(window * lanes.bits));
            let at = numbers(_mm512_srli_epi64::<3>(bit));
            // SAFETY: as the segments suit, the words have eight bytes from any bit of a segment on.
            let eight = unsafe { read_each(start, &at) };
            // `Lanes::has`
            let slots = _mm512_srlv_epi64(eight, _mm512_and_si512(bit, all(7)));
            let differ = _mm512_or_si512(_mm512_xor_si512(slots, pattern), highs);
            let upto = _mm512_xor_si512(differ, _mm512_sub_epi64(differ, ones));
            let has = _mm512_andnot_si512(any(_mm512_andnot_si512(upto, slots)), any(slots));
            found |= _mm512_test_epi64_mask(has, highs);
        }
    }
    found
}
