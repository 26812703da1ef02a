//! The inner loops for processors with AVX2, BMI1, BMI2, LZCNT and POPCNT, made like those for AVX-512: a vector holds
//! four keys of a batch and computes the whole way of each. Only the bit of a rank, and the bits below it, are found
//! lane by lane.
//!
//! That bit is found by PDEP, or by plain code on processors where PDEP takes dozens of steps.

use super::kernel::{self, AFTER, Kernel};
use super::{Full, HEAD, Reader, Table};
use crate::batch::groups::{hashes_of, in_one_turn, in_turns};
use crate::batch::ring::{self, Batch, Few, GROUP};
use crate::blocks::four::{Four, WIDTH, all, count_ones, load, multiply_small, numbers, read_each, signs, store};
use crate::blocks::select::{Broadword, Select};
use crate::simd::Instructions;
use core::arch::x86_64::*;
use core::sync::atomic::AtomicU64;

/// The kernel for processors that execute PDEP in a few cycles, and that for others.
pub(super) static WITH_PDEP: Kernel = kernel::<Pdep>();
pub(super) static WITHOUT_PDEP: Kernel = kernel::<Broadword>();

const fn kernel<S: Select>() -> Kernel {
    Kernel {
        // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT
        // (`simd::Kernel::Avx2`).
        contains: |table, words, hash| unsafe { contains::<S>(table, words, hash) },
        contains_many: contains_many::<S>,
        contains_few: contains_few::<S>,
        // SAFETY: as above.
        count_many: |table, words, hashes, counts| unsafe { count_many::<S>(table, words, hashes, counts) },
        // SAFETY: as above.
        insert: |table, words, hash, times| unsafe { insert::<S>(table, words, hash, times) },
        // SAFETY: as above.
        remove: |table, words, hash, times| unsafe { remove::<S>(table, words, hash, times) },
        // SAFETY: as above.
        count: |table, words, hash| unsafe { count::<S>(table, words, hash) },
    }
}

/// From this many words on (32 KiB) lines are fetched ahead. Otherwise a lookup would compute the place of a line, wait
/// for it, and do nothing meanwhile, even if lines come from the second-level cache.
const FETCH_FROM: usize = 1 << 12;

/// Selection of a bit by PDEP. Only kernels for processors that have PDEP use it.
#[derive(Clone, Copy)]
pub(crate) struct Pdep;

impl Select for Pdep {
    #[inline(always)]
    fn select(word: u64, rank: u32) -> u32 {
        let deposited: u64;
        // The intrinsic would stay a call here, because this function is not compiled for BMI2.
        // SAFETY: only the functions of kernels for processors with BMI2 have this type.
        unsafe {
            core::arch::asm!(
                "pdep {deposited}, {one}, {word}",
                deposited = lateout(reg) deposited,
                one = in(reg) 1_u64 << rank,
                word = in(reg) word,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        deposited.trailing_zeros()
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn contains<S: Select>(table: Table, words: &[AtomicU64], hash: u64) -> bool {
    kernel::contains::<S>(table, words, hash)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn count_many<S: Select>(table: Table, words: &[AtomicU64], hashes: &[u64], counts: &mut [u64]) {
    kernel::count_many::<S>(table, words, hashes, counts);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn insert<S: Select>(table: Table, words: &mut [u64], hash: u64, times: u64) -> Result<bool, Full> {
    kernel::insert::<S>(table, words, hash, times)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn remove<S: Select>(table: Table, words: &mut [u64], hash: u64, times: u64) -> u64 {
    kernel::remove::<S>(table, words, hash, times)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn count<S: Select>(table: Table, words: &[AtomicU64], hash: u64) -> u64 {
    kernel::count::<S>(table, words, hash)
}

fn contains_many<S: Select>(table: Table, words: &[AtomicU64], batch: &mut dyn Batch) {
    match suits(table, words) {
        // SAFETY: this kernel is given out for processors that have all of it, and the table suits.
        true => unsafe { many::<S>(table, words, batch) },
        false => kernel::contains_many::<S>(table, words, batch),
    }
}

fn contains_few<S: Select>(table: Table, words: &[AtomicU64], instructions: Instructions, few: &Few) -> u64 {
    match suits(table, words) {
        // SAFETY: as in `contains_many`.
        true => unsafe { one_turn::<S>(table, words, &hashes_of(few, instructions)) },
        false => kernel::contains_few::<S>(table, words, instructions, few),
    }
}

/// Whether the kernel can read this table: slots have numbers of 32 bits, and the words hold the table and a line of
/// state after its blocks.
fn suits(table: Table, words: &[AtomicU64]) -> bool {
    table.slots < 1 << 32 && table.payload_bytes() <= words.len() as u64 * 8
}

/// # Safety
/// The table suits.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn many<S: Select>(table: Table, words: &[AtomicU64], batch: &mut dyn Batch) {
    let wide = Wide::new(table, words);
    let find = |hashes: &_, group: &mut _| wide.find(hashes, group);
    // SAFETY: the caller promises that the table suits.
    let answer = |group: &Group, i| unsafe { wide.answer::<S>(group, i) };
    let alone = |group: &Group, i| wide.alone(group, i);
    match words.len() >= FETCH_FROM {
        true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |group, i| wide.fetch(group, i), answer, alone),
        false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
    }
}

/// # Safety
/// The table suits.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn one_turn<S: Select>(table: Table, words: &[AtomicU64], (hashes, count): &([u64; GROUP], usize)) -> u64 {
    let wide = Wide::new(table, words);
    let find = |hashes: &_, group: &mut _| wide.find(hashes, group);
    let fetch = |group: &Group, i: usize| {
        if words.len() >= FETCH_FROM {
            wide.fetch(group, i);
        }
    };
    // SAFETY: the caller promises that the table suits.
    let answer = |group: &Group, i| unsafe { wide.answer::<S>(group, i) };
    let alone = |group: &Group, i| wide.alone(group, i);
    in_one_turn::<WIDTH, _>(Group::NONE, hashes, *count, find, fetch, answer, alone)
}

/// Vectors of a group.
const FOURS: usize = GROUP / WIDTH;

/// Where to look for the keys of a group.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Group {
    hashes: [u64; GROUP],
    quotients: [Four; FOURS],
    /// The remainder of each key, repeated in every lane of the eight bytes.
    patterns: [Four; FOURS],
    /// The first bytes of the quotients' blocks.
    blocks: [Four; FOURS],
    /// A byte near which the run lies ([`Table::fetch`]), and a byte of the next block if the run may end there.
    slots: [Four; FOURS],
    nexts: [Four; FOURS],
}

impl Group {
    const NONE: Group = {
        let none = [[0; WIDTH]; FOURS];
        Group { hashes: [0; GROUP], quotients: none, patterns: none, blocks: none, slots: none, nexts: none }
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

/// The offset, the occupieds and the runends of four blocks.
///
/// # Safety
/// A whole block is readable from each of these places after the start on.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn heads(start: *const u8, blocks: &Four) -> [__m256i; 3] {
    // SAFETY: the caller promises that a whole block is readable from each of these places after the start on. A block
    // is its offset, two times eight bytes, and more than six bytes after that.
    let offset = unsafe { read_each(start, blocks) };
    // SAFETY: as above.
    let read = |i: usize| unsafe { _mm_loadu_si128(start.add(2 + blocks[i] as usize).cast()) };
    let (even, odd) = (_mm256_set_m128i(read(2), read(0)), _mm256_set_m128i(read(3), read(1)));
    let offset = _mm256_and_si256(offset, all(0xffff));
    [offset, _mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)]
}

/// `first` in the lanes whose mask has no bit, and `second` in the lanes whose mask has all bits.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn pick(mask: __m256i, first: __m256i, second: __m256i) -> __m256i {
    _mm256_blendv_epi8(first, second, mask)
}

/// All bits of those lanes that are not 0.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn is_any(x: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_cmpeq_epi64(x, _mm256_setzero_si256()), all(u64::MAX))
}

impl<'a> Wide<'a> {
    fn new(table: Table, words: &'a [AtomicU64]) -> Wide<'a> {
        let (bits, stride) = (u64::from(table.remainder_bits), table.stride() as u64);
        let last = (table.blocks() - 1) * stride;
        Wide { table, words, bits, stride, last }
    }

    /// Finds the places of the keys of a group.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn find(&self, hashes: &[u64; GROUP], group: &mut Group) {
        let (slots, bits, ones) = (all(self.table.slots), all(self.bits), all(self.table.ones));
        let stride = all(self.stride);
        let down = _mm_cvtsi32_si128(64 - self.bits as i32);
        group.hashes = *hashes;
        for (i, hashes) in hashes.as_chunks::<WIDTH>().0.iter().enumerate() {
            // The fingerprint is h S 2^r / 2^64: the upper half of h S, and the first r bits of the lower.
            let hash = load(hashes);
            let low = _mm256_mul_epu32(hash, slots);
            let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(hash), slots);
            let sum = _mm256_add_epi64(high, _mm256_srli_epi64::<32>(low));
            let quotient = _mm256_srli_epi64::<32>(sum);
            let lower = _mm256_blend_epi32::<0x55>(_mm256_slli_epi64::<32>(sum), low);
            let remainder = _mm256_srl_epi64(lower, down);
            let block = _mm256_mul_epu32(_mm256_srli_epi64::<6>(quotient), stride);
            let slot = _mm256_and_si256(quotient, all(63));
            let is_late = _mm256_cmpgt_epi64(slot, all(63 - 2 * AFTER));
            let slot = _mm256_add_epi64(slot, all(AFTER));
            let slot = _mm256_srli_epi64::<3>(_mm256_mul_epu32(slot, bits));
            store(&mut group.quotients[i], quotient);
            // A remainder has at most 32 bits.
            store(&mut group.patterns[i], multiply_small(remainder, ones));
            store(&mut group.blocks[i], block);
            store(&mut group.nexts[i], _mm256_add_epi64(block, _mm256_and_si256(is_late, stride)));
            store(&mut group.slots[i], _mm256_add_epi64(block, _mm256_add_epi64(slot, all(HEAD as u64))));
        }
    }

    /// Asks for the lines of four keys.
    #[inline]
    fn fetch(&self, group: &Group, i: usize) {
        for bytes in [&group.blocks[i], &group.slots[i], &group.nexts[i]] {
            bytes.iter().for_each(|byte| ring::fetch_word(self.words, *byte as usize / 8));
        }
    }

    /// Whether one key of a group, whose quotient has a run, is there.
    #[inline]
    fn alone(&self, group: &Group, key: usize) -> bool {
        let (quotient, remainder) = self.table.split(self.table.fingerprint(group.hashes[key]));
        Reader::new(self.table, self.words).contains_far(quotient, remainder)
    }

    /// Whether each of four keys of a group, the `i`-th four, is there, and which of the keys have to be looked at one
    /// by one.
    ///
    /// # Safety
    /// The table suits.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn answer<S: Select>(&self, group: &Group, i: usize) -> [u8; 2] {
        let blocks = &group.blocks[i];
        let is_last = _mm256_cmpeq_epi64(load(blocks), all(self.last));
        let next_block = _mm256_andnot_si256(is_last, _mm256_add_epi64(load(blocks), all(self.stride)));
        let widths = Widths { bits: all(self.bits), ones: all(self.table.ones), lanes: all(self.table.lanes.into()) };
        let bytes = self.words.as_ptr().cast::<u8>();
        // SAFETY: as the table suits, the blocks of quotients below its slots are among the words, with eight readable
        // bytes from any byte of a block on.
        let runs = unsafe { Runs::find::<S>(bytes, load(&group.quotients[i]), blocks, next_block, &widths) };
        // `Reader::among_few`
        let differ = _mm256_xor_si256(runs.window, load(&group.patterns[i]));
        runs.answer(&widths, _mm256_andnot_si256(differ, _mm256_sub_epi64(differ, widths.ones)))
    }
}

/// How the remainders of four tables lie in windows of eight bytes.
pub(crate) struct Widths {
    /// The bits of a remainder.
    pub bits: __m256i,
    /// The lowest bit of each remainder.
    pub ones: __m256i,
    /// How many remainders a window has.
    pub lanes: __m256i,
}

impl Widths {
    /// The highest bit of each remainder.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub fn highs(&self) -> __m256i {
        _mm256_sllv_epi64(self.ones, _mm256_sub_epi64(self.bits, all(1)))
    }

    /// The highest bit of each of the first `slots` remainders.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn among(&self, slots: __m256i) -> __m256i {
        let bits = _mm256_mul_epu32(slots, self.bits);
        _mm256_and_si256(self.highs(), _mm256_add_epi64(_mm256_sllv_epi64(all(1), bits), all(u64::MAX)))
    }
}

/// The runs of four quotients.
pub(crate) struct Runs {
    /// Which quotients have a run, and which of these runs lie in the eight bytes from their start on: all bits of
    /// their lanes.
    is_occupied: __m256i,
    is_here: __m256i,
    /// The eight bytes from the start of each run on.
    pub window: __m256i,
    /// How many slots a run has after its first slot.
    more: __m256i,
}

impl Runs {
    /// Finds the runs of quotients whose blocks begin at `blocks`, and whose next blocks begin at `next_block`.
    ///
    /// # Safety
    /// Eight bytes are readable from each byte of these blocks on.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub unsafe fn find<S: Select>(
        bytes: *const u8,
        quotient: __m256i,
        blocks: &Four,
        next_block: __m256i,
        widths: &Widths,
    ) -> Runs {
        // SAFETY: the caller promises that eight bytes are readable from each byte of these blocks on.
        let at = |byte: __m256i| unsafe { read_each(bytes, &numbers(byte)) };
        let add = |x: __m256i, y: u64| _mm256_add_epi64(x, all(y));
        let block = load(blocks);
        let (in_block, block_bits) = (all(63), all(64));
        // SAFETY: the caller promises that eight bytes are readable from each byte of these blocks on.
        let [offset, occupieds, own] = unsafe { heads(bytes, blocks) };
        // The occupied quotients up to the key's own. The highest bit says whether the key's quotient has a run.
        let upto = _mm256_sllv_epi64(occupieds, _mm256_andnot_si256(quotient, in_block));
        let is_occupied = _mm256_cmpgt_epi64(_mm256_setzero_si256(), upto);
        let rank = count_ones(upto);
        // This is `Reader::near_run`, but also finds runs that end anywhere in the next block, which is read if it is
        // needed.
        let is_near = _mm256_and_si256(is_occupied, _mm256_cmpgt_epi64(block_bits, offset));
        let own = _mm256_srlv_epi64(own, offset);
        let owns = count_ones(own);
        let is_further = _mm256_and_si256(is_near, _mm256_cmpgt_epi64(rank, owns));
        let ends = pick(is_further, own, at(add(pick(is_further, block, next_block), 10)));
        let rank = _mm256_sub_epi64(rank, _mm256_and_si256(is_further, owns));
        let first = _mm256_andnot_si256(in_block, quotient);
        let from = _mm256_add_epi64(first, offset);
        let base = pick(is_further, from, add(first, 64));
        // The end of the run, as a bit of these words, and how many bits there are up to the end of the run before it.
        // A run that is near has a rank of at least 1.
        let (words, ranks, owns) = (numbers(ends), numbers(rank), numbers(own));
        let (mut selected, mut lengths, mut of_own) = ([0; WIDTH], [0; WIDTH], [0; WIDTH]);
        for lane in 0..WIDTH {
            let end = S::select(words[lane], ranks[lane].wrapping_sub(1) as u32 % 64);
            let before = words[lane] & !(u64::MAX << (end % 64));
            selected[lane] = u64::from(end);
            lengths[lane] = u64::from(64 - before.leading_zeros());
            of_own[lane] = u64::from(64 - owns[lane].leading_zeros());
        }
        let (end, before) = (load(&selected), load(&lengths));
        let is_found = _mm256_and_si256(is_near, _mm256_cmpgt_epi64(block_bits, end));
        let is_first = _mm256_and_si256(is_further, _mm256_cmpeq_epi64(before, _mm256_setzero_si256()));
        let before = pick(is_first, before, load(&of_own));
        let start = _mm256_add_epi64(pick(is_first, base, from), before);
        let start = pick(_mm256_cmpgt_epi64(quotient, start), start, quotient);
        let end = _mm256_add_epi64(base, end);
        // How many slots the run has after its first slot, and the number of the first slot in its block.
        let more = _mm256_sub_epi64(end, start);
        let place = _mm256_and_si256(start, in_block);
        let is_short = _mm256_andnot_si256(
            _mm256_cmpgt_epi64(_mm256_setzero_si256(), more),
            _mm256_and_si256(is_found, _mm256_cmpgt_epi64(widths.lanes, more)),
        );
        let is_here = _mm256_and_si256(is_short, _mm256_cmpgt_epi64(block_bits, _mm256_add_epi64(place, more)));
        let is_same = _mm256_cmpeq_epi64(_mm256_srli_epi64::<6>(start), _mm256_srli_epi64::<6>(quotient));
        let bit = _mm256_mul_epu32(place, widths.bits);
        let byte = _mm256_add_epi64(pick(is_same, next_block, block), _mm256_srli_epi64::<3>(bit));
        // A window that nobody looks at is read from the block's line, so that no other line is waited for.
        let byte = pick(is_here, block, add(byte, HEAD as u64));
        let window = _mm256_srlv_epi64(at(byte), _mm256_and_si256(bit, all(7)));
        Runs { is_occupied, is_here, window, more }
    }

    /// Which keys are there, and which keys have to be looked at one by one. `found` has the highest bits of the
    /// window's slots that agree.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub fn answer(&self, widths: &Widths, found: __m256i) -> [u8; 2] {
        let Runs { is_occupied, is_here, window, more } = *self;
        let highs = widths.highs();
        let among = _mm256_and_si256(found, widths.among(_mm256_add_epi64(more, all(1))));
        let is_there = _mm256_and_si256(is_here, is_any(among));
        // This is `Table::ascend`: x is each slot, and y is the slot after it.
        let is_long = _mm256_and_si256(is_there, _mm256_cmpgt_epi64(more, all(1)));
        let (x, y) = (window, _mm256_srlv_epi64(window, widths.bits));
        let low = _mm256_sub_epi64(_mm256_or_si256(x, highs), _mm256_andnot_si256(highs, y));
        let above = _mm256_andnot_si256(x, y);
        let alike = _mm256_xor_si256(_mm256_xor_si256(x, y), all(u64::MAX));
        let less = _mm256_or_si256(above, _mm256_andnot_si256(low, alike));
        let falls = _mm256_andnot_si256(less, widths.among(more));
        let is_open =
            _mm256_or_si256(_mm256_andnot_si256(is_here, is_occupied), _mm256_and_si256(is_long, is_any(falls)));
        [signs(_mm256_andnot_si256(is_open, is_there)), signs(is_open)]
    }
}
