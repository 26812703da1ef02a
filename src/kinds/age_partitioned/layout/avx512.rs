//! The inner loops for processors with AVX-512: eight keys walk side by side, one in each lane.
//!
//! All keys of a chunk take a step in turn. The keys that walk on then close up, so that the vectors of the next turn
//! are full. The state of a walk is the bytes of one number. Both outcomes of a step are computed for all lanes, and
//! the bits that were read choose between them. The product of a hash for the next slice is the product for this slice
//! times one of four powers of the golden ratio: one slice up or k slices back, around the ring's end or not.
//!
//! The words are read one by one with relaxed loads, as everywhere; the instruction that gathers words is slower.

use super::kernel::{self, Inserted, Kernel};
use super::walks::{
    AGE, ASKED_FETCH_FROM, BIT, BYTE, Ended, INVERSES, PLACE, ROOM, SLICE, START, STOP, Walks, fetch_one, some, suits,
};
use super::{FOUND, GROUPS, POWERS, Slices};
use crate::batch::ring::{self, Batch, CHUNK, GROUP};
use crate::bits;
use crate::blocks::eight::{Eight, WIDTH, all, load, mix, reduce, store};
use crate::kinds::age_partitioned::sizing::{MAX_HASHES, MAX_SLICES};
use core::arch::x86_64::*;
use core::sync::atomic::{AtomicU64, Ordering};

/// The kernel for AVX-512.
pub(super) static KERNEL: Kernel = Kernel { contains_many, insert };

fn contains_many(slices: &Slices, words: &[AtomicU64], batch: &mut dyn Batch) {
    if batch.keys() < WIDTH || !suits(slices, words.len()) {
        return kernel::contains_many(slices, words, batch);
    }
    kernel::by_chunks(batch, |hashes| {
        let mut ended = Ended::NONE;
        // SAFETY: this kernel is given out for processors that have AVX-512 F, BW, DQ and VL, BMI1, BMI2, LZCNT and
        // POPCNT, and the slices suit.
        unsafe {
            match words.len() >= ring::FETCH_FROM {
                true => walk::<true, false>(slices, words, hashes, &mut ended),
                false => walk::<false, false>(slices, words, hashes, &mut ended),
            }
        }
        let mut found = [0; GROUPS];
        for state in &ended.states[..ended.count] {
            let place = (state >> PLACE) as usize % CHUNK;
            found[place / GROUP] |= 1 << (place % GROUP);
        }
        found
    });
}

fn insert(slices: &Slices, words: &mut [u64], hashes: &[u64], is_asked: bool) -> Inserted {
    if !(WIDTH..=CHUNK).contains(&hashes.len()) || !suits(slices, words.len()) {
        return kernel::insert(slices, words, hashes, is_asked);
    }
    let is_far = words.len() >= if is_asked { ASKED_FETCH_FROM } else { ring::FETCH_FROM };
    let mut ends = [FOUND; CHUNK];
    if is_asked {
        let mut ended = Ended::NONE;
        let words = kernel::as_shared(words);
        // SAFETY: as above.
        unsafe {
            match is_far {
                true => walk::<true, true>(slices, words, hashes, &mut ended),
                false => walk::<false, true>(slices, words, hashes, &mut ended),
            }
        }
        for (state, position) in ended.states.iter().zip(ended.positions).take(ended.count) {
            ends[(state >> PLACE) as usize % CHUNK] = position;
        }
    }
    // SAFETY: as above.
    unsafe {
        match (is_far, is_asked) {
            (true, true) => set::<true, true>(slices, words, hashes, &ends),
            (true, false) => set::<true, false>(slices, words, hashes, &ends),
            (false, true) => set::<false, true>(slices, words, hashes, &ends),
            (false, false) => set::<false, false>(slices, words, hashes, &ends),
        }
    }
}

/// Eight numbers from the `i`-th on.
#[inline(always)]
fn eight(numbers: &mut [u64; ROOM], i: usize) -> &mut Eight {
    some(numbers, i)
}

/// Prefetches the lines of eight words.
#[inline(always)]
fn fetch(words: &[AtomicU64], at: &Eight) {
    at.iter().for_each(|word| fetch_one(words, *word));
}

/// Walks at most [`CHUNK`] hashes through the slices. `ended` gets the walks that found their keys, or with `LACKING`
/// the other walks.
///
/// # Safety
/// The slices suit.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn walk<const FAR: bool, const LACKING: bool>(
    slices: &Slices,
    words: &[AtomicU64],
    hashes: &[u64],
    ended: &mut Ended,
) {
    let Slices { hashes: k, old, bits, .. } = *slices;
    let (count, first) = (slices.count(), slices.slice(old));
    let bits = all(bits);
    let byte = |state| _mm512_and_si512(state, all(BYTE));
    let position = |product, state| _mm512_add_epi64(_mm512_mul_epu32(byte(state), bits), reduce(product, bits));
    let mut walks = Walks::NONE;
    let mut left = hashes.len().min(CHUNK);

    let lanes = _mm512_slli_epi64::<PLACE>(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    let [from, old, stop] = [first, old, count].map(u64::from);
    let begin = _mm512_add_epi64(lanes, all(from * SLICE + old * (AGE + START) + stop * STOP));
    for i in (0..left).step_by(WIDTH) {
        let mut some = [0; WIDTH];
        some.iter_mut().zip(&hashes[i..left]).for_each(|(to, from)| *to = *from);
        let product = _mm512_mullo_epi64(mix(load(&some)), all(POWERS[first as usize]));
        let state = _mm512_add_epi64(begin, all((i as u64) << PLACE));
        let at = position(product, state);
        store(eight(&mut walks.products, i), product);
        store(eight(&mut walks.states, i), _mm512_or_si512(state, _mm512_slli_epi64::<BIT>(at)));
        store(eight(&mut walks.words, i), _mm512_srli_epi64::<6>(at));
        if FAR {
            fetch(words, eight(&mut walks.words, i));
        }
    }

    let (up, up_around) = (all(bits::GOLDEN), all(INVERSES[count as usize - 1]));
    let (back, back_around) = (all(INVERSES[k as usize]), all(POWERS[old as usize % MAX_SLICES]));
    let (k, count) = (u64::from(k), u64::from(count));
    // The state after a slice that lacks the bit. The byte for the start of the known run takes the place where this
    // run began. The bytes for the age and for the run's start take the age, from which the step back is subtracted.
    let misses = _mm512_broadcast_i32x4(_mm_set_epi8(15, 14, 13, 12, 10, 9, 9, 8, 7, 6, 5, 4, 2, 1, 1, 0));
    while left > 0 {
        let mut kept = 0;
        for i in (0..left).step_by(WIDTH) {
            let there = if left - i < WIDTH { (1_u8 << (left - i)) - 1 } else { u8::MAX };
            let (product, state) = (load(eight(&mut walks.products, i)), load(eight(&mut walks.states, i)));
            let at = eight(&mut walks.words, i);
            // SAFETY: these are numbers of words of the slices, and the words hold all slices.
            let read = |lane: usize| unsafe { words.get_unchecked(at[lane] as usize).load(Ordering::Relaxed) as i64 };
            let word = _mm512_set_epi64(read(7), read(6), read(5), read(4), read(3), read(2), read(1), read(0));
            let bit = _mm512_and_si512(_mm512_srli_epi64::<BIT>(state), all(63));
            let hit = _mm512_test_epi64_mask(word, _mm512_sllv_epi64(all(1), bit));
            let slice = byte(state);
            let to_start = _mm512_mask_cmpeq_epi64_mask(hit, slice, all(count - 1));
            let to_end = _mm512_mask_cmplt_epu64_mask(!hit, slice, all(k));
            let over =
                _mm512_mask_cmplt_epu64_mask(there & !hit, _mm512_and_si512(state, all(BYTE * AGE)), all(k * AGE));

            let missed = _mm512_sub_epi8(_mm512_shuffle_epi8(state, misses), all(k * (SLICE + AGE + START)));
            let mut next = _mm512_mask_add_epi64(missed, hit, state, all(SLICE + AGE));
            next = _mm512_mask_sub_epi64(next, to_start, next, all(count));
            // Only this byte changes, because the subtraction of bytes borrows nothing from the next one.
            next = _mm512_mask_mov_epi64(next, to_end, _mm512_add_epi8(next, all(count)));
            let mut factor = _mm512_mask_mov_epi64(back, hit, up);
            factor = _mm512_mask_mov_epi64(factor, to_start, up_around);
            factor = _mm512_mask_mov_epi64(factor, to_end, back_around);
            let product = _mm512_mullo_epi64(product, factor);
            let differs = _mm512_xor_si512(next, _mm512_srli_epi64::<16>(next));
            let found = _mm512_mask_testn_epi64_mask(there & hit, differs, all(BYTE * AGE));

            let ends = if LACKING { over } else { found };
            store(eight(&mut ended.states, ended.count), _mm512_maskz_compress_epi64(ends, state));
            if LACKING {
                let at = _mm512_or_si512(_mm512_slli_epi64::<6>(load(at)), bit);
                store(eight(&mut ended.positions, ended.count), _mm512_maskz_compress_epi64(ends, at));
            }
            ended.count += ends.count_ones() as usize;

            // Lanes after the last walk that goes on are zeros, which stand for the first bit of the first slice.
            let goes_on = there & !(found | over);
            let product = _mm512_maskz_compress_epi64(goes_on, product);
            let state = _mm512_maskz_compress_epi64(goes_on, next);
            let at = position(product, state);
            let low = _mm512_slli_epi64::<BIT>(at);
            let state = _mm512_mask_blend_epi16(0x8888_8888, state, low);
            store(eight(&mut walks.products, kept), product);
            store(eight(&mut walks.states, kept), state);
            store(eight(&mut walks.words, kept), _mm512_srli_epi64::<6>(at));
            if FAR {
                fetch(words, eight(&mut walks.words, kept));
            }
            kept += goes_on.count_ones() as usize;
        }
        left = kept;
    }
}

/// How many vectors of keys ahead the lines are fetched.
const AHEAD: usize = 2;

/// The places of eight keys' bits in a slice: the words, and the bits in these words.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Places {
    words: Eight,
    masks: Eight,
}

/// Sets the bits of hashes in the young slices, one hash after the other. With `ASKED`, `ends` says where the walks of
/// these hashes ended.
///
/// # Safety
/// The slices suit.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn set<const FAR: bool, const ASKED: bool>(
    slices: &Slices,
    words: &mut [u64],
    hashes: &[u64],
    ends: &[u64; CHUNK],
) -> Inserted {
    let (bits, young) = (all(slices.bits), slices.hashes as usize);
    let mut powers = [[0; 2]; MAX_HASHES as usize];
    for (age, power) in (0..slices.hashes).zip(&mut powers) {
        let slice = slices.slice(age);
        *power = [POWERS[slice as usize], u64::from(slice) * slices.bits];
    }
    let find = |i: usize, places: &mut [Places]| {
        let mut some = [0; WIDTH];
        some.iter_mut().zip(&hashes[i..]).for_each(|(to, from)| *to = *from);
        let hash = mix(load(&some));
        for (to, [power, first]) in places.iter_mut().zip(&powers) {
            let at = _mm512_add_epi64(all(*first), reduce(_mm512_mullo_epi64(hash, all(*power)), bits));
            store(&mut to.words, _mm512_srli_epi64::<6>(at));
            store(&mut to.masks, _mm512_sllv_epi64(all(1), _mm512_and_si512(at, all(63))));
        }
    };
    let mut inserted = Inserted::default();
    let mut places = [[Places { words: [0; WIDTH], masks: [0; WIDTH] }; MAX_HASHES as usize]; AHEAD + 1];
    let ahead = if FAR { AHEAD } else { 0 };
    for i in (0..ahead * WIDTH).step_by(WIDTH).take_while(|i| *i < hashes.len()) {
        let places = &mut places[i / WIDTH][..young];
        find(i, places);
        let words = kernel::as_shared(words);
        places.iter().for_each(|place| fetch(words, &place.words));
    }
    for i in (0..hashes.len()).step_by(WIDTH) {
        let later = i + ahead * WIDTH;
        let [now, next] = [i, later].map(|i| i / WIDTH % (ahead + 1));
        if later < hashes.len() {
            find(later, &mut places[next][..young]);
        }
        let mut new = 0;
        for (lane, hash) in hashes[i..].iter().take(WIDTH).enumerate() {
            if ASKED {
                new |= u64::from(kernel::is_new(slices, words, ends[(i + lane) % CHUNK], *hash)) << lane;
            }
            let mut missing = 0;
            for place in &places[now][..young] {
                let mask = place.masks[lane];
                // SAFETY: this is the word of a bit of the slices, and the words hold all slices.
                let word = unsafe { words.get_unchecked_mut(place.words[lane] as usize) };
                missing |= mask & !*word;
                *word |= mask;
            }
            inserted.changed += u64::from(missing != 0);
            if FAR {
                let words = kernel::as_shared(words);
                for place in &places[next][..young] {
                    fetch_one(words, place.words[lane]);
                }
            }
        }
        if ASKED {
            inserted.new[i / GROUP % GROUPS] |= new << (i % GROUP);
        }
    }
    inserted
}
