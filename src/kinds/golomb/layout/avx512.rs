//! Batched lookups for AVX-512: a vector holds eight keys, which go through the numbers of their buckets together, one
//! number a step. So eight keys wait for their steps together, and the processor need not guess where a bucket ends.

use super::Reader;
use super::lookups::Kernel;
use crate::batch::groups::{EIGHTS, hashes_of, in_one_turn, in_turns};
use crate::batch::ring::{self, Batch, GROUP};
use crate::blocks::eight::{Eight, WIDTH, all, load};
use core::arch::x86_64::*;
use core::cell::Cell;

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel {
    // SAFETY: this kernel is given out for processors that have AVX-512 F, BW, DQ and VL.
    contains_many: |reader, batch| unsafe { many(reader, batch) },
    // SAFETY: as above.
    contains_few: |reader, instructions, few| unsafe { one_turn(reader, &hashes_of(few, instructions)) },
};

/// How many bits eight bytes have from any bit of their first byte on.
const WINDOW: u64 = super::MAX_FIELD as u64;

/// Where to look for the keys of a group.
#[repr(align(64))]
struct Group {
    /// The keys' buckets, and the keys' numbers less the first numbers of their buckets.
    buckets: [Eight; EIGHTS],
    targets: [Eight; EIGHTS],
    /// The first bits of the buckets' codes, and the bits after their last. Both are read from the index when codes are
    /// fetched.
    starts: [Cell<Eight>; EIGHTS],
    ends: [Cell<Eight>; EIGHTS],
}

impl Group {
    fn new() -> Group {
        Group {
            buckets: [[0; WIDTH]; EIGHTS],
            targets: [[0; WIDTH]; EIGHTS],
            starts: [const { Cell::new([0; WIDTH]) }; EIGHTS],
            ends: [const { Cell::new([0; WIDTH]) }; EIGHTS],
        }
    }

    /// Finds the buckets of hashes, and asks for the buckets' entries in the index.
    #[inline(always)]
    fn find(&mut self, reader: &Reader, hashes: &[u64; GROUP]) {
        let (buckets, targets) = (self.buckets.as_flattened_mut(), self.targets.as_flattened_mut());
        for ((hash, bucket), target) in hashes.iter().zip(buckets).zip(targets) {
            (*bucket, *target) = reader.bucket_of(*hash);
        }
        if ring::is_far(reader.words.len()) {
            self.buckets.as_flattened().iter().for_each(|bucket| reader.fetch_entry(*bucket));
        }
    }

    /// Reads from the index where the codes of the buckets of eight keys are, and asks for these codes.
    #[inline(always)]
    fn fetch(&self, reader: &Reader, i: usize) {
        let (mut starts, mut ends) = ([0; WIDTH], [0; WIDTH]);
        for ((bucket, start), end) in self.buckets[i].iter().zip(&mut starts).zip(&mut ends) {
            (*start, *end) = reader.codes_of(*bucket);
        }
        if ring::is_far(reader.words.len()) {
            for bits in [&starts, &ends] {
                bits.iter().for_each(|bit| ring::fetch_word(reader.words, (bit / 64) as usize));
            }
        }
        self.starts[i].set(starts);
        self.ends[i].set(ends);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn many(reader: &Reader, batch: &mut dyn Batch) {
    let find = |hashes: &_, group: &mut Group| group.find(reader, hashes);
    let answer = |group: &Group, i| [answer(reader, group, i), 0];
    let fetch = |group: &Group, i| group.fetch(reader, i);
    in_turns::<WIDTH, _>([Group::new(), Group::new()], batch, find, fetch, answer, |_, _| false);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn one_turn(reader: &Reader, (hashes, count): &([u64; GROUP], usize)) -> u64 {
    let find = |hashes: &_, group: &mut Group| group.find(reader, hashes);
    let answer = |group: &Group, i| [answer(reader, group, i), 0];
    let fetch = |group: &Group, i| group.fetch(reader, i);
    in_one_turn::<WIDTH, _>(Group::new(), hashes, *count, find, fetch, answer, |_, _| false)
}

/// For each of eight bits whose lane is wanted, the eight bytes from the byte that the bit is in, shifted so that the
/// bit comes first. At the end of the words the bytes begin earlier. Other lanes are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn windows(reader: &Reader, wanted: __mmask8, bits: __m512i) -> __m512i {
    // The words of a payload are not empty, because they begin with its head.
    let last = all((reader.words.len() as u64 * 8).saturating_sub(8));
    let bytes = _mm512_min_epu64(_mm512_srli_epi64::<3>(bits), last);
    let (zero, start) = (_mm512_setzero_si512(), reader.words.as_ptr().cast());
    // SAFETY: each byte is `last` at most, so the eight bytes from it on are among the words, whose head was read to
    // make the reader's shape.
    let eight = unsafe { _mm512_mask_i64gather_epi64::<1>(zero, wanted, bytes, start) };
    _mm512_srlv_epi64(eight, _mm512_and_si512(bits, all(7)))
}

/// Whether the numbers of the `i`-th eight keys of a group are there: [`Reader::contains`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn answer(reader: &Reader, asked: &Group, i: usize) -> u8 {
    let width = u64::from(reader.shape().head.rice_bits);
    let (shift, step, mask) = (all(width), all(width), all((1 << WINDOW) - 1));
    // How many remainders a window holds. They come from the highest bits down.
    let together = WINDOW / width.max(1);
    let (read, up, down) = (all(together * width), all(64 - together * width), all(64 - width));
    // This corrects the sum for each number passed: its one among the quotients is not a zero, and the next number is
    // at least 1 more, not counting the remainder.
    let next = all(1_u64.wrapping_sub(1 << width));
    let one = all(1);
    let target = load(&asked.targets[i]);
    let start = load(&asked.starts[i].get());
    let mut remainders = load(&asked.ends[i].get());
    let (mut origin, mut rest) = (start, _mm512_setzero_si512());
    let mut left = 0xff;
    let mut found = 0;
    let mut ones = _mm512_and_si512(windows(reader, left, origin), mask);
    loop {
        let mut fields = _mm512_sllv_epi64(windows(reader, left, _mm512_sub_epi64(remainders, read)), up);
        for _ in 0..together {
            remainders = _mm512_sub_epi64(remainders, step);
            let mut empty = left & _mm512_testn_epi64_mask(ones, ones);
            while empty != 0 {
                origin = _mm512_mask_add_epi64(origin, empty, origin, all(WINDOW));
                left &= !(empty & _mm512_cmpge_epi64_mask(origin, remainders));
                empty &= left;
                ones = _mm512_mask_and_epi64(ones, empty, windows(reader, empty, origin), mask);
                empty &= _mm512_testn_epi64_mask(ones, ones);
            }
            // Finds the lowest one of each lane: converted to a floating-point number, it has its place as the
            // exponent.
            let others = _mm512_sub_epi64(ones, one);
            let lowest = _mm512_castpd_si512(_mm512_cvtepu64_pd(_mm512_andnot_si512(others, ones)));
            ones = _mm512_and_si512(ones, others);
            let at = _mm512_add_epi64(origin, _mm512_sub_epi64(_mm512_srli_epi64::<52>(lowest), all(1023)));
            left &= _mm512_cmplt_epi64_mask(at, remainders);
            rest = _mm512_add_epi64(rest, _mm512_srlv_epi64(fields, down));
            fields = _mm512_sllv_epi64(fields, shift);
            let number = _mm512_add_epi64(_mm512_sllv_epi64(_mm512_sub_epi64(at, start), shift), rest);
            rest = _mm512_add_epi64(rest, next);
            found |= _mm512_mask_cmpeq_epu64_mask(left, number, target);
            left &= _mm512_cmplt_epu64_mask(number, target);
            if left == 0 {
                return found;
            }
        }
    }
}
