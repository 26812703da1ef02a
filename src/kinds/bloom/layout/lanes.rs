//! Batches of the derivation `remix` for vectors: four or eight keys are one vector.
//!
//! A lookup takes a group of keys through rounds of two probes. After each round the keys whose bits were all set move
//! to the front, and the next round tests only these. In a filter at its capacity, where half of the bits are set, a
//! quarter of the absent keys is left after a round. So an absent key costs little more than two probes, and no branch
//! guesses whether a key goes on. After a round that most keys survive, one round tests all other probes.
//!
//! In a filter that is larger than the caches, the lines of the first round are fetched while the group before is
//! answered, and those of the other rounds as soon as it is known which keys go on. A group waits for all lines of a
//! round together.
//!
//! An insertion computes one probe of a vector's keys at a time, and then sets their bits one by one.

use crate::blocks::lanes::for_lanes;

macro_rules! kernel {
    ($lanes:ident, $features:literal) => {
        use super::super::kernel::{AT_ONCE, Kernel, MOST_ASKED, NUMBERS, POWERS, suits};
        use crate::batch::ring::{self, Batch, GROUP};
        use crate::bits::GOLDEN;
        use crate::blocks::$lanes::{
            Mask, Numbers, Vector, WIDTH, add, all, and, choose, first, lacks, lane_bits, left, left_each, load,
            multiply, numbers, or, pack, read_words, reduce, right, store, without,
        };
        use crate::blocks::{ScatteredBits, ScatteredKernel};
        use core::sync::atomic::AtomicU64;

        pub(in super::super) static KERNEL: Kernel = Kernel {
            contains_bits: contains_many::<1>,
            contains_counters: contains_many::<4>,
            insert: insert_many,
            single: ScatteredKernel { put: put_one, ..*ScatteredKernel::PORTABLE },
        };

        /// [`Kernel::contains_bits`], or with `BITS` = 4 [`Kernel::contains_counters`].
        fn contains_many<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], batch: &mut dyn Batch) {
            assert!(suits(bits, BITS, words.len()));
            // SAFETY: this kernel is given out for processors that have these instructions, and the words suit.
            unsafe {
                match ring::is_very_far(words.len()) {
                    true => look_up_far::<BITS>(bits, words, batch),
                    false => look_up::<BITS>(bits, words, batch),
                }
            }
        }

        fn insert_many(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
            assert!(suits(bits, 1, words.len()));
            // SAFETY: this kernel is given out for processors that have these instructions, and the words suit.
            unsafe { if batch.is_asked() { insert_asked(bits, words, batch) } else { insert(bits, words, batch) } }
        }

        fn put_one(bits: &ScatteredBits, words: &mut [u64], hash: u64) -> bool {
            assert!(bits.hashes <= AT_ONCE && suits(bits, 1, words.len()));
            // SAFETY: this kernel is given out for processors that have these instructions, and the words suit.
            unsafe { put(bits, words, hash) }
            false
        }

        /// The keys of a group that are still undecided: what their next probe comes from, and which keys they are.
        /// Vectors are stored whole, so there must be room after the last key.
        #[repr(align(64))]
        struct Left {
            hashes: [Numbers; GROUP / WIDTH + 1],
            keys: [Numbers; GROUP / WIDTH + 1],
        }

        /// How many probes the first round of a lookup has, if keys have that many.
        const PROBES: u32 = 2;

        /// How many probes a round has at most if the lines are fetched before.
        const MOST_TOGETHER: usize = 6;

        /// The positions of the keys of a group: for each probe of a round, a vector for each few keys.
        #[repr(align(64))]
        struct Round([[Numbers; GROUP / WIDTH]; MOST_TOGETHER]);

        impl Round {
            const EMPTY: Round = Round([[[0; WIDTH]; GROUP / WIDTH]; MOST_TOGETHER]);
        }

        /// Positions of the keys of a vector: one vector for each probe.
        #[repr(align(64))]
        struct Positions([Numbers; MOST_ASKED]);

        /// Positions of the probes of one key, in one cache line: after a store into two lines the reads would wait.
        #[repr(align(64))]
        struct Probes([Numbers; AT_ONCE as usize / WIDTH]);

        /// The numbers of a group's keys.
        const KEYS: [Numbers; GROUP / WIDTH + 1] = {
            let (mut keys, mut i) = ([[0; WIDTH]; GROUP / WIDTH + 1], 0);
            while i < GROUP {
                keys[i / WIDTH][i % WIDTH] = i as u64;
                i += 1;
            }
            keys
        };

        /// The positions of a probe of the keys of a vector, in the slice that begins at `start`.
        #[inline]
        #[target_feature(enable = $features)]
        fn positions(bits: &ScatteredBits, start: u64, hashes: Vector) -> Vector {
            add(reduce(hashes, all(bits.range)), all(start))
        }

        /// The hashes of the keys of a vector for the next probe.
        #[inline]
        #[target_feature(enable = $features)]
        fn next(hashes: Vector) -> Vector {
            multiply(hashes, all(GOLDEN))
        }

        /// The lanes whose bit is not set, or whose counter is 0.
        ///
        /// # Safety
        /// The positions are among the words.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn unset<const BITS: u32>(words: &[AtomicU64], positions: Vector) -> Mask {
            // A counter's number of bits is a power of two.
            let positions = left(positions, BITS.trailing_zeros());
            // SAFETY: the positions are among the words, as the safety section asks.
            let read = unsafe { read_words(words, &numbers(right(positions, 6))) };
            lacks(read, left_each(all((1 << BITS) - 1), and(positions, all(63))))
        }

        /// # Safety
        /// The words suit ([`suits`]).
        #[target_feature(enable = $features)]
        unsafe fn look_up<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], batch: &mut dyn Batch) {
            let mut hashes = [0; GROUP];
            let mut left = Left { hashes: [[0; WIDTH]; GROUP / WIDTH + 1], keys: KEYS };
            loop {
                let count = batch.next(&mut hashes);
                if count == 0 {
                    return;
                }
                left.hashes.as_flattened_mut()[..GROUP].copy_from_slice(&hashes);
                left.keys = KEYS;
                // SAFETY: the words suit, as the safety section asks.
                batch.answer(unsafe { group::<BITS>(bits, words, &mut left, count) }, count);
            }
        }

        /// Takes a group through its rounds. Bit i of the result says whether all bits of key i are set.
        ///
        /// # Safety
        /// The words suit ([`suits`]).
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn group<const BITS: u32>(
            bits: &ScatteredBits,
            words: &[AtomicU64],
            left: &mut Left,
            mut count: usize,
        ) -> u64 {
            let (mut probe, mut probes, mut start) = (0, PROBES, 0);
            while probe < bits.hashes && count > 0 {
                let (mut from, mut kept) = (0, 0);
                while from < count {
                    let mut hashes = load(&left.hashes[from / WIDTH]);
                    // SAFETY: a position is below the end of its slice, and the words suit, as the safety section asks.
                    let unset_ones = unsafe { unset::<BITS>(words, positions(bits, start, hashes)) };
                    let mut set = without(first(count - from), unset_ones);
                    hashes = next(hashes);
                    if probe + 1 < bits.hashes {
                        let at = positions(bits, start + bits.stride, hashes);
                        // SAFETY: as above.
                        set = without(set, unsafe { unset::<BITS>(words, at) });
                        hashes = next(hashes);
                    }
                    for slice in 2..probes {
                        let at = positions(bits, start + u64::from(slice) * bits.stride, hashes);
                        // SAFETY: as above.
                        set = without(set, unsafe { unset::<BITS>(words, at) });
                        hashes = next(hashes);
                    }
                    kept = keep(left, from, kept, set, hashes);
                    from += WIDTH;
                }
                start += u64::from(probes) * bits.stride;
                probe += probes;
                if most(kept, count) {
                    probes = bits.hashes - probe.min(bits.hashes);
                }
                count = kept;
            }
            answers(left, count)
        }

        /// [`look_up`] in words that are not in the caches. While a group waits for the lines of a round, the lines of
        /// the next group's first round come too.
        ///
        /// # Safety
        /// The words suit ([`suits`]).
        #[target_feature(enable = $features)]
        unsafe fn look_up_far<const BITS: u32>(bits: &ScatteredBits, words: &[AtomicU64], batch: &mut dyn Batch) {
            let mut hashes = [0; GROUP];
            let mut left = Left { hashes: [[0; WIDTH]; GROUP / WIDTH + 1], keys: KEYS };
            let (mut first_round, mut round) = (Round::EMPTY, Round::EMPTY);
            let mut count = batch.next(&mut hashes);
            let probes = PROBES.min(bits.hashes);
            fetch::<BITS>(bits, words, hashes.as_chunks_mut().0, count, (0, probes), &mut first_round);
            while count > 0 {
                left.hashes.as_flattened_mut()[..GROUP].copy_from_slice(&hashes);
                left.keys = KEYS;
                // SAFETY: these are positions of `fetch`, and the words suit, as the safety section asks.
                let mut kept = unsafe { test::<BITS>(words, &mut left, count, probes, &first_round) };
                let more = if count == GROUP { batch.next(&mut hashes) } else { 0 };
                fetch::<BITS>(bits, words, hashes.as_chunks_mut().0, more, (0, probes), &mut first_round);
                let (mut probe, mut before) = (probes, count);
                while probe < bits.hashes && kept > 0 {
                    let together = if most(kept, before) { MOST_TOGETHER as u32 } else { PROBES };
                    let probes = together.min(bits.hashes - probe);
                    fetch::<BITS>(bits, words, &mut left.hashes, kept, (probe, probes), &mut round);
                    before = kept;
                    // SAFETY: as above.
                    kept = unsafe { test::<BITS>(words, &mut left, kept, probes, &round) };
                    probe += probes;
                }
                batch.answer(answers(&left, kept), count);
                count = more;
            }
        }

        /// Fetches the lines of some probes of keys: (the first of them, how many). Writes their positions into the
        /// round, and leaves the hashes as the probes after them need them.
        #[inline]
        #[target_feature(enable = $features)]
        fn fetch<const BITS: u32>(
            bits: &ScatteredBits,
            words: &[AtomicU64],
            hashes: &mut [Numbers],
            count: usize,
            (probe, probes): (u32, u32),
            round: &mut Round,
        ) {
            let start = u64::from(probe) * bits.stride;
            for (i, some) in hashes.iter_mut().enumerate().take(count.div_ceil(WIDTH)) {
                let mut hashes = load(some);
                for (slice, round) in (0..).zip(&mut round.0[..probes as usize]) {
                    let at = &mut round[i % (GROUP / WIDTH)];
                    store(at, positions(bits, start + slice * bits.stride, hashes));
                    for position in at.iter().take(count - i * WIDTH) {
                        ring::fetch_word(words, ((position << BITS.trailing_zeros()) / 64) as usize);
                    }
                    hashes = next(hashes);
                }
                store(some, hashes);
            }
        }

        /// Moves the keys whose probes of a round are all set to the front, and returns how many these are.
        ///
        /// # Safety
        /// The positions of the round are among the words.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn test<const BITS: u32>(
            words: &[AtomicU64],
            left: &mut Left,
            count: usize,
            probes: u32,
            round: &Round,
        ) -> usize {
            let mut kept = 0;
            for from in (0..count).step_by(WIDTH) {
                let mut set = first(count - from);
                for positions in &round.0[..probes as usize] {
                    // SAFETY: the positions are among the words, as the safety section asks.
                    set = without(set, unsafe { unset::<BITS>(words, load(&positions[from / WIDTH])) });
                }
                let hashes = load(&left.hashes[from / WIDTH]);
                kept = keep(left, from, kept, set, hashes);
            }
            kept
        }

        /// Whether more than three quarters of a round's keys were kept. Then most of them seem to be there, and one
        /// round tests all other probes.
        fn most(kept: usize, count: usize) -> bool {
            kept * 4 > count * 3
        }

        /// A bit for each key that is left.
        #[inline]
        #[target_feature(enable = $features)]
        fn answers(left: &Left, count: usize) -> u64 {
            let mut answers = all(0);
            for from in (0..count).step_by(WIDTH) {
                let bits = left_each(all(1), load(&left.keys[from / WIDTH]));
                answers = or(answers, choose(first(count - from), bits, all(0)));
            }
            numbers(answers).iter().fold(0, |answers, lane| answers | lane)
        }

        /// Keeps those keys of a vector, which begins at `from`, that are in a mask: they move to the place `kept`, and
        /// `hashes` become theirs. Returns how many keys are kept then. These are no more than were looked at, so
        /// nothing that is still needed is overwritten.
        #[inline]
        #[target_feature(enable = $features)]
        fn keep(left: &mut Left, from: usize, kept: usize, set: Mask, hashes: Vector) -> usize {
            let (set, keys) = (lane_bits(set), load(&left.keys[from / WIDTH]));
            put_packed(&mut left.hashes, kept, set, hashes);
            put_packed(&mut left.keys, kept, set, keys);
            kept + set.count_ones() as usize
        }

        /// Writes those of a vector's numbers that are in the mask, one after the other, from the place `at` on.
        #[inline]
        #[target_feature(enable = $features)]
        fn put_packed(numbers: &mut [Numbers], at: usize, mask: u8, vector: Vector) {
            if let Some(place) = numbers.as_flattened_mut().get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                store(place, pack(mask, vector));
            }
        }

        /// # Safety
        /// The words suit ([`suits`]).
        #[target_feature(enable = $features)]
        unsafe fn insert(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
            let mut hashes = [0; GROUP];
            loop {
                let count = batch.next(&mut hashes);
                if count == 0 {
                    return;
                }
                for (i, some) in hashes.as_chunks().0.iter().enumerate().take(count.div_ceil(WIDTH)) {
                    let (mut hashes, mut start, lanes) = (load(some), 0, WIDTH.min(count - i * WIDTH));
                    for _ in 0..bits.hashes {
                        for position in &numbers(positions(bits, start, hashes))[..lanes] {
                            // SAFETY: a position is below the end of its slice, and the words suit.
                            *unsafe { words.get_unchecked_mut((position / 64) as usize) } |= 1 << (position % 64);
                        }
                        hashes = next(hashes);
                        start += bits.stride;
                    }
                }
                batch.answer(0, count);
            }
        }

        /// As `insert`, with answers: whether a bit of a key was not set. The positions of the keys of a vector are
        /// computed first, and then the keys go one by one, so that a key which comes twice is new once.
        ///
        /// # Safety
        /// The words suit ([`suits`]).
        #[target_feature(enable = $features)]
        unsafe fn insert_asked(bits: &ScatteredBits, words: &mut [u64], batch: &mut dyn Batch) {
            let (mut hashes, mut at) = ([0; GROUP], Positions([[0; WIDTH]; MOST_ASKED]));
            let at = &mut at.0[..bits.hashes as usize];
            loop {
                let count = batch.next(&mut hashes);
                if count == 0 {
                    return;
                }
                let mut answers = 0;
                for (i, some) in hashes.as_chunks().0.iter().enumerate().take(count.div_ceil(WIDTH)) {
                    let (mut hashes, mut start) = (load(some), 0);
                    for at in &mut *at {
                        store(at, positions(bits, start, hashes));
                        hashes = next(hashes);
                        start += bits.stride;
                    }
                    for lane in 0..WIDTH.min(count - i * WIDTH) {
                        let mut were_set = 1;
                        for at in &*at {
                            let position = at[lane];
                            // SAFETY: a position is below the end of its slice, and the words suit.
                            let word = unsafe { words.get_unchecked_mut((position / 64) as usize) };
                            were_set &= *word >> (position % 64);
                            *word |= 1 << (position % 64);
                        }
                        answers |= (!were_set & 1) << (i * WIDTH + lane);
                    }
                }
                batch.answer(answers, count);
            }
        }

        /// Sets the bits of one key, whose probes are a vector or two.
        ///
        /// # Safety
        /// The words suit ([`suits`]).
        #[target_feature(enable = $features)]
        unsafe fn put(bits: &ScatteredBits, words: &mut [u64], hash: u64) {
            let mut at = Probes([[0; WIDTH]; AT_ONCE as usize / WIDTH]);
            let lanes = POWERS.as_chunks().0.iter().zip(NUMBERS.as_chunks().0);
            for (at, (powers, probes)) in at.0.iter_mut().zip(lanes) {
                let mut positions = reduce(multiply(all(hash), load(powers)), all(bits.range));
                if bits.stride > 0 {
                    // All slices together may have more than 2^32 bits.
                    positions = add(positions, multiply(load(probes), all(bits.stride)));
                }
                store(at, positions);
            }
            for position in at.0.as_flattened().iter().take(bits.hashes as usize) {
                // SAFETY: a position is below the end of its slice, and the words suit, as the safety section asks.
                *unsafe { words.get_unchecked_mut((position / 64) as usize) } |= 1 << (position % 64);
            }
        }
    };
}

for_lanes!(kernel);
