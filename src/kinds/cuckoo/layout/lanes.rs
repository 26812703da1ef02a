//! The inner loops for processors with vectors of four or eight numbers. In lookups of batches a key is a lane, from
//! its hash to its answer. That needs buckets that lie within eight bytes wherever they begin. The places of a group of
//! keys are found when its hashes come, and its lines are fetched while the previous group is answered.

use crate::blocks::lanes::for_lanes;

macro_rules! kernel {
    ($lanes:ident, $features:literal) => {
        use super::super::kernel::{self, Any, Four, Kernel, Shape};
        use super::super::{Buckets, Search, portable};
        use crate::batch::groups::{hashes_of, in_one_turn, in_turns};
        use crate::batch::ring::{self, Batch, Few, GROUP};
        use crate::bits::GOLDEN;
        use crate::blocks::fingerprint_table::Inserted;
        use crate::blocks::$lanes::{
            Numbers, WIDTH, add, all, and, and_not, left, load, min, multiply, multiply_halves, multiply_small,
            nonzero, numbers, or, other, read_each, reduce, right, right_each, store, subtract, xor,
        };
        use crate::simd::Instructions;
        use core::sync::atomic::AtomicU64;

        /// The kernels: for any buckets, and for those of four fingerprints of 8, 12 and 16 bits.
        pub(in super::super) static KERNELS: [Kernel; 4] =
            [kernel::<Any>(), kernel::<Four<8>>(), kernel::<Four<12>>(), kernel::<Four<16>>()];

        const fn kernel<S: Shape>() -> Kernel {
            Kernel {
                // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT.
                contains: |buckets, words, hash| unsafe { contains::<S>(buckets, words, hash) },
                contains_many: contains_many::<S>,
                contains_few: contains_few::<S>,
                // SAFETY: as above.
                insert: |buckets, words, hash, search| unsafe { insert::<S>(buckets, words, hash, search) },
                // SAFETY: as above.
                insert_many: |buckets, words, batch, search| unsafe { insert_many::<S>(buckets, words, batch, search) },
            }
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn contains<S: Shape>(buckets: &Buckets, words: &[AtomicU64], hash: u64) -> bool {
            kernel::contains::<S>(buckets, words, hash)
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn insert<S: Shape>(buckets: &Buckets, words: &mut [u64], hash: u64, search: &mut Search) -> Option<bool> {
            kernel::insert::<S>(buckets, words, hash, search)
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn insert_many<S: Shape>(
            buckets: &Buckets,
            words: &mut [u64],
            batch: &mut dyn Batch,
            search: &mut Search,
        ) -> Inserted {
            kernel::insert_many::<S>(buckets, words, batch, search)
        }

        /// Where to find the keys of a group.
        #[repr(align(64))]
        struct Group {
            fingerprints: [Numbers; GROUP / WIDTH],
            /// The first bits of both buckets.
            buckets: [[Numbers; 2]; GROUP / WIDTH],
        }

        impl Group {
            const NONE: Group =
                Group { fingerprints: [[0; WIDTH]; GROUP / WIDTH], buckets: [[[0; WIDTH]; 2]; GROUP / WIDTH] };
        }

        /// Whether the kernel can read these buckets: a bucket's number has 32 bits, and all of a bucket lies in the
        /// eight bytes from the byte in which it begins.
        fn suits(buckets: &Buckets, words: &[AtomicU64]) -> bool {
            buckets.is_narrow && buckets.count < 1 << 32 && buckets.bits() <= words.len() as u64 * 64
        }

        fn contains_many<S: Shape>(buckets: &Buckets, words: &[AtomicU64], batch: &mut dyn Batch) {
            match suits(buckets, words) {
                // SAFETY: this kernel is given out for processors that have these instructions, and the buckets suit.
                true => unsafe { many(buckets, words, batch) },
                false => portable::contains_many::<S>(buckets, words, batch),
            }
        }

        fn contains_few<S: Shape>(
            buckets: &Buckets,
            words: &[AtomicU64],
            instructions: Instructions,
            few: &Few,
        ) -> u64 {
            if !suits(buckets, words) {
                return portable::contains_few::<S>(buckets, words, instructions, few);
            }
            let (hashes, count) = hashes_of(few, instructions);
            // SAFETY: as in `contains_many`.
            unsafe { one_turn(buckets, words, &hashes, count) }
        }

        /// # Safety
        /// The buckets suit.
        #[target_feature(enable = $features)]
        unsafe fn many(buckets: &Buckets, words: &[AtomicU64], batch: &mut dyn Batch) {
            let find = |hashes: &_, group: &mut _| find(buckets, hashes, group);
            let fetch = |group: &Group, i| fetch(words, group, i);
            // SAFETY: the caller promises that the buckets suit.
            let answer = |group: &Group, i| [unsafe { answer(buckets, words, group, i) }, 0];
            let alone = |_: &Group, _| false;
            match ring::is_far(words.len()) {
                true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, fetch, answer, alone),
                false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
            }
        }

        /// # Safety
        /// The buckets suit.
        #[target_feature(enable = $features)]
        unsafe fn one_turn(buckets: &Buckets, words: &[AtomicU64], hashes: &[u64; GROUP], count: usize) -> u64 {
            let find = |hashes: &_, group: &mut _| find(buckets, hashes, group);
            let fetch = |group: &Group, i| {
                if ring::is_far(words.len()) {
                    fetch(words, group, i);
                }
            };
            // SAFETY: the caller promises that the buckets suit.
            let answer = |group: &Group, i| [unsafe { answer(buckets, words, group, i) }, 0];
            let alone = |_: &Group, _| false;
            in_one_turn::<WIDTH, _>(Group::NONE, hashes, count, find, fetch, answer, alone)
        }

        /// Prefetches the lines of the keys of a group's `i`-th vector.
        #[inline]
        fn fetch(words: &[AtomicU64], group: &Group, i: usize) {
            let bits = group.buckets[i].as_flattened();
            bits.iter().for_each(|bit| ring::fetch_word(words, (*bit / 64) as usize));
        }

        /// Finds the places of the keys of a group ([`Buckets::place`]).
        #[inline]
        #[target_feature(enable = $features)]
        fn find(buckets: &Buckets, hashes: &[u64; GROUP], group: &mut Group) {
            let (count, size) = (all(buckets.count), all(buckets.size));
            let (one, greatest, golden) = (all(1), all(buckets.greatest), all(GOLDEN));
            for (i, hashes) in hashes.as_chunks().0.iter().enumerate() {
                let hash = load(hashes);
                let fingerprint = add(reduce(multiply(hash, golden), greatest), one);
                let first = reduce(hash, count);
                let second = other(first, fingerprint, count);
                store(&mut group.fingerprints[i], fingerprint);
                store(&mut group.buckets[i][0], multiply_halves(first, size));
                store(&mut group.buckets[i][1], multiply_halves(second, size));
            }
        }

        /// Whether each key of a group's `i`-th vector is there.
        ///
        /// # Safety
        /// The buckets suit.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn answer(buckets: &Buckets, words: &[AtomicU64], asked: &Group, i: usize) -> u8 {
            let start = words.as_ptr().cast::<u8>();
            let last = all((words.len() as u64 * 8).saturating_sub(8));
            let (lows, highs) = (all(buckets.lows), all(buckets.highs));
            // A fingerprint has at most 32 bits.
            let pattern = multiply_small(load(&asked.fingerprints[i]), all(buckets.ones));
            let mut found = all(0);
            for bit in &asked.buckets[i] {
                let bit = load(bit);
                let byte = min(right(bit, 3), last);
                // SAFETY: the buckets suit, so the words are not empty. Eight bytes are readable from any byte up to
                // `last`.
                let eight = unsafe { read_each(start, &numbers(byte)) };
                let window = right_each(eight, subtract(bit, left(byte, 3)));
                // `Buckets::zeros`
                let window = xor(window, pattern);
                let carried = add(and(window, lows), lows);
                found = or(found, and_not(highs, or(carried, window)));
            }
            nonzero(found)
        }
    };
}

for_lanes!(kernel);
