//! The inner loops for vectors: four or eight keys walk side by side, one in each lane.
//!
//! All keys of a chunk take a step in turn. The keys that walk on then close up, so that the vectors of the next turn
//! are full. The state of a walk is the bytes of one number. Both outcomes of a step are computed for all lanes, and
//! the bits that were read choose between them. The product of a hash for the next slice is the product for this slice
//! times one of four powers of the golden ratio: one slice up or k slices back, around the ring's end or not.
//!
//! The words are read one by one with relaxed loads, as everywhere; the instruction that gathers words is slower.

use crate::blocks::lanes::for_lanes;

macro_rules! kernel {
    ($lanes:ident, $features:literal) => {
        use super::super::kernel::{self, Inserted, Kernel};
        use super::super::walks::{
            AGE, BIT, BYTE, Ended, INVERSES, PLACE, ROOM, SLICE, START, STOP, Walks, fetch_one, some, suits,
        };
        use super::super::{FOUND, GROUPS, POWERS, Slices};
        use crate::batch::ring::{self, Batch, CHUNK, GROUP};
        use crate::bits;
        use crate::blocks::$lanes::{
            Numbers, WIDTH, add, add_bytes, all, and, both, choose, either, equal, first, has, lacks, lane_bits, left,
            left_each, less, load, mix, move_bytes, multiply, multiply_halves, numbered, or, pack, pack_or_zero,
            read_words, reduce, right, store, subtract, subtract_bytes, with_top, without, xor,
        };
        use crate::kinds::age_partitioned::sizing::{MAX_HASHES, MAX_SLICES};
        use core::arch::x86_64::*;
        use core::sync::atomic::AtomicU64;

        pub(in super::super) static KERNEL: Kernel = Kernel { contains_many, insert };

        fn contains_many(slices: &Slices, words: &[AtomicU64], batch: &mut dyn Batch) {
            if batch.keys() < WIDTH || !suits(slices, words.len()) {
                return kernel::contains_many(slices, words, batch);
            }
            kernel::by_chunks(batch, |hashes| {
                let mut ended = Ended::NONE;
                // SAFETY: this kernel is given out for processors that have these instructions, and the slices suit.
                unsafe {
                    match ring::is_far(words.len()) {
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
            let is_far = ring::is_far(words.len());
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

        /// A vector's numbers from the `i`-th on.
        #[inline(always)]
        fn some_of(numbers: &mut [u64; ROOM], i: usize) -> &mut Numbers {
            some(numbers, i)
        }

        /// Prefetches the lines of a vector's words.
        #[inline(always)]
        fn fetch(words: &[AtomicU64], at: &Numbers) {
            at.iter().for_each(|word| fetch_one(words, *word));
        }

        /// Walks at most [`CHUNK`] hashes through the slices. `ended` gets the walks that found their keys, or with
        /// `LACKING` the other walks.
        ///
        /// # Safety
        /// The slices suit.
        #[target_feature(enable = $features)]
        unsafe fn walk<const FAR: bool, const LACKING: bool>(
            slices: &Slices,
            words: &[AtomicU64],
            hashes: &[u64],
            ended: &mut Ended,
        ) {
            let Slices { hashes: k, old, bits, .. } = *slices;
            let (count, youngest) = (slices.count(), slices.slice(old));
            let bits = all(bits);
            let byte = |state| and(state, all(BYTE));
            let position = |product, state| add(multiply_halves(byte(state), bits), reduce(product, bits));
            let mut walks = Walks::NONE;
            let mut going = hashes.len().min(CHUNK);

            let lanes = left(numbered(), PLACE);
            let [from, old, stop] = [youngest, old, count].map(u64::from);
            let begin = add(lanes, all(from * SLICE + old * (AGE + START) + stop * STOP));
            for i in (0..going).step_by(WIDTH) {
                let mut some = [0; WIDTH];
                some.iter_mut().zip(&hashes[i..going]).for_each(|(to, from)| *to = *from);
                let product = multiply(mix(load(&some)), all(POWERS[youngest as usize]));
                let state = add(begin, all((i as u64) << PLACE));
                let at = position(product, state);
                store(some_of(&mut walks.products, i), product);
                store(some_of(&mut walks.states, i), or(state, left(at, BIT)));
                store(some_of(&mut walks.words, i), right(at, 6));
                if FAR {
                    fetch(words, some_of(&mut walks.words, i));
                }
            }

            let (up, up_around) = (all(bits::GOLDEN), all(INVERSES[count as usize - 1]));
            let (back, back_around) = (all(INVERSES[k as usize]), all(POWERS[old as usize % MAX_SLICES]));
            let (k, count) = (u64::from(k), u64::from(count));
            // The state after a slice that lacks the bit. The byte for the start of the known run takes the place where
            // this run began. The bytes for the age and for the run's start take the age, from which the step back is
            // subtracted.
            let misses = _mm_set_epi8(15, 14, 13, 12, 10, 9, 9, 8, 7, 6, 5, 4, 2, 1, 1, 0);
            while going > 0 {
                let mut kept = 0;
                for i in (0..going).step_by(WIDTH) {
                    let there = first(going - i);
                    let (product, state) = (load(some_of(&mut walks.products, i)), load(some_of(&mut walks.states, i)));
                    let at = some_of(&mut walks.words, i);
                    // SAFETY: these are numbers of words of the slices, and the words hold all slices.
                    let word = unsafe { read_words(words, at) };
                    let bit = and(right(state, BIT), all(63));
                    let hit = has(word, left_each(all(1), bit));
                    let slice = byte(state);
                    let to_start = both(hit, equal(slice, all(count - 1)));
                    let to_end = without(less(slice, all(k)), hit);
                    let is_young = less(and(state, all(BYTE * AGE)), all(k * AGE));
                    let over = without(both(there, is_young), hit);

                    let missed = subtract_bytes(move_bytes(state, misses), all(k * (SLICE + AGE + START)));
                    let mut next = choose(hit, add(state, all(SLICE + AGE)), missed);
                    next = choose(to_start, subtract(next, all(count)), next);
                    // Only this byte changes, because the subtraction of bytes borrows nothing from the next one.
                    next = choose(to_end, add_bytes(next, all(count)), next);
                    let mut factor = choose(hit, up, back);
                    factor = choose(to_start, up_around, factor);
                    factor = choose(to_end, back_around, factor);
                    let product = multiply(product, factor);
                    let differs = xor(next, right(next, 16));
                    let found = both(both(there, hit), lacks(differs, all(BYTE * AGE)));

                    let ends = lane_bits(if LACKING { over } else { found });
                    store(some_of(&mut ended.states, ended.count), pack(ends, state));
                    if LACKING {
                        let at = or(left(load(at), 6), bit);
                        store(some_of(&mut ended.positions, ended.count), pack(ends, at));
                    }
                    ended.count += ends.count_ones() as usize;

                    // Lanes after the last walk that goes on are zeros: the first bit of the first slice.
                    let goes_on = lane_bits(without(there, either(found, over)));
                    let product = pack_or_zero(goes_on, product);
                    let state = pack_or_zero(goes_on, next);
                    let at = position(product, state);
                    let state = with_top(state, left(at, BIT));
                    store(some_of(&mut walks.products, kept), product);
                    store(some_of(&mut walks.states, kept), state);
                    store(some_of(&mut walks.words, kept), right(at, 6));
                    if FAR {
                        fetch(words, some_of(&mut walks.words, kept));
                    }
                    kept += goes_on.count_ones() as usize;
                }
                going = kept;
            }
        }

        /// How many vectors of keys ahead the lines are fetched.
        const AHEAD: usize = 16 / WIDTH;

        /// The places of some keys' bits in a slice: the words, and the bits in these words.
        #[derive(Clone, Copy)]
        #[repr(align(64))]
        struct Places {
            words: Numbers,
            masks: Numbers,
        }

        /// Sets the bits of hashes in the young slices, one hash after the other. With `ASKED`, `ends` says where the
        /// walks of these hashes ended.
        ///
        /// # Safety
        /// The slices suit.
        #[target_feature(enable = $features)]
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
                for (age, to) in places.iter_mut().enumerate() {
                    let [power, first] = powers[age];
                    let at = add(all(first), reduce(multiply(hash, all(power)), bits));
                    store(&mut to.words, right(at, 6));
                    store(&mut to.masks, left_each(all(1), and(at, all(63))));
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
                let (now, next) = (i / WIDTH % (ahead + 1), later / WIDTH % (ahead + 1));
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
    };
}

for_lanes!(kernel);
