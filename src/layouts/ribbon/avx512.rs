//! Answers of a batch for AVX-512: eight keys are one vector, and each of their groups of slots one gather.

use super::array::Array;
use super::fingerprints::Group;
use super::query;
use crate::bits::BYTES_OF_BITS;
use crate::bits::ring::GROUP;
use core::arch::x86_64::*;

/// Keys of a vector.
pub(super) const WIDTH: usize = 8;

/// Groups of slots that 64 coefficients may lie in, beside the last.
const WHOLE: u64 = 8;

/// What the keys from `i` on say; `None` where the slots of one may not be among the words. For processors with
/// AVX-512.
pub(super) fn agree(array: &Array, asked: &Group<u64>, i: usize) -> Option<u64> {
    let [columns, bytes] = [u64::from(array.shape().columns()), array.words().len() as u64 * 8];
    // The last byte that is read, after that at which a row begins.
    let length = WHOLE * columns + columns.next_multiple_of(8);
    let last = bytes.checked_sub(length)?;
    let near = |numbers: &[u64; GROUP]| numbers[i..i + WIDTH].iter().all(|byte| *byte <= last);
    // SAFETY: this function is given out for processors that have AVX-512 F, BW, DQ and VL; what begins at any of these
    // bytes has `length` bytes, which are among the words.
    near(&asked.bytes).then(|| unsafe { agree_near(array, asked, i) })
}

/// Eight numbers of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn load(numbers: &[u64; GROUP], i: usize) -> __m512i {
    let [numbers] = numbers[i..i + WIDTH].as_chunks::<WIDTH>().0 else { return _mm512_setzero_si512() };
    // SAFETY: eight numbers are 64 readable bytes.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// # Safety
/// All groups of slots of the eight keys, of whole words of columns, are among the array's words.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn agree_near(array: &Array, asked: &Group<u64>, i: usize) -> u64 {
    let columns = array.shape().columns();
    let bytes = array.words().as_ptr().cast::<u8>();
    let (rows, shifts) = (load(&asked.coefficients, i), load(&asked.shifts, i));
    let [begin, fingerprints] = [load(&asked.bytes, i), load(&asked.fingerprints, i)];
    let low = _mm512_sllv_epi64(rows, shifts);
    let high = _mm512_srlv_epi64(_mm512_srli_epi64::<1>(rows), _mm512_sub_epi64(_mm512_set1_epi64(63), shifts));
    // Byte `group` of each number, eight times.
    let each = _mm512_set1_epi64(0x0101_0101_0101_0101);
    let first_bytes = _mm512_set4_epi64(0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808, 0);
    let mut agreeing = 0xff;
    for first in (0..columns).step_by(8) {
        let mut sum = _mm512_setzero_si512();
        let (mut byte, mut place) = (_mm512_add_epi64(begin, _mm512_set1_epi64(first.into())), first_bytes);
        let step = _mm512_set1_epi64(columns.into());
        for group in 0..=WHOLE {
            let mask =
                if group < WHOLE { _mm512_shuffle_epi8(low, place) } else { _mm512_shuffle_epi8(high, first_bytes) };
            // SAFETY: the caller's promise.
            let slots = unsafe { _mm512_i64gather_epi64::<1>(byte, bytes.cast()) };
            sum = _mm512_xor_si512(sum, _mm512_and_si512(slots, mask));
            byte = _mm512_add_epi64(byte, step);
            place = _mm512_add_epi8(place, each);
        }
        // `query::parities`
        sum = _mm512_xor_si512(sum, _mm512_srli_epi64::<4>(sum));
        sum = _mm512_xor_si512(sum, _mm512_srli_epi64::<2>(sum));
        sum = _mm512_xor_si512(sum, _mm512_srli_epi64::<1>(sum));
        let shifted = _mm512_srlv_epi64(fingerprints, _mm512_set1_epi64(first.into()));
        let index = _mm512_and_si512(shifted, _mm512_set1_epi64(0xff));
        // SAFETY: an index of eight bits is of one of the table's 256 numbers.
        let expected = unsafe { _mm512_i64gather_epi64::<8>(index, BYTES_OF_BITS.as_ptr().cast()) };
        let mask = query::columns((columns - first) as usize) & 0x0101_0101_0101_0101;
        agreeing &= _mm512_testn_epi64_mask(_mm512_xor_si512(sum, expected), _mm512_set1_epi64(mask as i64));
    }
    u64::from(agreeing)
}
