//! Four 64-bit numbers in a vector of AVX2, for kernels that read each key's own places.

use super::lanes::operations;
use crate::bits::{MIX, MIX_SCATTERED};
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// Numbers of a vector.
pub const WIDTH: usize = 4;

/// Four numbers.
pub type Four = [u64; WIDTH];

/// What [`lanes`](super::lanes) names alike: numbers, a vector of them, and some lanes of a vector.
pub type Numbers = Four;
/// A vector of four numbers.
pub type Vector = __m256i;
/// Some of four lanes: all bits of these lanes are set.
pub type Mask = __m256i;

/// No lane.
// SAFETY: a vector is four numbers of any bits.
pub const NO_LANE: Mask = unsafe { core::mem::transmute([0_u64; WIDTH]) };

/// Four numbers in one cache line. Code that stores a vector and then reads the numbers one by one stores the vector
/// here: after a store into two lines the reads would wait.
#[repr(align(32))]
struct Half(Four);

/// The vector that holds this number four times.
#[inline]
#[target_feature(enable = "avx2")]
pub fn all(number: u64) -> __m256i {
    _mm256_set1_epi64x(number as i64)
}

/// The vector of four numbers.
#[inline]
#[target_feature(enable = "avx2")]
pub fn load(numbers: &Four) -> __m256i {
    // SAFETY: four numbers are 32 readable bytes.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

/// The four numbers of a vector.
#[inline]
#[target_feature(enable = "avx2")]
pub fn store(numbers: &mut Four, four: __m256i) {
    // SAFETY: four numbers are 32 bytes, which are ours.
    unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), four) }
}

/// The four numbers of a vector.
#[inline]
#[target_feature(enable = "avx2")]
pub fn numbers(four: __m256i) -> Four {
    let mut numbers = Half([0; WIDTH]);
    store(&mut numbers.0, four);
    numbers.0
}

/// A bit for each of four numbers: its highest one.
#[inline]
#[target_feature(enable = "avx2")]
pub fn signs(four: __m256i) -> u8 {
    _mm256_movemask_pd(_mm256_castsi256_pd(four)) as u8
}

operations! {
    "avx2";
    /// The sums of two vectors, lane by lane.
    add(x: Vector, y: Vector) -> Vector = _mm256_add_epi64(x, y);
    /// The differences of two vectors, lane by lane.
    subtract(x: Vector, y: Vector) -> Vector = _mm256_sub_epi64(x, y);
    /// The bits that two vectors have in common.
    and(x: Vector, y: Vector) -> Vector = _mm256_and_si256(x, y);
    /// The bits that one of two vectors has.
    or(x: Vector, y: Vector) -> Vector = _mm256_or_si256(x, y);
    /// The bits of the first vector that the second one does not have.
    and_not(x: Vector, y: Vector) -> Vector = _mm256_andnot_si256(y, x);
    /// The bits in which two vectors differ.
    xor(x: Vector, y: Vector) -> Vector = _mm256_xor_si256(x, y);
    /// Numbers, shifted to higher bits.
    left(x: Vector, by: u32) -> Vector = _mm256_sll_epi64(x, _mm_cvtsi32_si128(by as i32));
    /// Numbers, shifted to lower bits.
    right(x: Vector, by: u32) -> Vector = _mm256_srl_epi64(x, _mm_cvtsi32_si128(by as i32));
    /// Numbers, each shifted to higher bits by the number in its lane.
    left_each(x: Vector, by: Vector) -> Vector = _mm256_sllv_epi64(x, by);
    /// Numbers, each shifted to lower bits by the number in its lane.
    right_each(x: Vector, by: Vector) -> Vector = _mm256_srlv_epi64(x, by);
    /// The products of the low halves.
    multiply_halves(x: Vector, y: Vector) -> Vector = _mm256_mul_epu32(x, y);
    /// Bytes that are added to those of another vector.
    add_bytes(x: Vector, y: Vector) -> Vector = _mm256_add_epi8(x, y);
    /// Bytes that are subtracted from those of another vector.
    subtract_bytes(x: Vector, y: Vector) -> Vector = _mm256_sub_epi8(x, y);
    /// Bytes of each two lanes, as `from` says of 16 bytes.
    move_bytes(x: Vector, from: __m128i) -> Vector = _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(from));
    /// The high half of each number, in both halves.
    high_halves(x: Vector) -> Vector = _mm256_shuffle_epi32::<0b11_11_01_01>(x);
    /// Numbers with the highest 16 bits of others.
    with_top(x: Vector, top: Vector) -> Vector = _mm256_blend_epi16::<0x88>(x, top);
    /// Numbers with the low halves of others.
    with_low_halves(x: Vector, low: Vector) -> Vector = _mm256_blend_epi32::<0x55>(x, low);
    /// The numbers of the lanes: 0, 1 and so on.
    numbered() -> Vector = _mm256_set_epi64x(3, 2, 1, 0);
    /// The lanes in which a vector has none of these bits.
    lacks(x: Vector, bits: Vector) -> Mask = _mm256_cmpeq_epi64(_mm256_and_si256(x, bits), _mm256_setzero_si256());
    /// The lanes in which a vector has a bit, one in each lane.
    has(x: Vector, bit: Vector) -> Mask = _mm256_cmpeq_epi64(_mm256_and_si256(x, bit), bit);
    /// Whether any lane of a vector has any of these bits.
    has_any(x: Vector, bits: Vector) -> bool = _mm256_testz_si256(x, bits) == 0;
    /// The lanes in which two vectors are equal.
    equal(x: Vector, y: Vector) -> Mask = _mm256_cmpeq_epi64(x, y);
    /// The lanes in which the first of two numbers is less. Both are below 2^63.
    less(x: Vector, y: Vector) -> Mask = _mm256_cmpgt_epi64(y, x);
    /// The lesser of two numbers in each lane. Both are below 2^63.
    min(x: Vector, y: Vector) -> Vector = choose(less(y, x), y, x);
    /// The greater of two numbers in each lane. Both are below 2^63.
    max(x: Vector, y: Vector) -> Vector = choose(less(x, y), y, x);
    /// A bit for each lane that is not 0.
    nonzero(x: Vector) -> u8 = signs(_mm256_cmpeq_epi64(x, _mm256_setzero_si256())) ^ 0xf;
    /// The lanes whose highest bit is set.
    negative(x: Vector) -> Mask = _mm256_cmpgt_epi64(_mm256_setzero_si256(), x);
    /// The lanes of numbers from 0 on that are less than others, which are below 2^63. Numbers from 2^63 on are below
    /// 0.
    within(x: Vector, limit: Vector) -> Mask = without(less(x, limit), negative(x));
    /// The lanes of both masks.
    both(x: Mask, y: Mask) -> Mask = _mm256_and_si256(x, y);
    /// The lanes of one of two masks.
    either(x: Mask, y: Mask) -> Mask = _mm256_or_si256(x, y);
    /// The lanes of the first mask that the second one does not have.
    without(x: Mask, y: Mask) -> Mask = _mm256_andnot_si256(y, x);
    /// Numbers of `yes` in the lanes of a mask, and of `no` in the others.
    choose(mask: Mask, yes: Vector, no: Vector) -> Vector = _mm256_blendv_epi8(no, yes, mask);
    /// Numbers in the lanes of a mask, and zeros in the others.
    keep(mask: Mask, x: Vector) -> Vector = _mm256_and_si256(mask, x);
    /// Zeros in the lanes of a mask, and numbers in the others.
    clear(mask: Mask, x: Vector) -> Vector = _mm256_andnot_si256(mask, x);
    /// The first lanes; all of them, if there are no more.
    first(lanes: usize) -> Mask = less(numbered(), all(lanes as u64));
    /// A bit for each lane of a mask.
    lane_bits(mask: Mask) -> u8 = signs(mask);
    /// As [`pack`], with zeros in the lanes after the packed ones.
    pack_or_zero(mask: u8, x: Vector) -> Vector = _mm256_and_si256(pack(mask, x), first(mask.count_ones() as usize));
}

/// Words at these places, which other threads may be changing. Each has its own load, because the instruction that
/// gathers them takes longer.
///
/// # Safety
/// The places are among the words.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn read_words(words: &[AtomicU64], at: &Numbers) -> Vector {
    // SAFETY: the places are among the words, as the safety section asks.
    let read = |i: usize| unsafe { words.get_unchecked(at[i] as usize) }.load(Ordering::Relaxed) as i64;
    _mm256_set_epi64x(read(3), read(2), read(1), read(0))
}

/// For each choice of four lanes, where the halves of the lanes go that are chosen. The chosen lanes come first.
static CHOSEN: [[u32; 8]; 16] = {
    let (mut chosen, mut choice) = ([[0; 8]; 16], 0);
    while choice < 16 {
        let (mut lane, mut to) = (0, 0);
        while lane < 4 {
            if choice >> lane & 1 == 1 {
                chosen[choice][to] = 2 * lane;
                chosen[choice][to + 1] = 2 * lane + 1;
                to += 2;
            }
            lane += 1;
        }
        choice += 1;
    }
    chosen
};

/// The numbers whose bit is set in the mask, one after the other. The lanes after them have any of the four.
#[inline]
#[target_feature(enable = "avx2")]
pub fn pack(mask: u8, four: __m256i) -> __m256i {
    // SAFETY: eight numbers of 32 bits are 32 readable bytes.
    let chosen = unsafe { _mm256_loadu_si256(CHOSEN[usize::from(mask % 16)].as_ptr().cast()) };
    _mm256_permutevar8x32_epi32(four, chosen)
}

/// The eight bytes from each of four places on. Each has its own load, because the instruction that gathers them takes
/// longer.
///
/// # Safety
/// Eight bytes are readable from each of these places after the start on.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn read_each(start: *const u8, at: &Four) -> __m256i {
    // SAFETY: the caller promises that eight bytes are readable from each of these places after the start on.
    let read = |i: usize| unsafe { start.add(at[i] as usize).cast::<i64>().read_unaligned() };
    _mm256_set_epi64x(read(3), read(2), read(1), read(0))
}

/// The eight bytes from each of four places on, and the eight after these.
///
/// # Safety
/// Sixteen bytes are readable from each of these places after the start on.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn read_pairs(start: *const u8, at: &Four) -> [__m256i; 2] {
    // SAFETY: the caller promises that sixteen bytes are readable from each of these places after the start on.
    let read = |i: usize| unsafe { _mm_loadu_si128(start.add(at[i] as usize).cast()) };
    let (even, odd) = (_mm256_set_m128i(read(2), read(0)), _mm256_set_m128i(read(3), read(1)));
    [_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)]
}

/// The low halves of the products of four numbers with four others. AVX2 has products of 32 bits only.
#[inline]
#[target_feature(enable = "avx2")]
pub fn multiply(x: __m256i, y: __m256i) -> __m256i {
    let crossed = _mm256_add_epi64(
        _mm256_mul_epu32(x, _mm256_srli_epi64::<32>(y)),
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), y),
    );
    _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64::<32>(crossed))
}

/// As [`multiply`], of four numbers of 32 bits with four others.
#[inline]
#[target_feature(enable = "avx2")]
pub fn multiply_small(x: __m256i, y: __m256i) -> __m256i {
    let crossed = _mm256_mul_epu32(x, _mm256_srli_epi64::<32>(y));
    _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64::<32>(crossed))
}

/// What [`reduce`](crate::bits::reduce) makes of each of four numbers, for ranges of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
pub fn reduce(x: __m256i, range: __m256i) -> __m256i {
    let low = _mm256_srli_epi64::<32>(_mm256_mul_epu32(x, range));
    let high = _mm256_mul_epu32(_mm256_srli_epi64::<32>(x), range);
    _mm256_srli_epi64::<32>(_mm256_add_epi64(high, low))
}

/// How many bits are set in each of four numbers.
#[inline]
#[target_feature(enable = "avx2")]
pub fn count_ones(x: __m256i) -> __m256i {
    let of_four = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    let mask = _mm256_set1_epi8(15);
    let low = _mm256_shuffle_epi8(of_four, _mm256_and_si256(x, mask));
    let high = _mm256_shuffle_epi8(of_four, _mm256_and_si256(_mm256_srli_epi64::<4>(x), mask));
    _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256())
}

/// How many bits there are in each of four numbers up to the highest set one, inclusive.
#[inline]
#[target_feature(enable = "avx2,lzcnt")]
pub fn lengths(x: __m256i) -> __m256i {
    let mut lengths = numbers(x);
    for length in &mut lengths {
        *length = u64::from(length.leading_zeros());
    }
    _mm256_sub_epi64(all(64), load(&lengths))
}

/// What [`mix`](crate::bits::mix) makes of each of four numbers.
#[inline]
#[target_feature(enable = "avx2")]
pub fn mix(x: __m256i) -> __m256i {
    mixed(multiply(_mm256_xor_si256(x, _mm256_srli_epi64::<30>(x)), all(MIX)))
}

/// The rest of [`mix`], after its first product.
#[inline]
#[target_feature(enable = "avx2")]
fn mixed(x: __m256i) -> __m256i {
    let x = multiply(_mm256_xor_si256(x, _mm256_srli_epi64::<27>(x)), all(MIX_SCATTERED));
    _mm256_xor_si256(x, _mm256_srli_epi64::<31>(x))
}

/// The other of the two places of each of four fingerprints, among `count` places, an even number of 32 bits: the two
/// add up to the sum of the fingerprint.
#[inline]
#[target_feature(enable = "avx2")]
pub fn other(place: __m256i, fingerprint: __m256i, count: __m256i) -> __m256i {
    let mix = mixed(multiply_small(_mm256_xor_si256(fingerprint, _mm256_srli_epi64::<30>(fingerprint)), all(MIX)));
    let sum = reduce(mix, _mm256_srli_epi64::<1>(count));
    let sum = _mm256_add_epi64(_mm256_slli_epi64::<1>(sum), all(1));
    let other = _mm256_sub_epi64(sum, place);
    // Numbers are far below 2^63, so a signed comparison compares them rightly.
    _mm256_add_epi64(other, _mm256_and_si256(_mm256_cmpgt_epi64(place, sum), count))
}
