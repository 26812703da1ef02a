//! The inner loops for AVX-512. Keys are found eight to a vector. The slots of a row are read a whole vector of bytes
//! at a time, and the coefficients mask them byte by byte. Then the parities of the bytes become a mask, a bit a byte.

use super::array::{Array, Row};
use super::kernel::{Group, Kernel, SOME};
use super::metadata::BUCKETS;
use super::portable;
use super::query::{self, GROUP_OF};
use super::row::{Coefficients, WIDE_MIX};
use crate::batch::ring::GROUP;
use crate::bits::{GOLDEN, MIX, MIX_SCATTERED};
use crate::blocks::eight::{numbers, read_each};
use core::arch::x86_64::*;

/// The inner loops for AVX-512. These loops are given out for processors that have AVX-512.
pub(super) fn kernel<C: Coefficients>() -> Kernel<C> {
    Kernel {
        // SAFETY: the processor has AVX-512 F, BW, DQ and VL.
        one: |array, row, first| unsafe { one(array, row, first) },
        // SAFETY: the same.
        some: |array, asked, from, first| unsafe { some(array, asked, from, first) },
        // SAFETY: the same.
        find_hashes: |array, hashes, found, from| unsafe { find_hashes(array, hashes, found, from) },
        // SAFETY: the same.
        find_ordered: |array, ordered, found, from| unsafe { find_ordered(array, ordered, found, from) },
        // SAFETY: the same.
        find_ids: |array, ids, found, from| unsafe { find_ids(array, ids, found, from) },
    }
}

/// A vector with the number in all eight places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn all(number: u64) -> __m512i {
    _mm512_set1_epi64(number as i64)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn load_eight(numbers: &[u64; SOME]) -> __m512i {
    // SAFETY: eight numbers are 64 readable bytes.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn store(numbers: &mut [u64], eight: __m512i) {
    let Some(numbers) = numbers.first_chunk_mut::<SOME>() else { return };
    // SAFETY: eight numbers are 64 bytes, which are ours.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), eight) }
}

/// A bit for each byte: whether the byte has an odd number of ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn parities(bytes: __m512i) -> u64 {
    // The low half of each byte becomes the exclusive or of its two halves. The table needs zeros above that.
    let low = _mm512_set1_epi8(0x0f);
    let halves = _mm512_ternarylogic_epi64::<0x28>(bytes, _mm512_srli_epi16::<4>(bytes), low);
    let odd = _mm512_set4_epi32(0x0001_0100, 0x0100_0001, 0x0100_0001, 0x0001_0100);
    let parities = _mm512_shuffle_epi8(odd, halves);
    _mm512_test_epi8_mask(parities, parities)
}

/// [`Kernel::one`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn one<C: Coefficients>(array: &Array, row: &Row<C>, first: u32) -> u64 {
    let columns = array.shape().columns();
    let Some(bytes) = array.bytes_of(row, size_of::<u64>() as u64) else { return portable::one(array, row, first) };
    let (low, last) = row.coefficients.moved(row.shift);
    if columns <= 8 {
        let width = columns as usize;
        // SAFETY: a word is readable at each group.
        let slots = unsafe { bytes.add((C::GROUPS - 1) * width).cast::<u64>().read_unaligned() };
        let slots = slots & query::mask(last) & query::columns(width);
        let mut sum = _mm512_zextsi128_si512(_mm_cvtsi64_si128(slots as i64));
        let (groups_of, eight) = (load_table(&GROUP_OF[width - 1]), u64::MAX >> (64 - 8 * columns));
        for (i, low) in low.iter().take(C::GROUPS / 8).enumerate() {
            // SAFETY: eight groups are readable, of `width` bytes each; masked bytes are not read.
            let slots = unsafe { _mm512_maskz_loadu_epi8(eight, bytes.add(8 * i * width).cast()) };
            let masks = _mm512_shuffle_epi8(all(*low), groups_of);
            // This is `sum ^ (slots & masks)`.
            sum = _mm512_ternarylogic_epi64::<0x78>(sum, slots, masks);
        }
        return query::fold(parities(sum), columns);
    }
    let length = (columns - first).min(64);
    let mut sum = _mm512_setzero_si512();
    for group in 0..C::GROUPS {
        let mask = if group < C::GROUPS - 1 { (low[group / 8] >> (8 * (group % 8))) as u8 } else { last };
        // SAFETY: all groups of a row are readable, of as many bytes as there are columns; masked bytes are not read.
        let slots = unsafe {
            let column = bytes.add(group * columns as usize + first as usize);
            _mm512_maskz_loadu_epi8(u64::MAX >> (64 - length), column.cast())
        };
        sum = _mm512_ternarylogic_epi64::<0x78>(sum, slots, _mm512_set1_epi8(mask as i8));
    }
    parities(sum)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn load_table(table: &[u8; 64]) -> __m512i {
    // SAFETY: 64 readable bytes.
    unsafe { _mm512_loadu_si512(table.as_ptr().cast()) }
}

/// [`Kernel::some`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn some<C: Coefficients>(array: &Array, asked: &Group<C>, from: usize, first: u32) -> [u64; SOME] {
    if let Some(bits) = some_of_few_columns(array, asked, from) {
        return bits;
    }
    let mut bits = [0; SOME];
    for (i, bits) in bits.iter_mut().enumerate() {
        *bits = one(array, &asked.row(from + i), first);
    }
    bits
}

/// [`some`] for at most eight columns, if the words hold all rows: most of the work is done for all eight rows
/// together.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn some_of_few_columns<C: Coefficients>(array: &Array, asked: &Group<C>, from: usize) -> Option<[u64; SOME]> {
    let columns = array.shape().columns();
    let length = C::GROUPS as u64 * u64::from(columns) + size_of::<u64>() as u64;
    let end = (array.words().len() as u64 * 8).checked_sub(length)?;
    if columns > 8 || asked.bytes[from..from + SOME].iter().any(|byte| *byte > end) {
        return None;
    }
    let words = array.words().as_ptr().cast::<u8>();
    let (groups_of, eight) = (load_table(&GROUP_OF[columns as usize - 1]), u64::MAX >> (64 - 8 * columns));
    let (mut bits, mut last_slots, mut last_masks) = ([0; SOME], [0; SOME], [0; SOME]);
    for i in 0..SOME {
        let row = asked.row(from + i);
        let (low, last) = row.coefficients.moved(row.shift);
        let mut sum = _mm512_setzero_si512();
        for (j, low) in low.iter().take(C::GROUPS / 8).enumerate() {
            // SAFETY: a row begins at `end` or before, so its groups are readable; masked bytes are not read.
            let slots = unsafe {
                let group = words.add(row.byte as usize + 8 * j * columns as usize);
                _mm512_maskz_loadu_epi8(eight, group.cast())
            };
            // This is `sum ^ (slots & masks)`.
            sum = _mm512_ternarylogic_epi64::<0x78>(sum, slots, _mm512_shuffle_epi8(all(*low), groups_of));
        }
        bits[i] = parities(sum);
        // SAFETY: as above, with a word at each group.
        last_slots[i] =
            unsafe { words.add(row.byte as usize + (C::GROUPS - 1) * columns as usize).cast::<u64>().read_unaligned() };
        last_masks[i] = last.into();
    }
    // This is `query::fold`, and then come the last groups.
    let mut folded = load_eight(&bits);
    for by in [4 * columns, 2 * columns, columns] {
        folded = _mm512_xor_si512(folded, _mm512_srlv_epi64(folded, all(by.into())));
    }
    let low_bytes = _mm512_set4_epi64(0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808, 0);
    let last_masks = _mm512_shuffle_epi8(load_eight(&last_masks), low_bytes);
    let last_bits = parities(_mm512_and_si512(load_eight(&last_slots), last_masks));
    let last_bits = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(last_bits as i64));
    store(&mut bits, _mm512_xor_si512(folded, last_bits));
    Some(bits)
}

/// [`Kernel::find_hashes`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn find_hashes<C: Coefficients>(array: &Array, hashes: &[u64; GROUP], found: &mut Group<C>, from: usize) {
    if !suits(array) {
        return portable::find_hashes(array, hashes, found, from);
    }
    // `order`
    let hashes = hashes[from..].first_chunk().copied().unwrap_or_default();
    find_scattered(array, half_mixed::<30, 27>(load_eight(&hashes), MIX), found, from);
}

/// [`Kernel::find_ordered`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn find_ordered<C: Coefficients>(array: &Array, ordered: &[u64; GROUP], found: &mut Group<C>, from: usize) {
    if !suits(array) {
        return portable::find_ordered(array, ordered, found, from);
    }
    find_scattered(array, load_eight(&ordered[from..].first_chunk().copied().unwrap_or_default()), found, from);
}

/// [`find`] for hashes: `z` follows from `x`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn find_scattered<C: Coefficients>(array: &Array, x: __m512i, found: &mut Group<C>, from: usize) {
    // `scatter`
    find(array, x, half_mixed::<0, 31>(x, MIX_SCATTERED), found, from);
}

/// [`Kernel::find_ids`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn find_ids<C: Coefficients>(array: &Array, ids: &[u128; GROUP], found: &mut Group<C>, from: usize) {
    if !suits(array) {
        return portable::find_ids(array, ids, found, from);
    }
    let (mut low, mut high) = ([0; SOME], [0; SOME]);
    for (i, id) in ids[from..from + SOME].iter().enumerate() {
        (low[i], high[i]) = (*id as u64, (*id >> 64) as u64);
    }
    let (low, x) = (load_eight(&low), load_eight(&high));
    // `values::scatter`
    let z = mixed(_mm512_xor_si512(low, mixed(x)));
    find(array, x, z, found, from);
}

/// `bits::mix`
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn mixed(x: __m512i) -> __m512i {
    half_mixed::<0, 31>(half_mixed::<30, 27>(x, MIX), MIX_SCATTERED)
}

/// Multiplies `x ^ x >> BEFORE`, or x if `BEFORE` is 0, by a number; of that product y returns `y ^ y >> AFTER`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn half_mixed<const BEFORE: u32, const AFTER: u32>(mut x: __m512i, number: u64) -> __m512i {
    if BEFORE > 0 {
        x = _mm512_xor_si512(x, _mm512_srli_epi64::<BEFORE>(x));
    }
    let x = _mm512_mullo_epi64(x, all(number));
    _mm512_xor_si512(x, _mm512_srli_epi64::<AFTER>(x))
}

/// Whether the words hold everything that comes before the slots, and eight bytes after any of it.
#[inline]
fn suits(array: &Array) -> bool {
    array.shape().shards() > 0 && array.shape().begin().saturating_add(8) <= array.words().len() as u64 * 8
}

/// Finds the rows of eight keys by their `x` and `z`. The array has to suit ([`suits`]).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn find<C: Coefficients>(array: &Array, x: __m512i, z: __m512i, found: &mut Group<C>, from: usize) {
    assert!(suits(array));
    let shape = array.shape();
    let words = array.words().as_ptr();
    let shards = all(shape.shards());
    // This is `place`. The multiplications take the low halves of their operands: shards, starts, strides and columns
    // have 32 bits.
    let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(x, shards));
    let place = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64::<32>(x), shards), low);
    let shard = _mm512_srli_epi64::<32>(place);
    let later = _mm512_cmpneq_epi64_mask(shard, all(0));
    let before = _mm512_sub_epi64(shard, all(1));
    let begin = match shape.shards() {
        1 => all(shape.begin()),
        // SAFETY: the shard of a place is less than the number of shards. Each shard but the first has a word before
        // the sizes, and nothing is read for the first.
        _ => unsafe { _mm512_mask_i64gather_epi64::<8>(all(shape.begin()), later, before, words.cast()) },
    };
    let start = _mm512_srli_epi64::<32>(_mm512_mul_epu32(place, all(shape.starts())));
    let bucket = _mm512_srl_epi64(start, _mm_cvtsi32_si128(C::SIZES.bucket_bits as i32));
    let of_shard = _mm512_add_epi64(all(shape.metadata()), _mm512_mul_epu32(shard, all(shape.stride())));
    let metadata = _mm512_add_epi64(of_shard, _mm512_srli_epi64::<{ BUCKETS.ilog2() }>(bucket));
    // SAFETY: a start is less than the shape's, so that the metadata of its bucket lies before the slots; the array
    // suits, so there are eight bytes from there on.
    let metadata = unsafe { read_each(words.cast(), &numbers(metadata)) };
    let place_in_byte = _mm512_slli_epi64::<1>(_mm512_and_si512(bucket, all(BUCKETS - 1)));
    let threshold = _mm512_and_si512(_mm512_srlv_epi64(metadata, place_in_byte), all(3));
    // A class is not bumped if its places come before the first place of the threshold's class.
    let [second, third] = C::SIZES.classes.map(i64::from);
    let limits = _mm512_setr_epi64(0, second, third, i64::MAX, 0, second, third, i64::MAX);
    let from_end = _mm512_andnot_si512(start, all((1 << C::SIZES.bucket_bits) - 1));
    let mut bumped = _mm512_cmpge_epi64_mask(from_end, _mm512_permutexvar_epi64(threshold, limits));

    let columns = all(shape.columns().into());
    let byte = _mm512_add_epi64(begin, _mm512_mul_epu32(_mm512_srli_epi64::<3>(start), columns));
    store(&mut found.bytes[from..], byte);
    store(&mut found.shifts[from..], _mm512_and_si512(start, all(7)));
    store(&mut found.checks[from..], _mm512_srli_epi64::<32>(_mm512_mullo_epi64(z, all(GOLDEN))));
    // `Coefficients::of`
    let first = _mm512_or_si512(z, all(1));
    let coefficients = &mut found.coefficients[from..from + SOME];
    if C::WIDTH == 64 {
        // SAFETY: eight coefficients of 64 bits are 64 bytes, which are ours.
        unsafe { _mm512_storeu_si512(coefficients.as_mut_ptr().cast(), first) };
    } else {
        let high = half_mixed::<0, 32>(z, WIDE_MIX);
        let halves = [_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15)];
        for (i, half) in halves.into_iter().enumerate() {
            // SAFETY: eight coefficients of 128 bits are 128 bytes, which are ours.
            unsafe {
                let to = coefficients.as_mut_ptr().cast::<u64>().add(8 * i);
                _mm512_storeu_si512(to.cast(), _mm512_permutex2var_epi64(first, half, high));
            }
        }
    }
    if bumped != 0 {
        let mut keys = [[0; SOME]; 4];
        keys.iter_mut().zip([shard, begin, x, z]).for_each(|(to, from)| store(to, from));
        while bumped != 0 {
            let i = bumped.trailing_zeros() as usize;
            let [shard, begin, x, z] = &keys;
            found.set_row(from + i, &array.find_bumped(shard[i], begin[i], x[i], z[i]));
            bumped &= bumped - 1;
        }
    }
}
