//! The inner loops for processors with AVX2, BMI1, BMI2, LZCNT and POPCNT, like those for AVX-512: four keys of a batch
//! are one vector, as in [`crate::blocks::runs`]. The few keys whose run lies in an unusual way are answered
//! one by one.

use super::kernel::{self, Kernel, Segments};
use super::{AFTER, Shape, ones};
use crate::batch::groups::in_turns;
use crate::batch::ring::{self, Batch, GROUP};
use crate::bits;
use crate::blocks::four::{Four, WIDTH, all, load, mix, multiply_small, numbers, store};
use crate::blocks::runs::avx2::{Pdep, Runs, Widths};
use crate::blocks::runs::{Full, HEAD};
use crate::blocks::select::{Broadword, Select};
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernels for processors that execute PDEP in a few cycles, and for others.
pub(super) static WITH_PDEP: Kernel = kernel::<Pdep>();
pub(super) static WITHOUT_PDEP: Kernel = kernel::<Broadword>();

const fn kernel<S: Select>() -> Kernel {
    Kernel {
        contains_many: contains_many::<S>,
        // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT
        // (`simd::Kernel::Avx2`).
        contains: |shape, words, slot, tail| unsafe { contains::<S>(shape, words, slot, tail) },
        // SAFETY: as above.
        insert: |shape, words, number, times| unsafe { insert::<S>(shape, words, number, times) },
        // SAFETY: as above.
        remove: |shape, words, number| unsafe { remove::<S>(shape, words, number) },
    }
}

/// The least number of words (32 KiB) for which lines are fetched ahead, as for lookups in a quotient filter.
const FETCH_FROM: usize = 1 << 12;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains<S: Select>(shape: &Shape, words: &[AtomicU64], slot: u64, tail: u64) -> bool {
    kernel::contains::<S>(shape, words, slot, tail)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert<S: Select>(shape: &Shape, words: &mut [u64], number: u64, times: u64) -> Result<bool, Full> {
    kernel::insert::<S>(shape, words, number, times)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn remove<S: Select>(shape: &Shape, words: &mut [u64], number: u64) -> u64 {
    kernel::remove::<S>(shape, words, number)
}

/// Vectors of a group.
const FOURS: usize = GROUP / WIDTH;

/// Where to find the keys of a group.
#[repr(align(64))]
struct Group {
    hashes: [u64; GROUP],
    slots: [Four; FOURS],
    /// The fingerprint bits of each key's hash, repeated in every lane of the eight bytes.
    patterns: [Four; FOURS],
    /// The first bytes of the slots' blocks.
    blocks: [Four; FOURS],
    nexts: [Four; FOURS],
    /// Which keys are in segments that were divided, as all bits of their lanes.
    divided: [Four; FOURS],
}

impl Group {
    const NONE: Group = {
        let none = [[0; WIDTH]; FOURS];
        Group { hashes: [0; GROUP], slots: none, patterns: none, blocks: none, nexts: none, divided: none }
    };
}

/// Whether the kernel can read these segments: a segment's number and its offset in bytes have 32 bits, and the words
/// hold all segments, each with a line after its blocks.
fn suits(segments: &Segments, words: &[AtomicU64]) -> bool {
    let Segments { shapes, depth, divided, size } = *segments;
    let is_dividing = !divided.is_empty();
    let most = if is_dividing { 2_usize } else { 1 };
    shapes[0].slot_bits == shapes[1].slot_bits
        && shapes.iter().all(|shape| shape.words() <= size && shape.slot_bits < 32)
        && depth < 31
        && size < 1 << 29
        && divided.len() == if is_dividing { (1_usize << depth).div_ceil(64) } else { 0 }
        && size.checked_mul(most << depth).is_some_and(|all| all <= words.len())
}

fn contains_many<S: Select>(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) -> bool {
    let suits = suits(segments, words);
    if suits {
        // SAFETY: this kernel is given out for processors that have all of it, and the segments suit.
        unsafe { many::<S>(segments, words, batch) };
    }
    suits
}

/// # Safety
/// The segments suit.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn many<S: Select>(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
    // SAFETY: the caller promises that the segments suit.
    let find = |hashes: &_, group: &mut _| unsafe { find(segments, hashes, group) };
    // SAFETY: the caller promises that the segments suit.
    let answer = |group: &Group, i| unsafe { answer::<S>(segments, words, group, i) };
    let alone = |group: &Group, key| alone::<S>(segments, words, group, key);
    let fetch = |group: &Group, i| fetch(segments, words, group, i);
    match words.len() >= FETCH_FROM {
        true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, fetch, answer, alone),
        false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
    }
}

/// A number that differs between divided and undivided segments, for each of the segments of four keys.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn of_each(segments: &Segments, divided: __m256i, of: impl Fn(&Shape) -> u64) -> __m256i {
    let [whole, part] = segments.shapes.each_ref().map(of);
    _mm256_blendv_epi8(all(whole), all(part), divided)
}

/// Finds the places of the keys of a group.
///
/// # Safety
/// The segments suit.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn find(segments: &Segments, hashes: &[u64; GROUP], group: &mut Group) {
    let Segments { shapes, depth, divided, size } = *segments;
    let slot_bits = shapes[0].slot_bits;
    let shift = |x, bits: u32| _mm256_srl_epi64(x, _mm_cvtsi32_si128(bits as i32));
    // The block after the last block is the first one.
    let (last, size) = (all(shapes[0].table.blocks() - 1), all(8 * size as u64));
    group.hashes = *hashes;
    for (i, hashes) in hashes.as_chunks::<WIDTH>().0.iter().enumerate() {
        let hash = mix(load(hashes));
        let slot = _mm256_and_si256(hash, all(ones(slot_bits)));
        let rest = shift(hash, slot_bits);
        let mut segment = _mm256_and_si256(rest, all(ones(depth)));
        let mut tail = shift(rest, depth);
        let mut is_divided = _mm256_setzero_si256();
        if !divided.is_empty() {
            let at = numbers(_mm256_srli_epi64::<6>(segment));
            // SAFETY: as the segments suit, there is a mark for each.
            let mark = |lane: usize| unsafe { *divided.get_unchecked(at[lane] as usize) } as i64;
            let marks = _mm256_set_epi64x(mark(3), mark(2), mark(1), mark(0));
            let mark = _mm256_and_si256(_mm256_srlv_epi64(marks, _mm256_and_si256(segment, all(63))), all(1));
            is_divided = _mm256_sub_epi64(_mm256_setzero_si256(), mark);
            let longer = _mm256_and_si256(is_divided, all(1 << depth));
            segment = _mm256_or_si256(segment, _mm256_and_si256(rest, longer));
            tail = _mm256_srlv_epi64(tail, mark);
        }
        let known = of_each(segments, is_divided, |shape| shape.table.mask());
        let ones = of_each(segments, is_divided, |shape| shape.table.ones);
        let stride = of_each(segments, is_divided, |shape| shape.table.stride() as u64);
        let block = _mm256_srli_epi64::<6>(slot);
        let start = _mm256_mul_epu32(segment, size);
        let at = _mm256_add_epi64(start, _mm256_mul_epu32(block, stride));
        let is_last = _mm256_cmpeq_epi64(block, last);
        store(&mut group.divided[i], is_divided);
        store(&mut group.slots[i], slot);
        // The known part of a tail has at most 32 bits.
        store(&mut group.patterns[i], multiply_small(_mm256_and_si256(tail, known), ones));
        store(&mut group.blocks[i], at);
        store(&mut group.nexts[i], _mm256_blendv_epi8(_mm256_add_epi64(at, stride), start, is_last));
    }
}

/// Prefetches the lines of the `i`-th four keys of a group: the lines of the words that [`Shape::words_of`] names.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn fetch(segments: &Segments, words: &[AtomicU64], group: &Group, i: usize) {
    let head = all(HEAD as u64 - 1);
    let bits = of_each(segments, load(&group.divided[i]), |shape| shape.table.remainder_bits().into());
    let (block, next) = (load(&group.blocks[i]), load(&group.nexts[i]));
    let slot = _mm256_mul_epu32(_mm256_and_si256(load(&group.slots[i]), all(63)), bits);
    let own = |after: __m256i| {
        let byte = _mm256_srli_epi64::<3>(_mm256_add_epi64(slot, _mm256_mul_epu32(bits, after)));
        _mm256_add_epi64(_mm256_add_epi64(block, all(HEAD as u64)), byte)
    };
    let bytes = [block, _mm256_add_epi64(block, head), own(all(0)), own(all(AFTER)), _mm256_add_epi64(next, head)];
    for bytes in bytes {
        numbers(bytes).iter().for_each(|byte| ring::fetch_word(words, *byte as usize / 8));
    }
}

/// Whether each of four keys of a group, the `i`-th four, finds an entry, and which of them have to be looked up one by
/// one.
///
/// # Safety
/// The segments suit.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn answer<S: Select>(segments: &Segments, words: &[AtomicU64], group: &Group, i: usize) -> [u8; 2] {
    let divided = load(&group.divided[i]);
    let of = |of: fn(&Shape) -> u64| of_each(segments, divided, of);
    let widths = Widths {
        bits: of(|shape| shape.table.remainder_bits().into()),
        ones: of(|shape| shape.table.ones),
        lanes: of(|shape| shape.table.lanes.into()),
    };
    let (slot, next) = (load(&group.slots[i]), load(&group.nexts[i]));
    let bytes = words.as_ptr().cast();
    // SAFETY: as the segments suit, their blocks are among the words, with eight readable bytes from any byte of a
    // block on.
    let runs = unsafe { Runs::find::<S>(bytes, slot, &group.blocks[i], next, &widths) };
    // This is `Shape::is_of` for each slot: the highest clear bit of the remainder must not be above the lowest bit
    // that differs. Where no bit differs, the slot's highest bit stands for the lowest difference, and no bit is above
    // it.
    let highs = widths.highs();
    let lows = _mm256_sub_epi64(highs, widths.ones);
    let any = |x: __m256i| _mm256_or_si256(_mm256_add_epi64(_mm256_and_si256(x, lows), lows), x);
    let has_not = _mm256_xor_si256(runs.window, all(u64::MAX));
    let differ = _mm256_or_si256(_mm256_xor_si256(runs.window, load(&group.patterns[i])), highs);
    let upto = _mm256_xor_si256(differ, _mm256_sub_epi64(differ, widths.ones));
    let found = _mm256_andnot_si256(any(_mm256_andnot_si256(upto, has_not)), any(has_not));
    runs.answer(&widths, found)
}

/// Whether one key of a group finds an entry.
#[inline]
fn alone<S: Select>(segments: &Segments, words: &[AtomicU64], group: &Group, key: usize) -> bool {
    let (i, lane) = (key / WIDTH, key % WIDTH);
    let is_divided = group.divided[i][lane] != 0;
    let shape = &segments.shapes[usize::from(is_divided)];
    let rest = bits::mix(group.hashes[key]) >> shape.slot_bits;
    let address_bits = segments.depth + u32::from(is_divided);
    let start = (rest & ones(address_bits)) as usize * segments.size;
    // SAFETY: this is only called by `many`, where the processor has these instructions.
    unsafe { contains::<S>(shape, &words[start..start + shape.words()], group.slots[i][lane], rest >> address_bits) }
}
