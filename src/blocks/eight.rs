//! Eight 64-bit numbers in a vector of AVX-512, for kernels that read each key's own places.

use super::lanes::operations;
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// Keys of a vector.
pub const WIDTH: usize = 8;

/// Eight numbers.
pub type Eight = [u64; WIDTH];

/// What [`lanes`](super::lanes) names alike: numbers, a vector of them, and some lanes of a vector.
pub type Numbers = Eight;
/// A vector of eight numbers.
pub type Vector = __m512i;
/// Some of eight lanes: a bit each.
pub type Mask = u8;

/// No lane.
pub const NO_LANE: Mask = 0;

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

operations! {
    "avx512f,avx512bw,avx512dq,avx512vl";
    /// The sums of two vectors, lane by lane.
    add(x: Vector, y: Vector) -> Vector = _mm512_add_epi64(x, y);
    /// The differences of two vectors, lane by lane.
    subtract(x: Vector, y: Vector) -> Vector = _mm512_sub_epi64(x, y);
    /// The bits that two vectors have in common.
    and(x: Vector, y: Vector) -> Vector = _mm512_and_si512(x, y);
    /// The bits that one of two vectors has.
    or(x: Vector, y: Vector) -> Vector = _mm512_or_si512(x, y);
    /// The bits of the first vector that the second one does not have.
    and_not(x: Vector, y: Vector) -> Vector = _mm512_andnot_si512(y, x);
    /// The bits in which two vectors differ.
    xor(x: Vector, y: Vector) -> Vector = _mm512_xor_si512(x, y);
    /// Numbers, shifted to higher bits.
    left(x: Vector, by: u32) -> Vector = _mm512_sll_epi64(x, _mm_cvtsi32_si128(by as i32));
    /// Numbers, shifted to lower bits.
    right(x: Vector, by: u32) -> Vector = _mm512_srl_epi64(x, _mm_cvtsi32_si128(by as i32));
    /// Numbers, each shifted to higher bits by the number in its lane.
    left_each(x: Vector, by: Vector) -> Vector = _mm512_sllv_epi64(x, by);
    /// Numbers, each shifted to lower bits by the number in its lane.
    right_each(x: Vector, by: Vector) -> Vector = _mm512_srlv_epi64(x, by);
    /// The low halves of the products.
    multiply(x: Vector, y: Vector) -> Vector = _mm512_mullo_epi64(x, y);
    /// As [`multiply`], of numbers of 32 bits with others: AVX2 has it in fewer steps.
    multiply_small(x: Vector, y: Vector) -> Vector = multiply(x, y);
    /// The products of the low halves.
    multiply_halves(x: Vector, y: Vector) -> Vector = _mm512_mul_epu32(x, y);
    /// Bytes that are added to those of another vector.
    add_bytes(x: Vector, y: Vector) -> Vector = _mm512_add_epi8(x, y);
    /// Bytes that are subtracted from those of another vector.
    subtract_bytes(x: Vector, y: Vector) -> Vector = _mm512_sub_epi8(x, y);
    /// Bytes of each two lanes, as `from` says of 16 bytes.
    move_bytes(x: Vector, from: __m128i) -> Vector = _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(from));
    /// The high half of each number, in both halves.
    high_halves(x: Vector) -> Vector = _mm512_shuffle_epi32::<0b11_11_01_01>(x);
    /// Numbers with the highest 16 bits of others.
    with_top(x: Vector, top: Vector) -> Vector = _mm512_mask_blend_epi16(0x8888_8888, x, top);
    /// Numbers with the low halves of others.
    with_low_halves(x: Vector, low: Vector) -> Vector = _mm512_mask_blend_epi32(0x5555, x, low);
    /// The numbers of the lanes: 0, 1 and so on.
    numbered() -> Vector = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    /// The lanes in which a vector has none of these bits.
    lacks(x: Vector, bits: Vector) -> Mask = _mm512_testn_epi64_mask(x, bits);
    /// The lanes in which a vector has a bit, one in each lane.
    has(x: Vector, bit: Vector) -> Mask = _mm512_test_epi64_mask(x, bit);
    /// Whether any lane of a vector has any of these bits.
    has_any(x: Vector, bits: Vector) -> bool = _mm512_test_epi64_mask(x, bits) != 0;
    /// The lanes in which two vectors are equal.
    equal(x: Vector, y: Vector) -> Mask = _mm512_cmpeq_epi64_mask(x, y);
    /// The lanes in which the first of two numbers is less. Both are below 2^63.
    less(x: Vector, y: Vector) -> Mask = _mm512_cmplt_epu64_mask(x, y);
    /// The lesser of two numbers in each lane. Both are below 2^63.
    min(x: Vector, y: Vector) -> Vector = _mm512_min_epu64(x, y);
    /// The greater of two numbers in each lane. Both are below 2^63.
    max(x: Vector, y: Vector) -> Vector = _mm512_max_epu64(x, y);
    /// A bit for each lane that is not 0.
    nonzero(x: Vector) -> u8 = _mm512_test_epi64_mask(x, x);
    /// The lanes whose highest bit is set.
    negative(x: Vector) -> Mask = _mm512_movepi64_mask(x);
    /// The lanes of numbers from 0 on that are less than others, which are below 2^63. Numbers from 2^63 on are below
    /// 0.
    within(x: Vector, limit: Vector) -> Mask = less(x, limit);
    /// The lanes of both masks.
    both(x: Mask, y: Mask) -> Mask = x & y;
    /// The lanes of one of two masks.
    either(x: Mask, y: Mask) -> Mask = x | y;
    /// The lanes of the first mask that the second one does not have.
    without(x: Mask, y: Mask) -> Mask = x & !y;
    /// Numbers of `yes` in the lanes of a mask, and of `no` in the others.
    choose(mask: Mask, yes: Vector, no: Vector) -> Vector = _mm512_mask_mov_epi64(no, mask, yes);
    /// Numbers in the lanes of a mask, and zeros in the others.
    keep(mask: Mask, x: Vector) -> Vector = _mm512_maskz_mov_epi64(mask, x);
    /// Zeros in the lanes of a mask, and numbers in the others.
    clear(mask: Mask, x: Vector) -> Vector = _mm512_maskz_mov_epi64(!mask, x);
    /// The first lanes; all of them, if there are no more.
    first(lanes: usize) -> Mask = if lanes < WIDTH { (1 << lanes) - 1 } else { u8::MAX };
    /// A bit for each lane of a mask.
    lane_bits(mask: Mask) -> u8 = mask;
    /// The numbers whose bit is set in the mask, one after the other. Zeros are in the lanes after them.
    pack(mask: u8, x: Vector) -> Vector = _mm512_maskz_compress_epi64(mask, x);
    /// As [`pack`].
    pack_or_zero(mask: u8, x: Vector) -> Vector = pack(mask, x);
}

/// Words at these places, which other threads may be changing. Each has its own load, because the instruction that
/// gathers them takes longer.
///
/// # Safety
/// The places are among the words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub unsafe fn read_words(words: &[AtomicU64], at: &Numbers) -> Vector {
    // SAFETY: the places are among the words, as the safety section asks.
    let read = |i: usize| unsafe { words.get_unchecked(at[i] as usize) }.load(Ordering::Relaxed) as i64;
    _mm512_set_epi64(read(7), read(6), read(5), read(4), read(3), read(2), read(1), read(0))
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

/// How many bits are set in each of eight numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn count_ones(x: __m512i) -> __m512i {
    let of_four = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    let mask = _mm512_set1_epi8(15);
    let low = _mm512_shuffle_epi8(of_four, _mm512_and_si512(x, mask));
    let high = _mm512_shuffle_epi8(of_four, _mm512_and_si512(_mm512_srli_epi64::<4>(x), mask));
    _mm512_sad_epu8(_mm512_add_epi8(low, high), _mm512_setzero_si512())
}

/// How many bits there are in each of eight numbers up to the highest set one, inclusive. The exponent of the number as
/// a floating-point number gives that. The bit below the highest is cleared first, so that nothing rounds the number
/// up.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub fn lengths(x: __m512i) -> __m512i {
    let x = _mm512_andnot_si512(_mm512_srli_epi64::<1>(x), x);
    let exponent = _mm512_srli_epi64::<52>(_mm512_castpd_si512(_mm512_cvtepu64_pd(x)));
    _mm512_subs_epu16(exponent, all(1022))
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
