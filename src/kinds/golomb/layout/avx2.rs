//! Lookups of many keys for AVX2, as those for AVX-512: eight keys are two vectors. All eight go through the numbers of
//! their buckets at once, a number each step. So the steps of eight keys are waited for together, and the processor
//! need not guess where one ends.

use super::Reader;
use super::lookups::Kernel;
use crate::batch::ring::{self, Batch, GROUP};
use crate::blocks::eight::{EIGHTS, Eight, WIDTH, at_once, hashes_of, in_turns};
use crate::blocks::four::{all, count_ones, load, numbers, read_each, signs};
use core::arch::x86_64::*;
use core::cell::Cell;

/// The kernel for AVX2.
pub(super) static KERNEL: Kernel = Kernel {
    // SAFETY: this kernel is given out for processors that have AVX2, BMI1, BMI2, LZCNT and POPCNT.
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
    /// The bits from which on the codes of the buckets lie, and up to which. The index is read for them when codes are
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
        if reader.words.len() >= ring::FETCH_FROM {
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
        if reader.words.len() >= ring::FETCH_FROM {
            starts.iter().chain(&ends).for_each(|bit| ring::fetch_word(reader.words, (bit / 64) as usize));
        }
        self.starts[i].set(starts);
        self.ends[i].set(ends);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn many(reader: &Reader, batch: &mut dyn Batch) {
    let find = |hashes: &_, group: &mut Group| group.find(reader, hashes);
    let answer = |group: &Group, i| [answer(reader, group, i), 0];
    in_turns([Group::new(), Group::new()], batch, find, |group, i| group.fetch(reader, i), answer, |_, _| false);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn one_turn(reader: &Reader, (hashes, count): &([u64; GROUP], usize)) -> u64 {
    let find = |hashes: &_, group: &mut Group| group.find(reader, hashes);
    let answer = |group: &Group, i| [answer(reader, group, i), 0];
    at_once(Group::new(), hashes, *count, find, |group, i| group.fetch(reader, i), answer, |_, _| false)
}

/// Eight numbers.
type Pair = [__m256i; 2];

/// Two vectors of what `of` makes of the vectors with each number.
#[inline(always)]
fn both(of: impl Fn(usize) -> __m256i) -> Pair {
    [of(0), of(1)]
}

/// The vectors of eight numbers.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn load_both(eight: &Eight) -> Pair {
    let fours = eight.as_chunks().0;
    both(|i| load(&fours[i]))
}

/// A bit for each of eight lanes: its highest one.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn eight_signs([low, high]: Pair) -> u8 {
    signs(low) | signs(high) << 4
}

/// Whether a lane is not 0.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn is_any([low, high]: Pair) -> bool {
    let all = _mm256_or_si256(low, high);
    _mm256_testz_si256(all, all) == 0
}

/// For each of four bits whose lane is wanted, the eight bytes from the byte that the bit is in, shifted so that the
/// bit comes first. At the end of the words the bytes begin earlier. Other lanes are zero.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn windows(reader: &Reader, wanted: __m256i, bits: __m256i) -> __m256i {
    // The words of a payload are not empty, because they begin with its head.
    let last = all((reader.words.len() as u64 * 8).saturating_sub(8));
    // Both numbers are below 2^61, so a signed comparison compares them rightly.
    let bytes = _mm256_srli_epi64::<3>(bits);
    let bytes = _mm256_blendv_epi8(bytes, last, _mm256_cmpgt_epi64(bytes, last));
    // SAFETY: from each byte on, which is `last` at most, there are eight among the words, whose head was read to make
    // the reader's shape.
    let eight = unsafe { read_each(reader.words.as_ptr().cast(), &numbers(bytes)) };
    _mm256_srlv_epi64(_mm256_and_si256(eight, wanted), _mm256_and_si256(bits, all(7)))
}

/// Whether the numbers of the `i`-th eight keys of a group are there: [`Reader::contains`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn answer(reader: &Reader, asked: &Group, i: usize) -> u8 {
    let width = u64::from(reader.shape().head.rice_bits);
    let (shift, step, mask) = (all(width), all(width), all((1 << WINDOW) - 1));
    // One window holds so many remainders, which come from the highest bits down.
    let together = WINDOW / width.max(1);
    let (read, up, down) = (all(together * width), all(64 - together * width), all(64 - width));
    // This corrects the sum for each number that was passed: its one among the quotients is not a zero, and the next
    // number is at least 1 more besides the remainder.
    let next = all(1_u64.wrapping_sub(1 << width));
    let (zero, one, highest) = (_mm256_setzero_si256(), all(1), all(1 << 63));
    let target = load_both(&asked.targets[i]);
    let start = load_both(&asked.starts[i].get());
    let mut remainders = load_both(&asked.ends[i].get());
    // Numbers without a sign are compared with their highest bits turned.
    let turned = both(|i| _mm256_xor_si256(target[i], highest));
    let (mut origin, mut rest) = (start, [zero; 2]);
    let (mut left, mut found) = ([all(u64::MAX); 2], [zero; 2]);
    let mut ones = both(|i| _mm256_and_si256(windows(reader, left[i], origin[i]), mask));
    loop {
        let mut fields = both(|i| {
            let bits = _mm256_sub_epi64(remainders[i], read);
            _mm256_sllv_epi64(windows(reader, left[i], bits), up)
        });
        for _ in 0..together {
            remainders = both(|i| _mm256_sub_epi64(remainders[i], step));
            let mut empty = both(|i| _mm256_and_si256(left[i], _mm256_cmpeq_epi64(ones[i], zero)));
            while is_any(empty) {
                origin = both(|i| _mm256_add_epi64(origin[i], _mm256_and_si256(empty[i], all(WINDOW))));
                let is_before = both(|i| _mm256_cmpgt_epi64(remainders[i], origin[i]));
                left = both(|i| _mm256_andnot_si256(_mm256_andnot_si256(is_before[i], empty[i]), left[i]));
                empty = both(|i| _mm256_and_si256(empty[i], left[i]));
                ones = both(|i| {
                    let more = _mm256_and_si256(windows(reader, empty[i], origin[i]), mask);
                    _mm256_blendv_epi8(ones[i], more, empty[i])
                });
                empty = both(|i| _mm256_and_si256(empty[i], _mm256_cmpeq_epi64(ones[i], zero)));
            }
            // The place of the lowest one of each lane is the number of bits below it.
            let others = both(|i| _mm256_sub_epi64(ones[i], one));
            let below = both(|i| count_ones(_mm256_andnot_si256(ones[i], others[i])));
            ones = both(|i| _mm256_and_si256(ones[i], others[i]));
            let at = both(|i| _mm256_add_epi64(origin[i], below[i]));
            left = both(|i| _mm256_and_si256(left[i], _mm256_cmpgt_epi64(remainders[i], at[i])));
            rest = both(|i| _mm256_add_epi64(rest[i], _mm256_srlv_epi64(fields[i], down)));
            fields = both(|i| _mm256_sllv_epi64(fields[i], shift));
            let number = both(|i| {
                let before = _mm256_sllv_epi64(_mm256_sub_epi64(at[i], start[i]), shift);
                _mm256_add_epi64(before, rest[i])
            });
            rest = both(|i| _mm256_add_epi64(rest[i], next));
            found = both(|i| {
                let is_equal = _mm256_cmpeq_epi64(number[i], target[i]);
                _mm256_or_si256(found[i], _mm256_and_si256(left[i], is_equal))
            });
            left = both(|i| {
                let is_less = _mm256_cmpgt_epi64(turned[i], _mm256_xor_si256(number[i], highest));
                _mm256_and_si256(left[i], is_less)
            });
            if !is_any(left) {
                return eight_signs(found);
            }
        }
    }
}
