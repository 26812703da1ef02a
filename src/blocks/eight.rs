//! Eight 64-bit numbers in a vector of AVX-512, for kernels that read each key's own places.

use core::arch::x86_64::*;

/// Keys of a vector.
pub const WIDTH: usize = 8;

/// Eight numbers.
pub type Eight = [u64; WIDTH];

/// Eight numbers in one cache line. Code that stores a vector and then reads the numbers one by one stores the vector
/// here: after a store into two lines the reads would wait.
#[repr(align(64))]
struct Line(Eight);

/// The vector that holds this number eight times.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn all(number: u64) -> __m512i {
    _mm512_set1_epi64(number as i64)
}

/// The vector of eight numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn load(numbers: &Eight) -> __m512i {
    // SAFETY: eight numbers are 64 readable bytes.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// The eight numbers of a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn store(numbers: &mut Eight, eight: __m512i) {
    // SAFETY: eight numbers are 64 bytes, which are ours.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), eight) }
}

/// The eight numbers of a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn numbers(eight: __m512i) -> Eight {
    let mut numbers = Line([0; WIDTH]);
    store(&mut numbers.0, eight);
    numbers.0
}

/// The eight bytes from each of eight places on. Each has its own load, because the instruction that gathers them takes
/// longer.
///
/// # Safety
/// Eight bytes are readable from each of these places after the start on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub unsafe fn read_each(start: *const u8, at: &Eight) -> __m512i {
    // SAFETY: the caller promises that eight bytes are readable from each of these places after the start on.
    let read = |i: usize| unsafe { start.add(at[i] as usize).cast::<i64>().read_unaligned() };
    _mm512_set_epi64(read(7), read(6), read(5), read(4), read(3), read(2), read(1), read(0))
}

/// The eight bytes from each of eight places on, and the eight after these.
///
/// # Safety
/// Sixteen bytes are readable from each of these places after the start on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub unsafe fn read_pairs(start: *const u8, at: &Eight) -> [__m512i; 2] {
    // SAFETY: the caller promises that sixteen bytes are readable from each of these places after the start on.
    let read = |i: usize| unsafe { _mm_loadu_si128(start.add(at[i] as usize).cast()) };
    let two = |i: usize| _mm256_set_m128i(read(i + 2), read(i));
    let four = |i: usize| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(two(i)), two(i + 4));
    // The even numbers 0, 2, 4 and 6, and the odd ones 1, 3, 5 and 7.
    let (even, odd) = (four(0), four(1));
    [_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd)]
}

/// What [`bits::reduce`](crate::bits::reduce) makes of each of eight numbers, for ranges of 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn reduce(x: __m512i, range: __m512i) -> __m512i {
    let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(x, range));
    let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(x), range);
    _mm512_srli_epi64::<32>(_mm512_add_epi64(high, low))
}

/// What [`bits::mix`](crate::bits::mix) makes of each of eight numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn mix(x: __m512i) -> __m512i {
    let x = _mm512_xor_si512(x, _mm512_srli_epi64::<30>(x));
    let x = _mm512_mullo_epi64(x, all(0xbf58_476d_1ce4_e5b9));
    let x = _mm512_xor_si512(x, _mm512_srli_epi64::<27>(x));
    let x = _mm512_mullo_epi64(x, all(0x94d0_49bb_1331_11eb));
    _mm512_xor_si512(x, _mm512_srli_epi64::<31>(x))
}

/// The other of the two places of each of eight fingerprints, among `count` places, an even number of 32 bits: the two
/// add up to the sum of the fingerprint.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn other(place: __m512i, fingerprint: __m512i, count: __m512i) -> __m512i {
    let sum = reduce(mix(fingerprint), _mm512_srli_epi64::<1>(count));
    let sum = _mm512_add_epi64(_mm512_slli_epi64::<1>(sum), all(1));
    let other = _mm512_sub_epi64(sum, place);
    _mm512_mask_add_epi64(other, _mm512_cmplt_epu64_mask(sum, place), other, count)
}
