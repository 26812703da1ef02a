//! The inner loops for processors with AVX-512. These processors also count bits in one instruction, and find a bit by
//! its rank in another: PDEP puts a single bit where the bit of that rank is. (Older processors have PDEP too, but on
//! some of them it takes dozens of steps.)
//!
//! A vector holds eight keys of a batch. The kernel computes the whole way of a key whether or not its quotient has a
//! run, and whatever the run is, because chance decides on both, and a processor that guesses is wrong every other
//! time. Most runs lie in the eight bytes from their start on; the few keys whose run does not are answered one by one.

use super::kernel::{self, AFTER, Kernel};
use super::{Full, HEAD, Reader, Table};
use crate::batch::groups::{EIGHTS, hashes_of, in_one_turn, in_turns};
use crate::batch::ring::{self, Batch, Few, GROUP};
use crate::blocks::eight::{Eight, WIDTH, all, load, numbers, read_each, read_pairs, store};
use crate::blocks::select::{Broadword, Select};
use crate::simd::Instructions;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel {
    // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT (`simd::Kernel::Avx512`).
    contains: |table, words, hash| unsafe { contains(table, words, hash) },
    contains_many,
    contains_few,
    // SAFETY: as above.
    count_many: |table, words, hashes, counts| unsafe { count_many(table, words, hashes, counts) },
    // SAFETY: as above.
    insert: |table, words, hash, times| unsafe { insert(table, words, hash, times) },
    // SAFETY: as above.
    remove: |table, words, hash, times| unsafe { remove(table, words, hash, times) },
    // SAFETY: as above.
    count: |table, words, hash| unsafe { count(table, words, hash) },
};

/// From this many words on (32 KiB) lines are fetched ahead. Otherwise a lookup would compute the place of a line, wait
/// for it, and do nothing meanwhile, even if lines come from the second-level cache.
const FETCH_FROM: usize = 1 << 12;

/// Selection of a bit by PDEP. Only this file uses it, because only its kernel knows that the processor has PDEP.
#[derive(Clone, Copy)]
struct Pdep;

impl Select for Pdep {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        // SAFETY: only the functions of this file's kernel have this type.
        unsafe { _pdep_u64(1 << rank, word) }.trailing_zeros()
    }
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn contains(table: Table, words: &[AtomicU64], hash: u64) -> bool {
    kernel::contains::<Pdep>(table, words, hash)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn count_many(table: Table, words: &[AtomicU64], hashes: &[u64], counts: &mut [u64]) {
    kernel::count_many::<Pdep>(table, words, hashes, counts);
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn insert(table: Table, words: &mut [u64], hash: u64, times: u64) -> Result<bool, Full> {
    kernel::insert::<Pdep>(table, words, hash, times)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn remove(table: Table, words: &mut [u64], hash: u64, times: u64) -> u64 {
    kernel::remove::<Pdep>(table, words, hash, times)
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn count(table: Table, words: &[AtomicU64], hash: u64) -> u64 {
    kernel::count::<Pdep>(table, words, hash)
}

fn contains_many(table: Table, words: &[AtomicU64], batch: &mut dyn Batch) {
    match suits(table, words) {
        // SAFETY: this kernel is given out for processors that have all of it, and the table suits.
        true => unsafe { many(table, words, batch) },
        false => kernel::contains_many::<Broadword>(table, words, batch),
    }
}

fn contains_few(table: Table, words: &[AtomicU64], instructions: Instructions, few: &Few) -> u64 {
    match suits(table, words) {
        // SAFETY: as in `contains_many`.
        true => unsafe { one_turn(table, words, &hashes_of(few, instructions)) },
        false => kernel::contains_few::<Broadword>(table, words, instructions, few),
    }
}

/// Whether the kernel can read this table: slots have numbers of 32 bits, and the words hold the table and a line of
/// state after its blocks.
fn suits(table: Table, words: &[AtomicU64]) -> bool {
    table.slots < 1 << 32 && table.payload_bytes() <= words.len() as u64 * 8
}

/// # Safety
/// The table suits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn many(table: Table, words: &[AtomicU64], batch: &mut dyn Batch) {
    let wide = Wide::new(table, words);
    let find = |hashes: &_, group: &mut _| wide.find(hashes, group);
    // SAFETY: the caller promises that the table suits.
    let answer = |group: &Group, i| unsafe { wide.answer(group, i) };
    let alone = |group: &Group, i| wide.alone(group, i);
    match words.len() >= FETCH_FROM {
        true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |group, i| wide.fetch(group, i), answer, alone),
        false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
    }
}

/// # Safety
/// The table suits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn one_turn(table: Table, words: &[AtomicU64], (hashes, count): &([u64; GROUP], usize)) -> u64 {
    let wide = Wide::new(table, words);
    let find = |hashes: &_, group: &mut _| wide.find(hashes, group);
    let fetch = |group: &Group, i: usize| {
        if words.len() >= FETCH_FROM {
            wide.fetch(group, i);
        }
    };
    // SAFETY: the caller promises that the table suits.
    let answer = |group: &Group, i| unsafe { wide.answer(group, i) };
    let alone = |group: &Group, i| wide.alone(group, i);
    in_one_turn::<WIDTH, _>(Group::NONE, hashes, *count, find, fetch, answer, alone)
}

/// Where to look for the keys of a group.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group {
    hashes: [Eight; EIGHTS],
    quotients: [Eight; EIGHTS],
    /// The remainder of each key, repeated in every lane of the eight bytes.
    patterns: [Eight; EIGHTS],
    /// The first bytes of the quotients' blocks.
    blocks: [Eight; EIGHTS],
    /// A byte near which the run lies ([`Table::fetch`]), and a byte of the next block if the run may end there.
    slots: [Eight; EIGHTS],
    nexts: [Eight; EIGHTS],
}

impl Group {
    const NONE: Group = {
        let none = [[0; WIDTH]; EIGHTS];
        Group { hashes: none, quotients: none, patterns: none, blocks: none, slots: none, nexts: none }
    };
}

/// A table, with numbers that are computed once.
struct Wide<'a> {
    table: Table,
    words: &'a [AtomicU64],
    bits: u64,
    stride: u64,
    /// The first byte of the last block.
    last: u64,
}

/// The offset, the occupieds and the runends of eight blocks.
///
/// # Safety
/// A whole block is readable from each of these places after the start on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn heads(start: *const u8, blocks: &Eight) -> (__m512i, [__m512i; 2]) {
    // SAFETY: the caller promises that a whole block is readable from each of these places after the start on. A block
    // is its offset, two times eight bytes, and more than six bytes after that.
    let (offset, after) = unsafe { (read_each(start, blocks), read_pairs(start.add(2), blocks)) };
    (_mm512_and_si512(offset, all(0xffff)), after)
}

/// How many bits are set in each of eight numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn count_ones(x: __m512i) -> __m512i {
    let of_four = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    let mask = _mm512_set1_epi8(15);
    let low = _mm512_shuffle_epi8(of_four, _mm512_and_si512(x, mask));
    let high = _mm512_shuffle_epi8(of_four, _mm512_and_si512(_mm512_srli_epi64::<4>(x), mask));
    _mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512())
}

/// For each of eight numbers, how many bits there are up to the highest set one, inclusive. The exponent of the number
/// as a floating-point number gives that. The bit below the highest is cleared first, so that nothing rounds the number
/// up.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn length(x: __m512i) -> __m512i {
    let x = _mm512_andnot_si512(_mm512_srli_epi64::<1>(x), x);
    let exponent = _mm512_srli_epi64::<52>(_mm512_castpd_si512(_mm512_cvtepu64_pd(x)));
    _mm512_subs_epu16(exponent, all(1022))
}

impl<'a> Wide<'a> {
    fn new(table: Table, words: &'a [AtomicU64]) -> Wide<'a> {
        let (bits, stride) = (u64::from(table.remainder_bits), table.stride() as u64);
        let last = (table.blocks() - 1) * stride;
        Wide { table, words, bits, stride, last }
    }

    /// Finds the places of the keys of a group.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn find(&self, hashes: &[u64; GROUP], group: &mut Group) {
        let (slots, bits) = (all(self.table.slots), all(self.bits));
        for (i, hashes) in hashes.as_chunks::<WIDTH>().0.iter().enumerate() {
            // The fingerprint is h S 2^r / 2^64: the upper half of h S, and the first r bits of the lower.
            let hash = load(hashes);
            let low = _mm512_mul_epu32(hash, slots);
            let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(hash), slots);
            let sum = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(low));
            let quotient = _mm512_srli_epi64::<32>(sum);
            let lower = _mm512_mask_blend_epi32(0x5555, _mm512_slli_epi64::<32>(sum), low);
            let remainder = _mm512_srlv_epi64(lower, all(64 - self.bits));
            let block = _mm512_mul_epu32(_mm512_srli_epi64::<6>(quotient), all(self.stride));
            let slot = _mm512_and_si512(quotient, all(63));
            let is_late = _mm512_cmpgt_epu64_mask(slot, all(63 - 2 * AFTER));
            let slot = _mm512_add_epi64(slot, all(AFTER));
            let slot = _mm512_srli_epi64::<3>(_mm512_mul_epu32(slot, bits));
            group.hashes[i] = *hashes;
            store(&mut group.quotients[i], quotient);
            store(&mut group.patterns[i], _mm512_mullo_epi64(remainder, all(self.table.ones)));
            store(&mut group.blocks[i], block);
            store(&mut group.nexts[i], _mm512_mask_add_epi64(block, is_late, block, all(self.stride)));
            store(&mut group.slots[i], _mm512_add_epi64(block, _mm512_add_epi64(slot, all(HEAD as u64))));
        }
    }

    /// Asks for the lines of eight keys.
    #[inline]
    fn fetch(&self, group: &Group, i: usize) {
        for bytes in [&group.blocks[i], &group.slots[i], &group.nexts[i]] {
            bytes.iter().for_each(|byte| ring::fetch_word(self.words, *byte as usize / 8));
        }
    }

    /// Whether one key of a group, whose quotient has a run, is there.
    #[inline]
    fn alone(&self, group: &Group, key: usize) -> bool {
        let (quotient, remainder) = self.table.split(self.table.fingerprint(group.hashes[key / WIDTH][key % WIDTH]));
        Reader::new(self.table, self.words).contains_far(quotient, remainder)
    }

    /// Whether each of eight keys of a group, the `i`-th eight, is there, and which of the keys have to be looked at
    /// one by one.
    ///
    /// # Safety
    /// The table suits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn answer(&self, group: &Group, i: usize) -> [u8; 2] {
        let blocks = &group.blocks[i];
        let is_last = _mm512_cmpeq_epu64_mask(load(blocks), all(self.last));
        let next_block = _mm512_maskz_add_epi64(!is_last, load(blocks), all(self.stride));
        let widths = Widths { bits: all(self.bits), ones: all(self.table.ones), lanes: all(self.table.lanes.into()) };
        let bytes = self.words.as_ptr().cast::<u8>();
        // SAFETY: as the table suits, the blocks of quotients below its slots are among the words, with eight readable
        // bytes from any byte of a block on.
        let runs = unsafe { Runs::find(bytes, load(&group.quotients[i]), blocks, next_block, &widths) };
        // `Reader::among_few`
        let differ = _mm512_xor_si512(runs.window, load(&group.patterns[i]));
        runs.answer(&widths, _mm512_andnot_si512(differ, _mm512_sub_epi64(differ, widths.ones)))
    }
}

/// How the remainders of eight tables lie in windows of eight bytes.
pub(crate) struct Widths {
    /// The bits of a remainder.
    pub bits: __m512i,
    /// The lowest bit of each remainder.
    pub ones: __m512i,
    /// How many remainders a window has.
    pub lanes: __m512i,
}

impl Widths {
    /// The highest bit of each remainder.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub fn highs(&self) -> __m512i {
        _mm512_sllv_epi64(self.ones, _mm512_sub_epi64(self.bits, all(1)))
    }

    /// The highest bit of each of the first `slots` remainders.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn among(&self, slots: __m512i) -> __m512i {
        let bits = _mm512_mul_epu32(slots, self.bits);
        _mm512_and_si512(self.highs(), _mm512_add_epi64(_mm512_sllv_epi64(all(1), bits), all(u64::MAX)))
    }
}

/// The runs of eight quotients.
pub(crate) struct Runs {
    /// Which quotients have a run, and which of these runs lie in the eight bytes from their start on.
    is_occupied: u8,
    is_here: u8,
    /// The eight bytes from the start of each run on.
    pub window: __m512i,
    /// How many slots a run has after its first slot.
    more: __m512i,
}

impl Runs {
    /// Finds the runs of quotients whose blocks begin at `blocks`, and whose next blocks begin at `next_block`.
    ///
    /// # Safety
    /// Eight bytes are readable from each byte of these blocks on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn find(
        bytes: *const u8,
        quotient: __m512i,
        blocks: &Eight,
        next_block: __m512i,
        widths: &Widths,
    ) -> Runs {
        // SAFETY: the caller promises that eight bytes are readable from each byte of these blocks on.
        let at = |byte: __m512i| unsafe { read_each(bytes, &numbers(byte)) };
        let add = |x: __m512i, y: u64| _mm512_add_epi64(x, all(y));
        let pick = |others: u8, mine, other| _mm512_mask_mov_epi64(mine, others, other);
        let block = load(blocks);
        let (in_block, one) = (all(63), all(1));
        // SAFETY: the caller promises that eight bytes are readable from each byte of these blocks on.
        let (offset, [occupieds, own]) = unsafe { heads(bytes, blocks) };
        // The occupied quotients up to the key's own. The highest bit says whether the key's quotient has a run.
        let upto = _mm512_sllv_epi64(occupieds, _mm512_andnot_si512(quotient, in_block));
        let (is_occupied, rank) = (_mm512_movepi64_mask(upto), count_ones(upto));
        // This is `Reader::near_run`, but also finds runs that end anywhere in the next block, which is read if it is
        // needed.
        let is_near = _mm512_mask_cmplt_epu64_mask(is_occupied, offset, all(64));
        let own = _mm512_srlv_epi64(own, offset);
        let owns = count_ones(own);
        let is_further = _mm512_mask_cmpgt_epu64_mask(is_near, rank, owns);
        let ends = pick(is_further, own, at(add(pick(is_further, block, next_block), 10)));
        let rank = _mm512_mask_sub_epi64(rank, is_further, rank, owns);
        let first = _mm512_andnot_si512(in_block, quotient);
        let from = _mm512_add_epi64(first, offset);
        let base = pick(is_further, from, add(first, 64));
        // The end of the run, as a bit of these words, and the end of the run before it.
        let words = numbers(ends);
        let mut selected = numbers(_mm512_sllv_epi64(one, _mm512_sub_epi64(rank, one)));
        for (selected, word) in selected.iter_mut().zip(words) {
            *selected = _pdep_u64(*selected, word);
        }
        let end = load(&selected);
        let is_found = _mm512_mask_test_epi64_mask(is_near, end, end);
        let before = _mm512_and_si512(ends, add(end, u64::MAX));
        let is_first = _mm512_mask_testn_epi64_mask(is_further, before, before);
        let before = length(pick(is_first, before, own));
        let start = _mm512_max_epu64(_mm512_add_epi64(pick(is_first, base, from), before), quotient);
        let end = add(_mm512_add_epi64(base, length(end)), u64::MAX);
        // How many slots the run has after its first slot, and the number of the first slot in its block.
        let more = _mm512_sub_epi64(end, start);
        let place = _mm512_and_si512(start, in_block);
        let is_short = _mm512_mask_cmplt_epu64_mask(is_found, more, widths.lanes);
        let is_here = _mm512_mask_cmplt_epu64_mask(is_short, _mm512_add_epi64(place, more), all(64));
        let is_next = _mm512_cmpneq_epu64_mask(_mm512_srli_epi64::<6>(start), _mm512_srli_epi64::<6>(quotient));
        let bit = _mm512_mul_epu32(place, widths.bits);
        let byte = _mm512_add_epi64(pick(is_next, block, next_block), _mm512_srli_epi64::<3>(bit));
        // A window that nobody looks at is read from the block's line, so that no other line is waited for.
        let byte = pick(is_here, block, add(byte, HEAD as u64));
        let window = _mm512_srlv_epi64(at(byte), _mm512_and_si512(bit, all(7)));
        Runs { is_occupied, is_here, window, more }
    }

    /// Which keys are there, and which keys have to be looked at one by one. `found` has the highest bits of the
    /// window's slots that agree.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub fn answer(&self, widths: &Widths, found: __m512i) -> [u8; 2] {
        let Runs { is_occupied, is_here, window, more } = *self;
        let highs = widths.highs();
        let is_there = _mm512_mask_test_epi64_mask(is_here, found, widths.among(_mm512_add_epi64(more, all(1))));
        // This is `Table::ascend`: x is each slot, and y is the slot after it.
        let is_long = _mm512_mask_cmpgt_epu64_mask(is_there, more, all(1));
        let (x, y) = (window, _mm512_srlv_epi64(window, widths.bits));
        let low = _mm512_sub_epi64(_mm512_or_si512(x, highs), _mm512_andnot_si512(highs, y));
        let above = _mm512_andnot_si512(x, y);
        let alike = _mm512_andnot_si512(_mm512_xor_si512(x, y), all(u64::MAX));
        let less = _mm512_or_si512(above, _mm512_andnot_si512(low, alike));
        let falls = _mm512_andnot_si512(less, widths.among(more));
        let is_open = is_occupied & !is_here | _mm512_mask_test_epi64_mask(is_long, falls, falls);
        [is_there & !is_open, is_open]
    }
}
