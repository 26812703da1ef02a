//! The inner loop of batches for AVX-512: eight keys are one vector, from their hashes to their answers.

use super::kernel::{Group, Kernel, Turns};
use super::shape::{ENTRY_WORDS, slice};
use super::{Array, cells, portable};
use crate::batch::ring::{self, GROUP};
use crate::bits::{GOLDEN, MIX, MIX_SCATTERED};
use crate::blocks::eight;
use core::arch::x86_64::*;

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel {
    three: Turns { near: near::<3>, far: far::<3> },
    four: Turns { near: near::<4>, far: far::<4> },
    suits: |array| array.is_gathered(),
};

/// How many keys a vector holds.
const WIDTH: usize = 8;

fn near<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64 {
    assert!(array.is_gathered());
    // SAFETY: this kernel is given out for processors that have AVX-512 F, BW, DQ and VL, and the array suits.
    unsafe { turn::<K, false>(array, hashes, found, asked) }
}

fn far<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, asked: &Group) -> u64 {
    assert!(array.is_gathered());
    // SAFETY: as in `near`: the processor has the instructions, and the array suits.
    unsafe { turn::<K, true>(array, hashes, found, asked) }
}

/// Eight numbers of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn load(numbers: &[u64; GROUP], i: usize) -> __m512i {
    let [numbers] = numbers[i..i + WIDTH].as_chunks::<WIDTH>().0 else { return _mm512_setzero_si512() };
    // SAFETY: eight numbers are 64 readable bytes.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn store(numbers: &mut [u64; GROUP], i: usize, eight: __m512i) {
    let [numbers] = numbers[i..i + WIDTH].as_chunks_mut::<WIDTH>().0 else { return };
    // SAFETY: eight numbers are 64 bytes, which are ours.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), eight) }
}

/// A vector with the number in all eight places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn all(number: u64) -> __m512i {
    _mm512_set1_epi64(number as i64)
}

/// # Safety
/// The array suits ([`Array::is_gathered`]).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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
        answers |= u64::from(agree::<K>(array, asked, i)) << i;
    }
    answers
}

/// Finds the cells of the eight keys from `i` on.
///
/// # Safety
/// The array suits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn find<const K: usize>(array: &Array, hashes: &[u64; GROUP], found: &mut Group, i: usize) {
    let shards = all(array.shape.shards);
    // `order`
    let x = load(hashes, i);
    let x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64::<30>(x)), all(MIX));
    let x = _mm512_xor_si512(x, _mm512_srli_epi64::<27>(x));
    // This is `place`. The multiplications take the low halves of their operands.
    let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(x, shards));
    let place = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64::<32>(x), shards), low);
    let shard = _mm512_srli_epi64::<32>(place);
    // `Entry::decode`
    let directory: *const i64 = array.directory.as_ptr().cast();
    let (a, b) = if array.shape.shards == 1 {
        // Gathers would take longer than the rest of the turn.
        // SAFETY: the array suits, so the directory has as many entries of two words as there are shards.
        unsafe { (_mm512_set1_epi64(directory.read()), _mm512_set1_epi64(directory.add(1).read())) }
    } else {
        let entry = _mm512_slli_epi64::<{ ENTRY_WORDS.ilog2() }>(shard);
        // SAFETY: the shard of a place is less than the number of shards, and the directory has as many entries of two
        // words.
        unsafe { (_mm512_i64gather_epi64::<8>(entry, directory), _mm512_i64gather_epi64::<8>(entry, directory.add(1))) }
    };
    // `scatter`
    let seed = _mm512_shuffle_epi32::<0b11_11_01_01>(a);
    let z = _mm512_mullo_epi64(_mm512_xor_si512(x, seed), all(MIX_SCATTERED));
    let z = _mm512_xor_si512(z, _mm512_srli_epi64::<31>(z));
    // `Segments::positions`
    let length = _mm512_sllv_epi64(all(1), _mm512_and_si512(b, all(63)));
    let mask = _mm512_sub_epi64(length, all(1));
    let mut positions = [_mm512_srli_epi64::<32>(_mm512_mul_epu32(place, a)); K];
    for cell in 1..K {
        positions[cell] = _mm512_add_epi64(positions[cell - 1], length);
    }
    for (cell, position) in positions[1..].iter_mut().enumerate() {
        let chosen = _mm512_srlv_epi64(z, all(u64::from(slice(K)) * cell as u64));
        *position = _mm512_xor_si512(*position, _mm512_and_si512(chosen, mask));
    }
    let groups = _mm512_srli_epi64::<6>(b);
    let wide = positions.iter().fold(groups, |wide, position| _mm512_or_si512(wide, *position));
    if _mm512_test_epi64_mask(wide, all(!u64::from(u32::MAX))) != 0 {
        return portable::find::<K>(array, hashes, found, i..i + WIDTH);
    }
    // The shape suits, so positions, and groups of 64 cells before them, have 32 bits.
    let width = all(array.shape.width.into());
    let first = _mm512_slli_epi64::<6>(_mm512_mul_epu32(groups, width));
    for (to, position) in found.bits.iter_mut().zip(positions) {
        store(&mut to.0, i, _mm512_add_epi64(first, _mm512_mul_epu32(position, width)));
    }
    store(&mut found.fingerprints.0, i, _mm512_srli_epi64::<32>(_mm512_mullo_epi64(z, all(GOLDEN))));
}

/// Whether the cells of the eight keys from `i` on give their fingerprints.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn agree<const K: usize>(array: &Array, asked: &Group, i: usize) -> u8 {
    let bytes = array.words.as_ptr().cast::<u8>();
    let last = all((array.words.len() as u64 * 8).saturating_sub(8));
    let mut together = load(&asked.fingerprints.0, i);
    for bits in &asked.bits[..K] {
        let bit = load(&bits.0, i);
        let byte = _mm512_srli_epi64::<3>(bit);
        let there = _mm512_cmple_epu64_mask(byte, last);
        let at = eight::numbers(_mm512_maskz_mov_epi64(there, byte));
        // SAFETY: eight bytes are readable from `last` on, because the array suits, so that the words are not empty. No
        // place lies after `last`.
        let cells = unsafe { eight::read_each(bytes, &at) };
        let cells = _mm512_maskz_mov_epi64(there, cells);
        together = _mm512_xor_si512(together, _mm512_srlv_epi64(cells, _mm512_and_si512(bit, all(7))));
    }
    _mm512_testn_epi64_mask(together, all(cells::mask(array.shape.width)))
}
