//! The inner loop of batches for AVX2: four keys are one vector, from their hashes to their answers.

use super::kernel::{Group, Kernel, Turns};
use super::shape::{ENTRY_WORDS, slice};
use super::{Array, cells, portable};
use crate::batch::ring::{self, GROUP};
use crate::bits::{GOLDEN, MIX, MIX_SCATTERED};
use crate::hash::xxh3::avx2::multiply;
use core::arch::x86_64::*;

/// The kernel for AVX2.
pub(super) static KERNEL: Kernel = Kernel {
    three: Turns { near: near::<3>, far: far::<3> },
    four: Turns { near: near::<4>, far: far::<4> },
    suits: |array| array.is_gathered(),
};

/// How many keys a vector holds.
const WIDTH: usize = 4;

fn near<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64 {
    assert!(array.is_gathered());
    // SAFETY: this kernel is given out for processors that have AVX2, and the array suits.
    unsafe { turn::<K, false>(array, hashes, found, asked) }
}

fn far<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64 {
    assert!(array.is_gathered());
    // SAFETY: as in `near`: the processor has the instructions, and the array suits.
    unsafe { turn::<K, true>(array, hashes, found, asked) }
}

/// Four numbers of a group.
#[inline]
#[target_feature(enable = "avx2")]
fn load(numbers: &[u64; GROUP], i: usize) -> __m256i {
    let [numbers] = numbers[i..i + WIDTH].as_chunks::<WIDTH>().0 else { return _mm256_setzero_si256() };
    // SAFETY: four numbers are 32 readable bytes.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(numbers: &mut [u64; GROUP], i: usize, four: __m256i) {
    let [numbers] = numbers[i..i + WIDTH].as_chunks_mut::<WIDTH>().0 else { return };
    // SAFETY: four numbers are 32 bytes, which are ours.
    unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), four) }
}

/// A vector with the number in all four places.
#[inline]
#[target_feature(enable = "avx2")]
fn all(number: u64) -> __m256i {
    _mm256_set1_epi64x(number as i64)
}

/// # Safety
/// The array suits ([`Array::is_gathered`]).
#[target_feature(enable = "avx2")]
unsafe fn turn<const K: usize, const FETCH: bool>(
    array: &Array,
    hashes: &[u64; GROUP],
    found: &mut Group,
    asked: &Group,
) -> u64 {
    let mut answers = 0;
    for i in (0..GROUP).step_by(WIDTH) {
        // SAFETY: the caller promises that the array suits ([`Array::is_gathered`]).
        unsafe { find::<K>(array, hashes, found, i) };
        if FETCH {
            for bits in &found.bits[..K] {
                bits.0[i..i + WIDTH].iter().for_each(|bit| ring::fetch_word(array.words, (*bit / 64) as usize));
            }
        }
        answers |= agree::<K>(array, asked, i) << i;
    }
    answers
}

/// Finds the cells of the four keys from `i` on.
///
/// # Safety
/// The array suits.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn find<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, i: usize) {
    let shards = all(array.shape.shards);
    // `order`
    let x = load(hashes, i);
    let x = multiply(_mm256_xor_si256(x, _mm256_srli_epi64::<30>(x)), MIX);
    let x = _mm256_xor_si256(x, _mm256_srli_epi64::<27>(x));
    // This is `place`. The multiplications take the low halves of their operands.
    let low = _mm256_srli_epi64::<32>(_mm256_mul_epu32(x, shards));
    let place = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64::<32>(x), shards), low);
    let shard = _mm256_srli_epi64::<32>(place);
    // `Entry::decode`
    let directory: *const i64 = array.directory.as_ptr().cast();
    let (a, b) = if array.shape.shards == 1 {
        // Gathers would take longer than the rest of the turn.
        // SAFETY: the array suits, so the directory has as many entries of two words as there are shards.
        unsafe { (_mm256_set1_epi64x(directory.read()), _mm256_set1_epi64x(directory.add(1).read())) }
    } else {
        let entry = _mm256_slli_epi64::<{ ENTRY_WORDS.ilog2() as i32 }>(shard);
        // SAFETY: the shard of a place is less than the number of shards, and the directory has as many entries of two
        // words.
        unsafe { (_mm256_i64gather_epi64::<8>(directory, entry), _mm256_i64gather_epi64::<8>(directory.add(1), entry)) }
    };
    // `scatter`
    let seed = _mm256_shuffle_epi32::<0b11_11_01_01>(a);
    let z = multiply(_mm256_xor_si256(x, seed), MIX_SCATTERED);
    let z = _mm256_xor_si256(z, _mm256_srli_epi64::<31>(z));
    // `Segments::positions`
    let length = _mm256_sllv_epi64(all(1), _mm256_and_si256(b, all(63)));
    let mask = _mm256_sub_epi64(length, all(1));
    let mut positions = [_mm256_srli_epi64::<32>(_mm256_mul_epu32(place, a)); K];
    for cell in 1..K {
        positions[cell] = _mm256_add_epi64(positions[cell - 1], length);
    }
    for (cell, position) in positions[1..].iter_mut().enumerate() {
        let chosen = _mm256_srlv_epi64(z, all(u64::from(slice(K)) * cell as u64));
        *position = _mm256_xor_si256(*position, _mm256_and_si256(chosen, mask));
    }
    let groups = _mm256_srli_epi64::<6>(b);
    let wide = positions.iter().fold(groups, |wide, position| _mm256_or_si256(wide, *position));
    if _mm256_testz_si256(wide, all(!u64::from(u32::MAX))) == 0 {
        return portable::find::<K>(array, hashes, found, i..i + WIDTH);
    }
    // The shape suits, so positions, and groups of 64 cells before them, have 32 bits.
    let width = all(array.shape.width.into());
    let first = _mm256_slli_epi64::<6>(_mm256_mul_epu32(groups, width));
    for (to, position) in found.bits.iter_mut().zip(positions) {
        store(&mut to.0, i, _mm256_add_epi64(first, _mm256_mul_epu32(position, width)));
    }
    store(&mut found.fingerprints.0, i, _mm256_srli_epi64::<32>(multiply(z, GOLDEN)));
}

/// Whether the cells of the four keys from `i` on give their fingerprints.
#[inline]
#[target_feature(enable = "avx2")]
fn agree<const K: usize>(array: &Array, asked: &Group, i: usize) -> u64 {
    let bytes = array.words.as_ptr().cast::<u8>();
    let end = all((array.words.len() as u64 * 8).saturating_sub(7));
    let mut together = load(&asked.fingerprints.0, i);
    for bits in &asked.bits[..K] {
        let bit = load(&bits.0, i);
        // Bytes are far below 2^63, so a signed comparison is right.
        let byte = _mm256_srli_epi64::<3>(bit);
        let there = _mm256_cmpgt_epi64(end, byte);
        let mut at = [0_u64; WIDTH];
        // SAFETY: four numbers are 32 bytes, which are ours.
        unsafe { _mm256_storeu_si256(at.as_mut_ptr().cast(), _mm256_and_si256(byte, there)) };
        // SAFETY: seven readable bytes follow every byte before `end`, and also the first byte, because the array
        // suits, so that the words are not empty. A load for each place takes less time than a gather.
        let read = |i: usize| unsafe { bytes.add(at[i] as usize).cast::<i64>().read_unaligned() };
        let cells = _mm256_and_si256(_mm256_set_epi64x(read(3), read(2), read(1), read(0)), there);
        together = _mm256_xor_si256(together, _mm256_srlv_epi64(cells, _mm256_and_si256(bit, all(7))));
    }
    let differ = _mm256_and_si256(together, all(cells::mask(array.shape.width)));
    let agree = _mm256_cmpeq_epi64(differ, _mm256_setzero_si256());
    _mm256_movemask_pd(_mm256_castsi256_pd(agree)) as u64
}
