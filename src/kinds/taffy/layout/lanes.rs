//! The inner loops for vectors: a key is a lane of four or eight, from its hash to its answer. The places of a group of
//! keys are found when its hashes come, and the group's lines are fetched while the group before it is answered.

use crate::blocks::lanes::for_lanes;

macro_rules! kernel {
    ($lanes:ident, $features:literal) => {
        use super::super::buckets::Lanes;
        use super::super::kernel::{self, Kernel};
        use super::super::{BUCKET, Full, MULTIPLIERS, Search, Segments, Shape, ones};
        use crate::batch::groups::in_turns;
        use crate::batch::ring::{self, Batch, GROUP};
        use crate::blocks::$lanes::{
            Numbers, Vector, WIDTH, add, all, and, and_not, left, load, mix, multiply_halves, multiply_small, nonzero,
            numbers, or, read_each, right, right_each, store, subtract, xor,
        };
        use core::sync::atomic::AtomicU64;

        pub(in super::super) static KERNEL: Kernel = Kernel {
            contains_many,
            // SAFETY: this kernel is given out for processors that have all of it.
            insert_new: |segments, words, hash, limit, search| unsafe {
                insert_new(segments, words, hash, limit, search)
            },
            // SAFETY: as above.
            insert_group: |segments, words, hashes, limit, search| unsafe {
                insert_group(segments, words, hashes, limit, search)
            },
            // SAFETY: as above.
            divide: |shape, segment, parts| unsafe { divide(shape, segment, parts) },
        };

        /// Plain code for one key, compiled with the instructions that find and count bits.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn insert_new(
            segments: &Segments,
            words: &mut [u64],
            hash: u64,
            limit: u64,
            search: &mut Search,
        ) -> Result<bool, Full> {
            segments.insert_new(words, hash, limit, search)
        }

        /// Plain code for a group of keys.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn insert_group(
            segments: &Segments,
            words: &mut [u64],
            hashes: &[u64],
            limit: u64,
            search: &mut Search,
        ) -> (usize, u64) {
            segments.insert_group(words, hashes, limit, search)
        }

        /// Plain code for a division.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn divide(shape: &Shape, segment: &[AtomicU64], parts: &mut [u64]) {
            shape.divide(segment, parts);
        }

        /// From this many words on (256 KiB) lines are fetched ahead: eight keys have sixteen lines, and would wait for
        /// all of them.
        const FETCH_FROM: usize = 1 << 15;

        /// Where to look for the keys of a group.
        #[repr(align(64))]
        struct Group {
            /// Each key's fingerprint and tail, as a slot of either table has them.
            wanted: [[Numbers; 2]; GROUP / WIDTH],
            /// The first bits of both buckets.
            buckets: [[Numbers; 2]; GROUP / WIDTH],
        }

        impl Group {
            const NONE: Group = {
                let none = [[[0; WIDTH]; 2]; GROUP / WIDTH];
                Group { wanted: none, buckets: none }
            };
        }

        /// Whether the kernel can read these segments: the number of a segment, its offset in words and a prefix have
        /// 32 bits, and the words hold all segments and eight bytes more.
        fn suits(segments: &Segments, words: &[AtomicU64]) -> bool {
            let Segments { shape, ref division, size } = *segments;
            let (depth, divided) = (division.extent.depth, division.marks());
            let is_dividing = !divided.is_empty();
            let most = if is_dividing { 2_usize } else { 1 };
            shape.prefix_bits() <= 32
                && depth < 31
                && size < 1 << 32
                && divided.len() == if is_dividing { (1_usize << depth).div_ceil(64) } else { 0 }
                && size.checked_mul(most << depth).is_some_and(|all| all < words.len())
        }

        fn contains_many(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
            match suits(segments, words) {
                // SAFETY: this kernel is given out for processors that have all of it, and the segments suit.
                true => unsafe { many(segments, words, batch) },
                false => kernel::contains_many(segments, words, batch),
            }
        }

        /// # Safety
        /// The segments suit.
        #[target_feature(enable = $features)]
        unsafe fn many(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
            // SAFETY: the caller promises that the segments suit.
            let find = |hashes: &_, group: &mut _| unsafe { find(segments, hashes, group) };
            // SAFETY: the caller promises that the segments suit.
            let answer = |group: &Group, i| [unsafe { answer(segments, words, group, i) }, 0];
            let alone = |_: &Group, _| false;
            let size = BUCKET * u64::from(segments.shape.width());
            let fetch = |group: &Group, i| fetch(words, group, i, size);
            match words.len() >= FETCH_FROM {
                true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, fetch, answer, alone),
                false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
            }
        }

        /// Asks for the lines of the keys of a group's `i`-th vector: those in which their buckets of `size` bits begin
        /// and end. One bucket in eight ends in another line than it begins in, and all keys would wait for that line.
        #[inline]
        fn fetch(words: &[AtomicU64], group: &Group, i: usize, size: u64) {
            for bit in group.buckets[i].as_flattened() {
                [*bit, *bit + size - 1].into_iter().for_each(|bit| ring::fetch_word(words, (bit / 64) as usize));
            }
        }

        /// Finds the places of the keys of a group ([`Segments::place`]).
        ///
        /// # Safety
        /// The segments suit.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn find(segments: &Segments, hashes: &[u64; GROUP], group: &mut Group) {
            let Segments { shape, ref division, size } = *segments;
            let (depth, divided) = (division.extent.depth, division.marks());
            let (prefix_bits, prefixes) = (shape.prefix_bits(), all(ones(shape.prefix_bits())));
            let (tails, buckets) = (all(ones(shape.tail_bits)), all(ones(shape.bucket_bits)));
            let (bucket_size, one) = (all(BUCKET * u64::from(shape.width())), all(1));
            let second = all((BUCKET * u64::from(shape.width())) << shape.bucket_bits);
            for (i, hashes) in hashes.as_chunks().0.iter().enumerate() {
                let hash = mix(load(hashes));
                let rest = right(hash, prefix_bits);
                let mut segment = and(rest, all(ones(depth)));
                let mut tail = right(rest, depth);
                if !divided.is_empty() {
                    let at = numbers(left(right(segment, 6), 3));
                    // SAFETY: as the segments suit, there is a mark for each.
                    let marks = unsafe { read_each(divided.as_ptr().cast(), &at) };
                    let mark = and(right_each(marks, and(segment, all(63))), one);
                    segment = or(segment, and(rest, left(mark, depth)));
                    tail = right_each(tail, mark);
                }
                // `Shape::place`
                let prefix = and(hash, prefixes);
                let tail = left(and(tail, tails), shape.fingerprint_bits);
                let mut permuted = prefix;
                for multiplier in MULTIPLIERS {
                    permuted = and(multiply_halves(permuted, all(multiplier)), prefixes);
                    permuted = xor(permuted, right(permuted, prefix_bits.div_ceil(2)));
                }
                let start = left(add(multiply_halves(segment, all(size as u64)), one), 6);
                for (table, (prefix, start)) in
                    [(prefix, start), (permuted, add(start, second))].into_iter().enumerate()
                {
                    store(&mut group.buckets[i][table], add(start, multiply_halves(and(prefix, buckets), bucket_size)));
                    store(&mut group.wanted[i][table], or(right(prefix, shape.bucket_bits), tail));
                }
            }
        }

        /// Whether each key of a group's `i`-th vector is there.
        ///
        /// # Safety
        /// The segments suit.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn answer(segments: &Segments, words: &[AtomicU64], asked: &Group, i: usize) -> u8 {
            let start = words.as_ptr().cast::<u8>();
            let lanes = Lanes::new(segments.shape.width());
            let (ones, highs) = (all(lanes.ones), all(lanes.highs));
            let lows = subtract(highs, ones);
            let any = |x: Vector| or(add(and(x, lows), lows), x);
            let mut found = all(0);
            for (bit, wanted) in asked.buckets[i].iter().zip(&asked.wanted[i]) {
                // What a slot wants has at most 32 bits.
                let (first, pattern) = (load(bit), multiply_small(load(wanted), ones));
                for window in 0..u64::from(lanes.windows) {
                    let bit = add(first, all(window * lanes.bits));
                    // SAFETY: as the segments suit, the words have eight bytes from any bit of a segment on.
                    let eight = unsafe { read_each(start, &numbers(right(bit, 3))) };
                    // `Lanes::has`
                    let slots = right_each(eight, and(bit, all(7)));
                    let differ = or(xor(slots, pattern), highs);
                    let upto = xor(differ, subtract(differ, ones));
                    found = or(found, and_not(any(slots), any(and_not(slots, upto))));
                }
            }
            nonzero(and(found, highs))
        }
    };
}

for_lanes!(kernel);
