//! The inner loops for processors with vectors, which also find and count bits in one instruction.
//!
//! Four or eight keys of a batch are one vector, as in [`crate::blocks::runs`]. The vector computes the whole way of a
//! key, whether the key's slot has a run or not. The few keys whose run lies in an unusual way are answered one by one.

use crate::blocks::lanes::for_lanes;

macro_rules! kernel {
    ($lanes:ident, $features:literal) => {
        use super::super::kernel::{self, Kernel, Segments};
        use super::super::{AFTER, Shape, ones};
        use crate::batch::groups::in_turns;
        use crate::batch::ring::{self, Batch, GROUP};
        use crate::bits;
        use crate::blocks::runs::$lanes::{Runs, Widths};
        use crate::blocks::runs::{Full, HEAD};
        use crate::blocks::select::Select;
        use crate::blocks::$lanes::{
            Mask, NO_LANE, Numbers, Vector, WIDTH, add, all, and, and_not, choose, equal, has, lane_bits, left, load,
            mix, multiply_halves, multiply_small, numbers, or, read_each, right, right_each, store, subtract, xor,
        };
        use core::sync::atomic::AtomicU64;

        pub(in super::super) const fn kernel<S: Select>() -> Kernel {
            Kernel {
                contains_many: contains_many::<S>,
                // SAFETY: this kernel is given out for processors that have BMI1, BMI2, LZCNT and POPCNT.
                contains: |shape, words, slot, tail| unsafe { contains::<S>(shape, words, slot, tail) },
                // SAFETY: as above.
                insert: |shape, words, number, times| unsafe { insert::<S>(shape, words, number, times) },
                // SAFETY: as above.
                remove: |shape, words, number| unsafe { remove::<S>(shape, words, number) },
            }
        }

        /// The least number of words (32 KiB) for which lines are fetched ahead, as for lookups in a quotient filter.
        const FETCH_FROM: usize = 1 << 12;

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn contains<S: Select>(shape: &Shape, words: &[AtomicU64], slot: u64, tail: u64) -> bool {
            kernel::contains::<S>(shape, words, slot, tail)
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn insert<S: Select>(shape: &Shape, words: &mut [u64], number: u64, times: u64) -> Result<bool, Full> {
            kernel::insert::<S>(shape, words, number, times)
        }

        #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
        fn remove<S: Select>(shape: &Shape, words: &mut [u64], number: u64) -> u64 {
            kernel::remove::<S>(shape, words, number)
        }

        /// Where to find the keys of a group.
        #[repr(align(64))]
        struct Group {
            hashes: [u64; GROUP],
            slots: [Numbers; GROUP / WIDTH],
            /// The fingerprint bits of each key's hash, repeated in every lane of the eight bytes.
            patterns: [Numbers; GROUP / WIDTH],
            /// The first bytes of the slots' blocks.
            blocks: [Numbers; GROUP / WIDTH],
            nexts: [Numbers; GROUP / WIDTH],
            /// Which keys are in segments that were divided.
            divided: [Mask; GROUP / WIDTH],
        }

        impl Group {
            const NONE: Group = {
                let none = [[0; WIDTH]; GROUP / WIDTH];
                let divided = [NO_LANE; GROUP / WIDTH];
                Group { hashes: [0; GROUP], slots: none, patterns: none, blocks: none, nexts: none, divided }
            };
        }

        /// Whether the kernel can read these segments: a segment's number and its offset in bytes have 32 bits, and the
        /// words hold all segments, each with a line after its blocks.
        fn suits(segments: &Segments, words: &[AtomicU64]) -> bool {
            let Segments { shapes, depth, divided, size } = *segments;
            let is_dividing = !divided.is_empty();
            let most = if is_dividing { 2_usize } else { 1 };
            shapes[0].slot_bits == shapes[1].slot_bits
                && shapes.iter().all(|shape| shape.words() <= size && shape.slot_bits < 32)
                && depth < 31
                && size < 1 << 29
                && divided.len() == if is_dividing { (1_usize << depth).div_ceil(64) } else { 0 }
                && size.checked_mul(most << depth).is_some_and(|all| all <= words.len())
        }

        fn contains_many<S: Select>(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) -> bool {
            let suits = suits(segments, words);
            if suits {
                // SAFETY: this kernel is given out for processors that have all of it, and the segments suit.
                unsafe { many::<S>(segments, words, batch) };
            }
            suits
        }

        /// # Safety
        /// The segments suit.
        #[target_feature(enable = $features)]
        unsafe fn many<S: Select>(segments: &Segments, words: &[AtomicU64], batch: &mut dyn Batch) {
            // SAFETY: the caller promises that the segments suit.
            let find = |hashes: &_, group: &mut _| unsafe { find(segments, hashes, group) };
            // SAFETY: the caller promises that the segments suit.
            let answer = |group: &Group, i| unsafe { answer::<S>(segments, words, group, i) };
            let alone = |group: &Group, key| alone::<S>(segments, words, group, key);
            let fetch = |group: &Group, i| fetch(segments, words, group, i);
            match words.len() >= FETCH_FROM {
                true => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, fetch, answer, alone),
                false => in_turns::<WIDTH, _>([Group::NONE; 2], batch, find, |_, _| {}, answer, alone),
            }
        }

        /// A number that differs between divided and undivided segments, for each of the segments of a vector's keys.
        #[inline]
        #[target_feature(enable = $features)]
        fn of_each(segments: &Segments, divided: Mask, of: impl Fn(&Shape) -> u64) -> Vector {
            let [whole, part] = &segments.shapes;
            choose(divided, all(of(part)), all(of(whole)))
        }

        /// Finds the places of the keys of a group.
        ///
        /// # Safety
        /// The segments suit.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn find(segments: &Segments, hashes: &[u64; GROUP], group: &mut Group) {
            let Segments { shapes, depth, divided, size } = *segments;
            let slot_bits = shapes[0].slot_bits;
            // The block after the last block is the first one.
            let (last, size) = (all(shapes[0].table.blocks() - 1), all(8 * size as u64));
            group.hashes = *hashes;
            for (i, hashes) in hashes.as_chunks().0.iter().enumerate() {
                let hash = mix(load(hashes));
                let slot = and(hash, all(ones(slot_bits)));
                let rest = right(hash, slot_bits);
                let mut segment = and(rest, all(ones(depth)));
                let mut tail = right(rest, depth);
                let mut is_divided = NO_LANE;
                if !divided.is_empty() {
                    let at = numbers(left(right(segment, 6), 3));
                    // SAFETY: as the segments suit, there is a mark for each.
                    let marks = unsafe { read_each(divided.as_ptr().cast(), &at) };
                    let mark = and(right_each(marks, and(segment, all(63))), all(1));
                    is_divided = has(mark, all(1));
                    segment = or(segment, and(rest, left(mark, depth)));
                    tail = right_each(tail, mark);
                }
                let known = of_each(segments, is_divided, |shape| shape.table.mask());
                let ones = of_each(segments, is_divided, |shape| shape.table.ones);
                let stride = of_each(segments, is_divided, |shape| shape.table.stride() as u64);
                let block = right(slot, 6);
                let start = multiply_halves(segment, size);
                let at = add(start, multiply_halves(block, stride));
                group.divided[i] = is_divided;
                store(&mut group.slots[i], slot);
                // The known part of a tail has at most 32 bits.
                store(&mut group.patterns[i], multiply_small(and(tail, known), ones));
                store(&mut group.blocks[i], at);
                store(&mut group.nexts[i], choose(equal(block, last), start, add(at, stride)));
            }
        }

        /// Prefetches the lines of the keys of a group's `i`-th vector: those of the words that [`Shape::words_of`]
        /// names.
        #[inline]
        #[target_feature(enable = $features)]
        fn fetch(segments: &Segments, words: &[AtomicU64], group: &Group, i: usize) {
            let head = all(HEAD as u64 - 1);
            let bits = of_each(segments, group.divided[i], |shape| shape.table.remainder_bits().into());
            let (block, next) = (load(&group.blocks[i]), load(&group.nexts[i]));
            let slot = multiply_halves(and(load(&group.slots[i]), all(63)), bits);
            let own = |after: Vector| {
                let byte = right(add(slot, multiply_halves(bits, after)), 3);
                add(add(block, all(HEAD as u64)), byte)
            };
            for bytes in [block, add(block, head), own(all(0)), own(all(AFTER)), add(next, head)] {
                numbers(bytes).iter().for_each(|byte| ring::fetch_word(words, *byte as usize / 8));
            }
        }

        /// Whether each key of a group's `i`-th vector finds an entry, and which of them have to be looked up one by
        /// one.
        ///
        /// # Safety
        /// The segments suit.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn answer<S: Select>(segments: &Segments, words: &[AtomicU64], group: &Group, i: usize) -> [u8; 2] {
            let of = |of: fn(&Shape) -> u64| of_each(segments, group.divided[i], of);
            let widths = Widths {
                bits: of(|shape| shape.table.remainder_bits().into()),
                ones: of(|shape| shape.table.ones),
                lanes: of(|shape| shape.table.lanes.into()),
            };
            let (slot, next) = (load(&group.slots[i]), load(&group.nexts[i]));
            let bytes = words.as_ptr().cast();
            // SAFETY: as the segments suit, their blocks are among the words, with eight readable bytes from any byte
            // of a block on.
            let runs = unsafe { Runs::find::<S>(bytes, slot, &group.blocks[i], next, &widths) };
            // This is `Shape::is_of` for each slot: the highest clear bit of the remainder must not be above the lowest
            // bit that differs. Where no bit differs, the slot's highest bit stands for the lowest difference, and no
            // bit is above it.
            let highs = widths.highs();
            let lows = subtract(highs, widths.ones);
            let any = |x: Vector| or(add(and(x, lows), lows), x);
            let has_not = xor(runs.window, all(u64::MAX));
            let differ = or(xor(runs.window, load(&group.patterns[i])), highs);
            let upto = xor(differ, subtract(differ, widths.ones));
            runs.answer(&widths, and_not(any(has_not), any(and_not(has_not, upto))))
        }

        /// Whether one key of a group finds an entry.
        #[inline]
        fn alone<S: Select>(segments: &Segments, words: &[AtomicU64], group: &Group, key: usize) -> bool {
            let (i, lane) = (key / WIDTH, key % WIDTH);
            // SAFETY: this is only called by `many`, where the processor has these instructions.
            let is_divided = unsafe { lane_bits(group.divided[i]) } >> lane & 1;
            let shape = &segments.shapes[usize::from(is_divided)];
            let rest = bits::mix(group.hashes[key]) >> shape.slot_bits;
            let address_bits = segments.depth + u32::from(is_divided);
            let start = (rest & ones(address_bits)) as usize * segments.size;
            let words = &words[start..start + shape.words()];
            // SAFETY: as above.
            unsafe { contains::<S>(shape, words, group.slots[i][lane], rest >> address_bits) }
        }
    };
}

for_lanes!(kernel);
