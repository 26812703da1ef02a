//! The inner loops for processors with AVX-512, which also find a bit by its rank in one instruction.
//!
//! Eight keys of a batch are one vector, as in [`crate::blocks::runs`]. The vector computes the whole way of
//! a key, whether the key's slot has a run or not. The few keys whose run lies in an unusual way are answered one by
//! one.

use super::kernel::{self, Kernel, Segments};
use super::{AFTER, Shape, ones};
use crate::batch::groups::{EIGHTS, in_turns};
use crate::batch::ring::{self, Batch, GROUP};
use crate::bits;
use crate::blocks::eight::{Eight, WIDTH, all, load, mix, store};
use crate::blocks::runs::avx512::{Runs, Widths};
use crate::blocks::runs::{Full, HEAD};
use crate::blocks::select::Select;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel {
    contains_many,
    // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT (`simd::Kernel::Avx512`).
    contains: |shape, words, slot, tail| unsafe { contains(shape, words, slot, tail) },
    // SAFETY: as above.
    insert: |shape, words, number, times| unsafe { insert(shape, words, number, times) },
    // SAFETY: as above.
    remove: |shape, words, number| unsafe { remove(shape, words, number) },
};

/// The least number of words (32 KiB) for which lines are fetched ahead, as for lookups in a quotient filter.
const FETCH_FROM: usize = 1 << 12;

/// Selection of a bit by PDEP. Only this file uses it, because only its kernel knows that the processor has PDEP.
#[derive(Clone, Copy)]
struct Pdep;

impl Select for Pdep {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        // SAFETY: nothing but the functions of this file's kernel has this type.
        unsafe { _pdep_u64(1 << rank, word) }.trailing_zeros()
    }
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn contains(shape: &Shape, words: &[AtomicU64], slot: u64, tail: u64) -> bool {
    kernel::contains::<Pdep>(shape, words, slot, tail)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn insert(shape: &Shape, words: &mut [u64], number: u64, times: u64) -> Result<bool, Full> {
    kernel::insert::<Pdep>(shape, words, number, times)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn remove(shape: &Shape, words: &mut [u64], number: u64) -> u64 {
    kernel::remove::<Pdep>(shape, words, number)
}

/// Where to find the keys of a group.
#[repr(align(64))]
struct Group {
    hashes: [Eight; EIGHTS],
    slots: [Eight; EIGHTS],
    /// The fingerprint bits of each key's hash, repeated in every lane of the eight bytes.
    patterns: [Eight; EIGHTS],
    /// The first bytes of the slots' blocks.
    blocks: [Eight; EIGHTS],
    nexts: [Eight; EIGHTS],
    /// Which keys are in segments that were divided.
    divided: [u8; EIGHTS],
}

impl Group {
    const NONE: Group = {
        let none = [[0; WIDTH]; EIGHTS];
        Group { hashes: none, slots: none, patterns: none, blocks: none, nexts: none, divided: [0; EIGHTS] }
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

fn contains_many(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) -> bool {
    let suits = suits(segments, words);
    if suits {
        // SAFETY: this kernel is given out for processors that have all of it, and the segments suit.
        unsafe { many(segments, words, batch) };
    }
    suits
}

/// # Safety
/// The segments suit.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn many(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
    // SAFETY: the caller promises that the segments suit.
    let find = |hashes: &_, group: &mut _| unsafe { find(segments, hashes, group) };
    // SAFETY: the caller promises that the segments suit.
    let answer = |group: &Group, i| unsafe { answer(segments, words, group, i) };
    let alone = |group: &Group, key| alone(segments, words, group, key);
    let fetch = |group: &Group, i| fetch(segments, words, group, i);
    match words.len() >= FETCH_FROM {
        true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, fetch, answer, alone),
        false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
    }
}

/// A number that differs between divided and undivided segments, for each of the segments of eight keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn of_each(segments: &Segments, divided: u8, of: impl Fn(&Shape) -> u64) -> __m512i {
    let [whole, part] = segments.shapes.each_ref().map(of);
    _mm512_mask_mov_epi64(all(whole), divided, all(part))
}

/// Finds the places of the keys of a group.
///
/// # Safety
/// The segments suit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn find(segments: &Segments, hashes: &[u64; GROUP], group: &mut Group) {
    let Segments { shapes, depth, divided, size } = *segments;
    let slot_bits = shapes[0].slot_bits;
    for (i, hashes) in hashes.as_chunks::<WIDTH>().0.iter().enumerate() {
        let hash = mix(load(hashes));
        let slot = _mm512_and_si512(hash, all(ones(slot_bits)));
        let rest = _mm512_srlv_epi64(hash, all(slot_bits.into()));
        let mut segment = _mm512_and_si512(rest, all(ones(depth)));
        let mut tail = _mm512_srlv_epi64(rest, all(depth.into()));
        let mut is_divided = 0;
        if !divided.is_empty() {
            let at = _mm512_srli_epi64::<6>(segment);
            // SAFETY: as the segments suit, there is a mark for each.
            let marks = unsafe { _mm512_i64gather_epi64::<8>(at, divided.as_ptr().cast()) };
            let mark = _mm512_srlv_epi64(marks, _mm512_and_si512(segment, all(63)));
            is_divided = _mm512_test_epi64_mask(mark, all(1));
            segment = _mm512_mask_and_epi64(segment, is_divided, rest, all(ones(depth + 1)));
            tail = _mm512_mask_srli_epi64::<1>(tail, is_divided, tail);
        }
        let known = of_each(segments, is_divided, |shape| shape.table.mask());
        let ones = of_each(segments, is_divided, |shape| shape.table.ones);
        let stride = of_each(segments, is_divided, |shape| shape.table.stride() as u64);
        // The block after the last block is the first one.
        let block = _mm512_srli_epi64::<6>(slot);
        let last = all(shapes[0].table.blocks() - 1);
        let start = _mm512_mul_epu32(segment, all(8 * size as u64));
        let at = _mm512_add_epi64(start, _mm512_mul_epu32(block, stride));
        let is_last = _mm512_cmpeq_epu64_mask(block, last);
        group.hashes[i] = *hashes;
        group.divided[i] = is_divided;
        store(&mut group.slots[i], slot);
        store(&mut group.patterns[i], _mm512_mullo_epi64(_mm512_and_si512(tail, known), ones));
        store(&mut group.blocks[i], at);
        store(&mut group.nexts[i], _mm512_mask_mov_epi64(_mm512_add_epi64(at, stride), is_last, start));
    }
}

/// Prefetches the lines of eight keys: the lines of the words that [`Shape::words_of`] names.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn fetch(segments: &Segments, words: &[AtomicU64], group: &Group, i: usize) {
    let head = all(HEAD as u64 - 1);
    let bits = of_each(segments, group.divided[i], |shape| shape.table.remainder_bits().into());
    let (block, next) = (load(&group.blocks[i]), load(&group.nexts[i]));
    let slot = _mm512_mul_epu32(_mm512_and_si512(load(&group.slots[i]), all(63)), bits);
    let own = |after: __m512i| {
        let byte = _mm512_srli_epi64::<3>(_mm512_add_epi64(slot, _mm512_mul_epu32(bits, after)));
        _mm512_add_epi64(_mm512_add_epi64(block, all(HEAD as u64)), byte)
    };
    let bytes = [block, _mm512_add_epi64(block, head), own(all(0)), own(all(AFTER)), _mm512_add_epi64(next, head)];
    for bytes in bytes {
        let mut each = [0; WIDTH];
        store(&mut each, bytes);
        each.iter().for_each(|byte| ring::fetch_word(words, *byte as usize / 8));
    }
}

/// Whether each of eight keys of a group, the `i`-th eight, finds an entry, and which of them have to be looked up one
/// by one.
///
/// # Safety
/// The segments suit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn answer(segments: &Segments, words: &[AtomicU64], group: &Group, i: usize) -> [u8; 2] {
    let of = |of: fn(&Shape) -> u64| of_each(segments, group.divided[i], of);
    let widths = Widths {
        bits: of(|shape| shape.table.remainder_bits().into()),
        ones: of(|shape| shape.table.ones),
        lanes: of(|shape| shape.table.lanes.into()),
    };
    let (slot, next) = (load(&group.slots[i]), load(&group.nexts[i]));
    let bytes = words.as_ptr().cast();
    // SAFETY: as the segments suit, their blocks are among the words, with eight readable bytes from any byte of a
    // block on.
    let runs = unsafe { Runs::find(bytes, slot, &group.blocks[i], next, &widths) };
    // This is `Shape::is_of` for each slot: the highest clear bit of the remainder must not be above the lowest bit
    // that differs. Where no bit differs, the slot's highest bit stands for the lowest difference, and no bit is above
    // it.
    let highs = widths.highs();
    let lows = _mm512_sub_epi64(highs, widths.ones);
    let any = |x: __m512i| _mm512_or_si512(_mm512_add_epi64(_mm512_and_si512(x, lows), lows), x);
    let has_not = _mm512_andnot_si512(runs.window, all(u64::MAX));
    let differ = _mm512_or_si512(_mm512_xor_si512(runs.window, load(&group.patterns[i])), highs);
    let upto = _mm512_xor_si512(differ, _mm512_sub_epi64(differ, widths.ones));
    let found = _mm512_andnot_si512(any(_mm512_andnot_si512(upto, has_not)), any(has_not));
    runs.answer(&widths, found)
}

/// Whether one key of a group finds an entry.
#[inline]
fn alone(segments: &Segments, words: &[AtomicU64], group: &Group, key: usize) -> bool {
    let (i, lane) = (key / WIDTH, key % WIDTH);
    let is_divided = group.divided[i] >> lane & 1;
    let shape = &segments.shapes[usize::from(is_divided)];
    let rest = bits::mix(group.hashes[i][lane]) >> shape.slot_bits;
    let address_bits = segments.depth + u32::from(is_divided);
    let start = (rest & ones(address_bits)) as usize * segments.size;
    // SAFETY: this is only called by `many`, where the processor has these instructions.
    unsafe { contains(shape, &words[start..start + shape.words()], group.slots[i][lane], rest >> address_bits) }
}
